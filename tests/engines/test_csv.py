"""CSV as people write it: quoting, encodings, marks, gaps and damage; and CSV as it is written here."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from bruit import engines
from bruit.engines import BATCH, TextOptions
from bruit.engines import csv as engine
from bruit.errors import BruitError, DataError, FormatError, ParameterError, ParameterTypeError


def values(column: Any) -> list[Any]:
    """The texts of a column, None where one is missing."""
    return np.append(column.entries, None)[column.positions].tolist()


def read(data: bytes, **options: Any) -> dict[str, list[Any]]:
    (batch,) = engines.batches(engines.read(io.BytesIO(data), **options))
    return {name: values(column) for name, column in batch.items()}


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends() -> None:
    assert read(b'x,y\n"a,b","c""d"\n"e\nf","g\r\nh"\n') == {
        "x": ["a,b", "e\nf"],
        "y": ['c"d', "g\r\nh"],
    }


def test_spaces_and_numbers_stay_the_texts_they_are() -> None:
    assert read(b"x,y\n a ,007\nb,1e3\n") == {"x": [" a ", "b"], "y": ["007", "1e3"]}


def test_an_empty_cell_is_missing_and_so_are_the_texts_that_are_declared() -> None:
    data = b'x,y\n,1\n"",2\n?,3\nNA,4\n'
    assert read(data)["x"] == [None, None, "?", "NA"]
    assert read(data, missing=("", "?", "NA"))["x"] == [None] * 4
    assert read(data, missing=())["x"] == ["", "", "?", "NA"]


def test_a_missing_text_leaves_no_entry_behind() -> None:
    (batch,) = engines.batches(engines.read(io.BytesIO(b"x\n?\n1\n"), missing=("?",)))
    assert batch["x"].entries.tolist() == ["1"]


def test_line_ends_of_all_systems_are_read_and_blank_lines_of_a_wider_file_are_skipped() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["", "x,y", "a,1", "", "b,2"])
        assert read(text.encode())["x"] == ["a", "b"]


ONE_COLUMN: dict[str, tuple[bytes, list[str | None]]] = {
    "between rows": (b"x\na\n\nb\n", ["a", None, "b"]),
    "first": (b"x\n\na\n", [None, "a"]),
    "last": (b"x\na\n\n", ["a", None]),
    "alone": (b"x\n\n", [None]),
    "several at the end": (b"x\na\n\n\n", ["a", None, None]),
    "ended by carriage return and line feed": (b"x\r\na\r\n\r\nb\r\n", ["a", None, "b"]),
    "ended by carriage return": (b"x\ra\r\rb", ["a", None, "b"]),
    "quoted": (b'x\na\n""\nb\n', ["a", None, "b"]),
    "quoted, at the end": (b'x\na\n""', ["a", None]),
    "inside a quoted cell": (b'x\n"a\n\nb"\n', ["a\n\nb"]),
    "spaces are a text": (b"x\na\n  \nb\n", ["a", "  ", "b"]),
    "before the header": (b"\n\nx\na\n\n", ["a", None]),
    "the last line has no end": (b"x\na", ["a"]),
    "a header alone": (b"x\n", []),
}


@pytest.mark.parametrize("case", ONE_COLUMN)
def test_a_blank_line_in_a_file_of_one_column_is_a_person_whose_answer_is_missing(case: str, tmp_path: Path) -> None:
    data, expected = ONE_COLUMN[case]
    assert read(data) == {"x": expected}
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(data))
    (batch,) = engines.batches(tmp_path / "t.csv.gz")
    assert values(batch["x"]) == expected


def test_a_missing_answer_that_pyarrow_or_polars_wrote_is_read_back(tmp_path: Path) -> None:
    answers = ["no", "yes", None, "no", None, None, "yes"]
    pc.write_csv(pa.table({"x": answers}), tmp_path / "pyarrow.csv")
    pl.DataFrame({"x": answers}).write_csv(tmp_path / "polars.csv")
    pd.DataFrame({"x": answers}).to_csv(tmp_path / "pandas.csv", index=False)
    for path in sorted(tmp_path.iterdir()):
        (batch,) = engines.batches(path)
        assert values(batch["x"]) == answers, path.name


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_are_counted_over_the_borders_of_blocks(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["" if i % 3 else "a" * (i % 7) for i in range(400)]
    expected = [text or None for text in texts]
    for block in range(16, 48):
        monkeypatch.setattr(engine, "_BLOCK", block)
        assert read(end.join(["x", *texts, ""]).encode()) == {"x": expected}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_an_encoding_is_read_as_declared(encoding: str) -> None:
    text = "é,n\nMünchen,1\nÅrhus,2\n"
    assert read(text.encode(encoding), encoding=encoding) == {"é": ["München", "Århus"], "n": ["1", "2"]}


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert list(read("x,y\n1,2\n".encode("utf-8-sig"))) == ["x", "y"]
    assert list(read('"x",y\n1,2\n'.encode("utf-8-sig"))) == ["x", "y"]


def test_a_header_may_be_quoted_over_lines_and_longer_than_one_read() -> None:
    long = "n" * 100_000
    assert read(f'"two\nlines","{long}"\n1,2\n'.encode()) == {"two\nlines": ["1"], long: ["2"]}


def test_the_delimiter_and_the_quote_are_as_declared() -> None:
    assert read(b"x;y\n'a;b';\"\n", delimiter=";", quote="'") == {"x": ["a;b"], "y": ['"']}
    assert read(b'x,y\n"a,b"\n', quote="") == {"x": ['"a'], "y": ['b"']}


def test_a_tsv_file_has_tabs_unless_another_delimiter_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.TSV"
    path.write_bytes(b"x\ty;z\na,b\t1;2\n")
    (batch,) = engines.batches(path)
    assert values(batch["x"]) == ["a,b"]
    (batch,) = engines.batches(engines.read(path, delimiter=";"))
    assert list(batch) == ["x\ty", "z"]


def test_a_packed_file_may_have_several_members(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"x\na\n") + gzip.compress(b"b\n"))
    (batch,) = engines.batches(path)
    assert values(batch["x"]) == ["a", "b"]


def test_a_header_alone_is_a_table_without_rows() -> None:
    for data in (b"x,y", b"x,y\n", b"x,y\r\n\r\n\n"):
        assert read(data) == {"x": [], "y": []}


def test_a_stream_that_gives_a_few_bytes_at_a_time_is_read_whole() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 7, 7))

    rows = "".join(f"text number {i},{i}\n" for i in range(500))
    (batch,) = engines.batches(Slow(f"x,y\n{rows}".encode()))
    assert values(batch["y"]) == [str(i) for i in range(500)]


def test_a_line_end_in_a_quoted_cell_is_no_end_of_a_row_where_blocks_are_cut() -> None:
    cell = "a\n" + "b" * 1000
    count = 2 * engine._BLOCK // len(cell)
    assert read(b"x,y\n" + f'"{cell}",1\n'.encode() * count)["x"] == [cell] * count


def test_many_distinct_texts_over_many_blocks_are_read_in_order() -> None:
    count = BATCH + 1000
    data = "x\n" + "".join(f"free text of person {i}\n" for i in range(count))
    found = [text for batch in engines.batches(io.BytesIO(data.encode())) for text in values(batch["x"])]
    assert found == data.splitlines()[1:]


def test_a_file_without_a_header_does_not_show_its_first_row() -> None:
    for data in (b"secret,39,Paris\nother,40,Rome\n", b"secret,HIV-positive,Paris\n", b"secret,AGES,ag e\n"):
        with pytest.raises(DataError, match="it has 3 cells, and none is like this name") as caught:
            read_column(data, "age")
        assert_silent(caught.value, "secret", "HIV", "Paris", "AGES")


@pytest.mark.parametrize(
    "first",
    ["31", "31,0", "-7.5,1e3,+2", " 31 ,.5", "31,,0", "1;2,5"],
)
@pytest.mark.parametrize("columns", [None, ["31"]])
def test_a_first_line_of_numbers_is_no_header_and_is_not_shown(first: str, columns: list[str] | None) -> None:
    delimiter = ";" if ";" in first else ","
    with pytest.raises(DataError, match="a line of column names above it") as caught:
        list(engines.batches(engines.read(io.BytesIO(f"{first}\n{first}\n".encode()), delimiter=delimiter), columns))
    assert_silent(caught.value, "31", "7.5")


@pytest.mark.parametrize("header", ["age,2019", "2019-01,2019-02", "1st,2nd", "nan,inf", ",a", "x"])
def test_a_header_with_a_name_in_it_is_one(header: str) -> None:
    names = header.split(",")
    assert read(f"{header}\n{','.join('1' for _ in names)}\n".encode()) == {name: ["1"] for name in names}


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("Marital-Status", "marital status"),
        (" smokes", "smokes"),
        ("smoks", "smokes"),
        ("martial-status", "marital-status"),
    ],
)
def test_a_name_that_is_typed_a_little_differently_is_shown(cell: str, name: str) -> None:
    with pytest.raises(DataError, match=f"Did you mean '{cell}'"):
        read_column(f"x,{cell}\n1,2\n".encode(), name)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("HIV+", "HIV"),
        ("HIV-", "HIV"),
        ("unvaccinated", "vaccinated"),
        ("hypotension", "hypertension"),
        ("male", "sex"),
    ],
)
def test_an_answer_that_resembles_the_name_is_not_shown(cell: str, name: str) -> None:
    with pytest.raises(DataError, match="none is like this name") as caught:
        read_column(f"x,{cell}\n1,2\n".encode(), name)
    assert_silent(caught.value, cell)


def test_a_name_that_stands_twice_is_not_shown_when_nobody_asked_for_it() -> None:
    with pytest.raises(DataError, match="must have different names") as caught:
        read(b"secret,secret\n1,2\n")
    assert_silent(caught.value)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_delimiter_is_suspected_where_the_first_line_is_one_cell(mark: str) -> None:
    with pytest.raises(DataError, match=r"1 cell, with .* in it: is that the delimiter") as caught:
        read_column(f"secret{mark}age\n1{mark}2\n".encode(), "age")
    assert repr(mark) in str(caught.value)
    assert_silent(caught.value)


def read_column(data: bytes, name: str) -> None:
    list(engines.batches(io.BytesIO(data), [name]))


DAMAGED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "empty"),
    "blank lines": (b"\n\r\n", "empty"),
    "a row too short": (b"x,y\n1,2\nsecret\n", "2 cells"),
    "a row too long": (b"x,y\n1,2\nsecret,secret,secret\n", "2 cells"),
    "an open quote": (b'x,y\n1,2\n"secret,2\n3,4\n', "2 cells"),
    "an open quote in the header": (b'x,"y\nsecret,2\n', "empty|first line"),
    "another encoding": ("x,y\nsecret é,1\n".encode("latin-1"), "not encoded in utf-8"),
    "another encoding in the header": ("é\nsecret\n".encode("latin-1"), "not encoded in utf-8"),
    "a row without end": (b"x\n1\n" + b'"secret' * (engine._BLOCK // 2), "MiB"),
    "a header without end": (b"secret" * engine._BLOCK, "too long"),
    "a Parquet file": (b"PAR1secret", "Parquet"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_an_error_that_shows_and_chains_no_data(case: str) -> None:
    data, message = DAMAGED[case]
    with pytest.raises(FormatError, match=message) as caught:
        read(data)
    assert_silent(caught.value)


def assert_silent(error: BaseException | None, *words: str) -> None:
    """No message of the error or of what led to it has one of the words."""
    while error is not None:
        assert [word for word in words or ("secret",) if word in str(error)] == []
        error = error.__cause__ or error.__context__


def test_damage_far_into_a_file_shows_no_data_either(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n" + b"secret,1\n" * 2_000_000 + b"secret\n")
    with pytest.raises(FormatError, match="2 cells") as caught:
        engines.fold(path, lambda batch: 0)
    assert_silent(caught.value)


def test_a_packed_file_that_is_cut_short_or_not_packed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    rows = "".join(f"secret {i * 7919 % 10007}\n" for i in range(20_000))
    packed = gzip.compress(f"x\n{rows}".encode())
    for data in (packed[: len(packed) // 2], b"x\nsecret\n", packed[:40] + b"secret" * 9 + packed[94:]):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"not a whole CSV file|not encoded") as caught:
            list(engines.batches(path))
        assert_silent(caught.value)


def test_a_folder_named_like_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(BruitError, match="is not a whole CSV file"):
        list(engines.batches(tmp_path / "t.csv"))


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"delimiter": ",,"}, ParameterError),
        ({"delimiter": "\n"}, ParameterError),
        ({"delimiter": "é"}, ParameterError),
        ({"delimiter": 9}, ParameterTypeError),
        ({"delimiter": '"'}, ParameterError),
        ({"encoding": "klingon"}, ParameterError),
        ({"encoding": "base64"}, ParameterError),
        ({"encoding": None}, ParameterError),
        ({"missing": "NA"}, ParameterTypeError),
        ({"missing": (None,)}, ParameterTypeError),
        ({"missing": 5}, ParameterTypeError),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        TextOptions(**options)


def test_what_is_written_is_csv_that_others_read(tmp_path: Path) -> None:
    made = {
        'a "name", quoted': np.arange(3, dtype=np.uint8),
        "bits": np.array([[0, 255], [1, 2], [16, 32]], np.uint8),
    }
    path = tmp_path / "out.csv"
    assert engines.map({"x": [1, 2, 3]}, path, lambda batch, words: made) == 3
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [list(made), ["0", "00ff"], ["1", "0102"], ["2", "1020"]]
    assert path.read_bytes().endswith(b"\n0,00ff\n1,0102\n2,1020\n")  # reports need no quotes, and have none


def test_standard_output_gets_one_header_and_all_rows(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    source = {"x": np.arange(BATCH + 2) % 7}
    engines.map(source, "-", lambda batch, words: {"x": batch["x"].astype(np.uint8)})
    lines = capfdbinary.readouterr().out.split()
    assert lines[0] == b"x"
    assert lines[1:] == [b"%d" % (i % 7) for i in range(BATCH + 2)]


def test_records_with_fields_stand_as_the_hexadecimal_digits_of_their_bytes(tmp_path: Path) -> None:
    made = np.array([(1, 255), (258, 0)], np.dtype([("seed", "<u2"), ("bucket", "u1")]))
    engines.map({"x": [1, 2]}, tmp_path / "out.csv", lambda batch, words: {"r": made})
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["r"], ["0100ff"], ["020100"]]
