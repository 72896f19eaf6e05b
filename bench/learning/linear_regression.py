"""Linear regression by bruit, diffprivlib and scikit-learn (without privacy): R², squared error and fit time.

    python bench/learning/linear_regression.py             a few minutes on two cores
    python bench/learning/linear_regression.py --quick     fewer splits, rougher figures
    python bench/learning/linear_regression.py --times     fit times only; other figures stay as they are in the result

All have the same bounds, splits (four fifths to learn from) and ε, for added or removed records. diffprivlib's
noise is for records that are replaced and its sensitivities are wrong in places; it is compared as it is. Bounds are
those of the tables' public description; those of breast cancer, which has none, are 0 and the largest number of each
column rounded up to one digit. Exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression as PlainRegression

from bruit import datasets
from bruit.learning import LinearRegression

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from peers import BENCH, DIFFPRIVLIB, ready

EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0)
DELTA = 1e-6
SEED = 20_240_307
#: Of fits, of which the fastest counts; the worker has as many.
REPETITIONS = 100
RESULT = BENCH / "results" / "learning_linear_regression.json"

#: Figures of one table and library: pairs (R², squared error) of each split.
Scores = list[tuple[float, float]]


@dataclass(frozen=True)
class Case:
    """A table to learn from, what is declared about it, and how often it is split."""

    name: str
    target: str
    X: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ends: tuple[float, float]
    splits: int

    @property
    def train(self) -> int:
        return len(self.X) * 4 // 5

    @property
    def orders(self) -> np.ndarray:
        rng = np.random.default_rng((SEED, len(self.X)))
        return np.array([rng.permutation(len(self.X)) for _ in range(self.splits)])


def cases(quick: bool) -> list[Case]:
    many, few = (40, 20) if quick else (100, 20)
    iris, diabetes, adult = (datasets.load(name) for name in ("iris", "diabetes", "adult"))
    numeric = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    income = (adult["income"] == ">50K").astype(float)
    return [
        _declared("petal_width", iris, list(iris.columns[:3]), iris["petal_width"], ends=(0.0, 3.0), splits=many),
        _declared("Outcome", diabetes, list(diabetes.columns[:-1]), diabetes["Outcome"], ends=(0.0, 1.0), splits=many),
        _declared("income above 50K", adult, numeric, income, ends=(0.0, 1.0), splits=few),
        _breast_cancer(many),
        _synthetic(few),
    ]


def _declared(target: str, data: Any, columns: list[str], y: Any, *, ends: tuple[float, float], splits: int) -> Case:
    X = np.column_stack([np.asarray(data[column], float) for column in columns])
    domains = [data.schema[column].domain for column in columns]
    low, high = (np.array([getattr(domain, end) for domain in domains], float) for end in ("low", "high"))
    return Case(data.name, target, X, np.asarray(y, float), low, high, ends, splits)


def _breast_cancer(splits: int) -> Case:
    X, y = load_breast_cancer(return_X_y=True)
    digit = 10.0 ** np.floor(np.log10(X.max(axis=0)))
    high = np.ceil(X.max(axis=0) / digit) * digit
    return Case("breast cancer", "benign", X, y.astype(float), np.zeros(X.shape[1]), high, (0.0, 1.0), splits)


def _synthetic(splits: int, n: int = 50_000, d: int = 20) -> Case:
    """Correlated columns away from the middle of their bounds, and a line with residuals."""
    rng = np.random.default_rng(SEED)
    middle, spread = rng.uniform(-0.3, 0.3, d), rng.uniform(0.15, 0.35, d)
    common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, d))
    X = np.clip(middle + spread * (common + own) / np.sqrt(2), -1, 1)
    slopes = rng.standard_normal(d)
    signal = (X - middle) @ slopes
    y = 0.2 + 0.2 * signal / signal.std() + 0.15 * rng.standard_normal(n)
    return Case("synthetic", "a line", X, np.clip(y, -1, 1), -np.ones(d), np.ones(d), (-1.0, 1.0), splits)


def private(case: Case, epsilon: float, **extra: Any) -> LinearRegression:
    return LinearRegression(epsilon, bounds=(case.low, case.high), target_bounds=case.ends, **extra)


def scores(case: Case, make: Callable[[], Any]) -> Scores:
    found = []
    for order in case.orders:
        train, test = order[: case.train], order[case.train :]
        fitted = make().fit(case.X[train], case.y[train])
        error = float(np.mean((fitted.predict(case.X[test]) - case.y[test]) ** 2))
        found.append((1 - error / float(np.var(case.y[test])), error))
    return found


def ours(case: Case) -> dict[str, dict[str, Scores]]:
    kinds = {"bruit": {}, "bruit, functional": {"method": "functional"}, f"bruit, δ = {DELTA:g}": {"delta": DELTA}}
    found = {
        kind: {str(epsilon): scores(case, lambda e=epsilon, x=extra: private(case, e, **x)) for epsilon in EPSILONS}
        for kind, extra in kinds.items()
    }
    plain = scores(case, PlainRegression)
    return found | {"scikit-learn, no privacy": {str(epsilon): plain for epsilon in EPSILONS}}


def seconds(case: Case, make: Callable[[], Any], repetitions: int = REPETITIONS) -> float:
    make().fit(case.X, case.y)  # compiles
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        make().fit(case.X, case.y)
        times.append(time.perf_counter() - start)
    return min(times)


def theirs(tables: list[Case], epsilons: Sequence[float]) -> dict[str, Any]:
    """The same by diffprivlib, in its own environment."""
    with tempfile.TemporaryDirectory() as folder:
        for case in tables:
            np.savez(
                Path(folder) / f"{case.name}.npz",
                X=case.X,
                y=case.y,
                low=case.low,
                high=case.high,
                ends=np.array(case.ends),
                orders=case.orders,
                train=case.train,
            )
        worker = BENCH / "workers" / "linear_regression_diffprivlib.py"
        command = [ready(DIFFPRIVLIB), worker, folder, json.dumps(epsilons)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def summary(found: Scores) -> dict[str, float]:
    r2, error = np.array(found).T
    return {
        "r2_mean": float(r2.mean()),
        "r2_error": float(r2.std(ddof=1) / np.sqrt(len(r2))),
        "r2_median": float(np.median(r2)),
        "mse_mean": float(error.mean()),
        "mse_median": float(np.median(error)),
    }


def measure(quick: bool) -> dict[str, Any]:
    tables = cases(quick)
    peer = theirs(tables, EPSILONS)
    result: dict[str, Any] = {"diffprivlib": peer["version"], "cores": os.cpu_count(), "tables": {}}
    for case in tables:
        found = ours(case) | {"diffprivlib": peer["splits"][case.name]}
        result["tables"][case.name] = {
            "rows": len(case.X),
            "columns": case.X.shape[1],
            "target": case.target,
            "splits": case.splits,
            "figures": {kind: {e: summary(each) for e, each in by.items()} for kind, by in found.items()},
        }
    return with_times(result, tables, peer)


def with_times(result: dict[str, Any], tables: list[Case], peer: dict[str, Any]) -> dict[str, Any]:
    """The result with fit times, and whether the promises are kept."""
    for case in tables:
        result["tables"][case.name]["fit_seconds"] = {
            "bruit": seconds(case, lambda case=case: private(case, 1.0)),
            "scikit-learn, no privacy": seconds(case, PlainRegression),
            "diffprivlib": peer["seconds"][case.name],
        }
    return result | {"load": os.getloadavg()[0], "promises": promises(result["tables"])}


def promises(tables: dict[str, Any]) -> dict[str, bool]:
    """What must hold."""
    kept = {
        "R² on iris at ε = 1 is above .5": tables["iris"]["figures"]["bruit"]["1.0"]["r2_mean"] > 0.5,
        "the fit of 50,000 × 20 takes at most a fifth of diffprivlib's time": 5
        * tables["synthetic"]["fit_seconds"]["bruit"]
        <= tables["synthetic"]["fit_seconds"]["diffprivlib"],
    }
    for name, table in tables.items():
        for epsilon in map(str, EPSILONS):
            own, peer = (table["figures"][kind][epsilon] for kind in ("bruit", "diffprivlib"))
            room = 3 * np.hypot(own["r2_error"], peer["r2_error"])
            better = own["r2_mean"] >= peer["r2_mean"] - room and own["r2_median"] >= peer["r2_median"] - 0.01
            kept[f"R² on {name} at ε = {epsilon} is not below diffprivlib's"] = bool(better)
    return kept


def show(result: dict[str, Any]) -> None:
    console = Console(width=140)
    for name, table in result["tables"].items():
        shown = Table(title=f"{name}: {table['rows']:,} × {table['columns']}, mean R² (median)")
        shown.add_column("")
        for epsilon in EPSILONS:
            shown.add_column(f"ε = {epsilon:g}", justify="right")
        for kind, by in table["figures"].items():
            cells = (f"{by[str(e)]['r2_mean']:.3g} ({by[str(e)]['r2_median']:.3g})" for e in EPSILONS)
            shown.add_row(kind, *cells)
        console.print(shown)
        console.print({kind: f"{each * 1e3:.1f} ms" for kind, each in table["fit_seconds"].items()})
    for promise, kept in result["promises"].items():
        if not kept:
            console.print(f"Not kept: {promise}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--times", action="store_true")
    asked = parser.parse_args()
    if asked.times:
        these = cases(quick=True)
        answer = with_times(json.loads(RESULT.read_text()), these, theirs(these, ()))
    else:
        answer = measure(asked.quick)
    RESULT.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
    show(answer)
    sys.exit(0 if all(answer["promises"].values()) else 1)
