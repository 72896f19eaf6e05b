"""Arrow's columns as ours, and ours as Arrow's.

Text stays as Arrow keeps it, each distinct entry once; entries become Python texts once per batch. pyarrow's messages
may quote data, so they are never shown and never chained (see `bruit.errors`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bruit.domains.domain import HALVES, DictionaryColumn
from bruit.engines import batch as batching
from bruit.engines import report_parsing
from bruit.engines.batch import Batch, Column
from bruit.engines.report_parsing import Parsed
from bruit.errors import BruitError, DataError, DataTypeError, FormatError, ParameterError, in_column, translated
from bruit.laws import Form


def _tests(*kinds: str) -> tuple[Callable[[Any], bool], ...]:
    """What tells whether a type is of one of these kinds, as far as this version of pyarrow has them."""
    return tuple(getattr(pa.types, f"is_{kind}") for kind in kinds if hasattr(pa.types, f"is_{kind}"))


_TEXT = _tests("string", "large_string", "string_view")
_BYTES = _tests("binary", "large_binary", "binary_view", "fixed_size_binary")
_LISTS = _tests("list", "large_list", "fixed_size_list")
# Up to this number of texts, reading them one by one is as fast as pandas, once that is loaded.
_FEW = 4096


_FRAME_RULE = (
    "Every column of a frame must hold values of one kind: text, numbers of at most 64 bits, or booleans. One does not."
)

_FRAME_HALVES = f"In a column of the frame {HALVES}"


def batch(table: Any, names: Mapping[str, Any], missing: frozenset[str]) -> Batch:
    """Columns of a table or record batch; `names` says under which of its names each one stands there."""
    return {name: column(table.column(there), name, missing) for name, there in names.items()}


def column(values: Any, name: str, missing: frozenset[str]) -> Column:
    """One column, in the form that batches have."""
    with in_column(name):
        return _column(_whole(values), name, missing)


def _column(array: Any, name: str, missing: frozenset[str]) -> Column:
    kind = array.type
    if pa.types.is_dictionary(kind) and not is_text(kind.value_type):
        return _column(array.dictionary_decode(), name, missing)
    if pa.types.is_dictionary(kind) or is_text(kind) or pa.types.is_null(kind):
        return batching.without(_dictionary(array), missing)
    if any(test(kind) for test in _BYTES):
        return _bytes(array, name) if pa.types.is_fixed_size_binary(kind) else _bytes_of_one_length(array, name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moments(array, name)
    return _numbers_of(array, name)


def _numbers_of(array: Any, name: str) -> Column:
    kind = array.type
    if pa.types.is_decimal(kind):
        return _decimals(array)
    if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        # Without the type: that of nested values has their keys in it, which are data.
        raise DataTypeError(f"Column {name!r} must hold text, numbers, booleans or dates.")
    if array.null_count and not pa.types.is_floating(array.type):
        return _dictionary(array)  # as floats, whole numbers beyond 2⁵³ would change
    # A copy: kernels are compiled once for arrays that may be written to, and again for those that may not.
    return np.array(_numbers(array))


def _decimals(array: Any) -> NDArray[Any]:
    """The nearest doubles; one that is not whole stays so, because whole numbers may be known as people."""
    numbers: NDArray[Any] = np.array(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if array.type.scale > 0 and array.type.precision > sys.float_info.dig:
        below = np.array(pc.floor(array).cast(pa.float64()).to_numpy(zero_copy_only=False))
        whole = np.array(pc.equal(pc.floor(array), array).fill_null(True).to_numpy(zero_copy_only=False))
        rounded = ~whole & (numbers == np.floor(numbers))
        numbers[rounded] = np.nextafter(numbers, np.where(below < numbers, -np.inf, np.inf))[rounded]
    return numbers


def _moments(array: Any, name: str) -> NDArray[Any]:
    """Dates in days and times in seconds, not-a-time where one is missing."""
    if pa.types.is_timestamp(array.type) and array.type.tz is not None:
        raise DataTypeError(
            f"Column {name!r} must hold local times without a time zone: convert it to the zone of the people first."
        )
    unit = pa.date32() if pa.types.is_date(array.type) else pa.timestamp("s")
    moments: NDArray[Any] = np.array(array.cast(unit, safe=False).to_numpy(zero_copy_only=False))
    return moments


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of those for text."""
    return any(test(kind) for test in _TEXT)


def _whole(values: Any) -> Any:
    """An array in one piece."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    if values.num_chunks == 1:
        return values.chunk(0)
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _dictionary(array: Any) -> DictionaryColumn:
    if pa.types.is_null(array.type):
        return DictionaryColumn(np.empty(0, object), np.full(len(array), -1, np.int32))
    if not pa.types.is_dictionary(array.type):
        if array.type not in (pa.string(), pa.large_string()) and is_text(array.type):
            array = array.cast(pa.large_string())
        array = array.dictionary_encode()
    indices = array.indices.cast(pa.int32())
    positions = _numbers(indices.fill_null(-1) if indices.null_count else indices)
    if positions.size and not -1 <= positions.min() <= positions.max() < len(array.dictionary):
        raise FormatError("A column names entries that its dictionary does not have: the file is damaged.")
    if len(array.dictionary) <= len(array):
        return DictionaryColumn(_entries(array.dictionary), positions)
    # The dictionary of a whole file, say: only the entries of these rows become Python texts.
    places = np.arange(len(array.dictionary))
    used, positions = batching.used_only(DictionaryColumn(places, positions))
    return DictionaryColumn(_entries(array.dictionary.take(pa.array(used))), positions)


# `to_numpy` of pyarrow loads pandas where that is installed, which takes as long as the rest of a short command.
# These give the same arrays without it.


def _numbers(array: Any) -> NDArray[Any]:
    """The values of an array of numbers, which is not to be written to."""
    kind = array.type
    if array.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return _converted(array)
    dtype = np.dtype(kind.to_pandas_dtype())
    return np.frombuffer(array.buffers()[1] or b"", dtype)[array.offset : array.offset + len(array)]


def _entries(dictionary: Any) -> NDArray[Any]:
    # An array that was put together from bytes may hold any; the error would show them.
    with translated((ValueError, pa.ArrowException), lambda _: DataError(HALVES)):
        return _distinct(dictionary)


def _distinct(dictionary: Any) -> NDArray[Any]:
    if not is_text(dictionary.type) or len(dictionary) > _FEW:
        return _converted(dictionary)
    entries = np.empty(len(dictionary), object)
    entries[:] = dictionary.to_pylist()
    return entries


def _converted(array: Any) -> NDArray[Any]:
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return values


def _bytes(array: Any, name: str) -> NDArray[np.uint8]:
    if array.null_count:
        raise DataError(f"Column {name!r} must have no missing entries.")
    width = array.type.byte_width
    start = array.offset * width
    data = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    return data[start : start + len(array) * width].reshape(len(array), width).copy()


def _bytes_of_one_length(array: Any, name: str) -> NDArray[np.uint8]:
    """Reports as bytes in a column that does not say how many each has, as Spark writes them."""
    if array.null_count:
        raise DataError(f"Column {name!r} must have no missing entries.")
    if not len(array):
        return np.empty(0, np.uint8)
    width = len(array[0].as_py())
    lengths = pc.binary_length(array)
    if not width or not pc.all(pc.equal(lengths, width)).as_py():
        raise DataTypeError(f"Column {name!r} must have the same number of bytes in every row, and at least one.")
    return _bytes(array.cast(pa.binary(width)), name)


def reports(form: Form, values: Any) -> Parsed:
    """A column of reports that anybody made: nothing that one row holds, nor the type of the column, is an error."""
    if isinstance(values, pa.ChunkedArray):
        parts = [reports(form, chunk) for chunk in values.chunks]
        whole = np.concatenate([form.empty(0), *(part.reports for part in parts)])
        return _readable(whole, np.concatenate([[], *map(_which, parts)]).astype(np.bool_))
    if not isinstance(values, pa.Array):
        raise report_parsing.wrong(form)
    if isinstance(values, pa.ExtensionArray):
        return reports(form, values.storage)
    if pa.types.is_dictionary(values.type):
        return reports(form, values.dictionary_decode())
    if is_text(values.type):
        return _with_gaps(report_parsing.parse_cells(form, *_cells(values)), values)
    return _bytes_reports(form, values) if form.is_bytes else _number_reports(form, values)


def _number_reports(form: Form, values: Any) -> Parsed:
    if pa.types.is_integer(values.type):
        return _with_gaps(
            report_parsing.parse_numbers(form, _numbers(values.fill_null(0) if values.null_count else values)), values
        )
    if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        return report_parsing.parse_numbers(form, _numbers(values.cast(pa.float64())))
    return report_parsing.none(form, len(values))


def _bytes_reports(form: Form, values: Any) -> Parsed:
    """Bytes, of which those are reports that are as many as a report has; or lists of whole numbers."""
    kind = values.type
    if any(test(kind) for test in _LISTS) and pa.types.is_integer(kind.value_type):
        return report_parsing.parse(form, values.to_pylist())
    if not any(test(kind) for test in _BYTES):
        return report_parsing.none(form, len(values))
    if kind == pa.binary(form.size) and not values.null_count:
        return Parsed(form.from_bytes(_bytes(values, "")))
    plain = values.cast(pa.large_binary())  # of a type that every function knows
    _, starts, ends = _cells(plain)
    readable = (ends - starts == form.size) & plain.is_valid().to_numpy(zero_copy_only=False)
    reports = form.empty(len(plain))
    reports[readable] = form.from_bytes(_joined(plain.filter(pa.array(readable)), form.size))
    return _readable(reports, readable)


def _joined(values: Any, width: int) -> NDArray[np.uint8]:
    """Bytes of one length and without gaps, a row each."""
    data, starts, ends = _cells(values)
    first, last = (starts[0], ends[-1]) if len(values) else (0, 0)
    return data[first:last].reshape(len(values), width)


def series_reports(form: Form, series: Any) -> Parsed:
    """The same of a column of a frame, entry by entry where Arrow cannot hold what it has."""
    try:
        array = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return report_parsing.parse(form, series.to_list())
    return reports(form, array)


def _which(part: Parsed) -> NDArray[np.bool_]:
    return np.ones(len(part.reports), np.bool_) if part.readable is None else part.readable


def _readable(reports: NDArray[Any], readable: NDArray[np.bool_]) -> Parsed:
    return Parsed(reports, None if readable.all() else readable)


def _with_gaps(parsed: Parsed, values: Any) -> Parsed:
    """The same, without the rows that are missing."""
    if not values.null_count:
        return parsed
    return Parsed(parsed.reports, _which(parsed) & values.is_valid().to_numpy(zero_copy_only=False))


def _cells(values: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """All texts or bytes of an array, and where each begins and ends."""
    array = values.cast(pa.large_binary())
    _, places, data = array.buffers()
    if not len(array):
        return np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int64)
    ends = np.frombuffer(places, np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data or b"", np.uint8), ends[:-1], ends[1:]


def frame_batch(frame: Any, names: Iterable[str], missing: frozenset[str]) -> Batch:
    """A slice of a frame, with these names for its columns."""
    # Whatever fails in a library of frames; its words may quote a value.
    kinds = (pa.ArrowException, TypeError, ValueError, OverflowError)
    with translated(
        kinds, lambda error: DataError(_FRAME_HALVES) if isinstance(error, UnicodeError) else DataTypeError(_FRAME_RULE)
    ):
        table = frame.to_arrow()
        # An index of pandas may follow as a further column.
        return batch(table, dict(zip(names, table.column_names, strict=False)), missing)


def from_record_batch(record: Any) -> Any:
    """A record batch as a table."""
    return pa.Table.from_batches([record])


def to_record_batch(columns: Batch, metadata: Mapping[str, str]) -> Any:
    """A result as a record batch."""
    arrays = [_array(np.ascontiguousarray(batching.as_bytes(values))) for values in columns.values()]
    fields = [pa.field(name, array.type, nullable=False) for name, array in zip(columns, arrays, strict=True)]
    return pa.record_batch(arrays, schema=pa.schema(fields, metadata=dict(metadata) or None))


def _array(values: NDArray[Any]) -> Any:
    if values.ndim == 1 and values.dtype.kind not in "iuf":
        return pa.array(values, None if values.size else pa.string())  # of no text there is no type
    kind = pa.from_numpy_dtype(values.dtype) if values.ndim == 1 else pa.binary(values.shape[1])
    data = pa.py_buffer(values if values.size else b"")  # rows of bytes that are none have no layout
    return pa.Array.from_buffers(kind, len(values), [None, data])  # `pa.array` would load pandas


def reading(
    path: str, format_name: str, explain: Callable[[Exception], BruitError | None] = lambda _: None
) -> AbstractContextManager[None]:
    """Turn what goes wrong while a file is read into an error of ours, without the data that pyarrow may quote."""
    return translated(
        (pa.ArrowException, OSError, EOFError, UnicodeError),
        lambda error: explain(error) or _explained(error, path, format_name),
    )


def _explained(error: Exception, path: str, format_name: str) -> BruitError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"There is no file {path!r}.")
    if isinstance(error, PermissionError):
        return DataError(f"The file {path!r} may not be read: permission is denied.")
    return FormatError(f"{path!r} is not a whole {format_name} file: it is damaged, cut short, or something else.")


def opened(path: str) -> Any:
    """A file on this machine or, by its address, in an object store that pyarrow knows."""
    if "://" not in path:
        return pa.OSFile(path)
    system, inner = store(path)
    return system.open_input_file(inner)


def store(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    from pyarrow import fs

    rule = "An address must be of an object store that pyarrow knows, as s3://…."
    with translated(pa.ArrowInvalid, lambda _: ParameterError(rule)):
        place: tuple[Any, str] = fs.FileSystem.from_uri(address)
    return place


def listed(address: str) -> list[str]:
    """The addresses of all files below an address, or itself if it is one, in the order of their names."""
    from pyarrow import fs

    system, inner = store(address)
    with reading(address, "Parquet"):
        if system.get_file_info(inner).type != fs.FileType.Directory:
            return [address]
        entries = system.get_file_info(fs.FileSelector(inner, recursive=True))
    root = address.rstrip("/")
    skip = len(inner.rstrip("/"))
    return sorted(root + _quoted(file.path[skip:]) for file in entries if file.type == fs.FileType.File)


def _quoted(path: str) -> str:
    """A path as an address has it: pyarrow reads a percent sign there as the start of a code."""
    from urllib.parse import quote

    return quote(path, safe="/=+,@:~!$&'()*;")
