"""Sums and means of groups that nobody declared: the groups of many people are named, then published with their sums.

Which groups are named follows from their number of people with noise; the sums of all groups are folded before, in the
same pass and of the same rows, so that nothing is read after the booking. See ``selection.proof.md``.

Rejected: a group for all that is not named (it would hold several groups of a person, and need more noise).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bruit import _checks, documents, engines
from bruit.engines import batch as batching
from bruit.engines.bounding import Sorting, draw_key, fold_people
from bruit.entropy import Randomness, Words
from bruit.errors import ParameterError, in_column
from bruit.estimation.tally import Counts
from bruit.privacy.booking import LedgerLike
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.releases.person import Person
from bruit.releases.prospects import Prospect, prospect_table
from bruit.releases.result import Result, Results, by_group, labelled
from bruit.releases.selection import Groups, GroupTally, booked_counts, checked_counts
from bruit.releases.statistic import AdditiveStatistic, Statistic
from bruit.tables import Table
from bruit.typing import SourceLike

__all__ = ["GroupStatistics"]

#: How many whole numbers a statistic may keep of each group: all groups that occur are kept until some are named.
MOST_NUMBERS = 8


class GroupStatistics:
    """How many people each group has, and sums or means of it, for the groups that many people are in.

    ``bruit.release(table, [Count(epsilon=0.5, delta=1e-6), Sum(…)], by="zone")`` makes one.

    Parameters
    ----------
    groups
        The selection of groups.
    statistics
        What is published of each named group besides, by name: sums, means and variances under ``"add-remove"``.

    Guarantee
    ---------
    That of the selection and of the statistics, one after the other: a person is in at most κ groups with a row in
    each, and the noise of a statistic is for that, whichever groups are named.

    Error
    -----
    As with declared groups and `rows_per_group` of 1. Records of groups that are not named do not count anywhere.

    Examples
    --------
    >>> from bruit.releases import Sum
    >>> fares = GroupStatistics(
    ...     Groups("zone", epsilon=1.0, delta=1e-6), {"fares": Sum("fare", bounds=(0, 20), epsilon=1.0)}
    ... )
    >>> table = {"zone": ["a"] * 500 + ["b"], "fare": [5] * 501}
    >>> results = fares.publish(fares.fold(table), rng=7)
    >>> results["fares"].labels, bool(abs(results["fares"]["a"] - 2500) < 300)
    (('a',), True)
    """

    #: What a seed is mixed with.
    verb = "groups"

    def __init__(self, groups: Groups, statistics: Mapping[str, Statistic]) -> None:
        self._groups = groups
        self._statistics = dict(statistics)
        if not self._statistics or "count" in self._statistics:
            raise ParameterError("Name the statistics of groups, other than 'count', which is their number of people.")
        for name, statistic in self._statistics.items():
            _check(name, statistic)
        if groups.guarantee.neighbours not in ("add-remove", "person-add-remove"):
            raise ParameterError(
                'Sums and means of groups that are not declared are for neighbours="add-remove": under "replace" the '
                "sizes of groups are not public."
            )
        _ = self._drawn
        total = _checks.spent_epsilon(epsilon=self.guarantee.epsilon, of=" of all statistics together")
        _checks.warn_of_weak(total)

    @property
    def person(self) -> Person | None:
        """Who is protected with all their rows, where people have several."""
        return self._groups.person

    @property
    def by(self) -> tuple[str, ...]:
        """The columns whose values are the groups."""
        return self._groups.by

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        own = (name for statistic in self._statistics.values() for name in statistic.columns)
        return tuple(dict.fromkeys([*self._groups.columns, *own]))

    @property
    def guarantee(self) -> Guarantee:
        """What all results together promise."""
        return sequential(line.guarantee for line in self.lines())

    @cached_property
    def _drawn(self) -> dict[str, AdditiveStatistic]:
        """The statistics of rows whose noise is drawn: for one row of a person in each of their groups."""
        drawn: dict[str, Any] = self._statistics
        if self.person is None:
            return drawn
        contribution = self.person.contribution(self._groups.most_groups, replaced=False)
        return {name: statistic.for_people(contribution) for name, statistic in drawn.items()}

    def _promise(self, statistic: Statistic) -> Guarantee:
        return dataclasses.replace(statistic.guarantee, neighbours=self._groups.guarantee.neighbours)

    def fold(self, source: SourceLike | engines.Source, rng: Randomness = None) -> GroupTally:
        """The number of people and the sums of each group that occurs; as `Release.fold`."""
        whole = engines.Source.of(source)
        if engines.is_spark(whole.data):
            raise ParameterError(
                "Groups that are not declared cannot be summed on Spark: declare them, or write the rows to Parquet."
            )
        if self.person is None:
            tally: GroupTally = engines.fold(whole, self._tally, columns=self.columns)
            return tally
        sort = functools.partial(self._sort, {}, itertools.count())
        job = self.person.job(draw_key(rng, self.digest), sort, self._tally)
        (bounded,) = fold_people(whole, [job], self.columns)
        return bounded  # type: ignore[no-any-return]

    def _tally(self, batch: dict[str, Any]) -> GroupTally:
        """What rows that all count give to each group: their number, then the counts of each statistic."""
        codes, labels = self._groups.sorted_rows(batch)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(labels) + 1))
        parts = {
            label: batching.take(batch, order[low:high])
            for label, (low, high) in zip(labels, itertools.pairwise(ends.tolist()), strict=True)
            if high > low
        }
        sizes = np.bincount(codes, minlength=len(labels)).tolist()
        people = dict(zip(labels, sizes, strict=True))
        return GroupTally(
            design=self.digest,
            counts={label: np.concatenate([[people[label]], *self._counts(part)]) for label, part in parts.items()},
        )

    def _counts(self, batch: dict[str, Any]) -> list[Counts]:
        counts = []
        for statistic in self._statistics.values():
            with _named(statistic):
                counts.append(statistic.count(batch))
        return counts

    def _sort(self, known: dict[str, int], numbers: Iterator[int], batch: dict[str, Any]) -> Sorting:
        """What decides which rows count: their group, and what the statistics see of them."""
        sorting = self._groups.sorting(known, numbers, batch)
        codes: list[Any] = []
        for statistic in self._statistics.values():
            with _named(statistic):
                codes += statistic.row_codes(batch)
        return sorting._replace(codes=codes)

    def check(self, raw: GroupTally) -> None:
        """Refuse what `publish` would refuse; nothing is spent."""
        checked_counts(self, raw)

    def publish(
        self, raw: GroupTally, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> Results:
        """The named groups with their noisy numbers and sums, booked at once before noise; as `Release.publish`."""
        counts, words = booked_counts(self, raw, ledger, rng, label)
        simulated = not words.secure
        first, *others = words.split(1 + len(self._drawn))
        labels, values = self._groups.named({name: int(numbers[0]) for name, numbers in counts.items()}, first)
        results = {"count": labelled(self._groups.result(labels, values, simulated), label)}
        place = 1
        for (name, statistic), own in zip(self._drawn.items(), others, strict=True):
            parts = [counts[group][place : place + statistic.size] for group in labels]
            results[name] = labelled(self._result(name, statistic, labels, parts, own), label)
            place += statistic.size
        return Results(results)

    def _result(
        self, name: str, statistic: AdditiveStatistic, labels: list[str], parts: list[Counts], words: Words
    ) -> Result:
        """The results of the named groups as one; a last part, of no group, is cut off: there may be no other."""
        nothing = np.zeros(statistic.size, np.int64)
        drawn = [
            statistic.publish(part, own)
            for part, own in zip([*parts, nothing], words.split(len(parts) + 1), strict=True)
        ]
        result = by_group(list(self._groups.by), [*labels, None], drawn)
        ends = result.ends
        described = self._statistics[name].to_dict() | {"by": list(self._groups.by)}
        notes = result.notes
        if self.person is not None:
            described["person"], notes = self.person.to_dict(), (*notes, self.person.describe())
        return dataclasses.replace(
            result,
            values=result.values[:-1],
            labels=tuple(labels),
            error=result.error[:-1],
            ends=None if ends is None else lambda level: ends(level)[:-1],
            guarantee=self._promise(statistic),
            statistic=described,
            notes=notes,
        )

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books: a line for the selection, and one for each statistic."""
        by = ", ".join(self._groups.by)
        return [
            *self._groups.lines(None if label is None else f"{label}: count"),
            *(
                Line(self._promise(item), (f"{name} by {by}" if label is None else f"{label}: {name}")[:200], item.rho)
                for name, item in self._statistics.items()
            ),
        ]

    def prospects(self, n: int | None = None) -> Table:
        """The errors to expect, as `Release.prospects`."""
        rows = [self._groups.prospect(f"count by {', '.join(self._groups.by)}")]
        rows += [Prospect.of(name, item, 1, n)._replace(values=None) for name, item in self._drawn.items()]
        return prospect_table(rows, self.guarantee, n, self.person, grouped=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what is published."""
        statistics = [{"name": name, **statistic.to_dict()} for name, statistic in self._statistics.items()]
        return {"kind": "group statistics", "groups": self._groups.to_dict(), "statistics": statistics}

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this release; its tallies carry it."""
        return documents.digest(self.to_dict())

    def __repr__(self) -> str:
        names = ", ".join(["count", *self._statistics])
        return f"<GroupStatistics: {names} by {', '.join(self._groups.by)}; {self.guarantee}>"


def _check(name: str, statistic: Any) -> None:
    if not isinstance(statistic, AdditiveStatistic) or statistic.size > MOST_NUMBERS or statistic.column is None:
        raise ParameterError(
            f"{name!r} cannot be published of groups that are not declared: take sums, means or variances of a column, "
            'or declare the groups, as in by={"zone": ["a", "b"]}.'
        )
    if statistic.public:
        raise ParameterError(
            f'{name!r} must have neighbours="add-remove": the sizes of groups are not public under "replace".'
        )


def _named(statistic: Statistic) -> contextlib.AbstractContextManager[None]:
    """Within the block, errors name the column of a statistic that has one."""
    return in_column(statistic.columns[0]) if len(statistic.columns) == 1 else contextlib.nullcontext()
