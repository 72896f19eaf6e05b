"""Parquet files and folders of them: read a few columns at a time, written whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bruit.engines import arrow, memory, sinks
from bruit.engines import batch as batching
from bruit.engines.batch import BATCH, Batch
from bruit.errors import DataError, DataTypeError

# Column chunks are read through a buffer of this size, however large the row groups of a file are.
_BUFFER = 1 << 20
# A column chunk of text that keeps each entry once has at most about 2.5 bytes per row besides its dictionary; one that
# does not has at least 4. In the second case a dictionary of the whole chunk would have to be built, and is not.
_BYTES_PER_ROW, _DICTIONARY_BYTES = 3, 1 << 22
# Keys that Arrow and pandas keep for themselves.
_NOT_OURS = {"ARROW:schema", "pandas"}


def pieces(path: str, columns: Iterable[str] | None, missing: frozenset[str]) -> tuple[int, Iterator[Batch]]:
    """How many rows a file or folder has, and its rows in pieces."""
    wanted = None if columns is None else list(columns)
    files = _files(path)
    heads = [_Head(file, wanted) for file in files]
    if wanted is None:  # every file must have the columns of the first one
        heads = [heads[0], *(_Head(file, list(heads[0].names)) for file in files[1:])]
    total = sum(head.rows for head in heads)
    return total, (piece for head in heads for piece in head.pieces(missing))


def _files(path: str) -> list[str]:
    folder = Path(path)
    if "://" in path or not folder.is_dir():
        return [path]
    found = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() == ".parquet"
        and file.is_file()
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    )
    if not found:
        raise DataError(f"The folder {path!r} must have files that end in .parquet.")
    return [str(file) for file in found]


class _Head:
    """What the end of a file says about it. The file is not kept open: a folder may have many."""

    def __init__(self, path: str, columns: list[str] | None) -> None:
        self.path = path
        with self._open() as file, self._named():
            self.rows: int = file.metadata.num_rows
            schema = file.schema_arrow
            chosen = batching.choose(schema.names, columns)
            self.names = {name: schema.names[place] for name, place in chosen.items()}
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

    def pieces(self, missing: frozenset[str]) -> Iterator[Batch]:
        there = list(self.names.values())
        with self._open(read_dictionary=self.text) as file:
            if not self.rows:
                yield self._batch(file.schema_arrow.empty_table(), missing)
                return
            many = memory.threads() > 1 and len(there) > 1
            for found in file.iter_batches(BATCH, columns=there, use_threads=many):
                yield self._batch(found, missing)

    def _batch(self, found: Any, missing: frozenset[str]) -> Batch:
        with self._named():
            return arrow.batch(found, self.names, missing)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Say in which file it is that a column breaks a rule: a folder has many."""
        try:
            yield
        except (DataError, DataTypeError) as error:
            raise type(error)(f"{self.path!r}: {error}") from None


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

    def write(made: Batch) -> None:
        nonlocal writer, form
        form = sinks.same_form(made, form)
        found = arrow.to_record_batch(made, metadata)
        if writer is None:
            writer = pq.ParquetWriter(path, found.schema, **_settings(made))
        writer.write_batch(found)

    try:
        yield write
    except BaseException:
        if writer is not None:
            with contextlib.suppress(OSError, pa.ArrowException):  # the first error is the one to show
                writer.close()
        raise
    if writer is not None:
        writer.close()


def _settings(made: Batch) -> dict[str, Any]:
    """Few distinct values are kept once; many would fill a dictionary only to be written out."""
    few = [name for name, column in made.items() if column.ndim == 1 and column.itemsize <= 2]
    return {"compression": "zstd", "compression_level": 1, "use_dictionary": few or False}


def all_metadata(path: str) -> dict[str, dict[str, str]]:
    """The key-value texts in each of the files that `pieces` would read."""
    return {file: metadata_of(file) for file in _files(path)}


def metadata_of(path: str) -> dict[str, str]:
    """The key-value texts in a file."""
    with arrow.reading(path, "Parquet"), arrow.opened(path) as stream:
        found = pq.read_schema(stream).metadata or {}
    texts = {key.decode("utf-8", "replace"): text for key, text in found.items()}
    return {key: text.decode("utf-8", "replace") for key, text in texts.items() if key not in _NOT_OURS}
