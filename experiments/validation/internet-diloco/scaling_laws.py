#!/usr/bin/env python3
"""Table 6 of Scaling Laws for DiLoCo (arXiv 2503.09799) beside ours: Gbit/s that reach a compute utilisation.

    scaling_laws.py [PROGRAM]     default: build/release/syncline of this tree; takes a minute or two

Writes scaling-laws.csv beside this script. A cell's bandwidth is found by bisection with the program, and has to be what
arithmetic says, to 0.1 %.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
UTILISATIONS = (0.5, 0.8, 0.9, 0.95, 0.99)
GRID = [10 ** (-1 + 4 * k / 49) for k in range(51)]  # Gbit/s, and one more: 1001 is the published "1000+"
# Values, seconds of a step, layers, shares of bf16's bits that fit H = 1 and H = 100 and 300; the published rows by H.
MODELS = {
    "Chinchilla 10B": (10_000_000_000, 0.8, 48, (0.75, 0.684), {
        1: (104.8, 184.2, 222.3, 222.3, 390.7), 100: (1.4, 6.2, 13.3, 23.3, 86.8), 300: (0.5, 2.0, 4.3, 9.1, 41.0)}),
    "Llama3 405B": (405_000_000_000, 26, 126, (0.79, 0.748), {
        1: (126.5, 222.3, 268.3, 323.8, 323.8), 100: (2.0, 7.5, 16.0, 33.9, 126.5), 300: (0.7, 3.0, 6.2, 13.3, 59.6)}),
    "DeepSeek-V3 671B": (671_000_000_000, 20, 61, (0.86, 0.77), {
        1: (323.8, 569.0, 686.6, 686.6, 1001), 100: (4.3, 16.0, 41.0, 72.0, 268.3), 300: (1.7, 6.2, 13.3, 28.1, 126.5)}),
}


def arithmetic(gbit, step, period, layers, utilisation):
    """Appendix A.2: what is not computation is `gbit` over a line, once in `period` steps. With `layers`, that many
    equal tensors are sent one after the other, each when the last two thirds of a step have come to its end."""
    seconds = period * step * (1 / utilisation - 1)
    if layers:
        behind_the_first = 2 / 3 * step * (1 - 1 / layers)
        seconds = min(seconds + behind_the_first, seconds * layers) if period == 1 else seconds + 2 / 3 * step
    return gbit / seconds


def simulated(program, model, values, step, period, utilisation, expected):
    """The bandwidth by bisection, 2 % around what is expected."""
    schedule = (["bsp", "--bucket-bytes", "0", "--iterations", "2", "--warmup", "1"] if period == 1 else
                ["local-sgd", "--bucket-bytes", "all", "--local-steps", str(period), "--iterations", str(period),
                 "--warmup", "0"])
    low, high = expected * 0.98, expected * 1.02
    while high / low > 1.0002:
        middle = (low * high) ** 0.5
        done = subprocess.run([program, "run", HERE / "scaling-laws.cfg", "--model", model, "--throughput", str(1 / step),
                               "--bandwidth-factor", str(middle / 10), "--json", "--schedule", *schedule],
                              capture_output=True, text=True, check=True)
        reached = json.loads(done.stdout)["cells"][0]["result"]["figures"]["scaling_efficiency"]
        low, high = (low, middle) if reached >= utilisation else (middle, high)
    assert expected / 1.001 < high < expected * 1.001, f"{high} Gbit/s, by arithmetic {expected}"
    return high


def rows(program, folder):
    for name, (values, step, layers, shares, table) in MODELS.items():
        model = Path(folder) / "equal.csv"
        sizes = [values // layers + (layer < values % layers) for layer in range(layers)]
        model.write_text("layer,parameters,forward_flop\n" + "".join(f"{i},{n},1000000\n" for i, n in enumerate(sizes)))
        for period, row in table.items():
            for utilisation, published in zip(UTILISATIONS, row):
                last = 50 if published > 1000 else min(range(1, 50), key=lambda k: abs(GRID[k] - published))
                gbit = values * 16e-9
                plain = arithmetic(gbit, step, period, 0, utilisation)
                ours = simulated(program, model, values, step, period, utilisation,
                                 arithmetic(gbit, step, period, layers, utilisation) if period == 1 else plain)
                share = shares[period > 1]
                fitted = arithmetic(gbit * share, step, period, layers, utilisation)
                yield {"model": name, "local_steps": period, "utilisation_percent": f"{100 * utilisation:.0f}",
                       "published_above": f"{GRID[last - 1]:.4g}", "published_at_most": f"{GRID[last]:.4g}" if last < 50 else "",
                       "a2": f"{plain:.4g}", "simulated": f"{ours:.4g}", "simulated_over_published": f"{ours / published:.2f}",
                       "fitted": f"{fitted:.4g}", "share": share,
                       "inside": "yes" if GRID[last - 1] < fitted <= GRID[last] else "no"}


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parents[2] / "build/release/syncline")
    with tempfile.TemporaryDirectory() as folder:
        found = list(rows(program, folder))
    with (HERE / "scaling-laws.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, found[0], lineterminator="\n")
        table.writeheader()
        table.writerows(found)


if __name__ == "__main__":
    main()
