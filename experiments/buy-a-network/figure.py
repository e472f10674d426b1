#!/usr/bin/env python3
"""figure.py DIR: from the results.csv of network.cfg in DIR, writes figure.svg beside this script."""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "buy-a-network", "font.size": 9})
from matplotlib import pyplot  # noqa: E402

PLATFORMS = (("dgx:nodes=4:cards=8x400Gbps:ib", "4 nodes, 400 Gbit/s", "#999999"),
             ("dgx:nodes=20:cards=8x200Gbps:ib", "20 nodes, 200 Gbit/s", "#E69F00"),
             ("dgx:nodes=20:cards=8x400Gbps:ib", "20 nodes, 400 Gbit/s", "#0072B2"))


def main(folder):
    with open(Path(folder) / "results.csv", encoding="utf-8") as file:
        rows = {(row["name"], row["accumulation"], row["platform"]): row for row in csv.DictReader(file)}
    groups = sorted({key[:2] for key in rows})
    figure, axis = pyplot.subplots(figsize=(7, 3))
    for i, (platform, label, colour) in enumerate(PLATFORMS):
        places = [group + 0.27 * (i - 1) for group in range(len(groups))]
        values = [100 * float(rows[group + (platform,)]["scaling_efficiency"]) for group in groups]
        bars = axis.bar(places, values, 0.25, label=label, color=colour)
        axis.bar_label(bars, [f"{value:.0f}" for value in values], padding=1)
    axis.set_xticks(range(len(groups)), [f"{name}, accumulation {steps}" for name, steps in groups])
    axis.set_ylabel("scaling efficiency in %")
    axis.set_ylim(0, 118)
    axis.legend(ncols=3, loc="upper center", frameon=False)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(Path(__file__).parent / "figure.svg", metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("figure.py: give the folder that `syncline run network.cfg --out` wrote")
    main(sys.argv[1])
