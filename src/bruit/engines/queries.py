"""Queries that are not run yet, read a few rows at a time: lazy frames of polars, relations and queries of DuckDB.

What a query says when it fails may quote data, so it is never shown and never chained (see `bruit.errors`). A query
that is read twice is run twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bruit.domains.domain import in_memory, is_lazy
from bruit.engines import arrays
from bruit.engines import batch as batching
from bruit.engines.batch import BATCH, Batch
from bruit.errors import DataError, MissingExtraError, translated

#: How a text begins that is a query, and how one ends that is the path of a file all the same.
_QUERY = re.compile(r"(?is)\s*(select|with|from)\s+\S")
_FILE = re.compile(r"(?i)\.(parquet|[ct]sv(\.gz)?)$")


@dataclass(frozen=True)
class Query:
    """A query of DuckDB, and the database that it is about; `query` makes one."""

    text: str
    database: str | None = None


def query(text: str, database: str | None = None) -> Query:
    """A query of DuckDB as a source, for every verb that takes one; it needs ``bruit[sql]``.

    Parameters
    ----------
    text
        SQL, as in ``SELECT visitor, page FROM 'views.parquet' WHERE day < 8``. It may read files.
    database
        The path of a database of DuckDB, which is opened for reading only; in memory by default.

    Examples
    --------
    >>> from bruit import engines
    >>> (batch,) = engines.batches(engines.query("SELECT range AS x FROM range(3)"))
    >>> batch["x"].tolist()
    [0, 1, 2]
    """
    return Query(text, database)


def is_query(source: Any) -> bool:
    """Whether this is a query that is not run yet: a lazy frame, a relation, or a text that begins as a query does."""
    if isinstance(source, str):
        return _QUERY.match(source) is not None and _FILE.search(source) is None
    return isinstance(source, Query) or is_lazy(source) or _is_relation(source)


#: The name of the method that gives rows in batches, in newer and older versions of DuckDB.
_READERS = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")


def names(source: Any) -> list[str]:
    """The names of the columns that a query has."""
    if is_lazy(source):
        with translated(Exception, _lazy_failed):
            return list(source.collect_schema().names())
    with translated(_duckdb().Error, _failed):
        relation, _connection = _relation(source)
        return list(relation.columns)


def pieces(source: Any, columns: Iterable[str] | None, missing: frozenset[str]) -> tuple[None, Iterator[Batch]]:
    """The rows of a query in pieces; how many there are is not known before."""
    chosen = batching.choose(names(source), columns)
    return None, (_lazy_pieces if is_lazy(source) else _duckdb_pieces)(source, chosen, missing)


def _lazy_pieces(lazy: Any, chosen: dict[str, int], missing: frozenset[str]) -> Iterator[Batch]:
    there = names(lazy)
    narrow = lazy.select([there[place] for place in chosen.values()])
    # Older versions of polars have no stream of batches.
    frames = _run(narrow.collect_batches(chunk_size=BATCH)) if hasattr(narrow, "collect_batches") else iter(())
    empty = True
    for frame in frames:
        yield from arrays.frame_pieces(arrays.as_frame(frame), None, missing)[1]
        empty = False
    if empty:
        yield from arrays.frame_pieces(arrays.as_frame(in_memory(narrow)), None, missing)[1]


def _run(frames: Iterator[Any]) -> Iterator[Any]:
    """Frames as they come; whatever fails in polars while the next one is made."""
    while True:
        with translated(Exception, _lazy_failed):
            frame = next(frames, None)
        if frame is None:
            return
        yield frame


def _duckdb_pieces(source: Any, chosen: dict[str, int], missing: frozenset[str]) -> Iterator[Batch]:
    from bruit.engines import arrow

    errors = _duckdb().Error
    with translated(errors, _failed):
        relation, _connection = _relation(source)
        quoted = ", ".join(f'#{place + 1} AS "c{place}"' for place in chosen.values())
        narrow = relation.project(quoted)
        read = next(getattr(narrow, name) for name in _READERS if hasattr(narrow, name))
        reader = iter(read(BATCH))
    there = {name: f"c{place}" for name, place in chosen.items()}
    empty = None
    while True:
        with translated((errors, OSError), _failed):
            record = next(reader, None)
        if record is None:
            break
        empty = False
        with arrow.reading("The query", "Arrow"):
            piece = arrow.batch(record, there, missing)
        yield piece
    if empty is None:
        with translated(errors, _failed):
            nothing = relation.project(quoted).limit(0).arrow()
            nothing = nothing.read_all() if hasattr(nothing, "read_all") else nothing
        yield arrow.batch(nothing, there, missing)


def _relation(source: Any) -> tuple[Any, Any]:
    """The relation that a source is, or that its text asks for, and its connection.

    In older versions of DuckDB a relation does not keep its connection open: hold it as long as rows are read.
    """
    if _is_relation(source):
        return source, None
    request = source if isinstance(source, Query) else Query(source)
    database = request.database
    connection = connect() if database is None else connect(database, read_only=True)
    return connection.sql(request.text), connection


def connect(*arguments: Any, **options: Any) -> Any:
    """A connection of DuckDB without its progress bar, which it prints to standard output, among results."""
    connection = _duckdb().connect(*arguments, **options)
    connection.execute("SET enable_progress_bar = false")  # a setting of connections, which `config` does not take
    return connection


def _is_relation(source: Any) -> bool:
    kind = type(source)
    return kind.__name__ == "DuckDBPyRelation" and kind.__module__.partition(".")[0] in ("duckdb", "_duckdb")


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("A query", "sql") from None
    return duckdb


def _failed(error: Exception, what: str = "query") -> DataError:
    return DataError(
        f"The {what} could not be run: {type(error).__name__}. What it said is not shown, for it may quote data. Run "
        "it by itself first, to see why."
    )


def _lazy_failed(error: Exception) -> DataError:
    return _failed(error, "lazy frame")
