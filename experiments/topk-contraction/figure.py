#!/usr/bin/env python3
"""Tunes each contestant's rate by tune.cfg, writes what it chose to topk-contraction.cfg, runs that; writes figure.svg, .csv."""

import sys
from pathlib import Path
from statistics import mean

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: found through the line above

PROBLEMS = ("mlp", "cnn")
DENSITIES = (0.001, 0.01, 0.1)
COLOUR = dict(zip(DENSITIES, plots.COLOURS))
SHOWN = (0, 8, 64, 256)  # of the iterations with a histogram
SEEDS = range(1, 6)


def key(scenario):
    """Problem, compressor, density, warm-up."""
    return (scenario["learn"], scenario["compressor"], float(scenario["density"]), scenario["warm-up-densities"])


def settings(scenario):
    names = ("learn", "learning-rate", "compressor", "warm-up-densities", "density")
    return {name: scenario[name] for name in names}


def column(cell, name):
    return [float(row[name]) for row in cell.tables["compression"]]


def bins(cell, iteration):
    return [row for row in cell.tables["histogram"] if int(row["iteration"]) == iteration]


def share(rows, name, inside):
    """Of the bins that lie within so many deviations of the mean."""
    return sum(float(row[name]) for row in rows
               if row["from"] and row["to"] and abs(float(row["from"])) <= inside and abs(float(row["to"])) <= inside)


def shapes(axes, cell):
    """Of what is compressed, the part per deviation."""
    for colour, iteration in zip(plots.COLOURS, SHOWN):
        rows = [row for row in bins(cell, iteration) if row["from"] and row["to"]]
        middle = [(float(row["from"]) + float(row["to"])) / 2 for row in rows]
        axes.plot(middle, [float(row["share"]) / 0.25 or None for row in rows], color=colour, linewidth=1.6,
                  label=f"iteration {iteration}")
    axes.plot(middle, [float(row["normal_share"]) / 0.25 for row in rows], color="black", linestyle=":", linewidth=2.2,
              label="normal")
    axes.set(yscale="log", ylim=(3e-4, 4), xlabel="standard deviations from the mean")


def kept(axes, cells):
    """Of the squares, by messages of the largest values; and what both bounds say is kept at least."""
    for density, cell in cells.items():
        axes.plot(column(cell, "iteration"), [1 - left for left in column(cell, "left_out")], color=COLOUR[density],
                  linewidth=1.6, label=f"density {density:g}")
        for name, style in (("left_out_bound", ":"), ("left_out_bound_squared", "--")):
            axes.axhline(1 - column(cell, name)[0], color=COLOUR[density], linestyle=style, linewidth=1.4)
    axes.set(yscale="log", ylim=(5e-4, 1.2), xlabel="iterations")


def selected(axes, cells):
    """By Gaussian_k, over what was asked for: the mean over workers, and the least and most of them."""
    for density, cell in cells.items():
        asked = column(cell, "target_values")
        part = [[values / k for values, k in zip(column(cell, name), asked)]
                for name in ("sent_values", "least_sent_values", "most_sent_values")]
        axes.fill_between(column(cell, "iteration"), part[1], part[2], color=COLOUR[density], alpha=0.15, linewidth=0)
        axes.plot(column(cell, "iteration"), part[0], color=COLOUR[density], linewidth=1.2)
    for limit in (2 / 3, 4 / 3):
        axes.axhline(limit, color="black", linestyle="--", linewidth=1)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    axes.set(ylim=(0, 130), xlabel="iterations")


def figure(found):
    drawing, panels = plots.plt.subplots(2, 3, figsize=(12, 7.2))
    for row, problem in zip(panels, PROBLEMS):
        shapes(row[0], found[problem, "topk", 0.01, "none"][0])
        kept(row[1], {density: found[problem, "topk", density, "none"][0] for density in DENSITIES})
        selected(row[2], {density: found[problem, "gaussiank", density, "none"][0] for density in DENSITIES})
        row[0].set_title(f"{problem}: values compressed (density 0.01)", fontsize=11)
        row[1].set_title(f"{problem}: squares kept, and at least (bounds)", fontsize=11)
        row[2].set_title(f"{problem}: Gaussian_k, sent / asked for", fontsize=11)
    panels[0][0].legend(fontsize=9, loc="lower center")
    panels[0][1].plot([], [], color="grey", linestyle=":", label="k/d")
    panels[0][1].plot([], [], color="grey", linestyle="--", label=r"1 $-$ (1 $-$ k/d)$^2$")
    drawing.get_layout_engine().set(rect=(0, 0, 1, 0.95))  # room for the legend
    drawing.legend(*panels[0][1].get_legend_handles_labels(), ncols=5, loc="upper center")
    plots.save(drawing, HERE / "figure.svg")


def tables(found, notes):
    rows = []
    for (problem, compressor, density, warm_up), cells in sorted(
            found.items(), key=lambda one: (-PROBLEMS.index(one[0][0]), one[0][1:])):
        if density == 1:
            continue
        iterations = sum(len(column(cell, "left_out")) for cell in cells)

        def above(name):
            return sum(left > bound + 1e-12 for cell in cells
                       for left, bound in zip(column(cell, "left_out"), column(cell, name))) / iterations

        nothing = [100 * mean(most == 0 for most in column(cell, "most_sent_values")) for cell in cells]
        last = [column(cells[0], name)[-1] for name in ("left_out_bound", "left_out_bound_squared")]
        rows.append({
            "problem": problem, "compressor": compressor, "warm_up": "no" if warm_up == "none" else "yes",
            "density": f"{density:g}", "rate": f"{cells[0].scenario['learning-rate']:g}",
            **plots.spread("left_out", [cell.learning["left_out"] for cell in cells], ".4f"),
            "bound": f"{last[0]:.4f}", "bound_squared": f"{last[1]:.4f}",
            "above_bound_percent": f"{100 * above('left_out_bound'):.1f}",
            "above_bound_squared_percent": f"{100 * above('left_out_bound_squared'):.1f}",
            **plots.spread("sent_over_asked",
                           [cell.learning["sent_values"] / cell.learning["target_values"] for cell in cells], ".2f"),
            **plots.spread("nothing_sent_percent", nothing, ".1f"),
            **plots.spread("loss", [cell.figures["loss"] for cell in cells], ".4f")})
    plots.write_csv(HERE / "figure.csv", [
        "Written by figure.py. The part of the squares that messages leave out: median, least and most of five seeds, each at the",
        "rate that tune.cfg chose on two others. bound: 1 - k/d, at the last density; above_bound: iterations above it.",
        "nothing_sent: iterations in which no worker sends a value.", *plots.tuning(notes)], rows)
    rows = []
    for problem in PROBLEMS:
        for density, words in ((1, "gradients"), (0.01, "with residual, topk 0.01")):
            for iteration in SHOWN:
                some = [bins(cell, iteration) for cell in found[problem, "topk", density, "none"]]
                near, far, squares = ([100 * share(rows_of, name, inside) for rows_of in some]
                                      for name, inside in (("share", 0.25), ("share", 3), ("square_share", 3)))
                rows.append({"problem": problem, "compressed": words, "iteration": iteration,
                             **plots.spread("within_quarter_percent", near, ".1f"),
                             **plots.spread("beyond_three_percent", [max(100 - one, 0) for one in far], ".2f"),
                             **plots.spread("squares_beyond_three_percent", [max(100 - one, 0) for one in squares], ".1f")})
    plots.write_csv(HERE / "shapes.csv", [
        "Written by figure.py. Values within a quarter of a standard deviation (19.7 % of a normal distribution) and beyond three",
        "(0.27 %, with 2.9 % of the squares): median, least and most of five seeds."], rows)


def main():
    chosen, notes = plots.chosen(HERE / "tune.cfg", "topk-contraction-tuned")
    plots.write_chosen(HERE / "topk-contraction.cfg", HERE / "tune.cfg",
                       "What 16 workers compress as they train, each contestant at the rate that tune.cfg chose for it.",
                       sorted(map(settings, chosen), key=lambda one: list(map(str, one.values()))), SEEDS, ("density",))
    found = plots.grouped(plots.sweep(HERE / "topk-contraction.cfg"), lambda cell: key(cell.scenario))
    figure(found)
    tables(found, notes)


if __name__ == "__main__":
    main()
