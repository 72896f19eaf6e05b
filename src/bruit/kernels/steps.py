"""Numbers between bounds as whole steps from their middle."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.kernels._compile import compiled


@compiled
def to_steps(numbers: Any, low: Any, high: Any, steps: int, out: Any) -> None:
    """Each number of a matrix as −steps..steps, from its column's low to its high; others count as the nearest end."""
    rows, columns = numbers.shape
    for column in range(columns):
        middle = low[column] / 2 + high[column] / 2
        half = high[column] / 2 - low[column] / 2
        for row in range(rows):
            place = np.rint((numbers[row, column] - middle) / half * steps)
            out[row, column] = min(max(place, -steps), steps)
