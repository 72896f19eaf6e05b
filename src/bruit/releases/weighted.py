"""Sums and means in which records have weights, as in a sample where a person stands for several.

A weight is a number from 0 to a declared bound, in whole steps, like the number itself. A record of w steps of weight
and c steps of the number gives w·c to one sum and w·(m − c) to another, w·m in all, as a mean without weights gives m.
So the noise is that of a mean for the largest weight. A weighted count is the `Sum` of the weights. See
``weighted.proof.md``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.domains.declare import number_question, weights_question
from bruit.domains.interval import Interval, declared_bounds
from bruit.domains.policy import POLICIES
from bruit.engines import batch as batching
from bruit.errors import ParameterError, ParameterTypeError, in_column
from bruit.estimation.tally import Counts
from bruit.releases import ratio
from bruit.releases.noise import Integers, Noise
from bruit.releases.result import Result
from bruit.releases.statistic import AdditiveStatistic, CentralNeighbours, Change, Statistic, codes_by, whole
from bruit.typing import Bounds

__all__ = ["WeightedMean", "WeightedSum"]

#: How many steps there are at most between the bounds, of numbers and of weights: sums of 2³³ records fit 61 bits.
MOST_STEPS = 2**14


@dataclass(frozen=True)
class _Weighted(AdditiveStatistic):
    """What both have in common: a number and a weight in whole steps."""

    document_policies: ClassVar[tuple[str, ...]] = ("missing", "outside")

    column: str | None = None
    _: KW_ONLY
    weight: str
    bounds: Bounds | Interval | Grid
    weight_bounds: tuple[float, float]
    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The policies of the bounds, and the weights."""
        return (*POLICIES, "weighted_by")

    @classmethod
    def declared(cls, questions: Sequence[str], options: Mapping[str, Any]) -> Statistic:
        """The statistic of a number and of the weights that `weighted_by` declares."""
        weight, limits = weights_question(options["weighted_by"])
        name, bounds, cells, step = number_question(cls._check_questions(questions, 1)[0])
        if cells is not None or step is not None:
            raise ParameterError(f"With weights, {name} takes bounds alone: write {name}={bounds[0]}..{bounds[1]}.")
        policies = {policy: options[policy] for policy in POLICIES if policy in options}
        others = {option: value for option, value in options.items() if option not in cls.option_names()}
        return cls(name, weight=weight, bounds=Interval(*bounds, **policies), weight_bounds=limits, **others)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not isinstance(self.weight, str):
            raise ParameterError('Name the column and the weight, as in ("age", weight="stands_for").')
        self._check_privacy()
        rule = "weight_bounds must go from 0 upwards, as in weight_bounds=(0, 5)."
        if not isinstance(self.weight_bounds, Sequence) or len(self.weight_bounds) != 2:
            raise ParameterTypeError(rule)
        low, high = (_checks.finite(weight_bounds=bound) for bound in self.weight_bounds)
        if low != 0 or not high > 0:
            raise ParameterError(rule)
        object.__setattr__(self, "bounds", declared_bounds(self.bounds))
        self._check_gaps(self.bounds)
        object.__setattr__(self, "weight_bounds", (low, high))
        self.noise()

    @property
    def columns(self) -> tuple[str, ...]:
        """The number and the weight."""
        return tuple(map(batching.clean_name, (self.column or "", self.weight)))

    @cached_property
    def grid(self) -> Grid:
        """The steps of the number."""
        bounds: Any = self.bounds  # without a grid's points
        return Grid.of(bounds, cells=MOST_STEPS)

    @cached_property
    def weights(self) -> Grid:
        """The steps of the weight, from 0, with the policies of the number."""
        limits = self.weight_bounds
        if isinstance(self.bounds, Interval):
            return Grid.of(dataclasses.replace(self.bounds, low=limits[0], high=limits[1]), cells=MOST_STEPS)
        return Grid.of(limits, cells=MOST_STEPS)

    @property
    def size(self) -> int:
        """Two sums."""
        return 2

    @property
    def _most(self) -> int:
        """The most that a record gives to both sums together."""
        return self.grid.width * self.weights.width

    def _steps(self, batch: Mapping[str, Any]) -> tuple[Integers, Integers, Any]:
        """The steps of number and weight, and which records have both; a gap is an error unless it is dropped."""
        arrays = []
        for name, grid in zip(self.columns, (self.grid, self.weights), strict=True):
            with in_column(name):
                arrays.append(codes_by(grid, batch[name]))
        number, weight = arrays
        return number, weight, (number < self.grid.cells) & (weight < self.weights.cells)

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """The steps of both; a record with a gap has codes of its own."""
        number, weight, present = self._steps(batch)
        return [np.where(present, number, -1), np.where(present, weight, -1)]

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """Σ w·c and Σ w, in steps."""
        number, weight, present = self._steps(batch)
        return whole(np.dot(number[present], weight[present]), weight[present].sum())


@dataclass(frozen=True)
class WeightedMean(_Weighted):
    """The mean of a bounded number in which records have weights.

    Parameters
    ----------
    column
        The column of the number.
    weight
        The column of the weights.
    bounds, epsilon, delta, neighbours
        As in `Mean`. The policies of the bounds hold for the weight too: with ``missing="drop"`` a record that lacks
        the number or the weight is left out.
    weight_bounds
        From 0 to the largest weight that a record can have, declared; a larger one counts as that.

    Guarantee
    ---------
    A record changes two sums by w·c and w·(m − c) steps, together by at most the largest weight times m; one that is
    replaced by twice that. The noise is discrete Laplace for this, or with a δ discrete Gaussian.

    Error
    -----
    For weights that sum to S about √2·width·(largest weight)/(S·ε), or less.

    Examples
    --------
    >>> from bruit.releases import release
    >>> table = {"age": [30, 60] * 500, "stands_for": [1.0, 3.0] * 500}
    >>> mean = WeightedMean("age", weight="stands_for", bounds=(0, 100), weight_bounds=(0, 5), epsilon=1.0)
    >>> abs(release(table, mean, rng=7).value - 52.5) < 1.5
    True
    """

    kind: ClassVar[str] = "weighted mean"
    rising: ClassVar[bool] = True

    def change(self, neighbours: CentralNeighbours, n: int | None = None) -> Change:
        """The largest weight times the width of the bounds, in steps; of two records where one is replaced."""
        times = 2 if neighbours == "replace" else 1
        return Change(times * self._most, times * self._most**2)

    def sums(self, counts: Counts) -> Integers:
        """What lies above the lower bound, and what lies below the upper."""
        above, weight = int(counts[0]), int(counts[1])
        return np.array([above, weight * self.grid.width - above], object)

    def expected_error(self, n: int | None = None) -> float:
        """The largest standard deviation of the noise for weights that sum to n."""
        if n is None:
            raise ParameterError("The error of a weighted mean depends on the total weight: expected_error(n=1000).")
        total = _checks.integer(low=1, n=n) / float(self.weights.step)
        return self.noise().standard_error * float(self.grid.step) / total

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The share of one noisy sum in both."""
        grid, above, below = self.grid, float(noisy[0]), float(noisy[1])
        scale, tail = noise.ratio_law()
        total = max(above + below, float(self._most))
        share = min(max(above / total, 0.0), 1.0)
        error = math.hypot(share, 1 - share) * noise.standard_error / total * grid.width * float(grid.step)

        def ends(level: float) -> Any:
            return grid.value(ratio.interval(above, below, scale, level, tail) * grid.width)

        value = float(grid.value(share * grid.width))
        notes = (f"weighted by {self.weight}", "kept within the bounds", ratio.CALLED)
        return self._result(value, simulated, standard_error=error, ends=ends, notes=notes)


@dataclass(frozen=True)
class WeightedSum(_Weighted):
    """The sum of a bounded number over records that have weights; parameters as in `WeightedMean`.

    Guarantee
    ---------
    A record changes the sum by at most the largest weight times the greater bound by absolute value; one that is
    replaced by the largest weight times the width of the bounds and 0.

    Error
    -----
    The standard deviation is about √2 times that over ε, whatever the data.

    Examples
    --------
    >>> from bruit.releases import release
    >>> table = {"hours": [10, 20], "stands_for": [1.0, 3.0]}
    >>> total = WeightedSum("hours", weight="stands_for", bounds=(0, 40), weight_bounds=(0, 5), epsilon=1.0)
    >>> result = release(table, total, rng=7)
    >>> low, high = result.interval()
    >>> low < result.value < high
    True
    """

    kind: ClassVar[str] = "weighted sum"

    def change(self, neighbours: CentralNeighbours, n: int | None = None) -> Change:
        """In steps: the largest weight times the greater bound, or times the width of the bounds and 0."""
        first, last = self.grid.first, self.grid.first + self.grid.width
        span = max(last, 0) - min(first, 0) if neighbours == "replace" else max(abs(first), abs(last))
        most = self.weights.width * span
        return Change(most, most**2)

    def sums(self, counts: Counts) -> Integers:
        """Σ w·x in steps of both, from 0."""
        above, weight = int(counts[0]), int(counts[1])
        return np.array([above + weight * self.grid.first], object)

    @property
    def _unit(self) -> float:
        return float(self.grid.step) * float(self.weights.step)

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise."""
        return self.noise().standard_error * self._unit

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The noisy sum in the unit of the data."""
        value, unit = float(noisy[0]) * self._unit, self._unit

        def ends(level: float) -> Any:
            half = noise.half_width(level) * unit
            return [value - half, value + half]

        return self._result(
            value,
            simulated,
            standard_error=noise.standard_error * unit,
            ends=ends,
            notes=(f"weighted by {self.weight}",),
        )
