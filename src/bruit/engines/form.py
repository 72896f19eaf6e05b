"""The form of reports: the dtype and bytes of a column of them, and what of a column that anybody made has this form.

Reports come from outside. Whatever one entry holds, it is one report or it is none, and the entries beside it stay what
they are: text is read as decimal or hexadecimal digits, bytes must be as many as a report has, and all else is no
report. Two things are errors, because they are mistakes of the caller and not of one person: something that is no
column at all, and a NumPy array whose dtype or shape as a whole is another one (of floats, say).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError, DataTypeError
from bruit.tables import counted

__all__ = ["Form", "Parsed", "Rows", "together"]

Bools = NDArray[np.bool_]

#: What is a mapping, a text or a set is no column, although Python can go through it.
_NO_COLUMN = (str, bytes, bytearray, Mapping, set, frozenset)
#: Whole numbers above this are not told apart as floats.
_EXACT = 2.0**53


class Parsed(NamedTuple):
    """A column of reports in their form, and which rows are any; None where all are. Other rows hold zeros."""

    reports: NDArray[Any]
    readable: Bools | None = None

    def kept(self) -> NDArray[Any]:
        """The rows that are reports."""
        return self.reports if self.readable is None else self.reports[self.readable]


class Rows(NamedTuple):
    """People's reports by column name, all in their form, and how many people were refused because one is not."""

    reports: dict[str, NDArray[Any]]
    refused: int

    @property
    def people(self) -> int:
        """How many people there are, those refused included."""
        return len(next(iter(self.reports.values()))) + self.refused


def together(columns: Mapping[str, Parsed], refused: int = 0) -> Rows:
    """The people of whom every column is readable; `refused` are some more, of whom nothing could be read."""
    masks = [column.readable for column in columns.values() if column.readable is not None]
    if not masks:
        return Rows({name: column.reports for name, column in columns.items()}, refused)
    fine = np.logical_and.reduce(masks)
    return Rows({name: column.reports[fine] for name, column in columns.items()}, refused + int((~fine).sum()))


@dataclass(frozen=True)
class Form:
    """What a report is: a whole number, a row of bytes, or a record with fields, which files keep as its bytes.

    Parameters
    ----------
    dtype
        Of an array of reports.
    width
        How many bytes a row of a two-dimensional array of reports has; 0 where an array is one-dimensional.

    Examples
    --------
    >>> form = Form(np.dtype(np.uint8))
    >>> form.parse([1, "0", None, 2.5, [1, 2], 2**64]).readable.tolist()
    [True, True, False, False, False, False]
    """

    dtype: np.dtype[Any]
    width: int = 0

    @classmethod
    def of(cls, reports: NDArray[Any]) -> Form:
        """The form of these reports."""
        return cls(reports.dtype, reports.shape[1] if reports.ndim == 2 else 0)

    @property
    def size(self) -> int:
        """How many bytes a report is; 0 where it is a whole number."""
        return self.dtype.itemsize if self.dtype.names else self.width

    @property
    def most_text(self) -> int:
        """How many characters a report takes at most as text, with quotes around it."""
        return 2 + (2 * self.size or 20)

    def empty(self, n: int) -> NDArray[Any]:
        """Room for n reports, filled with zeros."""
        return np.zeros((n, self.width) if self.width else n, self.dtype)

    def parse(self, values: Any) -> Parsed:
        """A column that anybody made, row by row.

        Parameters
        ----------
        values
            A NumPy array in this form; or a list, an array of objects or texts, or a column of pandas, polars or
            pyarrow, whose entries are looked at one by one.
        """
        if isinstance(values, DictionaryColumn):
            return self._entries(values)
        if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
            return self._array(values) if values.dtype.kind not in "OUT" else self._items(self._listed(values))
        if type(values).__module__.startswith("pyarrow"):
            from bruit.engines import arrow

            return arrow.reports(self, values)
        return self._column(values)

    def strict(self, values: Any) -> NDArray[Any]:
        """The same for whoever needs every row; an error if one is no report."""
        parsed = self.parse(values)
        if parsed.readable is not None and not parsed.readable.all():
            raise DataError("reports must be ones that the mechanism can have made: leave out those that it refuses.")
        return parsed.reports

    def parse_cells(self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Parsed:
        """Text that stands between these places: digits of a whole number, or hexadecimal ones of bytes."""
        from bruit.kernels import report_text as kernel

        readable = np.empty(starts.size, np.bool_)
        if not self.size:
            numbers = np.empty(starts.size, self.dtype)
            kernel.decimals(data, starts, ends, self._most, numbers, readable)
            return _parsed(numbers, readable)
        rows = np.empty((starts.size, self.size), np.uint8)
        kernel.hexadecimals(data, starts, ends, kernel.DIGITS, rows, readable)
        return _parsed(self.from_bytes(rows), readable)

    def parse_numbers(self, numbers: NDArray[Any]) -> Parsed:
        """Integers, or floats of which those count that are whole."""
        if self.size:
            return self.none(len(numbers))
        if numbers.dtype == self.dtype:
            return Parsed(numbers)
        if numbers.dtype.kind == "f":
            readable = (numbers >= 0) & (numbers <= min(self._most, _EXACT)) & (numbers == np.floor(numbers))
        else:
            readable = np.asarray((numbers >= 0) & (numbers <= self._most))
        return _parsed(np.where(readable, numbers, 0).astype(self.dtype), readable)

    def from_bytes(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Reports from their bytes, a row each."""
        if not self.dtype.names:
            return rows
        return np.ascontiguousarray(rows).view(self.dtype).reshape(len(rows))

    def none(self, n: int) -> Parsed:
        """So many rows, of which none is a report."""
        return Parsed(self.empty(n), np.zeros(n, np.bool_))

    @property
    def _most(self) -> int:
        """The largest whole number in this form."""
        return min(int(np.iinfo(self.dtype).max), 2**63 - 1)

    @property
    def _rule(self) -> str:
        if self.dtype.names:
            fields = ", ".join(self.dtype.names)
            return f"a one-dimensional array with the fields {fields}, as privatize of this oracle makes"
        if self.width:
            return f"an array of uint8 with one row of {counted(self.width, 'byte')} per person"
        return "a one-dimensional array of integers, one per person"

    def wrong(self) -> DataTypeError:
        """The error about something that is no column of such reports."""
        return DataTypeError(f"reports must be {self._rule}; or a list, of which each entry is one or is refused.")

    # Whole columns.

    def _array(self, values: NDArray[Any]) -> Parsed:
        """An array of plain dtype is held to it as a whole."""
        if values.ndim == 1 and not values.size:
            return Parsed(self.empty(0))
        if values.dtype == self.dtype and values.shape[1:] == ((self.width,) if self.width else ()):
            return Parsed(values)
        if self.dtype.names and values.dtype == np.uint8 and values.shape[1:] == (self.size,):
            return Parsed(self.from_bytes(values))
        if self.size or values.ndim != 1 or values.dtype.kind not in "ui":
            raise self.wrong()
        return self.parse_numbers(values)

    def _column(self, values: Any) -> Parsed:
        """A list, a masked array or a column of another library, whose gaps make other types of its entries."""
        if type(values).__module__.startswith("pyspark."):
            raise DataTypeError("reports must be in memory: give a Spark DataFrame to the tally of a Plan.")
        if hasattr(values, "to_numpy"):
            try:
                array = np.asarray(values.to_numpy())
            except Exception:  # whatever a library raises about a type that NumPy does not have
                return self._items(list(values))
            typed = array.ndim == 1 and array.dtype.kind in "ui" and not self.size
            return self.parse_numbers(array) if typed else self._items(self._listed(array))
        return self._items(self._listed(values))

    def _listed(self, values: Any) -> list[Any]:
        if isinstance(values, _NO_COLUMN) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
            raise self.wrong()
        rows = getattr(values, "ndim", 1) > 1  # rows of bytes stay arrays, which are read faster than lists
        return list(values) if rows or not hasattr(values, "tolist") else list(values.tolist())

    def _entries(self, values: DictionaryColumn) -> Parsed:
        """Each distinct entry once, and where it stands."""
        reports, readable = self._items([*np.asarray(values.entries).tolist(), None])
        if readable is None:
            return Parsed(reports[values.positions])
        return _parsed(reports[values.positions], readable[values.positions])

    # Single entries.

    def _items(self, items: list[Any]) -> Parsed:
        if self.size:
            return self._byte_items(items)
        if set(map(type, items)) <= {int}:
            try:
                return self.parse_numbers(np.array(items, np.int64))
            except OverflowError:  # one is beyond 64 bits
                pass
        numbers = [self._number_of(item) for item in items]
        readable = np.array([number is not None for number in numbers], np.bool_)
        return _parsed(np.array([number or 0 for number in numbers], self.dtype), readable)

    def _byte_items(self, items: list[Any]) -> Parsed:
        parsed = [self._bytes_of(item) for item in items]
        readable = np.array([report is not None for report in parsed], np.bool_)
        nothing = bytes(self.size)
        whole = bytearray().join(nothing if report is None else report for report in parsed)
        rows = np.frombuffer(whole, np.uint8).reshape(len(parsed), self.size)
        return _parsed(self.from_bytes(rows), readable)

    def _number_of(self, item: Any) -> int | None:
        """A whole number in this form, however it is typed; a boolean is none."""
        if isinstance(item, np.integer | np.floating | np.str_):
            item = item.item()
        whole = type(item) is int or (type(item) is float and item.is_integer() and item <= _EXACT)
        number = int(item) if whole or (type(item) is str and _DIGITS.fullmatch(item)) else -1
        return number if 0 <= number <= self._most else None

    def _bytes_of(self, item: Any) -> bytes | None:
        """The bytes of a report."""
        row: bytes | None = None
        if isinstance(item, bytes | bytearray | memoryview):
            row = bytes(item)
        elif isinstance(item, np.void):
            row = item.tobytes() if item.dtype in (self.dtype, np.dtype((np.void, self.size))) else None
        elif isinstance(item, str):
            row = bytes.fromhex(item) if _HEXADECIMAL.fullmatch(item) else None
        elif isinstance(item, list | tuple | np.ndarray):
            row = self._bytes_of_numbers(item)
        return row if row is not None and len(row) == self.size else None

    def _bytes_of_numbers(self, item: Any) -> bytes | None:
        """The bytes of a row of whole numbers: of the fields of a record, or one for each byte."""
        numbers = item.tolist() if isinstance(item, np.ndarray) else list(item)
        if not isinstance(numbers, list) or not all(type(number) is int for number in map(_plain, numbers)):
            return None
        try:
            if self.dtype.names and len(numbers) == len(self.dtype.names):
                # Compared here: NumPy before 2 keeps the lowest bits of what does not fit, and quotes it in a warning.
                fields = [self.dtype[name] for name in self.dtype.names]
                pairs = zip(numbers, fields, strict=True)
                fits = all(field.kind == "u" and 0 <= number <= np.iinfo(field).max for number, field in pairs)
                return np.array([tuple(numbers)], self.dtype).tobytes() if fits else None
            return bytes(numbers)
        except (ValueError, OverflowError):  # one is too large for its place
            return None


_DIGITS = re.compile("[0-9]{1,18}")
_HEXADECIMAL = re.compile("([0-9a-fA-F]{2})+")


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.integer) else number


def _parsed(reports: NDArray[Any], readable: Bools) -> Parsed:
    return Parsed(reports, None if readable.all() else readable)
