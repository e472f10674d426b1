#!/usr/bin/env python3
"""Tunes each contestant's rate by tune.cfg, writes what it chose to cat.cfg, runs that; writes figure.svg and two tables."""

import math
import sys
from itertools import accumulate
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: found through the line above

DENSITIES = {  # and how many values each is
    "mlp": {0.001: 4, 0.0023: 11, 0.01: 48, 0.03: 144, 0.1: 481},
    "least-squares": {0.005: 3, 0.0185: 12, 0.03: 19, 0.1: 65},
}
COLOUR = dict(zip(("payload", *DENSITIES["mlp"]), plots.COLOURS))  # payload sends one value, always
COSTS = {"payload": "bits", "affine": "bits with a start", "packet": "packets with a start"}
PACKET_COST, PACKET_BITS, FIXED_COST = 576, 512, 64  # CAT's defaults, its paper's
TARGETS = {  # by error feedback: words, loss of mlp, loss of least-squares
    "off": (("a half", "loss:1.19", "loss:0.3763"), ("a fifth", "loss:0.476", "loss:0.302")),
    "on": (("a 25th", "loss:0.0952", "loss:0.2624"),),
}
BANDWIDTHS = {1: "1 Gbit/s", 0.01: "10 Mbit/s", 0.001: "1 Mbit/s"}
SEEDS = range(1, 6)


def element_bits(parameters):
    return 32 + (parameters - 1).bit_length()


def elements(cell):
    """Values in a message at each iteration up to the target, the mean over workers."""
    rows = cell.tables["compression"][:len(cell.curve["loss"]) - 1]  # without those on their way then
    return [float(row["sent_values"]) for row in rows]


def spent(cell, cost):
    """By a worker up to each point of the curve, in what the model of costs counts."""
    bits = element_bits(cell.learning["parameters"])
    whole = PACKET_BITS // bits  # elements of a packet

    def of(count):
        if cost == "payload":
            return count * bits
        if cost == "affine":
            return PACKET_COST * count * bits / PACKET_BITS + FIXED_COST
        if cell.scenario.get("cost") == "packet":  # a mean of whole packets
            return PACKET_COST * count / whole + FIXED_COST
        return PACKET_COST * math.ceil(count * bits / PACKET_BITS) + FIXED_COST

    return list(accumulate(map(of, elements(cell)), initial=0.0))


def to_target(cell, cost):
    return spent(cell, cost)[-1] if cell.figures["target_s"] else math.inf


def key(scenario):
    """Problem, error feedback, target, bandwidth; then density or CAT's cost."""
    how = scenario.get("density", "dense")
    if scenario["compressor"] == "cat":
        how = "cat" if "bandwidth-factor" in scenario else scenario["cost"]
    return (scenario["learn"], scenario.get("error-feedback", "on"), scenario["until"], scenario.get("bandwidth-factor"), how)


def settings(scenario):
    priced = "bandwidth-factor" in scenario
    names = ("learn", "until", "iterations", "bandwidth-factor", "error-feedback", "learning-rate", "compressor", "density",
             "cost")
    return {name: scenario[name] for name in names if scenario.get(name, "on") not in ("on", "auto", "none") and
            not (name == "cost" and priced)}


class Runs:
    def __init__(self, cells):
        self.groups = plots.grouped(cells, lambda cell: key(cell.scenario))

    def of(self, learn, feedback, until, how):
        return self.groups[learn, feedback, until, None, how]

    def seconds(self, bandwidth, how):
        return [cell.figures["target_s"] or math.inf for cell in self.groups["mlp", "on", "loss:0.1", bandwidth, how]]


def figure(runs):
    drawing, panels = plots.plt.subplots(2, 4, figsize=(15, 7.6))
    for row, (feedback, targets) in zip(panels, TARGETS.items()):
        until = targets[-1][1]
        for axes, (cost, words) in zip(row, COSTS.items()):
            for how, colour, width in [(how, COLOUR[how], 1.4) for how in COLOUR] + [(cost, "black", 2.2)] * (cost != "payload"):
                cell = runs.of("mlp", feedback, until, how)[0]
                axes.plot(spent(cell, cost)[1:], cell.curve["loss"][1:], color=colour, linewidth=width)
            axes.axhline(float(until.removeprefix("loss:")), color="#888888", linewidth=0.8)
            axes.set(xscale="log", yscale="log", title=cost, xlabel=f"cost of a worker: {words}", ylim=(0.085, 3))
            axes.set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
            axes.set_yticks([], minor=True)
        row[0].set_ylabel(f"loss, error feedback {feedback}")
    chosen, seconds = panels[0][3], panels[1][3]
    for cost, style in zip(COSTS, (":", "--", "-")):
        chosen.plot(elements(runs.of("mlp", "on", TARGETS["on"][0][1], cost)[0]), style, color="black", label=cost)
    chosen.set(yscale="log", xlabel="iteration", ylabel="values", title="CAT sends, error feedback on", ylim=(0.7, 100))
    chosen.legend(fontsize=9, loc="upper right")
    hows = ("dense", *DENSITIES["mlp"], "cat")
    for at, bandwidth in enumerate(BANDWIDTHS):
        for offset, how in enumerate(hows):
            took = runs.seconds(bandwidth, how)
            x = at + 0.12 * (offset - 3)
            seconds.bar(x, median(took), 0.11, color={"dense": "#bbbbbb", "cat": "black"}.get(how, COLOUR.get(how)))
            seconds.plot([x, x], [min(took), max(took)], color="#666666", linewidth=1)
    seconds.set_xticks(range(len(BANDWIDTHS)), BANDWIDTHS.values())
    seconds.set(yscale="log", title="seconds to a loss of 0.1", ylim=(1, None))
    seconds.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    seconds.set_yticks([], minor=True)
    seconds.grid(axis="x", visible=False)
    line = plots.plt.Line2D
    drawing.legend([line([], [], color=colour, linewidth=3) for colour in COLOUR.values()] +
                   [line([], [], color=colour, linewidth=3) for colour in ("black", "#bbbbbb")],
                   ["1 of 4,810, as CAT under payload"] + [str(count) for count in DENSITIES["mlp"].values()] +
                   ["CAT", "no compressor"],
                   loc="upper center", ncols=8)
    drawing.get_layout_engine().set(rect=(0, 0, 1, 0.95))
    plots.save(drawing, HERE / "figure.svg")


def amount(name, some, form=".0f"):
    """Columns of the median, least and most; how many seeds reached the target, where most did not."""
    if median(some) == math.inf:
        met = sum(one < math.inf for one in some)
        return {name: f"{met} of {len(some)} seeds" if met else "never", f"{name}_least": "", f"{name}_most": ""}
    return {column: word.replace("inf", "never") for column, word in plots.spread(name, some, form).items()}


def rate_of(cells):
    return f"{cells[0].scenario['learning-rate']:g}"


def iterations(cells):
    return amount("iterations", [len(elements(cell)) if cell.figures["target_s"] else math.inf for cell in cells])


def of_best(fixed, cells, cost):
    """The fixed number with the least median cost, and CAT's cost over its, seed by seed where it reached the target."""
    theirs = {count: [to_target(cell, cost) for cell in those] for count, those in fixed.items()}
    best = min(theirs, key=lambda count: median(theirs[count]))
    parts = [to_target(cell, cost) / other for cell, other in zip(cells, theirs[best]) if other < math.inf]
    return {"best_fixed": best, **amount("cost_over_best", parts, ".2f")}


def cost_rows(runs, feedback, words, learn, until):
    rows = []
    fixed = {1: runs.of(learn, feedback, until, "payload")}  # it sends one, always
    fixed |= {count: runs.of(learn, feedback, until, density) for density, count in DENSITIES[learn].items()}
    for count, cells in fixed.items():
        rows.append({"problem": learn, "error_feedback": feedback, "target": words,
                     "sends": "1 (also CAT payload)" if count == 1 else count, "rate": rate_of(cells), **iterations(cells)})
        for cost in COSTS:
            rows[-1] |= amount(cost, [to_target(cell, cost) for cell in cells])
    rows[0] |= of_best(fixed, fixed[1], "payload")
    for cost in list(COSTS)[1:]:
        cells = runs.of(learn, feedback, until, cost)
        sent = [count for cell in cells for count in elements(cell)]
        rows.append({"problem": learn, "error_feedback": feedback, "target": words, "sends": f"CAT {cost}",
                     "rate": rate_of(cells), **iterations(cells), **amount(cost, [to_target(cell, cost) for cell in cells]),
                     "values": f"{sum(sent) / len(sent):.1f}", "values_least": f"{min(sent):.1f}",
                     "values_most": f"{max(sent):.1f}", **of_best(fixed, cells, cost)})
    return rows


def tables(runs, notes):
    rows = [row for feedback, targets in TARGETS.items() for words, *untils in targets
            for learn, until in zip(DENSITIES, untils) for row in cost_rows(runs, feedback, words, learn, until)]
    plots.write_csv(HERE / "figure.csv", [
        "Written by figure.py. Cost of one worker until the loss above the least one is that part of the first one: median,",
        "least and most of five seeds, each at the rate that tune.cfg chose on two or three others. never: not in 600",
        "iterations (mlp) or 1,500. values: what CAT sends in a message: the mean, and the least and most of an iteration.",
        "cost_over_best: CAT's cost over that of best_fixed, seed by seed where both reach the target.",
        *plots.tuning(notes)], rows)
    rows = []
    for bandwidth, words in BANDWIDTHS.items():
        took = {how: runs.seconds(bandwidth, how) for how in ("dense", *DENSITIES["mlp"], "cat")}
        best = min((how for how in took if how != "cat"), key=lambda how: median(took[how]))
        for how, some in took.items():
            cells = runs.groups["mlp", "on", "loss:0.1", bandwidth, how]
            rows.append({"network": words, "sends": DENSITIES["mlp"].get(how, "CAT" if how == "cat" else "all"),
                         "rate": rate_of(cells), **amount("seconds", some, ".2f")})
        rows[-1] |= amount("seconds_over_best", [own / other for own, other in zip(took["cat"], took[best])], ".2f")
        rows[-1]["bits_per_value"] = f"{median(cell.learning['bits_per_value'] for cell in cells):.2f}"
    plots.write_csv(HERE / "seconds.csv", [
        "Written by figure.py. Seconds until the loss of mlp is 0.1, with error feedback, by values in a message: median, least",
        "and most of five seeds. CAT is priced by the network; seconds_over_best: over the best other row, seed by seed."], rows)


def main():
    chosen, notes = plots.chosen(HERE / "tune.cfg", "cat-tuned")
    plots.write_chosen(HERE / "cat.cfg", HERE / "tune.cfg", "CAT and fixed densities, each at the rate that tune.cfg chose for it.",
                       sorted(map(settings, chosen), key=str), SEEDS, ("bandwidth-factor", "density", "cost"))
    runs = Runs(plots.sweep(HERE / "cat.cfg"))
    figure(runs)
    tables(runs, notes)


if __name__ == "__main__":
    main()
