"""Frequencies that are sums over the cells of several tables, each estimated from other people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bruit.errors import ParameterError
from bruit.estimation.consistency import norm_sub
from bruit.estimation.intervals import Floats, score, wald
from bruit.estimation.possible import nearest_possible
from bruit.estimation.sampled import SampledModel
from bruit.estimation.support import IntervalMethod, Model, Target


class MarginPart(NamedTuple):
    """What one table says of an attribute: its model, its shape, the attribute's axis, and the weight of what it says.

    The weights do not depend on the reports, only on how many there are.
    """

    model: Model
    shape: tuple[int, ...]
    axis: int
    weight: float

    def summed(self, cells: Floats) -> Floats:
        """The margin of the attribute."""
        others = tuple(place for place in range(len(self.shape)) if place != self.axis)
        return np.asarray(cells.reshape(self.shape).sum(axis=others))

    def possible(self, cells: Floats) -> Floats:
        """These cells, or the nearest possible ones with the nearest possible margin."""
        margin = self.summed(cells)
        near = nearest_possible(margin)
        return cells if float(cells.min()) >= 0 and np.array_equal(near, margin) else self.scaled(cells, near)

    def scaled(self, cells: Floats, margin: Floats) -> Floats:
        """The nearest possible cells, scaled to this margin of the attribute: none is negative if the margin is not."""
        rows = np.moveaxis(norm_sub(cells).reshape(self.shape), self.axis, 0).reshape(margin.size, -1)
        sums = rows.sum(axis=1, keepdims=True)
        even = np.full_like(rows, 1 / rows.shape[1])
        rows = margin[:, None] * np.divide(rows, sums, out=even, where=sums > 0)
        others = [size for place, size in enumerate(self.shape) if place != self.axis]
        return np.asarray(np.moveaxis(rows.reshape(margin.size, *others), 0, self.axis).ravel())

    @property
    def reported(self) -> MarginPart:
        """The same of the people who reported on this table alone."""
        return self._replace(model=self.model.model) if isinstance(self.model, SampledModel) else self

    def margin_covariance(self, cells: Floats, target: Target) -> Floats:
        """The covariances of the margin where the true cells are these."""
        rows = np.array([self.summed(row) for row in self.model.covariance(cells, target)])
        return np.array([self.summed(column) for column in rows.T])

    def variances_at(self, cells: Floats, target: Target) -> tuple[float, float]:
        """The variances of the first and of the second value of the attribute where the true cells are these."""
        first, second = np.diagonal(self.margin_covariance(cells, target))[:2]
        return float(first), float(second)


@dataclass(frozen=True)
class MarginModel:
    """The margin of an attribute, as the weighted mean of what all tables with it say.

    Parameters
    ----------
    parts
        The tables; their weights have sum one.
    people
        How many people there are: those of all tables, also of tables without the attribute.
    """

    parts: Sequence[MarginPart]
    people: int

    def frequency(self) -> Floats:
        """Unbiased frequencies."""
        margins = [part.weight * part.summed(part.model.frequency()) for part in self.parts]
        return np.asarray(np.sum(margins, axis=0))

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """The variance of each, at what each table says of it, or the nearest possible.

        It is at least that of the noise: where tables contradict each other, more could be taken off for people who are
        not drawn twice than drawing adds.
        """
        total, noise = np.zeros(frequency.size), np.zeros(frequency.size)
        for part in self.parts:
            cells = part.possible(part.model.frequency())
            total += part.weight**2 * np.diagonal(part.margin_covariance(cells, target))
            noise += part.weight**2 * np.diagonal(part.reported.margin_covariance(cells, "people"))
        near = nearest_possible(frequency)
        return np.maximum(total - self._apart(target) * near * (1 - near), noise)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """The score interval, or with "wald" the frequency ± z standard errors; an exact one is not known.

        A score interval has the variance at each frequency that it tries. That at the estimate is far too small where
        few people report on a rare value.
        """
        if method == "clopper-pearson":
            raise ParameterError('method "clopper-pearson" is for one count; for a margin of tables use "wilson".')
        raw = self.frequency()
        if method == "wald":
            return wald(raw, self.variance(raw, target), level)
        return score(raw, self.variance(raw, target), self._noise_by_frequency(target), level)

    def _noise_by_frequency(self, target: Target) -> tuple[float, float, float]:
        """The variance of a margin as a function of its own frequency, for oracles to which all cells are alike."""
        constant = slope = drawn = 0.0
        for part in self.parts:
            own, other = part.variances_at(np.eye(1, math.prod(part.shape))[0], target)
            ends = np.zeros(math.prod(part.shape))
            ends[[0, -1]] = 0.5
            middle, _ = part.variances_at(ends, target)
            weight = part.weight**2
            constant, slope = constant + weight * other, slope + weight * (own - other)
            drawn += 4 * weight * (middle - (own + other) / 2)
        return constant, slope, drawn - self._apart(target)

    def _apart(self, target: Target) -> float:
        """How much of the variance of drawing people falls away because nobody is drawn for two tables."""
        if target == "population" or self.people < 2:
            return 0.0
        return (1 - sum(part.weight**2 for part in self.parts)) / (self.people - 1)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """The matrix of covariances where the true margin is this one.

        People who were drawn for one table were not drawn for another. For the people who answered, two parts without
        replacement have the covariance −S²/n, where S² = (diag(f) − ffᵀ)·n/(n−1).
        """
        total = np.zeros((frequency.size, frequency.size))
        for part in self.parts:
            cells = part.scaled(part.model.frequency(), frequency)
            total += part.weight**2 * part.margin_covariance(cells, target)
        total -= self._apart(target) * (np.diag(frequency) - np.outer(frequency, frequency))
        return total

    def absent_limit(self, level: float) -> Floats | float:
        """Not known for a sum over tables."""
        raise ParameterError('"base-cut" needs the law of one count: it is not known for a margin of tables.')

    def most_likely(self) -> Floats:
        """Not known for a sum over tables."""
        raise ParameterError("The most likely frequencies are not known for a margin of tables: use norm-sub.")
