#!/usr/bin/env python3
"""Writes this folder's platforms (--check compares): 32 nodes of DGX-2H and of DGX A100. README.md: sources."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent))
from nodes import main, xml  # noqa: E402

main(__file__, {
    "dgx-2h": xml("dgx-2h", "32 DGX-2H", 32, 16, "v100", "15.7Tf", "120GBps", "1.7us", "96GBps", "5.3us"),
    "dgx-a100": xml("dgx-a100", "32 DGX A100", 32, 8, "a100", "19.5Tf", "240GBps", "1.7us", "192GBps", "5.3us"),
})
