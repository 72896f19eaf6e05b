"""The largest and the smallest variance that some changes of records can lead to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Integers = NDArray[np.int64]


@compiled
def extremes(values: Integers, top: int, largest: Integers, smallest: Integers) -> None:
    """Fill largest[k] = n²·(greatest variance) and smallest[k] = n(n−k)·(least variance) after k changes.

    `values` are n whole numbers in 0..top, in order. The variance is convex in each record, so the greatest one has the
    changed records at 0 and at top, and those that are kept are the lowest and the highest. The least one keeps n − k
    consecutive records and puts the others at their mean.
    """
    n = values.size
    sums = np.zeros(n + 1, np.int64)
    squares = np.zeros(n + 1, np.int64)
    for i in range(n):
        sums[i + 1] = sums[i] + values[i]
        squares[i + 1] = squares[i] + values[i] * values[i]
    for k in range(largest.size):
        kept = n - k
        best = np.int64(-1)
        least = np.int64(-1)
        for a in range(kept + 1):
            # The records a..a+k−1 are changed.
            total = sums[n] - (sums[a + k] - sums[a])
            square = squares[n] - (squares[a + k] - squares[a])
            # n·Σx² − (Σx)² is concave in the number of records at the top: look beside its maximum.
            middle = (n * top - 2 * total) // (2 * top)
            for high in (middle, middle + 1):
                many = min(max(high, 0), k)
                moved = total + many * top
                best = max(best, n * (square + many * top * top) - moved * moved)
        for a in range(k + 1):
            total = sums[a + kept] - sums[a]
            square = squares[a + kept] - squares[a]
            spread = kept * square - total * total
            if least < 0 or spread < least:
                least = spread
        largest[k] = best
        smallest[k] = least
