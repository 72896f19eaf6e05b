"""Inverse sensitivity: a value is the likelier, the fewer records would have to change for it to be the true one.

The length of a value is that number of records. It changes by at most one when a record is replaced, whatever the
statistic, so the exponential mechanism on lengths works for all of them; where a few changes move the statistic little,
it is very close to the truth. It is for ``"replace"`` only: a length compares data sets of one size.

The lengths of quantiles, means and variances have closed forms here; for anything else give a function. The arguments
are in ``inverse_sensitivity.proof.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.entropy import Randomness, Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.estimation.tally import Counts, exact_total
from bruit.laws.rounding import log_ceiling
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import bounded_range_rho
from bruit.releases.additive import MOST_RECORDS
from bruit.releases.base import Books, Floats, Release
from bruit.releases.exponential import Exponential
from bruit.releases.grouped import ask
from bruit.releases.lengths import Axis, Integers, MeanLength, QuantileLength, Statistic, VarianceLength
from bruit.releases.released import Released
from bruit.releases.steps import Steps

__all__ = ["InverseSensitivity", "inverse_sensitivity"]

#: How many points a result may take, unless declared.
OUTPUTS = 1025


_NAMED: dict[str, Callable[[], Statistic]] = {
    "mean": MeanLength,
    "variance": VarianceLength,
    "median": lambda: QuantileLength(0.5),
}


@dataclass(frozen=True, kw_only=True)
class InverseSensitivity(Release):
    """A statistic by the inverse sensitivity mechanism: P(t) ∝ exp(−ε·length(t)/2), on a grid.

    Parameters
    ----------
    statistic
        ``"mean"``, ``"variance"``, ``"median"``, or a `MeanLength`, `VarianceLength`, `QuantileLength` or
        `LengthFunction`.
    bounds
        The least and the greatest that the number can be, as a pair or as a `Grid`. Numbers outside count as the
        nearest bound.
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
    >>> ask_for = InverseSensitivity(statistic="mean", bounds=(0, 100), epsilon=1.0)
    >>> found = ask_for.release(ask_for.fold(np.arange(10_000) / 100), rng=7)
    >>> abs(found.value - 50) < 1
    True
    """

    statistic: Any
    bounds: Any
    epsilon: float
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.statistic, str):
            made = _NAMED[_checks.one_of(_NAMED, statistic=self.statistic)]()
            object.__setattr__(self, "statistic", made)
        if not hasattr(self.statistic, "lengths"):
            raise ParameterTypeError('statistic must be "mean", "variance", "median", or an object with lengths.')
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        object.__setattr__(self, "smoothing", _checks.non_negative(smoothing=self.smoothing))
        _ = self.axis

    @cached_property
    def grid(self) -> Grid:
        """The points that numbers are rounded to."""
        if isinstance(self.bounds, Grid):
            if self.bounds.missing != "refuse":
                raise ParameterError(
                    'Under "replace" the number of records is public, so none may be dropped: fill the gaps first.'
                )
            return self.bounds
        steps = Steps.between(self.bounds, most=self.statistic.most_steps)
        return Grid(steps.low * steps.step, steps.high * steps.step, cells=steps.width + 1)

    @cached_property
    def axis(self) -> Axis:
        """Where results may lie, in units of the data's step, or of its square."""
        outputs, power, top = self.statistic.outputs, self.statistic.power, self.grid.cells - 1
        if outputs is None and isinstance(self.statistic, QuantileLength):
            return Axis(Fraction(0), Fraction(1), self.grid.cells)
        if outputs is None:
            highest = Fraction(top) if power == 1 else Fraction(top**2, 4)
            return Axis(Fraction(0), highest / (OUTPUTS - 1), OUTPUTS)
        width = (Fraction(outputs.high) - Fraction(outputs.low)) / (outputs.cells - 1) / self._unit
        return Axis((Fraction(outputs.low) - self._origin) / self._unit, width, outputs.cells)

    @property
    def _unit(self) -> Fraction:
        unit = Fraction(self.grid.step)
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
    def guarantee(self) -> Guarantee:
        """What is promised: the ε asked for, which the whole-number weights do not exceed."""
        return Guarantee(epsilon=self.epsilon, neighbours="replace")

    @property
    def rho(self) -> float:
        """The ρ-zCDP of an exponential mechanism: ε²/8."""
        return bounded_range_rho(self.epsilon)

    @property
    def cells(self) -> int:
        """How many cells are counted."""
        return self.grid.cells

    @property
    def choice(self) -> Exponential:
        """The exponential mechanism on lengths."""
        return Exponential.calibrate(self.epsilon)

    def expected_error(self, n: int | None = None) -> float:
        """Not known beforehand: it depends on the data."""
        return float("nan")

    def lengths(self, counts: Counts) -> Integers:
        """The length of each result, for data with these counts; a fact without noise, not to be shown."""
        n = int(counts.sum())
        last = len(self.choice.weights(n + 1)) - 1
        lengths: Integers = self.statistic.lengths(counts, self.axis, self.radius, last)
        return lengths

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "release": "inverse-sensitivity",
            "statistic": self.statistic.to_dict(),
            "domain": self.grid.to_dict(),
            "outputs": [str(self.axis.first), str(self.axis.width), self.axis.cells],
            "rho": self.smoothing,
            "epsilon": self.epsilon,
        }

    def value_at(self, place: int) -> float:
        """The result with this number."""
        return float(self.axis.point(place) * self._unit + self._origin)

    def loss_between(self, first: Counts, second: Counts) -> Fraction:
        """The exact loss, rounded up."""
        return Fraction(log_ceiling(self.choice.ratio(self.lengths(first), self.lengths(second))))

    def _count(self, column: Any) -> Counts:
        return np.bincount(self.grid.encode(column, clip=True), minlength=self.cells).astype(np.int64)

    def _ready(self, counts: Counts) -> Counts:
        """The lengths: a function of the caller's may fail, and some statistics are for so many records only."""
        if exact_total(counts) > MOST_RECORDS:
            raise LimitError("There must be at most 2⁴⁰ records, about a million millions.")
        return self.lengths(counts)

    def _draw(self, counts: Counts, words: Words) -> Released:
        place = self.choice.choose(counts, words.stream())
        error: Floats = np.array([self.expected_error()])
        return Released(
            name=self.name,
            values=np.array([self.value_at(place)]),
            labels=(self.name,),
            error=error,
            guarantee=self.guarantee,
            simulated=not words.secure,
            release=self.to_dict(),
        )


def inverse_sensitivity(
    data: Any,
    statistic: Any,
    *,
    bounds: Any = None,
    epsilon: float,
    smoothing: float = 0.0,
    column: str | None = None,
    ledger: Books | None = None,
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """A statistic by the inverse sensitivity mechanism, for neighbours ``"replace"``.

    Parameters
    ----------
    data
        A column, or with `column` a table: a mapping, a frame, or the path of a file.
    statistic, bounds, epsilon, smoothing
        As in `InverseSensitivity`.
    column
        The name of the column in the table.
    ledger, rng, label
        As in `Release.release`.

    Examples
    --------
    >>> ages = list(range(20, 70)) * 20
    >>> found = inverse_sensitivity(ages, "median", bounds=Grid(0, 120), epsilon=1.0, rng=7)
    >>> 42 <= found.value <= 47
    True
    """
    release = InverseSensitivity(statistic=statistic, bounds=bounds, epsilon=epsilon, smoothing=smoothing)
    return ask(release, data, column=column, by=None, groups=None, ledger=ledger, rng=rng, label=label)
