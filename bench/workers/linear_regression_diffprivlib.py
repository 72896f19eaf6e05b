"""diffprivlib's linear regression on tables that the driver wrote: R² and squared error of each split, and fit times.

The first argument is a folder with one ``NAME.npz`` for each table (X, y, low, high, ends, and one row of `orders` for
each split, of which the first `train` are learnt from), the second the ε as a JSON list. The result is JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import diffprivlib
import numpy as np
from diffprivlib.models import LinearRegression


def model(table: np.lib.npyio.NpzFile, epsilon: float) -> LinearRegression:
    low, high = table["ends"].tolist()
    return LinearRegression(epsilon=epsilon, bounds_X=(table["low"], table["high"]), bounds_y=(low, high))


def splits(table: np.lib.npyio.NpzFile, epsilon: float) -> list[tuple[float, float]]:
    X, y, train = table["X"], table["y"], int(table["train"])
    found = []
    for order in table["orders"]:
        fitted = model(table, epsilon).fit(X[order[:train]], y[order[:train]])
        truth = y[order[train:]]
        error = float(np.mean((fitted.predict(X[order[train:]]) - truth) ** 2))
        found.append((1 - error / float(np.var(truth)), error))
    return found


def seconds(table: np.lib.npyio.NpzFile, repetitions: int = 100) -> float:
    """The best of some fits of all rows."""
    X, y, times = table["X"], table["y"], []
    for _ in range(repetitions):
        start = time.perf_counter()
        model(table, 1.0).fit(X, y)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer: dict[str, object] = {"version": diffprivlib.__version__, "splits": {}, "seconds": {}}
    for path in sorted(Path(sys.argv[1]).glob("*.npz")):
        opened = np.load(path)
        answer["splits"][path.stem] = {str(each): splits(opened, each) for each in json.loads(sys.argv[2])}  # type: ignore[index]
        answer["seconds"][path.stem] = seconds(opened)  # type: ignore[index]
    print(json.dumps(answer))
