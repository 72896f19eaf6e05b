"""Which rows of people count, read downwards: whose each row is, keys of rows, the choice, the fold over people.

A job says what is counted of people who are there with all their rows: `Bounded` chooses some rows of each, `Profile`
counts how many rows or groups each has. Who a person is, `identity` says.

Rows of a person may stand anywhere in a table. Where they do not fit in memory at once, `out_of_core` has DuckDB bring
keys of rows together on disk. Without DuckDB the source is read several times, and each time the rows of some of the
people are kept: who is in which part follows from a keyed hash, so that parts are of about the same size, and each
person is whole in one of them. Spark brings rows together by the same hash. All of these end in `choose`, which sees
whole people, and calls nothing that comes back here.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.engines import batch as batching
from bruit.engines import identity, memory
from bruit.engines.batch import Batch
from bruit.engines.identity import People
from bruit.engines.sources import Source, is_spark, open_source, readable_again
from bruit.entropy import Randomness, Words
from bruit.errors import LimitError, MissingError
from bruit.kernels import bounding as kernels
from bruit.kernels.siphash import siphash

Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]

#: About how many rows are in memory at a time.
MOST_ROWS = 1 << 23
#: How often a source is read at most.
MOST_PARTS = 1 << 12
#: How many bytes a key has.
KEY_BYTES = 16
#: How many bytes choose the rows of all people: a key for rows, one for copies, one for groups and one for parts.
SECRET_BYTES = 4 * KEY_BYTES
_UNBOUNDED = 2**62
#: Stands beside the columns of a batch, with the places of rows; no column has a name with a control character.
_PLACE = "\0place"


class Most(NamedTuple):
    """How many rows of a person count at most, in how many groups, and how many in each group; None is no bound."""

    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None


class Whose(NamedTuple):
    """The column that says whose row it is, and whether rows without a person are dropped; else they are refused."""

    column: str
    drops: bool = False


class Sorting(NamedTuple):
    """What decides which rows of a batch count: the group of each row, the word of that group, codes of the columns.

    Groups are None where there are none, and words where groups are ranked by their number. A group has the same number
    in every batch.
    """

    groups: Integers | None
    words: Any
    codes: Sequence[Any]


class RowKeys(NamedTuple):
    """The keys by which rows of a person are ranked: a keyed hash of what a row says, its group, the group's rank."""

    same: Hashes
    groups: Integers
    group_ranks: Hashes


@dataclass(frozen=True)
class Bounded:
    """A job: what is counted of the rows of people that count.

    Parameters
    ----------
    whose
        Whose row it is.
    most
        How many rows of a person count.
    key
        64 secret bytes, as `draw_key` gives them.
    sort
        What decides about the rows of a batch.
    count
        What is counted of a batch of rows that count; it adds.
    """

    whose: Whose
    most: Most
    key: bytes
    sort: Callable[[Batch], Sorting]
    count: Callable[[Batch], Any]

    def tally(self, batch: Batch, people: People) -> Any:
        """What is counted of people who are in this batch with all their rows."""
        rows = choose(people.codes, keys(people, self.sort(batch), self.most, self.key), self.most, self.key)
        # In batches of the usual size: sums of squares of many more rows would not fit in 64 bits.
        return functools.reduce(operator.add, map(self.count, batching.rebatch([batching.take(batch, rows)])))


@dataclass(frozen=True)
class Profile:
    """A job: how many rows people have; where there are groups, how many groups, and one group of each person.

    All rows of a person must be there at once, also of a table larger than memory.

    Parameters
    ----------
    whose, key
        As for `Bounded`.
    groups
        The group of each row of a batch; None if there are no groups.
    count
        What is counted, from how many rows or groups each person has and the one group in which each counts; it adds.
    """

    whose: Whose
    key: bytes
    groups: Callable[[Batch], Integers] | None
    count: Callable[[Integers, Integers | None], Any]

    def tally(self, batch: Batch, people: People) -> Any:
        """What is counted of people who are in this batch with all their rows."""
        if self.groups is None:
            return self.count(np.bincount(people.codes), None)
        groups, single = self.groups(batch), Most(groups=1, rows_per_group=1)
        many = int(groups.max(initial=0)) + 1
        distinct = np.unique(people.codes * many + groups)
        rows = choose(people.codes, keys(people, Sorting(groups, None, []), single, self.key), single, self.key)
        return self.count(np.bincount(distinct // many), groups[rows])


Job = Bounded | Profile


def draw_key(rng: Randomness, design: str) -> bytes:
    """The secret key that chooses the rows of all people, for a design with this digest."""
    return Words.resolve(rng, "people", design).stream().bytes(SECRET_BYTES)


def identify(batch: Batch, whose: Whose) -> tuple[Batch, People]:
    """The rows that belong to a person, and to whom; rows without a person are refused, or dropped."""
    people = identity.people(batch[whose.column])
    absent = people.codes < 0
    if not absent.any():
        return batch, people
    if not whose.drops:
        raise MissingError(
            f'Column {whose.column!r}: some rows belong to nobody. Declare missing="drop" to leave these rows out, '
            "or mend the data."
        )
    return batching.take(batch, np.flatnonzero(~absent)), People(people.codes[~absent], people.words)


def keys(people: People, sorting: Sorting, most: Most, key: bytes) -> RowKeys:
    """What decides which rows count, apart from whose they are."""
    groups, words, codes = sorting
    words = groups if words is None else words
    whose = people.words[people.codes]
    same = hashes(_messages(whose, *([] if words is None else [words]), *codes), key[:KEY_BYTES])
    if groups is None:
        nothing = np.zeros(same.size, np.int64)
        return RowKeys(same, nothing, nothing.view(np.uint64))
    by_group = key[2 * KEY_BYTES : 3 * KEY_BYTES]
    ranks = hashes(_messages(whose, words), by_group) if most.groups else np.zeros(same.size, np.uint64)
    return RowKeys(same, groups.astype(np.int64, copy=False), ranks)


def choose(codes: Integers, row_keys: RowKeys, most: Most, key: bytes) -> Integers:
    """The places of the rows that count, in order; `codes` says whose each row is, and everybody has all rows here."""
    people = int(codes.max(initial=-1)) + 1
    starts, order = np.zeros(people + 1, np.int64), np.empty(codes.size, np.int64)
    kernels.by_person(codes, starts, order)
    copies = np.empty(codes.size, np.int64)
    kernels.copy_numbers(starts, order, row_keys.same, copies)
    ranks = hashes(_messages(row_keys.same, copies), key[KEY_BYTES : 2 * KEY_BYTES])
    bounds = np.array([bound or _UNBOUNDED for bound in (most.groups, most.rows_per_group, most.rows)], np.int64)
    kept = np.zeros(codes.size, np.bool_)
    kernels.keep_first(starts, order, ranks, row_keys.groups, row_keys.group_ranks, bounds, kept)
    return np.flatnonzero(kept)


def hashes(messages: Hashes, key: bytes) -> Hashes:
    """A keyed hash of each row of words."""
    out = np.empty(len(messages), np.uint64)
    siphash(np.ascontiguousarray(messages), np.frombuffer(key, np.uint64), out)
    return out


def _messages(*columns: Any) -> Any:
    """Rows of 64-bit words, from columns of whole numbers."""
    words = [np.asarray(column).astype(np.int64, copy=False).view(np.uint64) for column in columns]
    return np.concatenate([column if column.ndim == 2 else column[:, None] for column in words], axis=1)


def fold_people(source: Any, jobs: Sequence[Job], columns: Iterable[str]) -> list[Any]:
    """The sums of what is counted of people, each with all their rows, wherever these stand; a sum for each job.

    Parameters
    ----------
    source
        As for `bruit.engines.fold`.
    jobs
        What is counted. All jobs are about the same people.
    columns
        The columns to read.
    """
    names = list(dict.fromkeys([jobs[0].whose.column, *columns]))
    table = Source.of(source)
    if is_spark(table.data):
        return _on_spark(table, jobs, names)
    total = _total(table, names)
    bounded = [job for job in jobs if isinstance(job, Bounded)]
    if total > MOST_ROWS and len(bounded) == len(jobs) and importlib.util.find_spec("duckdb"):
        return [_out_of_core(table, job, names, total) for job in bounded]
    return _in_parts(table, jobs, names, min(MOST_PARTS, max(1, -(-total // MOST_ROWS))))


def _total(table: Source, names: list[str]) -> int:
    """How many rows a source has; 0 for a stream, which is read once."""
    if not readable_again(table.data):
        return 0
    reading = open_source(table, names)
    with contextlib.closing(reading.batches) as batches:
        # The rows of text are counted only if they are read.
        return sum(map(batching.rows, batches)) if reading.total is None else reading.total


@dataclass(frozen=True)
class _Tallies:
    """A tally of each job; they add, job by job."""

    items: list[Any]

    @classmethod
    def of(cls, jobs: Sequence[Job], batch: Batch) -> _Tallies:
        """What all jobs count of people who are in this batch with all their rows."""
        whole, people = identify(batch, jobs[0].whose)
        return cls([job.tally(whole, people) for job in jobs])

    def __add__(self, other: _Tallies) -> _Tallies:
        return _Tallies([ours + theirs for ours, theirs in zip(self.items, other.items, strict=True)])


def _parted(key: bytes, people: People) -> Hashes:
    """A keyed hash of each person, by which people are parted."""
    return hashes(people.words, key[-KEY_BYTES:])


def _in_parts(table: Source, jobs: Sequence[Job], names: list[str], many: int) -> list[Any]:
    """Read a source several times, each time for some of the people."""
    tallies = (_Tallies.of(jobs, _gathered(table, jobs[0], names, (part, many))) for part in range(many))
    total = next(tallies)
    for tally in tallies:
        total = total + tally
    return total.items


def _gathered(table: Source, job: Job, names: list[str], parts: tuple[int, int]) -> Batch:
    """All rows of one part."""
    part, many = parts
    stream = not readable_again(table.data)
    reading = open_source(table, names)
    pieces: list[Batch] = []
    done = count = 0
    with contextlib.closing(reading.batches) as batches:

        def work(batch: Batch) -> tuple[int, Batch]:
            return batching.rows(batch), _of_part(batch, job, part, many)

        with contextlib.closing(memory.in_order(work, batches)) as rows:
            for size, piece in rows:
                done += size
                count += batching.rows(piece)
                pieces.append(piece)
                if stream and count > MOST_ROWS:
                    raise LimitError(
                        f"People with more than {MOST_ROWS:,} rows in all can be bounded from a file, which is read "
                        "several times, and not from a stream: write the rows to a Parquet file first."
                    )
                if table.progress:
                    total = reading.total
                    table.progress(done + part * (total or 0), None if total is None else total * many)
    return batching.joined(pieces)


def _of_part(batch: Batch, job: Job, part: int, many: int) -> Batch:
    """The rows of a batch whose person is in this part."""
    if many == 1:
        return batch
    kept, people = identify(batch, job.whose)
    place = _parted(job.key, people) % np.uint64(many)
    return batching.take(kept, np.flatnonzero(place[people.codes] == part))


def _out_of_core(table: Source, job: Bounded, names: list[str], total: int) -> Any:
    """Read a table twice: for the keys of its rows, which DuckDB brings together, and for the rows that count."""
    from bruit.engines.out_of_core import TwoReadings

    readings = TwoReadings(table, names, total, functools.partial(_stored_keys, job))
    with contextlib.closing(readings.by_person()) as parts:
        for part in parts:
            readings.keep(part.places[choose(part.codes, RowKeys(*part.keys), job.most, job.key)])
    return readings.count(job.count)


def _stored_keys(job: Bounded, batch: Batch, places: Integers) -> tuple[Any, ...]:
    """Of each row of somebody: 128 bits that know the person, the keys of the row, and its place in the table.

    Nobody without the secret key can make two people collide.
    """
    kept, people = identify({**batch, _PLACE: places}, job.whose)
    kept_places = kept.pop(_PLACE)
    twice = np.concatenate([people.words, np.ones((len(people.words), 1), np.uint64)], axis=1)
    whose, too = _parted(job.key, people), _parted(job.key, People(people.codes, twice))
    return whose[people.codes], too[people.codes], *keys(people, job.sort(kept), job.most, job.key), kept_places


def _on_spark(table: Source, jobs: Sequence[Job], names: list[str]) -> list[Any]:
    """Rows are brought together by a hash of ours, for Spark's takes é for another person than e with an accent.

    A task that runs again finds the same rows, and makes the same of them.
    """
    from bruit.engines import spark

    first, tally = jobs[0], functools.partial(_Tallies.of, list(jobs))
    together = functools.partial(_together, first.whose, first.key)
    total = spark.fold_together(table, tally, names, first.whose.column, together)
    # Without rows there is no task.
    return (tally(spark.without_rows(table, names)) if total is None else total).items


def _together(whose: Whose, key: bytes, batch: Batch) -> tuple[NDArray[np.bool_], Integers]:
    """Which rows of a batch belong to somebody, and for those a number that all rows of a person have."""
    rows = np.arange(batching.rows(batch))
    kept, people = identify({whose.column: batch[whose.column], _PLACE: rows}, whose)
    somebody = np.zeros(rows.size, np.bool_)
    somebody[kept[_PLACE]] = True
    return somebody, _parted(key, people)[people.codes].view(np.int64)
