"""Tables in memory: mappings from name to array, and frames of pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import DictionaryColumn, check_whole, for_numpy
from bruit.engines import batch as batching
from bruit.engines.batch import BATCH, Batch, Column
from bruit.errors import DataError, DataTypeError, in_column, translated

#: What an object array may hold.
_PLAIN = {"str", "int", "float", "RoundedFloat", "bool", "date", "datetime", "NoneType", "NAType", "NaTType"}


def mapping_pieces(
    source: Mapping[str, Any], columns: Iterable[str] | None, missing: frozenset[str]
) -> tuple[int, Iterator[Batch]]:
    """How many rows a mapping of arrays has, and its rows in pieces."""
    names = list(source)
    chosen = batching.choose(names, columns)
    table = {}
    for name, place in chosen.items():
        with in_column(name):
            table[name] = _readable(source[names[place]], name)
    heights = {batching.height(column) for column in table.values()}
    if len(heights) > 1:
        raise DataError("The columns of a table must have the same number of rows.")
    (total,) = heights

    def pieces() -> Iterator[Batch]:
        for start in range(0, max(total, 1), BATCH):
            stop = min(start + BATCH, total)
            yield {name: _column(batching.cut(column, start, stop), name, missing) for name, column in table.items()}

    return total, pieces()


def frame_pieces(frame: Any, columns: Iterable[str] | None, missing: frozenset[str]) -> tuple[int, Iterator[Batch]]:
    """The same of a frame that narwhals knows: Arrow reads it, a slice at a time."""
    from bruit.engines import arrow

    chosen, narrow = selected(frame, columns)
    _refuse_objects(narrow)
    total = len(narrow)

    def pieces() -> Iterator[Batch]:
        for start in range(0, max(total, 1), BATCH):
            yield arrow.frame_batch(narrow[start : start + BATCH], chosen, missing)

    return total, pieces()


def selected(frame: Any, columns: Iterable[str] | None) -> tuple[dict[str, int], Any]:
    """The names that are asked for, and a frame of these columns in their order."""
    with _different_names():
        names = list(frame.columns)
        chosen = batching.choose(names, columns)
        return chosen, frame.select([names[place] for place in chosen.values()])


def as_frame(source: Any) -> Any:
    """A frame as narwhals sees it, or None if the source is no frame."""
    import narwhals.stable.v1 as nw

    if type(source).__name__ == "RecordBatch" and hasattr(source, "__arrow_c_array__"):
        from bruit.engines import arrow

        source = arrow.from_record_batch(source)
    with _different_names():
        frame = nw.from_native(source, eager_only=True, pass_through=True)
    return None if frame is source or not hasattr(frame, "columns") else frame


def _different_names() -> AbstractContextManager[None]:
    """Narwhals reads no frame in which a name stands twice, even if another column is asked for."""
    from narwhals.exceptions import DuplicateError

    rule = "The columns of a frame must have different names, and two have the same."
    return translated(DuplicateError, lambda _: DataError(rule))


def _refuse_objects(frame: Any) -> None:
    """Refuse what would change before Arrow has it.

    Polars hands Python objects to Arrow as addresses in memory, which look like reports of bytes. Of pandas' objects
    Arrow makes one type: a narrow float beside others becomes a double, which does not tell that it was rounded.
    """
    for name, kind in frame.schema.items():
        if str(kind) != "Object":
            continue
        if frame.implementation.is_polars():
            raise DataTypeError(f"Column {name!r} must hold text, numbers or booleans, not Python objects.")
        values = frame[name].to_list()
        with in_column(str(name)):
            check_whole(values)
        kinds = set(map(type, values))
        narrow = {kind for kind in kinds if issubclass(kind, np.floating) and np.dtype(kind).itemsize < 8}
        numbers = {kind for kind in kinds if issubclass(kind, np.number | int | float)}
        if narrow and len(numbers) > 1:
            raise DataTypeError(f"Column {name!r} must hold numbers of one type: some are floats of fewer bits.")


def _readable(values: Any, name: str) -> Column:
    """A whole column as something that can be cut: an array, or a dictionary column as it is."""
    if isinstance(values, DictionaryColumn):
        return DictionaryColumn(np.asarray(values.entries), np.asarray(values.positions))
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise DataTypeError(f"Column {name!r} must be a sequence with one entry per person.")
    kinds = set(map(type, values)) if isinstance(values, list | tuple) else set()
    if len(kinds) > 1 or str in kinds:
        array = np.empty(len(values), object)  # NumPy would make texts of mixed values, and drop a NUL that ends a text
        array[:] = values
        return array
    readable = for_numpy(values)
    try:
        array = np.asarray(readable)
    except ValueError:  # lists of different lengths inside
        array = np.empty(())
    if array.ndim != 1 and not (array.ndim == 2 and array.dtype == np.uint8):
        raise DataTypeError(f"Column {name!r} must be one-dimensional, one entry per person.")
    return array


def _column(column: Column, name: str, missing: frozenset[str]) -> Column:
    """Some rows of a column in the form that batches have."""
    if isinstance(column, DictionaryColumn):
        with in_column(name):
            check_whole(column.entries.tolist())
        return batching.without(column, missing)
    kind = column.dtype.kind
    if kind in "OUT":
        return batching.without(batching.factorize(_plain(column, name)), missing)
    if kind in "buifM" or column.dtype.names:
        return np.ascontiguousarray(column)
    raise DataTypeError(f"Column {name!r} must hold text, numbers or booleans, not NumPy's {column.dtype}.")


def _plain(column: NDArray[Any], name: str) -> list[Any]:
    values: list[Any] = column.tolist()
    kinds = set(map(type, values))
    if any(issubclass(kind, np.generic) for kind in kinds):
        values = [_item(value) if isinstance(value, np.generic) else value for value in values]
        kinds = set(map(type, values))
    if any(kind.__name__ not in _PLAIN for kind in kinds):
        raise DataTypeError(f"Column {name!r} must hold text, numbers or booleans.")
    if str in kinds:
        with in_column(name):
            check_whole(values)
    return values


def _item(scalar: np.generic) -> Any:
    """A scalar of NumPy as Python's own, marked where a narrow float may have lost digits."""
    (value,) = batching.plain_values(np.atleast_1d(scalar))
    return value
