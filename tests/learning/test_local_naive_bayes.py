"""Naive Bayes from private reports of class and feature: unbiased, within its ε, better than learning from noise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from bruit import Entropy, audit
from bruit.errors import DataError, ParameterError
from bruit.learning import LocalNaiveBayes
from bruit.oracles import RandomizedResponse

SKY, WIND = ["blue", "grey", "black"], ["calm", "storm"]
BOUNDS = {"sky": SKY, "wind": WIND}


def people(n, seed=0):
    """Records whose features follow the class."""
    draw = np.random.default_rng(seed)
    wet = draw.random(n) < 0.3
    sky = np.where(wet, draw.choice(3, n, p=[0.1, 0.5, 0.4]), draw.choice(3, n, p=[0.7, 0.2, 0.1]))
    wind = np.where(wet, draw.random(n) < 0.7, draw.random(n) < 0.2).astype(int)
    return {"sky": np.array(SKY)[sky], "wind": np.array(WIND)[wind]}, np.where(wet, "wet", "dry")


def truth(X, y):
    """The share of people of each class and label, counted one by one."""
    return {
        name: np.array([[np.mean((y == c) & (X[name] == label)) for label in labels] for c in ("dry", "wet")])
        for name, labels in BOUNDS.items()
    }


def model(epsilon=1.0, **settings):
    return LocalNaiveBayes(epsilon, **{"bounds": BOUNDS, "classes": ["dry", "wet"]} | settings)


X, Y = people(600)


@pytest.mark.parametrize("method", ["SMP[ADP]", "SPL[GRR]", "SMP[OUE]"])
def test_shares_of_class_and_label_are_unbiased_with_the_error_that_is_stated(method):
    runs = [model(method=method, random_state=seed).fit(X, Y) for seed in range(120)]
    for name, share in truth(X, Y).items():
        errors = np.array([run.joint_[name] for run in runs]) - share
        stated = np.mean([run.joint_error_[name] for run in runs], axis=0)
        # 13 cells and three methods: 5.5 standard errors happen once in 10⁶.
        assert (np.abs(errors.mean(axis=0)) < 5.5 * stated / len(runs) ** 0.5).all()
        # The stated error is for a population, which adds sampling: at most a little more than observed.
        assert (errors.std(axis=0) < 1.45 * stated).all()
        assert (errors.std(axis=0) > 0.6 * stated).all()


def test_learning_from_class_and_feature_randomised_apart_is_biased():
    classes, labels = RandomizedResponse(epsilon=0.5, k=2), RandomizedResponse(epsilon=0.5, k=3)
    wet, sky = (Y == "wet").astype(int), np.array([SKY.index(value) for value in X["sky"]])
    rng = Entropy(4)
    shares = []
    for _ in range(120):
        reports = classes.privatize(wet, rng=rng), labels.privatize(sky, rng=rng)
        shares.append(np.mean((reports[0] == 1) & (reports[1] == 0)))
    gap = np.mean(shares) - truth(X, Y)["sky"][1, 0]
    assert abs(gap) > 20 * np.std(shares) / 120**0.5


@pytest.mark.parametrize("method", ["SMP[GRR]", "SPL[GRR]"])
def test_the_whole_law_of_the_pairs_keeps_the_epsilon_that_is_stated(method):
    small = {"a": ["0", "1"], "b": ["0", "1"]}
    fitted = LocalNaiveBayes(1.0, bounds=small, classes=["n", "y"], method=method, random_state=1)
    fitted.fit({"a": ["0", "1"], "b": ["1", "1"]}, ["n", "y"])
    exact = audit.exact_plan(fitted.plan_, "person").epsilon
    assert exact <= fitted.guarantee_.epsilon * (1 + 1e-12)
    assert fitted.guarantee_.epsilon <= 1.0
    assert fitted.guarantee_.neighbours == "person"
    assert exact > 0.99


def test_one_column_has_all_of_epsilon():
    fitted = LocalNaiveBayes(1.0, bounds={"sky": SKY}, classes=["dry", "wet"], random_state=1).fit(X, Y)
    assert len(fitted.plan_.schema) == 1
    assert 0.999 < fitted.guarantee_.epsilon <= 1.0


def test_with_a_large_epsilon_it_is_naive_bayes_of_counts():
    X, y = people(20_000, seed=5)
    fitted = model(20.0, method="SPL[GRR]", random_state=1).fit(X, y)
    share = truth(X, y)
    for name, table in fitted.tables_.items():
        assert table == pytest.approx(share[name] / share[name].sum(axis=1, keepdims=True), abs=0.01)
    assert fitted.class_prior_ == pytest.approx(share["sky"].sum(axis=1), abs=0.01)
    asked = {"sky": np.repeat(SKY, 2), "wind": WIND * 3}
    by_hand = [
        share["sky"][:, SKY.index(s)] * share["wind"][:, WIND.index(w)] / share["sky"].sum(axis=1)
        for s, w in zip(asked["sky"], asked["wind"], strict=True)
    ]
    assert fitted.predict(asked).tolist() == [["dry", "wet"][int(np.argmax(scores))] for scores in by_hand]
    assert fitted.predict_proba(asked).sum(axis=1) == pytest.approx(1)


def test_it_is_nearer_to_the_truth_than_learning_from_reports_as_if_they_were_records():
    """The same ε for a person: 1 for each of class and two features, or 3 for pairs."""
    X, y = people(20_000, seed=6)
    share = truth(X, y)["sky"]
    true = share / share.sum(axis=1, keepdims=True)
    classes, labels = RandomizedResponse(epsilon=1.0, k=2), RandomizedResponse(epsilon=1.0, k=3)
    rng = Entropy(9)
    wet, sky = (y == "wet").astype(int), np.array([SKY.index(value) for value in X["sky"]])
    reports = classes.privatize(wet, rng=rng), labels.privatize(sky, rng=rng)
    naive = np.array([[np.mean(reports[1][reports[0] == c] == v) for v in range(3)] for c in (0, 1)])
    ours = model(3.0, random_state=2).fit(X, y).tables_["sky"]
    assert np.abs(ours - true).max() < 0.05
    assert np.abs(naive - true).max() > 0.2


def test_a_seed_repeats_itself_on_the_same_table_and_gives_another_table_other_noise():
    first, again = (model(random_state=7).fit(X, Y) for _ in range(2))
    assert all((first.joint_[name] == again.joint_[name]).all() for name in BOUNDS)
    assert first.simulated_
    assert not model().fit(X, Y).simulated_
    other = model(random_state=7).fit(*people(600, seed=1))
    assert (first.joint_["sky"] != other.joint_["sky"]).any()


def test_frames_arrays_and_mappings_are_the_same():
    rows = np.column_stack([X["sky"], X["wind"]])
    fits = [model(random_state=3).fit(table, Y) for table in (X, pd.DataFrame(X), rows)]
    assert all((fit.joint_["sky"] == fits[0].joint_["sky"]).all() for fit in fits)
    assert fits[0].predict(rows).tolist() == fits[0].predict(pd.DataFrame(X)).tolist()


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"bounds": None}, ParameterError, "bounds must be declared"),
        ({"bounds": (0, 100)}, ParameterError, "columns by name"),
        ({"cells": 1}, ParameterError, "cells must be"),
        ({"classes": None}, ParameterError, "classes must be declared"),
        ({"epsilon": -1.0}, ParameterError, "epsilon"),
        ({"method": "RS+FD[GRR]"}, None, ""),
        ({"method": "nothing"}, ParameterError, "method must be one of Warner"),
        ({"method": "GRR"}, ParameterError, "asks one question per person"),
    ],
)
def test_what_is_declared_is_checked(settings, error, words):
    usual = {"epsilon": 1.0, "bounds": BOUNDS, "classes": ["dry", "wet"], "random_state": 1}
    fitted = LocalNaiveBayes(**usual | settings)
    if error is None:
        assert fitted.fit(X, Y).guarantee_.epsilon <= 1.0
        return
    with pytest.raises(error, match=words):
        fitted.fit(X, Y)


def test_data_that_break_the_rules_are_refused_without_being_shown():
    with pytest.raises(DataError, match="one class for each row"):
        model().fit(X, Y[:-1])
    with pytest.raises(DataError) as caught:
        model().fit({**X, "sky": np.where(np.arange(600) == 3, "purple", X["sky"])}, Y)
    assert "purple" not in str(caught.value)
    with pytest.raises(DataError, match="'wind'"):
        model().fit({"sky": X["sky"]}, Y)
    with pytest.raises(NotFittedError):
        model().predict(X)


def test_a_column_that_nobody_was_asked_for_decides_nothing():
    fits = [model(random_state=seed).fit({"sky": ["blue"], "wind": ["calm"]}, ["wet"]) for seed in range(8)]
    for fitted in fits:
        unasked = [name for name in BOUNDS if np.isnan(fitted.joint_[name]).all()]
        assert len(unasked) == 1
        assert np.ptp(fitted.tables_[unasked[0]]) == pytest.approx(0)
        assert np.isfinite(fitted.predict_proba({"sky": SKY, "wind": ["calm"] * 3})).all()
    nobody = model().fit({"sky": np.array([], str), "wind": np.array([], str)}, np.array([], str))
    assert nobody.class_prior_.tolist() == [0.5, 0.5]


def ages(n, seed=0):
    """Numbers that follow the class: the wet are older."""
    draw = np.random.default_rng(seed)
    wet = draw.random(n) < 0.4
    return {"age": draw.normal(np.where(wet, 70, 40), 8)}, np.where(wet, "wet", "dry")


def test_a_number_is_the_cell_that_it_is_in_and_outside_counts_as_the_bound():
    settings = {"bounds": {"age": (0, 100)}, "classes": ["dry", "wet"], "random_state": 1, "cells": 4}
    table = {"age": [-5.0, 0.0, 24.9, 25.0, 74.9, 75.0, 100.0, 1e300]}
    labelled = LocalNaiveBayes(1.0, **settings | {"bounds": {"age": ["0", "1", "2", "3"]}})
    first = LocalNaiveBayes(1.0, **settings).fit(table, ["dry", "wet"] * 4)
    second = labelled.fit({"age": ["0", "0", "0", "1", "2", "3", "3", "3"]}, ["dry", "wet"] * 4)
    assert (first.joint_["age"] == second.joint_["age"]).all()
    assert first.predict(table).tolist() == second.predict({"age": list("00012333")}).tolist()


def test_shares_of_class_and_cell_are_unbiased():
    table, classes = ages(600)
    bounds = {"bounds": {"age": (0, 100)}, "classes": ["dry", "wet"]}
    runs = [LocalNaiveBayes(1.0, random_state=seed, **bounds).fit(table, classes) for seed in range(60)]
    cell = np.minimum(np.clip(table["age"], 0, 100) // 20, 4)
    share = np.array([[np.mean((classes == c) & (cell == k)) for k in range(5)] for c in ("dry", "wet")])
    errors = np.array([run.joint_["age"] for run in runs]) - share
    stated = np.mean([run.joint_error_["age"] for run in runs], axis=0)
    assert (np.abs(errors.mean(axis=0)) < 5.5 * stated / len(runs) ** 0.5).all()


def test_numbers_and_labels_together_tell_the_classes_apart_and_noise_alone_does_not():
    table, classes = ages(20_000)
    table["sky"] = np.where(np.arange(20_000) % 3 == 0, "blue", "grey")
    bounds = {"sky": ["blue", "grey"], "age": (0, 100)}
    fits = [
        LocalNaiveBayes(epsilon, bounds=bounds, classes=["dry", "wet"], random_state=2).fit(table, classes)
        for epsilon in (3.0, 1e-3)
    ]
    new, wanted = ages(2000, seed=9)
    new["sky"] = np.full(2000, "grey")
    assert fits[0].score(new, wanted) > 0.9
    assert list(fits[0].tables_) == ["sky", "age"]
    assert fits[1].score(new, wanted) < 0.9
