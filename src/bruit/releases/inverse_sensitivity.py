"""Inverse sensitivity: a value is the likelier, the fewer records would have to change for it to be the true one.

The length of a value is that number of records. It changes by at most one when a record is replaced, whatever the
statistic, so the exponential mechanism on lengths works for all of them; where a few changes move the statistic little,
it is very close to the truth. It is for ``"replace"`` only: a length compares data sets of one size.

The lengths of quantiles, means and variances have closed forms here; for anything else give a function. The arguments
are in ``inverse_sensitivity.proof.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.domains.interval import Interval, declared_bounds
from bruit.entropy import Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.estimation.tally import Counts, exact_total
from bruit.privacy.zcdp import bounded_range_rho
from bruit.releases.exponential import Exponential
from bruit.releases.laws import ChoiceLaw
from bruit.releases.lengths import Axis, Integers, Length, MeanLength, QuantileLength, VarianceLength, length_from_dict
from bruit.releases.result import Result
from bruit.releases.statistic import MOST_RECORDS, CentralNeighbours, Statistic, histogram_of, record_codes
from bruit.rounding import log_ceiling
from bruit.typing import Bounds

__all__ = ["InverseSensitivity"]

#: How many points a result may take, unless declared.
OUTPUTS = 1025


_NAMED: dict[str, Callable[[], Length]] = {
    "mean": MeanLength,
    "variance": VarianceLength,
    "median": lambda: QuantileLength(0.5),
}


@dataclass(frozen=True)
class InverseSensitivity(Statistic):
    """A statistic by the inverse sensitivity mechanism: P(t) ∝ exp(−ε·length(t)/2), on a grid.

    Parameters
    ----------
    column
        The column of a table; None for data that are one column.
    statistic
        ``"mean"``, ``"variance"``, ``"median"``, or an object with lengths: those of `bruit.releases.lengths`,
        or a `LengthFunction` of your own.
    bounds
        The least and the greatest that the number can be, as a pair, as an `Interval` or as a `Grid`. Numbers outside
        count as the nearest bound, unless one of the last two declares ``outside="refuse"``.
    epsilon
        The most that the result may tell about one record.
    smoothing
        The smooth version: the length of a value is the least within this distance (ρ in the paper). A mean or variance
        takes half the distance of two results at least, because the values between could not be reached otherwise.

    Guarantee
    ---------
    ε under ``"replace"``, exactly: lengths change by at most 1, and the weights of neighbouring lengths are whole
    numbers that differ by at most e^(ε/2).

    Error
    -----
    With probability 1 − β the result is one that k = 2·ln(points/β)/ε changed records could have made true: about what
    the k most influential records move the statistic.

    References
    ----------
    Asi and Duchi (2020), Near instance-optimality in differential privacy.

    Examples
    --------
    >>> from bruit.releases import release
    >>> mean = InverseSensitivity("age", statistic="mean", bounds=(0, 100), epsilon=1.0)
    >>> abs(release({"age": list(range(101)) * 50}, mean, rng=7).value - 50) < 1
    True
    """

    kind: ClassVar[str] = "inverse sensitivity"
    document_policies: ClassVar[tuple[str, ...]] = ("outside",)
    neighbours: ClassVar[CentralNeighbours] = "replace"  # type: ignore[misc]

    column: str | None = None
    _: KW_ONLY
    statistic: Any
    bounds: Bounds | Interval | Grid
    epsilon: float
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.statistic, str):
            length = _NAMED[_checks.one_of(_NAMED, statistic=self.statistic)]()
            object.__setattr__(self, "statistic", length)
        if isinstance(self.statistic, Mapping):
            object.__setattr__(self, "statistic", length_from_dict(self.statistic))
        if not hasattr(self.statistic, "lengths"):
            raise ParameterTypeError('statistic must be "mean", "variance", "median", or an object with lengths.')
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        object.__setattr__(self, "smoothing", _checks.non_negative(smoothing=self.smoothing))
        if isinstance(self.bounds, Interval | Grid) and self.bounds.missing != "refuse":
            raise ParameterError(
                'Under "replace" the number of records is public, so none may be dropped: fill the gaps first.'
            )
        if isinstance(self.bounds, Interval):
            object.__setattr__(self, "bounds", declared_bounds(self.bounds))
        _ = self.axis

    @cached_property
    def grid(self) -> Grid:
        """The points that numbers are rounded to."""
        if isinstance(self.bounds, Grid):
            return self.bounds
        return Grid.of(self.bounds, cells=self.statistic.most_steps)

    @cached_property
    def axis(self) -> Axis:
        """Where results may lie, in units of the data's step, or of its square."""
        outputs, power, top = self.statistic.outputs, self.statistic.power, self.grid.cells - 1
        if outputs is None and isinstance(self.statistic, QuantileLength):
            return Axis(Fraction(0), Fraction(1), self.grid.cells)
        if outputs is None:
            highest = Fraction(top) if power == 1 else Fraction(top**2, 4)
            return Axis(Fraction(0), highest / (OUTPUTS - 1), OUTPUTS)
        return Axis((outputs.point(0) - self._origin) / self._unit, outputs.step / self._unit, outputs.cells)

    @property
    def _unit(self) -> Fraction:
        unit = self.grid.step
        return Fraction(1) if self.statistic.power == 0 else unit if self.statistic.power == 1 else unit * unit

    @property
    def _origin(self) -> Fraction:
        """What the result would be if all records were at the lower bound."""
        return Fraction(self.grid.low) if self.statistic.power == 1 else Fraction(0)

    @property
    def radius(self) -> Fraction:
        """The smoothing in units of the axis; half its width at least, where results lie between those of the data."""
        smallest = self.axis.width / 2 if isinstance(self.statistic, MeanLength | VarianceLength) else Fraction(0)
        return max(Fraction(self.smoothing) / self._unit, smallest)

    @property
    def name(self) -> str:
        """What is released."""
        return str(self.statistic.name)

    @property
    def rho(self) -> float:
        """The ρ-zCDP of an exponential mechanism: ε²/8."""
        return bounded_range_rho(self.epsilon)

    @property
    def size(self) -> int:
        """How many cells are counted."""
        return self.grid.cells

    @property
    def choice(self) -> Exponential:
        """The exponential mechanism on lengths."""
        return Exponential.calibrate(self.epsilon)

    def lengths(self, counts: Counts) -> Integers:
        """The length of each result, for data with these counts; a fact without noise, not to be shown."""
        n = int(counts.sum())
        last = len(self.choice.weights(n + 1)) - 1
        lengths: Integers = self.statistic.lengths(counts, self.axis, self.radius, last)
        return lengths

    def value_at(self, place: int) -> float:
        """The result with this number; a point of a declared grid as a person writes it."""
        points = self.statistic.outputs
        if points is None and isinstance(self.statistic, QuantileLength) and isinstance(self.bounds, Grid):
            points = self.grid
        if points is not None:
            return float(points.numbers(place))
        return float(self.axis.point(place) * self._unit + self._origin)

    def loss_between(self, first: Counts, second: Counts) -> Fraction:
        """The exact loss, rounded up."""
        return Fraction(log_ceiling(self.choice.ratio(self.lengths(first), self.lengths(second))))

    def law(self, counts: Counts) -> tuple[ChoiceLaw]:
        """The choice among results, by their numbers: see `value_at`."""
        lengths = self.lengths(np.asarray(counts))
        weights = self.choice.weights(int(lengths.max()))
        return (ChoiceLaw.of(weights[min(length, len(weights) - 1)] for length in lengths.tolist()),)

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """How many records are in each cell."""
        return histogram_of(record_codes(self.grid, self.values(batch)), self.size)

    def prepare(self, counts: Counts) -> Counts:
        """The lengths: a function of the caller's may fail, and some statistics have a limit of records."""
        if exact_total(counts) > MOST_RECORDS:
            raise LimitError("There must be at most 2⁴⁰ records, about a million millions.")
        return self.lengths(counts)

    def publish(self, counts: Counts, words: Words) -> Result:
        """A result, chosen by its length."""
        return self._result(self.value_at(self.choice.choose(counts, words.stream())), not words.secure)
