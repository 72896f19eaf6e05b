"""Transcripts of fits: the laws of all released sums, compared given the same answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bruit import audit
from bruit.errors import ParameterError, ParameterTypeError
from bruit.learning import (
    AdditiveClassifier,
    AdditiveRegressor,
    KMeans,
    LinearRegression,
    LocalNaiveBayes,
    LogisticRegression,
    NaiveBayes,
)
from bruit.privacy import Ledger
from bruit.privacy.zcdp import epsilon_to_rho

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.25]] * 3)
CLASSES = ["no", "yes"] * 6
TARGET = [1.0, 0.0, 0.5, 1.0] * 3

MODELS: dict[str, tuple[Any, Any]] = {
    "naive Bayes": (NaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"]), CLASSES),
    "naive Bayes, vaidya": (NaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"], method="vaidya"), CLASSES),
    "naive Bayes, replace": (NaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"], neighbours="replace"), CLASSES),
    "line": (LinearRegression(1.0, bounds=(0, 1), target_bounds=(0, 1)), TARGET),
    "line, functional": (LinearRegression(1.0, bounds=(0, 1), target_bounds=(0, 1), method="functional"), TARGET),
    "additive": (AdditiveClassifier(1.0, bounds=(0, 1), classes=["no", "yes"]), CLASSES),
    "additive, replace": (AdditiveClassifier(1.0, bounds=(0, 1), classes=["no", "yes"], neighbours="replace"), CLASSES),
    "logistic": (LogisticRegression(1.0, bounds=(0, 1), classes=["no", "yes"]), CLASSES),
    "additive line": (AdditiveRegressor(1.0, bounds=(0, 1), target_bounds=(0, 1)), TARGET),
    "clusters": (KMeans(2, epsilon=1.0, bounds=(0, 1)), None),
    "clusters, lloyd": (KMeans(2, epsilon=1.0, bounds=(0, 1), method="lloyd"), None),
}


def _neighbour(y: Any, neighbours: str) -> tuple[Any, Any]:
    if neighbours == "add-remove":
        return X[1:], None if y is None else y[1:]
    return np.concatenate([[1 - X[0]], X[1:]]), None if y is None else [y[1], *y[1:]]


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_loses_at_most_its_epsilon_over_all_its_releases(name: str) -> None:
    model, y = MODELS[name]
    first = audit.transcript(model, X, y)
    second = audit.transcript(model, *_neighbour(y, model.neighbours), like=first)
    assert 0.05 < first.loss(second) <= 1
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(first.answers, second.answers, strict=True))
    far = audit.transcript(model, np.repeat(1 - X, 4, axis=0), None if y is None else [*y[::-1]] * 4, like=first)
    assert first.loss(far) > 1  # these are no neighbours


def test_gaussian_sums_are_compared_by_rho() -> None:
    model = LinearRegression(1.0, bounds=(0, 1), target_bounds=(0, 1), delta=1e-6)
    first = audit.transcript(model, X, TARGET)
    second = audit.transcript(model, X[1:], TARGET[1:], like=first)
    assert first.loss(second) == float("inf")
    assert 0 < first.rho(second) <= Fraction(epsilon_to_rho(1.0, 1e-6))


def test_a_transcript_books_nothing_and_leaves_the_model_alone() -> None:
    ledger = Ledger(1.0)
    model = NaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"], ledger=ledger)
    audit.transcript(model, X, CLASSES)
    assert len(ledger) == 0
    assert not hasattr(model, "guarantee_")
    assert model.ledger is ledger


def test_a_transcript_shows_nothing_of_the_data() -> None:
    model, y = MODELS["naive Bayes"]
    assert repr(audit.transcript(model, X, y)) == "<Transcript: 1 release of sums, redacted>"


def test_a_fit_after_a_transcript_is_not_watched() -> None:
    model = NaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"], random_state=3)
    before = model.fit(X, CLASSES).theta_
    audit.transcript(model, X, CLASSES)
    assert np.array_equal(model.fit(X, CLASSES).theta_, before)


def test_transcripts_that_cannot_be_compared_are_refused() -> None:
    model, y = MODELS["naive Bayes"]
    first = audit.transcript(model, X, y)
    with pytest.raises(ParameterError, match="like=first"):
        first.loss(audit.transcript(model, X[1:], y[1:]))
    with pytest.raises(ParameterError, match="same model"):
        audit.transcript(model, X[:, :1], y, like=first)
    local = LocalNaiveBayes(1.0, bounds=(0, 1), classes=["no", "yes"])
    for other in (local, "a text"):
        with pytest.raises(ParameterTypeError, match="exact_plan"):
            audit.transcript(other, X, y)
