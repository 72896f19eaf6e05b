"""Differences of groups, waves and surveys: unbiased, with intervals that cover and tests that keep their level."""

from __future__ import annotations

import numpy as np
import pytest

import bruit
from bruit import Plan
from bruit.errors import DataError, ParameterError
from bruit.estimation import Difference
from bruit.numbers import number as number_mechanism

ORACLE = bruit.oracle("GRR", epsilon=1.0, labels=["no", "yes"])


def wave(yes: int, n: int, seed: int, oracle=ORACLE):
    return oracle.estimate(oracle.simulate(np.array([n - yes, yes]), rng=seed))


def test_intervals_cover_and_the_test_keeps_its_level() -> None:
    rng, covered, rejected = np.random.default_rng(1), 0, 0
    other = bruit.oracle("SS", epsilon=2.0, labels=["no", "yes", "perhaps"])
    assert other.name == "SS"
    for seed in range(1000):
        here, there = rng.binomial(800, 0.3), rng.binomial(1200, 0.2)
        change = wave(int(here), 800, seed) - wave(int(there), 1200, seed + 10_000)
        low, high = change.interval()[1]
        covered += low < 0.1 < high
        none = wave(int(rng.binomial(800, 0.3)), 800, seed) - wave(int(rng.binomial(900, 0.3)), 900, seed + 10_000)
        rejected += none.p_value[1] < 0.05
    assert 0.92 < covered / 1000 < 0.975
    assert 0.025 < rejected / 1000 < 0.08


def test_the_variance_is_the_sum_of_both() -> None:
    first, second = wave(300, 1000, 1), wave(200, 1000, 2)
    change = first - second
    assert np.allclose(change.value, first.frequency - second.frequency)
    assert np.allclose(change.variance, first.variance + second.variance)
    ends = change.interval(0.95, "wald")
    assert np.allclose(ends[:, 1] - change.value, 1.959964 * change.standard_error, rtol=1e-5)
    assert (change.interval(simultaneous=True)[:, 0] < change.interval()[:, 0]).all()


def test_means_of_numbers_are_compared_too() -> None:
    number = number_mechanism("hybrid", epsilon=2.0, bounds=(0, 10))
    low, high = (number.estimate(number.tally(number.privatize([value] * 4000, rng=1))) for value in (3.0, 5.0))
    change = high - low
    assert change.labels == ("mean",)
    assert change.interval()[0, 0] < 2 < change.interval()[0, 1]
    assert "less" in str(change)


def test_what_cannot_be_compared_is_refused() -> None:
    answer = wave(300, 1000, 1)
    with pytest.raises(ParameterError, match="with itself"):
        answer - answer
    letters = bruit.oracle("GRR", epsilon=1.0, labels=["a", "b"])
    with pytest.raises(ParameterError, match="same labels"):
        answer - wave(1, 10, 1, letters)
    with pytest.raises(ParameterError, match="one target"):
        Difference(answer, ORACLE.estimate(ORACLE.simulate(np.array([5, 5]), rng=1), "people"))
    number = number_mechanism("hybrid", epsilon=2.0, bounds=(0, 10))
    with pytest.raises(ParameterError, match="one kind"):
        answer - number.estimate(number.tally(number.privatize([1.0] * 10, rng=1)))
    with pytest.raises(TypeError):
        answer - 0.3


def grouped(counts) -> object:
    plan = Plan({"smokes": ["no", "yes"], "school": ["A", "B", "C"]}, 2.0, public=["school"])
    return plan.estimate(plan.simulate(np.array(counts), rng=1)).by("school")


def test_groups_are_compared_two_and_two_or_with_one_of_them() -> None:
    groups = grouped([[7000, 3000], [8000, 2000], [8000, 2000]])
    every, against = groups.differences("smokes"), groups.differences("smokes", "yes", against="A")
    assert (len(every), len(against)) == (3, 2)
    data = every.data()
    assert data["p_value"][0] < 1e-4
    assert data["p_value"][2] > 0.01
    alone = groups.differences("smokes", simultaneous=False).data()
    assert all(wide < narrow for wide, narrow in zip(data["lower"], alone["lower"], strict=True))
    assert np.isclose(data["difference"][0], groups["A"]["smokes"].frequency[1] - groups["B"]["smokes"].frequency[1])


def test_groups_that_nobody_is_in_are_not_compared() -> None:
    groups = grouped([[700, 300], [0, 0], [0, 0]])
    with pytest.raises(DataError, match="one group"):
        groups.differences("smokes")
    with pytest.raises(DataError, match="Nobody answered of the group school B"):
        groups.differences("smokes", against="B")
    with pytest.raises(ParameterError, match="must be a group"):
        groups.differences("smokes", against="D")
