"""A scaler by declared bounds: what it maps, that it keeps nothing, scikit-learn's conventions."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from bruit import Grid, Schema
from bruit.errors import DataError, MissingError, ParameterError, ParameterTypeError
from bruit.learning import DeclaredScaler
from bruit.testing import check_canary

FRAME = pd.DataFrame({"age": [20.0, 70.0], "pay": [0.0, 9000.0], "name": ["a", "b"]})
DECLARED = {"pay": (0, 10_000), "age": (0, 100)}


@pytest.mark.filterwarnings("ignore:Skipping check check_array_api_input")
def test_scikit_learn_s_checks_pass():
    results = check_estimator(DeclaredScaler(bounds=(-10, 10)), on_fail=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


def test_bounds_become_0_and_1_and_numbers_outside_the_nearest():
    scaler = DeclaredScaler(bounds=([0, -1], [10, 1]))
    assert scaler.fit_transform([[0, -1], [5, 0], [10, 1], [90, -7]]).tolist() == [[0, 0], [0.5, 0.5], [1, 1], [1, 0]]
    assert DeclaredScaler(bounds=(0, 10), clip=False).transform([[20.0]]).tolist() == [[2.0]]
    assert scaler.inverse_transform([[0.5, 0.5], [1, 0]]).tolist() == [[5, 0], [10, -1]]


def test_bounds_as_wide_as_there_are_give_finite_numbers():
    wide = DeclaredScaler(bounds=(-8e307, 8e307))
    assert wide.transform([[-8e307], [0.0], [8e307]]).ravel().tolist() == [0, 0.5, 1]


def test_the_fit_keeps_nothing_but_columns():
    first, second = (DeclaredScaler(bounds=(0, 1)).fit(rows) for rows in (np.zeros((3, 2)), np.ones((9, 2))))
    assert vars(first) == vars(second) == {"bounds": (0, 1), "clip": True, "n_features_in_": 2}
    assert pickle.dumps(first) == pickle.dumps(second)
    assert clone(first).get_params() == first.get_params()


@pytest.mark.parametrize("bounds", [DECLARED, Schema({name: Grid(*ends) for name, ends in DECLARED.items()})])
def test_columns_are_taken_by_name_in_the_declared_order(bounds):
    scaler = DeclaredScaler(bounds).fit(FRAME)
    expected = [[0, 0.2], [0.9, 0.7]]
    for rows in (FRAME, pl.from_pandas(FRAME), FRAME.to_dict("list"), FRAME[["pay", "age"]].to_numpy()):
        assert scaler.transform(rows).tolist() == expected
    assert scaler.get_feature_names_out().tolist() == ["pay", "age"]


def test_set_output_gives_frames():
    out = DeclaredScaler(DECLARED).set_output(transform="pandas").fit_transform(FRAME)
    assert list(out.columns) == ["pay", "age"]
    assert isinstance(DeclaredScaler((0, 1)).set_output(transform="polars").fit_transform(FRAME[["age"]]), pl.DataFrame)


@pytest.mark.parametrize(
    ("settings", "rows", "error"),
    [
        ({}, [[1.0]], ParameterError),
        ({"bounds": (1, 0)}, [[1.0]], ParameterError),
        ({"bounds": (0, 1), "clip": "yes"}, [[1.0]], ParameterTypeError),
        ({"bounds": ([0, 0], [1, 1])}, [[1.0]], DataError),
        ({"bounds": (0, 1)}, [[np.nan]], MissingError),
        ({"bounds": {"age": (0, 1)}}, {"pay": [1.0]}, DataError),
    ],
    ids=str,
)
def test_what_it_refuses(settings, rows, error):
    for verb in ("fit", "transform"):
        with pytest.raises(error):
            getattr(DeclaredScaler(**settings), verb)(rows)


def test_no_error_shows_a_value():
    check_canary(lambda column: DeclaredScaler({"age": (0, 100)}).fit_transform({"age": column}), good=[3.0, 5.0])
    check_canary(DeclaredScaler((0, 100)).transform, good=[[3.0], [5.0]])
    check_canary(DeclaredScaler((0, 100)).inverse_transform, good=[[0.3], [0.5]])
