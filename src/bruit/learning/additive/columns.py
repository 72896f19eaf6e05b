"""Columns of an additive model and their cells: knots of a number, labels of a category, a cell for missing values.

A record in a number's column has weights on two neighbouring knots, a *hat*, that sum to 2¹⁰. Knots are even in
u(t) = ∫q, where q is the density of knots over t, the way from the low bound to the high one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.domains import Categories
from bruit.domains.grid import DEFAULT_CELLS
from bruit.kernels import additive as kernels
from bruit.learning._features import FeatureRows, Features, Floats

Places = NDArray[np.int32]

#: A number with at least this many values has its knots placed by a noisy histogram.
DENSE = 64
#: The part of the density of knots that follows the histogram; the rest is even.
_BY_RECORDS = 0.7


@dataclass(frozen=True, eq=False)
class ShapeColumns:
    """The declared columns: numbers first, then categories.

    Parameters
    ----------
    low, high
        Bounds of the numbers.
    values
        How many values each number can have.
    gaps
        Whether each number may be missing, which is then a cell of its own.
    labels
        The labels of each category.
    names
        The names of all columns.
    """

    low: Floats
    high: Floats
    values: tuple[int, ...]
    gaps: tuple[bool, ...]
    labels: tuple[tuple[Any, ...], ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, features: Features, columns: int, names: tuple[str, ...] | None) -> ShapeColumns:
        """The declared columns of a table that has so many; x0, x1 and so on are those without a name."""
        low, high = features.ends(columns)
        every = tuple(names) if names is not None else tuple(f"x{place}" for place in range(columns))
        numbers = [place for place in range(columns) if place not in features.categories]
        grids = [features.grids.get(place) for place in numbers]
        categories: list[Categories] = [domain for _, domain in sorted(features.categories.items())]
        return cls(
            low,
            high,
            tuple(DEFAULT_CELLS if grid is None else grid.cells for grid in grids),
            tuple(grid is not None and grid.missing == "category" for grid in grids),
            tuple(tuple(domain.names) for domain in categories),
            (*(every[place] for place in numbers), *(every[place] for place in sorted(features.categories))),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def numbers(self) -> int:
        """How many columns are numbers."""
        return len(self.values)

    @property
    def dense(self) -> tuple[int, ...]:
        """The numbers whose knots are placed by a histogram."""
        return tuple(place for place, values in enumerate(self.values) if values >= DENSE)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of every column.

    Parameters
    ----------
    columns
        The declared columns.
    knots
        How many knots each number has; fine cells of equal width where this is None.
    cumulative
        For each number, u at the ends of its fine cells.
    """

    columns: ShapeColumns
    knots: tuple[int, ...] | None
    cumulative: Floats

    @classmethod
    def fine(cls, columns: ShapeColumns) -> Cells:
        """Cells of equal width, which are counted before anything is known."""
        return cls(columns, None, np.empty((columns.numbers, 0)))

    @classmethod
    def even(cls, columns: ShapeColumns, most: int) -> Cells:
        """At most so many knots for each number, all at the same distance."""
        knots = tuple(min(most, values) for values in columns.values)
        return cls(columns, knots, np.tile(np.arange(kernels.FINE + 1) / kernels.FINE, (columns.numbers, 1)))

    def following(self, column: int, histogram: Floats, total: float) -> Cells:
        """The same cells, with the knots of one number where a noisy histogram has records."""
        root = np.sqrt(simplex(histogram, total))
        density = _BY_RECORDS * root / root.sum() + (1 - _BY_RECORDS) / root.size
        cumulative = self.cumulative.copy()
        rising = np.cumsum(density)
        cumulative[column] = np.append(0, rising / rising[-1])
        return Cells(self.columns, self.knots, cumulative)

    @cached_property
    def ordered(self) -> tuple[int, ...]:
        """How many cells of each column have an order: knots, and none of a category."""
        knots = self.knots or (kernels.FINE,) * self.columns.numbers
        return (*knots, *[0] * len(self.columns.labels))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        # Fine cells always have one for missing values: that keeps them the same for every number.
        gaps = (True,) * self.columns.numbers if self.knots is None else self.columns.gaps
        knots = (size + gap for size, gap in zip(self.ordered, gaps, strict=False))
        return (*knots, *(len(labels) for labels in self.columns.labels))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first cell of each column, among all cells, and their number."""
        return np.append(0, np.cumsum(self.sizes)).astype(np.int64)

    @property
    def total(self) -> int:
        """How many cells there are."""
        return int(self.starts[-1])

    def part(self, column: int) -> slice:
        """Where the cells of a column are among all."""
        return slice(int(self.starts[column]), int(self.starts[column + 1]))

    def places(self, rows: FeatureRows) -> Places:
        """The place of every record in every column."""
        places = np.empty((len(rows.numbers), len(self.columns)), np.int32)
        numbers, low, high = np.ascontiguousarray(rows.numbers), self.columns.low, self.columns.high
        of_numbers = places[:, : self.columns.numbers]
        if self.knots is None:
            kernels.fine_places(numbers, low, high, of_numbers)
        else:
            kernels.hat_places(numbers, low, high, np.asarray(self.knots, np.int64), self.cumulative, of_numbers)
        for column, codes in enumerate(rows.codes, self.columns.numbers):
            places[:, column] = codes.astype(np.int32) << kernels.WEIGHT_BITS
        return places

    def points(self, column: int) -> Floats:
        """Where the knots of a number are, in 0..1."""
        assert self.knots is not None  # noqa: S101 # fine cells have no knots
        ends = np.arange(kernels.FINE + 1) / kernels.FINE
        even = np.linspace(0, 1, self.knots[column])
        return np.asarray(np.interp(even, self.cumulative[column], ends), np.float64)


def simplex(values: Floats, total: float) -> Floats:
    """The nearest vector without negative entries that has this sum.

    >>> simplex(np.array([3.0, 1.0, -2.0]), 2.0).tolist()
    [2.0, 0.0, 0.0]
    """
    falling = np.sort(values)[::-1]
    beyond = (np.cumsum(falling) - total) / np.arange(1, values.size + 1)
    kept = np.nonzero(falling > beyond)[0]
    if not kept.size:  # the largest entry is so large that subtracting the sum does not change it
        return np.where(np.arange(values.size) == np.argmax(values), total, 0.0)
    return np.asarray(np.maximum(values - beyond[kept[-1]], 0.0), np.float64)
