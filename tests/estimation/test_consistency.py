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


@pytest.mark.parametrize(("k", "epsilon", "n"), [(20, 2.0, 5000), (100, 5.0, 50), (50, 3.0, 20), (10, 0.01, 1000)])
def test_base_cut_drops_absent_values_at_its_level(k, epsilon, n):
    """Also where few reports make counts far from normal."""
    oracle = bruit.oracle("GRR", epsilon=epsilon, k=k)
    counts = np.zeros(k, int)
    counts[0] = n
    kept = [
        (oracle.estimate(oracle.simulate(counts, rng=seed)).consistent("base-cut", level=0.9).frequency[1:] > 0).any()
        for seed in range(400)
    ]
    assert np.mean(kept) < 0.1 + 5.5 * np.sqrt(0.09 / 400)


def test_base_cut_keeps_what_is_clearly_there():
    oracle = bruit.oracle("GRR", epsilon=2.0, k=20)
    answer = oracle.estimate(oracle.simulate([5000, *[0] * 19], rng=0))
    assert answer.consistent("base-cut")[0] > 0.9


def _channel_step(oracle, counts):
    """EM for randomised response as a textbook has it."""
    matrix = np.array(oracle.matrix(), float)

    def step(frequency):
        mixture = frequency @ matrix
        better = frequency * (matrix @ (counts / mixture)) / counts.sum()
        return better, float(counts @ np.log(mixture)) / counts.sum()

    return step


@pytest.mark.parametrize(
    ("epsilon", "people"),
    [(1.0, [700, 200, 100, 0]), (0.1, [8 * 10**5, 10**5, 10**5, 0]), (0.01, [8 * 10**6, 2 * 10**6])],
)
def test_the_most_likely_frequencies_are_where_em_arrives(epsilon, people):
    """Also for small ε, where EM without leaps stops at its start."""
    oracle = bruit.oracle("GRR", epsilon=epsilon, k=len(people))
    tally = oracle.simulate(people, rng=3)
    best = oracle.estimate(tally).consistent("em").frequency
    step = _channel_step(oracle, tally.counts)
    by_em = consistency.em(step, len(people), n=tally.n)
    assert best.sum() == pytest.approx(1)
    assert by_em.sum() == pytest.approx(1)
    assert tally.n * (step(best)[1] - step(by_em)[1]) == pytest.approx(0, abs=0.05)
    generator = np.random.default_rng(0)
    others = [0.9 * best + 0.1 * generator.dirichlet(np.ones(len(people))) for _ in range(200)]
    assert max(step(other)[1] for other in others) <= step(best)[1] + 1e-12


def test_em_equals_the_unbiased_estimate_where_that_is_inside_the_simplex():
    oracle = bruit.oracle("GRR", epsilon=3.0, k=3)
    answer = oracle.estimate(oracle.simulate([500, 300, 200], rng=3))
    assert answer.consistent("em").frequency == pytest.approx(answer.frequency, abs=1e-3)
