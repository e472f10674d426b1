#!/usr/bin/env python3
"""Tunes each quantiser by tune.cfg, writes its choice to quantised.cfg, runs that and same-rate.cfg; writes figure.svg, .csv."""

import math
import sys
from pathlib import Path
from statistics import mean, median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: found through the line above

TARGET = 0.1  # training loss
WORKERS = 8
PAPER, SHORT, THEORY = "512, max", "128, max", "all, 2-norm"  # values that share a scale, and which
CODES = {PAPER: "fixed, dense, sparse", SHORT: "fixed, sparse", THEORY: "dense, sparse"}
SEEDS = range(1, 6)


def scale(scenario):
    return THEORY if scenario["norm"] == "two" else SHORT if scenario["quant-bucket"] == "128" else PAPER


def kind(scenario):
    """Compressor, values and scale, bits, code."""
    name = scenario.get("compressor", "none")
    if name != "qsgd":
        return (name,)
    return (name, scale(scenario), scenario["bits"], scenario["coding"])


def settings(scenario):
    """Those of what was chosen, and all codes."""
    names = ("learning-rate", "compressor", "norm", "quant-bucket", "bits")
    own = {name: scenario[name] for name in names if name in scenario}
    return own | ({"coding": CODES[scale(scenario)]} if own["compressor"] == "qsgd" else {})


def message_bytes(cell):
    """Of all messages that one worker has made by each point of the curve; what networks carry is below."""
    if cell.scenario.get("compressor", "none") == "none":
        return [4.0 * cell.learning["parameters"] * iterations for iterations in cell.curve["iterations"]]
    return [sent / (WORKERS * (WORKERS - 1)) for sent in cell.curve["bytes"]]  # all are gathered by all


def at_target(cell, amounts):
    """Of this at the first point at the target."""
    return next((amount for amount, loss in zip(amounts, cell.curve["loss"]) if loss <= TARGET), math.inf)


def levels(bits):
    return 2 ** (bits - 1) - 1


class Runs:
    def __init__(self, cells):
        self.by_kind = plots.grouped(cells, lambda cell: kind(cell.scenario))

    def curve(self, what):
        cells = self.by_kind[what]
        return ([mean(some) for some in zip(*map(message_bytes, cells))],
                [mean(some) for some in zip(*(cell.curve["loss"] for cell in cells))])

    def from_dense(self, what):
        """At each point of the curve and for each seed: loss / dense's loss - 1."""
        return [[mine / dense - 1 for mine, dense in zip(cell.curve["loss"], other.curve["loss"])]
                for cell, other in zip(self.by_kind[what], self.by_kind[("none",)])]


SHOWN = {  # style, words
    ("none",): ("k-", "fp32"),
    ("qsgd", PAPER, 8, "fixed"): ("-", "8 bits"),
    ("qsgd", PAPER, 4, "fixed"): ("-", "4 bits"),
    ("qsgd", PAPER, 2, "fixed"): ("-", "2 bits"),
    ("qsgd", PAPER, 4, "sparse"): ("--", "4 bits, Elias"),
    ("qsgd", PAPER, 2, "sparse"): ("--", "2 bits, Elias"),
    ("qsgd", THEORY, 2, "sparse"): ("--", "1 level of the 2-norm, Elias"),
    ("terngrad",): (":", "terngrad"),
    ("efsign",): ("-.", "efsign"),
}
COLOUR = {8: plots.COLOURS[0], 4: plots.COLOURS[2], 2: plots.COLOURS[1]}


def colour(what):
    if what == ("none",):
        return "black"
    if what[0] != "qsgd":
        return {"terngrad": plots.COLOURS[7], "efsign": plots.COLOURS[4]}[what[0]]
    return plots.COLOURS[3] if what[1] == THEORY else COLOUR[what[2]]


def figure(runs, same_rate):
    drawing, (by_bytes, by_epoch, lengths) = plots.plt.subplots(1, 3, figsize=(13, 5.4), width_ratios=(1.15, 1, 1))
    for what, (style, words) in SHOWN.items():
        sent, losses = runs.curve(what)
        by_bytes.plot([amount / 1e6 for amount in sent[1:]], losses[1:], style, color=colour(what), label=words,
                      linewidth=1.8)
    by_bytes.axhline(TARGET, color="#888888", linewidth=0.8)
    by_bytes.set(xscale="log", yscale="log", xlabel="MB of messages, each worker", ylabel="training loss",
                 title="Loss per byte")
    by_bytes.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"])
    by_bytes.set_yticks([], minor=True)
    drawing.legend(loc="upper center", ncols=9, fontsize=10, columnspacing=1.2, handlelength=1.8)

    for what in SHOWN:
        if what == ("none",) or what not in same_rate.by_kind:
            continue
        for seed in same_rate.from_dense(what):
            by_epoch.plot(range(len(seed)), [100 * part for part in seed], color=colour(what), linewidth=0.8, alpha=0.8)
    by_epoch.axhspan(-1, 1, color="#888888", alpha=0.18, linewidth=0)
    by_epoch.set(xlabel="iteration", ylabel="% above fp32's loss, five seeds", title="Loss per iteration, all at rate 0.5",
                 ylim=(-50, 50))

    rows = [what for what in runs.by_kind if what[0] == "qsgd" and what[1] != SHORT]
    labels = []
    groups = sorted({what[1:3] for what in rows}, key=lambda pair: (pair[0] != PAPER, pair[1]))
    for at, (scale, bits) in enumerate(groups):
        labels.append(f"{bits} bits" if scale == PAPER else f"s = {levels(bits)}")
        for offset, coding in enumerate(("fixed", "dense", "sparse")):
            what = ("qsgd", scale, bits, coding)
            if what not in runs.by_kind:
                continue
            cells = runs.by_kind[what]
            x = at + 0.27 * (offset - 1)
            lengths.bar(x, mean(cell.learning["bits_per_value"] for cell in cells), 0.25,
                        color=("#bbbbbb", plots.COLOURS[5], plots.COLOURS[0])[offset],
                        label={"fixed": "fixed width", "dense": "Elias, dense", "sparse": "Elias, sparse"}[coding]
                        if at == 0 else None)
            if bound := cells[0].learning["bits_bound"]:
                lengths.plot([x - 0.13, x + 0.13], [bound, bound], color=plots.COLOURS[1], linewidth=2.5,
                             label="the paper's bound" if bits == 2 and coding == "dense" else None)
    lengths.set_xticks(range(len(labels)), labels)
    lengths.set(ylabel="bits a value", title="Length of codes")
    lengths.axvline(2.5, color="#888888", linewidth=0.8)
    lengths.text(1, 8.6, "512 values, largest", ha="center", fontsize=9)
    lengths.text(4, 8.6, "all values, 2-norm", ha="center", fontsize=9)
    lengths.set_ylim(0, 9)
    lengths.legend(fontsize=9, loc="upper right", bbox_to_anchor=(1, 0.94))
    lengths.grid(axis="x", visible=False)
    drawing.get_layout_engine().set(rect=(0, 0, 1, 0.94))
    plots.save(drawing, HERE / "figure.svg")


def tables(runs, same_rate, notes):
    dense = runs.by_kind[("none",)]
    samples = plots.spread("samples", [at_target(cell, cell.curve["samples"]) for cell in dense], ",.0f")
    rows = []
    for what, cells in runs.by_kind.items():
        name, scale, bits, coding = what if what[0] == "qsgd" else what + ("", "", "")
        length, variance = (cells[0].learning[name] for name in ("bits_bound", "left_out_bound"))
        bits_used = mean(cell.learning["bits_per_value"] for cell in cells) or 32
        kb = [at_target(cell, message_bytes(cell)) / 1e3 for cell in cells]
        of_dense = [mine / (at_target(cell, message_bytes(cell)) / 1e3) for mine, cell in zip(kb, dense)]
        over_fp32 = [at_target(cell, cell.curve["samples"]) / at_target(other, other.curve["samples"])
                     for cell, other in zip(cells, dense)]
        rows.append({
            "compressor": name, "scale": scale, "bits": bits, "code": coding,
            "rate": f"{cells[0].scenario['learning-rate']:g}", "bits_per_value": f"{bits_used:.3f}",
            "bits_bound": f"{length:.3f}" if length else "",
            "variance": f"{mean(cell.learning['left_out'] for cell in cells):.4f}",
            "variance_bound": f"{variance:.4f}" if variance else "",
            **plots.spread("samples_over_fp32", over_fp32, ".2f"),
            **plots.spread("kB", kb, ".1f"), **plots.spread("kB_over_fp32", of_dense, ".4f"),
            "MB_sent": f"{median(at_target(cell, cell.curve['bytes']) for cell in cells) / 1e6:.2f}"})
    plots.write_csv(HERE / "figure.csv", [
        f"Written by figure.py. Until the training loss is {TARGET:g}: median, least and most of five seeds, each at the rate",
        "that tune.cfg chose on two others. variance: over the gradient's norm squared. kB: of one worker's messages. MB_sent:",
        "by all, over the network. over_fp32: with the same seed. Bounds are without their o(1).",
        f"fp32 takes {samples['samples']} ({samples['samples_least']} to {samples['samples_most']}) samples.",
        *plots.tuning(notes)], rows)
    rows = []
    for what in same_rate.by_kind:
        name, scale, bits, _ = what if what[0] == "qsgd" else what + ("", "", "")
        seeds = same_rate.from_dense(what)
        rows.append({"compressor": name, "scale": scale, "bits": bits,
                     **plots.spread("farthest_percent", [100 * max(map(abs, seed)) for seed in seeds], ".1f"),
                     **plots.spread("end_percent", [100 * seed[-1] for seed in seeds], ".1f")})
    plots.write_csv(HERE / "same-rate.csv", [
        "Written by figure.py. All at rate 0.5: how far the loss is from fp32's with the same seed, farthest after any iteration",
        "and at the end; median, least and most of five seeds."], rows)


def main():
    chosen, notes = plots.chosen(HERE / "tune.cfg", "quantised-tuned")
    plots.write_chosen(HERE / "quantised.cfg", HERE / "tune.cfg", "Quantisers by bits, scale and code, each at the rate that "
                       "tune.cfg chose for it.", map(settings, chosen), SEEDS, without=("until",))
    runs = Runs(plots.sweep(HERE / "quantised.cfg"))
    same_rate = Runs(plots.sweep(HERE / "same-rate.cfg", "quantised-same-rate"))
    figure(runs, same_rate)
    tables(runs, same_rate, notes)


if __name__ == "__main__":
    main()
