"""Frequencies that look like frequencies: not negative, and with sum one.

Unbiased estimates are often negative and do not add up to one. These steps mend that, at the price of a bias, and cost
no privacy. Use the raw estimates for top values and intervals, norm-sub for tables and sums over groups, EM for few
people.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: One EM step: from frequencies to better ones, and the log-likelihood of those given.
Step: TypeAlias = Callable[[Floats], tuple[Floats, float]]
Method: TypeAlias = Literal["norm-sub", "clip", "norm", "norm-cut", "norm-mul", "base-cut", "em"]


def clip(raw: Floats) -> Floats:
    """Negative frequencies become 0; the sum is whatever it is.

    >>> clip(np.array([0.9, 0.4, -0.3])).tolist()
    [0.9, 0.4, 0.0]
    """
    return np.where(raw > 0, raw, 0.0)


def norm(raw: Floats) -> Floats:
    """The same amount added to all makes the sum one; negative ones may stay."""
    return raw + (1 - float(raw.sum())) / raw.size


def norm_mul(raw: Floats) -> Floats:
    """Clip, then rescale: what several libraries do silently. Strongly biased when there are many values."""
    positive = clip(raw)
    total = positive.sum()
    return positive / total if total > 0 else np.full(raw.size, 1 / raw.size)


def norm_sub(raw: Floats) -> Floats:
    """The nearest point with no negative frequency and sum one (projection on the simplex).

    >>> norm_sub(np.array([0.9, 0.4, -0.3])).round(3).tolist()
    [0.75, 0.25, 0.0]
    """
    descending = np.sort(raw)[::-1]
    surplus = (np.cumsum(descending) - 1) / np.arange(1, raw.size + 1)
    kept = int(np.flatnonzero(descending > surplus)[-1])
    return clip(raw - surplus[kept])


def norm_cut(raw: Floats) -> Floats:
    """Keep the largest until their sum reaches one, cut the last kept to fit, drop the rest."""
    order = np.argsort(-raw, kind="stable")
    positive = clip(raw[order])
    room = np.clip(1 - (np.cumsum(positive) - positive), 0.0, None)
    out = np.empty_like(raw)
    out[order] = np.minimum(positive, room)
    return out


def base_cut(raw: Floats, threshold: Floats | float) -> Floats:
    """Frequencies not above the threshold become 0: what could be noise alone is dropped."""
    return np.where(raw > threshold, raw, 0.0)


def em(step: Step, k: int, *, n: int = 1, tolerance: float = 1e-6, iterations: int = 10_000) -> Floats:
    """The most likely frequencies given the reports, by expectation and maximisation from uniform ones.

    Plain EM crawls where reports tell little. After every two steps the path is extrapolated (SQUAREM, Varadhan and
    Roland 2008), and the leap is kept if the likelihood is no worse.

    Parameters
    ----------
    step
        One step of EM, and the log-likelihood per report of the frequencies that it was given.
    k, n
        How many values and reports there are.
    tolerance
        Stop when two steps and a leap gain less than this in the log-likelihood of all reports together.
    iterations
        The most steps.
    """
    frequency = np.full(k, 1 / k)
    before = -np.inf
    for _ in range(0, iterations, 3):
        first, likelihood = step(frequency)
        if n * (likelihood - before) < tolerance:
            break
        second, reached = step(first)
        leap = _leap(frequency, first, second)
        landed, after = step(leap)
        frequency, before = (landed, likelihood) if after >= reached else (second, likelihood)
    return frequency


def _leap(start: Floats, first: Floats, second: Floats) -> Floats:
    """Where two steps of a path point to, kept inside the simplex."""
    way, bend = first - start, second - 2 * first + start
    length = float(np.sqrt(way @ way) / max(np.sqrt(bend @ bend), 1e-300))
    far = np.maximum(start + 2 * length * way + length**2 * bend, 0.0)
    # A frequency of zero never grows again under EM: keep a trace of what the last step had.
    far = np.maximum(far, 1e-3 * second)
    return np.asarray(far / far.sum())
