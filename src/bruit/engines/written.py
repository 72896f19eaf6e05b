"""Tables of results as files: CSV, Parquet, and a sheet for spreadsheets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.errors import MissingExtraError, ParameterError
from bruit.tables import Table, write_cell

#: The names of files that hold a table of results, by their end.
ENDINGS = (".csv", ".parquet", ".xlsx")
#: What a cell of a spreadsheet holds without loss.
_EXACT = 2**53
#: How many rows a sheet has at most, and how many characters (of UTF-16) a cell.
SHEET_ROWS, CELL_LENGTH = 1_048_576, 32_767


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
    """Sheets with names in the first row, as many as the rows need. A text is never a formula.

    Nothing here fails for any label or number of rows: what is written was paid for.
    """
    book = _openpyxl().Workbook()
    most = SHEET_ROWS - 1
    rows = max(len(values) for values in columns.values())
    for number, start in enumerate(range(0, max(rows, 1), most), 1):
        sheet = book.active if number == 1 else book.create_sheet()
        sheet.title = "results" if number == 1 else f"results {number}"
        sheet.freeze_panes = "A2"
        for place, (name, values) in enumerate(columns.items(), 1):
            for row, value in enumerate([name, *values[start : start + most]], 1):
                cell = sheet.cell(row, place, _sheet_cell(value))
                if isinstance(cell.value, str):
                    cell.data_type = "s"
    book.save(stream)


def _sheet_cell(value: Any) -> Any:
    """A number or nothing as it is; texts as in CSV, and large whole numbers as texts, which are exact."""
    beyond = isinstance(value, int) and abs(value) > _EXACT
    if isinstance(value, int | float | None) and not beyond:
        return value
    text = write_cell(str(value))
    if len(text.encode("utf-16-le")) // 2 <= CELL_LENGTH:
        return text
    ending = f"… ({len(text):,} characters, digest {documents.digest(text)})"
    head = text.encode("utf-16-le")[: 2 * (CELL_LENGTH - len(ending))].decode("utf-16-le", "ignore")
    return head + ending
