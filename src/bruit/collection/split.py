"""Splitting the budget (SPL): every attribute is reported, each with a part of ε.

A person's reports on different attributes are independent given the record, so the parts add up: a person has the sum,
one attribute its own part. With d attributes the variance grows as d², which is why sampling is better. Because
everybody reports every attribute, a table of two of them can be estimated from the reports: their supports multiply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from bruit import _checks, rounding
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, ColumnDesign, Reports, Unit, variance_of
from bruit.collection.method import Method, Settled, Task
from bruit.domains import Schema
from bruit.domains.codes import Codes
from bruit.engines import memory, reports
from bruit.engines.report_parsing import Rows
from bruit.engines.sources import Source
from bruit.entropy import Words
from bruit.errors import DataError, DataTypeError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation import Estimate, Tally, Target
from bruit.estimation.cross_table import TableEstimate
from bruit.estimation.product import ProductModel, Side
from bruit.estimation.tally import NO_REPORT, Counts
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee

#: The most cells of a table from reports made apart.
MOST_CELLS = 1 << 20
#: How many entries of support are held at a time.
CHUNK = 1 << 22
#: By how much declared budgets may miss ε, as a share of it: more than that is a mistake, less is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Split(ColumnDesign):
    """Every attribute through its own mechanism.

    Parameters
    ----------
    schema, mechanisms
        As for every `Design`.
    budgets
        The part of ε of each attribute, where parts were declared; None where all have equal parts.
    """

    budgets: Mapping[str, float] | None = None
    tables_from: ClassVar[Literal["tally", "reports"] | None] = "reports"

    @property
    def card_kind(self) -> str:
        """All questions are asked."""
        return "SPL"

    def ratio(self, unit: Unit) -> Fraction:
        """The product of all ratios for a person, the largest of them for one attribute."""
        ratios = [mechanism.law.ratio for mechanism in self.mechanisms.values()]
        return math.prod(ratios, start=Fraction(1)) if unit == "person" else max(ratios)

    def epoch_budgets(self, limit: float, epsilon: float, unit: Unit) -> dict[str, float]:
        """A part for each attribute, as large a share of the whole as one report has."""
        declared = self.budgets
        scaled = None if declared is None else {name: part * (limit / epsilon) for name, part in declared.items()}
        return clean_budgets(scaled, self.schema, limit, unit)

    def together(self, parts: Sequence[Guarantee], unit: Unit) -> Guarantee:
        """The sum for a person, the largest for one attribute."""
        return sequential(parts) if unit == "person" else super().together(parts, unit)

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """What the attribute's own mechanism finds."""
        return self._own_answer(name, tally, target, guarantee, "SPL")

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """That of the attribute's own mechanism."""
        return variance_of(self.mechanisms[name], frequency, target) / n

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """Reports on different attributes are independent given the record: marginals give the joint law too."""
        return np.concatenate(
            [mechanism._simulate(people[name], generator) for name, mechanism in self.mechanisms.items()]
        )

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """The same from the table's marginals."""
        return self.simulate(marginals(table, self.schema), generator)

    def table_of_reports(
        self, names: tuple[str, ...], source: Any, target: Target, guarantee: Guarantee
    ) -> TableEstimate:
        """The product estimator of a table of two attributes."""
        return _product(self, source, names, target, guarantee)

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        for own, (name, mechanism) in zip(words.split(self.d), self.mechanisms.items(), strict=True):
            mechanism._randomize(codes[name], own.stream(), out[name])


@dataclass(frozen=True, eq=False, repr=False)
class SPL(Method):
    """Split ε among all attributes: each person answers every question.

    Parameters
    ----------
    base, mechanisms, published
        As for every `Method`.
    budgets
        The part of ε of each attribute; equal parts by default.

    Examples
    --------
    >>> import bruit
    >>> schema = {"sex": ["F", "M"], "smokes": ["no", "yes"]}
    >>> plan = bruit.Plan(schema, 1.0, SPL("GRR", budgets={"sex": 0.25, "smokes": 0.75}))
    >>> plan.mechanisms["smokes"].epsilon
    0.75
    """

    kind: ClassVar[str] = "SPL"
    words: ClassVar[str] = "each person answers all {d} questions, each with a share of ε"

    budgets: Mapping[str, float] | None = field(default=None, kw_only=True)

    def settle(self, task: Task) -> Settled:
        """Every attribute at its part of ε."""
        parts = clean_budgets(self.budgets, task.schema, task.epsilon, task.unit)
        chosen = {name: self.mechanism(task, name, parts[name]) for name in task.schema}
        declared = None if self.budgets is None else parts
        design = Split(task.schema, chosen, declared)
        return Settled(replace(self, budgets=declared), design, task.epsilon, task.unit)

    def parts(self, d: int) -> int:
        """All of them."""
        return d

    def budget_of(self, name: str) -> float | None:
        """What was declared for the attribute."""
        return self.budgets.get(name) if isinstance(self.budgets, Mapping) else None


def clean_budgets(budgets: Any, schema: Schema, epsilon: float, unit: Unit) -> dict[str, float]:
    """Budgets per attribute whose sum (for a person) or maximum (for an attribute) is ε, and never above it."""
    if budgets is None:
        part = rounding.share(epsilon, len(schema)) if unit == "person" else epsilon
        return dict.fromkeys(schema, part)
    if not isinstance(budgets, Mapping):
        raise ParameterTypeError("budgets must be a mapping from attribute to its part of ε.")
    if set(budgets) != set(schema):
        raise ParameterError("budgets must name every attribute of the schema, and no other.")
    parts = {name: _checks.positive(**{"budget": budgets[name]}) for name in schema}
    spent = sum(parts.values()) if unit == "person" else max(parts.values())
    if abs(spent - epsilon) > ROUNDING * epsilon:
        rule = "add up to epsilon" if unit == "person" else "have epsilon as their largest"
        raise ParameterError(f"budgets must {rule}, {epsilon:g}, got {spent:g}.")
    # What rounding has added is taken from the largest.
    largest = max(parts, key=lambda name: parts[name])
    while _spent(parts, unit) > Fraction(epsilon):
        parts[largest] = math.nextafter(parts[largest], 0.0)
    return parts


def _spent(budgets: Mapping[str, float], unit: Unit) -> Fraction:
    parts = [Fraction(part) for part in budgets.values()]
    return sum(parts, Fraction(0)) if unit == "person" else max(parts)


def marginals(table: Counts, schema: Schema) -> dict[str, Counts]:
    """How many people have each value of each attribute, from the joint table."""
    axes = range(table.ndim)
    return {
        name: np.asarray(table.sum(axis=tuple(axis for axis in axes if axis != place)), np.int64)
        for place, name in enumerate(schema)
    }


# Tables.


def _product(design: Split, source: Any, names: tuple[str, ...], target: Target, guarantee: Guarantee) -> TableEstimate:
    """The table of two attributes from reports by SPL: unbiased, with its exact variance."""
    if len(names) != 2:
        raise ParameterError("From SPL a table of two attributes can be had: name two.")
    if isinstance(source, Tally):
        raise DataTypeError("A table from SPL needs the reports, not a tally.")
    oracles: list[Any] = [design.mechanisms[name] for name in names]
    for name, oracle in zip(names, oracles, strict=True):
        if not hasattr(oracle, "p") or not hasattr(oracle, "joint"):
            raise ParameterError(
                f"{oracle.name} supports other values than the true one unequally often, or is no oracle: a table with "
                f"{name!r} cannot be had from its reports. Use GRR, SS or OUE."
            )
    shape = tuple(design.schema[name].size for name in names)
    if math.prod(shape) > MOST_CELLS:
        raise LimitError(f"A table from reports made apart has at most {MOST_CELLS:,} cells, not {math.prod(shape):,}.")
    tally = _counted(design, source, names, oracles, shape)
    if not tally.n:
        raise DataError(NO_REPORT)
    both, first, second = np.split(tally.counts, [math.prod(shape), math.prod(shape) + shape[0]])
    sides = (Side(oracles[0].p, oracles[0].q, oracles[0].joint), Side(oracles[1].p, oracles[1].q, oracles[1].joint))
    axes = tuple(design.schema[name].labels for name in names)
    cells = Estimate(
        model=ProductModel(both.reshape(shape), first, second, tally.n, sides),
        n=tally.n,
        refused=tally.refused,
        labels=tuple((row, column) for row in axes[0] for column in axes[1]),
        target=target,
        guarantee=guarantee,
        mechanism=f"SPL[{oracles[0].name} × {oracles[1].name}]",
        simulated=tally.simulated,
    )
    return TableEstimate(cells, names, axes)


def _counted(design: Split, source: Any, names: tuple[str, ...], oracles: list[Any], shape: tuple[int, ...]) -> Tally:
    """How many people support both of two values, and each; people with any impossible report are refused."""

    def count(rows: Rows) -> Tally:
        fine = design.valid(rows.reports)
        columns = [rows.reports[name][fine] for name in names]
        both, first, second = np.zeros(shape, np.int64), np.zeros(shape[0], np.int64), np.zeros(shape[1], np.int64)
        for _, block in memory.blocks(len(columns[0]), max(1, CHUNK // max(shape))):
            left, right = (
                oracle.supports(column[block]).astype(np.float64)
                for oracle, column in zip(oracles, columns, strict=True)
            )
            # Whole numbers below 2⁵³ as floats, so that the product is exact and fast.
            both += (left.T @ right).astype(np.int64)
            first += left.sum(axis=0).astype(np.int64)
            second += right.sum(axis=0).astype(np.int64)
        counts = np.concatenate([both.ravel(), first, second])
        refused = rows.refused + int((~fine).sum())
        return Tally(design=oracles[0].digest, counts=counts, n=int(fine.sum()), refused=refused)

    counted: Tally = reports.fold(Source.of(source), design.form, count)
    return counted
