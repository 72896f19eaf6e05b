"""Distance laws: the weight of an outcome depends on how far it is from the value, on a grid.

Bounded Laplace and the staircase are of this kind. Cut to the grid, each value has a total weight of its own: a value
in the middle has more near neighbours than one at an end. The ratio between two rows therefore also holds the ratio of
their totals, and ε must be computed from the rows as they are, not from the weights alone (``distance.proof.md``).
`ClampedLaw` puts what falls beyond an end on the end itself: then all totals are the same.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import LimitError, ParameterError
from bruit.laws.law import Loss
from bruit.laws.words import WORD_BITS, WORDS, Words, uniform
from bruit.rounding import exp_floor, log_ceiling

Floats: TypeAlias = NDArray[np.float64]
WordArray: TypeAlias = NDArray[np.uint64]
#: From the logarithm of the ratio between the nearest and the farthest weight to all weights, the farthest being 1.
Shape: TypeAlias = Callable[[float], Floats]

#: Totals stay below this, so that a word is drawn again with probability below 2⁻¹⁰, whatever the value.
TOTAL_BITS = 54
#: How much of the ε asked for may be lost to whole-number weights.
LOSS = 1e-9
#: The relative error of a quotient of two whole numbers in floats is below 2⁻⁵¹: this covers it many times over.
_TIE = 1e-12
#: How many table entries are looked at together.
_BLOCK = 1 << 17


class SamplingTables(NamedTuple):
    """What sampling needs: row x shares out the words below `totals[x]`, the first `left[x]` of them to its left."""

    weights: WordArray
    cumulative: WordArray
    left: WordArray
    totals: WordArray
    stride: int


@dataclass(frozen=True)
class DistanceLaw(Loss):
    """Outcome y has weight w[|y − x|] under the value at place x, on a grid; each row has its own total.

    Parameters
    ----------
    weights
        One whole number, 1 or above, for each distance 0..m−1; there are m outcomes.
    stride
        Values are at the places 0, stride, 2·stride, …, m−1 among the outcomes.

    Guarantee
    ---------
    P(y|x)/P(y|x') = (w[|y−x|]/T(x)) / (w[|y−x'|]/T(x')). All these ratios are looked at: floats find the few that can
    be the largest, and whole numbers decide. ε is the logarithm of the largest.

    Examples
    --------
    >>> law = DistanceLaw((3, 1, 1))
    >>> law.total(0), law.total(1)
    (5, 5)
    >>> law.ratio
    Fraction(3, 1)
    >>> DistanceLaw((4, 2, 1)).ratio
    Fraction(4, 1)
    """

    shape: ClassVar[str] = "distance"
    #: No outcome belongs to a value.
    sets: ClassVar[None] = None

    weights: tuple[int, ...]
    stride: int = 1

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        _checks.integer(low=1, stride=self.stride)
        if (self.points - 1) % self.stride:
            raise ParameterError("stride must divide the number of weights less one, so that both ends are values.")
        if max(self._totals) >= WORDS:
            raise LimitError("The weights of one row must have a sum below 2⁶⁴.")

    @classmethod
    def calibrate(cls, epsilon: float, shape: Shape, *, stride: int = 1) -> Self:
        """Weights of this shape whose exact ε is at most what is asked, and less by at most one part in 10⁹."""
        nominal, slope = epsilon, 1.0
        before: tuple[float, float] | None = None
        for attempt in range(40):
            law = cls.scale(shape(nominal), stride=stride)
            if epsilon * (1 - LOSS) <= law.epsilon <= epsilon:
                return law
            if before and abs(nominal - before[0]) > 1e-6 * epsilon:
                slope = max((law.epsilon - before[1]) / (nominal - before[0]), 0.1)
            before = nominal, law.epsilon
            # Aim a little below, the more so the longer whole numbers have been in the way.
            aim = epsilon * (1 - min(1e-12 * 4**attempt, LOSS / 2))
            nominal += (aim - law.epsilon) / slope
        raise LimitError("No whole-number weights meet this ε to one part in 10⁹: use fewer cells.")

    @classmethod
    def scale(cls, shape: Floats, *, stride: int = 1) -> Self:
        """The law of this shape, with weights as large as the limit of the totals allows."""
        size = shape.size
        widest = shape[0] + 2 * float(np.sum(shape[1 : (size + 1) // 2])) + float(shape[size // 2])
        # The farthest weight is whole before anything is rounded: its rounding would change ε most.
        unit = max(1.0, (2.0**TOTAL_BITS - 2 * size) / max(widest, float(shape.sum())) // 1)
        return cls(tuple(max(1, round(float(weight) * unit)) for weight in shape), stride)

    @property
    def points(self) -> int:
        """How many outcomes there are."""
        return len(self.weights)

    @property
    def messages(self) -> int:
        """As many as outcomes."""
        return len(self.weights)

    @property
    def rows(self) -> int:
        """How many values there are."""
        return (self.points - 1) // self.stride + 1

    def total(self, row: int) -> int:
        """The sum of the weights of one row."""
        return self._totals[row]

    def row(self, code: int) -> list[Fraction]:
        """The exact probabilities of all outcomes under one value."""
        place, total = code * self.stride, self._totals[code]
        known = [Fraction(weight, total) for weight in self.weights]
        return [known[abs(y - place)] for y in range(self.points)]

    def sample(self, code: int, words: Words) -> int:
        """The message of one person: one word decides how far from the value it is, and on which side."""
        share = uniform(self._totals[code], words)
        place = code * self.stride
        return place + _noise(self._sums, share, self._sums[place])

    def probabilities(self) -> Floats:
        """All probabilities as floats, one row per value."""
        table = np.empty((self.rows, self.points))
        for block, part in self._blocks():
            table[:, block] = part.T
        return table

    @cached_property
    def worst(self) -> tuple[int, int, int]:
        """Two values and the outcome that is likelier under the first than under the second by the largest ratio."""
        return self._search[1]

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one outcome under two values, exactly."""
        return self._search[0]

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss, rounded up."""
        return log_ceiling(self.ratio)

    @cached_property
    def tables(self) -> SamplingTables:
        """What sampling needs."""
        sums = self._sums
        places = range(0, self.points, self.stride)
        return SamplingTables(
            _words(self.weights), _words(sums), _words([sums[x] for x in places]), _words(self._totals), self.stride
        )

    @cached_property
    def _sums(self) -> list[int]:
        return list(accumulate(self.weights))

    @cached_property
    def _totals(self) -> list[int]:
        sums, last = self._sums, self.points - 1
        return [sums[x] + sums[last - x] - self.weights[0] for x in range(0, self.points, self.stride)]

    @cached_property
    def _search(self) -> tuple[Fraction, tuple[int, int, int]]:
        """The largest ratio, and where it is: floats find the outcomes that can have it, whole numbers decide."""
        spread = np.concatenate([part.max(axis=1) / part.min(axis=1) for _, part in self._blocks(half=True)])
        places: dict[tuple[Fraction, Fraction], tuple[int, int, int]] = {}
        for y in np.flatnonzero(spread >= spread.max() * (1 - _TIE)).tolist():
            (most, first), (least, second) = self._extremes(y)
            places.setdefault((most, least), (first, second, y))
        largest = max(places, key=lambda pair: pair[0] / pair[1])
        return largest[0] / largest[1], places[largest]

    def _extremes(self, y: int) -> tuple[tuple[Fraction, int], tuple[Fraction, int]]:
        """The largest and the least probability of one outcome, exactly, and the values that give them."""
        sizes = np.abs(y - np.arange(0, self.points, self.stride))
        column = self._line[sizes] / self._line_of_totals
        high = np.flatnonzero(column >= column.max() * (1 - _TIE))
        low = np.flatnonzero(column <= column.min() * (1 + _TIE))
        return max(self._distinct(sizes, high)), min(self._distinct(sizes, low))

    def _distinct(self, sizes: NDArray[np.int64], rows: NDArray[np.int64]) -> list[tuple[Fraction, int]]:
        """The probabilities at these distances in these rows, each different one once."""
        weights, totals = self.tables.weights[sizes[rows]], self.tables.totals[rows]
        new = np.ones(rows.size, bool)
        new[1:] = (weights[1:] != weights[:-1]) | (totals[1:] != totals[:-1])
        return [(Fraction(int(weights[i]), int(totals[i])), int(rows[i])) for i in np.flatnonzero(new)]

    @cached_property
    def _line_of_totals(self) -> Floats:
        return np.array(self._totals, np.float64)

    @cached_property
    def _line(self) -> Floats:
        return np.array(self.weights, np.float64)

    def _blocks(self, *, half: bool = False) -> Iterator[tuple[slice, Floats]]:
        """P(y | x) for blocks of outcomes, one row per outcome; with `half`, up to the middle: the rest is a mirror."""
        mirrored = np.concatenate([self._line[:0:-1], self._line])
        # Outcome y meets the weights w[y], …, w[0], …, w[m−1−y] at the places 0..m−1.
        views = np.lib.stride_tricks.sliding_window_view(mirrored, self.points)[::-1, :: self.stride]
        last = (self.points + 1) // 2 if half else self.points
        size = max(1, _BLOCK // self.rows)
        for start in range(0, last, size):
            block = slice(start, min(start + size, last))
            yield block, views[block] / self._line_of_totals


@dataclass(frozen=True)
class ClampedLaw(Loss):
    """Symmetric noise on whole steps is added, and what falls beyond an end is put on the end: one total for all rows.

    Parameters
    ----------
    weights
        One whole number, 1 or above, for each size 0..m−1 of the noise, the last for m−1 and all beyond it.

    Guarantee
    ---------
    All rows have one total. An inner outcome has the weight of one distance up to m−2; an end has the sum of all
    weights from its distance on. ε is the logarithm of the larger of the two largest ratios.

    Examples
    --------
    >>> law = ClampedLaw((3, 1, 2))
    >>> [str(entry) for entry in law.row(0)]
    ['2/3', '1/9', '2/9']
    >>> law.ratio
    Fraction(3, 1)
    """

    shape: ClassVar[str] = "distance"
    #: No outcome belongs to a value.
    sets: ClassVar[None] = None

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        if self.total() >= WORDS:
            raise LimitError("The weights of one row must have a sum below 2⁶⁴.")

    @classmethod
    def calibrate(cls, epsilon: float, shape: Floats) -> Self:
        """Weights of this shape, and the least one for all noise beyond that keeps both ends within ε.

        The shape holds the sizes 0..m−2; its own ratio must not exceed e^ε.
        """
        # The rest must be 1/(e^ε − 1) of the sum before it, so that both ends differ by e^ε at most.
        unit = WORDS * WORDS
        power = exp_floor(epsilon, unit)
        inner = float(shape.sum())
        whole = 2 * inner - float(shape[0]) + 2 * inner / math.expm1(epsilon)
        # 2⁻¹² of room keeps the total below 2⁶⁴ whatever the roundings; a word is drawn again as seldom.
        scale = 2.0**WORD_BITS * (1 - 2.0**-12) / whole
        farthest = int(float(shape[-1]) * scale)
        most = exp_floor(epsilon, farthest)
        weights = [max(farthest, min(most, round(float(weight) * scale))) for weight in shape]
        rest = -(-sum(weights) * unit // (power - unit))
        return cls((*weights, rest))

    @classmethod
    def geometric(cls, epsilon: float, points: int) -> Self:
        """Geometric noise, whose weight falls by e^ε with each step: two neighbouring values differ by e^ε at most."""
        unit = WORDS * WORDS
        power = exp_floor(epsilon, unit)  # e^ε in units of 2⁻¹²⁸, rounded down
        # The total is v[0]·(1 + α)/(1 − α) with α = e^−ε; 2⁻¹² of room keeps it below 2⁶⁴ whatever the roundings.
        weights = [max(1, int(2.0**WORD_BITS * (1 - 2.0**-12) * math.tanh(epsilon / 2)))]
        for _ in range(points - 2):
            weights.append(-(-weights[-1] * unit // power))
        # V(j) ≤ e^ε·V(j+1) at both ends, for all j: the rest is the least that V(j+1) ≥ v[j]/(e^ε − 1) allows.
        beyond = list(accumulate(weights[::-1], initial=0))[-2::-1]
        needed = (-(-weight * unit // (power - unit)) - tail for weight, tail in zip(weights, beyond, strict=True))
        return cls((*weights, max(1, *needed)))

    @property
    def points(self) -> int:
        """How many outcomes there are: as many as values."""
        return len(self.weights)

    @property
    def messages(self) -> int:
        """As many as outcomes."""
        return len(self.weights)

    @property
    def rows(self) -> int:
        """How many values there are."""
        return len(self.weights)

    def total(self, row: int = 0) -> int:
        """The sum of the weights of a row, the same for all."""
        return 2 * sum(self.weights) - self.weights[0]

    def row(self, code: int) -> list[Fraction]:
        """The exact probabilities of all outcomes under one value."""
        total, tails, last = self.total(), self._tails, self.points - 1
        inner = [Fraction(self.weights[abs(y - code)], total) for y in range(1, last)]
        return [Fraction(tails[code], total), *inner, Fraction(tails[last - code], total)]

    def sample(self, code: int, words: Words) -> int:
        """The message of one person: one word decides on noise and its side, and the place is put on the grid."""
        share = uniform(self.total(), words)
        place = code + _noise(self._sums, share, self._sums[-1])
        return min(max(place, 0), self.points - 1)

    def probabilities(self) -> Floats:
        """All probabilities as floats, one row per value."""
        places = np.arange(self.points)
        total = float(self.total())
        table: Floats = np.array(self.weights, np.float64)[np.abs(places[:, None] - places)] / total
        tails = np.array(self._tails, np.float64) / total
        table[:, 0], table[:, -1] = tails, tails[::-1]
        return table

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one outcome under two values, exactly."""
        inner = self.weights[:-1]
        ends = Fraction(self._tails[0], self._tails[-1])
        return max(ends, Fraction(max(inner), min(inner))) if self.points > 2 else ends

    @cached_property
    def step_ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one outcome under two neighbouring values, exactly."""
        inner, tails = itertools.pairwise(self.weights[:-1]), itertools.pairwise(self._tails)
        steps = (Fraction(max(pair), min(pair)) for pair in (*inner, *tails))
        return max(steps)

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss, rounded up."""
        return log_ceiling(self.ratio)

    @cached_property
    def tables(self) -> SamplingTables:
        """What sampling needs: every row shares out the same words, and its places are clamped to the grid."""
        sums = self._sums
        row = np.ones(self.points, np.uint64)
        return SamplingTables(
            _words(self.weights), _words(sums), row * np.uint64(sums[-1]), row * np.uint64(self.total()), 1
        )

    @cached_property
    def _sums(self) -> list[int]:
        return list(accumulate(self.weights))

    @cached_property
    def _tails(self) -> list[int]:
        """The sum of all weights from each distance on."""
        return list(accumulate(self.weights[::-1]))[::-1]


def _check_weights(weights: Any) -> None:
    if not isinstance(weights, tuple) or len(weights) < 2:
        raise ParameterError("weights must be a tuple of two or more whole numbers.")
    if not all(isinstance(weight, int) and weight >= 1 for weight in weights):
        raise ParameterError("weights must be whole numbers, 1 or above: no outcome may be impossible.")


def _noise(sums: list[int], share: int, left: int) -> int:
    """How far from the value a share of the total lies: the first `left` are to the left, with the value itself."""
    if share < left:
        return -bisect_right(sums, share)
    return bisect_right(sums, share - left + sums[0])


def _words(numbers: Sequence[int]) -> WordArray:
    return np.array(numbers, np.uint64)
