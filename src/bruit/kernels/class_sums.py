"""Sums of numbers and of their squares for each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from bruit.kernels._compile import compiled


@compiled
def class_sums(numbers: Any, codes: Any, low: Any, high: Any, steps: int, sums: Any, squares: Any) -> None:
    """Add z and z² to the row of each record's class, for numbers as whole steps z in −steps..steps.

    `sums` and `squares` are float64 of whole numbers, which is exact below 2⁵³: with 2¹² steps, for 2²⁹ records.
    """
    rows, columns = numbers.shape
    middle = low / 2 + high / 2
    half = high / 2 - low / 2
    for row in range(rows):
        code = codes[row]
        for column in range(columns):
            place = np.rint((numbers[row, column] - middle[column]) / half[column] * steps)
            place = min(max(place, -steps), steps)
            sums[code, column] += place
            squares[code, column] += place * place
