"""Cross-validation with one booking of scores: what it books, what it refuses, and that folds belong to records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from bruit import Ledger
from bruit.errors import BudgetError, DataError, ParameterError, ParameterTypeError
from bruit.learning import DeclaredScaler, LinearRegression, NaiveBayes, private_cross_score
from bruit.learning.scores.cross import _folds

_GENERATOR = np.random.default_rng(5)
Y = _GENERATOR.integers(0, 2, 2000)
X = np.clip(_GENERATOR.normal(Y[:, None] * 2, 1, (2000, 2)), -3, 5)


def bayes(**settings) -> NaiveBayes:
    return NaiveBayes(**{"epsilon": 1.0, "bounds": (-3, 5), "classes": [0, 1], "random_state": 1} | settings)


def test_every_fit_and_the_scores_once_are_booked():
    ledger = Ledger(epsilon=9.0)
    scores = private_cross_score(bayes(), X, Y, folds=4, epsilon=0.5, ledger=ledger, rng=1)
    assert [entry.guarantee.epsilon for entry in ledger.entries] == [1.0] * 4 + [0.5]
    assert scores.guarantee.epsilon == 0.5
    assert scores.total.epsilon == 3.5
    assert "a record loses at most ε = 3.5" in " ".join(repr(scores).split())
    assert 0.85 < scores["accuracy"] < 0.97


def test_a_model_s_own_ledger_books_its_fits():
    own, ledger = Ledger(epsilon=9.0), Ledger(epsilon=1.0)
    private_cross_score(bayes(ledger=own), X, Y, folds=3, epsilon=0.5, ledger=ledger, rng=1)
    assert (len(own), len(ledger)) == (3, 1)


def test_a_ledger_that_cannot_pay_for_all_refuses_before_the_first_fit():
    ledger = Ledger(epsilon=4.2)
    with pytest.raises(BudgetError):
        private_cross_score(bayes(), X, Y, folds=4, epsilon=0.5, ledger=ledger, rng=1)
    assert len(ledger) == 0


def test_a_model_without_privacy_is_refused_and_so_is_a_scaler_before_a_private_one():
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), bayes())):
        with pytest.raises(ParameterError, match="without privacy"):
            private_cross_score(model, X, Y, epsilon=0.5)


def filled_by_the_mean(rows):
    return np.where(np.isnan(rows), np.nanmean(rows), rows)


def test_a_function_before_the_model_is_refused_before_the_first_fit():
    ledger = Ledger(epsilon=9.0)
    pipeline = make_pipeline(FunctionTransformer(filled_by_the_mean), bayes())
    with pytest.raises(ParameterError, match="all records at once"):
        private_cross_score(pipeline, X, Y, epsilon=0.5, ledger=ledger)
    assert len(ledger) == 0
    plain = make_pipeline(FunctionTransformer(np.negative), bayes(bounds=(-5, 3)))
    assert private_cross_score(plain, X, Y, epsilon=2.0, folds=2, rng=1)["accuracy"] > 0.85


def test_pipelines_with_declared_steps_frames_and_regressions_are_taken():
    pipeline = make_pipeline(DeclaredScaler((-3, 5)), bayes(bounds=(0, 1)))
    ledger = Ledger(epsilon=9.0)
    assert private_cross_score(pipeline, X, Y, epsilon=2.0, folds=3, ledger=ledger, rng=1)["accuracy"] > 0.85
    assert len(ledger) == 4
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    named = bayes(bounds={"a": (-3, 5), "b": (-3, 5)})
    for rows in (frame, dict(frame)):
        assert private_cross_score(named, rows, Y, epsilon=2.0, folds=2, rng=1)["accuracy"] > 0.85
    line = LinearRegression(2.0, bounds=(-3, 5), target_bounds=(-3, 5), random_state=1)
    scores = private_cross_score(line, X[:, :1], X[:, 1], epsilon=2.0, folds=2, target_bounds=(-3, 5), rng=1)
    assert 0.2 < scores["R²"] < 0.8


def test_the_fold_of_a_record_is_even_and_drawn_for_itself():
    drawn = _folds(40_000, 4, None)
    counts = np.bincount(drawn, minlength=4)
    # Six standard deviations of a binomial count.
    assert np.abs(counts - 10_000).max() < 6 * np.sqrt(40_000 * 3 / 16)
    assert len(set(counts.tolist())) > 1, "folds of exactly one size would depend on all records"
    assert np.array_equal(_folds(50, 4, 3), _folds(50, 4, 3))
    assert not np.array_equal(_folds(50, 4, None), _folds(50, 4, None))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"folds": 1}, ParameterError),
        ({"person": "user", "rows": 2}, ParameterError),
        ({"y": "kind"}, ParameterError),
        ({"y": np.zeros((2000, 2))}, DataError),
        ({"y": Y[:-1]}, DataError),
        ({"epsilon": None}, ParameterError),
        ({"epsilonn": 1.0}, TypeError),
        ({"ledger": 1.0}, ParameterTypeError),
    ],
    ids=["one fold", "a person", "a name", "a matrix", "too few", "no epsilon", "a misspelt option", "no ledger"],
)
def test_what_is_refused(arguments, error):
    settings = {"epsilon": 0.5, "y": Y} | arguments
    with pytest.raises(error):
        private_cross_score(bayes(), X, settings.pop("y"), **settings)


def test_a_fold_without_records_is_no_error():
    scores = private_cross_score(bayes(), X[:3], Y[:3], folds=5, epsilon=0.5, rng=1)
    assert scores.interval("accuracy") == (0.0, 1.0)
