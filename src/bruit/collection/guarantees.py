"""What a collection with fakes guarantees, exactly: to a whole person, and to one attribute.

With one attribute reported truly and all others faked, P(y | x) = Πₗ Fₗ(yₗ) · (1/d) Σⱼ ρⱼ(yⱼ, xⱼ), where ρ = A/F is
how much likelier a report is as a true one than as a fake. The product cancels between two records, so only sums of ρ
are compared. Of each attribute there matter the largest and the least ρ that one report has over all values, for the
few reports where these are extreme. ``guarantees.proof.md`` has the argument; all is in fractions.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from bruit import _checks
from bruit.rounding import log_ceiling


class FakeOdds(NamedTuple):
    """The largest and the least ρ over the values, of one report."""

    most: Fraction
    least: Fraction


class Extremes(NamedTuple):
    """What an attribute can contribute: the odds of its extreme reports, and the least ρ of all reports and values."""

    reports: tuple[FakeOdds, ...]
    least: Fraction


def prior_value(p: Fraction, q: Fraction, prior: Sequence[Fraction]) -> Extremes:
    """GRR whose fake is a value that follows a prior: F(y) is the prior of y."""
    return _of([FakeOdds(p / share, q / share) for share in {min(prior), max(prior)}])


def noise_on_zeros(p: Fraction, q: Fraction) -> Extremes:
    """Unary encoding whose fake is noise on zeros: ρ is p/q where the true bit is set, (1−p)/(1−q) where it is not."""
    high, low = p / q, (1 - p) / (1 - q)
    return _of([FakeOdds(high, low), FakeOdds(high, high), FakeOdds(low, low)])


def noise_on_value(ratio: Fraction, masses: Sequence[Fraction]) -> Extremes:
    """A random value through the mechanism: a report that supports prior mass s has odds R/t and 1/t, t = 1 + s(R−1).

    Parameters
    ----------
    ratio
        R: how much likelier a report is under a value that it supports than under one that it does not.
    masses
        The least and the largest s of the reports that support some values and not all; the others have ρ = 1.
    """
    totals = [1 + mass * (ratio - 1) for mass in masses]
    return _of([FakeOdds(ratio / total, 1 / total) for total in dict.fromkeys(totals)])


def _of(reports: list[FakeOdds]) -> Extremes:
    return Extremes(tuple(reports), min(odds.least for odds in reports))


def person_ratio(attributes: Sequence[Extremes]) -> Fraction:
    """The largest Σ most / Σ least over all reports, one of each attribute: by Dinkelbach's iteration, exactly."""
    ratio, alike = Fraction(1), Counter(attributes)
    while True:
        # The reports that would reach the ratio if any can: largest most − ratio·least, attribute by attribute.
        chosen = [(_farthest(extremes.reports, ratio), times) for extremes, times in alike.items()]
        most = total((odds.most, times) for odds, times in chosen)
        least = total((odds.least, times) for odds, times in chosen)
        if most <= ratio * least:
            return ratio
        ratio = most / least


def _farthest(reports: tuple[FakeOdds, ...], ratio: Fraction) -> FakeOdds:
    def margin(odds: FakeOdds) -> Quotient:
        most, least = odds.most, odds.least
        above = most.numerator * least.denominator * ratio.denominator
        below = ratio.numerator * least.numerator * most.denominator
        return Quotient(above - below, most.denominator * least.denominator)

    margins = [margin(odds) for odds in reports] if len(reports) > 1 else [Quotient(0, 1)]
    return reports[_place_of_largest(margins)]


def attribute_ratio(attributes: Sequence[Extremes]) -> Fraction:
    """The largest of the ratios of all attributes."""
    alike = Counter(attributes)
    every = total((extremes.least, times) for extremes, times in alike.items())
    gains = [gain for extremes in alike for gain in _gains(extremes, every)]
    return _gained(gains, every)


def attribute_ratios(attributes: Sequence[Extremes]) -> list[Fraction]:
    """For each attribute, the largest (most + R)/(least + R), where all others contribute the least that they can."""
    every = total((extremes.least, times) for extremes, times in Counter(attributes).items())
    return [_gained(_gains(extremes, every), every) for extremes in attributes]


def _gains(extremes: Extremes, every: Fraction) -> list[Quotient]:
    """(most − least)/(least + R) of each report, over the denominator of the sum of all, which is long and common.

    least + R is that sum, plus what the report is above the least of its own attribute.
    """
    gains = []
    for odds in extremes.reports:
        more, beyond = odds.most - odds.least, odds.least - extremes.least
        below = every.numerator * beyond.denominator + every.denominator * beyond.numerator
        gains.append(Quotient(more.numerator * beyond.denominator, more.denominator * below))
    return gains


def _gained(gains: Sequence[Quotient], every: Fraction) -> Fraction:
    """1 + the largest of such gains."""
    top, bottom = gains[_place_of_largest(gains)]
    return 1 + Fraction(top * every.denominator, bottom)


class Quotient(NamedTuple):
    """A fraction that is not reduced: with hundreds of attributes its numbers are long, and reducing them is slow."""

    top: int
    bottom: int  # above 0


def _place_of_largest(quotients: Sequence[Quotient]) -> int:
    """The place of the largest; the first of equals."""
    best = 0
    for place, (top, bottom) in enumerate(quotients):
        if top * quotients[best].bottom > quotients[best].top * bottom:
            best = place
    return best


def total(terms: Iterable[tuple[Fraction, int]]) -> Fraction:
    """The exact sum of fractions with their multiplicities: by denominator first, then by halves, reduced once.

    >>> total([(Fraction(1, 2), 3), (Fraction(1, 3), 1), (Fraction(1, 2), 1)])
    Fraction(7, 3)
    """
    sums: dict[int, int] = defaultdict(int)
    for term, times in terms:
        sums[term.denominator] += times * term.numerator
    parts = [Quotient(top, bottom) for bottom, top in sums.items()] or [Quotient(0, 1)]
    while len(parts) > 1:
        pairs = zip(parts[::2], [*parts[1::2], Quotient(0, 1)], strict=False)
        parts = [Quotient(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom) for a, b in pairs]
    return Fraction(*parts[0])


def solve(ratio: Callable[[float], Fraction], epsilon: float) -> float:
    """The largest ε' tried at which ln(ratio(ε')) is not above ε, between ε itself and the limit of all laws.

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
        loss = value(middle)
        if loss <= epsilon:
            low, reached = middle, loss
        else:
            high, missed = middle, loss
    return low


def solves(ratio: Callable[[float], Fraction], epsilon: float, inner: float) -> bool:
    """Whether `solve` can have given this ε': it keeps ε, and is the limit, or reaches ε, or hardly more would not.

    That takes a few trials of the ratio, where finding it takes dozens.
    """
    reached = log_ceiling(ratio(inner))
    if not epsilon <= inner <= _checks.EPSILON_LIMITS[1] or reached > epsilon:
        return False
    if inner == _checks.EPSILON_LIMITS[1] or epsilon - reached <= 2 * math.ulp(epsilon):
        return True
    more = itertools.accumulate(range(3), lambda trial, _: math.nextafter(trial, math.inf), initial=inner)
    return any(log_ceiling(ratio(trial)) > epsilon for trial in itertools.islice(more, 1, None))
