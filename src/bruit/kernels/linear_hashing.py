"""Linear hashing: the bucket of a code under a Toeplitz matrix over two elements.

Row i of the matrix M of a word is the word without its first i bits, and bit i of a bucket is the parity of what row
and code share. A few words go through NumPy, so that one person needs no compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def buckets(words: Words, codes: NDArray[Any], t: int) -> NDArray[np.uint8]:
    """The bucket of each code under its own matrix: t bits."""
    values = codes.astype(np.uint64)
    own = np.zeros(words.size, np.uint8)
    for i in range(t):
        own |= _parity((words >> np.uint64(i)) & values) << np.uint8(i)
    return own


def _parity(words: Words) -> NDArray[np.uint8]:
    for shift in (32, 16, 8, 4, 2, 1):
        words = words ^ (words >> np.uint64(shift))
    return (words & np.uint64(1)).astype(np.uint8)
