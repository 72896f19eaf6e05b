"""Windows that slide over a grid: random words to messages, and sums over windows in one pass.

The cells are 0..m−1, the messages 0..m+w−2, and the window of cell x holds the messages x..x+w−1. So message y lies in
the windows of the cells y−w+1..y, those among them that exist.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled
from bruit.kernels.two_level import Weights, choose

Floats = NDArray[np.float64]


class Leaning(NamedTuple):
    """A law over two messages as kernels need it: the least weight of the upper one, its growth per cell, the total."""

    least: np.uint64
    slope: np.uint64
    total: np.uint64


@compiled
def slide(codes: NDArray[Any], words: NDArray[np.uint64], law: Weights, out: NDArray[Any]) -> None:
    """Write the message that each word chooses for its cell: of the cell's window, or any."""
    for i in range(codes.size):
        inside, number = choose(words[i], law)
        out[i] = number + (np.int64(codes[i]) if inside else 0)


@compiled
def lean(codes: NDArray[Any], words: NDArray[np.uint64], law: Leaning, out: NDArray[Any]) -> None:
    """Write 1 for each word below least + code·slope, else 0: the chance of a 1 grows evenly with the cell."""
    for i in range(codes.size):
        out[i] = 1 if words[i] < law.least + np.uint64(codes[i]) * law.slope else 0


@compiled
def lean_or_slide(
    codes: NDArray[Any],
    words: NDArray[np.uint64],
    leaning: Leaning,
    window: Weights,
    first: int,
    out: NDArray[Any],
) -> None:
    """`lean` for the words below the total of its law, `slide` for the others.

    What leans is written as `first` or `first` + 1, behind the messages of the windows. Which of the two laws is used
    depends on the word alone.
    """
    for i in range(codes.size):
        word = words[i]
        if word < leaning.total:
            up = word < leaning.least + np.uint64(codes[i]) * leaning.slope
            out[i] = first + (1 if up else 0)
        else:
            inside, number = choose(word - leaning.total, window)
            out[i] = number + (np.int64(codes[i]) if inside else 0)


@compiled
def spread(share: Floats, width: int, inside: float, outside: float, out: Floats) -> None:
    """From shares of cells to those of messages: out[y] = outside·Σshare + inside·Σ share over cells y−width+1..y."""
    cells = share.size
    base = outside * share.sum()
    # Both sums add the same numbers in the same order, so their difference is never negative, not even by rounding.
    entered, left = 0.0, 0.0
    for y in range(out.size):
        if y < cells:
            entered += share[y]
        if y >= width:
            left += share[y - width]
        out[y] = base + inside * (entered - left)


@compiled
def gather(score: Floats, width: int, inside: float, outside: float, out: Floats) -> None:
    """From scores of messages to means over each cell: out[x] = outside·Σscore + inside·Σ score over x..x+width−1."""
    base = outside * score.sum()
    ahead, behind = 0.0, 0.0
    for y in range(width - 1):
        ahead += score[y]
    for x in range(out.size):
        ahead += score[x + width - 1]
        out[x] = base + inside * (ahead - behind)
        behind += score[x]
