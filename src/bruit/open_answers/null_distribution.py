"""What the estimate of a text that nobody gave may come out as: its null distribution, given the counts.

The cells of a text are a public hash of it. Where nobody gave it, they have nothing to do with the counts: in every
cohort they are like h different cells drawn evenly, one cohort by itself. So the null distribution is that of the sum,
over cohorts, of what such cells have left over when the listed texts are accounted for. It is a permutation
distribution: it holds whatever texts are not listed, also where a frequent one shares cells, which makes it skewed.

Characteristic functions multiply. They are computed on a grid, of h different cells by Newton's identities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Points of the grid, and how many standard deviations it has at least.
_POINTS, _DEVIATIONS = 1 << 14, 48.0
#: By how many points chances and quantiles are put outwards, for what rounding to the grid may do.
_SLACK = 2
#: Cohorts that are transformed at a time.
_TOGETHER = 64
#: Below this a chance is not told from the rounding of transforms.
LEAST_CHANCE = 1e-12


class _Grid(NamedTuple):
    """Chances on a grid: of each point, and of so much or more; the step, and which point is zero."""

    law: Floats
    tails: Floats
    unit: float
    zero: float


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """The distribution of the sum over cohorts of h different cells of each row.

    Parameters
    ----------
    rows
        A row per cohort, of sum zero: what each cell has left over.
    hashes
        How many cells a text has in each cohort, h.
    """

    rows: Floats
    hashes: int = 1

    def chance(self, sums: Floats) -> Floats:
        """The chance of a sum at least as large, at each of these; never shown as less than 10⁻¹²."""
        grid = self._grid
        places = np.floor(np.asarray(sums, float) / grid.unit + grid.zero) - _SLACK
        tails = grid.tails[np.clip(places, 0, len(grid.tails) - 1).astype(np.int64)]
        return np.asarray(np.clip(tails, LEAST_CHANCE, 1.0))

    def quantiles(self, chance: float) -> tuple[float, float]:
        """The lower and the upper quantile of the sum, each with half of this chance outside."""
        grid, half = self._grid, max(chance / 2, LEAST_CHANCE)
        below = int(np.searchsorted(np.cumsum(grid.law), half, side="right")) - _SLACK
        above = int(np.argmax(grid.tails <= half)) + _SLACK
        return (below - grid.zero) * grid.unit, (above - grid.zero) * grid.unit

    @property
    def deviation(self) -> float:
        """The standard deviation of the sum."""
        size, h = self.rows.shape[1], self.hashes
        return float(np.sqrt(h * (size - h) / (size - 1) * (self.rows**2).mean(axis=1).sum()))

    @cached_property
    def _grid(self) -> _Grid:
        deviation = self.deviation
        if not deviation > 0:
            law = np.zeros(_POINTS)
            law[_POINTS // 2] = 1.0
            return _Grid(law, np.cumsum(law[::-1])[::-1], 1.0, _POINTS / 2)
        unit = max(_DEVIATIONS * deviation, 4 * self.hashes * float(np.abs(self.rows).max())) / _POINTS
        rounded = np.rint(self.rows / unit)
        places = rounded.astype(np.int64) % _POINTS
        product = np.ones(_POINTS // 2 + 1, np.complex128)
        for start in range(0, len(places), _TOGETHER):
            product *= self._transforms(places[start : start + _TOGETHER]).prod(axis=0)
        law = np.roll(np.maximum(np.fft.irfft(product, _POINTS), 0.0), _POINTS // 2)
        law /= law.sum()
        # Rows have the sum zero, but for what rounding them adds up to.
        shift = self.hashes * float(rounded.mean(axis=1).sum())
        return _Grid(law, np.cumsum(law[::-1])[::-1], unit, _POINTS / 2 + shift)

    def _transforms(self, places: NDArray[np.int64]) -> NDArray[np.complex128]:
        """The characteristic functions of rows, on the grid: the mean over choices of h different cells."""
        rows, size = places.shape
        counts = np.zeros((rows, _POINTS))
        np.add.at(counts, (np.arange(rows)[:, None], places), 1.0)
        powers = np.fft.rfft(counts, axis=1)  # of the first power sum; those of others are its multiples
        half = powers.shape[1]
        sums = [np.ones_like(powers)]
        for order in range(1, self.hashes + 1):
            total = np.zeros_like(powers)
            for power in range(1, order + 1):
                at = np.arange(half) * power % _POINTS
                other = at >= half
                own = powers[:, np.where(other, _POINTS - at, at)]
                total += (-1) ** (power - 1) * np.where(other, own.conj(), own) * sums[order - power]
            sums.append(total / order)
        choices = np.prod([(size - place) / (place + 1) for place in range(self.hashes)])
        return np.asarray(sums[-1] / choices)
