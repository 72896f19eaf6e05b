"""A schema read from data: what is read is said in a warning, and values go to codes and back in any frame."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bruit.domains import MISSING_LABEL, Categories, Grid, Schema
from bruit.errors import BruitError, DataError, DataTypeError, DisclosureWarning

TABLE = {
    "sex": ["F", "M", "F", None],
    "age": [17, 90, 33, 20],
    "children": [0, 2, 1, 2],
    "height": [1.5, 2.0, 1.75, 1.6],
    "smokes": [True, False, True, True],
}
FRAMES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", FRAMES)
def test_domains_are_read_from_any_frame(kind):
    with pytest.warns(DisclosureWarning):
        schema = Schema.from_frame(FRAMES[kind](TABLE), most_values=3)
    assert schema == Schema(
        {
            "sex": Categories(labels=["F", "M"], missing="category"),
            "age": Grid(17, 90),
            "children": [0, 1, 2],
            "height": Grid(1.5, 2.0),
            "smokes": [False, True],
        }
    )


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_values_go_to_codes_and_back(kind, backend):
    schema = Schema(
        {
            "sex": Categories(labels=["F", "M"], missing="category"),
            "age": Grid(17, 90),
            "smokes": [False, True],
        }
    )
    codes = schema.encode(FRAMES[kind](TABLE))
    decoded = schema.decode(codes, backend)
    columns = {name: list(np.asarray(decoded[name])) for name in schema}
    assert columns == {
        "sex": ["F", "M", "F", MISSING_LABEL],
        "age": TABLE["age"],
        "smokes": TABLE["smokes"],
    }
    assert (backend or "numpy") in type(decoded if backend else decoded["age"]).__module__


def test_the_warning_says_of_which_columns_what_was_read_and_shows_no_value():
    with pytest.warns(DisclosureWarning) as caught:
        Schema.from_frame({"sex": ["s3cr3t", "M", None], "age": [17.5, 99.25, 20.0], "smokes": [True, False, True]})
    (warning,) = caught
    text = str(warning.message)
    assert "of 'sex' which values occur and that some are missing" in text
    assert "of 'age' its least and greatest value" in text
    assert "smokes" not in text
    assert not any(value in text for value in ("s3cr3t", "99.25", "17.5"))
    assert warning.filename == __file__


def test_where_the_type_says_it_all_nothing_is_disclosed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = Schema.from_frame({"a": [True, True], "b": np.array([False, True])})
    assert schema["a"].labels == (False, True)


def test_categories_that_a_type_lists_are_taken_in_their_order():
    frames = [
        pd.DataFrame({"size": pd.Categorical(["S", "L"], categories=["S", "M", "L"])}),
        pl.DataFrame({"size": ["S", "L"]}, schema={"size": pl.Enum(["S", "M", "L"])}),
    ]
    for frame in frames:
        with pytest.warns(DisclosureWarning, match="the list of its categories"):
            assert Schema.from_frame(frame)["size"].labels == ("S", "M", "L")


def test_columns_may_be_chosen():
    with pytest.warns(DisclosureWarning):
        schema = Schema.from_frame(TABLE, columns=["age", "sex"])
    assert list(schema) == ["age", "sex"]
    with pytest.raises(DataError, match="column 'town'"):
        Schema.from_frame(TABLE, columns=["town"])


def test_whole_numbers_with_gaps_are_still_whole():
    with pytest.warns(DisclosureWarning):
        schema = Schema.from_frame(
            {"n": [1.0, 2.0, float("nan")], "m": pd.Series([5, None, 900], dtype="Int64")}, most_values=2
        )
    assert schema["n"].domain == Categories(labels=[1, 2], missing="category")
    assert schema["m"].domain == Categories(labels=[5, 900], missing="category")


@pytest.mark.parametrize(
    "frame",
    [
        {"a": ["x", "x"]},
        {"a": [3, 3]},
        {"a": [0.5, 0.5]},
        {"a": [None, None]},
        {"a": []},
        {"a": [1.0, float("inf")]},
        {"a": ["x", 1]},
        {"a": [b"x", b"y"]},
        {"a": [True, "x"]},
        3,
        None,
    ],
)
def test_what_no_domain_can_be_read_from_is_refused(frame):
    with pytest.raises((DataError, DataTypeError)):
        Schema.from_frame(frame)


def test_decoding_refuses_what_the_schema_does_not_have():
    schema = Schema({"sex": ["F", "M"]})
    for bad in ({"town": [0]}, {"sex": [2]}, {"sex": ["F"]}):
        with pytest.raises(BruitError):
            schema.decode(bad)
    with pytest.raises(BruitError, match="backend"):
        schema.decode({"sex": [0]}, "excel")
