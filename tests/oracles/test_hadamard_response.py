"""Hadamard response: its sets and their transform, the choice of blocks, and its intervals."""

from __future__ import annotations

import math
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.entropy import Entropy
from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.kernels import hadamard_response as kernel
from bruit.oracles.hadamard_response import HadamardResponse, _total_error


def _even(y, column):
    return (y & column).bit_count() % 2 == 0


def _sets(oracle):
    """The set of each value, from the definition."""
    width = oracle._width
    return [
        [j * (width + 1) + y for j in [x // width] for y in range(width + 1) if _even(y, x % width + 1)]
        for x in range(oracle.size)
    ]


DESIGNS = [(2, 1), (2, 2), (3, 1), (7, 1), (7, 2), (8, 1), (10, 4), (5, 8), (33, 2), (100, 16)]


@pytest.mark.parametrize(("k", "blocks"), DESIGNS)
def test_members_are_the_rows_of_even_parity_each_once(k, blocks):
    oracle = HadamardResponse(epsilon=1.0, k=k, blocks=blocks)
    numbers = np.arange(oracle.law.members)
    for value, expected in enumerate(_sets(oracle)):
        assert sorted(oracle._members(np.full(numbers.size, value), numbers).tolist()) == expected
        assert len(expected) == oracle.law.members


@pytest.mark.parametrize(("k", "blocks"), DESIGNS)
def test_two_sets_of_a_block_share_half_and_sets_of_two_blocks_nothing(k, blocks):
    oracle = HadamardResponse(epsilon=1.0, k=k, blocks=blocks)
    sets = [set(found) for found in _sets(oracle)]
    for x, first in enumerate(sets):
        for y, second in enumerate(sets[:x]):
            same = x // oracle._width == y // oracle._width
            assert len(first & second) == (oracle.law.members // 2 if same else 0)


@given(st.integers(0, 20), st.data())
@settings(deadline=None, max_examples=100)
def test_a_member_of_a_large_block_has_even_parity_and_its_number_back(bits, data):
    rows = 1 << (bits + 1)
    column = data.draw(st.integers(1, rows - 1))
    number = data.draw(st.integers(0, rows // 2 - 1))
    out = np.empty(1, np.int64)
    kernel.members(np.array([column - 1]), np.array([number]), rows - 1, out)
    row = int(out[0])
    lowest = column & -column
    assert _even(row, column)
    assert (row % lowest) + (row // (2 * lowest)) * lowest == number


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("rows", [1, 2, 4, 64])
def test_the_transform_is_the_obvious_sum(rows, dtype):
    table = (Entropy(rows).words(3 * rows).astype(np.int64) >> 40).astype(dtype).reshape(3, rows)
    signs = np.array([[1 if _even(y, c) else -1 for y in range(rows)] for c in range(rows)])
    out = table.copy()
    kernel.transform(out)
    assert (out == table @ signs.T).all()


@pytest.mark.parametrize(("k", "blocks"), DESIGNS)
def test_the_decoder_is_the_sum_over_sets_in_integers(k, blocks):
    """W(v) is twice the support of v minus all reports in its block."""
    oracle = HadamardResponse(epsilon=1.0, k=k, blocks=blocks)
    reports = oracle.privatize(np.arange(5000) % k, rng=2)
    counts = oracle.tally(reports).counts
    per_block = counts.reshape(blocks, -1).sum(axis=1)
    expected = [
        2 * int(counts[found].sum()) - int(per_block[value // oracle._width])
        for value, found in enumerate(_sets(oracle))
    ]
    assert oracle._model(oracle.tally(reports)).sums.tolist() == expected


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.0, 5.0, 10.0])
@pytest.mark.parametrize("k", [2, 16, 100, 1000])
def test_the_number_of_blocks_is_the_one_of_least_total_error(epsilon, k):
    errors = {blocks: _total_error(epsilon, k, blocks) for blocks in [1 << i for i in range(12)]}
    chosen = HadamardResponse(epsilon=epsilon, k=k)
    assert errors[chosen.blocks] == min(errors.values())
    even = np.full(k, 1 / k)
    total = float(chosen.variance(even, 1).sum())
    assert total == pytest.approx(float(errors[chosen.blocks]) - 1 / k, rel=1e-9)
    textbook = max(1, 1 << (math.ceil(math.exp(epsilon)) - 1).bit_length() - 1)
    other = HadamardResponse(epsilon=epsilon, k=k, blocks=textbook)
    assert total <= float(other.variance(even, 1).sum()) * (1 + 1e-12)


def test_with_full_blocks_the_total_error_does_not_depend_on_how_people_are_spread():
    oracle = HadamardResponse(epsilon=2.0, k=28, blocks=4)
    assert oracle.size == 4 * oracle._width
    totals = []
    for seed in range(3):
        f = np.random.default_rng(seed).dirichlet(np.full(28, 0.2))
        totals.append(float((oracle.variance(f, 1) + f**2).sum()))
    assert totals == pytest.approx([totals[0]] * 3)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_variance_is_the_published_formula(epsilon):
    oracle = HadamardResponse(epsilon=epsilon, k=60, blocks=4)
    e, b, f = math.exp(epsilon), 4, np.random.default_rng(1).dirichlet(np.ones(60))
    mass = np.repeat([f[i : i + 15].sum() for i in range(0, 60, 15)], 15)
    expected = (e + 2 * b - 1) * (mass * (e + 1) + 2 * (1 - mass)) / (e - 1) ** 2 - f**2
    np.testing.assert_allclose(oracle.variance(f, 100), expected / 100, rtol=1e-9)
    # One value by itself is alone in its block.
    alone = (e + 7) * (0.1 * (e + 1) + 1.8) / (e - 1) ** 2 - 0.01
    assert float(oracle.variance(0.1, 100)) == pytest.approx(alone / 100)
    difference = oracle.variance(f, 100) - oracle.variance(f, 100, "people")
    np.testing.assert_allclose(difference, f * (1 - f) / 100, atol=1e-15)


def test_with_one_block_everybody_is_in_it():
    oracle = HadamardResponse(epsilon=1.0, k=10, blocks=1)
    e = math.e
    assert float(oracle.variance(0.0, 1)) == pytest.approx(((e + 1) / (e - 1)) ** 2)


def test_with_one_block_the_interval_is_wilsons():
    oracle = HadamardResponse(epsilon=1.0, k=5, blocks=1)
    tally = oracle.tally(oracle.privatize(np.repeat(np.arange(5), 100), rng=1))
    model = oracle._model(tally)
    lower, upper = intervals.wilson((model.sums + 500) / 2, 500, 0.95)
    ends = oracle.estimate(tally).interval(0.95)
    np.testing.assert_allclose(ends, np.column_stack([2 * lower - 1, 2 * upper - 1]) / model.signal, rtol=1e-9)


def test_an_exact_binomial_interval_is_refused_and_wald_is_symmetric():
    oracle = HadamardResponse(epsilon=2.0, k=10, blocks=4)
    answer = oracle.estimate(oracle.tally(oracle.privatize(np.arange(1000) % 10, rng=1)))
    with pytest.raises(ParameterError, match="wilson"):
        answer.interval(method="clopper-pearson")
    np.testing.assert_allclose(answer.interval(method="wald").mean(axis=1), answer.frequency, atol=1e-12)


def test_the_stated_variance_uses_the_share_of_reports_in_the_block():
    """The sum of all estimated frequencies of a large block is far too noisy to know the block's share by."""
    oracle = HadamardResponse(epsilon=3.0, k=4000)
    truth = np.zeros(4000)
    truth[:10] = 0.1
    answer = oracle.estimate(oracle.simulate((truth * 20_000).astype(int), rng=3), "people")
    exact = oracle.variance(truth, 20_000, "people")
    naive = oracle.variance(answer.frequency, 20_000, "people")
    assert np.abs(answer.variance[10:] / exact[10:] - 1).max() < 0.2
    assert np.abs(naive[10:] / exact[10:] - 1).max() > 1


def test_a_cheater_moves_a_value_by_one_over_the_signal():
    oracle = HadamardResponse(epsilon=1.0, k=10)
    honest = oracle.tally(oracle.privatize(np.arange(1000) % 10, rng=1))
    raised = [
        (oracle.estimate(honest + oracle.tally([message])).frequency * 1001 - oracle.estimate(honest).frequency * 1000)
        for message in range(oracle.messages)
    ]
    assert np.max(raised) == pytest.approx(oracle.votes_per_cheater)


def test_a_covariance_matrix_has_its_limit():
    oracle = HadamardResponse(epsilon=1.0, k=5000)
    with pytest.raises(LimitError, match="covariance"):
        oracle.estimate(oracle.tally([1, 2, 3])).covariance()


def test_a_million_values_are_asked_for_and_decoded_in_seconds_and_little_memory():
    oracle = HadamardResponse(epsilon=2.0, k=10**6)
    values = np.arange(10**6, dtype=np.uint32)
    values[:300_000] = 77
    oracle.estimate(oracle.tally(oracle.privatize(values[:10], rng=1)))
    tracemalloc.start()
    start = time.perf_counter()
    try:
        tally = oracle.tally(oracle.privatize(values, rng=1))
        frequency = oracle._model(tally).frequency()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - start < 10
    assert peak < 80 * 2**20
    deviation = math.sqrt(float(oracle.variance(np.bincount(values, minlength=10**6) / 10**6, 10**6, "people")[77]))
    assert abs(frequency[77] - 0.3) < 6 * deviation


@pytest.mark.parametrize("bad", [3, 12, 2**21])
def test_blocks_are_a_power_of_two_within_limits(bad):
    with pytest.raises(ParameterError, match="blocks"):
        HadamardResponse(epsilon=1.0, k=10, blocks=bad)
