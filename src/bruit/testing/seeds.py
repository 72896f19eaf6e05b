"""That a seed repeats its reports, nothing else does, and threads change nothing."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Randomness
from bruit.testing._evidence import Mechanism, require, stream, values_of, written

#: The most people that are asked to tell two streams apart.
MOST_PEOPLE = 4_000_000


def check_seeds(oracle: Mechanism, *, rng: Randomness = 0) -> None:
    """The same seed gives the same reports, another seed or no seed others; the number of threads changes nothing."""
    needed = _needed(oracle)
    require(needed <= MOST_PEOPLE, "Reports are so seldom noisy at this ε that two seeds cannot be told apart.")
    values = values_of(oracle, np.arange(max(2 * BLOCK + 17, math.ceil(needed))) % oracle.size)
    seed = int(stream(rng, "check_seeds", oracle).words(1)[0])
    reports = oracle.privatize(values, rng=seed)
    require(_same(reports, oracle.privatize(values, rng=seed)), "The same seed does not give the same reports.")
    for count in ("1", "2", "3"):
        with _threads(count):
            again = oracle.privatize(values, rng=seed)
        require(_same(reports, again), "The number of threads changes the reports.")
    require(not _same(reports, oracle.privatize(values, rng=seed + 1)), "Two seeds give the same reports.")
    require(_fresh(oracle, values, None), "Without a seed, reports repeat.")
    require(_fresh(oracle, values, Entropy(seed)), "An Entropy used twice gives the same reports.")
    if needed <= BLOCK:
        require(_blocks_differ(oracle, values[:BLOCK], seed), "Blocks of people share their noise.")


def _fresh(oracle: Mechanism, values: NDArray[Any], rng: Randomness) -> bool:
    return not _same(oracle.privatize(values, rng=rng), oracle.privatize(values, rng=rng))


def _blocks_differ(oracle: Mechanism, block: NDArray[Any], seed: int) -> bool:
    """Whether two blocks of the same people have reports of their own."""
    reports = oracle.privatize(np.concatenate([block, block]), rng=seed)
    return not _same(reports[:BLOCK], reports[BLOCK:])


def _needed(oracle: Mechanism) -> float:
    """The number of people for which two independent streams agree on all reports with probability below e⁻²⁵."""
    agree = max(sum(float(entry) ** 2 for entry in row) for row in written(oracle).matrix())
    return 25 / -math.log(agree) if agree < 1 else math.inf


def _same(first: NDArray[Any], second: NDArray[Any]) -> bool:
    return first.dtype == second.dtype and np.array_equal(first, second)


@contextlib.contextmanager
def _threads(count: str) -> Iterator[None]:
    """Set the number of threads for a while."""
    before = os.environ.get("BRUIT_THREADS")
    os.environ["BRUIT_THREADS"] = count
    try:
        yield
    finally:
        del os.environ["BRUIT_THREADS"]
        if before is not None:
            os.environ["BRUIT_THREADS"] = before
