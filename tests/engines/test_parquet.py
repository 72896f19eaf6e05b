"""Parquet: every type that can stand for an answer, odd row groups, large dictionaries, damage."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit
from bruit import Plan, engines
from bruit.domains import Categories
from bruit.domains.domain import DictionaryColumn
from bruit.engines import BATCH
from bruit.engines import parquet as parquet_engine
from bruit.errors import DataError, DataTypeError, FormatError


def values(column: Any) -> list[Any]:
    if not isinstance(column, DictionaryColumn):
        return column.tolist()
    return np.append(column.entries.astype(object), None)[column.positions].tolist()


def read(path: Path, columns: list[str] | None = None, **options: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for batch in engines.batches(engines.read(path, **options), columns):
        for name, column in batch.items():
            found.setdefault(name, []).extend(values(column))
    return found


def test_text_of_every_arrow_type_is_read_alike(tmp_path: Path) -> None:
    texts = ["a", None, "b", "", "a"]
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
    kinds += [pa.dictionary(pa.int64(), pa.large_string())]
    if hasattr(pa, "string_view"):
        kinds.append(pa.string_view())
    for kind in kinds:
        pq.write_table(pa.table({"x": pa.array(texts, pa.string()).cast(kind)}), tmp_path / "t.parquet")
        assert read(tmp_path / "t.parquet") == {"x": texts}


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_keep_their_type(tmp_path: Path, kind: str) -> None:
    top = np.iinfo(kind).max
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([0, top], kind), "gaps": pa.array([None, top], kind)}), path)
    (batch,) = engines.batches(path)
    assert batch["x"].dtype == np.dtype(kind)
    assert batch["x"].flags.writeable
    assert values(batch["x"]) == [0, top]
    assert values(batch["gaps"]) == [None, top]


def test_booleans_floats_decimals_and_columns_of_nothing_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table(
        {
            "bool": [True, False],
            "gaps": [None, True],
            "float": pa.array([1.5, None], pa.float32()),
            "decimal": [decimal.Decimal("3"), decimal.Decimal("4")],
            "nothing": pa.nulls(2),
            "numbers": pa.array([5, 6]).dictionary_encode(),
        }
    )
    pq.write_table(table, path)
    (batch,) = engines.batches(path)
    assert batch["bool"].dtype == bool
    assert values(batch["gaps"]) == [None, True]
    np.testing.assert_array_equal(batch["float"], np.array([1.5, np.nan], np.float32))
    assert values(batch["decimal"]) == [3.0, 4.0]
    assert values(batch["nothing"]) == [None, None]
    assert values(batch["numbers"]) == [5, 6]


@pytest.mark.parametrize("value", [datetime.timedelta(1), ["secret"], {"a": "secret"}])
def test_other_types_are_refused_by_name_and_without_data(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [value], "y": [1]}), path)
    with pytest.raises(DataTypeError, match="Column 'x' must hold text, numbers, booleans or dates") as caught:
        read(path)
    assert "secret" not in str(caught.value)
    assert read(path, columns=["y"]) == {"y": [1]}


def test_bytes_are_reports_and_no_answers(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [b"secret", b"public"]}), path)
    assert read(path)["x"] == [list(b"secret"), list(b"public")]
    for design in (bruit.oracle("GRR", epsilon=1.0, labels=["a", "b"]), bruit.oracle("OUE", epsilon=1.0, k=9)):
        with pytest.raises(DataTypeError, match="bytes can only hold reports") as caught:
            Plan({"x": design}).privatize(path)
        assert "secret" not in str(caught.value)
        tally = Plan({"x": design}).tally(path)
        assert (tally.n, tally.refused) == (0, 2)  # of another width than a report, or of another kind
    with pytest.raises(DataTypeError, match="bytes can only hold reports"):
        bruit.releases.release(path, bruit.releases.Mean("x", bounds=(0, 1), epsilon=1.0))


def test_row_groups_that_are_empty_or_small_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"x": [f"text {i % 1000}" for i in range(BATCH + 5)], "n": range(BATCH + 5)})
    with pq.ParquetWriter(path, table.schema) as writer:
        for start, stop in ((0, 0), (0, 10), (10, 10), (10, BATCH + 1), (BATCH + 1, BATCH + 5)):
            writer.write_table(table[start:stop])
    found = list(engines.batches(path))
    assert [len(batch["n"]) for batch in found] == [BATCH, 5]
    assert read(path) == table.to_pydict()


def test_a_file_without_rows_is_one_empty_batch(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([], pa.string()), "n": pa.array([], pa.int16())}), path)
    (batch,) = engines.batches(path)
    assert Categories(labels=("a", "b")).encode(batch["x"]).tolist() == []
    assert batch["n"].dtype == np.int16


@pytest.mark.parametrize("settings", [{}, {"use_dictionary": False}, {"dictionary_pagesize_limit": 1 << 28}])
def test_free_text_gives_no_more_entries_than_rows(tmp_path: Path, settings: dict[str, Any]) -> None:
    path = tmp_path / "t.parquet"
    count = 2 * BATCH + 10
    table = pa.table({"x": [f"text {i}" for i in range(count)]})
    pq.write_table(table, path, row_group_size=count, compression="none", **settings)
    start = 0
    for batch in engines.batches(path):
        column = batch["x"]
        assert column.entries.size <= column.positions.size
        assert values(column) == table["x"][start : start + BATCH].to_pylist()
        start += BATCH


def test_entries_of_a_large_dictionary_that_nobody_has_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    dictionary = pa.array([f"text {i}" for i in range(1000)])
    table = pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([700, None, 3, 700]), dictionary)})
    pq.write_table(table, path)
    for source in (path, table):
        (batch,) = engines.batches(source)
        assert batch["x"].entries.tolist() == ["text 3", "text 700"]
        assert batch["x"].positions.tolist() == [1, -1, 0, 1]


def test_only_columns_that_keep_entries_once_are_read_as_dictionaries(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    count = 300_000
    table = pa.table({"few": ["yes", "no"] * (count // 2), "many": [f"a longer text {i}" for i in range(count)]})
    pq.write_table(table, path)
    metadata = pq.ParquetFile(path).metadata
    assert parquet_engine._keeps_entries_once(metadata, "few")
    assert not parquet_engine._keeps_entries_once(metadata, "many")


def test_an_empty_text_is_a_text_and_declared_missing_texts_count(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": ["", "?", None, "a"]}), path)
    assert read(path) == {"x": ["", "?", None, "a"]}
    assert read(path, missing=("", "?")) == {"x": ["", None, None, "a"]}


def test_a_folder_is_read_in_the_order_of_names_and_needs_the_same_columns(tmp_path: Path) -> None:
    for name, table in {"b": {"x": [2], "y": [0]}, "a": {"x": [1]}, "c": {"x": [3]}}.items():
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    assert read(tmp_path) == {"x": [1, 2, 3]}
    with pytest.raises(DataError, match="column 'y'"):
        read(tmp_path, columns=["y"])


def test_a_folder_without_parquet_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(DataError, match=r"end in \.parquet"):
        read(tmp_path)


def test_a_column_whose_name_has_a_dot_is_a_column(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a.b": ["x"], "a": ["y"]}), path)
    assert read(path, columns=["a.b"]) == {"a.b": ["x"]}


def test_damage_is_a_format_error_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"x": [f"secret {i}" for i in range(50_000)]})
    pq.write_table(table, path, compression="snappy")
    whole = path.read_bytes()
    middle = len(whole) // 2
    for data in (
        b"",
        b"x,y\n1,2\n",
        whole[:middle],
        whole[:-1],
        whole[:middle] + b"\xff" * 4000 + whole[middle + 4000 :],
    ):
        path.write_bytes(data)
        with pytest.raises(FormatError, match="not a whole Parquet file") as caught:
            read(path)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_a_file_that_may_not_be_read_is_a_data_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError

    monkeypatch.setattr(pa, "OSFile", refuse)
    with pytest.raises(DataError, match="permission"):
        read(tmp_path / "t.parquet")


def test_reports_of_bytes_and_numbers_come_back_as_they_went(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    bits = np.random.default_rng(1).integers(0, 256, (BATCH + 3, 5)).astype(np.uint8)
    made = {"bits": bits, "code": bits[:, 0].copy(), "seed": bits[:, 1].astype(np.uint64) << 50}
    engines.map(made, path, lambda batch, words: batch, metadata={"plan": "é"})
    parts = list(engines.batches(path))
    for name, column in made.items():
        found = np.concatenate([part[name] for part in parts])
        assert found.dtype == column.dtype
        np.testing.assert_array_equal(found, column)
    assert engines.metadata_of(path) == {"plan": "é"}


def test_records_with_fields_come_back_as_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    made = np.zeros(BATCH + 3, np.dtype([("a", "<u8"), ("b", "<u8"), ("bucket", "u1")]))
    made["a"] = np.arange(made.size)
    engines.map({"r": made}, path, lambda batch, words: {"r": batch["r"][::-1]})  # not contiguous
    assert pq.read_schema(path).field("r").type == pa.binary(17)
    found = np.concatenate([batch["r"] for batch in engines.batches(path)])
    assert (found.dtype, found.shape) == (np.uint8, (BATCH + 3, 17))
    expected = np.concatenate([made[:BATCH][::-1], made[BATCH:][::-1]])
    np.testing.assert_array_equal(np.ascontiguousarray(found).view(made.dtype)[:, 0], expected)
    engines.map({"r": made[:0]}, path, lambda batch, words: batch)
    assert next(iter(engines.batches(path)))["r"].shape == (0, 17)


def test_bytes_with_gaps_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([b"ab", None], pa.binary(2))}), path)
    with pytest.raises(DataError, match="no missing entries"):
        read(path)


def test_metadata_of_a_file_without_any_is_empty_and_of_no_file_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    assert engines.metadata_of(tmp_path / "t.parquet") == {}
    with pytest.raises(DataError, match="There is no file"):
        engines.metadata_of(tmp_path / "gone.parquet")


def test_metadata_of_a_folder_are_those_of_every_file_that_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "reports.parquet"
    (folder / "deep").mkdir(parents=True)
    for place, name in enumerate(("b.parquet", "a.PARQUET", "deep/c.Parquet", "_left.parquet", ".hidden.parquet")):
        engines.map({"x": [place]}, tmp_path / "one.parquet", lambda batch, _: batch, metadata={"place": str(place)})
        (tmp_path / "one.parquet").rename(folder / name)
    found = engines.all_metadata(folder)
    assert {Path(file).name: texts["place"] for file, texts in found.items()} == {
        "a.PARQUET": "1",
        "b.parquet": "0",
        "c.Parquet": "2",
    }
    assert read(folder) == {"x": [1, 0, 2]}
    assert engines.all_metadata(folder / "a.PARQUET") == {str(folder / "a.PARQUET"): {"place": "1"}}


def test_a_csv_file_has_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    assert engines.all_metadata(tmp_path / "t.csv") == {}


@pytest.mark.parametrize(
    ("bad", "message"),
    [({"y": [1]}, "column 'x'"), ({"x": [[1]]}, "must hold"), ({"x": pa.nulls(1, pa.binary(2))}, "gaps|no missing")],
)
def test_an_error_in_a_folder_names_the_file(tmp_path: Path, bad: Any, message: str) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table(bad), tmp_path / "b.parquet")
    with pytest.raises((DataError, DataTypeError), match=message) as caught:
        read(tmp_path, columns=["x"])
    assert str(tmp_path / "b.parquet") in str(caught.value)
    assert caught.value.__context__ is None


def test_columns_in_folder_names_are_texts(tmp_path: Path) -> None:
    for number, place in enumerate(
        ["year=2020/city=a%20b", "year=2020/city=__HIVE_DEFAULT_PARTITION__", "year=007/city=x"]
    ):
        (tmp_path / place).mkdir(parents=True)
        pq.write_table(pa.table({"x": [number]}), tmp_path / place / "part.parquet")
    expected = {"x": [2, 1, 0], "year": ["007", "2020", "2020"], "city": ["x", None, "a b"]}
    assert read(tmp_path) == expected
    assert read(tmp_path, columns=["city"]) == {"city": expected["city"]}
    assert read(tmp_path, columns=["year", "x"], missing=("007",))["year"] == [None, "2020", "2020"]
    assert read(tmp_path.as_uri()) == expected
    assert list(engines.all_metadata(tmp_path.as_uri())) == [
        f"{tmp_path.as_uri()}/{place}/part.parquet"
        for place in ("year=007/city=x", "year=2020/city=__HIVE_DEFAULT_PARTITION__", "year=2020/city=a%2520b")
    ]
    with pytest.raises(DataError, match="'day'"):
        read(tmp_path, columns=["day"])


def test_a_folder_in_a_store_is_read_through_its_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import fs

    from bruit.engines import arrow

    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "data" / "a.parquet")
    pq.write_table(pa.table({"x": [2]}), tmp_path / "data" / "B.PARQUET")
    (tmp_path / "data" / "_SUCCESS").touch()
    (tmp_path / "data" / ".hidden.parquet").touch()
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(arrow, "store", lambda address: (store, address.removeprefix("test://")))
    assert read("test://data") == {"x": [2, 1]}
    assert read("test://data/a.parquet") == {"x": [1]}
    with pytest.raises(DataError, match="There is no file"):
        read("test://absent")


def test_bytes_of_one_length_are_reports_without_a_declared_width(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for kind in (pa.binary(), pa.large_binary()):
        pq.write_table(pa.table({"x": pa.array([b"ab", b"cd"], kind)}), path)
        (batch,) = engines.batches(path)
        assert batch["x"].tolist() == [[97, 98], [99, 100]]
        pq.write_table(pa.table({"x": pa.array([], kind)}), path)
        (batch,) = engines.batches(path)
        assert batch["x"].size == 0
        for wrong, error in (([b"ab", b"c"], DataTypeError), ([b"ab", None], DataError), ([b""], DataTypeError)):
            pq.write_table(pa.table({"x": pa.array(wrong, kind)}), path)
            with pytest.raises(error):
                list(engines.batches(path))


def test_a_dictionary_that_lacks_an_entry_is_damage_and_no_defect() -> None:
    indices = pa.array([0, 65], pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["no", "yes"]), safe=False)
    with pytest.raises(FormatError, match="the file is damaged"):
        bruit.release(pa.table({"x": column}), bruit.releases.Histogram("x", domain=["no", "yes"], epsilon=1.0))


def test_what_spark_keeps_of_columns_is_refused_where_it_is_nested_too_deeply(tmp_path: Path) -> None:
    plan = Plan({"x": ["a", "b"]}, 1.0)
    plan.privatize({"x": ["a", "b"]}, to=tmp_path / "reports.parquet")
    table = pq.read_table(tmp_path / "reports.parquet")
    key = b"org.apache.spark.sql.parquet.row.metadata"
    deep = b'{"fields":[{"metadata":' + b'{"secret":' * 100_000 + b"1" + b"}" * 100_000 + b"}]}"
    pq.write_table(table.replace_schema_metadata({key: deep}), tmp_path / "deep.parquet")
    for read_it in (engines.metadata_of, engines.all_metadata, plan.tally):
        with pytest.raises(FormatError, match="nested too deeply") as caught:
            read_it(tmp_path / "deep.parquet")
        assert "secret" not in repr((caught.value.args, caught.value.__context__, caught.value.__cause__))
