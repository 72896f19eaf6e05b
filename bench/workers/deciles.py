"""Nine deciles: the people of the case, what a right answer is, and the worker's side of `quantiles.py`.

It runs inside every environment, so it may use the standard library and numpy only. A method is a
function of the data, their bounds and ε that returns a function which draws nine values. Whatever
can be made ready without the data is made ready before.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

SEED = 20_240_302
BLOCK = 1 << 16
DECILES = [place / 10 for place in range(1, 10)]
BOUNDS = (-5.0, 5.0)
#: How far, as a share of the people, an answer of a speed case may be from its rank.
TOLERANCE = 0.005

Method = Callable[[np.ndarray, tuple[float, float], float], Callable[[], Any]]


def people(n: int) -> np.ndarray:
    """The numbers of n people: normal, within the bounds."""
    values = np.empty(n)
    for block, start in enumerate(range(0, n, BLOCK)):
        drawn = np.random.default_rng((SEED, block)).normal(size=BLOCK)
        values[start : start + BLOCK] = drawn[: n - start]
    return values.clip(*BOUNDS)


def rank_errors(ordered: np.ndarray, answers: Any) -> np.ndarray:
    """How many people stand between each answer and its rank; a value that many have has many ranks."""
    answers = np.asarray(answers, float)
    wanted = np.array(DECILES) * ordered.size
    below = np.searchsorted(ordered, answers, "left")
    reached = np.searchsorted(ordered, answers, "right")
    return np.maximum(0, np.maximum(below - wanted, wanted - reached))


def check(values: np.ndarray, answers: Any) -> None:
    """Nine answers, each near its rank."""
    if np.shape(answers) != (len(DECILES),) or rank_errors(np.sort(values), answers).max() > TOLERANCE * values.size:
        raise ValueError("The answers are not near the deciles.")


def main(methods: Mapping[str, Method]) -> None:
    """Do the job of the first argument: draw with each method, again and again, and print what came out."""
    job = json.loads(sys.argv[1])
    values, bounds = np.load(job["file"]), (job["bounds"][0], job["bounds"][1])
    found = {}
    for name, method in methods.items():
        draw = method(values, bounds, job["epsilon"])
        begun = time.perf_counter()
        answers = [np.asarray(draw(), float).tolist() for _ in range(job["repetitions"])]
        found[name] = {"answers": answers, "seconds": (time.perf_counter() - begun) / job["repetitions"]}
    print(json.dumps(found))
