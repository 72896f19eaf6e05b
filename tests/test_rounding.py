"""Each rounding is on the private side of the true value, and as near to it as it says."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from bruit.errors import LimitError
from bruit.rounding import above, decimal, decimal_share, down, exp_ceiling, exp_floor, log_ceiling, share, up

EPSILONS = [1e-9, 0.1, 0.3, math.log(2), 0.7, 1.0, math.log(3), 2.0, 5.5, 20.0]
FRACTIONS = [
    Fraction(1, 3),
    Fraction(2, 7),
    Fraction(1, 10),
    Fraction(10**17 + 1, 10**17),
    Fraction(22, 7),
    Fraction(3),
]


@pytest.fixture(autouse=True)
def _many_digits() -> object:
    with mpmath.workdps(120):
        yield


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("times", [1, 10**6, 2**64 - 1, 2**200])
def test_whole_numbers_are_the_nearest_ones_on_their_side(epsilon: float, times: int) -> None:
    true = mpmath.exp(mpmath.mpf(epsilon)) * times
    assert true - 1 - true * mpmath.mpf(10) ** -69 <= exp_floor(epsilon, times) <= true
    true = mpmath.exp(-mpmath.mpf(epsilon)) * times
    assert true <= exp_ceiling(Fraction(epsilon), times) <= true + 1 + true * mpmath.mpf(10) ** -69


@pytest.mark.parametrize("ratio", [*FRACTIONS[3:], Fraction(2**64, 2**64 - 1), Fraction(10) ** 300])
def test_a_logarithm_is_the_least_double_at_or_above(ratio: Fraction) -> None:
    true = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert log_ceiling(ratio) >= true > math.nextafter(log_ceiling(ratio), 0)


def test_the_logarithm_of_one_is_zero() -> None:
    assert log_ceiling(Fraction(1)) == 0


@pytest.mark.parametrize("exact", FRACTIONS)
def test_a_double_is_the_next_one_on_its_side(exact: Fraction) -> None:
    assert Fraction(math.nextafter(above(exact), 0)) < exact <= Fraction(above(exact))
    assert decimal(math.nextafter(up(exact), 0)) < exact <= decimal(up(exact))
    assert decimal(down(exact)) <= exact < decimal(math.nextafter(down(exact), math.inf))


def test_a_number_beyond_every_double_is_a_limit() -> None:
    with pytest.raises(LimitError, match="every double"):
        above(Fraction(10) ** 400)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_shares_stay_within_the_whole_and_are_the_largest_that_do(epsilon: float) -> None:
    for many in range(1, 60):
        part, written = share(epsilon, many), decimal_share(epsilon, many)
        assert Fraction(part) * many <= Fraction(epsilon) < Fraction(math.nextafter(part, 9e9)) * many
        assert decimal(written) * many <= decimal(epsilon)
        assert written >= part - 2 * math.ulp(part)


def test_the_control_a_plain_quotient_exceeds_the_whole() -> None:
    assert any(Fraction(epsilon / many) * many > Fraction(epsilon) for epsilon in EPSILONS for many in range(1, 60))
    assert any(decimal(epsilon / many) * many > decimal(epsilon) for epsilon in EPSILONS for many in range(1, 60))
