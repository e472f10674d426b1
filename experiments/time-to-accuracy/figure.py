#!/usr/bin/env python3
"""Chooses each combination's learning rate by rates.cfg, writes and runs time-to-accuracy.cfg, and draws it."""

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
CLUSTERS = {"uniform-8x1": "all alike", "in-turn-8x1": "slow in turn"}
SEEDS = "1, 2, 3"


def of(cell):
    return cell.scenario["schedule"], cell.scenario["compressor"]


def chosen_rates(found):
    """The rate that met the target first, else that with the least loss."""
    best = {}
    for cell in found:
        target, loss = cell.figures["target_s"], cell.figures["loss"]
        score = (target is None, target or 0, float("inf") if loss is None else loss)
        if of(cell) not in best or score < best[of(cell)][0]:
            best[of(cell)] = (score, cell.scenario["learning-rate"])
    return {combination: rate for combination, (_, rate) in best.items()}


def write_configuration(rates):
    shared = [line for line in (HERE / "rates.cfg").read_text().split("\n[")[0].splitlines()
              if line.split(" ")[0] not in ("#", "platform", "learning-rate", "seed", "compressor", "")]
    text = ("# Who reaches the target first, on two clusters? Written by figure.py: learning rates are the best of rates.cfg.\n"
            "platform = uniform-8x1.xml, ../labs/stragglers/in-turn-8x1.xml\n" + "\n".join(shared) +
            f"\nseed = {SEEDS}\n")
    for schedule in SCHEDULES:
        for rate in sorted({rates[combination] for combination in rates if combination[0] == schedule}):
            names = [name for name in COMPRESSORS + SPARSIFIERS[2:] if rates.get((schedule, name)) == rate]
            text += f"\n[{schedule} at {rate:g}]\nschedule = {schedule}\nlearning-rate = {rate:g}\n"
            text += f"compressor = {', '.join(names)}\n" + ("staleness = 4\n" if schedule == "ssp" else "")
    (HERE / "time-to-accuracy.cfg").write_text(text)


def refusals():
    """What the program says of pairs that cannot be, by sentence."""
    said = {}
    for schedule in SCHEDULES:
        for name in COMPRESSORS + SPARSIFIERS[2:] + OTHERS:
            command = [plots.ROOT / "build/release/syncline", "explain", "--platform", HERE / "uniform-8x1.xml", "--model",
                       "vgg16", "--throughput", "200", "--device", "v100-modelled", "--learn", "digits", "--schedule",
                       schedule, "--compressor", name]
            ended = subprocess.run(command, capture_output=True, text=True)
            if ended.returncode:
                reason = ended.stderr.strip().removeprefix("syncline: --compressor: ").replace(f"compressor = {name}: ", "")
                said.setdefault(reason, []).append(f"`{schedule}` with `{name}`")
    return said


def results(found):
    """Per combination and cluster: seconds to the target of each seed, None where missed."""
    seconds = {}
    for cell in found:
        key = (*of(cell), Path(cell.scenario["platform"]).stem)
        seconds.setdefault(key, []).append(cell.figures["target_s"])
    return seconds


def middle(seconds):
    met = sorted(value for value in seconds if value is not None)
    return statistics.median(met) if 2 * len(met) > len(seconds) else None


def draw(seconds):
    rows = [(schedule, name) for schedule in SCHEDULES
            for name in (SPARSIFIERS if schedule == "topk-sgd" else COMPRESSORS)]
    figure, panel = plots.plt.subplots(figsize=(9.4, 10))
    place, gaps = {}, 0
    for index, row in enumerate(rows):
        gaps += index > 0 and rows[index - 1][0] != row[0]
        place[row] = index + 0.8 * gaps
    least, most = 4, 300
    for (cluster, label), colour, shift in zip(CLUSTERS.items(), (plots.COLOURS[0], plots.COLOURS[1]), (-0.17, 0.17)):
        for index, row in enumerate(rows):
            values, y = seconds[(*row, cluster)], place[row] + shift
            value = middle(values)
            met = [second for second in values if second is not None]
            panel.plot(met, [y] * len(met), ".", color=colour, markersize=4)
            if value is None:
                panel.plot([most * 0.8], [y], "x", color=colour, markersize=6)
            else:
                panel.barh(y, value - least, left=least, height=0.32, color=colour, alpha=0.75,
                           label=label if index == 0 else None)
    panel.set_yticks([place[row] for row in rows], [f"{schedule}, {name}" for schedule, name in rows])
    panel.invert_yaxis()
    panel.set_xscale("log")
    panel.set_xlim(least, most)
    panel.set_xticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
    panel.minorticks_off()
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("simulated seconds to 88 % right answers (bars: medians; dots: each seed; x: missed)")
    panel.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncol=2, title="eight workers, 10 Gbit/s")
    plots.save(figure, HERE / "figure.svg")


def shown(values):
    value = middle(values)
    met = [second for second in values if second is not None]
    if value is None:
        return f"missed ({len(met)} of {len(values)} met it)" if met else "missed"
    return f"{value:.1f} ({min(met):.1f} to {max(met):.1f})" + (f", {len(values) - len(met)} missed" if len(met) < len(values) else "")


def write_table(found, rates):
    seconds = results(found)
    figures = {}
    for cell in found:
        figures.setdefault((*of(cell), Path(cell.scenario["platform"]).stem), []).append(cell.figures)
    text = ("# Seconds to 88 % right answers\n\nWritten by figure.py: median of three seeds (least to most).\n\n"
            "| schedule | compressor | rate | all alike | slow in turn | samples/s | stale | bytes/iteration of a worker |\n"
            "|---|---|---|---|---|---|---|---|\n")
    for schedule in SCHEDULES:
        for name in SPARSIFIERS if schedule == "topk-sgd" else COMPRESSORS:
            both = [seconds[schedule, name, cluster] for cluster in CLUSTERS]
            one = figures[schedule, name, "uniform-8x1"][0]
            text += (f"| `{schedule}` | `{name}` | {rates[schedule, name]:g} | {shown(both[0])} | {shown(both[1])} | "
                     f"{one['throughput_samples_per_s']:.0f} | {one['staleness_mean']:.1f} | {one['bytes_sent'] / 1e6:.1f} MB |\n")
    text += "\nSamples/s, staleness and bytes are of the first cluster and seed.\n\n## Refused\n\n"
    for reason, pairs in refusals().items():
        text += f"- {', '.join(pairs)}: {reason}\n"
    (HERE / "figure.md").write_text(text)


if __name__ == "__main__":
    RATES = chosen_rates(plots.sweep(HERE / "rates.cfg", "time-to-accuracy-rates"))
    write_configuration(RATES)
    FOUND = plots.sweep(HERE / "time-to-accuracy.cfg")
    draw(results(FOUND))
    write_table(FOUND, RATES)
