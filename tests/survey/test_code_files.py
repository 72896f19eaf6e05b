"""Codes are found in files of every kind, and a hostile file costs bounded time and nothing else."""

from __future__ import annotations

import io
import itertools
import time
import zipfile
from collections import Counter
from xml.sax.saxutils import escape

import pytest

from bruit.errors import BruitError, FormatError, LimitError, ParameterError
from bruit.survey import CodeState
from bruit.survey.code_files import MOST_BYTES, CodeRow, find_codes, read_rows
from bruit.survey.codes import LETTERS

from ..surveys import HEALTH, ONE

#: Seconds of processor time that a file of 10⁷ characters may take on a busy machine.
BOUND = 60


@pytest.fixture
def form(one):
    return one.codes


@pytest.fixture
def codes(one):
    """Six codes with digits: a mistyped code of letters alone may be a word, and is then no code."""
    drawn = (one.answer_code({"drinks": "Yes"}) for _ in range(1000))
    return list(itertools.islice((code for code in drawn if sum(map(str.isdigit, code)) > 3), 6))


def test_a_mistyped_code_of_letters_alone_is_taken_for_words(form, one) -> None:
    drawn = (one.answer_code({"drinks": "Yes"}) for _ in range(100_000))
    code = next(code for code in drawn if not any(map(str.isdigit, code)))
    assert found(form, "codes.txt", code.encode())[0] == [code.replace("-", "")]
    findings, without = find_codes(form, read_rows("codes.txt", code[:-1].encode()))
    assert (findings, without) == ([], 1)


def found(form, name, data, per=None):
    """The codes that count, the states of all that was found, and how many rows have none."""
    findings, without = find_codes(form, read_rows(name, data, per))
    good = [finding.code for finding in findings if finding.reading.state is CodeState.GOOD]
    return good, Counter(finding.reading.state for finding in findings), without


def plain(codes):
    return [code.replace("-", "") for code in codes]


def workbook(rows, *, shared=True, extra="", doctype="", sheet_tail=""):
    """A small .xlsx, as spreadsheet programs write it."""
    texts = list(dict.fromkeys(cell for row in rows for cell in row))

    def cell(text, column, number):
        place = f'r="{chr(65 + column)}{number}"'
        if shared:
            return f'<c {place} t="s"><v>{texts.index(text)}</v></c>'
        return f'<c {place} t="inlineStr"><is><t>{escape(text)}</t></is></c>'

    body = "".join(
        f'<row r="{number}">{"".join(cell(text, column, number) for column, text in enumerate(row))}</row>'
        for number, row in enumerate(rows, 1)
    )
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = (
        f'<?xml version="1.0"?>{doctype}<worksheet {space}><sheetData>{body}{extra}</sheetData></worksheet>{sheet_tail}'
    )
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        archive.writestr("xl/sharedStrings.xml", f'<?xml version="1.0"?><sst {space}>{strings}</sst>')
    return content.getvalue()


# Files of every kind.


def test_codes_are_found_in_lists_tables_and_worksheets(form, codes) -> None:
    rows = [["Timestamp", "Your code", "Comment"], *[["2026-11-16 10:22:33", code, "fine, thanks"] for code in codes]]
    table = "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    contents = {
        "codes.txt": "\n".join(codes).encode(),
        "codes.csv": table.encode(),
        "semicolons.csv": table.replace(",", ";").encode("utf-8-sig"),
        "utf16.csv": table.encode("utf-16"),
        "latin.txt": ("caf\xe9\n" + "\n".join(codes)).encode("latin-1"),
        "tabs.txt": "\t".join(codes).encode(),
        "spaces.txt": " ".join(codes).encode(),
        "codes.xlsx": workbook(rows),
        "inline.xlsx": workbook(rows, shared=False),
        "-": "\n".join(codes).encode(),
    }
    for name, data in contents.items():
        good, states, _ = found(form, name, data)
        assert good == plain(codes), name
        assert set(states) == {CodeState.GOOD}, name


def test_openpyxl_writes_a_worksheet_that_is_read(form, codes, tmp_path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'bruit[excel]'")
    book = openpyxl.Workbook()
    book.active.append(["who", "code"])
    for number, code in enumerate(codes):
        book.active.append([f"person {number}", code])
    book.active["D2"] = '=HYPERLINK("https://localhost", 1)'
    book.create_sheet("more").append([codes[0]])
    book.save(tmp_path / "codes.xlsx")
    good, _, _ = found(form, "codes.xlsx", (tmp_path / "codes.xlsx").read_bytes())
    assert good == plain([*codes, codes[0]])


def test_dirty_lines_are_read_as_people_write_them(form, codes) -> None:
    lines = [
        f"my code is {codes[0].lower()}, sorry for the delay",
        f"  {codes[1].replace('-', '')}  ",
        codes[2].replace("-", " – "),
        f"1) {codes[3].replace('0', 'O')}",
        " ".join(codes[4].replace("-", "")),
        f"({codes[5]}).",
        "",
        "no code here",
    ]
    good, states, without = found(form, "codes.txt", "\n".join(lines).encode())
    assert good == plain(codes)
    assert without == 1
    assert set(states) == {CodeState.GOOD}


def test_words_dates_names_and_numbers_are_no_codes(form) -> None:
    lines = [
        "16.11.2026 1022", "2026-11-16 10:22:33", "+33 6 12 34 56 78", "0612345678", "Christopher", "this week only",
        "anna@school.example", "https://localhost/class.html?x=1", "Timestamp", "1234567890123456", "Oh no.",
    ]  # fmt: skip
    good, states, without = found(form, "codes.txt", "\n".join(lines).encode())
    assert (good, dict(states), without) == ([], {}, len(lines))


def wrong(code, place):
    text = code.replace("-", "")
    return text[:place] + LETTERS[(LETTERS.index(text[place]) + 5) % 32] + text[place + 1 :]


def test_mistyped_codes_are_told_with_their_group_and_other_surveys_apart(write, form, codes) -> None:
    other = write(HEALTH).answer_code({"smokes": "No", "sport": "often"})
    earlier = write(ONE.replace("this week", "this month")).answer_code({"drinks": "No"})
    lines = [wrong(codes[0], 5), codes[1][:-1], codes[2].replace("-", "-X", 1), other, earlier, codes[3]]
    findings, without = find_codes(form, read_rows("codes.txt", "\n".join(lines).encode()))
    assert without == 0
    readings = [(finding.row.number, finding.reading.state, finding.reading.groups) for finding in findings]
    assert readings == [
        (1, CodeState.MISTYPED, (2,)),
        (2, CodeState.MISTYPED, (3,)),
        (3, CodeState.MISTYPED, (2,)),
        (4, CodeState.OTHER_SURVEY, ()),
        (5, CodeState.OTHER_TEXT, ()),
        (6, CodeState.GOOD, ()),
    ]


def test_a_quote_without_end_takes_no_code_away(form, codes) -> None:
    data = ("a,b\n" + "".join(f'x,"{code}\n' for code in codes)).encode()
    assert found(form, "codes.csv", data)[0] == plain(codes)


def test_a_column_says_who_handed_in_a_code(form, codes) -> None:
    data = f"Email,Code\nAnna@x.example ,{codes[0]}\n,{codes[1]}\nbo@x.example,?".encode()
    rows = read_rows("codes.csv", data, "Email")
    assert [row.submitter for row in rows] == ["anna@x.example", "", "bo@x.example"]
    assert rows[0] == CodeRow("codes.csv", 2, (codes[0],), "anna@x.example")
    for name, text in (("codes.csv", b"a,b\n1,2"), ("codes.csv", b""), ("codes.csv", b"Email,Email\n1,2")):
        with pytest.raises(ParameterError, match=r"--per must name one column of the first row of codes\.csv"):
            read_rows(name, text, "Email")


def test_a_submitter_is_one_however_the_name_is_spelt(codes) -> None:
    names = ["José", "Jose\u0301", " JOSÉ ", "ＪＯＳＥ\u0301", "josé\u00a0"]
    text = "Élève,code\n" + "".join(f"{name},{codes[0]}\n" for name in names)
    for per in ("Élève", "E\u0301le\u0300ve"):
        rows = read_rows("codes.csv", text.encode(), per)
        assert {row.submitter for row in rows} == {"josé"}
    assert (
        len(
            {
                row.submitter
                for row in read_rows("codes.csv", f"x,code\nJose,{codes[0]}\nJosé,{codes[0]}\n".encode(), "x")
            }
        )
        == 2
    )


# Hostile files.


def bomb(size):
    """A worksheet that is unpacked to so many spaces, and says so or not."""
    content = io.BytesIO()
    with (
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w") as file,
    ):
        for _ in range(size // 1_000_000):
            file.write(b" " * 1_000_000)
    return content.getvalue()


def test_a_worksheet_that_is_unpacked_to_too_much_is_refused_before_it_is(form) -> None:
    data = bomb(MOST_BYTES + 1_000_000)
    assert len(data) < 1_000_000
    start = time.process_time()
    with pytest.raises(LimitError, match="when it is unpacked"):
        read_rows("codes.xlsx", data)
    assert time.process_time() - start < 1
    # One that says less than it has is read no further than it says.
    lying = bytearray(data)
    place = data.rindex(b"PK\x01\x02")
    lying[place + 24 : place + 28] = (1_000).to_bytes(4, "little")
    start = time.process_time()
    with pytest.raises(FormatError):
        read_rows("codes.xlsx", bytes(lying))
    assert time.process_time() - start < 1


LAUGHS = "<!DOCTYPE x [" + '<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
) + "]>"  # fmt: skip
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("doctype", [LAUGHS, OUTSIDE, "<!DOCTYPE x>"])
def test_a_worksheet_with_entities_is_refused(doctype) -> None:
    extra = '<row><c t="inlineStr"><is><t>&a;&j;</t></is></c></row>' if "ENTITY" in doctype else ""
    with pytest.raises(FormatError, match="must be a workbook"):
        read_rows("codes.xlsx", workbook([["a"]], doctype=doctype, extra=extra))


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"PK\x03\x04" + b"\0" * 100, b"not a workbook", workbook([["a"]])[:-30],
     workbook([["a"]], extra="<row>"), workbook([["a"]], sheet_tail="<")],
)  # fmt: skip
def test_what_is_no_workbook_is_an_error_of_ours(data) -> None:
    with pytest.raises(FormatError):
        read_rows("codes.xlsx", data)


def test_a_worksheet_with_formulas_and_strange_cells_is_text(form, codes) -> None:
    strange = (
        f'<row><c t="str"><f>CONCAT("{codes[1]}")</f><v>{codes[0]}</v></c><c t="s"><v>99999999999999999999</v></c>'
        '<c t="s"><v>-1</v></c><c r="ZZZ9"><v>1</v></c><c><v></v></c><c t="s"/></row>'
    )
    good, _, _ = found(form, "codes.xlsx", workbook([["a"]], extra=strange))
    assert good == plain(codes[:1])  # what the formula gave, and not what stands in it


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(LimitError, match="at most 20,000,000 bytes"):
        read_rows("codes.txt", b" " * (MOST_BYTES + 1))


@pytest.mark.parametrize("name", ["codes.txt", "codes.csv"])
@pytest.mark.parametrize(
    "unit", [b"\0", b'"', b"A", b"A ", b"ABCD-", b"ABCD", b",", b"\n", b"A1B2-C3D4-E5F6\n", b"\xff", b"a-\n", b'",\n"']
)
def test_the_cost_of_a_hostile_file_is_bounded(form, name, unit) -> None:
    """A fiftieth of 10⁷ characters; `make audit` tries all of them."""
    start = time.process_time()
    good, _, _ = found(form, name, unit * (200_000 // len(unit)))
    assert time.process_time() - start < 4
    assert good == []


@pytest.mark.audit
@pytest.mark.parametrize("unit", [b"\0", b'"', b"A ", b"ABCD-", b",", b"A1B2-C3D4-E5F6\n", b"a-\n"])
def test_a_hostile_file_of_10_000_000_characters_costs_bounded_time(form, unit) -> None:
    start = time.process_time()
    assert found(form, "codes.csv", unit * (10_000_000 // len(unit)))[0] == []
    assert time.process_time() - start < BOUND


def test_two_thousand_copies_of_a_code_are_found_as_such(form, codes) -> None:
    assert found(form, "codes.txt", (codes[0] + "\n").encode() * 2_000)[0] == plain(codes[:1]) * 2_000


def test_no_error_quotes_what_a_file_has() -> None:
    for name, data, per in (("codes.xlsx", b"canary", None), ("codes.csv", b"canary,x\n1,2", "Email")):
        with pytest.raises(BruitError) as error:
            read_rows(name, data, per)
        assert "canary" not in str(error.value)
