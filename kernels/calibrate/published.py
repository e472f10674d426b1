#!/usr/bin/env python3
"""published.py CALIBRATE [FOLDER]: writes v100-published.csv and cpu-published.csv into kernels/profiles, or FOLDER.

Seconds of operators as others published them, source by source; CALIBRATE is the path of syncline-calibrate,
which models what nobody published.
"""

import csv
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS = "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution"

# MSTopK (Shi et al., MLSys 2021), figure 6: milliseconds at these numbers of elements, density 0.001.
SIZES = [250_000 * 2 ** power for power in range(10)]
BEYOND = 2 * SIZES[-1]
FIGURE_6 = {
    "topk": (4.1, 7.6, 12.4, 20.9, 39.4, 77.7, 153.8, 305.4, 609.9, 1214.7),
    "dgc": (1.15, 1.71, 2.15, 3.42, 5.97, 11.5, 32.5, 60.9, 125.3, 249.6),
    "mstopk": (0.63, 0.64, 0.69, 1.05, 1.52, 2.54, 4.5, 8.6, 16.9, 34),
}

# Espresso: microseconds of encoding and decoding at 2^20 values on a V100; and of a CPU's, by elements.
ESPRESSO = {"randomk": (54, 34), "dgc": (356, 34), "efsign": (130, 140), "onebit": (450, 170)}
ESPRESSO_CPU = {
    "randomk": {65536: (110, 22), 1048576: (1236, 285), 16777216: (21112, 10068), 67108864: (92372, 38427)},
    "dgc": {65536: (150, 14), 1048576: (2312, 211), 16777216: (32924, 9645), 67108864: (134170, 38245)},
    "efsign": {65536: (81, 27), 1048576: (1094, 359), 16777216: (17353, 5853), 67108864: (71289, 24972)},
    "onebit": {65536: (91, 32), 1048576: (1099, 375), 16777216: (17846, 6330), 67108864: (73655, 26167)},
}
OPERATIONS = ("encode", "decode")

V100_HEADER = """\
# device: NVIDIA V100
# driver: not published
# toolkit: not published
# date: 2021 and 2023
# commit: none
# provenance: published
# range: where two say what an operation takes, p10 and p90 are the one and the other, and seconds is their geometric mean, which nobody measured: dgc; where one does, published without spread, all three are that; what is modelled has the range of v100-modelled.csv
# published: encode of topk, dgc and mstopk at 250000 to 128000000 elements: MSTopK (Shi et al., MLSys 2021), figure 6, digitised within 1 %, density 0.001; topk is TensorFlow nn.topk
# published too: encode and decode of randomk and dgc at density 0.01, efsign and onebit: Espresso (EuroSys 2023), V100 32 GB, constants that its authors profiled at 2^20 values (github.com/zhuangwang93/Espresso byteps/torch/mergeComp/scheduler/model_tensor.py), with their rule: flat below and linear above; encode is what encoding and decoding take together less decoding, as in their code
# dgc: encode is from Espresso (p10: 356 us at 2^20 values, density 0.01) to figure 6 (p90: 2.15 ms at 1000000, density 0.001), at both densities: it samples and compares all values at either; decode is from modelled (p10) to Espresso (p90)
# extrapolated: encode of topk, dgc and mstopk at 256000000 elements, which nobody measured: twice the seconds of 128000000
# fit: encode-torch of topk: torch.topk, seconds = 4.99671953e-10 x elements x log2(elements), constant of the GaussianK-SGD authors for V100 (a comment in the utility module of github.com/hclhkbu/GaussianK-SGD)
# modelled: encode of gaussiank, its published chain, as encode-as-published in v100-modelled.csv; decode of topk, mstopk and gaussiank, and dgc's p10, as decode there; zeroing the sum is not part
# density: 0.001 of topk, mstopk and gaussiank, 0.01 of randomk, both of dgc; at others nothing is published
# written by: kernels/calibrate/published.py
"""

CPU_HEADER = """\
# device: CPU of Espresso's microbenchmark (which, and how many threads, is not said)
# driver: none
# toolkit: not published
# date: 2023
# commit: none
# provenance: published
# published: Espresso (EuroSys 2023), printed log of its compressors on a CPU (github.com/zhuangwang93/Espresso byteps/compressor_microbenchmark/log); published without spread, so p10 and p90 repeat seconds
# density: the log does not say it; taken as 0.01, that of the same authors' constants for GPUs
# offload: of the CPU alone; moving a gradient there (4 bytes per element) and what is decoded back is not part
# written by: kernels/calibrate/published.py
"""


def message_bytes(compressor, density, elements):
    if compressor in ("efsign", "onebit"):
        return (4 if compressor == "efsign" else 8) + 4 * -(-elements // 32)
    return (4 if compressor == "randomk" else 8) * max(math.floor(density * elements + 1e-9), 1)


def modelled(calibrate, compressor, operation, density):
    """(seconds, p10, p90) by elements, of v100's rates."""
    sizes = ",".join(map(str, SIZES + [BEYOND]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "modelled.csv"
        subprocess.run([calibrate, "--model", "v100", "--compressors", compressor, "--sizes", sizes, "--densities",
                        str(density), "--out", path], check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            return {int(row["elements"]): tuple(float(row[figure]) for figure in ("seconds", "p10", "p90"))
                    for row in csv.DictReader(line for line in file if not line.startswith("#"))
                    if row["operation"] == operation}


def espresso_s(compressor, operation, elements):
    return 1e-6 * ESPRESSO[compressor][OPERATIONS.index(operation)] * max(1, elements / 2 ** 20)


def line(compressor, parameters, operation, elements, seconds, ends, density, distribution):
    figures = ",".join(f"{value:.6g}" for value in (seconds, *ends))
    return (f"{compressor},{parameters},{operation},{elements},{figures},"
            f"{message_bytes(compressor, density, elements)},{distribution}\n")


def v100(calibrate):
    def alone(compressor, parameters, operation, elements, seconds, density=0.001):
        return line(compressor, parameters, operation, elements, seconds, (seconds, seconds), density, "unstated")

    def between(compressor, operation, elements, one, other, density):
        return line(compressor, f"density={density}", operation, elements, math.sqrt(one * other),
                    sorted((one, other)), density, "unstated")

    text = V100_HEADER + COLUMNS + "\n"
    sizes = SIZES + [BEYOND]
    figure_6_s = {name: [ms / 1e3 for ms in (*times, 2 * times[-1])] for name, times in FIGURE_6.items()}
    for name in ("topk", "mstopk"):
        for elements, seconds in zip(sizes, figure_6_s[name]):
            text += alone(name, "density=0.001", "encode", elements, seconds)
    for elements in SIZES:
        seconds = 4.99671953e-10 * elements * math.log2(elements)
        text += alone("topk", "density=0.001", "encode-torch", elements, seconds)
    for density in (0.001, 0.01):
        for elements, seconds in zip(sizes, figure_6_s["dgc"]):
            text += between("dgc", "encode", elements, espresso_s("dgc", "encode", elements), seconds, density)
        for elements, (seconds, _, _) in modelled(calibrate, "dgc", "decode", density).items():
            text += between("dgc", "decode", elements, espresso_s("dgc", "decode", elements), seconds, density)
    for name, parameters in (("randomk", "density=0.01"), ("efsign", ""), ("onebit", "")):
        for operation in OPERATIONS:
            for elements in (1, 2 ** 20, 2 ** 28):
                text += alone(name, parameters, operation, elements, espresso_s(name, operation, elements), 0.01)
    decoded = [(name, "", "decode", "decode") for name in ("topk", "mstopk", "gaussiank")]
    for name, parameters, operation, model in (("gaussiank", " sides=two", "encode", "encode-as-published"), *decoded):
        for elements, (seconds, *ends) in modelled(calibrate, name, model, 0.001).items():
            text += line(name, "density=0.001" + parameters, operation, elements, seconds, ends, 0.001, "gauss")
    return text


def cpu():
    text = CPU_HEADER + COLUMNS + "\n"
    for name, times in ESPRESSO_CPU.items():
        parameters = "density=0.01" if name in ("randomk", "dgc") else ""
        for operation in OPERATIONS:
            for elements, microseconds in times.items():
                seconds = 1e-6 * microseconds[OPERATIONS.index(operation)]
                text += line(name, parameters, operation, elements, seconds, (seconds, seconds), 0.01, "unstated")
    return text


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[1]) if len(arguments) == 2 else Path(__file__).resolve().parents[1] / "profiles"
    (folder / "v100-published.csv").write_text(v100(arguments[0]))
    (folder / "cpu-published.csv").write_text(cpu())
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"published.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # what could not be written is not tried again
    sys.exit(code)
