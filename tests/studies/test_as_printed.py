"""Algorithms as printed: logistic regression with its coefficients and its Δ, and a naive Bayes that is not private."""

import itertools
import math

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.errors import ParameterError
from bruit_studies.as_printed import ClassLaws, FunctionalLogisticAsPrinted, VaidyaAsPrinted, worst_change

D = 3
#: Of the naive Bayes.
BOUNDS = ((0.0, 0.0), (1.0, 10.0))


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


def test_the_scales_are_those_of_the_slides():
    means, variances = VaidyaAsPrinted(epsilon=3.0, bounds=BOUNDS).scales(9)
    # ε/(d + 1) = 1, U − L = 1 and 10: (U − L)/(n + 1) and n(U − L)/(n + 1).
    assert means.tolist() == pytest.approx([0.1, 1.0])
    assert variances.tolist() == pytest.approx([0.9, 9.0])


def test_the_noise_that_is_drawn_has_these_scales():
    model, rng, count = VaidyaAsPrinted(epsilon=3.0, bounds=BOUNDS), Entropy(5), 4000
    X, y = np.tile([[0.5, 5.0]], (9, 1)), np.zeros(9, int)
    means = np.array([model.fit(X, y, 1, rng).mean[0] for _ in range(count)])
    size = np.abs(means - [0.5, 5.0]).mean(axis=0)  # the mean of |Laplace(b)| is b, with a relative error of 1/√n
    assert np.abs(size / [0.1, 1.0] - 1).max() < 6 / count**0.5
    assert np.abs(size / [0.2, 2.0] - 1).min() > 6 / count**0.5


@pytest.mark.parametrize(("distance", "n"), [(1, 5), (3, 100), (50, 1000)])
def test_the_loss_is_the_log_ratio_of_the_two_densities(distance, n):
    model = VaidyaAsPrinted(epsilon=0.7, bounds=((0.0,), (4.0,)))
    before, after = (float(model.scales(size)[0][0]) for size in (n, n + 1))
    far = distance * 4.0
    logs = [-math.log(2 * scale) - far / scale for scale in (before, after)]
    assert model.loss_at(distance, n) == pytest.approx(logs[0] - logs[1], abs=1e-9)


def test_no_epsilon_covers_it():
    for epsilon in (0.1, 1.0, 10.0):
        model = VaidyaAsPrinted(epsilon=epsilon, bounds=((0.0,), (1.0,)))
        assert model.loss_at(1000, 50) > 100 * epsilon


def test_without_noise_to_speak_of_it_is_gaussian_naive_bayes():
    from sklearn.naive_bayes import GaussianNB

    draw = np.random.default_rng(3)
    X = np.concatenate([draw.normal(0.3, 0.1, (300, 2)), draw.normal(0.6, 0.1, (300, 2))]).clip(0, 1)
    y = np.repeat([0, 1], 300)
    laws = VaidyaAsPrinted(epsilon=1e9, bounds=((0.0, 0.0), (1.0, 1.0))).fit(X, y, 2, Entropy(1))
    assert np.mean(laws.predict(X) == GaussianNB().fit(X, y).predict(X)) > 0.99


def test_a_prediction_is_the_class_of_the_largest_product():
    laws = ClassLaws(np.array([0.5, 0.5]), np.array([[0.0], [4.0]]), np.array([[1.0], [1.0]]))
    assert laws.predict([[1.0], [3.0]]).tolist() == [0, 1]


def test_epsilon_is_checked():
    with pytest.raises(ParameterError, match="epsilon"):
        VaidyaAsPrinted(epsilon=-1.0, bounds=BOUNDS)
