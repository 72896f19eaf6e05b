"""Sums, means and variances of a bounded number.

Numbers become whole steps between the declared bounds, sums are sums of integers, and noise is added to those.

Under ``"add-remove"`` the number of records is not public, and a mean divides one noisy sum by another. Each record
gives c steps to one sum and the remaining m − c to the other: m in all, wherever it lies, so that noise of scale m/ε on
both is enough. Releasing the sum of centred values and the count, as is usual, needs noise of twice the variance. For a
variance a record gives (m − c)², 2c(m − c) and c² to three sums: m² in all. Under ``"replace"`` the number of records
is public, and the noise is on the result itself. See ``moments.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.domains.grid import as_written
from bruit.domains.interval import Interval, declared_bounds
from bruit.errors import ParameterError
from bruit.estimation.tally import Counts
from bruit.releases import ratio
from bruit.releases.noise import MOST_SUM, Integers, Noise, cut
from bruit.releases.person import Contribution
from bruit.releases.result import Ends, Result
from bruit.releases.statistic import (
    MOST_RECORDS,
    AdditiveStatistic,
    CentralNeighbours,
    Change,
    Statistic,
    checked_size,
    codes_by,
    record_codes,
    whole,
)
from bruit.releases.widths import LEVEL, WidthLike
from bruit.typing import Bounds

__all__ = ["Mean", "Sum", "Variance"]

#: One record changes a sum by at most 2 to this power of units, so that 2⁴⁰ of them fit 61 bits.
_CHANGE_BITS = (MOST_SUM // MOST_RECORDS).bit_length() - 1
#: The sensitivity, in units of what is rounded, of the variance under replace.
_FINENESS = 28
#: The most bits of what is released.
_SUM_BITS = MOST_SUM.bit_length() - 1


@dataclass(frozen=True)
class Moment(AdditiveStatistic):
    """What the three have in common: a bounded number, the sums of its steps, and one noisy result."""

    rising: ClassVar[bool] = True
    document_policies: ClassVar[tuple[str, ...]] = ("missing", "outside")
    #: How many steps there are at most between the bounds, unless a step is declared.
    most_steps: ClassVar[int] = 2**19

    column: str | None = None
    _: KW_ONLY
    bounds: Bounds | Interval | Grid
    epsilon: float = math.nan
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    step: float | None = None
    within: InitVar[WidthLike | None] = None

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The policies of the bounds, and the weights of the records where there is a statistic with weights."""
        weights = ("weighted_by",) if f"weighted {cls.kind}" in cls.kinds else ()
        return (*super().option_names(), *weights)

    @classmethod
    def declared(cls, questions: Sequence[str], options: Mapping[str, Any]) -> Statistic:
        """The statistic; with `weighted_by`, the one whose records have weights."""
        if options.get("weighted_by"):
            return cls.kinds[f"weighted {cls.kind}"].kind.declared(questions, options)
        return super().declared(questions, {name: value for name, value in options.items() if name != "weighted_by"})

    def __post_init__(self, within: WidthLike | None) -> None:
        self._settle(within)
        self._check_privacy()
        object.__setattr__(self, "bounds", declared_bounds(self.bounds))
        self._check_gaps(self.bounds)
        grid = self.grid
        object.__setattr__(self, "step", float(grid.step) if self.step is None else float(self.step))
        self.noise(2**30 if self.public else None)  # a scale beyond the limits is found here

    @cached_property
    def grid(self) -> Grid:
        """The multiples of the step between the bounds."""
        bounds: Any = self.bounds  # without a grid's points
        return Grid.of(bounds, cells=self.most_steps, step=self.step)

    @property
    def size(self) -> int:
        """The number of records, and the sum of their steps."""
        return 2

    @property
    def _step(self) -> float:
        return float(self.grid.step)

    @property
    def _written_step(self) -> Fraction:
        """The step as it is declared, so that a result is a decimal multiple of it and not the sum of roundings."""
        return as_written(self._step if self.step is None else self.step)

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """The steps of each number above the lower bound."""
        return [codes_by(self.grid, self.values(batch))]

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """The number of records and the sum of their steps above the lower bound."""
        codes = record_codes(self.grid, self.values(batch))
        return whole(codes.size, codes.sum(dtype=np.int64))

    def _unit(self, n: int | None) -> int:
        """How many steps (or squares of them) sums are rounded to: a power of two, 1 unless records change much.

        In multiples of it the sums of 2⁴⁰ records fit 61 bits, and what one record changes is still 2²⁰ or more.
        """
        return 1 << max(0, (self._change - 1).bit_length() - _CHANGE_BITS)

    @property
    def _change(self) -> int:
        """The most that one record changes any of the sums, in steps, where n is not public."""
        return self.grid.width

    def _rounded(self, n: int | None, *sums: int) -> Integers:
        """Sums of any size to the nearest multiple of the unit, and cut: a change of d becomes at most ⌈d/unit⌉."""
        unit = self._unit(n)
        return cut([(2 * total + unit) // (2 * unit) for total in sums])

    def public_size(self, counts: Counts) -> int | None:
        """The number of records under ``"replace"``."""
        return checked_size(int(counts[0])) if self.public else None

    def _needed(self, n: int | None) -> int:
        if n is None:
            raise ParameterError(
                f"The error of a {self.name} depends on the number of records: say n, as in expected_error(n=1000), "
                "within=Within(0.5, n=1000), -n 1000, or in a file expected_rows = 1000."
            )
        return _checks.integer(low=1, n=n)

    def _about(self, value: Fraction, noise: Noise, unit: Fraction, simulated: bool) -> Result:
        """A value that has this noise in these units; floats are the nearest to exact numbers."""

        def ends(level: float) -> Any:
            half = Fraction(noise.half_width(level)) * unit
            return [float(value - half), float(value + half)]

        return self._result(float(value), simulated, standard_error=noise.standard_error * float(unit), ends=ends)

    def _kept(self, value: float, error: float, ends: Ends, interval: str, simulated: bool) -> Result:
        return self._result(
            value, simulated, standard_error=error, ends=ends, notes=("kept within the bounds", interval)
        )


@dataclass(frozen=True)
class Sum(Moment):
    """The sum of a bounded number over all records.

    Parameters
    ----------
    column
        The column of a table; None for data that are one column.
    bounds
        The least and the greatest that the number can be, declared; a number outside counts as the nearest bound. An
        `Interval`, or the ends of a `Grid`, may declare policies: ``Interval(0, 100, missing="drop")`` leaves records
        without a number out (``"add-remove"`` only), and ``outside="refuse"`` is an error before anything is booked.
    epsilon
        The most that the result may tell about one record.
    delta
        0 (default) for Laplace noise; a small number, far below one over the number of records, for Gaussian noise.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``, under which the number of records is public.
    step
        Numbers are rounded to multiples of it; by default a power of two, under two millionths of the bounds' width.
    within
        In place of `epsilon`: half the width of the 95 % interval, for the least ε that gives it.

    Guarantee
    ---------
    A record changes the sum by at most the greater bound by absolute value (``"add-remove"``) or by the width of the
    bounds (``"replace"``), in whole steps; the noise is discrete Laplace for that, or with a δ discrete Gaussian. The
    sum of more than 2⁴⁰ records may be cut; under ``"replace"`` more than that are refused.

    Error
    -----
    The standard deviation is about √2 times that change over ε, whatever the data.

    Examples
    --------
    >>> from bruit.releases import release
    >>> total = release({"age": [31, 40, 22]}, Sum("age", bounds=(0, 100), epsilon=0.5), rng=7)
    >>> low, high = total.interval()
    >>> low < total.value < high, total.standard_error.round(1).tolist()
    (True, [282.8])
    """

    kind: ClassVar[str] = "sum"
    rising: ClassVar[bool] = False  # of numbers below 0

    def change(self, neighbours: CentralNeighbours, n: int | None = None) -> Change:
        """In units: the width of the bounds where n is public, else the greater bound."""
        most = self.grid.width if neighbours == "replace" else -(-self._change // self._unit(n))
        return Change(most, most**2)

    @property
    def _change(self) -> int:
        first = self.grid.first
        return self.grid.width if self.public else max(abs(first), abs(first + self.grid.width))

    def contributed(self, contribution: Contribution) -> Change:
        """As for all sums; but where all numbers may be of one sign, or of both, a replaced person changes less."""
        change = super().contributed(contribution)
        if not contribution.replaced:
            return change
        unit, first = self._unit(None), self.grid.first
        most = self.change("add-remove").l1
        span = -(-(max(first + self.grid.width, 0) - min(first, 0)) // unit)
        squares = contribution.full_groups * contribution.rows_per_group**2 * max(2 * most**2, span**2)
        return Change(change.l1, min(change.l2_squared, squares))

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise."""
        return self.noise().standard_error * self._unit(n) * self._step

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """Half the width of every interval."""
        return float(Fraction(self.noise().half_width(level)) * self._unit(n) * self._written_step)

    def sums(self, counts: Counts) -> Integers:
        """The sum, from 0 or, where n is public, from the lower bound."""
        n, steps = int(counts[0]), int(counts[1])
        return self._rounded(None, steps if self.public else steps + n * self.grid.first)

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The noisy sum in the unit of the data."""
        unit = self._unit(n)
        steps = int(noisy[0]) * unit + (n or 0) * self.grid.first
        return self._about(steps * self._written_step, noise, unit * self._written_step, simulated)


@dataclass(frozen=True)
class Mean(Moment):
    """The mean of a bounded number.

    Parameters
    ----------
    column, bounds, epsilon, delta, neighbours, step
        As in `Sum`.
    within
        As in `Sum`, for a number of records, ``Within(0.5, n=1000)``, at the mean for which the interval is widest.

    Guarantee
    ---------
    ``"add-remove"``: a record of c steps changes two sums by c and m − c, together by m, the width of the bounds in
    steps. ``"replace"``: the sum of steps changes by at most m, and the number of records is public. The noise is
    discrete Laplace of scale m/ε in both cases, or with a δ discrete Gaussian for a change of Euclidean norm m.

    Error
    -----
    For n records about √2·width/(n·ε) under ``"replace"``; under ``"add-remove"`` between 0.71 of that, for a mean in
    the middle of the bounds, and all of it, for one at an end.

    Examples
    --------
    >>> from bruit.releases import release
    >>> mean = Mean("age", bounds=(0, 100), epsilon=0.5)
    >>> round(mean.expected_error(n=1000), 3)
    0.283
    >>> 0 <= release({"age": range(100)}, mean, rng=7).value <= 100
    True
    """

    kind: ClassVar[str] = "mean"

    def change(self, neighbours: CentralNeighbours, n: int | None = None) -> Change:
        """The width of the bounds in steps."""
        return Change(self.grid.width, self.grid.width**2)

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise for n records; the largest for any mean, under add-remove."""
        return self.noise(n).standard_error * self._step / self._needed(n)

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """Half the width of an interval for n records; of the widest for any mean, under add-remove."""
        many, noise = self._needed(n), self.noise(n)
        if self.public:
            return float(Fraction(noise.half_width(level)) * self._written_step / many)
        scale, tail = noise.ratio_law()
        total = many * self.grid.width / self._unit(None)
        return ratio.widest(total, scale, level, tail) * self.grid.width * self._step

    def sums(self, counts: Counts) -> Integers:
        """The steps above the lower bound and, where n is not public, below the upper."""
        n, steps = int(counts[0]), int(counts[1])
        return self._rounded(None, *([steps] if self.public else [steps, n * self.grid.width - steps]))

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The noisy sum over n, or the share of one noisy sum in both."""
        grid = self.grid
        if n is not None:
            unit = self._written_step / n
            return self._about((n * grid.first + int(noisy[0])) * unit, noise, unit, simulated)
        above, below = float(noisy[0]), float(noisy[1])
        scale, tail = noise.ratio_law()
        total = max(above + below, float(grid.width))
        share = min(max(above / total, 0.0), 1.0)
        error = math.hypot(share, 1 - share) * noise.standard_error / total

        def ends(level: float) -> Any:
            return grid.value(ratio.interval(above, below, scale, level, tail) * grid.width)

        exact = max(int(noisy[0]) + int(noisy[1]), grid.width)
        places = grid.width * min(max(Fraction(int(noisy[0]), exact), Fraction(0)), Fraction(1))
        value = float((grid.first + places) * self._written_step)
        return self._kept(value, error * grid.width * self._step, ends, ratio.CALLED, simulated)


@dataclass(frozen=True)
class Variance(Moment):
    """The variance of a bounded number: the mean square distance from the mean, over all records.

    Parameters
    ----------
    column, bounds, epsilon, delta, neighbours, step
        As in `Sum`.
    within
        As in `Mean`; the interval is approximate.

    Guarantee
    ---------
    ``"add-remove"``: a record of c steps changes three sums by (m − c)², 2c(m − c) and c², together by m²; the noise is
    discrete Laplace of scale m²/ε on each. ``"replace"``: the variance itself changes by at most (n − 1)·width²/n², and
    n is public; the noise is on that. With a δ it is discrete Gaussian for a change of Euclidean norm as large.

    Error
    -----
    For n records about √2·width²/(n·ε) or less.

    Examples
    --------
    >>> from bruit.releases import release
    >>> round(release([2, 4, 6, 8] * 5000, Variance(bounds=(0, 10), epsilon=1.0), rng=7).value, 1)
    5.0
    """

    kind: ClassVar[str] = "variance"
    # Squares of steps must leave room for many records in 64 bits.
    most_steps: ClassVar[int] = 2**14

    @property
    def size(self) -> int:
        """The number of records, the sum of their steps, and that of their squares."""
        return 3

    def change(self, neighbours: CentralNeighbours, n: int | None = None) -> Change:
        """In units: m², rounded up for each sum; or where n is public (n − 1)·m², of n² times the variance."""
        unit = self._unit(n)
        if neighbours == "replace":
            most = max(1, -(-(self._needed(n) - 1) * self.grid.width**2 // unit))
        else:
            most = (self._change + 3 * (unit - 1)) // unit
        return Change(most, most**2)

    @property
    def _change(self) -> int:
        return self.grid.width**2

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise for n records; the largest for any data, under add-remove."""
        many = self._needed(n)
        spread = self.noise(n).standard_error * self._unit(n) * self._step**2
        if self.public:
            return spread / many**2
        # The gradient of B₀B₂/N² − B₁²/4N² is longest, 1/N, where all records are at one end.
        return spread / many

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """Half the width of an interval for n records; of the widest for any data, approximately, under add-remove."""
        if self.public:
            unit = self._unit(n) * self._written_step**2 / self._needed(n) ** 2
            return float(Fraction(self.noise(n).half_width(level)) * unit)
        return (ratio.normal_factor if self.delta else ratio.laplace_factor)(level) * self.expected_error(n)

    def _unit(self, n: int | None) -> int:
        """As for all moments; under replace what n² times the variance is rounded to, far below its sensitivity."""
        if not self.public:
            return super()._unit(n)
        change, most = self._needed(n) * self.grid.width**2, (self._needed(n) * self.grid.width) ** 2 // 4
        return 1 << max(0, change.bit_length() - _FINENESS, most.bit_length() - _SUM_BITS)

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """The number of records, the sum of their steps, and that of their squares."""
        codes = record_codes(self.grid, self.values(batch)).astype(np.int64)
        return whole(codes.size, codes.sum(), np.dot(codes, codes))

    def sums(self, counts: Counts) -> Integers:
        """The three sums, or n² times the variance where n is public."""
        n, first, second = (int(count) for count in counts)
        m = self.grid.width
        if self.public:
            return self._rounded(n, n * second - first**2)
        return self._rounded(None, n * m**2 - 2 * m * first + second, 2 * (m * first - second), second)

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The variance of the noisy sums."""
        square, many = self._step**2, self._unit(n)
        if n is not None:
            unit = many * self._written_step**2 / n**2
            return self._about(int(noisy[0]) * unit, noise, unit, simulated)
        width = self.grid.width**2
        total = max(float(noisy.sum()), width / many)
        b0, b1, b2 = (float(part) / total for part in noisy)
        share = b0 * b2 - b1**2 / 4
        slope = math.hypot(b2 - 2 * share, b1 / 2 + 2 * share, b0 - 2 * share)
        value = min(max(share, 0.0), 0.25) * width * square
        error = slope * noise.standard_error / total * width * square
        factor = ratio.laplace_factor if noise.is_heavy else ratio.normal_factor

        def ends(level: float) -> Any:
            half = factor(level) * error
            return [max(value - half, 0.0), min(value + half, width * square / 4)]

        return self._kept(value, error, ends, "approximate interval", simulated)
