"""What a pool of seeds does to an estimate: it adds an error that more people do not mend.

Without a pool each person draws a hash function of their own, so that chance agreements of two values' hashes are drawn
fresh for everybody and average out. With a pool of P functions they average out over P functions only, however many
people answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bruit.errors import ParameterError
from bruit.estimation import consistency, intervals
from bruit.estimation.consistency import Floats, Step
from bruit.estimation.support import IntervalMethod, SupportModel, Target


class PoolError(NamedTuple):
    """The variance that a pool adds, over the choice of its seeds.

    Two people with the value x ≠ v who picked the same seed (probability 1/pool) support v or do not, together. So the
    variance of f̂(v) grows by Σₓ n(x)(n(x)−1)/n² · rate, with rate = agree/((1−agree)·pool), or 1/((g−1)·pool), where
    `agree` is the probability that two hashes agree.
    """

    rate: float

    @classmethod
    def of(cls, pool: int, agree: Fraction) -> PoolError:
        """From the size of the pool and the probability that two hashes agree."""
        return cls(float(agree / ((1 - agree) * pool)))

    def variance(self, frequency: Floats, n: int, target: Target) -> Floats:
        """For every value, from the frequencies of all: they are brought to the nearest that have sum one."""
        near = consistency.norm_sub(frequency)
        squares = near**2
        return self._scaled(squares.sum() - squares, 1 - near, n, target)

    def worst(self, frequency: Floats, n: int, target: Target) -> Floats:
        """For values whose frequency alone is known: the worst is that all other people have the same value."""
        others = np.clip(1 - frequency, 0.0, 1.0)
        return self._scaled(others**2, others, n, target)

    def covariance(self, frequency: Floats, n: int, target: Target) -> Floats:
        """For every two values, 0 for one: with one seed, those with u support v when those with v support u."""
        near = consistency.norm_sub(frequency)
        pairs = np.outer(near, near) * (self.rate * (1 - 1 / n if target == "population" else 1))
        np.fill_diagonal(pairs, 0.0)
        return pairs

    def _scaled(self, squares: Floats, others: Floats, n: int, target: Target) -> Floats:
        # n(x)(n(x)−1)/n² = f(x)² − f(x)/n; of people drawn from a population its mean is f(x)²·(1 − 1/n).
        less = squares if target == "population" else others
        return np.asarray(np.maximum(squares - less / n, 0.0) * self.rate)


@dataclass(frozen=True)
class PooledModel(SupportModel):
    """Counts of support by reports whose seeds come from a pool: the variance has one more term.

    Parameters
    ----------
    error
        What the pool adds.
    likelihood
        Makes the step of EM towards the most likely frequencies.
    """

    error: PoolError = field(kw_only=True)
    likelihood: Callable[[], Step] = field(kw_only=True)

    def variance_at(self, frequency: Floats, target: Target) -> Floats:
        """The variance without a pool where the frequency is this, and what the pool adds at the estimated ones."""
        return super().variance_at(frequency, target) + self._added(target)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """The interval without a pool, each half of it made longer by what the pool adds: √(half² + z²·added)."""
        if method == "clopper-pearson":
            raise ParameterError(
                'method "clopper-pearson" is for independent reports; with a pool of seeds use "wilson".'
            )
        if method == "wald":
            return super().interval(level, method, target)  # by the variance above
        raw = self.frequency()
        lower, upper = super().interval(level, method, target)
        more = intervals.normal_quantile(level) * np.sqrt(self._added(target))
        return raw - np.hypot(raw - lower, more), raw + np.hypot(upper - raw, more)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """The covariances without a pool, and what the pool adds."""
        return super().covariance(frequency, target) + self.error.covariance(frequency, self.n, target)

    def absent_limit(self, level: float) -> float:
        """The limit without a pool, made higher by the most that the pool adds: √(limit² + z²·added)."""
        from scipy import special

        z = -float(special.ndtri((1 - level) / self.counts.size))
        more = z * math.sqrt(float(self._added("population").max()))
        return math.hypot(max(super().absent_limit(level), 0.0), more)

    def most_likely(self) -> Floats:
        """By EM on the counts by seed and bucket, which tell all that the reports told."""
        return consistency.em(self.likelihood(), self.counts.size, n=self.n)

    def _added(self, target: Target) -> Floats:
        return self.error.variance(self.frequency(), self.n, target)
