"""What differs between classes and numbers as targets: what is summed, by how much one record changes it, and shapes.

A fit releases two kinds of sums for every cell: *tables* of the targets, and in the pass sums of *residuals*. A
`Problem` says what one record adds to each, and what noisy tables give to start from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.kernels import additive as kernels
from bruit.learning._features import Floats
from bruit.learning.additive.columns import Cells, Places

Integers = NDArray[np.int64]


class Norms(NamedTuple):
    """What neighbours change in one column at most: in L1, and the square of it in L2, both in units."""

    l1: Fraction
    l2_squared: Fraction


class Shapes(NamedTuple):
    """A shape for every column: an effect for each of its cells and each output, and the intercept of each output.

    `errors` are standard deviations from the noise, and `sizes` the noisy numbers of records in the cells. Where knots
    were smoothed together, `mixing` has the matrix that makes their noise from independent noise of variance 1.
    """

    effects: list[Floats]
    intercept: Floats
    errors: list[Floats]
    sizes: list[Floats]
    mixing: dict[int, Floats]


class Start(NamedTuple):
    """What noisy tables give: shapes, the importance of each column, and whether the noise hides the records.

    `tables` are the noisy ones after what they must have in common was made the same.
    """

    shapes: Shapes
    tables: list[Floats]
    importance: list[float]
    hidden: bool


@dataclass(frozen=True, eq=False)
class Problem(ABC):
    """A kind of target."""

    #: What neighbours change in one column of the tables, and of the pass; by whether a record is replaced.
    table_norms: ClassVar[dict[bool, Norms]]
    pass_norms: ClassVar[dict[bool, Norms]]
    #: The least ν for a pass: with Laplace noise, with Gaussian noise.
    least: ClassVar[tuple[float, float]]
    #: The weight of a record in W.
    weight: ClassVar[float]
    #: Effects are whole numbers of steps: so many for 1.
    steps: ClassVar[int]
    #: The largest effect, either way.
    most_effect: ClassVar[float]
    #: So many times residuals are renewed in the pass, or once for each column if there are fewer.
    blocks: ClassVar[int]

    @property
    @abstractmethod
    def units(self) -> tuple[int, ...]:
        """The unit of every table of a cell."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many effects a cell has."""

    @abstractmethod
    def values(self, target: Any) -> Integers:
        """What a record adds to the tables of its cells, before their weights."""

    @abstractmethod
    def records(self, counts: Any) -> Any:
        """The number of records in each cell, from exact tables over the weight of a record."""

    @abstractmethod
    def residuals(self, score: Integers, target: Any, lookup: Integers) -> Integers:
        """What a record adds in the pass to its cells, before their weights; `lookup` is that of the problem."""

    @abstractmethod
    def start(self, tables: list[Floats], error: float, factor: float, *, passes: bool) -> Start:
        """Shapes from noisy tables, times a factor."""

    @abstractmethod
    def gradient(self, sums: Floats, table: Floats) -> Floats:
        """The sums of residuals of a column's cells, with the half of the target that the tables have."""

    @abstractmethod
    def variance(self, error: float, of_tables: float) -> float:
        """The variance of the noise on an entry of the gradient."""

    def lookup(self) -> Integers:
        """A table of probabilities in whole numbers, made once for all records; empty where none is needed."""
        return np.empty(0, np.int64)

    @property
    def step_weight(self) -> float:
        """The weight of a record in W."""
        return self.weight

    def freedom(self, cells: int) -> int:
        """How many numbers a column's gradient has."""
        return cells

    def scores(self, places: Places, cells: Cells, shapes: Shapes) -> Integers:
        """The intercept and the effects of all columns at each place, in steps of 1/(steps · WEIGHT)."""
        effects = np.rint(np.concatenate(shapes.effects) * self.steps).astype(np.int64)
        intercept = np.rint(shapes.intercept * self.steps * kernels.WEIGHT).astype(np.int64)
        out = np.empty((len(places), self.outputs), np.int64)
        kernels.scores(places, effects, cells.starts, intercept, out)
        return out

    def rounded(self, effects: Floats) -> Floats:
        """Effects in whole steps, no larger than they may be."""
        cut = np.clip(effects, -self.most_effect, self.most_effect)
        return np.asarray(np.rint(cut * self.steps) / self.steps, np.float64)

    def count(self, places: Places, target: Any, cells: Cells) -> Integers:
        """The tables of some records, cell by cell."""
        out = np.zeros((cells.total, len(self.units)), np.int64)
        kernels.add_weights(places, self.values(target), cells.starts, out)
        return out.reshape(-1)

    def count_residuals(
        self, score: Integers, places: Places, target: Any, sizes: tuple[int, ...], lookup: Integers
    ) -> Integers:
        """The sums of residuals of some records at their places in columns of these sizes, cell by cell."""
        starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        out = np.zeros((int(starts[-1]), self.outputs), np.int64)
        kernels.add_weights(places, self.residuals(score, target, lookup), starts, out)
        return out.reshape(-1)
