"""Random words: finding those that must be drawn again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled


@compiled
def above(words: NDArray[np.uint64], last: np.uint64, places: NDArray[np.int64]) -> int:
    """Write down where words exceed `last`, and return how many do."""
    limit = np.uint64(last)
    count = 0
    for i in range(words.size):
        if words[i] > limit:
            places[count] = i
            count += 1
    return count
