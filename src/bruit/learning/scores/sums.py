"""What is counted of scored records, in whole numbers, and what one record can change.

A record of a classifier is right or wrong, has a bounded loss, and is in one cell of a table of probability by class. A
record of a regression has a target, its square, and a bounded squared error. See ``private_score.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.learning._sums import SumNoise

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Cells of probability in the table of ranks: equal in arcsin √p, so that they are narrow near 0 and 1, where the
#: probabilities of a rare class lie. For a class of one record in 40, 64 cells equal in p give an AUROC .018 too low,
#: and these .001; for two equal classes the error is the same.
CELLS = 40
#: Losses, targets and squared errors are counted in multiples of one over this.
STEPS = 1 << 10
#: A probability below one in a hundred counts as that in the log loss: a loss is at most ln 100.
MOST_LOSS = math.log(100)


def cell_of(probability: Floats) -> Counts:
    """The cell of each probability; numbers outside 0..1 count as the nearest end."""
    angle = np.arcsin(np.sqrt(np.clip(probability, 0, 1))) / (math.pi / 2)
    return np.minimum(angle * CELLS, CELLS - 1).astype(np.int64)


#: The edges of the cells, from 0 to 1.
EDGES: Floats = np.sin(np.linspace(0, math.pi / 2, CELLS + 1)) ** 2


class ScorePart(NamedTuple):
    """Sums that belong together, and what one record changes of them in units.

    Attributes
    ----------
    name
        What they are.
    units
        How many steps stand for one in each; the larger, the more noise and the less cost.
    norm
        The largest L1 norm of a record, and of the difference of two.
    square
        The largest squared L2 norm of a record, and of the difference of two.
    """

    name: str
    units: tuple[int, ...]
    norm: tuple[Fraction, Fraction]
    square: tuple[Fraction, Fraction]


def _part(name: str, units: tuple[int, ...], norms: tuple[str, str], squares: tuple[str, str]) -> ScorePart:
    first, second = (tuple(map(Fraction, pair)) for pair in (norms, squares))
    return ScorePart(name, units, (first[0], first[1]), (second[0], second[1]))


#: Right, wrong.
ANSWERS = _part("answers", (4, 4), ("1/4", "1/2"), ("1/16", "1/8"))
#: The loss z − S/2 for z in 0..S, and z² − S²/2, which serves the sampling error alone.
LOSSES = _part("losses", (2 * STEPS, 8 * STEPS**2), ("5/16", "5/8"), ("17/256", "17/64"))
#: Negatives by cell, then positives by cell.
RANKS = _part("ranks", (1,) * (2 * CELLS), ("1", "2"), ("1", "2"))
#: How many records; public where records are replaced.
SIZE = _part("size", (1,), ("1", "0"), ("1", "0"))
#: The target t in −S..S, and t² − S²/2. Two targets differ most in L1 from one bound to half of the other.
TARGETS = _part("targets", (STEPS, STEPS**2), ("3/2", "9/4"), ("5/4", "4"))
#: The squared error w − S/2 for w in 0..S, and w² − S²/2, which serves the sampling error alone.
ERRORS = _part("errors", (STEPS, 8 * STEPS**2), ("9/16", "9/8"), ("65/256", "65/64"))


@dataclass(frozen=True)
class ScoreSums:
    """The sums of a release of scores.

    Parameters
    ----------
    parts
        Which sums, in this order.
    """

    parts: tuple[ScorePart, ...]

    @classmethod
    def of_classes(cls, metrics: frozenset[str]) -> ScoreSums:
        """The sums for these metrics of a classifier; a log loss needs the number of records, too."""
        wanted = {
            ANSWERS: {"accuracy", "log_loss"},
            LOSSES: {"log_loss"},
            RANKS: {"auroc", "calibration"},
        }
        return cls(tuple(part for part, uses in wanted.items() if uses & metrics))

    @classmethod
    def of_numbers(cls, neighbours: str) -> ScoreSums:
        """The sums for R² and the error of a regression."""
        return cls((*([SIZE] if neighbours == "add-remove" else []), TARGETS, ERRORS))

    @property
    def units(self) -> tuple[int, ...]:
        """The units of all sums."""
        return tuple(unit for part in self.parts for unit in part.units)

    def sensitivity(self, neighbours: str, *, gaussian: bool) -> Fraction:
        """The most that one record changes all sums, in units: in L1, or squared in L2."""
        place = 1 if neighbours == "replace" else 0
        norms = [part.square[place] if gaussian else part.norm[place] for part in self.parts]
        return sum(norms, Fraction(0))

    def noise(self, epsilon: float, delta: float, neighbours: str, times: int) -> SumNoise:
        """The noise of one release, for neighbours that differ by `times` rows."""
        return SumNoise(self.units, self.sensitivity(neighbours, gaussian=delta > 0), epsilon, delta, times=times)

    def split(self, vector: NDArray[np.generic]) -> dict[str, Floats]:
        """A vector of all sums by the name of its part."""
        ends = np.cumsum([len(part.units) for part in self.parts])
        pieces = np.split(np.asarray(vector, np.float64), ends[:-1])
        return {part.name: piece for part, piece in zip(self.parts, pieces, strict=True)}

    def count(self, rows: dict[str, Counts]) -> Counts:
        """The sums of records, from the whole numbers of each.

        `right`, `loss`, `cell` and `positive` are of a classifier, `target` and `error` of a regression.
        """
        return np.concatenate([_COUNTERS[part.name](rows) for part in self.parts])


def _with_squares(steps: Counts) -> Counts:
    """Sums of z − S/2 and of z² − S²/2, for z in 0..S."""
    return np.array([(steps - STEPS // 2).sum(), (steps * steps - STEPS * STEPS // 2).sum()], np.int64)


def _answers(rows: dict[str, Counts]) -> Counts:
    right = int(rows["right"].sum())
    return np.array([right, rows["right"].size - right], np.int64)


def _ranks(rows: dict[str, Counts]) -> Counts:
    return np.bincount(rows["positive"] * CELLS + rows["cell"], minlength=2 * CELLS).astype(np.int64)


def _targets(rows: dict[str, Counts]) -> Counts:
    target = rows["target"]
    return np.array([target.sum(), (target * target - STEPS * STEPS // 2).sum()], np.int64)


_COUNTERS: dict[str, Callable[[dict[str, Counts]], Counts]] = {
    "answers": _answers,
    "losses": lambda rows: _with_squares(rows["loss"]),
    "ranks": _ranks,
    "size": lambda rows: np.array([rows["target"].size], np.int64),
    "targets": _targets,
    "errors": lambda rows: _with_squares(rows["error"]),
}
