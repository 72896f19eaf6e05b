"""The fit of an additive model: the number of records, knots, tables, and one pass of residuals in four blocks.

How many knots there are, where they stand, whether there is a pass and in which order columns are taken follow from
declared parameters and from noisy numbers alone. The records are read once for each release.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bruit.entropy import Entropy
from bruit.kernels import additive as kernels
from bruit.learning._features import FeatureRows, Features, Floats
from bruit.learning.additive.columns import Cells, ShapeColumns
from bruit.learning.additive.problem import Integers, Problem, Shapes
from bruit.learning.additive.releases import Promise, Releases
from bruit.learning.additive.smoothing import step

#: From rows and their targets, as codes or steps, to whole numbers that add; read over all records.
Reader = Callable[[Callable[[FeatureRows, Any], Integers]], Integers]

#: Knots: this times √ν, in the range below.
_KNOTS, _FEWEST, _MOST = 0.7, 4, 32


@dataclass(frozen=True, eq=False)
class FineTables:
    """Counts tables of the targets in fine cells, before anything is known; the columns are those of the rows."""

    features: Features
    problem: Problem

    def __call__(self, rows: FeatureRows, target: Any) -> Integers:
        """The sums of some rows."""
        columns = ShapeColumns.of(self.features, rows.numbers.shape[1] + len(rows.codes), None)
        return TargetTables(Cells.fine(columns), self.problem)(rows, target)


@dataclass(frozen=True, eq=False)
class TargetTables:
    """Counts tables of the targets; all that is needed where records are."""

    cells: Cells
    problem: Problem

    def __call__(self, rows: FeatureRows, target: Any) -> Integers:
        """The sums of some rows."""
        return self.problem.count(self.cells.places(rows), target, self.cells)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Counts residuals of published shapes in the columns of a block; all that is needed where records are."""

    cells: Cells
    problem: Problem
    shapes: Shapes
    block: tuple[int, ...]
    lookup: Integers

    def __call__(self, rows: FeatureRows, target: Any) -> Integers:
        """The sums of some rows."""
        places = self.cells.places(rows)
        score = self.problem.scores(places, self.cells, self.shapes)
        here = np.ascontiguousarray(places[:, list(self.block)])
        sizes = tuple(self.cells.sizes[column] for column in self.block)
        return self.problem.count_residuals(score, here, target, sizes, self.lookup)


class Fitted(NamedTuple):
    """Cells, and shapes on them in whole steps; `size` is the noisy number of records, `passes` whether one was made.

    `hidden` says that the noise hides the records: then all effects are 0. Shapes that are `straight` have two knots
    for each number, and are not rounded.
    """

    problem: Problem
    cells: Cells
    shapes: Shapes
    size: float
    passes: bool
    hidden: bool
    tables: list[Floats]
    error: float
    straight: bool = False


class Size(NamedTuple):
    """The noisy number of records, and ν: that over the noise of a cell."""

    records: float
    ratio: float


@dataclass(frozen=True, eq=False)
class Fitting:
    """A fit of declared columns.

    Parameters
    ----------
    columns, problem, promise
        What is declared.
    most_knots
        No number has more knots.
    """

    columns: ShapeColumns
    problem: Problem
    promise: Promise
    most_knots: int = _MOST

    @cached_property
    def fine(self) -> Cells:
        """The cells that are counted before anything is released."""
        return Cells.fine(self.columns)

    def check(self) -> None:
        """Refuse noise that cannot be drawn, before anything is booked."""
        for passes in (False, True):
            self._releases(passes=passes).check()

    def size(self, fine: Integers, entropy: Entropy) -> Size:
        """The number of records, noisy unless it is public; at least 1."""
        exact = self._records(fine)[self.fine.part(0)].sum(keepdims=True)
        noise = self.promise.size
        noisy = exact if noise is None else noise.draw(exact, entropy)
        records = max(float(noisy[0]), 1.0)
        return Size(records, records / self.promise.spread(len(self.columns)))

    def learn(self, fine: Integers, size: Size, read: Reader, entropy: Entropy) -> Fitted:
        """Shapes, after the spend was booked."""
        passes = size.ratio >= self.problem.least[self.promise.gaussian]
        releases = self._releases(passes=passes)
        cells = Cells.even(self.columns, self._knots(size.ratio))
        if passes and self.columns.dense:
            cells = self._placed(cells, fine, size.records, releases, entropy)
        noise = releases.tables(cells.total)
        noisy = noise.draw(read(TargetTables(cells, self.problem)), entropy).reshape(cells.total, -1)
        whole = noisy / np.asarray(self.problem.units, np.float64)
        tables = [whole[cells.part(column)] for column in range(len(self.columns))]
        error = float(noise.errors[0])
        factor = min(1.0, math.sqrt(8 / len(self.columns)))
        start = self.problem.start(tables, error, factor, passes=passes)
        keep = 0.0 if start.hidden else 1.0
        effects = [self.problem.rounded(keep * effect) for effect in start.shapes.effects]
        shapes = start.shapes._replace(effects=effects)
        passed = passes and not start.hidden
        fitted = Fitted(self.problem, cells, shapes, size.records, passed, start.hidden, start.tables, error)
        if fitted.passes:
            order = np.argsort([-value for value in start.importance], kind="stable")
            self._pass(fitted, order.tolist(), releases, read, entropy)
        return fitted

    def _releases(self, *, passes: bool) -> Releases:
        return Releases(self.promise, self.problem, len(self.columns), len(self.columns.dense), passes)

    def _knots(self, ratio: float) -> int:
        return min(max(round(_KNOTS * math.sqrt(ratio)), _FEWEST), self.most_knots)

    def _records(self, fine: Integers) -> Any:
        """How many records each fine cell has, from the tables of all targets."""
        counts = np.asarray(fine, object).reshape(self.fine.total, -1) // kernels.WEIGHT
        return self.problem.records(counts)

    def _placed(self, cells: Cells, fine: Integers, records: float, releases: Releases, entropy: Entropy) -> Cells:
        """Knots where noisy histograms have records."""
        counts, dense = self._records(fine), self.columns.dense
        exact = np.concatenate([counts[self.fine.part(column)][: kernels.FINE] for column in dense])
        noisy = releases.fine(exact.size).draw(exact, entropy).reshape(len(dense), -1).astype(np.float64)
        for column, histogram in zip(dense, noisy, strict=True):
            cells = cells.following(column, histogram, records)
        return cells

    def _pass(self, fitted: Fitted, order: list[int], releases: Releases, read: Reader, entropy: Entropy) -> None:
        """Change the shapes block by block; every block sees the residuals of those before it."""
        blocks, lookup = self.problem.blocks, self.problem.lookup()
        ends = [round(place * len(order) / blocks) for place in range(blocks + 1)]
        for first, last in itertools.pairwise(ends):
            block = tuple(order[first:last])
            if not block:
                continue
            residuals = Residuals(fitted.cells, self.problem, fitted.shapes, block, lookup)
            self._block(fitted, block, read(residuals), releases, entropy)

    def _block(
        self, fitted: Fitted, block: tuple[int, ...], sums: Integers, releases: Releases, entropy: Entropy
    ) -> None:
        sizes = [fitted.cells.sizes[column] for column in block]
        noise = releases.block(len(block), sum(sizes))
        noisy = noise.draw(sums, entropy).reshape(-1, self.problem.outputs) / (kernels.WEIGHT * kernels.UNIT)
        variance = self.problem.variance(float(noise.errors[0]), fitted.error)
        parts = np.split(noisy, np.cumsum(sizes)[:-1])
        for place, (column, sums_of) in enumerate(zip(block, parts, strict=True)):
            weights = self.problem.step_weight * np.maximum(fitted.shapes.sizes[column], 1)
            change = step(
                self.problem.gradient(sums_of, fitted.tables[column]),
                weights,
                fitted.cells.ordered[column],
                variance,
                self.problem.freedom(len(weights)),
                level=place == 0,
            )
            moved = self.problem.rounded(fitted.shapes.effects[column] + change.change)
            fitted.shapes.effects[column] = moved
            fitted.shapes.errors[column] = np.broadcast_to(change.errors, moved.shape)
            fitted.shapes.mixing[column] = change.mixing
