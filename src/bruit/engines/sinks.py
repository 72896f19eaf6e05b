"""Where results go: files that appear whole or not at all, standard output, or a list."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bruit import documents
from bruit.engines.batch import Batch
from bruit.engines.sources import suffix
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

Write = Callable[[Batch], object]

#: The names of files that can be written, by their end.
WRITABLE = (".parquet", ".csv")


@contextlib.contextmanager
def opened(sink: Any, metadata: Mapping[str, str] | None) -> Iterator[Write]:
    """A function that takes batches; when the block ends well, what it took is kept."""
    texts = checked_metadata(metadata)
    if isinstance(sink, list):
        yield sink.append
    elif isinstance(sink, str) and sink == "-":
        from bruit.engines import csv

        with csv.writing(sys.stdout.buffer) as write:
            yield write
        sys.stdout.buffer.flush()
    elif isinstance(sink, str | os.PathLike):
        with _file(Path(sink), texts) as write:
            yield write
    elif callable(sink):
        yield sink
    else:
        raise ParameterTypeError("A sink must be a path, '-', a list or a function.")


@contextlib.contextmanager
def _file(path: Path, metadata: dict[str, str]) -> Iterator[Write]:
    kind = suffix(path.name, WRITABLE)
    if not kind:
        raise ParameterError(f"A file to write must end in one of {', '.join(WRITABLE)}.")
    if not path.parent.is_dir():
        raise ParameterError(f"There is no folder {str(path.parent)!r} to write to.")
    with documents.replacing(path) as partial:
        if kind == ".parquet":
            from bruit.engines import parquet

            with parquet.writing(partial, metadata) as write:
                yield write
        else:
            from bruit.engines import csv

            with partial.open("wb") as stream, csv.writing(stream) as write:
                yield write


def checked(batch: Any) -> Batch:
    """What a function returned, if it can be written: columns of the same length, of kinds that files hold."""
    if not isinstance(batch, Mapping) or not batch:
        raise DataTypeError("The function must return a dictionary from column name to array.")
    columns = {str(name): np.asarray(column) for name, column in batch.items()}
    for name, column in columns.items():
        kind = column.dtype
        flat = column.ndim == 1 and (kind.kind in "buif" or bool(kind.names and not kind.hasobject))
        if not flat and not (column.ndim == 2 and kind == np.uint8 and column.shape[1]):
            raise DataTypeError(
                f"Column {name!r} must be a one-dimensional array of numbers or of records with fields, "
                "or a two-dimensional array of bytes."
            )
    if len({len(column) for column in columns.values()}) > 1:
        raise DataError("The columns of a result must have the same number of rows.")
    return columns


def same_form(batch: Batch, form: dict[str, Any] | None) -> dict[str, Any]:
    """Names, dtypes and widths of a result, which must be those of the results before it."""
    actual = {name: (column.dtype, column.shape[1:]) for name, column in batch.items()}
    if form is not None and actual != form:
        raise DataTypeError("The function must return the same columns and dtypes for every batch.")
    return actual


def checked_metadata(metadata: Any) -> dict[str, str]:
    """Texts to keep with a result."""
    texts = dict(metadata or {})
    if not all(isinstance(word, str) for pair in texts.items() for word in pair):
        raise ParameterTypeError("metadata must be a dictionary from text to text.")
    return texts
