"""The exponential mechanism in whole numbers: choose one of many cells by its score, exactly.

A cell of score s gets the weight W[s], where W[0] = 2⁹⁶ and W[s+1] = ⌈W[s]·e^(−step)⌉, the factor rounded up as well.
So the weights of neighbouring scores differ by at most e^step *in whole numbers*, and a choice with these weights
keeps its ε to the last digit. The recursion settles at about 1/step and never at 0: no outcome is impossible. The
argument is in ``exponential.proof.md``.

Cells of equal score have equal weights. Only how many cells have each score decides what is drawn: first a score, then
a cell among those that have it. So the work grows with the number of scores, and 10¹⁵ cells are no more than ten.

Rejected: adding Gumbel noise to scores and taking the largest (floats, one draw per cell), and exp(−step·s) in double
precision (cells far away become impossible, which tells that they are far away).
"""

from __future__ import annotations

import bisect
import itertools
import operator
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, ParameterTypeError
from bruit.rounding import exp_ceiling

__all__ = ["Exponential"]

Integers = NDArray[np.int64]

#: The weight of the best score is 2 to this power.
BITS = 96
#: Binary digits of the factor by which weights fall.
_SHIFT = 192


@dataclass(frozen=True)
class Exponential:
    """A choice among cells with whole-number scores, 0 the best.

    Parameters
    ----------
    step
        The weight falls by at most the factor e^step when the score grows by one; a positive rational number.

    Guarantee
    ---------
    If one record changes each score by at most Δ, a choice is (2·Δ·step)-differentially private, exactly: the weight of
    a cell changes by a factor of at most e^(Δ·step), and so does the sum of all weights. If it changes all scores the
    same way, the two factors cannot go apart, and the loss is Δ·step.

    Error
    -----
    A score of s or more above the best is chosen with probability at most e^(−step·s) times the number of cells.

    References
    ----------
    McSherry and Talwar (2007), Mechanism design via differential privacy.

    Examples
    --------
    >>> choice = Exponential.calibrate(epsilon=1.0)
    >>> choice.step
    Fraction(1, 2)
    >>> [round(float(p), 4) for p in choice.law([0, 1, 1, 5])]
    [0.4357, 0.2643, 0.2643, 0.0358]
    >>> choice.choose([0, 1, 1, 5], Entropy(7)) in range(4)
    True
    """

    step: Fraction

    def __post_init__(self) -> None:
        if isinstance(self.step, bool) or not isinstance(self.step, int | float | Fraction):
            raise ParameterTypeError("step must be a positive rational number: an int or a Fraction.")
        _checks.positive(step=self.step)
        object.__setattr__(self, "step", Fraction(self.step))

    @classmethod
    def calibrate(cls, epsilon: float | Fraction, *, sensitivity: int = 1, monotone: bool = False) -> Exponential:
        """The choice for this ε.

        Parameters
        ----------
        epsilon
            The most that the choice may tell about one record.
        sensitivity
            How much one record changes a score at most.
        monotone
            Whether one record changes all scores the same way: all up, or all down.
        """
        _checks.positive(epsilon=epsilon)
        change = _checks.integer(low=1, sensitivity=sensitivity)
        return cls(Fraction(epsilon) / (change if monotone else 2 * change))

    def weights(self, most: int) -> list[int]:
        """The weights of the scores 0..most, or fewer where they settle before: all later scores have the last one."""
        return _table(self.step).up_to(_checks.integer(low=0, most=most) + 1)

    def draw(self, sizes: Sequence[int], entropy: Entropy) -> tuple[int, int]:
        """A score, and which of the cells that have it, when sizes[s] cells have score s.

        Cells whose score is beyond the last weight are counted with the last: see `weights`.
        """
        weights = self.weights(len(sizes) - 1)
        totals = list(itertools.accumulate(size * weight for size, weight in zip(sizes, weights, strict=True)))
        drawn = below(totals[-1], entropy)
        score = bisect.bisect_right(totals, drawn)
        return score, (drawn - (totals[score - 1] if score else 0)) // weights[score]

    def choose(self, scores: Any, entropy: Entropy, widths: Any = None) -> int:
        """The place of the chosen cell.

        Parameters
        ----------
        scores
            One whole number, 0 or above, for each cell.
        entropy
            Where the randomness comes from.
        widths
            How much each cell counts, whole numbers, 0 or above, that do not depend on the data; 1 if not given.
        """
        levels, sizes = self._levels(scores, widths)
        if sizes is None:
            score, offset = self.draw(np.bincount(levels).tolist(), entropy)
            return int(np.flatnonzero(levels == score)[offset])
        score, offset = self.draw(_summed(levels, sizes), entropy)
        places = np.flatnonzero(levels == score)
        ends = list(itertools.accumulate(sizes[place] for place in places.tolist()))
        return int(places[bisect.bisect_right(ends, offset)])

    def law(self, scores: Any, widths: Any = None) -> list[Fraction]:
        """The exact probability of each cell."""
        levels, sizes = self._levels(scores, widths)
        weights = self.weights(int(levels.max()))
        parts = [weights[level] * size for level, size in zip(levels.tolist(), sizes or [1] * levels.size, strict=True)]
        total = sum(parts)
        return [Fraction(part, total) for part in parts]

    def ratio(self, first: Any, second: Any) -> Fraction:
        """The largest ratio of the probabilities of one cell under two lists of scores, either way."""
        levels = [self._levels(scores, None)[0] for scores in (first, second)]
        weights = [self.weights(int(level.max())) for level in levels]
        totals = [
            sum(map(operator.mul, np.bincount(level).tolist(), table))
            for level, table in zip(levels, weights, strict=True)
        ]
        pairs = np.unique(np.stack(levels), axis=1).T.tolist()
        odds = [Fraction(weights[0][ours] * totals[1], weights[1][other] * totals[0]) for ours, other in pairs]
        return max(*odds, 1 / min(odds))

    def _levels(self, scores: Any, widths: Any) -> tuple[Integers, list[int] | None]:
        """The scores, those beyond the last weight as that one, and the widths."""
        levels = _whole(scores, "scores")
        levels = np.minimum(levels, len(self.weights(int(levels.max()))) - 1)
        if widths is None:
            return levels, None
        sizes: list[int] = _whole(widths, "widths").tolist()
        if len(sizes) != levels.size or not any(sizes):
            raise DataError("widths must have one entry for each score, and one of them must be above 0.")
        return levels, sizes


def below(bound: int, entropy: Entropy) -> int:
    """A whole number of 0..bound−1, each equally likely, for a bound of any size.

    By rejection: as many random bits as bound − 1 has, until they are below the bound.
    """
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        drawn = int.from_bytes(entropy.bytes(size), "little") >> (8 * size - bits)
        if drawn < bound:
            return drawn


class _Table:
    """The weights of one step, made as far as they were asked for."""

    def __init__(self, step: Fraction) -> None:
        self._factor = exp_ceiling(step, 1 << _SHIFT)
        self._weights = [2**BITS]
        self._settled = False
        self._lock = threading.Lock()

    def up_to(self, length: int) -> list[int]:
        with self._lock:
            while len(self._weights) < length and not self._settled:
                # −((−a) >> s) is a/2ˢ rounded up.
                following = -(-self._weights[-1] * self._factor >> _SHIFT)
                self._settled = following == self._weights[-1]
                if not self._settled:
                    self._weights.append(following)
            return self._weights[:length]


@lru_cache(maxsize=64)
def _table(step: Fraction) -> _Table:
    return _Table(step)


def _whole(values: Any, what: str) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "ui" or not array.size:
        raise DataTypeError(f"{what} must be a one-dimensional array of whole numbers, one for each cell.")
    whole = array.astype(np.int64)
    if whole.min() < 0:
        raise DataError(f"{what} must be 0 or above, and below 2⁶³.")
    return whole


def _summed(levels: Integers, sizes: list[int]) -> list[int]:
    """How much the cells of each score count together."""
    sums = [0] * (int(levels.max()) + 1)
    for level, size in zip(levels.tolist(), sizes, strict=True):
        sums[level] += size
    return sums
