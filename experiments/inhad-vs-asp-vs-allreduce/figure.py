#!/usr/bin/env python3
"""Runs the four files beside it and draws figure.svg; figure.md has the numbers."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plots  # noqa: E402: from the folder of experiments

NAMES = ("all-reduce", "asp", "inhad staleness 1", "inhad staleness 0")
COLOURS = dict(zip(NAMES, (plots.COLOURS[6], plots.COLOURS[1], plots.COLOURS[0], plots.COLOURS[5])))
LEARNED = {"resnet50": "ResNet-50's time, mlp", "vgg16": "VGG-16's time, cnn",
           "one-slow-gpu": "ResNet-50's time, mlp, one slow GPU"}
LOSS = 0.1


def named(found):
    """Cells by name, in the order of seeds."""
    return {name: sorted((cell for cell in found if cell.scenario["name"] == name), key=lambda cell: cell.scenario["seed"])
            for name in NAMES}


def seconds_to(cell):
    """The first point of the curve at LOSS or below."""
    return next((at for at, loss in zip(cell.curve["seconds"], cell.curve["loss"]) if loss <= LOSS), None)


def draw(accelerated, learned):
    figure, panels = plots.plt.subplots(1, 3, figsize=(12.6, 4.3))
    panel = panels[0]
    for factor, dashes in ((1, "-"), (10, (0, (4, 2)))):
        for name in NAMES:
            cells = sorted((cell for cell in accelerated if cell.scenario["name"] == name
                            and cell.scenario["bandwidth-factor"] == factor), key=lambda cell: cell.scenario["workers"])
            panel.plot([cell.scenario["workers"] for cell in cells],
                       [cell.figures["throughput_samples_per_s"] for cell in cells],
                       color=COLOURS[name], linestyle=dashes, marker="o", markersize=3.5)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log", base=2)
    panel.set_xticks([4, 8, 16, 32], ["4", "8", "16", "32"])
    panel.set_yticks([250, 500, 1000, 2000, 4000, 8000], ["250", "500", "1000", "2000", "4000", "8000"])
    panel.set_xlabel("GPUs, four in a node")
    panel.set_title("samples/s: 10 Gbit/s, dashed: 100")
    for panel, part in zip(panels[1:], ("resnet50", "vgg16")):
        for name, cells in named(learned[part]).items():
            for index, cell in enumerate(cells):
                panel.plot(cell.curve["seconds"], cell.curve["loss"], color=COLOURS[name], linewidth=1.2,
                           label=name if index == 0 else None)
        panel.axhline(LOSS, color="#777777", linewidth=1, linestyle=(0, (4, 3)))
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
        panel.minorticks_off()
        panel.set_xlabel("simulated seconds")
        panel.set_title("loss: " + LEARNED[part])
    figure.legend(*panels[1].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1), ncol=4)
    figure.savefig(HERE / "figure.svg", metadata={"Date": None}, bbox_inches="tight")
    plots.plt.close(figure)
    print("wrote figure.svg")


def spread(values, form):
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def table(cells_by_name):
    text = (f"| | samples/s | seconds to loss {LOSS} | loss after 50 epochs | accuracy | a card's bytes/iteration | staleness | most |\n"
            "|---|---|---|---|---|---|---|---|\n")
    for name, cells in cells_by_name.items():
        def figures(key):
            return [cell.figures[key] for cell in cells]
        met = [seconds_to(cell) for cell in cells]
        text += (f"| {name} | {spread(figures('throughput_samples_per_s'), '{:.0f}')} | "
                 f"{'missed' if None in met else spread(met, '{:.1f}')} | {spread(figures('loss'), '{:.4f}')} | "
                 f"{spread([100 * value for value in figures('accuracy')], '{:.1f}')} % | "
                 f"{spread([cell.figures['busiest_links'][0]['bytes_per_iteration'] / 1e6 for cell in cells], '{:.0f}')} MB | "
                 f"{spread(figures('staleness_mean'), '{:.1f}')} | {spread(figures('staleness_max'), '{}')} |\n")
    return text


def write_tables(accelerated, learned):
    text = "# What the runs say\n\nWritten by figure.py: least to most of three seeds.\n"
    for part, words in LEARNED.items():
        text += f"\n## {words}\n\n{table(named(learned[part]))}"
    for factor, network in ((1, "10 Gbit/s"), (10, "100 Gbit/s")):
        workers = sorted({cell.scenario["workers"] for cell in accelerated})
        text += f"\n## samples/s, {network}\n\n| GPUs |" + "".join(f" {count} |" for count in workers) + "\n|---|" + "---|" * len(workers) + "\n"
        for name in NAMES:
            rates = {cell.scenario["workers"]: cell.figures["throughput_samples_per_s"] for cell in accelerated
                     if cell.scenario["name"] == name and cell.scenario["bandwidth-factor"] == factor}
            text += f"| {name} |" + "".join(f" {rates[count]:.0f} |" for count in workers) + "\n"
    (HERE / "figure.md").write_text(text)


if __name__ == "__main__":
    LEARNED_CELLS = {part: plots.sweep(HERE / f"{part}.cfg", f"inhad-{part}") for part in LEARNED}
    ACCELERATED = plots.sweep(HERE / "acceleration.cfg", "inhad-acceleration")
    draw(ACCELERATED, LEARNED_CELLS)
    write_tables(ACCELERATED, LEARNED_CELLS)
