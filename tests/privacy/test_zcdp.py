"""zCDP: ρ of each kind of noise, and the conversions to and from (ε, δ), against high precision."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from bruit.errors import LimitError, ParameterError
from bruit.privacy.zcdp import (
    bounded_range_rho,
    epsilon_to_rho,
    gaussian_rho,
    pure_rho,
    rho_to_delta,
    rho_to_epsilon,
)

PROMISES = [
    (epsilon, delta) for epsilon in (1e-6, 0.01, 1.0, 8.0, 20.0, 300.0) for delta in (1e-300, 1e-12, 1e-9, 1e-3, 0.5)
]


def exact_epsilon(rho, delta):
    """The infimum over all orders of αρ + (ln(1/δ) − ln α)/(α − 1) + ln(1 − 1/α), by its stationary point."""
    with mpmath.workdps(60):
        rho, size = mpmath.mpf(rho), -mpmath.log(mpmath.mpf(delta))
        low, high = mpmath.mpf(-200), mpmath.log(mpmath.expm1(size))
        for _ in range(220):
            middle = (low + high) / 2
            x = mpmath.exp(middle)
            low, high = (low, middle) if rho * x * x + mpmath.log1p(x) > size else (middle, high)
        x = mpmath.exp(low)
        return max(mpmath.mpf(0), (1 + x) * rho + (size - mpmath.log1p(x)) / x - mpmath.log1p(1 / x))


def gaussian_delta(rho, epsilon):
    """The exact δ of Gaussian noise that is ρ-zCDP."""
    ratio = math.sqrt(2 * rho)
    return special.ndtr(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * special.ndtr(-ratio / 2 - epsilon / ratio)


def test_the_rho_of_each_kind_is_its_formula_rounded_up():
    assert pure_rho(0.5) == 0.125
    assert bounded_range_rho(0.5) == 0.03125
    assert gaussian_rho(3, 9) == 0.5
    assert Fraction(pure_rho(0.1)) >= Fraction(0.1) ** 2 / 2
    assert Fraction(pure_rho(0.1, 0.3)) >= (Fraction(0.1) ** 2 + Fraction(0.3) ** 2) / 2
    assert bounded_range_rho(Fraction(1, 2), Fraction(1, 2)) == 0.0625
    with pytest.raises(ParameterError):
        pure_rho(-1.0)
    with pytest.raises(LimitError):
        pure_rho(1e200)


def test_no_order_gives_a_smaller_epsilon_than_the_stationary_one():
    """What the reference of these tests rests on: the formula has one minimum."""
    for rho, delta in [(0.5, 1e-6), (1e-4, 1e-3), (20.0, 0.4)]:
        size = -math.log(delta)
        x = np.exp(np.linspace(-20, 20, 20_001))
        every = (1 + x) * rho + (size - np.log1p(x)) / x - np.log1p(1 / x)
        assert float(exact_epsilon(rho, delta)) <= every.min() * (1 + 1e-12)
        assert np.count_nonzero(np.diff(np.sign(np.diff(every)))) == 1


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-9, 1e-6, 1e-3, 0.5])
@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.03, 0.5, 3.0, 100.0])
def test_a_converted_rho_is_not_below_the_formula_in_sixty_digits_and_hardly_above(rho, delta):
    exact = exact_epsilon(rho, delta)
    assert exact <= rho_to_epsilon(rho, delta) <= exact + exact / 10**9
    # The control: one part in 10⁹ less is already too little.
    assert exact == 0 or rho_to_epsilon(rho, delta) * (1 - 1e-9) < exact


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_the_largest_rho_keeps_its_epsilon_in_sixty_digits_and_wastes_little(epsilon, delta):
    rho = epsilon_to_rho(epsilon, delta)
    assert exact_epsilon(rho, delta) <= epsilon
    assert exact_epsilon(rho * (1 + 1e-9), delta) > epsilon


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_what_is_calibrated_to_an_epsilon_is_never_stated_above_it(epsilon, delta):
    assert rho_to_epsilon(epsilon_to_rho(epsilon, delta), delta) <= epsilon
    assert rho_to_delta(epsilon_to_rho(epsilon, delta), epsilon) <= delta * (1 + 1e-8)


@settings(deadline=None)
@given(st.floats(1e-6, 50), st.floats(1e-12, 0.5))
def test_a_converted_rho_covers_gaussian_noise_and_is_below_the_simple_formula(rho, delta):
    epsilon = rho_to_epsilon(rho, delta)
    assert gaussian_delta(rho, epsilon) <= delta * (1 + 1e-6)
    assert epsilon <= (rho + 2 * math.sqrt(rho * math.log(1 / delta))) * (1 + 1e-9)


def test_the_conversion_leaves_little_room():
    # The control: an ε a fifth smaller is already broken by Gaussian noise of this ρ.
    for rho in (0.01, 0.5, 3.0):
        assert gaussian_delta(rho, 0.8 * rho_to_epsilon(rho, 1e-6)) > 1e-6


@settings(deadline=None)
@given(st.floats(1e-3, 10), st.floats(1e-9, 0.1))
def test_the_two_conversions_are_inverse(rho, delta):
    epsilon = rho_to_epsilon(rho, delta)
    if epsilon == 0:
        assert rho_to_delta(rho, 0.0) <= delta
    else:
        assert rho_to_delta(rho, epsilon) == pytest.approx(delta, rel=1e-6)
        assert rho_to_delta(rho, 0.9 * epsilon) >= delta * (1 - 1e-9)


def test_nothing_spent_is_nothing_lost():
    assert rho_to_epsilon(0.0, 1e-6) == rho_to_delta(0.0, 0.0) == 0.0
    assert rho_to_epsilon(1e-320, 1e-6) < 1e-5
    assert rho_to_delta(1e-300, 0.0) < 1e-100
    assert rho_to_delta(1e3, 0.0) == 1.0


def test_an_epsilon_that_no_rho_can_give_is_refused():
    with pytest.raises(LimitError, match="larger ε"):
        epsilon_to_rho(1e-200, 1e-300)
    with pytest.raises(ParameterError):
        epsilon_to_rho(0.0, 1e-6)
    with pytest.raises(ParameterError):
        epsilon_to_rho(1.0, 0.0)
