"""What the experiments that learn share: their sweeps are run and read, their figures have one look."""

import csv
import json
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

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
PROGRAM = ROOT / "build/release/syncline"
BUILT = ROOT / "build/experiments"
HELD_OUT = 360  # digits, the last ones
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
    """Runs the file, going on with what an earlier run of the same text has left in build/experiments. Its cells."""
    config = Path(config).resolve()
    out = BUILT / (out or config.stem)
    out.parent.mkdir(parents=True, exist_ok=True)
    ran = out.with_suffix(".cfg")
    if not ran.exists() or ran.read_text() != config.read_text():
        shutil.rmtree(out, ignore_errors=True)  # cells of another text are nobody's
        ran.write_text(config.read_text())
    subprocess.run([PROGRAM, "run", config, "--out", out, "--resume", "--jobs", "2"], check=True, cwd=ROOT)
    return cells(out)


def chosen(config, out):
    """Runs a file that says best-of: the scenario of each that it chooses, and the program's sentences about it."""
    sweep(config, out)
    report = subprocess.run([PROGRAM, "report", BUILT / out, "--json"], check=True, capture_output=True, text=True)
    said = json.loads(report.stdout)
    scenarios = {cell["cell"]: cell["result"]["scenario"] for cell in said["cells"]}
    ranking = said["ranking"]
    return [scenarios[pool["cells"][0]] for pool in ranking["pooled"]], ranking["notes"]


def tuning(notes):
    """The program's sentences about its choices, without its warnings about seeds and samples that chose, and report too."""
    told = []
    for note in notes:
        if note.startswith("best-of"):
            chosen, *more = note.split("; ")
            told.append("; ".join([chosen.split(", which ")[0], *(part for part in more if " at an end " in part)]))
    return told


def write_chosen(config, tune, about, settings, seeds, listed=(), without=()):
    """Writes a file of what was chosen: the head of the one that tuned, but for what these settings have, and sections."""
    settings = list(settings)
    once = {option for setting in settings for option in setting} | {"best-of", "best-of-seeds", "seed", *without}
    head = [line for line in tune.read_text().split("\n[")[0].splitlines()
            if line and not line.startswith("#") and line.split(" ")[0] not in once]
    sections = {}  # what differs in one of `listed` alone is one section
    for setting in settings:
        alone = next((option for option in listed if option in setting), None)
        key = (alone, *((option, value) for option, value in setting.items() if option != alone))
        sections.setdefault(key, []).append(setting.get(alone))
    text = f"# {about} Written by figure.py.\n" + "\n".join(head) + f"\nseed = {', '.join(map(str, seeds))}\n"
    for number, ((alone, *shared), values) in enumerate(sections.items(), 1):
        text += f"\n[{number}]\n" + "".join(f"{option} = {value}\n" for option, value in shared)
        if alone:
            text += f"{alone} = {', '.join(map(str, values))}\n"
    config.write_text(text)


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


def spread(name, values, form):
    """Three columns: the median of the seeds, the least and the most."""
    return {name + end: f"{value:{form}}" for end, value in
            zip(("", "_least", "_most"), (median(values), min(values), max(values)))}


def write_csv(path, about, rows):
    """Comments, then one line for each row, a dict by column."""
    with Path(path).open("w", newline="") as file:
        file.writelines(f"# {line}\n" for line in about)
        table = csv.DictWriter(file, list(dict.fromkeys(column for row in rows for column in row)), restval="",
                               lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"wrote {Path(path).relative_to(ROOT)}")


def save(figure, path):
    """As SVG without a date, so that the same numbers leave the same file."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {Path(path).relative_to(ROOT)}")
