"""Additive models: accuracy, scikit-learn's conventions, data from anywhere, bad input, what a fit leaves behind."""

from __future__ import annotations

import pickle
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from bruit import datasets
from bruit.domains import Categories, Grid, Schema
from bruit.errors import BudgetError, DataError, DataTypeError, LimitError, MissingError, ParameterError
from bruit.learning import AdditiveClassifier, AdditiveRegressor, LinearRegression, LogisticRegression
from bruit.learning.additive.columns import Cells, ShapeColumns, simplex
from bruit.learning.additive.target import as_targets, halves
from bruit.privacy import Ledger

#: Why some of scikit-learn's checks cannot pass: the declared classes are not those that a check happens to have.
EXPECTED = {
    "check_estimators_empty_data_messages": "an error would tell that nobody is in the table",
    "check_classifiers_classes": "classes are declared; the check has texts as classes that are not",
    "check_decision_proba_consistency": "four classes are declared and scored; the check has two",
    "check_classifiers_train": "classes_ are the declared ones; the check wants those that it finds in its data",
}
MIXED = Schema({"age": Grid(0.0, 10.0, missing="category"), "job": ["cook", "nurse", "smith"], "kids": Grid(0, 4)})


def mixed(n: int = 4000, seed: int = 3) -> tuple[dict[str, Any], np.ndarray]:
    """People whose class depends on a number with gaps, a category and a small whole number."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(0, 10, n)
    job = rng.choice(["cook", "nurse", "smith"], n)
    kids = rng.integers(0, 5, n).astype(float)
    score = np.abs(age - 5) - 2.5 + 2 * (job == "nurse") - (kids == 4)
    age[::10] = np.nan
    return {"age": age, "job": job, "kids": kids}, np.where(score + rng.logistic(0, 0.5, n) > 0, "yes", "no")


@pytest.fixture(scope="module")
def adult() -> tuple[Schema, dict[str, Any], np.ndarray]:
    data = datasets.load("adult")
    names = [name for name in data.columns if name != "income"]
    schema = Schema({name: data.schema[name].domain for name in names})
    return schema, {name: np.asarray(data[name]) for name in names}, np.asarray(data["income"])


# Accuracy


@pytest.mark.parametrize(
    ("kind", "delta", "least"),
    [
        (AdditiveClassifier, 0.0, 0.895),
        (AdditiveClassifier, 1e-6, 0.902),
        (LogisticRegression, 0.0, 0.875),
        (LogisticRegression, 1e-6, 0.88),
    ],
)
def test_adult_is_ranked_as_well_as_stated(adult: Any, kind: Any, delta: float, least: float) -> None:
    schema, table, income = adult
    first, second = (
        {name: column[half] for name, column in table.items()} for half in (slice(32561), slice(32561, None))
    )
    model = kind(1.0, bounds=schema, classes=["<=50K", ">50K"], delta=delta, random_state=2).fit(first, income[:32561])
    ranked = roc_auc_score(income[32561:] == ">50K", model.decision_function(second))
    assert ranked > least
    mixed_up = model.decision_function({name: column[::-1] for name, column in second.items()})
    assert roc_auc_score(income[32561:] == ">50K", mixed_up) < 0.6  # rows of other people say nothing
    assert model.passes_ == 1
    assert abs(model.n_records_ - 32561) < 5000


def test_several_classes_are_told_apart() -> None:
    X, y = load_wine(return_X_y=True)
    bounds = (np.floor(X.min(axis=0)), np.ceil(X.max(axis=0)))
    models = [
        AdditiveClassifier(4.0, bounds=bounds, classes=[0, 1, 2], random_state=seed).fit(X, y) for seed in range(5)
    ]
    assert np.mean([model.score(X, y) for model in models]) > 0.8
    assert models[0].predict_proba(X).shape == (178, 3)
    assert models[0].predict_proba(X).sum(axis=1) == pytest.approx(np.ones(178))
    table, label = mixed()
    three = np.where(np.asarray(table["kids"]) == 4, "many", label)
    model = AdditiveClassifier(10.0, bounds=MIXED, classes=["many", "no", "yes"], random_state=1).fit(table, three)
    assert model.passes_ == 1
    assert model.score(table, three) > 0.75
    lines = LogisticRegression(10.0, bounds=MIXED, classes=["many", "no", "yes"], random_state=1).fit(table, three)
    assert lines.coef_.shape == (3, 6)
    assert lines.score(table, three) > 0.45


def test_a_missing_number_has_an_effect_of_its_own() -> None:
    table, label = mixed()
    gone = np.isnan(table["age"])
    label = np.where(gone, "yes", label)
    model = AdditiveClassifier(5.0, bounds=MIXED, classes=["no", "yes"], random_state=1).fit(table, label)
    shape = model.shapes_["age"]
    assert shape.points[-1] == "(missing)"
    assert shape.effects[-1, 0] > 1
    assert (model.predict(table)[gone] == "yes").mean() > 0.9


def test_a_regressor_follows_curves_and_labels() -> None:
    rng = np.random.default_rng(8)
    x, job = rng.uniform(0, 10, 60_000), rng.choice(["cook", "smith"], 60_000)
    y = (x - 5) ** 2 + 10 * (job == "smith")
    model = AdditiveRegressor(
        5.0, bounds={"x": (0.0, 10.0), "job": ["cook", "smith"]}, target_bounds=(0, 40), random_state=1
    ).fit({"x": x, "job": job}, y)
    assert model.passes_ == 1
    assert model.score({"x": x, "job": job}, y) > 0.95
    assert np.diff(model.shapes_["job"].effects[:, 0]) == pytest.approx([10], abs=1)


def test_with_few_records_a_regressor_is_a_line_and_says_so() -> None:
    rng = np.random.default_rng(8)
    table = {"x": rng.uniform(0, 10, 3000), "job": rng.choice(["cook", "smith"], 3000)}
    y = 3 * table["x"] + 5 * (table["job"] == "smith")
    options: dict[str, Any] = {"bounds": {"x": (0.0, 10.0), "job": ["cook", "smith"]}, "target_bounds": (0, 40)}
    with pytest.warns(UserWarning, match="the fit is that of LinearRegression"):
        model = AdditiveRegressor(2.0, **options, random_state=1).fit(table, y)
    assert model.passes_ == 0
    line = LinearRegression(2.0, **options, random_state=1).fit(table, y)
    assert model.predict(table) == pytest.approx(line.predict(table), abs=4)
    assert model.score(table, y) > 0.9
    assert line.terms_ == ("x", "job=cook", "job=smith")
    assert line.score(table, y) > 0.9


# scikit-learn


@pytest.mark.parametrize("kind", [AdditiveClassifier, LogisticRegression, AdditiveRegressor])
def test_scikit_learn_finds_nothing_wrong_but_what_privacy_forbids(kind: Any) -> None:
    target = {"target_bounds": (-10, 10)} if kind is AdditiveRegressor else {"classes": [0, 1, 2, 3]}
    model = kind(epsilon=10.0, bounds=(-10.0, 10.0), random_state=3, **target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, expected_failed_checks=EXPECTED, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(EXPECTED)
    assert len(results) > 40


def test_it_works_in_pipelines_with_set_output_and_as_a_clone() -> None:
    table, label = mixed()
    frame = pd.DataFrame(table)[["age", "kids"]].fillna(5.0)
    scale = FunctionTransformer(lambda rows: rows / 10, feature_names_out="one-to-one").set_output(transform="pandas")
    model = AdditiveClassifier(
        2.0, bounds={"age": (0.0, 1.0), "kids": (0.0, 0.4)}, classes=["no", "yes"], random_state=4
    )
    piped = make_pipeline(scale, model).fit(frame, label)
    assert piped.predict_proba(frame).shape == (4000, 2)
    assert piped.score(frame, label) > 0.6
    assert not hasattr(clone(piped[-1]), "shapes_")


def test_a_pickle_predicts_the_same_and_has_no_exact_sum() -> None:
    table, label = mixed()
    model = AdditiveClassifier(2.0, bounds=MIXED, classes=["no", "yes"], random_state=4).fit(table, label)
    text = pickle.dumps(model)
    assert np.array_equal(pickle.loads(text).predict_proba(table), model.predict_proba(table))
    assert len(text) < 200_000
    exact = np.array(
        [
            [np.sum((table["job"] == job) & (label == own)) for own in ("no", "yes")]
            for job in MIXED["job"].domain.labels
        ]
    )
    noisy = model._fitted.tables[2]
    assert noisy.shape == exact.shape
    assert not np.isclose(noisy, exact, atol=1e-9).any()
    assert abs(noisy - exact).max() < 200


# Sources


def test_every_source_gives_the_same_model(tmp_path: Path) -> None:
    table, label = mixed()
    frame = pd.DataFrame({**table, "class": label})
    frame.to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    order = np.random.default_rng(0).permutation(len(frame))
    parts = [frame.iloc[start : start + 700] for start in range(0, 4000, 700)]
    sources = [
        (table, label),
        (pd.DataFrame(table), label),
        (frame, "class"),
        (frame.iloc[order], "class"),
        (parts, "class"),
        (str(tmp_path / "people.parquet"), "class"),
        (tmp_path / "people.csv", "class"),
    ]
    models = [
        AdditiveClassifier(4.0, bounds=MIXED, classes=["no", "yes"], random_state=4).fit(X, y) for X, y in sources
    ]
    assert models[0].passes_ == 1
    for model in models[1:]:
        for name, shape in model.shapes_.items():
            assert np.array_equal(shape.effects, models[0].shapes_[name].effects)
        assert np.array_equal(model.intercept_, models[0].intercept_)


def test_data_that_can_be_read_once_only_are_refused() -> None:
    table, label = mixed(100)
    ledger = Ledger(epsilon=5.0)
    model = AdditiveClassifier(1.0, bounds=MIXED, classes=["no", "yes"], ledger=ledger)
    with pytest.raises(DataTypeError, match="several times"):
        model.fit(iter([{**table, "class": label}]), "class")
    assert not len(ledger)


# Bad input


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"classes": ["yes"]}, ParameterError, "two classes at least"),
        ({"classes": None}, ParameterError, "classes must be declared"),
        ({"classes": ["no", "maybe"]}, DataError, "one of the declared classes"),
        ({"bounds": None}, ParameterError, "bounds must be declared"),
        ({"epsilon": None}, ParameterError, "epsilon must be declared"),
        ({"delta": 1.0}, ParameterError, "delta must be below 1"),
        ({"epsilon": 1e-9}, LimitError, "larger ε"),
        ({"bounds": {"age": (0.0, 10.0), "job": ["cook", "nurse", "smith"], "kids": (0, 4)}}, MissingError, "'age'"),
        (
            {"bounds": {"age": Grid(0.0, 10.0, missing="category"), "job": ["cook", "nurse"], "kids": (0, 4)}},
            DataError,
            "'job'",
        ),
        ({"bounds": {"age": Grid(0.0, 10.0, missing="drop")}}, ParameterError, 'missing="category"'),
        ({"bounds": {"height": (0, 1)}}, DataError, "'height'"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_clear_words_and_nothing_is_spent(
    change: Any, error: Any, words: str
) -> None:
    table, label = mixed(200)
    ledger = Ledger(epsilon=5.0)
    options = {"epsilon": 1.0, "bounds": MIXED, "classes": ["no", "yes"], "ledger": ledger} | change
    with pytest.raises(error, match=words):
        AdditiveClassifier(**options).fit(table, label)
    assert not len(ledger)


def test_all_columns_with_gaps_are_named_with_the_declaration_that_admits_them() -> None:
    table = {"age": [20.0, np.nan], "job": ["cook", None], "kids": [1.0, 2.0]}
    bounds = {"age": (18, 90), "job": ["cook", "smith"], "kids": (0, 4)}
    with pytest.raises(MissingError) as caught:
        AdditiveClassifier(1.0, bounds=bounds, classes=["no", "yes"]).fit(table, ["no", "yes"])
    said = str(caught.value)
    assert '"age": Grid(18, 90, missing="category"), "job": Categories(labels=[…], missing="category")' in said
    assert "kids" not in said
    with pytest.raises(MissingError, match=r"column 0 of X .*, column 1 of X .*Grid\(18, 90") as caught:
        AdditiveClassifier(1.0, bounds=(0, 9), classes=[0, 1]).fit([[np.nan, 1.0], [0.0, np.nan]], [0, 1])


def test_a_ledger_without_budget_stops_the_fit_before_any_noise() -> None:
    table, label = mixed(200)
    ledger = Ledger(epsilon=0.5)
    model = AdditiveClassifier(1.0, bounds=MIXED, classes=["no", "yes"], ledger=ledger)
    with pytest.raises(BudgetError):
        model.fit(table, label)
    assert not hasattr(model, "shapes_")


def test_one_fit_is_one_entry_of_the_ledger() -> None:
    table, label = mixed()
    ledger = Ledger(epsilon=5.0)
    AdditiveClassifier(5.0, bounds=MIXED, classes=["no", "yes"], ledger=ledger).fit(table, label)
    assert len(ledger) == 1
    assert ledger.spent.epsilon == 5.0


def test_constant_columns_and_classes_without_records_do_no_harm() -> None:
    table, label = mixed()
    bounds = {**{name: attribute.domain for name, attribute in MIXED.items()}, "one": (0, 9)}
    model = AdditiveClassifier(5.0, bounds=bounds, classes=["never", "no", "yes"], random_state=1)
    model.fit({**table, "one": np.full(4000, 7.0)}, label)
    assert model.importances_["one"] < 0.25 < model.importances_["age"]
    found = model.predict_proba({**table, "one": np.zeros(4000)})
    assert found[:, 0].mean() < 0.05
    assert np.isfinite(found).all()


def test_a_label_that_is_not_declared_is_refused_at_prediction_and_not_shown() -> None:
    table, label = mixed()
    model = AdditiveClassifier(5.0, bounds=MIXED, classes=["no", "yes"], random_state=1).fit(table, label)
    with pytest.raises(DataError, match="'job'") as error:
        model.predict({"age": [1.0], "job": ["astronaut"], "kids": [0]})
    assert "astronaut" not in str(error.value)
    other = Categories(labels=["cook", "nurse", "smith"], outside="other")
    schema = {"age": Grid(0.0, 10.0, missing="category"), "job": other, "kids": (0, 4)}
    model = AdditiveClassifier(5.0, bounds=schema, classes=["no", "yes"], random_state=1).fit(table, label)
    assert model.predict({"age": [1.0], "job": ["astronaut"], "kids": [0]}).shape == (1,)


def test_where_noise_hides_the_records_the_base_rate_is_predicted_and_said() -> None:
    table, label = mixed(40)
    with pytest.warns(UserWarning, match="noise hides the records"):
        model = AdditiveClassifier(0.01, bounds=MIXED, classes=["no", "yes"], random_state=6).fit(table, label)
    assert len(np.unique(model.predict_proba(table)[:, 0])) == 1
    assert max(model.importances_.values()) == 0
    with pytest.warns(UserWarning, match="noise hides the records"):
        AdditiveClassifier(1.0, bounds=(0, 1), classes=[0, 1], random_state=2).fit(np.empty((0, 2)), [])


def test_a_person_with_all_rows_is_protected_and_costs_more_noise() -> None:
    table, label = mixed()
    table = {**table, "who": np.arange(4000) // 4}
    rows = {"person": "who", "rows": 4}
    model = AdditiveClassifier(5.0, bounds=MIXED, classes=["no", "yes"], random_state=1, **rows).fit(table, label)
    assert "person" in str(model.guarantee_)
    alone = AdditiveClassifier(5.0, bounds=MIXED, classes=["no", "yes"], random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the table has a column of people
        alone.fit(table, label)
    assert model._fitted.error / alone._fitted.error > 3


# Parts


def test_knots_follow_records_and_stay_in_order() -> None:
    columns = ShapeColumns(np.zeros(1), np.full(1, 100.0), (1024,), (False,), (), ("x",))
    histogram = np.zeros(256)
    histogram[:8] = 1000.0
    cells = Cells.even(columns, 11).following(0, histogram, 8000.0)
    points = cells.points(0)
    assert points[0] == 0
    assert points[-1] == 1
    assert (np.diff(points) > 0).all()
    assert (points < 8 / 256).sum() >= 7  # seven tenths of the knots stand where the records are
    assert Cells.even(columns, 11).points(0) == pytest.approx(np.linspace(0, 1, 11))


def test_the_simplex_is_reached_and_left_as_it_is() -> None:
    assert simplex(np.array([1.0, 2.0]), 3.0).tolist() == [1.0, 2.0]
    assert simplex(np.array([5.0, -5.0, 5.0]), 4.0).tolist() == [2.0, 0.0, 2.0]
    assert simplex(np.array([2.0**61, 0.0]), 1.0).sum() == 1.0
    noisy = np.random.default_rng(1).normal(0, 10, 50)
    assert simplex(noisy, 7.0).sum() == pytest.approx(7.0)


def test_halves_of_targets_are_steps_within_bounds() -> None:
    assert halves(np.array([-3.0, 0.0, 5.0, 10.0, 99.0]), 0, 10).tolist() == [-8192, -8192, 0, 8192, 8192]
    assert as_targets(np.array([-8192, 0, 8192]), 0, 10).tolist() == [0.0, 5.0, 10.0]


def test_coefficients_are_those_of_the_score_and_their_intervals_shrink_with_epsilon() -> None:
    rng = np.random.default_rng(5)
    table = {"x": rng.uniform(0, 10, 30_000), "job": rng.choice(["cook", "smith"], 30_000)}
    y = 0.5 * table["x"] - 2.5 + (table["job"] == "smith") + rng.logistic(0, 1, 30_000) > 0
    bounds = {"x": (0.0, 10.0), "job": ["cook", "smith"]}
    widths = []
    for epsilon in (1.0, 10.0):
        model = LogisticRegression(epsilon, bounds=bounds, classes=[False, True], random_state=3).fit(table, y)
        indicators = np.column_stack([table["x"], table["job"] == "cook", table["job"] == "smith"])
        assert model.terms_ == ("x", "job=cook", "job=smith")
        assert model.decision_function(table) == pytest.approx(indicators @ model.coef_[0] + model.intercept_[0])
        assert model.coef_[0, 0] == pytest.approx(0.5, abs=0.12)
        assert model.coef_[0, 2] - model.coef_[0, 1] == pytest.approx(1.0, abs=0.3)
        frame = model.coefficients(0.9).to_frame("pandas")
        assert (frame["low"] < frame["coefficient"]).all()
        widths.append((frame["high"] - frame["low"]).to_numpy())
    assert (widths[1] < widths[0]).all()


def test_the_intervals_of_coefficients_are_about_as_wide_as_their_noise() -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 10, (3000, 2))
    y = (x[:, 0] + rng.normal(0, 2, 3000) > 5).astype(int)
    models = [
        LogisticRegression(2.0, bounds=(0, 10), classes=[0, 1], random_state=seed).fit(x, y) for seed in range(60)
    ]
    spread = np.std([model.coef_[0] for model in models], axis=0)
    stated = np.mean([model.coef_errors_[0] for model in models], axis=0)
    assert ((spread > 0.4 * stated) & (spread < 2.5 * stated)).all()


@pytest.mark.audit
def test_a_fit_of_fifty_thousand_rows_takes_less_than_two_seconds(adult: Any) -> None:
    schema, table, income = adult
    wide = {name: np.resize(column, 50_000) for name, column in table.items()}
    label = np.resize(income, 50_000)
    model = AdditiveClassifier(1.0, bounds=schema, classes=["<=50K", ">50K"], random_state=1)
    model.fit(wide, label)
    start = time.perf_counter()
    model.fit(wide, label)
    assert time.perf_counter() - start < 2
