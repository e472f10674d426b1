#!/usr/bin/env python3
"""Runs cat.cfg and draws figure.svg and figure.md."""

import math
import sys
from itertools import accumulate
from pathlib import Path
from statistics import mean

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: found through the line above

DENSITIES = (0.001, 0.003, 0.01, 0.03, 0.1)
COLOUR = dict(zip(DENSITIES, plots.COLOURS))
COSTS = {"payload": "bits", "affine": "bits with a start", "packet": "packets with a start"}
PACKET_COST, PACKET_BITS, FIXED_COST = 576, 512, 64  # CAT's defaults, its paper's
PROBLEMS = ("mlp", "least-squares")
TARGETS = {"off": 1 / 2, "on": 1 / 25}  # of the loss above the least one at the start, by error feedback
BANDWIDTHS = {1: "1 Gbit/s", 0.01: "10 Mbit/s", 0.001: "1 Mbit/s"}


def element_bits(parameters):
    return 32 + (parameters - 1).bit_length()


def elements(cell):
    """Values in a message at each iteration, the mean over workers."""
    return [float(row["sent_values"]) for row in cell.tables["compression"]]


def spent(cell, cost):
    """By a worker up to each point of the curve, in what the model of costs counts."""
    bits = element_bits(cell.learning["parameters"])
    whole = PACKET_BITS // bits  # elements of a packet

    def of(count):
        if cost == "payload":
            return count * bits
        if cost == "affine":
            return PACKET_COST * count * bits / PACKET_BITS + FIXED_COST
        if cell.scenario["compressor"] == "cat":  # a mean of whole packets
            return PACKET_COST * count / whole + FIXED_COST
        return PACKET_COST * math.ceil(count * bits / PACKET_BITS) + FIXED_COST

    return list(accumulate(map(of, elements(cell)), initial=0.0))


def above_least(cell):
    return [loss - (cell.learning["least_loss"] or 0) for loss in cell.curve["loss"]]


def reached(cell, amounts):
    """Of this at the first point of the curve at the target."""
    losses = above_least(cell)
    target = TARGETS[cell.scenario["error-feedback"]] * losses[0]
    return next((amount for amount, loss in zip(amounts, losses) if loss <= target), math.inf)


class Runs:
    def __init__(self, cells):
        self.groups = plots.grouped(cells, self.key)

    @staticmethod
    def key(cell):
        scenario = cell.scenario
        how = scenario.get("density", "dense")
        if scenario["compressor"] == "cat":
            how = "cat" if "bandwidth-factor" in scenario else scenario["cost"]
        return (scenario["learn"], scenario.get("error-feedback", "on"), scenario.get("bandwidth-factor"), how)

    def of(self, learn, how, feedback="on", bandwidth=None):
        return self.groups[learn, feedback, bandwidth, how]

    def mean_curve(self, cells, amounts):
        return ([mean(some) for some in zip(*map(amounts, cells))],
                [mean(some) for some in zip(*map(above_least, cells))])

    def to_target(self, learn, how, cost, feedback):
        return [reached(cell, spent(cell, cost)) for cell in self.of(learn, how, feedback)]


def figure(runs):
    drawing, panels = plots.plt.subplots(2, 4, figsize=(15, 7.6))
    for row, (feedback, part) in zip(panels, TARGETS.items()):
        for axes, (cost, words) in zip(row, COSTS.items()):
            for how, colour, width in [(density, COLOUR[density], 1.4) for density in DENSITIES] + [(cost, "black", 2.2)]:
                x, y = runs.mean_curve(runs.of("mlp", how, feedback), lambda cell: spent(cell, cost))
                axes.plot(x[1:], y[1:], color=colour, linewidth=width)
            axes.axhline(part * y[0], color="#888888", linewidth=0.8)
            axes.set(xscale="log", yscale="log", title=cost, xlabel=f"cost of a worker: {words}")
            axes.set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
            axes.set_yticks([], minor=True)
        row[0].set_ylabel(f"loss, error feedback {feedback}")
    chosen, seconds = panels[0][3], panels[1][3]
    for cost, style in zip(COSTS, (":", "--", "-")):
        counts = [mean(some) for some in zip(*map(elements, runs.of("mlp", cost)))]
        chosen.plot(range(len(counts)), counts, style, color="black", linewidth=1.3, label=cost)
    for density in DENSITIES[:3]:
        chosen.axhline(elements(runs.of("mlp", density)[0])[0], color=COLOUR[density], linewidth=1.4)
    chosen.set(yscale="log", xlabel="iteration", title="values that CAT sends", ylim=(0.4, 100))
    chosen.legend(fontsize=9, loc="lower right", ncols=3)
    for at, bandwidth in enumerate(BANDWIDTHS):
        for offset, how in enumerate(("dense", *DENSITIES, "cat")):
            took = mean(cell.figures["target_s"] for cell in runs.of("mlp", how, "on", bandwidth))
            seconds.bar(at + 0.12 * (offset - 3), took, 0.11,
                        color={"dense": "#bbbbbb", "cat": "black"}.get(how, COLOUR.get(how)))
    seconds.set_xticks(range(len(BANDWIDTHS)), BANDWIDTHS.values())
    seconds.set(yscale="log", title="seconds to a loss of 0.1")
    seconds.set_yticks([5, 10, 20, 40], ["5", "10", "20", "40"])
    seconds.set_yticks([], minor=True)
    seconds.grid(axis="x", visible=False)
    line = plots.plt.Line2D
    drawing.legend([line([], [], color=COLOUR[density], linewidth=3) for density in DENSITIES] +
                   [line([], [], color="black", linewidth=3), line([], [], color="#bbbbbb", linewidth=3)],
                   [f"top-k, {100 * density:g} %" for density in DENSITIES] + ["CAT", "no compressor"],
                   loc="upper center", ncols=7)
    drawing.get_layout_engine().set(rect=(0, 0, 1, 0.95))
    plots.save(drawing, HERE / "figure.svg")


def shown(values):
    return f"{mean(values):,.4g}" if max(values) < 1000 else f"{mean(values):,.0f}" if max(values) < math.inf else "never"


def table(runs):
    heads = "".join(f" {100 * density:g} % |" for density in DENSITIES)
    lines = ["# What a loss costs", "",
             "Written by figure.py: means of three seeds. Cost of one worker to the target, in what the model of costs counts;",
             "`never`: not in 50 epochs with every seed. CAT sends: values in a message, the mean and the extremes of the means",
             "over workers in an iteration.", ""]
    for feedback, part in TARGETS.items():
        lines += [f"Error feedback {feedback}, to {part:g} of the loss (above the least one) at the start:", "",
                  f"| problem | cost |{heads} CAT | CAT / best | CAT / worst | CAT sends |",
                  "|---|---|" + "---|" * (len(DENSITIES) + 4)]
        for learn in PROBLEMS:
            for cost in COSTS:
                fixed = [runs.to_target(learn, density, cost, feedback) for density in DENSITIES]
                mine = runs.to_target(learn, cost, cost, feedback)
                finite = [mean(some) for some in fixed if max(some) < math.inf]
                ratios = [f"{mean(mine) / other(finite):.2f}" if max(mine) < math.inf else "" for other in (min, max)]
                counts = [count for cell in runs.of(learn, cost, feedback) for count in elements(cell)]
                lines.append(f"| {learn} | {cost} | " + " | ".join(map(shown, (*fixed, mine))) + " | " +
                             " | ".join(ratios) + f" | {mean(counts):.1f} ({min(counts):.1f} to {max(counts):.1f}) |")
        lines.append("")
    lines += ["Seconds until the loss of mlp is 0.1, with error feedback; CAT priced by the network:", "",
              f"| network | no compressor |{heads} CAT | CAT / best | CAT's bits a value |",
              "|---|" + "---|" * (len(DENSITIES) + 4)]
    for bandwidth, words in BANDWIDTHS.items():
        cells = {how: runs.of("mlp", how, "on", bandwidth) for how in ("dense", *DENSITIES, "cat")}
        took = {how: [cell.figures["target_s"] or math.inf for cell in some] for how, some in cells.items()}
        best = min(mean(some) for how, some in took.items() if how != "cat")
        bits = mean(cell.learning["bits_per_value"] for cell in cells["cat"])
        lines.append(f"| {words} | " + " | ".join(map(shown, took.values())) +
                     f" | {mean(took['cat']) / best:.3f} | {bits:.2f} |")
    plots.write_table(lines, HERE / "figure.md")


def main():
    runs = Runs(plots.sweep(HERE / "cat.cfg"))
    figure(runs)
    table(runs)


if __name__ == "__main__":
    main()
