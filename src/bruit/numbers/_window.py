"""A window that slides over the messages: the law of the piecewise mechanism and of the square wave."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import Codes
from bruit.estimation.scores import Floats
from bruit.estimation.tally import Counts
from bruit.laws.two_level import TwoLevelLaw, exp_floor
from bruit.numbers._laws import WORDS

#: How many people are drawn at a time when simulating.
CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class WindowLaw:
    """A two-level law whose sets are windows: cell x has the messages x..x+w−1, of m−1+w in all."""

    levels: TwoLevelLaw

    @classmethod
    def calibrate(cls, epsilon: float, *, cells: int, width: int, words: int = WORDS) -> WindowLaw:
        """The law nearest to ε from below whose weights sum to just under `words`."""
        # As TwoLevelLaw.calibrate, which takes all words.
        bracket = exp_floor(epsilon, width * WORDS) + 1 + (cells - 1) * WORDS
        outside = words * WORDS // bracket
        inside = exp_floor(epsilon, outside)
        return cls(levels=TwoLevelLaw(inside=inside, outside=outside, members=width, outcomes=cells - 1 + width))

    @property
    def width(self) -> int:
        """How many messages a window has."""
        return self.levels.members

    @property
    def messages(self) -> int:
        """How many messages there are."""
        return self.levels.outcomes

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.messages - self.width + 1

    @property
    def total(self) -> int:
        """The sum of all weights, the same for every cell."""
        return self.levels.total

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one message under two cells."""
        return self.levels.ratio

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""
        return self.levels.epsilon

    def row(self, cell: int) -> list[Fraction]:
        """P(message | cell) for all messages, exactly."""
        inside, outside = (self.levels.probability(inside=there) for there in (True, False))
        return [inside if cell <= y < cell + self.width else outside for y in range(self.messages)]

    def table(self) -> Floats:
        """The same for all cells, as floats."""
        out = np.full((self.cells, self.messages), float(self.levels.probability(inside=False)))
        inside = float(self.levels.probability(inside=True))
        for cell in range(self.cells):
            out[cell, cell : cell + self.width] = inside
        return out

    def forward(self, share: Floats) -> Floats:
        """The shares of messages where the cells have these shares."""
        from bruit.kernels import window

        out = np.empty(self.messages)
        window.spread(share, self.width, *self._steps, out)
        return out

    def backward(self, score: Floats) -> Floats:
        """The mean score of the messages from each cell."""
        from bruit.kernels import window

        out = np.empty(self.cells)
        window.gather(score, self.width, *self._steps, out)
        return out

    def scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the number of the cell."""
        # E[y | x]·Z = (A − B)·(w·x + w(w−1)/2) + B·K(K−1)/2 for a window of w messages among K.
        law, w, k = self.levels, self.width, self.messages
        rise = (law.inside - law.outside) * w
        start = Fraction(rise * (w - 1) + law.outside * k * (k - 1), 2)
        numbers: Floats = np.arange(k, dtype=np.float64)
        return numbers * (law.total / rise) - float(start / rise)

    def shapes(self) -> Floats:
        """The variance is a polynomial of degree two in the cell, as is the mean of one in the message."""
        place = np.linspace(-1.0, 1.0, self.messages)
        return np.column_stack([np.ones(self.messages), place, place**2])

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        """Write the message that each word below the total chooses for its cell."""
        from bruit.kernels import window

        window.slide(cells, words, self.weights, out)

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """How often each message comes from so many people in each cell."""
        # A message of the own window with probability (A − B)·w/Z; all others take any message.
        law = self.levels
        kept = generator.binomial(people, float(Fraction((law.inside - law.outside) * self.width, law.total)))
        others = int(people.sum() - kept.sum())
        counts = generator.multinomial(others, np.full(self.messages, 1 / self.messages))
        many = kept >= self.width
        for cell in np.flatnonzero(many):
            counts[cell : cell + self.width] += generator.multinomial(kept[cell], np.full(self.width, 1 / self.width))
        few = np.repeat(np.flatnonzero(~many), kept[~many])
        for start in range(0, few.size, CHUNK):
            some = few[start : start + CHUNK]
            counts += np.bincount(some + generator.integers(self.width, size=some.size), minlength=self.messages)
        return np.asarray(counts, np.int64)

    @property
    def weights(self) -> Any:
        """The law as kernels need it."""
        from bruit.kernels import two_level

        return two_level.weights(self.levels.inside, self.levels.outside, self.width)

    @cached_property
    def _steps(self) -> tuple[float, float]:
        """What a window adds to the probability of a message, and what every message has."""
        law = self.levels
        return float(Fraction(law.inside - law.outside, law.total)), float(law.probability(inside=False))
