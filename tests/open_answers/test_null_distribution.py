"""The null distribution is that of all choices of cells, counted one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bruit.open_answers.null_distribution import LEAST_CHANCE, NullDistribution


def rows_of(cohorts: int, cells: int) -> np.ndarray:
    rows = np.random.default_rng(1).standard_gamma(0.3, size=(cohorts, cells))
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def every_sum(rows: np.ndarray, hashes: int) -> np.ndarray:
    """The sums of all choices of different cells, one choice in each cohort."""
    choices = [[sum(row[list(cells)]) for cells in itertools.combinations(range(len(row)), hashes)] for row in rows]
    return np.array([sum(parts) for parts in itertools.product(*choices)])


@pytest.mark.parametrize(("cohorts", "cells", "hashes"), [(3, 6, 1), (1, 16, 1), (3, 6, 2), (2, 7, 3), (1, 16, 8)])
def test_chances_are_those_of_all_choices_of_cells(cohorts: int, cells: int, hashes: int) -> None:
    rows = rows_of(cohorts, cells)
    sums, null = every_sum(rows, hashes), NullDistribution(rows, hashes)
    assert null.deviation == pytest.approx(sums.std())
    unit = 60 * sums.std() / (1 << 14)  # the grid rounds each cohort
    at = np.quantile(sums, [0.01, 0.3, 0.5, 0.9, 0.99])
    chances = null.chance(at)
    assert all(chances <= [(sums >= own - 4 * unit).mean() + 1e-9 for own in at])
    assert all(chances >= [(sums >= own + 4 * unit).mean() - 1e-9 for own in at])
    low, high = null.quantiles(0.1)
    assert (sums > high + 4 * unit).mean() <= 0.05 >= (sums < low - 4 * unit).mean()
    assert (sums >= high - 4 * unit).mean() >= 0.05 <= (sums <= low + 4 * unit).mean()


def test_cells_drawn_with_replacement_are_another_distribution() -> None:
    """The control: two equal cells are no choice."""
    rows = rows_of(1, 6)
    twice = np.array([rows[0][i] + rows[0][j] for i in range(6) for j in range(6)])
    assert twice.std() > 1.05 * NullDistribution(rows, 2).deviation


def test_a_normal_tail_would_be_too_short() -> None:
    """The control for one large cell in each of many cohorts: what a frequent text that is not listed leaves over."""
    rows = np.zeros((64, 128))
    rows[:, 0] = 1.0
    null = NullDistribution(rows - rows.mean(axis=1, keepdims=True))
    three = 3 - 64 / 128
    assert null.chance(np.array([three]))[0] == pytest.approx(0.0138, abs=1e-3)
    assert three / null.deviation > 3.5  # of which a normal distribution has 0.0002


def test_nothing_left_over_is_no_sum_and_far_sums_have_the_least_chance() -> None:
    null = NullDistribution(np.zeros((4, 8)))
    assert max(map(abs, null.quantiles(0.05))) <= 3
    assert null.chance(np.array([0.0]))[0] == 1.0
    rows = rows_of(3, 6)
    assert NullDistribution(rows).chance(np.array([1e9, -1e9])).tolist() == [LEAST_CHANCE, 1.0]
