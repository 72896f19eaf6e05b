"""Distance laws: from one random word to an outcome some steps to the left or to the right of the value.

One table serves all values: the cumulative weights of the distances 0, 1, 2, … The words of a value are shared out to
its left side (with the value itself) first, then to its right, and a binary search of a fixed number of steps finds the
distance. What is done does not depend on the value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def prepare(cumulative: Words, left: Words, totals: Words) -> tuple[Words, Words, Words, Words]:
    """The tables that `randomize` takes.

    The cumulative weights are filled up to a power of two with a number that no word reaches. Of the 2⁶⁴ low halves of
    a product, 2⁶⁴ mod total are too many: words that give them are drawn again.
    """
    size = 1 << max(int(cumulative.size - 1).bit_length(), 1)
    table = np.full(size, np.iinfo(np.uint64).max, np.uint64)
    table[: cumulative.size] = cumulative
    refused: Words = (np.uint64(0) - totals) % totals
    return table, left, totals, refused


@compiled
def randomize(
    codes: NDArray[Any],
    words: Words,
    table: Words,
    left: Words,
    totals: Words,
    refused: Words,
    stride: int,
    outcomes: int,
    out: NDArray[Any],
    places: NDArray[np.int64],
) -> int:
    """Send each word to an outcome; write down where a word must be drawn again, and return how many there are.

    ⌊word·total / 2⁶⁴⌋ is uniform below the total if the low half of the product is at least 2⁶⁴ mod total.
    """
    own = table[0]
    late = 0
    half_table = table.size >> 1
    last = np.int64(outcomes - 1)
    for i in range(codes.size):
        row = np.int64(codes[i])
        total = totals[row]
        share = _high(words[i], total)
        if words[i] * total < refused[row]:
            places[late] = i
            late += 1
        side = left[row]
        to_right = share >= side
        rest = share - side + own if to_right else share
        distance = np.int64(0)
        half = half_table
        while half:
            distance += half * np.int64(table[distance + half - 1] <= rest)
            half >>= 1
        place = row * stride + (distance if to_right else -distance)
        out[i] = min(max(place, np.int64(0)), last)
    return late


@compiled
def _high(a: np.uint64, b: np.uint64) -> np.uint64:
    """The high half of the 128-bit product of two words."""
    a_low, a_high = a & _LOW, a >> _HALF
    b_low, b_high = b & _LOW, b >> _HALF
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF)
