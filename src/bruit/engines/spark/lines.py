"""CSV read by Spark as our own reader reads it: cells as texts, quotes doubled, rows of one length.

The header is read by our reader, and Spark is told places. A quoted cell may have line ends, so that Spark cannot cut a
file: each is read by one task. Spark cannot tell that a text is not in its encoding, and puts U+FFFD there. It skips
blank lines, each of which is a missing answer in a file of one column: such a file is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from bruit.engines import csv
from bruit.engines.csv_options import TextOptions
from bruit.engines.sources import READABLE, suffix
from bruit.errors import DataError, ParameterError

#: The encodings that Spark reads, by Python's names.
_ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "iso8859-1": "ISO-8859-1",
    "ascii": "US-ASCII",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
}


def read(session: Any, path: str, address: str, text: TextOptions) -> Any:
    """A DataFrame of a CSV file: every column is text, and what means "missing" is null."""
    kind = suffix(path, READABLE)
    plain = kind.removesuffix(".gz")
    options = text.for_suffix(plain)
    if options.encoding not in _ENCODINGS:
        known = ", ".join(_ENCODINGS)
        raise ParameterError(f"Spark reads CSV in the encodings {known}: convert the file, or use another engine.")
    names = csv.header(path, options, packed=kind != plain)
    if len(names) == 1:
        _refuse_blank_lines(session, address, options)
    places = [f"c{place}" for place in range(len(names))]
    lines = (
        session.read.schema(", ".join(f"{place} STRING" for place in places))
        .option("header", "true")
        .option("enforceSchema", "true")
        .option("sep", options.delimiter)
        .option("quote", options.quote)
        .option("escape", options.quote or "\0")
        .option("encoding", _ENCODINGS[options.encoding])
        .option("multiLine", "true")
        .option("mode", "FAILFAST")
        .option("columnPruning", "false")  # or rows with too few cells would pass
        .csv(address)
    )
    return _with_gaps(lines.na.fill(""), places, options).toDF(*names)


def read_reports(session: Any, path: str, address: str) -> Any:
    """A DataFrame of the lines of a CSV file of reports, cut at the delimiter and at nothing else.

    A line that has not as many cells as the header is null in every column.
    """
    kind = suffix(path, READABLE)
    plain = kind.removesuffix(".gz")
    options = TextOptions().for_suffix(plain)
    names, above = csv.header_of_reports(path, options, packed=kind != plain)
    lines = session.read.option("lineSep", "\n").text(address)
    numbered = lines.selectExpr("CAST(value AS BINARY)", "_metadata.file_block_start")
    places = [f"c{place}" for place in range(len(names))]
    work = functools.partial(_cut, options.delimiter.encode(), places, above)
    return numbered.mapInArrow(work, ", ".join(f"{place} STRING" for place in places)).toDF(*names)


def _cut(delimiter: bytes, places: list[str], above: int, batches: Iterable[Any]) -> Iterator[Any]:
    """The cells of lines, each of which comes with where the part of the file begins that Spark read it in.

    The first lines of the part that begins the file are its header, for a part is read in order.
    """
    for batch in batches:
        lines, starts = (column.to_pylist() for column in batch.columns)
        if above and 0 in starts:
            first = starts.index(0)
            header = min(above, starts.count(0))
            del lines[first : first + header]
            above -= header
        rows = [_cells(line, delimiter, len(places)) for line in lines]
        columns = zip(*rows, strict=True) if rows else [()] * len(places)
        arrays = [pa.array(cells, pa.string()) for cells in columns]
        yield pa.RecordBatch.from_arrays(arrays, names=places)


def _cells(line: bytes, delimiter: bytes, width: int) -> list[str | None]:
    """The cells of a line without quotes around them, or as many nulls."""
    row = line.removesuffix(b"\r")
    cells = row.split(delimiter)
    if len(cells) != width or b"\r" in row:
        return [None] * width
    plain = (cell[1:-1] if len(cell) > 1 and cell[:1] == cell[-1:] == b'"' else cell for cell in cells)
    return [cell.decode("ascii", "replace") for cell in plain]


def _with_gaps(frame: Any, places: list[str], text: TextOptions) -> Any:
    """Spark takes empty cells for missing whether that is declared or not, so that comes after."""
    if not text.missing:
        return frame
    return frame.replace(dict.fromkeys(text.missing), subset=places)


def _refuse_blank_lines(session: Any, address: str, text: TextOptions) -> None:
    """An error for a file of one column from which Spark would leave people out."""
    if text.encoding.startswith("utf-16"):
        raise ParameterError("Spark reads a file of one column in an encoding of single bytes: convert it to UTF-8.")
    if session.read.text(address).filter("value = ''").limit(1).count():
        raise DataError(
            "In a file of one column a blank line is a missing answer, and Spark skips such lines: use another engine, "
            "or write the table as Parquet."
        )
