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
from scipy import special

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


def significance(noise: Floats | float, k: int, level: float) -> Floats | float:
    """The threshold that all k values of frequency 0 together stay below with probability `level`."""
    return special.ndtri(1 - (1 - level) / k) * np.sqrt(noise)  # type: ignore[no-any-return]


def em(step: Step, k: int, *, tolerance: float = 1e-9, iterations: int = 10_000) -> Floats:
    """The most likely frequencies given the reports, by expectation and maximisation from uniform ones.

    Stops when the log-likelihood per report gains less than `tolerance`, or after `iterations` steps.
    """
    frequency = np.full(k, 1 / k)
    before = -np.inf
    for _ in range(iterations):
        better, likelihood = step(frequency)
        if likelihood - before < tolerance:
            break
        frequency, before = better, likelihood
    return frequency
