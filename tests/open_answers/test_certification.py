"""Certification: raised limits do not depend on the order of parts, are the least, and are 0 of possible shares."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.open_answers.certification import Certification

N, P, Q, LIMIT = 1_000, 0.5, 0.125, 180


def certified(excess, parts=1):
    """The result of codes with these excesses, added in this number of parts."""
    excess = np.asarray(excess, np.int64)
    result = Certification(N, P, Q, LIMIT)
    for part in np.array_split(np.arange(len(excess)), parts):
        result.add(part, LIMIT + excess[part], excess[part])
    return result


def total(excess, raised):
    """The sum of the shares of what exceeds the raised limits, less what so many reports lift them by."""
    own = LIMIT + excess[excess > raised]
    return float((own - raised - N * Q).sum()) / (N * (P - Q))


def usual(excess, raised):
    """One and two standard deviations."""
    many = int((excess > raised).sum())
    return 1 + 2 * ((P * (1 - P) + many * Q * (1 - Q)) / (N * (P - Q) ** 2)) ** 0.5


@pytest.mark.parametrize("many", [0, 1, 5])
def test_what_people_can_have_given_is_certified_as_it_is(many) -> None:
    result = certified([10] * many, parts=3)
    assert (result.raised, result.codes.tolist()) == (0, list(range(many)))


@pytest.mark.parametrize("seed", range(20))
def test_limits_are_raised_by_the_least_number_that_makes_the_sum_usual_in_any_order(seed) -> None:
    generator = np.random.default_rng(seed)
    excess = np.concatenate([generator.integers(1, 25, 2_000), generator.integers(60, 200, 3)])
    whole = certified(excess)
    for parts in (2, 7, 300):
        again = certified(excess, parts)
        assert (again.raised, sorted(again.codes.tolist())) == (whole.raised, sorted(whole.codes.tolist()))
    assert whole.raised > 0
    assert total(excess, whole.raised) <= usual(excess, whole.raised)
    assert total(excess, whole.raised - 1) > usual(excess, whole.raised - 1)
    assert set(whole.codes.tolist()) == set(np.flatnonzero(excess > whole.raised).tolist())


def test_nobody_certifies_nothing() -> None:
    result = Certification(0, P, Q, 0)
    result.add(*np.empty((3, 0), np.int64))
    assert (result.raised, result.codes.size) == (0, 0)
