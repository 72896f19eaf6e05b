"""The honest split, randomised labels, and the course's figures on the Pima diabetes data."""

from __future__ import annotations

import functools
import math
import traceback

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from bruit import Entropy, Grid, Ledger, Plan, Schema, datasets
from bruit.errors import BudgetError, DataError, ParameterTypeError
from bruit.learning import LocalPrivatizer, honest_split, randomize_labels
from bruit.oracles import RandomizedResponse
from bruit.rounding import log_ceiling

N = 500
X = np.column_stack([np.linspace(0, 1, N), np.linspace(1, 0, N)])
Y = np.array(["ill", "well"])[(np.arange(N) % 3 == 0).astype(int)]
PRIVATIZER = LocalPrivatizer(epsilon=2.0, bounds=(0.0, 1.0))
TARGET = {"classes": ["ill", "well"], "epsilon": 1.0}


def test_features_of_both_parts_and_the_labels_of_training_are_randomised_and_those_of_the_test_are_true():
    split = honest_split(X, Y, PRIVATIZER, **TARGET, random_state=3, rng=5)
    train, test = train_test_split(np.arange(N), test_size=0.2, random_state=3)
    assert np.array_equal(split.y_test, Y[test])
    assert split.X_train.shape == (400, 2)
    assert not np.isin(split.X_train[:, 0], X[:, 0]).any()
    assert not np.isin(split.X_test[:, 0], X[:, 0]).any()
    kept = np.mean(split.y_train == Y[train])
    p = math.e / (math.e + 1)
    assert abs(kept - p) < 5 * math.sqrt(p * (1 - p) / 400)
    assert abs(kept - 1) > 5 * math.sqrt(p * (1 - p) / 400)


def test_the_guarantee_of_a_training_person_is_the_exact_product_of_features_and_label():
    split = honest_split(X, Y, PRIVATIZER, **TARGET)
    features = LocalPrivatizer(epsilon=2.0, bounds=(0.0, 1.0)).fit(X).plan_.design.ratio("person")
    label = RandomizedResponse(epsilon=1.0, labels=("ill", "well")).law.ratio
    assert split.train_guarantee.epsilon == log_ceiling(features * label) <= 3.0
    assert split.test_guarantee.epsilon == log_ceiling(features) <= 2.0
    assert split.train_guarantee.neighbours == split.test_guarantee.neighbours == "person"
    assert not split.simulated


def test_a_split_books_what_a_training_person_gives_once_and_before_any_noise():
    ledger = Ledger(epsilon=5.0, neighbours="person")
    privatizer = LocalPrivatizer(epsilon=2.0, bounds=(0.0, 1.0), ledger=ledger)
    split = honest_split(X, Y, privatizer, **TARGET)
    assert [entry.guarantee for entry in ledger.entries] == [split.train_guarantee]
    stream = Entropy(1)
    with pytest.raises(BudgetError):
        honest_split(X, Y, privatizer, **TARGET, rng=stream)
    assert np.array_equal(stream.words(4), Entropy(1).words(4))  # nothing was drawn


@pytest.mark.parametrize("labels", [["ill"] * (N - 1) + ["Vesoul"], ["ill"] * (N - 1)], ids=["undeclared", "too few"])
def test_bad_labels_are_refused_without_showing_them_and_spend_nothing(labels):
    ledger = Ledger(epsilon=5.0, neighbours="person")
    privatizer = LocalPrivatizer(epsilon=2.0, bounds=(0.0, 1.0), ledger=ledger)
    with pytest.raises(DataError) as caught:
        honest_split(X, labels, privatizer, **TARGET)
    assert "Vesoul" not in "".join(traceback.format_exception(caught.value))
    assert len(ledger) == 0


def test_only_a_privatizer_or_a_plan_says_how_features_are_randomised():
    with pytest.raises(ParameterTypeError):
        honest_split(X, Y, "SPL", **TARGET)


def test_a_plan_frames_and_mappings_will_do():
    plan = Plan(Schema({"a": Grid(0.0, 1.0), "b": Grid(0.0, 1.0)}), 2.0, "SPL[laplace]")
    table = {"a": X[:, 0], "b": X[:, 1]}
    found = [honest_split(each, Y, plan, **TARGET, random_state=0, rng=2) for each in (table, pd.DataFrame(table), X)]
    assert all(np.array_equal(each.X_test, found[0].X_test) for each in found)
    assert all(each.train_guarantee == found[0].train_guarantee for each in found)
    assert found[0].simulated


def test_train_test_and_labels_have_different_noise():
    plan = Plan(Schema({"a": ["ill", "well"]}), 1.0, "GRR")
    people = np.array(["ill"] * 4000)
    split = honest_split({"a": people}, people, plan, **TARGET, test_size=0.5, rng=1)
    for one, other in (
        (split.X_train, split.X_test),
        (split.X_train, split.y_train),
        (split.X_test, split.y_train),
    ):
        agree = np.mean(np.ravel(one) == np.ravel(other))
        p = math.e / (math.e + 1)
        assert abs(agree - p * p - (1 - p) ** 2) < 0.06  # independent; the same noise would agree always


@pytest.mark.parametrize("change", ["table", "labels", "split", "label epsilon", "classes"])
def test_a_seed_gives_other_noise_for_another_table_split_or_label(change):
    people, labels = np.full((N, 1), 0.5), np.array(["ill"] * N)
    settings = {**TARGET, "random_state": 0, "rng": 3}
    first = honest_split(people, labels, PRIVATIZER, **settings)
    again = honest_split(people, labels, PRIVATIZER, **settings)
    assert np.array_equal(first.X_train, again.X_train)
    assert np.array_equal(first.y_train, again.y_train)
    other = {
        "table": (np.full((N, 1), 0.4), labels, settings),
        "labels": (people, np.array(["ill"] * (N - 1) + ["well"]), settings),
        "split": (people, labels, {**settings, "random_state": 1}),
        "label epsilon": (people, labels, {**settings, "epsilon": 2.0}),
        "classes": (people, labels, {**settings, "classes": ["ill", "well", "unknown"]}),
    }
    X_other, y_other, changed = other[change]
    second = honest_split(X_other, y_other, PRIVATIZER, **changed)
    # Everybody has the same record, so the same noise would give the same, or nearly the same, reports.
    correlation = np.corrcoef(first.X_train[:, 0], second.X_train[:, 0])[0, 1]
    assert abs(correlation) < 0.25  # five standard deviations of independent noise for 400 people


def test_labels_are_randomised_by_the_declared_odds_and_keep_their_type():
    labels = randomize_labels([0, 1] * 20_000, epsilon=1.0, classes=[0, 1], rng=1)
    assert labels.dtype.kind == "i"
    p = math.e / (math.e + 1)
    assert abs(np.mean(labels == [0, 1] * 20_000) - p) < 5 * math.sqrt(p * (1 - p) / 40_000)
    numbers = randomize_labels([4.0] * 20_000, epsilon=4.0, classes=Grid(0.0, 9.0), rng=1)
    assert abs(numbers.mean() - 4.0) < 6 * numbers.std() / math.sqrt(20_000) + 9 / 1023 / 2


# The course's experiment.

_FILLED = ["Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin"]
_REAL = ["BMI", "DiabetesPedigreeFunction"]


@functools.cache
def _diabetes() -> pd.DataFrame:
    """The table as the course prepares it: zeros that stand for missing become the median of the others."""
    frame = datasets.load("diabetes").to_frame("pandas").astype(float)
    for name in _FILLED:
        known = frame[name][frame[name] != 0]
        frame[name] = frame[name].where(frame[name] != 0, known.median())
    return frame.astype({"Outcome": int})


@functools.cache
def _schema() -> Schema:
    """Bounds read from the data, as the course does: no guarantee covers them, and no release should do it."""
    frame = _diabetes()
    grids = {}
    for name in frame.columns[:-1]:
        low, high = frame[name].min(), frame[name].max()
        grids[name] = Grid(float(low), float(high)) if name in _REAL else Grid(int(low), int(high))
    return Schema(grids | {"Outcome": [0, 1]})


def _scores(X_train, X_test, y_train, y_test) -> tuple[float, float]:
    predicted = GaussianNB().fit(X_train, y_train).predict(X_test)
    return accuracy_score(y_test, predicted), f1_score(y_test, predicted)


def test_without_noise_naive_bayes_on_the_diabetes_data_scores_as_the_course_prints():
    table = _diabetes().to_numpy()
    found = _scores(*train_test_split(table[:, :8], table[:, 8], random_state=0, test_size=0.2))
    assert found == (pytest.approx(0.7857142857142857, abs=1e-12), pytest.approx(0.6373626373626374, abs=1e-12))


def _as_in_the_course(method: str, seed: int) -> tuple[float, float]:
    """Everything randomised at ε = 1 for each attribute, also the labels of the test, and then split."""
    mechanisms = {"Outcome": "GRR"}
    privatizer = LocalPrivatizer(
        epsilon=1.0, bounds=_schema(), method=method, unit="attribute", mechanisms=mechanisms, rng=seed
    )
    table = privatizer.fit_transform(_diabetes())
    assert 9.0 - 1e-6 < privatizer.guarantee_.epsilon <= 9.0  # what "ε = 1" means for a person
    return _scores(*train_test_split(table[:, :8], table[:, 8], random_state=0, test_size=0.2))


@pytest.mark.audit
def test_the_courses_scores_after_bounded_laplace_and_randomised_response_lie_among_those_of_thirty_runs():
    found = np.array([_as_in_the_course("SPL[laplace]", seed) for seed in range(30)])
    for run, printed in zip(found.T, (0.6038961038961039, 0.11594202898550726), strict=True):
        assert run.min() <= printed <= run.max()
        assert abs(printed - run.mean()) < 2.5 * run.std(ddof=1)


def _honestly(method: str, seed: int) -> tuple[float, float]:
    frame = _diabetes()
    features = Schema({name: found.domain for name, found in _schema().items() if name != "Outcome"})
    privatizer = LocalPrivatizer(epsilon=1.0, bounds=features, method=method, unit="attribute")
    split = honest_split(
        frame.drop(columns="Outcome"),
        frame["Outcome"],
        privatizer,
        classes=[0, 1],
        epsilon=1.0,
        random_state=0,
        rng=seed,
    )
    assert split.test_guarantee.epsilon <= 8.0 < split.train_guarantee.epsilon <= 9.0
    return _scores(*split[:4])


def test_on_true_test_labels_noise_costs_most_of_what_can_be_learnt():
    clean = 0.7857142857142857
    laplace = np.array([_honestly("SPL[laplace]", seed)[0] for seed in range(30)])
    assert laplace.mean() < clean - 0.1


def test_the_repr_of_a_split_shows_nobodys_label():
    split = honest_split(
        [[1.0], [2.0]] * 20, ["ill", "well"] * 20, LocalPrivatizer(epsilon=1.0, bounds=(0, 3)), classes=["ill", "well"],
        epsilon=1.0, rng=1,
    )  # fmt: skip
    assert "ill" not in repr(split)
    assert "test 8" in repr(split)
