"""The support of all codes by reports of linear hashing, counted at once by a Walsh–Hadamard transform.

A report with matrix M and bucket y supports v if Mv = y. As a sum over all s of t bits,

    1[Mv = y] = 2⁻ᵗ Σ_s (−1)^{s·y} (−1)^{(Mᵀs)·v},

so each report adds (−1)^{s·y} at Mᵀs for all s, and one transform gives 2ᵗ times the counts of all v. Codes with a
known prefix have a table of their own, as long as the rest of a code. Four tables lie side by side: their addresses
are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]
Integers = NDArray[Any]

#: How many prefixes are folded on together.
TOGETHER = 4
#: Levels of the transform are taken within this many neighbours, which the cache holds.
NEAR = 1 << 14
#: How many neighbours are copied together where a level is farther apart.
TILE = 16


def table(reports: int, t: int, step: int) -> Integers:
    """Room for the counts of four prefixes: a row per rest of `step` bits."""
    # Entries of the table and of its transform are at most reports·2ᵗ.
    return np.empty((1 << step, TOGETHER), np.int32 if reports << t < 1 << 31 else np.int64)


def support(words: Words, reported: NDArray[np.uint8], t: int, prefixes: Words, counts: Integers) -> None:
    """Write how many reports support each code that begins with one of four prefixes."""
    flat, step = counts.reshape(-1), len(counts).bit_length() - 1
    flat.fill(0)
    fold(words, reported, t, prefixes, step, flat)
    transform(flat, TOGETHER)
    np.right_shift(flat, t, out=flat)


@compiled
def parity(word: Any) -> Any:
    """Whether an odd number of bits is set."""
    for shift in (32, 16, 8, 4, 2, 1):
        word ^= word >> np.uint64(shift)
    return np.int64(word & np.uint64(1))


@compiled
def fold(words: Words, reported: NDArray[np.uint8], t: int, prefixes: Words, step: int, flat: Integers) -> None:
    """Add the signs of all reports to the tables of four prefixes.

    In Gray code order one bit of s changes at a time: the address by one row of M, the sign of a prefix by one bit of
    Mv ⊕ y, of which the prefix decides a part.
    """
    mask = (np.uint64(1) << np.uint64(step)) - np.uint64(1)
    rows = np.empty(t, np.int64)
    flips = np.empty((t, 4), np.int32)
    for r in range(words.size):
        for i in range(t):
            row = words[r] >> np.uint64(i)
            rows[i] = np.int64(row & mask) << 2
            bit = np.int64(reported[r] >> i) & 1
            for k in range(4):
                flips[i, k] = 1 - 2 * (parity((row >> np.uint64(step)) & prefixes[k]) ^ bit)
        place = np.int64(0)
        a = b = c = d = np.int32(1)
        flat[0] += 1
        flat[1] += 1
        flat[2] += 1
        flat[3] += 1
        for number in range(1, 1 << t):
            i, rest = 0, number
            while rest & 1 == 0:
                rest >>= 1
                i += 1
            place ^= rows[i]
            a *= flips[i, 0]
            b *= flips[i, 1]
            c *= flips[i, 2]
            d *= flips[i, 3]
            flat[place] += a
            flat[place + 1] += b
            flat[place + 2] += c
            flat[place + 3] += d


@compiled
def butterflies(flat: Integers, first: int, last: int, width: int) -> None:
    """All levels of the transform of flat[first:last] at `width` and above, two at a time."""
    h = width
    while 4 * h <= last - first:
        for start in range(first, last, 4 * h):
            for j in range(start, start + h):
                a, b, c, d = flat[j], flat[j + h], flat[j + 2 * h], flat[j + 3 * h]
                e, f, g, i = a + b, a - b, c + d, c - d
                flat[j] = e + g
                flat[j + h] = f + i
                flat[j + 2 * h] = e - g
                flat[j + 3 * h] = f - i
        h *= 4
    if 2 * h <= last - first:
        for start in range(first, last, 2 * h):
            for j in range(start, start + h):
                a, b = flat[j], flat[j + h]
                flat[j] = a + b
                flat[j + h] = a - b


@compiled
def transform(flat: Integers, width: int) -> None:
    """The Walsh–Hadamard transform of columns of a table with `width` of them, in place; its size is a power of two."""
    near = min(flat.size, NEAR)
    for first in range(0, flat.size, near):
        butterflies(flat, first, first + near, width)
    rows = flat.size // near
    if rows < 2:
        return
    tile = np.empty(rows * TILE, flat.dtype)
    for column in range(0, near, TILE):
        for row in range(rows):
            for j in range(TILE):
                tile[row * TILE + j] = flat[row * near + column + j]
        butterflies(tile, 0, tile.size, TILE)
        for row in range(rows):
            for j in range(TILE):
                flat[row * near + column + j] = tile[row * TILE + j]
