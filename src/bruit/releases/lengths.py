"""How many records must change so that a statistic takes a given value: lengths, by closed forms on histograms.

All lengths are exact whole numbers, computed from whole numbers and fractions. Each has the same reason to change by at
most one when one record is replaced: from a neighbour, what it reaches with k changes can be reached with k + 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains import Grid
from bruit.errors import DataError, FormatError, LimitError, ParameterError
from bruit.estimation.tally import Counts
from bruit.kernels import extreme_variance

__all__ = ["Length", "LengthFunction", "MeanLength", "QuantileLength", "VarianceLength"]

Integers = NDArray[np.int64]

#: More than any sum that is compared with.
_BEYOND = 2**62


@dataclass(frozen=True)
class Axis:
    """Where results may lie: evenly spaced points, in units of the data's step (or its square)."""

    first: Fraction
    width: Fraction
    cells: int

    def point(self, place: int) -> Fraction:
        """The point with this number."""
        return self.first + place * self.width

    def rounded_up(self, factor: int, shift: Fraction) -> list[int]:
        """⌈factor·(point + shift)⌉ for every point; what does not fit 64 bits is beyond all sums, and cut."""
        start, width = factor * (self.first + shift), factor * self.width
        below = math.lcm(start.denominator, width.denominator)
        start_top, width_top = int(start * below), int(width * below)
        rounded = (-(-(start_top + place * width_top) // below) for place in range(self.cells))
        return [min(max(number, -_BEYOND), _BEYOND) for number in rounded]

    def place_above(self, point: Fraction) -> int:
        """The number of the first point at or above a point."""
        return math.ceil((point - self.first) / self.width)


def quantile(counts: Counts, share: Fraction) -> Integers:
    """For each cell, how many records must change for the r-th smallest to be in it, where r = ⌈share·n⌉.

    At most r − 1 records may lie below the cell, and at least r up to its end.
    """
    upto = np.cumsum(counts)
    n = int(upto[-1])
    rank = min(max(math.ceil(share * n), 1), n)
    below = upto - counts
    lengths: Integers = np.maximum(np.maximum(below - (rank - 1), rank - upto), 0)
    return lengths


def mean(counts: Counts, axis: Axis, radius: Fraction) -> Integers:
    """For each point, how many records must change for the mean to come within the radius.

    k changes raise the sum the most if they take the k lowest records to the top; every sum between is reached, too.
    """
    codes = np.arange(counts.size, dtype=np.int64)
    n, total = int(counts.sum()), int(codes @ counts)
    # Wanted: a sum of n·(point − radius) or more, and of n·(point + radius) or less.
    up = np.array(axis.rounded_up(n, -radius), np.int64) - total
    down = np.array(axis.rounded_up(-n, radius), np.int64) + total
    raised = _least_changes(counts, counts.size - 1 - codes, up)
    lowered = _least_changes(counts[::-1], codes[::-1], down)
    return np.maximum(raised, lowered)


def _least_changes(counts: Counts, gains: Integers, wanted: Integers) -> Integers:
    """The least k for which the k largest gains add up to what is wanted; one more than all where none do."""
    many, sums = np.cumsum(counts), np.cumsum(counts * gains)
    n = int(many[-1])
    cell = np.minimum(np.searchsorted(sums, wanted), counts.size - 1)
    missing = wanted - (sums[cell] - counts[cell] * gains[cell])
    changes = many[cell] - counts[cell] + -(-missing // np.maximum(gains[cell], 1))
    return np.where(wanted <= 0, 0, np.where(wanted > sums[-1], n + 1, changes)).astype(np.int64)


def variance(counts: Counts, axis: Axis, radius: Fraction, most: int) -> Integers:
    """For each point, how many records must change for the variance to come within the radius; from `most` on, `most`.

    With k changes all variances between the least and the greatest are reached; see `kernels.extreme_variance`.
    """
    n, top = int(counts.sum()), counts.size - 1
    if n * top >= 2**30:
        raise LimitError("The variance by inverse sensitivity is for n times cells below 2³⁰: use a coarser grid.")
    if n == 0:
        return np.zeros(axis.cells, np.int64)
    tried = min(n, most) + 1
    largest, smallest = np.empty(tried, np.int64), np.empty(tried, np.int64)
    codes = np.repeat(np.arange(counts.size, dtype=np.int64), counts)
    extreme_variance.extremes(codes, top, largest, smallest)
    # Wanted: n²·(point − radius) ≤ largest[k], and smallest[k] ≤ n(n−k)·(point + radius).
    raised = np.searchsorted(largest, np.array(axis.rounded_up(n * n, -radius), np.int64))
    least = [Fraction(int(smallest[k]), n * (n - k)) if k < n else Fraction(0) for k in range(tried)]
    places = np.array([axis.place_above(value - radius) for value in least], np.int64)
    lowered = np.searchsorted(-places, -np.arange(axis.cells))
    return np.maximum(raised, lowered).astype(np.int64)


def smooth(lengths: Integers, radius: int) -> Integers:
    """The least length within this number of cells to either side."""
    if not radius:
        return lengths
    from scipy.ndimage import minimum_filter1d

    reach = min(radius, lengths.size - 1)
    return np.asarray(minimum_filter1d(lengths, 2 * reach + 1, mode="nearest"), np.int64)


class Length(Protocol):
    """What a length needs: how fine the data are kept, where results lie, and how far each is."""

    @property
    def name(self) -> str:
        """What is released."""
        ...

    @property
    def most_steps(self) -> int:
        """How many steps there may be between a pair of bounds."""
        ...

    @property
    def power(self) -> int:
        """Results are in units of the data's step to this power; 0 if they have units of their own."""
        ...

    @property
    def outputs(self) -> Grid | None:
        """Where results may lie; None for all that the bounds allow."""
        ...

    def lengths(self, counts: Counts, axis: Axis, radius: Fraction, most: int) -> Integers:
        """For each point of the axis, how many records must change for a result within the radius; from `most` on, any
        number not below it.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        ...


@dataclass(frozen=True)
class QuantileLength:
    """A quantile: the ⌈q·n⌉-th smallest record. Results are the points of the data's own grid."""

    quantile: float
    most_steps: int = 2**16
    power: int = 1
    outputs: Grid | None = None

    def __post_init__(self) -> None:
        _checks.fraction(quantile=self.quantile)
        if self.outputs is not None:
            raise ParameterError("The results of a quantile are the points of the data's own grid.")

    @property
    def name(self) -> str:
        """What is released."""
        return f"quantile {self.quantile:g}"

    def lengths(self, counts: Counts, axis: Axis, radius: Fraction, most: int) -> Integers:
        """The records between a point and the wanted rank."""
        exact = quantile(counts, Fraction(self.quantile).limit_denominator(10**6))
        return smooth(exact, int(radius / axis.width))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"name": "quantile", "quantile": self.quantile}


@dataclass(frozen=True)
class MeanLength:
    """The mean. Results are `outputs`, or 1,025 points between the bounds."""

    outputs: Grid | None = None
    most_steps: int = 2**12
    power: int = 1
    name: str = "mean"

    def lengths(self, counts: Counts, axis: Axis, radius: Fraction, most: int) -> Integers:
        """The largest gains first."""
        return mean(counts, axis, radius)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return _with_outputs(self)


@dataclass(frozen=True)
class VarianceLength:
    """The variance, over all records. Results are `outputs`, or 1,025 points from 0 to what the bounds allow."""

    outputs: Grid | None = None
    most_steps: int = 2**10
    power: int = 2
    name: str = "variance"

    def lengths(self, counts: Counts, axis: Axis, radius: Fraction, most: int) -> Integers:
        """The exact extremes of k changes; greedy ones would change by two when one record is replaced."""
        return variance(counts, axis, radius, most)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return _with_outputs(self)


@dataclass(frozen=True)
class LengthFunction:
    """Any statistic, by its length.

    Parameters
    ----------
    function
        Takes how many records each cell of the data's grid has, and returns a whole number for each point of
        `outputs`: how many records must change for the statistic to take that value. **The guarantee rests on this
        number changing by at most 1 when one record is replaced**; that is so for true lengths, and for what is
        computed in a short cut it must be proved. It runs before the release is booked; what it raises is not covered.
    outputs
        Where results may lie.
    name
        What is released. It stands for the function in digests and ledgers.
    """

    function: Callable[[Counts], Any]
    outputs: Grid
    name: str
    most_steps: int = 2**12
    power: int = 0

    def lengths(self, counts: Counts, axis: Axis, radius: Fraction, most: int) -> Integers:
        """What the function says, and the least of it within the radius."""
        lengths = np.asarray(self.function(counts))
        if lengths.shape != (axis.cells,) or lengths.dtype.kind not in "ui" or lengths.min() < 0:
            raise DataError("The length function must return one whole number, 0 or above, for each point of outputs.")
        return smooth(lengths.astype(np.int64), int(radius / axis.width))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"name": self.name, "function": True, "outputs": self.outputs.to_dict()}


def _with_outputs(length: MeanLength | VarianceLength) -> dict[str, Any]:
    outputs = {} if length.outputs is None else {"outputs": length.outputs.to_dict()}
    return {"name": length.name, **outputs}


def length_from_dict(body: Mapping[str, Any]) -> Length:
    """The inverse of `to_dict`; a function is not in a document, and cannot be read from one."""
    if body.get("function"):
        raise FormatError("A length function is code, and no document holds it: give it as a LengthFunction.")
    if body["name"] == "quantile":
        return QuantileLength(body["quantile"])
    outputs = Grid.from_dict(body["outputs"]) if "outputs" in body else None
    return MeanLength(outputs) if body["name"] == "mean" else VarianceLength(outputs)
