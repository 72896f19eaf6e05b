"""Cross-validation with one booking of scores: what it books, what it refuses, and that folds belong to records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from bruit import Ledger
from bruit.errors import BruitError, BudgetError, DataError, ParameterError, ParameterTypeError
from bruit.learning import DeclaredScaler, LinearRegression, NaiveBayes, private_cross_score
from bruit.learning.scores.cross import _folds
from bruit.learning.scores.predictions import ClassView, NumberView, outcomes, settled
from bruit.learning.scores.request import ScoreRequest
from bruit.learning.scores.sums import STEPS

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


def with_a_gap(rows):
    changed = rows.copy()
    changed[7, 0] = np.nan
    return changed


BROKEN = {
    "an undeclared class": {"y": np.where(np.arange(2000) == 7, 5, Y)},
    "a class of the scores alone": {"y": np.where(np.arange(2000) == 7, 5, Y), "classes": [0, 1, 5]},
    "a class of the model alone": {"y": np.where(np.arange(2000) == 7, 0, 1), "classes": [1, 2]},
    "a gap": {"x": with_a_gap(X)},
    "no such class": {"positive": "q"},
    "no such metric": {"metrics": "r2"},
    "no metric": {"metrics": []},
    "other neighbours": {"neighbours": "replace"},
    "a bad seed": {"rng": "x"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_a_record_or_an_option_can_break_is_refused_before_the_first_fit(name):
    for seed in range(3):  # the record is in the first fold's test in some
        own, ledger = Ledger(epsilon=9.0), Ledger(epsilon=9.0, neighbours=BROKEN[name].get("neighbours", "add-remove"))
        settings = {"folds": 2, "epsilon": 0.5, "rng": seed, "x": X, "y": Y} | BROKEN[name]
        with pytest.raises(BruitError):
            private_cross_score(bayes(ledger=own), settings.pop("x"), settings.pop("y"), ledger=ledger, **settings)
        assert (len(own), len(ledger)) == (0, 0)


def test_after_the_first_booking_a_record_without_an_answer_counts_as_wrong(monkeypatch):
    ledger, plain = Ledger(epsilon=9.0), NaiveBayes.predict_proba

    def failing(model, rows):
        if len(ledger) and (np.asarray(rows)[:, 0] == X[7, 0]).any():
            raise ValueError("a data value")
        return plain(model, rows)

    monkeypatch.setattr(NaiveBayes, "predict_proba", failing)
    scores = private_cross_score(bayes(), X[:200], Y[:200], folds=2, epsilon=5.0, ledger=ledger, rng=1)
    assert len(ledger) == 3
    assert scores["accuracy"] > 0.7


class Choosy(ClassifierMixin, BaseEstimator):
    """Answers for no batch that has a record below −1."""

    classes_ = np.array([0, 1])

    def predict_proba(self, rows):
        if (rows[:, 0] < -1).any():
            raise ValueError("a data value")
        return np.column_stack([1 - (rows[:, 0] > 1), rows[:, 0] > 1]).astype(float)

    def predict(self, rows):
        return self.predict_proba(rows).argmax(axis=1)


def test_after_a_spend_no_record_is_refused_and_others_keep_their_numbers():
    view = ScoreRequest(epsilon=1.0).view(Choosy())
    rows, kept = X[:300], X[:300, 0] >= -1
    numbers = settled(Choosy(), rows, Y[:300], view)
    assert 0 < (~kept).sum() < 50
    assert not numbers["right"][~kept].any()
    assert (numbers["loss"][~kept] == STEPS).all()
    assert not numbers["cell"][~kept].any()
    for name, expected in outcomes(Choosy(), rows[kept], Y[:300][kept], view).items():
        assert np.array_equal(numbers[name][kept], expected)
    line = NumberView(-3.0, 5.0)
    assert (line.integers(line.worst(), np.array([1.0]))["error"] == STEPS).all()
    for method, columns in ((None, 0), ("decision_function", 1)):
        worst = ClassView(np.array([0, 1]), method, 1, frozenset({"accuracy"})).worst()
        assert worst.values.shape == (1, columns)


def test_one_record_alone_leaves_a_fit_without_records():
    ledger = Ledger(epsilon=9.0)
    private_cross_score(bayes(), X[:1], Y[:1], folds=2, epsilon=0.5, ledger=ledger, rng=1)
    assert len(ledger) == 3
    with pytest.raises(DataError, match="Nothing was booked"):  # this step takes no empty table
        private_cross_score(make_pipeline(Normalizer(), bayes()), X[:1], Y[:1], folds=2, epsilon=0.5, ledger=ledger)
    assert len(ledger) == 3


def test_a_fold_without_records_is_no_error():
    scores = private_cross_score(bayes(), X[:3], Y[:3], folds=5, epsilon=0.5, rng=1)
    assert scores.interval("accuracy") == (0.0, 1.0)
