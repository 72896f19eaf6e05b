"""Randomised reports as columns that a model can learn from: the reported values, or unbiased scores of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.collection import Plan
from bruit.collection.bases import Mechanism
from bruit.domains import Attribute, Categories, Grid
from bruit.errors import ParameterError
from bruit.numbers import Number
from bruit.oracles import RandomizedResponse
from bruit.oracles.base import SupportOracle
from bruit.oracles.packed import PackedOracle

#: What becomes of a report: the value it names, or a score whose mean, given the person's own value, is that value.
Output: TypeAlias = Literal["values", "unbiased"]


class Column(NamedTuple):
    """One feature: its name, and what a column of reports gives for it."""

    name: str
    of: Callable[[NDArray[Any]], NDArray[Any]]


def check_plan(plan: Plan) -> None:
    """An error, with its reason, for a plan whose reports are no table of values."""
    if plan.kind == "SMP":
        raise ParameterError(
            f"{plan.method} reports one attribute of each person, so all others would be missing, and what a model "
            'learns from, several attributes of the same person, is never seen. Use "SPL", which reports every one.'
        )
    if plan.kind not in ("one", "SPL"):
        raise ParameterError(
            f"With {plan.method} all attributes of a person but one are fake, and a model would learn from the fakes. "
            'Use "SPL", which reports every attribute.'
        )
    for name, mechanism in plan.mechanisms.items():
        if plan.schema[name].domain.missing == "drop":
            raise ParameterError(
                f'{name!r} drops people, and a table keeps its rows: declare missing="refuse" and leave the rows of '
                'these people out, or for a category declare missing="category".'
            )
        if not is_readable(mechanism):
            raise ParameterError(
                f"A report of {mechanism.name} is neither a value nor one bit per value, so {name!r} would be no "
                f'feature. Name another mechanism for it, as in bases={{{name!r}: "GRR"}}.'
            )


def is_readable(mechanism: Mechanism) -> bool:
    """Whether a report is a value, or one bit per value."""
    return isinstance(mechanism, Number | RandomizedResponse | PackedOracle)


def columns(plan: Plan, output: Output) -> dict[str, list[Column]]:
    """The features that each attribute gives, by the attribute's name."""
    found = _values if output == "values" else _scores
    return {name: list(found(plan.schema[name], mechanism)) for name, mechanism in plan.mechanisms.items()}


def _values(attribute: Attribute, mechanism: Mechanism) -> Iterator[Column]:
    if isinstance(mechanism, Number):
        yield Column(attribute.name, mechanism.decode)
    elif isinstance(mechanism, PackedOracle):
        yield from _bits(attribute, mechanism, 0, 1)
    else:
        table = _table(attribute)
        yield Column(attribute.name, lambda reports: table[reports])


def _scores(attribute: Attribute, mechanism: Mechanism) -> Iterator[Column]:
    if isinstance(mechanism, Number):
        scores = mechanism.scores
        yield Column(attribute.name, lambda reports: scores[reports])
        return
    # E[1{v reported} | x] is p where v is x and q elsewhere, so (1{v} − q)/(p − q) has mean 1 and 0.
    assert isinstance(mechanism, SupportOracle)  # noqa: S101 -- check_plan lets no other pass
    shift, scale = float(mechanism.q), float(1 / (mechanism.p - mechanism.q))
    if isinstance(mechanism, PackedOracle):
        yield from _bits(attribute, mechanism, shift, scale)
    elif isinstance(attribute.domain, Grid):
        if attribute.domain.missing == "category":
            raise ParameterError(
                f'No score of {attribute.name!r} is unbiased for a missing number: use output="values".'
            )
        points = attribute.domain.points
        table = (points - shift * points.sum()) * scale
        yield Column(attribute.name, lambda reports: table[reports])
    else:
        for code, label in enumerate(attribute.labels):
            own = (np.arange(attribute.size) == code) * scale - shift * scale
            yield Column(f"{attribute.name}_{label}", own.__getitem__)


def _bits(attribute: Attribute, mechanism: PackedOracle, shift: float, scale: float) -> Iterator[Column]:
    """A column for each value: whether its bit is set, moved and stretched."""
    for code, label in enumerate(attribute.labels):

        def bit(reports: NDArray[Any], code: int = code) -> NDArray[Any]:
            return ((reports[:, code >> 3] >> (code & 7) & 1) - shift) * scale

        yield Column(f"{attribute.name}_{label}", bit)


def _table(attribute: Attribute) -> NDArray[Any]:
    """The value behind each code, in the dtype that such values have in a table."""
    domain = attribute.domain
    values = domain.decode(np.arange(domain.size))
    plain = isinstance(domain, Categories) and len({type(label) for label in domain.names}) == 1
    return np.array(domain.names) if plain and not isinstance(domain.names[0], str) else values
