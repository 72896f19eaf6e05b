"""Estimates from reports of which only one in d is about the person, and the others are fake.

A fake report supports value v with probability φ(v). So a report supports v with probability π₁ = (p + (d−1)φ)/d if it
is the person's own value and π₀ = (q + (d−1)φ)/d if not, and everything is as for any oracle with these two in place of
p and q; only that they depend on v where the fakes do. Their difference (p−q)/d does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.estimation.possible import nearest_possible
from bruit.estimation.support import COVARIANCE_LIMIT, Floats, IntervalMethod, Target
from bruit.estimation.tally import Counts


@dataclass(frozen=True)
class Mixture:
    """The law of support: one true report among d.

    Parameters
    ----------
    d
        How many attributes a person has, of which one is reported truly.
    p, q
        The exact probabilities that a true report supports the person's own value, and any other.
    fake
        φ(v): the probability that a fake report supports each value.
    joint
        The exact probabilities that a true report supports two given values, one of them the true one, or neither; None
        where they depend on the values.
    """

    d: int
    p: Fraction
    q: Fraction
    fake: Floats
    joint: tuple[Fraction, Fraction] | None

    @property
    def gap(self) -> float:
        """π₁ − π₀ = (p − q)/d, subtracted exactly."""
        return float((self.p - self.q) / self.d)

    @property
    def own(self) -> Floats:
        """π₁(v)."""
        return (float(self.p) + (self.d - 1) * self.fake) / self.d

    @property
    def other(self) -> Floats:
        """π₀(v)."""
        return (float(self.q) + (self.d - 1) * self.fake) / self.d

    def variance(self, frequency: Floats, n: int, target: Target) -> Floats:
        """The exact variance of f̂ = (C/n − π₀)/(π₁ − π₀) where the true frequency is f.

        For these n people, [f π₁(1−π₁) + (1−f) π₀(1−π₀)] / (n (π₁−π₀)²); for the population r(1−r) / (n (π₁−π₀)²)
        with r = π₀ + f(π₁−π₀).
        """
        scale = n * self.gap**2
        if target == "population":
            share = self.other + frequency * self.gap
            return np.asarray(share * (1 - share) / scale)
        own, other = self.own, self.other
        return np.asarray((frequency * own * (1 - own) + (1 - frequency) * other * (1 - other)) / scale)


@dataclass(frozen=True)
class MixtureModel:
    """Counts of support, and the law behind them.

    Parameters
    ----------
    counts
        C(v), how many reports support each value.
    n
        How many people reported.
    law
        The law of support.
    exclusive
        Whether each report supports exactly one value.
    both_fake
        The probability that a fake report supports two given values, by pair; 0 where `exclusive`, None where it is
        not known.
    """

    counts: Counts
    n: int
    law: Mixture
    exclusive: bool
    both_fake: Floats | float | None

    def frequency(self) -> Floats:
        """f̂ = (C/n − π₀) / (π₁ − π₀), which is [d·C/n − q − (d−1)φ] / (p − q)."""
        return self._to_frequency(self.counts / self.n)

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """See `Mixture.variance`."""
        return self.law.variance(nearest_possible(frequency), self.n, target)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """Ends in frequencies, not clipped to 0..1."""
        raw = self.frequency()
        if method == "wald":
            return intervals.wald(raw, self.variance(raw, target), level)
        if target == "people":
            if method == "clopper-pearson":
                raise ParameterError(
                    'method "clopper-pearson" speaks of a population; for target="people" use "wilson".'
                )
            law = self.law
            return intervals.score_people(raw, self.n, p=law.own, q=law.other, gap=law.gap, level=level)
        # C is binomial with n trials and success r, and f is an increasing affine function of r.
        exact = intervals.wilson if method == "wilson" else intervals.clopper_pearson
        lower, upper = exact(self.counts, self.n, level)
        return self._to_frequency(lower), self._to_frequency(upper)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """Cov(f̂ᵤ, f̂ᵥ) for all pairs, from how often one report supports both."""
        k = frequency.size
        if k > COVARIANCE_LIMIT:
            raise LimitError(f"A covariance matrix is made for at most {COVARIANCE_LIMIT:,} values, this has {k:,}.")
        law, other = self.law, self.law.other
        if law.joint is None or self.both_fake is None:
            raise ParameterError(
                "The covariance is not known for this mechanism: two values have no fixed joint support."
            )
        own, neither = law.joint
        # Σₓ fₓ·P(both supported | x), over the people whose value is u, is v, and is neither.
        pair = frequency[:, None] + frequency[None, :]
        true = pair * float(own - neither) + float(neither)
        matrix = (true + (law.d - 1) * self.both_fake) / law.d
        if target == "population":
            share = other + frequency * law.gap
            matrix = matrix - np.outer(share, share)
        else:
            # Given x = u, u is supported with π₁ and v with π₀.
            mixed = np.outer(frequency, other)
            matrix = matrix - np.outer(other, other) - law.gap * (mixed + mixed.T)
        matrix /= self.n * law.gap**2
        np.fill_diagonal(matrix, law.variance(frequency, self.n, target))
        return matrix

    def absent_limit(self, level: float) -> Floats:
        """The binomial quantile: C is binomial with n trials and success π₀ for a value that nobody has."""
        limit = intervals.exceeded_limit(self.n, self.law.other, (1 - level) / self.counts.size)
        return self._to_frequency(limit / self.n)

    def most_likely(self) -> Floats:
        """The maximum of Σ C·ln(π₀ + (π₁−π₀)f) over the simplex, where each report supports exactly one value.

        Where f is positive, C/(f + b) has one value μ, b = π₀/(π₁−π₀); elsewhere f is 0. With values kept whose counts
        have sum S and whose b have sum B, μ = S/(1 + B); those with the largest C/b are kept while their f is positive.
        """
        if not self.exclusive:
            raise ParameterError(
                "The most likely frequencies are not known from counts of support alone: use another method."
            )
        floor = self.law.other / self.law.gap
        order = np.argsort(-self.counts / floor, kind="stable")
        level = np.cumsum(self.counts[order]) / (1 + np.cumsum(floor[order]))
        kept = int(np.flatnonzero(self.counts[order] > floor[order] * level)[-1])
        return np.asarray(np.maximum(self.counts / level[kept] - floor, 0.0))

    def _to_frequency(self, share: Floats) -> Floats:
        return np.asarray((share - self.law.other) / self.law.gap)
