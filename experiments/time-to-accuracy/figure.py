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
                said.setdefault(reason, []).append(f"{schedule} with {name}")
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


def row(place, cells):
    """The median counts a seed that missed the target as the last; least and most are of those that did not."""
    scenario, figures, seconds = cells[0].scenario, cells[0].figures, seconds_of(cells)
    met = [second for second in seconds if second is not None]
    some = [middle(seconds), *((min(met), max(met)) if met else (float("inf"),) * 2)]
    own = settings_of(scenario)
    return {"cluster": list(CLUSTERS.values())[place[0]], "schedule": scenario["schedule"],
            "compressor": scenario["compressor"], "rate": f"{own['learning-rate']:g}", "staleness": own.get("staleness", ""),
            "local_steps": own.get("local-steps", ""), "pull": own.get("pull", ""),
            **{"seconds" + end: "" if second == float("inf") else f"{second:.1f}"
               for end, second in zip(("", "_least", "_most"), some)},
            "missed": len(seconds) - len(met), "samples_per_s": f"{figures['throughput_samples_per_s']:.0f}",
            "staleness_mean": f"{figures['staleness_mean']:.1f}", "MB_per_iteration": f"{figures['bytes_sent'] / 1e6:.1f}"}


def write_table(found, notes):
    plots.write_csv(HERE / "figure.csv", [
        "Written by figure.py. Seconds to 88 % right answers: median, least and most of five seeds, at what tune.cfg chose on",
        "two others; missed: seeds that did not get there. Samples/s, staleness and a worker's MB are of the first seed.",
        *plots.tuning(notes), *(f"Refused: {', '.join(pairs)}: {reason}" for reason, pairs in refusals().items())],
        [row(place, found[place]) for place in sorted(found)])


if __name__ == "__main__":
    CHOSEN, NOTES = plots.chosen(HERE / "tune.cfg", "time-to-accuracy-tuned")
    write_choices(CHOSEN)
    FOUND = plots.grouped(plots.sweep(HERE / "time-to-accuracy.cfg"), lambda cell: place_of(cell.scenario))
    draw(FOUND)
    write_table(FOUND, NOTES)
