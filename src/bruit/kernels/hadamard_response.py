"""Hadamard response: members of a column's set, and the Walsh–Hadamard transform that counts them all.

The set of a column c ≥ 1 among b = 2^m rows are the rows y where y & c has an even number of ones: b/2 of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled
from bruit.kernels.two_level import Weights, choose


@compiled
def _odd(bits: Any) -> Any:
    """1 if the number of ones of a number below 2³² is odd, else 0."""
    bits ^= bits >> 16
    bits ^= bits >> 8
    bits ^= bits >> 4
    return (0x6996 >> (bits & 15)) & 1  # the parities of 0..15


@compiled
def _member(number: Any, column: Any) -> Any:
    """Row number `number` of the column's set: free bits around the column's lowest one, which evens the parity."""
    lowest = column & -column
    below = number & (lowest - 1)
    free = ((number - below) << 1) | below
    return free | (lowest * _odd(free & column))


@compiled
def members(codes: NDArray[Any], numbers: NDArray[np.int64], width: int, out: NDArray[np.int64]) -> None:
    """Message number `numbers[i]` of the set of value `codes[i]`, with `width` = b − 1 columns to a block."""
    for i in range(codes.size):
        block, column = divmod(np.int64(codes[i]), width)
        out[i] = block * (width + 1) + _member(numbers[i], column + 1)


@compiled
def randomize(codes: NDArray[Any], words: NDArray[np.uint64], law: Weights, width: int, out: NDArray[Any]) -> None:
    """Write the message that each word chooses for its code, with `width` = b − 1 columns to a block."""
    per_width = 1.0 / np.float64(width)
    for i in range(codes.size):
        inside, number = choose(words[i], law)
        code = np.int64(codes[i])
        # The quotient is at least half a column away from a whole number: the product cannot cross it.
        block = np.int64((np.float64(code) + 0.5) * per_width)
        member = block * (width + 1) + _member(number, code - block * width + 1)
        out[i] = member if inside else number


@compiled
def transform(rows: NDArray[Any]) -> None:
    """Replace each row g of 2^m numbers by its Walsh–Hadamard transform: Σ_y (−1)^|y & c| g(y) at place c."""
    size = rows.shape[1]
    for r in range(rows.shape[0]):
        row = rows[r]
        half = 1
        while half < size:
            for start in range(0, size, 2 * half):
                for i in range(start, start + half):
                    first, second = row[i], row[i + half]
                    row[i] = first + second
                    row[i + half] = first - second
            half *= 2
