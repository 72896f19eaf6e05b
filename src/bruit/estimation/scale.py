"""Estimates of answers in an order: shares in that order, mean and median with intervals, differences of means."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bruit import _checks
from bruit.errors import DataError, ParameterError
from bruit.estimation import consistency
from bruit.estimation.cross_table import TableContrast
from bruit.estimation.estimate import Estimate
from bruit.estimation.intervals import Floats, normal_quantile
from bruit.estimation.support import IntervalMethod
from bruit.tables import Table, label


class MedianEstimate(NamedTuple):
    """The label at which half of the people are reached, and the labels between which that can be."""

    label: Any
    lower: Any
    upper: Any


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScaleEstimate(Estimate):
    """Frequencies of answers in an order, with a mean and a median.

    Parameters
    ----------
    answered
        How many of the labels are on the scale: all, or all but the last, which then stands for missing answers. Mean
        and median are those of the people who have an answer on the scale.

    Examples
    --------
    >>> import bruit
    >>> from bruit.domains import Scale
    >>> plan = bruit.Plan({"agree": Scale(labels=["no", "hardly", "yes"])}, epsilon=3.0)
    >>> people = {"agree": ["no"] * 200 + ["hardly"] * 300 + ["yes"] * 500}
    >>> answer = plan.estimate(plan.tally(plan.privatize(people, rng=1)))["agree"]
    >>> answer.median().label, 2.2 < answer.mean().value < 2.4
    ('yes', True)
    """

    ordered: ClassVar[bool] = True

    answered: int = 0

    @classmethod
    def of(cls, answer: Estimate, answered: int) -> ScaleEstimate:
        """An estimate whose first labels are on a scale."""
        same = {own.name: getattr(answer, own.name) for own in fields(Estimate)}
        return cls(**same, answered=answered)

    def mean(self, scores: Any = None, level: float = 0.95) -> TableContrast:
        """The mean of scores, 1, 2, 3, … by default, with its standard error and interval.

        The p-value speaks of the hypothesis that the mean is the middle of the scores.

        Parameters
        ----------
        scores
            A number for each label of the scale.
        level
            Of the interval.
        """
        from scipy import special

        _checks.probability(level=level)
        points = self._scores(scores)
        value, gradient = self._ratio(points)
        error = math.sqrt(max(float(gradient @ self.covariance() @ gradient), 0.0))
        half = normal_quantile(level) * error
        middle = (points.min() + points.max()) / 2
        p_value = float(2 * special.ndtr(-abs(value - middle) / error)) if error > 0 else 1.0
        return TableContrast(value, error, value - half, value + half, p_value)

    def mean_difference(self, other: ScaleEstimate, scores: Any = None, level: float = 0.95) -> TableContrast:
        """The mean of these people less that of other people, with the same scale.

        Parameters
        ----------
        other
            An estimate of different people.
        scores, level
            As for `mean`.
        """
        from scipy import special

        if not isinstance(other, ScaleEstimate) or other.labels != self.labels or other.model is self.model:
            raise ParameterError("mean_difference needs an estimate of other people with the same scale.")
        here, there = self.mean(scores, level), other.mean(scores, level)
        value, error = here.value - there.value, math.hypot(here.standard_error, there.standard_error)
        half = normal_quantile(level) * error
        p_value = float(2 * special.ndtr(-abs(value) / error)) if error > 0 else 1.0
        return TableContrast(value, error, value - half, value + half, p_value)

    def median(self, level: float = 0.95) -> MedianEstimate:
        """The first label that half of the people reach, and labels between which it lies with this confidence.

        The ends are where the share of people at or below a label, by a test at this level, can be a half. The label
        itself is read from frequencies made consistent by norm-sub, which never go back.
        """
        _checks.probability(level=level)
        k = self.answered
        share = float(self.frequency[:k].sum())
        if not share > 0:
            raise DataError(
                "The share of people with an answer is estimated at 0 or below: there is no median of them."
            )
        shown = consistency.norm_sub(self.frequency[:k] / share)
        centre = int(np.searchsorted(np.cumsum(shown), 0.5 - 1e-12))
        covariance, z = self.covariance(), normal_quantile(level)
        scores = []
        for place in range(k - 1):
            # Half of those who answered are at or below: Σ_{i≤place} f − ½ Σ f is a sum of frequencies, no ratio.
            weight = np.zeros(len(self.labels))
            weight[: place + 1] = 0.5
            weight[place + 1 : k] = -0.5
            error = math.sqrt(max(float(weight @ covariance @ weight), 0.0))
            scores.append((float(weight @ self.frequency), z * error))
        lower = next((place for place, (value, half) in enumerate(scores) if value + half >= 0), k - 1)
        upper = next((place for place, (value, half) in enumerate(scores) if value - half >= 0), k - 1)
        lower, upper = min(lower, centre), max(upper, centre)
        return MedianEstimate(self.labels[min(centre, k - 1)], self.labels[lower], self.labels[upper])

    def table(
        self,
        level: float = 0.95,
        method: IntervalMethod = "wilson",
        *,
        simultaneous: bool = False,
        consistent: consistency.Method | None = None,
    ) -> Table:
        """As that of every estimate, in the order of the scale, with the mean and the median below."""
        table = super().table(level, method, simultaneous=simultaneous, consistent=consistent)
        try:
            mean, median = self.mean(level=level), self.median(level)
        except DataError:
            return replace(table, order=None)
        ends = f"{label(median.lower)} … {label(median.upper)}"
        notes = [
            f"mean of 1..{self.answered}: {mean.value:.3f} ({mean.lower:.3f} … {mean.upper:.3f})",
            f"median: {label(median.label)} ({ends})",
        ]
        about = {
            **table.about,
            "mean": {"value": mean.value, "lower": mean.lower, "upper": mean.upper},
            "median": {"label": median.label, "lower": median.lower, "upper": median.upper},
        }
        return replace(table, notes=[*notes, *table.notes], about=about, order=None)

    def top(self, rows: int) -> list[int]:
        """The first labels, in the order of the scale."""
        return list(range(min(rows, len(self.labels))))

    def _scores(self, scores: Any) -> Floats:
        points = np.arange(1, self.answered + 1, dtype=float) if scores is None else np.asarray(scores, float)
        if points.shape != (self.answered,) or not np.isfinite(points).all():
            raise ParameterError(f"scores must be {self.answered} numbers, one for each label of the scale.")
        return points

    def _ratio(self, points: Floats) -> tuple[float, Floats]:
        """The mean among those with an answer, and its derivative by the frequencies."""
        whole = np.zeros(len(self.labels))
        whole[: self.answered] = 1.0
        scores = np.zeros(len(self.labels))
        scores[: self.answered] = points
        share = float(whole @ self.frequency)
        if not share > 0:
            raise DataError("The share of people with an answer is estimated at 0 or below: there is no mean of them.")
        value = float(scores @ self.frequency) / share
        return value, (scores - value * whole) / share
