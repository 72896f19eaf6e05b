"""Splitting the budget (SPL): every attribute is reported, each with a part of ε.

A person's reports on different attributes are independent given the record, so the parts add up: a person has the sum,
one attribute its own part. With d attributes the variance grows as d², which is why sampling is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from bruit import _checks, rounding
from bruit.collection.columns import ColumnDesign
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, Reports, Unit, variance_of
from bruit.domains import Schema
from bruit.domains.codes import Codes
from bruit.entropy import Words
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation import Tally, Target
from bruit.estimation.tally import Counts
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee

#: By how much declared budgets may miss ε, as a share of it: more than that is a mistake, less is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Split(ColumnDesign):
    """Every attribute through its own mechanism."""

    tables_from: ClassVar[Literal["tally", "reports"] | None] = "reports"

    @property
    def card_kind(self) -> str:
        """All questions are asked."""
        return "SPL"

    def ratio(self, unit: Unit) -> Fraction:
        """The product of all ratios for a person, the largest of them for one attribute."""
        ratios = [mechanism.law.ratio for mechanism in self.mechanisms.values()]
        return math.prod(ratios, start=Fraction(1)) if unit == "person" else max(ratios)

    def epoch_budgets(self, limit: float, epsilon: float, unit: Unit, budgets: Any) -> dict[str, float]:
        """A part for each attribute, as large a share of the whole as one report has."""
        scaled = None if budgets is None else {name: part * (limit / epsilon) for name, part in budgets.items()}
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

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        for own, (name, mechanism) in zip(words.split(self.d), self.mechanisms.items(), strict=True):
            mechanism._randomize(codes[name], own.stream(), out[name])


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
