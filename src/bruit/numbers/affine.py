"""Mechanisms whose mean message is exactly affine in the cell: unbiased means without inverting anything.

Their laws are windows, a leaning coin, or both by chance. Each is multiplied with in one pass over cells and messages,
so that no matrix is needed however fine the grid. The exact weights are those of `bruit.laws`; the channels here have
their quotients as floats.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.estimation.fitting import LinearMap
from bruit.estimation.number import ScoreModel
from bruit.estimation.scores import Floats, Method
from bruit.estimation.tally import Counts, Tally
from bruit.laws import LeaningLaw, MixedLaw, TwoLevelLaw
from bruit.numbers.base import PROBABILITIES_LIMIT, Number

#: The laws that have a channel; the sets of a two-level law are windows.
GridLaw: TypeAlias = TwoLevelLaw | LeaningLaw | MixedLaw

#: How many people are drawn at a time when simulating.
CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class AffineNumber(Number):
    """A mechanism whose law is a `GridLaw`: everything follows from its channel in one pass over cells and messages."""

    DEFAULT_CELLS: ClassVar[int] = 1024

    @property
    @abstractmethod
    def law(self) -> GridLaw:
        """The exact law."""

    @cached_property
    def _channel(self) -> GridChannel:
        return channel(self.law)

    @property
    def messages(self) -> int:
        """How many messages there are."""
        return self.law.messages

    @cached_property
    def message_scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the cell's number: their average estimates the mean."""
        return self.bounds[0] + float(self.domain.step) * self._channel.scores()

    @property
    def outputs(self) -> Floats:
        """The number that each message stands for; its mean, given the cell, is the cell's number."""
        return self.message_scores

    def probabilities(self) -> Floats:
        """P(message | cell) as floats: one row per cell, one column per message."""
        if self.cells * self.messages > PROBABILITIES_LIMIT:
            raise LimitError(f"probabilities() is made for at most {PROBABILITIES_LIMIT:,} entries; use fewer cells.")
        return self._channel.table()

    def _moments(self, scores: Floats) -> tuple[Floats, Floats]:
        return moments(self._channel, scores)

    def _scores(self, method: Method) -> tuple[Floats, float]:
        # The affine correction is exact here, so both methods are one.
        return self.message_scores, self._rounding_bias

    def _model(self, tally: Tally, method: Method) -> ScoreModel:
        scores, bias = self._scores(method)
        return LawModel(
            tally.counts,
            tally.n,
            scores,
            self.points,
            self.probabilities,
            bias_bound=bias,
            rounding_noise=self._rounding_noise,
            grid_channel=self._channel,
        )

    def _randomize_cells(self, cells: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        self._channel.randomize(cells, memory.words_below(entropy, self.law.total, cells.size), out)

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        return self._channel.simulate(people, generator)


@dataclass(frozen=True)
class LawModel(ScoreModel):
    """Counts of messages and their scores, with a channel that is multiplied with instead of a matrix."""

    grid_channel: GridChannel | None = None

    def law(self) -> LinearMap:
        """The law, if it tells more than the mean."""
        if self.scores.size == 2 < self.points.size:
            raise ParameterError(
                "Two messages tell the mean of a number and nothing else about its distribution: use SquareWave."
            )
        return self._known

    @property
    def _known(self) -> GridChannel:
        assert self.grid_channel is not None  # noqa: S101 -- None only because fields before it have defaults
        return self.grid_channel

    def _conditional_variance(self) -> Floats:
        return moments(self._known, self.scores)[1]

    def _noise(self) -> float:
        by_cell = self._conditional_variance()
        shapes = self._known.shapes()
        if shapes is None:
            # Nothing is known about it but that it is below the variance over all reports.
            return min(self._spread(), float(by_cell.max()))
        # The mixture of the shapes whose mean, given the cell, is the variance given the cell.
        means = np.column_stack([self._known.backward(np.ascontiguousarray(shape)) for shape in shapes.T])
        mixture, *_ = np.linalg.lstsq(means, by_cell)
        average = float(np.clip(self.counts @ (shapes @ mixture) / self.n, by_cell.min(), by_cell.max()))
        return min(average + self.rounding_noise, self._spread()) if self.rounding_noise else average


def moments(law: LinearMap, scores: Floats) -> tuple[Floats, Floats]:
    """The mean and the variance of the score of a report, given the cell."""
    shift = float(scores.mean())
    mean = law.backward(scores - shift)
    return mean + shift, np.maximum(law.backward((scores - shift) ** 2) - mean**2, 0.0)


class GridChannel(LinearMap, Protocol):
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
        """How often each message comes from the people of each cell."""
        ...


def channel(law: GridLaw) -> GridChannel:
    """The channel of a law."""
    if isinstance(law, MixedLaw):
        return _MixedChannel(law)
    return _LeaningChannel(law) if isinstance(law, LeaningLaw) else _WindowChannel(law)


@dataclass(frozen=True)
class _WindowChannel:
    """A two-level law whose sets are windows: cell x has the messages x..x+w−1, of m−1+w in all."""

    law: TwoLevelLaw

    @property
    def width(self) -> int:
        return self.law.members

    @property
    def messages(self) -> int:
        return self.law.outcomes

    @property
    def cells(self) -> int:
        return self.messages - self.width + 1

    def table(self) -> Floats:
        out = np.full((self.cells, self.messages), float(self.law.probability(inside=False)))
        inside = float(self.law.probability(inside=True))
        for cell in range(self.cells):
            out[cell, cell : cell + self.width] = inside
        return out

    def forward(self, share: Floats) -> Floats:
        from bruit.kernels import window

        out = np.empty(self.messages)
        window.spread(share, self.width, *self._steps, out)
        return out

    def backward(self, score: Floats) -> Floats:
        from bruit.kernels import window

        out = np.empty(self.cells)
        window.gather(score, self.width, *self._steps, out)
        return out

    def scores(self) -> Floats:
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
        from bruit.kernels import window

        window.slide(cells, words, self.weights, out)

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        # A message of the true window with probability (A − B)·w/Z; all others take any message.
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
        from bruit.kernels import two_level

        return two_level.weights(self.law.inside, self.law.outside, self.width)

    @cached_property
    def _steps(self) -> tuple[float, float]:
        """What a window adds to the probability of a message, and what every message has."""
        law = self.law
        return float(Fraction(law.inside - law.outside, law.total)), float(law.probability(inside=False))


@dataclass(frozen=True)
class _LeaningChannel:
    """Two messages, the upper one the likelier the higher the cell."""

    law: LeaningLaw

    def table(self) -> Floats:
        return np.column_stack([1 - self._upper, self._upper])

    def forward(self, share: Floats) -> Floats:
        upper = float(share @ self._upper)
        return np.array([float(share.sum()) - upper, upper])

    def backward(self, score: Floats) -> Floats:
        return float(score[0]) + float(score[1] - score[0]) * self._upper

    def scores(self) -> Floats:
        law = self.law
        return np.array([-law.least / law.slope, (law.total - law.least) / law.slope])

    def shapes(self) -> None:
        """The variance is a square in the cell, of which two messages tell nothing."""
        return

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        from bruit.kernels import window

        window.lean(cells, words, self.weights, out)

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        upper = int(generator.binomial(people, self._upper).sum())
        return np.array([int(people.sum()) - upper, upper])

    @property
    def weights(self) -> Any:
        from bruit.kernels.window import Leaning

        return Leaning(np.uint64(self.law.least), np.uint64(self.law.slope), np.uint64(self.law.total))

    @cached_property
    def _upper(self) -> Floats:
        weight = self.law.least + np.arange(self.law.cells, dtype=np.float64) * float(self.law.slope)
        return np.asarray(weight / float(self.law.total))


@dataclass(frozen=True)
class _MixedChannel:
    """A window or a leaning coin, by chance; the messages of the coin come behind those of the window."""

    law: MixedLaw

    @cached_property
    def window(self) -> _WindowChannel:
        return _WindowChannel(self.law.window)

    @cached_property
    def coin(self) -> _LeaningChannel:
        return _LeaningChannel(self.law.coin)

    def table(self) -> Floats:
        slide, lean = self._chances
        return np.hstack([slide * self.window.table(), lean * self.coin.table()])

    def forward(self, share: Floats) -> Floats:
        slide, lean = self._chances
        return np.concatenate([slide * self.window.forward(share), lean * self.coin.forward(share)])

    def backward(self, score: Floats) -> Floats:
        slide, lean = self._chances
        return slide * self.window.backward(score[:-2]) + lean * self.coin.backward(score[-2:])

    def scores(self) -> Floats:
        return np.concatenate([self.window.scores(), self.coin.scores()])

    def shapes(self) -> Floats:
        """Those of the window; the coin says nothing about squares."""
        return np.vstack([self.window.shapes(), np.zeros((2, 3))])

    def randomize(self, cells: Codes, words: NDArray[np.uint64], out: NDArray[Any]) -> None:
        from bruit.kernels import window

        window.lean_or_slide(cells, words, self.coin.weights, self.window.weights, self.window.messages, out)

    def simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        slide = np.asarray(generator.binomial(people, self._chances[0]), np.int64)
        parts = [self.window.simulate(slide, generator), self.coin.simulate(people - slide, generator)]
        return np.concatenate(parts)

    @cached_property
    def _chances(self) -> tuple[float, float]:
        return float(self.law.chance), float(1 - self.law.chance)
