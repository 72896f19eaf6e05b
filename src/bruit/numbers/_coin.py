"""A coin that leans with the cell, the law of Duchi's mechanism; and a coin or a window, that of the hybrid."""

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
from bruit.laws.two_level import exp_floor, log_ceiling
from bruit.numbers._laws import WORDS
from bruit.numbers._window import WindowLaw


@dataclass(frozen=True, kw_only=True)
class LeaningLaw:
    """Two messages; the weight of the upper one is least + cell·slope, so its probability is affine in the cell.

    The last cell gives the upper message the weight that the first gives the lower one. All weights sum to
    2·least + (m−1)·slope, so the largest ratio, between the first and the last cell, is 1 + (m−1)·slope/least.
    """

    least: int
    slope: int
    cells: int

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

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""
        return log_ceiling(self.ratio)

    def row(self, cell: int) -> list[Fraction]:
        """P(message | cell) for both messages, exactly."""
        upper = Fraction(self.least + cell * self.slope, self.total)
        return [1 - upper, upper]

    def table(self) -> Floats:
        """The same for all cells, as floats."""
        return np.column_stack([1 - self._upper, self._upper])

    def forward(self, share: Floats) -> Floats:
        """The shares of messages where the cells have these shares."""
        upper = float(share @ self._upper)
        return np.array([float(share.sum()) - upper, upper])

    def backward(self, score: Floats) -> Floats:
        """The mean score of the messages from each cell."""
        return float(score[0]) + float(score[1] - score[0]) * self._upper

    def scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the number of the cell."""
        return np.array([-self.least / self.slope, (self.total - self.least) / self.slope])

    def shapes(self) -> None:
        """The variance is a square in the cell, of which two messages tell nothing."""
        return

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        """Write the message that each word below the total chooses for its cell."""
        from bruit.kernels import window

        window.lean(cells, words, self.weights, out)

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """How often each message comes from so many people in each cell."""
        upper = int(generator.binomial(people, self._upper).sum())
        return np.array([int(people.sum()) - upper, upper])

    @property
    def weights(self) -> Any:
        """The law as kernels need it."""
        from bruit.kernels.window import Leaning

        return Leaning(np.uint64(self.least), np.uint64(self.slope), np.uint64(self.total))

    @cached_property
    def _upper(self) -> Floats:
        weight = self.least + np.arange(self.cells, dtype=np.float64) * float(self.slope)
        return np.asarray(weight / float(self.total))


@dataclass(frozen=True, kw_only=True)
class MixedLaw:
    """A window or a leaning coin, by chance; the messages of the coin come behind those of the window.

    The weights of both laws simply stand side by side, so the chance of the window is its total over the sum of both,
    whatever the cell; and no ratio is larger than the larger of the two.
    """

    window: WindowLaw
    coin: LeaningLaw

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

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""
        return log_ceiling(self.ratio)

    def row(self, cell: int) -> list[Fraction]:
        """P(message | cell) for all messages, exactly."""
        chance = self.chance
        return [chance * p for p in self.window.row(cell)] + [(1 - chance) * p for p in self.coin.row(cell)]

    def table(self) -> Floats:
        """The same for all cells, as floats."""
        slide, lean = self._chances
        return np.hstack([slide * self.window.table(), lean * self.coin.table()])

    def forward(self, share: Floats) -> Floats:
        """The shares of messages where the cells have these shares."""
        slide, lean = self._chances
        return np.concatenate([slide * self.window.forward(share), lean * self.coin.forward(share)])

    def backward(self, score: Floats) -> Floats:
        """The mean score of the messages from each cell."""
        slide, lean = self._chances
        return slide * self.window.backward(score[:-2]) + lean * self.coin.backward(score[-2:])

    def scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the number of the cell."""
        return np.concatenate([self.window.scores(), self.coin.scores()])

    def shapes(self) -> Floats:
        """Those of the window; the coin says nothing about squares."""
        return np.vstack([self.window.shapes(), np.zeros((2, 3))])

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        """Write the message that each word below the total chooses for its cell."""
        from bruit.kernels import window

        window.lean_or_slide(cells, words, self.coin.weights, self.window.weights, self.window.messages, out)

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """How often each message comes from so many people in each cell."""
        slide = np.asarray(generator.binomial(people, self._chances[0]), np.int64)
        parts = [self.window.simulate(slide, generator), self.coin.simulate(people - slide, generator)]
        return np.concatenate(parts)

    @cached_property
    def _chances(self) -> tuple[float, float]:
        return float(self.chance), float(1 - self.chance)
