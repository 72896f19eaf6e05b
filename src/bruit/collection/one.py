"""One question per person: the attribute's own mechanism, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from bruit import _checks
from bruit.collection import criterion, mechanisms
from bruit.collection.criterion import Floats
from bruit.collection.design import Answer, Chance, ColumnDesign, Folded, Reports, Unit, variance_of
from bruit.collection.mechanisms import ADAPTIVE, Mechanism, metric_facts
from bruit.collection.method import SINGLE, USUAL, Method, Settled, Task
from bruit.domains import Schema
from bruit.domains.codes import Codes
from bruit.entropy import Randomness, Words
from bruit.errors import ParameterError
from bruit.estimation import Tally, Target
from bruit.estimation.tally import Counts
from bruit.numbers import Number
from bruit.oracles import Oracle
from bruit.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from bruit.collection.plan import Plan


@dataclass(frozen=True, eq=False)
class Single(ColumnDesign):
    """The one attribute through its mechanism; a person's record is the one answer."""

    @property
    def card_kind(self) -> str:
        """One question is asked."""
        return "one"

    def ratio(self, unit: Unit) -> Fraction:
        """That of the mechanism, for every unit."""
        (mechanism,) = self.mechanisms.values()
        return mechanism.law.ratio

    def randomize(self, codes: Mapping[str, Codes], words: Words) -> Reports:
        """What the mechanism reports by itself."""
        ((name, mechanism),) = self.mechanisms.items()
        return {name: mechanism.randomize(codes[name], words)}

    def answer(self, name: str, tally: Tally, target: Target, guarantee: Guarantee) -> Answer:
        """What the mechanism finds by itself."""
        answer: Answer = self.mechanisms[name].estimate(self._part(name, tally), target)
        return self._labelled(name, replace(answer, name=name))

    def variance(self, name: str, frequency: Any, n: int, target: Target) -> Floats:
        """That of the mechanism."""
        return variance_of(self.mechanisms[name], frequency, target) / n

    def simulate(self, people: Mapping[str, Counts], generator: Chance) -> Counts:
        """The mechanism's own law."""
        ((name, mechanism),) = self.mechanisms.items()
        return mechanism._simulate(people[name], generator)

    def simulate_jointly(self, table: Counts, generator: Chance) -> Counts:
        """A table of one attribute is its marginal."""
        return self.simulate({next(iter(self.mechanisms)): table}, generator)

    def simulated(self, counts: Any, rng: Randomness, digest: str) -> Tally:
        """What the mechanism simulates by itself, from the counts of its values."""
        ((name, mechanism),) = self.mechanisms.items()
        return replace(mechanism.simulate(counts[name] if isinstance(counts, Mapping) else counts, rng), design=digest)

    def _randomize(self, codes: Mapping[str, Codes], words: Words, out: Reports) -> None:
        ((name, mechanism),) = self.mechanisms.items()
        mechanism._randomize(codes[name], words.stream(), out[name])

    def _count(self, reports: Reports) -> Folded:
        ((name, mechanism),) = self.mechanisms.items()
        counts, refused = mechanism._count(reports[name])
        return Folded(counts, len(reports[name]) - refused, refused)


@dataclass(frozen=True, eq=False, repr=False)
class One(Method):
    """One question, through the mechanism of this name: the method whose name has no brackets.

    Parameters
    ----------
    base
        The mechanism: an oracle for a category, a number mechanism for a number; ``"ADP"`` for the one of least error.

    Examples
    --------
    >>> import bruit
    >>> str(bruit.Plan({"smokes": ["no", "yes"]}, 1.0, One("oue")).method)
    'OUE'
    """

    kind: ClassVar[str] = SINGLE
    refuses: ClassVar[tuple[str, ...]] = ("mechanisms", "published")

    @classmethod
    def base_name(cls, name: Any, what: str = "") -> str:
        """The name as this library writes it; one that it does not know is refused where its mechanism is made."""
        if not isinstance(name, str):
            return super().base_name(name, what)
        known = (*Oracle.kinds.meanings, *Number.kinds.meanings, ADAPTIVE)
        return {other.lower(): other for other in known}.get(name.strip().lower(), name)

    @classmethod
    def with_options(cls, base: str) -> type[Method]:
        """One question has no options, so that ADP is for several."""
        return Method.kinds[USUAL].kind if cls.base_name(base) == ADAPTIVE else cls

    def __str__(self) -> str:
        return self.base

    def in_words(self, d: int) -> str:
        """Nothing: there is one question."""
        return ""

    def checked(self, task: Task) -> Task:
        """The task as it is: the mechanism checks its ε, and Warner's survey with two coins needs none."""
        return task

    def settle(self, task: Task) -> Settled:
        """The mechanism by its name. For several attributes, ADP is the usual method with ADP."""
        chosen = self.base == ADAPTIVE
        if chosen and len(task.schema) > 1:
            return Method.named(f"{USUAL}[{ADAPTIVE}]").settled(task)
        if len(task.schema) != 1:
            Method.kinds[USUAL].kind.base_name(self.base, "method")
            raise ParameterError(
                f"{self} alone asks one question per person, this schema has {len(task.schema)}: "
                f"name what to do with them, as in SPL[{self}], SMP[{self}] or RS+FD[GRR]."
            )
        ((name, attribute),) = task.schema.items()
        of_numbers = mechanisms.is_number(self.base)
        if attribute.domain.gives == "mean" and not (of_numbers or chosen):
            raise ParameterError(f"{self} asks for a category: declare labels or k for {name!r}, not a grid.")
        (frequency,) = criterion.expected_frequencies(task.schema, None).values()
        budget = _checks.epsilon(epsilon=task.epsilon) if chosen else task.epsilon
        mechanism = mechanisms.mechanism(self.base.lower() if of_numbers else self.base, attribute, budget, frequency)
        method = replace(self, base=mechanism.name) if chosen else self
        return Settled(method, Single(task.schema, {name: mechanism}), mechanism.epsilon, task.unit)

    def why_no_table(self) -> str:
        """A table has two attributes."""
        return "A table needs two attributes or more, and this plan asks for one."

    def body(self, plan: Plan) -> dict[str, Any]:
        """The mechanism in full, which says all there is to say."""
        (described,) = plan.design.describe().values()
        promised = {"method": str(self), "mechanism": described, "guarantee": plan.guarantee.to_dict()}
        return {**promised, **metric_facts(plan.mechanisms)}


def own(schema: Schema, mechanism: Mechanism, unit: Unit) -> Settled:
    """A plan for one question that goes through this very mechanism."""
    design = Single(schema, dict.fromkeys(schema, mechanism))
    return Settled(One(mechanism.name), design, mechanism.epsilon, unit)
