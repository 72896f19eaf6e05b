"""Counting codes: a histogram that refuses what is out of range instead of growing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled_beyond_few


def _histogram_few(codes: NDArray[Any], counts: NDArray[np.int64]) -> int:
    """The same by NumPy, in the first row."""
    size = counts.shape[1]
    inside = codes[(codes >= 0) & (codes < size)]
    counts[0] += np.bincount(inside.astype(np.int64), minlength=size)
    return int(codes.size - inside.size)


@compiled_beyond_few(_histogram_few)
def histogram(codes: NDArray[Any], counts: NDArray[np.int64]) -> int:
    """Add the number of times each code 0..size−1 occurs to `counts`; return how many codes were out of range.

    `counts` has four rows, and their sum counts. They are filled in turn: one row alone would make each addition wait
    for the one before it when a code repeats.
    """
    size = counts.shape[1]
    refused = 0
    for i in range(codes.size):
        code = np.int64(codes[i])
        if 0 <= code < size:
            counts[i & 3, code] += 1
        else:
            refused += 1
    return refused
