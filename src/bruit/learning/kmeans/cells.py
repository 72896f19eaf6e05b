"""Where centres start: k-means on the noisy counts of a grid's cells.

The box that bounds declare is halved again and again across its longest side, so that columns which matter little to
distances are not divided at all. Counts of the finest cells are folded once and added up to as coarse a grid as the
noise asks for: one record changes one count, whatever the number of columns, which costs far less than sums do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import Entropy
from bruit.kernels import kmeans as kernels
from bruit.learning._features import STEPS, Floats

Counts = NDArray[np.int64]

#: The finest grid has 2 to this power of cells.
MOST_SPLITS = 14
#: No column is halved more often: steps would be divided.
_MOST_HALVINGS = 12
#: How many records stand for one cell, in units of the noise; chosen on simulated mixtures, as are the next ones.
_PER_CELL = 5.0
#: Cells are kept if so large that empty ones kept by chance hold less than this part of the records, or this many
#: times the scale of the noise.
_BY_CHANCE, _BY_NOISE = 0.0002, 10.0
#: How often k-means on cells is started, and how many steps it takes at most.
_STARTS, _STEPS = 8, 30
#: About how many differences one start may compute: with many cells there are fewer starts.
_WORK = 40_000_000


class StartCentres(NamedTuple):
    """Centres in −1..1 for each column, and weighted squared distances per record: to them, and to one centre.

    `divided` says which columns the cells divide, `hidden` that the sum of all noisy counts is within three standard
    deviations of none.
    """

    centres: Floats
    inertia: float
    alone: float
    divided: NDArray[np.bool_]
    hidden: bool


@dataclass(frozen=True, eq=False)
class HalvedBox:
    """A box halved across its longest side, again and again; `splits` names the columns in turn."""

    weights: Floats
    splits: Counts

    @classmethod
    def of(cls, weights: Floats) -> HalvedBox:
        """The grid for columns with these half widths."""
        left = weights.astype(np.float64)
        halvings = np.zeros(left.size, np.int64)
        splits = []
        for _ in range(min(MOST_SPLITS, _MOST_HALVINGS * left.size)):
            column = int(np.argmax(np.where(halvings < _MOST_HALVINGS, left, 0)))
            splits.append(column)
            left[column] /= 2
            halvings[column] += 1
        return cls(weights, np.array(splits, np.int64))

    def halvings(self, level: int) -> Counts:
        """How often each column is halved by the first splits."""
        return np.bincount(self.splits[:level], minlength=self.weights.size).astype(np.int64)

    def count(self, numbers: Floats, low: Floats, high: Floats) -> Counts:
        """How many rows each of the finest cells has."""
        level = self.splits.size
        out = np.zeros(1 << level, np.int64)
        kernels.cell_counts(numbers, low, high, STEPS, self.splits, self.halvings(level), out)
        return out

    def points(self, level: int) -> Floats:
        """The middles of the cells after these splits, in −1..1."""
        cells = np.arange(1 << level)
        points = np.zeros((cells.size, self.weights.size))
        reach = np.ones(self.weights.size)
        for place, column in enumerate(self.splits[:level]):
            reach[column] /= 2
            points[:, column] += np.where((cells >> (level - 1 - place)) & 1, 1, -1) * reach[column]
        return points

    def level(self, size: float, scale: float, clusters: int) -> int:
        """How many splits serve about n records at this noise: as Su et al. (2016), by the columns divided."""
        least = min(max(1, math.ceil(math.log2(clusters))), self.splits.size)
        for level in range(least + 1, self.splits.size + 1):
            columns = np.unique(self.splits[:level]).size
            if 2**level > (size / (scale * _PER_CELL)) ** (2 * columns / (2 + columns)):
                return level - 1
        return int(self.splits.size)

    def within(self, level: int) -> float:
        """The weighted squared distance of a record from its cell's middle, if the cell is filled evenly."""
        halvings = self.halvings(level)
        return float((((self.weights / 2.0**halvings) ** 2) / 3)[halvings > 0].sum())

    def start(self, noisy: Any, size: float, scale: float, clusters: int, entropy: Entropy) -> StartCentres:
        """Centres from noisy counts of cells, whose number gives the level."""
        counts = np.asarray(noisy, np.float64)
        level = int(math.log2(counts.size))
        points, mass = self.standing_out(counts, size, scale)
        even = _even(float(mass.sum()) / size) * size / counts.size
        if even:
            points, mass = np.vstack([points, self.points(level)]), np.append(mass, np.full(counts.size, even))
        divided = self.halvings(level) > 0
        points = points[:, divided] * self.weights[divided]
        inertia, placed = _clustered(points, mass, clusters, entropy)
        centres = np.zeros((clusters, self.weights.size))
        centres[:, divided] = placed / self.weights[divided]
        middle = mass @ points / mass.sum()
        alone = mass @ ((points - middle) ** 2).sum(axis=1)
        within = self.within(level)
        hidden = float(counts.sum()) < 3 * scale * math.sqrt(2 * counts.size)
        return StartCentres(centres, inertia / mass.sum() + within, float(alone / mass.sum()) + within, divided, hidden)

    def standing_out(self, noisy: Floats, size: float, scale: float) -> tuple[Floats, Floats]:
        """The middles and noisy counts of cells that stand out from the noise, of every size.

        What does not stand out in a small cell is joined with its neighbour, with more noise, and looked at again:
        crowds are seen finely and scattered records coarsely.
        """
        left, spread, few = noisy, scale, max(_BY_CHANCE * size, _BY_NOISE * scale)
        points, masses = [], []
        for level in range(int(math.log2(noisy.size)), 0, -1):
            seen = left >= threshold(left.size, spread, few)
            points.append(self.points(level)[seen])
            masses.append(left[seen])
            left, spread = np.where(seen, 0.0, left).reshape(-1, 2).sum(axis=1), spread * math.sqrt(2)
        return np.vstack(points), np.concatenate(masses)


def _even(seen: float) -> float:
    """The part of the records that is spread evenly where less than half of them is seen.

    >>> _even(0.9), _even(0.25), _even(0.0)
    (0.0, 0.5, 1.0)
    """
    return min(1.0, max(0.0, 1 - 2 * seen))


def threshold(cells: int, scale: float, few: float) -> int:
    """The least count at which few of the empty cells seem to hold records; discrete Laplace tails.

    >>> threshold(64, 1.0, 1e6), threshold(64, 1.0, 10)
    (1, 3)
    """
    ratio, count = math.exp(-1 / scale), 1
    # Σ x·P(x) over x ≥ m is qᵐ(m + q/(1 − q))/(1 + q), for each empty cell.
    while cells * ratio**count * (count + ratio / (1 - ratio)) / (1 + ratio) > few:
        count += max(1, int(scale / 8))
    return count


def _clustered(points: Floats, mass: Floats, clusters: int, entropy: Entropy) -> tuple[float, Floats]:
    """The best of several runs of k-means on weighted points: its inertia and centres."""
    best = np.inf, np.zeros((clusters, points.shape[1]))
    for _ in range(max(2, min(_STARTS, _WORK // (points.size * clusters * _STEPS)))):
        centres = np.empty((clusters, points.shape[1]))
        kernels.spread_out(points, mass, entropy.words(clusters) / 2.0**64, centres)
        inertia = float(kernels.weighted_lloyd(points, mass, centres, _STEPS))
        best = min(best, (inertia, centres), key=lambda run: run[0])
    return best
