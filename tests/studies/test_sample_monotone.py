"""Which statistics are sample-monotone, over all small tables."""

from fractions import Fraction

import pytest

from bruit_studies.sample_monotone import first_break, lengths


def median(table):
    return sorted(table)[len(table) // 2]


def mode(table):
    return max(sorted(set(table)), key=table.count)


def variance(table):
    return Fraction(sum(x * x for x in table), len(table)) - Fraction(sum(table), len(table)) ** 2


@pytest.mark.parametrize("statistic", [median, sum, max, min], ids=["median", "sum", "max", "min"])
def test_quantiles_and_sums_are_sample_monotone(statistic):
    assert first_break(statistic, range(4), 3) is None


@pytest.mark.parametrize("statistic", [mode, variance])
def test_a_break_is_one_that_can_be_checked_by_hand(statistic):
    broken = first_break(statistic, range(4), 4 if statistic is mode else 3)
    reach = lengths(statistic, broken.table, range(4))
    own = statistic(broken.table)
    assert own <= broken.near < broken.far or own >= broken.near > broken.far
    assert (reach[broken.near], reach[broken.far]) == (broken.near_length, broken.far_length)
    assert broken.far_length < broken.near_length


def test_the_own_value_takes_no_change():
    assert lengths(median, (0, 2, 2), range(3)) == {0: 1, 1: 1, 2: 0}
