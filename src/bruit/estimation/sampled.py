"""Estimates from some of the people who answered, drawn at random: the others did not report on this attribute.

For the population nothing changes, those who reported are a sample of it. For the people who answered there is a second
error besides the noise, that of drawing m of n people: Var(f) = f(1−f)/m · (n−m)/(n−1). What the population's variance
has more than the noise is f(1−f)/m, so the variance for these people lies between the two, at the share (n−m)/(n−1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bruit.estimation.fitting import LinearMap
from bruit.estimation.intervals import Floats, wald
from bruit.estimation.number import ScoreModel
from bruit.estimation.support import IntervalMethod, Model, Target

#: From this mean number of reports on, a series says what drawing costs.
_SERIES_FROM = 10_000


def drawn_share(m: float, n: int) -> float:
    """Where, between the noise alone and the population, the variance for all n people lies if m reported."""
    return (n - m) / (n - 1) if n > 1 else 0.0


def harmonic_reports(n: int, chance: float) -> float:
    """With how many reports the variance is what it is on average, where each of n people reports with this chance.

    That is 1/E[1/m | m ≥ 1], m being how many report: less than its mean, because few reports cost more than many save.

    >>> round(20 / 5 / harmonic_reports(20, 1 / 5), 2), round(10**6 / 5 / harmonic_reports(10**6, 1 / 5), 6)
    (1.27, 1.000004)
    """
    mean = n * chance
    if chance >= 1 or mean > _SERIES_FROM:
        # E[1/m] = (1 + v + v·(2 − p)/μ + …)/μ with v = (1 − p)/μ; what is left out is below 10⁻¹¹ of it.
        v = max(0.0, 1 - chance) / mean
        return mean / (1 + v + v * (2 - chance) / mean)
    # Binomial chances by their ratios, from one report to 40 standard deviations above the mean.
    m = np.arange(1, min(n, math.ceil(mean + 40 * math.sqrt(mean) + 40)) + 1)
    steps = np.log((n - m[:-1]) / (m[:-1] + 1) * (chance / (1 - chance)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return float(weights.sum() / (weights / m).sum())


@dataclass(frozen=True)
class SampledModel:
    """The model of those who reported, speaking of all who answered.

    Parameters
    ----------
    model
        The model of the reports.
    share
        From `drawn_share`.
    """

    model: Model
    share: float

    def frequency(self) -> Floats:
        """Unbiased frequencies."""
        return self.model.frequency()

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """The variance of the estimate where the true frequencies are the nearest possible to these."""
        return self._mixed(self.model.variance, frequency, target)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """Ends for the population; for these people, squared half-widths mixed as the variances are."""
        if target == "population":
            return self.model.interval(level, method, target)
        raw = self.frequency()
        if method == "wald":
            return wald(raw, self.variance(raw, target), level)
        near = self.model.interval(level, method, "people")
        far = self.model.interval(level, method, "population")
        lower, upper = (
            np.sqrt((1 - self.share) * (ours - raw) ** 2 + self.share * (theirs - raw) ** 2)
            for ours, theirs in zip(near, far, strict=True)
        )
        return raw - lower, raw + upper

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """The matrix of covariances where the true frequencies are these."""
        return self._mixed(self.model.covariance, frequency, target)

    def absent_limit(self, level: float) -> Floats | float:
        """What the estimates of all values that nobody has stay at or below, together, with this probability."""
        return self.model.absent_limit(level)

    def most_likely(self) -> Floats:
        """The frequencies under which the reports are most likely."""
        return self.model.most_likely()

    def _mixed(self, of: Any, frequency: Floats, target: Target) -> Floats:
        whole: Floats = of(frequency, "population")
        if target == "population":
            return whole
        noise: Floats = of(frequency, "people")
        return (1 - self.share) * noise + self.share * whole


@dataclass(frozen=True)
class SampledScores(ScoreModel):
    """The same for the mean of a number."""

    model: ScoreModel | None = None
    share: float = 0.0

    @classmethod
    def of(cls, model: ScoreModel, share: float) -> SampledScores:
        """The model of those who reported, speaking of all who answered."""
        same = {own.name: getattr(model, own.name) for own in fields(ScoreModel)}
        return cls(**same, model=model, share=share)

    def law(self) -> LinearMap:
        """The channel as something to multiply with."""
        return self._inner.law()

    def variance(self, target: Target) -> float:
        """The estimated variance of the average score."""
        whole = self._inner.variance("population")
        if target == "population":
            return whole
        return (1 - self.share) * self._inner.variance("people") + self.share * whole

    @property
    def _inner(self) -> ScoreModel:
        assert self.model is not None  # noqa: S101 -- None only because fields before it have defaults
        return self.model
