"""Surveys with two coins of any bias: their law, their ε and their variance, exactly."""

import decimal
import itertools
from fractions import Fraction

import pytest

from bruit.errors import ParameterError
from bruit.oracles import RandomizedResponse
from bruit_studies.warner import Coins, epsilon_of, trial, variance_of

TENTHS = [Fraction(tenth, 10) for tenth in range(1, 10)]
BOTH = list(itertools.product(TENTHS, TENTHS))


def law(first, second, truth):
    """The probability of yes, by writing out both coins."""
    ways = itertools.product(((True, first), (False, 1 - first)), ((True, second), (False, 1 - second)))
    return sum(a * b for (honest, a), (yes, b) in ways if (truth if honest else yes))


def test_the_law_is_that_of_two_coins_written_out():
    for first, second in BOTH:
        coins = Coins(first, second)
        assert coins.p == law(first, second, True)
        assert coins.q == law(first, second, False)


def test_epsilon_is_the_greatest_log_ratio_over_both_answers_and_never_less():
    for first, second in BOTH:
        yes, no = law(first, second, True), law(first, second, False)
        worst = max(yes / no, no / yes, (1 - yes) / (1 - no), (1 - no) / (1 - yes))
        coins = Coins(first, second)
        assert coins.ratio == worst
        with decimal.localcontext(prec=60):
            exact = (decimal.Decimal(worst.numerator) / worst.denominator).ln()
            assert exact <= decimal.Decimal(coins.epsilon) < exact + decimal.Decimal("1e-12")


def test_the_ratio_of_yes_alone_would_promise_too_little():
    coins = Coins(Fraction(1, 2), Fraction(3, 4))
    assert coins.p / coins.q < coins.ratio


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("yes", [0, 1])
def test_the_variance_is_that_of_every_outcome_written_out(n, yes):
    coins, people = Coins(Fraction(1, 3), Fraction(1, 5)), [place < yes for place in range(n)]
    mean = square = Fraction(0)
    for answers in itertools.product((True, False), repeat=n):
        chance = Fraction(1)
        for truth, answer in zip(people, answers, strict=True):
            likely = coins.p if truth else coins.q
            chance *= likely if answer else 1 - likely
        estimate = (Fraction(sum(answers), n) - coins.q) / (coins.p - coins.q)
        mean, square = mean + chance * estimate, square + chance * estimate**2
    assert mean == Fraction(yes, n)
    assert square - mean**2 == coins.variance(Fraction(yes, n), n)


def test_at_the_same_epsilon_a_fair_second_coin_has_the_least_variance_whatever_the_share():
    for first, second in BOTH:
        coins = Coins(first, second)
        fair = Coins((coins.ratio - 1) / (coins.ratio + 1), Fraction(1, 2))
        assert fair.ratio == coins.ratio
        for share in (Fraction(0), *TENTHS, Fraction(1)):
            assert fair.variance(share, 100) <= coins.variance(share, 100)


def test_two_fair_coins_are_warners_survey():
    coins, oracle = Coins(Fraction(1, 2), Fraction(1, 2)), RandomizedResponse.two_coins()
    assert (coins.p, coins.q, coins.epsilon) == (oracle.p, oracle.q, oracle.guarantee.epsilon)
    assert float(coins.variance(Fraction(3, 10), 1000)) == pytest.approx(variance_of(0.5))
    assert coins.epsilon == pytest.approx(epsilon_of(0.5))


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (Fraction(1, 2), 1), (Fraction(3, 2), Fraction(1, 2))])
def test_coins_that_always_fall_on_one_side_are_refused(first, second):
    with pytest.raises(ParameterError):
        Coins(Fraction(first), Fraction(second))


def test_observed_surveys_have_this_variance_and_not_that_of_a_fair_coin():
    from bruit.entropy import Entropy

    rng, count = Entropy(1), 3000
    errors = [trial(part="two coins", share=0.3, truth=0.5, second=0.1, rng=rng)["error"] for _ in range(count)]
    seen = sum(error**2 for error in errors) / count
    right = float(Coins(Fraction(1, 2), Fraction(1, 10)).variance(Fraction(3, 10), 1000))
    # A variance of n surveys has a relative deviation of √(2/n) = 0.026: 6 of them happen once in 10⁸.
    assert abs(seen / right - 1) < 6 * (2 / count) ** 0.5
    assert abs(seen / variance_of(0.5) - 1) > 6 * (2 / count) ** 0.5
