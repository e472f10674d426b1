"""Error feedback with torch.topk, measured as syncline-calibrate measures: rows for its cost table."""

import argparse
import os
import sys
import time
from pathlib import Path


def refuse(reason):
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in reason)
    print(f"baseline_torch.py: {text}", file=sys.stderr)
    sys.exit(2)


def numbers(option, text, read, low, high, allowed):
    values = []
    for word in text.split(","):
        try:
            values.append(2 ** min(int(word[2:]), 32) if word.startswith("2^") else read(word))
        except ValueError:
            values.append(-1)
        if not low <= values[-1] <= high:
            refuse(f"{option} {word}: allowed are {allowed}")
    return values


def parsed_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.error = refuse
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--sizes", default="2^24", help="numbers of elements, such as 2^16,2^20")
    parser.add_argument("--densities", default="0.01", help="such as 0.001,0.01")
    parser.add_argument("--threads", default="0", help="threads of the CPU; 0: PyTorch's default")
    parser.add_argument("--append", help="cost table to add to; without it rows are printed")
    options = parser.parse_args()
    options.sizes = numbers("--sizes", options.sizes, int, 1, 2**31 - 1,
                            "whole numbers from 1 to 2^31 - 1, as 65536 or 2^16")
    options.densities = numbers("--densities", options.densities, float, 0, 1, "numbers from 0 to 1")
    options.threads = numbers("--threads", options.threads, int, 0, 1024, "0 to 1024")[0]
    return options


def opened(path, torch, device):
    """The table, to be added to, if its header names this very device."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() + ["model name: unknown processor"]
    model = next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    name = torch.cuda.get_device_name(0) if device == "cuda" else f"{model}, {torch.get_num_threads()} threads"
    if Path(path).exists() and not Path(path).is_file():
        refuse(f"--append {path}: a folder, a pipe or a device: allowed is a regular file")
    try:
        text, table = Path(path).read_text(), open(path, "a")
    except OSError as error:
        refuse(f"--append {path}: {error.strerror}")
    if f"# device: {name}\n" not in text or not text.endswith("\n"):
        refuse(f"--append {path}: allowed is a table that syncline-calibrate wrote of {name}")
    return table


def seconds_of(torch, device, work):
    if device == "cpu":
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3


def timed(torch, device, prepare, work):
    """Median, p10 and p90 of up to 31 samples: until the quartiles are close or the patience ends.
    A GPU works for a second before, so that its clocks are those of work; its cache is emptied by
    reading, which leaves nothing to be written back."""
    spread, patience_s, eviction_mib = (0.1, 0.6, 64) if device == "cpu" else (0.02, 5, 256)
    eviction = torch.empty(eviction_mib << 20, dtype=torch.uint8, device=device)
    evict = (lambda: eviction.fill_(len(samples))) if device == "cpu" else eviction.sum
    begun, samples, done = time.monotonic(), [], False
    while device != "cpu" and time.monotonic() - begun < 1:
        evict()
        torch.cuda.synchronize()
    begun = time.monotonic()
    while not done:
        prepare()
        evict()
        samples.append(seconds_of(torch, device, work))
        low, first, median, third, high = (sorted(samples)[int(share * (len(samples) - 1) + 0.5)]
                                           for share in (0.1, 0.25, 0.5, 0.75, 0.9))
        quiet, impatient = third - first < spread * median, time.monotonic() - begun > patience_s
        done = len(samples) == 31 or len(samples) >= (3 if impatient else 7) and (quiet or impatient)
    return median, low, high


def row_of(torch, device, elements, density):
    k = max(int(density * elements), 1) if density > 0 else 0
    gradient = torch.randn(elements, generator=torch.Generator().manual_seed(1)).to(device)
    residual = torch.zeros_like(gradient)
    def encode():
        residual.add_(gradient)
        indices = torch.topk(residual.abs(), k, sorted=False).indices
        values = residual[indices]
        residual[indices] = 0
        return indices.to(torch.int32), values

    indices, values = encode()
    whole = residual.index_add(0, indices.long(), values)
    if not torch.equal(whole, gradient) or k and values.abs().min() < residual.abs().max():
        sys.exit(f"baseline_torch.py: torch.topk has not sent the {k} largest: not measured")
    return ("baseline-torch-topk,density=%.12g,encode,%d,%.12g,%.12g,%.12g,%d,gauss"
            % (density, elements, *timed(torch, device, residual.zero_, encode), 8 * k))


def main():
    options = parsed_options()
    try:
        import torch
    except ImportError as error:
        refuse(f"{sys.executable} has no PyTorch: {error}")
    if options.device == "cuda" and not torch.cuda.is_available():
        refuse("--device cuda: PyTorch finds no CUDA device: allowed is cpu")
    torch.set_num_threads(options.threads or torch.get_num_threads())
    table = opened(options.append, torch, options.device) if options.append else sys.stdout
    for size in options.sizes:
        for density in options.densities:
            print(row_of(torch, options.device, size, density), file=table, flush=True)

    return 0


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"baseline_torch.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # what could not be written is not tried again
    sys.exit(code)
