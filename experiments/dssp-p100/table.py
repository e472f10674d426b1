#!/usr/bin/env python3
"""BSP against ASP on four nodes of four P100, for a net with a large layer and for nets of many small tensors.

    table.py [PROGRAM]     default: build/release/syncline of this tree; takes half a minute on two cores

Prints the four tables of README.md.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
SAMPLES = 300 * 50_000  # of the paper's 300 epochs
# Samples/s of one P100: the published rate of another net, times that net's forward flop / this one's.
ALEXNET, RESNET = 2987 * 1_428_376_960, 1530.88 * 545_884_672  # models/throughput.csv; resnet32-t2t in async-servers
RATES = {"alexnet-cifar-1024": ALEXNET / 345_936_896, "alexnet-cifar-4096": ALEXNET / 367_232_000,
         "resnet50-cifar": RESNET / 171_288_576, "resnet110-cifar": RESNET / 388_048_896}
# Seconds of 300 epochs, read off the curves of figures 3a, 3c and 3e: BSP, SSP (mean of thresholds 3 to 15), ASP.
PUBLISHED = {"alexnet-cifar-1024": (731, 644, 639), "alexnet-cifar-4096": (731, 644, 639),
             "resnet50-cifar": (1955, 2708, 2871), "resnet110-cifar": (4358, 6145, 6474)}
SCHEDULES = ("bsp", "ssp", "asp")
OVERHEADS = ("none", "1e-5", "5e-5", "4e-4")  # s per tensor of a message
MESSAGE, UPDATE = 3.9e-5, 8.7e-5  # s per tensor of a message, and of an update: from two rows, README.md


def simulate(program, net, cfg, *flags, slower=1):
    """Samples/s of each cell by schedule (bsp: and aggregate), placement and overhead."""
    rate = RATES[net] * (4 if cfg == "nodes.cfg" else 1) / slower
    done = subprocess.run([program, "run", HERE / cfg, "--model", HERE / f"{net}.csv", "--throughput", f"{rate:.0f}",
                           "--jobs", "1", "--json", *flags], capture_output=True, text=True, check=True)
    rates = {}
    for cell in json.loads(done.stdout)["cells"]:
        scenario = cell["result"]["scenario"]
        aggregate = (scenario["aggregate"],) if scenario["schedule"] == "bsp" else ()
        key = (scenario["schedule"], *aggregate, scenario["server-placement"], scenario["server-overhead"])
        rates[key] = cell["result"]["figures"]["throughput_samples_per_s"]
    return rates


def ratios(future, overheads, aggregate="on", placement="cut"):
    """bsp / asp for each overhead."""
    rates = future.result()
    return " ".join(f"{rates['bsp', aggregate, placement, o] / rates['asp', placement, o]:.2f}" for o in overheads)


def rows(title, heads, table):
    print(f"\n{title}\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in table:
        print("| " + " | ".join(row) + " |")


def question(start):
    """With a server on each node, for 16 workers and for 4; and with the paper's one server."""
    overheads = ("--server-overhead", ",".join(OVERHEADS))
    both = ("--server-placement", "cut,tensors")
    gpus = [start(net, "gpus.cfg", *overheads, *both) for net in RATES]
    nodes = [start(net, "nodes.cfg", "--servers", "0", *overheads, *both) for net in RATES]
    one = [start(net, "nodes.cfg", *overheads) for net in RATES]
    table = [(f"16, aggregate {aggregate}", f"4, {placement}",
              *(ratios(found, OVERHEADS, aggregate, placement) for found in gpus))
             for aggregate in ("on", "off") for placement in ("cut", "tensors")]
    table += [("4", f"4, {placement}", *(ratios(found, OVERHEADS, placement=placement) for found in nodes))
              for placement in ("cut", "tensors")]
    table += [("4", "1", *(ratios(found, OVERHEADS) for found in one))]
    rows(f"bsp / asp in samples/s, with {', '.join(OVERHEADS)} s per tensor of a message",
         ("workers", "servers", *RATES), table)


def seconds(start, title, overhead_of):
    """Seconds of 300 epochs as the paper ran them, published / simulated."""
    more = {"bsp": (), "ssp": ("--staleness", "3", "--cache", "off"), "asp": ()}
    found = {net: [start(net, "nodes.cfg", "--schedule", s, "--server-overhead", overhead_of[s], *more[s])
                   for s in SCHEDULES] for net in RATES}
    table = []
    for net, futures in found.items():
        theirs = PUBLISHED[net]
        ours = [SAMPLES / next(iter(future.result().values())) for future in futures]
        table.append((net, *(f"{t} / {o:.0f}" for t, o in zip(theirs, ours)),
                      *(f"{theirs[i] / theirs[0]:.2f} / {ours[i] / ours[0]:.2f}" for i in (1, 2))))
    rows(title, ("net", *SCHEDULES, "bsp/ssp", "bsp/asp"), table)


def varied(start):
    """One thing that is not known at a time, as the paper ran it."""
    cases = {"as the paper ran it": (), "computation at a quarter of the speed": (),
             "each tensor when it is there": ("--bucket-bytes", "0"),
             "a quarter of the bandwidth": ("--bandwidth-factor", "0.25"),
             "computation varies by 10 %": ("--jitter", "0.1"),
             "the server varies by 57 %": ("--server-jitter", "0.57")}
    found = {case: [start(net, "nodes.cfg", *flags, slower=4 if "speed" in case else 1) for net in RATES]
             for case, flags in cases.items()}
    rows("bsp / asp with 0.05 ms per tensor of a message", ("", *RATES),
         [(case, *(ratios(future, ("5e-5",)) for future in futures)) for case, futures in found.items()])


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parents[1] / "build/release/syncline")
    with ThreadPoolExecutor(2) as pool:
        start = partial(pool.submit, simulate, program)
        question(start)
        seconds(start, "Seconds, 0.05 ms per tensor of a message for all", dict.fromkeys(SCHEDULES, "5e-5"))
        once_a_round, each_push = (f"{MESSAGE + UPDATE / share:.4g}" for share in (8, 2))
        seconds(start, f"Seconds, {MESSAGE} s per tensor of a message and {UPDATE} s per tensor of an update",
                {"bsp": once_a_round, "ssp": each_push, "asp": each_push})
        varied(start)


if __name__ == "__main__":
    main()
