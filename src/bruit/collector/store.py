"""What a collector keeps of a survey, and the one transaction that counts a report and remembers its id.

Of a report nothing is kept but what it adds to the counters, and two hashes: of its id, to know it again, and of the
whole body, to tell a retry from another report under the same id. The id is 16 random bytes and part of the body, so
that neither hash can be searched for a report.

To an open question each possible report has a counter of its own, so that the counters are the reports
(`bruit.collector.report_counters`). There the hashed id is that of the report, which is kept in any case.

No column has an order of arrival or a time. But a commit of one report is one entry of a journal, and rows are written
where there is room: a thief of the files of a running store can connect a link with what was sent by it, and see who
came before whom, until journal and file are rewritten.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from bruit.collector.rows import HASH_BYTES
from bruit.errors import BruitError, LimitError, ParameterError
from bruit.estimation import Tally

__all__ = ["Batch", "Opened", "Outcome", "Store", "StoreInUse", "StoredReport", "StoredTotals"]

#: What reports add to counters: by stratum, round and cell.
Increments: TypeAlias = Mapping[tuple[int, int, int], int]

#: The stratum of the counters of a whole round or survey; it comes before all others, so that it is locked first.
WHOLE = -1
#: Its cells: answered counts by round, the others in round 0.
ANSWERED, REFUSED, REPEATED = 0, 1, 2
#: The most characters of a survey with its texts in all languages, and the most cells of all strata together.
MOST_DOCUMENT = 1_000_000
MOST_CELLS = 50_000_000
#: What the texts of an opened survey look like.
FORMS = {
    "name": re.compile("[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?"),
    "digest": re.compile("[0-9a-f]{64}"),
    "day": re.compile("(?:[0-9]{4}-[0-9]{2}-[0-9]{2})?"),
    "opening": re.compile("[0-9a-z]{0,64}"),
}
#: How the remembered ids of codes begin, which are forgotten when a survey is closed; no other hash begins so.
CODE_MARK = bytes(8)
#: The cell of a stratum and round in which the number of reports is; the cells of the tally come behind it.
REPORTS = -1


class Outcome(IntEnum):
    """What became of a report, by its status in HTTP."""

    REPEATED = 200
    COUNTED = 201
    LINK_SPENT = 403
    UNKNOWN = 404
    OTHER_BYTES = 409
    CLOSED = 410
    REFUSED = 422


#: What counts as refused; the others change nothing, or count as answered or repeated.
_REFUSALS = (Outcome.LINK_SPENT, Outcome.OTHER_BYTES, Outcome.REFUSED)


class StoreInUse(BruitError, RuntimeError):
    """Another program reads the store, so that what was there before cannot be overwritten."""


class StoredReport(NamedTuple):
    """What is remembered of a report: hashes of its id, of its whole body, and of its single-use link.

    A claim is answered with yes only while none of its `unspent` links is spent, however often it comes.
    """

    id: bytes
    body: bytes
    link: bytes = b""
    unspent: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Reports to one survey that are committed together.

    Parameters
    ----------
    opened
        The survey as it was when they came: one that was deleted may have left its name to another.
    entries
        What is remembered of each report.
    count
        From the places of some entries to what they add to the counters.
    step
        How many answers to a round have to come before its results advance.
    refused
        How many bodies more were no report.
    claims
        Whether these are claims of an epoch, which are remembered and spend a link, and are counted nowhere.
    """

    opened: Opened
    entries: Sequence[StoredReport]
    count: Callable[[Sequence[int]], Increments]
    step: int
    refused: int = 0
    claims: bool = False

    @property
    def survey(self) -> str:
        """The name of the survey."""
        return self.opened.name


@dataclass(frozen=True)
class Opened:
    """A survey as the store has it.

    Parameters
    ----------
    name
        Its name in addresses.
    digest
        The digest of the survey.
    document
        The survey file.
    links
        Whether an answer needs a single-use link.
    public
        Whether everybody may see the results.
    token
        The hash of what the asker shows to see them.
    closed
        Whether it is closed.
    whole
        Whether the last answers are shown although fewer than a step.
    day
        The day on which it was opened.
    opening
        A random number made then, so that no report of another survey of the same file is taken for one of this.
    """

    name: str
    digest: str
    document: str = field(repr=False)
    links: bool
    public: bool
    token: bytes = field(repr=False)
    closed: bool = False
    whole: bool = False
    day: str = ""
    opening: str = ""

    def __post_init__(self) -> None:
        for key, form in FORMS.items():
            value = getattr(self, key)
            if not isinstance(value, str) or not form.fullmatch(value):
                raise ParameterError(f"The {key} of an opened survey must have the form {form.pattern}.")
        if not isinstance(self.document, str) or len(self.document) > MOST_DOCUMENT:
            raise ParameterError(f"A survey with all its texts must have at most {MOST_DOCUMENT:,} characters.")
        if not isinstance(self.token, bytes) or len(self.token) != HASH_BYTES:
            raise ParameterError("The token of an opened survey must be a hash.")


class StoredTotals(NamedTuple):
    """How many reports were counted, refused, and came again."""

    answered: int
    refused: int
    repeated: int


class Links(NamedTuple):
    """How many single-use links there are, and how many of them are spent."""

    issued: int
    spent: int


class Store(ABC):
    """Surveys, ids, counters and links; each method is one transaction."""

    #: Whether it is reached over a network, so that a waiting process should do something else meanwhile.
    REMOTE: ClassVar[bool] = False

    # Surveys.

    @abstractmethod
    def add(self, survey: Opened) -> bool:
        """Keep a survey; False where one of this name with the same digest is there, whose document is replaced.

        An error where nobody could answer it as it is opened: `OpenSurvey` refuses it.
        """

    @abstractmethod
    def survey(self, name: str) -> Opened | None:
        """The survey of this name."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all surveys."""

    @abstractmethod
    def set_token(self, name: str, token: bytes) -> None:
        """Replace the hash of what the asker shows."""

    @abstractmethod
    def close(self, name: str, *, whole: bool | None = None) -> None:
        """Take no report any more, forget the ids of codes and hashes of links, and rewrite tables in hash order.

        Parameters
        ----------
        name
            The survey.
        whole
            True shows all that came. False forgets what came since the last step, so that the results stay as they
            are. None leaves that to a later call.
        """

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete everything about a survey, and overwrite it."""

    # Reports.

    def commit(self, batches: Iterable[Batch]) -> list[list[Outcome]]:
        """Count and remember reports of one or several surveys, a batch of each, in one transaction."""
        ordered = sorted(enumerate(batches), key=lambda pair: pair[1].survey)
        outcomes: dict[int, list[Outcome]] = {}
        with self._transaction():
            for place, batch in ordered:
                outcomes[place] = self._take(batch)
        return [outcomes[place] for place in range(len(outcomes))]

    def _take(self, batch: Batch) -> list[Outcome]:
        """The outcomes of a batch. Locks are taken in one order by everybody: survey, ids, links, counters."""
        state = self._locked(batch.opened)
        if state is None:
            return [Outcome.UNKNOWN] * len(batch.entries)
        closed, links = state
        if closed and batch.claims:
            return [Outcome.CLOSED] * len(batch.entries)  # whatever it claims, no report of it would count
        first: dict[bytes, int] = {}
        for place, entry in enumerate(batch.entries):
            first.setdefault(entry.id, place)
        bodies = {key: batch.entries[place].body for key, place in sorted(first.items())}
        new = set() if closed else self._remember(batch.survey, bodies)
        known = self._bodies(batch.survey, [key for key in bodies if key not in new]) if len(new) < len(bodies) else {}
        refused = self._spend(batch, new, first) if links and new else set()
        fates = _Fates(new, refused, known, bodies)
        outcomes = [fates.outcome(entry, place == first[entry.id]) for place, entry in enumerate(batch.entries)]
        if batch.claims:
            return [self._judge(batch.survey, *pair) for pair in zip(batch.entries, outcomes, strict=True)]
        self._add_up(batch, outcomes)
        return outcomes

    def _judge(self, name: str, entry: StoredReport, outcome: Outcome) -> Outcome:
        """The outcome of a claim: none is granted, also not again, once a report has come that it was to precede."""
        granted = outcome in (Outcome.COUNTED, Outcome.REPEATED)
        return Outcome.LINK_SPENT if granted and self._any_spent(name, entry.unspent) else outcome

    def _spend(self, batch: Batch, new: set[bytes], first: Mapping[bytes, int]) -> set[bytes]:
        """Spend the links of new entries; those whose link is spent or none are forgotten, and returned."""
        wanted: dict[bytes, bytes] = {}
        for key in sorted(new):
            wanted.setdefault(batch.entries[first[key]].link, key)
        spent = self._spend_links(batch.survey, sorted(wanted))
        refused = new - {wanted[link] for link in spent}
        if refused:
            self._forget(batch.survey, sorted(refused))
        return refused

    def _add_up(self, batch: Batch, outcomes: list[Outcome]) -> None:
        counted = [place for place, outcome in enumerate(outcomes) if outcome is Outcome.COUNTED]
        numbers = Counter(outcomes)
        added = batch.count(counted) if counted else {}
        answers: Counter[int] = Counter()
        for (_, round_number, cell), count in added.items():
            if cell == REPORTS:
                answers[round_number] += count
        increments = {
            (WHOLE, 0, REFUSED): batch.refused + sum(numbers[kind] for kind in _REFUSALS),
            (WHOLE, 0, REPEATED): numbers[Outcome.REPEATED],
            **{(WHOLE, round_number, ANSWERED): count for round_number, count in answers.items()},
            **added,
        }
        changed = {key: count for key, count in sorted(increments.items()) if count}
        if changed:
            self._increase(batch.survey, changed)
        for round_number in answers:
            self._advance(batch.survey, round_number, batch.step)

    def remembered(self, name: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """The hashes of the bodies of those ids that are known.

        Parameters
        ----------
        name
            The survey.
        ids
            The hashes of ids.
        """
        with self._transaction():
            return self._bodies(name, ids)

    # Links and results.

    @abstractmethod
    def add_links(self, name: str, hashes: Iterable[bytes]) -> None:
        """Keep the hashes of single-use links."""

    @abstractmethod
    def links(self, name: str) -> Links:
        """How many single-use links were issued and spent."""

    @abstractmethod
    def totals(self, name: str) -> StoredTotals:
        """How many reports were counted, refused and repeated until now."""

    def tallies(self, name: str, design: str, cells: int, *, shown: bool = True) -> dict[tuple[int, int], Tally]:
        """Tallies by stratum and round: those that may be shown, or all that was counted. Other cells are left out.

        Parameters
        ----------
        name
            The survey.
        design
            The digest of its plan.
        cells
            How many cells a tally of it has.
        shown
            Whether as of the last step, or as of now.
        """
        return tallies_of(self._counters(name, shown=shown), design, cells)

    def counters(self, name: str) -> Iterable[tuple[int, int, int, int]]:
        """Stratum, round, cell and count of all counters that may be shown.

        Parameters
        ----------
        name
            The survey.
        """
        return self._counters(name, shown=True)

    def waiting(self, name: str) -> int:
        """How many answers are kept that are not shown."""
        kept, shown = (
            sum(
                count
                for stratum, _, cell, count in self._counters(name, shown=shown)
                if stratum != WHOLE and cell == REPORTS
            )
            for shown in (False, True)
        )
        return kept - shown

    @abstractmethod
    def backup(self, path: Any) -> None:
        """A copy of the whole store as of one moment, while it is used."""

    @abstractmethod
    def settle(self) -> None:
        """Empty the journal of commits, where the store has one of its own and nobody reads it; else nothing."""

    @abstractmethod
    def disconnect(self) -> None:
        """Give up connections; the next call makes new ones."""

    # What each store fills in. All but the last are called within a transaction.

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Any]:
        """Commit at the end of the block, durably; nothing if it raises."""

    @abstractmethod
    def _locked(self, opened: Opened) -> tuple[bool, bool] | None:
        """Whether this survey is closed and needs links; it stays so until the transaction ends. None if unknown."""

    @abstractmethod
    def _remember(self, name: str, bodies: Mapping[bytes, bytes]) -> set[bytes]:
        """Remember ids with the hash of their body, in this order; those that were not known."""

    @abstractmethod
    def _bodies(self, name: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """The hashes of the bodies of those ids that are known."""

    @abstractmethod
    def _forget(self, name: str, ids: Sequence[bytes]) -> None:
        """Remove ids again."""

    @abstractmethod
    def _spend_links(self, name: str, links: Sequence[bytes]) -> set[bytes]:
        """Spend links, in this order; those that were not spent before."""

    @abstractmethod
    def _any_spent(self, name: str, links: Sequence[bytes]) -> bool:
        """Whether one of these links is spent."""

    @abstractmethod
    def _increase(self, name: str, increments: Increments) -> None:
        """Add to counters, in this order."""

    @abstractmethod
    def _advance(self, name: str, round_number: int, step: int) -> None:
        """Let the counters of a round be shown if enough answers to it came since the last time."""

    @abstractmethod
    def _counters(self, name: str, *, shown: bool) -> Iterable[tuple[int, int, int, int]]:
        """Stratum, round, cell and count."""


class _Fates(NamedTuple):
    """What became of the ids of a batch.

    Attributes
    ----------
    new
        Those that were not known.
    refused
        Those of them whose link is spent.
    known
        The hashes of the bodies of those that were known before.
    bodies
        The hashes of the bodies with which they came first in the batch.
    """

    new: set[bytes]
    refused: set[bytes]
    known: Mapping[bytes, bytes]
    bodies: Mapping[bytes, bytes]

    def outcome(self, entry: StoredReport, is_first: bool) -> Outcome:
        """What became of an entry; a copy within the batch fares as if it had come later."""
        if entry.id in self.refused:
            return Outcome.LINK_SPENT
        if entry.id in self.new:
            if is_first:
                return Outcome.COUNTED
            return Outcome.REPEATED if entry.body == self.bodies[entry.id] else Outcome.OTHER_BYTES
        if entry.id not in self.known:
            return Outcome.CLOSED
        return Outcome.REPEATED if entry.body == self.known[entry.id] else Outcome.OTHER_BYTES


def same_survey(known: Opened, survey: Opened) -> None:
    """An error if a name stands for another survey already."""
    if known.digest != survey.digest:
        raise ParameterError(
            f"A survey {known.name!r} with other questions or texts is in this store: people who answered it answered "
            "something else. Open this file under another name: --name another-name."
        )
    if known.closed:
        raise ParameterError(f"The survey {known.name!r} is closed, and stays so: open it under another --name.")
    if known.links != survey.links:
        raise ParameterError(f"The survey {known.name!r} was opened {'with' if known.links else 'without'} --links.")


def open_store(address: Any) -> Store:
    """The store at an address: a file of SQLite, or ``postgresql://…``.

    >>> open_store("/nowhere/surveys.txt")
    Traceback (most recent call last):
    bruit.errors.ParameterError: A store must be a .sqlite file or an address postgresql://user@host/database.
    """
    text = str(address)
    if text.startswith(("postgresql://", "postgres://")):
        from bruit.collector.postgres import PostgresStore

        return PostgresStore(text)
    if text.endswith((".sqlite", ".db")):
        from bruit.collector.sqlite import SqliteStore

        return SqliteStore(text)
    raise ParameterError("A store must be a .sqlite file or an address postgresql://user@host/database.")


def tallies_of(counters: Iterable[tuple[int, int, int, int]], design: str, cells: int) -> dict[tuple[int, int], Tally]:
    """The tallies, by stratum and round, that counters of a store make up.

    Parameters
    ----------
    counters
        Stratum, round, cell and count.
    design, cells
        As for `Store.tallies`.
    """
    vectors: dict[tuple[int, int], Any] = {}
    for stratum, round_number, cell, count in counters:
        if stratum == WHOLE:
            continue
        vector = vectors.get((stratum, round_number))
        if vector is None:
            if (len(vectors) + 1) * (cells + 1) > MOST_CELLS:
                raise LimitError(
                    f"The store counts more than {MOST_CELLS:,} cells of this survey: too many combinations of answers "
                    "that are sent in clear."
                )
            vector = vectors[stratum, round_number] = np.zeros(cells + 1, np.int64)
        if REPORTS <= cell < cells:
            vector[cell - REPORTS] = count
    return {key: Tally(design=design, counts=vector[1:], n=int(vector[0])) for key, vector in sorted(vectors.items())}
