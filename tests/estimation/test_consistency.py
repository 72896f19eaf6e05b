"""Consistency steps against slow definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bruit
from bruit.estimation import consistency

raw = arrays(float, st.integers(2, 8), elements=st.floats(-2, 2))


@given(raw)
def test_norm_sub_is_the_nearest_point_of_the_simplex(values):
    """By its optimality conditions: one amount is taken from all that stay, and none that went to 0 wanted to stay."""
    found = consistency.norm_sub(values)
    assert found.sum() == pytest.approx(1)
    kept = found > 0
    taken = (values - found)[kept]
    assert np.ptp(taken) < 1e-9
    assert (values[~kept] <= taken.mean() + 1e-9).all()


@given(raw)
def test_norm_cut_keeps_the_largest_and_never_exceeds_one(values):
    found = consistency.norm_cut(values)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(min(1, np.clip(values, 0, None).sum()))
    untouched = found == values
    assert ((found == 0) | untouched).sum() >= values.size - 1


@given(raw)
def test_clip_norm_and_norm_mul_do_what_they_say(values):
    assert consistency.clip(values).tolist() == [max(v, 0.0) for v in values]
    assert consistency.norm(values).sum() == pytest.approx(1)
    assert consistency.norm_mul(values).sum() == pytest.approx(1)


def test_clip_and_rescale_is_biased_where_norm_sub_is_not():
    """Two values of one half among a hundred: rescaling shrinks them to a sixth, the projection keeps them."""
    oracle = bruit.oracle("GRR", epsilon=1.0, k=100)
    counts = np.zeros(100, int)
    counts[:2] = 1000
    answers = [oracle.estimate(oracle.simulate(counts, rng=seed)) for seed in range(60)]
    rescaled = np.mean([answer.consistent("norm-mul").frequency[:2] for answer in answers])
    projected = np.mean([answer.consistent("norm-sub").frequency[:2] for answer in answers])
    unbiased = np.mean([answer.frequency[:2] for answer in answers])
    assert rescaled < 0.15
    assert unbiased == pytest.approx(0.5, abs=0.1)
    assert projected > 1.5 * rescaled


def test_base_cut_drops_absent_values_at_its_level():
    oracle = bruit.oracle("GRR", epsilon=2.0, k=20)
    counts = np.zeros(20, int)
    counts[0] = 5000
    kept = [
        (oracle.estimate(oracle.simulate(counts, rng=seed)).consistent("base-cut", level=0.9).frequency[1:] > 0).any()
        for seed in range(400)
    ]
    assert np.mean(kept) < 0.1 + 5.5 * np.sqrt(0.09 / 400)
    assert oracle.estimate(oracle.simulate(counts, rng=0)).consistent("base-cut")[0] > 0.9


def test_em_finds_the_most_likely_frequencies():
    oracle = bruit.oracle("GRR", epsilon=1.0, k=4)
    answer = oracle.estimate(oracle.simulate([700, 200, 100, 0], rng=3))
    best = answer.consistent("em").frequency
    assert best.sum() == pytest.approx(1)

    def likelihood(frequency):
        return answer.model.em_step(np.asarray(frequency))[1]

    generator = np.random.default_rng(0)
    others = [0.9 * best + 0.1 * generator.dirichlet(np.ones(4)) for _ in range(200)]
    assert max(map(likelihood, others)) <= likelihood(best) + 1e-7


def test_em_equals_the_unbiased_estimate_where_that_is_inside_the_simplex():
    oracle = bruit.oracle("GRR", epsilon=3.0, k=3)
    answer = oracle.estimate(oracle.simulate([500, 300, 200], rng=3))
    assert answer.consistent("em").frequency == pytest.approx(answer.frequency, abs=1e-3)
