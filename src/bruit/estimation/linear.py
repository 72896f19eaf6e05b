"""Frequencies that are sums over the cells of several tables, each estimated from other people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bruit.errors import ParameterError
from bruit.estimation.intervals import Floats, wald
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
        """The variance of each; see `covariance`."""
        return np.asarray(np.diagonal(self.covariance(frequency, target)))

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """The frequency ± z standard errors: sums of many counts have no exact interval."""
        if method == "clopper-pearson":
            raise ParameterError('method "clopper-pearson" is for one count; for a margin of tables use "wald".')
        raw = self.frequency()
        return wald(raw, np.maximum(self.variance(raw, target), 0.0), level)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """The matrix of covariances, at the estimated cells.

        People who were drawn for one table were not drawn for another. For the people who answered, two parts without
        replacement have the covariance −S²/n, where S² = (diag(f) − ffᵀ)·n/(n−1).
        """
        total = np.zeros((frequency.size, frequency.size))
        for part in self.parts:
            cells = part.model.covariance(part.model.frequency(), target)
            rows = np.array([part.summed(row) for row in cells])
            total += part.weight**2 * np.array([part.summed(column) for column in rows.T])
        if target == "people" and self.people > 1:
            apart = 1 - sum(part.weight**2 for part in self.parts)
            total -= apart * (np.diag(frequency) - np.outer(frequency, frequency)) / (self.people - 1)
        return total

    def absent_limit(self, level: float) -> Floats | float:
        """Not known for a sum over tables."""
        raise ParameterError('"base-cut" needs the law of one count: it is not known for a margin of tables.')

    def most_likely(self) -> Floats:
        """Not known for a sum over tables."""
        raise ParameterError("The most likely frequencies are not known for a margin of tables: use norm-sub.")
