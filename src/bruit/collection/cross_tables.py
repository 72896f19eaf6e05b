"""Asked tables (TAB): each person reports one cell of one table of attributes, drawn at random, with all of ε.

Reports about single attributes, however they are drawn, have a law that depends on the margins alone: SMP, RS+FD and
RS+RFD can tell nothing of how two attributes go together. Here what is drawn is a table, a pair of attributes unless
others are declared, and what is reported is the person's cell of it. Which table it is says nothing about the person,
so the guarantee is that of the one report: all tables together cost one ε.

A table is treated as an attribute whose values are its cells, so that reports and counts are those of `Sample`: the
column ``attribute`` has the number of the table.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.cards import CardQuestion
from bruit.collection import criterion, mechanisms
from bruit.collection.composite import TABLE_LIMIT as MATRIX_LIMIT
from bruit.collection.composite import AttributeReports, Table
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, Design, Folded, Reports, Unit
from bruit.collection.mechanisms import ADAPTIVE, Mechanism
from bruit.collection.method import Method, Settled, Task
from bruit.collection.sample import Sample, clean_weights
from bruit.domains import Categories, Schema
from bruit.domains.codes import Codes, code_dtype
from bruit.domains.schema import clean_tables
from bruit.entropy import Words
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import Estimate, Tally, Target, contrasts, intervals
from bruit.estimation.contrasts import Names
from bruit.estimation.cross_table import TableEstimate
from bruit.estimation.linear import MarginModel, MarginPart
from bruit.estimation.support import COVARIANCE_LIMIT
from bruit.estimation.tally import Counts
from bruit.privacy.guarantee import Guarantee

#: The most cells of a table, and the most tables.
MOST_CELLS = 1 << 24
MOST_TABLES = 1024
#: The largest weight of a table where shares are computed.
FINEST = 1000


@dataclass(frozen=True, eq=False)
class CrossTables(Design):
    """One table of each person through its own oracle.

    Parameters
    ----------
    schema
        The attributes.
    mechanisms
        What makes the cell of each table private, by the name of the table.
    tables
        The attributes of each table.
    drawn
        The tables as attributes of which one is drawn.
    """

    tables: tuple[Names, ...]
    drawn: Sample
    repeats: ClassVar[bool] = False
    tables_from: ClassVar[Literal["tally", "reports"] | None] = "tally"

    @property
    def card_kind(self) -> str:
        """Of several tables one is drawn as one of several questions is, and a single one is a question alone."""
        return "SMP"

    @property
    def parts(self) -> dict[str, Names]:
        """The attributes of each table."""
        return {title(names): names for names in self.tables}

    @property
    def counted_tables(self) -> tuple[Names, ...]:
        """The tables that a tally tells about."""
        return self.tables

    def shape(self, names: Names) -> tuple[int, ...]:
        """How many values each attribute of a table has."""
        return tuple(self.schema[name].size for name in names)

    # What a person does.

    def encode_column(self, name: str, values: Any) -> Codes:
        """Codes of one attribute."""
        return self.schema[name].encode(values)

    def mechanism_name(self, name: str) -> str:
        """The oracles of the tables that an attribute is in."""
        used = [self.mechanisms[title(names)].name for names in self.tables if name in names]
        return ", ".join(dict.fromkeys(used))

    def gives(self, name: str) -> str:
        """Cells are categories."""
        return "frequency"

    def codes_of(self, name: str, codes: NDArray[Any]) -> Codes:
        """The codes of an attribute as this design reads them."""
        return codes.astype(code_dtype(max(self.schema[name].size, 2)))

    def empty_reports(self, n: int) -> Reports:
        """Room for the reports of n people."""
        return self.drawn.empty_reports(n)

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        self.drawn._randomize(self._cells_of(codes), words, out)

    def _cells_of(self, codes: Mapping[str, Codes]) -> dict[str, Codes]:
        """The cell of each person in every table."""
        cells = {}
        for names in self.tables:
            columns = [np.asarray(codes[name], np.int64) for name in names]
            cell = np.asarray(np.ravel_multi_index(columns, self.shape(names)), np.int64)
            cells[title(names)] = self.mechanisms[title(names)].codes_of(cell)
        return cells

    # What the collector does.

    @property
    def cells(self) -> int:
        """How many people reported on each table, and then the counts of each."""
        return self.drawn.cells

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Those whose report is one of the table that they name."""
        return self.drawn.valid(reports)

    def _count(self, reports: Reports) -> Folded:
        return self.drawn._count(reports)

    def check(self, tally: Tally) -> None:
        """Everybody counted reported on one table."""
        self.drawn.check(tally)

    def reported(self, name: str, tally: Tally) -> int:
        """How many people reported on a table with this attribute."""
        return sum(self.drawn.reported(title(names), tally) for names in self.tables if name in names)

    def reported_on(self, part: str, tally: Tally) -> int:
        """How many people reported on a table."""
        return self.drawn.reported(part, tally)

    def table(self, names: Names, tally: Tally, target: Target, guarantee: Guarantee) -> TableEstimate:
        """What a tally tells about a table, its axes in the order of these names."""
        own = next((table for table in self.tables if set(table) == set(names) and len(names) == len(table)), None)
        if own is None:
            known = ", ".join(title(table) for table in self.tables[:10])
            raise ParameterError(f"This plan does not ask for that table: it asks for {known}.")
        if not self.drawn.reported(title(own), tally):
            raise DataError(f"Nobody was asked about {title(own)!r}: there is nothing to estimate it from.")
        cells = self._cells_estimate(own, tally, target, guarantee)
        axes = tuple(self.schema[name].labels for name in own)
        return reordered(TableEstimate(cells, own, axes), names)

    def _cells_estimate(self, names: Names, tally: Tally, target: Target, guarantee: Guarantee) -> Estimate:
        estimate: Any = self.drawn.answer(title(names), tally, target, guarantee)
        labels = tuple(itertools.product(*(self.schema[name].labels for name in names)))
        kind = estimate.mechanism.replace("SMP[", "TAB[", 1)
        cells: Estimate = replace(estimate, labels=labels, mechanism=kind)
        return cells

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """The margin of an attribute, from all tables with it, by inverse variance."""
        tables = [names for names in self.tables if name in names and self.drawn.reported(title(names), tally)]
        if not tables:
            raise DataError(f"Nobody was asked about a table with {name!r}: there is nothing to estimate it from.")
        estimates = {names: self._cells_estimate(names, tally, target, guarantee) for names in tables}
        noise = {names: self._noise(names) / estimate.n for names, estimate in estimates.items()}
        sizes = {names: math.prod(self.shape(names)) for names in tables}
        weights = contrasts.margin_weights(sizes, noise, name)
        parts = [
            MarginPart(estimates[names].model, self.shape(names), names.index(name), weights[names]) for names in tables
        ]
        first = estimates[tables[0]]
        return replace(
            first,
            model=MarginModel(parts, tally.n),
            n=sum(estimate.n for estimate in estimates.values()),
            labels=self.schema[name].labels,
            name=name,
        )

    def _noise(self, names: Names) -> float:
        """The mean variance of a cell with one report, where all cells are alike."""
        cells = math.prod(self.shape(names))
        return float(np.mean(self.mechanisms[title(names)].variance(np.full(cells, 1 / cells), 1)))

    # Planning.

    def ratio(self, unit: Unit) -> Fraction:
        """The largest of all ratios: a report is about one cell of one table."""
        return self.drawn.ratio(unit)

    def attribute_ratios(self) -> dict[str, Fraction]:
        """For each attribute, that of the tables it is in."""
        return {
            name: max(self.mechanisms[title(names)].law.ratio for names in self.tables if name in names)
            for name in self.schema
        }

    def chance(self, name: str) -> float:
        """How often a table with this attribute is drawn."""
        return sum(self.drawn.chance(title(names)) for names in self.tables if name in names)

    @property
    def draws(self) -> tuple[int, ...]:
        """The weights, in the order of the tables."""
        return self.drawn.draws

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """The margin's, with the people who are expected for each table; the other attributes are evenly spread."""
        precision = np.zeros(self.schema[name].size)
        for names in self.tables:
            if name in names:
                expected = n * self.drawn.chance(title(names))
                precision += expected / self._margin_variance(names, name, np.asarray(frequency, float), target)
        return np.asarray(1 / precision)

    def _margin_variance(self, names: Names, name: str, frequency: Floats, target: Target) -> Floats:
        """The variance of the margin from one table, with one report."""
        shape, axis = self.shape(names), names.index(name)
        cells = math.prod(shape)
        even = np.full(shape, 1.0) / (cells / shape[axis])
        table = even * frequency.reshape([-1 if place == axis else 1 for place in range(len(shape))])
        oracle: Any = self.mechanisms[title(names)]
        others = tuple(place for place in range(len(shape)) if place != axis)
        if cells > COVARIANCE_LIMIT // 4 or not _knows_covariance(oracle):
            return np.asarray(oracle.variance(table.ravel(), 1, target).reshape(shape).sum(axis=others))
        model = oracle.estimate(oracle.simulate(np.ones(cells, np.int64), rng=0)).model
        whole = model.covariance(table.ravel(), target) * cells
        part = MarginPart(model, shape, axis, 1.0)
        rows = np.array([part.summed(row) for row in whole])
        return np.asarray(np.diagonal(np.array([part.summed(column) for column in rows.T])))

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """Margins do not say who has which cell."""
        raise DataError("Tables are simulated from the joint table of all attributes: margins do not tell its cells.")

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """Every cell of the joint table is divided among the tables."""
        cells = table.ravel()
        held = np.flatnonzero(cells)
        where = np.unravel_index(held, table.shape)
        chances = [self.drawn.chance(title(names)) for names in self.tables]
        split = generator.multinomial(cells[held], chances)
        order = list(self.schema)
        chosen = {}
        for place, names in enumerate(self.tables):
            cell = np.ravel_multi_index([where[order.index(name)] for name in names], self.shape(names))
            size = math.prod(self.shape(names))
            chosen[title(names)] = np.bincount(cell, weights=split[:, place], minlength=size).astype(np.int64)
        return self.drawn._simulate_chosen(chosen, generator)

    def describe(self) -> dict[str, Any]:
        """What is done to each table, for documents."""
        return self.drawn.describe()

    # What attacks and audits ask.

    def best_posterior(
        self, names: Names, name: str, codes: Mapping[str, Codes], shares: Mapping[str, Floats], words: Words
    ) -> Floats:
        """How likely the likeliest value of an attribute is, given the report on a table, of people with these codes.

        Beforehand the attributes of the table are independent, and have these shares.
        """
        shape, oracle = self.shape(names), self.mechanisms[title(names)]
        columns = [np.asarray(codes[own], np.int64) for own in names]
        cell = np.asarray(np.ravel_multi_index(columns, shape), np.int64)
        prior = functools.reduce(np.multiply.outer, [shares[own] for own in names]).ravel()
        weight = oracle.likelihood(oracle.randomize(oracle.codes_of(cell), words)) * prior
        axis = names.index(name)
        others = tuple(place + 1 for place in range(len(shape)) if place != axis)
        by_value = weight.reshape(-1, *shape).sum(axis=others)
        return np.asarray(by_value.max(axis=1) / by_value.sum(axis=1))

    def attribute_codes(self, name: str, codes: Counts) -> dict[str, Counts]:
        """Cells of a table as values of its attributes."""
        names = next(names for names in self.tables if title(names) == name)
        places = np.unravel_index(codes, self.shape(names))
        return {own: np.asarray(place, np.int64) for own, place in zip(names, places, strict=True)}

    def question(self, name: str) -> CardQuestion:
        """The question about a table, for a card."""
        names = next(names for names in self.tables if title(names) == name)
        labels = [
            ", ".join(str(label) for label in cell)
            for cell in itertools.product(*(self.schema[own].labels for own in names))
        ]
        return self.mechanisms[name].question(name, tuple(labels))

    @property
    def questions(self) -> tuple[str, ...]:
        """What a person's device asks: the tables."""
        return tuple(title(names) for names in self.tables)

    def by_attribute(self, reports: Mapping[str, NDArray[Any]]) -> Iterator[AttributeReports]:
        """The people who reported on each table."""
        return self.drawn.by_attribute(reports)

    def ends(self, name: str) -> tuple[int, int]:
        """Two codes of an attribute that are as far apart as codes can be."""
        return 0, self.schema[name].size - 1

    def log_odds(
        self, reports: Mapping[str, NDArray[Any]], first: Mapping[str, int], second: Mapping[str, int]
    ) -> Floats:
        """Ln P(reports | first) − ln P(reports | second) for every person, from the two cells of each table."""
        return self.drawn.log_odds(reports, self._record(first), self._record(second))

    def _record(self, codes: Mapping[str, int]) -> dict[str, int]:
        return {
            title(names): int(np.ravel_multi_index([codes[name] for name in names], self.shape(names)))
            for names in self.tables
        }

    def records(self) -> Iterator[tuple[int, ...]]:
        """The codes of every record of attributes."""
        return itertools.product(*(range(attribute.size) for attribute in self.schema.values()))

    def matrix(self) -> Table:
        """P(reports | record), exactly, one row per record of attributes."""
        laws = {name: mechanism.matrix() for name, mechanism in self.mechanisms.items()}
        width = sum(len(law[0]) for law in laws.values())
        if math.prod(attribute.size for attribute in self.schema.values()) * width > MATRIX_LIMIT:
            raise LimitError(f"matrix() of a plan is made for at most {MATRIX_LIMIT:,} entries, records times reports.")
        total = sum(self.drawn.weights.values())
        rows = []
        for record in self.records():
            cells = self._record(dict(zip(self.schema, record, strict=True)))
            row: list[Fraction] = []
            for name, law in laws.items():
                share = Fraction(self.drawn.weights[name], total)
                row += [share * probability for probability in law[cells[name]]]
            rows.append(row)
        return rows


@dataclass(frozen=True, eq=False, repr=False)
class TAB(Method):
    """Ask for tables: each person reports the cell of one table, drawn at random, and tells which table.

    Parameters
    ----------
    base, published
        As for every `Method`; the mechanism is an oracle.
    tables
        The tables of which one is drawn for each person, as in ``[("sex", "smokes")]``; all pairs by default.
    weights
        How often each table is drawn: ``"equal"``, ``"neyman"`` for the shares of least summed variance, or whole
        numbers by table, as in ``{("sex", "smokes"): 3, …}``.

    Examples
    --------
    >>> import bruit
    >>> schema = {"sex": ["F", "M"], "smokes": ["no", "yes"], "degree": ["none", "school", "college"]}
    >>> plan = bruit.Plan(schema, 1.0, TAB(tables=[("sex", "smokes"), ("sex", "degree")], weights="neyman"))
    >>> plan.method.weights
    {'sex × smokes': 703, 'sex × degree': 1000}
    """

    kind: ClassVar[str] = "TAB"
    words: ClassVar[str] = "each person answers the questions of one table, chosen by chance, with all of ε"
    refuses: ClassVar[tuple[str, ...]] = ("mechanisms",)

    weights: str | Mapping[str, int] | Mapping[Names, int] | None = field(default=None, kw_only=True)
    tables: Sequence[Sequence[str]] | None = field(default=None, kw_only=True)

    @classmethod
    def bases(cls, oracles: Iterable[str], numbers: Iterable[str]) -> tuple[str, ...]:
        """Oracles: a cell is a category."""
        return (*(name for name in oracles if name != "Warner"), ADAPTIVE)

    def settle(self, task: Task) -> Settled:
        """Every table at all of ε."""
        wanted = clean_tables(self.tables, task.schema, least=2)
        check_sizes(wanted, task.schema)
        cells = table_schema(wanted, task.schema)
        frequencies = criterion.expected_frequencies(cells, None)
        chosen = {
            name: mechanisms.mechanism(self.base, attribute, task.epsilon, frequencies[name])
            for name, attribute in cells.items()
        }
        shares = clean_shares(self.weights, chosen)
        drawn = Sample(cells, chosen, clean_weights(shares, cells))
        method = replace(
            self,
            weights=None if shares is None else drawn.weights,
            tables=None if self.tables is None else wanted,
        )
        return Settled(method, CrossTables(task.schema, chosen, wanted, drawn), task.epsilon, task.unit)


class ExpectedCells(NamedTuple):
    """What to expect of a table: its oracle, how many people are drawn for it, and the error of a cell."""

    title: str
    mechanism: str
    cells: int
    people: float
    half_width: float


def expected_cells(design: Any, n: int) -> list[ExpectedCells]:
    """What to expect of every table of a design with n people; nothing of a design without tables."""
    rows = []
    for names in design.counted_tables:
        people = n * design.drawn.chance(title(names))
        half = intervals.normal_quantile(0.95) * math.sqrt(design._noise(names) / people)
        oracle = design.mechanisms[title(names)]
        rows.append(ExpectedCells(title(names), oracle.name, oracle.size, people, half))
    return rows


def title(names: Sequence[str]) -> str:
    """The name of a table: ``sex × smokes``."""
    return " × ".join(names)


def reordered(table: TableEstimate, names: Names) -> TableEstimate:
    """The table if its axes have this order; another order is that of the plan."""
    if table.names != names:
        raise ParameterError(f"Name the attributes in the order of the plan: {', '.join(map(repr, table.names))}.")
    return table


def check_sizes(tables: tuple[Names, ...], schema: Schema) -> None:
    """Refuse tables that are too large, before anything is made of them."""
    if len(tables) > MOST_TABLES:
        raise LimitError(f"A plan asks for at most {MOST_TABLES:,} tables, these are {len(tables):,}: declare fewer.")
    if len({title(names) for names in tables}) < len(tables):
        raise ParameterError("Attributes must have names whose tables can be told apart: rename one.")
    for names in tables:
        cells = math.prod(schema[name].size for name in names)
        if cells > MOST_CELLS:
            raise LimitError(f"A table may have at most {MOST_CELLS:,} cells, {title(names)!r} has {cells:,}.")


def table_schema(tables: tuple[Names, ...], schema: Schema) -> Schema:
    """The tables as attributes whose values are their cells."""
    return Schema({title(names): Categories(k=math.prod(schema[own].size for own in names)) for names in tables})


def clean_shares(weights: Any, mechanisms: Mapping[str, Mechanism]) -> dict[str, int] | None:
    """Whole-number weights of the tables: ``"equal"``, ``"neyman"``, or by table; None for equal ones.

    By Neyman, a table is drawn in proportion to the root of the summed variance of its cells, which makes the variance
    summed over all tables least. Equal shares give the better distance where there are few people.
    """
    if weights is None or (isinstance(weights, str) and weights == "equal"):
        return None
    if isinstance(weights, str):
        if weights != "neyman":
            raise ParameterError('weights of tables must be "equal", "neyman", or a mapping from table to a number.')
        roots = {}
        for name, mechanism in mechanisms.items():
            even = np.full(mechanism.size, 1 / mechanism.size)
            roots[name] = math.sqrt(float(np.sum(mechanism.variance(even, 1))))
        largest = max(roots.values())
        return {name: max(1, round(FINEST * root / largest)) for name, root in roots.items()}
    if isinstance(weights, Mapping):
        return {title(name) if isinstance(name, tuple) else name: weight for name, weight in weights.items()}
    raise ParameterTypeError('weights of tables must be "equal", "neyman", or a mapping from table to a number.')


def _knows_covariance(oracle: Any) -> bool:
    return getattr(oracle, "joint", ()) is not None
