"""What right discrete Laplace noise is: P(x) ∝ exp(−|x|/scale), drawn n times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Standard errors that the share of zeros and the mean distance from 0 may be away from the law.
TOLERANCE = 7.0


def check(draws: Any, scale: float) -> None:
    """The share of zeros, the mean and the mean distance from 0 are those of the law."""
    draws = np.asarray(draws, np.int64)
    zero = math.tanh(0.5 / scale)
    distance = 1 / math.sinh(1 / scale)
    variance = 0.5 / math.sinh(0.5 / scale) ** 2
    for found, mean, spread in (
        (draws == 0, zero, zero * (1 - zero)),
        (draws, 0.0, variance),
        (np.abs(draws), distance, variance - distance**2),
    ):
        if abs(found.mean() - mean) > TOLERANCE * math.sqrt(spread / draws.size):
            raise ValueError("The draws do not have the law of discrete Laplace noise.")
