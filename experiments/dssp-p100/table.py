#!/usr/bin/env python3
"""BSP against ASP on four nodes of four P100, for a net with a large layer and for nets of many small tensors.

    table.py [PROGRAM]     default: build/release/syncline of this tree; takes half a minute on two cores

Writes signs.csv, seconds.csv and varied.csv beside this script.
"""

import csv
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


def ratio(future, overhead, aggregate="on", placement="cut"):
    """bsp / asp."""
    rates = future.result()
    return f"{rates['bsp', aggregate, placement, overhead] / rates['asp', placement, overhead]:.2f}"


def write(name, about, rows):
    rows = list(rows)
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        file.write(f"# Written by table.py. {about}\n")
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"wrote {name}")


def signs(start):
    """With a server on each node, for 16 workers and for 4; and with the paper's one server."""
    overheads = ("--server-overhead", ",".join(OVERHEADS))
    both = ("--server-placement", "cut,tensors")
    gpus = {net: start(net, "gpus.cfg", *overheads, *both) for net in RATES}
    nodes = {net: start(net, "nodes.cfg", "--servers", "0", *overheads, *both) for net in RATES}
    one = {net: start(net, "nodes.cfg", *overheads) for net in RATES}
    cases = [(gpus, 16, aggregate, 4, placement) for aggregate in ("on", "off") for placement in ("cut", "tensors")]
    cases += [(nodes, 4, "on", 4, placement) for placement in ("cut", "tensors")] + [(one, 4, "on", 1, "cut")]
    write("signs.csv", "Samples/s of bsp over those of asp, by seconds per tensor of a message.", (
        {"workers": workers, "aggregate": aggregate if workers == 16 else "", "servers": servers,
         "placement": placement if servers > 1 else "", "net": net, "overhead_s": overhead,
         "bsp_over_asp": ratio(future, overhead, aggregate, placement)}
        for found, workers, aggregate, servers, placement in cases for net, future in found.items() for overhead in OVERHEADS))


def seconds(start):
    """Seconds of 300 epochs as the paper ran them, published and simulated."""
    once_a_round, each_push = (f"{MESSAGE + UPDATE / share:.4g}" for share in (8, 2))
    costs = {"0.05 ms for all": dict.fromkeys(SCHEDULES, "5e-5"),
             "a message and an update": {"bsp": once_a_round, "ssp": each_push, "asp": each_push}}
    more = {"bsp": (), "ssp": ("--staleness", "3", "--cache", "off"), "asp": ()}
    found = {(net, schedule): [start(net, "nodes.cfg", "--schedule", schedule, "--server-overhead", cost[schedule], *more[schedule])
                               for cost in costs.values()] for net in RATES for schedule in SCHEDULES}
    write("seconds.csv", "Seconds of 300 epochs: published, and simulated by what a tensor costs the server.", (
        {"net": net, "schedule": schedule, "published": PUBLISHED[net][SCHEDULES.index(schedule)],
         **{cost: f"{SAMPLES / next(iter(future.result().values())):.0f}" for cost, future in zip(costs, futures)}}
        for (net, schedule), futures in found.items()))


def varied(start):
    """One thing that is not known at a time, as the paper ran it."""
    cases = {"as the paper ran it": (), "computation at a quarter of the speed": (),
             "each tensor when it is there": ("--bucket-bytes", "0"),
             "a quarter of the bandwidth": ("--bandwidth-factor", "0.25"),
             "computation varies by 10 %": ("--jitter", "0.1"),
             "the server varies by 57 %": ("--server-jitter", "0.57")}
    found = {case: [start(net, "nodes.cfg", *flags, slower=4 if "speed" in case else 1) for net in RATES]
             for case, flags in cases.items()}
    write("varied.csv", "Samples/s of bsp over those of asp, with 0.05 ms per tensor of a message.", (
        {"case": case, "net": net, "bsp_over_asp": ratio(future, "5e-5")}
        for case, futures in found.items() for net, future in zip(RATES, futures)))


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parents[1] / "build/release/syncline")
    with ThreadPoolExecutor(2) as pool:
        start = partial(pool.submit, simulate, program)
        signs(start)
        seconds(start)
        varied(start)


if __name__ == "__main__":
    main()
