#!/usr/bin/env python3
"""Which bandwidth of a node makes an all-reduce of INTELLECT-1 take as long as printed: bisection with the program.

    implied.py [PROGRAM]     default: build/release/syncline of this tree

Prints for each number of nodes the Gbit/s that the three printed times imply, found by simulation, and beside each
what 2 (n - 1) / n x bytes / (seconds - latencies) says.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROUND, VALUES, LATENCY = 38 * 60, 10_211_381_248, 0.05  # s, values of a byte, s of a message
TIMES = {"USA": 103, "USA + Europe": 382, "global": 469}  # s, published


def all_reduce(program, nodes, gbit):
    """Seconds of one all-reduce: what a round takes more than its hundred steps."""
    command = [program, "run", HERE / "scenario.cfg", "--platform", HERE / "platform.xml", "--workers", str(nodes),
               "--bandwidth-factor", str(gbit), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)["cells"][0]["result"]["figures"]
    return 100 * figures["iteration_mean_s"] - ROUND


def implied(program, nodes, seconds):
    low, high = 0.05, 10.0
    while high / low > 1.00002:
        middle = (low * high) ** 0.5
        if all_reduce(program, nodes, middle) > seconds:
            low = middle
        else:
            high = middle
    return high


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parents[2] / "build/release/syncline")
    print("nodes  place           seconds  simulated Gbit/s  arithmetic Gbit/s")
    for nodes in (4, 8, 14):
        for place, seconds in TIMES.items():
            steps = 2 * (nodes - 1)
            exact = steps / nodes * VALUES * 8e-9 / (seconds - steps * LATENCY)
            print(f"{nodes:5}  {place:14}  {seconds:7}  {implied(program, nodes, seconds):16.4f}  {exact:17.4f}")


if __name__ == "__main__":
    main()
