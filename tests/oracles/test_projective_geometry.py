"""Projective geometry response: points and hyperplanes, the decoder, and the choice of the prime."""

from __future__ import annotations

import math
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import LimitError, ParameterError
from bruit.estimation import hyperplanes
from bruit.estimation.hyperplanes import ProjectiveSpace
from bruit.laws.sets import is_prime
from bruit.oracles.projective_geometry import ProjectiveGeometry

SPACES = [(2, 2), (2, 3), (2, 6), (3, 2), (3, 3), (3, 5), (5, 3), (5, 4), (7, 3), (11, 2), (13, 3)]
each_space = pytest.mark.parametrize(("q", "t"), SPACES)


def _points(q, t):
    """All canonical points in the order of their codes, from the definition."""
    found = []
    for code in range(1, q**t):
        digits = [code // q**i % q for i in range(t)]
        if [digit for digit in digits if digit][-1] == 1:
            found.append(digits)
    return found


def _table(q, t):
    """Which points are orthogonal, from the definition."""
    points = np.array(_points(q, t))
    return points[:, ::-1] @ points.T % q == 0


@each_space
def test_points_are_numbered_in_the_order_of_their_digits(q, t):
    space = ProjectiveSpace(q, t)
    assert space.digits(np.arange(space.points)).tolist() == _points(q, t)


@each_space
def test_hyperplanes_have_the_same_size_and_any_two_share_as_many_points(q, t):
    space, table = ProjectiveSpace(q, t), _table(q, t).astype(int)
    assert (space.orthogonal(np.arange(space.points), np.arange(space.points)) == table).all()
    shared = table @ table.T
    assert (np.diag(shared) == space.members).all()
    assert (shared[~np.eye(space.points, dtype=bool)] == space.shared).all()


@each_space
def test_members_are_the_points_of_the_hyperplane_each_once(q, t):
    oracle = ProjectiveGeometry(epsilon=1.0, k=ProjectiveSpace(q, t).points, prime=q)
    assert oracle.dimension == t
    numbers = np.arange(oracle.law.members)
    for value, row in enumerate(_table(q, t)):
        members = oracle._members(np.full(numbers.size, value), numbers)
        assert sorted(members.tolist()) == np.flatnonzero(row).tolist()


@given(st.sampled_from([(2, 20), (3, 14), (7, 8), (43, 5), (149, 4), (2039, 3), (999_983, 2)]), st.data())
@settings(deadline=None, max_examples=60)
def test_a_member_of_a_large_hyperplane_is_orthogonal_to_its_value(shape, data):
    q, t = shape
    space = ProjectiveSpace(q, t)
    k = min(space.points, 10**6)
    oracle = _large(q, k)
    value = data.draw(st.integers(0, k - 1))
    numbers = np.array(data.draw(st.lists(st.integers(0, space.members - 1), min_size=1, max_size=50, unique=True)))
    members = oracle._members(np.full(numbers.size, value), numbers)
    assert np.unique(members).size == numbers.size
    assert (members >= 0).all()
    assert (members < space.points).all()
    x = [int(digit) for digit in space.digits(np.array([value]))[0]]
    for y in space.digits(members).tolist():
        assert sum(a * b for a, b in zip(x, reversed(y), strict=True)) % q == 0


_MADE = {}


def _large(q, k):
    if q not in _MADE:
        _MADE[q] = ProjectiveGeometry(epsilon=1.0, k=k, prime=q)
    return _MADE[q]


@each_space
@pytest.mark.parametrize("largest", [1, 1000, 2**30, 2**50])
def test_sums_over_hyperplanes_are_exact_in_integers(q, t, largest):
    table = _table(q, t)
    counts = np.random.default_rng(q).integers(0, largest + 1, len(table))
    expected = [sum(int(count) for count in counts[row]) for row in table]
    assert ProjectiveSpace(q, t).sums(counts).tolist() == expected


@each_space
def test_sums_over_hyperplanes_of_floats_are_those_of_the_table(q, t):
    weights = np.random.default_rng(q).random(ProjectiveSpace(q, t).points)
    np.testing.assert_allclose(ProjectiveSpace(q, t).sums(weights), _table(q, t) @ weights, rtol=1e-12, atol=1e-12)


@pytest.mark.audit("shape0", "shape1", "shape4")
@pytest.mark.parametrize("shape", [(2, 20), (3, 13), (43, 4), (1097, 3), (2039, 3)])
def test_large_sums_are_exact_at_sampled_points(shape):
    """One heavy cell and random ones, at the length up to which no digits are split off."""
    q, t = shape
    space = ProjectiveSpace(q, t)
    generator = np.random.default_rng(q)
    counts = generator.integers(0, 100, space.points)
    counts[generator.integers(space.points, size=5)] = 2**25
    sums = space.sums(counts)
    places = generator.integers(space.points, size=5)
    everything = np.arange(space.points)
    for place in places:
        row = space.orthogonal(np.array([place]), everything)[0]
        assert int(sums[place]) == int(counts[row].sum())


def test_a_sum_that_is_not_nearly_whole_is_refused():
    with pytest.raises(LimitError, match="exactly"):
        hyperplanes._whole(np.array([1.0, 2.3]))
    assert hyperplanes._whole(np.array([1.1, -0.1])).tolist() == [1, 0]


def test_splitting_into_digits_is_what_keeps_huge_counts_exact(monkeypatch):
    """The control: without digits, counts of 50 bits are refused, because their sums do not come out whole."""
    space = ProjectiveSpace(5, 4)
    counts = np.random.default_rng(0).integers(0, 2**50, space.points)
    expected = [sum(int(count) for count in counts[row]) for row in _table(5, 4)]
    assert space.sums(counts).tolist() == expected
    monkeypatch.setattr(hyperplanes, "SAFE_LENGTH", math.inf)
    with pytest.raises(LimitError, match="exactly"):
        space.sums(counts)


@pytest.mark.parametrize("k", [2, 3, 7, 50, 200])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_p_and_q_are_those_of_the_matrix_and_covered_messages_are_counted(k, epsilon):
    oracle = ProjectiveGeometry(epsilon=epsilon, k=k)
    table = oracle._space.orthogonal(np.arange(k), np.arange(oracle.messages))
    assert oracle._covered == table.any(axis=0).sum()
    if k > 50:
        return
    rows = oracle.matrix()
    assert oracle.p == sum(entry for entry, own in zip(rows[0], table[0], strict=True) if own)
    assert oracle.q == sum(entry for entry, own in zip(rows[1], table[0], strict=True) if own)


def _subset_selection(epsilon, k):
    """The variance of subset selection for a rare value with the best ω."""
    e = math.exp(epsilon)
    best = math.inf
    for w in range(1, k):
        p = w * e / (w * e + k - w)
        q = (w * e * (w - 1) + (k - w) * w) / ((k - 1) * (w * e + k - w))
        best = min(best, q * (1 - q) / (p - q) ** 2)
    return best


@pytest.mark.parametrize("k", [500, 1000, 10_000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
def test_the_variance_is_within_six_per_cent_of_subset_selection(k, epsilon):
    oracle = ProjectiveGeometry(epsilon=epsilon, k=k)
    assert 0.999 < float(oracle.variance(0.0, 1)) / _subset_selection(epsilon, k) < 1.06


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 4.5, 6.0])
@pytest.mark.parametrize("k", [10, 100, 1000])
def test_no_other_prime_nearby_has_less_variance(epsilon, k):
    best = ProjectiveGeometry(epsilon=epsilon, k=k)
    middle = math.exp(epsilon) + 1
    for prime in range(2, int(4 * middle) + 1):
        if prime * 4 >= middle and is_prime(prime) and prime < 1000:
            try:
                other = ProjectiveGeometry(epsilon=epsilon, k=k, prime=prime)
            except LimitError:
                continue
            assert float(best.variance(0.0, 1)) <= float(other.variance(0.0, 1)) * (1 + 1e-12)


def test_a_domain_that_no_near_prime_serves_is_referred_to_hadamard_response():
    with pytest.raises(LimitError, match="HR takes this domain"):
        ProjectiveGeometry(epsilon=10.0, k=10**6)
    with pytest.raises(LimitError, match="more than"):
        ProjectiveGeometry(epsilon=1.0, k=10**6, prime=5003)


@pytest.mark.parametrize("bad", [1, 4, 9, 561, 2**20])
def test_the_prime_is_a_prime_within_limits(bad):
    with pytest.raises(ParameterError, match="prime"):
        ProjectiveGeometry(epsilon=1.0, k=10, prime=bad)


def test_two_coordinates_are_randomised_response_on_a_prime_and_one_more():
    oracle = ProjectiveGeometry(epsilon=1.0, k=5, prime=5)
    assert (oracle.dimension, oracle.messages, oracle._space.members, oracle._space.shared) == (2, 6, 1, 0)
    assert oracle.p / oracle.q == oracle.law.ratio


@pytest.mark.audit
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_a_million_values_are_asked_for_and_decoded_in_seconds_and_little_memory(epsilon):
    oracle = ProjectiveGeometry(epsilon=epsilon, k=10**6)
    values = np.arange(10**6, dtype=np.uint32)
    values[:300_000] = 77
    oracle._model(oracle.tally(oracle.privatize(values[:10], rng=1)))
    tracemalloc.start()
    start = time.perf_counter()
    try:
        tally = oracle.tally(oracle.privatize(values, rng=1))
        model = oracle._model(tally)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - start < 15
    assert peak < 256 * 2**20
    assert abs(model.frequency()[77] - 0.3) < 6 * math.sqrt(float(oracle.variance(0.3, 10**6, "people")))
    # All supports together: each report lies in the hyperplanes of as many points as a hyperplane has.
    sums = oracle._space.sums(tally.counts)
    assert int(sums.sum()) == 10**6 * oracle._space.members
