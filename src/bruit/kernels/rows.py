"""Rows of a regression as whole steps, those with a large norm made shorter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bruit.kernels._compile import compiled

#: Shorter rows are cut by this share more, far above what rounding can do to a float of this computation.
MARGIN = 1e-9


@compiled
def place(number: float, middle: float, scale: float, steps: int) -> int:
    """A number between bounds as −steps..steps; one outside counts as the nearest bound."""
    return int(min(max(np.rint((number - middle) * scale), -steps), steps))


@compiled
def shortening(norm: int, cap: int, steps: int, quarters: int, euclidean: bool) -> float:
    """The factor that brings what a row of this norm gives to that of a row of norm `cap`; from below.

    The norm is Σ|u|, or Σu² where `euclidean`; what a row gives is F = A²·2/q + A·steps, or Q²·8/q² + Q·steps². A row
    times s gives s²F, or s⁴F.
    """
    if euclidean:
        whole, kept = (
            8.0 * norm + float(quarters) ** 2 * steps * steps,
            8.0 * cap + float(quarters) ** 2 * steps * steps,
        )
        return math.sqrt(math.sqrt((cap * kept) / (norm * whole))) * (1 - MARGIN)
    whole, kept = 2.0 * norm + float(quarters) * steps, 2.0 * cap + float(quarters) * steps
    return math.sqrt((cap * kept) / (norm * whole)) * (1 - MARGIN)


@compiled
def weighted_rows(
    numbers: Any,
    target: Any,
    middle: Any,
    scale: Any,
    intercept: int,
    steps: int,
    cap: int,
    quarters: int,
    euclidean: bool,
    out: Any,
) -> None:
    """Each row as steps: a constant where `intercept` is 1, its numbers, its target; whole numbers in floats.

    `middle` and `scale`, the steps for 1, have one entry for each column and a last one for the target. A row whose
    norm, without the target, passes `cap` is made shorter, target and all, and cut towards 0.
    """
    rows, columns = numbers.shape
    last = intercept + columns
    for row in range(rows):
        norm = steps * (steps if euclidean else 1) * intercept
        for column in range(columns):
            step = place(numbers[row, column], middle[column], scale[column], steps)
            out[row, intercept + column] = step
            norm += step * step if euclidean else abs(step)
        if intercept:
            out[row, 0] = steps
        out[row, last] = place(target[row], middle[columns], scale[columns], steps)
        if norm > cap:
            factor = shortening(norm, cap, steps, quarters, euclidean)
            for column in range(last + 1):
                out[row, column] = np.trunc(out[row, column] * factor)
