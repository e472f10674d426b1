#!/usr/bin/env python3
"""Seconds and memory of the simulator against the number of workers, by schedule and fidelity: workers.csv
and workers.svg, with the exponent of the last step of each line.

    python3 experiments/scale/workers.py [--most 1048576] [--repeat 3]    # from the project's root, nothing beside
"""

import argparse
import csv
import math
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plots  # noqa: E402: the experiments' look

HERE = Path(__file__).resolve().parent
# What is simulated, how, and the most workers that this is asked for (minutes, or SimGrid's 1,000 nodes).
LINES = (
    ("bsp, ring", "analytic", ("--schedule", "bsp", "--exchange", "ring"), 1 << 20),
    ("bsp, hierarchical", "analytic", ("--schedule", "bsp", "--exchange", "hierarchical"), 1 << 20),
    ("fsdp", "analytic", ("--schedule", "fsdp"), 1 << 16),
    ("bsp, ring", "flow", ("--schedule", "bsp", "--exchange", "ring"), 4000),
    ("bsp, hierarchical", "flow", ("--schedule", "bsp", "--exchange", "hierarchical"), 4000),
    ("bsp, ps", "flow", ("--schedule", "bsp", "--exchange", "ps"), 1024),
)


def taken(fidelity, options, workers):
    """Seconds of the whole process, and its memory in MB."""
    command = [plots.PROGRAM, "run", "--platform", f"pcie:nodes={workers // 4}", "--model", "resnet50", "--throughput",
               "1000", "--batch", "64", "--jitter", "0.05", "--iterations", "3", "--fidelity", fidelity, *options]
    begun = time.monotonic()
    child = os.posix_spawn(command[0], [str(word) for word in command], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"workers.py: code {os.waitstatus_to_exitcode(status)}: {' '.join(map(str, command))}")
    return time.monotonic() - begun, used.ru_maxrss / 1000


def measured(most, repeat):
    for name, fidelity, options, its_most in LINES:
        workers = 64
        while workers <= min(most, its_most):
            runs = [taken(fidelity, options, workers) for _ in range(1 if workers > 1 << 17 else repeat)]
            row = {"line": f"{name}, {fidelity}", "workers": workers,
                   "seconds": f"{statistics.median(s for s, _ in runs):.3g}",
                   "megabytes": f"{max(m for _, m in runs):.0f}", "runs": len(runs)}
            print(*row.values(), sep=", ", flush=True)
            yield row
            workers *= 4


def drawn(rows, path):
    figure, (seconds, memory) = plots.plt.subplots(1, 2, figsize=(10, 4.2))
    for number, line in enumerate(dict.fromkeys(row["line"] for row in rows)):
        of_line = [row for row in rows if row["line"] == line]
        x = [row["workers"] for row in of_line]
        for axis, what in ((seconds, "seconds"), (memory, "megabytes")):
            y = [float(row[what]) for row in of_line]
            exponent = math.log(y[-1] / y[-2], x[-1] / x[-2]) if len(y) > 1 else math.nan
            axis.loglog(x, y, marker="o", color=plots.COLOURS[number], label=f"{line}: exponent {exponent:.2f}")
    for axis, what in ((seconds, "seconds of the whole process"), (memory, "memory, MB")):
        axis.set_xlabel("workers")
        axis.set_ylabel(what)
        axis.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=1 << 20)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    rows = list(measured(options.most, options.repeat))
    with open(HERE / "workers.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    drawn(rows, HERE / "workers.svg")


if __name__ == "__main__":
    main()
