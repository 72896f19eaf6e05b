r"""Texts as cells of CSV files and spreadsheets: never a formula, never a character that steers a program.

A spreadsheet reads a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, also from CSV, and labels may be
chosen by the people in the data. Such a text gets an apostrophe before it. Control characters are written by their
number, as ``\x1b``. Numbers, and ranges such as ``-5..0``, stay as they are. `read_cell` is the exact inverse.
"""

from __future__ import annotations

import re
import unicodedata

#: Characters that steer a terminal, end a line, turn the direction of a text, or may not stand in XML.
STEERING = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
#: What is written by its number: those, and a backslash before what would be read as such a number.
_HIDDEN = re.compile(rf"[{STEERING}]|\\(?=x[0-9a-f]{{2}}|u[0-9a-f]{{4}})")
_NUMBERED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})")

_NUMBER = r"[+-]?(?:[0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[ \u00a0]?%)?"
#: A number, or a range of numbers as bruit writes them; a program that computes it gets nothing but numbers.
_NUMBERS = re.compile(rf"{_NUMBER}(?:(?:\.\.| … | ± ){_NUMBER})*")


def visible(text: str) -> str:
    r"""A text with every control character written by its number, in a way that can be read back.

    >>> visible("\x1b[2J"), visible("C:\\temp"), visible("\\x1b")
    ('\\x1b[2J', 'C:\\temp', '\\x5cx1b')
    """
    return _HIDDEN.sub(lambda mark: _number(mark[0]), text)


def write_cell(text: str) -> str:
    r"""A text as a cell of a CSV file or a spreadsheet; `read_cell` gives it back.

    >>> write_cell("=1+1"), write_cell("-5..0"), write_cell("'=1+1"), write_cell("Vesoul")
    ("'=1+1", '-5..0', "''=1+1", 'Vesoul')
    """
    cell = visible(text)
    return f"'{cell}" if _is_formula(cell.lstrip("'")) else cell


def read_cell(cell: str) -> str:
    """The text that `write_cell` wrote.

    >>> read_cell("'=1+1"), read_cell("'tis"), read_cell("-5..0")
    ('=1+1', "'tis", '-5..0')
    """
    bare = cell[1:] if cell.startswith("'") and _is_formula(cell.lstrip("'")) else cell
    return _NUMBERED.sub(lambda code: chr(int(code[1] or code[2], 16)), bare)


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet may compute a cell: by its first sign, of any width, after what nobody sees."""
    first = next((mark for mark in cell if unicodedata.category(mark) not in ("Cf", "Zs", "Mn")), "")
    return unicodedata.normalize("NFKC", first)[:1] in ("=", "+", "-", "@") and not _NUMBERS.fullmatch(cell)


def _number(mark: str) -> str:
    code = ord(mark)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
