"""Parquet files and folders of them: read a few columns at a time, written whole or not at all.

A folder may be cut by columns that stand in the names of its folders, as in ``year=2020/``. They are texts here: as in
CSV, nothing is guessed to be a number.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bruit.domains.domain import DictionaryColumn, check_whole
from bruit.engines import arrow, memory, report_parsing, sinks
from bruit.engines import batch as batching
from bruit.engines.batch import BATCH, Batch
from bruit.engines.report_parsing import Rows, together
from bruit.errors import DataError, DataTypeError, FormatError, in_column, translated
from bruit.laws import Form

# Column chunks are read through a buffer of this size, however large the row groups of a file are.
_BUFFER = 1 << 20
# A column chunk of text that keeps each entry once has at most about 2.5 bytes per row besides its dictionary; one that
# does not has at least 4. In the second case a dictionary of the whole chunk would have to be built, and is not.
_BYTES_PER_ROW, _DICTIONARY_BYTES = 3, 1 << 22
# Keys that Arrow, pandas and Spark keep for themselves.
_NOT_OURS = {"ARROW:schema", "pandas"}
_SPARKS = "org.apache.spark."
# Where Spark keeps what its columns carry.
_SPARK_ROW = "org.apache.spark.sql.parquet.row.metadata"
# How a folder says that a value is missing.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def pieces(path: str, columns: Iterable[str] | None, missing: frozenset[str]) -> tuple[int, Iterator[Batch]]:
    """How many rows a file or folder has, and its rows in pieces."""
    wanted = None if columns is None else list(columns)
    files = _files(path)
    heads = [_Head(file, wanted, _in_folders(path, file)) for file in files[: 1 if wanted is None else None]]
    if wanted is None:  # every file must have the columns of the first one
        columns = [*heads[0].names, *heads[0].given]
        heads += [_Head(file, columns, _in_folders(path, file)) for file in files[1:]]
    total = sum(head.rows for head in heads)
    return total, (head.batch(table, missing) for head in heads for table in head.tables(BATCH))


def reports(path: str, forms: Mapping[str, Form], rows: int) -> tuple[int, Iterator[Rows]]:
    """How many rows of reports a file or folder has, and the reports in batches of at most this many rows."""
    heads = [_Head(file, list(forms), _in_folders(path, file)) for file in _files(path)]
    total = sum(head.rows for head in heads)
    return total, (head.reports(table, forms) for head in heads for table in head.tables(rows))


def _files(path: str) -> list[str]:
    """The file, or those below a folder in the order of their names."""
    if "://" in path:
        there = arrow.listed(path)
    elif Path(path).is_dir():
        there = [str(file) for file in sorted(Path(path).rglob("*")) if file.is_file()]
    else:
        return [path]
    files = [file for file in there if file == path or _counts(_below(path, file))]
    if not files:
        raise DataError(f"The folder {path!r} must have files that end in .parquet.")
    return files


def _below(root: str, file: str) -> list[str]:
    """The names of folders and at last of the file, from a folder down."""
    if "://" in root:
        return unquote(file[len(root.rstrip("/")) :]).strip("/").split("/")
    return list(Path(file).relative_to(root).parts)


def _counts(parts: list[str]) -> bool:
    return parts[-1].lower().endswith(".parquet") and not any(part.startswith((".", "_")) for part in parts)


def _in_folders(root: str, file: str) -> dict[str, str | None]:
    """The columns that stand in the names of folders, and their value for a file: text, or None where it is missing."""
    pairs = [part.partition("=") for part in _below(root, file)[:-1] if "=" in part] if file != root else []
    values = {batching.clean_name(unquote(name)): unquote(value) for name, _, value in pairs}
    for name, value in values.items():  # the name of a folder may be any bytes
        with in_column(name):
            check_whole([value])
    return {name: None if value == _NO_VALUE else value for name, value in values.items()}


class _Head:
    """What the end of a file says about it. The file is not kept open: a folder may have many."""

    def __init__(self, path: str, columns: list[str] | None, folders: dict[str, str | None]) -> None:
        self.path = path
        with self._open() as file, self._named():
            self.metadata = file.metadata
            self.rows: int = file.metadata.num_rows
            schema = file.schema_arrow
            inside = [name for name in schema.names if batching.clean_name(name) not in folders]
            requested = list(batching.choose([*inside, *folders], columns))
            self.given = {name: folders[name] for name in requested if name in folders}
            chosen = batching.choose(schema.names, [name for name in requested if name not in folders] or [inside[0]])
            self.names = {name: schema.names[place] for name, place in chosen.items()}
            self.order = requested
            self.text = [
                there
                for name, there in self.names.items()
                if arrow.is_text(schema.field(chosen[name]).type) and _keeps_entries_once(file.metadata, there)
            ]

    @contextlib.contextmanager
    def _open(self, **options: Any) -> Iterator[Any]:
        with (
            arrow.reading(self.path, "Parquet"),
            arrow.opened(self.path) as stream,
            pq.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER, **options) as file,
        ):
            yield file

    def tables(self, rows: int) -> Iterator[Any]:
        """The columns of the file as Arrow has them, in batches of at most this many rows."""
        there = list(self.names.values())
        with self._open(read_dictionary=self.text, metadata=self.metadata) as file:
            if not self.rows:
                yield file.schema_arrow.empty_table()
                return
            many = memory.threads() > 1 and len(there) > 1
            yield from file.iter_batches(rows, columns=there, use_threads=many)

    def batch(self, table: Any, missing: frozenset[str]) -> Batch:
        """Some rows as a batch."""
        with arrow.reading(self.path, "Parquet"), self._named():
            batch = arrow.batch(table, self.names, missing)
            batch |= {name: _constant(value, len(table), missing) for name, value in self.given.items()}
            return {name: batch[name] for name in self.order}

    def reports(self, table: Any, forms: Mapping[str, Form]) -> Rows:
        """Some rows as reports."""
        with arrow.reading(self.path, "Parquet"):
            columns = {
                name: report_parsing.parse(forms[name], _constant(self.given[name], len(table), frozenset()))
                if name in self.given
                else arrow.reports(forms[name], table.column(self.names[name]))
                for name in self.order
            }
            return together(columns)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Say in which file it is that a column breaks a rule: a folder has many."""
        try:
            yield
        except (DataError, DataTypeError) as error:
            raise type(error)(f"{self.path!r}: {error}") from None


def _constant(value: str | None, rows: int, missing: frozenset[str]) -> DictionaryColumn:
    """A column with one text, or without any."""
    entries = np.empty(int(value is not None), object)
    entries[:] = value
    positions = np.full(rows, -1 if value is None else 0, np.int32)
    return batching.without(DictionaryColumn(entries, positions), missing)


def _keeps_entries_once(metadata: Any, name: str) -> bool:
    """Whether all of a text column is kept as a dictionary and positions in it."""
    places = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    place = places.get(name)
    if place is None:
        return False
    chunks = (metadata.row_group(i).column(place) for i in range(metadata.num_row_groups))
    return all(
        chunk.total_uncompressed_size <= _BYTES_PER_ROW * chunk.num_values + _DICTIONARY_BYTES for chunk in chunks
    )


@contextlib.contextmanager
def writing(path: Path, metadata: Mapping[str, str]) -> Iterator[Callable[[Batch], None]]:
    """A function that writes results to a file; the first one decides which columns it has."""
    writer: Any = None
    form: dict[str, Any] | None = None

    def write(batch: Batch) -> None:
        nonlocal writer, form
        form = sinks.same_form(batch, form)
        record = arrow.to_record_batch(batch, metadata)
        if writer is None:
            writer = pq.ParquetWriter(path, record.schema, **_settings(batch))
        writer.write_batch(record)

    try:
        yield write
    except BaseException:
        if writer is not None:
            with contextlib.suppress(OSError, pa.ArrowException):  # the first error is the one to show
                writer.close()
        raise
    if writer is not None:
        writer.close()


def _settings(batch: Batch) -> dict[str, Any]:
    """Few distinct values are kept once; many would fill a dictionary only to be written out."""
    few = [name for name, column in batch.items() if column.ndim == 1 and column.itemsize <= 2]
    return {"compression": "zstd", "compression_level": 1, "use_dictionary": few or False}


def all_metadata(path: str) -> dict[str, dict[str, str]]:
    """The key-value texts in each of the files that `pieces` would read."""
    return {file: metadata_of(file) for file in _files(path)}


def metadata_of(path: str) -> dict[str, str]:
    """The key-value texts in a file; in one that Spark wrote, those that its columns carry."""
    with arrow.reading(path, "Parquet"), arrow.opened(path) as stream:
        stored = pq.read_schema(stream).metadata or {}
    texts = {key.decode("utf-8", "replace"): text.decode("utf-8", "replace") for key, text in stored.items()}
    rule = f"{path!r} is not a whole Parquet file: what Spark keeps of its columns is nested too deeply."
    with translated(RecursionError, lambda _: FormatError(rule)):
        carried = _carried(texts.get(_SPARK_ROW, ""))
    own = {key: text for key, text in texts.items() if key not in _NOT_OURS and not key.startswith(_SPARKS)}
    return carried | own


def _carried(row: str) -> dict[str, str]:
    """The texts that the columns of a file by Spark carry, out of Spark's description of them."""
    try:
        fields = json.loads(row)["fields"] if row else []
        pairs = [pair for field in fields for pair in field["metadata"].items()]
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {key: text for key, text in pairs if isinstance(text, str)}
