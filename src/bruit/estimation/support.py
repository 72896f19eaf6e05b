"""The estimator shared by nearly all oracles: how often each value is supported by a report.

A report supports a value with probability p if it is the person's own and q if it is not, so the number C of reports
that support it has mean n(q + f(p−q)) and f̂ = (C/n − q)/(p − q) is unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.estimation.possible import nearest_possible
from bruit.estimation.tally import Counts

Floats: TypeAlias = NDArray[np.float64]
#: Whom an estimate speaks of: the population that the people come from, or these very people.
Target: TypeAlias = Literal["population", "people"]

#: Of whom the intervals of a table speak, as its note says.
TARGET_NOTES: dict[Target, str] = {
    "population": "intervals for all people like these (the population)",
    "people": "intervals for the people who answered",
}
IntervalMethod: TypeAlias = Literal["wilson", "clopper-pearson", "wald"]

#: A covariance matrix has k² entries; above this k it would fill the memory.
COVARIANCE_LIMIT = 4096


class Model(Protocol):
    """What an `Estimate` needs to know of the mechanism behind it."""

    def frequency(self) -> Floats:
        """Unbiased frequencies."""
        ...

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """The variance of the estimate where the true frequencies are the nearest possible to these."""
        ...

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """Lower and upper ends for each value."""
        ...

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """The matrix of covariances where the true frequencies are these."""
        ...

    def absent_limit(self, level: float) -> Floats | float:
        """What the estimates of all values that nobody has stay at or below, together, with this probability."""
        ...

    def most_likely(self) -> Floats:
        """The frequencies under which the reports are most likely."""
        ...


@dataclass(frozen=True)
class SupportModel:
    """Counts of support and the two probabilities behind them.

    Parameters
    ----------
    counts
        C(v), how many reports support each value.
    n
        How many reports there are.
    p, q
        The exact probabilities that a report supports the person's own value, and any other value.
    both_own, both_other
        The exact probabilities that a report supports two given values, one of them the person's own, or neither; None
        where they depend on the values.
    """

    counts: Counts
    n: int
    p: Fraction
    q: Fraction
    both_own: Fraction | None = None
    both_other: Fraction | None = None

    @property
    def gap(self) -> float:
        """P − q, subtracted exactly: the doubles of p and q may agree in most digits."""
        return float(self.p - self.q)

    def frequency(self) -> Floats:
        """f̂ = (C/n − q) / (p − q)."""
        return self.to_frequency(self.counts / self.n)

    def to_frequency(self, share: Floats) -> Floats:
        """The frequency at which a share r of supporting reports is expected."""
        return (share - float(self.q)) / self.gap

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """See `support_variance`."""
        return self.variance_at(nearest_possible(frequency), target)

    def variance_at(self, frequency: Floats, target: Target) -> Floats:
        """The formula itself."""
        return support_variance(frequency, self.n, self.p, self.q, target)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """Ends in frequencies, not clipped to 0..1."""
        if method == "wald":
            raw = self.frequency()
            return intervals.wald(raw, self.variance(raw, target), level)
        if target == "people":
            if method == "clopper-pearson":
                raise ParameterError(
                    'method "clopper-pearson" speaks of a population; for target="people" use "wilson".'
                )
            p, q = float(self.p), float(self.q)
            return intervals.score_people(self.frequency(), self.n, p=p, q=q, gap=self.gap, level=level)
        # C is binomial with n trials and success r, and f is an increasing affine function of r.
        exact = intervals.wilson if method == "wilson" else intervals.clopper_pearson
        lower, upper = exact(self.counts, self.n, level)
        return self.to_frequency(lower), self.to_frequency(upper)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """Cov(f̂ᵤ, f̂ᵥ) for all pairs, from how often one report supports both."""
        k = frequency.size
        if k > COVARIANCE_LIMIT:
            raise LimitError(f"A covariance matrix is made for at most {COVARIANCE_LIMIT:,} values, this has {k:,}.")
        matrix = self._both(frequency)
        if target == "population":
            share = float(self.q) + frequency * self.gap
            matrix -= np.outer(share, share)
        else:
            pair = frequency[:, None] + frequency
            matrix -= pair * float(self.p * self.q - self.q**2) + float(self.q**2)
        matrix /= self.n * self.gap**2
        np.fill_diagonal(matrix, self.variance_at(frequency, target))
        return matrix

    def _both(self, frequency: Floats) -> Floats:
        """How likely a report supports both values of a pair: Σₓ fₓ·P(both supported | x)."""
        if self.both_own is None or self.both_other is None:
            raise ParameterError(
                "The covariance is not known for this mechanism: two values have no fixed joint support."
            )
        # Over the people whose value is u, is v, and is neither.
        pair = frequency[:, None] + frequency
        return pair * float(self.both_own - self.both_other) + float(self.both_other)

    def absent_limit(self, level: float) -> float:
        """The binomial quantile: C is binomial with n trials and success q for a value that nobody has."""
        limit = int(intervals.exceeded_limit(self.n, float(self.q), (1 - level) / self.counts.size))
        return float(limit / self.n - self.q) / self.gap

    def most_likely(self) -> Floats:
        """Counts of support alone do not determine the likelihood."""
        raise ParameterError(
            "The most likely frequencies need the reports themselves: use oracle.most_likely(reports)."
        )


@dataclass(frozen=True)
class ExclusiveSupportModel(SupportModel):
    """The case where each report supports exactly one value, as in randomised response: counts are a multinomial."""

    both_own: Fraction | None = Fraction(0)
    both_other: Fraction | None = Fraction(0)

    def most_likely(self) -> Floats:
        """The maximum of Σ C·ln(q + (p−q)f) over the simplex, where EM would arrive, in closed form.

        Where f is positive, C/(f + q/(p−q)) has one value μ; elsewhere f is 0. With j values kept, of counts S in all,
        μ = S/(1 + j·q/(p−q)), and the largest counts are kept while their f is positive.
        """
        floor = float(self.q / (self.p - self.q))
        descending = np.sort(self.counts)[::-1]
        kept = np.arange(1, descending.size + 1)
        level = np.cumsum(descending) / (1 + kept * floor)
        j = int(np.flatnonzero(descending > floor * level)[-1])
        return np.asarray(np.maximum(self.counts / level[j] - floor, 0.0))


def support_variance(frequency: Floats, n: int, p: Fraction, q: Fraction, target: Target) -> Floats:
    """The exact variance of f̂ = (C/n − q)/(p − q) where the true frequency is f.

    For these n people, [f p(1−p) + (1−f) q(1−q)] / (n (p−q)²): only the noise varies.
    For the population, r(1−r) / (n (p−q)²) with r = q + f(p−q): larger by f(1−f)/n, the drawing of the people.
    """
    scale = n * float(p - q) ** 2
    if target == "population":
        share = float(q) + frequency * float(p - q)
        return share * (1 - share) / scale
    own, other = float(p * (1 - p)), float(q * (1 - q))
    return (frequency * own + (1 - frequency) * other) / scale
