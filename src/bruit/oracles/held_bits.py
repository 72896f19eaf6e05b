"""Estimates from bits that only some people hold: each frequency from those who hold its bit.

Dividing by all people instead, times b/d, has f where the variance here has f(1 − f): that somebody holds the bit of
their own bucket would then vary with how many do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bruit.errors import ParameterError
from bruit.estimation import intervals
from bruit.estimation.support import Floats, IntervalMethod, SupportModel, Target, support_variance
from bruit.estimation.tally import Counts


@dataclass(frozen=True)
class HeldBitsModel(SupportModel):
    """Counts of set bits, of people of whom only some hold each bit.

    Parameters
    ----------
    holders
        How many people hold the bit of each value.
    """

    holders: Counts = field(kw_only=True)

    def frequency(self) -> Floats:
        """f̂ = (C/holders − q)/(p − q)."""
        return self.to_frequency(self.counts / self.holders)

    def variance_at(self, frequency: Floats, target: Target) -> Floats:
        """See `held_variance`."""
        return held_variance(frequency, (self.holders, self.n), (self.p, self.q), target)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """Ends in frequencies; of a population, C is binomial with as many trials as there are holders."""
        raw = self.frequency()
        if method == "wald":
            return intervals.wald(raw, self.variance(raw, target), level)
        holders: Any = self.holders
        if target == "population":
            exact = intervals.wilson if method == "wilson" else intervals.clopper_pearson
            lower, upper = exact(self.counts, holders, level)
            return self.to_frequency(lower), self.to_frequency(upper)
        if method == "clopper-pearson":
            raise ParameterError('method "clopper-pearson" speaks of a population; for target="people" use "wilson".')
        p, q = float(self.p), float(self.q)
        lower, upper = intervals.score_people(raw, holders, p=p, q=q, gap=self.gap, level=level)
        # Who holds a bit was drawn too: each half is made longer, √(half² + z²·drawn).
        drawn = self.variance(raw, "people") - support_variance(raw, holders, self.p, self.q, "people")
        more = intervals.normal_quantile(level) * np.sqrt(np.maximum(drawn, 0.0))
        return raw - np.hypot(raw - lower, more), raw + np.hypot(upper - raw, more)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """Not known: a tally does not say how many people hold two bits."""
        raise ParameterError("The covariance is not known here: it depends on how many people hold two buckets.")

    def absent_limit(self, level: float) -> Floats:  # type: ignore[override] # a limit for each
        """The binomial quantile of each value that nobody has."""
        limit = intervals.exceeded_limit(self.holders, float(self.q), (1 - level) / self.counts.size)
        return self.to_frequency(limit / self.holders)

    def most_likely(self) -> Floats:
        """Counts of support alone do not determine the likelihood."""
        raise ParameterError('The most likely frequencies are not computed here: use consistent("norm-sub").')


def held_variance(
    frequency: Floats, people: tuple[Any, int], chances: tuple[Fraction, Fraction], target: Target
) -> Floats:
    """The variance of f̂ = (C/h − q)/(p − q) where h of n people, drawn evenly, hold the bit.

    For the population that of h people. For these n people, the noise, and f(1−f)/h·(n−h)/(n−1) for who holds the bit.
    """
    holders, n = people
    noise = support_variance(frequency, holders, *chances, target)
    if target == "population":
        return noise
    return np.asarray(noise + frequency * (1 - frequency) / holders * (n - holders) / max(n - 1, 1))
