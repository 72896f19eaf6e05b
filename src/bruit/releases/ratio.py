"""Intervals for a share above/(above + below) of two sums that both have Laplace, or both Gaussian, noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

#: How many shares are tried first.
_TRIED = 1025
#: How often an end is halved towards.
_HALVINGS = 60
#: The shares among which the widest interval is looked for; it is the same for a share and its complement.
_SHARES = (0.0, 0.02, 0.1, 0.5)
#: How results call such an interval.
CALLED = "interval of a ratio (Fieller)"


#: P(|(1 − u)·X − u·Y| ≥ |(1 − u)·above − u·below|), from u, above, below and the scale of the noise X, Y.
Tail = Callable[[Any, float, float, float], Floats]


def interval(above: float, below: float, scale: float, level: float, tail: Tail | None = None) -> Floats:
    """The shares u that the noisy sums do not exclude: Fieller's method, with Laplace noise of this scale on both.

    With `tail=normal_tail` the noise is Gaussian and its scale σ.

    At the true share u the noisy (1 − u)·above − u·below has no part but noise: (1 − u)·X − u·Y. Every u is kept for
    which a value as far from 0 has a probability of 1 − level or more. The noise is treated as continuous.
    """

    def excluded(share: Any) -> Any:
        return (tail or laplace_tail)(share, above, below, scale) < 1 - level

    tried = np.linspace(0.0, 1.0, _TRIED)
    estimate = above / (above + below) if above + below > 0 else 0.5
    tried = np.sort(np.append(tried, min(max(estimate, 0.0), 1.0)))
    kept = tried[~excluded(tried)]
    if not kept.size:
        return np.array([0.0, 0.0]) if estimate < 0 else np.array([1.0, 1.0])
    low, high = float(kept[0]), float(kept[-1])
    before, after = tried[tried < low], tried[tried > high]
    first = _edge(low, float(before[-1]), excluded) if before.size else low
    last = _edge(high, float(after[0]), excluded) if after.size else high
    return np.array([first, last])


def widest(total: float, scale: float, level: float, tail: Tail) -> float:
    """The longer arm of the widest interval among shares of sums that are `total` together, without their noise."""
    arms = []
    for share in _SHARES:
        low, high = interval(share * total, (1 - share) * total, scale, level, tail)
        arms.append(max(high - share, share - low))
    return float(max(arms))


def laplace_factor(level: float) -> float:
    """How many standard deviations a weighted sum of Laplace variables stays within, at least so often.

    The tails of such sums lie between those of the normal and of the Laplace law.
    """
    return max(normal_factor(level), -math.log(1 - level) / math.sqrt(2))


def normal_factor(level: float) -> float:
    """How many standard deviations a normal variable stays within, so often."""
    return float(-special.ndtri((1 - level) / 2))


def _edge(inside: float, outside: float, excluded: Callable[[Any], Any]) -> float:
    """The first share that is excluded on the way from one inside to one outside."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if excluded(np.array(middle)):
            outside = middle
        else:
            inside = middle
    return outside


def normal_tail(share: Any, above: float, below: float, scale: float) -> Floats:
    """The tail for normal X, Y of this standard deviation."""
    distance = np.abs((1 - share) * above - share * below) / scale
    return np.asarray(2 * special.ndtr(-distance / np.hypot(share, 1 - share)))


def laplace_tail(share: Any, above: float, below: float, scale: float) -> Floats:
    """P(|(1 − u)·X − u·Y| ≥ |(1 − u)·above − u·below|) for Laplace X, Y of this scale."""
    distance = np.abs((1 - share) * above - share * below) / scale
    wide, narrow = np.maximum(share, 1 - share), np.minimum(share, 1 - share)
    gap = wide**2 - narrow**2
    near = gap < 1e-6
    # (a² e^{−t/a} − b² e^{−t/b}) / (a² − b²), and its limit for a = b.
    safe = np.where(near, 1.0, gap)
    with np.errstate(over="ignore"):  # e^−∞ is 0, as it should be
        narrow_tail = np.exp(-distance / np.maximum(narrow, 1e-300))
    apart = (wide**2 * np.exp(-distance / wide) - narrow**2 * narrow_tail) / safe
    equal = (1 + distance / (2 * wide)) * np.exp(-distance / wide)
    return np.asarray(np.where(near, equal, apart))
