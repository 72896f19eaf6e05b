"""Splits of a table, and the worker's side of `learning/naive_bayes.py`: accuracy on each, or the time of a fit.

It runs inside every environment, so it may use the standard library and numpy only. A model is a
function of ε, the declared bounds and the classes that returns something with `fit` and `predict`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SEED = 20_240_511
#: A fifth of the rows is held out.
HELD_OUT = 5

Model = Callable[[float, tuple[np.ndarray, np.ndarray], np.ndarray], Any]


def split(n: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to predict; the same in every environment."""
    order = np.random.default_rng((SEED, number)).permutation(n)
    return order[n // HELD_OUT :], order[: n // HELD_OUT]


def accuracies(model: Model, job: dict[str, Any]) -> dict[str, list[float]]:
    """The share of right predictions, for each ε and split."""
    X, y, bounds, classes = _table(job["file"])
    found: dict[str, list[float]] = {str(epsilon): [] for epsilon in job["epsilons"]}
    for number in range(job["splits"]):
        train, test = split(len(y), number)
        for epsilon in job["epsilons"]:
            fitted = model(epsilon, bounds, classes).fit(X[train], y[train])
            found[str(epsilon)].append(float(np.mean(fitted.predict(X[test]) == y[test])))
    return found


def seconds(model: Model, job: dict[str, Any]) -> list[float]:
    """How long each of several fits to the whole table took; the first, which may compile, is not counted."""
    X, y, bounds, classes = _table(job["file"])
    times = []
    for _ in range(job["repetitions"] + 1):
        begun = time.perf_counter()
        model(1.0, bounds, classes).fit(X, y)
        times.append(time.perf_counter() - begun)
    return times[1:]


def main(model: Model) -> None:
    """Do the job of the first argument and print what came out."""
    job = json.loads(sys.argv[1])
    print(json.dumps(accuracies(model, job) if "epsilons" in job else seconds(model, job)))


def _table(file: str) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """The table, with the least and the greatest number of each whole column as its declared bounds."""
    with np.load(file) as found:
        X, y = found["X"], found["y"]
    return X, y, (X.min(axis=0), X.max(axis=0)), np.unique(y)
