"""People of a table larger than memory: DuckDB brings keys of rows together on disk, and the table is read twice.

At the first reading each row becomes a few whole numbers: whose it is, its group, what decides whether it counts, and
its place in the table. Whose it is and what it says are keyed hashes of ours, because DuckDB takes é and e with an
accent for two people; it only parts them by person, into files of a folder that nobody else can read and that is
removed at the end. `bounding` then chooses the rows that count, part by part, by the code that chooses them in memory,
and they are kept as a bit per row. At the second reading those rows are counted. A table that is not the same then is
refused.

Rejected: windows in SQL, which would state the choice a second time; the rows themselves in the files, which would put
data on a disk where nobody expects them.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bruit.engines import batch as batching
from bruit.engines import memory, queries
from bruit.engines.batch import Batch
from bruit.engines.sources import Source, open_source
from bruit.errors import BruitError, DataError, translated

#: About how many rows are chosen from at a time.
PART_ROWS = 1 << 21
#: How much memory DuckDB may use.
_MEMORY = "512MB"
_KEYS = pa.schema(
    {
        "part": pa.int32(),
        "whose": pa.uint64(),
        "whose_too": pa.uint64(),
        "same": pa.uint64(),
        "grouped": pa.int64(),
        "group_rank": pa.uint64(),
        "place": pa.int64(),
    }
)
_CHANGED = "The table changed while it was read: nothing was published. Run this again on a file that nobody writes to."


#: From a batch and the places of its rows to whose each row is, in two words, its keys, and its place.
Keyed = Callable[[Batch, NDArray[np.int64]], tuple[Any, ...]]


class Partition(NamedTuple):
    """Rows of people who have all their rows here, in the order of the table: whose each is, its keys, its place."""

    codes: NDArray[np.int64]
    keys: tuple[Any, ...]
    places: NDArray[np.int64]


class _Record(NamedTuple):
    """The keys of a batch, for DuckDB, and a sum that tells a batch with other rows apart."""

    keys: Any
    checksum: int


class TwoReadings:
    """Two readings of a table: one brings the keys of rows together by person, one counts the rows that are kept.

    Parameters
    ----------
    table, names
        A source that can be read twice, and its columns.
    total
        How many rows it has.
    keyed
        What becomes of each batch at the first reading.
    """

    def __init__(self, table: Source, names: list[str], total: int, keyed: Keyed) -> None:
        self._table, self._names, self._total, self._keyed = table, names, total, keyed
        self._parts = -(-total // PART_ROWS)
        #: One for each batch of the first reading.
        self._checksums: list[int] = []
        self._kept: NDArray[np.uint8] = np.empty(0, np.uint8)

    def by_person(self) -> Generator[Partition, None, None]:
        """Read the table; the rows of some people after those of others."""
        with tempfile.TemporaryDirectory(prefix="bruit-") as folder:
            _write_parts(self._records(), Path(folder))
            self._kept = np.zeros(-(-len(self._checksums) * batching.BATCH // 8), np.uint8)
            for part in range(self._parts):
                yield _read_part(Path(folder) / f"part={part}")

    def keep(self, places: NDArray[np.int64]) -> None:
        """Note that the rows at these places of the table count."""
        np.bitwise_or.at(self._kept, places >> 3, (1 << (places & 7)).astype(np.uint8))

    def count(self, function: Callable[[Batch], Any]) -> Any:
        """Read the table again: the sum of what the function makes of the rows that count."""

        def count(index: int, batch: Batch) -> Any:
            if index >= len(self._checksums) or self._record(index, batch).checksum != self._checksums[index]:
                raise DataError(_CHANGED)
            start = index * batching.BATCH
            bits = np.unpackbits(self._kept[start // 8 : (start + batching.BATCH) // 8], bitorder="little")
            return function(batching.take(batch, np.flatnonzero(bits[: batching.rows(batch)])))

        result: Any = None
        batches = 0
        for size, tally in self._read(count):
            result = tally if batches == 0 else result + tally
            batches += 1
            self._notify(self._total + size)
        if batches != len(self._checksums):
            raise DataError(_CHANGED)
        return result

    def _records(self) -> Iterator[Any]:
        """The keys of all rows, batch by batch, at the first reading."""
        for size, record in self._read(self._record):
            self._checksums.append(record.checksum)
            self._notify(size)
            yield record.keys

    def _read(self, function: Callable[[int, Batch], Any]) -> Iterator[tuple[int, Any]]:
        """What a function makes of each batch and its number, in order, and how many rows were read so far."""
        reading = open_source(self._table, self._names)
        done = 0
        with (
            contextlib.closing(reading.batches) as batches,
            contextlib.closing(
                memory.in_order(lambda item: (batching.rows(item[1]), function(*item)), enumerate(batches))
            ) as results,
        ):
            for size, result in results:
                done += size
                yield done, result

    def _record(self, index: int, batch: Batch) -> _Record:
        size = batching.rows(batch)
        columns = self._keyed(batch, index * batching.BATCH + np.arange(size))
        whose, _, same, *_, places = columns
        part = (whose % np.uint64(self._parts)).astype(np.int32)
        weighted = same * (2 * places + 1).astype(np.uint64)
        arrays = [pa.array(column) for column in (part, *columns)]
        return _Record(pa.record_batch(arrays, schema=_KEYS), int(weighted.sum(dtype=np.uint64)) ^ size)

    def _notify(self, done: int) -> None:
        if self._table.progress:
            self._table.progress(done, 2 * self._total)


def _write_parts(records: Iterator[Any], folder: Path) -> None:
    """Write keys to files, by part."""
    import duckdb

    failed: list[BaseException] = []

    def passed_on() -> Iterator[Any]:
        """What goes wrong while rows are read is kept: DuckDB would wrap it in an error of its own."""
        try:
            yield from records
        except BaseException as error:
            failed.append(error)
            raise

    keys = pa.RecordBatchReader.from_batches(_KEYS, passed_on())
    settings = {
        "memory_limit": _MEMORY,
        "threads": str(memory.threads()),
        "temp_directory": str(folder / "spilled"),
        "preserve_insertion_order": "false",
    }
    try:
        with translated(duckdb.Error, _explained), queries.connect(":memory:", config=settings) as connection:
            connection.register("keys", keys)
            target = str(folder).replace("'", "''")
            options = "FORMAT parquet, PARTITION_BY (part), COMPRESSION uncompressed, OVERWRITE_OR_IGNORE"
            connection.execute(f"COPY (SELECT * FROM keys) TO '{target}' ({options})")  # noqa: S608 -- a folder of ours
    except BruitError:
        if not failed:
            raise
    if failed:
        raise failed[0]


def _explained(error: Exception) -> BruitError:
    kind = type(error).__name__
    return BruitError(
        f"DuckDB could not bring the rows of people together: {kind}. It writes about 50 bytes per row to a temporary "
        "folder: see that there is room, or name another one with the TMPDIR variable."
    )


def _read_part(folder: Path) -> Partition:
    """The keys of a part, from its files."""
    columns = [name for name in _KEYS.names if name != "part"]
    # A file after the other, and not the folder, whose name would be read as a column.
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    tables = [pq.ParquetFile(file).read(columns) for file in files]
    rows = pa.concat_tables([*tables, _KEYS.empty_table().select(columns)])
    whose, too, same, groups, ranks, places = (rows.column(name).to_numpy() for name in columns)
    by_place = np.argsort(places)  # DuckDB keeps no order; copies are numbered in that of the table
    whose, too, same, groups, ranks, places = (column[by_place] for column in (whose, too, same, groups, ranks, places))
    order = np.lexsort((too, whose))
    starts = np.ones(order.size, bool)
    starts[1:] = (whose[order][1:] != whose[order][:-1]) | (too[order][1:] != too[order][:-1])
    codes = np.empty(order.size, np.int64)
    codes[order] = np.cumsum(starts) - 1
    return Partition(codes, (same, groups, ranks), places)
