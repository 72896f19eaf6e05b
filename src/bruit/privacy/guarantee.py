"""What a mechanism promises: ε, δ, and the neighbours they speak of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from bruit import _checks
from bruit.errors import BruitError, FormatError, ParameterError, translated
from bruit.tables import Described, at_most

#: The neighbouring relation of a guarantee.
Neighbours = Literal[
    "value",
    "attribute",
    "person",
    "same-changes",
    "add-remove",
    "replace",
    "person-add-remove",
    "person-replace",
]

#: By how much a bound of belief is moved outwards.
_ROUNDING = 2.0**-49

_MEANING: dict[str, str] = {
    "value": "local, one answer changed",
    "attribute": "local, one attribute of a record changed",
    "person": "local, the whole record changed",
    "same-changes": "local, all answers changed, equal at the same pairs of rounds",
    "add-remove": "central, one record added or removed",
    "replace": "central, one record replaced",
    "person-add-remove": "central, one person added or removed with all their rows",
    "person-replace": "central, one person replaced with all their rows",
}


@dataclass(frozen=True, kw_only=True)
class Guarantee(Described):
    """A bound on what an output reveals about a person, and its neighbouring relation.

    For every pair of neighbours x, x' and every set S of outputs,
    P(M(x) ∈ S) ≤ e^ε · P(M(x') ∈ S) + δ.

    Parameters
    ----------
    epsilon
        The privacy loss, rounded up. 0 says that the output does not depend on the data.
    delta
        The probability mass outside the bound; 0 for pure differential privacy.
    neighbours
        Local: ``"value"`` (one question), ``"attribute"`` (one attribute of a record changes), ``"person"``
        (the whole record changes), ``"same-changes"`` (all answers of a person over time change, and are equal at the
        same pairs of rounds). Central: ``"add-remove"`` or ``"replace"``, of a record; or, where people have several
        rows, ``"person-add-remove"`` or ``"person-replace"``.

    Examples
    --------
    >>> promise = Guarantee(epsilon=math.log(3), neighbours="value")
    >>> print(promise)
    ε = 1.098612 (local, one answer changed)
    >>> low, high = promise.belief(0.5)
    >>> round(low, 3), round(high, 3)
    (0.25, 0.75)
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.non_negative(epsilon=self.epsilon))
        object.__setattr__(self, "delta", _checks.fraction(delta=self.delta))
        _checks.one_of(_MEANING, neighbours=self.neighbours)

    @property
    def local(self) -> bool:
        """Whether it holds without a trusted collector."""
        return self.neighbours in ("value", "attribute", "person", "same-changes")

    def belief(self, prior: float) -> tuple[float, float]:
        """The least and greatest belief that somebody with belief `prior` can hold after seeing the output.

        This is what ε buys: whatever the output, the odds move by a factor of at most e^ε either way. The bounds are
        rounded outwards. It is stated for δ = 0 only.
        """
        _checks.probability(prior=prior)
        if self.delta:
            raise ParameterError("belief is stated for pure differential privacy only (delta = 0).")
        if self.epsilon == 0:
            return prior, prior
        odds = prior / (1 - prior)
        down, up = odds * math.exp(-self.epsilon), odds * math.exp(min(self.epsilon, 700.0))
        # Six operations, each off by at most 2⁻⁵² of its result.
        return min(prior, (1 - _ROUNDING) * down / (1 + down)), min(1.0, max(prior, (1 + _ROUNDING) * up / (1 + up)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"epsilon": self.epsilon, "delta": self.delta, "neighbours": self.neighbours}

    @classmethod
    def from_dict(cls, body: Any) -> Guarantee:
        """The inverse of `to_dict`."""
        rule = "A guarantee must have epsilon, delta and neighbours."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            return cls(epsilon=body["epsilon"], delta=body["delta"], neighbours=body["neighbours"])

    def _facts(self) -> dict[str, Any]:
        """For a notebook: ε, δ and neighbours, and what a belief of one half can become where that is stated."""
        belief = {} if self.delta else {"a belief of 50 % becomes at most": at_most(self.belief(0.5)[1])}
        return {"ε": f"{self.epsilon:.7g}", "δ": f"{self.delta:.3g}", "neighbours": _MEANING[self.neighbours], **belief}

    def __str__(self) -> str:
        delta = f", δ = {self.delta:.3g}" if self.delta else ""
        return f"ε = {self.epsilon:.7g}{delta} ({_MEANING[self.neighbours]})"
