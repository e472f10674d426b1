"""Measures error feedback with torch.topk, and encoders as published, as syncline-calibrate measures; writes rows for its table."""

import argparse
import math
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

# Encoders in the operations of their authors' code: topk and gaussiank of github.com/hclhkbu/GaussianK-SGD, sidco and dgc of their
# authors, powersgd of github.com/epfml/powersgd, the others of github.com/sands-lab/grace; mstopk and cat after their papers. PyTorch
# waits for the device where they read a number, test one, or index by a mask, and nowhere else. Each takes a Tensor and returns the
# indices and values that it sends, or None where every element is sent, in a byte each.


class Tensor:
    """A gradient, its residual, and how many elements to send."""

    def __init__(self, torch, gradient, density):
        self.torch, self.gradient, self.n, self.density = torch, gradient, gradient.numel(), density
        self.k = max(int(density * self.n), 1) if density > 0 else 0
        self.residual = torch.zeros_like(gradient)

    def sum(self):
        return self.gradient + self.residual

    def send(self, u, indices):
        self.residual = u + 0.0
        self.residual[indices] = 0.0
        return indices, u[indices]


def send_topk(t):
    u = t.sum()
    return t.send(u, t.torch.topk(u.abs(), t.k).indices)


def send_randomk(t):
    return t.send(t.sum(), t.torch.randperm(t.n, device=t.gradient.device)[:t.k])


def send_threshold(t):
    u = t.sum()
    return t.send(u, t.torch.where(u.abs() > 3)[0])


def send_gaussiank(t):
    u = t.sum()
    deviation, mean, a = float(u.std()), float(u.mean()), u.abs()
    threshold = mean + deviation * statistics.NormalDist().inv_cdf(1 - max(t.density, 1e-9) / 2)
    for _ in range(3):
        indices = (a > threshold).nonzero().view(-1)
        if indices.numel() < 2 * t.k / 3:
            threshold *= 0.5
        elif indices.numel() > 4 * t.k / 3:
            threshold *= 1.5
        else:
            break
    return t.send(u, indices[:t.k])


def send_dgc(t):
    t.residual.add_(t.gradient)
    a, stride = t.residual.abs(), 100 if t.n >= 25600 else 1
    sample = a[::stride]
    threshold = t.torch.topk(sample, max(1, int(t.density * sample.numel())), sorted=False).values.min()
    indices = t.torch.ge(a, threshold).nonzero().view(-1)
    for _ in range(10 if stride > 1 else 0):
        if indices.numel() > 1.3 * t.k:
            indices = indices[t.torch.topk(a[indices], t.k, sorted=False).indices]
            break
        if indices.numel() >= 0.8 * t.k:
            break
        threshold = 0.8 * threshold
        indices = t.torch.ge(a, threshold).nonzero().view(-1)
    indices = indices[:t.k]
    values = t.residual[indices]
    t.residual.index_fill_(0, indices, 0)
    return indices, values


def send_mstopk(t):
    u = t.sum()
    a = u.abs()
    mean, top, low, high = a.mean(), a.max(), 0.0, 1.0
    for _ in range(30):
        ratio = low + (high - low) / 2
        if int((a > mean + ratio * (top - mean)).sum()) <= t.k:
            high = ratio
        else:
            low = ratio
    return t.send(u, (a > mean + low * (top - mean)).nonzero().view(-1)[:t.k])


def send_sidco(t):
    u = t.sum()
    a = u.abs() / u.norm()
    kept, threshold = a, -a.mean() * math.log(0.25)
    for _ in range(2):
        kept = kept[kept > threshold]
        if kept.numel() == 0:
            break
        least = kept.min()
        threshold = least - (kept.mean() - least) * math.log(max(t.density, 1e-9) / 0.25) / 2
    return t.send(u, t.torch.where(a > threshold)[0])


def send_cat(t):
    u = t.sum()
    magnitudes, order = u.abs().sort(descending=True)
    count = t.torch.arange(1, t.n + 1, device=u.device)
    cost = 576 * t.torch.ceil(count * (32 + math.ceil(math.log2(t.n))) / 512) + 64
    return t.send(u, order[:int((magnitudes.square().cumsum(0) / cost).argmax()) + 1])


def send_efsign(t):
    u = t.sum()
    mean, codes = u.abs().mean(), (u >= 0).to(t.torch.uint8)
    t.residual = u - mean * (codes.to(u.dtype) * 2 - 1)


def send_onebit(t):
    u = t.sum()
    negative = u < 0
    positive = ~negative
    low, lows = u[negative].sum(), negative.sum().float()
    high, highs = u[positive].sum(), positive.sum().float()
    low = low / lows if lows > 0 else low
    high = high / highs if highs > 0 else high
    codes = negative.to(t.torch.uint8)
    t.residual = u - (codes * low + (1 - codes) * high)


def send_terngrad(t):
    scale = t.gradient.abs().max()
    codes = t.gradient.sign() * scale
    codes[t.torch.empty_like(codes).uniform_(0, scale.item()) >= t.gradient.abs()] = 0
    codes.sign().to(t.torch.int8)


def send_qsgd(t):
    level = 7 / t.gradient.norm().flatten() * t.gradient.abs()
    low = level.floor()
    up = (t.torch.empty_like(level).uniform_() < level - low).to(level.dtype)
    ((low + up) * t.gradient.sign()).to(t.torch.int8)


def square_of(n):
    rows = math.isqrt(n - 1) + 1
    return rows, -(-n // rows)


def send_powersgd(t):
    u, (rows, columns) = t.sum(), square_of(t.n)
    matrix = t.torch.nn.functional.pad(u, (0, rows * columns - t.n)).view(rows, columns)
    p = matrix @ t.torch.randn(columns, min(4, columns), device=u.device)
    for i in range(p.shape[1]):
        column, rest = p[:, i:i + 1], p[:, i + 1:]
        column /= t.torch.sqrt(t.torch.sum(column**2)) + 1e-8
        rest -= t.torch.sum(column * rest, dim=0) * column
    q = matrix.t() @ p
    t.residual = u - (p @ q.t()).view(-1)[:t.n]


# Settings as in tables; the encoder; and the bytes of the project's message for n elements, where every element is sent.
PUBLISHED = {
    "topk": ("density=%.12g error-feedback=on", send_topk, None),
    "randomk": ("density=%.12g error-feedback=on", send_randomk, None),
    "threshold": ("cutoff=3 error-feedback=on", send_threshold, None),
    "gaussiank": ("density=%.12g sides=two error-feedback=on", send_gaussiank, None),
    "dgc": ("density=%.12g sample=0.01 momentum=0 warm-up=0 clip-norm=0", send_dgc, None),
    "mstopk": ("density=%.12g rounds=30 error-feedback=on", send_mstopk, None),
    "sidco": ("density=%.12g fit=exponential stages=3 error-feedback=on", send_sidco, None),
    "cat": ("rule=sparsify error-feedback=on", send_cat, None),
    "efsign": ("error-feedback=on", send_efsign, lambda n: 4 + 4 * -(-n // 32)),
    "onebit": ("error-feedback=on", send_onebit, lambda n: 8 + 4 * -(-n // 32)),
    "terngrad": ("clip=0 error-feedback=off", send_terngrad, lambda n: 4 + -(-n // 4)),
    "qsgd": ("bits=4 quant-bucket=512 norm=max coding=fixed error-feedback=off", send_qsgd,
             lambda n: 4 * -(-n // 512) + -(-n // 2)),
    "powersgd": ("rank=4 error-feedback=on", send_powersgd, lambda n: 4 * min(4, square_of(n)[1]) * sum(square_of(n))),
}


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
    parser.add_argument("--sizes", default="2^24", help="elements, such as 2^16,2^20")
    parser.add_argument("--densities", default="0.01", help="such as 0.001,0.01")
    parser.add_argument("--threads", default="0", help="CPU threads; 0: PyTorch's default")
    parser.add_argument("--published", default="", help="also the encoders of these, as published, such as topk,qsgd")
    parser.add_argument("--append", help="the cost table to add to; by default rows are printed")
    options = parser.parse_args()
    options.sizes = numbers("--sizes", options.sizes, int, 1, 2**31 - 1,
                            "whole numbers from 1 to 2^31 - 1, such as 65536 or 2^16")
    options.densities = numbers("--densities", options.densities, float, 0, 1, "numbers from 0 to 1")
    options.published = options.published.split(",") if options.published else []
    for name in options.published:
        if name not in PUBLISHED:
            refuse(f"--published {name}: allowed are {', '.join(PUBLISHED)}")
    options.threads = numbers("--threads", options.threads, int, 0, 1024, "0 to 1024")[0]
    return options


def opened(path, torch, device):
    """Opens the table for appending if its header names this device."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() + ["model name: unknown processor"]
    model = next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    name = torch.cuda.get_device_name(0) if device == "cuda" else f"{model}, {torch.get_num_threads()} threads"
    if Path(path).exists() and not Path(path).is_file():
        refuse(f"--append {path}: not a regular file")
    try:
        text, table = Path(path).read_text(), open(path, "a")
    except OSError as error:
        refuse(f"--append {path}: {error.strerror}")
    if f"# device: {name}\n" not in text or not text.endswith("\n"):
        refuse(f"--append {path}: not a table that syncline-calibrate wrote for {name}")
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
    """Median, p10 and p90 of up to 31 samples, fewer once the quartiles are close or time runs out.
    A GPU first works for a second, so that its clocks are warm. Its cache is emptied by reading,
    which leaves nothing to write back."""
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


def gradient_of(torch, device, elements):
    return torch.randn(elements, generator=torch.Generator().manual_seed(1)).to(device)


def row(name, settings, operation, elements, seconds, wire_bytes):
    return "%s,%s,%s,%d,%.12g,%.12g,%.12g,%d,gauss" % (name, settings, operation, elements, *seconds, wire_bytes)


def expect_sent(name, t, indices, values):
    """Ends the program if values are missing or, of topk, not the largest."""
    whole = t.residual.index_add(0, indices.long(), values)
    if not t.torch.equal(whole, t.gradient) or name == "topk" and t.k and values.abs().min() < t.residual.abs().max():
        sys.exit(f"baseline_torch.py: torch's {name} did not send what it should; nothing was measured")


def row_of(torch, device, elements, density):
    t = Tensor(torch, gradient_of(torch, device, elements), density)

    def encode():
        t.residual.add_(t.gradient)
        indices = torch.topk(t.residual.abs(), t.k, sorted=False).indices
        values = t.residual[indices]
        t.residual[indices] = 0
        return indices.to(torch.int32), values

    expect_sent("topk", t, *encode())
    return row("baseline-torch-topk", "density=%.12g" % density, "encode", elements,
               timed(torch, device, lambda: t.residual.zero_(), encode), 8 * t.k)


def published_row(torch, device, name, elements, density):
    settings, send, bytes_of = PUBLISHED[name]
    t = Tensor(torch, gradient_of(torch, device, elements), density)
    waits = []
    if device == "cuda":
        with warnings.catch_warnings(record=True) as waits:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            sent = send(t)
            torch.cuda.set_sync_debug_mode("default")
        print(f"{name}, {elements} elements: {len(waits)} waits for the device", file=sys.stderr)
    else:
        sent = send(t)
    if sent is not None:
        expect_sent(name, t, *sent)
    wire_bytes = bytes_of(elements) if sent is None else (4 if name == "randomk" else 8) * sent[0].numel()
    return row(name, settings % density if "%" in settings else settings, "encode-as-published", elements,
               timed(torch, device, lambda: t.residual.zero_(), lambda: send(t)), wire_bytes)


def main():
    options = parsed_options()
    try:
        import torch
    except ImportError as error:
        refuse(f"{sys.executable} has no PyTorch: {error}")
    if options.device == "cuda" and not torch.cuda.is_available():
        refuse("--device cuda: PyTorch finds no CUDA device; use cpu")
    torch.set_num_threads(options.threads or torch.get_num_threads())
    table = opened(options.append, torch, options.device) if options.append else sys.stdout
    for size in options.sizes:
        for density in options.densities:
            print(row_of(torch, options.device, size, density), file=table, flush=True)
        for name in options.published:
            for density in options.densities if "density" in PUBLISHED[name][0] else options.densities[:1]:
                print(published_row(torch, options.device, name, size, density), file=table, flush=True)
    return 0


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"baseline_torch.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
