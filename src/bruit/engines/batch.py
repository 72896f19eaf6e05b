"""A batch: some rows of a table, as a dictionary from column name to column.

A column is a NumPy array (numbers, booleans, reports) or a `DictionaryColumn` (text, and whole numbers or booleans of
which some are missing). Whatever pieces a source gives, batches are cut at the same rows, so that the randomness of a
person does not depend on how a file was written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.domain import DictionaryColumn
from bruit.engines.memory import BLOCK
from bruit.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

#: How many rows every batch but the last one has: a multiple of the block of people that shares a random stream.
BATCH = 4 * BLOCK
#: How many blocks of people that is.
BLOCKS = BATCH // BLOCK

Column: TypeAlias = NDArray[Any] | DictionaryColumn
Batch: TypeAlias = dict[str, Any]

#: What is said about a column that is not there, from its name and the names that there are.
Hint: TypeAlias = Callable[[str, Sequence[str]], str]

#: How many column names a message lists, and how many characters of each.
_SHOWN, _LONGEST = 20, 40

#: Below this, floats of 64 bits tell all whole numbers apart.
EXACT_DOUBLE = 2.0**53


class RoundedFloat(float):
    """A number out of a float narrower than Python's, so large there that it may have lost its last digits.

    A column keeps its type, and with it how far its whole numbers are exact. A value that leaves its column for a place
    among values of other types keeps this mark instead: as a number it is fit for use, as a person's name it is not.
    """

    __slots__ = ()


def exact_below(dtype: Any) -> float:
    """Below this number, floats of a type tell all whole numbers apart.

    >>> exact_below(np.float16), exact_below(np.float32) == 2**24, exact_below(np.float64) == EXACT_DOUBLE
    (2048.0, True, True)
    """
    return float(min(2.0 ** (np.finfo(dtype).nmant + 1), EXACT_DOUBLE))  # a wider one becomes a double


def plain_values(column: NDArray[Any]) -> list[Any]:
    """The values of an array as Python's own, marked where a narrow float may have lost digits."""
    values: list[Any] = column.tolist()
    if column.dtype.kind != "f" or column.dtype.itemsize >= 8:
        return values
    limit = exact_below(column.dtype)
    return [RoundedFloat(value) if abs(value) >= limit else value for value in values]


def rows(batch: Batch) -> int:
    """How many rows a batch has."""
    return height(next(iter(batch.values()))) if batch else 0


def height(column: Column) -> int:
    """How many rows a column has."""
    return len(column.positions) if isinstance(column, DictionaryColumn) else len(column)


def clean_name(name: Any) -> str:
    """A column's name in Unicode normal form C, as schemas keep names."""
    if not isinstance(name, str):
        raise DataTypeError("Column names must be texts.")
    if not _checks.is_whole(name):
        raise DataError("Column names must be whole Unicode: one has half of a surrogate pair. Mend its encoding.")
    return _checks.normal_form(name)


def listed(name: str, names: Sequence[str]) -> str:
    """Some of the columns that there are, where their names are known to be names, and the one that is most alike."""
    shown = ", ".join(repr(other if len(other) <= _LONGEST else f"{other[:_LONGEST]}…") for other in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more." if len(names) > _SHOWN else "."
    return f"There are {shown}{more}{_checks.suggestion(name, names)}"


def choose(available: Sequence[str], columns: Iterable[str] | None, *, hint: Hint = listed) -> dict[str, int]:
    """Where each wanted column stands among those that there are; all of them by default."""
    names = [clean_name(name) for name in available]
    if not names:
        raise DataError("The table must have at least one column.")
    places = {name: place for place, name in enumerate(names)}
    if columns is None and len(places) < len(names):  # not shown: a first line without names is somebody's
        raise DataError("The columns of a table must have different names, and two have the same.")
    chosen = list(places) if columns is None else wanted(columns)
    if any(name in places for name in chosen):  # a first line that has one of the names has names
        hint = listed
    for name in chosen:
        if name not in places:
            raise DataError(f"The table must have a column {name!r}. {hint(name, names)}")
        if names.count(name) > 1:
            raise DataError(f"The table must have one column {name!r}, and has several.")
    return {name: places[name] for name in chosen}


def wanted(columns: Any) -> list[str]:
    """A list of column names as it was asked for."""
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        raise ParameterTypeError("columns must be a list of column names.")
    names = [clean_name(name) for name in columns]
    if not names:
        raise ParameterError("columns must name at least one column.")
    return names


def rebatch(pieces: Iterable[Batch]) -> Iterator[Batch]:
    """The rows of all pieces, in batches of exactly `BATCH` rows and a last one; at least one batch, perhaps empty."""
    waiting: list[Batch] = []
    count = yielded = 0
    for piece in pieces:
        start, stop = 0, rows(piece)
        while count + stop - start >= BATCH:
            middle = start + BATCH - count
            yield joined([*waiting, _cut(piece, start, middle)])
            waiting, count, start = [], 0, middle
            yielded += 1
        if start < stop or not (waiting or yielded):
            waiting.append(_cut(piece, start, stop))
            count += stop - start
    if waiting:
        yield joined(waiting)


def _cut(batch: Batch, start: int, stop: int) -> Batch:
    if start == 0 and stop == rows(batch):
        return batch
    return {name: cut(column, start, stop) for name, column in batch.items()}


def cut(column: Column, start: int, stop: int) -> Column:
    """Some rows of a column."""
    if isinstance(column, DictionaryColumn):
        return used_only(DictionaryColumn(column.entries, column.positions[start:stop]))
    return column[start:stop]


def take(batch: Batch, places: NDArray[Any]) -> Batch:
    """Some rows of a batch, in this order."""
    return {name: _taken(column, places) for name, column in batch.items()}


def _taken(column: Column, places: NDArray[Any]) -> Column:
    if isinstance(column, DictionaryColumn):
        return used_only(DictionaryColumn(column.entries, column.positions[places]))
    values: NDArray[Any] = column[places]
    return values


def values_of(column: Column) -> NDArray[Any]:
    """A column as an array; None where a text is missing."""
    if not isinstance(column, DictionaryColumn):
        return column
    entries = np.empty(column.entries.size + 1, object)
    entries[:-1] = column.entries
    values: NDArray[Any] = entries[column.positions]
    return values


def used_only(column: DictionaryColumn) -> DictionaryColumn:
    """The column without the entries that nobody has, where there are more entries than rows.

    So the work on entries is bounded by the rows, however large the dictionary of a file is.
    """
    entries, positions = column
    if entries.size <= positions.size:
        return column
    used = np.zeros(entries.size + 1, bool)
    used[positions] = True
    return _select(column, used[:-1])


def without(column: DictionaryColumn, missing: frozenset[str]) -> DictionaryColumn:
    """The column with the given texts, and entries that are None, made missing."""
    nothing: frozenset[Any] = missing | {None}
    entries = column.entries
    drop = np.fromiter(map(nothing.__contains__, entries.tolist()), bool, entries.size)
    return _select(column, ~drop) if drop.any() else column


def as_bytes(column: NDArray[Any]) -> NDArray[Any]:
    """A column of records with fields as rows of bytes, as files keep it; any other column as it is."""
    if not column.dtype.names:
        return column
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.dtype.itemsize)


def _select(column: DictionaryColumn, keep: NDArray[np.bool_]) -> DictionaryColumn:
    """The column with these entries alone; others become missing."""
    table = np.append(np.where(keep, np.cumsum(keep, dtype=np.int32) - 1, -1), -1)
    return DictionaryColumn(column.entries[keep], table.astype(np.int32)[column.positions])


def joined(parts: list[Batch]) -> Batch:
    """The rows of several batches, in order, as one."""
    filled = [part for part in parts if rows(part)] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    return {name: _joined(name, [part[name] for part in filled]) for name in filled[0]}


def _joined(name: str, columns: list[Any]) -> Column:
    # Reports of bytes and numbers do not go together, nor do reports of different sizes.
    if len({column.shape[1:] for column in columns if not isinstance(column, DictionaryColumn)}) > 1:
        raise DataTypeError(f"Column {name!r} must have the same kind of values in all files or pieces.")
    if not any(isinstance(column, DictionaryColumn) for column in columns) and _go_together(columns):
        return np.concatenate(columns)
    parts = [column if isinstance(column, DictionaryColumn) else factorize(plain_values(column)) for column in columns]
    first = parts[0].entries
    if all(part.entries is first for part in parts):
        return DictionaryColumn(first, np.concatenate([part.positions for part in parts]))
    known: dict[Hashable, int] = {}
    positions = [_renumbered(part, known) for part in parts]
    return DictionaryColumn(_entries(known), np.concatenate(positions))


def _go_together(columns: list[Any]) -> bool:
    """Whether one array can hold these without making different values equal.

    NumPy makes 1 of True beside numbers. Of a narrow float it makes a double, which does not tell that it was rounded.
    """
    kinds = {column.dtype.kind for column in columns}
    if len({column.dtype for column in columns}) == 1:
        return True
    if len(kinds) > 1 and kinds & set("bM"):
        return False
    return not any(_is_rounded(column) for column in columns)


def _is_rounded(column: NDArray[Any]) -> bool:
    """Whether a column of narrow floats has numbers so large that they may have lost digits."""
    narrow = column.dtype.kind == "f" and column.dtype.itemsize < 8
    return narrow and bool((np.abs(column) >= exact_below(column.dtype)).any())


def _renumbered(column: DictionaryColumn, known: dict[Hashable, int]) -> NDArray[np.int32]:
    """Positions among the entries known so far, after the new ones of this column were added."""
    table = np.empty(column.entries.size + 1, np.int32)
    table[-1] = -1
    for place, key in enumerate(_keys(column.entries.tolist())):
        table[place] = known.setdefault(key, len(known))
    positions: NDArray[np.int32] = table[column.positions]
    return positions


def factorize(values: list[Any]) -> DictionaryColumn:
    """Each distinct value once, and where it stands; None, NaN and their like are missing."""
    keys = _keys(values)
    known: dict[Hashable, int] = dict.fromkeys(keys, -1)
    present = [key for key in known if type(key) is str or not _is_missing(key)]
    for place, key in enumerate(present):
        known[key] = place
    positions = np.fromiter(map(known.__getitem__, keys), np.int32, len(keys))
    return DictionaryColumn(_entries(present), positions)


def _keys(values: list[Any]) -> list[Any]:
    """What tells values apart: 1, 1.0 and True are three values, although Python calls them equal."""
    if set(map(type, values)) <= {str}:
        return values
    return [value if type(value) is str else (type(value), value) for value in values]


def _entries(keys: Iterable[Any]) -> NDArray[Any]:
    values = [key if type(key) is str else key[1] for key in keys]
    entries = np.empty(len(values), object)
    entries[:] = values
    return entries


def _is_missing(key: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    kind, value = key
    if value is None or kind.__name__ in ("NAType", "NaTType"):
        return True
    return kind is float and math.isnan(value)
