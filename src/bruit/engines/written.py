"""Tables of results as files: CSV, Parquet, and a sheet for spreadsheets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.errors import MissingExtraError, ParameterError
from bruit.tables import Table

#: The names of files that hold a table of results, by their end.
ENDINGS = (".csv", ".parquet", ".xlsx")
#: What a cell of a spreadsheet holds without loss.
_EXACT = 2**53


def check_ending(path: Path) -> str:
    """The ending of a file that a table can be written to; what it needs is there."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(f"A table must go to a file that ends in {', '.join(ENDINGS)}.")
    if ending == ".xlsx":
        _openpyxl()
    return ending


def write_table(table: Table, path: Path) -> None:
    """Write all rows and columns of a table, whole or not at all; the ending says how: .csv, .parquet or .xlsx."""
    content = table_bytes(table, check_ending(path))
    with documents.replacing(path) as partial:
        partial.write_bytes(content)


def table_bytes(table: Table, ending: str) -> bytes:
    """The file of a table."""
    if ending == ".csv":
        return table.to_csv().encode()
    stream = io.BytesIO()
    if ending == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table.to_frame("pyarrow"), stream)
    else:
        _write_sheet(table.data(), stream)
    return stream.getvalue()


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("A spreadsheet (.xlsx)", "excel") from None
    return openpyxl


def _write_sheet(columns: dict[str, list[Any]], stream: io.BytesIO) -> None:
    """One sheet, with names in the first row. A text is never a formula, and large whole numbers are texts."""
    book = _openpyxl().Workbook()
    sheet = book.active
    sheet.title = "results"
    sheet.freeze_panes = "A2"
    for place, (name, values) in enumerate(columns.items(), 1):
        for row, value in enumerate([name, *values], 1):
            beyond = isinstance(value, int) and abs(value) > _EXACT
            cell = sheet.cell(row, place)
            cell.value = str(value) if beyond or not isinstance(value, int | float | None) else value
            if isinstance(cell.value, str):
                cell.data_type = "s"
    book.save(stream)
