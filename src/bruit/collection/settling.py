"""From what is asked of a plan to its design: every parameter checked, every mechanism chosen, ε' found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from bruit import _checks
from bruit.collection import bases as mechanisms
from bruit.collection import guarantees, prior
from bruit.collection.design import Design, Unit
from bruit.collection.fake import Fake, fake_ratio
from bruit.collection.fake_column import FakeColumn, FakePlace, fake_column
from bruit.collection.methods import KINDS, Method, base_name
from bruit.collection.sample import Sample, clean_weights
from bruit.collection.single import Single
from bruit.collection.split import Split, clean_budgets
from bruit.domains import Categories, Schema
from bruit.errors import LimitError, ParameterError, ParameterTypeError

#: The most attributes of a person.
MOST_ATTRIBUTES = 1024


@dataclass(frozen=True, eq=False)
class Settled:
    """Parameters of a plan in their final form, and the design that they give."""

    design: Design
    epsilon: float
    method: str
    inner: float | None
    unit: Unit = "person"
    budgets: Mapping[str, float] | None = None
    weights: Mapping[str, int] | None = None
    prior: Mapping[str, prior.Weights] | None = None
    bases: Mapping[str, str] | None = None

    def given(self) -> dict[str, Any]:
        """What was given beyond ε and the method, for documents."""
        found: dict[str, Any] = {}
        for name in ("budgets", "weights", "prior", "bases"):
            value = getattr(self, name)
            if value is not None:
                found[name] = {key: list(item) if isinstance(item, tuple) else item for key, item in value.items()}
        return found


class _Asked(NamedTuple):
    """What all methods for several attributes need."""

    schema: Schema
    method: Method
    epsilon: float
    unit: Unit
    bases: dict[str, str] | None
    published: bool

    def base(self, name: str) -> str:
        """The mechanism that an attribute is to have."""
        return (self.bases or {}).get(name, self.method.base)

    def mechanism(self, name: str, epsilon: float) -> mechanisms.Mechanism:
        """The mechanism of an attribute at this ε."""
        return mechanisms.mechanism(self.base(name), self.schema[name], epsilon, published=self.published)


def settle(
    schema: Schema,
    method: Method,
    epsilon: Any,
    *,
    unit: Unit,
    budgets: Any,
    weights: Any,
    prior: Any,
    bases: Any,
    published: bool,
    stated: Any = None,
) -> Settled:
    """Check everything and make the design; an ε' of fakes that a document states is confirmed instead of found."""
    _refuse(method, budgets=budgets, weights=weights, prior=prior, bases=bases)
    if method.kind == "one":
        return _one(schema, method.base, epsilon, unit)
    _check_schema(schema, method)
    named = _clean_bases(bases, schema, method)
    asked = _Asked(schema, method, _checks.epsilon(epsilon=epsilon), unit, named, published)
    if method.fakes:
        return _fake(asked, prior, stated)
    return _sample(asked, weights) if method.kind == "SMP" else _split(asked, budgets)


def _refuse(method: Method, **given: Any) -> None:
    """An error for a parameter that the method does not take."""
    for name, value in given.items():
        if value is not None and method.kind not in _TAKEN_BY[name]:
            raise ParameterError(f"{name} belongs to {' and '.join(_TAKEN_BY[name])}, not to {method}.")
    if method.kind == "RS+RFD" and given["prior"] is None:
        raise ParameterError("RS+RFD needs a prior: the frequencies that the fakes of each attribute follow.")


_TAKEN_BY = {"budgets": ["SPL"], "weights": ["SMP"], "prior": ["RS+RFD"], "bases": list(KINDS)}


def _one(schema: Schema, name: str, epsilon: Any, unit: Unit) -> Settled:
    if len(schema) != 1:
        raise ParameterError(
            f"{name} alone asks one question per person, this schema has {len(schema)}: "
            f"name what to do with them, as in SPL[{name}], SMP[{name}] or RS+FD[GRR]."
        )
    attribute = next(iter(schema.values()))
    if mechanisms.is_number(name):
        found: mechanisms.Mechanism = mechanisms.mechanism(name.lower(), attribute, epsilon)
    elif not isinstance(attribute.domain, Categories):
        raise ParameterError(f"{name} asks for a category: declare labels or k for {attribute.name!r}, not a grid.")
    else:
        found = mechanisms.category(name, attribute, epsilon)
    return Settled(Single(schema, {attribute.name: found}), found.epsilon, name, found.epsilon, unit)


def _check_schema(schema: Schema, method: Method) -> None:
    if len(schema) == 1:
        raise ParameterError(f"{method} is for several attributes, this schema has one: name its mechanism alone.")
    if len(schema) > MOST_ATTRIBUTES:
        raise LimitError(f"A plan has at most {MOST_ATTRIBUTES:,} attributes, this schema has {len(schema):,}.")
    for name, attribute in schema.items():
        if attribute.domain.missing == "drop":
            raise ParameterError(
                f"{name!r} drops missing values, which a record of several attributes cannot: "
                'declare missing="category" or missing="refuse".'
            )


def _clean_bases(given: Any, schema: Schema, method: Method) -> dict[str, str] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ParameterTypeError('bases must be a mapping from attribute to a mechanism, as in {"age": "hybrid"}.')
    if not set(given) <= set(schema):
        raise ParameterError("bases must name attributes of the schema.")
    return {name: base_name(method.kind, given[name]) for name in schema if name in given}


def _split(asked: _Asked, budgets: Any) -> Settled:
    parts = clean_budgets(budgets, asked.schema, asked.epsilon, asked.unit)
    made = {name: asked.mechanism(name, parts[name]) for name in asked.schema}
    return Settled(
        Split(asked.schema, made),
        asked.epsilon,
        str(asked.method),
        inner=None if budgets is not None else next(iter(parts.values())),
        unit=asked.unit,
        budgets=None if budgets is None else parts,
        bases=asked.bases,
    )


def _sample(asked: _Asked, weights: Any) -> Settled:
    drawn = clean_weights(weights, asked.schema)
    made = {name: asked.mechanism(name, asked.epsilon) for name in asked.schema}
    return Settled(
        Sample(asked.schema, made, drawn),
        asked.epsilon,
        str(asked.method),
        inner=asked.epsilon,
        unit=asked.unit,
        weights=None if weights is None else drawn,
        bases=asked.bases,
    )


def _fake(asked: _Asked, given: Any, stated: Any) -> Settled:
    schema, kind = asked.schema, asked.method.kind
    shares = prior.clean_prior(given, schema) if given is not None else {}

    def columns(inner: float) -> dict[str, FakeColumn]:
        places = {name: FakePlace(kind, attribute, len(schema), shares.get(name)) for name, attribute in schema.items()}
        return {
            name: fake_column(place, asked.base(name), inner, published=asked.published)
            for name, place in places.items()
        }

    inner = _inner_epsilon(asked, columns, stated)
    return Settled(
        Fake.of(schema, kind, columns(inner)),
        asked.epsilon,
        str(asked.method),
        inner=inner,
        # The papers' ε speaks of an attribute, at best.
        unit="attribute" if asked.published else asked.unit,
        prior=shares or None,
        bases=asked.bases,
    )


def _inner_epsilon(asked: _Asked, columns: Callable[[float], dict[str, FakeColumn]], stated: Any) -> float:
    """The ε' of a true report: ε for a person, what the papers say, or what gives one attribute ε."""
    if asked.published:
        return _checks.epsilon(inner_epsilon=math.log1p(len(asked.schema) * math.expm1(asked.epsilon)))
    if asked.unit == "person":
        return asked.epsilon

    def ratio(inner: float) -> Fraction:
        return fake_ratio(columns(inner).values(), "attribute")

    if stated is None:
        return guarantees.solve(ratio, asked.epsilon)
    if not guarantees.solves(ratio, asked.epsilon, inner := _checks.epsilon(inner_epsilon=stated)):
        raise ParameterError("The ε of the mechanisms is not the one that gives an attribute this ε.")
    return inner
