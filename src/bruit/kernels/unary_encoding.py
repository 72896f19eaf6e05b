"""Unary encoding: the person's own bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Bytes = NDArray[np.uint8]


@compiled
def own_bits(codes: NDArray[Any], words: NDArray[np.uint64], own: np.uint64, padding: int, rows: Bytes) -> None:
    """Overwrite each person's own bit by 1 if the word is below `own`, else by 0, and keep the bits of `padding` only.

    `padding` is the mask of the last byte of a row; the bits beyond the last value become 0.
    """
    limit = np.uint64(own)
    last = rows.shape[1] - 1
    for i in range(codes.size):
        code = np.int64(codes[i])
        byte, bit = code >> 3, code & 7
        drawn = np.int64(words[i] < limit)
        rows[i, byte] = np.uint8((np.int64(rows[i, byte]) & ~(1 << bit)) | (drawn << bit))
        rows[i, last] = np.uint8(np.int64(rows[i, last]) & padding)
