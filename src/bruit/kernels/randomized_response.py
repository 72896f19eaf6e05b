"""Randomised response: keep the value, or draw any value; one random word decides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled_beyond_few


def _randomize_few(
    codes: NDArray[Any], words: NDArray[np.uint64], keep: np.uint64, outside: np.uint64, out: NDArray[Any]
) -> None:
    """The same by NumPy's division of whole numbers."""
    out[:] = (words - keep) // outside
    np.copyto(out, codes, where=words < keep, casting="unsafe")


@compiled_beyond_few(_randomize_few)
def randomize(
    codes: NDArray[Any], words: NDArray[np.uint64], keep: np.uint64, outside: np.uint64, out: NDArray[Any]
) -> None:
    """Send each word u to an outcome: u < keep keeps the code, else ⌊(u − keep) / outside⌋ is the outcome.

    The quotient is guessed by a floating-point product and then corrected in integers. The guess is off by at most one,
    because a quotient below 2²⁰ keeps its integer part in 53 bits, so the result is the exact quotient.
    """
    first = np.uint64(keep)
    width = np.uint64(outside)
    unit = np.uint64(1)
    inverse = 1.0 / np.float64(width)
    for i in range(codes.size):
        rest = words[i] - first
        guess = np.uint64(np.int64(np.float64(rest) * inverse))
        if guess * width > rest:
            guess -= unit
        if rest - guess * width >= width:
            guess += unit
        out[i] = codes[i] if words[i] < first else guess
