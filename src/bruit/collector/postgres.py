"""The store in PostgreSQL, for several server processes: locks are taken in one order, so that none waits forever.

Rows of PostgreSQL carry the number of the transaction that wrote them and stand in the order of writing. So when a
survey closes, its ids, links and counters are rewritten in the order of their keys, all by one transaction.

A database may be shared. Before the tables are used, they are compared with those that bruit makes: a view, a trigger,
a rule or a default of somebody else would run with the rights of the reader.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bruit.collector import rows
from bruit.collector.sql import OF_A_SURVEY, TABLES, SqlStore
from bruit.collector.store import Increments, StoreInUse
from bruit.errors import BruitError, FormatError, MissingExtraError, ParameterError, translated

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

_OURS = "JOIN pg_namespace AS spaces ON spaces.oid = relnamespace WHERE nspname IN ('bruit', 'bruit_links')"
#: All that the two schemas declare, as (kind, table, detail, …); everything but tables, columns and keys is refused.
_SCHEMA = f"""
SELECT relkind::text, nspname || '.' || relname, '', relrowsecurity OR relforcerowsecurity FROM pg_class {_OURS}
UNION ALL SELECT attname, nspname || '.' || relname, format_type(atttypid, atttypmod), atthasdef OR attisdropped
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid {_OURS} AND attnum > 0 AND relkind <> 'i'
UNION ALL SELECT 'constraint', nspname || '.' || relname, contype::text, false
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid {_OURS} AND contype <> 'n'
UNION ALL SELECT 'trigger', nspname || '.' || relname, '', true
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid {_OURS}
UNION ALL SELECT 'rule', nspname || '.' || relname, '', true
    FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class {_OURS}
UNION ALL SELECT 'parent', nspname || '.' || relname, '', true
    FROM pg_inherits JOIN pg_class ON pg_class.oid IN (inhrelid, inhparent) {_OURS}
LIMIT 1000
"""  # noqa: S608 -- texts of ours


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
        """Rows stand in the order of writing: all are taken out and written again."""
        cell = "stratum, round, cell"  # of an open question, a report
        for table, key in (("ids", "id"), ("links", "link"), ("tallies", cell), ("shown", cell)):
            self._run(f"CREATE TEMPORARY TABLE anew (LIKE {{{table}}}) ON COMMIT DROP")
            self._run(f"INSERT INTO anew SELECT * FROM {{{table}}} WHERE survey = ?", name)  # noqa: S608
            self._run(f"DELETE FROM {{{table}}} WHERE survey = ?", name)  # noqa: S608
            self._run(f"INSERT INTO {{{table}}} SELECT * FROM anew ORDER BY {key}")  # noqa: S608
            self._run("DROP TABLE anew")

    def _tidy(self) -> bool:
        """Rewrite the tables without rows that were deleted; the database waits until nobody reads them."""
        for table in (*OF_A_SURVEY, "surveys"):
            self._run(f"VACUUM FULL {{{table}}}")
        return True

    # Links and results.

    def backup(self, path: Any) -> None:
        """PostgreSQL has its own."""
        raise ParameterError("A database of PostgreSQL is saved by its own tools: pg_dump, or pg_basebackup.")

    def settle(self) -> None:
        """Nothing: PostgreSQL keeps its write-ahead log as its settings say."""

    # Within a transaction.

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._guarded():
            connection = self._connection
            with connection.transaction():
                yield connection

    def _remember(self, name: str, bodies: Mapping[bytes, bytes]) -> set[bytes]:
        # A row that another process has written and not committed is waited for.
        query = (
            "INSERT INTO bruit.ids SELECT %s, id, body FROM unnest(%s::bytea[], %s::bytea[]) AS report(id, body) "
            "ORDER BY id ON CONFLICT DO NOTHING RETURNING id"
        )
        return {bytes(key) for (key,) in self._run_exactly(query, name, list(bodies), list(bodies.values()))}

    def _bodies(self, name: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        query = "SELECT id, body FROM bruit.ids WHERE survey = %s AND id = ANY(%s::bytea[])"
        return {bytes(key): rows.hashed(body, "body") for key, body in self._run_exactly(query, name, list(ids))}

    def _forget(self, name: str, ids: Sequence[bytes]) -> None:
        self._run_exactly("DELETE FROM bruit.ids WHERE survey = %s AND id = ANY(%s::bytea[])", name, list(ids))

    def _write_links(self, name: str, links: Sequence[bytes]) -> None:
        query = "INSERT INTO bruit_links.links SELECT %s, unnest(%s::bytea[]), false ON CONFLICT DO NOTHING"
        self._run_exactly(query, name, list(links))

    def _spend_links(self, name: str, links: Sequence[bytes]) -> set[bytes]:
        lock = "SELECT 1 FROM bruit_links.links WHERE survey = %s AND link = ANY(%s::bytea[]) ORDER BY link FOR UPDATE"
        self._run_exactly(lock, name, list(links))
        query = (
            "UPDATE bruit_links.links SET spent = true WHERE survey = %s AND link = ANY(%s::bytea[]) AND NOT spent "
            "RETURNING link"
        )
        return {bytes(link) for (link,) in self._run_exactly(query, name, list(links))}

    def _increase(self, name: str, increments: Increments) -> None:
        # The first rows are those of whole rounds: its holder is alone with the counters of this round.
        added = [[*key, count] for key, count in increments.items()]
        query = (
            "INSERT INTO bruit.tallies SELECT %s, stratum, round, cell, count "
            "FROM unnest(%s::bigint[], %s::integer[], %s::bigint[], %s::bigint[]) "
            "AS added(stratum, round, cell, count) ORDER BY stratum, round, cell "
            "ON CONFLICT (survey, stratum, round, cell) DO UPDATE SET count = tallies.count + excluded.count"
        )
        self._run_exactly(query, name, *(list(column) for column in zip(*added, strict=True)))

    # The database.

    def _run_exactly(self, query: str, *values: Any) -> list[Any]:
        """The rows of a statement that is spelt for this database."""
        with self._guarded():
            cursor = self._connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def _guarded(self) -> translated:
        import psycopg

        return translated((psycopg.Error, UnicodeError), _explained)

    @property
    def _connection(self) -> Any:
        """The connection of this thread, a new one if the last is broken."""
        connection = getattr(self._local, "connection", None)
        if connection is None or connection.closed or connection.broken:
            import psycopg

            connection = psycopg.connect(self._address, autocommit=True)
            connection.execute("SET synchronous_commit = on")
            connection.execute("SET search_path = pg_catalog, pg_temp")  # no function of somebody else is ours
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
            elif _tables(connection.execute(_SCHEMA).fetchall()) != _own_tables():
                raise FormatError("This database has other tables, views, triggers or rules where those of bruit are.")
            elif connection.execute("SELECT version FROM bruit.version LIMIT 2").fetchall() != [(2,)]:
                raise FormatError("This database has a store of surveys of another version of bruit.")


def _explained(error: Exception) -> BruitError:
    """What an error of PostgreSQL means."""
    import psycopg

    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreInUse("The database cannot be used now: it cannot be reached, is full, or another program has it.")
    return FormatError("This database is no store of surveys that bruit made, or is damaged.")


def _tables(schema: Iterable[tuple[str, str, str, bool]]) -> list[tuple[str, str, str, bool]]:
    """All that is declared, in one order; the names of indexes do not matter."""
    return sorted(row if row[0] not in ("i", "I") else ("i", "", "", row[3]) for row in schema)


def _own_tables() -> list[tuple[str, str, str, bool]]:
    """The same of a store that bruit makes, by its own statements: "CREATE TABLE name (column type …, …)"."""
    declared: list[tuple[str, str, str, bool]] = []
    for statement in (_SCHEMAS + TABLES).split(";"):
        words, _, columns = PostgresStore.spelt(statement).partition("(")
        if words.split()[:2] != ["CREATE", "TABLE"]:
            continue
        table = words.split()[2]
        declared.append(("r", table, "", False))
        if "PRIMARY KEY" in columns:
            declared += [("i", "", "", False), ("constraint", table, "p", False)]
        for column in columns.partition(", PRIMARY KEY (")[0].rstrip(" \n)").split(","):
            name, kind = column.split()[:2]
            declared.append((name, table, kind.lower(), False))
    return sorted(declared)
