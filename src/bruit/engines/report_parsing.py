"""Reports are parsed: what of a column that anybody made has the form of reports.

Reports come from outside. Whatever one entry holds, it is one report or it is none, and the entries beside it stay what
they are: text is read as decimal or hexadecimal digits, bytes must be as many as a report has, and all else is no
report. Two things are errors, because they are mistakes of the caller and not of one person: something that is no
column at all, and a NumPy array whose dtype or shape as a whole is another one (of floats, say).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError, DataTypeError
from bruit.laws import Form
from bruit.tables import counted

__all__ = ["Parsed", "Rows", "none", "parse", "parse_cells", "parse_numbers", "strict", "together", "wrong"]

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


def lawful(form: Form, values: Any, valid: Callable[[NDArray[Any]], Bools]) -> tuple[NDArray[Any], int]:
    """The reports of a column that anybody made which people can have sent, and how many others there are."""
    parsed = parse(form, values)
    rows = parsed.kept()
    rows = rows[valid(rows)]
    return rows, len(parsed.reports) - len(rows)


def parse(form: Form, values: Any) -> Parsed:
    """A column that anybody made, row by row.

    Parameters
    ----------
    values
        A NumPy array in this form; or a list, an array of objects or texts, or a column of pandas, polars or
        pyarrow, whose entries are looked at one by one.
    """
    if isinstance(values, DictionaryColumn):
        return _entries(form, values)
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        return _array(form, values) if values.dtype.kind not in "OUT" else _items(form, _listed(form, values))
    if type(values).__module__.startswith("pyarrow"):
        from bruit.engines import arrow

        return arrow.reports(form, values)
    return _column(form, values)


def strict(form: Form, values: Any) -> NDArray[Any]:
    """The same where every row is needed; an error if one is no report."""
    parsed = parse(form, values)
    if parsed.readable is not None and not parsed.readable.all():
        raise DataError("reports must be ones that the mechanism can have made: leave out those that it refuses.")
    return parsed.reports


def parse_cells(form: Form, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Parsed:
    """Text that stands between these places: digits of a whole number, or hexadecimal ones of bytes."""
    from bruit.kernels import report_text as kernel

    readable = np.empty(starts.size, np.bool_)
    if not form.is_bytes:
        numbers = np.empty(starts.size, form.dtype)
        kernel.decimals(data, starts, ends, _most(form), numbers, readable)
        return _parsed(numbers, readable)
    rows = np.empty((starts.size, form.size), np.uint8)
    kernel.hexadecimals(data, starts, ends, kernel.DIGITS, rows, readable)
    return _parsed(form.from_bytes(rows), readable)


def parse_numbers(form: Form, numbers: NDArray[Any]) -> Parsed:
    """Integers, or floats of which those count that are whole."""
    if form.is_bytes:
        return none(form, len(numbers))
    if numbers.dtype == form.dtype:
        return Parsed(numbers)
    if numbers.dtype.kind == "f":
        readable = (numbers >= 0) & (numbers <= min(_most(form), _EXACT)) & (numbers == np.floor(numbers))
    else:
        readable = np.asarray((numbers >= 0) & (numbers <= _most(form)))
    return _parsed(np.where(readable, numbers, 0).astype(form.dtype), readable)


def none(form: Form, n: int) -> Parsed:
    """Rows of which none is a report."""
    return Parsed(form.empty(n), np.zeros(n, np.bool_))


def _most(form: Form) -> int:
    """The largest whole number in this form."""
    return min(int(np.iinfo(form.dtype).max), 2**63 - 1)


def _rule(form: Form) -> str:
    if form.dtype.names:
        fields = ", ".join(form.dtype.names)
        return f"a one-dimensional array with the fields {fields}, as privatize of this oracle makes"
    if form.width:
        return f"an array of uint8 with one row of {counted(form.width, 'byte')} per person"
    return "a one-dimensional array of integers, one per person"


def wrong(form: Form) -> DataTypeError:
    """The error about something that is no column of such reports."""
    return DataTypeError(f"reports must be {_rule(form)}; or a list, of which each entry is one or is refused.")


# Whole columns.


def _array(form: Form, values: NDArray[Any]) -> Parsed:
    """An array of plain dtype is held to it as a whole."""
    if values.ndim == 1 and not values.size:
        return Parsed(form.empty(0))
    if values.dtype == form.dtype and values.shape[1:] == ((form.width,) if form.width else ()):
        return Parsed(values)
    if form.dtype.names and values.dtype == np.uint8 and values.shape[1:] == (form.size,):
        return Parsed(form.from_bytes(values))
    if form.is_bytes or values.ndim != 1 or values.dtype.kind not in "ui":
        raise wrong(form)
    return parse_numbers(form, values)


def _column(form: Form, values: Any) -> Parsed:
    """A list, a masked array or a column of another library, whose gaps make other types of its entries."""
    if type(values).__module__.startswith("pyspark."):
        raise DataTypeError("reports must be in memory: give a Spark DataFrame to the tally of a Plan.")
    if hasattr(values, "to_numpy"):
        try:
            array = np.asarray(values.to_numpy())
        except Exception:  # whatever a library raises about a type that NumPy does not have
            return _items(form, list(values))
        typed = array.ndim == 1 and array.dtype.kind in "ui" and not form.is_bytes
        return parse_numbers(form, array) if typed else _items(form, _listed(form, array))
    return _items(form, _listed(form, values))


def _listed(form: Form, values: Any) -> list[Any]:
    if isinstance(values, _NO_COLUMN) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise wrong(form)
    rows = getattr(values, "ndim", 1) > 1  # rows of bytes stay arrays, which are read faster than lists
    return list(values) if rows or not hasattr(values, "tolist") else list(values.tolist())


def _entries(form: Form, values: DictionaryColumn) -> Parsed:
    """Each distinct entry once, and where it stands."""
    reports, readable = _items(form, [*np.asarray(values.entries).tolist(), None])
    if readable is None:
        return Parsed(reports[values.positions])
    return _parsed(reports[values.positions], readable[values.positions])


# Single entries.


def _items(form: Form, items: list[Any]) -> Parsed:
    if form.is_bytes:
        return _byte_items(form, items)
    if set(map(type, items)) <= {int}:
        try:
            return parse_numbers(form, np.array(items, np.int64))
        except OverflowError:  # one is beyond 64 bits
            pass
    numbers = [_number_of(form, item) for item in items]
    readable = np.array([number is not None for number in numbers], np.bool_)
    return _parsed(np.array([number or 0 for number in numbers], form.dtype), readable)


def _byte_items(form: Form, items: list[Any]) -> Parsed:
    parsed = [_bytes_of(form, item) for item in items]
    readable = np.array([report is not None for report in parsed], np.bool_)
    nothing = bytes(form.size)
    whole = bytearray().join(nothing if report is None else report for report in parsed)
    rows = np.frombuffer(whole, np.uint8).reshape(len(parsed), form.size)
    return _parsed(form.from_bytes(rows), readable)


def _number_of(form: Form, item: Any) -> int | None:
    """A whole number in this form, however it is typed; a boolean is none."""
    if isinstance(item, np.integer | np.floating | np.str_):
        item = item.item()
    whole = type(item) is int or (type(item) is float and item.is_integer() and item <= _EXACT)
    number = int(item) if whole or (type(item) is str and _DIGITS.fullmatch(item)) else -1
    return number if 0 <= number <= _most(form) else None


def _bytes_of(form: Form, item: Any) -> bytes | None:
    """The bytes of a report."""
    row: bytes | None = None
    if isinstance(item, bytes | bytearray | memoryview):
        row = bytes(item)
    elif isinstance(item, np.void):
        row = item.tobytes() if item.dtype in (form.dtype, np.dtype((np.void, form.size))) else None
    elif isinstance(item, str):
        row = bytes.fromhex(item) if _HEXADECIMAL.fullmatch(item) else None
    elif isinstance(item, list | tuple | np.ndarray):
        row = _bytes_of_numbers(form, item)
    return row if row is not None and len(row) == form.size else None


def _bytes_of_numbers(form: Form, item: Any) -> bytes | None:
    """The bytes of a row of whole numbers: of the fields of a record, or one for each byte."""
    numbers = item.tolist() if isinstance(item, np.ndarray) else list(item)
    if not isinstance(numbers, list) or not all(type(number) is int for number in map(_plain, numbers)):
        return None
    try:
        if form.dtype.names and len(numbers) == len(form.dtype.names):
            # Compared here: NumPy before 2 keeps the lowest bits of what does not fit, and quotes it in a warning.
            fields = [form.dtype[name] for name in form.dtype.names]
            pairs = zip(numbers, fields, strict=True)
            fits = all(field.kind == "u" and 0 <= number <= np.iinfo(field).max for number, field in pairs)
            return np.array([tuple(numbers)], form.dtype).tobytes() if fits else None
        return bytes(numbers)
    except (ValueError, OverflowError):  # one is too large for its place
        return None


_DIGITS = re.compile("[0-9]{1,18}")
_HEXADECIMAL = re.compile("([0-9a-fA-F]{2})+")


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.integer) else number


def _parsed(reports: NDArray[Any], readable: Bools) -> Parsed:
    return Parsed(reports, None if readable.all() else readable)
