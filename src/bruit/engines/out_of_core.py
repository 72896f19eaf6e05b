"""People of a table larger than memory: DuckDB brings keys of rows together on disk, and the table is read twice.

At the first reading each row becomes a few whole numbers: whose it is, its group, what decides whether it counts, and
its place in the table. Whose it is and what it says are keyed hashes of ours, because DuckDB takes é and e with an
accent for two people; it only parts them by person, into files of a folder that nobody else can read and that is
removed at the end. The rows
that count are then chosen part by part, by the code that chooses them in memory, and kept as a bit per row. At the
second reading those rows are counted. A table that is not the same then is refused.

Rejected: windows in SQL, which would state the choice a second time; the rows themselves in the files, which would put
data on a disk where nobody expects them.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bruit.engines import batch as batching
from bruit.engines import memory, queries
from bruit.engines.batch import Batch
from bruit.engines.people import Bounding, People, Ranked, hashes, present, take
from bruit.engines.sources import Source, open_source
from bruit.errors import BruitError, DataError, translated

#: About so many rows are chosen from at a time.
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


class _Keyed(NamedTuple):
    """The keys of a batch, for DuckDB, and a sum that tells a batch with other rows apart."""

    record: Any
    checksum: int


#: Stands beside the columns of a batch; no column has a name with a control character.
_PLACE = "\0place"


def fold_people(table: Source, bounding: Bounding, names: list[str], total: int) -> Any:
    """As `bruit.engines.people.fold_people`, for a source of so many rows that can be read twice."""
    fold = _Fold(table, bounding, names, total)
    with tempfile.TemporaryDirectory(prefix="bruit-") as folder:
        _parted(fold.keys(), Path(folder))
        kept = np.zeros(-(-len(fold.checksums) * batching.BATCH // 8), np.uint8)
        for part in range(fold.parts):
            rows = _chosen(Path(folder) / f"part={part}", bounding)
            np.bitwise_or.at(kept, rows >> 3, (1 << (rows & 7)).astype(np.uint8))
    return fold.counted(kept)


class _Fold:
    """Two readings of a table: one for the keys of its rows, one to count the rows that count."""

    def __init__(self, table: Source, bounding: Bounding, names: list[str], total: int) -> None:
        self._table, self._bounding, self._names, self._total = table, bounding, names, total
        self.parts = -(-total // PART_ROWS)
        #: One for each batch of the first reading.
        self.checksums: list[int] = []

    def keys(self) -> Iterator[Any]:
        """The keys of all rows, batch by batch, at the first reading."""
        for size, keyed in self._read(self._keyed):
            self.checksums.append(keyed.checksum)
            self._notify(size)
            yield keyed.record

    def counted(self, kept: NDArray[np.uint8]) -> Any:
        """What is counted of the rows whose bit is set, at the second reading."""

        def count(index: int, batch: Batch) -> Any:
            if index >= len(self.checksums) or self._keyed(index, batch).checksum != self.checksums[index]:
                raise DataError(_CHANGED)
            start = index * batching.BATCH
            bits = np.unpackbits(kept[start // 8 : (start + batching.BATCH) // 8], bitorder="little")
            return self._bounding.count(take(batch, np.flatnonzero(bits[: batching.rows(batch)])))

        result: Any = None
        batches = 0
        for size, tally in self._read(count):
            result = tally if batches == 0 else result + tally
            batches += 1
            self._notify(self._total + size)
        if batches != len(self.checksums):
            raise DataError(_CHANGED)
        return result

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

    def _keyed(self, index: int, batch: Batch) -> _Keyed:
        size = batching.rows(batch)
        places = index * batching.BATCH + np.arange(size)
        kept, people = present({**batch, _PLACE: places}, self._bounding.column, self._bounding.missing)
        places = kept.pop(_PLACE)
        whose, too = _whose(people, self._bounding.part_key)
        same, groups, ranks = self._bounding.ranked(kept, people)
        part = (whose % np.uint64(self.parts)).astype(np.int32)
        arrays = [pa.array(column) for column in (part, whose, too, same, groups, ranks, places)]
        weighted = same * (2 * places + 1).astype(np.uint64)
        return _Keyed(pa.record_batch(arrays, schema=_KEYS), int(weighted.sum(dtype=np.uint64)) ^ size)

    def _notify(self, done: int) -> None:
        if self._table.progress:
            self._table.progress(done, 2 * self._total)


def _whose(people: People, key: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """128 bits by which the person of each row is known, which nobody without the key can make collide."""
    twice = np.concatenate([people.words, np.ones((len(people.words), 1), np.uint64)], axis=1)
    return hashes(people.words, key)[people.codes], hashes(twice, key)[people.codes]


def _parted(records: Iterator[Any], folder: Path) -> None:
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


def _chosen(folder: Path, bounding: Bounding) -> NDArray[np.int64]:
    """The places, in the whole table, of the rows of a part that count."""
    if not folder.is_dir():
        return np.empty(0, np.int64)
    columns = [name for name in _KEYS.names if name != "part"]
    # A file after the other, and not the folder, whose name would be read as a column.
    tables = [pq.ParquetFile(file).read(columns) for file in sorted(folder.iterdir())]
    keys = pa.concat_tables(tables)
    whose, too, same, groups, ranks, places = (keys.column(name).to_numpy() for name in columns)
    by_place = np.argsort(places)  # DuckDB keeps no order; copies are numbered in that of the table
    whose, too, same, groups, ranks, places = (column[by_place] for column in (whose, too, same, groups, ranks, places))
    order = np.lexsort((too, whose))
    starts = np.ones(order.size, bool)
    starts[1:] = (whose[order][1:] != whose[order][:-1]) | (too[order][1:] != too[order][:-1])
    codes = np.empty(order.size, np.int64)
    codes[order] = np.cumsum(starts) - 1
    chosen: NDArray[np.int64] = places[bounding.first(codes, int(starts.sum()), Ranked(same, groups, ranks))]
    return chosen
