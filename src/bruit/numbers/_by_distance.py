"""What bounded Laplace, the staircase and metric privacy share: laws by distance, cut to the grid or clamped to it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.domains import Grid
from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.errors import ParameterTypeError
from bruit.estimation.scores import Floats
from bruit.laws.distance import ClampedLaw, DistanceLaw
from bruit.numbers.base import Number


@dataclass(frozen=True, kw_only=True)
class GridNumber(Number):
    """A number whose reports lie evenly between the bounds, by a law of distances."""

    @property
    @abstractmethod
    def law(self) -> DistanceLaw | ClampedLaw:
        """Weights by distance."""

    @property
    def messages(self) -> int:
        """One per cell."""
        return self.cells

    @cached_property
    def outputs(self) -> Floats:
        """The number that each message stands for: evenly spaced from the lower bound to the upper."""
        numbers = np.linspace(*self.bounds, self.messages)
        numbers.flags.writeable = False
        return numbers

    def probabilities(self) -> Floats:
        """P(message | cell) as floats: one row per cell, one column per message."""
        return self.law.probabilities()

    def _randomize_cells(self, cells: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import distance as kernel

        tables = self.law.tables
        fixed = (*kernel.prepare(tables.cumulative, tables.left, tables.totals), tables.stride, self.messages)
        places = np.empty(cells.size, np.int64)
        late = places[: kernel.randomize(cells, memory.block_words(entropy, cells.size), *fixed, out, places)]
        while late.size:
            again, still = np.empty(late.size, out.dtype), np.empty(late.size, np.int64)
            count = kernel.randomize(cells[late], entropy.words(late.size), *fixed, again, still)
            out[late] = again
            late = late[still[:count]]


@dataclass(frozen=True, kw_only=True)
class ByDistance(GridNumber):
    """A number whose report is the likelier the nearer it is.

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`.
    clamped
        False: the law is cut to the bounds, which is what drawing again until the result is inside gives. True: what
        falls beyond a bound is put on the bound.
    """

    DEFAULT_CELLS: ClassVar[int] = 64
    #: How many times finer reports are than the cells.
    STRIDE: ClassVar[int] = 1

    clamped: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.clamped, bool):
            raise ParameterTypeError("clamped must be True or False.")

    @property
    def messages(self) -> int:
        """One per cell, or one per half cell where the law needs it for an unbiased mean."""
        return self.cells if self.clamped else (self.cells - 1) * self.STRIDE + 1

    @cached_property
    def law(self) -> DistanceLaw | ClampedLaw:
        """Weights by distance, cut to the grid or clamped to it; the same for all bounds."""
        return _law(replace(self, bounds=None, cells=0, domain=Grid(0.0, 1.0, cells=self.cells)))  # type: ignore[arg-type]

    def _calibrated(self) -> DistanceLaw | ClampedLaw:
        if self.clamped:
            return ClampedLaw.calibrate(self.epsilon, self._noise_shape(self.epsilon))
        return DistanceLaw.calibrate(self.epsilon, self._shape, stride=self.STRIDE)

    @abstractmethod
    def _shape(self, nominal: float) -> Floats:
        """The weights of all distances between messages; the nearest is e^nominal times the farthest."""

    @abstractmethod
    def _noise_shape(self, nominal: float) -> Floats:
        """The weights of noise of 0..cells−2 steps, before the rest is clamped."""

    def _settings(self) -> dict[str, Any]:
        return {"clamped": self.clamped}


@lru_cache(maxsize=16)
def _law(number: ByDistance) -> DistanceLaw | ClampedLaw:
    """The law of a number, computed once for all attributes of a plan that have the same."""
    return number._calibrated()
