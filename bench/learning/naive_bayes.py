"""Naive Bayes by bruit and by diffprivlib: accuracy at the same ε, splits and bounds, and the time of a fit.

    python bench/learning/naive_bayes.py             400 splits of the small tables, about ten minutes on two cores
    python bench/learning/naive_bayes.py --quick     40 splits, rougher figures

Both get the least and the greatest number of each column of the whole table as declared bounds, and
neighbours that differ by one record added or removed. diffprivlib takes the number of records and
the classes as known, and is compared as it is; scikit-learn, without any privacy, is for
orientation. A fifth of the rows is held out. Exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.naive_bayes import GaussianNB

from bruit import datasets

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workers"))
from naive_bayes_splits import accuracies

import report
from peers import BENCH, LIBRARIES, interpreter
from run import ONE_CORE

EPSILONS = [0.1, 0.5, 1, 5, 10]
LIBRARIES_COMPARED = ("bruit", "diffprivlib")
#: Small tables get all splits; the others, whose figures vary less and cost more, a tenth.
SMALL = ("iris", "breast cancer", "diabetes")
#: By how much bruit must be above diffprivlib, and the most that it may be below it elsewhere.
GAINS = {(name, epsilon): gain for name in SMALL[:2] for epsilon, gain in ((0.1, 0.0), (0.5, 0.08), (1, 0.08))}
LEAST = -0.01
#: The most that a fit may take of diffprivlib's time.
SHARE_OF_TIME = 0.2
REPETITIONS = 15


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Numeric columns and classes of each table."""
    diabetes, adult = datasets.load("diabetes"), datasets.load("adult")
    numeric = [name for name in adult.columns if adult[name].dtype != object]
    return {
        "iris": load_iris(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "diabetes": (
            np.stack([diabetes[name] for name in diabetes.columns[:-1]], axis=1).astype(float),
            _classes(diabetes["Outcome"]),
        ),
        "adult numeric": (np.stack([adult[name] for name in numeric], axis=1).astype(float), _classes(adult["income"])),
        "synthetic 50,000 × 20": make_classification(50_000, 20, n_informative=10, random_state=0),
    }


def main() -> int:
    """Measure, write, show, and say with the exit code whether every promise is kept."""
    splits = _options().splits
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: _saved(Path(folder) / f"{place}.npz", *table) for place, (name, table) in enumerate(tables().items())
        }
        found = {
            name: _compared(file, splits if name in SMALL else max(10, splits // 10)) for name, file in files.items()
        }
        times = _times(files["synthetic 50,000 × 20"])
    promises = _promises(found, times)
    body = {"machine": report.machine(), "bounds": __doc__.split("\n\n")[2], "accuracy": found, "fit": times}
    target = BENCH / "results" / "learning_naive_bayes.json"
    target.write_text(json.dumps(body | {"promises": promises}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, rows in found.items():
        for epsilon, row in rows.items():
            print(
                f"{name:22} ε={epsilon:5}", *(f"{who} {one['mean']:.3f} ± {one['sd']:.3f}" for who, one in row.items())
            )
    print(*(f"{what}: {'met' if kept else 'NOT MET'}" for what, kept in promises.items()), sep="\n")
    return 0 if all(promises.values()) else 1


def _compared(file: Path, splits: int) -> dict[str, dict[str, dict[str, float]]]:
    """Mean, standard deviation over splits and their number, by ε and library."""
    job = {"file": str(file), "epsilons": EPSILONS, "splits": splits}
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(LIBRARIES_COMPARED, pool.map(lambda who: _asked(who, job), LIBRARIES_COMPARED), strict=True))
    plain = accuracies(lambda *_: GaussianNB(), {**job, "epsilons": ["inf"], "splits": min(splits, 100)})["inf"]
    rows = {str(epsilon): {who: answers[who][str(epsilon)] for who in answers} for epsilon in EPSILONS}
    rows["inf"] = {"scikit-learn": plain}
    return {epsilon: {who: _summary(values) for who, values in row.items()} for epsilon, row in rows.items()}


def _times(file: Path) -> dict[str, Any]:
    """Seconds of the fits of each library on the same table, one after the other, each on one core."""
    job = {"file": str(file), "repetitions": REPETITIONS}
    seconds = {who: _asked(who, job) for who in LIBRARIES_COMPARED}
    medians = {who: float(np.median(times)) for who, times in seconds.items()}
    return {"seconds": seconds, "median": medians, "share": medians["bruit"] / medians["diffprivlib"]}


def _promises(found: dict[str, Any], times: dict[str, Any]) -> dict[str, bool]:
    kept = {}
    for name, rows in found.items():
        for epsilon in EPSILONS:
            row = rows[str(epsilon)]
            gain = row["bruit"]["mean"] - row["diffprivlib"]["mean"]
            least = GAINS.get((name, epsilon), LEAST)
            kept[f"{name}, ε = {epsilon}: {gain:+.3f}, promised ≥ {least:+.2f}"] = gain >= least
    kept[f"fit time over diffprivlib's: {times['share']:.3f}, promised ≤ {SHARE_OF_TIME}"] = (
        times["share"] <= SHARE_OF_TIME
    )
    return kept


def _asked(who: str, job: dict[str, Any]) -> Any:
    """What the worker of a library answers."""
    worker = BENCH / "workers" / f"naive_bayes_{who}.py"
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(interpreter(LIBRARIES[who])), str(worker), json.dumps(job)]
    done = subprocess.run(command, env=inherited | ONE_CORE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{who}: {(done.stderr.strip().splitlines() or ['it stopped without a word'])[-1]}")
    return json.loads(done.stdout)


def _summary(values: list[float]) -> dict[str, float]:
    return {"mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1)), "splits": len(values)}


def _saved(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    np.savez(path, X=X, y=y)
    return path


def _classes(column: np.ndarray) -> np.ndarray:
    return np.unique(column.astype(str), return_inverse=True)[1]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Accuracy and speed of naive Bayes, beside diffprivlib.")
    parser.add_argument("--splits", type=int, default=400, help="how many splits of the small tables")
    parser.add_argument("--quick", dest="splits", action="store_const", const=40, help="40 splits")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
