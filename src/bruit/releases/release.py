"""A release: several statistics of one table, read in one pass, booked at once, then published with noise.

With `by`, every statistic is published for each of the declared groups. A record is in one group, so what is published
about the other groups says nothing about it, and all groups together cost as much as one (parallel composition). Which
groups there are must be declared, because a list that is read from the data tells which groups occur.

With a `person`, what each person contributes is bounded before anything is counted, and the guarantee speaks of people.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from bruit import _checks, documents, engines
from bruit.domains import Attribute, Schema
from bruit.engines import batch as batching
from bruit.engines.bounding import Bounded, Sorting, draw_key, fold_people
from bruit.entropy import Randomness, Words
from bruit.errors import (
    DataTypeError,
    DesignError,
    FormatError,
    ParameterError,
    ParameterTypeError,
    in_column,
    translated,
)
from bruit.estimation.tally import Counts, RawTally
from bruit.privacy.booking import LedgerLike, booked
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import pure_rho, rho_to_epsilon
from bruit.releases.counts import Count
from bruit.releases.laws import OutcomeLaw
from bruit.releases.person import Person, warn_of_people
from bruit.releases.prospects import Prospect, prospect_table
from bruit.releases.result import Result, Results, by_group, labelled, named_by
from bruit.releases.selected import GroupStatistics
from bruit.releases.selection import Groups
from bruit.releases.statistic import VALUES, Statistic, record_codes
from bruit.tables import Described, Table
from bruit.typing import SourceLike

__all__ = ["Release", "release"]

#: What may be asked: a statistic, several, or several by name.
Statistics = Statistic | Sequence[Statistic] | Mapping[str, Statistic]
#: The longest label of a ledger.
_LABEL = 200


class Release(Described):
    """Statistics of one table, and the groups for which they are published.

    Parameters
    ----------
    statistics
        A statistic, a list of them, or a mapping from names to them.
    by
        The declared groups, as in ``{"sex": ["F", "M"]}``: a schema, or columns with their labels or domains. With
        several columns a group is a combination of them. ``{"zone": ["a", "b", ...]}``, with three points of Python's
        own at the end, has one more group, ``other``, for all other values.
    person
        A `Person`, where people have several rows.

    Guarantee
    ---------
    The sum of the guarantees of the statistics (sequential composition). Without a person, groups cost nothing more:
    adding or removing a record changes one group only; under ``"replace"`` a record can leave a group and enter
    another, whose sizes are then not public, and that is refused. With a person the noise is for all rows and groups in
    which they count.

    Examples
    --------
    >>> from bruit.releases import Count, Mean
    >>> about = Release({"people": Count(epsilon=0.5), "age": Mean("age", bounds=(0, 100), epsilon=0.5)})
    >>> about.guarantee.epsilon
    1.0
    >>> results = about.publish(about.fold({"age": [31, 40, 22]}), rng=7)
    >>> list(results)
    ['people', 'age']
    """

    FORMAT = "bruit.release/1"
    #: What a seed is mixed with.
    verb = "release"

    def __init__(self, statistics: Statistics, by: Any = None, person: Person | None = None) -> None:
        self._statistics = _named(statistics)
        self._by = None if by is None else _groups(by)
        self._person = person
        if person is None:
            self._check_rows()
        elif not isinstance(person, Person):
            raise ParameterTypeError('person must be a Person, as in Person("user_id", rows=10).')
        _ = self.guarantee, self._drawn
        _checks.warn_of_weak(_checks.spent_epsilon(epsilon=self._total(), of=" of all statistics together"))

    def _total(self) -> float:
        """The ε of all statistics, or where that is less, of all their ρ at δ = 10⁻⁶: Gaussian noise adds up slowly."""
        total = self.guarantee.epsilon
        rhos = [self._rho(statistic) for statistic in self._statistics.values()]
        if total <= _checks.WEAK_EPSILON or any(rho is None for rho in rhos):
            return total
        return min(total, rho_to_epsilon(sum(rho or 0.0 for rho in rhos), 1e-6))

    def _check_rows(self) -> None:
        """What makes no sense where each row is a person of its own is refused."""
        for statistic in self._statistics.values():
            statistic.check_rows()
        if self._by is not None and any(statistic.public for statistic in self._statistics.values()):
            raise ParameterError(
                'Under "replace" a record may change its group, so that sizes of groups are not public: '
                'release by group with neighbours="add-remove". A histogram of the groups works under both.'
            )

    @property
    def statistics(self) -> dict[str, Statistic]:
        """The statistics by name."""
        return dict(self._statistics)

    @property
    def by(self) -> Schema | None:
        """The columns that say which group a record is in, and their values."""
        return self._by

    @cached_property
    def groups(self) -> tuple[Any, ...]:
        """One label for each group; for several columns the labels of a combination with commas between them."""
        if self._by is None:
            return ()
        labels = [attribute.labels for attribute in self._by.values()]
        return labels[0] if len(labels) == 1 else tuple(", ".join(map(str, row)) for row in itertools.product(*labels))

    @property
    def person(self) -> Person | None:
        """Who is protected with all their rows, where people have several."""
        return self._person

    @property
    def guarantee(self) -> Guarantee:
        """What all results together promise."""
        return sequential(self._promise(statistic) for statistic in self._statistics.values())

    def _promise(self, statistic: Statistic) -> Guarantee:
        """What one of the statistics promises here: of people, where there are any."""
        promise = statistic.guarantee
        if self._person is None:
            return promise
        neighbours: Any = f"person-{promise.neighbours}"
        return dataclasses.replace(promise, neighbours=neighbours)

    @cached_property
    def _drawn(self) -> dict[str, Statistic]:
        """The statistics of rows whose noise is drawn."""
        if self._person is None:
            return self._statistics
        many = None if self._by is None else len(self.groups)
        return {
            name: statistic.for_people(self._person.contribution(many, replaced=statistic.public))
            for name, statistic in self._statistics.items()
        }

    @property
    def drawn(self) -> dict[str, Statistic]:
        """The statistics as their noise is drawn: with a person, for all that a person contributes."""
        return dict(self._drawn)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        by = () if self._by is None else tuple(map(batching.clean_name, self._by))
        person = () if self._person is None else (self._person.column,)
        read = itertools.chain(*(statistic.columns for statistic in self._statistics.values()), by, person)
        return tuple(dict.fromkeys(read))

    def fold(self, source: SourceLike | engines.Source, rng: Randomness = None) -> RawTally:
        """What all statistics need of the data, in one pass: whole numbers without noise, which add and show nothing.

        Tallies of a release with a person add only if no person has rows in two of them.

        Parameters
        ----------
        source
            A table: a mapping, a frame, a path, or anything else that `bruit.engines.fold` reads. Or one column, as an
            array-like or an iterator of arrays, for statistics that name no column. `bruit.engines.read` says how CSV
            is written.
        rng
            Where the key that chooses the rows of people comes from; of no use without a person.
        """
        whole = engines.Source.of(source)
        table, columns = self._opened(whole.data)
        opened = engines.Source(table, whole.text, whole.progress)
        if self._person is None:
            return engines.fold(opened, self._tally, columns=columns)
        (tally,) = fold_people(opened, [self.bounded(self._person, rng)], self.columns)
        return tally  # type: ignore[no-any-return]

    def bounded(self, person: Person, rng: Randomness = None) -> Bounded:
        """The rows of people that count, by a key that is drawn, and what is counted of them."""
        return person.job(draw_key(rng, self.digest), self._sort, self._tally)

    @property
    def size(self) -> int:
        """How many whole numbers are counted, for all statistics and groups."""
        return sum(statistic.size for statistic in self._drawn.values()) * max(1, len(self.groups))

    def tally_batch(self, batch: dict[str, Any]) -> RawTally:
        """The counts of a batch of rows that all count."""
        return self._tally(batch)

    def check(self, raw: RawTally) -> None:
        """Refuse what `publish` would refuse, such as a public number of records that is 0; nothing is spent."""
        self._prepared(raw)

    def publish(
        self, raw: RawTally, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> Results:
        """The results, drawn after all of them were booked at once.

        What can fail is done before that. Afterwards nothing is raised, warned or returned that depends on the data
        except through the noise.

        Parameters
        ----------
        raw
            What `fold` returns.
        ledger
            The ledger to book in, or a part of it. Without one nothing is booked, and keeping account is up to you.
        rng
            None for secure noise; a whole number for reproducible results, which are marked as simulated because
            whoever knows the number can undo the noise; or an `Entropy`.
        label
            What the ledger writes down; public. By default the names of the statistics and the groups.
        """
        prepared = self._prepared(raw)
        words = booked(self, ledger, rng, label).split(len(prepared))
        drawn = zip(self._drawn.items(), prepared, words, strict=True)
        results = {name: self._publish(statistic, parts, own) for (name, statistic), parts, own in drawn}
        return Results({name: labelled(self._about_people(name, result), label) for name, result in results.items()})

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books, one line for each statistic."""
        return [
            Line(self._promise(statistic), self._label(name, label)[:_LABEL], self._rho(statistic))
            for name, statistic in self._statistics.items()
        ]

    def prospects(self, n: int | None = None) -> Table:
        """What each statistic gets of ε and δ and the error to expect, from declared parameters only.

        Parameters
        ----------
        n
            How many records a value is made of, for means and variances; several numbers of records by default.
        """
        size = None if n is None else _checks.integer(low=1, n=n)
        many = max(1, len(self.groups))
        rows = [Prospect.of(name, statistic, many, size) for name, statistic in self._drawn.items()]
        rows = [
            row._replace(epsilon=self._statistics[row.statistic].epsilon, delta=self._statistics[row.statistic].delta)
            for row in rows
        ]
        return prospect_table(rows, self.guarantee, size, self._person, grouped=self._by is not None)

    def _rho(self, statistic: Statistic) -> float | None:
        """The ρ of a statistic; for people, of one that is not made of sums, that of its ε."""
        sums = self._person is None or statistic.delta
        return statistic.rho if sums else pure_rho(statistic.epsilon)

    def loss_between(self, first: Counts, second: Counts) -> Any:
        """The losses of all statistics and groups together, as in `Statistic.loss_between`."""
        pairs = zip(self._split(first), self._split(second), strict=True)
        losses = [
            statistic.loss_between(ours, theirs)
            for statistic, parts in zip(self._drawn.values(), pairs, strict=True)
            for ours, theirs in zip(*parts, strict=True)
        ]
        return None if any(loss is None for loss in losses) else sum(losses)

    def law(self, raw: RawTally) -> dict[str, tuple[OutcomeLaw, ...]]:
        """The laws of what each statistic draws, independent of each other, given what `fold` returns; for audits.

        They know the data, and are as secret. Where there are groups, those of the first group come first, and so on.

        >>> from bruit.releases import Count
        >>> about = Release(Count(epsilon=0.5))
        >>> (law,) = about.law(about.fold([3, 1, 4]))["count"]
        >>> law.sums, law.noises[0].scale
        ((3,), Fraction(2, 1))
        """
        counts = zip(self._drawn.items(), self._split(raw.reveal(design=self.digest)), strict=True)
        return {name: tuple(law for part in parts for law in item.law(part)) for (name, item), parts in counts}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what is published."""
        statistics = [{"name": name, **statistic.to_dict()} for name, statistic in self._statistics.items()]
        by = {} if self._by is None else {"by": [attribute.to_dict() for attribute in self._by.values()]}
        person = {} if self._person is None else {"person": self._person.to_dict()}
        return {"statistics": statistics, **by, **person}

    @classmethod
    @documents.reading()
    def from_dict(cls, body: Any) -> Release:
        """The inverse of `to_dict`; a file written by hand may have ``"by": {"sex": ["F", "M"]}``."""
        rule = 'A release must have a list "statistics", each with a kind, and "by" where there are groups.'
        with translated((KeyError, TypeError, ValueError, AttributeError), lambda _: FormatError(rule)):
            statistics = [dict(item) for item in body["statistics"]]
            names = [item.pop("name", None) for item in statistics]
            known = [Statistic.from_dict(item) for item in statistics]
            by = body.get("by")
            attributes = (
                by
                if by is None or isinstance(by, Mapping)
                else Schema({item.name: item.domain for item in map(Attribute.from_dict, by)})
            )
            if len(set(names)) < len(names) and any(names):
                raise FormatError("The statistics of a release must have different names.")
            person = body.get("person")
            return cls(
                {name or item.title: item for name, item in zip(names, known, strict=True)},
                attributes,
                None if person is None else Person.from_dict(person),
            )

    def to_json(self) -> str:
        """A document of format ``bruit.release/1``."""
        return documents.seal(self.FORMAT, self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Release:
        """The inverse of `to_json`; a file written by hand needs neither format nor digest."""
        with documents.reading(len(text)):
            body = documents.parsed(text, "release")
            return cls.from_dict(documents.unseal(text, cls.FORMAT) if "digest" in body else body)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this release; raw tallies carry it."""
        return documents.digest(self.to_dict())

    def _facts(self) -> dict[str, Any]:
        """For a notebook: what is published, for which groups, and what it promises."""
        by = {} if self._by is None else {"by": tuple(self._by)}
        return {"statistics": tuple(self._statistics), **by, "guarantee": self.guarantee}

    def __repr__(self) -> str:
        by = "" if self._by is None else f", by {', '.join(self._by)}"
        return f"<Release: {', '.join(self._statistics)}{by}; {self.guarantee}>"

    def _sort(self, batch: dict[str, Any]) -> Sorting:
        """What decides which rows of people count: their group, and what the statistics see of them."""
        groups = None if self._by is None else self._group_codes(batch)
        return Sorting(groups, None, [code for item in self._statistics.values() for code in self._codes(item, batch)])

    def _codes(self, statistic: Statistic, batch: dict[str, Any]) -> list[Any]:
        named = len(statistic.columns) == 1
        with in_column(statistic.columns[0]) if named else contextlib.nullcontext():
            return statistic.row_codes(batch)

    def _about_people(self, name: str, result: Result) -> Result:
        """A result as it is published: what it promises to people, and what was counted of them."""
        if self._person is None:
            return result
        statistic = self._statistics[name]
        by = {key: value for key, value in result.statistic.items() if key == "by"}
        return dataclasses.replace(
            result,
            guarantee=self._promise(statistic),
            statistic={**statistic.to_dict(), **by, "person": self._person.to_dict()},
            notes=(*result.notes, self._person.describe()),
        )

    def _opened(self, source: Any) -> tuple[Any, list[str] | None]:
        """The source as a table, and the columns to read of it; None for all."""
        unnamed = [item for item in self._statistics.values() if item.reads_column and not item.columns]
        if unnamed and (self.columns or _is_table(source)):
            kind = type(unnamed[0]).__name__
            raise ParameterError(f'This is a table, so name the column that is meant, as in {kind}("age", …).')
        if self.columns:
            return source, list(self.columns)
        if _is_table(source):
            return source, None
        batches = _each_array(source) if isinstance(source, Iterator) else {VALUES: source}
        return batches, [VALUES]

    def _tally(self, batch: dict[str, Any]) -> RawTally:
        parts = [batch] if self._by is None else self._parts(batch)
        counts = [self._count(item, part) for item in self._drawn.values() for part in parts]
        return RawTally(design=self.digest, counts=counts[0] if len(counts) == 1 else np.concatenate(counts))

    def _count(self, statistic: Statistic, batch: dict[str, Any]) -> Counts:
        named = len(statistic.columns) == 1
        with in_column(statistic.columns[0]) if named else contextlib.nullcontext():
            return statistic.count(batch)

    def _parts(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """The records of each group."""
        codes = self._group_codes(batch)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(self.groups) + 1))
        return [batching.take(batch, order[low:high]) for low, high in itertools.pairwise(ends)]

    def _group_codes(self, batch: dict[str, Any]) -> Any:
        """The group of each record."""
        codes = np.zeros(batching.rows(batch), np.int64)
        for attribute in self._by.values() if self._by else ():
            with in_column(attribute.name):
                own = record_codes(attribute.domain, batch[batching.clean_name(attribute.name)])
            codes = codes * attribute.size + own
        return codes

    def _split(self, counts: Counts) -> list[list[Counts]]:
        """The counts of each statistic, for each group."""
        many = max(1, len(self.groups))
        sizes = [item.size for item in self._drawn.values() for _ in range(many)]
        ends = [0, *itertools.accumulate(sizes)]
        parts = [counts[low:high] for low, high in itertools.pairwise(ends)]
        return [parts[first : first + many] for first in range(0, len(parts), many)]

    def _prepared(self, raw: RawTally) -> list[list[Counts]]:
        if not isinstance(raw, RawTally):
            raise DataTypeError("publish needs a RawTally: make one with fold(data).")
        if raw.design != self.digest:
            raise DesignError("This raw tally was folded for another release.", expected=self.digest, actual=raw.design)
        pairs = zip(self._drawn.values(), self._split(raw.reveal(design=self.digest)), strict=True)
        return [[statistic.prepare(part) for part in parts] for statistic, parts in pairs]

    def _publish(self, statistic: Statistic, parts: list[Counts], words: Words) -> Result:
        if self._by is None:
            return statistic.publish(parts[0], words)
        results = [statistic.publish(part, own) for part, own in zip(parts, words.split(len(parts)), strict=True)]
        return by_group(list(self._by), self.groups, results)

    def _label(self, name: str, label: str | None) -> str:
        if label is not None:
            return label if len(self._statistics) == 1 else f"{label}: {name}"
        return name if self._by is None else named_by(name, self._by)


@overload
def release(
    source: SourceLike | engines.Source,
    what: Statistic,
    *,
    by: Any = ...,
    person: Person | str | None = ...,
    rows: int | None = ...,
    groups: int | None = ...,
    rows_per_group: int | None = ...,
    ledger: LedgerLike | None = ...,
    rng: Randomness = ...,
    label: str | None = ...,
) -> Result: ...


@overload
def release(
    source: SourceLike | engines.Source,
    what: Any,
    *,
    by: Any = ...,
    person: Person | str | None = ...,
    rows: int | None = ...,
    groups: int | None = ...,
    rows_per_group: int | None = ...,
    ledger: LedgerLike | None = ...,
    rng: Randomness = ...,
    label: str | None = ...,
) -> Results: ...


def release(
    source: SourceLike | engines.Source,
    what: Any,
    *,
    by: Any = None,
    person: Person | str | None = None,
    rows: int | None = None,
    groups: int | None = None,
    rows_per_group: int | None = None,
    ledger: LedgerLike | None = None,
    rng: Randomness = None,
    label: str | None = None,
) -> Result | Results:
    """Publish statistics of a table with noise: one pass over the data, one booking, then the noise.

    Parameters
    ----------
    source
        A table, or one column for statistics that name none; as in `Release.fold`.
    what
        A statistic; or several, as a list or by name; or a `Release`; or the path of a file that describes one, in the
        format ``bruit.release/1``.
    by
        The declared groups, as in ``{"sex": ["F", "M"]}``. Or the name of a column, ``"zone"``, for a `Count` with a δ:
        those of its values that many people have are named, as in `Groups`; in a list after it, sums and means of them.
    person, rows, groups, rows_per_group
        Where people have several rows: the column that says whose row it is, and how many rows and groups of a person
        count, as in `Person`; or a `Person`. Without one, a guarantee speaks of a row.
    ledger, rng, label
        As in `Release.publish`.

    Returns
    -------
    Result or Results
        A `Result` for a statistic, and else results by name.

    Examples
    --------
    >>> from bruit.releases import Mean
    >>> table = {"age": [31, 40, 22, 57], "sex": ["F", "M", "F", "M"]}
    >>> mean = release(table, Mean("age", bounds=(0, 100), epsilon=1.0), by={"sex": ["F", "M"]}, rng=7)
    >>> mean.labels, mean.guarantee.epsilon
    (('F', 'M'), 1.0)
    """
    if groups is not None and rows is None and rows_per_group is None and unknown_groups(by):
        rows_per_group = 1
    request = _release_of(what, by, Person.of(person, rows, groups, rows_per_group))
    if request.person is None:
        warn_of_people(source)
    raw: Any = request.fold(source, rng)
    results = request.publish(raw, ledger, rng, label=label)
    return next(iter(results.values())) if isinstance(what, Statistic) else results


def unknown_groups(by: Any) -> bool:
    """Whether `by` names columns and declares no groups."""
    return isinstance(by, str) or (isinstance(by, Sequence) and bool(by) and all(isinstance(name, str) for name in by))


def _selection(what: Any, by: Any, person: Person | None) -> Groups | GroupStatistics:
    """The selection of groups with many people, which a Count with a δ asks for, and what is published of them."""
    statistics = {"count": what} if isinstance(what, Count) else _named(what)
    counts = [name for name, statistic in statistics.items() if isinstance(statistic, Count)]
    if len(counts) != 1:
        raise ParameterError(
            "Groups that are not declared are named by a Count with a δ, alone or before sums and means of them: "
            '[Count(epsilon=0.5, delta=1e-6), Sum("fare", bounds=(0, 20), epsilon=0.5)]. Or declare the groups, as in '
            'by={"zone": ["a", "b"]}.'
        )
    count: Any = statistics.pop(counts[0])
    groups = Groups(by, epsilon=count.epsilon, delta=count.delta, neighbours=count.neighbours, person=person)
    return GroupStatistics(groups, statistics) if statistics else groups


def _release_of(what: Any, by: Any, person: Person | None) -> Release | Groups | GroupStatistics:
    if unknown_groups(by) and not isinstance(what, Release | str | os.PathLike):
        return _selection(what, by, person)
    if isinstance(what, str | os.PathLike):
        what = Release.from_json(Path(what).read_bytes())
    if not isinstance(what, Release):
        return Release(what, by, person)
    if by is not None or person is not None:
        raise ParameterError("This release has its own groups and its own person: leave by and person out.")
    return what


def _named(statistics: Any) -> dict[str, Statistic]:
    if isinstance(statistics, Statistic):
        statistics = [statistics]
    rule = (
        'A release needs statistics, such as Mean("age", bounds=(0, 100), epsilon=0.5), alone, in a list, or by name.'
    )
    if not isinstance(statistics, Mapping | Iterable) or isinstance(statistics, str):
        raise ParameterTypeError(rule)
    pairs = list(statistics.items() if isinstance(statistics, Mapping) else _titled(statistics))
    if not pairs or not all(isinstance(item, Statistic) for _, item in pairs):
        raise ParameterTypeError(rule)
    if not all(isinstance(name, str) and name and name.isprintable() for name, _ in pairs):
        raise ParameterTypeError("The names of statistics must be printable texts.")
    if len(dict(pairs)) < len(pairs):
        raise ParameterError('Two of these statistics have the same title: name them, as in {"first": …, "second": …}.')
    return dict(pairs)


def _titled(statistics: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for item in statistics:
        title = str(getattr(item, "title", ""))
        yield (title if title.isprintable() else repr(title)), item


def _groups(by: Any) -> Schema:
    if isinstance(by, str):
        raise ParameterError(
            f'The groups must be declared, as in by={{{by!r}: ["F", "M"]}}: reading them from the data would tell '
            "which groups occur, and that is not covered by any noise."
        )
    if not isinstance(by, Schema | Mapping):
        raise ParameterTypeError('by must declare the groups, as in by={"sex": ["F", "M"]}.')
    schema = by if isinstance(by, Schema) else Schema(by)
    if any(attribute.domain.missing == "drop" for attribute in schema.values()):
        raise ParameterError('A record without a group cannot be dropped here: declare missing="category" or "refuse".')
    if math.prod(attribute.size for attribute in schema.values()) > 10**6:
        raise ParameterError("There must be at most a million groups.")
    return schema


def _is_table(source: Any) -> bool:
    table = isinstance(source, str | os.PathLike | Mapping) or engines.is_query(source)
    return table or hasattr(source, "read") or hasattr(source, "columns") or hasattr(source, "column_names")


def _each_array(source: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for item in source:
        yield {VALUES: item}
