"""What a mechanism promises: ε, δ, and the neighbours they speak of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

from bruit import _checks
from bruit.errors import BruitError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.rounding import above
from bruit.tables import Described, at_most

#: The neighbouring relation of a guarantee.
Neighbours = Literal[
    "value",
    "attribute",
    "person",
    "same-changes",
    "metric",
    "add-remove",
    "replace",
    "person-add-remove",
    "person-replace",
]

#: The one that speaks of a distance, and so adds to nothing; and those that add up.
METRIC: Literal["metric"] = "metric"
ADDED: tuple[Neighbours, ...] = tuple(name for name in get_args(Neighbours) if name != METRIC)
#: What a metric guarantee does not say, wherever one is shown.
NEARBY_ONLY = (
    "Only nearby answers are protected from each other. A report can show in which city somebody is. Repeated "
    "reports average out."
)
#: The longest name of a unit of distance.
LONGEST_UNIT = 20
#: By how much a bound of belief is moved outwards.
_ROUNDING = 2.0**-49

_MEANING: dict[str, str] = {
    "value": "local, one answer changed",
    "attribute": "local, one attribute of a record changed",
    "person": "local, the whole record changed",
    "same-changes": "local, all answers changed, equal at the same pairs of rounds",
    METRIC: "local, an answer moved by a distance",
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
        same pairs of rounds), ``"metric"`` (one answer moves by `radius` at most).
        Central: ``"add-remove"`` or ``"replace"``, of a record; or, where people have several
        rows, ``"person-add-remove"`` or ``"person-replace"``.
    radius, unit
        Of a metric guarantee: how far apart two answers may be for ε to hold between them, and the unit, as in
        ``"km"``. Answers farther apart are protected less (`at`). Such a guarantee is not added, booked or compared.

    Examples
    --------
    >>> promise = Guarantee(epsilon=math.log(3), neighbours="value")
    >>> print(promise)
    ε = 1.098612 (local, one answer changed)
    >>> low, high = promise.belief(0.5)
    >>> round(low, 3), round(high, 3)
    (0.25, 0.75)
    >>> nearby = Guarantee(epsilon=1.0, neighbours="metric", radius=1, unit="km")
    >>> print(nearby, nearby.at(2.5), sep="\\n")
    ε = 1 per km (local, an answer moved by 1 km)
    ε = 3 within 2.5 km (local, an answer moved by 2.5 km)
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours
    radius: float = field(default=0.0, repr=False)
    unit: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.non_negative(epsilon=self.epsilon))
        object.__setattr__(self, "delta", _checks.fraction(delta=self.delta))
        _checks.one_of(_MEANING, neighbours=self.neighbours)
        self._check_distance()

    def _check_distance(self) -> None:
        """A distance for a metric guarantee, which is pure, and none for any other."""
        if self.neighbours != METRIC:
            if self.radius or self.unit:
                raise ParameterError('radius and unit belong to neighbours="metric".')
            return
        object.__setattr__(self, "radius", _checks.positive(radius=self.radius))
        checked_unit(self.unit)
        if self.delta:
            raise ParameterError("A metric guarantee is pure: delta must be 0.")

    @property
    def local(self) -> bool:
        """Whether it holds without a trusted collector."""
        return self.neighbours in ("value", "attribute", "person", "same-changes", METRIC)

    def at(self, distance: float) -> Guarantee:
        """The metric guarantee between two answers at most this far apart: as many steps of `radius` as that takes.

        A mechanism knows more: its own `at` counts the cells of its grid.
        """
        if self.neighbours != METRIC:
            raise ParameterError('Only a guarantee with neighbours="metric" speaks of a distance.')
        steps = math.ceil(Fraction(_checks.positive(distance=distance)) / Fraction(self.radius))
        epsilon = above(steps * Fraction(self.epsilon))
        return Guarantee(epsilon=epsilon, neighbours=METRIC, radius=distance, unit=self.unit)

    def belief(self, prior: float) -> tuple[float, float]:
        """The least and greatest belief that somebody with belief `prior` can hold after seeing the output.

        This is what ε buys: whatever the output, the odds move by a factor of at most e^ε either way. The bounds are
        rounded outwards. It is stated for δ = 0 only. A metric guarantee bounds the odds of two answers at most a
        radius apart; for others take ``guarantee.at(distance).belief(prior)``.
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
        distance = {"radius": self.radius, "unit": self.unit} if self.neighbours == METRIC else {}
        return {"epsilon": self.epsilon, "delta": self.delta, "neighbours": self.neighbours, **distance}

    @classmethod
    def from_dict(cls, body: Any) -> Guarantee:
        """The inverse of `to_dict`."""
        rule = "A guarantee must have epsilon, delta and neighbours, and a metric one a radius and a unit."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            names = {"epsilon", "delta", "neighbours", *(("radius", "unit") if body["neighbours"] == METRIC else ())}
            if set(body) != names:  # without its distance a metric guarantee would be an ordinary one
                raise FormatError(rule)
            return cls(**body)

    def _facts(self) -> dict[str, Any]:
        """For a notebook: ε, δ and neighbours, and what a belief of one half can become where that is stated."""
        belief = {} if self.delta else {"a belief of 50 % becomes at most": at_most(self.belief(0.5)[1])}
        epsilon = f"{self.epsilon:.7g}{self.per}"
        limit = {"protects": NEARBY_ONLY} if self.neighbours == METRIC else {}
        return {"ε": epsilon, "δ": f"{self.delta:.3g}", "neighbours": self._meaning, **belief, **limit}

    @property
    def distance(self) -> str:
        """The radius with its unit, as people write it: 1 km; nothing where no distance is spoken of."""
        return f"{self.radius:.7g} {self.unit}".rstrip() if self.neighbours == METRIC else ""

    @property
    def per(self) -> str:
        """Per which distance ε is, or within which: " per km"; nothing where no distance is spoken of."""
        if self.neighbours != METRIC:
            return ""
        return f" per {self.unit or 'unit'}" if self.radius == 1 else f" within {self.distance}"

    @property
    def _meaning(self) -> str:
        """What differs between neighbours."""
        return f"local, an answer moved by {self.distance}" if self.distance else _MEANING[self.neighbours]

    def __repr__(self) -> str:
        distance = f", radius={self.radius!r}, unit={self.unit!r}" if self.neighbours == METRIC else ""
        own = f"epsilon={self.epsilon!r}, delta={self.delta!r}, neighbours={self.neighbours!r}"
        return f"Guarantee({own}{distance})"

    def __str__(self) -> str:
        delta = f", δ = {self.delta:.3g}" if self.delta else ""
        return f"ε = {self.epsilon:.7g}{self.per}{delta} ({self._meaning})"


def in_lines(guarantee: Guarantee, metric: Guarantee | None) -> list[str]:
    """A guarantee in lines; with a metric one, that of nearby answers first, and what it does not say."""
    if metric is None:
        return [f"guarantee: {guarantee}"]
    return [
        f"guarantee of nearby answers: {metric}",
        f"guarantee of any two answers within the declared bounds: {guarantee}",
        NEARBY_ONLY,
    ]


def checked_unit(unit: Any) -> str:
    """The name of a unit of distance; the empty text stands for that of the bounds."""
    rule = f"unit must be a text of at most {LONGEST_UNIT} printable characters."
    if not isinstance(unit, str):
        raise ParameterTypeError(rule)
    if len(unit) > LONGEST_UNIT or not unit.isprintable() or unit != unit.strip():
        raise ParameterError(rule)
    return unit


def check_adds(guarantees: Iterable[Guarantee]) -> None:
    """Refuse guarantees that are about a distance where guarantees are added, booked or compared."""
    if any(guarantee.neighbours == METRIC for guarantee in guarantees):
        raise ParameterError(
            "A metric guarantee holds for answers a distance apart: it is not added, booked or compared. Take that of "
            "any two answers, the guarantee of the mechanism or plan."
        )
