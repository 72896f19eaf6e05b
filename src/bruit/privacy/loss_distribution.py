"""Privacy-loss distributions (PLD): the least total ε of releases of which nothing but their ε is known.

The worst release of pure ε is a randomised response: its loss is ε with probability e^ε/(1 + e^ε), else −ε. The losses
of several add, and the law of their sum gives the δ of every ε: optimal composition (Kairouz, Oh and Viswanath 2015;
Murtagh and Vadhan 2016). Every ε is a whole number of units; where the decimals of all ε have no common unit that
is large enough, each is rounded up to one.

The law is computed by sums and products of positive numbers, so that each probability is right to a few parts in 10¹³,
however small it is, and δ is lowered by that much. Rejected: convolution by the fast Fourier transform,
whose error is about 10⁻¹⁶ of the *largest* probability: at δ = 10⁻¹³ it stated an ε of 3.48 for 3.61. The argument is
in ``accounting.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.errors import ParameterError
from bruit.rounding import decimal

Floats = NDArray[np.float64]

#: The least δ: probabilities far below it would vanish in double precision.
LEAST_DELTA = 1e-200
#: The most units that all ε together may have, and the most products that are summed.
MOST_UNITS = 10**6
MOST_WORK = 4 * 10**9

_ROUNDING = 2.0**-52


def least_epsilon(costs: Mapping[float, int], delta: float) -> float:
    """The ε at this δ of releases of pure ε, each cost as often as it says; rounded up.

    >>> round(least_epsilon({0.1: 100}, 1e-6), 4)
    4.7746
    """
    if delta < LEAST_DELTA:
        raise ParameterError(f'delta must be at least {LEAST_DELTA:g} for "pld": use "zcdp" or "sum".')
    unit, times = _lattice({decimal(cost): many for cost, many in costs.items() if cost > 0})
    total = sum(size * many for size, many in times.items())
    law = _law(unit, times, total // 2)
    losses = float(unit) * (total - 2 * np.arange(law.size, dtype=np.float64))
    # Each probability is a product of at most this number of factors, each right to a few roundings.
    factors = sum(times.values()) * 16 + 4 * float(unit * total) + law.size
    return _crossing(losses, law, delta / (1 + factors * _ROUNDING))


def _lattice(costs: Mapping[Fraction, int]) -> tuple[Fraction, dict[int, int]]:
    """A unit, and how many releases have each number of units; what lies between is rounded up."""
    if not costs:
        return Fraction(1), {}
    terms = sum(many + 1 for many in costs.values()) - max(costs.values())
    most = min(MOST_UNITS, MOST_WORK // terms)
    denominator = math.lcm(*(cost.denominator for cost in costs))
    unit = Fraction(math.gcd(*(int(cost * denominator) for cost in costs)), denominator)
    total = sum((cost * many for cost, many in costs.items()), Fraction(0))
    unit = max(unit, total / most)
    times: dict[int, int] = {}
    for cost, many in costs.items():
        size = math.ceil(cost / unit)
        times[size] = times.get(size, 0) + many
    return unit, times


def _law(unit: Fraction, times: Mapping[int, int], last: int) -> Floats:
    """P(the releases that lose −ε have s units together), for s = 0..last."""
    law = np.ones(1)
    for size, many in sorted(times.items(), key=lambda item: -item[1]):
        weights = _binomial(many, float(size * unit))[: last // size + 1]
        wider = np.zeros(min(last, law.size - 1 + size * (weights.size - 1)) + 1)
        if law.size == 1:
            wider[::size] = weights * law[0]
        else:
            for place in np.flatnonzero(weights).tolist():
                kept = law[: wider.size - place * size]
                wider[place * size : place * size + kept.size] += weights[place] * kept
        law = wider
    return law


def _binomial(many: int, loss: float) -> Floats:
    """P(j of `many` releases lose −loss), for j = 0..many, from products and sums of positive numbers alone."""
    places = np.arange(many, dtype=np.float64)
    odds = math.exp(-loss)
    growth = (many - places) / (places + 1) * odds  # P(j + 1)/P(j)
    mode = int(np.searchsorted(-growth, -1.0))  # the first j from which probabilities fall
    falling, rising = np.cumprod(growth[mode:]), np.cumprod(1 / growth[:mode][::-1])[::-1]
    weights = np.concatenate([rising, [1.0], falling])
    return np.asarray(weights / weights.sum(), np.float64)


def _crossing(losses: Floats, law: Floats, delta: float) -> float:
    """The least ε at which Σ P(loss)·(1 − e^(ε − loss))₊ is at most δ, rounded up; losses fall."""

    def exceeds(epsilon: float) -> bool:
        above = int(np.searchsorted(-losses, -epsilon))
        return float((law[:above] * -np.expm1(epsilon - losses[:above])).sum()) > delta

    if not exceeds(0.0):
        return 0.0
    low, high = 0.0, float(losses[0])
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-14 * high:
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high
