"""The statements that the stores in SQLite and PostgreSQL share, written once for both.

A statement has ``?`` for its values and names of tables in braces, as in ``{ids}``; each store says how its database
spells them. What a database does in a way of its own, many rows at once above all, stands in its store.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from bruit.collector import rows
from bruit.collector.open_survey import OpenSurvey
from bruit.collector.store import (
    ANSWERED,
    CODE_MARK,
    FORMS,
    MOST_DOCUMENT,
    REPEATED,
    REPORTS,
    WHOLE,
    Links,
    Opened,
    Store,
    StoredTotals,
    StoreInUse,
    same_survey,
)
from bruit.errors import FormatError, ParameterError, translated

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


#: A survey, of which no value is read further than one that bruit writes is long.
_SURVEY = (
    "SELECT name, substr(digest, 1, 65), substr(document, 1, ?), links, public, substr(token, 1, 33), closed, whole, "
    "substr(day, 1, 11), substr(opening, 1, 65) FROM {surveys} WHERE name = ?"
)


#: The first hash behind those of codes.
_AFTER_CODES = (int.from_bytes(CODE_MARK, "big") + 1).to_bytes(len(CODE_MARK), "big") + bytes(
    rows.HASH_BYTES - len(CODE_MARK)
)


class SqlStore(Store):
    """A store in a database that speaks SQL."""

    #: What stands for a value, and in place of the names in braces.
    MARK: ClassVar[str]
    NAMES: ClassVar[Mapping[str, str]]

    def __init__(self) -> None:
        self._local = threading.local()
        self._connections: list[Any] = []
        try:
            self._create()
        except BaseException:
            self.disconnect()
            raise

    # Surveys.

    def add(self, survey: Opened) -> bool:
        """Keep a survey that can be served as it is opened, or replace the document of the same one."""
        OpenSurvey(survey)
        with self._transaction():
            values = (survey.name, survey.digest, survey.document, survey.links, survey.public, survey.token)
            query = (
                "INSERT INTO {surveys} VALUES (?, ?, ?, ?, ?, ?, FALSE, FALSE, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
            )
            if self._run(query, *values, survey.day, survey.opening):
                return True
            known = self.survey(survey.name)
            if known is not None:
                same_survey(known, survey)
            query = "UPDATE {surveys} SET document = ?, public = ? WHERE name = ?"
            self._run(query, survey.document, survey.public, survey.name)
            return False

    def survey(self, name: str) -> Opened | None:
        """The survey of this name."""
        surveys = self._run(_SURVEY, MOST_DOCUMENT + 1, name)
        return _opened(surveys[0]) if surveys else None

    def names(self) -> list[str]:
        """The names of all surveys."""
        names = [name for (name,) in self._run("SELECT name FROM {surveys}")]
        if not all(isinstance(name, str) and FORMS["name"].fullmatch(name) for name in names):
            raise rows.damaged("name")
        return sorted(names)

    def set_token(self, name: str, token: bytes) -> None:
        """Replace the hash of what the asker shows."""
        with self._transaction():
            self._run("UPDATE {surveys} SET token = ? WHERE name = ?", token, name)

    def close(self, name: str, *, whole: bool | None = None) -> None:
        """Take no report any more, forget codes and links, and rewrite tables in the order of their keys."""
        with self._transaction():
            self._run("UPDATE {surveys} SET closed = TRUE, whole = whole OR ? WHERE name = ?", bool(whole), name)
            self._run("DELETE FROM {ids} WHERE survey = ? AND id < ?", name, _AFTER_CODES)
            self._forget_links(name)
            if whole:
                self._show(name)
            elif whole is not None:
                self._forget_waiting(name)
            self._reorder(name)
        if not self._tidy():
            raise StoreInUse(
                f"The survey {name!r} is closed. But another program reads the store, or the disk is full, so that its "
                "file could not be rewritten, and still has an order in which reports came. End that program, then run "
                f"bruit survey close {name} again."
            )

    def delete(self, name: str) -> None:
        """Delete everything about a survey, and rewrite the tables without it; nothing where that cannot be done."""
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

    def add_links(self, name: str, hashes: Iterable[bytes]) -> None:
        """Keep the hashes of single-use links."""
        with self._transaction():
            self._write_links(name, sorted(hashes))

    def links(self, name: str) -> Links:
        """How many single-use links were issued and spent."""
        numbers = [0, 0]
        for spent, number in self._run("SELECT spent, count(*) FROM {links} WHERE survey = ? GROUP BY spent", name):
            numbers[rows.flag(spent, "spent")] += number
        return Links(sum(numbers), numbers[True])

    def totals(self, name: str) -> StoredTotals:
        """How many reports were counted, refused and repeated until now."""
        query = "SELECT cell, count FROM {tallies} WHERE survey = ? AND stratum = ?"
        totals = [0, 0, 0]
        for cell, count in self._run(query, name, WHOLE):
            totals[rows.whole(cell, "cell", high=REPEATED)] += rows.whole(count, "count")
        return StoredTotals(*(rows.whole(total, "count") for total in totals))

    def disconnect(self) -> None:
        """Close every connection; the next call makes new ones."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()

    # Within a transaction.

    def _locked(self, opened: Opened) -> tuple[bool, bool] | None:
        query = "SELECT closed, links FROM {surveys} WHERE name = ? AND digest = ? AND opening = ?{share}"
        states = self._run(query, opened.name, opened.digest, opened.opening)
        return (rows.flag(states[0][0], "closed"), rows.flag(states[0][1], "links")) if states else None

    def _any_spent(self, name: str, links: Sequence[bytes]) -> bool:
        marks = ",".join("?" * len(links))
        query = f"SELECT 1 FROM {{links}} WHERE survey = ? AND spent AND link IN ({marks}) LIMIT 1"  # noqa: S608 -- marks
        return bool(links) and bool(self._run(query, name, *links))

    def _advance(self, name: str, round_number: int, step: int) -> None:
        count = "SELECT count FROM {{{}}} WHERE survey = ? AND stratum = ? AND round = ? AND cell = ?"
        query = f"SELECT ({count.format('tallies')}) - coalesce(({count.format('shown')}), 0)"
        ((since,),) = self._run(query, *(name, WHOLE, round_number, ANSWERED) * 2)
        if rows.whole(since, "count", low=-rows.MOST) >= step:
            where = "WHERE survey = ? AND round = ?"
            self._run(f"DELETE FROM {{shown}} {where}", name, round_number)  # noqa: S608 -- texts of ours
            self._run(f"INSERT INTO {{shown}} SELECT * FROM {{tallies}} {where}", name, round_number)  # noqa: S608

    @abstractmethod
    def _write_links(self, name: str, links: Sequence[bytes]) -> None:
        """Keep links that are not spent, in this order; those that are known stay as they are."""

    def _forget_links(self, name: str) -> None:
        """Keep how many links there were, and how many are spent, under numbers in place of their hashes.

        The holder of the links could tell from the hashes who has answered.
        """
        issued, spent = self.links(name)
        numbers = [number.to_bytes(32, "big") for number in range(issued)]
        self._run("DELETE FROM {links} WHERE survey = ?", name)
        self._write_links(name, numbers)
        self._spend_links(name, numbers[:spent])

    def _show(self, name: str) -> None:
        """Show all that came."""
        self._run("DELETE FROM {shown} WHERE survey = ?", name)
        self._run("INSERT INTO {shown} SELECT * FROM {tallies} WHERE survey = ?", name)

    def _forget_waiting(self, name: str) -> None:
        """Keep no counter beyond what is shown; how many answers came is still known."""
        where = "WHERE survey = ? AND stratum <> ?"
        self._run(f"DELETE FROM {{tallies}} {where}", name, WHOLE)  # noqa: S608 -- texts of ours
        self._run(f"INSERT INTO {{tallies}} SELECT * FROM {{shown}} {where}", name, WHOLE)  # noqa: S608

    def _counters(self, name: str, *, shown: bool) -> list[tuple[int, int, int, int]]:
        query = "SELECT stratum, round, cell, count FROM {shown} WHERE survey = ?"
        chosen = query if shown else query.replace("{shown}", "{tallies}")
        return [
            (
                rows.whole(stratum, "stratum", low=WHOLE),
                rows.whole(number, "round"),
                rows.whole(cell, "cell", low=REPORTS),
                rows.whole(count, "count"),
            )
            for stratum, number, cell, count in self._run(chosen, name)
        ]

    # The database.

    def _run(self, query: str, *values: Any) -> list[Any]:
        """The rows of a statement; none where it gives none."""
        with self._guarded():
            cursor = self._connection.execute(self.spelt(query), values)
            return cursor.fetchall() if cursor.description else []

    @abstractmethod
    def _guarded(self) -> translated:
        """Within the block, an error of the database is one of ours."""

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
        """Rewrite the rows of a survey in the order of their keys, where that is not their order."""

    def _is_alone(self) -> bool:
        """Whether nobody keeps what is deleted from being overwritten."""
        return True

    @abstractmethod
    def _tidy(self) -> bool:
        """Rewrite the tables without what was deleted; whether it could be done."""


def _opened(row: Sequence[Any]) -> Opened:
    """A survey from its row."""
    name, digest, document, links, public, token, closed, whole, day, opening = row
    flags = {"links": links, "public": public, "closed": closed, "whole": whole}
    states = {key: rows.flag(value, key) for key, value in flags.items()}
    rule = "The store is damaged, or bruit did not write it: {}"
    with translated(ParameterError, lambda error: FormatError(rule.format(error))):
        return Opened(name=name, digest=digest, document=document, token=token, day=day, opening=opening, **states)
