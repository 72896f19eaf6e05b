"""Classes as targets: a table of counts for each class, and residuals of probabilities.

Half of the label in a residual comes from the tables, which are released already: r = ½(y − ½) − (P − ½) is at most ¾,
where y − P would be 1. With several classes r = ½e_y − p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bruit.kernels import additive as kernels
from bruit.learning._features import Floats
from bruit.learning.additive.columns import simplex
from bruit.learning.additive.problem import Integers, Norms, Problem, Shapes, Start

#: No class has a smaller share in logarithms of shares.
_LEAST_SHARE = 0.01
#: Where there is a pass, shapes start at this part of those of naive Bayes.
_START = 0.4
#: The unit of e^−x in the softmax of whole numbers.
_EXPONENTIAL_BITS = 40


class ClassTables(NamedTuple):
    """Noisy tables with one total for each class, those totals, the shares of classes, and the noise of a cell."""

    tables: list[Floats]
    totals: Floats
    shares: Floats
    error: float

    @classmethod
    def of(cls, tables: list[Floats], error: float) -> tuple[ClassTables, bool]:
        """Tables moved evenly to their pooled totals, and whether those are below the noise of their sum."""
        weights = np.array([1 / len(table) for table in tables])
        own = np.array([table.sum(axis=0) for table in tables])
        totals = weights @ own / weights.sum()
        moved = [table + (totals - total) / len(table) for table, total in zip(tables, own, strict=True)]
        least = np.maximum(totals, 0.0)
        shares = least / least.sum() if least.sum() > 0 else np.full(totals.size, 1 / totals.size)
        shares = np.maximum(shares, _LEAST_SHARE)
        hidden = totals.sum() < error * math.sqrt(totals.size / weights.sum())
        return cls(moved, totals, shares / shares.sum(), error), bool(hidden)

    @property
    def smoothing(self) -> float:
        """How many records, divided as the classes are, are added to every cell."""
        return 2 * self.error + 1

    def logarithms(self) -> list[Floats]:
        """How much likelier each class is in each cell than among all records, as a logarithm."""
        raised = [np.maximum(table, 0) + self.smoothing * self.shares for table in self.tables]
        return [np.log(cell / cell.sum(axis=1, keepdims=True)) - np.log(self.shares) for cell in raised]

    def errors(self) -> list[Floats]:
        """The noise of the logarithm of a cell's count, by the delta method."""
        return [self.error / (np.maximum(table, 0) + self.smoothing * self.shares) for table in self.tables]

    def sizes(self) -> list[Floats]:
        """The noisy number of records in each cell."""
        return [np.asarray(table.sum(axis=1), np.float64) for table in self.tables]

    def mean_scores(self, effects: list[Floats]) -> Floats:
        """The mean score of each class (rows) for each output, from the tables made free of negative counts."""
        means = np.zeros((self.totals.size, effects[0].shape[1]))
        for table, effect in zip(self.tables, effects, strict=True):
            for place, total in enumerate(np.maximum(self.totals, 1.0)):
                means[place] += simplex(table[:, place], total) @ effect / total
        return means

    def importance(self, effects: list[Floats]) -> list[float]:
        """ΣN⁺F² of each column."""
        counts = [np.maximum(table, 0).sum(axis=1) for table in self.tables]
        return [float(count @ (effect**2).sum(axis=1)) for count, effect in zip(counts, effects, strict=True)]


@dataclass(frozen=True, eq=False)
class ClassProblem(Problem):
    """Classes, of which each cell has a count."""

    classes: int

    table_norms: ClassVar[dict[bool, Norms]] = {
        False: Norms(Fraction(1), Fraction(1)),
        True: Norms(Fraction(2), Fraction(2)),
    }
    least: ClassVar[tuple[float, float]] = (200.0, 150.0)
    weight: ClassVar[float] = 0.15
    steps: ClassVar[int] = kernels.WEIGHT
    most_effect: ClassVar[float] = 8.0
    blocks: ClassVar[int] = 4

    @property
    def units(self) -> tuple[int, ...]:
        """Counts are in units of the weight of a record."""
        return (kernels.WEIGHT,) * self.classes

    def values(self, target: Any) -> Integers:
        """One for the own class."""
        return np.asarray(np.eye(self.classes, dtype=np.int64)[target], np.int64)

    def records(self, counts: Any) -> Any:
        """Those of all classes."""
        return counts.sum(axis=1)

    def _started(self, tables: ClassTables, effects: list[Floats], errors: list[Floats], factor: float) -> Start:
        shapes = [effect * factor for effect in effects]
        spread = [error * factor for error in errors]
        importance = tables.importance(effects)
        started = Shapes(shapes, np.zeros(effects[0].shape[1]), spread, tables.sizes(), {})
        return Start(started, tables.tables, importance, False)


@dataclass(frozen=True, eq=False)
class TwoClasses(ClassProblem):
    """Two classes: one effect for each cell, the change of ln P(second)/P(first)."""

    pass_norms: ClassVar[dict[bool, Norms]] = {
        False: Norms(Fraction(3, 4), Fraction(9, 16)),
        True: Norms(Fraction(3, 2), Fraction(9, 4)),
    }

    @property
    def outputs(self) -> int:
        """One."""
        return 1

    def lookup(self) -> Integers:
        """P in units of 1/UNIT for every score in steps of 1/WEIGHT."""
        steps = np.arange(-kernels.MOST_SCORE * kernels.WEIGHT, kernels.MOST_SCORE * kernels.WEIGHT + 1)
        return np.rint(kernels.UNIT / (1 + np.exp(-steps / kernels.WEIGHT))).astype(np.int64)

    def residuals(self, score: Integers, target: Any, lookup: Integers) -> Integers:
        """½(y − ½) − (P − ½)."""
        out = np.empty((len(score), 1), np.int64)
        kernels.binary_residuals(score, target, lookup, out)
        return out

    def start(self, tables: list[Floats], error: float, factor: float, *, passes: bool) -> Start:
        """Naive Bayes: F = F₁ − F₀, and without a pass an intercept in the middle of the two classes."""
        counts, hidden = ClassTables.of(tables, error)
        effects = [parts[:, 1:] - parts[:, :1] for parts in counts.logarithms()]
        errors = [np.sqrt((own**2).sum(axis=1, keepdims=True)) for own in counts.errors()]
        start = self._started(counts, effects, errors, _START if passes else factor)
        prior = np.log(counts.shares[1:] / counts.shares[:1])
        middle = 0.0 if passes or hidden else counts.mean_scores(start.shapes.effects).mean(axis=0)
        return start._replace(shapes=start.shapes._replace(intercept=prior - middle), hidden=hidden)

    def gradient(self, sums: Floats, table: Floats) -> Floats:
        """Σr + (N₁ − N₀)/4 = Σ(y − P)."""
        return sums + (table[:, 1:] - table[:, :1]) / 4

    def variance(self, error: float, of_tables: float) -> float:
        """That of the pass, and of the difference of two tables over 4."""
        return error**2 + of_tables**2 / 8


@dataclass(frozen=True, eq=False)
class SeveralClasses(ClassProblem):
    """More than two classes: an effect for each cell and class, with mean 0 over classes."""

    pass_norms: ClassVar[dict[bool, Norms]] = {
        False: Norms(Fraction(3, 2), Fraction(5, 4)),
        True: Norms(Fraction(3), Fraction(9, 2)),
    }

    @property
    def outputs(self) -> int:
        """One for each class."""
        return self.classes

    def lookup(self) -> Integers:
        """e^−x in whole units for x in steps of 1/WEIGHT."""
        steps = np.arange(kernels.MOST_SCORE * kernels.WEIGHT + 1)
        return np.rint(np.exp(-steps / kernels.WEIGHT) * 2.0**_EXPONENTIAL_BITS).astype(np.int64)

    def residuals(self, score: Integers, target: Any, lookup: Integers) -> Integers:
        """½e_y − p."""
        out = np.empty((len(score), self.classes), np.int64)
        kernels.class_residuals(score, target, lookup, out)
        return out

    def start(self, tables: list[Floats], error: float, factor: float, *, passes: bool) -> Start:
        """Naive Bayes, with effects that have mean 0 over classes."""
        counts, hidden = ClassTables.of(tables, error)
        effects = [parts - parts.mean(axis=1, keepdims=True) for parts in counts.logarithms()]
        start = self._started(counts, effects, counts.errors(), _START if passes else factor)
        middle = 0.0 if passes or hidden else counts.mean_scores(start.shapes.effects).mean(axis=0)
        intercept = np.log(counts.shares) - middle
        return start._replace(shapes=start.shapes._replace(intercept=intercept), hidden=hidden)

    def gradient(self, sums: Floats, table: Floats) -> Floats:
        """Σr + ½N = Σ(e_y − p), with mean 0 over classes."""
        whole = sums + table / 2
        return np.asarray(whole - whole.mean(axis=1, keepdims=True), np.float64)

    def variance(self, error: float, of_tables: float) -> float:
        """That of the pass, and of half a table."""
        return error**2 + of_tables**2 / 4

    @property
    def step_weight(self) -> float:
        """Less for many classes: each has less of the probability."""
        return self.weight * min(1.0, 2.5 / self.classes)

    def freedom(self, cells: int) -> int:
        """Effects of all classes but one."""
        return cells * (self.classes - 1)


def class_problem(classes: int) -> ClassProblem:
    """The problem of so many classes."""
    return TwoClasses(classes) if classes == 2 else SeveralClasses(classes)
