"""Nine deciles by bruit and by other libraries: how far from the truth, in ranks, on the same data in one run.

    python bench/quantiles.py              50 repetitions, about ten minutes on two cores
    python bench/quantiles.py --quick      10 repetitions, under three minutes, rougher figures
    python bench/quantiles.py --seed 7     other data of the same laws

The error of an answer is the number of people between it and its rank; the table states the mean
over the nine deciles and the repetitions. Exit code 1 when a promise is not kept or could not be
measured. It is not part of `make bench`, because of its time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import report
from peers import BENCH, LIBRARIES, SetupError, interpreter
from run import ONE_CORE

sys.path.append(str(BENCH / "workers"))
from deciles import rank_errors

PEOPLE = 100_000
SEED = 20_240_303
OURS = "bruit auto"
#: The promises are about the best of these; other rows are for comparison. OpenDP's tree counts with two
#: numbers of leaves, because neither is the better one on all three laws.
DIFFPRIVLIB, TREES = "diffprivlib", ("OpenDP tree, 2,000 leaves", "OpenDP tree, 4,096 leaves")
LEADERS = {"add-remove": (DIFFPRIVLIB, *TREES), "replace": (DIFFPRIVLIB,)}
LEADERS_SHOWN = {"add-remove": "diffprivlib or OpenDP's trees", "replace": "diffprivlib"}


@dataclass(frozen=True)
class Data:
    """Numbers of some law, and the bounds that are declared for them."""

    name: str
    bounds: tuple[float, float]

    def draw(self, seed: int) -> np.ndarray:
        rng = np.random.default_rng((seed, len(self.name)))
        law: Any = {"uniform": rng.random, "normal": rng.standard_normal, "lognormal": rng.lognormal}[self.name]
        return np.clip(law(size=PEOPLE), *self.bounds)


@dataclass(frozen=True)
class Setting:
    """A privacy budget and its neighbours, and the most that our error may be of the leaders' least."""

    epsilon: float
    neighbours: str
    promise: float

    @property
    def title(self) -> str:
        return f"ε = {self.epsilon:g}, {self.neighbours}"


DATA = (Data("uniform", (0.0, 1.0)), Data("normal", (-5.0, 5.0)), Data("lognormal", (0.0, 100.0)))
SETTINGS = (
    Setting(1.0, "add-remove", promise=0.65),
    Setting(0.1, "add-remove", promise=1.0),
    Setting(1.0, "replace", promise=1.0),
    Setting(0.1, "replace", promise=1.0),
)
#: The libraries, and the neighbours for which they are asked; diffprivlib draws the same for both.
WORKERS = {
    "bruit": ("add-remove", "replace"),
    "diffprivlib": ("add-remove",),
    "OpenDP": ("add-remove",),
    "PyDP": ("add-remove",),
}

#: Mean rank errors by setting, method and data.
Errors = dict[Setting, dict[str, dict[str, float]]]


def main() -> int:
    """Measure, show, and say with the exit code whether every promise is kept."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder, Console(stderr=True).status("nine deciles"):
        files = {data: _saved(data, options.seed, Path(folder)) for data in DATA}
        errors, troubles = _measured(files, options.repetitions)
    text = "\n\n".join(_markdown(setting, errors[setting]) for setting in SETTINGS)
    (BENCH / "results").mkdir(exist_ok=True)
    (BENCH / "results" / "quantiles.md").write_text(_heading(options) + text + "\n", encoding="utf-8")
    _show(errors, troubles)
    kept = [_kept(setting, errors[setting], data.name) for setting in SETTINGS for data in DATA]
    print(f"Promises kept: {sum(kept)} of {len(kept)}.")
    return 0 if all(kept) else 1


def _measured(files: dict[Data, Path], repetitions: int) -> tuple[Errors, list[str]]:
    jobs = [
        (library, data, setting)
        for library, neighbours in WORKERS.items()
        for setting in SETTINGS
        for data in files
        if setting.neighbours in neighbours
    ]
    troubles: list[str] = []
    pythons = {}
    for library in WORKERS:
        try:
            pythons[library] = interpreter(LIBRARIES[library])
        except SetupError as error:
            troubles.append(str(error))
    errors: Errors = {setting: {} for setting in SETTINGS}

    def work(job: tuple[str, Data, Setting]) -> dict[str, float]:
        library, data, setting = job
        about = {"epsilon": setting.epsilon, "neighbours": setting.neighbours, "repetitions": repetitions}
        return _errors(pythons[library], library, files[data], {**about, "bounds": data.bounds})

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ready = [job for job in jobs if job[0] in pythons]
        for (_, data, setting), future in [(job, pool.submit(work, job)) for job in ready]:
            try:
                for method, error in future.result().items():
                    errors[setting].setdefault(method, {})[data.name] = error
            except RuntimeError as error:
                troubles.append(str(error))
    for setting in SETTINGS:
        same = next(each for each in SETTINGS if each.epsilon == setting.epsilon)
        if DIFFPRIVLIB in errors[same]:
            errors[setting].setdefault(DIFFPRIVLIB, errors[same][DIFFPRIVLIB])
    return errors, troubles


def _errors(python: Path, library: str, file: Path, about: dict[str, Any]) -> dict[str, float]:
    """The mean rank error of each method that the library has."""
    worker = BENCH / "workers" / f"deciles_{library.lower()}.py"
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python), str(worker), json.dumps({**about, "file": str(file)})]
    done = subprocess.run(command, env=inherited | ONE_CORE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{library}: {(done.stderr.strip().splitlines() or ['it stopped without a word'])[-1]}")
    ordered = np.sort(np.load(file))
    found = json.loads(done.stdout)
    return {
        method: float(np.mean([rank_errors(ordered, answers) for answers in drawn["answers"]]))
        for method, drawn in found.items()
    }


def _saved(data: Data, seed: int, folder: Path) -> Path:
    path = folder / f"{data.name}.npy"
    np.save(path, data.draw(seed))
    return path


def _ratio(setting: Setting, rows: dict[str, dict[str, float]], data: str) -> float | None:
    """Our error over the least of the leaders'; None if one of them was not measured."""
    theirs = [rows.get(name, {}).get(data) for name in LEADERS[setting.neighbours]]
    ours = rows.get(OURS, {}).get(data)
    if ours is None or any(error is None for error in theirs):
        return None
    return ours / min(error for error in theirs if error is not None)


def _kept(setting: Setting, rows: dict[str, dict[str, float]], data: str) -> bool:
    ratio = _ratio(setting, rows, data)
    return ratio is not None and ratio <= setting.promise


def _lines(setting: Setting, rows: dict[str, dict[str, float]]) -> list[list[str]]:
    names = [data.name for data in DATA]
    lines = [
        [method, *(f"{found[name]:.1f}" if name in found else "" for name in names)] for method, found in rows.items()
    ]
    ratios = [_ratio(setting, rows, name) for name in names]
    words = ["not measured" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
    marks = ["met" if _kept(setting, rows, name) else "NOT MET" for name in names]
    leaders = LEADERS_SHOWN[setting.neighbours]
    lines.append(
        [f"{OURS} over {leaders}, promised ≤ {setting.promise:g}", *map(" ".join, zip(words, marks, strict=True))]
    )
    return lines


def _heading(options: argparse.Namespace) -> str:
    about = report.machine()
    machine = f"{about['cpu']}, {about['cores']} cores, {about['system']}"
    title = f"Mean rank error of nine deciles, n = {PEOPLE:,}, {options.repetitions} repetitions, seed {options.seed}"
    return f"# {title}\n\n{machine}\n\n"


def _markdown(setting: Setting, rows: dict[str, dict[str, float]]) -> str:
    head = ["method", *(data.name for data in DATA)]
    lines = [head, ["---"] * len(head), *_lines(setting, rows)]
    return f"## {setting.title}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _show(errors: Errors, troubles: list[str]) -> None:
    console = Console()
    console = console if console.is_terminal else Console(width=100)
    for setting, rows in errors.items():
        table = Table("method", title=f"Mean rank error of nine deciles, n = {PEOPLE:,}, {setting.title}")
        for data in DATA:
            table.add_column(data.name, justify="right", no_wrap=True)
        *lines, last = _lines(setting, rows)
        for line in lines:
            table.add_row(*line, end_section=line is lines[-1])
        table.add_row(*last, style="bold red" if "NOT MET" in " ".join(last) else "green")
        console.print(table)
    for trouble in dict.fromkeys(troubles):
        console.print(trouble, style="red", markup=False)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How near to the true deciles bruit and other libraries come.")
    parser.add_argument("--repetitions", type=int, default=50, help="how often each method draws")
    parser.add_argument("--quick", dest="repetitions", action="store_const", const=10, help="10 repetitions")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed gives other data of the same laws")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
