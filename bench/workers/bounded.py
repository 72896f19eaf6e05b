"""The people of the cases about bounded numbers, and what a right answer is.

Numbers lie in [0, 1], most of them near 0, made in blocks from one seed like the people of
`grr.py`. The two libraries do not have the same law: bruit's lies on a grid, and its staircase is
calibrated so that its ε is true. So each answer is compared with the mean of its own law.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SEED = 20_240_301
BLOCK = 1 << 16
#: Standard errors that the mean of the answers may be away from its law.
TOLERANCE = 7.0


def people(n: int) -> np.ndarray:
    """The numbers of n people, with P(number < x) = √x."""
    values = np.empty(n)
    for block, start in enumerate(range(0, n, BLOCK)):
        drawn = np.random.default_rng((SEED, block)).random(BLOCK) ** 2
        values[start : start + BLOCK] = drawn[: n - start]
    return values


def check(answers: Any, expected: Any) -> None:
    """All answers lie in [0, 1], and their mean is that of `expected`, the law's mean for each person."""
    answers, expected = np.asarray(answers, float), np.asarray(expected, float)
    if answers.shape != expected.shape or answers.min() < 0 or answers.max() > 1:
        raise ValueError("The answers are not numbers within the bounds, one per person.")
    allowed = TOLERANCE * 0.5 / math.sqrt(answers.size)  # no law on [0, 1] has a larger deviation
    if abs(answers.mean() - expected.mean()) > allowed:
        raise ValueError("The answers do not have the mean of their law.")


def mean_of_density(values: np.ndarray, density: Any) -> np.ndarray:
    """The mean of y in [0, 1] where its density is proportional to density(|y - value|), by numeric integration."""
    y = (np.arange(2000) + 0.5) / 2000
    knots = np.linspace(0, 1, 401)
    means = [float(y @ weights / weights.sum()) for weights in (density(np.abs(y - knot)) for knot in knots)]
    return np.interp(values, knots, means)


def laplace(epsilon: float) -> Any:
    """The density of Laplace noise for numbers that differ by at most 1, up to a factor."""
    return lambda distance: np.exp(-epsilon * distance)


def staircase(epsilon: float) -> Any:
    """The density of staircase noise with the step that has the least mean error, up to a factor."""
    gamma = 1 / (1 + math.exp(epsilon / 2))
    return lambda distance: np.where(distance < gamma, 1.0, math.exp(-epsilon))
