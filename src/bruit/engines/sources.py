"""Where data come from: which engine reads what was handed over."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bruit.domains.domain import DictionaryColumn, in_memory
from bruit.engines import arrays, queries
from bruit.engines import batch as batching
from bruit.engines.batch import Batch
from bruit.engines.csv_options import TextOptions
from bruit.errors import DataError, DataTypeError, ParameterError
from bruit.typing import SourceLike

#: Told how many rows are done, and of how many where that is known.
Progress: TypeAlias = Callable[[int, int | None], object]

#: The names of files that can be read, by their end.
READABLE = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz")

#: The names of workbooks, which hold sheets of cells and no table.
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

#: How text is read unless it is said otherwise.
USUAL = TextOptions()


@dataclass(frozen=True)
class Source:
    """Data, how their texts are read, and who is told how far the reading is; `read` makes one."""

    data: Any
    text: TextOptions = USUAL
    progress: Progress | None = None

    @classmethod
    def of(cls, source: SourceLike | Source) -> Source:
        """The source itself, or data that are read with the usual options."""
        return source if isinstance(source, Source) else cls(source)


def read(
    data: SourceLike,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    missing: Iterable[str] = ("",),
    quote: str = '"',
    progress: Progress | None = None,
) -> Source:
    r"""Data together with how to read them, for every verb that takes a source.

    Parameters
    ----------
    data
        What `batches` reads, or a Spark DataFrame.
    delimiter, encoding, missing, quote
        As for `TextOptions`.
    progress
        Called with the number of rows done and the number of all rows, or None where it is not known; for Spark, with
        tasks instead of rows.

    Examples
    --------
    >>> import io
    >>> source = read(io.BytesIO(b"sex;smokes\nF;?\n"), delimiter=";", missing=["?"])
    >>> (batch,) = batches(source, ["smokes"])
    >>> batch["smokes"].positions.tolist()
    [-1]
    """
    text = TextOptions(delimiter=delimiter, encoding=encoding, missing=missing, quote=quote)  # type: ignore[arg-type]
    return Source(data, text, progress)


class Reading(NamedTuple):
    """A source that was opened: how many rows it has, where that is known, and its batches."""

    total: int | None
    batches: Generator[Batch, None, None]


def batches(source: SourceLike | Source, columns: Iterable[str] | None = None) -> Iterator[Batch]:
    """The rows of a source in batches of `BATCH` rows, in constant memory where the source is a file.

    Parameters
    ----------
    source
        A mapping from column name to array; a frame of pandas, polars or pyarrow; the path of a CSV or Parquet
        file, or of a folder of Parquet files; ``"-"`` for CSV on standard input, or a binary file object with CSV; or
        an iterable of mappings or frames. Or a query that is run as it is read: a lazy frame of polars, a relation of
        DuckDB, a text that begins with SELECT, WITH or FROM, or what `query` gives. Or any of these with how to read
        it, from `read`.
    columns
        The columns to read, all by default.

    Returns
    -------
    Iterator
        Dictionaries from column name to NumPy array, or to a `DictionaryColumn` for text. There is always one batch,
        which is empty if the source is.

    Examples
    --------
    >>> (batch,) = batches({"sex": ["F", "M", "F", None], "age": [31, 40, 22, 50]})
    >>> batch["sex"].entries.tolist(), batch["sex"].positions.tolist()
    (['F', 'M'], [0, 1, 0, -1])
    >>> batch["age"].tolist()
    [31, 40, 22, 50]
    """
    reading, progress = open_source(source, columns), Source.of(source).progress
    return _watched(reading, progress) if progress else reading.batches


def _watched(reading: Reading, progress: Progress) -> Iterator[Batch]:
    done = 0
    with contextlib.closing(reading.batches):
        for batch in reading.batches:
            yield batch
            done += batching.rows(batch)
            progress(done, reading.total)


def open_source(source: Any, columns: Iterable[str] | None) -> Reading:
    """Open a source and check its columns; nothing else is read yet where that can wait."""
    wanted, table = None if columns is None else batching.wanted(columns), Source.of(source)
    total, pieces = _pieces(table.data, wanted, table.text)
    return Reading(total, _rebatched(pieces))


def _rebatched(pieces: Iterator[Batch]) -> Generator[Batch, None, None]:
    try:
        yield from batching.rebatch(pieces)
    finally:
        close = getattr(pieces, "close", None)
        if close:
            close()


def _pieces(source: Any, columns: list[str] | None, text: TextOptions) -> tuple[int | None, Iterator[Batch]]:
    if is_spark(source):
        raise DataTypeError("The rows of a Spark DataFrame stay where they are: use fold or map, not batches.")
    if isinstance(source, Mapping):
        return arrays.mapping_pieces(source, columns, text.missing_elsewhere)
    if queries.is_query(source):
        return queries.pieces(source, columns, text.missing_elsewhere)
    opened = file(source, text)
    if opened is not None:
        return _file_pieces(opened, columns)
    return _frame_pieces(source, columns, text) or _iterable_pieces(source, columns, text)


class File(NamedTuple):
    """A file or stream, and how it is read."""

    source: Any  # a path, or a binary file object
    parquet: bool
    text: TextOptions
    packed: bool = False


def file(source: Any, text: TextOptions) -> File | None:
    """The file that a path or a binary file object is; None if it is neither."""
    if isinstance(source, str | os.PathLike):
        return _path(os.fspath(source), text)
    if not hasattr(source, "read"):
        return None
    if isinstance(source, io.TextIOBase):
        raise DataTypeError("A file object must be opened in binary mode, as in open(path, 'rb').")
    return File(source, parquet=False, text=text)


def _path(path: Any, text: TextOptions) -> File:
    if not isinstance(path, str):
        raise DataTypeError("The path of a file must be text, not bytes.")
    if path == "-":
        return File(sys.stdin.buffer, parquet=False, text=text)
    if is_parquet(path):
        return File(path, parquet=True, text=text)
    kind = suffix(path, READABLE)
    if suffix(path, _WORKBOOKS):
        raise ParameterError(
            f"{path!r} is a workbook of sheets, which is not read: save the sheet as a file of its own (in Excel: Save "
            'as, "CSV UTF-8"), or read it yourself and hand over the frame, as pandas.read_excel(…) gives it.'
        )
    if not kind:
        known = ", ".join(READABLE)
        raise ParameterError(f"A file to read must be a folder of Parquet files or end in one of {known}.")
    plain = kind.removesuffix(".gz")
    return File(path, parquet=False, text=text.for_suffix(plain), packed=kind != plain)


def _file_pieces(opened: File, columns: list[str] | None) -> tuple[int | None, Iterator[Batch]]:
    if opened.parquet:
        from bruit.engines import parquet

        return parquet.pieces(opened.source, columns, opened.text.missing_elsewhere)
    from bruit.engines import csv

    return None, csv.pieces(opened.source, columns, opened.text, packed=opened.packed)


def is_parquet(path: str) -> bool:
    """Whether a path is read as a Parquet file, or as a folder of them; an address without a known end is a folder."""
    kind = suffix(path, READABLE)
    return kind == ".parquet" or (not kind and ("://" in path or Path(path).is_dir()))


def is_spark(source: Any) -> bool:
    """Whether this is a DataFrame of Spark, which is not imported to find out."""
    kind = type(source)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def readable_again(data: Any) -> bool:
    """Whether a source gives its rows a second time."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data) != "-"
    return isinstance(data, Mapping) or queries.is_query(data) or arrays.as_frame(data) is not None


def column_names(table: Source) -> list[str]:
    """The names of the columns of a source that can be read again; of Spark's frames and of streams, none."""
    data = table.data
    if isinstance(data, np.ndarray | list) or is_spark(data):
        return []
    if isinstance(data, Mapping):
        return [name for name in data if isinstance(name, str)]
    if not readable_again(data):
        return []
    if queries.is_query(data):
        return queries.names(data)
    frame = None if isinstance(data, str | os.PathLike) else arrays.as_frame(data)
    if frame is not None:
        return [name for name in frame.columns if isinstance(name, str)]
    with contextlib.closing(open_source(table, None).batches) as batches:
        return list(next(batches, {}))


def suffix(path: str, known: Iterable[str]) -> str:
    """The longest known end of a file's name, or nothing."""
    name = path.lower()
    return max((end for end in known if name.endswith(end)), key=len, default="")


def _frame_pieces(source: Any, columns: list[str] | None, text: TextOptions) -> tuple[int, Iterator[Batch]] | None:
    """The rows of a frame, or None if the source is no frame."""
    source = in_memory(source)
    frame = arrays.as_frame(source)
    return None if frame is None else arrays.frame_pieces(frame, columns, text.missing_elsewhere)


def _iterable_pieces(source: Any, columns: list[str] | None, text: TextOptions) -> tuple[None, Iterator[Batch]]:
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise DataTypeError(WHAT)
    return None, _each_piece(source, columns, text)


def _each_piece(items: Iterable[Any], columns: list[str] | None, text: TextOptions) -> Iterator[Batch]:
    """The rows of batches or frames that come one after the other; the first one decides which columns there are."""
    empty = True
    for item in items:
        if isinstance(item, Mapping):
            pieces: Any = arrays.mapping_pieces(item, columns, text.missing_elsewhere)
        else:
            pieces = _frame_pieces(item, columns, text)
        if pieces is None:
            raise DataTypeError(WHAT)
        for piece in pieces[1]:
            columns = list(piece) if columns is None else columns
            yield piece
        empty = False
    if empty and columns is None:
        raise DataError("There is nothing to read: an iterable without batches has no columns.")
    if empty:
        nothing = DictionaryColumn(np.empty(0, object), np.empty(0, np.int32))
        yield dict.fromkeys(columns or (), nothing)


#: What data may be.
WHAT = (
    "Data must be a mapping from column name to array, a frame of pandas, polars or pyarrow, "
    "a path, a binary file, or an iterable of mappings or frames."
)
