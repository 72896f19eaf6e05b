"""The staircase distribution itself, on the whole line: what is added to a number before anything is cut or clamped.

It has the least expected error of all noise that hides a change of Δ at ε (Geng, Kairouz, Oh, Viswanath 2015). Its
density falls in steps: α for |x| < γΔ, then α·e^{−ε(j+1)} for (j+γ)Δ ≤ |x| < (j+1+γ)Δ, j = 0, 1, …
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks

Floats: TypeAlias = NDArray[np.float64]
#: Which expected error is to be small: of |x| or of x².
Error: TypeAlias = Literal["absolute", "squared"]


def optimal_gamma(epsilon: float, error: Error = "absolute") -> float:
    """The width of the first step, as a share of Δ, that makes the expected error least.

    >>> round(optimal_gamma(1.0), 4), round(optimal_gamma(1.0, "squared"), 4)
    (0.3775, 0.4167)
    """
    _checks.positive(epsilon=epsilon)
    if _checks.one_of(get_args(Error), error=error) == "absolute":
        return 1 / (1 + math.exp(epsilon / 2))
    b = math.exp(-epsilon)
    # −b/(1−b) + (b−2b²+2b⁴−b⁵)^⅓ / (2^⅓ (1−b)²), where the bracket is b(1+b)(1−b)³.
    return (math.cbrt(b * (1 + b) / 2) - b) / -math.expm1(-epsilon)


def density(x: Any, *, epsilon: float, sensitivity: float = 1.0, gamma: float | None = None) -> Floats:
    """The density at x; γ is the best for the absolute error by default."""
    share = _gamma(epsilon, gamma)
    width = _checks.positive(sensitivity=sensitivity)
    steps = np.floor(np.abs(np.asarray(x, float)) / width - share) + 1
    heights: Floats = _height(epsilon, share) / width * np.exp(-epsilon * np.maximum(steps, 0))
    return heights


def mean_absolute(*, epsilon: float, sensitivity: float = 1.0, gamma: float | None = None) -> float:
    """E|X|.

    >>> round(mean_absolute(epsilon=1.0), 3)
    0.96
    """
    g, b = _gamma(epsilon, gamma), math.exp(-epsilon)
    # αΔ²[γ² + Σ b^{j+1} (2j + 2γ + 1)]
    series = 2 * b**2 / (1 - b) ** 2 + (2 * g + 1) * b / (1 - b)
    return _checks.positive(sensitivity=sensitivity) * _height(epsilon, g) * (g**2 + series)


def variance(*, epsilon: float, sensitivity: float = 1.0, gamma: float | None = None) -> float:
    """E[X²]; the mean is 0."""
    g, b = _gamma(epsilon, gamma), math.exp(-epsilon)
    # 2αΔ³[γ³/3 + Σ b^{j+1} (j² + (2γ+1) j + γ² + γ + 1/3)]
    series = b**2 * (1 + b) / (1 - b) ** 3 + (2 * g + 1) * b**2 / (1 - b) ** 2 + (g**2 + g + 1 / 3) * b / (1 - b)
    return _checks.positive(sensitivity=sensitivity) ** 2 * 2 * _height(epsilon, g) * (g**3 / 3 + series)


def resampled_epsilon(epsilon: float, error: Error = "absolute") -> float:
    """The true ε of staircase noise that is drawn again until the sum is inside bounds Δ apart.

    Drawing again divides each row by what lies inside, and that is more in the middle than at an end: the true ε is
    the nominal one plus ln[(2γ + b(1−2γ)) / (γ + b(1−γ))], for γ up to ½.

    >>> [round(resampled_epsilon(nominal), 3) for nominal in (0.5, 1.0, 2.0, 5.0)]
    [0.7, 1.332, 2.49, 5.651]
    """
    g, b = optimal_gamma(epsilon, error), math.exp(-epsilon)
    return epsilon + math.log((2 * g + b * (1 - 2 * g)) / (g + b * (1 - g)))


def _gamma(epsilon: float, gamma: float | None) -> float:
    return optimal_gamma(epsilon) if gamma is None else _checks.fraction(gamma=gamma)


def _height(epsilon: float, gamma: float) -> float:
    """αΔ = (1−b) / (2(γ + b(1−γ))): with this the total mass is one."""
    b = math.exp(-epsilon)
    return -math.expm1(-epsilon) / (2 * (gamma + b * (1 - gamma)))
