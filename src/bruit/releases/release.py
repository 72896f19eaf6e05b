"""A release: several statistics of one table, read in one pass, booked at once, then published with noise.

With `by`, every statistic is published for each of the groups. A record is in one group, so what is published about the
other groups says nothing about it, and all groups together cost as much as one (parallel composition). Groups are
declared; or only their columns are named, and the groups of many people are selected. What differs between these is in
`groups`.

With a `person`, what each person contributes is bounded before anything is counted, and the guarantee speaks of people.

A release has parts: the statistics of the same groups and the same person. Most have one; `Release.union` makes one of
several. The table is read in one pass all the same; where people have several rows, each part chooses of a person the
rows that count for itself, by a key of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from bruit import _checks, documents, engines
from bruit.domains import Attribute, Schema
from bruit.engines.bounding import Bounded, Sorting, draw_key, fold_people
from bruit.entropy import Randomness
from bruit.errors import DataTypeError, DesignError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.estimation.tally import RawTally
from bruit.privacy.booking import LedgerLike, booked
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import pure_rho, rho_to_epsilon
from bruit.releases.groups import DeclaredGroups, Grouping, NoGroups, SelectedGroups, named, unknown_groups
from bruit.releases.person import Person, warn_of_people
from bruit.releases.prospects import prospect_table
from bruit.releases.result import Result, Results, labelled
from bruit.releases.statistic import VALUES, Statistic
from bruit.rounding import decimal, up
from bruit.tables import Described, Table
from bruit.typing import SourceLike

__all__ = ["Release", "ReleasePart", "release"]

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
        own at the end, has one more group, ``other``, for all other values. Or the name of a column, or several: then a
        `Count` with a δ names the groups of many people, as in `SelectedGroups`, and sums, means and variances of these
        may stand beside it.
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
        if person is not None and not isinstance(person, Person):
            raise ParameterTypeError('person must be a Person, as in Person("user_id", rows=10).')
        self._parts: tuple[ReleasePart, ...] = (ReleasePart(_named(statistics), by, person),)
        _ = self.guarantee
        _checks.warn_of_weak(_checks.spent_epsilon(epsilon=self._total(), of=" of all statistics together"))

    @classmethod
    def union(cls, releases: Iterable[Release]) -> Release:
        """Several releases of one table as one: read in one pass, booked at once, then published.

        All names of statistics differ, and all are about the same person, or about rows. The guarantee is the sum of
        the guarantees, in the decimals that a ledger adds.

        >>> from bruit.releases import Count, Mean
        >>> table = {"zone": ["a"] * 60 + ["b"], "age": [40] * 61}
        >>> ages = Release({"mean age": Mean("age", bounds=(0, 100), epsilon=1.0)})
        >>> both = Release.union([ages, Release({"zones": Count(epsilon=1.0, delta=1e-6)}, by="zone")])
        >>> results = both.publish(both.fold(table), rng=7)
        >>> list(results), results["zones"].labels
        (['mean age', 'zones'], ('a',))
        """
        whole = cls.__new__(cls)
        whole._parts = tuple(part for release in releases for part in release._parts)
        names = [name for part in whole._parts for name in part.statistics]
        persons = [part.person for part in whole._parts]
        if not names:
            raise ParameterError("A publication must have at least one statistic.")
        if len(set(names)) < len(names):
            raise ParameterError("The statistics of a publication must have different names.")
        if len({person.whose if person else None for person in persons}) > 1:
            raise ParameterError("All statistics of a publication must be about the same person, or about rows.")
        if len({line.guarantee.neighbours for line in whole.lines()}) > 1:
            raise ParameterError("All statistics of a publication must have the same neighbours.")
        return whole

    def _total(self) -> float:
        """The ε of all statistics, or where that is less, of all their ρ at δ = 10⁻⁶: Gaussian noise adds up slowly."""
        total, rhos = self.guarantee.epsilon, [line.rho for line in self.lines()]
        if total <= _checks.WEAK_EPSILON or any(rho is None for rho in rhos):
            return total
        return min(total, rho_to_epsilon(sum(rho or 0.0 for rho in rhos), 1e-6))

    @property
    def parts(self) -> tuple[ReleasePart, ...]:
        """The statistics of the same groups and person, together."""
        return self._parts

    @property
    def statistics(self) -> dict[str, Statistic]:
        """The statistics by name."""
        return {name: item for part in self._parts for name, item in part.statistics.items()}

    @property
    def grouping(self) -> Grouping:
        """How records are divided into groups, in the first part."""
        return self._parts[0].grouping

    @property
    def by(self) -> Any:
        """The columns that say which group a record is in: a schema of declared groups, or names alone."""
        return self.grouping.by

    @property
    def groups(self) -> tuple[Any, ...]:
        """One label for each declared group; for several columns the labels of a combination with commas between."""
        return self.grouping.labels

    @property
    def person(self) -> Person | None:
        """Who is protected with all their rows, where people have several."""
        return self._parts[0].person

    @property
    def guarantee(self) -> Guarantee:
        """What all results together promise."""
        promises = [line.guarantee for line in self.lines()]
        if len(self._parts) == 1:
            return sequential(promises)
        epsilon, delta = (
            up(sum(decimal(getattr(promise, name)) for promise in promises))  # type: ignore[arg-type]
            for name in ("epsilon", "delta")
        )
        return Guarantee(epsilon=epsilon, delta=delta, neighbours=promises[0].neighbours)

    @property
    def drawn(self) -> dict[str, Statistic]:
        """The statistics as their noise is drawn: with a person, for all that a person contributes."""
        return {name: item for part in self._parts for name, item in part.drawn.items()}

    @property
    def has_sums(self) -> bool:
        """Whether a second draw could refine any of the results: of sums, for groups that are declared."""
        return any(
            item.has_sums
            for part in self._parts
            if not isinstance(part.grouping, SelectedGroups)
            for item in part.statistics.values()
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(itertools.chain(*(part.columns for part in self._parts))))

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
        if self.person is None:
            return engines.fold(opened, self.tally_batch, columns=columns)
        jobs = [part.job(self.digest, rng) for part in self._parts]
        return self._joined(fold_people(opened, jobs, self.columns))

    def bounded(self, person: Person, rng: Randomness = None) -> Bounded:
        """The rows of people that count, by a key that is drawn, and what is counted of them."""
        return self._parts[0].job(self.digest, rng, person)

    def tally_batch(self, batch: dict[str, Any]) -> RawTally:
        """The counts of a batch of rows that all count."""
        return self._joined([part.tally(self.digest, batch) for part in self._parts])

    def _joined(self, tallies: list[RawTally]) -> RawTally:
        return tallies[0] if len(tallies) == 1 else RawTally.joined(tallies)

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
            anyone who has the number can remove the noise; or an `Entropy`.
        label
            What the ledger writes down; public. By default the names of the statistics and the groups.
        """
        prepared = self._prepared(raw)
        words = booked(self, ledger, rng, label)
        own = [words] if len(self._parts) == 1 else words.split(len(self._parts))
        results: dict[str, Result] = {}
        for part, counts, noise in zip(self._parts, prepared, own, strict=True):
            results |= part.grouping.draw(part, counts, noise)
        return Results({name: labelled(result, label) for name, result in results.items()})

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books, one line for each statistic."""
        if len(self._parts) == 1:
            return self._parts[0].lines(label)
        lines = [line for part in self._parts for line in part.lines()]
        return [line._replace(label=f"{label}: {line.label}"[:_LABEL]) for line in lines] if label else lines

    def prospects(self, n: int | None = None) -> Table:
        """What each statistic gets of ε and δ and the error to expect, from declared parameters only.

        Parameters
        ----------
        n
            How many records a value is made of, for means and variances; several numbers of records by default.
        """
        size = None if n is None else _checks.integer(low=1, n=n)
        rows = [part.grouping.prospect(name, part, size) for part in self._parts for name in part.statistics]
        return prospect_table(rows, self.guarantee, size, self.person, grouped=self.by is not None)

    def loss_between(self, first: Any, second: Any) -> Any:
        """The losses of all statistics and groups together, as in `Statistic.loss_between`."""
        pairs = [(first, second)] if len(self._parts) == 1 else list(zip(first, second, strict=True))
        losses = [part.grouping.loss_between(part, *pair) for part, pair in zip(self._parts, pairs, strict=True)]
        return None if any(loss is None for loss in losses) else sum(losses)

    def law(self, raw: RawTally) -> dict[str, Any]:
        """The laws of what each statistic draws, independent of each other, given what `fold` returns; for audits.

        They know the data, and are as secret. Where there are groups, those of the first group come first, and so on.
        Of groups that are not declared it is the law of each group that has people, by its label.

        >>> from bruit.releases import Count
        >>> about = Release(Count(epsilon=0.5))
        >>> (law,) = about.law(about.fold([3, 1, 4]))["count"]
        >>> law.sums, law.noises[0].scale
        ((3,), Fraction(2, 1))
        """
        if len(self._parts) > 1:  # a label of undeclared groups may be the name of a statistic
            raise ParameterError("A union has no law of its own: ask each of its releases.")
        (part,) = self._parts
        return part.grouping.law(part, raw.reveal(design=self.digest))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what is published."""
        bodies = [part.to_dict() for part in self._parts]
        return bodies[0] if len(bodies) == 1 else {"parts": bodies}

    @classmethod
    @documents.reading()
    def from_dict(cls, body: Any) -> Release:
        """The inverse of `to_dict`; a file written by hand may have ``"by": {"sex": ["F", "M"]}``."""
        rule = 'A release must have a list "statistics", each with a kind, and "by" where there are groups.'
        with translated((KeyError, TypeError, ValueError, AttributeError), lambda _: FormatError(rule)):
            if "parts" in body:
                return cls.union([cls._of_part(part) for part in body["parts"]])
            return cls._of_part(body)

    @classmethod
    def _of_part(cls, body: Any) -> Release:
        statistics = [dict(item) for item in body["statistics"]]
        names = [item.pop("name", None) for item in statistics]
        known = [Statistic.from_dict(item) for item in statistics]
        if len(set(names)) < len(names) and any(names):
            raise FormatError("The statistics of a release must have different names.")
        person = body.get("person")
        return cls(
            {name or item.title: item for name, item in zip(names, known, strict=True)},
            _read_groups(body.get("by")),
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
        by = {} if self.by is None else {"by": tuple(self.by)}
        return {"statistics": tuple(self.statistics), **by, "guarantee": self.guarantee}

    def __repr__(self) -> str:
        by = "" if self.by is None else f", by {', '.join(self.by)}"
        return f"<Release: {', '.join(self.statistics)}{by}; {self.guarantee}>"

    def _opened(self, source: Any) -> tuple[Any, list[str] | None]:
        """The source as a table, and the columns to read of it; None for all."""
        unnamed = [item for item in self.statistics.values() if item.reads_column and not item.columns]
        if unnamed and (self.columns or _is_table(source)):
            kind = type(unnamed[0]).__name__
            raise ParameterError(f'This is a table, so name the column that is meant, as in {kind}("age", …).')
        if self.columns:
            return source, list(self.columns)
        if _is_table(source):
            return source, None
        batches = _each_array(source) if isinstance(source, Iterator) else {VALUES: source}
        return batches, [VALUES]

    def _revealed(self, raw: RawTally) -> Sequence[Any]:
        """The counts of each part."""
        counts = raw.reveal(design=self.digest)
        return [counts] if len(self._parts) == 1 else counts

    def _prepared(self, raw: RawTally) -> list[Any]:
        if not isinstance(raw, RawTally):
            raise DataTypeError("publish needs a RawTally: make one with fold(data).")
        if raw.design != self.digest:
            raise DesignError("This raw tally was folded for another release.", expected=self.digest, actual=raw.design)
        pairs = zip(self._parts, self._revealed(raw), strict=True)
        return [part.grouping.prepare(part, counts) for part, counts in pairs]


class ReleasePart:
    """Statistics of the same groups and the same person, which are counted together.

    Parameters
    ----------
    statistics
        The statistics by name.
    by
        The groups, as in `Release`.
    person
        Who is protected with all their rows.
    """

    def __init__(self, statistics: dict[str, Statistic], by: Any, person: Person | None) -> None:
        self.grouping, self.person = _grouping(by, statistics, person)
        self.grouping.check(statistics, self.person)
        self.statistics = {name: item.settled(self._for_people) for name, item in statistics.items()}
        _ = self.drawn

    @cached_property
    def drawn(self) -> dict[str, Statistic]:
        """The statistics as their noise is drawn: with a person, for all that a person contributes."""
        return {name: self._for_people(statistic) for name, statistic in self.statistics.items()}

    def _for_people(self, statistic: Statistic) -> Statistic:
        contribution = None if self.person is None else self.grouping.contribution(self.person, statistic)
        return statistic if contribution is None else statistic.for_people(contribution)

    def follow(self, name: str, statistic: Statistic) -> None:
        """Draw a statistic as this one, which depends on an earlier draw; what is booked stays as it is."""
        self.drawn[name] = statistic

    def half_width(self, name: str, epsilon: float) -> float:
        """Half the width of the intervals of a statistic at another ε, for the number of records of its width."""
        statistic = self.statistics[name]
        drawn = self._for_people(dataclasses.replace(statistic, epsilon=epsilon))  # type: ignore[type-var]
        return drawn.half_width(None if statistic.asked_width is None else statistic.asked_width.n)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        person = () if self.person is None else (self.person.column,)
        own = (statistic.columns for statistic in self.statistics.values())
        return tuple(dict.fromkeys(itertools.chain(*own, self.grouping.columns, person)))

    def job(self, design: str, rng: Randomness, person: Person | None = None) -> Bounded:
        """The rows of people that count, by a key that is drawn for this part, and what is counted of them."""
        key = draw_key(rng, documents.digest(self.to_dict()))
        whose: Any = person or self.person
        count = functools.partial(self.tally, design)
        return whose.job(key, functools.partial(self._sort, self.grouping.sorter()), count)  # type: ignore[no-any-return]

    def tally(self, design: str, batch: dict[str, Any]) -> RawTally:
        """The counts of a batch of rows that all count, for the release with this digest."""
        return RawTally(design=design, counts=self.grouping.count(self, batch))

    def _sort(self, sort: Callable[[dict[str, Any]], Sorting], batch: dict[str, Any]) -> Sorting:
        """What decides which rows of people count: their group, and what the statistics see of them."""
        sorting, codes = sort(batch), []
        for statistic in self.statistics.values():
            with named(statistic):
                codes += statistic.row_codes(batch)
        return sorting._replace(codes=codes)

    def promise(self, statistic: Statistic) -> Guarantee:
        """What one of the statistics promises here: of people, where there are any."""
        promise = statistic.guarantee
        if self.person is None:
            return promise
        neighbours: Any = f"person-{promise.neighbours}"
        return dataclasses.replace(promise, neighbours=neighbours)

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books, one line for each statistic."""
        lines = [
            (name, Line(self.promise(statistic), self._label(name, label)[:_LABEL], self._rho(statistic)))
            for name, statistic in self.statistics.items()
        ]
        return [self.grouping.lines(name, line) for name, line in lines]

    def _label(self, name: str, label: str | None) -> str:
        if label is not None:
            return label if len(self.statistics) == 1 else f"{label}: {name}"
        return self.grouping.label(name, self.statistics[name], self.person)

    def _rho(self, statistic: Statistic) -> float | None:
        """The ρ of a statistic; for people, of one that is not made of sums, that of its ε."""
        sums = self.person is None or statistic.delta
        return statistic.rho if sums else pure_rho(statistic.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        statistics = [{"name": name, **statistic.to_dict()} for name, statistic in self.statistics.items()]
        person = {} if self.person is None else {"person": self.person.to_dict()}
        return {"statistics": statistics, **self.grouping.to_dict(), **person}


def _grouping(by: Any, statistics: Mapping[str, Statistic], person: Person | None) -> tuple[Grouping, Person | None]:
    """How records are divided, and the person as such groups count them."""
    if by is None:
        return NoGroups(), person
    if unknown_groups(by):
        selected = SelectedGroups.of(by, statistics, person)
        return selected, selected.person
    return DeclaredGroups(by), person


def _read_groups(by: Any) -> Any:
    """The groups of a document: columns with their domains, or their names alone."""
    if by is None or isinstance(by, Mapping) or unknown_groups(by):
        return by
    return Schema({item.name: item.domain for item in map(Attribute.from_dict, by)})


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
        those of its values that many people have are named, as in `SelectedGroups`; beside it, sums and means of them.
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
    results = request.publish(request.fold(source, rng), ledger, rng, label=label)
    return next(iter(results.values())) if isinstance(what, Statistic) else results


def _release_of(what: Any, by: Any, person: Person | None) -> Release:
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


def _is_table(source: Any) -> bool:
    table = isinstance(source, str | os.PathLike | Mapping) or engines.is_query(source)
    return table or hasattr(source, "read") or hasattr(source, "columns") or hasattr(source, "column_names")


def _each_array(source: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for item in source:
        yield {VALUES: item}
