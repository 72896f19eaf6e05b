"""A bounded number as target: for each cell the number of records and the sum of their targets, and residuals.

Targets are scaled to −1..1. Half of the target in a residual comes from the tables: r = ½t − F̂ is at most 1½, where
t − F̂ would be 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bruit.kernels import additive as kernels
from bruit.learning._features import Floats
from bruit.learning.additive.problem import Integers, Norms, Problem, Shapes, Start

#: Where shapes start, as a part of the noisy means of their cells. Chosen, as `blocks`, on Adult hours and taxi fares.
_START = 0.2


@dataclass(frozen=True, eq=False)
class TargetProblem(Problem):
    """A number in −1..1, which kernels get as half of it in units of 1/UNIT."""

    table_norms: ClassVar[dict[bool, Norms]] = {
        False: Norms(Fraction(2), Fraction(2)),
        True: Norms(Fraction(4), Fraction(4)),
    }
    pass_norms: ClassVar[dict[bool, Norms]] = {
        False: Norms(Fraction(3, 2), Fraction(9, 4)),
        True: Norms(Fraction(3), Fraction(9)),
    }
    least: ClassVar[tuple[float, float]] = (3000.0, 1000.0)
    weight: ClassVar[float] = 1.0
    steps: ClassVar[int] = kernels.UNIT
    most_effect: ClassVar[float] = 2.0
    blocks: ClassVar[int] = 16

    @property
    def units(self) -> tuple[int, ...]:
        """Records, and targets."""
        return kernels.WEIGHT, kernels.WEIGHT * kernels.UNIT // 2

    @property
    def outputs(self) -> int:
        """One."""
        return 1

    def values(self, target: Any) -> Integers:
        """One, and half the target."""
        return np.column_stack([np.ones(len(target), np.int64), target])

    def records(self, counts: Any) -> Any:
        """The first table."""
        return counts[:, 0]

    def residuals(self, score: Integers, target: Any, lookup: Integers) -> Integers:
        """½t − F̂."""
        out = np.empty((len(score), 1), np.int64)
        kernels.target_residuals(score, target, out)
        return out

    def start(self, tables: list[Floats], error: float, factor: float, *, passes: bool) -> Start:
        """The mean of every cell less the mean of all, drawn to 0 by the noise."""
        weights = np.array([1 / len(table) for table in tables])
        own = np.array([table.sum(axis=0) for table in tables])
        totals = weights @ own / weights.sum()
        moved = [table + (totals - total) / len(table) for table, total in zip(tables, own, strict=True)]
        mean = float(np.clip(totals[1] / max(totals[0], 1.0), -1, 1))
        raised = [np.maximum(table[:, :1], 0) + 2 * error + 1 for table in moved]
        effects = [(table[:, 1:] - mean * table[:, :1]) / size for table, size in zip(moved, raised, strict=True)]
        effects = [np.clip(effect, -1, 1) for effect in effects]
        errors = [error / size for size in raised]
        importance = [
            float((np.maximum(table[:, 0], 0) * effect[:, 0] ** 2).sum())
            for table, effect in zip(moved, effects, strict=True)
        ]
        sizes = [np.asarray(table[:, 0], np.float64) for table in moved]
        shapes = Shapes([_START * effect for effect in effects], np.array([mean]), errors, sizes, {})
        hidden = bool(totals[0] < error / np.sqrt(weights.sum()))
        return Start(shapes, moved, importance, hidden)

    def gradient(self, sums: Floats, table: Floats) -> Floats:
        """Σr + ½Σt = Σ(t − F̂)."""
        return sums + table[:, 1:] / 2

    def variance(self, error: float, of_tables: float) -> float:
        """That of the pass, and of half a sum of targets."""
        return error**2 + of_tables**2 / 4


def halves(target: Floats, low: float, high: float) -> Integers:
    """Half of each target, scaled to −1..1, in units of 1/UNIT; those outside the bounds count as the nearest."""
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return np.rint(np.clip((target - middle) / half, -1, 1) * (kernels.UNIT // 2)).astype(np.int64)


def as_targets(halved: Integers, low: float, high: float) -> Floats:
    """The targets behind such halves, to the nearest step."""
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return np.asarray(middle + half * (halved / (kernels.UNIT // 2)), np.float64)
