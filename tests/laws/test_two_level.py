"""The exact law: whole-number weights, and an ε that is never understated."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import BruitError
from bruit.laws import Itself, Subset, TwoLevelLaw, Window
from bruit.rounding import exp_floor, log_ceiling

mpmath.mp.dps = 80


@given(st.floats(0.001, 20), st.integers(2, 10**6))
@settings(deadline=None, max_examples=300)
def test_the_stated_epsilon_is_above_the_true_one_and_below_the_asked_one(epsilon, k):
    law = TwoLevelLaw.calibrate(epsilon, Itself(values=k))
    true = mpmath.log(mpmath.mpf(law.inside) / law.outside)
    assert true <= mpmath.mpf(law.epsilon) <= mpmath.mpf(epsilon)
    assert law.epsilon >= epsilon * (1 - 1e-9)


@given(st.floats(0.001, 20), st.integers(2, 10**6), st.data())
@settings(deadline=None, max_examples=100)
def test_one_word_nearly_always_decides(epsilon, k, data):
    members = data.draw(st.integers(1, k - 1))
    law = TwoLevelLaw.calibrate(epsilon, Window(values=k - members + 1, width=members))
    assert 2**64 * (1 - Fraction(2, law.outside)) <= law.total <= 2**64
    assert members > 1 or law.outside > 10**10


@given(st.floats(0.001, 20), st.integers(1, 2**80))
@settings(deadline=None)
def test_the_floor_of_a_power_is_right(epsilon, times):
    assert exp_floor(epsilon, times) == int(mpmath.floor(mpmath.exp(mpmath.mpf(epsilon)) * times))


@given(st.fractions(min_value=1, max_value=10**9))
@settings(deadline=None)
def test_the_logarithm_is_rounded_up_to_the_next_double(ratio):
    true = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    stated = log_ceiling(ratio)
    assert mpmath.mpf(stated) >= true
    assert mpmath.mpf(math.nextafter(stated, -math.inf)) < true


def test_a_logarithm_in_double_precision_would_understate_some_epsilon():
    """The control: without rounding up, the claim is too low for some laws by a few units in the last place."""
    ratios = [Fraction(10**9 + i, 10**9) for i in range(1, 400)]
    low = [r for r in ratios if mpmath.mpf(math.log(r)) < mpmath.log(mpmath.mpf(r.numerator) / r.denominator)]
    assert low
    assert all(log_ceiling(r) >= math.log(r) for r in low)


def test_probabilities_are_exact_and_sum_to_one():
    law = TwoLevelLaw.calibrate(1.3, Window(values=8, width=3))
    assert 3 * law.probability(inside=True) + 7 * law.probability(inside=False) == 1
    assert law.probability(inside=True) / law.probability(inside=False) == law.ratio


def test_given_odds_are_kept_exactly_when_scaled():
    law = TwoLevelLaw.scale(3, 1, Itself(values=2))
    assert law.ratio == 3
    assert law.total == 2**64


@pytest.mark.parametrize(
    "bad", [{"inside": 1, "outside": 2}, {"outside": 0}, {"sets": Subset(values=4)}, {"inside": 2.5}, {"inside": 2**64}]
)
def test_a_law_is_valid_from_birth(bad):
    with pytest.raises(BruitError):
        TwoLevelLaw(**{"inside": 3, "outside": 1, "sets": Itself(values=4), **bad})
