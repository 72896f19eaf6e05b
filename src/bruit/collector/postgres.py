"""The store in PostgreSQL, for several server processes: locks are taken in one order, so that none waits forever.

Rows of PostgreSQL carry the number of the transaction that wrote them and stand in the order of writing. So when a
survey closes, its ids and links are written anew in the order of their hashes, all by one transaction.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bruit.collector.sql import OF_A_SURVEY, TABLES, SqlStore
from bruit.collector.store import Increments
from bruit.errors import FormatError, MissingExtraError, ParameterError

__all__ = ["PostgresStore"]

#: Links have a schema of their own; nothing but the transaction that spends one connects it with a report.
_SCHEMAS = """
CREATE SCHEMA bruit;
CREATE SCHEMA bruit_links;
CREATE TABLE bruit.version (version integer NOT NULL);
INSERT INTO bruit.version VALUES (2);
"""
#: Two processes that make the tables at once take turns by this number.
_TURN = 0x62727569


class PostgresStore(SqlStore):
    """A store in a database of PostgreSQL; its tables are made if there are none.

    Parameters
    ----------
    address
        As in ``postgresql://user@host/database``.
    """

    REMOTE = True
    MARK = "%s"
    NAMES = MappingProxyType(
        {
            **{table: f"bruit.{table}" for table in ("surveys", "ids", "tallies", "shown")},
            "links": "bruit_links.links",
            **{"flag": "boolean", "bytes": "bytea", "number": "bigint", "end": "", "share": " FOR SHARE"},
        }
    )

    def __init__(self, address: str) -> None:
        if importlib.util.find_spec("psycopg") is None:
            raise MissingExtraError("A store in PostgreSQL", "postgresql")
        self._address = address
        super().__init__()

    # Surveys.

    def _reorder(self, name: str) -> None:
        """Rows stand in the order of writing: all are taken out and written anew."""
        for table, key in (("ids", "id"), ("links", "link")):
            self._run(f"CREATE TEMPORARY TABLE anew (LIKE {{{table}}}) ON COMMIT DROP")
            self._run(f"INSERT INTO anew SELECT * FROM {{{table}}} WHERE survey = ?", name)  # noqa: S608
            self._run(f"DELETE FROM {{{table}}} WHERE survey = ?", name)  # noqa: S608
            self._run(f"INSERT INTO {{{table}}} SELECT * FROM anew ORDER BY {key}")  # noqa: S608
            self._run("DROP TABLE anew")

    def _tidy(self) -> bool:
        """Write the tables anew, without rows that were deleted; the database waits until nobody reads them."""
        for table in (*OF_A_SURVEY, "surveys"):
            self._run(f"VACUUM FULL {{{table}}}")
        return True

    # Links and results.

    def add_links(self, name: str, hashes: Iterable[bytes]) -> None:
        """Keep the hashes of single-use links."""
        query = "INSERT INTO bruit_links.links SELECT %s, unnest(%s::bytea[]), false ON CONFLICT DO NOTHING"
        self._connection.execute(query, (name, sorted(hashes)))

    def backup(self, path: Any) -> None:
        """PostgreSQL has its own."""
        raise ParameterError("A database of PostgreSQL is saved by its own tools: pg_dump, or pg_basebackup.")

    def settle(self) -> None:
        """Nothing: PostgreSQL keeps its write-ahead log as its settings say."""

    # Within a transaction.

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        connection = self._connection
        with connection.transaction():
            yield connection

    def _remember(self, name: str, bodies: Mapping[bytes, bytes]) -> set[bytes]:
        # A row that another process has written and not committed is waited for.
        query = (
            "INSERT INTO bruit.ids SELECT %s, id, body FROM unnest(%s::bytea[], %s::bytea[]) AS report(id, body) "
            "ORDER BY id ON CONFLICT DO NOTHING RETURNING id"
        )
        return {bytes(key) for (key,) in self._connection.execute(query, (name, list(bodies), list(bodies.values())))}

    def _bodies(self, name: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        query = "SELECT id, body FROM bruit.ids WHERE survey = %s AND id = ANY(%s::bytea[])"
        return {bytes(key): bytes(body) for key, body in self._connection.execute(query, (name, list(ids)))}

    def _forget(self, name: str, ids: Sequence[bytes]) -> None:
        query = "DELETE FROM bruit.ids WHERE survey = %s AND id = ANY(%s::bytea[])"
        self._connection.execute(query, (name, list(ids)))

    def _spend_links(self, name: str, links: Sequence[bytes]) -> set[bytes]:
        lock = "SELECT 1 FROM bruit_links.links WHERE survey = %s AND link = ANY(%s::bytea[]) ORDER BY link FOR UPDATE"
        self._connection.execute(lock, (name, list(links)))
        query = (
            "UPDATE bruit_links.links SET spent = true WHERE survey = %s AND link = ANY(%s::bytea[]) AND NOT spent "
            "RETURNING link"
        )
        return {bytes(link) for (link,) in self._connection.execute(query, (name, list(links)))}

    def _increase(self, name: str, increments: Increments) -> None:
        # The first rows are those of whole rounds: whoever has one is alone with the counters of this round.
        rows = [[*key, count] for key, count in increments.items()]
        query = (
            "INSERT INTO bruit.tallies SELECT %s, stratum, round, cell, count "
            "FROM unnest(%s::bigint[], %s::integer[], %s::bigint[], %s::bigint[]) "
            "AS added(stratum, round, cell, count) ORDER BY stratum, round, cell "
            "ON CONFLICT (survey, stratum, round, cell) DO UPDATE SET count = tallies.count + excluded.count"
        )
        self._connection.execute(query, (name, *(list(column) for column in zip(*rows, strict=True))))

    # The database.

    @property
    def _connection(self) -> Any:
        """The connection of this thread, a new one if the last is broken."""
        connection = getattr(self._local, "connection", None)
        if connection is None or connection.closed or connection.broken:
            import psycopg

            connection = psycopg.connect(self._address, autocommit=True)
            connection.execute("SET synchronous_commit = on")
            self._local.connection = connection
            self._connections = [*(other for other in self._connections if not other.closed), connection]
        return connection

    def _create(self) -> None:
        """The tables, if there are none; an error if they are of another version."""
        with self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TURN,))
            if connection.execute("SELECT to_regclass('bruit.version')").fetchone()[0] is None:
                for statement in (_SCHEMAS + TABLES).split(";")[:-1]:
                    connection.execute(self.spelt(statement))
            elif connection.execute("SELECT version FROM bruit.version").fetchone()[0] != 2:
                raise FormatError("This database has a store of surveys of another version of bruit.")
