#!/usr/bin/env python3
"""Tunes each combination by tune.cfg, writes what it chose to time-to-accuracy.cfg, runs and draws that."""

import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: from the folder of experiments

SCHEDULES = ("bsp", "local-sgd", "asp", "ssp", "inhad", "topk-sgd")
COMPRESSORS = ("none", "topk", "gaussiank", "qsgd", "powersgd")
SPARSIFIERS = ("topk", "gaussiank", "dgc", "mstopk", "sidco", "randomk", "threshold", "cat")
OTHERS = ("terngrad", "onebit", "efsign")
CLUSTERS = {"uniform-8x1.xml": "all alike", "../labs/stragglers/in-turn-8x1.xml": "slow in turn"}
TUNED = ("learning-rate", "staleness", "local-steps", "pull")
SEEDS = "1, 2, 3, 4, 5"


def cluster_of(scenario):
    return next(path for path in CLUSTERS if Path(path).name == Path(scenario["platform"]).name)


def place_of(scenario):
    """In the order of tables."""
    schedule, name = scenario["schedule"], scenario["compressor"]
    return (list(CLUSTERS).index(cluster_of(scenario)), SCHEDULES.index(schedule),
            (SPARSIFIERS if schedule == "topk-sgd" else COMPRESSORS).index(name))


def settings_of(scenario):
    """What was tuned of it; `pull` where messages are compressed."""
    return {option: scenario[option] for option in TUNED if option in scenario and
            (option != "pull" or scenario["compressor"] != "none")}


def write_choices(scenarios):
    alike = ("platform", "held-out", "until", "seed", "best-of-seeds", "best-of", "compressor", "")
    shared = [line for line in (HERE / "tune.cfg").read_text().split("\n[")[0].splitlines()
              if not line.startswith("#") and line.split(" ")[0] not in alike]
    text = "# Who reaches the target first? Written by figure.py: each has what tune.cfg chose for it.\n" + "\n".join(shared)
    text += f"\nuntil = accuracy:0.88\nseed = {SEEDS}\n"
    for scenario in sorted(scenarios, key=place_of):
        cluster = cluster_of(scenario)
        text += f"\n[{scenario['schedule']} {scenario['compressor']} {CLUSTERS[cluster]}]\nplatform = {cluster}\n"
        for option in ("schedule", "compressor"):
            text += f"{option} = {scenario[option]}\n"
        for option, value in settings_of(scenario).items():
            text += f"{option} = {value}\n"
    (HERE / "time-to-accuracy.cfg").write_text(text)


def refusals():
    """What the program says of pairs that cannot be, by sentence."""
    said = {}
    for schedule in SCHEDULES:
        for name in COMPRESSORS + SPARSIFIERS[2:] + OTHERS:
            command = [plots.PROGRAM, "explain", "--platform", HERE / "uniform-8x1.xml", "--model", "vgg16",
                       "--throughput", "200", "--device", "v100-modelled", "--learn", "digits", "--schedule", schedule,
                       "--compressor", name]
            ended = subprocess.run(command, capture_output=True, text=True)
            if ended.returncode:
                reason = ended.stderr.strip().removeprefix("syncline: --compressor: ").replace(f"compressor = {name}: ", "")
                said.setdefault(reason, []).append(f"`{schedule}` with `{name}`")
    return said


def seconds_of(cells):
    return [cell.figures["target_s"] for cell in cells]


def middle(seconds):
    return statistics.median(float("inf") if value is None else value for value in seconds)


def draw(found):
    groups = {place: seconds_of(cells) for place, cells in found.items()}
    rows = sorted({place[1:] for place in groups})
    figure, panel = plots.plt.subplots(figsize=(9.4, 10))
    places = {row: index + 0.8 * row[0] for index, row in enumerate(rows)}
    least, most = 3, 150
    for index, (label, colour, shift) in enumerate(zip(CLUSTERS.values(), plots.COLOURS, (-0.17, 0.17))):
        labelled = False
        for row in rows:
            if (index, *row) not in groups:
                continue
            values, y = groups[index, *row], places[row] + shift
            value = middle(values)
            met = [second for second in values if second is not None]
            panel.plot(met, [y] * len(met), ".", color=colour, markersize=4)
            if value == float("inf"):
                panel.plot([most * 0.9], [y], "x", color=colour, markersize=6)
            else:
                panel.barh(y, value - least, left=least, height=0.32, color=colour, alpha=0.75,
                           label=None if labelled else label)
                labelled = True
    names = [(SCHEDULES[row[0]], (SPARSIFIERS if SCHEDULES[row[0]] == "topk-sgd" else COMPRESSORS)[row[1]]) for row in rows]
    panel.set_yticks([places[row] for row in rows], [", ".join(name) for name in names])
    panel.invert_yaxis()
    panel.set_xscale("log")
    panel.set_xlim(least, most)
    panel.set_xticks([5, 10, 20, 50, 100], ["5", "10", "20", "50", "100"])
    panel.minorticks_off()
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("simulated seconds to 88 % right answers (bars: medians; dots: each seed; x: missed)")
    panel.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncol=2, title="eight workers, 10 Gbit/s; each at its own best")
    plots.save(figure, HERE / "figure.svg")


def shown(seconds):
    value = middle(seconds)
    met = [second for second in seconds if second is not None]
    if value == float("inf"):
        return f"missed ({len(met)} of {len(seconds)} met it)" if met else "missed"
    missed = f", {len(seconds) - len(met)} missed" if len(met) < len(seconds) else ""
    return f"{value:.1f} ({min(met):.1f} to {max(met):.1f}{missed})"


def write_table(found, notes):
    text = ("# Seconds to 88 % right answers\n\nWritten by figure.py: medians of five seeds (least to most), and what tune.cfg\n"
            "chose on two others. Samples/s, staleness and bytes are of the first seed.\n")
    for index, label in enumerate(CLUSTERS.values()):
        text += (f"\n## {label[0].upper()}{label[1:]}\n\n"
                 "| schedule | compressor | rate | its own | seconds | samples/s | stale | bytes/iteration of a worker |\n"
                 "|---|---|---|---|---|---|---|---|\n")
        for place in sorted(found):
            if place[0] != index:
                continue
            cells = found[place]
            scenario, figures = cells[0].scenario, cells[0].figures
            own = ", ".join(f"`{option}` {value}" for option, value in settings_of(scenario).items()
                            if option != "learning-rate")
            text += (f"| `{scenario['schedule']}` | `{scenario['compressor']}` | {scenario['learning-rate']:g} | {own} | "
                     f"{shown(seconds_of(cells))} | {figures['throughput_samples_per_s']:.0f} | "
                     f"{figures['staleness_mean']:.1f} | {figures['bytes_sent'] / 1e6:.1f} MB |\n")
    text += "\n## Tuning, in the program's words (the seeds above are others)\n\n" + "".join(f"- {note}\n" for note in notes)
    text += "\n## Refused\n\n"
    for reason, pairs in refusals().items():
        text += f"- {', '.join(pairs)}: {reason}\n"
    (HERE / "figure.md").write_text(text)


if __name__ == "__main__":
    CHOSEN, NOTES = plots.chosen(HERE / "tune.cfg", "time-to-accuracy-tuned")
    write_choices(CHOSEN)
    FOUND = plots.grouped(plots.sweep(HERE / "time-to-accuracy.cfg"), lambda cell: place_of(cell.scenario))
    draw(FOUND)
    write_table(FOUND, NOTES)
