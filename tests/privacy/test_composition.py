"""Composition: what guarantees amount to together, exactly and rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import ParameterError
from bruit.privacy.composition import parallel, sequential
from bruit.privacy.guarantee import Guarantee

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
def test_disjoint_parts_cost_the_worst_that_can_change_at_once(values, neighbours):
    worst = sorted(map(Fraction, values), reverse=True)
    exact = sum(worst[:2]) if neighbours == "replace" else worst[0]
    assert is_least_double_above(parallel(promises(values, neighbours)).epsilon, exact)


def test_the_two_largest_deltas_need_not_be_those_of_the_two_largest_epsilons():
    parts = [Guarantee(epsilon=e, delta=d, neighbours="replace") for e, d in [(1.0, 0.0), (0.5, 0.25), (0.25, 0.5)]]
    assert parallel(parts) == Guarantee(epsilon=1.5, delta=0.75, neighbours="replace")


def test_deltas_add_in_a_sequence_and_do_not_on_disjoint_parts():
    parts = promises([0.5, 0.5], delta=0.25)
    assert sequential(parts).delta == 0.5
    assert parallel(parts).delta == 0.25


@given(st.lists(epsilons, min_size=1, max_size=8), st.sampled_from(WORDS))
def test_disjoint_parts_never_cost_more_than_a_sequence(values, neighbours):
    parts = promises(values, neighbours)
    assert parallel(parts).epsilon <= sequential(parts).epsilon


def test_moving_a_record_between_two_noisy_counts_does_cost_the_sum():
    """Two geometric counts with ratio e^-ε; a replaced record moves from the first to the second."""
    epsilon = math.log(2)

    def density(noise: int) -> Fraction:
        return Fraction(1, 3) * Fraction(1, 2) ** abs(noise)

    old, new = (1, 0), (0, 1)
    loss = max(
        math.log(density(a - old[0]) * density(b - old[1])) - math.log(density(a - new[0]) * density(b - new[1]))
        for a in range(-3, 5)
        for b in range(-3, 5)
    )
    stated = parallel(promises([epsilon, epsilon], "replace")).epsilon
    assert loss == pytest.approx(stated)  # attained: the maximum alone would be a false promise
    assert loss > 1.9 * epsilon


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
    alone = Guarantee(epsilon=0.1, delta=1e-9, neighbours="replace")
    assert compose(iter([alone])) == alone


def test_deltas_above_one_together_are_refused_and_not_capped():
    with pytest.raises(ParameterError, match="promise nothing"):
        sequential(promises([1.0, 1.0], delta=0.75))


def test_an_epsilon_beyond_every_double_is_refused():
    with pytest.raises(ParameterError):
        sequential(promises([1.7e308, 1.7e308]))
