"""Composition: what guarantees amount to together, exactly and rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import ParameterError
from bruit.privacy.composition import parallel, sequential
from bruit.privacy.guarantee import Guarantee
from bruit.releases import Mean

WORDS = ("value", "attribute", "person", "add-remove", "replace")
epsilons = st.floats(0, 1e300, allow_subnormal=True)


def promises(epsilons, neighbours="add-remove", delta=0.0):
    return [Guarantee(epsilon=e, delta=delta, neighbours=neighbours) for e in epsilons]


def is_least_double_above(stated: float, exact: Fraction) -> bool:
    below = Fraction(math.nextafter(stated, -math.inf)) if stated else Fraction(-1)
    return below < exact <= Fraction(stated)


@given(st.lists(epsilons, min_size=1, max_size=20), st.sampled_from(WORDS))
def test_a_sequence_costs_the_least_double_that_is_not_below_the_exact_sum(values, neighbours):
    whole = sequential(promises(values, neighbours))
    assert is_least_double_above(whole.epsilon, sum(map(Fraction, values)))
    assert whole.neighbours == neighbours


def test_a_plain_float_sum_would_be_too_low():
    values = [0.1] * 8  # the control: added with +, these doubles come out below their exact sum
    exact = sum(map(Fraction, values))
    assert Fraction(sum(values)) < exact <= Fraction(sequential(promises(values)).epsilon)


@given(st.lists(epsilons, min_size=1, max_size=20), st.sampled_from(WORDS))
def test_disjoint_parts_cost_the_worst_of_them(values, neighbours):
    stated = parallel(promises(values, neighbours), fixed=True).epsilon
    assert is_least_double_above(stated, max(map(Fraction, values)))


def test_the_largest_delta_need_not_be_that_of_the_largest_epsilon():
    parts = [Guarantee(epsilon=e, delta=d, neighbours="add-remove") for e, d in [(1.0, 0.0), (0.5, 0.25)]]
    assert parallel(parts) == Guarantee(epsilon=1.0, delta=0.25, neighbours="add-remove")


def test_deltas_add_in_a_sequence_and_do_not_on_disjoint_parts():
    parts = promises([0.5, 0.5], delta=0.25)
    assert sequential(parts).delta == 0.5
    assert parallel(parts).delta == 0.25


@given(st.lists(epsilons, min_size=1, max_size=8), st.sampled_from(WORDS))
def test_disjoint_parts_never_cost_more_than_a_sequence(values, neighbours):
    parts = promises(values, neighbours)
    assert parallel(parts, fixed=True).epsilon <= sequential(parts).epsilon


def test_parts_between_which_a_replaced_record_may_move_are_refused():
    with pytest.raises(ParameterError, match=r'a record may move.*fixed=True.*"add-remove"'):
        parallel(promises([0.5, 0.5], "replace"))
    assert parallel(promises([0.5, 0.25], "replace"), fixed=True).epsilon == 0.5
    for neighbours in set(WORDS) - {"replace"}:
        assert parallel(promises([0.5, 0.25], neighbours)).epsilon == 0.5


def test_a_record_that_moves_between_two_noisy_counts_costs_the_sum_and_not_the_worst():
    """Why: two geometric counts with ratio e^-ε, private even if sizes change; a record moves from one to the other."""
    epsilon = math.log(2)

    def density(noise: int) -> Fraction:
        return Fraction(1, 3) * Fraction(1, 2) ** abs(noise)

    old, new = (1, 0), (0, 1)
    loss = max(
        math.log(density(a - old[0]) * density(b - old[1])) - math.log(density(a - new[0]) * density(b - new[1]))
        for a in range(-3, 5)
        for b in range(-3, 5)
    )
    assert loss == pytest.approx(2 * epsilon)


def test_a_record_that_moves_between_two_means_is_seen_with_certainty():
    """Why even the sum of two parts would be a false promise: a mean under replace takes its part's size as public."""
    ask_for = Mean(bounds=(0, 1), step=1, epsilon=0.5, neighbours="replace")

    def outcomes(records):
        raw = ask_for.fold(np.array(records, float))
        return {Fraction(ask_for.release(raw, rng=seed).value).limit_denominator(12) for seed in range(200)}

    # Women are {1, 0, 1}, or one of them is replaced by a man: the means are then of 3 or of 2 records.
    of_three, of_two = outcomes([1, 0, 1]), outcomes([1, 0])
    assert {value.denominator for value in of_three} == {1, 3}
    assert {value.denominator for value in of_two} == {1, 2}


@pytest.mark.parametrize("compose", [sequential, parallel])
def test_mixed_neighbours_are_refused(compose):
    mixed = promises([1.0]) + promises([1.0], "replace")
    with pytest.raises(ParameterError, match="same neighbours, got add-remove, replace"):
        compose(mixed)


@pytest.mark.parametrize("compose", [sequential, parallel])
def test_nothing_has_no_guarantee(compose):
    with pytest.raises(ParameterError, match="at least one"):
        compose([])


@pytest.mark.parametrize("compose", [sequential, parallel])
def test_one_guarantee_is_unchanged_even_from_a_generator(compose):
    alone = Guarantee(epsilon=0.1, delta=1e-9, neighbours="add-remove")
    assert compose(iter([alone])) == alone


def test_deltas_above_one_together_are_refused_and_not_capped():
    with pytest.raises(ParameterError, match="promise nothing"):
        sequential(promises([1.0, 1.0], delta=0.75))


def test_an_epsilon_beyond_every_double_is_refused():
    with pytest.raises(ParameterError):
        sequential(promises([1.7e308, 1.7e308]))
