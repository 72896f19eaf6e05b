"""All quantiles in one draw (JointExp): the exponential mechanism on whole vectors of places.

The score of t₁ ≤ … ≤ tₘ is Σ |nⱼ − n·gⱼ|, where nⱼ records lie between two neighbours and gⱼ is the share that should.
Adding a record changes one nⱼ by 1 and all targets n·gⱼ: by 2(1 − gⱼ) in all; replacing one moves two nⱼ.

A vector has the weight e^(−rate·score) + floor. The floor is so small that it hardly ever decides, and so large that
vectors far from their targets have hardly any other weight: only ranks within `reach` of a target are looked at, and
how many these are depends on declared parameters alone, not on the number of records.

Weights are computed with 53 digits in numbers of any magnitude, with a relative error that is known; what is drawn is
decided by whole numbers, exactly. The ε inside is lowered by what the error can amount to, so the ε that is stated
holds: see ``quantiles.proof.md``.

Rejected: logarithms in double precision and a choice by 53 random bits (unlikely outcomes become impossible, and the
error of library functions is not known).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.kernels import joint_quantiles as kernels
from bruit.kernels.joint_quantiles import Numbers
from bruit.releases.exponential import below
from bruit.releases.quantiles.points import Integers, RecordPoints
from bruit.releases.statistic import CentralNeighbours

#: How many weights are kept at most: 16 bytes each.
MOST_WEIGHTS = 2 * 10**7
#: The floor takes less than 2 to minus this of the draws, whatever the data.
_FLOOR_BITS = 40
#: What lies beyond `reach` has less than 2 to minus this of the weight that the floor gives it.
_BEYOND_BITS = 60
#: Each rounding changes a number by at most 2⁻⁵³ of it; twice that leaves room for terms of second order.
_ROUNDING = Fraction(1, 2**52)
#: At most this part of ε is kept back for roundings.
_MOST_LOWERED = Fraction(1, 64)
#: Above ln 2.
_LN2 = Fraction(69315, 100000)

_DIGITS = Context(prec=60)
_MANTISSA_BITS = 53


def gaps(quantiles: Sequence[Fraction]) -> list[Fraction]:
    """The share of records before the first quantile, between neighbours, and after the last."""
    ends = [Fraction(0), *quantiles, Fraction(1)]
    return [high - low for low, high in itertools.pairwise(ends)]


@dataclass(frozen=True)
class JointLaw:
    """The weights of vectors of places; all public.

    Parameters
    ----------
    quantiles
        In increasing order, none twice.
    places
        How many places there are.
    rate
        By how much the logarithm of a weight falls for each unit of the score.
    floor_bits
        The floor is 2 to minus this.
    reach
        Ranks further from their target are not looked at.
    error
        The most by which the logarithm of a computed weight differs from that of the weight.
    """

    quantiles: tuple[Fraction, ...]
    places: int
    rate: Fraction
    floor_bits: int
    reach: int
    error: Fraction

    @classmethod
    def calibrate(
        cls, quantiles: Sequence[Fraction], epsilon: float, neighbours: CentralNeighbours, places: int
    ) -> JointLaw:
        """The law for this ε, roundings included."""
        change = Fraction(2) if neighbours == "replace" else 2 * (1 - min(gaps(quantiles)))
        count, whole = len(quantiles), Fraction(epsilon)
        highest, lowest = whole / (2 * change), whole * (1 - _MOST_LOWERED) / (2 * change)
        # The best vector has a score of at most m, and all vectors together have a size of placesᵐ/m!.
        most = (places**count // math.factorial(count)).bit_length() + math.ceil(highest * count / _LN2)
        floor_bits = most + _FLOOR_BITS
        reach = math.ceil((floor_bits + _BEYOND_BITS) * _LN2 / (2 * lowest))
        error = _ROUNDING * _roundings(count, 2 * reach + 3) + Fraction(2, 2**_BEYOND_BITS)
        if count * (2 * reach + 1) > MOST_WEIGHTS or 4 * error > whole * _MOST_LOWERED:
            raise LimitError(
                "The joint method cannot draw this number of quantiles at this ε: "
                'ask for fewer, use a larger ε, or method="approximate".'
            )
        return cls(tuple(quantiles), places, (whole - 4 * error) / (2 * change), floor_bits, reach, error)

    @property
    def weights(self) -> int:
        """How many weights are computed."""
        return len(self.quantiles) * (2 * self.reach + 1)

    @property
    def deviations(self) -> list[float]:
        """The standard deviation of each quantile's rank where records lie densely.

        The gaps between ranks are then Laplace variables whose sum is 0: the variance of the i-th partial sum of m + 1
        of them is i(m + 1 − i)·(2m + 1)/((m + 1)(m + 2)), over the square of the rate.
        """
        count = len(self.quantiles)
        factor = Fraction(2 * count + 1, (count + 1) * (count + 2))
        return [math.sqrt(place * (count + 1 - place) * factor) / float(self.rate) for place in range(1, count + 1)]

    def rank_bound(self, beta: float) -> float:
        """A bound on the distance of all ranks from their targets but for a probability β, whatever the data."""
        count, rest = len(self.quantiles), beta * (1 - 1e-6) - 2.0**-_FLOOR_BITS
        if rest <= 0:
            return math.inf
        # A rank that is off by r takes a score of 2r or more; the best vector has a score of at most m.
        vectors = count * math.log(self.places) - math.lgamma(count + 1)
        return (vectors - math.log(rest)) / (2 * float(self.rate)) + count / 2 + 1


def _roundings(count: int, powers: int) -> int:
    """The most roundings in the weight of a vector of quantiles, up to the highest power of e^−rate."""
    return (5 * powers + 5 * count + 10) * (2 * count * count + 5 * count + 1)


def draw(points: RecordPoints, law: JointLaw, entropy: Entropy) -> Integers:
    """A place for each of the quantiles, which are in increasing order."""
    chain = Chain(points, law)
    drawn = chain.draw(entropy)
    if drawn is None:  # by the floor, which all vectors have alike
        places = [below(law.places, entropy) for _ in law.quantiles]
    else:
        spans = [(*chain.span(rank), many) for rank, many in drawn]
        places = [start + below(size, entropy) for start, size, many in spans for _ in range(many)]
    return np.array(sorted(places), np.int64)


class Chain:
    """The weights of the quantiles' ranks for some points, from the first quantile to the last.

    Parameters
    ----------
    points
        The records.
    law
        How vectors are weighed.
    """

    def __init__(self, points: RecordPoints, law: JointLaw) -> None:
        self.points, self.law, self.n = points, law, points.whole.many
        self.targets = [quantile * self.n for quantile in law.quantiles]
        self.between = [high - low for low, high in itertools.pairwise([Fraction(0), *self.targets])]
        self.rows = np.array([self._row(target) for target in self.targets], np.int64)
        self.decay = _empty(2 * min(law.reach, self.n) + 3)
        kernels.powers(self._weight(Fraction(1)), self.decay)
        self.alone = _array([self._weight(gap) for gap in self.between])
        self.entries = _empty(len(self.targets), int(self.rows[:, 1].max()))
        self._fill()

    def _row(self, target: Fraction) -> tuple[int, int]:
        """The first rank that is looked at around a target, and how many there are."""
        first = max(0, math.ceil(target - self.law.reach))
        return first, min(self.n, math.floor(target + self.law.reach)) - first + 1

    def _fill(self) -> None:
        """The weight with which each quantile comes to each rank of its row from a smaller one, or from none."""
        first = self.around(0, self.targets[0])
        self._entries(0)[0][:], self._entries(0)[1][:] = first
        for j in range(1, len(self.targets)):
            gap = self.between[j]
            far = max(math.ceil(gap), 1)
            ends = _array([self._weight(far - gap), self._weight(gap - far + 1)])
            lag = int(self.rows[j, 0] - self.rows[j - 1, 0])
            kernels.enter(self.ending(j - 1), lag, far, self.decay, ends, self._entries(j))

    def _entries(self, j: int) -> Numbers:
        size = self.rows[j, 1]
        return self.entries[0][j, :size], self.entries[1][j, :size]

    def ending(self, j: int) -> Numbers:
        """For each rank of a row, the weight of all placements of quantiles 0..j that have the last one there."""
        weights = _empty(int(self.rows[j, 1]))
        alone = self.alone[0][: j + 1], self.alone[1][: j + 1]
        kernels.together(self.entries, self.rows, self._widths(*self.rows[j].tolist()), alone, weights)
        return weights

    def around(self, j: int, centre: Fraction) -> Numbers:
        """e^(−rate·|rank − centre|) for each rank of a row; no rank is further from the centre than twice the reach."""
        first, size = self.rows[j].tolist()
        above = math.ceil(centre)
        ends = _array([self._weight(above - centre), self._weight(centre - above + 1)])
        distance = np.arange(first, first + size) - above
        left = distance < 0
        steps = np.where(left, -1 - distance, distance)
        weights = _empty(size)
        side = left.astype(np.int64)
        kernels.multiplied((self.decay[0][steps], self.decay[1][steps]), (ends[0][side], ends[1][side]), weights)
        return weights

    def last(self) -> Numbers:
        """The weights of the last quantile's ranks, with all records behind it."""
        return self._times(self.ending(len(self.targets) - 1), self.around(len(self.targets) - 1, self.targets[-1]))

    def before(self, j: int, rank: int) -> Numbers:
        """The weights of the ranks of quantile j − 1 when quantile j is at this rank, alone or the first of several."""
        weights = self._times(self.ending(j - 1), self.around(j - 1, rank - self.between[j]))
        same = max(0, rank - int(self.rows[j - 1, 0]))
        weights[0][same:] = 0.0  # a smaller rank: those that share one are drawn together
        return weights

    def sharing(self, j: int, rank: int) -> Numbers:
        """The weights of 1, 2, … quantiles up to quantile j sharing this rank."""
        weights = _empty(j + 1)
        kernels.sharing(self.entries, self.rows, rank, float(self.span(rank)[1]), self.alone, weights)
        return weights

    def span(self, rank: int) -> tuple[int, int]:
        """The first place that has this rank, and how many have it."""
        start, stop = self._starts(rank, 1).tolist()
        return start, stop - start

    def draw(self, entropy: Entropy) -> list[tuple[int, int]] | None:
        """(rank, how many quantiles have it), from the greatest to the smallest; None if the floor decides."""
        last = ExactWeights(self.last())
        mine, floor = self.totals(last)
        if below(mine + floor, entropy) >= mine:
            return None
        j, rank = len(self.targets) - 1, int(self.rows[-1, 0]) + last.choose(entropy)
        drawn = []
        while True:
            many = 1 + ExactWeights(self.sharing(j, rank)).choose(entropy)
            drawn.append((rank, many))
            j -= many
            if j < 0:
                return drawn
            rank = int(self.rows[j, 0]) + ExactWeights(self.before(j + 1, rank)).choose(entropy)

    def totals(self, last: ExactWeights) -> tuple[int, int]:
        """The computed weight of all vectors without the floor, and that of the floor, in whole numbers."""
        count, scale = len(self.targets), last.lowest + self.law.floor_bits
        mine, floor = last.total * math.factorial(count), self.law.places**count
        return mine << max(scale, 0), floor << max(-scale, 0)

    def _weight(self, score: Fraction) -> tuple[float, int]:
        """e^(−rate·score) as a mantissa and an exponent; 0 for a score that no two ranks within reach have."""
        if score > 2 * self.law.reach + 1:
            return 0.0, 0
        exponent = self.law.rate * score
        value = _DIGITS.exp(_DIGITS.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))
        scale = -math.floor(float(exponent) / math.log(2))
        for power in (scale + 1, scale, scale - 1):
            mantissa = float(_DIGITS.divide(value, _DIGITS.power(Decimal(2), power)))
            if 0.5 <= mantissa < 1:
                return mantissa, power
        raise AssertionError("unreachable: one of three neighbouring powers of two is next above the value")

    def _widths(self, first: int, size: int) -> kernels.Floats:
        """How many places each of these ranks has; exact, because there are fewer than 2⁵³ places."""
        return np.diff(self._starts(first, size)).astype(np.float64)

    def _starts(self, first: int, size: int) -> Integers:
        """The first place of each of these ranks, and of the next one."""
        starts = np.empty(size + 1, np.int64)
        ranks = np.arange(first, first + size + 1)
        inside = (ranks > 0) & (ranks <= self.n)
        starts[inside] = self.points.place(ranks[inside] - 1) + 1
        starts[ranks == 0], starts[ranks > self.n] = 0, self.points.whole.high + 1
        return starts

    def _times(self, first: Numbers, second: Numbers) -> Numbers:
        product = _empty(first[0].size)
        kernels.multiplied(first, second, product)
        return product


class ExactWeights:
    """Numbers as whole numbers that are proportional to them, exactly: those of one exponent are kept together.

    Parameters
    ----------
    numbers
        Mantissas and exponents, not all 0.
    """

    def __init__(self, numbers: Numbers) -> None:
        mantissas, exponents = numbers
        some = np.flatnonzero(mantissas)
        order = some[np.argsort(exponents[some], kind="stable")]
        scales, starts = np.unique(exponents[order], return_index=True)
        self.lowest = int(scales[0]) - _MANTISSA_BITS
        self._shifts = (scales - scales[0]).tolist()
        self._places = np.split(order, starts[1:])
        whole = (mantissas * 2.0**_MANTISSA_BITS).astype(np.int64)
        self._digits: list[list[int]] = [whole[places].tolist() for places in self._places]
        sums = (sum(digits) << shift for digits, shift in zip(self._digits, self._shifts, strict=True))
        self._totals = list(itertools.accumulate(sums))

    @property
    def total(self) -> int:
        """The sum, to be multiplied by 2 to the power `lowest`."""
        total: int = self._totals[-1]
        return total

    def choose(self, entropy: Entropy) -> int:
        """A place, with probability exactly proportional to its number."""
        drawn = below(self.total, entropy)
        group = bisect.bisect_right(self._totals, drawn)
        rest = (drawn - (self._totals[group - 1] if group else 0)) >> self._shifts[group]
        inside = bisect.bisect_right(list(itertools.accumulate(self._digits[group])), rest)
        return int(self._places[group][inside])


def _empty(*shape: int) -> Numbers:
    return np.zeros(shape), np.zeros(shape, np.int64)


def _array(numbers: Sequence[tuple[float, int]]) -> Numbers:
    mantissas, exponents = zip(*numbers, strict=True)
    return np.array(mantissas), np.array(exponents, np.int64)
