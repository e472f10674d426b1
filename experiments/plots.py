"""What the experiments that learn share: their sweeps are run and read, their figures have one look."""

import csv
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.hashsalt": "syncline",  # the same bytes from the same numbers
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",  # which comes with it
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
})
import matplotlib.pyplot as plt  # noqa: E402: after the choice of what it draws with

ROOT = Path(__file__).resolve().parent.parent
# Okabe and Ito's colours, which most colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#8c6d31")


@dataclass
class Cell:
    """One simulation: what was asked for, what came out, and its tables by row."""
    name: str
    scenario: dict
    figures: dict
    learning: dict
    curve: dict
    tables: dict = field(default_factory=dict)  # CELL.KIND.csv by KIND: dicts by row


def sweep(config, out=None):
    """Runs the file, going on with what an earlier run has left in build/experiments. Its cells."""
    config = Path(config).resolve()
    out = ROOT / "build" / "experiments" / (out or config.stem)
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [ROOT / "build/release/syncline", "run", config, "--out", out, "--resume", "--jobs", "2"]
    subprocess.run(command, check=True, cwd=ROOT)
    return cells(out)


def cells(out):
    found = []
    for path in sorted(Path(out).glob("*.json")):
        result = json.loads(path.read_text())
        if "figures" not in result:
            continue
        tables = {}
        for table in path.parent.glob(path.stem + ".*.csv"):
            with table.open() as file:
                tables[table.name[len(path.stem) + 1:-len(".csv")]] = list(csv.DictReader(file))
        learning = result.get("learning") or {}
        found.append(Cell(path.stem, result["scenario"], result["figures"], learning,
                          learning.get("curve", {}), tables))
    return found


def grouped(cells, key):
    """Cells by key(cell), each group in the order of its seeds."""
    groups = {}
    for cell in sorted(cells, key=lambda cell: cell.scenario["seed"]):
        groups.setdefault(key(cell), []).append(cell)
    return groups


def write_table(lines, path):
    """Also printed."""
    text = "\n".join(lines)
    Path(path).write_text(text + "\n")
    print(text)


def save(figure, path):
    """As SVG without a date, so that the same numbers leave the same file."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {Path(path).relative_to(ROOT)}")
