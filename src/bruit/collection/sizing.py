"""A plan solved for what is unknown: of people, ε and the width of intervals, two are known and the third follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bruit import _checks
from bruit.collection.criterion import MANY
from bruit.collection.mechanisms import metric_facts, metric_of
from bruit.collection.method import DEFAULT, Method
from bruit.collection.plan import Plan
from bruit.collection.uniform_guess import few_people
from bruit.domains import Schema
from bruit.domains.schema import Questions
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.estimation import intervals
from bruit.estimation.fewest_people import fewest_people
from bruit.privacy.guarantee import in_lines
from bruit.tables import Column, Table, Tabular, counted, digits, interval_of

#: An ε that is looked for is exact to this share of itself, and rounded up.
PRECISION = 1e-4
#: The most people there are.
MOST_PEOPLE = 10**12


@dataclass(frozen=True, repr=False)
class Sizing(Tabular):
    """A plan with how many people it takes, and what their intervals are then.

    Parameters
    ----------
    plan
        The plan, ready to use.
    n
        How many people answer.
    half_widths
        The expected half-width of an interval of each attribute: of a frequency, the root of the mean over its values;
        of a number, that of its mean.
    level
        How often the intervals cover.
    unknown
        What was looked for: ``"n"``, ``"epsilon"`` or ``"half_width"``.
    """

    plan: Plan
    n: int
    half_widths: Mapping[str, float]
    level: float
    unknown: str

    @property
    def epsilon(self) -> float:
        """What the plan was calibrated to."""
        return float(self.plan.epsilon or self.plan.guarantee.epsilon)

    def table(self) -> Table:
        """Every attribute with its expected half-width."""
        names = list(self.plan.schema)
        columns = [
            Column("attribute", names, kind="label", write=str),
            Column("mechanism", [self.plan.mechanisms[name].name for name in names], kind="text", write=str),
            Column("of", [self.plan.mechanisms[name].gives for name in names], kind="text", write=str),
            Column(
                "half_width",
                [self.half_widths[name] for name in names],
                f"{interval_of(self.level)} ±",
                write=digits(4),
            ),
        ]
        nearby = metric_of(self.plan.mechanisms)
        per = "" if nearby is None else nearby.per
        title = f"{self.plan.method}: {counted(self.n, 'person')} at ε = {self.epsilon:g}{per}"
        about = {
            "unknown": self.unknown,
            "people": self.n,
            "epsilon": self.epsilon,
            "level": self.level,
            "method": str(self.plan.method),
            "guarantee": self.plan.guarantee.to_dict(),
            **metric_facts(self.plan.mechanisms),
        }
        promised = in_lines(self.plan.guarantee, nearby)
        notes = [f"looked for: {_WORDS[self.unknown]}", *few_people(self.plan, self.n), *promised]
        return Table(title, columns, notes, about, noun="attribute")


_WORDS = {
    "n": "the fewest people for these widths",
    "epsilon": "the least ε for these people and widths",
    "half_width": "the widths with these people at this ε",
}


@_checks.renamed({"people": "n=1000"})
def plan_for(
    schema: Questions,
    *,
    epsilon: float | None = None,
    n: int | None = None,
    half_width: float | Mapping[str, float] | None = None,
    method: str | Method = DEFAULT,
    frequencies: Mapping[str, Any] | None = None,
    level: float = 0.95,
    **settings: Any,
) -> Sizing:
    """A whole plan of which two of people, ε and the width of intervals are known, and the third is looked for.

    Parameters
    ----------
    schema, method, **settings
        As for `Plan`.
    epsilon
        The most that a person's reports may tell.
    n
        How many people answer.
    half_width
        The widest interval that is wanted, as ±: one number for all attributes, or by name.
    frequencies
        The frequencies of the values of each attribute; all alike by default.
    level
        How often the intervals cover the truth.

    Examples
    --------
    >>> sizing = plan_for({"smokes": ["no", "yes"]}, epsilon=1.0, half_width=0.02)
    >>> sizing.n
    11243
    >>> plan_for({"smokes": ["no", "yes"]}, n=sizing.n, half_width=0.02).epsilon
    1.0
    """
    declared = schema if isinstance(schema, Schema) else Schema(schema)
    known = [name for name, value in (("epsilon", epsilon), ("n", n), ("half_width", half_width)) if value is not None]
    if len(known) != 2:
        raise ParameterError("Two of epsilon, n and half_width must be given: the third is what is looked for.")
    z = intervals.normal_quantile(_checks.probability(level=level))
    wanted = None if half_width is None else _widths(half_width, declared)
    if n is not None:
        n = _checks.integer(low=1, high=MOST_PEOPLE, n=n)

    def widths(plan: Plan, many: int) -> dict[str, float]:
        """The half-widths with this number of people."""
        return {name: z * math.sqrt(float(own.mean())) for name, own in plan.variance(many, frequencies).items()}

    def at(amount: float) -> Plan:
        return Plan(declared, amount, method, **settings)

    if epsilon is None:
        answers, limits = n or 0, wanted or {}
        epsilon = least_epsilon(
            lambda amount: _holds(widths(at(amount), answers), limits), Method.of(method).parts(len(declared))
        )
    plan = at(_checks.epsilon(epsilon=epsilon))
    if n is None:
        limits = wanted or {}
        least = max(MANY * (own / limits[name]) ** 2 for name, own in widths(plan, MANY).items()) * (1 - 1e-12)
        n = fewest_people(lambda many: _holds(widths(plan, many), limits), math.ceil(least))
    unknown = next(name for name in _WORDS if name not in known)
    return Sizing(plan, n, widths(plan, n), level, unknown)


def _holds(widths: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    return all(width <= wanted[name] * (1 + 1e-9) for name, width in widths.items())


def _widths(half_width: Any, schema: Schema) -> dict[str, float]:
    """The wanted half-width of every attribute."""
    if not isinstance(half_width, Mapping):
        return dict.fromkeys(schema, _checks.positive(half_width=half_width))
    if set(half_width) != set(schema):
        raise ParameterError("half_width must be a number, or name every attribute of the schema and no other.")
    if not all(isinstance(name, str) for name in half_width):
        raise ParameterTypeError("half_width must be a number, or a mapping from attribute to number.")
    return {name: _checks.positive(half_width=value) for name, value in half_width.items()}


def least_epsilon(holds: Callable[[float], bool], parts: int = 1) -> float:
    """The least ε for which `holds`, rounded up to four digits; more ε never hurts, but for rounding of the laws.

    With several parts, ε is divided among them, and each must be within the limits.
    """
    low, high = _checks.EPSILON_LIMITS[0] * parts, _checks.EPSILON_LIMITS[1]
    if not holds(high):
        raise LimitError(
            f"No ε up to {high:g} is enough: the people are too few for these widths even without noise. Ask more "
            "people, or accept wider intervals."
        )
    if holds(low):
        return low
    while high / low > 1 + PRECISION / 2:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    unit = 10 ** (math.floor(math.log10(high)) - 3)
    candidates = (
        math.ceil(high / unit - 0.5) * unit,
        math.ceil(high / unit) * unit,
        (math.ceil(high / unit) + 1) * unit,
    )
    return next(float(f"{own:.10g}") for own in candidates if holds(float(f"{own:.10g}")))
