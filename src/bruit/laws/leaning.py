"""A coin that leans with the value: the law of Duchi's mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bruit import _checks
from bruit.errors import LimitError
from bruit.laws.law import Loss
from bruit.laws.words import WORDS, Words, below
from bruit.rounding import exp_floor


@dataclass(frozen=True, kw_only=True)
class LeaningLaw(Loss):
    """Two messages; the weight of the upper one is least + cell·slope, so its probability is affine in the cell.

    The last cell gives the upper message the weight that the first gives the lower one. All weights sum to
    2·least + (m−1)·slope, so the largest ratio, between the first and the last cell, is 1 + (m−1)·slope/least.

    Parameters
    ----------
    least
        The weight of the upper message from the first cell, 1 or above.
    slope
        By how much it grows from each cell to the next.
    cells
        How many cells there are, m.

    Examples
    --------
    >>> law = LeaningLaw(least=1, slope=1, cells=3)
    >>> [str(entry) for entry in law.row(2)], [law.sample(2, iter([word])) for word in range(4)]
    (['1/4', '3/4'], [1, 1, 1, 0])
    """

    shape: ClassVar[str] = "leaning"
    #: Neither message belongs to a cell.
    sets: ClassVar[None] = None

    least: int
    slope: int
    cells: int

    def __post_init__(self) -> None:
        _checks.integer(low=1, least=self.least)
        _checks.integer(low=0, slope=self.slope)
        _checks.integer(low=2, cells=self.cells)
        if self.total > WORDS:
            raise LimitError("The weights of a law must have a sum of 2⁶⁴ at most: no word reaches the rest.")

    @classmethod
    def calibrate(cls, epsilon: float, *, cells: int, words: int = WORDS) -> LeaningLaw:
        """The law nearest to ε from below whose weights sum to just under `words`."""
        bracket = exp_floor(epsilon, WORDS) + 1 + WORDS  # e^ε + 1 in units of 2⁻⁶⁴, rounded up
        least = words * WORDS // bracket
        return cls(least=least, slope=(exp_floor(epsilon, least) - least) // (cells - 1), cells=cells)

    @property
    def messages(self) -> int:
        """The lower and the upper one."""
        return 2

    @property
    def total(self) -> int:
        """The sum of both weights, the same for every cell."""
        return 2 * self.least + (self.cells - 1) * self.slope

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one message under two cells."""
        return Fraction(self.least + (self.cells - 1) * self.slope, self.least)

    def row(self, code: int) -> list[Fraction]:
        """P(message | cell) for both messages, exactly."""
        upper = Fraction(self.least + code * self.slope, self.total)
        return [1 - upper, upper]

    def choose(self, code: int, word: int) -> int:
        """The upper message, 1, for a word below its weight, else the lower one, 0."""
        return int(word < self.least + code * self.slope)

    def sample(self, code: int, words: Words) -> int:
        """The message of one person: the next word below the total decides."""
        return self.choose(code, below(self.total, words))
