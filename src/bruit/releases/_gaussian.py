"""How much Gaussian noise (ε, δ) needs: from δ to ρ-zCDP, and from ρ to σ².

From (ε, δ) to ρ it is `bruit.privacy.zcdp.epsilon_to_rho`, rounded down. Noise with σ² ≥ Δ²/2ρ on sums whose changes
have Euclidean norm at most Δ is ρ-zCDP: see ``noise.proof.md``. σ² is a fraction, and nothing but ρ is a double.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from bruit.errors import LimitError
from bruit.privacy.zcdp import epsilon_to_rho
from bruit.releases.noise import MOST_SCALE, SLACK, DiscreteGaussian, simplest_fraction

#: From here on σ is a whole number, which costs less than one part in a million; below, σ² is a simple fraction.
_WHOLE_SIGMA = 2**20


@lru_cache(maxsize=256)
def calibrate(change2: int, epsilon: float, delta: float) -> DiscreteGaussian:
    """The noise on sums that one record changes by at most √change2 in all, as a Euclidean norm.

    >>> round(calibrate(1, 1.0, 1e-6).error, 2)
    4.53
    """
    least = Fraction(change2) / (2 * Fraction(epsilon_to_rho(epsilon, delta)))
    if least > MOST_SCALE**2:
        raise LimitError(
            f"Gaussian noise for a change of {math.isqrt(change2):,} steps at this ε is beyond what is exact here: "
            "use a coarser grid or a larger ε."
        )
    if least < _WHOLE_SIGMA**2:
        return DiscreteGaussian(simplest_fraction(least, least * (1 + SLACK)))
    sigma = math.isqrt(math.ceil(least) - 1) + 1
    return DiscreteGaussian(Fraction(sigma**2))
