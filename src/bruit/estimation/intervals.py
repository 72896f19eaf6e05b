"""Intervals for a probability from a binomial count, and for a frequency seen through noise.

`wilson` and `clopper_pearson` speak of the probability r of a report that supports a value; the estimate maps them to
the frequency. `score_people` speaks of the frequency among the very people who answered: only the noise is random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def normal_quantile(level: float) -> float:
    """Z such that a standard normal variable lies within ±z with probability `level`.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    from scipy import special

    return float(special.ndtri(0.5 + level / 2))


def wilson(count: Any, n: int, level: float) -> tuple[Floats, Floats]:
    """Wilson's score interval: all r that a z-test at this level would not reject.

    >>> [round(float(end), 3) for end in wilson(10, 100, 0.95)]
    [0.055, 0.174]
    """
    share = np.asarray(count, float) / n
    c = normal_quantile(level) ** 2 / n
    middle = (share + c / 2) / (1 + c)
    half = np.sqrt(c * (share * (1 - share) + c / 4)) / (1 + c)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def clopper_pearson(count: Any, n: int, level: float) -> tuple[Floats, Floats]:
    """The exact interval: it covers at least at its level for every r and n.

    >>> [round(float(end), 3) for end in clopper_pearson(10, 100, 0.95)]
    [0.049, 0.176]
    """
    from scipy import special

    successes = np.asarray(count, float)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        lower = special.betaincinv(successes, n - successes + 1, tail)
        upper = special.betaincinv(successes + 1, n - successes, 1 - tail)
    return np.where(successes == 0, 0.0, lower), np.where(successes == n, 1.0, upper)


def wald(centre: Any, variance: Any, level: float) -> tuple[Floats, Floats]:
    """Centre ± z standard errors: a fallback that is too short for small counts."""
    half = normal_quantile(level) * np.sqrt(np.asarray(variance, float))
    return np.asarray(centre, float) - half, np.asarray(centre, float) + half


def score_people(frequency: Any, n: int, *, p: Any, q: Any, gap: float, level: float) -> tuple[Floats, Floats]:
    """All frequencies f among n fixed people that a z-test at this level would not reject.

    Solves (f̂ − f)² = c·[f p(1−p) + (1−f) q(1−q)] for f, with c = z²/(n (p−q)²): the noise has the variance it
    would have at f, not the one estimated at f̂.
    """
    centre = np.asarray(frequency, float)
    c = normal_quantile(level) ** 2 / (n * gap**2)
    own, other = p * (1 - p), q * (1 - q)
    shift = c * (own - other) / 2
    # (f̂ + shift)² − f̂² + c·other, written without the difference of squares.
    half = np.sqrt(np.maximum(shift * (2 * centre + shift) + c * other, 0.0))
    return centre + shift - half, centre + shift + half


def score(
    centre: Floats, stated: Floats, noise: tuple[Floats | float, float, float], level: float
) -> tuple[Floats, Floats]:
    """All frequencies f that a z-test at this level would not reject, where Var = constant + slope·f + drawn·f(1 − f).

    Where it rejects all of 0..1, the ends are the estimate ± z standard errors: the formula says nothing of impossible
    frequencies.

    Parameters
    ----------
    centre, stated
        The estimates and their stated variances.
    noise
        The constant, the slope and what is drawn.
    level
        How often the interval should cover the truth.
    """
    constant, slope, drawn = noise
    square = normal_quantile(level) ** 2
    leading = 1 + square * drawn
    middle = centre + square * (slope + drawn) / 2
    inner = middle**2 - leading * (centre**2 - square * constant)
    half = np.sqrt(np.maximum(inner, 0.0))
    lower, upper = (middle - half) / leading, (middle + half) / leading
    apart = wald(centre, stated, level)
    rejected = (inner <= 0) | (lower > 1) | (upper < 0)
    return np.where(rejected, apart[0], lower), np.where(rejected, apart[1], upper)


def exceeded_limit(trials: Any, success: Any, tail: float) -> NDArray[np.int64]:
    """The least count that a binomial variable exceeds with probability at most `tail`, for each entry."""
    from scipy import special

    trials, success = np.broadcast_arrays(np.asarray(trials, np.int64), np.asarray(success, np.float64))
    low, high = np.zeros(trials.shape, np.int64), trials.copy()
    while (low < high).any():
        middle = (low + high) // 2
        enough = special.bdtrc(middle, trials, success) <= tail
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return low
