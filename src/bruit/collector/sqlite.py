"""The store in one file, by SQLite: journal ahead of the file (WAL), every commit on the disk before it counts.

A file may come from anybody. Before it is used or changed, its tables are compared with those that bruit makes: with a
view or a trigger among them, a statement of ours would do something else. No value in it may be longer than a survey.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bruit import documents
from bruit.collector import rows
from bruit.collector.sql import OF_A_SURVEY, TABLES, SqlStore
from bruit.collector.store import MOST_DOCUMENT, Increments, StoreInUse
from bruit.errors import BruitError, FormatError, translated

__all__ = ["SqliteStore"]

#: Written into the file, to know it again: "brui", and the version of the tables.
_APPLICATION, _VERSION = 0x62727569, 2

#: How many rows one statement takes; SQLite has a limit of 32,766 parameters.
_ROWS = 512
#: After how many pages the journal is copied into the file: ids are random, and touch the same pages again and again.
_CHECKPOINT = "wal_autocheckpoint = 8000"
#: How long to wait for another process that writes, in seconds.
_PATIENCE = 30.0
#: The most bytes of a value or of a row: a survey in characters of four bytes, and room for the rest of its row.
_LONGEST = 4 * MOST_DOCUMENT + 10_000
#: The end of a journal that names another file, which SQLite would delete; a store of bruit never has one.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
#: Errors that say nothing about the file: another program has it, or it cannot be read or written.
_PASSING = (
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_INTERRUPT),
)


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
        self._run(f"PRAGMA user_version = {_VERSION}")
        return self._empty_journal()

    def _empty_journal(self) -> bool:
        """Copy the journal into the file and cut it; whether nobody read either meanwhile."""
        end = time.monotonic() + _PATIENCE
        while self._run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)  # SQLite waits for readers itself, but not for another who empties the journal
        return True

    def _tidy(self) -> bool:
        """Rewrite the file without what was deleted and in the order of its keys; and empty the journal."""
        try:
            self._run("VACUUM")
        except StoreInUse:  # or the disk is full
            return False
        return self._empty_journal()

    # Links and results.

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A copy as of one moment, written in the order of its keys, while reports are counted."""
        handle = _made_private(Path(path))
        try:
            self._run("VACUUM INTO ?", os.fspath(path))
            os.fsync(handle)
        finally:
            os.close(handle)

    def settle(self) -> None:
        """Empty the journal, without waiting for anybody who writes or reads: counting reports would wait too."""
        connection = self._connection
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:  # or the next commit would not wait for anybody either
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    # Within a transaction.

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # a full disk, or damage, has ended it already
                self._connection.execute("ROLLBACK")
            raise
        self._run("COMMIT")

    def _remember(self, name: str, bodies: Mapping[bytes, bytes]) -> set[bytes]:
        known = self._bodies(name, list(bodies))
        new = [(name, key, body) for key, body in bodies.items() if key not in known]
        self._run_many("INSERT INTO ids VALUES (?, ?, ?)", new)
        return {key for _, key, _ in new}

    def _bodies(self, name: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        bodies: dict[bytes, bytes] = {}
        for some in _chunks(ids):
            query = f"SELECT id, body FROM ids WHERE survey = ? AND id IN ({_places(some)})"  # noqa: S608
            bodies.update((key, rows.hashed(body, "body")) for key, body in self._run(query, name, *some))
        return bodies

    def _forget(self, name: str, ids: Sequence[bytes]) -> None:
        self._run_many("DELETE FROM ids WHERE survey = ? AND id = ?", [(name, key) for key in ids])

    def _write_links(self, name: str, links: Sequence[bytes]) -> None:
        self._run_many("INSERT OR IGNORE INTO links VALUES (?, ?, 0)", [(name, link) for link in links])

    def _spend_links(self, name: str, links: Sequence[bytes]) -> set[bytes]:
        spent: set[bytes] = set()
        for some in _chunks(links):
            query = f"SELECT link FROM links WHERE survey = ? AND spent = 0 AND link IN ({_places(some)})"  # noqa: S608
            spent.update(link for (link,) in self._run(query, name, *some))
        keys = [(name, link) for link in sorted(spent)]
        self._run_many("UPDATE links SET spent = 1 WHERE survey = ? AND link = ?", keys)
        return spent

    def _increase(self, name: str, increments: Increments) -> None:
        added = [(name, *key, number) for key, number in increments.items()]
        query = "INSERT INTO tallies VALUES (?,?,?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
        self._run_many(query, added)

    # The file.

    def _run_many(self, query: str, values: Sequence[Any]) -> None:
        """A statement for each row of values."""
        with self._guarded():
            self._connection.executemany(query, values)

    def _guarded(self) -> translated:
        return translated(sqlite3.Error, functools.partial(_explained, self.path.name))

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
        """The tables, if the file is new or empty; an error if it is something else."""
        if not self._file.exists():
            os.close(_made_private(self._file))
        with self._guarded(), contextlib.closing(_raw(self._file)) as connection:
            if _is_empty(connection):
                _configure(connection)
                connection.execute("BEGIN IMMEDIATE")
                if _is_empty(connection):  # or another process made the tables meanwhile
                    for statement in _statements():
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute("COMMIT")
            _check(connection, self.path.name)


def _made_private(path: Path) -> int:
    """A new file that only its owner may read, opened."""
    return os.open(path, os.O_CREAT | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR)


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to a store, which is changed only after its tables are known to be those of bruit."""
    with translated(sqlite3.Error, functools.partial(_explained, path.name)):
        connection = _raw(path)
        try:
            _check(connection, path.name)
            _configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _raw(path: Path) -> sqlite3.Connection:
    """A connection to a file of which nothing is known; what it holds may be hostile."""
    if _names_another(path.with_name(f"{path.name}-journal")):
        raise FormatError(f"The journal of {path.name} names another file, which SQLite would delete.")
    # The store hands a connection to one thread; `disconnect` closes those of all.
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def _names_another(journal: Path) -> bool:
    """Whether a journal ends with the name of another file."""
    if not journal.is_file():
        return False
    with journal.open("rb") as file:
        file.seek(max(0, journal.stat().st_size - len(_NAMES_ANOTHER)))
        return file.read() == _NAMES_ANOTHER


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not _schema(connection) and _marks(connection) == (0, 0)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """What says that a file is a store, and of which version."""
    application, version = (
        connection.execute(f"PRAGMA {key}").fetchone()[0] for key in ("application_id", "user_version")
    )
    return application, version


def _check(connection: sqlite3.Connection, name: str) -> None:
    """An error unless this is a store of this version, with its own tables and nothing else."""
    if _marks(connection) != (_APPLICATION, _VERSION):
        raise FormatError(f"{name} is no store of surveys, or one of another version of bruit.")
    if _schema(connection) != _own_schema():
        raise FormatError(f"{name} is no store that bruit made: it has other tables, or views, triggers or indexes.")


def _schema(connection: sqlite3.Connection) -> list[list[str]]:
    """Kind, name, table and statement of all that a file declares."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100"
    return sorted([" ".join(str(part).split()) for part in row] for row in connection.execute(query))


@functools.cache
def _own_schema() -> list[list[str]]:
    """The same of a store that bruit makes."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for statement in _statements():
            connection.execute(statement)
        return _schema(connection)


def _statements() -> list[str]:
    return [SqliteStore.spelt(statement) for statement in TABLES.split(";")[:-1]]


def _configure(connection: sqlite3.Connection) -> None:
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", _CHECKPOINT):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _explained(name: str, error: Exception) -> BruitError:
    """What an error of SQLite means; errors without a code are about texts that are none."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING:
        return StoreInUse(
            f"{name} cannot be used now: another program has it, the disk is full, or it may not be read or changed."
        )
    return FormatError(f"{name} is no store of surveys: it is no file of SQLite, or damaged.")


def _chunks(rows: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Parts of a list, each filled up with its last entry to a power of two, so that few statements are prepared."""
    for start in range(0, len(rows), _ROWS):
        part = list(rows[start : start + _ROWS])
        yield part + part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))


def _places(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
