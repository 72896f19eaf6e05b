"""Reports that anybody made, counted where Spark keeps them: as from a file, row by row."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import bruit
from bruit.collection import Plan
from bruit.engines import spark as engine
from bruit.errors import DataError, DataTypeError, FormatError
from bruit.testing.hostile import LINES

SURVEY = bruit.oracle("GRR", epsilon=1.0, k=3)
BITS = bruit.oracle("OUE", epsilon=1.0, k=20)
PAIR = Plan({"a": ["0", "1"], "1": ["0", "1", "2"]}, 2.0, "SPL[GRR]")


def honest(n: int) -> list[bytes]:
    return [b"%d" % (i % 3) for i in range(n)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_of_anybody_are_counted_as_by_the_local_engine(spark: Any, tmp_path: Path, end: bytes) -> None:
    hostile = b"\n".join([line for line in LINES if len(line) < 10_000])
    data = b"r" + end + end.join([*honest(300), hostile, *honest(300)]) + end
    for name, content in (("r.csv", data), ("r.csv.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(content)
        expected = Plan({"r": SURVEY}).tally(tmp_path / name)
        assert expected.n >= 600
        assert expected.refused > 20
        frame = engine.read_reports(spark, str(tmp_path / name))
        assert Plan({"r": SURVEY}).tally(frame) == expected


def test_a_file_that_spark_cuts_into_parts_has_one_header(spark: Any, tmp_path: Path) -> None:
    rows = [b"%d,x,%d" % (i % 2, i % 3) for i in range(3000)]
    rows[7] = rows[1999] = b"a,note,1"  # as the header is
    (tmp_path / "r.csv").write_bytes(b'a,"note\nof two lines",1\n' + b"\n".join([*rows, b"", b'"0', b""]))
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")
    spark.conf.set("spark.sql.files.openCostInBytes", "0")
    try:
        frame = engine.read_reports(spark, str(tmp_path / "r.csv"))
        assert frame.rdd.getNumPartitions() > 1
        tally = PAIR.tally(frame)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
        spark.conf.unset("spark.sql.files.openCostInBytes")
    assert tally == PAIR.tally(tmp_path / "r.csv")
    assert (tally.n, tally.refused) == (2998, 4)


def test_rows_of_a_dataframe_are_one_report_or_one_refusal_each(spark: Any) -> None:
    rows = [(0, "1", b"", 2.0), (None, "x", None, 0.5), (7, None, b"\0\0\0", None), (2, "2", b"\0\0\0\0", 1.0)]
    frame = spark.createDataFrame(rows, "n int, t string, b binary, f double").coalesce(1)
    for column, expected in (("n", (2, 2)), ("t", (2, 2)), ("f", (2, 2)), ("b", (0, 4))):
        tally = Plan({column: SURVEY}).tally(frame)
        assert (tally.n, tally.refused) == expected, column
    tally = Plan({"b": BITS}).tally(frame)
    assert (tally.n, tally.refused) == (1, 3)
    dates = spark.sql("SELECT current_date() AS d, array(1, 2) AS a, named_struct('x', 1) AS s")
    for column in dates.columns:
        assert Plan({column: SURVEY}).tally(dates).refused == 1
    assert Plan({"n": SURVEY}).tally(frame.limit(0)).n == 0


def test_what_is_wrong_with_a_whole_file_is_an_error(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        engine.read_reports(spark, str(tmp_path / "absent.csv"))
    (tmp_path / "r.csv").write_bytes(b"")
    with pytest.raises(FormatError, match="empty"):
        engine.read_reports(spark, str(tmp_path / "r.csv"))
    (tmp_path / "r.csv").write_bytes(b"x\n1\n")
    with pytest.raises(DataError, match="must have a column 'r'"):
        Plan({"r": SURVEY}).tally(engine.read_reports(spark, str(tmp_path / "r.csv")))
    stream = spark.readStream.format("rate").load()
    with pytest.raises(DataTypeError, match="A stream has no end"):
        Plan({"value": SURVEY}).tally(stream)
