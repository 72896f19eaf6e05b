"""Domains: what may be asked, and how data become codes."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bruit import engines
from bruit.domains import MISSING_LABEL, Attribute, Categories, Grid, Schema
from bruit.domains.codes import code_dtype
from bruit.domains.domain import DictionaryColumn
from bruit.domains.schema import as_domain
from bruit.errors import BruitError, DataError, DataTypeError, FormatError, LimitError, ParameterError

SECRET = "s3cr3t-value"
COLOURS = Categories(labels=["red", "green", "blue"])

AS_DATA = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "object": lambda values: np.array(values, object),
    "pandas": pd.Series,
    "categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "generator": iter,
    "dictionary": lambda values: DictionaryColumn(*np.unique(values, return_inverse=True)),
}


@pytest.mark.parametrize("kind", AS_DATA)
def test_labels_become_codes_whatever_holds_them(kind):
    values = ["blue", "red", "green", "blue"]
    assert COLOURS.encode(AS_DATA[kind](values)).tolist() == [2, 0, 1, 2]


def test_codes_take_the_smallest_type_that_fits():
    assert [code_dtype(size) for size in (2, 256, 257, 65536, 65537)] == [
        np.uint8,
        np.uint8,
        np.uint16,
        np.uint16,
        np.uint32,
    ]


def test_two_ways_to_write_a_letter_are_one_label():
    decomposed, composed = "e\u0301te\u0301", "\u00e9t\u00e9"
    seasons = Categories(labels=[decomposed, "hiver"])
    assert seasons.labels == (composed, "hiver")
    assert seasons.encode([composed, decomposed]).tolist() == [0, 0]
    with pytest.raises(ParameterError, match="different from each other"):
        Categories(labels=[composed, decomposed])


@pytest.mark.parametrize("gap", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_the_policy_for_missing_values_is_followed(gap):
    values = ["red", gap, "blue"]
    with pytest.raises(DataError, match='missing="drop"'):
        COLOURS.encode(values)
    assert Categories(labels=COLOURS.labels, missing="drop").encode(values).tolist() == [0, 2]
    counted = Categories(labels=COLOURS.labels, missing="category")
    assert counted.encode(values).tolist() == [0, 3, 2]
    assert counted.names[-1] == MISSING_LABEL
    assert counted.decode([3]).tolist() == [MISSING_LABEL]


def test_gaps_among_codes_follow_the_policy_too():
    assert Categories(k=3, missing="category").encode([0.0, np.nan, 2.0]).tolist() == [0, 3, 2]
    assert Categories(k=3, missing="drop").encode(pd.Series([0, None, 2], dtype="Int64")).tolist() == [0, 2]
    with pytest.raises(DataError, match="missing entries"):
        Categories(k=3).encode([0.0, np.nan])


def _from_a_source(domain, values):
    (batch,) = engines.batches({"x": values})
    return domain.encode(batch["x"])


@pytest.mark.parametrize(
    "encode", [lambda domain, values: domain.encode(values), _from_a_source], ids=["array", "source"]
)
@pytest.mark.parametrize("policy", ["refuse", "drop", "category"])
@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([0.0, 1.0], [0, 1]),
        (np.array([1.0, 0.0]), [1, 0]),
        (np.array([1.0, 0.0], object), [1, 0]),
        ([True, False], [1, 0]),
        (np.array([True, False], object), [1, 0]),
        ([0, 1], [0, 1]),
        (np.array([0, 1], object), [0, 1]),
        ([0.5, 0.0], None),
        ([2.0, 0.0], None),
        ([True, 0], None),
    ],
    ids=str,
)
def test_whether_codes_are_accepted_does_not_depend_on_whether_somebody_is_missing(values, codes, policy, encode):
    domain = Categories(k=2, missing=policy)
    assert _codes(encode, domain, values) == codes
    with_a_gap = np.array([*np.asarray(values, object), None], object)
    expected = {"refuse": None, "drop": codes, "category": codes and [*codes, 2]}
    assert _codes(encode, domain, with_a_gap) == expected[policy]
    if np.asarray(values).dtype.kind == "f":
        assert _codes(encode, domain, np.append(values, np.nan)) == expected[policy]


def _codes(encode, domain, values):
    try:
        return encode(domain, values).tolist()
    except BruitError:
        return None


@pytest.mark.parametrize(
    "values",
    [
        [3],
        [-1],
        [0.5],
        [0.0, 0.5],
        [np.inf],
        [3.0],
        [True, 0],
        ["1"],
        [None],
        [np.nan],
        [[0]],
        [True],
        [2**70],
        [object()],
        np.zeros((2, 2), int),
        "01",
        1,
        None,
    ],
)
def test_what_is_not_a_code_is_refused(values):
    with pytest.raises(BruitError):
        Categories(k=3).encode(values)


@pytest.mark.parametrize("values", [[SECRET], [SECRET, "red"], [7], ["Red"], ["red "], [b"red"], [("red",)], SECRET])
def test_what_is_not_a_label_is_refused_without_showing_it(values):
    with pytest.raises(BruitError) as caught:
        COLOURS.encode(values)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


def test_labels_of_numbers_and_booleans_are_not_confused():
    assert Categories(labels=[0, 1]).encode([1, 0.0]).tolist() == [1, 0]
    for other in ([True], ["1"], [1.5]):
        with pytest.raises(BruitError):
            Categories(labels=[0, 1]).encode(other)
    with pytest.raises(BruitError):
        Categories(labels=[False, True]).encode([1])
    assert Categories(k=2).encode([True, False]).tolist() == [1, 0]


NUMBERS = Categories(labels=["1", "2", "10", "0.5"], missing="category")
SPELT = {
    "whole numbers": (np.array([2, 1, 10]), [1, 0, 2]),
    "whole numbers of other widths": (np.array([2, 1, 10], np.uint8), [1, 0, 2]),
    "floats": (np.array([2.0, 0.5, math.nan]), [1, 3, 4]),
    "narrow floats": (np.array([2.0, 0.5], np.float32), [1, 3]),
    "a list": ([2, "1", 0.5, None, np.int64(10)], [1, 0, 3, 4, 2]),
    "objects": (np.array([2, "1", None], object), [1, 0, 4]),
    "a file with gaps": (DictionaryColumn(np.array([10, 2]), np.array([1, -1, 0])), [1, 4, 2]),
    "a file of texts": (DictionaryColumn(np.array(["10", "2"], object), np.array([1, 0])), [1, 2]),
}


@pytest.mark.parametrize("case", SPELT)
def test_a_number_is_the_label_that_spells_it(case):
    values, codes = SPELT[case]
    assert NUMBERS.encode(values).tolist() == codes


def test_narrow_floats_are_spelt_as_short_as_they_are():
    assert Categories(labels=["0.1", "0.2"]).encode(np.array([0.2, 0.1], np.float32)).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "value"),
    [
        (["1", "2"], True),
        (["0", "1"], np.array([False])),
        (["1.0", "2.0"], 1),
        (["01", "02"], 1),
        (["1", "2"], 1.5),
        (["1", "2"], 1j),
        (["1", "2"], b"1"),
        (["nan", "inf"], math.inf),
        (["true", "false"], 1),
    ],
)
def test_what_is_spelt_otherwise_is_not_the_label(labels, value):
    with pytest.raises(BruitError, match="must be among the declared labels"):
        Categories(labels=labels).encode(value if isinstance(value, np.ndarray) else [value])


@pytest.mark.parametrize("labels", [["false", "true"], ["False", "True"], ["FALSE", "TRUE", "unknown"]])
def test_a_boolean_is_the_label_that_spells_it_in_any_case(labels):
    domain = Categories(labels=labels)
    for values in (np.array([True, False]), [True, False], DictionaryColumn(np.array([True, False]), np.arange(2))):
        assert domain.encode(values).tolist() == [1, 0]


def test_two_labels_that_one_boolean_would_spell_are_refused():
    with pytest.raises(ParameterError, match="spell true or false in one way"):
        Categories(labels=["true", "false", "True"])


def test_whole_numbers_of_several_kinds_may_stand_in_one_list():
    assert Categories(k=3).encode([np.int64(1), 2, np.uint8(0)]).tolist() == [1, 2, 0]
    assert Categories(labels=[10, 20]).encode([np.int64(10), 20]).tolist() == [0, 1]


@pytest.mark.parametrize("values", [[0, True], [1, True, 1.0], [["red"], "red"], [{"a": 1}, "red"], [(0, 1), [0, 1]]])
def test_lists_that_mix_kinds_are_refused_with_an_error_of_our_own(values):
    for domain in (Categories(k=3), Categories(labels=[0, 1]), COLOURS):
        with pytest.raises(BruitError):
            domain.encode(values)


def test_numbers_in_a_text_file_are_read_as_the_labels_they_are():
    cells = DictionaryColumn(np.array(["20", "10"], object), np.array([0, 1, -1]))
    assert Categories(labels=[10, 20], missing="category").encode(cells).tolist() == [1, 0, 2]
    assert Categories(k=21, missing="drop").encode(cells).tolist() == [20, 10]
    with pytest.raises(DataError):
        Categories(k=20, missing="drop").encode(cells)


def test_an_entry_that_nobody_has_does_no_harm():
    cells = DictionaryColumn(np.array(["red", SECRET], object), np.array([0, 0]))
    assert COLOURS.encode(cells).tolist() == [0, 0]


def test_no_people_are_no_codes():
    assert COLOURS.encode([]).size == 0
    assert Categories(k=3).encode([]).dtype == np.uint8


@pytest.mark.parametrize(
    "bad",
    [
        {"labels": ["a"]},
        {"labels": []},
        {"labels": "ab"},
        {"labels": ["a", 1]},
        {"labels": [1.5, 2.5]},
        {"labels": None},
        {"k": 1},
        {"k": 2.0},
        {"k": "3"},
        {"k": 5, "labels": ["a", "b"]},
        {"k": 3, "missing": "ignore"},
        {"labels": ["a", MISSING_LABEL], "missing": "category"},
    ],
)
def test_categories_are_valid_from_birth(bad):
    with pytest.raises(BruitError):
        Categories(**bad)


def test_too_many_categories_are_refused_with_the_limit():
    with pytest.raises(LimitError, match="1,000,000"):
        Categories(k=1_000_001)


def test_decoding_refuses_what_is_no_code():
    with pytest.raises(DataError, match=r"0\.\.2"):
        COLOURS.decode([3])


def test_a_grid_sends_numbers_to_the_nearest_point():
    grid = Grid(0.0, 1.0, cells=5)
    assert grid.encode([0.0, 0.12, 0.13, 0.5, 1.0]).tolist() == [0, 0, 1, 2, 4]
    assert grid.decode([0, 4]).tolist() == [0.0, 1.0]
    assert grid.step == 0.25


def test_whole_numbers_keep_their_own_cells():
    ages = Grid(17, 90)
    assert ages.decode(ages.encode(range(17, 91))).tolist() == list(range(17, 91))
    assert Grid(0, 10**9).cells == Grid(0.0, 90.0).cells == 1024


@pytest.mark.parametrize("values", [[16.9], [91], [np.inf], ["17"], [True], [None], [[17]], [1j]])
def test_a_number_outside_its_grid_is_refused_not_clipped(values):
    with pytest.raises(BruitError):
        Grid(17, 90).encode(values)


def test_gaps_in_numbers_follow_the_policy():
    assert Grid(0, 9, missing="drop").encode([1, None, 3]).tolist() == [1, 3]
    counted = Grid(0, 9, missing="category")
    assert counted.encode([1.0, np.nan]).tolist() == [1, 10]
    assert np.isnan(counted.decode([10])[0])


@pytest.mark.parametrize("bad", [(1, 1), (2, 1), (0, np.inf), ("a", "b"), (np.nan, 1)])
def test_a_grid_needs_two_finite_ends(bad):
    with pytest.raises(BruitError):
        Grid(*bad)


def test_a_schema_encodes_any_table():
    schema = Schema({"sex": ["F", "M"], "age": Grid(17, 90)})
    table = {"sex": ["M", "F"], "age": [17, 20], "other": [0, 0]}
    for made in (table, pd.DataFrame(table), pl.DataFrame(table)):
        codes = schema.encode(made)
        assert codes["sex"].tolist() == [1, 0]
        assert codes["age"].tolist() == [0, 3]
    with pytest.raises(DataError, match="column 'age'"):
        schema.encode({"sex": ["M"]})


def test_a_schema_survives_the_round_trip_and_its_order_counts():
    schema = Schema(
        {"sex": Categories(labels=["F", "M"], missing="category"), "age": Grid(17, 90), "code": Categories(k=4)}
    )
    again = Schema.from_json(schema.to_json())
    assert again == schema
    assert hash(again) == hash(schema)
    assert list(again) == ["sex", "age", "code"]
    assert Schema({"a": ["x", "y"], "b": ["x", "y"]}) != Schema({"b": ["x", "y"], "a": ["x", "y"]})


@pytest.mark.parametrize("body", [None, [], [{}], [{"name": "a"}], [{"name": "a", "domain": {"kind": "tree"}}], [3]])
def test_a_damaged_schema_is_refused(body):
    with pytest.raises(FormatError):
        Schema.from_list(body)


@pytest.mark.parametrize("bad", [{}, {"": ["a", "b"]}, {"a": "xy"}, {"a": 3}, [("a", ["x", "y"])], {1: ["a", "b"]}])
def test_a_schema_is_valid_from_birth(bad):
    with pytest.raises(BruitError):
        Schema(bad)


def test_an_attribute_knows_its_labels():
    assert Attribute("age", Grid(1, 3)).labels == (1.0, 2.0, 3.0)
    with pytest.raises(DataTypeError):
        Attribute("age", Grid(1, 3)).encode(["x"])


def test_gaps_kept_beside_the_values_are_gaps():
    import pyarrow as pa

    numbers = Categories(labels=[1, 2, 3], missing="category")
    coded = pa.array([1, 2, None, 3]).dictionary_encode()
    for values in (
        np.ma.array([1, 2, 9, 3], mask=[0, 0, 1, 0]),
        coded,
        pa.chunked_array([coded]),
        pa.array([1, 2, None, 3]),
    ):
        assert numbers.encode(values).tolist() == [0, 1, 3, 2]
        with pytest.raises(DataError, match="missing"):
            Categories(labels=[1, 2, 3]).encode(values)


def test_labels_that_no_file_can_hold_are_refused():
    for bad in ([1, 2**60], ["a", "\ud800"]):
        with pytest.raises(ParameterError):
            Categories(labels=bad)


def test_texts_that_are_no_numbers_leave_no_trace_of_themselves():
    cells = DictionaryColumn(np.array(["1", SECRET], object), np.array([0, 1]))
    with pytest.raises(DataTypeError) as caught:
        Grid(0, 9).encode(cells)
    assert caught.value.__context__ is None
    assert Grid(0, 9).encode(DictionaryColumn(cells.entries, np.array([0, 0]))).tolist() == [1, 1]


def test_a_spark_frame_is_sent_to_the_engines():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    with pytest.raises(DataTypeError, match="to a Plan"):
        Categories(labels=("F", "M")).encode(frame)


def test_a_domain_is_known_by_its_class_and_its_names_are_not_computed(monkeypatch):
    def never(self):
        raise AssertionError("the names are computed")

    monkeypatch.setattr(Categories, "names", property(never))
    domain = Categories(k=1_000_000)
    assert as_domain(domain) is domain
    assert Schema({"a": domain})["a"].size == 1_000_000
