"""What Spark's Python workers run: functions from an iterator of Arrow batches to another.

pyspark is not imported here. A task works on one thread: Spark runs as many tasks as there are cores.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bruit.domains.domain import DictionaryColumn
from bruit.engines import arrow, memory, reports, sinks
from bruit.engines import batch as batching
from bruit.engines.batch import BLOCKS, Batch
from bruit.engines.report_parsing import Rows, together
from bruit.engines.spark import pickling
from bruit.errors import BruitError, DataTypeError, translated
from bruit.laws import Form

#: The one column of a folded part, and its type as Spark writes it.
PART, PART_SCHEMA = "part", "part binary"
#: The column that says in which partition a row stands.
PARTITION = "partition"
#: The column with a number that rows have which belong together.
TOGETHER = "together"

# Spark has no unsigned numbers: these are kept in the next type that holds them all.
_WIDER = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "float16": pa.float32()}
_BLOCK_BITS, _PARTITION_BITS = 40, 32


class Job(NamedTuple):
    """What a task must know."""

    function: bytes  # pickled, to map with the key of the job
    names: dict[str, str]  # how each column is called for the function, and in Spark's batches
    missing: frozenset[str]
    forms: dict[str, Form] | None = None  # of reports, which anybody may have made


def folded(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """One row with the sum of what the function makes of a partition; none for a partition without rows."""
    with quiet():
        function = _function(job)
        if job.forms is not None:
            yield from _part(function(rows) for rows in reports.gathered(_reports(job, batches), job.forms))
        else:
            yield from _part(function(batch) for batch in batching.rebatch(_pieces(job, batches)))


def numbered(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """The rows that the function takes, each with its number, by which Spark brings them together."""
    with quiet():
        function = _function(job)
        for piece in batches:
            with arrow.reading("The DataFrame", "Arrow"):
                batch = arrow.batch(piece, job.names, job.missing)
            taken, numbers = function(batch)
            rows = piece.filter(pa.array(taken))
            yield pa.RecordBatch.from_arrays([*rows.columns, pa.array(numbers)], [*rows.schema.names, TOGETHER])


def folded_whole(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """As `folded`, with all rows of a partition at once; rows that belong together are in one partition."""
    with quiet():
        pieces = list(_pieces(job, batches))
        if pieces:
            yield from _part(iter([_function(job)(batching.joined(pieces))]))


def merged(batches: Iterable[Any]) -> Iterator[Any]:
    """One row with the sum of those that there are."""
    with quiet():
        yield from _part(pickling.received(blob) for batch in batches for blob in batch.column(0).to_pylist())


def _part(results: Iterator[Any]) -> Iterator[Any]:
    nothing = object()
    total = next(results, nothing)
    if total is not nothing:
        total = functools.reduce(lambda first, second: first + second, results, total)
        yield pa.RecordBatch.from_pydict({PART: pa.array([pickling.result(total)], pa.binary())})


def mapped(job: Job, form: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """What the function makes of every batch of a partition, with the same words whenever it is run again."""
    with quiet():
        function, key = _function(job)
        place = _Place(by_content=key.secure)
        for index, batch in enumerate(batching.rebatch(_pieces(job, map(place.noted, batches)))):
            words = key.derive_again(place.first_block(index, batch), BLOCKS)
            result = sinks.checked(function(batch, words))
            sinks.same_form(result, dict(form))
            yield record_batch(result)


class _Place:
    """Which partition this is, and so the numbers of its blocks of people.

    Spark's own number of a *task* would not do: a coalesced task runs several partitions under one number, and a
    cross join runs one partition under several.
    """

    def __init__(self, by_content: bool) -> None:
        self._by_content = by_content
        self._partition: int | None = None

    def noted(self, item: Any) -> Any:
        """The batch, of which the partition was written down."""
        if item.num_rows:
            first = item.column(PARTITION)[0].as_py()
            if self._partition not in (None, first):
                raise BruitError("Rows of two partitions came together, which would repeat noise: nothing was made.")
            self._partition = first
        return item

    def first_block(self, index: int, batch: Batch) -> int:
        """A number that no other batch has: of the partition, of the block in it and, if asked for, of what it holds.

        With the content in it, a batch that is not the same when its partition is computed again gets noise of its
        own, instead of the noise that others had.
        """
        number = (self._partition or 0) << _BLOCK_BITS | index * BLOCKS
        if not self._by_content:
            return number
        return content(batch) << (_BLOCK_BITS + _PARTITION_BITS) | number


def content(batch: Batch) -> int:
    """A number of 256 bits that tells batches of different rows apart."""
    digest = hashlib.blake2b(digest_size=32)
    for name, column in batch.items():
        positions, entries = column, ""
        if isinstance(column, DictionaryColumn):
            positions, entries = column.positions, repr(column.entries.tolist())
        head = repr((name, str(positions.dtype), positions.shape, len(entries))).encode()
        digest.update(len(head).to_bytes(8, "little") + head)
        digest.update(np.ascontiguousarray(positions).view(np.uint8).data if positions.size else b"")
        digest.update(entries.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "little")


def record_batch(columns: Batch) -> Any:
    """A result as Spark can keep it."""
    record = arrow.to_record_batch(columns, {})
    arrays = [
        column.cast(pa.binary() if pa.types.is_fixed_size_binary(column.type) else _WIDER.get(str(kind), column.type))
        for column, kind in zip(record.columns, (values.dtype for values in columns.values()), strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=record.schema.names)


def form_of(columns: Batch) -> dict[str, Any]:
    """Names, dtypes and widths of a result, if Spark can keep it."""
    for name, column in columns.items():
        if column.dtype == np.uint64:
            raise DataTypeError(f"Column {name!r} must not be of unsigned 64-bit numbers, which Spark does not have.")
    return sinks.same_form(columns, None)


def _function(job: Job) -> Any:
    memory._note_worker()
    return pickling.received(job.function)


def _pieces(job: Job, batches: Iterable[Any]) -> Iterator[Batch]:
    for piece in batches:
        with arrow.reading("The DataFrame", "Arrow"):
            yield arrow.batch(piece, job.names, job.missing)


def _reports(job: Job, batches: Iterable[Any]) -> Iterator[Rows]:
    for piece in batches:
        with arrow.reading("The DataFrame", "Arrow"):
            forms = job.forms or {}
            yield together({name: arrow.reports(forms[name], piece.column(job.names[name])) for name in forms})


def quiet() -> Any:
    """Errors that are not ours lose their words before a log of the cluster gets them: they may quote data."""
    return translated(
        Exception,
        lambda error: BruitError(
            f"The function failed with {type(error).__name__}. What it said is not shown, for it may quote data: "
            "call it with a few rows in memory to see."
        ),
    )
