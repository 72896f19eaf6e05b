"""Scores: unbiased where that is possible, refused where it is not, and never understating a variance."""

import numpy as np
import pytest

from bruit.errors import LimitError
from bruit.estimation.scores import affine_scores, noise_scores, score_variance, unbiased_scores


def channel(cells, messages, seed=0):
    table = np.random.default_rng(seed).random((cells, messages)) + 0.1
    return table / table.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(2, 2), (5, 5), (4, 9)])
def test_scores_have_the_values_as_their_mean(shape):
    table, values = channel(*shape), np.linspace(-3, 8, shape[0])
    assert np.allclose(table @ unbiased_scores(table, values), values, atol=1e-9)


def test_of_all_unbiased_scores_those_with_the_least_average_second_moment_are_taken():
    table, values = channel(3, 7), np.array([-1.0, 0.0, 1.0])
    scores = unbiased_scores(table, values)
    least = float(table.mean(axis=0) @ scores**2)
    rng = np.random.default_rng(1)
    for _ in range(20):
        # Any other unbiased scores differ by what the table sends to nothing.
        step = rng.normal(size=7)
        step -= np.linalg.pinv(table) @ (table @ step)
        assert float(table.mean(axis=0) @ (scores + step) ** 2) > least


def test_fewer_messages_than_values_have_no_unbiased_scores():
    with pytest.raises(LimitError, match="affine"):
        unbiased_scores(channel(5, 2), np.array([0.0, 1.0, 4.0, 9.0, 16.0]))


def test_rows_that_are_mixtures_of_others_are_no_obstacle_if_the_values_are_too():
    table = channel(2, 6)
    mixed = np.vstack([table, table.mean(axis=0)])
    scores = unbiased_scores(mixed, np.array([0.0, 1.0, 0.5]))
    assert np.allclose(mixed @ scores, [0, 1, 0.5], atol=1e-9)
    assert np.abs(scores).max() < 100


def test_the_variance_given_the_cell_is_that_of_the_definition():
    table, scores = channel(4, 6), np.arange(6) ** 2.0 + 1e6
    direct = [np.average((scores - np.average(scores, weights=row)) ** 2, weights=row) for row in table]
    assert np.allclose(score_variance(table, scores), direct, rtol=1e-9)


def test_noise_scores_are_unbiased_where_they_can_be_and_above_elsewhere():
    square, few = channel(5, 5), channel(5, 2)
    for table in (square, few):
        scores = np.linspace(-1, 1, table.shape[1])
        found, exact = noise_scores(table, scores)
        gap = table @ found - score_variance(table, scores)
        assert exact == (table is square)
        assert gap.min() > -1e-9
        assert not exact or np.abs(gap).max() < 1e-9


def test_affine_scores_have_the_least_largest_bias_and_say_it():
    table, points = channel(9, 9), np.linspace(0, 1, 9)
    table = 0.6 * np.eye(9) + 0.4 * table
    scores, bias = affine_scores(table, points, points)
    assert np.abs(table @ scores - points).max() == pytest.approx(bias, rel=1e-6)
    slope = (scores[-1] - scores[0]) / (points[-1] - points[0])
    for other in (0.98 * slope, 1.02 * slope):
        gap = points - other * (table @ points)
        assert np.ptp(gap) / 2 >= bias
