#!/usr/bin/env python3
"""Writes this folder's digits.csv from the copy of the data set in Debian's python3-sklearn.

    apt-get download python3-sklearn && dpkg-deb -x python3-sklearn_*.deb sklearn
    python3 models/data/digits.py sklearn/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz
"""

import gzip
import os
import sys
from pathlib import Path

HEADER = """\
# data: digits
# sample: 8x8 image of a handwritten digit, row after row; integer pixels from 0 to 16
# samples: 1797
# source: E. Alpaydin and C. Kaynak 1998, Optical Recognition of Handwritten Digits (the test set), UCI Machine Learning Repository, doi:10.24432/C50P49
# licence: Creative Commons Attribution 4.0 International (CC BY 4.0)
# made: by models/data/digits.py from sklearn/datasets/data/digits.csv.gz of Debian's python3-sklearn 1.2.1; values and order as they are there
"""


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    if not Path(arguments[0]).is_file():
        print(f"digits.py: {arguments[0]!r}: not a regular file", file=sys.stderr)
        return 2
    with gzip.open(arguments[0], "rt") as file:
        rows = file.read().split()
    if len(rows) != 1797 or any(row.count(",") != 64 for row in rows):
        print(f"digits.py: {arguments[0]!r}: must have 1797 rows of 65 fields", file=sys.stderr)
        return 2
    columns = [f"pixel{i}" for i in range(64)] + ["label"]
    text = HEADER + "\n".join([",".join(columns)] + rows) + "\n"
    Path(__file__).with_name("digits.csv").write_text(text)
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"digits.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
