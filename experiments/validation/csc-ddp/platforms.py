#!/usr/bin/env python3
"""Writes this folder's platforms (--check compares): two nodes of CSC's Puhti, Mahti and LUMI. README.md: sources."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent))
from nodes import main, xml  # noqa: E402

main(__file__, {
    "puhti": xml("puhti", "Two nodes of Puhti (CSC)", 2, 4, "v100", "15.7Tf", "120GBps", "1.7us", "12GBps", "5.3us"),
    "mahti": xml("mahti", "Two nodes of Mahti (CSC)", 2, 4, "a100", "19.5Tf", "240GBps", "1.7us", "48GBps", "5.3us"),
    "lumi": xml("lumi", "Two nodes of LUMI (CSC)", 2, 8, "mi250x-gcd", "23.95Tf", "50GBps", "1.7us", "96GBps", "5.3us"),
})
