#!/usr/bin/env python3
"""Fits latency and bandwidth of a platform's links to the output of NCCL's all_reduce_perf.

    from_nccl_tests.py FILE                         fits all sizes
    from_nccl_tests.py FILE --from 1M               fits sizes of at least this many bytes (K, M and G are 1024 and its powers)
    from_nccl_tests.py FILE --nominal 8x400Gbps     refuses a link above this rate: all network cards of a node together,
                                                    or one GPU's link to the others in a log of one node (450GBps)

The model of an all-reduce of s bytes is steps * L + load * s / B, fitted by least squares of relative errors to in-place
times, as frameworks reduce. L is the latency of a step and B the bandwidth of the slowest link. The script prints both, a
<link> with them, and the error of the fit at each size. Among n GPUs, g on each of m nodes:

    algorithm   steps                   load: the share of the message that the slowest link carries each way
    ring        2 (n - 1)               2 (n - 1) / n, so that B is nccl-tests' bus bandwidth of large sizes
    tree        2 (g - 1 + log2 m)      NCCL's two trees of half a message each: 1 on two nodes, 3/2 on three, 2 on more;
                                        on one node, a chain of GPUs, 2 (two GPUs: 1)
    NVLS        2                       (n + 1) / n: NVSwitch sums and copies, on one node
    NVLSTree    2 (1 + log2 m)          as tree

A log names its algorithm by NCCL_ALGO=... in a command line, or with NCCL_DEBUG=INFO ("NCCL_ALGO set by environment to
Ring"; with NCCL_DEBUG_SUBSYS=TUNING "Bytes -> Algo" for each size). Otherwise the script prints a <link> for every
algorithm that NCCL may have taken, the likeliest first.
"""

import os
import re
import stat
import sys
from collections import Counter
from statistics import median

# Launchers may put any prefix before a line, so lines are searched for the text of nccl-tests.
RANK = re.compile(r"\bRank\s+(\d+)\s+(?:Group\s+(\d+)\s)?(?:.*\s)?on\s+(?:(\S.*?)\s+)?device\s+(\d+)\s*(\[[^]]*\])?(.*)")
COLUMNS = re.compile(r"\bsize\s+count\s.*")
ROW = re.compile(r"(?:^|[^\w.])(\d+\s+\d+\s+(?:u?int|char|half|b?float|double|f8|fp8|fp16|bf16)\w*\s.*)")
PROGRAM = re.compile(r"\b(all_reduce|all_gather|alltoallv?|broadcast|gather|hypercube|reduce_scatter|reduce|scatter|sendrecv)_perf")
ALGORITHM = re.compile(r"\bNCCL_ALGO(?:[\"']?\s*[:=]\s*| set by environment to )[\"']?([A-Za-z^][^\s\"']*)"
                       r"|\b(NCCL_TREE_THRESHOLD)(?:=| set by environment to )0\b")
TUNED = re.compile(r"NCCL INFO (?:AllReduce: +)?(\d+) Bytes -> Algo (\w+) ")
MULTICAST = re.compile(r"NVLS multicast support is (not )?available|\bNCCL_NVLS_ENABLE(?:=| set by environment to )(0)")
NODES = re.compile(r"\bnRanks (\d+) nNodes (\d+)\b")
LONGEST = 600  # characters of a line that are searched; NCCL_ALGO is found anywhere
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
NAMES = {"ring": "ring", "tree": "tree", "nvls": "NVLS", "nvlstree": "NVLSTree"}
NUMBERS = ["tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"]  # of NCCL's algorithms, in TUNED
# NVLink of a GPU to all others each way, in GB/s, by its name: the maker's datasheets.
NVLINK = [(r"P100-SXM", 80), (r"V100-SXM", 150), (r"A100-SXM", 300), (r"A800-SXM", 200), (r"\bH800\b(?! PCIe)", 200),
          (r"\bG?H(?:100|200|20)\b(?! (?:PCIe|NVL))", 450), (r"\bG?B[123]00\b", 900)]
MULTICASTING = 200, 450, 900  # H800 and later, whose NVSwitch sums


def printable(text):
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def refuse(where, what):
    print(printable(f"from_nccl_tests.py: {where}: {what}"), file=sys.stderr)
    sys.exit(2)


def number(word, where, name):
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if not 0 <= value < 1e18:
        refuse(where, f"{name} '{word[:40]}': must be a number from 0 to 1e18")
    return value


def algorithms_of(value, where):
    """The all-reduce algorithms that a value of NCCL_ALGO allows."""
    for part in value.lower().rstrip(".,").split(";"):
        kind, _, names = part.rpartition(":")
        if kind in ("", "allreduce"):
            value = names
    given = [name for name in value.lstrip("^").split(",") if name != "pat"]  # not used for all-reduce
    if value.startswith("^"):
        return [name for name in NAMES if name not in given]
    if not set(given) <= set(NAMES):
        refuse(where, f"NCCL_ALGO {value}: allowed are {', '.join(NAMES.values())}")
    return given


class Table:
    """Hosts by rank, rows of bytes and seconds, and the log's statements about NCCL."""

    def __init__(self, path):
        self.hosts, self.gpus, self.rows, self.columns = {}, {}, [], None
        self.algorithms, self.tuned, self.multicast, self.nodes_by_ranks = None, {}, None, {}
        self.programs, self.first = [], ""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                refuse(path, "not a regular file")
            with open(path, encoding="utf-8", errors="replace") as file:
                for count, line in enumerate(file, 1):
                    self.read(line, f"{path}:{count}")
        except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
            refuse(path, getattr(error, "strerror", None) or error)
        if self.programs and all(program != "all_reduce_perf" for program, _ in self.programs):
            refuse(self.programs[0][1], f"'{self.programs[0][0]}': only all_reduce_perf is supported")
        if not self.hosts:
            refuse(path, "no line '# Rank N ... on HOST device M', which gives the number of GPUs"
                   + (f"; its first line begins with '{self.first[:40]}'" if self.first else ""))
        if len(self.hosts) == 1:
            refuse(path, "one GPU: two or more are needed")
        if not self.rows:
            refuse(path, "no row of sizes and times" if self.columns else "no row of sizes and times: no line 'size count type ...'")

    def read(self, line, where):
        self.first = self.first or line.strip()
        if match := ALGORITHM.search(line):
            said = algorithms_of("ring" if match[2] else match[1], where)
            if self.algorithms not in (None, said):
                refuse(where, f"{match[0]}: an earlier line has {','.join(self.algorithms)}")
            self.algorithms = said
        if match := PROGRAM.search(line):
            self.programs.append((match[0], where))
        line = line[:LONGEST]
        words = line.split()
        if match := RANK.search(line):
            self.read_rank(match, where)
        elif "starting:" in words and words[-1] != "all_reduce_perf":
            refuse(where, f"'{words[-1]}': only all_reduce_perf is supported")
        elif match := COLUMNS.search(line):
            if self.columns:
                refuse(where, "a second table: only one is supported")
            self.read_columns(match[0].replace("#", "").split(), where)
        elif match := self.columns and ROW.search(line):
            self.read_row(match[1].split(), where)
        elif match := TUNED.search(line):
            self.tuned[float(match[1])] = NUMBERS[int(match[2])] if match[2] in "0123456" else match[2].lower()
        elif match := MULTICAST.search(line):
            self.multicast = not (match[1] or match[2]) and self.multicast is not False
        elif match := NODES.search(line):
            self.nodes_by_ranks[int(match[1])] = int(match[2])

    def read_rank(self, match, where):
        rank, group, host, device, bus, self.gpu = (part and part.strip() for part in match.groups())
        if int(group or 0) != 0:
            refuse(where, f"group {group}: only one group of GPUs is supported, because several share their links")
        if rank in self.hosts:
            refuse(where, f"a second rank {rank}: each process ran alone (nccl-tests built without MPI=1?)")
        self.hosts[rank], self.gpus[rank] = host, (host, device, bus)

    def read_columns(self, columns, where):
        if "redop" not in columns:
            refuse(where, "a column root and no column redop: a broadcast, not an all-reduce" if "root" in columns
                   else "no column redop: is it of all_reduce_perf?")
        times = [index for index, name in enumerate(columns) if name == "time"]
        if not times or columns[times[-1] + 1:times[-1] + 3] != ["algbw", "busbw"]:
            refuse(where, "no columns 'time algbw busbw'")
        self.columns, self.times = columns, times

    def read_row(self, words, where):
        at = self.times[-1]
        if len(words) < at + 3:
            refuse(where, f"{len(words)} fields: its columns are {' '.join(self.columns)}")
        fields = dict(zip(self.columns, words))
        if fields["redop"] == "none":
            refuse(where, "redop none: not an all-reduce")
        if fields.get("root", "-1") != "-1":
            refuse(where, f"root {fields['root']}: a broadcast or a reduce, not an all-reduce")
        size, microseconds = number(words[0], where, "size"), number(words[at], where, "time")
        bus = number(words[at + 2], where, "busbw") * 1e9
        wrong = [words[index + 3] if len(words) > index + 3 else "N/A" for index in self.times]
        if wrong[-1] != "N/A" and number(wrong[-1], where, "wrong") > 1e-3:
            refuse(where, f"{wrong[-1]} wrong values: the test failed")
        if wrong[-1] == "N/A" != wrong[0]:
            refuse(where, "checked out of place only: not an all-reduce (sendrecv_perf?)")
        if size == 0:
            return
        if microseconds == 0:
            refuse(where, f"{words[0]} bytes in 0 us: a time must be above 0")
        n = len(self.hosts)
        expected = 2 * (n - 1) / max(n, 1) * size / microseconds * 1e6
        if n > 1 and abs(bus - expected) > 0.03 * expected + 0.011e9:
            refuse(where, f"busbw {words[at + 2]}, but {n} ranks and its time give {expected / 1e9:.2f} GB/s")
        self.rows.append((size, microseconds * 1e-6))

    def nodes(self):
        """NCCL's own number; else the number of hosts, counting a name as often as it lists the same GPU."""
        most = Counter()
        for (host, *_), times in Counter(self.gpus.values()).items():
            most[host] = max(most[host], times)
        return self.nodes_by_ranks.get(len(self.hosts)) or sum(most.values())


class Reading:
    """An algorithm's steps and load of the slowest link, among n GPUs on m nodes."""

    def __init__(self, name, n, m):
        self.name, levels, of_tree = name, m.bit_length() - 1, {2: 1, 3: 1.5}.get(m, 2)
        if m == 1:
            of_tree = 1 if n == 2 else 2
        self.steps, self.load = {"ring": (2 * (n - 1), 2 * (n - 1) / n), "tree": (2 * (-(-n // m) - 1 + levels), of_tree),
                                 "nvls": (2, (n + 1) / n), "nvlstree": (2 * (1 + levels), of_tree)}[name]

    def take(self, a, b):
        self.latency, self.bandwidth = a / self.steps, self.load / b


def readings_of(path, table, largest, n, m):
    """The algorithms that NCCL may have taken, the likeliest first, and the reason."""
    said = [table.tuned[largest]] if largest in table.tuned else table.algorithms
    if said and len(said) == 1:
        if said[0] not in NAMES or said[0] == ("nvls" if m > 1 else "nvlstree"):
            refuse(path, f"algorithm {NAMES.get(said[0], said[0])} on {m} node{'s'[:m > 1]}: allowed are "
                   f"ring, tree, NVLS on one node and NVLSTree on several")
        return [Reading(said[0], n, m)], "named by the log"
    multicast = table.multicast
    if multicast is None:
        multicast = nvlink_of(table.gpu) in MULTICASTING
    sums = multicast and n > 2
    trees = ["tree"] if not said or "tree" in said else ["nvlstree"] * sums
    if m == 1:
        names, why = ["nvls"] * sums + ["ring"], "one node whose NVSwitch can sum: NCCL takes NVLS" if sums else "one node: a ring"
    elif n == 2:
        names, why = ["ring"], "two GPUs: ring and tree send the same bytes"
    elif m == 2:
        names, why = trees + ["ring"], "two nodes: NCCL takes a tree, or NVLSTree of the same rate, unless NCCL_ALGO is Ring"
    else:
        names, why = ["ring"] + trees, f"{m} nodes: NCCL takes a ring for large sizes"
    names = [name for name in names if not said or name in said]
    if not names:
        refuse(path, f"NCCL_ALGO allows {', '.join(NAMES[name] for name in said)}, and {n} GPUs of {m} nodes can take none of them")
    if said and names == ["ring"]:
        why = "the only algorithm allowed by NCCL_ALGO that " + ("one node" if m == 1 else f"{m} nodes") + " can take"
    return [Reading(name, n, m) for name in names], why


def nvlink_of(gpu):
    return next((rate for name, rate in NVLINK if re.search(name, gpu)), None)


def fitted(path, rows):
    """a and b of time = a + b * bytes, by least squares of (a + b s) / t - 1."""
    x, y = [1 / t for _, t in rows], [s / t for s, t in rows]
    xx, xy, yy = (sum(p * q for p, q in zip(*pair)) for pair in ((x, x), (x, y), (y, y)))
    determinant = xx * yy - xy * xy
    if determinant <= 0:
        refuse(path, "the sizes are too close to each other for a fit")
    a, b = (sum(x) * yy - sum(y) * xy) / determinant, (sum(y) * xx - sum(x) * xy) / determinant
    if a < 0:
        a, b = 0, sum(y) / yy
    if b <= 0:
        refuse(path, "larger sizes take no longer, so there is no bandwidth to fit")
    return a, b


def options_of(words):
    """Bytes of --from, and bytes/s of --nominal."""
    least, nominal = 1, None
    for option, word in zip(words[::2], words[1::2]):
        if option == "--from" and (match := re.fullmatch(r"([0-9]{1,18})([KMG]?)", word)):
            least = int(match[1]) * UNITS[match[2]]
        elif option == "--nominal" and (match := re.fullmatch(r"(?:([1-9][0-9]{0,3})x)?([0-9]{1,9}(?:\.[0-9]{1,9})?)G(B|b)ps", word)) \
                and float(match[2]) > 0:
            nominal = int(match[1] or 1) * float(match[2]) * (1e9 if match[3] == "B" else 1e9 / 8)
        else:
            refuse(option, f"'{word}': the options are --from with bytes, also with K, M or G, and --nominal with a rate "
                   "such as 8x400Gbps or 450GBps")
    return least, nominal


def within(path, readings, nominal):
    """The readings whose link is at most its nominal rate, with a tolerance for rounding of the fit."""
    above = [reading for reading in readings if nominal and reading.bandwidth > 1.005 * nominal]
    needs = ", ".join(f"as {NAMES[reading.name]} {reading.bandwidth / 1e9:.4g} GB/s" for reading in above)
    if len(above) == len(readings):
        refuse(path, f"these times need links faster than their nominal {nominal / 1e9:.4g} GB/s: {needs}")
    for reading in readings:
        reading.bandwidth = min(reading.bandwidth, nominal or reading.bandwidth)
    return [reading for reading in readings if reading not in above], needs


def print_readings(readings, why, n, m):
    for reading in readings:
        rate, what = reading.bandwidth / 1e9, f"{reading.steps} steps, {reading.load:.4g} of the message over the slowest link"
        print(f"\n{NAMES[reading.name]}: {what}{f' ({why})' if reading is readings[0] else ''}\n"
              f"latency    {reading.latency * 1e6:.4g} us per step, from GPU to GPU\n"
              f"bandwidth  {rate:.4g} GB/s: of the slowest link{', all cards of a node together' if m > 1 else ''}\n"
              f'  <link id="..." bandwidth="{rate:.4g}GBps" latency="{reading.latency / 2 * 1e6:.4g}us" '
              'sharing_policy="SPLITDUPLEX"/>')
    print("\nA message crosses two links of a kind, as in platforms/, so a <link> has half of the latency.")
    if len(readings) > 1:
        print("The log does not say which algorithm was used, and all readings fit equally well. Take the first, or measure again with "
              f"NCCL_ALGO=Ring{' or on three nodes' if m == 2 else ''}.")


def main(arguments):
    if len(arguments) % 2 == 0 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    path, (least, nominal) = arguments[0], options_of(arguments[1:])
    table = Table(path)
    rows = [row for row in table.rows if row[0] >= least]
    n, m, largest = len(table.hosts), table.nodes(), max(rows)[0] if rows else 0
    others = sorted({table.tuned[size] for size, _ in rows if size in table.tuned} - {table.tuned.get(largest)})
    rows = [row for row in rows if table.tuned.get(row[0]) not in others]
    if len({size for size, _ in rows}) < 2:
        refuse(path, f"{len(rows)} rows of at least {least} bytes: a fit needs two sizes")
    readings, why = readings_of(path, table, largest, n, m)
    a, b = fitted(path, rows)
    for reading in readings:
        reading.take(a, b)
    if nominal is None and m == 1 and nvlink_of(table.gpu):
        nominal = nvlink_of(table.gpu) * 1e9
    readings, needs = within(path, readings, nominal)
    print(f"{n} GPUs of {m} node{'s'[:m > 1]}, {len(rows)} of {len(table.rows)} sizes"
          + (f" (left out are those of {', '.join(NAMES.get(name, printable(name)) for name in others)})" if others else ""))
    print_readings(readings, why, n, m)
    if needs:
        print(f"Not possible on links of nominally {nominal / 1e9:.4g} GB/s: {needs}.")
    if m > 1 and nominal is None:
        print("Compare the bandwidth with your network cards; --nominal 8x400Gbps, for example, drops readings above them.")
    if n == 2 and not table.programs:
        print("The log does not name its program. It must be all_reduce_perf; with two GPUs sendrecv_perf looks the same.")
    print(f"\n{'bytes':>12} {'measured us':>12} {'fitted us':>12} {'off':>8}")
    off = [(a + b * size) / time - 1 for size, time in rows]
    for (size, time), error in zip(rows, off):
        print(f"{size:12.0f} {time * 1e6:12.1f} {(a + b * size) * 1e6:12.1f} {100 * error:+7.1f}%")
    worst = max(zip(map(abs, off), rows))
    print(f"off by {100 * median(map(abs, off)):.1f} % in median, {100 * worst[0]:.1f} % at worst, "
          f"at {worst[1][0]:.0f} bytes{', with every reading' if len(readings) > 1 else ''}")
    if worst[0] > 0.2:
        print("NCCL changes protocol and algorithm with size: --from drops sizes that you do not exchange")
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(printable(f"from_nccl_tests.py: {type(error).__name__}: {error}"), file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
