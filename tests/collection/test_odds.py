"""Odds and beliefs are exact fractions of the law, rounded to the private side where they promise."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from bruit import Grid
from bruit.collection import Plan
from bruit.collection.odds import Share, at_least, at_most, belief, nearest, odds
from bruit.errors import ParameterError
from bruit.oracles import oracle


def test_a_share_is_of_a_hundred_unless_that_would_say_none_or_all() -> None:
    assert nearest(Fraction(1, 3)) == Share(33, 100)
    assert nearest(Fraction(1, 3000)) == Share(3, 10_000)
    assert at_most(Fraction(9991, 10_000)) == Share(9_991, 10_000)
    assert at_least(Fraction(1, 101)) == Share(9, 1_000)
    assert nearest(Fraction(0)) == Share(0, 100)
    assert nearest(Fraction(1)) == Share(100, 100)


@pytest.mark.parametrize("count", range(1, 300, 7))
def test_promises_are_rounded_outwards_and_by_less_than_their_unit(count: int) -> None:
    share = Fraction(count, 307)
    for rounded, low, high in ((at_most(share), 0, 1), (at_least(share), -1, 0)):
        error = rounded.fraction - share
        assert low <= error * rounded.of <= high


def test_a_share_beyond_all_is_refused() -> None:
    with pytest.raises(ParameterError, match="from 0 to 1"):
        nearest(Fraction(5, 4))


@pytest.mark.parametrize("name", ["GRR", "OUE", "SUE", "SS", "PGR"])
def test_odds_are_those_of_the_exact_matrix(name: str) -> None:
    mechanism = oracle(name, epsilon=1.0, k=4)
    chances = odds(mechanism)
    assert chances is not None
    own = Fraction(0)
    matrix = mechanism.matrix()
    for probability, likeliest in zip(matrix[0], map(max, zip(*matrix, strict=True)), strict=True):
        own += probability if probability == likeliest else 0
    # A message supports value 0 where no value makes it likelier, but for bits, where several may.
    if name in ("GRR", "SS", "PGR"):
        assert chances.own == own
    assert chances.own == mechanism.p
    assert chances.names == (name == "GRR")


def test_two_answers_that_messages_name_make_a_hundred() -> None:
    for epsilon in (0.1, 0.5, 1.0, 2.0, 6.0, 12.0):
        chances = odds(oracle("GRR", epsilon=epsilon, k=2))
        assert chances is not None
        assert chances.own_share.of == chances.other_share.of
        assert chances.own_share.count + chances.other_share.count == chances.own_share.of


def test_a_number_and_hadamard_response_have_no_single_odds() -> None:
    assert odds(Plan({"age": Grid(0, 10, cells=11)}, epsilon=1.0).mechanisms["age"]) is None
    assert odds(oracle("HR", epsilon=1.0, k=5)) is None


def test_the_belief_is_attained_by_randomised_response_and_never_exceeded() -> None:
    law = oracle("GRR", epsilon=1.0, k=2).matrix()
    for before in (1, 10, 50, 90, 99):
        prior = Fraction(before, 100)
        after = [
            prior * law[1][message] / (prior * law[1][message] + (1 - prior) * law[0][message]) for message in (0, 1)
        ]
        moved = belief(law[1][1] / law[0][1], before)
        assert moved.most == at_most(max(after))
        assert moved.least == at_least(min(after))


def test_no_property_of_a_record_moves_further_than_the_belief_of_the_person() -> None:
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, epsilon=1.0, method="RS+FD[GRR]")
    matrix = plan.design.matrix()
    weights = [Fraction(w, 10) for w in (1, 2, 3, 4)]
    for members in product((False, True), repeat=4):
        prior = sum((w for w, held in zip(weights, members, strict=True) if held), Fraction(0))
        if not 0 < prior < 1:
            continue
        moved = belief(plan.design.ratio("person"), prior)
        for message in range(len(matrix[0])):
            joint = [w * row[message] for w, row in zip(weights, matrix, strict=True)]
            after = sum(j for j, held in zip(joint, members, strict=True) if held) / sum(joint)
            assert moved.least.fraction <= after <= moved.most.fraction


def test_taking_part_again_multiplies_the_odds() -> None:
    assert belief(Fraction(3), 50, times=2).most == Share(90, 100)
    assert belief(Fraction(2), 10, times=3).most == at_most(Fraction(8, 17))


def test_the_belief_agrees_with_that_of_the_guarantee() -> None:
    plan = Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    _, most = plan.guarantee.belief(0.1)
    assert belief(plan.design.ratio("person"), 10).most.count == math.ceil(100 * most)


@pytest.mark.parametrize("before", [0, 100, Fraction(0), Fraction(3, 2)])
def test_a_belief_that_is_certain_cannot_be_moved_and_is_refused(before: Fraction | int) -> None:
    with pytest.raises(ParameterError, match="before must be"):
        belief(Fraction(3), before)
