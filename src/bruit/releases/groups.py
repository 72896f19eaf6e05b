"""For which groups a release publishes: none, declared ones, or undeclared ones of many people.

A grouping says which group a row is in, keeps the counts of each group apart, and draws a result for each. A release
does not ask which one it has.

`DeclaredGroups` publishes all groups, also those of nobody. `SelectedGroups` names a group only if its number of
people, with noise, is above a threshold, by the laws of `selection`: a list that is read from the data tells which
groups occur, and a group of one person tells that this person is there. The sums of all groups are folded before, in
the same pass and of the same rows, so that nothing is read after the booking. See ``selection.proof.md``.

Rejected: a group for all that is not named (it would hold several groups of a person, and need more noise).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bruit.domains import Schema
from bruit.domains.categories import spelling
from bruit.domains.domain import DictionaryColumn
from bruit.domains.missing import MISSING_LABEL, is_missing
from bruit.engines import batch as batching
from bruit.engines.batch import Batch
from bruit.engines.bounding import Sorting
from bruit.engines.identity import words_of_text
from bruit.entropy import Words
from bruit.errors import DataTypeError, ParameterError, ParameterTypeError, in_column
from bruit.estimation.tally import Counts, KeyedCounts
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.releases.counts import Count
from bruit.releases.laws import NamedLaw, OutcomeLaw
from bruit.releases.noise import cut
from bruit.releases.person import Contribution, Person
from bruit.releases.prospects import Prospect
from bruit.releases.result import Result, by_group, named_by
from bruit.releases.selection import GaussianSelection, SelectionNoise, selection_noise
from bruit.releases.statistic import AdditiveStatistic, Statistic, record_codes
from bruit.tables import counted, number

__all__ = ["DeclaredGroups", "Grouping", "NoGroups", "SelectedGroups", "unknown_groups"]

Integers = NDArray[np.int64]
#: The most groups that may be declared.
MOST_GROUPS = 10**6
#: How many whole numbers a statistic may keep of each group: all groups that occur are kept until some are named.
MOST_NUMBERS = 8


class Grouped(Protocol):
    """What a grouping sees of a part of a release: its statistics, as they are asked and drawn, and its person."""

    @property
    def statistics(self) -> dict[str, Statistic]:
        """The statistics by name."""
        ...

    @property
    def drawn(self) -> dict[str, Statistic]:
        """The statistics as their noise is drawn."""
        ...

    @property
    def person(self) -> Person | None:
        """Who is protected with all their rows."""
        ...


class Grouping(Protocol):
    """Which group a row is in, and how results of groups are drawn."""

    @property
    def by(self) -> Any:
        """The columns of groups as they were declared; None if there are no groups."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        ...

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label for each declared group."""
        ...

    def check(self, statistics: Mapping[str, Statistic], person: Person | None) -> None:
        """Refuse statistics that cannot be published for these groups."""
        ...

    def contribution(self, person: Person, statistic: Statistic) -> Contribution | None:
        """What a person contributes at most; None for a statistic that is drawn otherwise."""
        ...

    def sort(self, batch: Batch) -> Sorting:
        """The group of each row of a batch, and the word of that group."""
        ...

    def sorter(self) -> Callable[[Batch], Sorting]:
        """`sort` for many batches, in which a group has the same number."""
        ...

    def count(self, part: Grouped, batch: Batch) -> Counts | KeyedCounts:
        """What the rows of a batch give to each group."""
        ...

    def prepare(self, part: Grouped, counts: Any) -> Any:
        """The counts as `draw` takes them; what cannot be published is refused here, before anything is booked."""
        ...

    def draw(self, part: Grouped, counts: Any, words: Words) -> dict[str, Result]:
        """The results by name."""
        ...

    def label(self, name: str, statistic: Statistic, person: Person | None) -> str:
        """What a ledger writes down of a statistic, unless it is said."""
        ...

    def lines(self, name: str, line: Line) -> Line:
        """The line of a statistic, as it is booked for these groups."""
        ...

    def prospect(self, name: str, part: Grouped, n: int | None) -> Prospect:
        """The error to expect of a statistic."""
        ...

    def loss_between(self, part: Grouped, first: Any, second: Any) -> Any:
        """The losses of all statistics between two counts, as in `Statistic.loss_between`; None if not known."""
        ...

    def law(self, part: Grouped, counts: Any) -> dict[str, Any]:
        """The laws of what each statistic draws."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        ...


def count_rows(statistic: Statistic, batch: Batch) -> Counts:
    """What a statistic counts of rows; errors name its column where it has one."""
    with named(statistic):
        return statistic.count(batch)


def named(statistic: Statistic) -> contextlib.AbstractContextManager[None]:
    """Within the block, errors name the column of a statistic that has one."""
    return in_column(statistic.columns[0]) if len(statistic.columns) == 1 else contextlib.nullcontext()


class _Fixed:
    """Groups that are known beforehand: one vector has the counts of all, statistic by statistic, group by group."""

    by: Any = None
    columns: tuple[str, ...] = ()
    labels: tuple[Any, ...] = ()

    def sorter(self) -> Callable[[Batch], Sorting]:
        return self.sort

    def sort(self, batch: Batch) -> Sorting:
        raise NotImplementedError

    def divided(self, batch: Batch) -> list[Batch]:
        """The rows of each group."""
        raise NotImplementedError

    @property
    def many(self) -> int:
        """How many groups there are; 1 if there are none."""
        return max(1, len(self.labels))

    def contribution(self, person: Person, statistic: Statistic) -> Contribution | None:
        return person.contribution(None if self.by is None else len(self.labels), replaced=statistic.public)

    def count(self, part: Grouped, batch: Batch) -> Counts:
        rows = self.divided(batch)
        counts = [count_rows(statistic, own) for statistic in part.drawn.values() for own in rows]
        return counts[0] if len(counts) == 1 else np.concatenate(counts)

    def split(self, part: Grouped, counts: Counts) -> list[list[Counts]]:
        """The counts of each statistic, for each group."""
        sizes = [item.size for item in part.drawn.values() for _ in range(self.many)]
        ends = [0, *itertools.accumulate(sizes)]
        vectors = [counts[low:high] for low, high in itertools.pairwise(ends)]
        return [vectors[first : first + self.many] for first in range(0, len(vectors), self.many)]

    def prepare(self, part: Grouped, counts: Counts) -> list[list[Counts]]:
        pairs = zip(part.drawn.values(), self.split(part, counts), strict=True)
        return [[statistic.prepare(own) for own in vectors] for statistic, vectors in pairs]

    def draw(self, part: Grouped, counts: list[list[Counts]], words: Words) -> dict[str, Result]:
        drawn = zip(part.drawn.items(), counts, words.split(len(counts)), strict=True)
        return {
            name: self.gathered(part, name, self._publish(statistic, vectors, own))
            for (name, statistic), vectors, own in drawn
        }

    def _publish(self, statistic: Statistic, vectors: list[Counts], words: Words) -> list[Result]:
        own = [words] if self.by is None else words.split(len(vectors))
        groups = zip(statistic.in_groups(len(vectors)), vectors, own, strict=True)
        return [item.publish(vector, noise) for item, vector, noise in groups]

    def gathered(self, part: Grouped, name: str, results: Sequence[Result]) -> Result:
        """The results of all groups as one, with what it promises to people, and what its draws are draws of."""
        result = results[0] if self.by is None else by_group(list(self.by), self.labels, results)
        result = _about_people(part, part.statistics[name], result)
        if result.draws is None:
            return result
        person = {} if part.person is None else {"person": part.person.to_dict()}
        body = {"statistics": [{"name": name, **part.statistics[name].to_dict()}], **self.to_dict(), **person}
        return dataclasses.replace(result, draws=dataclasses.replace(result.draws, release=body))

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    def label(self, name: str, statistic: Statistic, person: Person | None) -> str:
        return name if self.by is None else named_by(name, self.by)

    def lines(self, name: str, line: Line) -> Line:
        return line

    def prospect(self, name: str, part: Grouped, n: int | None) -> Prospect:
        prospect, statistic = Prospect.of(name, part.drawn[name], self.many, n), part.statistics[name]
        within = "" if statistic.asked_width is None else str(statistic.asked_width)
        return prospect._replace(epsilon=statistic.epsilon, delta=statistic.delta, within=within)

    def loss_between(self, part: Grouped, first: Counts, second: Counts) -> Any:
        pairs = zip(self.split(part, first), self.split(part, second), strict=True)
        losses = [
            statistic.loss_between(ours, theirs)
            for statistic, vectors in zip(part.drawn.values(), pairs, strict=True)
            for ours, theirs in zip(*vectors, strict=True)
        ]
        return None if any(loss is None for loss in losses) else sum(losses)

    def law(self, part: Grouped, counts: Counts) -> dict[str, tuple[OutcomeLaw, ...]]:
        pairs = zip(part.drawn.items(), self.split(part, counts), strict=True)
        return {name: tuple(law for own in vectors for law in item.law(own)) for (name, item), vectors in pairs}


def _about_people(part: Grouped, statistic: Statistic, result: Result) -> Result:
    """A result as it is published: what it promises to people, and what was counted of them."""
    if part.person is None:
        return result
    by = {key: value for key, value in result.statistic.items() if key == "by"}
    neighbours: Any = f"person-{statistic.guarantee.neighbours}"
    return dataclasses.replace(
        result,
        guarantee=dataclasses.replace(statistic.guarantee, neighbours=neighbours),
        statistic={**statistic.to_dict(), **by, "person": part.person.to_dict()},
        notes=(*result.notes, part.person.describe()),
    )


@dataclass(frozen=True)
class NoGroups(_Fixed):
    """One result for all rows."""

    def check(self, statistics: Mapping[str, Statistic], person: Person | None) -> None:
        """Any statistic can be published without groups; what makes no sense of single rows is refused."""
        if person is None:
            for statistic in statistics.values():
                statistic.check_rows()

    def sort(self, batch: Batch) -> Sorting:
        """There is nothing to sort."""
        return Sorting(None, None, [])

    def divided(self, batch: Batch) -> list[Batch]:
        """All rows together."""
        return [batch]

    def to_dict(self) -> dict[str, Any]:
        """Nothing stands in a document."""
        return {}


class DeclaredGroups(_Fixed):
    """One result for each declared group; with several columns a group is a combination of their values.

    Parameters
    ----------
    by
        A schema, or columns with their labels or domains.
    """

    def __init__(self, by: Any) -> None:
        self.by: Schema = _declared(by)
        self.columns = tuple(map(batching.clean_name, self.by))
        labels = [attribute.labels for attribute in self.by.values()]
        rows = itertools.product(*labels)
        self.labels = labels[0] if len(labels) == 1 else tuple(", ".join(map(str, row)) for row in rows)

    def check(self, statistics: Mapping[str, Statistic], person: Person | None) -> None:
        """Refuse what makes no sense where each row is a person of its own."""
        if person is not None:
            return
        for statistic in statistics.values():
            statistic.check_rows()
        if any(statistic.public for statistic in statistics.values()):
            raise ParameterError(
                'Under "replace" a record may change its group, so that sizes of groups are not public: '
                'release by group with neighbours="add-remove". A histogram of the groups works under both.'
            )

    def codes(self, batch: Batch) -> Integers:
        """The group of each row."""
        codes = np.zeros(batching.rows(batch), np.int64)
        for attribute in self.by.values():
            with in_column(attribute.name):
                own = record_codes(attribute.domain, batch[batching.clean_name(attribute.name)])
            codes = codes * attribute.size + own
        return codes

    def sort(self, batch: Batch) -> Sorting:
        """The number of each row's group."""
        return Sorting(self.codes(batch), None, [])

    def divided(self, batch: Batch) -> list[Batch]:
        """The rows of each group."""
        codes = self.codes(batch)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(self.labels) + 1))
        return [batching.take(batch, order[low:high]) for low, high in itertools.pairwise(ends)]

    def to_dict(self) -> dict[str, Any]:
        """The columns with their domains."""
        return {"by": [attribute.to_dict() for attribute in self.by.values()]}


@dataclass(frozen=True)
class SelectedGroups:
    """The groups of many people, by name; nobody needs to know which groups there are.

    A `Count` with a δ names them, and counts the people of each. Sums, means and variances of the named groups may
    stand beside it. A missing value is a group.

    Parameters
    ----------
    by
        The columns whose values are the groups.
    naming
        The name of the count.
    noise
        The noise on the number of people of a group, and its threshold.
    guarantee
        What the named groups with their numbers promise.
    most
        In how many groups a person counts, at most; 1 where a row is a person.
    person
        Who is protected with all their rows. One row in a group counts of each.

    Guarantee
    ---------
    A person is in at most κ groups (2κ count under ``"replace"``). Each has geometric noise and a threshold for
    (ε/κ, δ/κ), exact in whole numbers; or all have Gaussian noise and a threshold (`GaussianSelection`), where that
    names smaller groups, from about three groups on. The other statistics add their own guarantee: of a person they see
    a row in each of κ groups, whichever groups are named. Order and number of the groups follow from the named ones.

    Error
    -----
    A group of k + 1 people is named with a chance just above one half, where k is `threshold`: 14 at ε = 1, δ = 10⁻⁶,
    one group per person, and 70 for ten groups. Geometric noise is never beyond ±k. Only numbers above k are shown, so
    those near it lean upwards. Sums have the error of declared groups with `rows_per_group` of 1. Records of groups
    that are not named do not count anywhere.

    References
    ----------
    Desfontaines, Voss, Gipson and Mandayam (2022), Differentially private partition selection.

    Examples
    --------
    >>> from bruit.releases import Release, Sum
    >>> fares = Release([Count(epsilon=1.0, delta=1e-6), Sum("fare", bounds=(0, 20), epsilon=1.0)], by="zone")
    >>> fares.grouping.threshold
    14
    >>> results = fares.publish(fares.fold({"zone": ["a"] * 500 + ["b"], "fare": [5] * 501}), rng=7)
    >>> results["count"].labels, bool(abs(results["sum of fare"]["a"] - 2500) < 300)
    (('a',), True)
    """

    by: tuple[str, ...]
    naming: str
    noise: SelectionNoise | GaussianSelection
    guarantee: Guarantee
    most: int
    person: Person | None = field(default=None)
    #: Which groups there are is not known.
    labels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, by: str | Sequence[str], statistics: Mapping[str, Statistic], person: Person | None) -> SelectedGroups:
        """The groups that the only count among some statistics names."""
        columns = [by] if isinstance(by, str) else list(by)
        if not columns or not all(isinstance(name, str) and name for name in columns):
            raise ParameterTypeError('by must name columns, as in by="zone".')
        counts = [name for name, statistic in statistics.items() if isinstance(statistic, Count)]
        if len(counts) != 1:
            raise ParameterError(
                "Groups that are not declared are named by a Count with a δ, alone or before sums and means of them: "
                '[Count(epsilon=0.5, delta=1e-6), Sum("fare", bounds=(0, 20), epsilon=0.5)]. Or declare the groups, as '
                'in by={"zone": ["a", "b"]}.'
            )
        count: Any = statistics[counts[0]]
        if count.asked_width is not None:
            raise ParameterError(
                "The count that names undeclared groups has noise with a threshold: declare its epsilon, not within."
            )
        if not 0 < count.delta < 1:
            raise ParameterError(
                "Groups that are not declared need a δ, the chance that a group of one person is named: take one far "
                'below one over the number of people, such as 1e-6; or declare them, as in by={"zone": ["a", "b"]}.'
            )
        single = one_row_in_each(person)
        most = 1 if single is None else min(bound for bound in (single.groups, single.rows) if bound is not None)
        neighbours: Any = count.neighbours if single is None else f"person-{count.neighbours}"
        noise = selection_noise(count.epsilon, count.delta, most * (2 if count.neighbours == "replace" else 1))
        promise = Guarantee(epsilon=count.epsilon, delta=count.delta, neighbours=neighbours)
        return cls(tuple(map(batching.clean_name, columns)), counts[0], noise, promise, most, single)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.by

    @property
    def threshold(self) -> int:
        """A group is named if its number of people, with noise, is above this."""
        return self.noise.threshold

    @cached_property
    def name(self) -> str:
        """What the numbers of people are called."""
        return named_by("count" if self.person is None else "number of people", self.by)

    @property
    def _noun(self) -> str:
        """What is counted: people, where they are named, and else rows, each of which is somebody."""
        return "record" if self.person is None else "person"

    def check(self, statistics: Mapping[str, Statistic], person: Person | None) -> None:
        """Only sums of few numbers are published of such groups, and only where sizes of groups are secret."""
        others = {name: statistic for name, statistic in statistics.items() if name != self.naming}
        for name, statistic in others.items():
            _check_sum(name, statistic)
        if others and not self.guarantee.neighbours.endswith("add-remove"):
            raise ParameterError(
                'Sums and means of groups that are not declared are for neighbours="add-remove": under "replace" the '
                "sizes of groups are not public."
            )

    def contribution(self, person: Person, statistic: Statistic) -> Contribution | None:
        """One row of a person in each of their groups; the count has noise of its own."""
        return None if isinstance(statistic, Count) else person.contribution(self.most, replaced=False)

    def sort(self, batch: Batch) -> Sorting:
        """The group of each row, for one batch."""
        return self.sorter()(batch)

    def sorter(self) -> Callable[[Batch], Sorting]:
        """The group of each row, by a number that its label has in every batch, and a word of each group."""
        return functools.partial(self._sorted, {}, itertools.count())

    def _sorted(self, known: dict[str, int], numbers: Iterator[int], batch: Batch) -> Sorting:
        codes, labels = self.rows(batch)
        # Batches are sorted by several threads: each label gets a number that no other has, and keeps the first one.
        table = np.array([known.setdefault(label, next(numbers)) for label in labels], np.int64)
        words = np.array([words_of_text(label)[0] for label in labels], np.uint64)
        return Sorting(table[codes] if table.size else codes, words[codes] if words.size else codes, [])

    def rows(self, batch: Batch) -> tuple[Integers, list[str]]:
        """The group of each row, and the labels of the groups; of several columns, with commas between them."""
        codes, labels = _texts(batch[self.by[0]])
        for name in self.by[1:]:
            more, others = _texts(batch[name])
            pairs, codes = np.unique(codes * len(others) + more, return_inverse=True)
            labels = [f"{labels[pair // len(others)]}, {others[pair % len(others)]}" for pair in pairs.tolist()]
        known: dict[str, int] = {}
        table = np.array([known.setdefault(label, len(known)) for label in labels], np.int64)
        return (table[codes] if table.size else codes.astype(np.int64)), list(known)

    def count(self, part: Grouped, batch: Batch) -> KeyedCounts:
        """What rows give to each group that occurs: their number, then the counts of each further statistic."""
        codes, labels = self.rows(batch)
        sizes = np.bincount(codes, minlength=len(labels))
        present = np.flatnonzero(sizes)
        others = [statistic for _, statistic in self._others(part)]
        if not others:
            return KeyedCounts([labels[place] for place in present.tolist()], sizes[present][:, None])
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(labels) + 1)).tolist()
        matrix = np.zeros((present.size, 1 + sum(statistic.size for statistic in others)), np.int64)
        for row, place in enumerate(present.tolist()):
            rows = batching.take(batch, order[ends[place] : ends[place + 1]])
            matrix[row] = np.concatenate([[sizes[place]], *(count_rows(statistic, rows) for statistic in others)])
        return KeyedCounts([labels[place] for place in present.tolist()], matrix)

    def _others(self, part: Grouped) -> list[tuple[str, AdditiveStatistic]]:
        """The statistics besides the count, as their noise is drawn."""
        return [(name, item) for name, item in part.drawn.items() if name != self.naming]  # type: ignore[misc]

    def prepare(self, part: Grouped, counts: KeyedCounts) -> KeyedCounts:
        """Sums of any size can be published."""
        return counts

    def draw(self, part: Grouped, counts: KeyedCounts, words: Words) -> dict[str, Result]:
        """The named groups in the order of their labels, with their noisy numbers, then the sums of these groups."""
        simulated, others = not words.secure, self._others(part)
        first, *own = words.split(1 + len(others)) if others else [words]
        labels, values = self.named(counts.column(0), first)
        results = {self.naming: self._result(labels, values, simulated)}
        place = 1
        for (name, statistic), noise in zip(others, own, strict=True):
            vectors = [counts[label][place : place + statistic.size] for label in labels]
            results[name] = self._sums(part.statistics[name], statistic, labels, vectors, noise)
            place += statistic.size
        return {name: results[name] for name in part.statistics}

    def named(self, counts: Mapping[str, int], words: Words) -> tuple[list[str], Integers]:
        """The labels of the groups that are named, in order, and their numbers of people with noise."""
        labels = sorted(counts)
        noisy = cut([counts[name] for name in labels]) + self.noise.draw(len(labels), words.stream())
        above = np.flatnonzero(noisy > self.threshold)
        return [labels[place] for place in above], noisy[above]

    def _result(self, labels: list[str], values: Integers, simulated: bool) -> Result:
        """The result of named groups with noisy numbers."""
        noise = self.noise

        def ends(level: float) -> Any:
            half = noise.half_width(level)
            return np.stack([values - half, values + half], axis=1)

        notes = [
            f"groups above {counted(noise.threshold, self._noun)} with noise are named; counts near that lean upwards"
        ]
        if self.person is not None:
            notes.append(self.person.describe())
        return Result(
            name=self.name,
            values=values,
            labels=tuple(labels),
            standard_error=np.array(noise.standard_error),
            guarantee=self.guarantee,
            simulated=simulated,
            statistic=self.described(),
            ends=ends,
            notes=tuple(notes),
        )

    def described(self) -> dict[str, Any]:
        """The public description of the numbers of people."""
        neighbours = self.guarantee.neighbours.removeprefix("person-")
        privacy = {"epsilon": self.guarantee.epsilon, "delta": self.guarantee.delta, "neighbours": neighbours}
        person = {} if self.person is None else {"person": self.person.to_dict()}
        return {"kind": "groups", "by": list(self.by), **privacy, **person}

    def _sums(
        self, declared: Statistic, statistic: AdditiveStatistic, labels: list[str], vectors: list[Counts], words: Words
    ) -> Result:
        """The results of the named groups as one; a last part, of no group, is cut off: there may be no other."""
        nothing = np.zeros(statistic.size, np.int64)
        parts = zip([*vectors, nothing], words.split(len(vectors) + 1), strict=True)
        result = by_group(list(self.by), [*labels, None], [statistic.publish(part, own) for part, own in parts])
        ends = result.ends
        described = declared.to_dict() | {"by": list(self.by)}
        notes = result.notes
        if self.person is not None:
            described["person"], notes = self.person.to_dict(), (*notes, self.person.describe())
        return dataclasses.replace(
            result,
            values=result.values[:-1],
            labels=tuple(labels),
            standard_error=result.standard_error[:-1],
            ends=None if ends is None else lambda level: ends(level)[:-1],
            guarantee=dataclasses.replace(declared.guarantee, neighbours=self.guarantee.neighbours),
            statistic=described,
            notes=notes,
            draws=None,  # they have passed a threshold
        )

    def label(self, name: str, statistic: Statistic, person: Person | None) -> str:
        """The numbers of people are called so, unless the count has a name of its own."""
        return self.name if name == self.naming == statistic.title else named_by(name, self.by)

    def lines(self, name: str, line: Line) -> Line:
        """Naming groups proves no ρ."""
        return line._replace(rho=None) if name == self.naming else line

    def prospect(self, name: str, part: Grouped, n: int | None) -> Prospect:
        """The error to expect, and how many people a group needs to be named."""
        if name != self.naming:
            statistic = part.statistics[name]
            prospect = Prospect.of(name, part.drawn[name], 1, n)
            return prospect._replace(values=None, epsilon=statistic.epsilon, delta=statistic.delta)
        error = f"± {number(float(f'{self.noise.standard_error:.3g}'))}, above {counted(self.threshold, self._noun)}"
        label = self.label(name, part.statistics[name], self.person)
        return Prospect(label, "selection", self.guarantee.epsilon, self.guarantee.delta, None, error)

    def loss_between(self, part: Grouped, first: Any, second: Any) -> None:
        """Unbounded where a group is named; see `law`."""

    def law(self, part: Grouped, counts: KeyedCounts) -> dict[str, NamedLaw]:
        """The law of each group that has people, by its label."""
        people = counts.column(0)
        return {label: NamedLaw(people[label], self.noise) for label in sorted(people)}

    def to_dict(self) -> dict[str, Any]:
        """The columns alone: nothing is declared of them."""
        return {"by": list(self.by)}


def unknown_groups(by: Any) -> bool:
    """Whether `by` names columns and declares no groups."""
    return isinstance(by, str) or (isinstance(by, Sequence) and bool(by) and all(isinstance(name, str) for name in by))


def one_row_in_each(person: Person | None) -> Person | None:
    """A person of whom one row in a group counts, because thresholds count people."""
    if person is None:
        return None
    if person.rows_per_group not in (None, 1) or (person.groups is None and person.rows is None):
        raise ParameterError(
            "Groups that are not declared are named by their number of people: say in how many groups a person "
            f"counts, groups=3, and leave rows_per_group at 1, as in Person({person.column!r}, groups=3, "
            "rows_per_group=1)."
        )
    return Person(person.column, person.rows, person.groups, 1, person.missing)


def _check_sum(name: str, statistic: Any) -> None:
    if not isinstance(statistic, AdditiveStatistic) or statistic.size > MOST_NUMBERS or statistic.column is None:
        raise ParameterError(
            f"{name!r} cannot be published of groups that are not declared: take sums, means or variances of a column, "
            'or declare the groups, as in by={"zone": ["a", "b"]}.'
        )
    if statistic.public:
        raise ParameterError(
            f'{name!r} must have neighbours="add-remove": the sizes of groups are not public under "replace".'
        )


def _declared(by: Any) -> Schema:
    if not isinstance(by, Schema | Mapping):
        raise ParameterTypeError(
            'by must declare the groups, as in by={"sex": ["F", "M"]}, or name their columns, as in by="zone".'
        )
    schema = by if isinstance(by, Schema) else Schema(by)
    if any(attribute.domain.missing == "drop" for attribute in schema.values()):
        raise ParameterError('A record without a group cannot be dropped here: declare missing="category" or "refuse".')
    if math.prod(attribute.size for attribute in schema.values()) > MOST_GROUPS:
        raise ParameterError("There must be at most a million groups.")
    return schema


def _texts(column: Any) -> tuple[Integers, list[str]]:
    """The code of each row, and the texts behind codes, in normal form C; a gap is a text of its own."""
    if isinstance(column, DictionaryColumn):
        entries, positions = column.entries.tolist(), column.positions.astype(np.int64)
    else:
        if column.ndim != 1 or column.dtype.kind not in "buifOUM":
            raise DataTypeError("Groups must be texts or numbers.")
        if column.dtype.kind in "OU":
            entries, positions = column.tolist(), np.arange(column.size)
        else:
            distinct, positions = np.unique(column, return_inverse=True)
            entries = distinct.tolist()
    texts = [MISSING_LABEL if is_missing(value) else unicodedata.normalize("NFC", spelling(value)) for value in entries]
    return np.where(positions < 0, len(texts), positions).astype(np.int64), [*texts, MISSING_LABEL]
