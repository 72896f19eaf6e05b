"""Two-level laws with sets: from one random word to a member of the value's own set, or to any outcome at all.

The first (A − B)·members words choose a member, A − B words each; the others choose any outcome, B words each. Which of
the two happens depends on the word alone, and so does the number that comes out; only what the number means, member
number so-and-so of *which* set, depends on the value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled


class Weights(NamedTuple):
    """A two-level law as `choose` needs it: A − B, that times the members, B, and two reciprocals."""

    step: np.uint64
    kept: np.uint64
    outside: np.uint64
    per_step: float
    per_outside: float


def weights(inside: int, outside: int, members: int) -> Weights:
    """The law with weight A for each member of the value's set, and B for each other outcome."""
    step = inside - outside
    return Weights(np.uint64(step), np.uint64(step * members), np.uint64(outside), 1 / step, 1 / outside)


@compiled
def choose(word: Any, law: Weights) -> tuple[Any, Any]:
    """Whether the word chooses a member of the value's set, and the number of that member, or of any outcome.

    ⌊word / step⌋ where the word is below `kept`, else ⌊(word − kept) / outside⌋. The quotient is guessed by a product
    with the reciprocal and then corrected in integers. The guess is off by at most one, because a quotient below 2²²
    keeps its integer part in 53 bits, so the result is the exact quotient.
    """
    inside = word < law.kept
    rest = word if inside else word - law.kept
    width = law.step if inside else law.outside
    guess = np.uint64(np.int64(np.float64(rest) * (law.per_step if inside else law.per_outside)))
    if guess * width > rest:
        guess -= np.uint64(1)
    if rest - guess * width >= width:
        guess += np.uint64(1)
    return inside, np.int64(guess)


@compiled
def count(messages: NDArray[Any], counts: NDArray[np.int64]) -> int:
    """Add the number of times each message occurs to `counts`; return how many were out of range.

    For many messages, where the same cell seldom comes twice in a row: one row of counts is enough.
    """
    refused = 0
    for i in range(messages.size):
        message = np.int64(messages[i])
        if 0 <= message < counts.size:
            counts[message] += 1
        else:
            refused += 1
    return refused
