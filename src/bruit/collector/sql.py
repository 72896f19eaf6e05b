"""The statements that the stores in SQLite and PostgreSQL share, written once for both.

A statement has ``?`` for its values and names of tables in braces, as in ``{ids}``; each store says how its database
spells them. What a database does in a way of its own, many rows at once above all, stands in its store.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from bruit.collector.store import ANSWERED, WHOLE, Links, Opened, Store, StoreInUse, Totals, same_survey

__all__ = ["SqlStore"]

#: The tables, with the types of a database in braces.
TABLES = """
CREATE TABLE {surveys} (
    name TEXT PRIMARY KEY, digest TEXT NOT NULL, document TEXT NOT NULL, links {flag} NOT NULL, public {flag} NOT NULL,
    token {bytes} NOT NULL, closed {flag} NOT NULL, whole {flag} NOT NULL, day TEXT NOT NULL,
    opening TEXT NOT NULL
){end};
CREATE TABLE {ids} (
    survey TEXT NOT NULL, id {bytes} NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (survey, id)
){end};
CREATE TABLE {links} (
    survey TEXT NOT NULL, link {bytes} NOT NULL, spent {flag} NOT NULL, PRIMARY KEY (survey, link)
){end};
CREATE TABLE {tallies} (
    survey TEXT NOT NULL, stratum {number} NOT NULL, round INTEGER NOT NULL, cell {number} NOT NULL,
    count {number} NOT NULL, PRIMARY KEY (survey, stratum, round, cell)
){end};
CREATE TABLE {shown} (
    survey TEXT NOT NULL, stratum {number} NOT NULL, round INTEGER NOT NULL, cell {number} NOT NULL,
    count {number} NOT NULL, PRIMARY KEY (survey, stratum, round, cell)
){end};
"""
#: The tables with rows of a survey.
OF_A_SURVEY = ("ids", "links", "tallies", "shown")


class SqlStore(Store):
    """A store in a database that speaks SQL."""

    #: What stands for a value, and in place of the names in braces.
    MARK: ClassVar[str]
    NAMES: ClassVar[Mapping[str, str]]

    def __init__(self) -> None:
        self._local = threading.local()
        self._connections: list[Any] = []
        self._create()

    # Surveys.

    def add(self, survey: Opened) -> bool:
        """Keep a survey, or replace the document of the same one."""
        with self._transaction():
            values = (survey.name, survey.digest, survey.document, survey.links, survey.public, survey.token)
            query = (
                "INSERT INTO {surveys} VALUES (?, ?, ?, ?, ?, ?, FALSE, FALSE, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
            )
            if self._run(query, *values, survey.day, survey.opening).fetchall():
                return True
            known = self.survey(survey.name)
            if known is not None:
                same_survey(known, survey)
            query = "UPDATE {surveys} SET document = ?, public = ? WHERE name = ?"
            self._run(query, survey.document, survey.public, survey.name)
            return False

    def survey(self, name: str) -> Opened | None:
        """The survey of this name."""
        row = self._run("SELECT * FROM {surveys} WHERE name = ?", name).fetchone()
        if row is None:
            return None
        name, digest, document, links, public, token, *states, day, opening = row
        closed, whole = map(bool, states)
        return Opened(name, digest, document, bool(links), bool(public), bytes(token), closed, whole, day, opening)

    def names(self) -> list[str]:
        """The names of all surveys."""
        return sorted(name for (name,) in self._run("SELECT name FROM {surveys}").fetchall())

    def set_token(self, name: str, token: bytes) -> None:
        """Replace the hash of what the asker shows."""
        with self._transaction():
            self._run("UPDATE {surveys} SET token = ? WHERE name = ?", token, name)

    def close(self, name: str, *, whole: bool = False) -> None:
        """Take no report any more; tables are then written anew, in the order of their keys."""
        with self._transaction():
            self._run("UPDATE {surveys} SET closed = TRUE, whole = whole OR ? WHERE name = ?", whole, name)
            if whole:
                self._show(name)
            self._reorder(name)
        if not self._tidy():
            raise StoreInUse(
                f"The survey {name!r} is closed. But another program reads the store, or the disk is full, so that its "
                "file could not be written anew, and still has an order in which reports came. End that program, then "
                f"say it again: bruit survey close {name}."
            )

    def delete(self, name: str) -> None:
        """Delete everything about a survey, and write the tables anew without it; nothing where that cannot be done."""
        if not self._is_alone():
            raise StoreInUse(
                "Another program reads the store, so that what is deleted could not be overwritten. Nothing was "
                f"deleted: end that program, then say it again: bruit survey delete {name} --yes."
            )
        with self._transaction():
            for table in OF_A_SURVEY:
                self._run(f"DELETE FROM {{{table}}} WHERE survey = ?", name)  # noqa: S608 -- a name of ours
            self._run("DELETE FROM {surveys} WHERE name = ?", name)
        if not self._tidy():
            raise StoreInUse(
                f"The survey {name!r} is deleted. But another program began to read the store, or the disk is full, so "
                "that what it was is not overwritten yet. It is when every program that has the store open, the server "
                "too, has ended."
            )

    # Links and results.

    def links(self, name: str) -> Links:
        """How many single-use links were issued and spent."""
        query = "SELECT count(*), count(*) FILTER (WHERE spent) FROM {links} WHERE survey = ?"
        return Links(*self._run(query, name).fetchone())

    def totals(self, name: str) -> Totals:
        """How many reports were counted, refused and repeated until now."""
        query = "SELECT cell, count FROM {tallies} WHERE survey = ? AND stratum = ?"
        totals = [0, 0, 0]
        for cell, count in self._run(query, name, WHOLE).fetchall():
            totals[cell] += count
        return Totals(*totals)

    def disconnect(self) -> None:
        """Close every connection; the next call makes new ones."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()

    # Within a transaction.

    def _locked(self, opened: Opened) -> tuple[bool, bool] | None:
        query = "SELECT closed, links FROM {surveys} WHERE name = ? AND digest = ? AND opening = ?{share}"
        row = self._run(query, opened.name, opened.digest, opened.opening).fetchone()
        return None if row is None else (bool(row[0]), bool(row[1]))

    def _any_spent(self, name: str, links: Sequence[bytes]) -> bool:
        marks = ",".join("?" * len(links))
        query = f"SELECT 1 FROM {{links}} WHERE survey = ? AND spent AND link IN ({marks}) LIMIT 1"  # noqa: S608 -- marks
        return bool(links) and self._run(query, name, *links).fetchone() is not None

    def _advance(self, name: str, round_number: int, step: int) -> None:
        count = "SELECT count FROM {{{}}} WHERE survey = ? AND stratum = ? AND round = ? AND cell = ?"
        query = f"SELECT ({count.format('tallies')}) - coalesce(({count.format('shown')}), 0)"
        if self._run(query, *(name, WHOLE, round_number, ANSWERED) * 2).fetchone()[0] >= step:
            where = "WHERE survey = ? AND round = ?"
            self._run(f"DELETE FROM {{shown}} {where}", name, round_number)  # noqa: S608 -- texts of ours
            self._run(f"INSERT INTO {{shown}} SELECT * FROM {{tallies}} {where}", name, round_number)  # noqa: S608

    def _show(self, name: str) -> None:
        """Show all that came."""
        self._run("DELETE FROM {shown} WHERE survey = ?", name)
        self._run("INSERT INTO {shown} SELECT * FROM {tallies} WHERE survey = ?", name)

    def _counters(self, name: str, *, shown: bool) -> list[tuple[int, int, int, int]]:
        query = "SELECT stratum, round, cell, count FROM {shown} WHERE survey = ?"
        chosen = query if shown else query.replace("{shown}", "{tallies}")
        rows: list[tuple[int, int, int, int]] = self._run(chosen, name).fetchall()
        return rows

    # The database.

    def _run(self, query: str, *values: Any) -> Any:
        """The cursor of a statement."""
        return self._connection.execute(self.spelt(query), values)

    @classmethod
    @lru_cache(maxsize=256)
    def spelt(cls, query: str) -> str:
        """A statement as this database spells it."""
        return query.format_map(cls.NAMES).replace("?", cls.MARK)

    @property
    @abstractmethod
    def _connection(self) -> Any:
        """The connection of this thread."""

    @abstractmethod
    def _create(self) -> None:
        """The tables, if there are none; an error if they are of another version, or something else."""

    def _reorder(self, name: str) -> None:
        """Write the ids and links of a survey anew in the order of their hashes, where that is not their order."""

    def _is_alone(self) -> bool:
        """Whether nobody keeps what is deleted from being overwritten."""
        return True

    @abstractmethod
    def _tidy(self) -> bool:
        """Write the tables anew, without what was deleted; whether it could be done."""
