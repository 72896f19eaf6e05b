"""Sums over all placements of several quantiles, in numbers of any magnitude and with a known relative error.

A number is a mantissa in [½, 1) and an exponent of two, or 0; an array of them is a pair of arrays. Nothing but sums
and products of numbers that are not negative is computed, each rounded to 53 bits, so relative errors add up and never
grow by cancellation; there is no logarithm, and nothing underflows. ``quantiles.proof.md`` in
``releases/quantiles`` counts the roundings.

The ranks of quantile j that are looked at are its row. A quantile goes from rank r' to r > r' with weight
f^|r − r' − gap|. This kernel is exponential on both sides, so its sums are running sums: one over all r' ≤ r − gap, and
one over a window of fixed length behind r, which is put together from the ends of blocks of that length, without
subtracting.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Floats = NDArray[np.float64]
#: Mantissas and exponents.
Numbers = tuple[Floats, NDArray[np.int64]]

#: Powers of ½. A summand that many powers of two below the other is less than half of its last bit, and left out.
_HALVES = np.array([0.5**power for power in range(65)])


@compiled
def _plus(first: float, above: int, second: float, below: int) -> tuple[float, int]:
    """first·2^above + second·2^below."""
    if first == 0.0:
        return second, below
    if second == 0.0:
        return first, above
    if above < below:
        first, above, second, below = second, below, first, above
    if above - below >= _HALVES.size:
        return first, above
    total = first + second * _HALVES[above - below]
    if total >= 1.0:
        return 0.5 * total, above + 1
    return total, above


@compiled
def _times(first: float, first_exponent: int, second: float, second_exponent: int) -> tuple[float, int]:
    """The product of two numbers."""
    product = first * second
    if product == 0.0:
        return 0.0, 0
    if product < 0.5:
        return 2.0 * product, first_exponent + second_exponent - 1
    return product, first_exponent + second_exponent


@compiled
def powers(base: tuple[float, int], out: Numbers) -> None:
    """Fill in base⁰, base¹, …"""
    value, scale = 0.5, 1
    for k in range(out[0].size):
        out[0][k], out[1][k] = value, scale
        value, scale = _times(value, scale, base[0], base[1])


@compiled
def multiplied(first: Numbers, second: Numbers, out: Numbers) -> None:
    """The products of two arrays, entry by entry."""
    for i in range(out[0].size):
        out[0][i], out[1][i] = _times(first[0][i], first[1][i], second[0][i], second[1][i])


@compiled
def sharing(entries: Numbers, rows: Any, rank: int, width: float, alone: Numbers, out: Numbers) -> None:
    """Fill in the weights of 1, 2, … of the quantiles 0..j sharing this rank, j + 1 the size of `out`.

    entries[j, i] is the weight with which quantile j comes to rank rows[j, 0] + i from a smaller one; rows[j, 1] is how
    many ranks its row has, and `width` how many places this rank. k quantiles at it have widthᵏ/k! placements, and
    alone[j] is the weight of no record between quantiles j − 1 and j.
    """
    last = out[0].size - 1
    shared, power = 0.5, 1
    out[0][:], out[1][:] = 0.0, 0
    for k in range(last + 1):
        row = last - k
        place = rank - rows[row, 0]
        if place < 0 or place >= rows[row, 1]:
            return  # this quantile is not at this rank, and so no more than k are
        share, exponent = math.frexp(width / (k + 1))
        shared, power = _times(shared, power, share, exponent)
        out[0][k], out[1][k] = _times(shared, power, entries[0][row, place], entries[1][row, place])
        shared, power = _times(shared, power, alone[0][row], alone[1][row])


@compiled
def together(entries: Numbers, rows: Any, widths: Any, alone: Numbers, out: Numbers) -> None:
    """Fill in, for each rank of the row of quantile `alone.size` − 1, the weight of all placements that end there."""
    count = alone[0].size
    terms = np.empty(count), np.empty(count, np.int64)
    for i in range(out[0].size):
        sharing(entries, rows, rows[count - 1, 0] + i, widths[i], alone, terms)
        total, scale = 0.0, 0
        for k in range(count):
            total, scale = _plus(total, scale, terms[0][k], terms[1][k])
        out[0][i], out[1][i] = total, scale


@compiled
def enter(before: Numbers, lag: int, far: int, decay: Numbers, ends: Numbers, out: Numbers) -> None:
    """Fill in out[i] = Σ over k < i + lag of before[k]·f^|i + lag − k − gap|.

    before[k] is rank k of one row and i + lag is rank i of the next one, counted alike. From `far` on a distance is at
    or beyond the gap, and at least 1. decay holds the powers of f, and ends f^(far − gap) and f^(gap − far + 1).
    """
    _far_behind(before, lag, far, decay, ends, out)
    if far > 1:
        _near_behind(before, lag, far - 1, decay, ends, out)


@compiled
def _far_behind(before: Numbers, lag: int, far: int, decay: Numbers, ends: Numbers, out: Numbers) -> None:
    """The sums over distances of `far` and more."""
    total, scale = 0.0, 0
    for i in range(min(far - lag, 0), out[0].size):
        k = i + lag - far
        total, scale = _times(total, scale, decay[0][1], decay[1][1])
        if 0 <= k < before[0].size:
            total, scale = _plus(total, scale, before[0][k], before[1][k])
        if i >= 0:
            out[0][i], out[1][i] = _times(total, scale, ends[0][0], ends[1][0])


@compiled
def _near_behind(before: Numbers, lag: int, window: int, decay: Numbers, ends: Numbers, out: Numbers) -> None:
    """Add the sums over distances of 1 to `window`."""
    size = before[0].size
    prefix, suffix = (np.empty(size), np.empty(size, np.int64)), (np.empty(size), np.empty(size, np.int64))
    total, scale = 0.0, 0
    for k in range(size):
        inside = k % window
        term, power = _times(before[0][k], before[1][k], decay[0][inside], decay[1][inside])
        total, scale = (term, power) if inside == 0 else _plus(total, scale, term, power)
        prefix[0][k], prefix[1][k] = total, scale
    for k in range(size - 1, -1, -1):
        if k == size - 1 or (k + 1) % window == 0:
            total, scale = before[0][k], before[1][k]
        else:
            total, scale = _times(total, scale, decay[0][1], decay[1][1])
            total, scale = _plus(total, scale, before[0][k], before[1][k])
        suffix[0][k], suffix[1][k] = total, scale
    for i in range(out[0].size):
        low, high = i + lag - window, min(i + lag, size) - 1
        if high < 0 or low >= size:
            continue
        inside = low % window
        if low < 0:  # the window starts before the row: its first weight is further down
            total, scale = _times(prefix[0][high], prefix[1][high], decay[0][-low], decay[1][-low])
        elif inside == 0:
            total, scale = prefix[0][high], prefix[1][high]
        else:
            total, scale = suffix[0][low], suffix[1][low]
            rest = window - inside  # what the window has left of the first block
            if low + rest <= high:
                term, power = _times(prefix[0][high], prefix[1][high], decay[0][rest], decay[1][rest])
                total, scale = _plus(total, scale, term, power)
        total, scale = _times(total, scale, ends[0][1], ends[1][1])
        out[0][i], out[1][i] = _plus(out[0][i], out[1][i], total, scale)
