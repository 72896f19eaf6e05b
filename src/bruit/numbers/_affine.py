"""What mechanisms share whose mean message is exactly affine in the cell: unbiased means without inverting anything."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.estimation.fitting import Channel
from bruit.estimation.number import ScoreModel
from bruit.estimation.scores import Floats, Method
from bruit.estimation.tally import Counts, Tally
from bruit.numbers._channels import GridChannel, GridLaw, channel
from bruit.numbers.base import PROBABILITIES_LIMIT, Number


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
    def scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the cell's number: their average estimates the mean."""
        return self.bounds[0] + float(self.domain.step) * self._channel.scores()

    @property
    def outputs(self) -> Floats:
        """The number that each message stands for; its mean, given the cell, is the cell's number."""
        return self.scores

    def probabilities(self) -> Floats:
        """P(message | cell) as floats: one row per cell, one column per message."""
        if self.cells * self.messages > PROBABILITIES_LIMIT:
            raise LimitError(f"probabilities() is made for at most {PROBABILITIES_LIMIT:,} entries; use fewer cells.")
        return self._channel.table()

    def _moments(self, scores: Floats) -> tuple[Floats, Floats]:
        return moments(self._channel, scores)

    def _scores(self, method: Method) -> tuple[Floats, float]:
        # The affine correction is exact here, so both methods are one.
        return self.scores, self._rounding_bias

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

    def law(self) -> Channel:
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

    def _given(self) -> Floats:
        return moments(self._known, self.scores)[1]

    def _noise(self) -> float:
        given = self._given()
        shapes = self._known.shapes()
        if shapes is None:
            # Nothing is known about it but that it is below the variance over all reports.
            return min(self._spread(), float(given.max()))
        # The mixture of the shapes whose mean, given the cell, is the variance given the cell.
        means = np.column_stack([self._known.backward(np.ascontiguousarray(shape)) for shape in shapes.T])
        mixture, *_ = np.linalg.lstsq(means, given)
        average = float(np.clip(self.counts @ (shapes @ mixture) / self.n, given.min(), given.max()))
        return min(average + self.rounding_noise, self._spread()) if self.rounding_noise else average


def moments(law: Channel, scores: Floats) -> tuple[Floats, Floats]:
    """The mean and the variance of the score of a report, given the cell."""
    shift = float(scores.mean())
    mean = law.backward(scores - shift)
    return mean + shift, np.maximum(law.backward((scores - shift) ** 2) - mean**2, 0.0)
