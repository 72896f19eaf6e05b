"""A histogram as points in order: the records of a cell are spread over it, the i-th always at the same place.

The i-th record of a cell stands at the i-th number of van der Corput's sequence ½, ¼, ¾, ⅛, ⅝, …, so that one more
record in a cell is one more point, and all others stay. Neighbouring histograms are then neighbouring sets of points,
no two of which are equal, and what is proved for distinct numbers holds for tables full of ties. The records of a cell
are even, too, so that a place within a cell means something when the data are fine and the cells are not.

Nothing is ever written out: the k-th point is found by halving.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.estimation.tally import Counts

Integers = NDArray[np.int64]

#: Each cell has 2 to this power of places.
PLACE_BITS = 32


class PointRun(NamedTuple):
    """Some consecutive points, and the places between which an outcome may lie."""

    low: int
    high: int  # both included
    first: int  # the rank of the first point
    many: int


class RecordPoints:
    """The records of a histogram as points, all at different places.

    Parameters
    ----------
    counts
        How many records each cell has.
    bits
        A cell has 2 to this power of places, and one record less fits in it; further ones are left out. One more record
        is then still one more point, or none.
    """

    def __init__(self, counts: Counts, bits: int = PLACE_BITS) -> None:
        self.counts = np.minimum(counts, (1 << bits) - 1).astype(np.int64)
        self.bits = bits
        self.ends = np.cumsum(self.counts, dtype=np.int64)

    @property
    def whole(self) -> PointRun:
        """All points, and all places."""
        return PointRun(0, (self.counts.size << self.bits) - 1, 0, int(self.ends[-1]))

    def cell(self, rank: Integers) -> Integers:
        """The cell of the point of each rank, counted from 0."""
        return np.searchsorted(self.ends, rank, side="right")

    def place(self, rank: Integers) -> Integers:
        """Where the point of each rank stands."""
        cell = self.cell(rank)
        inside = rank - (self.ends[cell] - self.counts[cell])
        return (cell << self.bits) + _spread(inside, self.counts[cell], self.bits)

    def places(self) -> Integers:
        """Where all points stand, in order."""
        return self.place(np.arange(self.whole.many, dtype=np.int64))

    def below(self, place: int) -> int:
        """How many points stand before a place."""
        cell, inside = place >> self.bits, place & ((1 << self.bits) - 1)
        count = int(self.counts[cell])
        return int(self.ends[cell]) - count + _spread_below(inside, count, self.bits)

    def split(self, part: PointRun, place: int) -> tuple[PointRun, PointRun]:
        """The points before a place, and the others."""
        rank = self.below(place)
        left = PointRun(part.low, place, part.first, rank - part.first)
        return left, PointRun(place, part.high, rank, part.many - left.many)


def _spread(rank: Integers, count: Integers, bits: int) -> Integers:
    """The place of the point of this rank among the 1st..count-th numbers of the sequence.

    The i-th number is i with its bits reversed. Of the numbers 0..count, whose first is at 0, those with last bit 0
    come before those with last bit 1; halve, and ask again.
    """
    many, wanted, place = count + 1, rank + 1, np.zeros_like(rank)
    for bit in reversed(range(bits)):
        even = (many + 1) >> 1
        odd = wanted >= even
        wanted = np.where(odd, wanted - even, wanted)
        many = np.where(odd, many >> 1, even)
        place |= odd.astype(np.int64) << bit
        if not (many > 1).any():
            break
    return place


def _spread_below(place: int, count: int, bits: int) -> int:
    """How many of the 1st..count-th numbers of the sequence are below a place."""
    many, before = count + 1, 0
    for bit in reversed(range(bits)):
        even = (many + 1) >> 1
        if place >> bit & 1:
            before += even
            many >>= 1
        else:
            many = even
    return before - (place > 0)  # without the number 0, which is at place 0
