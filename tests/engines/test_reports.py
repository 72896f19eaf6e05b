"""Reports that anybody made, in memory and in files: a row is one report or one refusal, and no row reaches another."""

from __future__ import annotations

import gzip
import io
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bruit
from bruit.collection import Method, Plan
from bruit.engines import reports as reading
from bruit.errors import BruitError, DataError, DataTypeError, FormatError
from bruit.oracles import LocalHashing, RandomizedResponse, UnaryEncoding

SURVEY = RandomizedResponse(epsilon=1.0, k=3)
BITS = UnaryEncoding(epsilon=1.0, k=20)
HASHES = LocalHashing(epsilon=1.0, k=20)
PAIR = Plan({"a": ["0", "1"], "b": ["0", "1", "2"]}, 2.0, "SPL[GRR]")

#: One line of a CSV file of one column, which is no report.
FORGED: dict[str, bytes] = {
    "an open quote": b'"1',
    "a quote at the end": b'1"',
    "another cell": b"1,1",
    "bytes that are no text": b"\xff\xfe",
    "half a letter": b"\xc3",
    "a return inside": b"1\r1",
    "a return alone": b"\r",
    "two returns": b"1\r\r",
    "nothing": b"",
    "nothing in quotes": b'""',
    "a space": b" ",
    "a space before": b" 1",
    "a sign": b"-1",
    "a point": b"1.0",
    "digits of another alphabet": "١".encode(),
    "a null byte": b"1\0",
    "too large": b"3",
    "far too large": b"9" * 400,
}


def plan_of(design: Any, column: str | None = "r") -> Plan:
    """The plan, or the one that asks for a column by this mechanism."""
    return design if isinstance(design, Plan) else Plan({column: design})


def counted(source: Any, design: Any = SURVEY, column: str | None = "r") -> tuple[int, int]:
    tally = plan_of(design, column).tally(source)
    return tally.n, tally.refused


def sources(data: bytes, folder: Path) -> Iterator[Any]:
    """The same text as a stream, a file and a packed file."""
    yield io.BytesIO(data)
    (folder / "t.csv").write_bytes(data)
    yield folder / "t.csv"
    (folder / "t.csv.gz").write_bytes(gzip.compress(data))
    yield folder / "t.csv.gz"


@pytest.mark.parametrize("case", FORGED)
def test_one_forged_line_is_one_refusal_and_all_others_count(case: str, tmp_path: Path) -> None:
    honest = [b"%d" % (i % 3) for i in range(1000)]
    rows = [*honest[:499], FORGED[case], *honest[499:]]
    for end in (b"\n", b"\r\n"):
        data = b"r" + end + b"".join(row + end for row in rows)
        if case == "a return alone" and end == b"\r\n":
            data = data.replace(b"\r\r\n", b"\r\r\r\n")  # one more, for a single one before the end is tolerated
        for source in sources(data, tmp_path):
            assert counted(source) == (1000, 1)


def test_standard_input_is_read_as_hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'r\n0\n"1\n1,1\n2\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert counted("-") == (2, 2)


@pytest.mark.parametrize(
    ("data", "n", "refused"),
    [
        (b"r", 0, 0),
        (b"r\n", 0, 0),
        (b"r\n\n", 0, 1),
        (b"r\n1", 1, 0),
        (b"r\n1\n", 1, 0),
        (b"r\n1\n\n", 1, 1),
        (b"r\n1\r\n", 1, 0),
        (b"r\n1\r", 0, 1),
        (b"r\n1\n2", 2, 0),
        (b'r\n"1"\n', 1, 0),
        (b'"r"\n1\n', 1, 0),
        (b"\xef\xbb\xbfr\n1\n", 1, 0),
        (b"\n\nr\n1\n", 1, 0),
    ],
)
def test_only_the_end_of_the_last_line_ends_a_file(data: bytes, n: int, refused: int, tmp_path: Path) -> None:
    for source in sources(data, tmp_path):
        assert counted(source) == (n, refused)


def test_a_row_with_another_number_of_cells_than_the_header_is_refused() -> None:
    data = b"a,note,b\n1,x,2\n1,2\n1,x,2,3\n0,,0\n1,x,\n\n1;x;2\n1,1,1\n"
    assert counted(io.BytesIO(data), PAIR, None) == (3, 5)


def test_a_person_is_refused_once_however_many_reports_are_none() -> None:
    tally = PAIR.tally({"a": [0, "x", "x", 1, 7], "b": [2, 1, None, 9, 0]})
    assert (tally.n, tally.refused) == (1, 4)


def test_tabs_separate_in_a_file_that_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"a\tb\n1\t2\n1,2\n")
    assert counted(tmp_path / "t.tsv", PAIR, None) == (1, 1)


def slowly(data: bytes, width: int, place: int) -> tuple[int, int]:
    """What the reader must find of GRR reports in the rows of a file, one obvious step at a time."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    else:
        lines[-1] += b"\r" if lines[-1].endswith(b"\r") else b""
    n = 0
    for line in lines:
        row = line.removesuffix(b"\r")
        cells = row.split(b",")
        if b"\r" in row or len(cells) != width:
            continue
        cell = cells[place]
        if len(cell) > 1 and cell[:1] == cell[-1:] == b'"':
            cell = cell[1:-1]
        n += cell.isdigit() and len(cell) < 19 and int(cell) < SURVEY.size
    return n, len(lines) - n


@settings(deadline=None, max_examples=400)
@given(
    data=st.lists(st.sampled_from([b"0", b"2", b"3", b",", b'"', b"\r", b"\n", b"\r\n", b" ", b"\xff", b"007", b"\0"])),
    width=st.integers(1, 3),
    block=st.integers(1, 40),
)
def test_the_reader_is_the_obvious_one_wherever_blocks_are_cut(data: list[bytes], width: int, block: int) -> None:
    body = b"".join(data)
    header = b",".join([b"x", b"y", b"r"][-width:]) + b"\n"
    longest = max(map(len, body.split(b"\n")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", max(block, longest))
        assert counted(io.BytesIO(header + body)) == slowly(body, width, width - 1)


@pytest.mark.parametrize("length", [39, 40, 41, 79, 80, 81, 500])
def test_a_line_that_is_too_long_is_one_refusal_wherever_it_stands(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BLOCK", 40)
    limit = max(40, 2 * (2 + SURVEY.form.most_text))
    for before in range(60):
        body = b"0,x\n" * before + b"1," + b"x" * (length - 2) + b"\n" + b"0,x\n" * 50
        fits = length <= limit
        assert counted(io.BytesIO(b"r,note\n" + body)) == (before + 50 + fits, 1 - fits)


class Long(io.RawIOBase):
    """A stream that is never in memory: a header, one line of so many bytes, and an honest line."""

    def __init__(self, piece: bytes, pieces: int) -> None:
        self._rest = [b"r\n", *[piece] * pieces, b"\n1\n"]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._rest:
            return b""
        piece, self._rest[0] = self._rest[0][:size], self._rest[0][size:]
        if not self._rest[0]:
            self._rest.pop(0)
        return piece


def peak(work: Callable[[], Any]) -> tuple[Any, int]:
    """The result, and how many bytes were in use at most."""
    work()  # what is compiled or loaded at the first use
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_of_a_gigabyte_takes_no_more_memory_than_a_few_blocks() -> None:
    found, most = peak(lambda: counted(Long(b"1" * (1 << 20), 1024)))
    assert found == (1, 1)
    assert most < 16 * reading.BLOCK


@pytest.mark.audit
def test_memory_does_not_grow_with_honest_or_blank_lines() -> None:
    for line in (b"1\n", b"\n"):
        found, most = peak(lambda line=line: counted(Long(line * (1 << 19), 64)))
        assert sum(found) == (1 << 25) + 2
        assert most < 80 * reading.BLOCK


def test_blank_lines_do_not_take_memory_for_columns_that_they_do_not_have() -> None:
    plan = Plan({f"a{i}": ["0", "1"] for i in range(200)}, 10.0, "SPL[GRR]")
    header = ",".join(plan.form).encode()
    data = header + b"\n" + b"\n" * (1 << 20) + b"0," * 199 + b"1\n"
    found, most = peak(lambda: counted(io.BytesIO(data), plan, None))
    assert found == (1, 1 << 20)
    assert most < 80 * reading.BLOCK


HEADERS: dict[str, tuple[bytes, type[BruitError], str]] = {
    "nothing": (b"", FormatError, "empty"),
    "another column": (b"smokes\n1\n", DataError, "must have a column 'r'"),
    "the column twice": (b"r,r\n1,1\n", DataError, "and has several"),
    "no text": (b"\xff\xfe\n1\n", FormatError, "not encoded"),
    "no end": (b"r\r1\r2\n1\n", FormatError, "must end with a line feed"),
    "Parquet": (b"PAR1", FormatError, "Parquet"),
    "an open quote": (b'"r\n1\n', FormatError, "empty"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_what_is_wrong_with_a_whole_file_is_an_error(case: str, tmp_path: Path) -> None:
    data, kind, message = HEADERS[case]
    for source in sources(data, tmp_path):
        with pytest.raises(kind, match=message):
            counted(source)


def test_a_packed_file_that_is_cut_short_is_an_error(tmp_path: Path) -> None:
    packed = gzip.compress(b"r\n" + bytes(np.random.default_rng(1).integers(48, 51, 100_000, np.uint8)))
    (tmp_path / "t.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="not a whole CSV file"):
        counted(tmp_path / "t.csv.gz")


def test_a_file_that_is_not_there_or_of_another_kind_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        counted(tmp_path / "t.csv")
    (tmp_path / "t.txt").write_bytes(b"r\n1\n")
    with pytest.raises(BruitError, match="must be a folder of Parquet files or end in"):
        counted(tmp_path / "t.txt")
    with pytest.raises(DataTypeError, match="Data must be"):
        counted(5)
    with pytest.raises(DataTypeError, match="binary mode"):
        counted(io.StringIO("r\n1\n"))


# Parquet and frames.


def rows_of(design: Any, n: int = 12) -> list[bytes]:
    return [row.tobytes() for row in design.privatize(np.arange(n) % 3, rng=1)]


@pytest.mark.parametrize("design", [BITS, HASHES], ids=lambda design: design.name)
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), "fixed"])
def test_a_short_a_long_or_a_missing_row_of_bytes_is_one_refusal(design: Any, kind: Any, tmp_path: Path) -> None:
    honest, width = rows_of(design), design.form.size
    bad: list[bytes | None] = [None] if kind == "fixed" else [None, b"", b"x", bytes(width + 1), bytes(1000)]
    cells = pa.array([*bad, *honest[:5], *bad, *honest[5:]], pa.binary(width) if kind == "fixed" else kind)
    pq.write_table(pa.table({"r": cells}), tmp_path / "t.parquet", row_group_size=7)
    expected = design.tally(design.privatize(np.arange(12) % 3, rng=1))
    for source in (tmp_path / "t.parquet", pa.table({"r": cells}), pl.from_arrow(pa.table({"r": cells}))):
        tally = Plan({"r": design}).tally(source)
        assert (tally.n, tally.refused) == (12, 2 * len(bad))
        assert tally.counts.tolist() == expected.counts.tolist()


COLUMNS: dict[str, tuple[Any, tuple[int, int]]] = {
    "whole numbers with gaps": (pa.array([0, None, 1, 3, -1, 2]), (3, 3)),
    "unsigned numbers": (pa.array([0, 2**63, 2**64 - 1, 2], pa.uint64()), (2, 2)),
    "floats": (pa.array([0.0, 1.0, None, 2.5, float("nan"), 1e300]), (2, 4)),
    "texts": (pa.array(["0", "1", None, "", "x", "1.0", " 1"]), (2, 5)),
    "a dictionary": (pa.array(["0", "x", None, "0"]).dictionary_encode(), (2, 2)),
    "booleans": (pa.array([True, False, None]), (0, 3)),
    "bytes": (pa.array([b"1", b"\1", None]), (0, 3)),
    "lists": (pa.array([[1], [1, 2], None]), (0, 3)),
    "structures": (pa.array([{"r": 1}, None]), (0, 2)),
    "dates": (pa.array([0, 2**62], pa.timestamp("ns")), (0, 2)),
    "nothing": (pa.nulls(4), (0, 4)),
    "no rows": (pa.array([], pa.int64()), (0, 0)),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_a_column_of_any_type_is_read_row_by_row(case: str, tmp_path: Path) -> None:
    cells, expected = COLUMNS[case]
    pq.write_table(pa.table({"r": cells, "x": np.arange(len(cells))}), tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet") == expected
    assert counted(pa.table({"r": cells})) == expected
    tally = SURVEY.tally(cells)
    assert (tally.n, tally.refused) == expected
    tally = SURVEY.tally(pa.chunked_array([cells, cells.slice(1)]))
    assert tally.n + tally.refused == 2 * len(cells) - bool(len(cells))


def test_a_folder_may_have_files_of_different_types(tmp_path: Path) -> None:
    pq.write_table(pa.table({"r": [0, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"r": ["2", "x"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"r": [b"no"]}), tmp_path / "c.parquet")
    assert counted(tmp_path) == (3, 2)


def test_a_parquet_file_of_wide_reports_is_read_a_few_rows_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wide = UnaryEncoding(epsilon=1.0, k=80_000)
    assert reading._rows_at_a_time({"r": wide.form}) * wide.form.size <= reading.MOST_BYTES
    seen: list[int] = []
    count = UnaryEncoding._count
    monkeypatch.setattr(UnaryEncoding, "_count", lambda self, rows: seen.append(len(rows)) or count(self, rows))
    monkeypatch.setattr(reading, "MOST_BYTES", 3 * BITS.form.size)
    pq.write_table(pa.table({"r": pa.array(rows_of(BITS, 10), pa.binary())}), tmp_path / "r.parquet")
    assert counted(tmp_path / "r.parquet", BITS) == (10, 0)
    assert seen == [3, 3, 3, 1]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"r": [0, 1, None, 5]}),
        pd.DataFrame({"r": [0, "1", None, {}]}, dtype=object),
        pd.DataFrame({"r": pd.array([0, 1, None, 5], "Int64")}),
        pd.DataFrame({"r": ["0", "1", None, "x"]}),
        pl.DataFrame({"r": [0, 1, None, 5]}),
        pl.DataFrame({"r": pl.Series([0, 1, None, {}], dtype=pl.Object)}),
        pl.DataFrame({"r": ["0", "1", None, "x"]}),
        [{"r": [0, None]}, pd.DataFrame({"r": [1, 7]})],
        {"r": [0, "1", None, object()]},
        {"r": np.array([0, "1", None, object()], object)},
        {"r": np.array(["0", "1", "", "x"])},
        {"r": np.ma.array([0, 1, 2, 2], mask=[False, False, True, True])},
        {"r": pd.Series([0, 1, None, 2.5])},
        {"r": iter([0, 1, None, 9])},
    ],
    ids=lambda frame: type(frame).__module__,
)
def test_tables_in_memory_are_read_row_by_row(frame: Any) -> None:
    assert counted(frame) == (2, 2)


# Single entries.


@pytest.mark.parametrize("item", ["x", 2.5, 2**63, 2**64, [1, 2], float("nan"), None, {}, True, b"1", -1, 3, "", "1.0"])
def test_an_item_that_is_no_report_is_refused_like_any_other(item: Any) -> None:
    honest = SURVEY.privatize([0, 1, 2, 0], rng=1)
    expected = SURVEY.tally(honest)
    for items in ([*honest, item], [item, *honest.tolist()], (*honest[:2], item, *honest[2:])):
        tally = SURVEY.tally(items)
        assert (tally.n, tally.refused) == (4, 1)
        assert tally.counts.tolist() == expected.counts.tolist()


@pytest.mark.parametrize("item", [1, np.uint8(1), np.int64(1), 1.0, np.float32(1), "1", np.str_("1"), "001"])
def test_a_whole_number_is_a_report_however_it_is_typed(item: Any) -> None:
    assert SURVEY.tally([item, None]).counts.tolist() == [0, 1, 0]


def test_rows_of_bytes_are_reports_however_they_are_typed() -> None:
    row = BITS.privatize([3], rng=1)[0]
    expected = 5 * BITS.tally(row[None, :]).counts
    items = [row, row.tobytes(), bytearray(row), row.tobytes().hex(), row.tolist()]
    bad = [row[:2], row.tobytes()[:2], row.tobytes().hex()[:-1], "zz" * 3, [1, 2, 300], [1, 2, None], 7, None, [[1]]]
    array = np.empty(len(items) + len(bad), object)
    for place, item in enumerate([*items, *bad]):
        array[place] = item
    for values in ([*items, *bad], array):
        tally = BITS.tally(values)
        assert (tally.n, tally.refused, tally.counts.tolist()) == (5, 9, expected.tolist())


def test_records_are_reports_however_they_are_typed() -> None:
    record = HASHES.privatize([3], rng=1)[0]
    expected = 4 * HASHES.tally(HASHES.privatize([3], rng=1)).counts
    items = [record, record.item(), record.tobytes(), record.tobytes().hex()]
    bad = [(1, 2), (1, 2, 300), (1, 2, -1), (1, 2, None), record.tobytes()[:-1], 5, "x", {}, np.void(b"x")]
    tally = HASHES.tally([*items, *bad])
    assert (tally.n, tally.refused, tally.counts.tolist()) == (4, 9, expected.tolist())


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.0, 1.0]),
        np.array([True, False]),
        np.array([[0, 1]]),
        np.array([b"0", b"1"]),
        np.array([1j]),
        np.array(["2031-07-31"], "datetime64[D]"),
        np.array(1),
        np.zeros(2, [("a", "u1")]),
    ],
    ids=lambda array: str(array.dtype),
)
def test_a_plain_array_of_another_dtype_or_shape_is_the_callers_mistake(array: Any) -> None:
    for design in (SURVEY, BITS, HASHES):
        with pytest.raises(DataTypeError, match="reports must be"):
            design.tally(array)


@pytest.mark.parametrize("nothing", [None, 1, "1", b"1", {}, {1}, object(), pa.table({"r": [1]}), pa.scalar(1)])
def test_what_is_no_column_at_all_is_the_callers_mistake(nothing: Any) -> None:
    with pytest.raises(DataTypeError, match="reports must be"):
        SURVEY.tally(nothing)


def test_columns_of_different_lengths_are_the_callers_mistake() -> None:
    for source in ({"a": [0, 1], "b": [0]}, iter([{"a": [0, 1], "b": [0]}])):
        with pytest.raises(DataError, match=r"as many entries|same number of rows"):
            PAIR.tally(source)


# What is written can be read.

ORACLES = {name: bruit.oracle(name, epsilon=1.0, k=2 if name == "Warner" else 21) for name in bruit.oracles.NAMES}
ORACLES["OLH with a pool"] = LocalHashing(epsilon=1.0, k=21, pool=500)
NUMBERS = {name: bruit.numbers.number(name, epsilon=1.0, bounds=(0, 20)) for name in bruit.numbers.NAMES}
SCHEMA = {"a, quoted": ["0", "1"], "2020": ["0", "1", "2"], 'two\nlines "é"': ["0", "1"]}
PRIOR = {name: [1 / len(labels)] * len(labels) for name, labels in SCHEMA.items()}
PLANS = {
    method: Plan(SCHEMA, 2.0, Method.named(method, prior=PRIOR if method.startswith("RS+RFD") else None))
    for method in (
        *("SPL[GRR]", "SPL[OLH]", "SPL[OUE]", "SPL[SS]", "SPL[ADP]", "SMP[GRR]", "SMP[OLH]", "SMP[OUE]", "SMP[ADP]"),
        *("RS+FD[GRR]", "RS+FD[SUE-z]", "RS+FD[OUE-z]", "RS+FD[OUE-r]", "RS+FD[SS]", "RS+FD[ADP]"),
        *("RS+RFD[GRR]", "RS+RFD[SUE-r]", "RS+RFD[OUE-r]"),
    )
}
PLANS["one number"] = Plan({"1.5": bruit.Grid(0, 20)}, 1.0, "hybrid")


def people(design: Any, n: int = 300) -> dict[str, Any]:
    if isinstance(design, Plan):
        return {name: found.domain.decode(np.arange(n) % found.size) for name, found in design.schema.items()}
    return {"r": np.arange(n) % design.size}


@pytest.mark.parametrize("name", [*ORACLES, *NUMBERS, *PLANS])
def test_what_privatize_writes_is_what_tally_reads(
    name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    design = {**ORACLES, **NUMBERS, **PLANS}[name]
    plan, table = plan_of(design), people(design)
    reports = plan.privatize(table, rng=7)
    expected = plan.tally(reports)
    assert (expected.n, expected.refused) == (300, 0)
    if not isinstance(design, Plan):
        assert design.tally(reports["r"]).counts.tolist() == expected.counts.tolist()
    for kind in ("csv", "parquet"):
        plan.privatize(table, to=tmp_path / f"r.{kind}", rng=7)
        tally = plan.tally(tmp_path / f"r.{kind}")
        assert tally.simulated == (kind == "parquet")  # CSV cannot say so of itself
        assert replace(tally, simulated=False) == expected
    plan.privatize(table, to="-", rng=7)
    written = capfdbinary.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written)))
    assert plan.tally("-") == expected


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("name", [*ORACLES, *NUMBERS, *PLANS])
def test_valid_reports_are_those_that_are_not_refused(name: str) -> None:
    design = {**ORACLES, **NUMBERS, **PLANS}[name]
    forms = design.form if isinstance(design, Plan) else {"r": design.form}
    rng = np.random.default_rng(5)
    n = 400
    junk = {}
    for column, form in forms.items():
        raw = rng.integers(0, 256, (n, form.size), np.uint8)
        raw[: n // 2] &= 3
        junk[column] = form.from_bytes(raw) if form.is_bytes else raw.view(form.dtype)[:, 0]
    given = junk if isinstance(design, Plan) else junk["r"]
    valid = design.valid(given)
    alone = [
        design.tally({c: r[i : i + 1] for c, r in junk.items()} if isinstance(design, Plan) else junk["r"][i : i + 1])
        for i in range(n)
    ]
    assert valid.tolist() == [tally.n == 1 for tally in alone]
    assert design.tally(given).n == valid.sum()


def test_a_number_that_does_not_fit_its_field_is_a_refusal_and_not_its_lowest_bits() -> None:
    """NumPy before 2 would keep the lowest bits, and quote the number in a warning."""
    hashing = LocalHashing(epsilon=1.0, k=20, pool=37)
    tally = hashing.tally([[0, 1], [2**32, 1], [0, 257], [0, -1], [1, 0]])
    assert (tally.n, tally.refused) == (2, 3)
