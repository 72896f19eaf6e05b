"""A plan: what is asked, how each answer is made private, and what that guarantees, in one document.

The plan travels from whoever asks to those who answer and to whoever counts: its digest says that all three mean the
same. This version plans one question per person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import Attribute, Categories, Schema
from bruit.entropy import Entropy, Randomness
from bruit.errors import DataError, DataTypeError, DesignError, FormatError, ParameterError, ParameterTypeError
from bruit.estimation import Estimate, Tally, Target
from bruit.oracles import Oracle, oracle
from bruit.privacy import Guarantee

#: Whom a plan's guarantee may speak of.
Unit: TypeAlias = Literal["person", "attribute"]


@dataclass(frozen=True, eq=False)
class Plan:
    """One question to many people: the attribute, the mechanism and ε.

    Parameters
    ----------
    schema
        The declared attribute, as a `Schema` or a mapping of one column name to its labels.
    epsilon
        The most that a person's report may tell. None is for Warner's survey with two coins, ε = ln 3.
    method
        The mechanism, by its name in the literature: ``"GRR"`` or ``"Warner"``.

    Guarantee
    ---------
    That of its mechanism. With one question, a person's record is the one answer, so the guarantee for an attribute and
    for a person are the same.

    Examples
    --------
    >>> plan = Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> reports = plan.privatize({"smokes": ["no", "yes", "no", "no"]}, rng=7)
    >>> answers = plan.estimate(plan.tally(reports))
    >>> answers["smokes"].n
    4
    >>> Plan.from_json(plan.to_json()) == plan
    True
    """

    FORMAT = "bruit.plan/1"

    schema: Schema
    epsilon: float | None
    method: str = "GRR"

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Schema):
            object.__setattr__(self, "schema", Schema(self.schema))
        if len(self.schema) != 1:
            raise ParameterError(f"A plan asks one question per person, this schema has {len(self.schema)}.")
        if not isinstance(self.attribute.domain, Categories):
            raise ParameterError(
                f"{self.method} asks for a category: declare labels or k for {self.name!r}, not a grid."
            )
        object.__setattr__(self, "epsilon", self.oracle.epsilon)

    @property
    def attribute(self) -> Attribute:
        """The question."""
        return next(iter(self.schema.values()))

    @property
    def name(self) -> str:
        """The name of the question's column."""
        return self.attribute.name

    @cached_property
    def oracle(self) -> Oracle:
        """The mechanism that makes an answer private."""
        domain = self.attribute.domain
        if not isinstance(domain, Categories):
            raise ParameterError("This plan has no category to ask for.")
        given = {"labels": domain.labels} if domain.labels is not None else {"k": domain.k}
        return oracle(self.method, epsilon=self.epsilon, missing=domain.missing, **given)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this plan; its reports and tallies carry it."""
        return documents.digest(self._body())

    def guarantee(self, unit: str = "person") -> Guarantee:
        """What is promised when a whole person (``"person"``) or one attribute (``"attribute"``) changes."""
        asked = _checks.one_of(get_args(Unit), unit=unit)
        return Guarantee(epsilon=self.oracle.guarantee.epsilon, neighbours=asked)

    def privatize(self, table: Any, rng: Randomness = None) -> dict[str, NDArray[Any]]:
        """Reports of a table's rows: a mapping from column name to array."""
        return self.privatize_batch(table, Entropy.resolve(rng, "privatize", self.digest), 0)

    def privatize_batch(self, batch: Any, entropy: Entropy, first_block: int) -> dict[str, NDArray[Any]]:
        """Reports of one batch of a larger source, whose first block of people has this number.

        Count blocks on from batch to batch: the same number twice is the same noise twice.
        """
        codes = self.schema.encode(batch)[self.name]
        return {self.name: self.oracle.privatize_codes(codes, entropy, first_block)}

    def tally(self, reports: Any) -> Tally:
        """Count the reports of a batch; tallies add."""
        try:
            column = reports[self.name]
        except (KeyError, TypeError, IndexError, ValueError):
            raise DataError(f"The reports must have a column {self.name!r}, as the plan says.") from None
        return replace(self.oracle.tally(column), design=self.digest)

    def estimate(self, tally: Tally, target: Target = "population") -> Mapping[str, Estimate]:
        """Estimates by column name."""
        if not isinstance(tally, Tally):
            raise DataTypeError("estimate needs a Tally: make one with tally(reports).")
        if tally.design != self.digest:
            raise DesignError(
                "This tally was made by another plan: use the plan that made its reports.",
                expected=self.digest,
                found=tally.design,
            )
        answer = self.oracle.estimate(replace(tally, design=self.oracle.digest), target)
        return {self.name: replace(answer, name=self.name)}

    def simulate(self, counts: Any, rng: Randomness = None) -> Tally:
        """A tally with the very law of `privatize` and `tally` on people of whom counts[v] have value v."""
        return replace(self.oracle.simulate(counts, rng), design=self.digest)

    def to_json(self) -> str:
        """The plan as a document that a person can read."""
        return documents.seal(self.FORMAT, self._body(), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """The inverse of `to_json`; damage is detected, forgery is not."""
        body = documents.unseal(text, cls.FORMAT)
        schema = Schema.from_list(body.get("attributes"))
        method, mechanism = body.get("method"), body.get("mechanism")
        if not isinstance(method, str) or not isinstance(mechanism, Mapping):
            raise FormatError("A plan must have a method and a mechanism.")
        # Odds stand for an ε of their own: the survey with two coins is asked for without one.
        epsilon = None if "odds" in mechanism else mechanism.get("epsilon")
        try:
            plan = cls(schema, epsilon, method)
        except (ParameterError, ParameterTypeError) as error:
            raise FormatError("This plan describes a mechanism that this version does not know.") from error
        if documents.canonical(plan._body()) != documents.canonical(body):
            raise FormatError(
                "This plan contradicts itself: its mechanism or guarantee is not the one its method gives."
            )
        return plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def _body(self) -> dict[str, Any]:
        mechanism = {key: value for key, value in self.oracle.to_dict().items() if key != "domain"}
        promised = self.guarantee("person")
        return {
            "attributes": self.schema.to_list(),
            "method": self.method,
            "mechanism": mechanism,
            "guarantee": promised.to_dict(),
        }
