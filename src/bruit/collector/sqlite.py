"""The store in one file, by SQLite: journal ahead of the file (WAL), every commit on the disk before it counts."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bruit import documents
from bruit.collector.sql import OF_A_SURVEY, TABLES, SqlStore
from bruit.collector.store import Increments
from bruit.errors import FormatError

__all__ = ["SqliteStore"]

#: Written into the file, to know it again: "brui", and the version of the tables.
_APPLICATION, _VERSION = 0x62727569, 2

#: How many rows one statement takes; SQLite has a limit of 32,766 parameters.
_ROWS = 512
#: After how many pages the journal is copied into the file: ids are random, and touch the same pages again and again.
_CHECKPOINT = "wal_autocheckpoint = 8000"
#: How long to wait for another process that writes, in seconds.
_PATIENCE = 30.0


class SqliteStore(SqlStore):
    """A store in one file, with its journal beside it while it is used.

    Parameters
    ----------
    path
        The file; it is made, for its owner alone, if there is none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SqliteStore(f"{folder}/surveys.sqlite")
    ...     store.names()
    ...     store.disconnect()
    []
    """

    MARK = "?"
    NAMES = MappingProxyType(
        {
            **{table: table for table in ("surveys", *OF_A_SURVEY)},
            **{"flag": "INTEGER", "bytes": "BLOB", "number": "INTEGER", "end": " WITHOUT ROWID", "share": ""},
        }
    )

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        # SQLite follows links itself; a thread that connects after a change of folder must find the same file.
        self._file = documents.state_file(path)
        super().__init__()

    def _is_alone(self) -> bool:
        """Whether a page that is written now reaches the file: not while another program reads an older one."""
        self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        return self._empty_journal()

    def _empty_journal(self) -> bool:
        """Copy the journal into the file and cut it; whether nobody read either meanwhile."""
        end = time.monotonic() + _PATIENCE
        while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)  # SQLite waits for readers itself, but not for another who empties the journal
        return True

    def _tidy(self) -> bool:
        """Write the file anew, without what was deleted and in the order of its keys; and empty the journal."""
        try:
            self._connection.execute("VACUUM")
        except sqlite3.OperationalError:  # another program writes, or the disk is full
            return False
        return self._empty_journal()

    # Links and results.

    def add_links(self, name: str, hashes: Iterable[bytes]) -> None:
        """Keep the hashes of single-use links."""
        with self._transaction() as connection:
            rows = [(name, link) for link in sorted(hashes)]
            connection.executemany("INSERT OR IGNORE INTO links VALUES (?, ?, 0)", rows)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A copy as of one moment, written in the order of its keys, while reports are counted."""
        handle = _made_private(Path(path))
        try:
            self._connection.execute("VACUUM INTO ?", (os.fspath(path),))
            os.fsync(handle)
        finally:
            os.close(handle)

    def settle(self) -> None:
        """Empty the journal, without waiting for anybody who writes or reads: whoever counts reports would wait too."""
        connection = self._connection
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:  # or the next commit would not wait for anybody either
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    # Within a transaction.

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _remember(self, name: str, bodies: Mapping[bytes, bytes]) -> set[bytes]:
        known = self._bodies(name, list(bodies))
        rows = [(name, key, body) for key, body in bodies.items() if key not in known]
        self._connection.executemany("INSERT INTO ids VALUES (?, ?, ?)", rows)
        return {key for _, key, _ in rows}

    def _bodies(self, name: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        bodies: dict[bytes, bytes] = {}
        for some in _chunks(ids):
            query = f"SELECT id, body FROM ids WHERE survey = ? AND id IN ({_marks(some)})"  # noqa: S608
            bodies.update(self._connection.execute(query, (name, *some)).fetchall())
        return bodies

    def _forget(self, name: str, ids: Sequence[bytes]) -> None:
        self._connection.executemany("DELETE FROM ids WHERE survey = ? AND id = ?", [(name, key) for key in ids])

    def _spend_links(self, name: str, links: Sequence[bytes]) -> set[bytes]:
        spent: set[bytes] = set()
        for some in _chunks(links):
            query = f"SELECT link FROM links WHERE survey = ? AND spent = 0 AND link IN ({_marks(some)})"  # noqa: S608
            spent.update(link for (link,) in self._connection.execute(query, (name, *some)).fetchall())
        rows = [(name, link) for link in sorted(spent)]
        self._connection.executemany("UPDATE links SET spent = 1 WHERE survey = ? AND link = ?", rows)
        return spent

    def _increase(self, name: str, increments: Increments) -> None:
        rows = [(name, *key, number) for key, number in increments.items()]
        query = "INSERT INTO tallies VALUES (?,?,?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
        self._connection.executemany(query, rows)

    # The file.

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            documents.check_place(self._file)
            connection = _connected(self._file)
            self._local.connection = connection
            self._connections.append(connection)
        return connection

    def _create(self) -> None:
        """The tables, if the file is new; an error if it is something else."""
        with contextlib.closing(_private(self._file)) as connection:
            _configure(connection)
            connection.execute("BEGIN IMMEDIATE")
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not tables and not application:
                for statement in TABLES.split(";")[:-1]:
                    connection.execute(self.spelt(statement))
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            elif (application, version) != (_APPLICATION, _VERSION):
                raise FormatError(f"{self.path.name} is no store of surveys, or one of another version of bruit.")
            connection.execute("COMMIT")


def _private(path: Path) -> sqlite3.Connection:
    """A connection to a file that only its owner may read, made if there is none."""
    if not path.exists():
        os.close(_made_private(path))
    return _connected(path)


def _made_private(path: Path) -> int:
    """A new file that only its owner may read, opened."""
    return os.open(path, os.O_CREAT | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR)


def _connected(path: Path) -> sqlite3.Connection:
    # The store hands a connection to one thread; `disconnect` closes those of all.
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _configure(connection)
    except sqlite3.DatabaseError:
        connection.close()
        broken = True
    else:
        broken = False
    if broken:
        raise FormatError(f"{path.name} is no store of surveys: it is no file of SQLite, or damaged.")
    return connection


def _configure(connection: sqlite3.Connection) -> None:
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "trusted_schema = OFF",
        _CHECKPOINT,
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _chunks(rows: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Parts of a list, each filled up with its last entry to a power of two, so that few statements are prepared."""
    for start in range(0, len(rows), _ROWS):
        part = list(rows[start : start + _ROWS])
        yield part + part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
