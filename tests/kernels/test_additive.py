"""Places, weights, scores and residuals of additive models, against slow versions in plain Python."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from bruit.kernels import additive as kernels
from bruit.learning.additive.classes import SeveralClasses, TwoClasses

LOW, HIGH = np.array([0.0, -5.0]), np.array([1.0, 15.0])
NUMBERS = np.random.default_rng(3).uniform(-0.2, 1.2, (300, 2)) * (HIGH - LOW) + LOW
NUMBERS[5, 0] = np.nan
NUMBERS[6] = HIGH
NUMBERS[7] = LOW


def test_fine_places_are_the_cells_of_equal_width() -> None:
    out = np.empty((300, 2), np.int32)
    kernels.fine_places(NUMBERS, LOW, HIGH, out)
    for row, places in zip(NUMBERS, out, strict=True):
        for number, low, high, place in zip(row, LOW, HIGH, places, strict=True):
            share = 0.0 if math.isnan(number) else min(max((number - low) / (high - low), 0.0), 1.0)
            cell = 256 if math.isnan(number) else min(int(share * 256), 255)
            assert place == cell * 1024


def test_places_among_knots_interpolate_the_cumulative_density() -> None:
    rng = np.random.default_rng(2)
    cumulative = np.sort(np.hstack([np.zeros((2, 1)), rng.random((2, 255)), np.ones((2, 1))]), axis=1)
    knots = np.array([5, 32])
    out = np.empty((300, 2), np.int32)
    kernels.hat_places(NUMBERS, LOW, HIGH, knots, cumulative, out)
    for row, places in zip(NUMBERS, out, strict=True):
        for column, place in enumerate(places):
            if math.isnan(row[column]):
                assert place == knots[column] * 1024
                continue
            share = np.clip((row[column] - LOW[column]) / (HIGH[column] - LOW[column]), 0, 1)
            even = np.interp(share, np.arange(257) / 256, cumulative[column])
            assert place == pytest.approx(even * (knots[column] - 1) * 1024, abs=0.51)
    assert out[6].tolist() == [4 * 1024, 31 * 1024]
    assert out[7].tolist() == [0, 0]


def test_every_record_has_the_weight_of_one_in_every_column() -> None:
    rng = np.random.default_rng(5)
    places = rng.integers(0, 6 * 1024 + 1, (200, 3)).astype(np.int32)
    values = rng.integers(-5, 6, (200, 2))
    starts = np.array([0, 7, 14])
    out = np.zeros((21, 2), np.int64)
    kernels.add_weights(places, values, starts, out)
    slow = np.zeros((21, 2), object)
    for row in range(200):
        for column in range(3):
            cell, right = divmod(int(places[row, column]), 1024)
            for output in range(2):
                slow[starts[column] + cell, output] += int(values[row, output]) * (1024 - right)
                if right:
                    slow[starts[column] + cell + 1, output] += int(values[row, output]) * right
    assert out.tolist() == slow.tolist()
    assert all((out[start : start + 7].sum(axis=0) == 1024 * values.sum(axis=0)).all() for start in starts)


def test_scores_are_sums_of_interpolated_shapes() -> None:
    rng = np.random.default_rng(6)
    places = rng.integers(0, 6 * 1024 + 1, (50, 2)).astype(np.int32)
    shapes, starts = rng.integers(-8000, 8000, (14, 2)), np.array([0, 7])
    out = np.empty((50, 2), np.int64)
    kernels.scores(places, shapes, starts, np.array([77, -3]), out)
    for row in range(50):
        for output in range(2):
            total = Fraction(int([77, -3][output]))
            for column in range(2):
                cell, right = divmod(int(places[row, column]), 1024)
                own = shapes[starts[column] : starts[column] + 7, output]
                total += int(own[cell]) * (1024 - right) + (int(own[cell + 1]) * right if right else 0)
            assert out[row, output] == total


def test_residuals_of_two_classes_are_at_most_three_quarters() -> None:
    score = np.array([[place] for place in (-(10**9), -5_000_000, -1024, 0, 511, 512, 1024, 10**9)])
    lookup = TwoClasses(2).lookup()
    for label in (0, 1):
        out = np.empty((len(score), 1), np.int64)
        kernels.binary_residuals(score, np.full(len(score), label), lookup, out)
        for (total,), (residual,) in zip(score.tolist(), out.tolist(), strict=True):
            rounded = max(-30 * 1024, min(30 * 1024, math.floor(total / 1024 + 0.5)))
            chance = round(2**14 / (1 + math.exp(-rounded / 1024)))
            assert residual == (2 * label - 1) * 2**12 - (chance - 2**13)
            assert abs(residual) <= 3 * 2**12
    assert out.max() == 3 * 2**12


def test_residuals_of_several_classes_sum_to_minus_one_half_and_are_at_most_one_and_a_half() -> None:
    rng = np.random.default_rng(1)
    score = (rng.normal(0, 4, (400, 4)) * 2**20).astype(np.int64)
    score[0] = [2**40, 0, -(2**40), 0]
    codes = rng.integers(0, 4, 400)
    codes[0] = 2
    out = np.empty((400, 4), np.int64)
    kernels.class_residuals(score, codes, SeveralClasses(4).lookup(), out)
    assert (out.sum(axis=1) == -(2**13)).all()
    assert np.abs(out).sum(axis=1).max() == 3 * 2**13
    assert (out**2).sum(axis=1).max() == 5 * 2**26
    exact = np.exp(score / 2**20 - (score / 2**20).max(axis=1, keepdims=True))
    exact = exact / exact.sum(axis=1, keepdims=True)
    assert np.abs(out / 2**14 - (0.5 * np.eye(4)[codes] - exact)).max() < 2e-3


def test_residuals_of_targets_are_cut() -> None:
    score = np.array([[0], [2**24], [2**30], [-(2**30)], [512], [511]])
    out = np.empty((6, 1), np.int64)
    kernels.target_residuals(score, np.array([2**13, 0, -(2**13), 2**13, 0, 0]), out)
    assert out[:, 0].tolist() == [2**13, -(2**14), -3 * 2**13, 3 * 2**13, -1, 0]
