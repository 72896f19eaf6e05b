"""The parts of a sheet, of kinds that its template knows: headings, paragraphs, lists, tables, and lines to fill in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Part", "blanks", "bullets", "heading", "paragraph", "table"]


class Part(NamedTuple):
    """A part of a sheet.

    Attributes
    ----------
    kind
        What it is: ``"heading"``, ``"paragraph"``, ``"note"``, ``"list"``, ``"table"`` or ``"blanks"``.
    text, lines
        Its text, or its lines.
    heads, rows, numbers
        Of a table: the heads, the rows, and how many of the last columns are numbers.
    on_page
        Whether the respondent's page says the same, word for word.
    """

    kind: str
    text: str = ""
    lines: Sequence[str] = ()
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    numbers: int = 0
    on_page: bool = False


def heading(text: str) -> Part:
    """A heading."""
    return Part("heading", text)


def paragraph(text: str, *, note: bool = False, on_page: bool = False) -> Part:
    """A paragraph, or a remark in smaller letters."""
    return Part("note" if note else "paragraph", text, on_page=on_page)


def bullets(lines: Iterable[str], *, on_page: bool = False) -> Part:
    """A list."""
    return Part("list", lines=list(lines), on_page=on_page)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int, on_page: bool = False) -> Part:
    """A table whose last columns are numbers."""
    return Part("table", heads=heads, rows=list(rows), numbers=numbers, on_page=on_page)


def blanks(lines: Iterable[str]) -> Part:
    """Lines to fill in by hand."""
    return Part("blanks", lines=list(lines))
