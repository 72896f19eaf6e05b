"""The same files through Spark and through pyarrow: folders cut by columns, odd CSV, gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit
from bruit import Plan, engines
from bruit.domains.domain import DictionaryColumn
from bruit.engines import TextOptions
from bruit.engines import spark as engine
from bruit.errors import DataError, FormatError, ParameterError


def rows(source: Any, columns: list[str]) -> list[Any]:
    """All rows, sorted, with gaps as None."""

    def found(batch: dict[str, Any]) -> list[Any]:
        lists = []
        for name in columns:
            column = batch[name]
            if isinstance(column, DictionaryColumn):
                lists.append(np.append(column.entries.astype(object), None)[column.positions].tolist())
            else:
                lists.append(column.tolist())
        return list(zip(*lists, strict=True))

    return sorted(engines.fold(source, found, columns=columns), key=repr)


def test_columns_in_folder_names_are_texts_for_both(spark: Any, tmp_path: Path) -> None:
    expected = [(1, "2020", "a b"), (2, "2020", None), (3, "2021", "c/d=e"), (4, "007", "é")]
    made = spark.createDataFrame(expected, "x int, year string, city string")
    path = str(tmp_path / "folder")
    made.write.partitionBy("year", "city").parquet(path)
    for source in (path, Path(path).as_uri(), engine.read(spark, path), engine.read(spark, Path(path).as_uri())):
        assert rows(source, ["x", "year", "city"]) == sorted(expected, key=repr)
        assert rows(source, ["city"]) == sorted([row[2:] for row in expected], key=repr)


ODD = "\n".join(
    [
        "name;note;n",
        '"a;b";"line one',
        'line two";1',
        ' spaced ;"he said ""no""";2',
        '"";;?',
        "",
        "é;'single';4",
        "",
    ]
)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_csv_with_odd_quoting_is_read_alike(spark: Any, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(ODD.encode(encoding))
    text = TextOptions(delimiter=";", encoding=encoding, missing=("", "?"))
    expected = rows(engines.Source(path, text), ["name", "note", "n"])
    assert ("a;b", "line one\nline two", "1") in expected
    assert rows(engine.read(spark, str(path), text), ["name", "note", "n"]) == expected
    kept = TextOptions(delimiter=";", encoding=encoding, missing=())
    assert rows(engine.read(spark, str(path), kept), ["note"]) == rows(engines.Source(path, kept), ["note"])


def test_csv_that_is_broken_or_that_spark_reads_otherwise_is_refused(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("a,b\n1,2\n3\nsecret\n")
    with pytest.raises(FormatError, match="as many cells") as short:
        rows(engine.read(spark, str(path)), ["a"])
    assert "secret" not in repr(short.value)
    with pytest.raises(ParameterError, match="encodings"):
        engine.read(spark, str(path), TextOptions(encoding="cp1252"))
    with pytest.raises(ParameterError, match="standard input"):
        engine.read(spark, "-")
    with pytest.raises(ParameterError, match="must be a folder"):
        engine.read(spark, str(tmp_path / "x.json"))
    with pytest.raises(DataError, match="no such file"):
        engine.read(spark, str(tmp_path / "absent.parquet"))


def test_one_column_is_read_alike_and_refused_where_spark_would_leave_people_out(spark: Any, tmp_path: Path) -> None:
    import gzip

    whole = b'smokes\r\nno\r\n""\r\n"a ""b"""\r\nno\r\n'
    for name, data in (("one.csv", whole), ("one.csv.gz", gzip.compress(whole))):
        path = tmp_path / name
        path.write_bytes(data)
        assert rows(engine.read(spark, str(path)), ["smokes"]) == rows(path, ["smokes"])
    for name, data in (("gap.csv", b"smokes\nno\n\nyes\n"), ("gap.csv.gz", gzip.compress(b"smokes\r\nno\r\n\r\n"))):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(DataError, match="a blank line is a missing answer"):
            engine.read(spark, str(path))
    path.write_bytes(gzip.compress("smokes\nno\n".encode("utf-16")))
    with pytest.raises(ParameterError, match="convert it to UTF-8"):
        engine.read(spark, str(path), TextOptions(encoding="utf-16"))


def test_tab_separated_and_packed_files_are_read_alike(spark: Any, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "t.tsv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa\ta\tb\n1\t2\tx,y\n"))
    assert rows(engine.read(spark, str(path)), ["b"]) == rows(path, ["b"]) == [("x,y",)]


@pytest.mark.audit("OLH", "OUE")
@pytest.mark.parametrize("name", ["GRR", "OUE", "OLH"])
def test_what_spark_wrote_is_read_by_pyarrow_with_what_it_says_of_itself(spark: Any, tmp_path: Path, name: str) -> None:
    oracle = bruit.oracle(name, epsilon=1.0, k=300)
    pq.write_table(pa.table({"x": np.arange(300)}), tmp_path / "x.parquet")
    frame = engine.read(spark, str(tmp_path / "x.parquet"))
    plan = Plan({"x": oracle})
    said = {"bruit.format": "bruit.reports/1", "bruit.plan": plan.digest, "bruit.simulated": "false"}
    folder = tmp_path / "reports.parquet"
    assert plan.privatize(frame, to=folder) == 300
    tally = plan.tally(folder)
    assert tally.n == 300
    assert plan.tally(engine.read(spark, str(folder))) == tally
    assert list(engines.all_metadata(folder).values()) == [said]
