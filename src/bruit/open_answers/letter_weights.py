"""How much of the chance of a false name each code may have: common letters more, rare ones less.

An answer is certified if its support is above a limit. A text that nobody gave passes its limit with a small chance,
and the chances of all texts add up to one in twenty. They need not be equal. People write a to z and spaces far more
often than anything else, so texts of these letters have most of the sum: they are certified with less support, and
texts of rare letters with more. The weights are fixed beforehand, so that the sum holds whatever people answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bruit.domains.open_text import LETTER_BITS, SIGNS

#: Signs that answers mostly have: the end of a text, the space, and a to z.
COMMON = "\0 abcdefghijklmnopqrstuvwxyz"
#: The part of all weight that common signs have together, at each place of a text.
COMMON_SHARE = 0.95


@dataclass(frozen=True)
class LetterWeights:
    """Weights of all codes of some bits, which add up to one.

    Parameters
    ----------
    bits
        How many bits a code has. Where these are no whole letters, all codes weigh alike.

    Examples
    --------
    >>> weights = LetterWeights(12)
    >>> common, mixed, rare = weights.by_rarity
    >>> bool(common > mixed > rare), round(float(weights.by_rarity[weights.rarity].sum()), 9)
    (True, 1.0)
    """

    bits: int

    @property
    def letters(self) -> int:
        """How many whole letters a code has; 0 where it has a part of one."""
        return 0 if self.bits % LETTER_BITS else self.bits // LETTER_BITS

    @cached_property
    def by_rarity(self) -> NDArray[np.float64]:
        """The weight of a code, by how many of its letters are rare."""
        if not self.letters:
            return np.array([2.0**-self.bits])
        rare = np.arange(self.letters + 1)
        common = COMMON_SHARE / len(COMMON)
        other = (1 - COMMON_SHARE) / (len(SIGNS) - len(COMMON))
        return np.asarray(common ** (self.letters - rare) * other**rare)

    @property
    def rarity(self) -> NDArray[np.uint8]:
        """How many letters of each code are rare."""
        sign = np.array([letter not in COMMON for letter in SIGNS], np.uint8)
        counts = np.zeros(1 << self.bits if not self.letters else 1, np.uint8)
        for _ in range(self.letters):
            counts = (counts[:, None] + sign).ravel()
        return counts
