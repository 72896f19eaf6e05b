"""A window or a leaning coin, by chance: the law of the hybrid mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bruit.errors import LimitError, ParameterError
from bruit.laws.law import Loss
from bruit.laws.leaning import LeaningLaw
from bruit.laws.sets import Window
from bruit.laws.two_level import TwoLevelLaw
from bruit.laws.words import WORDS, Words, below


@dataclass(frozen=True, kw_only=True)
class MixedLaw(Loss):
    """A window or a leaning coin, by chance; the messages of the coin come behind those of the window.

    The weights of both laws simply stand side by side, so the chance of the window is its total over the sum of both,
    whatever the cell; and no ratio is larger than the larger of the two.

    Parameters
    ----------
    window
        A two-level law whose sets are windows.
    coin
        A leaning law over the same cells.

    Examples
    --------
    >>> window = TwoLevelLaw(inside=2, outside=1, sets=Window(values=2, width=1))
    >>> law = MixedLaw(window=window, coin=LeaningLaw(least=1, slope=1, cells=2))
    >>> law.total, [law.sample(1, iter([word])) for word in range(6)]
    (6, [3, 3, 2, 1, 0, 1])
    """

    shape: ClassVar[str] = "mixed"

    window: TwoLevelLaw
    coin: LeaningLaw

    def __post_init__(self) -> None:
        if not isinstance(self.window.sets, Window) or self.window.sets.values != self.coin.cells:
            raise ParameterError("A mixed law needs windows over the cells of its coin.")
        if self.total > WORDS:
            raise LimitError("The weights of a law must have a sum of 2⁶⁴ at most: no word reaches the rest.")

    @classmethod
    def calibrate(cls, epsilon: float, sets: Window, *, coin_words: int) -> MixedLaw:
        """The law nearest to ε from below in which the coin has this many of all words."""
        return cls(
            window=TwoLevelLaw.calibrate(epsilon, sets, words=WORDS - coin_words),
            coin=LeaningLaw.calibrate(epsilon, cells=sets.values, words=coin_words),
        )

    @property
    def sets(self) -> Window:
        """The windows."""
        sets = self.window.sets
        assert isinstance(sets, Window)  # noqa: S101 -- checked when it was made
        return sets

    @property
    def messages(self) -> int:
        """How many messages there are."""
        return self.window.messages + self.coin.messages

    @property
    def total(self) -> int:
        """The sum of all weights, the same for every cell."""
        return self.window.total + self.coin.total

    @property
    def chance(self) -> Fraction:
        """The exact chance of the window."""
        return Fraction(self.window.total, self.total)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one message under two cells."""
        return max(self.window.ratio, self.coin.ratio)

    def row(self, code: int) -> list[Fraction]:
        """P(message | cell) for all messages, exactly."""
        chance = self.chance
        return [chance * p for p in self.window.row(code)] + [(1 - chance) * p for p in self.coin.row(code)]

    def sample(self, code: int, words: Words) -> int:
        """The message of one person: the next word below the total decides, the coin's words coming first."""
        word = below(self.total, words)
        if word < self.coin.total:
            return self.window.messages + self.coin.choose(code, word)
        inside, number = self.window.choose(word - self.coin.total)
        return code + number if inside else number
