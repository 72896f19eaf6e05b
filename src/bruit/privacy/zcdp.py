"""Zero-concentrated privacy (zCDP): the ρ of each kind of noise, and what ρ says about (ε, δ).

M is ρ-zCDP if the Rényi divergence of every order α > 1 between its outputs on neighbours is at most ρα. ρ adds over
releases. It is turned into (ε, δ), and (ε, δ) into the ρ that Gaussian noise may have, by the same formula: for every α

    ε = αρ + (ln(1/δ) − ln α)/(α − 1) + ln(1 − 1/α)

holds (Canonne, Kamath and Steinke 2020), and the best α is the only root of a monotone function. The arguments are in
``zcdp.proof.md``.

ρ is a fraction rounded up. Conversions are in double precision and leave one part in 10¹⁰ to spare: idealised numerics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache

from bruit import _checks
from bruit.errors import LimitError
from bruit.rounding import above

__all__ = ["bounded_range_rho", "epsilon_to_rho", "gaussian_rho", "pure_rho", "rho_to_delta", "rho_to_epsilon"]

#: By how much a conversion is raised, as a share of its largest term: thousands of roundings.
_MARGIN = 1e-11
#: By how much ρ is lowered so that its ε, raised as above, is still not above the one asked for.
_LOWERED = 1 - 1e-10
#: The orders α − 1 that are tried: all are valid, and none beyond is ever the best in practice.
_LEAST, _MOST = 1e-40, 1e300


def pure_rho(*epsilons: float | Fraction) -> float:
    """The ρ of a release of pure ε, or of several: ε²/2 each, because its losses lie within −ε..ε."""
    return above(_squares(epsilons) / 2)


def bounded_range_rho(*epsilons: float | Fraction) -> float:
    """The ρ of a release whose losses span at most ε, such as an exponential mechanism, or of several: ε²/8 each.

    The losses of a release of pure ε may span 2ε, so that an eighth is not true of it.
    """
    return above(_squares(epsilons) / 8)


def gaussian_rho(sensitivity: float, sigma2: float | Fraction) -> float:
    """The ρ of (discrete) Gaussian noise of variance parameter σ² on what changes by at most `sensitivity`: Δ²/2σ²."""
    _checks.positive(sigma2=sigma2)
    return above(Fraction(_checks.non_negative(sensitivity=sensitivity)) ** 2 / (2 * Fraction(sigma2)))


def rho_to_epsilon(rho: float, delta: float) -> float:
    """The least ε that the formula gives for ρ-zCDP at this δ, rounded up; below ρ + 2√(ρ ln(1/δ)).

    >>> round(rho_to_epsilon(0.5, 1e-6), 3)
    5.222
    """
    rho, delta = _checks.non_negative(rho=rho), _checks.probability(delta=delta)
    if rho == 0:
        return 0.0
    size = -math.log(delta)
    x = _root(lambda x: rho * x * x + math.log1p(x) - size)
    terms = (1 + x) * rho, (size - math.log1p(x)) / x, -math.log1p(1 / x)
    return max(0.0, math.fsum(terms) + _MARGIN * max(map(abs, terms)))


@lru_cache(maxsize=256)
def epsilon_to_rho(epsilon: float, delta: float) -> float:
    """The largest ρ whose zCDP gives (ε, δ) by the formula, rounded down.

    >>> rho = epsilon_to_rho(1.0, 1e-6)
    >>> round(rho, 5), rho_to_epsilon(rho, 1e-6) <= 1.0
    (0.02436, True)
    """
    epsilon, size = _checks.positive(epsilon=epsilon), -math.log(_checks.probability(delta=delta))
    # x is the best order for ρ = (ln(1/δ) − ln(1 + x))/x², whose ε falls as x grows.
    x = _root(lambda x: epsilon - (1 / x + 2) * (size - math.log1p(x)) / x + math.log1p(1 / x))
    rho = (epsilon - (size - math.log1p(x)) / x + math.log1p(1 / x)) / (1 + x) * _LOWERED
    if not rho > 0:
        raise LimitError("No ρ in double precision gives this ε at this δ: use a larger ε or δ.")
    return rho


def rho_to_delta(rho: float, epsilon: float) -> float:
    """The least δ that the formula gives for ρ-zCDP at this ε, rounded up; the inverse of `rho_to_epsilon`.

    >>> 0.99e-6 < rho_to_delta(0.5, rho_to_epsilon(0.5, 1e-6)) < 1.01e-6
    True
    """
    rho, epsilon = _checks.non_negative(rho=rho), _checks.non_negative(epsilon=epsilon)
    if rho == 0:
        return 0.0
    x = _root(lambda x: (1 + 2 * x) * rho - epsilon - math.log1p(1 / x))
    terms = x * (1 + x) * rho, -x * epsilon, -x * math.log1p(1 / x), -math.log1p(x)
    return min(1.0, math.exp(min(0.0, math.fsum(terms) + _MARGIN * max(map(abs, terms)))))


def _squares(epsilons: Iterable[float | Fraction]) -> Fraction:
    for epsilon in epsilons:
        _checks.non_negative(epsilon=epsilon)
    return sum((Fraction(epsilon) ** 2 for epsilon in epsilons), Fraction(0))


def _root(increasing: Callable[[float], float]) -> float:
    """The order α − 1 at which a function passes 0, by halving on a scale of logarithms."""
    low, high = _LEAST, _MOST
    for _ in range(200):
        middle = math.sqrt(low) * math.sqrt(high)
        if not low < middle < high:
            break
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return high
