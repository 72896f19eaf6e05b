"""The guess of a value from one report is the best there is, and as good as the mechanism says."""

import math

import numpy as np
import pytest

from bruit.attacks import best_guess, guess
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.numbers import number
from bruit.oracles import NAMES, HadamardResponse, LocalHashing, SubsetSelection, oracle

ORACLES = [oracle(name, epsilon=1.5, k=2 if name == "Warner" else 7) for name in NAMES]
ORACLES.append(LocalHashing(epsilon=1.5, k=7, pool=2**12))


def _name(found):
    return f"{found.name}-{found.size}-{getattr(found, 'pool', None)}"


def _sd(rate, n):
    return math.sqrt(rate * (1 - rate) / n)


@pytest.mark.parametrize("found", ORACLES, ids=_name)
def test_the_guess_is_right_as_often_as_the_oracle_says(found):
    n = 20_000 * found.size
    result = guess(found, np.tile(np.arange(found.size), 20_000), rng=3)
    assert result.n == n
    assert result.expected == found.guessability
    assert result.baseline == 1 / found.size
    # With a pool the rate is that of its own functions, which vary a little.
    pool = 0.002 if getattr(found, "pool", None) else 0.0
    assert abs(result.accuracy - found.guessability) < 5.5 * _sd(found.guessability, n) + pool
    assert result.leaks


@pytest.mark.parametrize("found", ORACLES, ids=_name)
def test_the_likelihood_is_that_of_the_exact_law(found):
    small = getattr(found, "twin", found)
    reports = small.privatize(np.arange(200) % small.size, rng=1)
    exact = np.array(small.matrix(), float)[:, small.message(reports)].T
    mine = small.likelihood(reports)
    np.testing.assert_allclose(
        mine / mine.sum(axis=1, keepdims=True), exact / exact.sum(axis=1, keepdims=True), rtol=1e-12
    )


@pytest.mark.parametrize("found", [ORACLES[1], ORACLES[3], ORACLES[6], ORACLES[7]], ids=_name)
def test_with_a_prior_the_guess_has_the_exact_rate_of_bayes(found):
    prior = np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])
    best = (np.array(found.matrix(), float) * prior[:, None]).max(axis=0).sum()
    n = 40_000
    values = np.repeat(np.arange(7), (prior * n).round().astype(int))
    for given in (prior, "estimated"):
        result = guess(found, values, prior=given, rng=3)
        assert abs(result.accuracy - best) < 5.5 * _sd(best, n)
        assert result.baseline == pytest.approx(0.4)
    assert guess(found, values, rng=3).accuracy < best


def test_a_number_is_guessed_by_its_cell():
    found = number("square-wave", epsilon=4.0, bounds=(0, 15), cells=16)
    law = found.probabilities()
    best = law.max(axis=0).sum() / 16
    result = guess(found, np.tile(np.arange(16), 2000), rng=3)
    assert abs(result.accuracy - best) < 5.5 * _sd(best, 32_000)
    assert result.expected is None
    with pytest.raises(ParameterError, match="give them as the prior"):
        guess(found, [1, 2], prior="estimated")


def test_of_equally_likely_values_any_is_guessed():
    found = SubsetSelection(epsilon=1.0, k=8, omega=4)
    row = np.array([[0b01010101]], np.uint8)
    counts = np.bincount(best_guess(found, np.repeat(row, 8000, axis=0), rng=1), minlength=8)
    assert counts[1::2].sum() == 0
    assert np.abs(counts[::2] - 2000).max() < 5.5 * math.sqrt(1500)


def test_the_same_seed_gives_the_same_guesses():
    found = ORACLES[2]
    values = np.arange(700) % 7
    assert guess(found, values, rng=5).hits == guess(found, values, rng=5).hits
    assert len({guess(found, values, rng=seed).hits for seed in range(6)}) > 1


def test_a_report_that_nobody_can_have_sent_is_refused_without_being_shown():
    with pytest.raises(DataError) as caught:
        best_guess(oracle("GRR", epsilon=1.0, k=5), [0, 4711])
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("prior", [[1.0], [-1, 1, 1, 1, 1, 1, 1], [0] * 7, [np.nan] * 7, "guessed", {"a": 1}])
def test_a_prior_must_be_one(prior):
    with pytest.raises(ParameterError, match="prior must be"):
        guess(ORACLES[1], [0, 1, 2], prior=prior)


def test_only_a_mechanism_can_be_attacked_and_only_somebody():
    with pytest.raises(ParameterTypeError):
        guess("GRR", [0, 1])
    with pytest.raises(ParameterTypeError):
        best_guess(lambda x: x, [0, 1])
    with pytest.raises(DataError, match="nobody"):
        guess(ORACLES[1], [])


def test_sets_that_would_fill_the_memory_are_not_written_down():
    large = HadamardResponse(epsilon=1.0, k=50_000)
    with pytest.raises(LimitError, match="guessability"):
        best_guess(large, large.privatize([1, 2, 3], rng=1))


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("name", ["laplace", "piecewise", "square-wave"])
def test_a_number_on_a_cell_is_guessed_at_the_exact_rate_however_others_are_rounded(name, rounding):
    mechanism = number(name, epsilon=3.0, bounds=(0, 7), rounding=rounding)
    values = np.tile(np.arange(8), 2_000)
    rate = float(mechanism.probabilities().max(axis=0).sum()) / 8
    assert 0.2 < rate < 0.9
    assert abs(guess(mechanism, values, rng=3).accuracy - rate) < 6 * _sd(rate, values.size)


def test_between_two_cells_the_nearest_is_the_value_to_guess():
    """A quarter of the way from one cell to the next, a quarter of people are rounded to the wrong one."""
    mechanism = number("laplace", epsilon=20.0, bounds=(0, 1), cells=2, rounding="stochastic")
    n = 20_000
    result = guess(mechanism, np.full(n, 0.25), rng=3)
    assert abs(result.accuracy - 0.75) < 6 * _sd(0.75, n) + 1e-6
