"""Releases of sums with Laplace noise: all that is published is a function of the noisy sums.

What is computed from raw records is `_sums`, a few whole numbers; what is published is `_publish`, which sees them only
with noise. So nothing without noise can reach a result, and the privacy loss is that of the sums.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

from bruit.entropy import Entropy
from bruit.errors import DataError
from bruit.estimation.tally import Counts, RawTally
from bruit.privacy.guarantee import Guarantee
from bruit.releases.base import CentralNeighbours, Release
from bruit.releases.noise import DiscreteLaplace, Integers, add
from bruit.releases.released import Released


class AdditiveRelease(Release):
    """Whole-number sums, discrete Laplace noise on each, and arithmetic on the result."""

    epsilon: float
    neighbours: CentralNeighbours

    @property
    def guarantee(self) -> Guarantee:
        """The ε asked; the exact loss of the noise is at most that, and at most one part in 10⁹ less."""
        return Guarantee(epsilon=self.epsilon, neighbours=self.neighbours)

    @abstractmethod
    def sensitivity(self, n: int | None = None) -> int:
        """The most that the sums change in all (L1) between neighbours; with n records where n is public."""

    def noise(self, n: int | None = None) -> DiscreteLaplace:
        """The noise on each sum; with n records where n is public."""
        return DiscreteLaplace.calibrate(self.sensitivity(n), self.epsilon)

    @abstractmethod
    def _sums(self, counts: Counts) -> Integers:
        """What noise is added to."""

    @abstractmethod
    def _publish(self, noisy: Integers, noise: DiscreteLaplace, n: int | None, simulated: bool) -> Released:
        """The result, from noisy sums, and n where it is public."""

    def _public_n(self, counts: Counts) -> int | None:
        """The number of records, where it is public and needed."""
        return None

    def loss_between(self, first: Counts, second: Counts) -> Fraction:
        """The exact loss: the distance (L1) of the sums over the scale; the numbers of records agree if public."""
        ours, theirs = self._sums(first), self._sums(second)
        distance = sum(abs(int(one) - int(other)) for one, other in zip(ours, theirs, strict=True))
        return distance / self.noise(self._public_n(first)).scale

    def _check(self, raw: RawTally) -> None:
        super()._check(raw)
        self._public_n(raw.reveal(design=self.digest))  # public, so that an impossible one is found before spending

    def _draw(self, counts: Counts, entropy: Entropy) -> Released:
        n = self._public_n(counts)
        noise = self.noise(n)
        sums = self._sums(counts)
        noisy = add(sums, noise.draw(len(sums), entropy))
        return self._publish(noisy, noise, n, not entropy.secure)


def whole(*numbers: Any) -> Integers:
    """Python's whole numbers as an array."""
    return np.array(numbers, np.int64)


def at_least_one(n: int) -> int:
    """A public number of records that may be divided by."""
    if n < 1:
        raise DataError("There must be at least one record.")
    return n
