"""Whose rows are whose: a person known alike from every source, and a fold that has all rows of a person at once.

Who a person is, `identity` says: texts are compared in Unicode's normal form C, and 3, 3.0 and "3" are one person.

Rows of a person may stand anywhere in a table. Where they do not fit in memory at once, `out_of_core` has DuckDB bring
keys of rows together on disk. Without DuckDB the source is read several times, and each time the rows of some of the
people are kept: who is in which part follows from a keyed hash, so that parts are of about the same size, and each
person is whole in one of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import DictionaryColumn
from bruit.domains.missing import is_missing
from bruit.engines import arrays, identity, memory, queries
from bruit.engines import batch as batching
from bruit.engines.batch import Batch
from bruit.engines.sources import Source, is_spark, open_source
from bruit.errors import LimitError, MissingError
from bruit.kernels.siphash import siphash

Words = NDArray[np.uint64]

#: About so many rows are in memory at a time.
MOST_ROWS = 1 << 23
#: A source is read at most so many times.
MOST_PARTS = 1 << 12
#: How many bytes a key has.
KEY_BYTES = 16
#: Whole numbers beyond this many digits are known by their text.
_DIGITS = 18
_WHOLE = re.compile(rf"0|-?[1-9][0-9]{{0,{_DIGITS - 1}}}")


class People(NamedTuple):
    """Which person each row belongs to, −1 where there is none, and two words by which each person is hashed."""

    codes: NDArray[np.int64]
    words: Words


class Ranked(NamedTuple):
    """What decides which rows of a person count: a keyed hash of what a row says, its group, and the group's rank."""

    same: Words
    groups: NDArray[np.int64]
    group_ranks: Words


def identify(column: Any) -> People:
    """The people of a column, told apart exactly.

    >>> people = identify(np.array([7, 3, 7]))
    >>> people.codes.tolist(), len(people.words)
    ([1, 0, 1], 2)
    """
    if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "iu":
        # As `identity.keys` would tell them apart, without a text for each number.
        distinct, codes = np.unique(column, return_inverse=True)
        return People(codes.astype(np.int64), _words_of_numbers(distinct))
    return _among(*identity.keys(column))


def column_words(column: Any) -> Words:
    """Two words for each row of a column, which tell its values apart; 3 and "3" have the same, a gap has zeros."""
    if isinstance(column, DictionaryColumn):
        values, places = column.entries.tolist(), column.positions
    else:
        distinct, places = np.unique(column, return_inverse=True)
        values = distinct.tolist()
    words = [(0, 0) if is_missing(value) else words_of_text(identity.key(value)) for value in values]
    out: Words = np.array([*words, (0, 0)], np.uint64)[places]
    return out


def values_of(column: Any) -> NDArray[Any]:
    """A column as an array; None where a text is missing."""
    if not isinstance(column, DictionaryColumn):
        return column  # type: ignore[no-any-return]
    entries = np.empty(column.entries.size + 1, object)
    entries[:-1] = column.entries
    values: NDArray[Any] = entries[column.positions]
    return values


def _among(keys: Sequence[str | None], positions: NDArray[Any]) -> People:
    """The people of texts of which several may be the same person; position −1 is nobody."""
    known: dict[str, int] = {}
    codes = [-1 if key is None else known.setdefault(key, len(known)) for key in keys]
    table = np.append(np.array(codes, np.int64), -1)
    words = np.array([words_of_text(key) for key in known], np.uint64).reshape(-1, 2)
    return People(table[positions], words)


def words_of_text(text: str) -> tuple[int, int]:
    """The two words by which a text is hashed; a whole number is hashed as such."""
    if _WHOLE.fullmatch(text):
        return int(text) % 2**64, 0
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _words_of_numbers(numbers: NDArray[Any]) -> Words:
    words = np.zeros((numbers.size, 2), np.uint64)
    words[:, 0] = numbers.astype(np.int64).view(np.uint64)  # one too large for 64 bits with a sign is among the long
    limit = 10**_DIGITS
    # Compared in the type of the column, where the limit fits; narrow types have no such numbers.
    if numbers.dtype.itemsize == 8:
        long = (numbers >= limit) | (numbers <= -limit if numbers.dtype.kind == "i" else False)
        for place in np.flatnonzero(long):
            words[place] = words_of_text(str(int(numbers[place])))
    return words


def hashes(messages: Words, key: bytes) -> Words:
    """A keyed hash of each row of words."""
    out = np.empty(len(messages), np.uint64)
    siphash(np.ascontiguousarray(messages), np.frombuffer(key, np.uint64), out)
    return out


def present(batch: Batch, name: str, missing: str) -> tuple[Batch, People]:
    """The rows that belong to a person, and to whom; rows of nobody are refused, or dropped."""
    people = identify(batch[name])
    absent = people.codes < 0
    if not absent.any():
        return batch, people
    if missing != "drop":
        raise MissingError(
            f'Column {name!r}: some rows belong to nobody. Declare missing="drop" to leave these rows out, '
            "or mend the data."
        )
    return take(batch, np.flatnonzero(~absent)), People(people.codes[~absent], people.words)


def take(batch: Batch, rows: NDArray[Any]) -> Batch:
    """Some rows of a batch, in this order."""
    return {name: _taken(column, rows) for name, column in batch.items()}


def _taken(column: Any, rows: NDArray[Any]) -> Any:
    if isinstance(column, DictionaryColumn):
        return batching.used_only(DictionaryColumn(column.entries, column.positions[rows]))
    return column[rows]


class PeopleTally(Protocol):
    """What is counted of people: `bruit.releases.person.BoundedRows`, or several of them."""

    @property
    def column(self) -> str:
        """The column that says whose row it is."""

    @property
    def missing(self) -> str:
        """``"refuse"`` or ``"drop"`` rows that belong to nobody."""

    @property
    def part_key(self) -> bytes:
        """16 secret bytes, by which people are parted."""

    @property
    def parts(self) -> Sequence[Bounding]:
        """What bounds the rows of people, each for itself."""

    @property
    def joined(self) -> Callable[[list[Any]], Any]:
        """From the tally of each part to that of all."""

    def tally(self, batch: Batch) -> Any:
        """What is counted of people who are in a batch with all their rows; it adds."""


class Bounding(PeopleTally, Protocol):
    """Which rows of people count, and what is counted of them."""

    def ranked(self, batch: Batch, people: People) -> Ranked:
        """What decides which rows of a batch count."""

    def first(self, codes: NDArray[np.int64], people: int, ranked: Ranked) -> NDArray[np.int64]:
        """The places of the rows that count, of so many people with all their rows."""

    def count(self, batch: Batch) -> Any:
        """What is counted of rows that count; it adds."""


def fold_people(source: Any, people: PeopleTally, columns: Iterable[str]) -> Any:
    """The sum of what is counted of people, each with all their rows, wherever these stand.

    Parameters
    ----------
    source
        As for `bruit.engines.fold`.
    people
        Which rows of a person count, and what is counted of them. Without `parts`, all rows of a person must be there
        at once, also of a table larger than memory.
    columns
        The columns to read.
    """
    names = list(dict.fromkeys([people.column, *columns]))
    table = Source.of(source)
    if is_spark(table.data):
        from bruit.engines import spark

        return spark.fold_people(table, people, names)
    total = _total(table, names)
    if total > MOST_ROWS and people.parts and importlib.util.find_spec("duckdb"):
        from bruit.engines import out_of_core

        return people.joined([out_of_core.fold_people(table, part, names, total) for part in people.parts])
    return _in_parts(table, people, names, min(MOST_PARTS, max(1, -(-total // MOST_ROWS))))


def _total(table: Source, names: list[str]) -> int:
    """How many rows a source has; 0 for a stream, which is read once."""
    if not _readable_again(table.data):
        return 0
    reading = open_source(table, names)
    with contextlib.closing(reading.batches) as batches:
        # The rows of text are counted only if they are read.
        return sum(map(batching.rows, batches)) if reading.total is None else reading.total


def _in_parts(table: Source, bounding: PeopleTally, names: list[str], many: int) -> Any:
    """Read a source so many times, each time for some of the people."""
    result: Any = None
    for part in range(many):
        tally = bounding.tally(_gathered(table, bounding, names, (part, many)))
        result = tally if part == 0 else result + tally
    return result


def _of_part(batch: Batch, bounding: PeopleTally, part: int, many: int) -> Batch:
    """The rows of a batch whose person is in this part."""
    if many == 1:
        return batch
    kept, people = present(batch, bounding.column, bounding.missing)
    place = hashes(people.words, bounding.part_key) % np.uint64(many)
    return take(kept, np.flatnonzero(place[people.codes] == part))


def _gathered(table: Source, bounding: PeopleTally, names: list[str], parts: tuple[int, int]) -> Batch:
    """All rows of one part."""
    part, many = parts
    stream = not _readable_again(table.data)
    reading = open_source(table, names)
    pieces: list[Batch] = []
    done = count = 0
    with contextlib.closing(reading.batches) as batches:

        def work(batch: Batch) -> tuple[int, Batch]:
            return batching.rows(batch), _of_part(batch, bounding, part, many)

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


def _readable_again(data: Any) -> bool:
    """Whether a source gives its rows a second time."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data) != "-"
    return isinstance(data, Mapping) or queries.is_query(data) or arrays.as_frame(data) is not None


def column_names(table: Source) -> list[str]:
    """The names of the columns of a source that can be read again; of Spark's frames and of streams, none."""
    data = table.data
    if isinstance(data, np.ndarray | list) or is_spark(data):
        return []
    if isinstance(data, Mapping):
        return [name for name in data if isinstance(name, str)]
    if not _readable_again(data):
        return []
    if queries.is_query(data):
        return queries.names(data)
    frame = None if isinstance(data, str | os.PathLike) else arrays.as_frame(data)
    if frame is not None:
        return [name for name in frame.columns if isinstance(name, str)]
    with contextlib.closing(open_source(table, None).batches) as batches:
        return list(next(batches, {}))
