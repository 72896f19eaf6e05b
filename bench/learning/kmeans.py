"""k-means by bruit and diffprivlib: inertia of the private centres over that of scikit-learn's, and fit time.

    python bench/learning/kmeans.py             50 fits for each figure of the promises, half an hour on two cores
    python bench/learning/kmeans.py --quick     10 fits, rougher figures

Both get the same data, bounds, clusters and ε; bruit's neighbours differ by one record added or removed.
diffprivlib spends more than its ε (see docs) and is compared as it is. Bounds are those of the
tables' public description; those of breast cancer, which has none, are 0 and the largest number of each column rounded
up to one digit. Exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import load_breast_cancer

from bruit import datasets
from bruit.domains import Grid
from bruit.learning import KMeans

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from peers import BENCH, DIFFPRIVLIB, ready
from run import ONE_CORE

EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0)
PROMISED = {"iris": (1.0, 5.0, 10.0), "adult numeric": (1.0, 5.0, 10.0)}
#: The most that a fit may take of diffprivlib's time, on the synthetic table.
SHARE_OF_TIME = 0.2
SYNTHETIC = "synthetic 50,000 × 20"
DELTA = 1e-6
SEED = 20_240_309
RESULT = BENCH / "results" / "learning_kmeans.json"
KINDS: dict[str, dict[str, Any]] = {
    "bruit": {},
    f"bruit, δ = {DELTA:g}": {"delta": DELTA},
    "bruit, lloyd": {"method": "lloyd"},
}


@dataclass(frozen=True)
class Case:
    """A table, what is declared about it, and how many clusters to look for."""

    name: str
    X: np.ndarray
    low: np.ndarray
    high: np.ndarray
    clusters: tuple[int, ...]

    def repetitions(self, epsilon: float, quick: bool) -> int:
        if quick:
            return 10
        return 50 if len(self.X) < 10_000 or epsilon in PROMISED.get(self.name, ()) else 10


def cases() -> list[Case]:
    X = load_breast_cancer().data
    digit = 10.0 ** np.floor(np.log10(X.max(axis=0)))
    cancer = Case("breast cancer", X, np.zeros(X.shape[1]), np.ceil(X.max(axis=0) / digit) * digit, (2, 5))
    return [
        _declared("iris", "iris", (3,)),
        _declared("adult", "adult numeric", (3, 5, 8)),
        _declared("diabetes", "diabetes", (3, 5)),
        cancer,
        _synthetic(),
    ]


def _declared(table: str, name: str, clusters: tuple[int, ...]) -> Case:
    """The numeric columns of a table of ours, with the bounds of its schema."""
    data = datasets.load(table)
    domains = {column: data.schema[column].domain for column in data.columns}
    grids = {column: domain for column, domain in domains.items() if isinstance(domain, Grid)}
    X = np.column_stack([np.asarray(data[column], float) for column in grids])
    low, high = (np.array([getattr(grid, end) for grid in grids.values()], float) for end in ("low", "high"))
    return Case(name, X, low, high, clusters)


def _synthetic(n: int = 50_000, d: int = 20, k: int = 8) -> Case:
    """Eight round clouds that overlap a little, in a box twice as wide as their centres'."""
    rng = np.random.default_rng(SEED)
    centres = rng.uniform(-1, 1, (k, d))
    X = centres[rng.integers(0, k, n)] + 0.3 * rng.standard_normal((n, d))
    return Case(SYNTHETIC, np.clip(X, -2, 2), np.full(d, -2.0), np.full(d, 2.0), (k,))


def inertia(X: np.ndarray, centres: Any) -> float:
    return float(_squares(X, np.asarray(centres)).min(axis=1).sum())


def _squares(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances, from the middle of the centres for the sake of digits."""
    middle = centres.mean(axis=0)
    rows, points = X - middle, centres - middle
    found = (rows**2).sum(axis=1)[:, None] - 2 * rows @ points.T + (points**2).sum(axis=1)
    return np.maximum(found, 0)


def ours(case: Case, k: int, epsilon: float, repetitions: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, extra in KINDS.items():
        models = [
            KMeans(k, epsilon=epsilon, bounds=(case.low, case.high), scale=False, rng=seed, **extra)
            for seed in range(repetitions)
        ]
        found[kind] = [_fitted(model, case.X) for model in models]
    return found


def _fitted(model: KMeans, X: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X).cluster_centers_


def theirs(case: Case, file: Path, k: int, epsilon: float, repetitions: int) -> dict[str, Any]:
    """Centres and seconds of diffprivlib, in its own environment."""
    job = {"file": str(file), "low": case.low.tolist(), "high": case.high.tolist(), "k": k, "epsilon": epsilon}
    command = [str(ready(DIFFPRIVLIB)), str(BENCH / "workers" / "kmeans_diffprivlib.py")]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, json.dumps({**job, "repetitions": repetitions})],
        env=inherited | ONE_CORE,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["diffprivlib stopped without a word"])[-1])
    return json.loads(done.stdout)


def compared(case: Case, folder: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """A row for each number of clusters and ε: mean and standard error of the ratio for each library."""
    file = folder / f"{len(case.X)}.npy"
    np.save(file, case.X)
    alone = inertia(case.X, case.X.mean(axis=0, keepdims=True))
    for k in case.clusters:
        best = min(PlainKMeans(k, n_init=10, random_state=seed).fit(case.X).inertia_ for seed in range(2))
        for epsilon in EPSILONS:
            many = case.repetitions(epsilon, quick)
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(theirs, case, file, k, epsilon, many)
                centres = ours(case, k, epsilon, many)
                centres["diffprivlib"] = waiting.result()["centres"]
            ratios = {who: [inertia(case.X, each) / best for each in found] for who, found in centres.items()}
            row = {who: _summary(values) for who, values in ratios.items()}
            yield {"table": case.name, "k": k, "epsilon": epsilon, "fits": many, "one centre": alone / best, **row}


def _summary(values: list[float]) -> dict[str, float]:
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return {"mean": float(np.mean(values)), "median": float(np.median(values)), "standard error": error}


def times(case: Case, folder: Path) -> dict[str, Any]:
    """Seconds of a fit of each library at ε = 1, one after the other, bruit's on all cores and on one."""
    file = folder / f"{len(case.X)}.npy"
    k = case.clusters[0]
    peer = theirs(case, file, k, 1.0, 5)["seconds"]
    mine: dict[str, list[float]] = {}
    for cores in ("1", None):
        if cores:
            os.environ["BRUIT_THREADS"] = cores
        else:
            os.environ.pop("BRUIT_THREADS", None)
        mine["one core" if cores else "all cores"] = [_seconds(case, k) for _ in range(10)]
    # The best of each: a busy machine makes single fits slow by chance.
    share, one = min(mine["all cores"]) / min(peer), min(mine["one core"]) / min(peer)
    return {"bruit": mine, "diffprivlib": peer, "share": share, "share on one core": one}


def _seconds(case: Case, k: int) -> float:
    model = KMeans(k, epsilon=1.0, bounds=(case.low, case.high), scale=False)
    start = time.perf_counter()
    _fitted(model, case.X)
    return time.perf_counter() - start


def promises(rows: list[dict[str, Any]], timed: dict[str, Any]) -> dict[str, bool]:
    kept = {}
    for row in rows:
        if row["epsilon"] in PROMISED.get(row["table"], ()):
            mine, peer = row["bruit"]["mean"], row["diffprivlib"]["mean"]
            what = f"{row['table']}, k = {row['k']}, ε = {row['epsilon']:g}: {mine:.3f}, promised ≤ {peer:.3f}"
            kept[what] = mine <= peer
    kept[f"fit time over diffprivlib's: {timed['share']:.3f}, promised ≤ {SHARE_OF_TIME}"] = (
        timed["share"] <= SHARE_OF_TIME
    )
    return kept


def main() -> int:
    """Measure, write, show, and say with the exit code whether every promise is kept."""
    parser = argparse.ArgumentParser(description="Inertia and speed of k-means, beside diffprivlib.")
    parser.add_argument("--quick", action="store_true", help="10 fits for each figure")
    quick = parser.parse_args().quick
    tables = cases()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in tables:
            for row in compared(case, Path(folder), quick):
                rows.append(row)
                print(
                    f"{row['table']:22} k={row['k']} ε={row['epsilon']:4g}",
                    *(f"{who} {row[who]['mean']:.3f}" for who in (*KINDS, "diffprivlib")),
                    f"one centre {row['one centre']:.2f}",
                    flush=True,
                )
        timed = times(tables[-1], Path(folder))
    kept = promises(rows, timed)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    body = {"machine": report.machine(), "load": load, "about": __doc__.split("\n\n")[2], "inertia ratio": rows}
    text = json.dumps(body | {"fit": timed, "promises": kept}, indent=1, ensure_ascii=False)
    RESULT.write_text(text + "\n", encoding="utf-8")
    print(*(f"{what}: {'met' if fine else 'NOT MET'}" for what, fine in kept.items()), sep="\n")
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
