"""Subsets of a fixed size as packed bits: repairing the number of members, checking it, and ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled
from bruit.kernels.bits import ones

Words = NDArray[np.uint64]
Reports = NDArray[np.uint8]

_ONE = np.uint64(1)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@compiled
def repair(
    rows: Words,
    codes: NDArray[Any],
    included: NDArray[np.bool_],
    omega: int,
    k: int,
    draws: NDArray[np.uint32],
    start: int,
    used: int,
) -> tuple[int, int]:
    """Give the rows from `start` on exactly ω members, the person's own value among them where `included` says so.

    A row comes as any k bits whose law treats all places alike. Its own place is set aside; then members leave, or
    others join, one after the other, each uniform among those that can, until they are ω, or ω − 1 where the true value
    is included. A draw may name a place that is already as wanted, or the true one: then nothing changes.

    Returns the row reached and the number of draws used. Where the draws run out in the middle of a row, call again
    with fresh ones from that row on: what is left to repair is seen from the row itself.
    """
    places = np.uint64(k)
    # Of the 2³² draws, the 2³² mod k whose product has the least low half are refused: then all places are equal.
    unfair = np.uint64(1 << 32) % places
    last = rows.shape[1] - 1
    valid = ~np.uint64(0) >> np.uint64(63 - (k - 1) % 64)
    for i in range(start, codes.size):
        home = np.int64(codes[i]) >> 6
        own = _ONE << np.uint64(np.int64(codes[i]) & 63)
        rows[i, last] &= valid
        rows[i, home] &= ~own
        excess = np.int64(included[i]) - omega
        for j in range(last + 1):
            excess += ones(rows[i, j])
        # Zeros are flipped where there are too few members, else ones; the true place looks as if it were done.
        few = np.uint64(excess < 0)
        if few:
            rows[i, home] |= own
        left = abs(excess)
        while left:
            if used == draws.size:
                return i, used
            product = np.uint64(draws[used]) * places
            used += 1
            if product & _LOW_HALF >= unfair:
                # No branch: a flip of zero is as quick as a flip of one, and cannot be mispredicted.
                word, bit = product >> np.uint64(38), (product >> np.uint64(32)) & np.uint64(63)
                flip = ((rows[i, word] >> bit) & _ONE) ^ few
                rows[i, word] ^= flip << bit
                left -= np.int64(flip)
        rows[i, home] &= ~own
        if included[i]:
            rows[i, home] |= own
    return codes.size, used


@compiled
def check_sizes(words: NDArray[Any], omega: int, valid: NDArray[np.bool_]) -> int:
    """Write down which rows have exactly ω bits set, and return how many have not."""
    refused = 0
    for i in range(words.shape[0]):
        members = 0
        for j in range(words.shape[1]):
            members += ones(np.uint64(words[i, j]))
        valid[i] = members == omega
        refused += members != omega
    return refused


@compiled
def rank(reports: Reports, steps: NDArray[np.int64], ranks: NDArray[np.int64]) -> None:
    """The place of each subset among all, in the order of the numbers that their bits write.

    It is Σ C(vᵢ, i) over its members v₁ < v₂ < …; `steps[v, i]` has the binomial coefficients.
    """
    for i in range(reports.shape[0]):
        members, total = 0, np.int64(0)
        for value in range(steps.shape[0]):
            if (reports[i, value >> 3] >> np.uint8(value & 7)) & 1:
                members += 1
                total += steps[value, members]
        ranks[i] = total
