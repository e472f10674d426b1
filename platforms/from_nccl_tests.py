#!/usr/bin/env python3
"""Rates and latencies for a platform from what NCCL's all_reduce_perf prints.

    from_nccl_tests.py FILE               fits all sizes
    from_nccl_tests.py FILE --from 1M     fits sizes of at least so much (K, M and G are 1024 and its powers)

The time of an all-reduce of s bytes among n GPUs is fitted by 2 (n - 1) L + 2 (n - 1) / n s / B, a ring's: least
squares of relative errors, over times in place (as frameworks do it). Printed are L, the latency of a step, B, the bandwidth of
the slowest link of the ring (nccl-tests' bus bandwidth of large sizes), a <link> that has them, and how far the fit is
off at each size.
"""

import re
import sys
from statistics import median

PREFIX = re.compile(r"^\[\d+,\d+\]<std\w+>:\s?")  # what mpirun --tag-output puts before a line
RANK = re.compile(r"#?\s*Rank\s+(\d+)\s.*?\son\s+(\S+)\s+device\s")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def refuse(where, what):
    print(f"from_nccl_tests.py: {where}: {what}", file=sys.stderr)
    sys.exit(2)


def number(word, where, name):
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        refuse(where, f"{name} '{word}': allowed is a number of at least 0")
    return value


class Table:
    """Ranks by number with their hosts; rows of bytes and seconds."""

    def __init__(self, path):
        self.hosts, self.rows, self.columns = {}, [], None
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError as error:
            refuse(path, error.strerror)
        for count, line in enumerate(lines, 1):
            self.read(PREFIX.sub("", line), f"{path}:{count}")
        if not self.hosts:
            refuse(path, "no line '# Rank ...': how many GPUs took part is not said")
        if len(self.hosts) == 1:
            refuse(path, "one GPU: allowed are two or more, which exchange something")
        if not self.rows:
            refuse(path, "no row of sizes and times")

    def read(self, line, where):
        words = line.replace("#wrong", "wrong").removeprefix("#").split()  # pasted text often lacks the first #
        if match := RANK.match(line):
            if match[1] in self.hosts:
                refuse(where, f"a second rank {match[1]}: each process ran alone (nccl-tests built without MPI=1?)")
            self.hosts[match[1]] = match[2]
        elif "starting:" in words and words[-1] != "all_reduce_perf":
            refuse(where, f"'{words[-1]}': allowed is all_reduce_perf")
        elif words[:2] == ["size", "count"]:
            if self.columns:
                refuse(where, "a second table: allowed is one")
            self.columns = words
        elif self.columns and len(words) > 1 and words[0].isdigit() and words[1].isdigit():
            self.read_row(words, where)

    def read_row(self, words, where):
        times = [index for index, name in enumerate(self.columns) if name == "time"]
        if not times or len(words) < times[-1] + 3:
            refuse(where, f"{len(words)} fields: its columns are {' '.join(self.columns)}")
        at = times[-1]
        if words[self.columns.index("redop")] == "none":
            refuse(where, "redop none: not of an all-reduce")
        size, microseconds = number(words[0], where, "size"), number(words[at], where, "time")
        bus = number(words[at + 2], where, "busbw") * 1e9
        wrong = words[at + 3] if len(words) > at + 3 else "N/A"
        if wrong != "N/A" and number(wrong, where, self.columns[at + 3]) > 1e-3:
            refuse(where, f"{wrong} wrong values: the test failed")
        if size == 0:
            return
        if microseconds == 0:
            refuse(where, f"{words[0]} bytes in 0 us: allowed is a time above 0")
        n = len(self.hosts)
        expected = 2 * (n - 1) / max(n, 1) * size / microseconds * 1e6
        if n > 1 and abs(bus - expected) > 0.03 * expected + 0.011e9:
            refuse(where, f"busbw {words[at + 2]}, but {n} ranks and its time give {expected / 1e9:.2f} GB/s")
        self.rows.append((size, microseconds * 1e-6))


def fitted(rows):
    """a and b of time = a + b * bytes, by least squares of (a + b s) / t - 1."""
    x, y = [1 / t for _, t in rows], [s / t for s, t in rows]
    xx, xy, yy = (sum(p * q for p, q in zip(*pair)) for pair in ((x, x), (x, y), (y, y)))
    determinant = xx * yy - xy * xy
    a, b = (sum(x) * yy - sum(y) * xy) / determinant, (sum(y) * xx - sum(x) * xy) / determinant
    if a < 0:
        a, b = 0, sum(y) / yy
    return a, b


def bytes_of(word):
    match = re.fullmatch(r"(\d+)([KMG]?)", word)
    if not match:
        refuse("--from", f"'{word}': allowed is a number of bytes, also with K, M or G")
    return int(match[1]) * UNITS[match[2]]


def main(arguments):
    least = 1
    if len(arguments) == 3 and arguments[1] == "--from":
        least = bytes_of(arguments[2])
    elif len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    path = arguments[0]
    table = Table(path)
    rows = [row for row in table.rows if row[0] >= least]
    if len({size for size, _ in rows}) < 2:
        refuse(path, f"{len(rows)} rows of at least {least} bytes: a fit needs two sizes")
    a, b = fitted(rows)
    if b <= 0:
        refuse(path, "larger sizes take no longer: they have no bandwidth")
    n, nodes = len(table.hosts), len(set(table.hosts.values()))
    latency, bandwidth = a / (2 * (n - 1)), 2 * (n - 1) / n / b
    print(f"{n} GPUs of {nodes} node{'s'[:nodes > 1]}, {len(rows)} of {len(table.rows)} sizes\n"
          f"latency    {latency * 1e6:.4g} us a step: a way from GPU to GPU\n"
          f"bandwidth  {bandwidth / 1e9:.4g} GB/s: of the slowest link of a ring"
          f"{', all cards of a node together' if nodes > 1 else ''}\n"
          "where a way crosses two links of a kind, as in platforms/:\n"
          f'  <link id="..." bandwidth="{bandwidth / 1e9:.4g}GBps" latency="{latency / 2 * 1e6:.4g}us" '
          'sharing_policy="SPLITDUPLEX"/>\n\n'
          f"{'bytes':>12} {'measured us':>12} {'fitted us':>12} {'off':>8}")
    off = [(a + b * size) / time - 1 for size, time in rows]
    for (size, time), error in zip(rows, off):
        print(f"{size:12.0f} {time * 1e6:12.1f} {(a + b * size) * 1e6:12.1f} {100 * error:+7.1f}%")
    worst = max(zip(map(abs, off), rows))
    print(f"off by {100 * median(map(abs, off)):.1f} % in median, {100 * worst[0]:.1f} % at worst, "
          f"at {worst[1][0]:.0f} bytes")
    if worst[0] > 0.2:
        print("NCCL takes another protocol or algorithm by size: --from leaves out what you do not exchange")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
