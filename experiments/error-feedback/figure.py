#!/usr/bin/env python3
"""Tunes each contestant by tune.cfg, writes its choice to error-feedback.cfg; runs that and rates.cfg; writes figure.svg, .csv."""

import math
import sys
from pathlib import Path
from statistics import mean, median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: found through the line above

DENSITIES = (0.1, 0.01, 0.001)
COLOUR = dict(zip(DENSITIES, plots.COLOURS))
RATES = (0.1, 0.04, 0.02)
SKEWS = {"none": "workers alike", 0.1: "workers with shards of their own"}
FEEDBACK = {"on": ("-", "with"), "off": ("--", "without")}
SEEDS = range(1, 6)


def settings(scenario):
    names = ("learn", "skew", "iterations", "evaluate-every", "learning-rate", "learning-rate-schedule", "schedule", "compressor",
             "density", "error-feedback")
    return {name: scenario[name] for name in names if name in scenario}


class Runs:
    """By problem, skew, density and feedback; and by rate, where each has the same."""

    def __init__(self, cells, by_rate=False):
        self.by_rate = by_rate
        self.groups = plots.grouped(cells, lambda cell: self.key(cell.scenario))

    def key(self, scenario):
        rate = (scenario["learning-rate"],) if self.by_rate else ()
        return (scenario["learn"], scenario["skew"], scenario.get("density", 1), scenario.get("error-feedback", "dense"), *rate)

    def all(self, learn, skew, density=1, feedback="dense", *rate):
        return self.groups[learn, skew, density, feedback, *rate]

    def ratios(self, learn, skew, density, feedback, *rate):
        """Of the loss at the end to that of the dense run with the same seed; infinite where it diverged."""
        return [(cell.figures["loss"] or math.inf) / dense.figures["loss"] for cell, dense in
                zip(self.all(learn, skew, density, feedback, *rate), self.all(learn, skew, 1, "dense", *rate))]


def curves(axes, runs, learn, skew, floor=0.0):
    def draw(colour, style, width, *what):
        cells = runs.all(learn, skew, *what)
        cells = [cell for cell in cells if cell.figures["loss"]]  # did not diverge
        losses = [mean(some) - floor for some in zip(*(cell.curve["loss"] for cell in cells))]
        axes.plot(cells[0].curve["iterations"], losses, style, color=colour, linewidth=width)

    for density in DENSITIES:
        for feedback, (style, _) in FEEDBACK.items():
            draw(COLOUR[density], style, 1.8, density, feedback)
    draw("black", ":", 2.2)
    axes.set_yscale("log")
    axes.set_xlabel("iterations")


def by_rate(axes, runs, skew):
    for density in DENSITIES:
        for feedback, (style, _) in FEEDBACK.items():
            ratios = [runs.ratios("least-squares", skew, density, feedback, rate) for rate in RATES]
            axes.plot(RATES, [median(some) for some in ratios], style, marker="o", color=COLOUR[density], linewidth=1.8)
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


def figure(runs, rates):
    drawing, panels = plots.plt.subplots(2, 3, figsize=(12, 7.4))
    least = runs.all("least-squares", "none")[0].learning["least_loss"]
    for row, (skew, words) in zip(panels, SKEWS.items()):
        floor = least if skew == "none" else 0.0
        curves(row[0], runs, "least-squares", skew, floor)
        row[0].set_title(f"least squares, {words}", fontsize=11)
        row[0].set_ylabel("loss over the least loss" if floor else "loss")
        by_rate(row[1], rates, skew)
        row[1].set_title(f"least squares, {words}", fontsize=11)
        row[1].set_ylabel("loss at the end / dense's")
        curves(row[2], runs, "mlp", skew)
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


def row(cells, ratios, rate_from):
    """How far the losses at the end are above BSP's: of the seeds that did not diverge."""
    scenario = cells[0].scenario
    ended = [100 * (ratio - 1) for ratio in ratios if ratio < math.inf]
    return {"problem": scenario["learn"], "workers": SKEWS[scenario["skew"]], "density": scenario["density"],
            "error_feedback": scenario["error-feedback"], "rate_from": rate_from, "rate": f"{scenario['learning-rate']:g}",
            "rate_schedule": scenario["learning-rate-schedule"], **plots.spread("above_bsp_percent", ended, ".1f"),
            "diverged": len(ratios) - len(ended)}


def table(runs, rates, notes):
    rows = []
    for learn in ("least-squares", "mlp", "logistic", "softmax"):
        for skew, words in SKEWS.items():
            dense = runs.all(learn, skew)
            rows.append({"problem": learn, "workers": words, "density": "bsp", "rate_from": "tune.cfg",
                         "rate": f"{dense[0].scenario['learning-rate']:g}",
                         "rate_schedule": dense[0].scenario["learning-rate-schedule"],
                         "loss": f"{median(cell.figures['loss'] for cell in dense):.4g}"})
            for density, feedback in ([(density, feedback) for density in DENSITIES for feedback in FEEDBACK]
                                      if learn in ("least-squares", "mlp") else [(0.01, "on")]):
                what = (learn, skew, density, feedback)
                rows.append(row(runs.all(*what), runs.ratios(*what), "tune.cfg"))
                if learn == "least-squares":
                    rows += [row(rates.all(*what, rate), rates.ratios(*what, rate), "rates.cfg") for rate in RATES]
    plots.write_csv(HERE / "figure.csv", [
        "Written by figure.py. Loss at the end over that of BSP with the same seed, less 1: median, least and most of five",
        "seeds (of those that did not diverge). tune.cfg: each at the rate and schedule that it chose on two others; rates.cfg:",
        "all, also BSP, at the same rate.", *plots.tuning(notes)], rows)


def main():
    chosen, notes = plots.chosen(HERE / "tune.cfg", "error-feedback-tuned")
    plots.write_chosen(HERE / "error-feedback.cfg", HERE / "tune.cfg",
                       "Top-k with and without error feedback, and BSP, each at the rate and schedule that tune.cfg chose for it.",
                       map(settings, chosen), SEEDS, ("density",))
    runs = Runs(plots.sweep(HERE / "error-feedback.cfg"))
    rates = Runs(plots.sweep(HERE / "rates.cfg", "error-feedback-rates"), by_rate=True)
    figure(runs, rates)
    table(runs, rates, notes)


if __name__ == "__main__":
    main()
