"""From the parameters of a plan to its composite: every one checked, every mechanism chosen, ε' computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from bruit import _checks, rounding
from bruit.collection import criterion, cross_tables, guarantees, mechanisms
from bruit.collection.criterion import Floats
from bruit.collection.design import Design, Unit
from bruit.collection.fake import Fake
from bruit.collection.fake_column import CANDIDATES, FakePlace, fake_column
from bruit.collection.methods import ADAPTIVE, KINDS, Method, base_name
from bruit.collection.prior import Weights, clean_prior, prior_frequencies
from bruit.collection.sample import Sample, clean_weights
from bruit.collection.several import SeveralSampled
from bruit.collection.single import Single
from bruit.collection.split import Split, clean_budgets
from bruit.domains import Schema
from bruit.domains.schema import clean_tables
from bruit.errors import LimitError, ParameterError, ParameterTypeError

#: The most attributes of a person.
MOST_ATTRIBUTES = 1024
#: The most attributes of which the best number to sample is looked for: every number is tried.
MOST_COMPARED = 32


@dataclass(frozen=True, eq=False)
class Resolved:
    """Parameters of a plan in their final form, and the design that they give."""

    design: Design
    epsilon: float
    method: str
    inner: float | None
    unit: Unit = "person"
    budgets: Mapping[str, float] | None = None
    weights: Mapping[str, int] | None = None
    prior: Mapping[str, Weights] | None = None
    bases: Mapping[str, str] | None = None
    tables: tuple[tuple[str, ...], ...] | None = None

    def options(self) -> dict[str, Any]:
        """What was given beyond ε and the method, for documents."""
        options: dict[str, Any] = {}
        for name in ("budgets", "weights", "prior", "bases"):
            value = getattr(self, name)
            if value is not None:
                options[name] = {key: list(item) if isinstance(item, tuple) else item for key, item in value.items()}
        if self.tables is not None:
            options["tables"] = [list(names) for names in self.tables]
        return options


class Stated(NamedTuple):
    """What a document says of fakes: the ε' of true reports, and what ADP took for each attribute.

    Both are confirmed instead of looked for, which takes a few trials instead of hundreds. Whatever was taken, what is
    promised is computed from it.
    """

    epsilon: Any
    names: Mapping[str, str]


class Options(NamedTuple):
    """What a method may take besides ε, as it was given: each belongs to some methods, and is None for the others."""

    budgets: Any = None
    weights: Any = None
    prior: Any = None
    bases: Any = None
    tables: Any = None


class PlanRequest(NamedTuple):
    """Schema, method and ε of a plan for several attributes, and the frequencies for which ADP chooses."""

    schema: Schema
    method: Method
    epsilon: float
    unit: Unit
    bases: dict[str, str] | None
    published: bool
    frequencies: dict[str, Floats]
    stated: Stated | None = None

    def base(self, name: str) -> str:
        """The mechanism that an attribute is to have."""
        return (self.bases or {}).get(name, self.method.base)

    def mechanism(self, name: str, epsilon: float) -> mechanisms.Mechanism:
        """The mechanism of an attribute at this ε."""
        return mechanisms.mechanism(
            self.base(name), self.schema[name], epsilon, self.frequencies[name], published=self.published
        )


def resolve(
    schema: Schema,
    method: Method,
    epsilon: Any,
    options: Options,
    *,
    unit: Unit,
    published: bool = False,
    frequencies: Mapping[str, Any] | None = None,
    stated: Stated | None = None,
) -> Resolved:
    """Check everything and make the design; ADP chooses for these frequencies where they are known."""
    if method == Method("one", ADAPTIVE) and len(schema) > 1:
        method = Method("SMP", ADAPTIVE)
    _refuse(method, options)
    if method.kind == "one":
        return _single(schema, method.base, epsilon, unit)
    _check_schema(schema, method)
    if method.kind == "TAB":
        budget = _checks.epsilon(epsilon=epsilon)
        return _cross_tables(schema, method, budget, unit, options)
    shares = clean_prior(options.prior, schema) if options.prior is not None else {}
    known = {**prior_frequencies(shares), **(frequencies or {})}
    request = PlanRequest(
        schema,
        method,
        _checks.epsilon(epsilon=epsilon),
        unit,
        _clean_bases(options.bases, schema, method),
        published,
        criterion.expected_frequencies(schema, known),
        stated,
    )
    if method.fakes:
        return _fake(request, shares)
    if method.kind == "SMPk":
        return _best_sampled(request) if method.sampled is None else _several_sampled(request, method.sampled)
    return _sample(request, options.weights) if method.kind == "SMP" else _split(request, options.budgets)


def _refuse(method: Method, options: Options) -> None:
    """An error for a parameter that the method does not take."""
    for name, value in options._asdict().items():
        if value is not None and method.kind not in _TAKEN_BY[name]:
            raise ParameterError(f"{name} belongs to {' and '.join(_TAKEN_BY[name])}, not to {method}.")
    if method.kind == "RS+RFD" and options.prior is None:
        raise ParameterError("RS+RFD needs a prior: the frequencies that the fakes of each attribute follow.")


_TAKEN_BY = {
    "budgets": ["SPL"],
    "weights": ["SMP", "TAB"],
    "prior": ["RS+RFD"],
    "bases": [kind for kind in KINDS if kind != "TAB"],
    "tables": ["TAB"],
}


def _single(schema: Schema, name: str, epsilon: Any, unit: Unit) -> Resolved:
    if len(schema) != 1:
        raise ParameterError(
            f"{name} alone asks one question per person, this schema has {len(schema)}: "
            f"name what to do with them, as in SPL[{name}], SMP[{name}] or RS+FD[GRR]."
        )
    attribute = next(iter(schema.values()))
    of_numbers, chosen = mechanisms.is_number(name), name == ADAPTIVE
    if attribute.domain.gives == "mean" and not (of_numbers or chosen):
        raise ParameterError(f"{name} asks for a category: declare labels or k for {attribute.name!r}, not a grid.")
    (frequency,) = criterion.expected_frequencies(schema, None).values()
    budget = _checks.epsilon(epsilon=epsilon) if chosen else epsilon  # Warner's survey with two coins needs none
    mechanism = mechanisms.mechanism(name.lower() if of_numbers else name, attribute, budget, frequency)
    method = mechanism.name if chosen else name
    return Resolved(Single(schema, {attribute.name: mechanism}), mechanism.epsilon, method, mechanism.epsilon, unit)


def own(schema: Schema, mechanism: mechanisms.Mechanism, unit: Unit) -> Resolved:
    """A plan for one question that goes through this very mechanism."""
    single = Single(schema, dict.fromkeys(schema, mechanism))
    return Resolved(single, mechanism.epsilon, mechanism.name, mechanism.epsilon, unit)


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


def _clean_bases(bases: Any, schema: Schema, method: Method) -> dict[str, str] | None:
    if bases is None:
        return None
    if not isinstance(bases, Mapping):
        raise ParameterTypeError('bases must be a mapping from attribute to a mechanism, as in {"age": "hybrid"}.')
    if not set(bases) <= set(schema):
        raise ParameterError("bases must name attributes of the schema.")
    return {name: base_name(method.kind, bases[name]) for name in schema if name in bases}


def _split(request: PlanRequest, budgets: Any) -> Resolved:
    parts = clean_budgets(budgets, request.schema, request.epsilon, request.unit)
    chosen = {name: request.mechanism(name, parts[name]) for name in request.schema}
    return Resolved(
        Split(request.schema, chosen),
        request.epsilon,
        str(request.method),
        inner=None if budgets is not None else next(iter(parts.values())),
        unit=request.unit,
        budgets=None if budgets is None else parts,
        bases=request.bases,
    )


def _sample(request: PlanRequest, weights: Any) -> Resolved:
    drawn = clean_weights(weights, request.schema)
    chosen = {name: request.mechanism(name, request.epsilon) for name in request.schema}
    return Resolved(
        Sample(request.schema, chosen, drawn),
        request.epsilon,
        str(request.method),
        inner=request.epsilon,
        unit=request.unit,
        weights=None if weights is None else drawn,
        bases=request.bases,
    )


def _several_sampled(request: PlanRequest, sampled: int) -> Resolved:
    d, base = len(request.schema), request.method.base
    if sampled >= d:
        raise ParameterError(
            f"{request.method} draws {sampled} of {d} attributes: draw fewer than there are, as in SMP{d - 1}[{base}], "
            f"or report every one, with SPL[{base}]."
            if d > 2
            else f"{request.method} draws {sampled} of 2 attributes: take SMP[{base}], or SPL[{base}] for both."
        )
    part = rounding.share(request.epsilon, sampled) if request.unit == "person" else request.epsilon
    chosen = {name: request.mechanism(name, part) for name in request.schema}
    return Resolved(
        SeveralSampled(request.schema, chosen, sampled),
        request.epsilon,
        str(request.method),
        inner=part,
        unit=request.unit,
        bases=request.bases,
    )


def _best_sampled(request: PlanRequest) -> Resolved:
    """The number of attributes of least error, from one (SMP) to all (SPL), by the criterion of ADP."""
    d, base = len(request.schema), request.method.base
    if d > MOST_COMPARED:
        raise LimitError(
            f"The best k is looked for among at most {MOST_COMPARED} attributes, this schema has {d:,}: "
            f"name k, as in SMP2[{base}]."
        )

    def resolved(sampled: int) -> Resolved:
        if sampled == 1:
            return _sample(request._replace(method=Method("SMP", base)), None)
        if sampled == d:
            return _split(request._replace(method=Method("SPL", base)), None)
        return _several_sampled(request._replace(method=Method("SMPk", base, sampled)), sampled)

    def error(option: Resolved) -> float:
        return criterion.plan_error(
            {name: option.design.variance(name, own, 1, "population") for name, own in request.frequencies.items()}
        )

    return criterion.least((resolved(sampled) for sampled in range(1, d + 1)), error)


def _cross_tables(schema: Schema, method: Method, epsilon: float, unit: Unit, options: Options) -> Resolved:
    wanted = clean_tables(options.tables, schema, least=2)
    cross_tables.check_sizes(wanted, schema)
    cells = cross_tables.table_schema(wanted, schema)
    frequencies = criterion.expected_frequencies(cells, None)
    chosen = {
        name: mechanisms.mechanism(method.base, attribute, epsilon, frequencies[name])
        for name, attribute in cells.items()
    }
    shares = cross_tables.clean_shares(options.weights, chosen)
    drawn = Sample(cells, chosen, clean_weights(shares, cells))
    return Resolved(
        cross_tables.CrossTables(schema, chosen, wanted, drawn),
        epsilon,
        str(method),
        inner=epsilon,
        unit=unit,
        weights=None if shares is None else drawn.weights,
        tables=wanted if options.tables is not None else None,
    )


def _fake(request: PlanRequest, shares: Mapping[str, Weights]) -> Resolved:
    fakes = FakeMaker(request, shares)
    together = ADAPTIVE in fakes.names.values() and request.unit == "attribute" and not request.published
    solved = fakes.best_together() if together else fakes.solve(fakes.names)
    return Resolved(
        solved.design,
        request.epsilon,
        str(request.method),
        inner=solved.epsilon,
        # The papers' ε speaks of an attribute, at best.
        unit="attribute" if request.published else request.unit,
        prior=shares or None,
        bases=request.bases,
    )


class Solved(NamedTuple):
    """A design with fakes, and the ε' of a true report."""

    epsilon: float
    design: Fake


class FakeMaker:
    """Designs with fakes for one request, by the names of their mechanisms."""

    def __init__(self, request: PlanRequest, shares: Mapping[str, Weights]) -> None:
        schema, self.request = request.schema, request
        self.names = {name: self._name(name) for name in schema}
        self.places = {
            name: FakePlace(request.method.kind, attribute, len(schema), request.frequencies[name], shares.get(name))
            for name, attribute in schema.items()
        }

    def _name(self, attribute: str) -> str:
        """The name in the brackets; what ADP took, where a document states it."""
        name, stated = self.request.base(attribute), self.request.stated
        if name != ADAPTIVE or stated is None:
            return name
        return base_name(self.request.method.kind, stated.names.get(attribute))

    def design(self, names: Mapping[str, str], inner: float) -> Fake:
        """The design whose true reports have this ε'."""
        columns = {
            name: fake_column(place, names[name], inner, published=self.request.published)
            for name, place in self.places.items()
        }
        return Fake.of(self.request.schema, self.request.method.kind, columns)

    def solve(self, names: Mapping[str, str]) -> Solved:
        """The design with the ε' that was asked for: ε for a person, the papers', or what gives one attribute ε."""
        request = self.request
        if request.published:
            inner = _checks.epsilon(inner_epsilon=math.log1p(len(request.schema) * math.expm1(request.epsilon)))
        elif request.unit == "person":
            inner = request.epsilon
        else:
            inner = self._inner(names)
        return Solved(inner, self.design(names, inner))

    def _inner(self, names: Mapping[str, str]) -> float:
        """The ε' that gives one attribute ε."""

        def ratio(trial: float) -> Fraction:
            return self.design(names, trial).ratio("attribute")

        stated, epsilon = self.request.stated, self.request.epsilon
        if stated is None:
            return guarantees.solve(ratio, epsilon)
        inner = _checks.epsilon(inner_epsilon=stated.epsilon)
        if not guarantees.solves(ratio, epsilon, inner):
            raise ParameterError("The ε of the mechanisms is not the one that gives an attribute this ε.")
        return inner

    def best_together(self) -> Solved:
        """The best for ADP where ε' depends on the mechanisms of all attributes together.

        Tried are one mechanism for all, and the best for each attribute at the ε' of each of these. Nobody knows that
        nothing else is better; nothing that takes one mechanism for all is.
        """
        kind = self.request.method.kind
        singles = criterion.able(CANDIDATES[kind], lambda base: self.solve(self._with(base)))
        mixed = {tuple(self.design(self.names, single.epsilon).bases.items()) for single in singles}
        solved = [*singles, *(self.solve(dict(names)) for names in sorted(mixed))]
        return criterion.least(solved, lambda option: self._error(option.design))

    def _with(self, base: str) -> dict[str, str]:
        return {name: base if chosen == ADAPTIVE else chosen for name, chosen in self.names.items()}

    def _error(self, design: Fake) -> float:
        variances = {
            name: design.variance(name, frequency, 1, "population")
            for name, frequency in self.request.frequencies.items()
        }
        return criterion.plan_error(variances)
