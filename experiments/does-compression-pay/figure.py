#!/usr/bin/env python3
"""figure.py DIR: from the results.csv of pays.cfg in DIR, writes figure.svg and figure.csv beside this script."""

import csv
import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

MODELS = ("gpt2", "resnet101", "vgg16", "bert-base", "bert-large")
# Compressor, colour, dashes. A colour is a way to meet: messages that can be added, lists, signs and levels.
FAMILIES = (("added on the way, by an all-reduce", "#0072B2", ("powersgd", "randomk")),
            ("lists of the largest 0.1 %, all gathered", "#D55E00", ("topk", "mstopk")),
            ("1 and 4 bits a value, all gathered", "#00805A", ("efsign", "qsgd")))
COMPRESSORS = [name for _, _, names in FAMILIES for name in names]
KERNELS = {"v100-modelled": "our kernels", "v100-papers-code": "the papers' code"}
OURS = "v100-modelled"
ENDS = ("-fast", "-slow")  # of each of these prices
INK, FAINT, GRID, DENSE = "#222222", "#666666", "#d9d9d9", "#f3e6df"
FACTORS, SHADES = (1.1, 1.01, 1 / 1.01), ("#2f6f9f", "#a9c6dc", "white")  # speed-ups; what is below the last is DENSE
NAMES = ("kernels", "model", "workers", "gbps", "compressor")
LOW, HIGH = 0.1, 40  # of the speed-up's axis


def read(folder):
    """Iteration seconds by (kernels, model, workers, Gbit/s, compressor), and a row of each dense cell by model."""
    seconds, dense = {}, {}
    with open(Path(folder) / "results.csv") as file:
        for row in csv.DictReader(file):
            kernels = Path(row["device"]).name.removesuffix(".csv")
            gbps = float(row["bandwidth-factor"])
            seconds[kernels, row["model"], int(row["workers"]), gbps, row["compressor"]] = float(row["iteration_mean_s"])
            if row["compressor"] == "none":
                dense[row["model"]] = row
    return seconds, dense


def speedups(seconds):
    return {key: seconds[key[:4] + ("none",)] / value for key, value in seconds.items() if key[4] != "none"}


def count(speedup, factor, **fixed):
    """How many of the set-ups that agree with `fixed` are faster than dense by more than `factor`, and of how many."""
    chosen = [value for key, value in speedup.items()
              if all(key[NAMES.index(name)] == wanted for name, wanted in fixed.items())]
    return sum(value > factor for value in chosen), len(chosen)


def counted(wins, kernels):
    """What `wins` counts, of one name of prices: "13", or with the least and the most "13 (11 to 14)"."""
    least, most = sorted((wins(kernels + end) for end in ENDS))
    typical = wins(kernels)
    return str(typical) if least == most == typical else f"{typical} ({min(least, typical)} to {max(most, typical)})"


class Drawing:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def text(self, x, y, words, size=13, anchor="start", colour=INK, weight="normal", turn=None):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
                          f'font-weight="{weight}"{turned}>{escape(words)}</text>')

    def box(self, x, y, width, height, fill="none", stroke="none"):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                          f'fill="{fill}" stroke="{stroke}"/>')

    def band(self, points, colour):
        self.parts.append(f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="{colour}" '
                          'fill-opacity="0.25"/>')

    def line(self, points, colour, width=1.0, dashes=None):
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
                          f'stroke-linejoin="round"{dashed}/>')

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" '
                'font-family="Helvetica, Arial, \'Liberation Sans\', \'DejaVu Sans\', sans-serif">\n'
                f'<rect width="{self.width}" height="{self.height}" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def number(value):
    return f"{value:g}"


def legend(drawing, x, y):
    for words, colour, names in FAMILIES:
        drawing.text(x, y, words, 13, colour=colour, weight="bold")
        at = x
        for index, name in enumerate(names):
            drawing.line([(at, y + 16), (at + 34, y + 16)], colour, 2.4, "5 3" if index else None)
            drawing.text(at + 40, y + 20, name, 13)
            at += 130
        x += 335


def panel(drawing, x, y, width, height, lines, bandwidths, first_column, last_row, note):
    def across(gbps):
        span = math.log(bandwidths[-1] / bandwidths[0])
        return x + 8 + (width - 16) * math.log(gbps / bandwidths[0]) / span

    def up(value):
        value = min(max(value, LOW), HIGH)
        return y + height * math.log(HIGH / value) / math.log(HIGH / LOW)

    drawing.box(x, up(1), width, y + height - up(1), DENSE)
    for tick in (0.1, 0.3, 1, 3, 10, 30):
        drawing.line([(x, up(tick)), (x + width, up(tick))], FAINT if tick == 1 else GRID, 1.2 if tick == 1 else 0.8)
        if first_column:
            drawing.text(x - 6, up(tick) + 4.5, number(tick), 13, "end", FAINT)
    for gbps in bandwidths:
        drawing.line([(across(gbps), y + height), (across(gbps), y + height + 4)], FAINT)
        if last_row and gbps not in (25, 200):
            drawing.text(across(gbps), y + height + 18, number(gbps), 13, "middle", FAINT)
    for colour, dashes, points, fast, slow in lines:
        drawing.band([(across(gbps), up(value)) for gbps, value in fast + slow[::-1]], colour)
        drawing.line([(across(gbps), up(value)) for gbps, value in points], colour, 2.2, dashes)
    drawing.box(x, y, width, height, stroke="#aaaaaa")
    if note:
        drawing.text(x + width - 8, y + 20, "compression wins", 13, "end", FAINT)
        drawing.text(x + width - 8, y + height - 10, "dense wins", 13, "end", FAINT)


def bars(drawing, x, y, width, height, speedup, bandwidths):
    step = width / len(bandwidths)
    for share in (0, 50, 100):
        drawing.text(x - 6, y + height * (1 - share / 100) + 4.5, f"{share} %", 13, "end", FAINT)
    for index, gbps in enumerate(bandwidths):
        left = x + index * step
        for side, kernels in enumerate(KERNELS):
            bar, at = step * 0.4, left + step * (0.08 + 0.44 * side)
            drawing.box(at, y, bar, height, DENSE)
            for factor, fill in reversed(list(zip(FACTORS, SHADES))):
                wins, of = count(speedup, factor, kernels=kernels, gbps=gbps)
                drawing.box(at, y + height * (1 - wins / of), bar, height * wins / of, fill)
            drawing.box(at, y, bar, height, stroke="#bbbbbb")
            if wins / of > 0.12:
                drawing.text(at + bar / 2, y + height * (1 - wins / of) + 16, str(wins), 13, "middle", "white")
            for end in ENDS:
                reached, of = count(speedup, FACTORS[0], kernels=kernels + end, gbps=gbps)
                drawing.line([(at, y + height * (1 - reached / of)), (at + bar, y + height * (1 - reached / of))],
                             INK, 1, "2 2")
            drawing.text(at + bar / 2, y + height + 17, ("ours", "papers'")[side], 13, "middle", FAINT)
        drawing.text(left + step / 2, y + height + 37, f"{number(gbps)} Gbit/s", 13, "middle", weight="bold")


def figure(seconds, dense):
    speedup = speedups(seconds)
    bandwidths = sorted({key[3] for key in speedup})
    workers = sorted({key[2] for key in speedup})
    left, top, wide, high, gap = 78, 168, 184, 150, 12
    height = top + len(workers) * (high + gap) + 306
    drawing = Drawing(left + len(MODELS) * (wide + gap) + 8, height)
    narrow = {k: v for k, v in speedup.items() if k[3] <= 10}
    wide_ones = {k: v for k, v in speedup.items() if k[3] >= 40}
    few, many = (counted(lambda kernels: count(some, 1.1, kernels=kernels)[0], OURS) for some in (narrow, wide_ones))
    few_of, many_of = (count(some, 1.1, kernels=OURS)[1] for some in (narrow, wide_ones))
    drawing.text(left, 30, "Does gradient compression pay? Up to 10 Gbit/s mostly, from 40 Gbit/s hardly ever", 20,
                 weight="bold")
    drawing.text(left, 54, f"Speed-up over a dense ring, our kernels, modelled V100 (bands: range). Over 10 %: {few} of "
                 f"{few_of} up to 10 Gbit/s, {many} of {many_of} from 40.", 13)
    legend(drawing, left, 84)
    for column, model in enumerate(MODELS):
        x = left + column * (wide + gap)
        drawing.text(x + wide / 2, top - 26, model, 15, "middle", weight="bold")
        row = dense.get(model)
        if row:
            drawing.text(x + wide / 2, top - 9, f"{1e3 * float(row['compute_s']):,.0f} ms of computation", 13, "middle", FAINT)
        for line, count_of in enumerate(workers):
            lines = [(colour, "5 3" if index else None,
                      *([(gbps, speedup[OURS + end, model, count_of, gbps, name]) for gbps in bandwidths]
                        for end in ("", *ENDS)))
                     for _, colour, names in reversed(FAMILIES) for index, name in enumerate(names)
                     if (OURS, model, count_of, bandwidths[0], name) in speedup]
            panel(drawing, x, top + line * (high + gap), wide, high, lines, bandwidths, column == 0,
                  line + 1 == len(workers), column == 0)
    for line, count_of in enumerate(workers):
        drawing.text(24, top + line * (high + gap) + high / 2, f"{count_of} workers", 14, "middle", weight="bold", turn=-90)
        drawing.text(42, top + line * (high + gap) + high / 2, "times as fast", 13, "middle", FAINT, turn=-90)
    below = top + len(workers) * (high + gap)
    drawing.text(left + (drawing.width - left) / 2, below + 26, "Gbit/s of each worker's link", 13, "middle", FAINT)

    each = count(speedup, 1, kernels=OURS, gbps=bandwidths[0])[1]
    y = below + 72
    drawing.text(left, y, f"The {each} set-ups of each bandwidth, with compressors priced as our kernels and as the papers' code",
                 15, weight="bold")
    x = left
    for fill, words in ((SHADES[0], "compression more than 10 % faster"), (SHADES[1], "1 to 10 % faster"),
                        (SHADES[2], "within 1 %"), (DENSE, "dense more than 1 % faster; dashes: the darkest, at both ends")):
        drawing.box(x, y + 13, 13, 13, fill, "#bbbbbb")
        drawing.text(x + 19, y + 24, words, 13)
        x += 44 + 6.9 * len(words)
    bars(drawing, left, y + 42, len(MODELS) * (wide + gap) - gap, 130, speedup, bandwidths)
    return drawing.svg()


def rows_of(by, value, some):
    """Of these set-ups, a row for each name of prices: how many are faster and slower, and the least and most at the ends."""
    for kernels, words in KERNELS.items():
        row = {"by": by, "value": value, "set_ups": count(some, 1, kernels=OURS)[1], "prices": words}
        for name, factor in zip(("faster_10_percent", "faster_1_percent", "slower_1_percent"), FACTORS):
            def wins(of, factor=factor):
                faster, every = count(some, factor, kernels=of)
                return faster if factor > 1 else every - faster
            typical, *ends = (wins(kernels + end) for end in ("", *ENDS))
            row |= {name: typical, f"{name}_least": min(typical, *ends), f"{name}_most": max(typical, *ends)}
        yield row


def table(speedup):
    def is_value(kind, wanted):
        return lambda key: key[NAMES.index(kind)] == wanted

    bandwidths = sorted({key[3] for key in speedup})
    groups = [("Gbit/s", number(gbps), is_value("gbps", gbps)) for gbps in bandwidths]
    groups += [("Gbit/s", "up to 10", lambda key: key[3] <= 10), ("Gbit/s", "up to 25", lambda key: key[3] <= 25),
               ("Gbit/s", "from 40", lambda key: key[3] >= 40)]
    for kind, values in (("compressor", COMPRESSORS), ("workers", sorted({key[2] for key in speedup})), ("model", MODELS)):
        groups += [(kind, str(value), is_value(kind, value)) for value in values]
    groups.append(("all", "", lambda key: True))
    return [row for by, value, holds in groups
            for row in rows_of(by, value, {key: ratio for key, ratio in speedup.items() if holds(key)})]


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    here = Path(__file__).resolve().parent
    seconds, dense = read(arguments[0])
    (here / "figure.svg").write_text(figure(seconds, dense))
    rows = table(speedups(seconds))
    with open(here / "figure.csv", "w", newline="") as file:
        file.write("# Written by figure.py. In how many set-ups an iteration is shorter, or longer, with the compressor than\n"
                   "# without; least and most: at the ends of what compressing costs.\n")
        table_of = csv.DictWriter(file, rows[0], lineterminator="\n")
        table_of.writeheader()
        table_of.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
