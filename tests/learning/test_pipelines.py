"""Steps before a private model that learn without noise draw a warning; declared ones do not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from bruit.learning import DeclaredScaler, KMeans, LinearRegression, NaiveBayes
from bruit.learning.pipelines import exact_steps, unknown_steps

X = np.random.default_rng(4).uniform(0, 1, (120, 3))
Y = (X[:, 0] > 0.5).astype(int)


def bayes() -> NaiveBayes:
    return NaiveBayes(1.0, bounds=(0, 1), classes=[0, 1], random_state=0)


def warnings_of(model) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y)
    return [item for item in caught if "without noise" in str(item.message)]


LEARNING = {
    "a scaler": (lambda: make_pipeline(StandardScaler(), bayes()), "StandardScaler"),
    "two": (lambda: make_pipeline(SimpleImputer(), PCA(2), bayes()), "SimpleImputer and PCA"),
    "an indicator of gaps": (
        lambda: make_pipeline(SimpleImputer(strategy="constant", add_indicator=True), bayes()),
        "SimpleImputer",
    ),
    "within columns": (
        lambda: make_pipeline(ColumnTransformer([("a", MinMaxScaler(), [0])], remainder="passthrough"), bayes()),
        "MinMaxScaler",
    ),
    "of the other columns": (
        lambda: make_pipeline(ColumnTransformer([("a", "passthrough", [0])], remainder=MinMaxScaler()), bayes()),
        "MinMaxScaler",
    ),
    "within a union": (lambda: make_pipeline(FeatureUnion([("a", StandardScaler())]), bayes()), "StandardScaler"),
    "a pipeline in one": (
        lambda: make_pipeline(StandardScaler(), make_pipeline(FunctionTransformer(), bayes())),
        "StandardScaler",
    ),
    "of the target": (
        lambda: TransformedTargetRegressor(
            LinearRegression(1.0, bounds=(0, 1), target_bounds=(-3, 3)), transformer=StandardScaler()
        ),
        "StandardScaler",
    ),
}
DECLARED = {
    "nothing": bayes,
    "a declared scaler": lambda: make_pipeline(DeclaredScaler((0, 1)), bayes()),
    "a constant": lambda: make_pipeline(SimpleImputer(strategy="constant", fill_value=0.5), bayes()),
    "functions": lambda: make_pipeline(FunctionTransformer(), Normalizer(), "passthrough", bayes()),
    "products": lambda: make_pipeline(PolynomialFeatures(2), bayes()),
    "another private model": lambda: make_pipeline(KMeans(2, epsilon=9.0, bounds=(0, 1)), bayes()),
    "a scaler behind it": lambda: make_pipeline(KMeans(2, epsilon=9.0, bounds=(0, 1)), StandardScaler(), GaussianNB()),
}


@pytest.mark.parametrize("name", LEARNING)
def test_a_step_that_learns_without_noise_draws_one_warning_at_the_line_of_the_fit(name):
    make, steps = LEARNING[name]
    caught = warnings_of(make())
    assert [str(item.message).partition(" before ")[0] for item in caught] == [steps]
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:At this ε noise hides")
@pytest.mark.parametrize("name", DECLARED)
def test_a_step_with_declared_parameters_draws_none(name):
    assert warnings_of(DECLARED[name]()) == []


def test_a_model_that_is_fitted_after_such_a_pipeline_draws_none():
    make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y)
    assert warnings_of(bayes()) == []


def test_a_cross_validation_warns_too():
    with pytest.warns(UserWarning, match="StandardScaler before NaiveBayes"):
        cross_val_score(make_pipeline(StandardScaler(), bayes()), X, Y, cv=2)


def test_encoders_are_judged_by_their_categories_and_strangers_by_their_silence():
    assert exact_steps(OneHotEncoder()) == ["OneHotEncoder"]
    assert exact_steps(OneHotEncoder(categories=[["a", "b"]])) == []
    assert exact_steps(OneHotEncoder(categories=[["a", "b"]], min_frequency=3)) == ["OneHotEncoder"]

    class Stranger:
        """Says nothing of itself."""

    assert exact_steps(Stranger()) == ["Stranger"]


def test_steps_that_run_a_user_s_code_are_known_within_others():
    class Own(Normalizer):
        """A step of a user."""

    assert unknown_steps(make_pipeline(FunctionTransformer(lambda rows: rows), bayes())) == ["FunctionTransformer"]
    assert unknown_steps(FeatureUnion([("a", Own()), ("b", Normalizer())])) == ["Own"]
    columns = ColumnTransformer([("a", FunctionTransformer(np.sort), [0]), ("b", "drop", [1])])
    assert unknown_steps(make_pipeline(columns, bayes())) == ["FunctionTransformer"]
    assert unknown_steps(FunctionTransformer(np.add, kw_args={"x2": 1})) == ["FunctionTransformer"]
    assert unknown_steps(make_pipeline(FunctionTransformer(), FunctionTransformer(np.log1p), None, bayes())) == []
