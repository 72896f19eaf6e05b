"""Sampling k of d attributes (SMPk): each person reports k attributes, drawn at random, each with a part of ε.

Which ones they are says nothing about the person, so the guarantee is that of k reports: the parts add up. Per
attribute there are n·k/d reports at ε/k. With k = 1 that is SMP, with k = d it is SPL; for a large ε the least error is
between the two. ``several.proof.md`` has the arguments.

Reports have two columns for each of the k: ``attribute_1``, ``report_1``, ``attribute_2``, …, in the order of the
schema, each pair as SMP has it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, rounding
from bruit.collection import criterion
from bruit.collection.composite import AttributeReports, Table
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, Design, Folded, Reports, Unit
from bruit.collection.method import Method, Settled, Task
from bruit.collection.sample import ATTRIBUTE, REPORT, SMP, Sample, some
from bruit.collection.split import SPL
from bruit.domains.codes import Codes
from bruit.entropy import Words
from bruit.errors import DataError, LimitError, ParameterError
from bruit.estimation import Tally, Target
from bruit.estimation.tally import IMPOSSIBLE, Counts, exact_total
from bruit.privacy.guarantee import Guarantee

#: The most attributes of which the best number to sample is looked for: every number is tried.
MOST_COMPARED = 32


@dataclass(frozen=True, eq=False)
class SeveralSampled(Design):
    """Some attributes of each person, as many for everybody, each through its own mechanism.

    Parameters
    ----------
    schema, mechanisms
        As for every `Design`.
    sampled
        k: how many attributes a person reports, all sets of as many equally likely.
    """

    sampled: int
    repeats: ClassVar[bool] = False
    is_tested: ClassVar[bool] = False

    def ratio(self, unit: Unit) -> Fraction:
        """The product of the k largest ratios for a person, the largest for one attribute."""
        ratios = sorted((mechanism.law.ratio for mechanism in self.mechanisms.values()), reverse=True)
        return math.prod(ratios[: self.sampled], start=Fraction(1)) if unit == "person" else ratios[0]

    @property
    def draws(self) -> tuple[int, ...]:
        """All attributes are drawn alike."""
        return (1,) * self.d

    def chance(self, name: str) -> float:
        """How often an attribute is drawn."""
        return self.sampled / self.d

    @cached_property
    def _single(self) -> Sample:
        """What one pair of columns is: a report on one attribute, and which."""
        return Sample(self.schema, self.mechanisms, dict.fromkeys(self.schema, 1))

    # What the collector does.

    @property
    def cells(self) -> int:
        """How many people reported on each attribute, and then the counts of each."""
        return self.d + super().cells

    def reported(self, name: str, tally: Tally) -> int:
        """How many people reported on an attribute."""
        return self._single.reported(name, tally)

    def check(self, tally: Tally) -> None:
        """Everybody counted reported on k attributes, and on none of them twice."""
        sizes = tally.counts[: self.d]
        if exact_total(sizes) != self.sampled * tally.n or int(sizes.max()) > tally.n:
            raise DataError(IMPOSSIBLE)
        super().check(tally)

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """What the attribute's own mechanism finds, of those who reported on it: a random part of all, as with SMP."""
        answer = self._single.answer(name, tally, target, guarantee)
        return replace(answer, mechanism=f"SMP{self.sampled}[{self.mechanisms[name].name}]")

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """That of the attribute's own mechanism, on average over how many people report on it."""
        return self._single.variance_of_some(name, frequency, n, self.chance(name), target)

    def by_attribute(self, reports: Mapping[str, NDArray[Any]]) -> Iterator[AttributeReports]:
        """The people who reported on each attribute, in their order."""
        for parts in zip(*(self._single.by_attribute(pair) for pair in self._pairs(reports)), strict=True):
            people = np.concatenate([part.people for part in parts])
            order = np.argsort(people, kind="stable")
            yield AttributeReports(
                parts[0].name, people[order], np.concatenate([part.reports for part in parts])[order]
            )

    # The law.

    def _columns(self, widths: list[int]) -> int:
        return sum(math.prod(some_widths) for some_widths in itertools.combinations(widths, self.sampled))

    def _row(self, true: Table, laws: list[Table]) -> Iterator[Fraction]:
        share = Fraction(1, math.comb(self.d, self.sampled))
        for rows in itertools.combinations(true, self.sampled):
            yield from (math.prod(combination, start=share) for combination in itertools.product(*rows))

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """Who reports on an attribute is a random part of the people; attributes share only how many they are."""
        n = int(next(iter(people.values())).sum())
        sizes = self._drawn(np.array([n]), generator)
        chosen = {
            name: some(people[name], int(size[0]), generator) for name, size in zip(self.schema, sizes, strict=True)
        }
        return self._single._simulate_chosen(chosen, generator)

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """The people of every cell of the table draw their attributes."""
        cells = table.ravel()
        held = np.flatnonzero(cells)
        where = np.unravel_index(held, table.shape)
        chosen = {
            name: np.bincount(where[place], weights=drawn, minlength=table.shape[place]).astype(np.int64)
            for place, (name, drawn) in enumerate(zip(self.schema, self._drawn(cells[held], generator), strict=True))
        }
        return self._single._simulate_chosen(chosen, generator)

    def _drawn(self, people: Counts, generator: Chance) -> Iterator[Counts]:
        """How many people of each kind report on each attribute, one after the other.

        With r attributes yet to name, of m that are left, the next one is named with probability r/m.
        """
        waiting = np.zeros((self.sampled + 1, people.size), np.int64)  # by how many they have yet to name
        waiting[self.sampled] = people
        for left in range(self.d, 0, -1):
            shares = np.minimum(np.arange(self.sampled + 1) / left, 1.0)
            named = np.asarray(generator.binomial(waiting, shares[:, None]), np.int64)
            waiting -= named
            waiting[:-1] += named[1:]
            yield named.sum(axis=0)

    # Reports.

    def empty_reports(self, n: int) -> Reports:
        """Room for the reports of n people."""
        pairs = [self._single.empty_reports(n) for _ in range(self.sampled)]
        return {f"{name}_{number}": column for number, pair in enumerate(pairs, 1) for name, column in pair.items()}

    def _pairs(self, reports: Mapping[str, NDArray[Any]]) -> list[Reports]:
        """The columns, two and two, as SMP calls them."""
        return [
            {name: reports[f"{name}_{number}"] for name in (ATTRIBUTE, REPORT)} for number in range(1, self.sampled + 1)
        ]

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        pairs = self._pairs(out)
        n = len(pairs[0][ATTRIBUTE])
        *own, choice = words.split(self.d + 1)
        stream, named = choice.stream(), np.zeros(n, np.int64)
        for place, (name, mechanism) in enumerate(self.mechanisms.items()):
            # Of m attributes that are left, the next is one of the r that a person has yet to name: r of m numbers.
            chosen = stream.integers(self.d - place, n) < (self.sampled - named).astype(np.uint64)
            people = np.flatnonzero(chosen)
            reports = mechanism._empty_reports(people.size)
            mechanism._randomize(codes[name][people], own[place].stream(), reports)
            for number, pair in enumerate(pairs):
                rows = named[people] == number
                pair[ATTRIBUTE][people[rows]] = place
                self._single._write(people[rows], reports[rows], pair)
            named[people] += 1

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Those of whom every report is one of the attribute that it names, and who name k in their order."""
        pairs = self._pairs(reports)
        fine = np.all([self._single.valid(pair) for pair in pairs], axis=0)
        for first, second in itertools.pairwise(pairs):
            fine &= first[ATTRIBUTE] < second[ATTRIBUTE]
        return np.asarray(fine)

    def _count(self, reports: Reports) -> Folded:
        fine = self.valid(reports)
        counted = [
            self._single._count({name: column[fine] for name, column in pair.items()}) for pair in self._pairs(reports)
        ]
        n = int(fine.sum())
        return Folded(np.sum([part.counts for part in counted], axis=0), n, len(fine) - n)


@dataclass(frozen=True, eq=False, repr=False)
class SMPk(Method):
    """Sample k attributes: each person answers k questions, drawn at random, each with a share of ε.

    Parameters
    ----------
    base, mechanisms, published
        As for every `Method`.
    sampled
        k: how many attributes a person reports. None for the number of least error, from one (SMP) to all (SPL).

    Examples
    --------
    >>> import bruit
    >>> schema = {"sex": ["F", "M"], "smokes": ["no", "yes"], "degree": ["none", "school", "college"]}
    >>> [str(bruit.Plan(schema, epsilon, SMPk()).method) for epsilon in (1.0, 6.0)]
    ['SMP[ADP]', 'SPL[ADP]']
    """

    kind: ClassVar[str] = "SMPk"
    words: ClassVar[str] = "each person answers {k} of the {d} questions, chosen by chance, each with a share of ε"

    sampled: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampled is not None:
            _checks.integer(low=2, sampled=self.sampled)

    def __str__(self) -> str:
        return super().__str__() if self.sampled is None else f"SMP{self.sampled}[{self.base}]"

    def in_words(self, d: int) -> str:
        """What is done with the d questions of a person."""
        return self.words.format(d=d, k=self.sampled or "some")

    def parts(self, d: int) -> int:
        """As many as a person reports; perhaps all, where the number is looked for."""
        return self.sampled or d

    def why_no_table(self) -> str:
        """Pairs of attributes are reported, and not counted."""
        return f"{self} gives each attribute by itself: for a table take TAB[ADP] or SPL[ADP]."

    def settle(self, task: Task) -> Settled:
        """Every attribute at its share of ε; with the number of attributes of least error, where none is named."""
        return self._best(task) if self.sampled is None else self._sampled(task, self.sampled)

    def _sampled(self, task: Task, sampled: int) -> Settled:
        d, base = len(task.schema), self.base
        if sampled >= d:
            raise ParameterError(
                f"{self} draws {sampled} of {d} attributes: draw fewer than there are, as in SMP{d - 1}[{base}], "
                f"or report every one, with SPL[{base}]."
                if d > 2
                else f"{self} draws {sampled} of 2 attributes: take SMP[{base}], or SPL[{base}] for both."
            )
        part = rounding.share(task.epsilon, sampled) if task.unit == "person" else task.epsilon
        chosen = {name: self.mechanism(task, name, part) for name in task.schema}
        return Settled(self, SeveralSampled(task.schema, chosen, sampled), task.epsilon, task.unit)

    def _best(self, task: Task) -> Settled:
        """The number of attributes of least error, from one (SMP) to all (SPL), by the criterion of ADP."""
        d = len(task.schema)
        if d > MOST_COMPARED:
            raise LimitError(
                f"The best k is looked for among at most {MOST_COMPARED} attributes, this schema has {d:,}: "
                f"name k, as in SMP2[{self.base}]."
            )

        def error(option: Settled) -> float:
            return criterion.plan_error(
                {
                    name: option.design.variance(name, own, criterion.MANY, "population")
                    for name, own in task.frequencies.items()
                }
            )

        return criterion.least((self._with(number, d).settle(task) for number in range(1, d + 1)), error)

    def _with(self, number: int, d: int) -> Method:
        """The method in which a person reports this many of d attributes."""
        common: dict[str, Any] = {"mechanisms": self.mechanisms, "published": self.published}
        if number == 1:
            return SMP(self.base, **common)
        return SPL(self.base, **common) if number == d else SMPk(self.base, number, **common)
