"""Noise on vectors of sums: its law, its exact loss, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.errors import LimitError
from bruit.learning import KMeans, LinearRegression
from bruit.learning._sums import SumNoise
from bruit.privacy.zcdp import epsilon_to_rho, rho_to_epsilon

#: One record adds at most 1 to a count and 3/2 in all to two sums counted in steps of 1/8.
UNITS, SENSITIVITY = (1, 8, 8), Fraction(5, 2)
WORST = [[1, 12, 0], [1, 0, 12], [1, 6, 6], [0, 8, 12]]


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("record", WORST)
def test_no_record_within_the_sensitivity_loses_more_than_epsilon_and_the_worst_ones_lose_it_all(epsilon, record):
    noise = SumNoise(UNITS, SENSITIVITY, epsilon)
    loss = noise.loss_between([0, 0, 0], record)
    assert loss <= Fraction(epsilon)
    assert loss >= Fraction(epsilon) * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-12, 1e-12), (1e-9, 1e-12), (1e-30, 0.0)])
def test_noise_too_wide_to_be_exact_is_refused_with_advice(epsilon, delta):
    with pytest.raises(LimitError, match="use a larger ε"):
        SumNoise((1 << 24,), Fraction(1), epsilon, delta)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_huge_epsilon_has_no_noise_and_an_error_of_nothing(delta):
    for epsilon in (700.0, 1000.0, 2000.0, 1e6, 1e9):
        noise = SumNoise((1, 2), Fraction(1), epsilon, delta)
        assert (noise.errors < 0.05).all()
        assert noise.draw([3, 5], Entropy(1)).tolist() == [3, 5]


def test_sums_of_any_size_are_cut_and_not_refused():
    noise = SumNoise((1, 2, 2), Fraction(1), 1.0)
    noisy = noise.draw(np.array([10**30, -(2**62), 7], object), Entropy(1))
    assert noisy.dtype == np.int64
    assert (abs(noisy - [2**61, -(2**61), 7]) < 1000).all()


@pytest.mark.parametrize("source", [lambda X: X, lambda X: [{"x": X[:, 0]}, {"x": X[:, 0]}]])
def test_sums_of_many_blocks_do_not_wrap_around(source):
    model = KMeans(2, epsilon=1.0, bounds=(0, 1))
    rows = np.zeros((2**18 + 5, 1))
    read = model._reader(source(rows), model._declared())(lambda rows, _: np.array([2**62, -1]))
    blocks = -(-len(rows) // 2**13) if source(rows) is rows else -(-2 * len(rows) // 2**18)
    assert read.sums.tolist() == [blocks * 2**62, -blocks]
    line = LinearRegression(epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1))
    read = line._fold(rows, rows[:, 0], line._declared(), lambda rows, _: np.array([2**62]))
    assert read.sums.tolist() == [2**63]


def test_a_sensitivity_that_is_too_small_is_seen_as_a_loss_above_epsilon():
    assert SumNoise(UNITS, SENSITIVITY / 2, 1.0).loss_between([0, 0, 0], WORST[0]) > Fraction(3, 2)


def test_the_loss_is_the_logarithm_of_the_ratio_of_the_probabilities_in_high_precision():
    noise = SumNoise(UNITS, SENSITIVITY, 1.0)
    first, second, outcome = [5, 3, -7], [4, -9, -7], [40, 40, -40]
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for unit, one, other, seen in zip(UNITS, first, second, outcome, strict=True):
            scale = noise.by_unit[unit].scale
            decay = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
            total += mpmath.log(decay ** abs(seen - one) / decay ** abs(seen - other))
        loss = noise.loss_between(first, second)
        assert abs(total - mpmath.mpf(loss.numerator) / loss.denominator) < mpmath.mpf(10) ** -30


def _deviation(drawn: np.ndarray, scale: float) -> float:
    """The largest deviation, in standard deviations, of the counts of −6..6 from a discrete Laplace law."""
    decay = math.exp(-1 / scale)
    worst = 0.0
    for value in range(-6, 7):
        p = (1 - decay) / (1 + decay) * decay ** abs(value)
        worst = max(worst, abs(np.mean(drawn == value) - p) / math.sqrt(p * (1 - p) / drawn.size))
    return worst


def test_what_is_drawn_follows_the_declared_law_and_no_neighbouring_one():
    size = 400_000
    noise = SumNoise((1,) * size, Fraction(2), 1.0)
    drawn = noise.draw(np.full(size, 1000), Entropy(3)) - 1000
    assert _deviation(drawn, 2.0) < 6  # 13 deviations: chance below 10⁻⁷, and the seed is fixed
    assert _deviation(drawn, 1.9) > 6
    assert _deviation(drawn, 2.1) > 6


def test_the_noise_on_a_sum_is_as_wide_as_its_unit():
    units = (1,) * 50_000 + (64,) * 50_000
    noise = SumNoise(units, Fraction(1), 1.0)
    drawn = noise.draw(np.zeros(100_000, np.int64), Entropy(5))
    seen = drawn[50_000:].std() / 64, drawn[:50_000].std()
    assert seen == (pytest.approx(noise.errors[-1], rel=0.03), pytest.approx(noise.errors[0], rel=0.03))


def test_noises_of_different_units_do_not_go_together():
    size = 50_000
    drawn = SumNoise((7,) * size + (1000,) * size, Fraction(1), 0.2).draw(np.zeros(2 * size, np.int64), Entropy(5))
    assert abs(np.corrcoef(drawn[:size], drawn[size:])[0, 1]) < 6 / math.sqrt(size)
    assert abs(np.mean(np.sign(drawn[:size]) == np.sign(drawn[size:])) - 0.5) < 0.02


def test_two_draws_from_one_stream_differ():
    noise, stream = SumNoise((1,) * 50, Fraction(1), 0.1), Entropy(3)
    zeros = np.zeros(50, np.int64)
    assert not np.array_equal(noise.draw(zeros, stream), noise.draw(zeros, stream))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-9)])
def test_gaussian_noise_keeps_its_rho_and_rho_keeps_epsilon_at_delta(epsilon, delta):
    rho = epsilon_to_rho(epsilon, delta)
    assert rho_to_epsilon(rho, delta) <= epsilon < rho_to_epsilon(rho * 1.001, delta)
    noise = SumNoise((1, 8), Fraction(2), epsilon, delta)
    loss = noise.loss_between([0, 0], [1, 8])  # squares: 1 + 1 = 2, the sensitivity
    assert Fraction(rho) * Fraction(9, 10) < loss <= Fraction(rho)
    assert noise.loss_between([0, 0], [2, 8]) > Fraction(rho)


def test_noise_that_cannot_be_drawn_exactly_is_refused_before_anything_is_booked():
    with pytest.raises(LimitError, match="larger ε"):
        SumNoise((1 << 40,), Fraction(10**9), 1e-9)


@pytest.mark.parametrize("epsilon", [0.15, 0.3, 0.6, 1.2, 0.1 + 0.2, 1 / 3])
@pytest.mark.parametrize("sensitivity", [Fraction(13), Fraction(27, 2), Fraction(301, 7)])
def test_every_ordinary_epsilon_has_a_scale_that_spends_nearly_all_of_it(epsilon, sensitivity):
    noise = SumNoise((1, 4096, 2 * 4096**2, 3 * 4096**2), sensitivity, epsilon)
    for place, unit in enumerate(noise.units):
        change = [0, 0, 0, 0]
        change[place] = unit * sensitivity
        loss = sum(Fraction(one) / noise.by_unit[u].scale for one, u in zip(change, noise.units, strict=True))
        assert Fraction(epsilon) * (1 - Fraction(1, 10**8)) <= loss <= Fraction(epsilon)
