"""One step of Lloyd's algorithm from noisy sums: what is released, its noise, and centres that do not trust it blindly.

Per cluster a step releases the number of its records and the sums of their steps, all at once. Columns differ in what
their noise does to distances, so they are counted in units of their own (see `units`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bruit.entropy import Entropy
from bruit.errors import DataError
from bruit.kernels import kmeans as kernels
from bruit.learning._base import Counts
from bruit.learning._features import STEPS, Floats
from bruit.learning._sums import SumNoise

#: How far centres are from the middle of their bounds, in half widths: 0.225 of the width (Su et al. 2016).
_TYPICAL = 0.45
#: No column's noise is more than this many times the count's: it would save nothing more.
_MOST_UNITS = 256
#: Sensitivities are rounded up to multiples of one over this, so that scales are simple fractions.
_GRAIN = 1024
#: A cluster whose noisy count is below this many standard deviations, or below 1, keeps its centre.
_FEW = 2.0

OTHER_COLUMNS = (
    "k-means reads its data several times, and every time they must have the same columns in the same order."
)


def units(weights: Floats, *, gaussian: bool) -> tuple[int, ...]:
    """How many steps stand for one in each sum of a cluster: the count first, then the columns.

    For noise bⱼ that must have Σ 1/bⱼ fixed, Σ wⱼ²bⱼ² is least with bⱼ ∝ wⱼ^(−2/3); where Σ 1/bⱼ² is fixed, with
    bⱼ ∝ wⱼ^(−1/2). The weights have Σ wⱼ² = 1, and the count moves a centre by its distance from the middle.
    """
    ratio = (_TYPICAL / weights) ** (1 / 2 if gaussian else 2 / 3)
    return (1, *(round(STEPS * min(float(part), _MOST_UNITS)) for part in ratio))


def sensitivity(of_cluster: tuple[int, ...], neighbours: str, *, gaussian: bool) -> Fraction:
    """The most that one record changes all sums, in units: in L1, or squared in L2."""
    shares = [Fraction(STEPS, unit) for unit in of_cluster[1:]]
    if gaussian:
        squares = sum((share * share for share in shares), Fraction(0))
        # Replaced: from one cluster to another, or from one end of every column to the other within one.
        exact = 1 + squares if neighbours == "add-remove" else max(2 + 2 * squares, 4 * squares)
    else:
        exact = (1 + sum(shares, Fraction(0))) * (1 if neighbours == "add-remove" else 2)
    return Fraction(math.ceil(exact * _GRAIN), _GRAIN)


def nearest_sums(numbers: Floats, low: Floats, high: Floats, centres: Floats, weights: Floats) -> Counts:
    """For each centre, how many rows are nearest to it, and the sums of their steps; one flat vector."""
    if numbers.shape[1] != weights.size:  # before the kernel, which does not look
        raise DataError(OTHER_COLUMNS)
    out = np.zeros((len(centres), numbers.shape[1] + 1), np.int64)
    turned = np.ascontiguousarray(centres.T) * STEPS
    kernels.nearest_sums(numbers, low, high, STEPS, turned, weights**2, out)
    return out.reshape(-1)


@dataclass(frozen=True, eq=False)
class Step:
    """A step with its noise.

    Parameters
    ----------
    weights
        Half widths of the columns, with Σ wⱼ² = 1.
    clusters
        How many centres there are.
    noise
        The noise of all sums.
    """

    weights: Floats
    clusters: int
    noise: SumNoise

    @classmethod
    def of(
        cls,
        weights: Floats,
        clusters: int,
        *,
        epsilon: float,
        delta: float,
        neighbours: str,
        share: Fraction,
        times: int = 1,
    ) -> Step:
        """A step that spends a share of ε, or of the ρ of (ε, δ), for neighbours that differ by `times` records."""
        of_cluster = units(weights, gaussian=delta > 0)
        change = sensitivity(of_cluster, neighbours, gaussian=delta > 0)
        return cls(weights, clusters, SumNoise(of_cluster * clusters, change, epsilon, delta, share, times))

    @cached_property
    def errors(self) -> Floats:
        """Standard deviations of the noise of one cluster: of its count, and of its sums in half widths."""
        columns = self.weights.size
        in_units = np.asarray(self.noise.units[: columns + 1], np.float64) * self.noise.errors[: columns + 1]
        return np.append(in_units[0], in_units[1:] / STEPS)

    def expected(self, size: float) -> float:
        """What noise adds to the weighted squared distance of a record, if n records are evenly divided."""
        per_cluster = (self.weights**2 * self.errors[1:] ** 2).sum() + _TYPICAL**2 * self.errors[0] ** 2
        return float(per_cluster / (size / self.clusters) ** 2)

    def draw(self, sums: Counts, entropy: Entropy) -> tuple[Floats, Floats]:
        """Noisy counts, and noisy sums in half widths."""
        noisy = self.noise.draw(sums, entropy).reshape(self.clusters, -1)
        return noisy[:, 0].astype(np.float64), noisy[:, 1:] / STEPS

    def moved(self, centres: Floats, counts: Floats, sums: Floats) -> Floats:
        """The centres, each moved towards its noisy mean as far as that stands out from the noise (James–Stein)."""
        squares = self.weights**2
        # A centre moves by (S − Nc)/N, whose noise has variance (σ²ⱼ + c²ⱼσ²₀)/N².
        enough = counts >= max(_FEW * self.errors[0], 1.0)
        people = np.where(enough, counts, 1.0)[:, None]
        moves = (sums - counts[:, None] * centres) / people
        by_noise = ((self.errors[1:] ** 2 + centres**2 * self.errors[0] ** 2) / people**2) @ squares
        far = np.maximum(moves**2 @ squares, 1e-300)
        trust = np.where(enough, np.maximum(0.0, 1 - by_noise / far), 0.0)
        return np.asarray(np.clip(centres + trust[:, None] * moves, -1, 1), np.float64)

    def pooled(self, counts: Floats, sums: Floats, size: float) -> Floats:
        """The mean of all records, each column shrunk towards the middle by its noise."""
        total = max(float(counts.sum()), size / 2)
        mean = np.clip(sums.sum(axis=0) / total, -1, 1)
        by_noise = self.clusters * self.errors[1:] ** 2 / total**2
        return np.asarray(mean * np.maximum(0.0, 1 - by_noise / np.maximum(mean**2, 1e-300)), np.float64)


@lru_cache(maxsize=8)  # every batch of the first reading asks for it
def packed(half_widths: tuple[float, ...], clusters: int) -> Floats:
    """Centres in −1..1 that do not look at the data: far from each other and from the walls (Su et al. 2016).

    >>> packed((1.0, 1.0), 3).shape
    (3, 2)
    """
    entropy = Entropy(0)  # the same for all: nothing here is secret
    weights = np.array(half_widths)
    radius = float(weights.max())
    while True:
        room = np.maximum(weights - radius, 0.0)
        centres: list[Any] = []
        for _ in range(100 * clusters):
            point = (2 * (entropy.words(weights.size) / 2.0**64) - 1) * room
            if all(((point - other) ** 2).sum() >= 4 * radius * radius for other in centres):
                centres.append(point)
            if len(centres) == clusters:
                return np.asarray(np.array(centres) / weights, np.float64)
        radius *= 0.8


def lost(centres: Floats, counts: Floats, error: Floats) -> bool:
    """Whether noisy centres are no further apart than noise alone would put them; `error` is that of their sums."""
    people = np.maximum(counts, 1.0)
    middle = people @ centres / people.sum()
    apart = people @ ((centres - middle) ** 2).sum(axis=1) / people.sum()
    by_noise = (people / people.sum()) @ ((error**2).sum() / people**2)
    return bool(apart <= 2 * by_noise)
