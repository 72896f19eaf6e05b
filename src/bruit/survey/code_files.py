"""Codes in files that anybody may have written: tables, lists and worksheets, with whatever else stands in them.

A row is a line of text, a row of CSV or a row of a worksheet. Codes are looked for in every cell, in groups of four or
without spaces, with other words around them. A cell may also be a code that is divided in any other way.
What a file costs is bounded by its size, which has a limit. A worksheet is read as text only: no formula is computed, a
document type is refused, and no more is unpacked than the limit allows.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from bruit import _checks
from bruit.errors import FormatError, LimitError, ParameterError, translated
from bruit.survey.codes import GROUP, HYPHENS, MOST, CodeForm, CodeReading, CodeState, digits_of, is_sound, spelt

#: The most bytes of a file, and of what a worksheet is unpacked to.
MOST_BYTES = 20_000_000
#: The most columns of a worksheet, and the most members of its archive that are looked at.
_MOST_COLUMNS = 1_000
_MOST_MEMBERS = 10_000
#: Of how many rows without a good code it is found out what is wrong.
MOST_EXPLAINED = 1_000
#: The longest cell that is read as one code, however it is divided, and the shortest in which one is looked for.
_LONGEST_CELL = 200
_SHORTEST_CELL = 2 * GROUP - 1
#: The endings of files that are read.
ENDINGS = (".csv", ".txt", ".xlsx")


class CodeRow(NamedTuple):
    """A row of a file.

    Attributes
    ----------
    file, number
        Where it stands: the name of the file, and the line or row, from 1.
    cells
        Its texts that are long enough for a code.
    submitter
        Who handed it in, where a column says so; else empty.
    """

    file: str
    number: int
    cells: tuple[str, ...]
    submitter: str = ""


class CodeFinding(NamedTuple):
    """What a row has: a code and its reading.

    Attributes
    ----------
    row
        The row.
    code
        The characters of the code without hyphens, as bruit writes them; empty where it is none of this survey.
    reading
        What it says.
    """

    row: CodeRow
    code: str
    reading: CodeReading


# From files to rows.


def read_rows(name: str, data: bytes, per: str | None = None) -> list[CodeRow]:
    """The rows of a file.

    Parameters
    ----------
    name
        Its name, whose ending says what it is; any other name than .csv and .xlsx is a list of lines.
    data
        Its content.
    per
        The column that says who handed in a code; a table with a heading is needed then.
    """
    if len(data) > MOST_BYTES:
        raise LimitError(f"{name} must have at most {MOST_BYTES:,} bytes.")
    ending = Path(name).suffix.lower()
    if ending == ".xlsx":
        table = list(_sheets(name, data))
    elif ending == ".csv" or per is not None:
        table = _table(_decoded(data))
    else:
        table = [(number, [line]) for number, line in enumerate(_decoded(data).splitlines(), 1)]
    if per is not None:
        return list(_submitted(name, table, per))
    return [CodeRow(name, number, _long(cells)) for number, cells in table if not _is_blank(cells)]


def _is_blank(cells: list[str]) -> bool:
    return not any(cells) or all(cell.isspace() for cell in cells if cell)


def _long(cells: list[str]) -> tuple[str, ...]:
    return tuple(cell for cell in cells if len(cell) >= _SHORTEST_CELL)


def _submitted(name: str, table: list[tuple[int, list[str]]], per: str) -> Iterator[CodeRow]:
    """Rows below a heading, with what stands in one column."""
    heading = [_normal(cell) for cell in table[0][1]] if table else []
    if heading.count(_normal(per)) != 1:
        raise ParameterError(f"--per must name one column of the first row of {name}, as in --per Email.")
    column = heading.index(_normal(per))
    for number, cells in table[1:]:
        submitter = _normal(_normal(cells[column]).casefold()) if column < len(cells) else ""
        others = [cell for place, cell in enumerate(cells) if place != column]
        if not _is_blank(others):
            yield CodeRow(name, number, _long(others), submitter)


def _normal(text: str) -> str:
    """A text in one spelling, however its letters and marks are written; many marks in a row are slow, and stay."""
    return text.strip() if _checks.has_many_marks(text) else unicodedata.normalize("NFKC", text).strip()


def _decoded(data: bytes) -> str:
    """A text, in whatever encoding: codes are plain letters and digits in all of them."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    else:
        text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\0", " ")


def _table(text: str) -> list[tuple[int, list[str]]]:
    """The rows of CSV; where it is none, its lines."""
    lines = text.splitlines(keepends=True)
    heading = lines[0] if lines else ""
    delimiter = max(",;\t", key=heading.count)
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error:  # a cell without end
        return [(number, line.split(delimiter)) for number, line in enumerate(lines, 1)]


# Worksheets.


def _sheets(name: str, data: bytes) -> Iterator[tuple[int, list[str]]]:
    """The rows of all worksheets of a workbook, one after the other."""
    rule = FormatError(f"{name} must be a workbook (.xlsx) as spreadsheet programs write it; save it as CSV otherwise.")
    # An archive that is damaged or made for it brings errors of many kinds; ours pass as they are.
    with translated((Exception,), lambda _: rule), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > _MOST_MEMBERS:
            raise rule
        sheets = sorted(
            (member for member in members if re.fullmatch(r"xl/worksheets/sheet[0-9]{1,4}\.xml", member.filename)),
            key=lambda member: (len(member.filename), member.filename),
        )
        texts = [member for member in members if member.filename == "xl/sharedStrings.xml"]
        if sum(member.file_size for member in [*sheets, *texts[:1]]) > MOST_BYTES:
            raise LimitError(f"{name} must have at most {MOST_BYTES:,} bytes when it is unpacked.")
        shared = _SharedTexts()
        for member in texts[:1]:
            shared.read(archive, member)
        for member in sheets:
            sheet = _Sheet(shared.texts)
            sheet.read(archive, member)
            yield from sheet.rows


class _XmlReader:
    """Reads a member of an archive, piece by piece; of its elements only the local names count."""

    def read(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = lambda name, attributes: self.start(name.rpartition(":")[2], attributes)
        parser.EndElementHandler = lambda name: self.end(name.rpartition(":")[2])
        parser.CharacterDataHandler = self.text
        parser.buffer_text = True
        with archive.open(member) as file:
            while piece := file.read(1 << 16):
                parser.Parse(piece, False)
        parser.Parse(b"", True)

    def _refuse(self, *_: Any) -> None:
        raise expat.ExpatError("A document type.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, content: str) -> None:
        """Text within an element."""


class _SharedTexts(_XmlReader):
    """The texts that the cells of a workbook share."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._inside = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "si":
            self._parts = []
        self._inside = name == "t"

    def end(self, name: str) -> None:
        self._inside = False
        if name == "si":
            self.texts.append("".join(self._parts))

    def text(self, content: str) -> None:
        if self._inside:
            self._parts.append(content)


class _Sheet(_XmlReader):
    """The rows of a worksheet; the text of a formula is left out, and what it gave when it was saved is read."""

    def __init__(self, shared: list[str]) -> None:
        self.rows: list[tuple[int, list[str]]] = []
        self._shared = shared
        self._cells: list[str] = []
        self._column, self._kind, self._inside = 0, "", False
        self._parts: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._cells, self._column = [], 0
        elif name == "c":
            self._kind, self._parts = attributes.get("t", ""), []
            self._column = _column(attributes.get("r", ""), self._column)
        self._inside = name in ("v", "t")

    def end(self, name: str) -> None:
        self._inside = False
        if name == "c" and self._column < _MOST_COLUMNS:
            self._cells += [""] * (self._column + 1 - len(self._cells))
            self._cells[self._column] = self._content()
            self._column += 1
        elif name == "row":
            self.rows.append((len(self.rows) + 1, self._cells))

    def text(self, content: str) -> None:
        if self._inside:
            self._parts.append(content)

    def _content(self) -> str:
        content = "".join(self._parts)
        if self._kind != "s":
            return content
        is_known = content.isascii() and content.isdigit() and len(content) < 10 and int(content) < len(self._shared)
        return self._shared[int(content)] if is_known else ""


def _column(reference: str, following: int) -> int:
    """The column of a cell by its reference, as in B3; the one that follows where there is none."""
    letters = re.match("[A-Z]{1,3}", reference)
    if letters is None:
        return following
    number = 0
    for letter in letters[0]:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


# From rows to codes.

_BETWEEN = rf"[\s{re.escape(HYPHENS)}]{{1,3}}"
_NOT_BEFORE, _NOT_AFTER = "(?<![0-9A-Za-z])", "(?![0-9A-Za-z])"
_RUN = re.compile("[0-9A-Za-z]+")
#: Two groups of four and more, or fewer characters behind them.
_CHAIN = re.compile(
    f"{_NOT_BEFORE}[0-9A-Za-z]{{4}}(?:{_BETWEEN}[0-9A-Za-z]{{4}}){{1,7}}(?:{_BETWEEN}[0-9A-Za-z]{{1,3}})?{_NOT_AFTER}"
)


def find_codes(form: CodeForm, rows: Iterable[CodeRow]) -> tuple[list[CodeFinding], int]:
    """The codes of rows, and how many rows have none; the heading of a table is not one of them.

    Parameters
    ----------
    form
        The form of the codes of a survey.
    rows
        The rows of all files.
    """
    windows: list[bytes] = []
    texts: list[str] = []
    owners: list[tuple[CodeRow, list[tuple[int, int, int, int]]]] = []
    search = _windows(form.length)
    without = explained = 0
    for row in rows:
        if not row.cells:
            without += not _is_heading(row)
            continue
        places = []
        for place, cell in enumerate(row.cells):
            for start, end, digits in search(cell):
                places.append((place, start, end, len(windows)))
                windows.append(bytes(digits))
                texts.append(cell[start:end])
        owners.append((row, places))
    sound = is_sound(np.frombuffer(b"".join(windows), np.uint8).reshape(-1, form.length))
    findings: list[CodeFinding] = []
    for row, places in owners:
        own = list(_sound_findings(form, row, places, windows, sound))
        if not own and explained < MOST_EXPLAINED:
            explained += 1
            own = _explained(form, row, [(texts[number], windows[number]) for *_, number in places])
        elif not own and places:
            own = [CodeFinding(row, "", CodeReading(CodeState.MISTYPED))]
        findings += own
        without += not own and not _is_heading(row)
    return findings, without


def _is_heading(row: CodeRow) -> bool:
    """Whether a row without a code is the first of a table, where the names of columns stand."""
    return row.number == 1 and Path(row.file).suffix.lower() in (".csv", ".xlsx")


def _windows(length: int) -> Callable[[str], Iterator[tuple[int, int, list[int]]]]:
    """What finds all places of a cell where a code of this length may stand: from where, to where, and its digits."""
    groups, rest = divmod(length, GROUP)
    sizes = [GROUP] * groups + [rest] * bool(rest)
    grouped = _BETWEEN.join(f"[0-9A-Za-z]{{{size}}}" for size in sizes)
    pattern = re.compile(f"{_NOT_BEFORE}(?=({grouped}|[0-9A-Za-z]{{{length}}}){_NOT_AFTER})")

    def search(cell: str) -> Iterator[tuple[int, int, list[int]]]:
        matches = [(match.start(1), match.end(1), match[1]) for match in pattern.finditer(cell)]
        if not matches and len(cell) <= _LONGEST_CELL:
            matches = [(0, len(cell), cell)]
        for start, end, text in matches:
            digits = digits_of(text)
            if digits is not None and len(digits) == length:
                yield start, end, digits

    return search


def _sound_findings(
    form: CodeForm, row: CodeRow, places: list[tuple[int, int, int, int]], windows: list[bytes], sound: Any
) -> Iterator[CodeFinding]:
    """The codes of a row whose check characters fit, from left to right, none within another."""
    after = (-1, 0)
    for place, start, end, number in places:
        if sound[number] and (place, start) >= after:
            after = (place, end)
            reading = form.reading(windows[number], True)
            yield CodeFinding(row, spelt(windows[number]) if reading.report else "", reading)


def _explained(form: CodeForm, row: CodeRow, windows: list[tuple[str, bytes]]) -> list[CodeFinding]:
    """What the code of a row without a good one is: of another survey or text, mistyped, or none."""
    others = [reading for cell in row.cells for reading in _other_lengths(form, cell)]
    if others:
        return [CodeFinding(row, "", reading) for reading in others]
    for text, digits in windows:
        if _is_mixed(text) or "-" in text:  # letters and digits, or letters in groups with hyphens
            return [CodeFinding(row, "", form.reading(digits, False))]
    for cell in row.cells:
        groups = _odd_groups(form, cell)
        if groups is not None:
            return [CodeFinding(row, "", CodeReading(CodeState.MISTYPED, None, groups))]
    return []


def _other_lengths(form: CodeForm, cell: str) -> Iterator[CodeReading]:
    """The readings of codes in a cell that have another length than those of the survey, and whose check fits."""
    texts = [match[0] for match in _CHAIN.finditer(cell)]
    if not texts and len(cell) <= _LONGEST_CELL:
        texts = [cell]
    for text in texts:
        digits = digits_of(text)
        if digits is not None and 2 * GROUP <= len(digits) <= MOST and len(digits) != form.length:
            (sound,) = is_sound(np.array([digits], np.uint8))
            if sound:
                yield form.reading(digits, True)


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _odd_groups(form: CodeForm, cell: str) -> tuple[int, ...] | None:
    """The groups of a cell that have too many or too few characters, if the rest is like a code; else None."""
    runs = _RUN.findall(cell) if len(cell) <= _LONGEST_CELL else []
    sizes = [GROUP] * (form.length // GROUP) + [form.length % GROUP] * bool(form.length % GROUP)
    if not _is_mixed("".join(runs)):
        return None
    if len(runs) == 1 and 0 < abs(len(runs[0]) - form.length) <= 2:
        return ()
    wrong = [place for place, run in enumerate(runs, 1) if place <= len(sizes) and len(run) != sizes[place - 1]]
    if len(runs) != len(sizes) or len(wrong) != 1 or abs(len(runs[wrong[0] - 1]) - sizes[wrong[0] - 1]) > 2:
        return None
    return tuple(wrong)
