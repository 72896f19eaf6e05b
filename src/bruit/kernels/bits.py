"""Rows of packed bits: drawing them 64 at a time, and counting how many rows have each bit set.

A row has one bit per value in little bit order, in whole bytes: value v is bit v & 7 of byte v >> 3.

Counting adds fifteen rows at a time by the logic of an adder, in all lanes of a word at once. A histogram of the bytes
of each column, the simpler way, takes twice as long and a table of 256 cells for every byte of a row.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Sums = NDArray[np.int64]
Floats = NDArray[np.float64]

#: How many binary digits of a probability are compared for all lanes; a lane that is still tied gets a word of its own.
PLANES = 8

# Fifteen rows are added at a time, and a counter of one byte holds seventeen such sums.
_GROUP = 15
_FLUSH = 17
# Words whose counters fit in the nearest cache.
_TILE = 64
# Rows are joined to stretches of about this many bytes, so that there are enough words to add side by side.
_STRETCH = 256
# Bytes that are looked at, and copied if they must be, at a time.
_CHUNK = 1 << 22
_LOW_BITS = np.uint64(0x0101010101010101)


def row_bytes(k: int) -> int:
    """How many bytes hold k bits."""
    return (k + 7) // 8


def valid_rows(rows: Bytes, k: int) -> Bytes:
    """The rows without a bit beyond the k-th: `rows` itself if all are so."""
    if k % 8 == 0:
        return rows
    valid = rows[:, -1] < 1 << k % 8
    return rows if valid.all() else rows[valid]


def count_columns(rows: Bytes, k: int, counts: Sums) -> int:
    """Add to `counts` (k entries) how many rows have each bit set; return how many rows were refused.

    A row is refused, and not counted, if a bit beyond the k-th is set.
    """
    refused = 0
    sums = np.zeros(row_bytes(k) * 8, np.int64)
    step = max(1, _CHUNK // rows.shape[1])
    for start in range(0, len(rows), step):
        chunk = valid_rows(rows[start : start + step], k)
        refused += min(step, len(rows) - start) - len(chunk)
        _count(np.ascontiguousarray(chunk), sums)
    counts += sums[:k]
    return refused


def _count(rows: Bytes, sums: Sums) -> None:
    """Add the number of set bits of every column to `sums`."""
    width = rows.shape[1]
    # Several rows in a line make a stretch of whole words, whatever the width of one row.
    joined = 8 // math.gcd(width, 8)
    joined *= max(1, _STRETCH // (joined * width))
    whole = len(rows) // joined * joined
    _add_stretches(rows[:whole].reshape(-1).view(np.uint64), joined * width // 8, sums)
    _add_rows(rows[whole:].reshape(-1), sums)


@compiled
def bernoulli(words: Words, probability: np.uint64, lanes: Words, tied: Words) -> int:
    """Draw 64·len(lanes) bits, each 1 with a probability given in units of 2⁻⁶⁴; return how many are not decided yet.

    Eight words for every 64 bits: lane by lane they are the first eight binary digits of a uniform number, and the bit
    is 1 where that number is below the probability. Where the digits are the very same, the lane is marked in `tied`,
    its bit is 0, and `settle` decides.
    """
    size = lanes.size
    threshold = np.uint64(probability)
    zero = np.uint64(0)
    # The last of the eight digits first. Written out, so that the compiler keeps them in registers.
    digits = (
        zero - ((threshold >> np.uint64(56)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(57)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(58)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(59)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(60)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(61)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(62)) & np.uint64(1)),
        zero - ((threshold >> np.uint64(63)) & np.uint64(1)),
    )
    for i in range(size):
        below = zero
        same = ~zero
        for plane in range(PLANES):
            # A word and its complement have the same law, so a 1 here stands for the digit 0. Where the probability's
            # digit is 1, a 0 is below it; where it is 0, a 1 is above it; equal digits leave it to those after.
            word = words[plane * size + i]
            below = (word & below) | (digits[plane] & (word | below))
            same &= word ^ digits[plane]
        lanes[i] = below
        tied[i] = same
    undecided = 0
    for i in range(size):
        undecided += ones(tied[i])
    return undecided


@compiled
def settle(words: Words, probability: np.uint64, lanes: Words, tied: Words) -> None:
    """Decide the tied lanes, in order, each by one more word against the digits of the probability that are left."""
    rest = np.uint64(probability) << np.uint64(PLANES)
    used = 0
    for i in range(lanes.size):
        left = tied[i]
        while left:
            lowest = left & (~left + np.uint64(1))
            if words[used] < rest:
                lanes[i] |= lowest
            left ^= lowest
            used += 1


@compiled
def _add_stretches(words: Words, width: int, sums: Sums) -> None:
    """Count the bits of each place of stretches of `width` words, and add them to `sums`, round and round."""
    stretches = words.size // width
    counters = np.empty((8, _TILE), np.uint64)
    totals = np.empty((8, 8 * _TILE), np.int64)
    for left in range(0, width, _TILE):
        size = min(_TILE, width - left)
        totals[:] = 0
        for first in range(0, stretches, _GROUP * _FLUSH):
            counters[:] = 0
            last = min(first + _GROUP * _FLUSH, stretches)
            grouped = last - (last - first) % _GROUP
            for row in range(first, grouped, _GROUP):
                _add_fifteen(words[row * width + left :], width, size, counters)
            for row in range(grouped, last):
                _add_one(words[row * width + left :], size, counters)
            totals += counters.view(np.uint8)
        for byte in range(8 * size):
            place = (8 * left + byte) * 8 % sums.size
            for bit in range(8):
                sums[place + bit] += totals[bit, byte]


@compiled
def _add_fifteen(words: Words, width: int, size: int, counters: Words) -> None:
    """Add fifteen stretches to the byte counters: 15 bits make a number of 4 bits, in all lanes at once."""
    for w in range(size):
        a1, a2 = _three(words[w], words[w + width], words[w + 2 * width])
        b1, b2 = _three(words[w + 3 * width], words[w + 4 * width], words[w + 5 * width])
        c1, c2 = _three(words[w + 6 * width], words[w + 7 * width], words[w + 8 * width])
        d1, d2 = _three(words[w + 9 * width], words[w + 10 * width], words[w + 11 * width])
        e1, e2 = _three(words[w + 12 * width], words[w + 13 * width], words[w + 14 * width])
        f1, f2 = _three(a1, b1, c1)
        units, g2 = _three(d1, e1, f1)
        h2, h4 = _three(a2, b2, c2)
        i2, i4 = _three(d2, e2, f2)
        twos, j4 = _three(g2, h2, i2)
        fours, eights = _three(h4, i4, j4)
        for s in range(8):
            bit = np.uint64(s)
            counters[s, w] += (
                ((units >> bit) & _LOW_BITS)
                + (((twos >> bit) & _LOW_BITS) << np.uint64(1))
                + (((fours >> bit) & _LOW_BITS) << np.uint64(2))
                + (((eights >> bit) & _LOW_BITS) << np.uint64(3))
            )


@compiled
def _add_one(words: Words, size: int, counters: Words) -> None:
    """Add one stretch to the byte counters: counter s of a byte counts its bit s."""
    for w in range(size):
        for s in range(8):
            counters[s, w] += (words[w] >> np.uint64(s)) & _LOW_BITS


@compiled
def _add_rows(flat: Bytes, sums: Sums) -> None:
    """The obvious loop over rows of len(sums)/8 bytes, for the few that do not fill a stretch."""
    width = sums.size // 8
    for i in range(flat.size):
        place = i % width * 8
        for bit in range(8):
            sums[place + bit] += (flat[i] >> bit) & 1


@compiled
def _three(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The sum of three bits in every lane: its units and its twos."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@compiled
def ones(word: np.uint64) -> int:
    """How many bits of a word are set."""
    twos = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (twos & np.uint64(0x3333333333333333)) + ((twos >> np.uint64(2)) & np.uint64(0x3333333333333333))
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((eights * _LOW_BITS) >> np.uint64(56))  # type: ignore[return-value]


@compiled
def expect(rows: Bytes, frequency: Floats, boost: float, weight: Floats) -> tuple[float, float]:
    """What EM needs of some reports: Σ 1/D and Σ ln D over them; and Σ 1/D over those with bit v set, in `weight`.

    D = 1 + boost·(sum of the frequencies whose bit is set) is the likelihood of a report, but for a factor that does
    not depend on the frequencies. Sums are looked up and gathered by half bytes: at two thirds of the speed of whole
    bytes, and with an eighth of their table, which for a million values is 32 MB and not 256.
    """
    halves = 2 * rows.shape[1]
    table = np.zeros((halves, 16))
    for v in range(frequency.size):
        for half in range(16):
            if (half >> (v & 3)) & 1:
                table[v >> 2, half] += frequency[v]
    gathered = np.zeros((halves, 16))
    inverses, likelihood = 0.0, 0.0
    for i in range(rows.shape[0]):
        low, high = 0.0, 0.0
        for j in range(rows.shape[1]):
            low += table[2 * j, rows[i, j] & 15]
            high += table[2 * j + 1, rows[i, j] >> 4]
        chance = 1.0 + boost * (low + high)
        inverse = 1.0 / chance
        for j in range(rows.shape[1]):
            gathered[2 * j, rows[i, j] & 15] += inverse
            gathered[2 * j + 1, rows[i, j] >> 4] += inverse
        inverses += inverse
        likelihood += np.log(chance)
    for v in range(frequency.size):
        weight[v] = 0.0
        for half in range(16):
            if (half >> (v & 3)) & 1:
                weight[v] += gathered[v >> 2, half]
    return inverses, likelihood
