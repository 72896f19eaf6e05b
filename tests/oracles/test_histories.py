"""The largest loss between two histories of buckets, against all histories and all reports, written out."""

import itertools
import math
from fractions import Fraction

import pytest

import bruit
from bruit.oracles import RandomizedResponse, Repeated
from bruit.oracles.histories import BucketHistories, _partitions, _rows
from bruit.rounding import log_ceiling


def histories(g, report=1.0, epoch=2.0):
    panel = Repeated(bruit.oracle("GRR", epsilon=report, k=g), epoch)
    return BucketHistories(panel.memo.law, panel.keep)


def by_definition(design, rounds):
    """The largest ratio over all pairs of histories and all reports, in fractions."""
    g, keep = design.buckets, design.keep
    rows = [design.law.row(bucket) for bucket in range(g)]
    show = [[keep * (memo == y) + (1 - keep) / g for y in range(g)] for memo in range(g)]
    worst = Fraction(0)
    for reports in itertools.product(range(g), repeat=rounds):
        chances = []
        for history in itertools.product(range(g), repeat=rounds):
            product = Fraction(1)
            for bucket in set(history):
                own = [y for y, other in zip(reports, history, strict=True) if other == bucket]
                product *= sum(rows[bucket][memo] * math.prod(show[memo][y] for y in own) for memo in range(g))
            chances.append(product)
        worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize(("g", "rounds"), [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("epsilons", [(1.0, 2.0), (0.9, 1.0), (0.1, 3.0)])
def test_the_ratio_is_the_largest_over_all_pairs_of_histories_to_the_last_digit(g, rounds, epsilons):
    design = histories(g, *epsilons)
    assert design.largest_ratio(rounds) == by_definition(design, rounds)


@pytest.mark.parametrize(
    ("design", "known"),
    [
        (histories(2), {2: 2.00, 4: 3.36, 5: 4.02, 8: 6.16, 12: 8.97}),
        (BucketHistories(RandomizedResponse.with_odds(3, 1, k=2).law, Fraction(3, 4)), {2: 1.58, 4: 3.44, 8: 7.32}),
    ],
    ids=["calibrated", "a quarter refreshed"],
)
def test_known_figures_of_two_buckets(design, known):
    assert {rounds: round(log_ceiling(design.largest_ratio(rounds)), 2) for rounds in known} == known


def test_beyond_the_search_a_bound_is_stated_that_holds_within_it():
    design = histories(3)
    last = design.searched_rounds
    exact = [design.largest_ratio(rounds) for rounds in range(1, last + 1)]
    for rounds, ratio in enumerate(exact, start=1):
        assert ratio <= design._slope_bound(rounds)
        assert ratio <= design.round_ratio**rounds
    for ratio, following in itertools.pairwise(exact):
        assert ratio < following <= ratio * design.round_ratio
    beyond = design.largest_ratio(last + 1)
    assert beyond == exact[-1] * design.round_ratio
    many = design.largest_ratio(60)
    assert many == design._slope_bound(60) < exact[-1] * design.round_ratio ** (60 - last)


def test_the_search_is_within_its_limit_and_its_parts_are_complete():
    assert [histories(g).searched_rounds for g in (2, 3, 4)] == [36, 14, 9]
    assert sorted(_partitions(4, 2)) == [(2, 2), (3, 1), (4, 0)]
    assert len(list(_rows((2, 1)))) == 6
