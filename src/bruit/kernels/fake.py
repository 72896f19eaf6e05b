"""Reports of which most are fake: one attribute of a person is true, and every attribute is written in the same way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]
Halves = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

_LOW_HALF = np.uint64(0xFFFFFFFF)


@compiled
def beyond(words: Words, sampled: NDArray[Any], last: Words, places: NDArray[np.int64]) -> int:
    """Write down where a word is above the last one of its person's own law, and return how many are."""
    count = 0
    for i in range(words.size):
        if words[i] > last[sampled[i]]:
            places[count] = i
            count += 1
    return count


@compiled
def keep(words: Words, sampled: NDArray[Any], limits: Words, nobody: int, kept: NDArray[Any]) -> None:
    """The attribute whose true value is reported: the sampled one where the word is below its limit, else `nobody`."""
    for i in range(words.size):
        kept[i] = sampled[i] if words[i] < limits[sampled[i]] else nobody


@compiled
def unfair(draws: Halves, k: int) -> int:
    """How many draws would favour some of k values: those whose product has one of the 2³² mod k least low halves."""
    values = np.uint64(k)
    least = np.uint64(1 << 32) % values
    count = 0
    for i in range(draws.size):
        if ((np.uint64(draws[i]) * values) & _LOW_HALF) < least:
            count += 1
    return count


@compiled
def unfair_places(draws: Halves, k: int, places: NDArray[np.int64]) -> int:
    """Write down where those draws are, and return how many there are."""
    values = np.uint64(k)
    least = np.uint64(1 << 32) % values
    count = 0
    for i in range(draws.size):
        if ((np.uint64(draws[i]) * values) & _LOW_HALF) < least:
            places[count] = i
            count += 1
    return count


@compiled
def values(codes: NDArray[Any], kept: NDArray[Any], own: int, draws: Halves, k: int, out: NDArray[Any]) -> None:
    """The true value of those who keep it for this attribute, and for everybody else any of k, by a fair draw."""
    size = np.uint64(k)
    for i in range(codes.size):
        drawn = (np.uint64(draws[i]) * size) >> np.uint64(32)
        out[i] = codes[i] if kept[i] == own else drawn


@compiled
def own_bits(
    codes: NDArray[Any],
    true: NDArray[np.bool_],
    words: Words,
    chances: tuple[np.uint64, np.uint64],
    padding: int,
    rows: Bytes,
) -> None:
    """Redraw the bit of each person's value: by the first of two chances in 2⁶⁴ if true, as any other bit if not.

    `padding` is the mask of the last byte of a row; the bits beyond the last value become 0.
    """
    high, low = chances
    last = rows.shape[1] - 1
    for i in range(codes.size):
        code = np.int64(codes[i])
        byte, bit = code >> 3, code & 7
        limit = high if true[i] else low
        drawn = np.int64(words[i] < limit)
        rows[i, byte] = np.uint8((np.int64(rows[i, byte]) & ~(1 << bit)) | (drawn << bit))
        rows[i, last] = np.uint8(np.int64(rows[i, last]) & padding)
