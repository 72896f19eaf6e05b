"""Naive Bayes: the course's arithmetic, exact sensitivities, estimates, data from anywhere, scikit-learn, audits."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import bruit
from bruit import audit, datasets
from bruit.domains import Categories, Grid, Schema
from bruit.errors import BudgetError, DataError, LimitError, ParameterError, ParameterTypeError
from bruit.kernels.class_sums import class_sums
from bruit.learning import NaiveBayes
from bruit.learning._features import STEPS, FeatureRows
from bruit.learning._likelihood import joint_log_likelihood, ordinary
from bruit.learning._sums import SumNoise
from bruit.learning.naive_bayes.classes import class_codes, declared_classes
from bruit.learning.naive_bayes.sums import HALF_SQUARE, JointSums, layout

#: Why some of scikit-learn's checks cannot pass: the declared classes are not those that a check happens to have.
EXPECTED = {
    "check_estimators_empty_data_messages": "an error would tell that nobody is in the table",
    "check_classifiers_classes": "classes are declared; the check has texts as classes that are not",
    "check_classifiers_train": "classes_ are the declared ones; the check wants those that it finds in its data",
}


# The course's worked examples, with the arithmetic that predictions use.


def test_the_course_table_of_categories_gives_one_fortieth_against_one_hundred_and_eightieth():
    table = """Young Low Male Yes|Young High Female Yes|Medium High Male No|Old Medium Male No|Old High Male No
               Old Low Female Yes|Medium Low Female No|Medium Medium Male Yes|Young Low Male No|Old High Female No"""
    records = [line.split() for line in table.replace("\n", "|").split("|")]
    domains = (["Young", "Medium", "Old"], ["Low", "Medium", "High"], ["Male", "Female"])
    codes = [np.array([labels.index(record[place]) for record in records]) for place, labels in enumerate(domains)]
    missed = np.array([["Yes", "No"].index(record[3]) for record in records])
    laws = ordinary(FeatureRows(np.empty((10, 0)), tuple(codes)), missed, (3, 3, 2), 2)
    asked = FeatureRows(np.empty((1, 0)), (np.array([0]), np.array([1]), np.array([1])))
    found = np.exp(joint_log_likelihood(asked, laws))[0]
    assert [Fraction(value).limit_denominator(1000) for value in found] == [Fraction(1, 40), Fraction(1, 180)]
    assert found == pytest.approx([1 / 40, 1 / 180], rel=1e-14)


def test_the_course_table_of_numbers_gives_its_means_variances_densities_and_products():
    men = [[182, 81.6, 30], [180, 86.2, 28], [170, 77.1, 30], [180, 74.8, 25]]
    women = [[152, 45.4, 15], [168, 68.0, 20], [165, 59.0, 18], [175, 68.0, 23]]
    laws = ordinary(FeatureRows(np.array(men + women), ()), np.repeat([0, 1], 4), (), 2)
    assert laws.mean == pytest.approx(np.array([[178, 79.925, 28.25], [165, 60.1, 19]]), rel=1e-14)
    variances = [["29.3", "25.5", "5.58"], ["92.7", "114", "11.3"]]
    assert [[f"{variance:.3g}" for variance in row] for row in laws.variance] == variances
    found = np.exp(joint_log_likelihood(FeatureRows(np.array([[183.0, 59.0, 20.0]]), ()), laws))[0]
    assert [f"{value:.2e}" for value in found] == ["1.34e-10", "1.52e-05"]
    assert f"{found[0]:.4e}" == "1.3404e-10"


@pytest.mark.usefixtures("any_epsilon")
def test_without_noise_the_model_is_ordinary_naive_bayes():
    from sklearn.naive_bayes import GaussianNB

    X, y = load_iris(return_X_y=True)
    X, y = np.tile(X, (200, 1)), np.tile(y, 200)
    bounds = (X.min(axis=0), X.max(axis=0))
    plain = GaussianNB(var_smoothing=0).fit(X, y)
    for method in ("joint", "vaidya"):
        ours = NaiveBayes(10_000.0, bounds=bounds, classes=[0, 1, 2], method=method, rng=1).fit(X, y)
        assert ours.theta_ == pytest.approx(plain.theta_, rel=1e-3)
        assert ours.var_ == pytest.approx(plain.var_, rel=0.02)
        assert ours.class_prior_ == pytest.approx(plain.class_prior_, rel=1e-3)
        assert (ours.predict(X) == plain.predict(X)).mean() > 0.99
        assert ours.predict_joint_log_proba(X) == pytest.approx(plain.predict_joint_log_proba(X), rel=0.1, abs=0.3)


# Sensitivities, exactly.


def test_the_kernel_agrees_with_plain_arithmetic():
    rng = np.random.default_rng(5)
    numbers = rng.normal(size=(300, 3)) * [1, 10, 0.1]
    codes = rng.integers(0, 4, 300)
    low, high = np.array([-1.0, -5.0, -0.3]), np.array([2.0, 5.0, 0.1])
    sums, squares = np.zeros((2, 4, 3))
    class_sums(numbers, codes, low, high, STEPS, sums, squares)
    steps = np.clip(np.rint((numbers - (low + high) / 2) / ((high - low) / 2) * STEPS), -STEPS, STEPS)
    for code in range(4):
        assert sums[code].tolist() == steps[codes == code].sum(axis=0).tolist()
        assert squares[code].tolist() == (steps[codes == code] ** 2).sum(axis=0).tolist()


@pytest.mark.parametrize("columns", [1, 2, 4, 30])
def test_no_number_on_the_grid_changes_more_than_a_bound_does(columns):
    design = JointSums(2, (), columns)
    _, _, total, square = design.units
    z = np.arange(-STEPS, STEPS + 1).astype(object)
    # Both terms as whole multiples of one common unit.
    change = abs(z) * (square // total) + abs(z * z - HALF_SQUARE)
    assert Fraction(int(change.max()), square) == (design.sensitivity - 1) / columns
    assert set(z[change == change.max()]) == {-STEPS, STEPS}


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["joint", "vaidya"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.7])
def test_no_adversarial_pair_loses_more_than_epsilon_and_edge_values_lose_nearly_all(method, neighbours, epsilon):
    design = layout(method, 2, (2, 3), 2)
    noise = design.noise(epsilon, neighbours)
    losses = [noise.loss_between(*pair) for pair in _pairs(design, neighbours)]
    assert max(losses) <= Fraction(epsilon)
    if method == "joint":
        assert max(losses) >= Fraction(epsilon) * (1 - Fraction(1, 10**9))  # tight
    else:
        assert Fraction(epsilon) * (1 - Fraction(1, 500)) < max(losses)  # approached with 200 others


def test_the_squared_deviations_approach_their_share_as_the_proof_says():
    design = layout("vaidya", 1, (), 1)
    noise = design.noise(1.0, "add-remove")
    for others in (1, 10, 1000, 100_000):
        rest = _record(1.0, 0, 0, 0)._replace(numbers=np.full((others, 1), -1.0), codes=())
        more = FeatureRows(np.append(rest.numbers, [[1.0]], axis=0), ())
        loss = noise.loss_between(*(_sums(design, rows, np.zeros(len(rows.numbers), int)) for rows in (rest, more)))
        assert 1 - float(loss) == pytest.approx(1 / (4 * (others + 1)), rel=1e-6, abs=2e-8)


def test_changes_of_random_neighbours_stay_within_the_sensitivity():
    rng = np.random.default_rng(8)
    for method in ("joint", "vaidya"):
        design = layout(method, 3, (2,), 3)
        noise = design.noise(1.0, "replace")
        for _ in range(200):
            n = int(rng.integers(1, 6))
            numbers = rng.choice([-1, 1, 0, 0.7071, -0.3], (n, 3))
            cells, codes = rng.integers(0, 2, n), rng.integers(0, 3, n)
            first = _sums(design, FeatureRows(numbers, (cells,)), codes)
            numbers, cells, codes = numbers.copy(), cells.copy(), codes.copy()
            numbers[0], cells[0], codes[0] = rng.choice([-1, 1], 3), rng.integers(0, 2), rng.integers(0, 3)
            assert noise.loss_between(first, _sums(design, FeatureRows(numbers, (cells,)), codes)) <= 1


def test_the_noise_is_less_than_with_equal_units_and_much_less_than_one_share_each():
    for columns in (4, 30):
        design = JointSums(2, (), columns)
        errors = design.errors(design.noise(1.0, "add-remove"))
        equal = np.sqrt(2) * (1 + 1.5 * columns)
        assert errors.sums < 1.1 * equal
        assert errors.counts < 0.6 * equal
        apart = layout("vaidya", 2, (), columns)
        assert errors.sums < apart.errors(apart.noise(1.0, "add-remove")).sums


def _pairs(design: JointSums, neighbours: str) -> list[tuple[Any, Any]]:
    """Neighbours: edge values, label flips, one class absent, nobody else, one and many others."""
    ends = [
        _record(first, second, category, code)
        for first in (-1, 0, 1)
        for second in (-1, 1)
        for category, code in ((0, 0), (1, 1))
    ]
    pairs = []
    for others in (0, 1, 2, 200):
        for edge in (-1.0, 1.0):
            rest = FeatureRows(np.full((others, 2), edge), (np.zeros(others, int), np.zeros(others, int)))
            for code in (0, 1):
                base = [(rest, np.full(others, 1 - code))] if others else []
                with_one = [_sums_of(design, [*base, (one, np.array([code]))]) for one in ends]
                nobody = _sums_of(design, base)
                if neighbours == "add-remove":
                    pairs += [(nobody, one) for one in with_one]
                    pairs += [
                        (_sums_of(design, base), _sums_of(design, [*base, (one, np.array([1 - code]))])) for one in ends
                    ]
                else:
                    flipped = [_sums_of(design, [*base, (one, np.array([1 - code]))]) for one in ends]
                    pairs += [(one, other) for one in with_one for other in [*with_one, *flipped]]
                    # The others stand half in each class, so that both deviations can change by much.
                    halves = np.arange(others) % 2
                    apart = (
                        FeatureRows(np.where(halves[:, None] == 0, -edge, edge) * np.ones((others, 2)), rest.codes),
                        halves,
                    )
                    here, there = (
                        [*([apart] if others else []), (_record(value, value, 1, 1), np.array([place]))]
                        for place, value in ((0, edge), (1, -edge))
                    )
                    pairs.append((_sums_of(design, here), _sums_of(design, there)))
    return pairs


def _record(first: float, second: float, category: int, code: int) -> FeatureRows:
    return FeatureRows(np.array([[first, second]], float), (np.array([category]), np.array([category + code])))


def _sums_of(design: JointSums, groups: list[tuple[FeatureRows, Any]]) -> Any:
    numbers = np.concatenate([np.empty((0, design.numbers)), *(rows.numbers for rows, _ in groups)])
    codes = tuple(
        np.concatenate([np.empty(0, int), *(rows.codes[place] for rows, _ in groups)])
        for place in range(len(design.cells))
    )
    return _sums(
        design, FeatureRows(numbers, codes), np.concatenate([np.empty(0, int), *(classes for _, classes in groups)])
    )


def _sums(design: JointSums, rows: FeatureRows, codes: Any) -> Any:
    """What the noise is added to, for numbers that are declared from −1 to 1."""
    ends = np.full((2, design.numbers), 1.0) * [[-1], [1]]
    return design.released(design.count(rows, np.asarray(codes, np.int64), *ends))


# Everything fitted comes from noisy sums.


def test_with_the_noisy_sums_fixed_nothing_fitted_depends_on_the_data(monkeypatch):
    schema = Schema({"colour": ["red", "blue"], "size": Grid(0.0, 10.0)})
    monkeypatch.setattr(SumNoise, "draw", lambda self, sums, entropy: np.arange(len(self.units)) * 1000)
    for method in ("joint", "vaidya"):
        models = []
        for colours, sizes, y in ((["red"] * 5, [1.0] * 5, [0] * 5), (["red", "blue"] * 50, [9.0] * 100, [1] * 100)):
            model = NaiveBayes(1.0, bounds=schema, classes=[0, 1], method=method, rng=3)
            models.append(model.fit(pd.DataFrame({"colour": colours, "size": sizes}), y))
        first, second = (pickle.dumps(vars(model)) for model in models)
        assert first == second


@pytest.mark.parametrize(("numbers", "cells"), [(1, ()), (2, ()), (4, ()), (10, ()), (200, ()), (3, (2, 5)), (0, (4,))])
def test_the_noise_of_sums_is_what_the_docstring_says(numbers, cells):
    design = layout("joint", 2, cells, numbers)
    ratio = round((numbers + len(cells)) ** 0.4)
    stated = math.sqrt(2) * (ratio + len(cells) + 1.25 * numbers) / 0.7
    for neighbours, factor in (("add-remove", 1), ("replace", 2)):
        errors = design.errors(design.noise(0.7, neighbours))
        assert errors.sums == pytest.approx(stated * factor if numbers else 0, rel=0.001)
        assert errors.counts == pytest.approx(stated * factor / ratio, rel=0.01)


def test_the_noise_on_counts_has_the_stated_spread():
    X, y = np.zeros((50, 2)), np.repeat([0, 1], 25)
    model = NaiveBayes(0.5, bounds=(-1, 1), classes=[0, 1], rng=bruit.Entropy(11))
    counts = np.array([model.fit(X, y).class_count_ for _ in range(300)])
    # 600 Laplace draws: the variance of a squared draw is 5 times its squared mean.
    assert np.mean((counts - 25) ** 2) == pytest.approx(model.noise_["counts"] ** 2, rel=6 * np.sqrt(5 / 600))
    assert abs(counts.mean() - 25) < 6 * model.noise_["counts"] / np.sqrt(600)


def test_the_noises_of_counts_sums_and_squares_do_not_go_together():
    design = JointSums(2, (), 1)
    noise = design.noise(1.0, "add-remove")
    entropy = bruit.Entropy(12)
    drawn = np.array([noise.draw(np.zeros(6, int), entropy) for _ in range(1000)])
    signs = np.sign(drawn)
    # Each product of two signs is ±1 or 0: its mean has a standard error of 1/√1000 at most.
    together = np.abs(signs.T @ signs / 1000)[~np.eye(6, dtype=bool)]
    assert together.max() < 6 / np.sqrt(1000)


def test_at_epsilon_one_the_accuracy_is_far_above_chance_on_small_tables():
    for load, classes, least in ((load_iris, [0, 1, 2], 0.75), (load_breast_cancer, [0, 1], 0.77)):
        X, y = load(return_X_y=True)
        bounds = (X.min(axis=0), X.max(axis=0))
        scores = [NaiveBayes(1.0, bounds=bounds, classes=classes, rng=seed).fit(X, y).score(X, y) for seed in range(40)]
        assert np.mean(scores) > least


def test_a_model_drowned_in_noise_still_gives_probabilities():
    X, y = load_iris(return_X_y=True)
    for method in ("joint", "vaidya"):
        for seed in range(20):
            model = NaiveBayes(0.01, bounds=(0, 8), classes=[0, 1, 2, 3], method=method, rng=seed).fit(X[:5], y[:5])
            found = model.predict_proba(X)
            assert found.shape == (150, 4)
            assert np.isfinite(found).all()
            assert found.sum(axis=1) == pytest.approx(1)
            assert (model.var_ > 0).all()


def test_probabilities_are_the_exponentials_of_their_logarithms():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(5.0, bounds=(0, 8), classes=[0, 1, 2], rng=2).fit(X, y)
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(model.predict_proba(X))
    joint = model.predict_joint_log_proba(X)
    assert (model.classes_[joint.argmax(axis=1)] == model.predict(X)).all()


def test_numbers_outside_the_bounds_count_as_the_nearest_bound():
    X, y = np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20)
    model = NaiveBayes(5.0, bounds=(0, 1), classes=[0, 1], rng=2)
    far = np.where(X > 0, 1e300, -1e300)
    assert model.fit(X, y).theta_.tolist() == clone(model).fit(far, y).theta_.tolist()
    assert model.predict_proba([[1e300]]).tolist() == model.predict_proba([[1.0]]).tolist()


# Categories and numbers together, from anywhere.


def _people(n: int = 4000) -> tuple[Schema, dict[str, Any]]:
    rng = np.random.default_rng(4)
    ill = rng.random(n) < 0.4
    smokes = np.where(rng.random(n) < np.where(ill, 0.8, 0.2), "yes", "no").astype(object)
    age = np.clip(rng.normal(np.where(ill, 60, 45), 10), 17, 90)
    schema = Schema({"smokes": ["no", "yes"], "age": Grid(17, 90), "shoe": Categories(k=3)})
    table = {"smokes": smokes, "age": age, "shoe": rng.integers(0, 3, n), "ill": np.where(ill, "ill", "well")}
    return schema, table


def test_categories_and_numbers_are_learnt_together():
    schema, table = _people()
    frame = pd.DataFrame(table)
    model = NaiveBayes(2.0, bounds=schema, classes=["ill", "well"], rng=1).fit(frame[list(schema)], frame["ill"])
    assert list(model.tables_) == ["smokes", "shoe"]
    assert model.tables_["smokes"] == pytest.approx(np.array([[0.2, 0.8], [0.8, 0.2]]), abs=0.05)
    assert model.theta_[:, 0] == pytest.approx([60, 45], abs=2)
    assert model.var_[:, 0] == pytest.approx([100, 100], rel=0.3)
    assert model.class_prior_ == pytest.approx([0.4, 0.6], abs=0.03)
    assert model.score(frame[list(schema)], frame["ill"]) > 0.83


@pytest.mark.parametrize("method", ["joint", "vaidya"])
def test_every_source_gives_the_same_model(tmp_path, method):
    schema, table = _people(500)
    model = NaiveBayes(1.0, bounds=schema, classes=["ill", "well"], method=method, rng=9)
    pq.write_table(pa.table({name: pa.array(list(column)) for name, column in table.items()}), tmp_path / "p.parquet")
    pd.DataFrame(table).to_csv(tmp_path / "p.csv", index=False)
    batches = ({name: column[part : part + 100] for name, column in table.items()} for part in range(0, 500, 100))
    X = np.stack([table[name].astype(object) for name in schema], axis=1)
    fits = [
        clone(model).fit(pd.DataFrame(table)[list(schema)], table["ill"]),
        clone(model).fit(
            pl.DataFrame({name: list(column) for name, column in table.items()}).select(*schema), table["ill"]
        ),
        clone(model).fit(X, table["ill"]),
        clone(model).fit(table, "ill"),
        clone(model).fit(batches, "ill"),
        clone(model).fit(str(tmp_path / "p.parquet"), "ill"),
        clone(model).fit(str(tmp_path / "p.csv"), "ill"),
    ]
    for other in fits[1:]:
        assert other.theta_.tolist() == fits[0].theta_.tolist()
        assert other.tables_["shoe"].tolist() == fits[0].tables_["shoe"].tolist()
    frame = pd.DataFrame(table)[list(schema)]
    assert fits[2].predict(X).tolist() == fits[0].predict(frame).tolist() == fits[5].predict(frame).tolist()


def test_a_table_of_numbers_in_a_file_needs_no_schema(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=y)
    frame.to_parquet(tmp_path / "iris.parquet")
    model = NaiveBayes(1.0, bounds=(0, 8), classes=[0, 1, 2], rng=9)
    assert clone(model).fit(tmp_path / "iris.parquet", "kind").theta_.tolist() == clone(model).fit(X, y).theta_.tolist()


@pytest.mark.usefixtures("any_epsilon")
def test_a_gap_may_be_a_category_and_rows_are_never_dropped():
    frame = pd.DataFrame({"a": ["x", None, "y", None] * 10})
    y = [0, 1, 0, 1] * 10
    kept = Schema({"a": Categories(labels=("x", "y"), missing="category")})
    model = NaiveBayes(20.0, bounds=kept, classes=[0, 1], rng=2).fit(frame, y)
    assert model.predict(frame).tolist() == y
    with pytest.raises(ParameterError, match="not dropped"):
        NaiveBayes(1.0, bounds=Schema({"a": Categories(labels=("x", "y"), missing="drop")}), classes=[0, 1]).fit(
            frame, y
        )


def test_adult_with_all_its_columns_is_learnt_at_epsilon_one():
    adult = datasets.load("adult")
    schema = Schema({name: attribute.domain for name, attribute in adult.schema.items() if name != "income"})
    table = {name: adult[name] for name in (*schema, "income")}
    model = NaiveBayes(1.0, bounds=schema, classes=adult.schema["income"].labels, rng=5).fit(table, "income")
    assert model.score(pd.DataFrame({name: table[name] for name in schema}), table["income"].astype(str)) > 0.79


# Declared parameters, refusals, silence.


class Unread:
    """Data that must not be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("data were read")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bounds": None}, "bounds must be declared"),
        ({"classes": None}, "classes must be declared"),
        ({"classes": []}, "empty"),
        ({"classes": [0, 0]}, "different"),
        ({"classes": [0, float("nan")]}, "finite"),
        ({"epsilon": 0}, "epsilon"),
        ({"bounds": (1, 0)}, "increasing"),
        ({"method": "other"}, "method"),
        ({"neighbours": "person"}, "neighbours"),
    ],
)
def test_bad_parameters_are_refused_before_data_are_read(changed, words):
    model = NaiveBayes(**({"epsilon": 1.0, "bounds": (0, 1), "classes": [0, 1]} | changed))
    with pytest.raises(ParameterError, match=words):
        model.fit(Unread(), Unread())


@pytest.mark.parametrize("classes", ["ab", 3, [0, "a"], [True, 1], [None, None], [[1], [2]]])
def test_classes_of_mixed_or_other_kinds_are_refused(classes):
    with pytest.raises(ParameterTypeError, match="classes"):
        declared_classes(classes)


def test_classes_are_found_as_numbers_texts_and_booleans():
    numbers, texts, truths = declared_classes([7, -1]), declared_classes(["no", "yes"]), declared_classes([True, False])
    assert numbers.tolist() == [-1, 7]
    for target in ([7, -1], [7.0, -1.0], np.array([7, -1], object), np.array(["7", "-1"])):
        assert class_codes(target, numbers).tolist() == [1, 0]
    assert class_codes(np.array(["yes", "no"], object), texts).tolist() == [1, 0]
    for target in ([True, False], np.array([True, False], object), ["True", "false"]):
        assert class_codes(target, truths).tolist() == [1, 0]


@pytest.mark.parametrize("target", [[0, 4711], [0, 0.5], ["secret", 0], [None, 0], [float("nan"), 0]])
def test_a_class_that_is_not_declared_is_refused_and_not_shown(target):
    for classes in ([0, 1], ["a", "b"]):
        with pytest.raises(DataError, match="declared classes") as caught:
            class_codes(np.array(target, object), declared_classes(classes))
        assert not any(word in str(caught.value) for word in ("4711", "secret", "0.5"))


def test_sample_weights_and_unknown_settings_are_refused():
    model = NaiveBayes(1.0, bounds=(0, 1), classes=[0, 1])
    with pytest.raises(ParameterError, match="Sample weights are refused"):
        model.fit([[0], [1]], [0, 1], sample_weight=[1, 2])
    with pytest.raises(TypeError, match="colour"):
        model.fit([[0], [1]], [0, 1], colour=3)


def test_noise_beyond_what_is_exact_is_refused_with_advice():
    X = np.zeros((4, 2000))
    with pytest.raises(LimitError, match="larger ε"):
        NaiveBayes(0.001, bounds=(0, 1), classes=[0, 1]).fit(X, [0, 1, 0, 1])


# The ledger and scikit-learn.


def test_cross_validation_books_every_fit_and_no_two_noises_are_equal():
    X, y = load_iris(return_X_y=True)
    ledger = bruit.Ledger(epsilon=5.0)
    model = NaiveBayes(1.0, bounds=(0, 8), classes=[0, 1, 2], ledger=ledger, rng=4)
    cross_val_score(model, X, y, cv=5)
    assert ledger.remaining.epsilon == pytest.approx(0, abs=1e-9)
    with pytest.raises(BudgetError):
        model.fit(X, y)
    assert not hasattr(model, "theta_")
    free = NaiveBayes(1.0, bounds=(0, 8), classes=[0, 1, 2], rng=4)
    half = [clone(free).fit(X[part::2], y[part::2]).class_count_.tolist() for part in (0, 1)]
    assert half[0] != half[1]  # the same counts behind them, and the same seed


def test_a_seed_repeats_a_fit_and_secure_noise_does_not():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(1.0, bounds=(0, 8), classes=[0, 1, 2], random_state=4)
    assert clone(model).fit(X, y).theta_.tolist() == clone(model).fit(X, y).theta_.tolist()
    assert model.fit(X, y).simulated_
    secure = NaiveBayes(1.0, bounds=(0, 8), classes=[0, 1, 2])
    assert secure.fit(X, y).theta_.tolist() != secure.fit(X, y).theta_.tolist()
    assert not secure.simulated_


def test_a_fitted_model_survives_pickling_pipelines_and_grid_search():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(5.0, bounds=(0, 8), classes=[0, 1, 2], rng=4).fit(X, y)
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    pipeline = make_pipeline(FunctionTransformer(), clone(model)).fit(X, y)
    assert pipeline.predict(X).tolist() == model.predict(X).tolist()
    search = GridSearchCV(clone(model), {"method": ["joint", "vaidya"]}, cv=2).fit(X, y)
    assert search.best_params_["method"] in ("joint", "vaidya")


def test_scikit_learn_finds_nothing_but_what_privacy_forbids():
    for method in ("joint", "vaidya"):
        model = NaiveBayes(5.0, bounds=(-10, 10), classes=[0, 1, 2, 3], method=method, random_state=3)
        results = check_estimator(model, expected_failed_checks=EXPECTED, on_skip=None)
        assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(EXPECTED)
        assert len(results) > 40


# Audits of whole models, and of a planted copy of a known defect.

#: Numbers far from 0: adding one changes a sum by 100, though their bounds are 1 apart.
BOUNDS = (99.0, 100.0)
ALONE = (np.array([[100.0], [99.0], [99.0]]), np.array([0, 0, 1]))
MORE = (np.array([[100.0], [99.0], [99.0], [100.0]]), np.array([0, 0, 1, 0]))
ABSENT = (np.array([[100.0], [99.0]]), np.array([0, 0]))
FLIPPED = (np.array([[100.0], [99.0], [99.0]]), np.array([1, 0, 1]))


def _fitted(method: str, neighbours: str) -> Any:
    def outputs(data: Any, trials: int, entropy: Any) -> Any:
        model = NaiveBayes(1.0, bounds=BOUNDS, classes=[0, 1], method=method, neighbours=neighbours, rng=entropy)
        return np.array([_shown(model.fit(*data)) for _ in range(trials)])

    return outputs


def _shown(model: Any) -> list[float]:
    """What a fitted model shows, and the sums that it lets one compute."""
    counts, means = model.class_count_, model.theta_[:, 0]
    return [*counts, *means, *(counts * means), *model.var_[:, 0]]


def _planted(data: Any, trials: int, entropy: Any) -> Any:
    """diffprivlib's GaussianNB for one column: a sum gets noise for the distance of its bounds, not for its size."""
    X, y = data
    rng = np.random.default_rng(int(entropy.words(1)[0]))
    third, (low, high) = 1 / 3, BOUNDS
    shown = []
    for code in (0, 1):
        mine = X[y == code, 0]
        share = -np.expm1(-third)
        counts = np.clip(mine.size + rng.geometric(share, trials) - rng.geometric(share, trials), 1, 10)
        noisy = np.clip(mine.sum() + rng.laplace(0, (high - low) / third, trials), low * counts, high * counts)
        mean = noisy / counts
        spread = np.maximum(mean - low, high - mean) ** 2
        squares = [((mine - one) ** 2).sum() for one in mean] + rng.laplace(0, 1, trials) * spread / third
        shown.append([counts, mean, noisy, np.maximum(squares, 0) / counts])
    return np.array([column for pair in zip(*shown, strict=True) for column in pair]).T


def test_the_audit_certifies_a_planted_copy_of_a_wrong_sum_sensitivity():
    assert audit.empirical(_planted, MORE, ALONE, trials=60_000, level=0.999, rng=3).epsilon_lower > 2


@pytest.mark.audit
@pytest.mark.parametrize("method", ["joint", "vaidya"])
def test_the_audit_certifies_nothing_above_epsilon_for_a_few_fits(method):
    found = audit.empirical(_fitted(method, "add-remove"), MORE, ALONE, trials=400, level=1 - 1e-7, rng=5)
    assert found.epsilon_lower <= 1


@pytest.mark.audit
@pytest.mark.parametrize("method", ["joint", "vaidya"])
@pytest.mark.parametrize(
    ("neighbours", "first", "second"),
    [("add-remove", MORE, ALONE), ("add-remove", ALONE, ABSENT), ("replace", ALONE, FLIPPED)],
)
def test_the_audit_certifies_nothing_above_epsilon_for_many_fits(method, neighbours, first, second):
    found = audit.empirical(_fitted(method, neighbours), first, second, trials=8_000, level=1 - 1e-7, rng=6)
    assert found.epsilon_lower <= 1


@pytest.mark.audit
def test_the_same_audit_finds_much_of_epsilon_in_the_released_sums():
    """The control in the other direction: with the best score for the sums themselves the bound is near ε."""
    design = layout("joint", 2, (), 1)
    noise = design.noise(1.0, "add-remove")
    ends = (np.array([BOUNDS[0]]), np.array([BOUNDS[1]]))
    sums = [design.released(design.count(FeatureRows(X, ()), y.astype(np.int64), *ends)) for X, y in (MORE, ALONE)]
    scales = np.array([float(noise.by_unit[unit].scale) for unit in noise.units])

    def score(outputs: Any) -> Any:
        return ((np.abs(outputs - sums[1]) - np.abs(outputs - sums[0])) / scales).sum(axis=1)

    def outputs(exact: Any, trials: int, entropy: Any) -> Any:
        return np.array([noise.draw(exact, entropy) for _ in range(trials)])

    found = audit.empirical(outputs, sums[0], sums[1], trials=60_000, level=1 - 1e-7, rng=7, score=score)
    assert 0.6 < found.epsilon_lower <= 1
