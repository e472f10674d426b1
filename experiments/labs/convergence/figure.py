#!/usr/bin/env python3
"""Draws what this lab shows: convergence.svg, loss against seconds, and stability.svg, where learning ends."""

import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
import plots  # noqa: E402: from the folder of experiments

WORKERS = 8
CURVATURE = 11.53  # the greatest eigenvalue of this problem's second derivative


def excess(cell):
    return [loss - cell.learning["least_loss"] for loss in cell.curve["loss"]]


def draw_curves(found):
    colours = {0: plots.COLOURS[6], 1: plots.COLOURS[0], 2: plots.COLOURS[2], 4: plots.COLOURS[1], 8: plots.COLOURS[4]}
    figure, panels = plots.plt.subplots(1, 2, figsize=(9.6, 4.2), sharey=True)
    for panel, rate in zip(panels, (0.1, 0.05)):
        for cell in sorted(found, key=lambda cell: cell.scenario.get("staleness", 0)):
            staleness = cell.scenario.get("staleness", 0)
            if cell.scenario["learning-rate"] == rate:
                label = f"ssp, staleness {staleness}" if staleness else "bsp"
                panel.plot(cell.curve["seconds"], excess(cell), color=colours[staleness], label=label,
                           linestyle=(0, (4, 2)) if staleness == 8 else "-")  # on top of staleness 4
        panel.axhline(0.26 - found[0].learning["least_loss"], color="#777777", linewidth=1, linestyle=(0, (4, 3)))
        panel.set_title(f"learning-rate {rate}")
        panel.set_yscale("log")
        panel.set_ylim(0.006, 3)
        panel.set_xlim(0, 45)
        panel.set_xlabel("simulated seconds")
    panels[0].set_ylabel("loss above the least one")
    panels[0].annotate("target", (44, 0.0092), ha="right", color="#555555")
    panels[1].legend(loc="upper right")
    plots.save(figure, HERE / "convergence.svg")


def grows(cell):
    values = excess(cell)
    quarter = len(values) // 4
    return not max(values[3 * quarter:]) < max(values[quarter:2 * quarter])


def draw_stability(found):
    figure, panel = plots.plt.subplots(figsize=(7.6, 4.6))
    for growing, marker, colour, label in ((False, "o", plots.COLOURS[0], "loss falls"),
                                           (True, "x", plots.COLOURS[1], "loss grows")):
        points = [(cell.figures["staleness_mean"], cell.scenario["learning-rate"]) for cell in found
                  if grows(cell) == growing]
        panel.scatter(*zip(*points), marker=marker, color=colour, label=label, s=42, zorder=3)
    stale = [5 * 1.05 ** i for i in range(60)]
    panel.plot(stale, [WORKERS * 2 * math.sin(math.pi / (4 * tau + 2)) / CURVATURE for tau in stale],
               color=plots.COLOURS[6], label="8 · 2 sin(π / (4τ + 2)) / λ")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlim(4.5, 90)
    panel.minorticks_off()
    panel.set_xticks([5, 10, 20, 50], ["5", "10", "20", "50"])
    rates = sorted({cell.scenario["learning-rate"] for cell in found})
    panel.set_yticks(rates, [f"{rate:g}" for rate in rates])
    panel.set_xlabel("staleness τ of the run, in gradients")
    panel.set_ylabel("learning-rate")
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=3)
    plots.save(figure, HERE / "stability.svg")


if __name__ == "__main__":
    draw_curves(plots.sweep(HERE / "convergence.cfg"))
    draw_stability(plots.sweep(HERE / "stability.cfg"))
