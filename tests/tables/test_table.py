"""One table for people and programs: bounded and whole on a screen, complete in a frame, in JSON and in CSV."""

import csv
import io
import json
import re

import numpy as np
import pytest

from bruit import documents
from bruit.errors import BruitError, ParameterError
from bruit.tables import Column, Table, Tabular, decimals, label, width

WIDTHS = [20, 40, 60, 80, 200, None]
KINDS = {
    "short": lambda i: f"answer {i}",
    "middle": lambda i: "a" * 99 + f"{i:02}" + "b" * 99,
    "end": lambda i: "c" * 198 + f"{i:02}",
    "invisible": lambda i: "d" * 100 + "\u200b" * (i + 1) + "d" * 100,
    "wide": lambda i: "日本" * 30 + f"{i}" + "e\u0301" * 30,
    "right to left": lambda i: "שלום " * 20 + f"{i}" + " مرحبا" * 20,
}


def table(labels, **settings):
    """A table as estimates have it, with one number that has no other digits in each cell."""
    n = len(labels)
    values = np.arange(n) + 0.25
    ends = np.column_stack([values - 1000, values + 1000])
    columns = [
        Column("label", labels, "a question", "label", label),
        Column("value", values, write=decimals(2)),
        Column("interval", ends, "95 % interval", write=decimals(2), parts=("lower", "upper")),
        Column("hidden", np.arange(n), hidden=True),
        Column("", [f"word {i}" for i in range(n)], "words", "text", str),
    ]
    return Table("A title", columns, ["A note."], {"n": n}, noun="value", **settings)


@pytest.fixture(params=KINDS)
def labels(request):
    return [KINDS[request.param](i) for i in range(9)]


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_every_number_is_shown_whole_at_every_width(labels, rows):
    for columns in WIDTHS:
        text = table(labels[:rows]).text(columns).replace("\u200e", "")
        for i in range(rows):
            for shown in (f"{i}.25", f"{i - 1000 + 0.25:,.2f} … {i + 1000.25:,.2f}", f"word {i}"):
                assert re.search(rf"(^|  ){re.escape(shown)}(  |$)", text, re.MULTILINE), (columns, shown)


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_screen(labels, columns):
    assert max(map(width, table(labels).text(columns).splitlines())) <= columns


def test_without_a_limit_each_row_is_one_line_and_labels_are_whole(labels):
    lines = [line for role, line in table(labels).lines(None) if role == "row"]
    assert len(lines) == 9
    assert not any("…" in line.split("  ")[0] for line in lines)


def test_columns_stand_below_their_headings():
    text = table(["日本", "e\u0301", "long enough"]).text()
    heading, *rows = text.splitlines()[1:5]
    for row, i in zip(rows, range(3), strict=True):
        place = heading.index("value") + len("value")
        assert width(row[: row.index(f"{i}.25") + len(f"{i}.25")]) == place


@pytest.mark.audit
def test_a_hundred_thousand_rows_are_bounded_and_what_is_left_out_is_said():
    order = list(range(99_999, -1, -1))
    whole = table([f"v{i}" for i in range(100_000)], order=order, rest="less frequent")
    text = repr(whole)
    assert len(text.splitlines()) == 1 + 1 + 20 + 1 + 1
    assert "v99999" in text
    assert "and 99,980 less frequent values (to_frame() has all)" in text
    assert whole._repr_html_().count("<tr>") == 21
    assert "and 1 less frequent value (--rows 0)" in whole.text(rows=99_999, hint="--rows 0")
    assert len(whole.text(rows=None).splitlines()) == 100_000 + 3
    assert len(whole.to_csv().splitlines()) == 100_001


def test_an_empty_table_says_so():
    assert table([]).text() == "A title\nThere are no values.\nA note."
    assert table([], empty="Nothing yet.").text() == "A title\nNothing yet.\nA note."
    assert table([]).to_dict()["values"] == []


def test_programs_get_every_column_with_full_precision_and_labels_as_they_are(labels):
    body = documents.unseal(table(labels).to_json(), "bruit.result/1")
    assert body["n"] == 9
    assert body["notes"] == ["A note."]
    assert [row["label"] for row in body["values"]] == labels
    assert set(body["values"][0]) == {"label", "value", "lower", "upper", "hidden"}
    assert body["values"][3]["lower"] == 3.25 - 1000
    rows = list(csv.DictReader(io.StringIO(table(labels).to_csv())))
    assert [row["label"] for row in rows] == labels
    assert [float(row["upper"]) for row in rows] == [i + 1000.25 for i in range(9)]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_every_row_and_its_types(labels, backend):
    frame = table(labels).to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["label", "value", "lower", "upper", "hidden"]
    assert len(frame) == 9
    assert "int" in str(frame.schema.field("hidden").type if backend == "pyarrow" else frame["hidden"].dtype).lower()


def test_what_is_not_a_number_is_nothing_in_documents():
    found = Table("", [Column("x", np.array([np.nan, np.inf, 1.0]))])
    assert [row["x"] for row in json.loads(found.to_json())["rows"]] == [None, None, 1.0]
    assert found.to_csv() == "x\n\n\n1.0\n".replace("\n\n\n", '\n""\n""\n')


def test_a_page_escapes_texts_and_keeps_directions_apart():
    page = table(["<script>", "שלום", "a  b", "a b"])._repr_html_()
    assert "<script>" not in page
    assert "<bdi>&lt;script&gt;</bdi>" in page
    assert "<bdi>a\\x20\\x20b</bdi>" in page


def test_control_characters_do_not_reach_the_screen_from_titles_and_notes():
    found = Table("a\x1b[2J", [Column("x\x07", [1])], ["b\x1b"])
    assert "\x1b" not in found.text() + found._repr_html_()
    assert "\x07" not in found.text()


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Table("", []),
        lambda: Table("", [Column("a", [1]), Column("a", [2])]),
        lambda: Table("", [Column("a", [1]), Column("b", [2, 3])]),
        lambda: Table("", [Column("a", [1])], about={"rows": 1}),
        lambda: Table.of("", ["a", "b"], [["1"]]),
    ],
)
def test_a_table_that_cannot_be_is_refused(bad):
    with pytest.raises(ParameterError):
        bad()


def test_an_unknown_kind_of_frame_is_refused():
    with pytest.raises(BruitError, match="backend must be one of"):
        table(["a"]).to_frame("excel")


def test_what_gives_a_table_shows_itself_as_one():
    class Result(Tabular):
        def table(self, level=0.95):
            return Table(f"Result at {level}", [Column("x", [1.5])])

    assert repr(Result()) == "Result at 0.95\n  x\n1.5"
    assert json.loads(Result().to_json(0.5))["title"] == "Result at 0.5"
    assert Result().to_csv(level=0.9) == "x\n1.5\n"
    assert Result().to_frame("polars", level=0.9).shape == (1, 1)
    assert "<caption>Result at 0.95</caption>" in Result()._repr_html_()
