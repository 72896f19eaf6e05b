"""Laws on a grid as linear maps: sums over windows and coins in one pass, for estimates and simulations.

Under each such law the mean of the message is exactly affine in the cell, so that an unbiased mean needs no inversion;
and each is multiplied with in one pass over cells and messages, so that no matrix is needed however fine the grid.
The exact weights are those of `bruit.laws`; here are their quotients as floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import Codes
from bruit.estimation.fitting import Channel
from bruit.estimation.scores import Floats
from bruit.estimation.tally import Counts
from bruit.laws import LeaningLaw, MixedLaw, TwoLevelLaw

#: The laws that have a channel; the sets of a two-level law are windows.
GridLaw: TypeAlias = TwoLevelLaw | LeaningLaw | MixedLaw

#: How many people are drawn at a time when simulating.
CHUNK = 1 << 20


class GridChannel(Channel, Protocol):
    """What a mechanism for means needs of its law."""

    def table(self) -> Floats:
        """P(message | cell) for all cells and messages."""
        ...

    def scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the number of the cell."""
        ...

    def shapes(self) -> Floats | None:
        """Columns of scores, among whose mixtures is one for the variance of `scores`; None if nothing tells it."""
        ...

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        """Write the message that each word below the total chooses for its cell."""
        ...

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        """How often each message comes from so many people in each cell."""
        ...


def channel(law: GridLaw) -> GridChannel:
    """The channel of a law."""
    if isinstance(law, MixedLaw):
        return MixedChannel(law)
    return LeaningChannel(law) if isinstance(law, LeaningLaw) else WindowChannel(law)


@dataclass(frozen=True)
class WindowChannel:
    """A two-level law whose sets are windows: cell x has the messages x..x+w−1, of m−1+w in all."""

    law: TwoLevelLaw

    @property
    def width(self) -> int:
        """How many messages a window has."""
        return self.law.members

    @property
    def messages(self) -> int:
        """How many messages there are."""
        return self.law.outcomes

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.messages - self.width + 1

    def table(self) -> Floats:
        """P(message | cell) for all cells and messages."""
        out = np.full((self.cells, self.messages), float(self.law.probability(inside=False)))
        inside = float(self.law.probability(inside=True))
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
        law, w, k = self.law, self.width, self.messages
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
        law = self.law
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

        return two_level.weights(self.law.inside, self.law.outside, self.width)

    @cached_property
    def _steps(self) -> tuple[float, float]:
        """What a window adds to the probability of a message, and what every message has."""
        law = self.law
        return float(Fraction(law.inside - law.outside, law.total)), float(law.probability(inside=False))


@dataclass(frozen=True)
class LeaningChannel:
    """Two messages, the upper one the likelier the higher the cell."""

    law: LeaningLaw

    def table(self) -> Floats:
        """P(message | cell) for all cells and messages."""
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
        law = self.law
        return np.array([-law.least / law.slope, (law.total - law.least) / law.slope])

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

        return Leaning(np.uint64(self.law.least), np.uint64(self.law.slope), np.uint64(self.law.total))

    @cached_property
    def _upper(self) -> Floats:
        weight = self.law.least + np.arange(self.law.cells, dtype=np.float64) * float(self.law.slope)
        return np.asarray(weight / float(self.law.total))


@dataclass(frozen=True)
class MixedChannel:
    """A window or a leaning coin, by chance; the messages of the coin come behind those of the window."""

    law: MixedLaw

    @cached_property
    def window(self) -> WindowChannel:
        """The window by itself."""
        return WindowChannel(self.law.window)

    @cached_property
    def coin(self) -> LeaningChannel:
        """The coin by itself."""
        return LeaningChannel(self.law.coin)

    def table(self) -> Floats:
        """P(message | cell) for all cells and messages."""
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
        return float(self.law.chance), float(1 - self.law.chance)
