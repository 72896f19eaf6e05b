"""What is said about bad data: the rule, the column and a way out that works; no value, and no number of records."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from bruit import Categories, Grid
from bruit.errors import BruitError, DataError, MissingError, ParameterError
from bruit.learning import KMeans, LinearRegression, LocalNaiveBayes, LocalPrivatizer, NaiveBayes
from bruit.learning._validation import _words
from bruit.testing.silence import shown_by

pytestmark = pytest.mark.filterwarnings("ignore:At this ε noise hides")

#: A number of records that no message has a reason to hold.
N = 7331

MODELS = {
    "NaiveBayes": NaiveBayes(epsilon=1.0, bounds=(0, 1), classes=[0, 1]),
    "LinearRegression": LinearRegression(epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1)),
    "KMeans": KMeans(2, epsilon=1.0, bounds=(0, 1)),
    "LocalPrivatizer": LocalPrivatizer(epsilon=1.0, bounds=(0, 1)),
}


def said(verb: Any, *arguments: Any) -> str:
    """All that an error and those that led to it say."""
    with pytest.raises(BruitError) as caught:
        verb(*arguments)
    return "\n".join(text for _, text in shown_by(caught.value))


# Exact numbers of records.


@pytest.mark.parametrize("model", [MODELS["NaiveBayes"], MODELS["LinearRegression"]], ids=["bayes", "line"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((N, 1)), np.zeros(N - 1)),
        (np.zeros((N, 1)), np.zeros((N, 2))),
        (np.zeros((N, 0)), np.zeros(N)),
        (np.zeros((N, 1, 1)), np.zeros(N)),
        ([[0.0]] * N, [0.0] * (N - 1)),
        ({"x": np.zeros(N)}, np.zeros(N - 1)),
        ([[0.0]] * N, [[0.0]] * (N - 1) + [[0.0, 1.0]]),
    ],
    ids=["lengths", "two targets", "no columns", "three axes", "lists", "a mapping", "ragged targets"],
)
def test_no_message_tells_how_many_records_there_are(model: Any, X: Any, y: Any) -> None:
    text = said(model.fit, X, y)
    assert str(N) not in text
    assert str(N - 1) not in text


@pytest.mark.parametrize("name", MODELS)
def test_predictions_for_data_of_another_shape_tell_nothing_of_the_data(name: str) -> None:
    model = MODELS[name].fit(np.linspace(0, 1, 40).reshape(-1, 2), [0, 1] * 10)
    verb = model.transform if name == "LocalPrivatizer" else model.predict
    for X in (np.zeros((N, 3)), np.zeros(N), np.zeros((N, 0)), np.zeros((0, 2)), np.zeros((N, 2, 2)), [[0.0]] * N):
        assert str(N) not in said(verb, X)
    with pytest.raises(DataError, match="X has 3 features, but"):
        verb(np.zeros((N, 3)))


def test_a_score_of_targets_of_another_length_does_not_tell_how_many_there_are() -> None:
    for name in ("NaiveBayes", "LinearRegression"):
        model = MODELS[name].fit(np.zeros((20, 1)), [0, 1] * 10)
        assert str(N) not in said(model.score, np.zeros((N, 1)), np.zeros(N - 1))


# Which column.


@pytest.mark.parametrize("name", MODELS)
def test_the_column_that_holds_no_numbers_is_named(name: str) -> None:
    frame = pd.DataFrame({"age": [0.5, 0.5], "town": ["Vesoul", "Dole"]})
    text = said(MODELS[name].fit, frame, [0, 1])
    assert "Column 'town' must hold numbers" in text
    assert "Vesoul" not in text
    assert "Column 1 of X (the first is 0) must hold numbers" in said(MODELS[name].fit, frame.to_numpy(), [0, 1])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_the_column_with_a_gap_or_an_infinity_is_named(name: str, bad: float, word: str) -> None:
    frame = pd.DataFrame({"age": [0.5, 0.5], "income": [0.5, bad]})
    assert f"contains {word}: column 'income'" in said(MODELS[name].fit, frame, [0, 1])
    assert f"contains {word}: column 1 of X" in said(MODELS[name].fit, frame.to_numpy(), [0, 1])


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(epsilon=1.0, bounds={"age": (0, 1), "sex": ["F", "M"]}, classes=[0, 1]),
        LocalPrivatizer(epsilon=1.0, bounds={"age": Grid(0, 1), "sex": ["F", "M"]}),
    ],
    ids=["bayes", "privatizer"],
)
def test_the_categorical_column_that_breaks_a_rule_is_named(model: Any) -> None:
    verb = model.fit_transform if isinstance(model, LocalPrivatizer) else model.fit
    text = said(verb, {"age": [0.5, 0.5], "sex": ["F", "Vesoul"]}, [0, 1]).replace("\\", "")
    assert "Column 'sex': values must be among" in text
    assert "'age'" in said(verb, {"age": [0.5, "Vesoul"], "sex": ["F", "M"]}, [0, 1]).replace("\\", "")


def test_a_declared_column_that_a_model_cannot_take_is_named() -> None:
    with pytest.raises(ParameterError, match="'sex' is a category"):
        KMeans(2, epsilon=1.0, bounds={"age": (0, 1), "sex": ["F", "M"]}).fit([[0.5, 0.5]])


def test_a_list_of_two_numbers_is_bounds_where_labels_make_no_sense_and_asked_about_elsewhere() -> None:
    X = {"age": [20, 80] * 20, "smokes": [0, 1] * 20}
    with pytest.raises(ParameterError, match=r"write a tuple, \(18, 90\), for a number .* or texts, \['18', '90'\]"):
        NaiveBayes(1.0, bounds={"age": [18, 90]}, classes=[0, 1]).fit(X, [0, 1] * 20)
    model = NaiveBayes(1.0, bounds={"age": (18, 90), "smokes": [0, 1]}, classes=[0, 1], rng=1).fit(X, [0, 1] * 20)
    assert model.tables_["smokes"].shape == (2, 2)
    with pytest.raises(ParameterError, match=r"write a tuple, \(18, 90\)"):
        LocalPrivatizer(epsilon=1.0, bounds={"age": [18, 90]}).fit_transform({"age": [20]})
    assert LocalPrivatizer(epsilon=1.0, bounds={"age": (18, 90)}).fit({"age": [20]}).plan_.schema["age"].size == 73
    centres = [
        KMeans(2, epsilon=1.0, bounds={"age": box}, rng=1).fit(X).cluster_centers_ for box in ([18, 90], (18, 90))
    ]
    assert (centres[0] == centres[1]).all()


@pytest.mark.parametrize("name", ["NaiveBayes", "LinearRegression", "KMeans"])
def test_epsilon_is_asked_for_and_a_misspelt_column_is_suggested(name: str) -> None:
    model = MODELS[name]
    assert f"epsilon must be declared, the most that the model may tell about a record: {name}(epsilon=1.0" in said(
        clone(model).set_params(epsilon=None).fit, [[0.5]], [0]
    )
    frame = pd.DataFrame({"age": [0.5]})
    assert "Did you mean 'age'?" in said(clone(model).set_params(bounds={"agee": (0, 1)}).fit, frame, [0])


def test_targets_that_are_no_declared_class_are_told_what_to_do() -> None:
    texts = NaiveBayes(1.0, bounds=(0, 1), classes=["0", "1"])
    assert "write the classes without quotes" in said(texts.fit, [[0.5]], [0])
    numbers = said(MODELS["NaiveBayes"].fit, [[0.5]], [0.25])
    assert "use LinearRegression" in numbers
    assert "without quotes" not in numbers


# Advice about gaps ends: what is advised at last works.


def gaps(**columns: Any) -> dict[str, list[Any]]:
    return {"age": [0.5, 0.25] * 10, "sex": ["F", "M"] * 10} | columns


def bayes(**domains: Any) -> NaiveBayes:
    return NaiveBayes(epsilon=1.0, bounds={"age": Grid(0, 1), "sex": ["F", "M"]} | domains, classes=[0, 1])


def test_the_advice_about_missing_categories_ends_with_a_category() -> None:
    table, y = gaps(sex=["F", None] * 10), [0, 1] * 10
    with pytest.raises(MissingError, match=r'"sex": Categories\(labels=\[…\], missing="category"\)'):
        bayes().fit(table, y)
    with pytest.raises(ParameterError, match=r"'sex' are not dropped here: declare it as Categories\(labels"):
        bayes(sex=Categories(labels=["F", "M"], missing="drop")).fit(table, y)
    assert bayes(sex=Categories(labels=["F", "M"], missing="category")).fit(table, y).tables_["sex"].shape == (2, 3)


def test_the_advice_about_missing_numbers_ends_with_filling_them() -> None:
    table, y = gaps(age=[0.5, np.nan] * 10), [0, 1] * 10
    for policy in ("drop", "category"):
        with pytest.raises(ParameterError, match=r"'age' is a number.*missing=\"refuse\", and fill its gaps"):
            bayes(age=Grid(0, 1, missing=policy)).fit(table, y)
    with pytest.raises(MissingError, match=r"column 'age' has missing numbers.*Fill them with a number") as caught:
        bayes(age=Grid(0, 1, missing="refuse")).fit(table, y)
    assert "drop" not in str(caught.value)
    assert bayes().fit(gaps(age=[0.5, 0.0] * 10), y).theta_.shape == (2, 1)


def test_the_advice_about_missing_numbers_of_a_privatizer_ends_with_an_oracle() -> None:
    table = gaps(age=[0.5, np.nan] * 10)

    def private(policy: str, **settings: Any) -> LocalPrivatizer:
        bounds = {"age": Grid(0, 1, cells=4, missing=policy), "sex": ["F", "M"]}
        return LocalPrivatizer(epsilon=1.0, bounds=bounds, **settings)

    with pytest.raises(MissingError, match=r"Column 'age'.*missing=\"category\" and name an oracle.*'age': \"OUE\""):
        private("refuse").fit_transform(table)
    with pytest.raises(ParameterError, match=r"'age' drops missing values.*missing=\"category\""):
        private("drop").fit(table)
    with pytest.raises(ParameterError, match=r"'age'.*name an oracle"):
        private("category").fit(table)
    assert private("category", mechanisms={"age": "OUE"}).fit_transform(table).shape == (20, 6)
    assert private("refuse").fit_transform(gaps(age=[0.5, 0.0] * 10)).shape == (20, 2)


def test_the_advice_about_a_privatizer_for_one_column_ends() -> None:
    table = {"age": [0.5, np.nan] * 10}
    with pytest.raises(ParameterError, match=r"declare missing=\"refuse\" and leave the rows"):
        LocalPrivatizer(epsilon=1.0, bounds={"age": Grid(0, 1, missing="drop")}).fit(table)
    refusing = LocalPrivatizer(epsilon=1.0, bounds={"age": Grid(0, 1)})
    with pytest.raises(MissingError, match=r"Column 'age'.*leave these people out\.$"):
        refusing.fit_transform(table)
    assert refusing.fit_transform({"age": [0.5] * 10}).shape == (10, 1)


# scikit-learn's own words.


def test_the_message_about_a_single_value_does_not_show_it() -> None:
    with pytest.raises(TypeError) as caught:
        check_consistent_length(np.array(12345.678), [1])
    assert "12345" in str(caught.value)  # scikit-learn's own shows it
    assert "12345" not in _words(str(caught.value))
    assert "single value" in _words(str(caught.value))


def test_messages_about_columns_and_names_are_handed_on() -> None:
    for message in (
        "X has 3 features, but KMeans is expecting 2 features as input.",
        "The feature names should match those that were passed during fit.\nFeature names unseen at fit time:\n- a\n",
    ):
        assert _words(message) == message


@pytest.mark.parametrize(
    "message", ["could not convert string to float: 'Vesoul'", "Vesoul", "Input X contains NaN.\nVesoul"], ids=str
)
def test_a_message_that_is_not_known_is_not_shown(message: str) -> None:
    assert "Vesoul" not in _words(message)


ILL = {"age": [30.0, 60.0] * 200, "ill": [0, 1] * 200}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pa.table], ids=["mapping", "pandas", "arrow"])
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(epsilon=5.0, bounds={"age": (18, 90)}, classes=[0, 1], random_state=1),
        LinearRegression(epsilon=5.0, bounds={"age": (18, 90)}, target_bounds=(0, 1), random_state=1),
        LocalNaiveBayes(epsilon=5.0, bounds={"age": (18, 90)}, classes=[0, 1], random_state=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_score_takes_the_name_of_the_target_as_fit_does(model: Any, frame: Any) -> None:
    table = frame(ILL)
    fitted = clone(model).fit(table, "ill")
    assert fitted.score(table, "ill") == fitted.score({"age": ILL["age"]}, ILL["ill"]) > 0.5
    with pytest.raises(DataError, match=r"must have a column 'il', the target\. Did you mean 'ill'\?"):
        fitted.score(table, "il")
    with pytest.raises(ParameterError, match="'age' is the target"):
        fitted.score(table, "age")
    with pytest.raises(ParameterError, match="'ill' names a column, and X has no names"):
        fitted.score([[30.0]], "ill")


def test_score_by_name_leaves_the_target_out_where_bounds_have_no_names() -> None:
    table = pd.DataFrame(ILL)
    model = NaiveBayes(epsilon=5.0, bounds=(18, 90), classes=[0, 1], random_state=1)
    by_name = model.fit(table, "ill").score(table, "ill")
    assert by_name == model.fit(table[["age"]].to_numpy(), ILL["ill"]).score(table, "ill") > 0.9


def test_k_means_says_what_to_do_with_categories_and_why_it_keeps_no_labels() -> None:
    with pytest.raises(ParameterError, match="'smokes' is a category: leave it out of bounds, or code it as numbers"):
        KMeans(2, epsilon=1.0, bounds={"smokes": ["no", "yes"]}).fit({"smokes": ["no"]})
    model = KMeans(2, epsilon=5.0)
    assert not hasattr(model, "labels_")
    with pytest.raises(AttributeError, match=r"There is no labels_: .* predict\(X\)"):
        _ = model.labels_
    with pytest.raises(AttributeError, match=r"There is no inertia_: .* -score\(X\)"):
        _ = model.inertia_
    with pytest.raises(AttributeError, match="'KMeans' object has no attribute 'centres'"):
        _ = model.centres
    assert clone(model).n_clusters == pickle.loads(pickle.dumps(model)).n_clusters == 2
