#!/usr/bin/env python3
"""Makes the prediction interval: which part of the simulated throughput was measured, by simulated efficiency.

    build/release/syncline validate experiments/validation --nominal --json > nominal.json
    build/release/syncline validate experiments/validation --typical --json > typical.json
    prediction.py nominal.json typical.json    writes nominal.csv, typical.csv, left-out.csv and rows in sim/report/prediction.cpp
    prediction.py --check                      exit code 1 if the two others are not what nominal.csv and typical.csv give

A folder with many rows must not decide alone, nor one with two rows count as much as one with 200: a row weighs 1 / the square root
of its folder's rows in the class. left-out.csv tests the interval: each folder against numbers of the other folders only.
"""

import csv
import io
import json
import sys
from itertools import combinations
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
CODE = HERE.parents[1] / "sim/report/prediction.cpp"
# Efficiencies, by which measurements are classed; typical ones are lower, because workers straggle.
ABOVE = {"nominal": (0, 0.5, 0.8, 0.95), "typical": (0, 0.47, 0.75, 0.89)}
OUTSIDE = 0.05  # of the weight, at each end
REALITIES = ("nominal", "typical")
BEGIN, END = "    // prediction.py writes {} from here\n", "    // to here\n"


class Row:
    def __init__(self, folder, measured, simulated, perfect):
        self.folder = folder
        self.measured, self.simulated = measured, simulated
        self.part = measured / simulated
        self.efficiency = simulated / perfect


def class_of(reality, row):
    return max(i for i, above in enumerate(ABOVE[reality]) if i == 0 or row.efficiency > above)


def quantile(parts, share):
    total = sum(weight for _, weight in parts)
    passed = 0
    for part, weight in sorted(parts):
        passed += weight
        if passed >= share * total * (1 - 1e-12):
            break
    return part


def parts_of(reality, rows):
    """By class: low, middle, high, rows, folders."""
    result = []
    for number in range(len(ABOVE[reality])):
        mine = [row for row in rows if class_of(reality, row) == number]
        folders = [row.folder for row in mine]
        weighted = [(row.part, folders.count(row.folder) ** -0.5) for row in mine]
        result.append([*(quantile(weighted, share) for share in (OUTSIDE, 0.5, 1 - OUTSIDE)), len(mine), len(set(folders))])
    return result


def tested(reality, rows, of, name):
    """A line of left-out.csv: how the rows of some folders fare with numbers of others."""
    inside, widths, errors, simulated = [], [], [], []
    without = {folder: parts_of(reality, [row for row in rows if row.folder != folder]) for folder in {row.folder for row in of}}
    for row in of:
        low, middle, high, *_ = without[row.folder][class_of(reality, row)]
        inside.append(low <= row.part <= high)
        widths.append((high - low) / 2 / middle)
        errors.append(middle / row.part - 1)
        simulated.append(1 / row.part - 1)
    return [reality, name, len(of)] + [f"{100 * value:.1f}" for value in (
        sum(inside) / len(inside), median(widths), median(map(abs, errors)), median(errors), median(map(abs, simulated)),
        median(simulated))]


def order(reality, rows):
    """How often rows of one folder are simulated in the measured order although their intervals overlap."""
    parts = parts_of(reality, rows)
    agree, differ = [], []
    for one, other in combinations(rows, 2):
        if one.folder != other.folder or one.measured == other.measured or abs(one.simulated / other.simulated - 1) < 1e-9:
            continue
        (low, _, high, *_), (other_low, _, other_high, *_) = parts[class_of(reality, one)], parts[class_of(reality, other)]
        if low * one.simulated < other_high * other.simulated and other_low * other.simulated < high * one.simulated:
            agree.append((one.simulated > other.simulated) == (one.measured > other.measured))
            differ.append(abs(one.simulated / other.simulated - 1) > 0.1)
    far = [same for same, differs in zip(agree, differ) if differs]
    return (f"# {reality}: of {len(agree)} pairs of one folder whose intervals overlap {100 * sum(agree) / len(agree):.1f} % are simulated in the "
            f"measured order; of the {len(far)} that differ by over 10 %, {100 * sum(far) / len(far):.1f} %\n")


def left_out(tables):
    out = io.StringIO()
    for reality, rows in tables.items():
        out.write(order(reality, rows))
    out.write("# In %, per folder and over all rows: measurements inside the interval that the other folders give; half its width "
              "over its middle, median; error of its middle, absolute and signed medians; the same of the simulation itself\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["reality", "folder", "rows", "inside", "half_width", "middle_median_of_absolute", "middle_median",
                     "simulated_median_of_absolute", "simulated_median"])
    for reality, rows in tables.items():
        for folder in sorted({row.folder for row in rows}):
            writer.writerow(tested(reality, rows, [row for row in rows if row.folder == folder], folder))
        writer.writerow(tested(reality, rows, rows, "all"))
    return out.getvalue()


def code_with(tables):
    code = CODE.read_text()
    for reality, rows in tables.items():
        before, rest = code.split(BEGIN.format(reality))
        after = rest[rest.index(END):]
        lines = [f"    {{{above:g}, {low:.3g}, {middle:.3g}, {high:.3g}, {count}, {folders}}},\n"
                 for above, (low, middle, high, count, folders) in zip(ABOVE[reality], parts_of(reality, rows))]
        code = before + BEGIN.format(reality) + "".join(lines) + after
    return code


def table_of(reality):
    return HERE / f"{reality}.csv"


def write_table(reality, document):
    with table_of(reality).open("w", newline="") as file:
        file.write(f"# Report rows without fitted numbers, samples/s: prediction.py, from validate --{reality}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["folder", "row", "measured", "simulated", "perfect"])
        for folder in document["folders"]:
            for row in folder["rows"]:
                if row["role"] == "report":
                    writer.writerow([Path(folder["folder"]).name, row["row"],
                                     *(f"{row[key]:.6g}" for key in ("measured", "simulated", "perfect"))])


def read_table(reality):
    with table_of(reality).open(newline="") as file:
        return [Row(row["folder"], float(row["measured"]), float(row["simulated"]), float(row["perfect"]))
                for row in csv.DictReader(line for line in file if not line.startswith("#"))]


def main(arguments):
    check = arguments == ["--check"]
    if not check and len(arguments) != len(REALITIES):
        sys.exit(__doc__)
    if not check:
        for reality, document in zip(REALITIES, arguments):
            write_table(reality, json.loads(Path(document).read_text()))
    tables = {reality: read_table(reality) for reality in REALITIES}
    stale = 0
    for path, text in ((HERE / "left-out.csv", left_out(tables)), (CODE, code_with(tables))):
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            print(f"{path.name} is not what prediction.py writes", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
