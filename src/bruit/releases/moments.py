"""Sums, means and variances of a bounded number.

Numbers become whole steps between the declared bounds, sums are sums of integers, and noise is added to those.

Under ``"add-remove"`` the number of records is not public, and a mean divides one noisy sum by another. Each record
gives c steps to one sum and the remaining m − c to the other: m in all, wherever it lies, so that noise of scale m/ε on
both is enough. Releasing the sum of centred values and the count, as is usual, needs noise of twice the variance. For
the variance the same is done with the three products of c and m − c, which sum to m². See ``moments.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains.domain import Missing
from bruit.entropy import Randomness
from bruit.errors import ParameterError
from bruit.estimation.tally import Counts
from bruit.releases import ratio
from bruit.releases.additive import AdditiveRelease, at_least_one, whole
from bruit.releases.base import CENTRAL, Books, CentralNeighbours
from bruit.releases.grouped import ask
from bruit.releases.noise import DiscreteLaplace, Integers
from bruit.releases.released import Ends, Released
from bruit.releases.steps import Steps

__all__ = ["Mean", "Sum", "Variance", "mean", "sum", "variance"]

#: The sensitivity, in units of what is rounded, of the variance under replace.
_FINENESS = 28


@dataclass(frozen=True, kw_only=True)
class _Moment(AdditiveRelease):
    """What the three have in common: a bounded number, and the sums of its steps."""

    #: How many steps there are at most between the bounds, unless a step is declared.
    most_steps: ClassVar[int] = 2**19

    bounds: tuple[float, float]
    epsilon: float
    neighbours: CentralNeighbours = "add-remove"
    step: float | None = None
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.positive(epsilon=self.epsilon))
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        steps = self.steps
        object.__setattr__(self, "bounds", (float(self.bounds[0]), float(self.bounds[1])))
        object.__setattr__(self, "step", steps.step)
        if self.missing == "drop" and self.public:
            raise ParameterError(
                'Under "replace" the number of records is public, so none may be dropped: '
                'fill the gaps first, or use neighbours="add-remove".'
            )
        self.noise(2**30 if self.public else None)  # a scale beyond the limits is found here

    @cached_property
    def steps(self) -> Steps:
        """The steps between the bounds."""
        return Steps.between(self.bounds, most=self.most_steps, step=self.step, missing=self.missing)

    @property
    def public(self) -> bool:
        """Whether the number of records is public."""
        return self.neighbours == "replace"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "release": self.name,
            "bounds": list(self.bounds),
            "step": self.step,
            "missing": self.missing,
            "epsilon": self.epsilon,
            "neighbours": self.neighbours,
        }

    @property
    def cells(self) -> int:
        """The number of records, and the sum of their steps."""
        return 2

    def _count(self, column: Any) -> Counts:
        codes = self.steps.encode(column)
        return whole(codes.size, codes.sum(dtype=np.int64))

    def _public_n(self, counts: Counts) -> int | None:
        return at_least_one(int(counts[0])) if self.public else None

    def _needed(self, n: int | None) -> int:
        if n is None:
            raise ParameterError(
                f"The error of a {self.name} depends on the number of records: expected_error(n=1000)."
            )
        return _checks.integer(low=1, n=n)

    def _released(self, value: float, error: float, ends: Ends, simulated: bool, *notes: str) -> Released:
        return Released(
            name=self.name,
            values=np.array([value]),
            labels=(self.name,),
            error=np.array([error]),
            guarantee=self.guarantee,
            simulated=simulated,
            release=self.to_dict(),
            ends=ends,
            notes=notes,
        )


@dataclass(frozen=True, kw_only=True)
class Sum(_Moment):
    """The sum of a bounded number over all records.

    Parameters
    ----------
    bounds
        The least and the greatest that the number can be, declared; a number outside counts as the nearest bound.
    epsilon
        The most that the result may tell about one record.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``, under which the number of records is public.
    step
        Numbers are rounded to multiples of it; by default a power of two, under two millionths of the bounds' width.
    missing
        ``"refuse"`` (default) or ``"drop"``, under ``"add-remove"`` only.

    Guarantee
    ---------
    A record changes the sum by at most the greater bound by absolute value (``"add-remove"``) or by the width of the
    bounds (``"replace"``), in whole steps; the noise is discrete Laplace for that.

    Error
    -----
    The standard deviation is about √2 times that change over ε, whatever the data.

    Examples
    --------
    >>> ask_for = Sum(bounds=(0, 100), epsilon=0.5)
    >>> round(ask_for.error, 1)
    282.8
    >>> found = ask_for.release(ask_for.fold([31, 40, 22]), rng=7)
    >>> low, high = found.interval()
    >>> low < found.value < high
    True
    """

    @property
    def name(self) -> str:
        """What is released."""
        return "sum"

    def sensitivity(self, n: int | None = None) -> int:
        """In steps: the width of the bounds where n is public, else the greater bound."""
        steps = self.steps
        return steps.width if self.public else max(abs(steps.low), abs(steps.high))

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise."""
        return self.noise().error * self.steps.step

    def _sums(self, counts: Counts) -> Integers:
        return whole(int(counts[1]) + int(counts[0]) * self.steps.low)

    def _publish(self, noisy: Integers, noise: DiscreteLaplace, n: int | None, simulated: bool) -> Released:
        unit = self.steps.step
        value = float(noisy[0]) * unit
        return self._released(value, noise.error * unit, _around(value, noise, unit), simulated)


@dataclass(frozen=True, kw_only=True)
class Mean(_Moment):
    """The mean of a bounded number.

    Parameters
    ----------
    bounds, epsilon, neighbours, step, missing
        As in `Sum`.

    Guarantee
    ---------
    ``"add-remove"``: a record of c steps changes two sums by c and m − c, together by m, the width of the bounds in
    steps. ``"replace"``: the sum of steps changes by at most m, and the number of records is public. The noise is
    discrete Laplace of scale m/ε in both cases.

    Error
    -----
    For n records about √2·width/(n·ε) under ``"replace"``; under ``"add-remove"`` between 0.71 of that, for a mean in
    the middle of the bounds, and all of it, for one at an end.

    Examples
    --------
    >>> ask_for = Mean(bounds=(0, 100), epsilon=0.5)
    >>> round(ask_for.expected_error(n=1000), 3)
    0.283
    >>> found = ask_for.release(ask_for.fold(range(100)), rng=7)
    >>> 0 <= found.value <= 100
    True
    """

    @property
    def name(self) -> str:
        """What is released."""
        return "mean"

    def sensitivity(self, n: int | None = None) -> int:
        """The width of the bounds in steps."""
        return self.steps.width

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise for n records; the largest for any mean, under add-remove."""
        return self.noise(n).error * self.steps.step / self._needed(n)

    def _sums(self, counts: Counts) -> Integers:
        n, steps = int(counts[0]), int(counts[1])
        return whole(steps) if self.public else whole(steps, n * self.steps.width - steps)

    def _publish(self, noisy: Integers, noise: DiscreteLaplace, n: int | None, simulated: bool) -> Released:
        steps = self.steps
        if n is not None:
            unit = steps.step / n
            value = steps.low * steps.step + float(noisy[0]) * unit
            return self._released(value, noise.error * unit, _around(value, noise, unit), simulated)
        above, below = float(noisy[0]), float(noisy[1])
        total = max(above + below, float(steps.width))
        share = min(max(above / total, 0.0), 1.0)
        error = math.hypot(share, 1 - share) * noise.error / total

        def ends(level: float) -> Any:
            return steps.value(ratio.interval(above, below, float(noise.scale), level) * steps.width)

        value = float(steps.value(share * steps.width))
        spread = error * steps.width * steps.step
        return self._released(value, spread, ends, simulated, "kept within the bounds, Fieller interval")


@dataclass(frozen=True, kw_only=True)
class Variance(_Moment):
    """The variance of a bounded number: the mean square distance from the mean, over all records.

    Parameters
    ----------
    bounds, epsilon, neighbours, step, missing
        As in `Sum`.

    Guarantee
    ---------
    ``"add-remove"``: a record of c steps changes three sums by (m − c)², 2c(m − c) and c², together by m²; the noise is
    discrete Laplace of scale m²/ε on each. ``"replace"``: the variance itself changes by at most (n − 1)·width²/n², and
    n is public; the noise is on that.

    Error
    -----
    For n records about √2·width²/(n·ε) or less.

    Examples
    --------
    >>> ask_for = Variance(bounds=(0, 10), epsilon=1.0)
    >>> found = ask_for.release(ask_for.fold([2, 4, 6, 8] * 5000), rng=7)
    >>> round(found.value, 1)
    5.0
    """

    # Squares of steps must leave room for many records in 64 bits.
    most_steps: ClassVar[int] = 2**14

    @property
    def name(self) -> str:
        """What is released."""
        return "variance"

    @property
    def cells(self) -> int:
        """The number of records, the sum of their steps, and that of their squares."""
        return 3

    def sensitivity(self, n: int | None = None) -> int:
        """In squares of a step: m², or where n is public (n − 1)·m² of n² times the variance, in rounded units."""
        square = self.steps.width**2
        return square if not self.public else max(1, -(-(self._needed(n) - 1) * square // self._unit(n)))

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise for n records; the largest for any data, under add-remove."""
        many = self._needed(n)
        spread = self.noise(n).error * self.steps.step**2
        if self.public:
            return spread * self._unit(n) / many**2
        # The gradient of B₀B₂/N² − B₁²/4N² is longest, 1/N, where all records are at one end.
        return spread / many

    def _unit(self, n: int | None) -> int:
        """What n² times the variance is rounded to under replace: a power of two far below its sensitivity."""
        return 1 << max(0, (self._needed(n) * self.steps.width**2).bit_length() - _FINENESS)

    def _count(self, column: Any) -> Counts:
        codes = self.steps.encode(column).astype(np.int64)
        return whole(codes.size, codes.sum(), np.dot(codes, codes))

    def _sums(self, counts: Counts) -> Integers:
        n, first, second = (int(count) for count in counts)
        m = self.steps.width
        if self.public:
            unit = self._unit(n)
            return whole((2 * (n * second - first**2) + unit) // (2 * unit))
        return whole(n * m**2 - 2 * m * first + second, 2 * (m * first - second), second)

    def _publish(self, noisy: Integers, noise: DiscreteLaplace, n: int | None, simulated: bool) -> Released:
        square = self.steps.step**2
        if n is not None:
            unit = self._unit(n) * square / n**2
            value = float(noisy[0]) * unit
            return self._released(value, noise.error * unit, _around(value, noise, unit), simulated)
        width = self.steps.width**2
        total = max(float(noisy.sum()), float(width))
        b0, b1, b2 = (float(part) / total for part in noisy)
        share = b0 * b2 - b1**2 / 4
        slope = math.hypot(b2 - 2 * share, b1 / 2 + 2 * share, b0 - 2 * share)
        value = min(max(share, 0.0), 0.25) * width * square
        error = slope * noise.error / total * width * square

        def ends(level: float) -> Any:
            half = ratio.laplace_factor(level) * error
            return [max(value - half, 0.0), min(value + half, width * square / 4)]

        return self._released(value, error, ends, simulated, "kept within the bounds, approximate interval")


def sum(  # the word of the trade; within this module the built-in is not used
    data: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    step: float | None = None,
    missing: Missing = "refuse",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """The sum of a bounded number, with noise.

    Parameters
    ----------
    data
        A column, or with `column` a table: a mapping, a frame, or the path of a file.
    epsilon, bounds, neighbours, step, missing
        As in `Sum`.
    column
        The name of the column in the table.
    by, groups
        One result for each declared group, as in `count`.
    ledger, rng, label
        As in `Release.release`.

    Examples
    --------
    >>> sum([31, 40, 22], bounds=(0, 100), epsilon=1.0, rng=7).labels
    ('sum',)
    """
    asked = Sum(bounds=bounds, epsilon=epsilon, neighbours=neighbours, step=step, missing=missing)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def mean(
    data: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    step: float | None = None,
    missing: Missing = "refuse",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """The mean of a bounded number, with noise; parameters as in `sum`.

    Examples
    --------
    >>> table = {"age": [31, 40, 22, 57], "sex": ["F", "M", "F", "M"]}
    >>> found = mean(table, column="age", by="sex", groups=["F", "M"], bounds=(0, 100), epsilon=1.0, rng=7)
    >>> found.labels, found.guarantee.epsilon
    (('F', 'M'), 1.0)
    """
    asked = Mean(bounds=bounds, epsilon=epsilon, neighbours=neighbours, step=step, missing=missing)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def variance(
    data: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    step: float | None = None,
    missing: Missing = "refuse",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """The variance of a bounded number, with noise; parameters as in `sum`.

    Examples
    --------
    >>> variance([31, 40, 22], bounds=(0, 100), epsilon=1.0, rng=7).labels
    ('variance',)
    """
    asked = Variance(bounds=bounds, epsilon=epsilon, neighbours=neighbours, step=step, missing=missing)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def _around(value: float, noise: DiscreteLaplace, unit: float) -> Ends:
    """The ends of an interval about a value that has this noise in these units."""
    return lambda level: [value - noise.half_width(level) * unit, value + noise.half_width(level) * unit]
