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


def row(learned, problem, who):
    cells = learned[problem, who]

    def figures(name, key, form, factor=1):
        return plots.spread(name, [factor * cell.figures[key] for cell in cells], form)
    own = settings_of(cells[0].scenario)
    card = [cell.figures["busiest_links"][0]["bytes_per_iteration"] / 1e6 for cell in cells]
    seconds = plots.spread(f"seconds_to_loss_{LOSS}", list(map(seconds_to, cells)), ".1f")
    return {"problem": PROBLEMS[problem], "schedule": who, "rate": f"{own['learning-rate']:g}",
            "staleness": own.get("staleness", ""), "threshold": own.get("threshold", ""),
            **figures("samples_per_s", "throughput_samples_per_s", ".0f"),
            **{column: text.replace("inf", "missed") for column, text in seconds.items()},
            **figures("loss", "loss", ".4f"), **figures("accuracy_percent", "accuracy", ".1f", 100),
            **plots.spread("card_MB_per_iteration", card, ".0f"), **figures("staleness_mean", "staleness_mean", ".1f"),
            **figures("staleness_max", "staleness_max", ".0f")}


def write_tables(accelerated, learned, notes):
    share = statistics.median(cell.figures["accuracy"] for cell in learned["resnet50", "all-reduce"])
    error = 100 * math.sqrt(share * (1 - share) / plots.HELD_OUT)
    plots.write_csv(HERE / "figure.csv", [
        "Written by figure.py. Median, least and most of five seeds, each at what tune.cfg chose on two others. Loss and",
        f"accuracy are those after 25 epochs; accuracy is of {plots.HELD_OUT} digits: its standard error is {error:.1f} points.",
        *plots.tuning(notes)], [row(learned, problem, who) for problem in PROBLEMS for who in WHO])
    order = sorted((cell for cell in accelerated if cell.scenario["name"] in ACCELERATION), key=lambda cell: (
        cell.scenario["bandwidth-factor"], ACCELERATION.index(cell.scenario["name"]), cell.scenario["workers"]))
    plots.write_csv(HERE / "acceleration.csv", ["Written by figure.py."], [
        {"gbit_per_s": 10 * cell.scenario["bandwidth-factor"], "schedule": cell.scenario["name"],
         "gpus": cell.scenario["workers"], "samples_per_s": f"{cell.figures['throughput_samples_per_s']:.0f}"} for cell in order])


if __name__ == "__main__":
    CHOSEN, NOTES = plots.chosen(HERE / "tune.cfg", "inhad-tuned")
    write_choices(CHOSEN)
    LEARNED = plots.grouped(plots.sweep(HERE / "chosen.cfg", "inhad-chosen"), lambda cell: part_of(cell.scenario["name"]))
    ACCELERATED = plots.sweep(HERE / "acceleration.cfg", "inhad-acceleration")
    draw(ACCELERATED, LEARNED)
    write_tables(ACCELERATED, LEARNED, NOTES)
