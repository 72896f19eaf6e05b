"""Noise for a vector of whole-number sums that one record changes together.

All models here learn from sums over people, released once. Each sum is counted in its own unit (a count in ones, a sum
of numbers in steps, a sum of squares in squared steps), and what a record can change is bounded in those units for the
whole vector: in L1 for Laplace noise, in L2 for Gaussian noise. See ``sums.proof.md``.
"""

from __future__ import annotations

import math
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.privacy.zcdp import epsilon_to_rho
from bruit.releases.laws import SumLaw
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace, Noise, add, cut, simplest_fraction

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: How much of ε may be left unused so that scales are simple fractions.
_SLACK = Fraction(1, 10**9)
#: Numerators of scales have at most as many bits.
_TOP_BITS = 50


class Observer(Protocol):
    """Sees every release of sums within a fit, for audits."""

    def released(self, law: SumLaw, noisy: Integers) -> Integers:
        """What the fit goes on with, from the law of the sums and the noisy sums that were drawn."""
        ...


#: Who sees the releases of the fit that runs here; nobody outside of audits.
observer: ContextVar[Observer | None] = ContextVar("observer", default=None)

_BEYOND = "The noise for this ε is beyond what is exact here: use a larger ε, or fewer columns."


@dataclass(frozen=True)
class SumNoise:
    """Discrete noise on sums in different units, for one release of all of them.

    Parameters
    ----------
    units
        How many steps each sum takes for 1; the noise on it is that many times larger.
    sensitivity
        The most that one record changes the vector between neighbours, in units: its L1 norm where delta is 0, else the
        *square* of its L2 norm.
    epsilon, delta
        What the release may spend. With delta above 0 the noise is Gaussian under zCDP.
    share
        The part of ε, or of ρ, that is spent here, where several releases share them; their parts sum to 1.
    times
        By how many records neighbours differ: 1, or more where a person has several rows.

    Examples
    --------
    >>> noise = SumNoise((1, 4096), Fraction(5, 2), 1.0)
    >>> noise.loss_between([3, 8192], [4, 4096])
    Fraction(4, 5)
    """

    units: tuple[int, ...]
    sensitivity: Fraction
    epsilon: float
    delta: float = 0.0
    share: Fraction = Fraction(1)
    times: int = 1

    def __post_init__(self) -> None:
        _ = self.errors  # noise that cannot be drawn, or told, is refused here, before anything is booked

    @cached_property
    def by_unit(self) -> dict[int, Noise]:
        """The noise for each unit."""
        make = self._gaussian if self.delta else self._laplace
        return {unit: make(unit) for unit in sorted(set(self.units))}

    @cached_property
    def rho(self) -> float:
        """The zCDP of Gaussian noise, of which this is a share: the most that gives (ε, δ)."""
        return epsilon_to_rho(self.epsilon, self.delta)

    @property
    def errors(self) -> Floats:
        """The standard deviation of the noise on each sum, in units."""
        by_unit = {unit: noise.standard_error / unit for unit, noise in self.by_unit.items()}
        return np.array([by_unit[unit] for unit in self.units])

    @property
    def scale(self) -> float:
        """The scale of Laplace noise in units, or of Laplace noise with the spread that Gaussian noise has."""
        unit, noise = next(iter(self.by_unit.items()))
        wide = noise.scale if isinstance(noise, DiscreteLaplace) else math.sqrt(noise.sigma2 / 2)  # type: ignore[attr-defined]
        return float(wide) / unit

    def draw(self, sums: Any, entropy: Entropy) -> Integers:
        """The sums, cut to ±2⁶¹, with noise, still in steps; book the spend before."""
        exact = cut(sums)
        units = np.asarray(self.units)
        if exact.shape != units.shape:
            raise ValueError("There must be one unit for each sum.")  # a mistake of ours, not of the caller's
        noisy = np.empty_like(exact)
        for unit, noise in self.by_unit.items():
            here = units == unit
            noisy[here] = add(exact[here], noise.draw(int(here.sum()), entropy))
        watching = observer.get()
        return noisy if watching is None else watching.released(self.law(exact), noisy)

    def law(self, sums: Any) -> SumLaw:
        """The law of the noisy sums."""
        return SumLaw(tuple(cut(sums).tolist()), tuple(self.by_unit[unit] for unit in self.units))

    def loss_between(self, first: Any, second: Any) -> Fraction:
        """The exact loss between two vectors of sums: ε for Laplace noise, ρ for Gaussian noise."""
        total = Fraction(0)
        for unit, ours, other in zip(self.units, first, second, strict=True):
            noise, change = self.by_unit[unit], abs(int(ours) - int(other))
            if isinstance(noise, DiscreteGaussian):
                total += Fraction(change) ** 2 / (2 * noise.sigma2)
            elif isinstance(noise, DiscreteLaplace):
                total += change / noise.scale
        return total

    def _laplace(self, unit: int) -> DiscreteLaplace:
        wanted = Fraction(_checks.positive(epsilon=self.epsilon)) * self.share
        scale = unit * self.times * self.sensitivity / simplest_fraction(wanted * (1 - _SLACK), wanted)
        if scale.numerator >> _TOP_BITS:  # no simple ε: a scale a little larger is one, and loses no more
            parts = 1 << max(0, _TOP_BITS - 1 - math.ceil(scale).bit_length())
            scale = Fraction(math.ceil(scale * parts), parts)
        try:
            return DiscreteLaplace(scale)
        except LimitError:
            raise LimitError(_BEYOND) from None

    def _gaussian(self, unit: int) -> DiscreteGaussian:
        # Σ Δᵢ²/(2σᵢ²) ≤ ρ with σᵢ = unitᵢ·σ: σ² = ‖Δ‖²/(2ρ), and σᵢ a whole number above that where it is large.
        sigma2 = unit * unit * self.times**2 * self.sensitivity / (2 * Fraction(self.rho) * self.share)
        if sigma2 > 1 << 16:
            try:
                return DiscreteGaussian(Fraction(math.isqrt(math.ceil(sigma2)) + 1) ** 2)
            except LimitError:
                raise LimitError(_BEYOND) from None
        return DiscreteGaussian(Fraction(math.ceil(sigma2 * 1024), 1024))
