"""Whatever a label is, no file of results and no terminal takes it for anything but a text, and it can be read back.

The law ranges over every writer of CSV and spreadsheets, which a test finds in the sources, and over labels that an
enemy in the data would choose.
"""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit as package
from bruit import datasets
from bruit.datasets import catalogue
from bruit.engines import written
from bruit.tables import Column, Table, read_cell, write_cell
from bruit.tables.cells import visible

openpyxl = pytest.importorskip("openpyxl")

HOSTILE = [
    "=1+1", '=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(1,1)", "-", "=", "+a",
    "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "＝1+1", "＋1", "－1", "＠SUM(1)", "﹦1",
    "'=1", "''=1", "'", "'tis", "-5/0", "-A1", "\x1b[2J\x1b]0;x\x07", "\x9b2J", "a\x00b", "a\x0bb", "two\nlines",
    "\\x1b", "\\x5cx1b", "C:\\temp", "\\", "\\u202e", "\u202egnp.exe", "a\u2028b", "\ufffe", "\uffff", "#REF!", "#N/A",
    "a\tb", "a,b", 'say "x"', "é", "日本", "x" * 40_000,
]  # fmt: skip
#: Numbers, and ranges as bruit writes them: they stay as they are.
PLAIN = ["-5", "-5.25", "+3", "-1e-3", "-5..0", "-5..-1", "-0.5 … 0.5", "-3 %", "[-5, 0)", "(missing)", "2024-01-01"]

_FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@＝＋－＠﹦]")
_STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def is_safe(cell):
    """Whether no program computes a cell or obeys it. Written apart from the code."""
    return not _STEERS.search(cell) and (cell in PLAIN or not _FORMULA.match(cell))


def broken(cells, labels):
    """What a list of cells breaks of the law."""
    unsafe = [cell for cell in cells if not is_safe(cell)]
    lost = [label for label, cell in zip(labels, cells, strict=True) if read_cell(cell) != label]
    return unsafe + lost


def hostile_table():
    names = HOSTILE + PLAIN
    return Table("x", [Column("=label", names, kind="label", write=str), Column("value", range(len(names)))]), names


def csv_cells(text):
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, [row[0] for row in rows], [row[1] for row in rows]


@given(st.text(st.sampled_from("'=+-@\\xu01b5c \t\x1b\u202e.,5eE%…±＝\u200b")) | st.text())
def test_a_cell_is_safe_and_gives_its_text_back(text):
    cell = write_cell(text)
    assert read_cell(cell) == text
    assert not _STEERS.search(cell)
    assert re.fullmatch(r"[0-9+\-.,eE%… ±\u00a0]*", cell) or not _FORMULA.match(cell)
    assert read_cell(visible(text)) == text or cell != visible(text)


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_ranges_are_written_as_they_are(text):
    assert write_cell(text) == text


def test_csv_has_no_formula_and_gives_every_label_back():
    table, names = hostile_table()
    header, cells, values = csv_cells(table.to_csv())
    assert header == ["'=label", "value"]
    assert broken(cells, names) == []
    assert values == [str(place) for place in range(len(names))]  # numbers are numbers


def test_a_writer_that_does_not_escape_is_caught():
    """The twin: what was written before, and what an apostrophe alone does, break the law."""
    _, names = hostile_table()
    assert len(broken(names, names)) > 25
    naive = [f"'{name}" if name[:1] in ("=", "+", "-", "@") else name for name in names]
    assert len(broken(naive, names)) > 10


def sheet_cells(content):
    return list(openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows())


def test_a_spreadsheet_has_texts_and_numbers_and_no_formula():
    table, names = hostile_table()
    header, *rows = sheet_cells(written.table_bytes(table, ".xlsx"))
    assert [cell.value for cell in header] == ["'=label", "value"]
    assert {row[0].data_type for row in rows} == {"s"}
    assert {row[1].data_type for row in rows} == {"n"}
    pairs = [(row[0].value, name) for row, name in zip(rows, names, strict=True) if len(name) < written.CELL_LENGTH]
    assert broken(*map(list, zip(*pairs, strict=True))) == []


def test_a_long_label_is_cut_in_a_cell_and_differs_from_another_that_begins_alike():
    labels = ["x" * 40_000 + "a", "x" * 40_000 + "b", "\U0001f600" * 20_000]
    content = written.table_bytes(Table("x", [Column("label", labels, kind="label", write=str)]), ".xlsx")
    cells = [row[0].value for row in sheet_cells(content)[1:]]
    assert len(set(cells)) == 3
    assert all(len(cell.encode("utf-16-le")) // 2 <= written.CELL_LENGTH for cell in cells)
    assert "(40,001 characters, digest " in cells[0]


def test_more_rows_than_a_sheet_holds_go_on_another(monkeypatch):
    monkeypatch.setattr(written, "SHEET_ROWS", 4)
    table = Table("x", [Column("value", list(range(7)))])
    book = openpyxl.load_workbook(io.BytesIO(written.table_bytes(table, ".xlsx")))
    assert book.sheetnames == ["results", "results 2", "results 3"]
    sheets = [[row[0].value for row in sheet.iter_rows()] for sheet in book]
    assert sheets == [["value", 0, 1, 2], ["value", 3, 4, 5], ["value", 6]]


def test_latex_has_no_control_character():
    table, _ = hostile_table()
    assert not _STEERS.search(table.to_latex().replace("\n", ""))


def people_csv(labels, path):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["zone"])
        writer.writerows([label] for label in labels for _ in range(60))


#: Labels that a table can have: a CSV file holds no character 0, and long ones are tried above.
IN_DATA = [label for label in HOSTILE if "\x00" not in label and len(label) < 100]


@pytest.fixture
def bruit(tmp_path, capfd, monkeypatch):
    from bruit.cli.app import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["bruit", *arguments])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capfd.readouterr()
        assert code == 0 or any("no\x1b" in argument for argument in arguments), said
        return said

    return run


NAMED = ["release", "t.csv", "--count", "--by", "zone=?", "-e", "8", "--delta", "1e-3", "--seed", "1"]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "json", "parquet"])
def test_undeclared_groups_are_written_after_booking_whatever_they_are(bruit, tmp_path, ending):
    people_csv(IN_DATA, tmp_path / "t.csv")
    said = bruit(*NAMED, "-o", f"x.{ending}", "--ledger", "l", "--budget", "9,0.1")
    assert not _STEERS.search((said.out + said.err).replace("\n", ""))
    file = tmp_path / f"x.{ending}"
    if ending == "json":
        labels = [row["label"] for row in json.loads(file.read_text())["values"]]
    elif ending == "parquet":
        labels = pq.read_table(file)["group"].to_pylist()
    elif ending == "csv":
        header, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline=""))
        cells = [row[header.index("group")] for row in rows]
        assert all(map(is_safe, cells))
        labels = list(map(read_cell, cells))
    else:
        header, *rows = sheet_cells(file.read_bytes())
        place = [cell.value for cell in header].index("group")
        assert {row[place].data_type for row in rows} == {"s"}
        assert all(is_safe(row[place].value) for row in rows)
        labels = [read_cell(row[place].value) for row in rows]
    assert len(labels) == len(IN_DATA)
    assert set(labels) == set(IN_DATA)


def test_a_terminal_gets_no_control_character_in_json_nor_in_tables(bruit, tmp_path):
    people_csv(IN_DATA, tmp_path / "t.csv")
    for options in ([], ["--json"]):
        said = bruit(*NAMED, *options)
        assert not _STEERS.search((said.out + said.err).replace("\n", ""))
    assert {row["label"] for row in json.loads(said.out)["values"]} == set(IN_DATA)


def test_an_error_shows_no_control_character(bruit, tmp_path):
    said = bruit("release", "no\x1b[2J.csv", "--count", "-e", "1")
    assert "\x1b" not in said.err
    assert "\\x1b" in said.err
    people_csv(["a", "b"], tmp_path / "t.csv")
    said = bruit("release", "t.csv", "--count", "-e", "1", "-o", "x\x1b[2J.json")
    assert "\x1b" not in said.out + said.err
    assert "\\x1b" in said.err


def test_a_publication_writes_labels_that_no_program_computes(tmp_path):
    from bruit.publications import publish

    people_csv(IN_DATA, tmp_path / "t.csv")
    (tmp_path / "plan.toml").write_text(
        'title = "Zones"\ntable = "t.csv"\nepsilon = 8.0\ndelta = 1e-3\nledger = "l"\n'
        'budget = { epsilon = 9.0, delta = 0.1 }\npage = true\n\n[[statistic]]\nname = "zones"\nkind = "count"\n'
        'by = "zone=?"\n'
    )
    published = publish(tmp_path / "plan.toml", rng=1)
    text = (published.folder / "results.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    cells = [row[header.index("group")] for row in rows]
    assert all(map(is_safe, cells))
    assert {read_cell(cell) for cell in cells} == set(IN_DATA)
    page = (published.folder / "index.html").read_text(encoding="utf-8")
    assert not _STEERS.search(re.sub(r"[\n\t]", "", page))


#: Modules that write CSV or spreadsheets, and why their cells are safe.
WRITERS = {
    "tables/table": "texts go through write_cell",
    "engines/written": "texts go through write_cell",
    "engines/csv": "numbers and hexadecimal texts; names of declared attributes",
    "cli/data": "the data sets that travel with bruit or have a checksum; tried below",
    "testing/sources": "tables of a law, for bruit to read",
    "bruit_studies/recorded": "numbers, and names of bruit's own methods",
}


def writes_cells(source):
    """Whether a module makes cells: by the csv module, by Arrow or a frame, or by openpyxl."""
    return bool(re.search(r"\b(writerows?|write_csv|sink_csv|write_excel|DictWriter|Workbook|to_excel)\(", source))


def test_every_writer_is_known():
    root = Path(package.__file__).parents[1]  # of the library and of the studies
    paths = [path for name in ("bruit", "bruit_studies") for path in (root / name).rglob("*.py")]
    sources = {path.relative_to(root).with_suffix("").as_posix().removeprefix("bruit/"): path for path in paths}
    known = {name for name, path in sources.items() if writes_cells(path.read_text(encoding="utf-8"))}
    assert known == set(WRITERS)
    assert writes_cells("frame.write_csv(path)")


@pytest.mark.parametrize("name", [name for name, entry in catalogue.entries().items() if entry.bundled])
def test_no_data_set_that_travels_with_bruit_has_a_formula(name):
    data = datasets.load(name)
    texts = {str(value) for column in data for value in set(data[column].tolist())}
    assert [text for text in texts if write_cell(text) != text] == []
