#!/usr/bin/env python3
"""Runs error-feedback.cfg and two-percent.cfg; draws figure.svg and figure.md."""

import sys
from pathlib import Path
from statistics import mean

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: found through the line above

DENSITIES = (0.1, 0.01, 0.001)
COLOUR = dict(zip(DENSITIES, plots.COLOURS))
RATES = (0.1, 0.03, 0.01)
SKEWS = {"none": "workers alike", 0.1: "workers with shards of their own"}
FEEDBACK = {"on": ("-", "with"), "off": ("--", "without")}


class Runs:
    def __init__(self, cells):
        self.groups = plots.grouped(cells, lambda cell: self.key(cell.scenario))
        self.seeds = sorted({cell.scenario["seed"] for cell in cells})

    @staticmethod
    def key(scenario):
        return (scenario["learn"], scenario["skew"], scenario["learning-rate"], scenario.get("density", 1),
                scenario.get("error-feedback", "dense"))

    def all(self, learn, skew, rate, density=1, feedback="dense"):
        return self.groups[learn, skew, rate, density, feedback]

    def curve(self, *what):
        """Iterations, and the mean over seeds of the loss then."""
        cells = self.all(*what)
        return cells[0].curve["iterations"], [mean(losses) for losses in zip(*(cell.curve["loss"] for cell in cells))]

    def ratios(self, learn, skew, rate, density, feedback):
        """Of the loss at the end to that of the dense run with the same seed."""
        return [cell.figures["loss"] / dense.figures["loss"] for cell, dense in
                zip(self.all(learn, skew, rate, density, feedback), self.all(learn, skew, rate))]


def curves(axes, runs, learn, skew, rate, floor=0.0):
    def draw(colour, style, width, *what):
        iterations, losses = runs.curve(learn, skew, rate, *what)
        axes.plot(iterations, [loss - floor for loss in losses], style, color=colour, linewidth=width)

    for density in DENSITIES:
        for feedback, (style, _) in FEEDBACK.items():
            draw(COLOUR[density], style, 1.8, density, feedback)
    draw("black", ":", 2.2)
    axes.set_yscale("log")
    axes.set_xlabel("iterations")


def by_rate(axes, runs, skew):
    for density in DENSITIES:
        for feedback, (style, _) in FEEDBACK.items():
            ratios = [runs.ratios("least-squares", skew, rate, density, feedback) for rate in RATES]
            axes.plot(RATES, [mean(some) for some in ratios], style, marker="o", color=COLOUR[density], linewidth=1.8)
            axes.fill_between(RATES, [min(some) for some in ratios], [max(some) for some in ratios],
                              color=COLOUR[density], alpha=0.15, linewidth=0)
    axes.axhline(1, color="black", linestyle=":", linewidth=2.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.invert_xaxis()
    axes.set_xticks(RATES, [f"{rate:g}" for rate in RATES])
    axes.set_xticks([], minor=True)
    axes.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
    axes.set_yticks([], minor=True)
    axes.set_xlabel("learning rate; rate x iterations is the same")


def figure(runs):
    drawing, panels = plots.plt.subplots(2, 3, figsize=(12, 7.4))
    least = runs.all("least-squares", "none", RATES[-1])[0].learning["least_loss"]
    for row, (skew, words) in zip(panels, SKEWS.items()):
        floor = least if skew == "none" else 0.0
        curves(row[0], runs, "least-squares", skew, RATES[-1], floor)
        row[0].set_title(f"least squares, {words}", fontsize=11)
        row[0].set_ylabel("loss over the least loss" if floor else "loss")
        by_rate(row[1], runs, skew)
        row[1].set_title(f"least squares, {words}", fontsize=11)
        row[1].set_ylabel("loss at the end / dense's")
        curves(row[2], runs, "mlp", skew, 0.5)
        row[2].set_title(f"mlp, {words}", fontsize=11)
        row[2].set_ylabel("loss")
    panels[1][0].set_yticks([0.3, 0.4, 0.5], ["0.3", "0.4", "0.5"])
    panels[1][0].set_yticks([], minor=True)
    line = plots.plt.Line2D
    drawing.legend(
        [line([], [], color="black", linestyle=":", linewidth=2.2)] +
        [line([], [], color=COLOUR[density], linewidth=3) for density in DENSITIES] +
        [line([], [], color="#666666", linestyle=style) for style, _ in FEEDBACK.values()],
        ["dense"] + [f"top-k, {100 * density:g} %" for density in DENSITIES] +
        [f"{words} error feedback" for _, words in FEEDBACK.values()],
        loc="upper center", ncols=6)
    drawing.get_layout_engine().set(rect=(0, 0, 1, 0.95))
    plots.save(drawing, HERE / "figure.svg")


def table(runs, claim):
    lines = ["# Loss at the end / that of the dense run with the same seed, less 1", "",
             "Written by figure.py: mean (least to most) of seeds " + ", ".join(map(str, runs.seeds)) + ".", "",
             "| workers | density | error feedback |" +
             "".join(f" least squares, rate {rate:g} |" for rate in RATES) + " mlp |",
             "|---|---|---|" + "---|" * (len(RATES) + 1)]
    for skew, words in SKEWS.items():
        for density in DENSITIES:
            for feedback in FEEDBACK:
                line = f"| {words} | {density:g} | {feedback} |"
                for learn, rate in [("least-squares", rate) for rate in RATES] + [("mlp", 0.5)]:
                    some = [100 * (ratio - 1) for ratio in runs.ratios(learn, skew, rate, density, feedback)]
                    line += f" {mean(some):+.1f} % ({min(some):+.1f} to {max(some):+.1f}) |"
                lines.append(line)
    lines += ["", "TopK-SGD at 1 % with default settings, against BSP with the same seed (1 to 5):", "",
              "| problem | workers | BSP's loss at the end | TopK-SGD's, above that |", "|---|---|---|---|"]
    for learn in ("least-squares", "logistic", "softmax", "mlp"):
        for skew, words in SKEWS.items():
            pairs = [[cell.figures["loss"] for cell in claim if cell.scenario["learn"] == learn and
                      cell.scenario["skew"] == skew and cell.scenario["seed"] == seed] for seed in range(1, 6)]
            parts = [100 * (topk / dense - 1) for dense, topk in pairs]
            lines.append(f"| {learn} | {words} | {mean(dense for dense, _ in pairs):.4f} | "
                         f"{mean(parts):+.1f} % ({min(parts):+.1f} to {max(parts):+.1f}) |")
    plots.write_table(lines, HERE / "figure.md")


def main():
    runs = Runs(plots.sweep(HERE / "error-feedback.cfg"))
    figure(runs)
    claim = plots.sweep(HERE / "two-percent.cfg")
    table(runs, sorted(claim, key=lambda cell: cell.scenario["compressor"] != "none"))


if __name__ == "__main__":
    main()
