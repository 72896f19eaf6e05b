"""Vaidya's naive Bayes as the slides print it: its noise is what is printed, and it is not private."""

import math

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.errors import ParameterError
from bruit_studies.as_printed import ClassLaws, VaidyaAsPrinted

BOUNDS = ((0.0, 0.0), (1.0, 10.0))


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
