#!/usr/bin/env python3
"""Writes this folder's platforms: nodes of T4 whose workers are pods that talk by TCP. README.md has the sources.

    platforms.py           rewrites the files beside it
    platforms.py --check   exit code 1 if one differs
"""

import sys
from pathlib import Path

# Rates in bytes/s, PAIR for both ways together; README.md says where each comes from.
IN_NODE, FLOW, PAIR = "2.5GBps", "0.585GBps", "0.70GBps"
LATENCY_IN_NODE, LATENCY = "7.5us", "15us"  # a way has two of the first, or both and one of the second

FILES = {"platform": [4] * 16, "1-each": [1] * 16, "2-2": [2, 2], "1-4": [1, 4], "1-3-4": [1, 3, 4]}


def xml(gpus_of):
    lines = ['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             f"<!-- Nodes with {', '.join(map(str, gpus_of))} T4, as platforms.py writes them: README.md. -->",
             '<platform version="4.1">', '  <zone id="aws" routing="Full">']
    for node, gpus in enumerate(gpus_of):
        lines.append(f'    <zone id="node{node}" routing="Floyd">')
        for gpu in range(gpus):
            name = f"node{node}-gpu{gpu}"
            lines += [f'      <host id="{name}" speed="8.1Tf"><prop id="node" value="node{node}"/>'
                      '<prop id="device" value="t4"/></host>',
                      f'      <link id="{name}-veth" bandwidth="{IN_NODE}" latency="{LATENCY_IN_NODE}" '
                      'sharing_policy="SPLITDUPLEX"/>']
        lines.append(f'      <router id="node{node}-root"/>')
        lines += [f'      <route src="node{node}-gpu{gpu}" dst="node{node}-root">'
                  f'<link_ctn id="node{node}-gpu{gpu}-veth" direction="UP"/></route>' for gpu in range(gpus)]
        lines.append("    </zone>")
    for a in range(len(gpus_of)):
        for b in range(a + 1, len(gpus_of)):
            lines += [f'    <link id="flow-{a}-{b}" bandwidth="{FLOW}" latency="{LATENCY}" '
                      'sharing_policy="SPLITDUPLEX"/>',
                      f'    <link id="pair-{a}-{b}" bandwidth="{PAIR}" latency="0us" sharing_policy="SHARED"/>']
    for a in range(len(gpus_of)):
        for b in range(a + 1, len(gpus_of)):
            lines.append(f'    <zoneRoute src="node{a}" dst="node{b}" gw_src="node{a}-root" gw_dst="node{b}-root">'
                         f'<link_ctn id="flow-{a}-{b}" direction="UP"/><link_ctn id="pair-{a}-{b}"/></zoneRoute>')
    return "\n".join([*lines, "  </zone>", "</platform>", ""])


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = 0
    for name, gpus_of in FILES.items():
        path, text = Path(__file__).with_name(f"{name}.xml"), xml(gpus_of)
        if not arguments:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.name} is not what platforms.py writes", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
