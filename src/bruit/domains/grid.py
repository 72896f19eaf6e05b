"""A declared interval cut into cells, so that a number becomes a code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains import hints
from bruit.domains.domain import DictionaryColumn, Domain, column
from bruit.domains.missing import GAPS_OF_NUMBERS
from bruit.domains.outside import Outside, declared_outside
from bruit.domains.policy import Policy, Read
from bruit.errors import (
    BruitError,
    DataError,
    DataTypeError,
    FormatError,
    LimitError,
    ParameterError,
    ParameterTypeError,
    translated,
)
from bruit.typing import Bounds, ColumnLike

#: The number of points of a grid over real numbers, unless declared.
DEFAULT_CELLS = 1024
#: Bounds are no greater than this and at least so far apart: squares of them, times 2⁶³, are finite and not 0. Users
#: are told of 10¹⁴⁰, which `Grid.of` may move outwards by a step.
MOST_BOUND, LEAST_WIDTH = 2e140, 1e-140


@dataclass(frozen=True, repr=False)
class Grid(Domain):
    """Evenly spaced points from `low` to `high`, both included; a number becomes the nearest point.

    Parameters
    ----------
    low, high
        The declared bounds. They are public: never read them from the data.
    cells
        How many points. By default one per whole number when both bounds are whole numbers and there are at most
        10⁶ of them, otherwise 1,024.
    missing
        The policy for missing values, as in `Categories`.
    outside
        What happens to a number beyond the bounds: ``"refuse"`` (an error) or ``"clamp"`` (it counts as the nearest
        bound). Unless said, numbers are refused where people answer, and clamped in releases of tables.

    Examples
    --------
    >>> ages = Grid(17, 90)
    >>> ages.size, ages.encode([17, 40, 90]).tolist()
    (74, [0, 23, 73])
    >>> Grid(0.0, 1.0, cells=5).decode([1, 4]).tolist()
    [0.25, 1.0]
    """

    gives: ClassVar[Literal["frequency", "mean"]] = "mean"
    policies: ClassVar[tuple[Outside, ...]] = ("refuse", "clamp")
    gaps: ClassVar[str] = GAPS_OF_NUMBERS

    low: float
    high: float
    cells: int = 0

    def __post_init__(self) -> None:
        low, high = _checks.finite(low=self.low), _checks.finite(high=self.high)
        if not low < high:
            raise ParameterError(f"low must be below high, got {self.low} and {self.high}.")
        object.__setattr__(self, "low", _plain_number(self.low))
        object.__setattr__(self, "high", _plain_number(self.high))
        super().__post_init__()
        whole = low.is_integer() and high.is_integer() and not isinstance(self.low, float)
        if self.cells == 0:
            points = int(high - low) + 1
            default = points if whole and points <= _checks.K_LIMITS[1] else DEFAULT_CELLS
            object.__setattr__(self, "cells", default)
        object.__setattr__(self, "cells", _checks.domain_size(cells=self.cells))
        check_width(low, high)
        if not (low + float(self.step) > low and high - float(self.step) < high):
            raise LimitError("cells must be fewer: numbers of this size cannot be told apart so finely.")

    @classmethod
    def of(
        cls,
        bounds: Bounds | Policy,
        *,
        cells: int,
        step: float | None = None,
    ) -> Grid:
        """The multiples of a step that cover a pair of bounds; a bound that is no multiple is moved outwards.

        An `Interval` keeps its policies.

        The step is a power of two unless declared, the finest of which there are at most `cells` between the bounds, so
        that its multiples are exact in floating point.

        >>> cents = Grid.of((0.07, 1), cells=1000, step=0.01)
        >>> cents.first, cents.cells, Grid.of((0, 1), cells=1000).step
        (7, 94, Fraction(1, 512))
        """
        own = bounds if isinstance(bounds, Policy) else Policy()
        low, high = checked_bounds(bounds)
        if step is None:
            finest = math.ulp(max(abs(low), abs(high)))  # finer points cannot be told apart
            step = max(math.ldexp(1.0, math.ceil(math.log2((high - low) / cells))), finest)
        unit = Fraction(_checks.positive(step=step))
        first, last = _near(Fraction(low) / unit, math.floor), _near(Fraction(high) / unit, math.ceil)
        last = max(last, first + 1)
        if last - first >= _checks.K_LIMITS[1]:
            raise LimitError(f"There must be fewer than {_checks.K_LIMITS[1]:,} steps between the bounds.")
        return cls(first * float(step), last * float(step), last - first + 1, missing=own.missing, outside=own.outside)

    @property
    def declared(self) -> int:
        """How many points there are."""
        return self.cells

    @property
    def width(self) -> int:
        """How many steps there are between the bounds."""
        return self.cells - 1

    @cached_property
    def step(self) -> Fraction:
        """The exact distance between neighbouring points."""
        return (Fraction(self.high) - Fraction(self.low)) / self.width

    @property
    def is_whole(self) -> bool:
        """Whether the points are whole numbers one apart."""
        return self.step == 1 and float(self.low).is_integer()

    @property
    def has_own_cells(self) -> bool:
        """Whether the bounds are declared as whole numbers, and each whole number between them has a point."""
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        return whole and self.cells == self.high - self.low + 1

    @property
    def first(self) -> int:
        """Which multiple of the step the first point is, to the nearest."""
        return round(Fraction(self.low) / self.step)

    def point(self, place: int) -> Fraction:
        """The exact point with this code."""
        return Fraction(self.low) + place * self.step

    def numbers(self, places: Any) -> NDArray[np.float64]:
        """The points with these codes as a person writes them: 21.4 where floats would add up to 21.400000000000002.

        >>> Grid(0, 1, cells=11).numbers([3]).tolist(), Grid(0, 1, cells=11).decode([3]).tolist()
        ([0.3], [0.30000000000000004])
        """
        low = as_written(self.low)
        step = (as_written(self.high) - low) / self.width
        unit = math.lcm(low.denominator, step.denominator)
        first, apart = int(low * unit), int(step * unit)
        array = np.asarray(places, np.int64)
        if max(unit, abs(first) + apart * self.width) <= 2**53:  # a quotient of exact floats is the nearest float
            return (first + apart * array) / np.float64(unit)
        points = [float(low + place * step) for place in array.ravel().tolist()]
        return np.array(points, np.float64).reshape(array.shape)

    def value(self, places: Any) -> Any:
        """The numbers at these steps above the first point, also between points."""
        return self.low + np.asarray(places, np.float64) * float(self.step)

    @property
    def points(self) -> NDArray[np.float64]:
        """All points, from low to high."""
        return np.linspace(self.low, self.high, self.cells)

    @property
    def declared_names(self) -> tuple[float, ...]:
        """The points."""
        return tuple(self.points.tolist())

    @property
    def written_names(self) -> tuple[Any, ...]:
        """The labels of published counts: as `names`, which cards and estimates keep, in the decimals of `numbers`."""
        return self.with_others(tuple(self.numbers(np.arange(self.cells)).tolist()))

    def read(self, values: ColumnLike) -> Read:
        """The values as numbers, NaN where one is missing."""
        return between(read_numbers(values), self.low, self.high)

    def nearest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The nearest bound for numbers beyond it."""
        return np.asarray(np.clip(values, self.low, self.high))

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """The nearest point of each number. Halves go up: a cell does not depend on parity as in banker's rounding."""
        places = (values - self.low) / float(self.step)
        places += 0.5
        whole: NDArray[np.float64] = np.floor(places, out=places)
        return whole

    def refusal(self, read: Read) -> DataError:
        """Numbers must lie within the bounds."""
        return beyond(self.low, self.high)

    def decode(self, codes: Any) -> NDArray[Any]:
        """The points behind codes; NaN for the category of missing values."""
        array = column(codes, "codes")
        if array.dtype.kind not in "ui" or (array.size and not (array.min() >= 0 and array.max() < self.size)):
            raise DataError(f"codes must be integers in 0..{self.size - 1}.")
        values: NDArray[np.float64] = np.append(self.points, np.nan)[array]
        return values

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "kind": "grid",
            "low": self.low,
            "high": self.high,
            "cells": self.cells,
            "missing": self.missing,
            **declared_outside(self.outside),
        }

    @classmethod
    def from_dict(cls, body: Any) -> Grid:
        """The inverse of `to_dict`."""
        rule = "A grid must have low, high, cells and a policy for missing values."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            return cls(body["low"], body["high"], body["cells"], missing=body["missing"], outside=body.get("outside"))


def as_written(number: float) -> Fraction:
    """A declared number as a person wrote it: 0.1 is a tenth. A power of two, as bruit chooses steps, is exact.

    >>> as_written(0.1), as_written(2.0**-30) == Fraction(1, 2**30)
    (Fraction(1, 10), True)
    """
    exact = number if isinstance(number, Fraction) else Fraction(float(number))
    is_power = exact > 0 and not exact.numerator & (exact.numerator - 1)
    return exact if is_power else Fraction(repr(float(number)))


def between(numbers: NDArray[np.float64], low: float, high: float) -> Read:
    """Numbers, of which NaN is missing and those beyond the ends are outside."""
    # fmin and fmax pass over NaN, and give it where there is nothing else.
    least, most = np.fmin.reduce(numbers, initial=np.nan), np.fmax.reduce(numbers, initial=np.nan)
    none = not (least < low or most > high)
    outside = np.zeros(numbers.size, bool) if none else (numbers < low) | (numbers > high)
    return Read(numbers, np.isnan(numbers), outside)


def beyond(low: float, high: float) -> DataError:
    """What is wrong with numbers beyond declared ends."""
    return DataError(
        f"values must lie in the declared bounds {low}..{high}. Mend them, or declare "
        'outside="clamp" (--outside clamp), which takes the nearest bound.'
    )


def read_numbers(values: ColumnLike) -> NDArray[np.float64]:
    """The values as numbers, NaN where one is missing; what is no number is an error."""
    if isinstance(values, DictionaryColumn):
        return _read_entries(values)
    array = column(values)
    if array.dtype.kind == "O":
        array = _numbers(array)
    if array.dtype.kind not in "uif" and array.size:
        raise _not_numbers(_other_than_numbers(array))
    return array.astype(np.float64)


def checked_bounds(bounds: Any) -> tuple[float, float]:
    """A pair of increasing numbers; the one check of bounds."""
    if bounds is None:
        raise ParameterError(
            "bounds must be declared, as in bounds=(0, 100): reading them from the data would publish the smallest and "
            "the largest record without noise. Take what the numbers can be; those outside count as the nearest bound."
        )
    pair = isinstance(bounds, Sequence | np.ndarray) and not isinstance(bounds, str | bytes) and len(bounds) == 2
    if not pair:
        raise ParameterTypeError("bounds must be a pair of numbers, as in bounds=(0, 100).")
    low, high = _checks.finite(low=bounds[0]), _checks.finite(high=bounds[1])
    if not low < high:
        raise ParameterError(f"bounds must be increasing, got {low:g} and {high:g}.")
    check_width(low, high)
    return low, high


def check_width(low: float, high: float) -> None:
    """That bounds, their distance and its square can be computed with, in every statistic and mechanism."""
    if max(abs(low), abs(high)) > MOST_BOUND:
        raise LimitError("bounds must lie within ±10¹⁴⁰, so that results are finite: choose a larger unit.")
    if high - low < LEAST_WIDTH:
        raise LimitError("bounds must be at least 10⁻¹⁴⁰ apart, so that errors are not 0: choose a smaller unit.")


def _near(exact: Fraction, rounding: Any) -> int:
    """A whole number that is meant (1/0.01 is a hundred), or else the next one outwards."""
    nearest = round(exact)
    return nearest if abs(exact - nearest) <= Fraction(1, 10**9) * max(1, abs(nearest)) else int(rounding(exact))


def _numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers with gaps, as tables keep them."""
    gaps = np.array([value is None or type(value).__name__ in ("NAType", "NaTType") for value in array.tolist()])
    numbers = np.full(array.size, np.nan)
    for place in np.flatnonzero(~gaps):
        if isinstance(array[place], bool | str) or not hasattr(array[place], "__float__"):
            raise _not_numbers(_other_than_numbers(array))
        number = _number(array[place])
        numbers[place] = np.inf if number is None else number  # beyond all bounds
    return numbers


def _read_entries(cells: DictionaryColumn) -> NDArray[np.float64]:
    """Numbers that a file keeps as text; an entry that nobody has may be anything."""
    read = [_number(entry) for entry in np.asarray(cells.entries).tolist()]
    table = np.array([np.nan if number is None else number for number in (*read, None)])
    unread = np.array([number is None for number in (*read, 0.0)])
    if unread[cells.positions].any():
        wrong = (cells.entries[place] for place in np.unique(cells.positions[unread[cells.positions]]).tolist())
        raise _not_numbers(wrong)
    return np.asarray(table[cells.positions])


def _other_than_numbers(array: NDArray[Any]) -> list[Any]:
    """The texts that are no numbers; texts that are, in memory, are refused all the same, but not explained."""
    return [value for value in array.tolist() if isinstance(value, str) and _number(value) is None]


def _not_numbers(values: Any) -> DataTypeError:
    return DataTypeError(f"values must be numbers.{hints.about_numbers(values)}")


def _number(entry: Any) -> float | None:
    """An entry of a file as a number, None if it is none; the error, which shows the entry, goes no further."""
    try:
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        return None


def _plain_number(bound: Any) -> float:
    """A bound as a plain number; whole ones stay whole, because they then keep cells of their own."""
    if isinstance(bound, np.generic):
        bound = bound.item()
    return bound if isinstance(bound, int | float) and abs(bound) <= 2**53 else float(bound)
