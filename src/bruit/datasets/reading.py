"""Read a table from a CSV file, plain or packed, with the standard library and NumPy alone."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.datasets.catalogue import CatalogueEntry, DatasetColumn, Kind
from bruit.errors import FormatError, translated

#: How the published files write a missing text.
MISSING_MARK = "?"


def read(entry: CatalogueEntry, packed: bytes) -> dict[str, NDArray[Any]]:
    """Columns in the catalogue's order, whatever the file's."""
    rows = csv.reader(io.StringIO(_unpack(packed)))
    wanted = [column.name for column in entry.columns]
    rule = "The file must be CSV: comma separated, one line per row."
    with translated(csv.Error, lambda _: FormatError(rule)):
        header = next(rows, [])
        if sorted(header) != sorted(wanted):
            raise FormatError(f"A file of {entry.name} must have the columns {', '.join(wanted)}.")
        cells = _cells(rows, len(wanted))
    return {column.name: _array(column, cells[header.index(column.name) :: len(header)]) for column in entry.columns}


def _cells(rows: Iterator[list[str]], width: int) -> list[str]:
    """All cells, row after row, in one list.

    Equal cells become one object at once: 700,000 texts and 50,000 lists kept alive would double
    the time to load.
    """
    cells: list[str] = []
    known: dict[str, str] = {}
    for row in rows:
        if len(row) == width:
            cells += map(known.setdefault, row, row)
        elif row:  # a blank line is nothing
            raise FormatError(f"Every row of the file must have {width} cells.")
    if not cells:
        raise FormatError("The file must have rows.")
    return cells


def _unpack(packed: bytes) -> str:
    rule = "The file must be CSV in UTF-8, plain or packed with gzip or xz."
    with translated((lzma.LZMAError, zlib.error, EOFError, OSError, UnicodeDecodeError), lambda _: FormatError(rule)):
        if packed.startswith(b"\xfd7zXZ\x00"):
            packed = lzma.decompress(packed)
        elif packed.startswith(b"\x1f\x8b"):
            packed = gzip.decompress(packed)
        return packed.decode("utf-8-sig")


def _array(column: DatasetColumn, cells: Sequence[str]) -> NDArray[Any]:
    """A column as a read-only array; each distinct cell is read once, however many rows have it."""
    convert, dtype, rule = _READERS[column.kind]
    with translated((ValueError, OverflowError), lambda _: FormatError(f"The column {column.name} must hold {rule}.")):
        known = {cell: convert(cell) for cell in set(cells)}
        array: NDArray[Any] = np.fromiter(map(known.__getitem__, cells), dtype, len(cells))
    array.flags.writeable = False
    return array


def _text(cell: str) -> str | None:
    return None if cell == MISSING_MARK else cell


def _whole(cell: str) -> int:
    """A whole number; 3.0 too, because tables that had gaps write whole numbers so."""
    try:
        return int(cell)
    except ValueError:
        number = float(cell)
        if not number.is_integer():
            raise
        return int(number)


_READERS: dict[Kind, tuple[Callable[[str], Any], type, str]] = {
    "text": (_text, object, "texts"),
    "whole": (_whole, np.int64, "whole numbers"),
    "real": (float, np.float64, "numbers"),
}
