"""Which method to take, before anything is collected: every one ranked by exact error, with what it really guarantees.

All methods are compared on the same ground: the variance of estimated frequencies, the mean over the values of an
attribute and then over the attributes. ADP makes the very same least. Numbers are compared by the cells of their grid.
Where only their mean is wanted, SMP with a number mechanism is far better than any of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bruit import _checks
from bruit.collection import criterion
from bruit.collection.design import Unit
from bruit.collection.mechanisms import ADAPTIVE
from bruit.collection.method import Method, Task
from bruit.collection.plan import Plan
from bruit.collection.prior import clean_prior, prior_frequencies
from bruit.domains import Categories, Schema
from bruit.domains.schema import Questions
from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.oracles.choosing import Ranking
from bruit.tables import Column, Table, counted, decimals, percent

#: What is compared unless methods are named.
METHODS = (
    "SPL[ADP]",
    "SMP[ADP]",
    "RS+FD[GRR]",
    "RS+FD[SUE-z]",
    "RS+FD[OUE-z]",
    "RS+FD[SUE-r]",
    "RS+FD[OUE-r]",
    "RS+FD[SS]",
    "RS+FD[ADP]",
)
#: The same where a prior is given.
WITH_PRIOR = ("RS+RFD[GRR]", "RS+RFD[SUE-r]", "RS+RFD[OUE-r]", "RS+RFD[ADP]")


@dataclass(frozen=True)
class Comparison:
    """One method and what it would give.

    Parameters
    ----------
    plan
        The plan, ready to use.
    method
        Its method; with "(published)" for the calibration of the papers.
    variance
        The variance of an estimated frequency, the mean over the values of an attribute and then over the attributes.
    person, attribute
        What is guaranteed when a whole record, or one attribute of it, changes.
    guessed
        How often the best guess of one attribute of a person is right, where all values are equally likely beforehand
        and attributes have nothing to do with each other: the mean over the attributes.
    hides
        Whether the reports hide which attribute is true: the one thing that fakes buy.
    holds
        Whether ε holds for whom it was asked; the papers' calibration does not hold it for a person.
    report_bytes
        How many bytes the reports of one person take.
    """

    plan: Plan
    method: str
    variance: float
    person: float
    attribute: float
    guessed: float
    hides: bool
    holds: bool
    report_bytes: float


class Comparisons(Ranking[Comparison]):
    """Methods, least error first; prints as a table, and `best` is ready to use.

    The table's "× best" is the variance over the least among the methods that hold the ε that was asked for.

    Attributes
    ----------
    left_out
        Methods that cannot serve here, with the reason.
    """

    def __init__(self, rows: list[Comparison], *, n: int, left_out: dict[str, str]) -> None:
        super().__init__(sorted(rows, key=lambda row: row.variance), n=n, left_out=left_out)

    @property
    def best(self) -> Plan:
        """The plan of least error among those that hold what was asked."""
        return next(row.plan for row in self._rows if row.holds)

    def table(self) -> Table:
        """Every method with its error and what it really guarantees."""
        least = min((row.variance for row in self if row.holds), default=self[0].variance)
        z, broken = intervals.normal_quantile(0.95), {row.method for row in self if not row.holds}
        columns = [
            Column(
                "method",
                self._field("method"),
                kind="label",
                write=lambda name: f"{name} ✗" if name in broken else name,
            ),
            Column("variance", self._field("variance"), hidden=True),
            Column("half_width", [z * math.sqrt(row.variance) for row in self], "95 % interval ±", write=decimals(4)),
            Column("ratio", [row.variance / least for row in self], "× best", write=decimals(2)),
            Column("person", self._field("person"), "ε person", write=decimals(4)),
            Column("attribute", self._field("attribute"), "ε attribute", write=decimals(4)),
            Column("hides", self._field("hides"), kind="text", write=lambda hides: "yes" if hides else "no"),
            Column("guessed", self._field("guessed"), write=percent),
            Column("holds", self._field("holds"), hidden=True),
            Column("report_bytes", self._field("report_bytes"), hidden=True),
        ]
        notes = [] if not broken else ["✗ does not hold the ε that was asked for."]
        notes += [f"left out: {name} ({reason})" for name, reason in self.left_out.items()]
        title = f"Methods for {counted(self.n, 'person')}, by the mean variance of a frequency"
        plan = self[0].plan
        about = {"epsilon": plan.epsilon, "unit": plan.unit, "n": self.n, "left_out": self.left_out}
        return Table(title, columns, notes, about, noun="method")


def compare(
    schema: Questions,
    epsilon: float,
    n: int = 10_000,
    *,
    unit: Unit = "person",
    methods: Sequence[str | Method] | None = None,
    prior: Mapping[str, Any] | None = None,
    frequencies: Mapping[str, Any] | None = None,
    published: bool = False,
) -> Comparisons:
    """Every method for several attributes at ε, ranked by exact error, with what it really guarantees.

    Parameters
    ----------
    schema
        The attributes, as for `Plan`.
    epsilon, unit
        The most that reports may tell, and of whom: all methods are compared at the same ε of a person, or of one
        attribute.
    n
        How many people will answer. It scales all errors alike.
    methods
        Methods to compare, by name or as values; all by default.
    prior
        For RS+RFD, which is compared only where one is given.
    frequencies
        The frequencies of the values of each attribute where they are known, for which ADP then chooses; they must be
        public, because the plan shows the choice. Otherwise they are expected to be the prior, if there is one, or all
        values alike.
    published
        Whether to add the calibration of the papers for the methods with fakes, at the same nominal ε; `best` is never
        one of them where it does not hold ε.

    Examples
    --------
    >>> schema = {"sex": ["F", "M"], "smokes": ["no", "yes"], "degree": ["none", "school", "college"]}
    >>> [row.method for row in compare(schema, epsilon=1.0, methods=["SPL[GRR]", "SMP[GRR]", "RS+FD[GRR]"])]
    ['SMP[GRR]', 'SPL[GRR]', 'RS+FD[GRR]']
    """
    people = _checks.integer(low=1, n=n)
    declared = _cells_for_numbers(schema if isinstance(schema, Schema) else Schema(schema))
    if len(declared) < 2:
        raise ParameterError(
            "There must be several attributes. For one question, bruit choose --k 2 ranks the mechanisms "
            "(bruit.choose in Python)."
        )
    named = list(methods) if methods is not None else [*METHODS, *(WITH_PRIOR if prior is not None else ())]
    known = {**prior_frequencies(clean_prior(prior, declared) if prior is not None else None), **(frequencies or {})}
    rows, left_out = [], {}
    for method in (_with_prior(name, prior) for name in named):
        for as_printed in (False, True) if published and method.recalibrated else (False,):
            try:
                own = replace(method, published=True) if as_printed else method
                if frequencies and own.base == ADAPTIVE and not as_printed and "mechanisms" in own.takes():
                    # What ADP takes for each attribute; by itself, a plan chooses without frequencies.
                    chosen = own.settled(Task(declared, epsilon, unit, known)).design.bases
                    own = replace(own, mechanisms=chosen)
                plan = Plan(declared, epsilon, own, unit=unit)
            except LimitError as error:
                left_out[str(method)] = str(error)
                continue
            rows.append(_row(plan, people, known, unit))
    if not rows:
        raise LimitError(f"No method can serve these attributes. {' '.join(left_out.values())}")
    return Comparisons(rows, n=people, left_out=left_out)


def _with_prior(name: str | Method, prior: Any) -> Method:
    """The method of this name, with the prior if it takes one; a method as it is."""
    if isinstance(name, Method):
        return name
    return Method.named(name, prior=prior) if "prior" in Method.kind_of(name).takes() else Method.named(name)


def _row(plan: Plan, n: int, frequencies: Mapping[str, Any], unit: Unit) -> Comparison:
    return Comparison(
        plan=plan,
        method=f"{plan.method} (published)" if plan.method.published else str(plan.method),
        variance=criterion.plan_error(plan.variance(n, frequencies)),
        person=plan.guarantee.epsilon,
        attribute=plan.guarantees["attribute"].epsilon,
        guessed=float(np.mean([plan.design.guessability(name) for name in plan.schema])),
        hides=plan.design.hides,
        holds=plan.guarantees[unit].epsilon <= float(plan.epsilon or 0.0),
        report_bytes=float(
            sum(column.itemsize * math.prod(column.shape[1:]) for column in plan.records.empty_reports(0).values())
        ),
    )


def _cells_for_numbers(schema: Schema) -> Schema:
    """The schema with the cells of every grid as categories, so that all methods estimate the same."""
    return Schema(
        {
            name: attribute.domain if isinstance(attribute.domain, Categories) else Categories(k=attribute.size)
            for name, attribute in schema.items()
        }
    )
