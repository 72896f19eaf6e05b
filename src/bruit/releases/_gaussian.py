"""How much Gaussian noise (ε, δ) needs: from δ to ρ-zCDP, and from ρ to σ².

ρ-zCDP gives (ε, δ) if for some order α > 1: ε ≥ αρ + (ln(1/δ) − ln α)/(α − 1) + ln(1 − 1/α) (Canonne, Kamath and
Steinke 2020). Turned round, every order gives a ρ that is small enough, and the greatest of them is taken. Noise with
σ² ≥ Δ²/2ρ on sums whose changes have Euclidean norm at most Δ is ρ-zCDP: see ``noise.proof.md``.

Logarithms are doubles. ρ is lowered by one part in 10⁹, a thousand times what their rounding can amount to, and all
that follows is in fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from bruit import _checks
from bruit.errors import LimitError
from bruit.releases.noise import MOST_SCALE, SLACK, DiscreteGaussian, simplest_fraction

#: From here on σ is a whole number, which costs less than one part in a million; below, σ² is a simple fraction.
_WHOLE_SIGMA = 2**20
#: Orders α − 1 among which the best is taken: any of them gives a valid ρ.
_ABOVE_ONE = [math.exp(step / 100) for step in range(-1000, 2501)]
#: For smaller ε the orders do not reach far enough, and roundings could matter.
_LEAST_EPSILON = 1e-6


@lru_cache(maxsize=256)
def largest_rho(epsilon: float, delta: float) -> float:
    """A ρ whose zCDP gives (ε, δ), nearly the largest that the conversion allows.

    >>> round(largest_rho(1.0, 1e-6), 5)
    0.02436
    """
    _checks.probability(delta=delta)
    if _checks.positive(epsilon=epsilon) < _LEAST_EPSILON:
        raise LimitError("epsilon must be at least one millionth for Gaussian noise: use a larger ε, or delta=0.")
    return max(_rho_at(above, epsilon, -math.log(delta)) for above in _ABOVE_ONE) * (1 - float(SLACK))


@lru_cache(maxsize=256)
def calibrate(change2: int, epsilon: float, delta: float) -> DiscreteGaussian:
    """The noise on sums that one record changes by at most √change2 in all, as a Euclidean norm.

    >>> round(calibrate(1, 1.0, 1e-6).error, 2)
    4.53
    """
    least = Fraction(change2) / (2 * Fraction(largest_rho(epsilon, delta)))
    if least > MOST_SCALE**2:
        raise LimitError(
            f"Gaussian noise for a change of {math.isqrt(change2):,} steps at this ε is beyond what is exact here: "
            "use a coarser grid or a larger ε."
        )
    if least < _WHOLE_SIGMA**2:
        return DiscreteGaussian(simplest_fraction(least, least * (1 + SLACK)))
    sigma = math.isqrt(math.ceil(least) - 1) + 1
    return DiscreteGaussian(Fraction(sigma**2))


def _rho_at(above: float, epsilon: float, logarithm: float) -> float:
    """The ρ for the order 1 + above."""
    order = 1 + above
    return (epsilon - (logarithm - math.log(order)) / above - math.log1p(-1 / order)) / order
