"""What splitting, sampling and faking share: from the codes of people to reports, and from reports to counts.

A design works on codes, which are checked already, and knows nothing of documents or tables: that is the plan's side.
"""

from __future__ import annotations

import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.collection.composite import Composite
from bruit.collection.criterion import Floats
from bruit.collection.mechanisms import Mechanism
from bruit.domains import Schema
from bruit.domains.codes import Codes
from bruit.domains.domain import Domain
from bruit.engines import memory, report_parsing
from bruit.engines.report_parsing import together
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataError, ParameterError, in_column, translated
from bruit.estimation import Estimate, NumberEstimate, Tally, Target
from bruit.estimation.cross_table import TableEstimate
from bruit.estimation.tally import IMPOSSIBLE, Counts
from bruit.laws import Form
from bruit.mechanism import whole_counts
from bruit.oracles import Repeated
from bruit.privacy.guarantee import Guarantee, check_adds

#: Whom a guarantee may speak of: a whole record changes, or one attribute of it.
Unit: TypeAlias = Literal["person", "attribute"]
#: Reports by column name; the first axis is people.
Reports: TypeAlias = dict[str, NDArray[Any]]
#: What is learnt of an attribute: frequencies of categories, or the mean of a number.
Answer: TypeAlias = Estimate | NumberEstimate
#: NumPy's generator, which `Plan.simulate` makes: it draws people who do not exist, and never a person's noise.
Chance: TypeAlias = Any

#: The most cells that a joint table may have, from which people are simulated.
MOST_JOINT_CELLS = 1 << 24


class Folded(NamedTuple):
    """Counts of some reports, how many people they come from, and how many were refused."""

    counts: Counts
    n: int
    refused: int

    def __add__(self, other: Any) -> Folded:
        return Folded(self.counts + other.counts, self.n + other.n, self.refused + other.refused)


@dataclass(frozen=True, eq=False)
class Design(Composite, ABC):
    """How the answers of one person become reports.

    Parameters
    ----------
    schema
        The attributes.
    mechanisms
        What makes the answer to each attribute private, by name, in the order of the schema.
    """

    schema: Schema
    mechanisms: Mapping[str, Mechanism]

    @property
    def d(self) -> int:
        """How many attributes there are."""
        return len(self.schema)

    @property
    def bases(self) -> dict[str, str]:
        """The mechanism of each attribute, by the name that stands in brackets."""
        return {name: mechanism.name for name, mechanism in self.mechanisms.items()}

    # What a person does.

    def encode(self, table: Any) -> dict[str, Codes]:
        """Codes of every attribute, from anything whose columns are read by ``table[name]``: the only way to them."""
        columns = self.schema.columns(table)
        return {name: self.encode_column(name, column) for name, column in columns.items()}

    def encode_column(self, name: str, values: Any) -> Codes:
        """Codes of one attribute. Errors name the column."""
        with in_column(name):
            return self._encoders[name].encode(values)

    @cached_property
    def _encoders(self) -> dict[str, Mechanism | Domain]:
        """Who reads the values of each attribute: its mechanism, or the grid whose cells an oracle takes."""
        return {
            name: mechanism if mechanism.domain == self.schema[name].domain else self.schema[name].domain
            for name, mechanism in self.mechanisms.items()
        }

    def randomize(self, codes: Mapping[str, Codes], words: Words) -> Reports:
        """Reports of people with codes that `encode` gave; block i of them uses up part i of the words."""
        n = people_of_columns(codes)
        out = self.empty_reports(n)
        of_blocks = self._begin(words, out)

        def write(index: int, block: slice) -> None:
            people = {name: column[block] for name, column in codes.items()}
            reports = {name: column[block] for name, column in out.items()}
            self._randomize(people, of_blocks.part(index), reports)

        memory.each_block(n, write)
        return out

    # What the collector does.

    def count(self, reports: Any) -> Folded:
        """Counts of reports; a person of whom any report is impossible is refused."""
        parsed = {name: report_parsing.parse(form, report_column(reports, name)) for name, form in self.form.items()}
        people_of_columns({name: column.reports for name, column in parsed.items()}, "The reports")
        rows = together(parsed)
        blocks = memory.blocks(people_of_columns(rows.reports), max(memory.BLOCK, 4 * self.cells))

        def work(block: tuple[int, slice]) -> Folded:
            return self._count({name: column[block[1]] for name, column in rows.reports.items()})

        nothing = Folded(np.zeros(self.cells, np.int64), 0, rows.refused)
        return functools.reduce(Folded.__add__, memory.in_order(work, blocks), nothing)

    @abstractmethod
    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Which people can have sent their reports, of reports in their form."""

    @cached_property
    def form(self) -> dict[str, Form]:
        """The dtype and bytes of each column of reports."""
        return {name: Form.of(column) for name, column in self.empty_reports(0).items()}

    @property
    def cells(self) -> int:
        """How many counts a tally has."""
        return sum(mechanism._cells() for mechanism in self.mechanisms.values())

    @cached_property
    def places(self) -> dict[str, slice]:
        """Which counts of a tally belong to each attribute; they end with the last count."""
        sizes = [mechanism._cells() for mechanism in self.mechanisms.values()]
        ends = itertools.accumulate(sizes, initial=self.cells - sum(sizes))
        return {name: slice(*pair) for name, pair in zip(self.mechanisms, itertools.pairwise(ends), strict=True)}

    def reported(self, name: str, tally: Tally) -> int:
        """How many reports on an attribute a tally counts."""
        return tally.n

    def reported_on(self, part: str, tally: Tally) -> int:
        """How many reports on a part a tally counts, of those that `parts` names."""
        return self.reported(part, tally)

    def check(self, tally: Tally) -> None:
        """An error if no reports can have these counts."""
        for name, mechanism in self.mechanisms.items():
            part = self._part(name, tally)
            if not mechanism._is_possible(part):
                raise DataError(IMPOSSIBLE)

    @abstractmethod
    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """What a tally tells about an attribute."""

    def table(self, names: tuple[str, ...], tally: Tally, target: Target, guarantee: Guarantee) -> TableEstimate:
        """What a tally tells about a table, of a design that has `tables_from` a tally."""
        raise ParameterError("A tally of these reports tells nothing about a table.")

    def table_of_reports(self, names: tuple[str, ...], source: Any, target: Target, guarantee: Guarantee) -> Any:
        """What the reports themselves tell about a table, of a design that has `tables_from` reports."""
        raise ParameterError("These reports tell nothing about a table.")

    # Planning.

    @abstractmethod
    def ratio(self, unit: Unit) -> Fraction:
        """The largest ratio between the probabilities of the same reports from two records that differ so, exactly."""

    @abstractmethod
    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """The variance of the estimates of an attribute with these frequencies; of the mean, for a number."""

    @abstractmethod
    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """Counts of a tally of people of whom only the marginals are known; each attribute alone has its exact law."""

    @abstractmethod
    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """Counts of a tally of people whose joint table is known, with their exact joint law."""

    def simulated(self, counts: Any, rng: Randomness, digest: str) -> Tally:
        """The tally, with this digest, of people with these counts: the joint table, or marginals by attribute."""
        generator = Entropy.resolve(rng, "simulate", digest).generator()
        people = self._people(counts)
        if isinstance(people, Mapping):
            drawn = self.simulate(people, generator)
        else:
            drawn = self.simulate_jointly(people, generator)
        return Tally(design=digest, counts=drawn, n=people_in(people), simulated=True)

    def simulated_strata(self, strata: Sequence[Any], rng: Entropy, digest: str) -> list[Tally]:
        """The same of people who are told apart by what they send in clear."""
        return [self.simulated(counts, rng, digest) for counts in strata]

    def _people(self, counts: Any) -> Mapping[str, Counts] | Counts:
        """Checked counts: marginals by attribute, or the joint table."""
        return (_marginal_counts if isinstance(counts, Mapping) else _joint_counts)(self.schema, counts)

    # What asking again takes.

    def epoch_budgets(self, limit: float, epsilon: float, unit: Unit) -> dict[str, float]:
        """The most that all reports of an epoch may tell on each attribute, where a person's may tell `limit`."""
        return dict.fromkeys(self.schema, limit)

    def together(self, parts: Sequence[Guarantee], unit: Unit) -> Guarantee:
        """What the reports on all attributes tell, from what those on each do: here a person reports on one."""
        check_adds(parts)
        return max(parts, key=lambda part: part.epsilon)

    def refresh(self, memos: Reports, repeated: Mapping[str, Repeated], words: Words) -> Reports:
        """Reports of memos in their form, which are valid."""
        raise ParameterError("These reports cannot be made again from memos.")

    def attribute_codes(self, name: str, codes: Counts) -> dict[str, Counts]:
        """Values of what people reported on, as values of the attributes; of an attribute they are its own."""
        return {name: codes}

    def describe(self) -> dict[str, Any]:
        """What is done to each attribute, for documents."""
        return {name: self._describe(name) for name in self.schema}

    def _describe(self, name: str) -> dict[str, Any]:
        return {key: value for key, value in self.mechanisms[name].to_dict().items() if key != "domain"}

    # What each design fills in.

    @abstractmethod
    def empty_reports(self, n: int) -> Reports:
        """Room for the reports of n people."""

    def _begin(self, words: Words, out: Reports) -> Words:
        """Write what is drawn for all people at once; the words that are left for their blocks."""
        return words

    @abstractmethod
    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        """Write the reports of one block of people."""

    @abstractmethod
    def _count(self, reports: Reports) -> Folded:
        """Counts of one block of reports in their form."""

    def _part(self, name: str, tally: Tally) -> Tally:
        """The tally of one attribute alone, as its mechanism would have made it."""
        return Tally(
            design=self.mechanisms[name].digest,
            counts=tally.counts[self.places[name]],
            n=self.reported(name, tally),
            refused=tally.refused,
            simulated=tally.simulated,
        )

    def _own_answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee, kind: str) -> Answer:
        """The answer that the attribute's mechanism gives by itself, under the name and promise of the whole."""
        mechanism = self.mechanisms[name]
        answer: Answer = mechanism.estimate(self._part(name, tally), target)
        answer = replace(answer, name=name, guarantee=guarantee, mechanism=f"{kind}[{mechanism.name}]")
        return self._labelled(name, answer)

    def _labelled(self, name: str, answer: Answer) -> Answer:
        """An answer with the labels of the attribute: an oracle may know its codes only."""
        return replace(answer, labels=self.schema[name].labels) if isinstance(answer, Estimate) else answer


@dataclass(frozen=True, eq=False)
class ColumnDesign(Design):
    """A design whose reports are a column per attribute, under the attribute's own name."""

    def empty_reports(self, n: int) -> Reports:
        """Room for the reports of n people."""
        return {name: mechanism._empty_reports(n) for name, mechanism in self.mechanisms.items()}

    @abstractmethod
    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        """Write the reports of one block of people."""

    def refresh(self, memos: Reports, repeated: Mapping[str, Repeated], words: Words) -> Reports:
        """Each column by itself."""
        own = words.split(self.d)
        return {name: repeated[name].report(memos[name], part) for name, part in zip(self.schema, own, strict=True)}

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Those of whom every report is possible."""
        return np.asarray(
            np.all([mechanism.valid(reports[name]) for name, mechanism in self.mechanisms.items()], axis=0)
        )

    def _count(self, reports: Reports) -> Folded:
        n = len(next(iter(reports.values())))
        parts = [mechanism._count(reports[name]) for name, mechanism in self.mechanisms.items()]
        if not any(refused for _, refused in parts):
            return Folded(np.concatenate([counts for counts, _ in parts]), n, 0)
        # Seldom: find the people with an impossible report, and count the others.
        fine = self.valid(reports)
        kept = [mechanism._count(reports[name][fine])[0] for name, mechanism in self.mechanisms.items()]
        return Folded(np.concatenate(kept), int(fine.sum()), n - int(fine.sum()))


def report_column(reports: Any, name: str) -> Any:
    """A column of reports."""
    # Every library of frames has an error of its own for this.
    with translated(Exception, lambda _: DataError(f"The reports must have a column {name!r}, as the plan says.")):
        return reports[name]


def variance_of(mechanism: Mechanism, frequency: Any, target: Target) -> Floats:
    """The variance with one person; it shrinks as 1/n."""
    return np.asarray(mechanism.variance(frequency, 1, target))


def people_of_columns(columns: Mapping[str, Any], what: str = "The table") -> int:
    """How many people columns speak of: all must have the same length."""
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"{what} must have as many entries in every column, one per person.")
    return lengths.pop()


def people_in(people: Mapping[str, Counts] | Counts) -> int:
    """How many people counts are of."""
    return int((next(iter(people.values())) if isinstance(people, Mapping) else people).sum())


def _marginal_counts(schema: Schema, counts: Mapping[str, Any]) -> dict[str, Counts]:
    if set(counts) != set(schema):
        raise DataError("counts must name every attribute of the schema, and no other.")
    people = {name: whole_counts(counts[name], attribute.size) for name, attribute in schema.items()}
    if len({int(column.sum()) for column in people.values()}) > 1:
        raise DataError("counts must have the same sum for every attribute: they are the same people.")
    return people


def _joint_counts(schema: Schema, counts: Any) -> Counts:
    table = np.asarray(counts)
    shape = tuple(attribute.size for attribute in schema.values())
    if math.prod(shape) > MOST_JOINT_CELLS:
        raise ParameterError(
            f"A joint table may have at most {MOST_JOINT_CELLS:,} cells, these attributes have {math.prod(shape):,}: "
            "simulate from marginals, a mapping from attribute to counts."
        )
    if table.shape != shape:
        raise DataError("counts must be a table with one axis per attribute, as long as it has values.")
    return whole_counts(table.ravel(), table.size).reshape(shape)
