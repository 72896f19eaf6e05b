"""A guarantee is ε, δ and neighbours, and says what they buy."""

import math

import pytest

from bruit.errors import BruitError, FormatError, ParameterError
from bruit.privacy import Guarantee


def test_a_guarantee_without_neighbours_does_not_exist():
    with pytest.raises(TypeError):
        Guarantee(epsilon=1.0)
    with pytest.raises(ParameterError, match="neighbours must be one of"):
        Guarantee(epsilon=1.0, neighbours="friends")


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "1", None])
def test_epsilon_must_be_a_number_of_zero_or_above(bad):
    with pytest.raises(BruitError, match="epsilon must be"):
        Guarantee(epsilon=bad, neighbours="value")


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0, 800.0])
@pytest.mark.parametrize("prior", [0.001, 0.5, 0.9])
def test_odds_move_by_exactly_the_factor_of_epsilon(epsilon, prior):
    low, high = Guarantee(epsilon=epsilon, neighbours="value").belief(prior)
    assert 0 <= low <= prior <= high <= 1
    if epsilon < 10:
        odds = prior / (1 - prior)
        assert high / (1 - high) == pytest.approx(odds * math.exp(epsilon))
        assert low / (1 - low) == pytest.approx(odds * math.exp(-epsilon))


def test_belief_is_not_stated_for_approximate_guarantees():
    with pytest.raises(ParameterError, match="delta = 0"):
        Guarantee(epsilon=1.0, delta=1e-6, neighbours="replace").belief(0.5)


def test_a_guarantee_survives_the_round_trip_and_damage_is_noticed():
    promise = Guarantee(epsilon=0.1, delta=1e-9, neighbours="add-remove")
    assert Guarantee.from_dict(promise.to_dict()) == promise
    for damaged in ({}, None, {"epsilon": 1}, {"epsilon": "x", "delta": 0, "neighbours": "value"}):
        with pytest.raises(FormatError):
            Guarantee.from_dict(damaged)


def test_the_text_says_whom_it_speaks_of():
    assert str(Guarantee(epsilon=1, neighbours="person")) == "ε = 1 (local, the whole record changed)"
    assert Guarantee(epsilon=1, neighbours="person").local
    assert not Guarantee(epsilon=1, neighbours="replace").local
