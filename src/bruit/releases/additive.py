"""Releases of sums with Laplace or Gaussian noise: all that is published is a function of the noisy sums.

What is computed from raw records is `_sums`, a few whole numbers; what is published is `_publish`, which sees them only
with noise. So nothing without noise can reach a result, and the privacy loss is that of the sums.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

from bruit import _checks
from bruit.entropy import Words
from bruit.errors import DataError, LimitError, ParameterError
from bruit.estimation.tally import Counts, RawTally
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import epsilon_to_rho, pure_rho
from bruit.releases import _gaussian
from bruit.releases.base import CENTRAL, CentralNeighbours, Release
from bruit.releases.noise import DiscreteLaplace, Integers, Noise, add, cut
from bruit.releases.released import Released

#: So many records are summed without a cut, whatever they are.
MOST_RECORDS = 2**40


class AdditiveRelease(Release):
    """Whole-number sums, discrete Laplace or Gaussian noise on each, and arithmetic on the result."""

    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours

    @property
    def guarantee(self) -> Guarantee:
        """The ε and δ asked. With δ = 0 the exact loss of the noise is at most ε, and one part in 10⁹ less at most."""
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=self.neighbours)

    @property
    def rho(self) -> float:
        """The ρ-zCDP of the noise: that of (ε, δ) for Gaussian noise, ε²/2 for Laplace noise."""
        return epsilon_to_rho(self.epsilon, self.delta) if self.delta else pure_rho(self.epsilon)

    @abstractmethod
    def sensitivity(self, n: int | None = None) -> int:
        """The most that the sums change in all (L1) between neighbours; with n records where n is public."""

    def squared_sensitivity(self, n: int | None = None) -> int:
        """The most that the squared Euclidean norm (L2) of the change is; never above the square of the L1 norm."""
        return self.sensitivity(n) ** 2

    def noise(self, n: int | None = None) -> Noise:
        """The noise on each sum; with n records where n is public."""
        if self.delta:
            return _gaussian.calibrate(self.squared_sensitivity(n), self.epsilon, self.delta)
        return DiscreteLaplace.calibrate(self.sensitivity(n), self.epsilon)

    def _check_privacy(self) -> None:
        """ε, δ and the neighbours make sense."""
        object.__setattr__(self, "epsilon", _checks.positive(epsilon=self.epsilon))
        object.__setattr__(self, "delta", _checks.non_negative(delta=self.delta))
        if self.delta >= 1:
            raise ParameterError(f"delta must be 0, or a small number below 1, got {self.delta}.")
        _checks.one_of(CENTRAL, neighbours=self.neighbours)

    def _privacy(self) -> dict[str, Any]:
        """ε, δ where there is one, and the neighbours, for documents."""
        delta = {"delta": self.delta} if self.delta else {}
        return {"epsilon": self.epsilon, **delta, "neighbours": self.neighbours}

    @abstractmethod
    def _sums(self, counts: Counts) -> Integers:
        """What noise is added to; `noise.add` cuts it to ±2⁶¹."""

    @abstractmethod
    def _publish(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Released:
        """The result, from noisy sums, and n where it is public."""

    def _public_n(self, counts: Counts) -> int | None:
        """The number of records, where it is public and needed."""
        return None

    def loss_between(self, first: Counts, second: Counts) -> Fraction | None:
        """The exact loss: the distance (L1) of the sums over the scale; None for Gaussian noise, whose loss has no end.

        The numbers of records agree if they are public.
        """
        noise = self.noise(self._public_n(first))
        if not isinstance(noise, DiscreteLaplace):
            return None
        ours, theirs = cut(self._sums(first)), cut(self._sums(second))
        return sum(abs(int(one) - int(other)) for one, other in zip(ours, theirs, strict=True)) / noise.scale

    def _check(self, raw: RawTally) -> None:
        super()._check(raw)
        # The number is public: one that is impossible, or has no noise, is found before spending.
        self.noise(self._public_n(raw.reveal(design=self.digest)))

    def _draw(self, counts: Counts, words: Words) -> Released:
        n = self._public_n(counts)
        noise = self.noise(n)
        sums = cut(self._sums(counts))
        noisy = add(sums, noise.sample(len(sums), words))
        return self._publish(noisy, noise, n, not words.secure)


def whole(*numbers: Any) -> Integers:
    """Python's whole numbers as an array."""
    return np.array(numbers, np.int64)


def public_size(n: int) -> int:
    """A public number of records that may be divided by, and whose sums are exact."""
    if n < 1:
        raise DataError("There must be at least one record.")
    if n > MOST_RECORDS:
        raise LimitError("There must be at most 2⁴⁰ records, about a million millions.")
    return n
