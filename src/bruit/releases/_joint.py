"""All quantiles in one draw (JointExp): the exponential mechanism on whole vectors of places.

The score of t₁ ≤ … ≤ tₘ is Σ |nⱼ − n·gⱼ|, where nⱼ records lie between two neighbours and gⱼ is the share that should.
Adding a record changes one nⱼ by 1 and all targets n·gⱼ: by 2(1 − gⱼ) in all; replacing one moves two nⱼ.

Weights are logarithms in double precision, and what is drawn is decided by 53 random bits: the guarantee assumes ideal
numerics. Whole numbers would need hundreds of digits in each of millions of sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.kernels import joint_quantiles
from bruit.releases._points import Integers, Points
from bruit.releases.base import CentralNeighbours

Floats = NDArray[np.float64]

#: How many numbers the sums may take: 8 bytes each.
MOST_SUMS = 2 * 10**7


def gaps(quantiles: Sequence[Fraction]) -> list[Fraction]:
    """The share of records before the first quantile, between neighbours, and after the last."""
    ends = [Fraction(0), *quantiles, Fraction(1)]
    return [high - low for low, high in itertools.pairwise(ends)]


def rate(quantiles: Sequence[Fraction], epsilon: float, neighbours: CentralNeighbours) -> float:
    """By how much the logarithm of a weight falls for each unit of the score."""
    change = Fraction(2) if neighbours == "replace" else 2 * (1 - min(gaps(quantiles)))
    return float(Fraction(epsilon) / (2 * change))


def draw(
    points: Points, quantiles: Sequence[Fraction], epsilon: float, neighbours: CentralNeighbours, entropy: Entropy
) -> Integers:
    """A place for each of the quantiles, which are in increasing order."""
    n = points.whole.many
    if (n + 1) * len(quantiles) > MOST_SUMS:
        raise LimitError(
            "The joint method keeps one number for each record and quantile, at most "
            f'{MOST_SUMS:,}: use method="approximate".'
        )
    starts = np.concatenate([[0], points.places() + 1, [points.whole.high + 1]])
    wanted = np.array([float(gap) * n for gap in gaps(quantiles)])
    chain = Chain(np.diff(starts), wanted, rate(quantiles, epsilon, neighbours))
    found: list[int] = []
    for rank, many in chain.draw(entropy):
        inside = np.sort(entropy.integers(int(starts[rank + 1] - starts[rank]), many)).astype(np.int64)
        found = [*(starts[rank] + inside).tolist(), *found]
    return np.array(found, np.int64)


class Chain:
    """The law of the quantiles' ranks, from the first to the last.

    Parameters
    ----------
    widths
        How many places have each rank 0..n.
    wanted
        How many records should lie before the first quantile, between neighbours, and after the last.
    rate
        By how much the logarithm of a weight falls for each record too many or too few.
    """

    def __init__(self, widths: Integers, wanted: Floats, rate: float) -> None:
        self.wanted, self.rate = wanted, rate
        self.count, self.n = wanted.size - 1, widths.size - 1
        with np.errstate(divide="ignore"):
            self.log_widths = np.log(widths.astype(np.float64))
        self.sums = np.empty((self.count, widths.size))
        joint_quantiles.forward(self.log_widths, self.wanted, rate, self.sums)

    @property
    def last(self) -> Floats:
        """The logarithms of the weights of the last quantile's ranks."""
        weights: Floats = self.sums[-1] + self._step(self.count, np.arange(self.n + 1), self.n)
        return weights

    def draw(self, entropy: Entropy) -> list[tuple[int, int]]:
        """(rank, how many quantiles have it), from the greatest to the smallest."""
        drawn = []
        j, rank = self.count - 1, _categorical(self.last, entropy)
        while True:
            many = 1 + _categorical(self._sharing(j, rank), entropy)
            drawn.append((rank, many))
            j -= many
            if j < 0:
                return drawn
            rank = _categorical(self._before(j + 1, rank), entropy)

    def _step(self, j: int, start: NDArray[np.int64], stop: int) -> Floats:
        """The logarithm of the weight of stop − start records between quantiles j − 1 and j."""
        weights: Floats = -self.rate * np.abs(stop - start - self.wanted[j])
        return weights

    def _before(self, j: int, rank: int) -> Floats:
        """The weights of the ranks of quantile j − 1 when quantile j is at this rank, alone or the first of several."""
        weights: Floats = self.sums[j - 1, :rank] + self._step(j, np.arange(rank), rank)
        return weights

    def _entry(self, j: int, rank: int) -> float:
        if j == 0:
            return -self.rate * abs(rank - float(self.wanted[0]))
        logs = self._before(j, rank)
        top = logs.max(initial=-np.inf)
        return float(top + np.log(np.exp(logs - top).sum())) if np.isfinite(top) else -np.inf

    def _sharing(self, j: int, rank: int) -> Floats:
        """The weights of 1, 2, … quantiles up to quantile j sharing this rank."""
        together, found = 0.0, []
        for many in range(1, j + 2):
            together += self.log_widths[rank] - np.log(many)
            found.append(self._entry(j - many + 1, rank) + together)
            together -= self.rate * self.wanted[j - many + 1]
        return np.array(found)


def _categorical(logs: Floats, entropy: Entropy) -> int:
    """A place, with probability proportional to exp(logs)."""
    totals = np.cumsum(np.exp(logs - logs.max()))
    uniform = float(entropy.words(1)[0] >> np.uint64(11)) * 2.0**-53
    return min(int(np.searchsorted(totals, uniform * totals[-1], side="right")), logs.size - 1)
