"""What naive Bayes sums for each class, in whole numbers, and how the budget is shared between the sums.

For a class: how many records it has; how many have each category; and for each number, as steps z in −S..S, the sum of
z and the sum of z² − S²/2. The subtracted half makes the square's change half as large. See ``naive_bayes.proof.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.kernels.class_sums import class_sums
from bruit.learning._features import STEPS, FeatureRows, Floats
from bruit.learning._sums import SumNoise

Counts = NDArray[np.int64]

#: A record's square is STEPS²/2 at most, on either side.
HALF_SQUARE = STEPS * STEPS // 2
#: Squares get noise this much larger, in units, than sums: variances can be shared between classes, means cannot.
_SQUARES = 2
#: With d columns the count of a class gets noise d^0.4 times smaller than their sums: it divides all of them.
_COUNT_POWER = 0.4


class SumsByClass(NamedTuple):
    """Sums of all classes (first axis), of numbers scaled to −1..1; squares are of z² − ½, or of deviations."""

    counts: Floats
    tables: tuple[Floats, ...]
    sums: Floats
    squares: Floats


class Errors(NamedTuple):
    """The standard deviations of the noise on the four kinds of sums; 0 for a kind that does not occur."""

    counts: float
    tables: float
    sums: float
    squares: float


@dataclass(frozen=True)
class JointSums:
    """Count, sums and squares of each class, released together.

    Parameters
    ----------
    classes
        How many classes are declared.
    cells
        How many categories each categorical column has.
    numbers
        How many columns hold numbers.
    """

    classes: int
    cells: tuple[int, ...]
    numbers: int

    @property
    def kinds(self) -> tuple[int, int, int, int]:
        """How many sums of each kind a class has."""
        return 1, sum(self.cells), self.numbers, self.numbers

    @property
    def units(self) -> tuple[int, int, int, int]:
        """The unit of each kind: the larger, the more noise it gets."""
        ratio = max(1, round((len(self.cells) + self.numbers) ** _COUNT_POWER))
        return 1, ratio, ratio * STEPS, _SQUARES * ratio * STEPS * STEPS

    @property
    def sensitivity(self) -> Fraction:
        """The most, in units, that adding or removing one record changes; attained where all its numbers are bounds."""
        count, cell, total, square = self.units
        number = Fraction(STEPS, total) + Fraction(HALF_SQUARE, square)
        return Fraction(1, count) + Fraction(len(self.cells), cell) + self.numbers * number

    def noise(self, epsilon: float, neighbours: str, times: int = 1) -> SumNoise:
        """The noise of one release for a number of records; replacing a record takes one away and adds another."""
        units = [unit for unit, times in zip(self.units, self.kinds, strict=True) for _ in range(times)]
        factor = 2 if neighbours == "replace" else 1
        return SumNoise(tuple(units) * self.classes, factor * self.sensitivity, epsilon, times=times)

    def count(self, rows: FeatureRows, codes: NDArray[np.int64], low: Floats, high: Floats) -> Counts:
        """The sums of some rows whose classes are known, class after class."""
        counts = np.bincount(codes, minlength=self.classes)
        tables = [
            np.bincount(codes * size + column, minlength=self.classes * size).reshape(self.classes, size)
            for column, size in zip(rows.codes, self.cells, strict=True)
        ]
        sums, squares = np.zeros((2, self.classes, self.numbers))
        class_sums(np.ascontiguousarray(rows.numbers), codes, low, high, STEPS, sums, squares)
        squares -= HALF_SQUARE * counts[:, None]
        return np.hstack([counts[:, None], *tables, sums, squares]).astype(np.int64).ravel()

    def released(self, sums: Counts) -> Counts:
        """What the noise is added to; of any size."""
        return sums

    def parts(self, noisy: Counts) -> SumsByClass:
        """Noisy sums by kind, with numbers in −1..1; what `squares` are the method says."""
        table = noisy.reshape(self.classes, -1).astype(np.float64)
        counts, *tables, sums, squares = np.hsplit(table, np.cumsum([1, *self.cells, self.numbers]))
        return SumsByClass(counts[:, 0], tuple(tables), sums / STEPS, squares / (STEPS * STEPS))

    def errors(self, noise: SumNoise) -> Errors:
        """The noise in the same units."""
        sizes = (1, 1, STEPS, STEPS * STEPS)
        errors = [
            noise.by_unit[unit].standard_error / size if times else 0.0
            for unit, size, times in zip(self.units, sizes, self.kinds, strict=True)
        ]
        return Errors(*errors)


class VaidyaSums(JointSums):
    """The document's statistics: a share of ε each for the classes and for every column (Vaidya et al. 2013).

    The share of a number is halved between its sum and its sum of squared deviations from its own mean, n times the
    variance. Dividing by the count afterwards leaves the sensitivities free of n, which is private.
    """

    @property
    def units(self) -> tuple[int, int, int, int]:
        """What a record can change, over its share: 1, 1, S/½ and (2S)²/½."""
        return 1, 1, 2 * STEPS, 8 * STEPS * STEPS

    @property
    def sensitivity(self) -> Fraction:
        """One for each share."""
        return Fraction(1 + len(self.cells) + self.numbers)

    def released(self, sums: Counts) -> Counts:
        """Squares become squared deviations, Σz² − (Σz)²/n, rounded down."""
        table = sums.reshape(self.classes, -1).astype(object)  # squares of sums do not fit 64 bits
        for row in table:
            row[row.size - self.numbers :] = self._deviations(int(row[0]), row[row.size - 2 * self.numbers :])
        return table.ravel()

    def _deviations(self, count: int, numbers: Counts) -> list[int]:
        pairs = zip(numbers[: self.numbers].tolist(), numbers[self.numbers :].tolist(), strict=True)
        return [square + HALF_SQUARE * count + -(total * total) // max(count, 1) for total, square in pairs]


def layout(method: str, classes: int, cells: tuple[int, ...], numbers: int) -> JointSums:
    """What a method sums."""
    kind: type[JointSums] = {"joint": JointSums, "vaidya": VaidyaSums}[method]
    return kind(classes, cells, numbers)
