"""What a collection with fakes guarantees, exactly: to a whole person, and to one attribute.

With one attribute reported truly and all others faked, P(y | x) = Πₗ Fₗ(yₗ) · (1/d) Σⱼ ρⱼ(yⱼ, xⱼ), where ρ = A/F is
how much likelier a report is as a true one than as a fake. The product cancels between two records, so only sums of ρ
are compared. Of each attribute there matter the largest and the least ρ that one report has over all values, for the
few reports where these are extreme. ``guarantees.proof.md`` has the argument; all is in fractions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from bruit import _checks
from bruit.laws.rounding import log_ceiling


class Odds(NamedTuple):
    """The largest and the least ρ over the values, of one report."""

    most: Fraction
    least: Fraction


class Extremes(NamedTuple):
    """What an attribute can contribute: the odds of its extreme reports, and the least ρ of all reports and values."""

    reports: tuple[Odds, ...]
    least: Fraction


def uniform_value(p: Fraction, q: Fraction, k: int) -> Extremes:
    """GRR whose fake is any value: F = 1/k."""
    return _of([Odds(k * p, k * q)])


def prior_value(p: Fraction, q: Fraction, prior: Sequence[Fraction]) -> Extremes:
    """GRR whose fake follows a prior: F(y) is the prior of y."""
    return _of([Odds(p / share, q / share) for share in {min(prior), max(prior)}])


def uniform_subset(p: Fraction, omega: int, k: int) -> Extremes:
    """Subset selection whose fake is any subset of the same size."""
    return _of([Odds(p * k / omega, (1 - p) * k / (k - omega))])


def noise_on_zeros(p: Fraction, q: Fraction) -> Extremes:
    """Unary encoding whose fake is noise on zeros: ρ is p/q where the own bit is set, (1−p)/(1−q) where it is not."""
    high, low = p / q, (1 - p) / (1 - q)
    return _of([Odds(high, low), Odds(high, high), Odds(low, low)])


def noise_on_value(p: Fraction, q: Fraction, least_prior: Fraction) -> Extremes:
    """Unary encoding whose fake is noise on a random value; with s the prior of the set bits, F ∝ w₀ + s(w₁ − w₀)."""
    high, low = p / q, (1 - p) / (1 - q)
    found = []
    for mass in (least_prior, 1 - least_prior):
        total = low + mass * (high - low)
        found.append(Odds(high / total, low / total))
    return _of([*found, Odds(Fraction(1), Fraction(1))])


def _of(reports: list[Odds]) -> Extremes:
    return Extremes(tuple(reports), min(odds.least for odds in reports))


def person_ratio(attributes: Sequence[Extremes]) -> Fraction:
    """The largest Σ most / Σ least over all reports, one of each attribute: by Dinkelbach's iteration, exactly."""
    ratio = Fraction(1)
    while True:
        # The reports that would reach the ratio if any can: largest most − ratio·least, attribute by attribute.
        chosen = [_farthest(extremes.reports, ratio) for extremes in attributes]
        reached = sum((odds.most for odds in chosen), Fraction(0)) / sum((odds.least for odds in chosen), Fraction(0))
        if reached <= ratio:
            return ratio
        ratio = reached


def _farthest(reports: tuple[Odds, ...], ratio: Fraction) -> Odds:
    return max(reports, key=lambda odds: odds.most - ratio * odds.least)


def attribute_ratios(attributes: Sequence[Extremes]) -> list[Fraction]:
    """For each attribute, the largest (most + R)/(least + R), where all others contribute the least that they can."""
    total = sum((extremes.least for extremes in attributes), Fraction(0))
    found = []
    for extremes in attributes:
        rest = total - extremes.least
        found.append(max((odds.most + rest) / (odds.least + rest) for odds in extremes.reports))
    return found


def solve(ratio: Callable[[float], Fraction], epsilon: float) -> float:
    """The largest ε' found at which ln(ratio(ε')) is not above ε, between ε itself and the limit of all laws.

    The ratio is computed from the very integer law at each ε' that is tried, so what is returned holds whatever the
    ratio does in between. Every third trial halves the bracket; the others go where a straight line would meet ε.
    """

    def value(trial: float) -> float:
        return log_ceiling(ratio(trial))

    low, high = epsilon, _checks.EPSILON_LIMITS[1]
    reached, missed = value(low), value(high)
    if missed <= epsilon:
        return high
    for step in itertools.count(1):
        if high - low <= 2 * math.ulp(high) or epsilon - reached <= 2 * math.ulp(epsilon):
            break
        straight = low + (high - low) * (epsilon - reached) / (missed - reached)
        middle = (low + high) / 2 if step % 3 == 0 or not low < straight < high else straight
        found = value(middle)
        if found <= epsilon:
            low, reached = middle, found
        else:
            high, missed = middle, found
    return low
