"""Reports on their way into the store: those that arrive while a commit is under way are committed together.

Nobody gets an answer before the commit that it rests on.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from bruit.collector.open_survey import Arrival, Columns, OpenSurvey
from bruit.collector.store import Batch, Outcome, Store, StoredReport
from bruit.errors import BruitError
from bruit.survey import Report

__all__ = ["Busy", "Intake", "ReportGroup"]

#: How many reports one commit takes at most, and how many may wait.
MOST_TOGETHER = 512
MOST_WAITING = 20_000
#: How many milliseconds a commit waits for more reports, at most; it waits no longer than they keep coming, and not at
#: all when as many are there as the last commit took.
WINDOW = 5
#: After how many seconds the journal of the store is emptied, unless more reports than these came meanwhile: then they
#: are committed together, and emptying it would cost much.
SETTLE, QUIET = 2.0, 400


class Busy(BruitError, RuntimeError):
    """Too many reports are waiting, or the store could not take them; nothing was counted."""


class _Waiting(NamedTuple):
    """A body of a survey, what it is if it has a form (a report, or the entry of a claim), and who waits for it."""

    open_survey: OpenSurvey
    arrival: Arrival | StoredReport | None
    future: asyncio.Future[Outcome]


class Intake:
    """Counts reports in groups.

    Parameters
    ----------
    store
        Where they are counted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[_Waiting] = []
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="bruit-store")
        self._task: asyncio.Task[None] | None = None
        self._last = 1
        self._enough = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._recent = 0

    async def take(self, open_survey: OpenSurvey, arrival: Arrival | StoredReport | None) -> Outcome:
        """Count a report, remember a claim, or count a body that is neither as refused; it is then on the disk."""
        if len(self._waiting) >= MOST_WAITING:
            raise Busy("Too many reports are waiting: send it again later.")
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(open_survey, arrival, future))
        if len(self._waiting) >= self._last:
            self._enough.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        return await future

    async def stop(self) -> None:
        """Wait until all that came is committed."""
        if self._task is not None:
            await self._task
        if self._timer is not None:
            self._timer.cancel()
        self._writer.shutdown()

    async def _gather(self) -> None:
        """Wait a moment while more reports come: a commit costs the disk the same, however many are in it."""
        for _ in range(WINDOW):
            number = len(self._waiting)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), 0.001)
            if len(self._waiting) == number or self._enough.is_set():
                return

    async def _commit(self, together: Sequence[_Waiting]) -> list[Outcome]:
        """A store on this machine is written to at once: its file is faster than handing over to a thread."""
        if not self._store.REMOTE:
            return commit(self._store, together)
        return await asyncio.get_running_loop().run_in_executor(self._writer, commit, self._store, together)

    def _settle_soon(self, number: int) -> None:
        """Empty the journal a while after reports were committed."""
        self._recent += number
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SETTLE, self._settle)

    def _settle(self) -> None:
        busy, self._timer, self._recent = self._recent > QUIET, None, 0
        if busy:
            self._settle_soon(0)
        else:
            asyncio.get_running_loop().run_in_executor(self._writer, self._store.settle)

    async def _drain(self) -> None:
        while self._waiting:
            await self._gather()
            together, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            self._last = len(together)
            self._enough.clear()
            try:
                outcomes = await self._commit(together)
            except Exception:
                outcomes = None
            self._settle_soon(len(together))
            for place, waiting in enumerate(together):
                if not waiting.future.done():  # the client may have hung up
                    _settle(waiting.future, None if outcomes is None else outcomes[place])


def _settle(future: asyncio.Future[Outcome], outcome: Outcome | None) -> None:
    if outcome is None:
        future.set_exception(Busy("The store could not take this report: send it again later."))
    else:
        future.set_result(outcome)


def commit(store: Store, waiting: Sequence[_Waiting]) -> list[Outcome]:
    """Commit reports to any surveys in one transaction, and claims before them in another; all outcomes in order."""
    outcomes: list[Outcome] = [Outcome.REFUSED] * len(waiting)
    claims = [place for place, body in enumerate(waiting) if type(body.arrival) is StoredReport]
    reports: Sequence[int] = range(len(waiting))
    if claims:
        reports = sorted({*reports}.difference(claims))
        _commit_groups(store, waiting, claims, _Claims, outcomes)
    if reports:
        _commit_groups(store, waiting, reports, ReportGroup, outcomes)
    return outcomes


def _commit_groups(
    store: Store,
    waiting: Sequence[_Waiting],
    chosen: Sequence[int],
    kind: type[ReportGroup | _Claims],
    outcomes: list[Outcome],
) -> None:
    """Commit the bodies at these places, survey by survey, and write their outcomes."""
    places: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place in chosen:
        opened = waiting[place].open_survey.opened
        places[opened.name, opened.digest, opened.opening].append(place)
    groups = [
        kind(waiting[rows[0]].open_survey, [waiting[place].arrival for place in rows]) for rows in places.values()
    ]
    for group, committed, rows in zip(
        groups, store.commit(group.batch for group in groups), places.values(), strict=True
    ):
        for place, outcome in zip(rows, group.spread(committed), strict=True):
            outcomes[place] = outcome


class _Claims:
    """Claims of one survey: remembered, and counted nowhere."""

    def __init__(self, open_survey: OpenSurvey, arrivals: Sequence[Arrival | StoredReport | None]) -> None:
        entries = [arrival for arrival in arrivals if isinstance(arrival, StoredReport)]
        self.batch = Batch(open_survey.opened, entries, lambda _: {}, step=0, claims=True)

    def spread(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """All of them are claims."""
        return list(outcomes)


class ReportGroup:
    """Bodies of one survey: which of them are reports, and the batch that these are.

    Parameters
    ----------
    open_survey
        The survey.
    bodies
        What each body is; None where it has no form.
    """

    def __init__(self, open_survey: OpenSurvey, bodies: Sequence[Arrival | StoredReport | None]) -> None:
        self._size = len(bodies)
        self._open_survey = open_survey
        arrivals = [(place, body) for place, body in enumerate(bodies) if isinstance(body, Arrival)]
        columns = self._open_survey.columns([arrival.report for _, arrival in arrivals]) if arrivals else None
        valid = [] if columns is None else columns.valid.nonzero()[0].tolist()
        self._places = [arrivals[row][0] for row in valid]
        reports = [arrivals[row][1].report for row in valid]
        kept = columns and Columns({name: column[valid] for name, column in columns.reports.items()}, columns.valid)
        self._reports: list[Report] = reports
        self._columns: Columns | None = kept
        self.batch = Batch(
            opened=self._open_survey.opened,
            entries=[arrivals[row][1].entry for row in valid],
            count=self._count,
            step=self._open_survey.survey.shown_from,
            refused=self._size - len(valid),
        )

    def _count(self, places: Sequence[int]) -> dict[tuple[int, int, int], int]:
        if self._columns is None:
            return {}
        return dict(self._open_survey.increments(self._reports, self._columns, places))

    def spread(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes of all bodies; those that were no report are refused."""
        every = [Outcome.REFUSED] * self._size
        for place, outcome in zip(self._places, outcomes, strict=True):
            every[place] = outcome
        return every
