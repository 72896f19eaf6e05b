"""The square wave: its width, its exact law, and how near its distributions come to the truth."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from bruit.numbers.square_wave import SquareWave, half_width


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.0499, 0.05, 0.5, 1.0, 5.0, 20.0])
def test_the_half_width_is_the_formula_of_the_paper_in_high_precision(epsilon):
    with mpmath.workdps(50):
        e = mpmath.mpf(epsilon)
        grown = mpmath.exp(e)
        exact = (e * grown - grown + 1) / (2 * grown * (grown - 1 - e))
        assert half_width(epsilon) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("cells", [2, 3, 20])
def test_every_message_is_possible_under_every_input_and_epsilon_is_exact(epsilon, cells):
    number = SquareWave(epsilon=epsilon, bounds=(0.0, 1.0), cells=cells)
    rows = number.matrix()
    assert all(sum(row) == 1 and min(row) > 0 for row in rows)
    ratio = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert ratio == number.law.ratio
    assert epsilon * (1 - 1e-9) < number.guarantee.epsilon <= epsilon


def test_the_likely_messages_are_those_within_the_reach_of_the_cell():
    number = SquareWave(epsilon=1.0, bounds=(0, 10))
    assert number.reach == round(half_width(1.0) * 10)
    for point, row in zip(number.points, number.matrix(), strict=True):
        near = [abs(output - point) < number.reach + 0.5 for output in number.outputs]
        assert near == [p == max(row) for p in row]


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_its_mean_is_unbiased(epsilon):
    number = SquareWave(epsilon=epsilon, bounds=(-1.0, 1.0))
    assert number.probabilities() @ number.message_scores == pytest.approx(number.points, abs=1e-9)
    values = np.linspace(-1, 0.5, 100_000)
    answer = number.estimate(number.tally(number.privatize(values, rng=2)))
    assert abs(answer.mean - values.mean()) < 5.5 * answer.standard_error


def _beta_cells(number):
    """The probability of each cell under Beta(5, 2)."""
    edges = np.concatenate([[0.0], (number.points[1:] + number.points[:-1]) / 2, [1.0]])
    return np.diff(special.betainc(5, 2, edges))


def _distances(epsilon, runs):
    number = SquareWave(epsilon=epsilon, bounds=(0.0, 1.0))
    generator = np.random.default_rng(41)
    for run in range(runs):
        tally = number.tally(number.privatize(generator.beta(5, 2, 100_000), rng=run))
        yield number.estimate(tally).distribution().wasserstein(_beta_cells(number))


@pytest.mark.parametrize(("epsilon", "most"), [(0.5, 0.012), (1.0, 0.007), (2.0, 0.0035)])
def test_the_fitted_distribution_is_near_the_truth(epsilon, most):
    """The mean over three collections; the seed is fixed, and the full experiment is the one below."""
    assert np.mean(list(_distances(epsilon, runs=3))) < most


@pytest.mark.audit
@pytest.mark.parametrize(("epsilon", "most"), [(0.5, 0.012), (1.0, 0.007), (2.0, 0.0035)])
def test_the_fitted_distribution_is_as_near_as_promised_over_twelve_collections(epsilon, most):
    assert np.mean(list(_distances(epsilon, runs=12))) <= most


def test_em_keeps_a_narrow_peak_that_ems_flattens():
    """All people in one cell, ε = 1: the smoothing spreads them over cells where nobody is."""
    number = SquareWave(epsilon=1.0, bounds=(0.0, 1.0), cells=64)
    answer = number.estimate(number.tally(number.privatize(np.full(50_000, 20 / 63), rng=9)))
    sharp, flat = (answer.distribution(method).probability[19:22].sum() for method in ("EM", "EMS"))
    assert sharp > 0.9
    assert sharp > 2 * flat


@pytest.mark.audit
def test_bootstrap_intervals_of_the_median_cover_about_as_often_as_they_say():
    """50 collections; a loose limit, because smoothing leaves a bias that the bootstrap sees only in part."""
    number = SquareWave(epsilon=1.0, bounds=(0.0, 1.0))
    generator = np.random.default_rng(7)
    truth = special.betaincinv(5, 2, 0.5)
    hits = 0
    for run in range(50):
        tally = number.tally(number.privatize(generator.beta(5, 2, 20_000), rng=run))
        lower, upper = number.estimate(tally).distribution().bootstrap(60, rng=run).quantile(0.5, level=0.9)[0]
        hits += lower <= truth <= upper
    # P(Bin(50, 0.85) < 28) is below 10⁻⁶.
    assert hits >= 28


def test_fine_grids_need_no_matrix():
    """4,096 cells and twice as many messages: a matrix would take 250 MB, the fit takes a moment."""
    number = SquareWave(epsilon=0.5, bounds=(0.0, 1.0), cells=4096)
    tally = number.tally(number.privatize(np.linspace(0, 1, 20_000), rng=1))
    answer = number.estimate(tally).distribution(tolerance=1e-6)
    assert answer.probability.size == 4096
    assert answer.quantile(0.5) == pytest.approx(0.5, abs=0.05)
    assert math.isclose(answer.probability.sum(), 1)
