#!/usr/bin/env python3
"""Writes the prices of compressing on a V100 that pays.cfg compares, beside kernels/profiles/v100-modelled.csv.

v100-papers-code.csv: with the code that came with the papers. Encoding: what was published of topk and mstopk
(v100-published.csv: TensorFlow's nn.topk and MSTopK, from 250,000 elements up), else encode-as-published of
v100-modelled.csv; decoding: as modelled, one message after the other. Where Espresso's authors published another figure (randomk, at 1 % of the
values; efsign), both stand as a range, whose middle is the geometric mean.

And the ends of both ranges as tables: -fast.csv has p10, and -slow.csv has p90. With --check it says which files are
not what it would write, and fails.
"""

import csv
import io
import math
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROFILES = FOLDER.parents[1] / "kernels" / "profiles"
COMPRESSORS = ("topk", "mstopk", "randomk", "qsgd", "efsign", "powersgd")
ESPRESSO = ("randomk", "efsign")
FIGURES = ("seconds", "p10", "p90")
LARGEST = 2**28  # what was published ends there, and no bucket of pays.cfg has as many elements
PAPERS = ("# device: NVIDIA V100, with the code of the papers\n# provenance: modelled\n"
          "# range: of modelled rates, and of what was published beside them\n")
OURS = "# device: NVIDIA V100 SXM2, HBM2\n# provenance: modelled\n"


def rows(name):
    with open(PROFILES / name) as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def wanted(row):
    words = dict(word.split("=") for word in row["parameters"].split())
    return (row["compressor"] in COMPRESSORS and words.get("density", "0.001") == "0.001" and words.get("bits", "4") == "4"
            and float(row["elements"]) <= LARGEST)


def espresso_s(published, compressor, operation, elements):
    """Between two of its sizes: a straight line in logarithms."""
    points = sorted((float(row["elements"]), float(row["seconds"])) for row in published
                    if (row["compressor"], row["operation"]) == (compressor, operation))
    (a, below), (b, above) = next(pair for pair in zip(points, points[1:]) if pair[1][0] >= elements)
    return below * (above / below) ** (math.log(elements / a) / math.log(b / a))


def between(row, other_s):
    ends = sorted((other_s, float(row["p10"]), float(row["p90"])))
    middle = math.sqrt(other_s * float(row["seconds"]))
    return row | {key: f"{value:.6g}" for key, value in zip(FIGURES, (middle, ends[0], ends[-1]))}


def papers_code():
    published = list(rows("v100-published.csv"))
    encoding = [row for row in published
                if row["compressor"] in ("topk", "mstopk") and row["operation"] == "encode"]
    parameters = {}
    table = []
    for row in filter(wanted, rows("v100-modelled.csv")):
        name, elements = row["compressor"], float(row["elements"])
        parameters[name] = row["parameters"]
        measured_from = min((float(known["elements"]) for known in encoding if known["compressor"] == name),
                            default=math.inf)
        if row["operation"] in ("encode", "decode-further") or row["operation"] == "encode-as-published" and elements >= measured_from:
            continue
        row["operation"] = row["operation"].removesuffix("-as-published")
        table.append(between(row, espresso_s(published, name, row["operation"], elements)) if name in ESPRESSO else row)
    return table + [row | {"parameters": parameters[row["compressor"]], "distribution": "gauss"} for row in encoding]


def text_of(header, table):
    table = sorted(table, key=lambda row: (COMPRESSORS.index(row["compressor"]), row["operation"], float(row["elements"])))
    file = io.StringIO()
    file.write(header + "# source: written by kernels.py, which says what it is of\n")
    writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return file.getvalue()


def ends(stem, header, table):
    header = "".join(line for line in header.splitlines(True) if not line.startswith("# range"))
    return {f"{stem}-{end}.csv": text_of(header, [row | dict.fromkeys(FIGURES, row[figure]) for row in table])
            for end, figure in (("fast", "p10"), ("slow", "p90"))}


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    papers = papers_code()
    ours = [row for row in filter(wanted, rows("v100-modelled.csv")) if row["operation"] in ("encode", "decode", "decode-further")]
    files = {"v100-papers-code.csv": text_of(PAPERS, papers), **ends("v100-papers-code", PAPERS, papers),
             **ends("v100-modelled", OURS, ours)}
    for name, text in files.items():
        path = FOLDER / name
        if not arguments:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path}: not what kernels.py writes")


if __name__ == "__main__":
    main(sys.argv[1:])
