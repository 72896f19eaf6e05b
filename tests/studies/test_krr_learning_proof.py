"""The statements of krr_learning.proof.md, over all outcomes in fractions."""

import itertools
from fractions import Fraction

import pytest

K, ODDS = 3, 4
P, Q = Fraction(ODDS, K - 1 + ODDS), Fraction(1, K - 1 + ODDS)
#: A law of (x, y), as weights of 30.
LAW = {(0, 0): 9, (0, 1): 3, (0, 2): 0, (1, 0): 1, (1, 1): 5, (1, 2): 2, (2, 0): 2, (2, 1): 1, (2, 2): 7}
MODELS = [dict(enumerate(answers)) for answers in itertools.product(range(K), repeat=K)]


def _kept(value, report):
    return P if value == report else Q


def _chance(model, *, noisy_features=True, noisy_label=False):
    """How often a model is right, over every person and every outcome of the noise."""
    total = Fraction(0)
    for (x, y), weight in LAW.items():
        for shown, label in itertools.product(range(K), repeat=2):
            chance = Fraction(weight, 30)
            chance *= _kept(x, shown) if noisy_features else int(shown == x)
            chance *= _kept(y, label) if noisy_label else int(label == y)
            total += chance * (model[shown] == label)
    return total


def test_the_weights_are_a_law():
    assert sum(LAW.values()) == 30


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_against_randomised_labels_the_score_is_affine_in_the_true_one(model):
    assert _chance(model, noisy_label=True) == Q + (P - Q) * _chance(model)


def test_true_test_features_measure_another_number_for_most_models():
    same = [model for model in MODELS if _chance(model, noisy_features=False) == _chance(model)]
    constant = [model for model in MODELS if len(set(model.values())) == 1]
    assert all(model in same for model in constant)
    assert len(same) < len(MODELS) / 2


def test_the_example_of_the_note_the_identity_on_a_label_that_is_the_feature(monkeypatch):
    monkeypatch.setitem(globals(), "LAW", {(x, x): 10 for x in range(K)})
    identity = {x: x for x in range(K)}
    assert _chance(identity, noisy_features=False) == 1
    assert _chance(identity) == P
