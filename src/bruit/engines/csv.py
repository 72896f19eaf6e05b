"""CSV: read as text a block at a time, from a file, a packed file or a stream; written with one header line.

The header is read here and the rows by pyarrow, which is told nothing but how many cells there are. So repeated names,
names in another Unicode form and a byte order mark are dealt with in one place.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import difflib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from bruit.domains.hints import one_letter_apart
from bruit.engines import arrow, memory, sinks
from bruit.engines import batch as batching
from bruit.engines.batch import Batch
from bruit.engines.csv_options import TextOptions
from bruit.errors import DataError, FormatError
from bruit.tables import counted

# A row must fit into a block.
_BLOCK = 1 << 22
_BOM = codecs.BOM_UTF8


def pieces(source: Any, columns: list[str] | None, text: TextOptions, *, packed: bool = False) -> Iterator[Batch]:
    """The rows of a file by its path, or of a binary file object, in pieces."""
    path = source if isinstance(source, str) else "The input"
    with errors(path, text):
        stream = Stream(source, text, packed=packed)
        header = _names(stream.header())
        chosen = batching.choose(header, columns, hint=hint)
    return _read(stream, path, len(header), chosen, text)


def header(path: str, text: TextOptions, *, packed: bool = False) -> list[str]:
    """The cells of the first line of a file."""
    with errors(path, text), contextlib.closing(Stream(path, text, packed=packed)) as stream:
        return _names(stream.header())


def header_of_reports(path: str, text: TextOptions, *, packed: bool = False) -> tuple[list[str], int]:
    """The cells of the first line of a file of reports, whatever they are, and how many lines it takes."""
    with errors(path, text), contextlib.closing(Stream(path, text, packed=packed)) as stream:
        return stream.header_of_reports()


def _names(cells: list[str]) -> list[str]:
    """The first line of a table, unless it is a person's row: names are not all numbers."""
    filled = [cell for cell in cells if cell.strip()]
    if filled and all(_NUMBER.fullmatch(cell.strip()) for cell in filled):
        raise DataError(
            "The first line must have the column names, and it has only numbers: put a line of column names above it. "
            "Columns that are called by numbers, such as years, need a letter in at least one name."
        )
    return cells


#: A number as tables write it, with a decimal point or comma.
_NUMBER = re.compile(r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?")


def _bytes(source: Any, packed: bool, text: TextOptions) -> Any:
    """A stream of UTF-8."""
    stream = arrow.opened(source) if isinstance(source, str) else source
    if packed:
        stream = pa.CompressedInputStream(stream, "gzip")
    if text.encoding in ("utf-8", "utf-8-sig"):
        return stream
    if not isinstance(stream, pa.NativeFile):
        stream = pa.PythonFile(stream, mode="r")
    return pa.transcoding_input_stream(stream, text.encoding, "utf-8")


class Stream:
    """A stream of bytes that gives its header first, and then what pyarrow needs of a file."""

    def __init__(self, source: Any, text: TextOptions, *, packed: bool = False) -> None:
        self._stream = _bytes(source, packed, text)
        self._text = text
        self._ahead = b""
        self._heading = b""
        self.closed = False

    def header(self) -> list[str]:
        """The cells of the first line that is not empty."""
        self._ahead = self._more().removeprefix(_BOM)
        if self._ahead.startswith(b"PAR1"):
            raise FormatError("This is a Parquet file, not CSV: give its path, with a name that ends in .parquet.")
        ended = False
        while True:
            cells, size = self._parsed(whole=ended)
            if cells:
                self._heading, self._ahead = self._ahead[:size], self._ahead[size:]
                return cells
            if ended:
                raise FormatError("The file is empty: its first line must have the column names.")
            if len(self._ahead) > _BLOCK:
                raise FormatError("The first line of the file is too long: it must have the column names.")
            more = self._more()
            self._ahead += more
            ended = not more

    def header_of_reports(self) -> tuple[list[str], int]:
        """The same, and how many lines it takes, of a file whose rows end with a line feed."""
        cells = self.header()
        if self._ahead and not self._heading.endswith(b"\n"):
            raise FormatError("The first line of a file of reports must end with a line feed.")
        return cells, max(1, self._heading.count(b"\n"))

    def _more(self) -> bytes:
        chunk: bytes = self._stream.read(1 << 16)
        return chunk

    def _parsed(self, *, whole: bool) -> tuple[list[str], int]:
        """The header and how many bytes it takes, or nothing if it may go on beyond what was read."""
        # Bytes after the header that are no UTF-8 are found when the rows are read.
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        seen = decoder.decode(self._ahead, final=whole)
        lines = io.StringIO(seen, newline="").readlines()
        if not whole:
            lines = lines[:-1]
        reader = csv.reader(
            lines,
            delimiter=self._text.delimiter,
            quotechar=self._text.quote or None,
            quoting=csv.QUOTE_MINIMAL if self._text.quote else csv.QUOTE_NONE,
            strict=True,  # a quoted cell that is not closed yet is an error, and more is read
        )
        try:
            cells = next((row for row in reader if row), [])
        except csv.Error:
            return [], 0
        "".join(cells).encode()  # an error where a name is no UTF-8
        return cells, len("".join(lines[: reader.line_num]).encode("utf-8", "surrogateescape"))

    def has_rows(self, *, blank: bool) -> bool:
        """Whether rows follow; a blank line is one where `blank` says so."""
        while not (self._ahead if blank else self._ahead.strip(b"\r\n")):
            self._ahead = self._more()
            if not self._ahead:
                return False
        return True

    def read(self, size: int) -> bytes:
        """The next bytes, fewer than asked only at the end: a row must fit into what is read at a time."""
        parts, self._ahead = [self._ahead[:size]], self._ahead[size:]
        missing = size - len(parts[0])
        while missing:
            parts.append(self._stream.read(missing))
            missing = missing - len(parts[-1]) if parts[-1] else 0
        return b"".join(parts)

    def close(self) -> None:
        """Called by pyarrow; the caller closes a file object of its own."""
        self.closed = True
        if isinstance(self._stream, pa.NativeFile):
            self._stream.close()


def _read(stream: Stream, path: str, width: int, chosen: dict[str, int], text: TextOptions) -> Iterator[Batch]:
    names = {name: str(place) for name, place in chosen.items()}
    kind = pa.dictionary(pa.int32(), pa.string())
    blank = width == 1  # a missing answer is written as nothing at all
    with errors(path, text, width), contextlib.closing(stream):
        if not stream.has_rows(blank=blank):
            nothing = pa.schema([(there, kind) for there in names.values()]).empty_table()
            yield arrow.batch(nothing, names, text.missing_in_csv)
            return
        with pc.open_csv(
            pa.PythonFile(stream, mode="r"),
            read_options=pc.ReadOptions(
                column_names=[str(place) for place in range(width)],
                block_size=_BLOCK,
                use_threads=memory.threads() > 1,
            ),
            parse_options=pc.ParseOptions(
                delimiter=text.delimiter,
                quote_char=text.quote or False,
                newlines_in_values=True,
                ignore_empty_lines=not blank,
            ),
            convert_options=pc.ConvertOptions(
                include_columns=list(names.values()),
                column_types=dict.fromkeys(names.values(), kind),
                strings_can_be_null=False,
            ),
        ) as reader:
            for record in reader:
                yield arrow.batch(record, names, text.missing_in_csv)


def errors(path: str, text: TextOptions, width: int = 0) -> AbstractContextManager[None]:
    """As `arrow.reading`, with what is most often wrong with a CSV file."""

    def explain(error: Exception) -> FormatError | None:
        said = str(error)  # it may quote a row, so it is looked at and not shown
        if isinstance(error, UnicodeError) or "UTF8" in said:
            other = "utf-8" if text.encoding not in ("utf-8", "utf-8-sig") else "latin-1"
            return FormatError(
                f"{path!r} is not encoded in {text.encoding}: state its encoding, as in --csv encoding={other} "
                f'(encoding="{other}" in Python).'
            )
        if not isinstance(error, pa.ArrowInvalid) or not width:
            return None
        if "straddling" in said:
            return FormatError(f"{path!r} has a row of more than {_BLOCK >> 20} MiB: a quote may not be closed.")
        return FormatError(f"Every row of {path!r} must have {counted(width, 'cell')}, as the first line has.")

    return arrow.reading(path, "CSV", explain)


def hint(name: str, header: Sequence[str]) -> str:
    """What may be said of the first line: in a file without a header it is somebody's data."""
    close = next((cell for cell in header if _almost(cell, name)), None)
    other = next((mark for mark in _DELIMITERS if mark in header[0]), None) if len(header) == 1 else None
    said = f"The first line must have the column names; it has {counted(len(header), 'cell')}"
    if close is not None:
        return f"Did you mean {close!r}?"
    if other is not None:
        return f"{said}, with {other!r} in it: is that the delimiter? State it (--csv delimiter=…)."
    return f"{said}, and none is like this name: look at the first line of the file."


#: What may stand between cells when it is not what was declared.
_DELIMITERS = (";", "\t", "|", ",")
#: How alike a cell and the name of a column must be for the cell to be shown.
_ALIKE = 0.9


def _almost(cell: str, name: str) -> bool:
    """Whether a cell is the name typed a little differently, and hardly an answer.

    One that holds the whole name and more than a letter is not shown: a person may be "unvaccinated" in a column called
    "vaccinated".
    """
    first, second = _folded(cell), _folded(name)
    if first == second or one_letter_apart(first, second):
        return True
    if first in second or second in first:
        return False
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE


def _folded(name: str) -> str:
    """A name without what people confuse most: its case, spaces around it, and what joins its words."""
    return re.sub(r"[\s_-]", "_", name.strip().casefold())


@contextlib.contextmanager
def writing(stream: Any) -> Iterator[Callable[[Batch], None]]:
    """A function that writes results to a binary stream: one line of names, and then rows."""
    form: dict[str, Any] | None = None

    def write(batch: Batch) -> None:
        nonlocal form
        if form is None:
            stream.write(_header(list(batch)))
        form = sinks.same_form(batch, form)
        record = arrow.to_record_batch({name: _printable(batch[name]) for name in batch}, {})
        pc.write_csv(record, stream, pc.WriteOptions(include_header=False, quoting_style="none"))

    yield write


def _header(names: list[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(names)
    return line.getvalue().encode()


def _printable(column: Any) -> Any:
    """Rows of bytes as hexadecimal texts; numbers as they are."""
    rows = batching.as_bytes(column)
    if rows.ndim == 1:
        return rows
    width = 2 * rows.shape[1]
    text = np.ascontiguousarray(rows).tobytes().hex()
    return np.array([text[start : start + width] for start in range(0, len(text), width)], dtype=object)
