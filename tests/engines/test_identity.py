"""Who a person is: floats are refused as names from where their own type loses whole numbers, from every source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import Plan, engines
from bruit.collection import Repeat
from bruit.engines import batch as batching
from bruit.engines import identity
from bruit.errors import BruitError, DataError
from bruit.oracles import Memory
from bruit.releases import Count, Person, Release

RELEASE = Release(Count(epsilon=1.0), person=Person("u", rows=1, missing="drop"))
PANEL = Plan({"zone": ["a", "b"]}, 1.0, repeat=Repeat(3, epoch_epsilon=2.0))
#: Types of floats, and from where each loses whole numbers.
LIMITS = {np.float16: 2**11, np.float32: 2**24, np.float64: 2**53}


def _masked(values: Any) -> Any:
    return np.ma.array(np.append(values, values[:1]), mask=[False] * len(values) + [True])


def _objects(*values: Any) -> Any:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _folder(values: Any, folder: Path) -> Any:
    """A folder of files of which one has the type and the other has doubles."""
    (folder / "people").mkdir(exist_ok=True)
    for name, column in (("a", values), ("b", np.array([1.0, 3.0]))):
        pq.write_table(pa.table({"u": column}), folder / "people" / f"{name}.parquet")
    return folder / "people"


def _parquet(values: Any, folder: Path) -> Any:
    pq.write_table(pa.table({"u": values}), folder / "people.parquet")
    return folder / "people.parquet"


def _query(values: Any, folder: Path) -> Any:
    if values.dtype == np.float16:
        return None
    return engines.query(f"SELECT * FROM '{_parquet(values, folder)}'")


#: From two numbers of a type to what holds them; None where it cannot.
SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "an array": lambda values, folder: {"u": values},
    "a list": lambda values, folder: {"u": list(values)},
    "a list with gaps": lambda values, folder: {"u": [*values, None]},
    "objects": lambda values, folder: {"u": _objects(*values)},
    "objects beside others": lambda values, folder: {"u": _objects(*values, "x", 3, None)},
    "a masked array": lambda values, folder: {"u": _masked(values)},
    "a series": lambda values, folder: {"u": pd.Series(values)},
    "categories": lambda values, folder: None if values.dtype == np.float16 else {"u": pd.Categorical(values)},
    "Arrow": lambda values, folder: {"u": pa.array(values)},
    "Arrow with gaps": lambda values, folder: {"u": pa.array([*values, None], pa.array(values).type)},
    "chunks": lambda values, folder: {"u": pa.chunked_array([pa.array([*values, None], pa.array(values).type)])},
    "a table": lambda values, folder: pa.table({"u": pa.array([*values, None], pa.array(values).type)}),
    "a dictionary": lambda values, folder: {"u": pa.array(values).dictionary_encode()},
    "a table of dictionaries": lambda values, folder: pa.table({"u": pa.array(values).dictionary_encode()}),
    "pandas": lambda values, folder: pd.DataFrame({"u": values}),
    "pandas' objects": lambda values, folder: pd.DataFrame({"u": pd.Series(_objects(*values), dtype=object)}),
    "pandas' objects beside others": lambda values, folder: pd.DataFrame({"u": pd.Series(_objects(*values, 3.0, 4))}),
    "pandas' gaps": lambda values, folder: (
        None
        if values.dtype == np.float16
        else pd.DataFrame({"u": pd.array([*values, None], values.dtype.name.title())})
    ),
    "polars": lambda values, folder: None if values.dtype == np.float16 else pl.DataFrame({"u": values}),
    "polars, lazy": lambda values, folder: None if values.dtype == np.float16 else pl.LazyFrame({"u": values}),
    "Parquet": _parquet,
    "DuckDB": _query,
    "batches": lambda values, folder: [{"u": values[:1]}, {"u": values[1:]}],
    "batches beside doubles": lambda values, folder: [{"u": values}, {"u": np.array([1.0])}],
    "batches beside whole numbers": lambda values, folder: [{"u": values}, {"u": np.array([1])}],
    "batches beside texts": lambda values, folder: [{"u": values}, {"u": ["x"]}],
    "batches beside gaps": lambda values, folder: [{"u": values}, {"u": [None, 3]}],
    "a folder of two types": _folder,
}


def _merged(name: str, kind: Any, folder: Path) -> bool:
    """Whether people whom a type cannot tell apart are accepted, or others refused."""
    limit = LIMITS[kind]
    for numbers in ([limit, limit + 2], [-limit, 1], [limit, 1]):
        source = SOURCES[name](np.array(numbers, kind), folder)
        if source is None:
            return False
        try:
            RELEASE.fold(source, 3)
        except BruitError:
            continue
        return True
    below = SOURCES[name](np.array([limit - 1, limit - 2], kind), folder)
    if name == "pandas' objects beside others" and kind is not np.float64:
        return False  # refused in any case: Arrow would make doubles of them
    people = RELEASE.fold(below, 3).reveal(design=RELEASE.digest)[0]
    return bool(people < 2)


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("name", SOURCES)
def test_floats_are_people_as_long_as_their_own_type_tells_them_apart(name: str, kind: Any, tmp_path: Path) -> None:
    assert not _merged(name, kind, tmp_path)


def test_a_limit_that_does_not_follow_the_type_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (identity, batching):
        monkeypatch.setattr(module, "exact_below", lambda dtype: min(2.0**53, float(np.finfo(dtype).max)))
    caught = {(name, kind) for name in SOURCES for kind in LIMITS if _merged(name, kind, tmp_path)}
    assert {kind for _, kind in caught} == {np.float16, np.float32}
    assert {"an array", "objects beside others", "Parquet", "polars", "DuckDB", "batches"} <= {
        name for name, _ in caught
    }


@pytest.mark.parametrize("kind", LIMITS)
def test_a_panel_refuses_them_too_and_draws_nothing(kind: Any, tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "memory.json", PANEL)
    before = memory.path.read_bytes()
    for column in (np.array([LIMITS[kind], 1], kind), np.array([0.5, 1], kind)):
        with pytest.raises(DataError, match="Column 'u': A person must be known by"):
            PANEL.privatize({"u": column, "zone": ["a", "b"]}, memory=memory, round=1, person="u")
    for nobody in (np.array([np.nan, 1], kind), ["x", None], np.array(["NaT", "2026-01-01"], "M8[D]")):
        with pytest.raises(DataError, match="must name everybody"):
            PANEL.privatize({"u": nobody, "zone": ["a", "b"]}, memory=memory, round=1, person="u")
    assert memory.path.read_bytes() == before


def test_longer_floats_are_people_below_2_to_the_53() -> None:
    column = np.array([3.0, np.nan, 3.0], np.longdouble)
    assert identity.keys(column).of_rows() == ["3", None, "3"]
    with pytest.raises(DataError, match="last digits"):
        identity.keys(np.array([2.0**53], np.longdouble))


def test_the_key_of_a_key_is_the_key() -> None:
    values = [3, -3, 3.0, -0.0, True, False, "3.0", "Jose\N{COMBINING ACUTE ACCENT}", "", " x", 10**30, np.int8(7)]
    assert [identity.key(identity.key(value)) for value in values] == list(map(identity.key, values))


def test_values_of_different_kinds_stay_different_where_pieces_are_joined() -> None:
    """True is no 1, and a day is no number, although NumPy would make one array of some of them."""
    pieces = [{"u": np.array([True, False])}, {"u": np.array([1, 0])}, {"u": np.array(["1970-01-02"], "M8[D]")}]
    (batch,) = engines.batches(iter(pieces))
    assert identity.keys(batch["u"]).of_rows() == ["true", "false", "1", "0", "1970-01-02"]


def test_a_rounded_number_is_still_a_number() -> None:
    values = batching.plain_values(np.array([2.0**24, 3.0], np.float32))
    assert [type(value) for value in values] == [batching.RoundedFloat, float]
    assert values == [2.0**24, 3.0]
    wide, narrow = np.array([2.0**24, 5.0]), np.array([2.0**24, 5.0], np.float32)
    plan = Release(Count(epsilon=1.0), {"u": [2**24, 5]})
    expected = plan.fold([{"u": wide}, {"u": wide}], 3).reveal(design=plan.digest).tolist()
    assert plan.fold([{"u": wide}, {"u": narrow}], 3).reveal(design=plan.digest).tolist() == expected == [2, 2]
