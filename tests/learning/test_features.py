"""Declared columns: what bounds may be, and how rows are read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bruit import Categories, Grid, Schema
from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError, MissingError, ParameterError, ParameterTypeError
from bruit.learning._features import Features, as_numbers


@pytest.mark.parametrize("bounds", [(0, 5e-324), (0, 1e-300), ([0, 0], [1, 5e-324]), (1e-320, 2e-320)])
def test_bounds_so_near_that_nothing_can_be_divided_by_their_distance_are_refused(bounds):
    with pytest.raises(ParameterError, match="too near"):
        Features.declared(bounds)


def test_a_table_without_columns_is_refused():
    with pytest.raises(DataError, match="must have a column"):
        Features.declared((0, 1)).of_columns({})


def test_a_column_of_two_dimensions_is_refused():
    with pytest.raises(DataError, match="one-dimensional"):
        Features.declared((0, 1)).of_columns({"a": np.zeros((3, 2))})


def test_one_pair_holds_for_every_column_and_sequences_for_each():
    low, high = Features.declared((0, 10)).ends(3)
    assert (low.tolist(), high.tolist()) == ([0, 0, 0], [10, 10, 10])
    low, high = Features.declared(([0, 17], [1, 90])).ends(2)
    assert (low.tolist(), high.tolist()) == ([0, 17], [1, 90])
    low, high = Features.declared((0, [1, 90])).ends(2)
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 90])


def test_missing_bounds_say_what_to_do_and_why():
    with pytest.raises(ParameterError, match=r"bounds=.0, 100.*would publish"):
        Features.declared(None)


@pytest.mark.parametrize("bounds", ["01", 5, (1,), (0, 1, 2), ([[0]], [[1]]), ("a", "b"), ([0, 1], [1, 2, 3])], ids=str)
def test_bounds_of_another_kind_are_refused(bounds):
    with pytest.raises(ParameterTypeError, match="bounds must be"):
        Features.declared(bounds)


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1), (-1.7e308, 1.7e308)], ids=str)
def test_bounds_that_are_not_finite_and_increasing_are_refused(bounds):
    with pytest.raises(ParameterError, match="finite and increasing"):
        Features.declared(bounds)


def test_another_number_of_columns_than_declared_is_refused():
    with pytest.raises(DataError, match="3 features, but 2 are declared"):
        Features.declared(([0, 0], [1, 1])).width(3)


def test_a_schema_or_a_plain_mapping_declares_names_and_categories_where_a_model_takes_them():
    schema = {"age": Grid(0, 9), "sex": ["F", "M"]}
    for declared in (schema, Schema(schema)):
        found = Features.declared(declared, categorical=True)
        assert found.names == ("age", "sex")
        assert found.ends(2)[1].tolist() == [9]
    with pytest.raises(ParameterError, match="numbers only"):
        Features.declared(schema)


def test_policies_that_would_drop_or_invent_numbers_are_refused():
    with pytest.raises(ParameterError, match="must not be missing"):
        Features.declared({"age": Grid(0, 9, missing="category")})
    with pytest.raises(ParameterError, match="not dropped"):
        Features.declared({"sex": Categories(labels=("F", "M"), missing="drop")}, categorical=True)


def test_columns_of_a_frame_are_read_by_name_and_those_of_an_array_by_place():
    found = Features.declared({"a": Grid(0, 9), "b": Grid(0, 9)})
    table = {"b": [3, 4], "c": [0, 0], "a": [1, 2]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        rows = found.of_columns(found.table(frame))
        assert rows.numbers.tolist() == [[1, 3], [2, 4]]
    rows = found.of_columns(found.table(np.array([[1, 3], [2, 4]])))
    assert rows.numbers.tolist() == [[1, 3], [2, 4]]
    for frame in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})):
        with pytest.raises(DataError, match="a column 'b', which is declared"):
            found.table(frame)


def test_numbers_that_files_keep_as_text_are_read_and_gaps_refused():
    column = DictionaryColumn(np.array(["1.5", "2"], object), np.array([1, 0, 1]))
    assert as_numbers(column, "column 'a'").tolist() == [2.0, 1.5, 2.0]
    with pytest.raises(MissingError, match="column 'a' has missing numbers"):
        as_numbers(DictionaryColumn(column.entries, np.array([1, -1])), "column 'a'")


@pytest.mark.parametrize("column", [["Vesoul"], [np.nan], [np.inf], [None], [{}]], ids=str)
def test_what_is_no_finite_number_is_refused_and_not_shown(column):
    with pytest.raises(DataError) as caught:
        as_numbers(np.array(column, object), "the target")
    assert "Vesoul" not in str(caught.value)
    assert "he target" in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_tuple_of_two_numbers_in_a_mapping_means_bounds_and_a_list_means_labels():
    found = Features.declared({"age": (18, 90), "smokes": ["no", "yes"], "grade": [1, 2]}, categorical=True)
    assert (found.low.tolist(), found.high.tolist()) == ([18], [90])
    assert sorted(found.categories) == [1, 2]
