#!/usr/bin/env python3
"""Writes v100-papers-code.csv: what encoding costs on a V100 with the code that came with the papers.

Measured where somebody published it (v100-published.csv: TensorFlow's nn.topk, MSTopK, from 250,000 elements up), else
`encode-as-published` of v100-modelled.csv: the traffic and the launches of the papers' code. Decoding as modelled.
"""

import csv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROFILES = FOLDER.parents[1] / "kernels" / "profiles"
COMPRESSORS = ("topk", "mstopk", "randomk", "qsgd", "efsign", "powersgd")


def rows(name):
    with open(PROFILES / name) as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def wanted(row):
    words = dict(word.split("=") for word in row["parameters"].split())
    return row["compressor"] in COMPRESSORS and words.get("density", "0.001") == "0.001" and words.get("bits", "4") == "4"


def main():
    published = [row for row in rows("v100-published.csv") if wanted(row) and row["operation"] == "encode"]
    parameters = {}
    table = []
    for row in filter(wanted, rows("v100-modelled.csv")):
        parameters[row["compressor"]] = row["parameters"]
        measured_from = min((float(known["elements"]) for known in published
                             if known["compressor"] == row["compressor"]), default=float("inf"))
        if row["operation"] == "decode":
            table.append(row)
        elif row["operation"] == "encode-as-published" and float(row["elements"]) < measured_from:
            table.append(row | {"operation": "encode"})
    table += [row | {"parameters": parameters[row["compressor"]], "distribution": "gauss"} for row in published]
    table.sort(key=lambda row: (COMPRESSORS.index(row["compressor"]), row["operation"], float(row["elements"])))
    with open(FOLDER / "v100-papers-code.csv", "w") as file:
        file.write("# device: NVIDIA V100, with the code of the papers\n# provenance: modelled\n"
                   "# source: written by kernels.py, which says what is measured (topk and mstopk) and what is modelled\n")
        writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
