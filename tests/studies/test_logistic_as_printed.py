"""Logistic regression by the functional mechanism as printed: its coefficients, its Δ, and what it learns."""

import itertools
import math

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit_studies.as_printed import FunctionalLogisticAsPrinted, worst_change

D = 3


def _model(epsilon=1.0, d=D):
    return FunctionalLogisticAsPrinted(epsilon=epsilon, bounds=((0.0,) * d, (2.0,) * d))


def _people(n=400, seed=3):
    draw = np.random.default_rng(seed)
    X = draw.random((n, D)) * 2
    return X, (X[:, 0] - X[:, 1] + 0.2 * draw.standard_normal(n) > 0).astype(int)


def test_the_coefficients_are_those_of_the_cost_up_to_second_order():
    model, (X, y) = _model(), _people(50)
    linear, square = model.coefficients(X, y)
    weights = np.array([0.01, -0.02, 0.015])
    scores = model.rows(X) @ weights
    cost = float(np.sum(np.log1p(np.exp(scores)) - y * scores))
    cut = 50 * math.log(2) + linear @ weights + weights @ square @ weights
    assert cost == pytest.approx(cut, abs=1e-6)  # the third order is 0, the fourth below 10⁻⁷
    assert cost != pytest.approx(50 * math.log(2) + linear @ weights, abs=1e-6)  # the control: the second order counts


@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_record_that_is_replaced_changes_the_coefficients_by_more_than_the_printed_sensitivity(d):
    model, places = _model(d=d), (0.0, 1.0, 2.0)
    records = [(np.array([row]), np.array([y])) for row in itertools.product(places, repeat=d) for y in (0, 1)]
    changes = []
    for one, other in itertools.product(records, repeat=2):
        (linear, square), (linear2, square2) = model.coefficients(*one), model.coefficients(*other)
        gap = np.abs(square - square2)
        # One coefficient for each pair j ≤ k: what stands at (j, k) and (k, j) is one number.
        changes.append(np.abs(linear - linear2).sum() + np.triu(gap).sum() + np.triu(gap, 1).sum())
    assert max(changes) <= 2 * worst_change(np.full(d, 1 / math.sqrt(d))) + 1e-12
    assert max(changes) <= model.sensitivity
    assert max(changes) > model.sensitivity / 12  # and the printed one is loose, not absurd


def test_with_much_budget_it_learns_and_with_little_it_does_not():
    X, y = _people(4000)
    rich, poor = _model(1e6), _model(1e-3)
    assert np.mean(rich.predict(rich.fit(X, y, Entropy(1)), X) == y) > 0.85
    scores = [np.mean(poor.predict(poor.fit(X, y, Entropy(seed)), X) == y) for seed in range(60)]
    assert abs(np.mean(scores) - 0.5) < 0.15


def test_a_function_that_rises_in_no_direction_gives_no_line(monkeypatch):
    model, (X, y) = _model(0.01), _people(20)
    monkeypatch.setattr(np.linalg, "eigh", lambda square: (np.full(D, -1.0), np.eye(D)))
    assert model.fit(X, y, Entropy(1)).tolist() == [0.0] * D
