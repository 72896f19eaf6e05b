"""The store in PostgreSQL, for several server processes: locks are taken in one order, so that none waits forever.

Rows of PostgreSQL carry the number of the transaction that wrote them and stand in the order of writing. So when a
survey closes, its ids and links are written anew in the order of their hashes, all by one transaction.
"""

from __future__ import annotations

import contextlib
import importlib.util
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bruit.collector.store import ANSWERED, WHOLE, Increments, Links, Opened, Store, Totals, same_survey
from bruit.errors import FormatError, MissingExtraError, ParameterError

__all__ = ["PostgresStore"]

#: Links have a schema of their own; nothing but the transaction that spends one connects it with a report.
_TABLES = """
CREATE SCHEMA bruit;
CREATE SCHEMA bruit_links;
CREATE TABLE bruit.version (version integer NOT NULL);
INSERT INTO bruit.version VALUES (1);
CREATE TABLE bruit.surveys (
    name text PRIMARY KEY, digest text NOT NULL, document text NOT NULL, links boolean NOT NULL,
    public boolean NOT NULL, token bytea NOT NULL, closed boolean NOT NULL, whole boolean NOT NULL, day text NOT NULL
);
CREATE TABLE bruit.ids (
    survey text NOT NULL, id bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (survey, id)
);
CREATE TABLE bruit_links.links (
    survey text NOT NULL, link bytea NOT NULL, spent boolean NOT NULL, PRIMARY KEY (survey, link)
);
CREATE TABLE bruit.tallies (
    survey text NOT NULL, stratum bigint NOT NULL, round integer NOT NULL, cell bigint NOT NULL,
    count bigint NOT NULL, PRIMARY KEY (survey, stratum, round, cell)
);
CREATE TABLE bruit.shown (
    survey text NOT NULL, stratum bigint NOT NULL, round integer NOT NULL, cell bigint NOT NULL,
    count bigint NOT NULL, PRIMARY KEY (survey, stratum, round, cell)
);
"""
_WITH_A_SURVEY = ("bruit.ids", "bruit_links.links", "bruit.tallies", "bruit.shown")
#: Two processes that make the tables at once take turns by this number.
_TURN = 0x62727569

_SURVEY = "SELECT name, digest, document, links, public, token, closed, whole, day FROM bruit.surveys WHERE name = %s"


class PostgresStore(Store):
    """A store in a database of PostgreSQL; its tables are made if there are none.

    Parameters
    ----------
    address
        As in ``postgresql://user@host/database``.
    """

    REMOTE = True

    def __init__(self, address: str) -> None:
        if importlib.util.find_spec("psycopg") is None:
            raise MissingExtraError("A store in PostgreSQL", "postgresql")
        self._address = address
        self._local = threading.local()
        self._connections: list[Any] = []
        self._create()

    # Surveys.

    def add(self, survey: Opened) -> bool:
        """Keep a survey, or replace the document of the same one."""
        with self._transaction() as connection:
            values = (survey.name, survey.digest, survey.document, survey.links, survey.public, survey.token)
            query = (
                "INSERT INTO bruit.surveys VALUES (%s, %s, %s, %s, %s, %s, false, false, %s) "
                "ON CONFLICT DO NOTHING RETURNING name"
            )
            if connection.execute(query, (*values, survey.day)).fetchone():
                return True
            known = self.survey(survey.name)
            if known is not None:
                same_survey(known, survey)
            changed = (survey.document, survey.public, survey.name)
            connection.execute("UPDATE bruit.surveys SET document = %s, public = %s WHERE name = %s", changed)
            return False

    def survey(self, name: str) -> Opened | None:
        """The survey of this name."""
        row = self._connection.execute(_SURVEY, (name,)).fetchone()
        return None if row is None else Opened(*row)

    def names(self) -> list[str]:
        """The names of all surveys."""
        return sorted(name for (name,) in self._connection.execute("SELECT name FROM bruit.surveys").fetchall())

    def set_token(self, name: str, token: bytes) -> None:
        """Replace the hash of what the asker shows."""
        self._connection.execute("UPDATE bruit.surveys SET token = %s WHERE name = %s", (token, name))

    def close(self, name: str, *, whole: bool = False) -> None:
        """Take no report any more, and write ids and links anew."""
        with self._transaction() as connection:
            query = "UPDATE bruit.surveys SET closed = true, whole = whole OR %s WHERE name = %s"
            connection.execute(query, (whole, name))
            if whole:
                self._show(name)
            for table, key in (("bruit.ids", "id"), ("bruit_links.links", "link")):
                connection.execute(f"CREATE TEMPORARY TABLE anew (LIKE {table}) ON COMMIT DROP")
                connection.execute(f"INSERT INTO anew SELECT * FROM {table} WHERE survey = %s", (name,))  # noqa: S608
                connection.execute(f"DELETE FROM {table} WHERE survey = %s", (name,))  # noqa: S608
                connection.execute(f"INSERT INTO {table} SELECT * FROM anew ORDER BY {key}")  # noqa: S608
                connection.execute("DROP TABLE anew")
        self._tidy()

    def delete(self, name: str) -> None:
        """Delete everything about a survey, and give its pages back."""
        with self._transaction() as connection:
            for table in _WITH_A_SURVEY:
                connection.execute(f"DELETE FROM {table} WHERE survey = %s", (name,))  # noqa: S608 -- a name of ours
            connection.execute("DELETE FROM bruit.surveys WHERE name = %s", (name,))
        self._tidy()

    def _tidy(self) -> None:
        """Write the tables anew, without rows that were deleted."""
        for table in (*_WITH_A_SURVEY, "bruit.surveys"):
            self._connection.execute(f"VACUUM FULL {table}")

    # Links and results.

    def add_links(self, name: str, hashes: Iterable[bytes]) -> None:
        """Keep the hashes of single-use links."""
        query = "INSERT INTO bruit_links.links SELECT %s, unnest(%s::bytea[]), false ON CONFLICT DO NOTHING"
        self._connection.execute(query, (name, sorted(hashes)))

    def links(self, name: str) -> Links:
        """How many single-use links were issued and spent."""
        query = "SELECT count(*), count(*) FILTER (WHERE spent) FROM bruit_links.links WHERE survey = %s"
        return Links(*self._connection.execute(query, (name,)).fetchone())

    def totals(self, name: str) -> Totals:
        """How many reports were counted, refused and repeated until now."""
        query = "SELECT cell, count FROM bruit.tallies WHERE survey = %s AND stratum = %s"
        cells = dict(self._connection.execute(query, (name, WHOLE)).fetchall())
        return Totals(*(cells.get(cell, 0) for cell in range(3)))

    def backup(self, path: Any) -> None:
        """PostgreSQL has its own."""
        raise ParameterError("A database of PostgreSQL is saved by its own tools: pg_dump, or pg_basebackup.")

    def disconnect(self) -> None:
        """Close every connection."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()

    # Within a transaction.

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        connection = self._connection
        with connection.transaction():
            yield connection

    def _locked(self, name: str) -> tuple[bool, bool] | None:
        query = "SELECT closed, links FROM bruit.surveys WHERE name = %s FOR SHARE"
        row: tuple[bool, bool] | None = self._connection.execute(query, (name,)).fetchone()
        return row

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
        # The first row is the one of the whole survey: whoever has it is alone with the counters of this survey.
        rows = [[*key, count] for key, count in increments.items()]
        query = (
            "INSERT INTO bruit.tallies SELECT %s, stratum, round, cell, count "
            "FROM unnest(%s::bigint[], %s::integer[], %s::bigint[], %s::bigint[]) "
            "AS added(stratum, round, cell, count) ORDER BY stratum, round, cell "
            "ON CONFLICT (survey, stratum, round, cell) DO UPDATE SET count = tallies.count + excluded.count"
        )
        self._connection.execute(query, (name, *(list(column) for column in zip(*rows, strict=True))))

    def _advance(self, name: str, step: int) -> None:
        query = (
            "SELECT (SELECT count FROM bruit.tallies WHERE survey = %s AND stratum = %s AND cell = %s), "
            "coalesce((SELECT count FROM bruit.shown WHERE survey = %s AND stratum = %s AND cell = %s), 0)"
        )
        answered, shown = self._connection.execute(query, (name, WHOLE, ANSWERED) * 2).fetchone()
        if answered - shown >= step:
            self._show(name)

    def _show(self, name: str) -> None:
        self._connection.execute("DELETE FROM bruit.shown WHERE survey = %s", (name,))
        self._connection.execute("INSERT INTO bruit.shown SELECT * FROM bruit.tallies WHERE survey = %s", (name,))

    def _counters(self, name: str, *, shown: bool) -> list[tuple[int, int, int, int]]:
        table = "shown" if shown else "tallies"
        query = f"SELECT stratum, round, cell, count FROM bruit.{table} WHERE survey = %s"  # noqa: S608
        rows: list[tuple[int, int, int, int]] = self._connection.execute(query, (name,)).fetchall()
        return rows

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
                for statement in _TABLES.split(";")[:-1]:
                    connection.execute(statement)
            elif connection.execute("SELECT version FROM bruit.version").fetchone()[0] != 1:
                raise FormatError("This database has a store of surveys of another version of bruit.")
