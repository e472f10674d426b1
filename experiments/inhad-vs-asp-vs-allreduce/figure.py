#!/usr/bin/env python3
"""Tunes by tune.cfg, writes what it chose to chosen.cfg, runs that and acceleration.cfg, and draws them."""

import itertools
import math
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: from the folder of experiments

WHO = ("all-reduce", "asp", "inhad", "inhad staleness 0")
ACCELERATION = ("all-reduce", "asp", "inhad staleness 1", "inhad staleness 0")
COLOURS = dict(zip(WHO + ACCELERATION[2:3], (plots.COLOURS[i] for i in (6, 1, 0, 5, 0))))
PROBLEMS = {"resnet50": "ResNet-50's time, mlp", "one-slow-gpu": "ResNet-50's time, mlp, one slow GPU",
            "vgg16": "VGG-16's time, cnn"}
TUNED = ("learning-rate", "staleness", "threshold")
SEEDS = "1, 2, 3, 4, 5"
LOSS = 0.1


def part_of(name):
    return tuple(name.split(" ", 1))


def settings_of(scenario):
    return {option: scenario[option] for option in TUNED if option in scenario}


def write_choices(scenarios):
    """tune.cfg once more, without its target: each section with what was chosen for it."""
    own = {part_of(scenario["name"]): settings_of(scenario) for scenario in scenarios}
    text = "# Written by figure.py: each has what tune.cfg chose for it, and goes on after the target.\n"
    options = {}
    for line in (HERE / "tune.cfg").read_text().splitlines():
        key = line.split(" = ")[0]
        if line.startswith("["):
            options = own[part_of(line[1:-1])]
        if line.startswith("#") or key in ("until", "best-of", "best-of-seeds"):
            continue
        if key == "seed":
            line = f"seed = {SEEDS}"
        elif key == "iterations":
            line = "iterations = 140        # 25 epochs"
        elif key in options:
            line = f"{key} = {options[key]}"
        text += line + "\n"
    (HERE / "chosen.cfg").write_text(text)


def seconds_to(cell):
    """The first point of the curve at LOSS or below."""
    return next((at for at, loss in zip(cell.curve["seconds"], cell.curve["loss"]) if loss <= LOSS), math.inf)


def draw(accelerated, learned):
    figure, panels = plots.plt.subplots(1, 3, figsize=(12.6, 4.3))
    panel = panels[0]
    for factor, dashes in ((1, "-"), (10, (0, (4, 2)))):
        for name in ACCELERATION:
            cells = sorted((cell for cell in accelerated if cell.scenario["name"] == name
                            and cell.scenario["bandwidth-factor"] == factor), key=lambda cell: cell.scenario["workers"])
            panel.plot([cell.scenario["workers"] for cell in cells],
                       [cell.figures["throughput_samples_per_s"] for cell in cells],
                       color=COLOURS[name], linestyle=dashes, marker="o", markersize=3.5,
                       label=name.replace("1", "1 (right: or more)") if factor == 1 else None)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log", base=2)
    panel.set_xticks([4, 8, 16, 32], ["4", "8", "16", "32"])
    panel.set_yticks([250, 500, 1000, 2000, 4000, 8000], ["250", "500", "1000", "2000", "4000", "8000"])
    panel.set_xlabel("GPUs, four in a node")
    panel.set_title("samples/s: 10 Gbit/s, dashed: 100")
    for panel, problem in zip(panels[1:], ("resnet50", "vgg16")):
        for who in WHO:
            for cell in learned[problem, who]:
                panel.plot(cell.curve["seconds"], list(itertools.accumulate(cell.curve["loss"], min)), color=COLOURS[who],
                           linewidth=1)
        panel.axhline(LOSS, color="#777777", linewidth=1, linestyle=(0, (4, 3)))
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
        panel.minorticks_off()
        panel.set_xlabel("simulated seconds, each at its own best")
        panel.set_title("least loss yet: " + PROBLEMS[problem])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1), ncol=4)
    figure.savefig(HERE / "figure.svg", metadata={"Date": None}, bbox_inches="tight")
    plots.plt.close(figure)
    print("wrote figure.svg")


def shown(values, form):
    """The median, and the least and the most where they differ."""
    text, low, high = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return text if low == high else f"{text} ({low} to {high})".replace("inf", "missed")


def table(learned, problem):
    text = (f"| | rate | its own | samples/s | seconds to loss {LOSS} | loss after 25 epochs | accuracy, % | a card's MB/iteration | "
            "staleness | most |\n|---|---|---|---|---|---|---|---|---|---|\n")
    for who in WHO:
        cells = learned[problem, who]

        def figures(key, cells=cells):
            return [cell.figures[key] for cell in cells]
        own = settings_of(cells[0].scenario)
        percents = [100 * value for value in figures("accuracy")]
        text += (f"| {who} | {own.pop('learning-rate'):g} | {', '.join(f'`{key}` {value}' for key, value in own.items())} | "
                 f"{shown(figures('throughput_samples_per_s'), '{:.0f}')} | {shown(list(map(seconds_to, cells)), '{:.1f}')} | "
                 f"{shown(figures('loss'), '{:.4f}')} | {shown(percents, '{:.1f}')} | "
                 f"{shown([cell.figures['busiest_links'][0]['bytes_per_iteration'] / 1e6 for cell in cells], '{:.0f}')} | "
                 f"{shown(figures('staleness_mean'), '{:.1f}')} | {shown(figures('staleness_max'), '{:.0f}')} |\n")
    return text


def write_tables(accelerated, learned, notes):
    share = statistics.median(cell.figures["accuracy"] for cell in learned["resnet50", "all-reduce"])
    error = 100 * math.sqrt(share * (1 - share) / plots.HELD_OUT)
    text = ("# What the runs say\n\nWritten by figure.py: medians of five seeds (least to most), each at what tune.cfg chose on two\n"
            f"others. Accuracy is of {plots.HELD_OUT} digits: its standard error is {error:.1f} points.\n")
    for problem, words in PROBLEMS.items():
        text += f"\n## {words}\n\n{table(learned, problem)}"
    text += "\n## Tuning, in the program's words (the seeds above are others)\n\n" + "".join(f"- {note}\n" for note in notes)
    for factor, network in ((1, "10 Gbit/s"), (10, "100 Gbit/s")):
        workers = sorted({cell.scenario["workers"] for cell in accelerated})
        text += (f"\n## samples/s, {network}\n\n| GPUs |" + "".join(f" {count} |" for count in workers) + "\n|---|" +
                 "---|" * len(workers) + "\n")
        for name in ACCELERATION:
            rates = {cell.scenario["workers"]: cell.figures["throughput_samples_per_s"] for cell in accelerated
                     if cell.scenario["name"] == name and cell.scenario["bandwidth-factor"] == factor}
            text += f"| {name} |" + "".join(f" {rates[count]:.0f} |" for count in workers) + "\n"
    (HERE / "figure.md").write_text(text)


if __name__ == "__main__":
    CHOSEN, NOTES = plots.chosen(HERE / "tune.cfg", "inhad-tuned")
    write_choices(CHOSEN)
    LEARNED = plots.grouped(plots.sweep(HERE / "chosen.cfg", "inhad-chosen"), lambda cell: part_of(cell.scenario["name"]))
    ACCELERATED = plots.sweep(HERE / "acceleration.cfg", "inhad-acceleration")
    draw(ACCELERATED, LEARNED)
    write_tables(ACCELERATED, LEARNED, NOTES)
