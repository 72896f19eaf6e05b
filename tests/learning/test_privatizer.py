"""The local privatizer: what it reports, what it promises, and how it behaves among scikit-learn's estimators."""

from __future__ import annotations

import math
import pickle
import traceback
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

from bruit import Categories, Entropy, Grid, Guarantee, Ledger, Plan, Schema
from bruit.errors import BudgetError, DataError, DisclosureWarning, LedgerError, ParameterError, RandomnessError
from bruit.learning import LocalPrivatizer
from bruit.learning.privatizer import feature_columns
from bruit.rounding import log_ceiling

SCHEMA = Schema({"town": ["Dole", "Dijon", "Metz"], "age": Grid(18, 90), "income": Grid(0.0, 9.0)})
PEOPLE = {
    "town": ["Dole", "Metz", "Metz", "Dijon"] * 5,
    "age": [18, 90, 40, 41] * 5,
    "income": [0.0, 9.0, 4.5, 1.25] * 5,
}


def of(**settings) -> LocalPrivatizer:
    return LocalPrivatizer(**{"epsilon": 6.0, "bounds": SCHEMA} | settings)


def test_reports_are_values_of_the_declared_domains():
    reports = of().set_output(transform="pandas").fit_transform(PEOPLE)
    assert set(reports["town"]) <= {"Dole", "Dijon", "Metz"}
    assert reports["age"].dtype == reports["income"].dtype == np.float64
    laplace = of(method="SPL[laplace]", mechanisms={"town": "GRR"}).fit_transform(PEOPLE)
    assert all(18 <= age <= 90 for age in laplace[:, 1])
    assert all(0 <= income <= 9 for income in laplace[:, 2])


def test_the_guarantee_is_the_exact_product_of_the_laws_of_all_attributes():
    fitted = of().fit(PEOPLE)
    ratio = math.prod(each.law.ratio for each in fitted.plan_.mechanisms.values())
    assert fitted.guarantee_ == Guarantee(epsilon=log_ceiling(ratio), neighbours="person")
    assert 6.0 - 1e-6 < fitted.guarantee_.epsilon <= 6.0


def test_with_epsilon_for_each_attribute_a_person_has_the_sum():
    fitted = of(epsilon=1.0, unit="attribute").fit(PEOPLE)
    assert 3.0 - 1e-6 < fitted.guarantee_.epsilon <= 3.0
    assert fitted.plan_.guarantees["attribute"].epsilon <= 1.0


def test_the_law_of_a_column_is_that_of_its_mechanism():
    # Four standard deviations beyond what a fixed seed needs: the seed is fixed, so this never fails by chance.
    people = {"town": ["Dole"] * 60_000, "age": [30] * 60_000, "income": [1.0] * 60_000}
    fitted = of(rng=5).fit(people)
    reports = fitted.transform(people)
    p = float(fitted.plan_.mechanisms["town"].p)
    assert abs(np.mean(reports[:, 0] == "Dole") - p) < 5 * math.sqrt(p * (1 - p) / 60_000)
    for place, name, value in ((1, "age", 30), (2, "income", 1.0)):
        mechanism = fitted.plan_.mechanisms[name]
        spread = math.sqrt(mechanism.output_variance().max() / 60_000)
        bias = mechanism.domain.step / 2 if name == "income" else 0.0
        assert abs(reports[:, place].astype(float).mean() - value) < 5 * spread + bias
        # The control: the mean is not that of another value.
        assert abs(reports[:, place].astype(float).mean() - mechanism.points[-1]) > 50 * spread


@pytest.mark.parametrize("base", ["GRR", "OUE", "SUE", "SS"])
def test_unbiased_features_of_a_category_have_mean_one_for_the_own_label_and_zero_for_others(base):
    people = {"town": ["Metz"] * 40_000, "age": [30] * 40_000}
    schema = Schema({"town": ["Dole", "Dijon", "Metz", "Nancy"], "age": Grid(18, 90)})
    settings = {"epsilon": 3.0, "bounds": schema, "mechanisms": {"town": base}, "output": "unbiased", "rng": 3}
    fitted = LocalPrivatizer(**settings).fit(people)
    assert fitted.get_feature_names_out().tolist() == ["town_Dole", "town_Dijon", "town_Metz", "town_Nancy", "age"]
    reports = fitted.transform(people)
    error = 6 * reports.std(axis=0) / math.sqrt(40_000)
    assert (np.abs(reports.mean(axis=0) - [0, 0, 1, 0, 30]) < error).all()


def test_unbiased_features_of_cells_by_randomised_response_and_of_bounded_laplace_average_to_the_number():
    people = {"age": [22] * 40_000, "size": [3] * 40_000}
    schema = Schema({"age": Grid(18, 30), "size": Grid(1, 9)})
    mechanisms = {"age": "GRR", "size": "laplace"}
    reports = LocalPrivatizer(
        epsilon=4.0, bounds=schema, mechanisms=mechanisms, output="unbiased", rng=8
    ).fit_transform(people)
    assert (np.abs(reports.mean(axis=0) - [22, 3]) < 6 * reports.std(axis=0) / 200).all()


def test_unary_encodings_give_one_column_of_bits_for_each_label():
    fitted = of(mechanisms={"town": "OUE"}, rng=2)
    reports = fitted.fit_transform(PEOPLE)
    assert fitted.get_feature_names_out().tolist()[:3] == ["town_Dole", "town_Dijon", "town_Metz"]
    assert set(np.unique(reports[:, :3].astype(float))) <= {0.0, 1.0}
    raw = fitted.plan_.privatize(PEOPLE, rng=9)["town"]
    columns = feature_columns(fitted.plan_, "town", "values", raw)
    assert np.array_equal(np.column_stack(columns), np.unpackbits(raw, axis=1, count=3, bitorder="little"))


@pytest.mark.parametrize("base", ["OLH", "PGR", "HR", "SS"])
def test_where_a_report_is_no_value_its_features_are_what_it_supports_and_unbiased_scores(base):
    schema = Schema({"a": ["x", "y", "z"], "b": ["x", "y", "z"]})
    people = {"a": ["y"] * 20_000, "b": ["z"] * 20_000}
    bits = LocalPrivatizer(epsilon=4.0, bounds=schema, method=f"SPL[{base}]", rng=3).fit_transform(people)
    assert bits.shape == (20_000, 6)
    assert set(np.unique(bits)) == {0.0, 1.0}
    settings = {"epsilon": 4.0, "bounds": schema, "method": f"SPL[{base}]", "output": "unbiased"}
    scores = LocalPrivatizer(**settings, rng=4).fit_transform(people)
    error = 6 * scores.std(axis=0) / math.sqrt(20_000)
    assert (np.abs(scores.mean(axis=0) - [0, 1, 0, 0, 0, 1]) < error).all()


@pytest.mark.parametrize("method", ["SMP[GRR]", "RS+FD[GRR]"])
def test_methods_whose_reports_are_no_table_of_values_are_refused_with_the_reason(method):
    schema = Schema({"a": ["x", "y", "z"], "b": ["x", "y", "z"]})
    reason = "missing|fake"
    with pytest.raises(ParameterError, match=reason):
        LocalPrivatizer(epsilon=1.0, bounds=schema, method=method).fit({"a": ["x"], "b": ["y"]})
    with pytest.raises(ParameterError, match=reason):
        LocalPrivatizer(Plan(schema, 1.0, method)).fit({"a": ["x"], "b": ["y"]})


def test_a_single_attribute_has_all_of_epsilon():
    numbers = LocalPrivatizer(epsilon=1.0, bounds=(0.0, 1.0)).fit(np.full((10, 1), 0.5))
    assert 1 - 1e-6 < numbers.guarantee_.epsilon <= 1.0
    labels = LocalPrivatizer(epsilon=1.0, bounds={"a": ["x", "y"]}).fit(pd.DataFrame({"a": ["x", "y"]}))
    assert str(labels.plan_.method) == "GRR"


def test_people_who_are_left_out_for_a_missing_value_are_not_possible():
    schema = {"a": Categories(labels=("x", "y"), missing="drop")}
    with pytest.raises(ParameterError, match="drops people"):
        LocalPrivatizer(epsilon=1.0, bounds=schema).fit({"a": ["x"]})


def test_a_missing_value_may_be_a_category_of_its_own():
    schema = {"a": Categories(labels=("x", "y"), missing="category"), "b": ["u", "v"]}
    reports = LocalPrivatizer(epsilon=40.0 / 2, bounds=schema).fit_transform({"a": ["x", None], "b": ["u", "v"]})
    assert set(reports[:, 0]) <= {"x", "y", "(missing)"}


def test_numbers_beyond_the_bounds_count_as_the_bounds():
    inside, beyond = np.array([[0.0], [1.0]] * 10), np.array([[-5.0], [7.0]] * 10)
    privatizer = LocalPrivatizer(epsilon=1.0, bounds=(0.0, 1.0), rng=4).fit(inside)
    assert np.array_equal(privatizer.transform(inside), privatizer.transform(beyond))


class Unreadable:
    """A table that raises when anybody looks at it."""

    def __getattr__(self, name):
        raise AssertionError("the data were read")

    def __len__(self):
        raise AssertionError("the data were read")


@pytest.mark.parametrize(
    "settings",
    [
        {"bounds": None},
        {"bounds": (1, 0)},
        {"epsilon": None},
        {"epsilon": -1.0},
        {"method": "SPL[nothing]"},
        {"output": "scores"},
        {"plan": Plan(SCHEMA, 1.0, "SPL[GRR]")},
        {"plan": "SPL", "epsilon": None, "bounds": None},
        {"rng": 1, "random_state": 1},
        {"rng": "seed"},
    ],
    ids=str,
)
def test_a_bad_or_missing_declaration_is_refused_before_any_data_is_read(settings):
    with pytest.raises((ParameterError, RandomnessError, TypeError)):
        of(**settings).fit(Unreadable())


def test_frames_mappings_and_arrays_give_the_same_reports_from_the_same_seed():
    numbers = {"age": PEOPLE["age"], "income": PEOPLE["income"]}
    schema = Schema({"age": SCHEMA["age"].domain, "income": SCHEMA["income"].domain})
    tables = [
        numbers,
        pd.DataFrame(numbers),
        pl.DataFrame(numbers),
        np.column_stack([numbers["age"], numbers["income"]]),
    ]
    found = [LocalPrivatizer(epsilon=2.0, bounds=schema, rng=1).fit_transform(table) for table in tables]
    assert all(np.array_equal(each, found[0]) for each in found)


def test_columns_are_read_by_name_whatever_their_order_and_none_may_be_undeclared():
    frame = pd.DataFrame(PEOPLE)[["income", "town", "age"]]
    fitted = of(rng=1).fit(frame)
    assert fitted.feature_names_in_.tolist() == ["income", "town", "age"]
    assert np.array_equal(fitted.transform(frame), of(rng=1).fit_transform(PEOPLE))
    with pytest.raises(DataError, match="no other"):
        of().fit(frame.rename(columns={"age": "years"}))
    with pytest.raises(DataError, match="4 features, but 3"):
        of().fit(frame.assign(other=1))
    with pytest.raises(DataError, match="feature names"):
        fitted.transform(frame[["town", "income", "age"]])


def test_pandas_and_polars_output_keep_the_type_of_each_column():
    reports = of().set_output(transform="pandas").fit_transform(pd.DataFrame(PEOPLE))
    assert reports.dtypes.map(str).to_dict()["age"] == "float64"
    assert isinstance(of().set_output(transform="polars").fit_transform(pl.DataFrame(PEOPLE)), pl.DataFrame)


@pytest.mark.parametrize("output", ["values", "unbiased"])
def test_the_index_of_a_frame_is_not_handed_on(output):
    frame = pd.DataFrame(PEOPLE, index=[f"diagnosis {place % 3}" for place in range(20)])
    privatizer = of(output=output).set_output(transform="pandas")
    found = [
        privatizer.fit_transform(frame),
        of(output=output).set_output(transform="pandas").fit(frame).transform(frame),
    ]
    with config_context(transform_output="pandas"):
        found.append(make_pipeline(of(output=output)).fit_transform(frame))
    for reports in found:
        assert isinstance(reports, pd.DataFrame)
        assert reports.index.equals(pd.RangeIndex(20))


def test_secure_noise_is_new_in_every_call_and_a_repeated_table_warns():
    fitted = of().fit(PEOPLE)
    first = fitted.transform(PEOPLE)
    with pytest.warns(DisclosureWarning, match="keep the first result"):
        second = fitted.transform(PEOPLE)
    assert not np.array_equal(first, second)
    others = {name: column[::-1] for name, column in PEOPLE.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.transform(others)
        few = {name: column[:3] for name, column in PEOPLE.items()}
        fitted.transform(few)
        fitted.transform(few)  # so few records may be equal by chance


def test_a_seed_repeats_the_reports_of_a_table_and_gives_other_tables_other_noise():
    numbers = np.full((4000, 1), 0.5)
    fitted = LocalPrivatizer(epsilon=1.0, bounds=(0.0, 1.0), random_state=3).fit(numbers)
    assert fitted.simulated_
    assert np.array_equal(fitted.transform(numbers), clone(fitted).fit(numbers).transform(numbers))
    fewer = fitted.transform(numbers[:3999])
    # With the noise of the whole table the reports would be its first ones.
    assert np.mean(fewer == fitted.transform(numbers)[:3999]) < 0.1


def test_an_entropy_gives_new_noise_in_every_call_and_no_copy_of_it_travels():
    privatizer = of(rng=Entropy(3)).fit(PEOPLE)
    assert privatizer.simulated_
    assert not np.array_equal(privatizer.transform(PEOPLE), privatizer.transform(PEOPLE))
    assert clone(privatizer).rng is privatizer.rng
    with pytest.raises(RandomnessError):
        pickle.dumps(privatizer)


def test_every_call_of_transform_is_booked_before_its_noise_also_through_clones():
    ledger = Ledger(epsilon=13.0, neighbours="person")
    fitted = of(ledger=ledger, rng=1).fit(PEOPLE)
    assert len(ledger) == 0
    fitted.transform(PEOPLE)
    clone(fitted).fit_transform(PEOPLE)
    assert len(ledger) == 2
    with pytest.raises(BudgetError):
        fitted.transform(PEOPLE)
    assert len(ledger) == 2
    with pytest.raises(LedgerError):
        of(ledger=Ledger(epsilon=50.0)).fit_transform(PEOPLE)


def test_data_that_are_refused_spend_nothing():
    ledger = Ledger(epsilon=13.0, neighbours="person")
    fitted = of(ledger=ledger).fit(PEOPLE)
    with pytest.raises(DataError):
        fitted.transform({**PEOPLE, "town": ["Vesoul"] * 20})
    assert len(ledger) == 0


@pytest.mark.parametrize(
    "change",
    [{"town": ["Vesoul"] * 20}, {"age": ["Vesoul"] * 20}, {"age": [math.inf] * 20}, {"income": [None] * 20}],
    ids=["unknown", "text", "infinite", "missing"],
)
def test_errors_about_data_show_no_value(change):
    with pytest.raises((DataError, TypeError)) as caught:
        of().fit_transform(PEOPLE | change)
    assert "Vesoul" not in "".join(traceback.format_exception(caught.value))


def test_errors_about_a_matrix_show_no_value():
    for bad in ([["12345.678"]], [["Vesoul"]], [12345.678], np.array([[12345.678j]])):
        with pytest.raises((DataError, TypeError)) as caught:
            LocalPrivatizer(epsilon=1.0, bounds=(0, 1)).fit_transform(bad if bad != [["12345.678"]] else [["1_2x"]])
        text = str(caught.value)
        assert "12345" not in text
        assert "Vesoul" not in text
        assert "1_2x" not in text


def test_a_fitted_privatizer_travels_and_carries_no_digest_of_the_data():
    fitted = of().fit(PEOPLE)
    fitted.transform(PEOPLE)
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.guarantee_ == fitted.guarantee_
    assert not copy._seen._tables
    assert copy.transform(PEOPLE).shape == (20, 3)


def test_clones_keep_every_parameter():
    privatizer = of(mechanisms={"town": "OUE"}, budgets={"town": 1.0, "age": 2.0, "income": 3.0}, unit="person")
    assert clone(privatizer).fit(PEOPLE).plan_ == privatizer.fit(PEOPLE).plan_
    plan = LocalPrivatizer(Plan(SCHEMA, 6.0, "SPL[ADP]"))
    assert clone(plan).plan == plan.plan


def test_pipelines_learn_from_reports_and_book_every_fold():
    ledger = Ledger(epsilon=100.0, neighbours="person")
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 600)
    X = pd.DataFrame({"town": np.where(y, "Metz", "Dole"), "age": 30 + 30 * y, "income": 2.0 + 3 * y})
    encoder = OneHotEncoder(categories=[["Dole", "Dijon", "Metz"]])
    from sklearn.compose import make_column_transformer

    features = make_column_transformer((encoder, ["town"]), remainder="passthrough")
    privatizer = of(epsilon=9.0, ledger=ledger).set_output(transform="pandas")
    model = make_pipeline(privatizer, features, LogisticRegression(max_iter=2000))
    scores = cross_val_score(model, X, y, cv=5)
    assert scores.mean() > 0.75
    assert len(ledger) == 10  # the training and the test part of every fold


def test_one_seed_through_cross_validation_gives_every_fold_its_own_noise():
    seen = []

    class Spy(GaussianNB):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    y = np.arange(200) % 2
    X = np.linspace(0, 1, 200).reshape(-1, 1)
    cross_val_score(make_pipeline(LocalPrivatizer(epsilon=1.0, bounds=(0.0, 1.0), random_state=0), Spy()), X, y, cv=5)
    assert len(seen) == 5
    assert all(np.mean(one == other) < 0.2 for i, one in enumerate(seen) for other in seen[:i])


def test_scikit_learns_own_checks_pass():
    # Skipped by scikit-learn itself, because noise is not the same twice: the consistency of repeated transforms.
    results = check_estimator(LocalPrivatizer(epsilon=1.0, bounds=(-10.0, 10.0)), on_skip=None, on_fail=None)
    assert [result["check_name"] for result in results if result["status"] not in ("passed", "skipped")] == []
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= {
        "check_pipeline_consistency",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_array_api_input",
    }


@pytest.mark.parametrize("columns", [1, 2])
def test_adp_takes_the_mechanism_of_least_error_whose_reports_are_bits_by_what_they_support(columns):
    schema = {f"a{j}": Categories(k=7) for j in range(columns)}
    epsilon = 0.6 * columns
    assert Plan(schema, epsilon, "SPL[ADP]" if columns > 1 else "ADP").mechanisms["a0"].name == "PGR"
    privatizer = LocalPrivatizer(epsilon=epsilon, bounds=Schema(schema), method="SPL[ADP]")
    reports = privatizer.fit_transform({name: np.arange(7) for name in schema})
    assert reports.shape == (7, 7 * columns)
    assert {found.name for found in privatizer.plan_.mechanisms.values()} == {"PGR"}


def test_an_option_that_was_renamed_is_answered_with_its_new_name():
    with pytest.raises(TypeError, match="'bases': write mechanisms="):
        LocalPrivatizer(epsilon=1.0, bases={"town": "OUE"})
