"""Which mechanism an attribute gets: by name, or the one of least variance."""

from __future__ import annotations

from typing import Any, TypeAlias

from bruit import numbers, oracles
from bruit.collection.methods import ADAPTIVE
from bruit.domains import MISSING_LABEL, Attribute, Categories, Grid
from bruit.errors import ParameterError
from bruit.numbers import Number, number
from bruit.oracles import Oracle, oracle

#: What can make one answer private.
Mechanism: TypeAlias = Oracle | Number

#: What ADP chooses from, the first of equals: least variance of a rare value. The papers know the first two only.
CANDIDATES = ("GRR", "OUE", "SS")
PUBLISHED_CANDIDATES = ("GRR", "OUE")
#: What ADP takes for a number: never worse in the worst case than the others that estimate a mean.
FOR_NUMBERS = "hybrid"


def mechanism(name: str, attribute: Attribute, epsilon: float, *, published: bool = False) -> Mechanism:
    """The mechanism with this name for an attribute; ADP finds its own.

    A number mechanism needs a grid. An oracle on a grid takes its cells for categories.
    """
    if name == ADAPTIVE:
        if isinstance(attribute.domain, Grid):
            return _number(FOR_NUMBERS, attribute, epsilon)
        candidates = PUBLISHED_CANDIDATES if published else CANDIDATES
        made = [category(candidate, attribute, epsilon) for candidate in candidates]
        return min(made, key=lambda found: found.typical_variance(0.0, 1))
    if name in numbers.NAMES:
        return _number(name, attribute, epsilon)
    return category(name, attribute, epsilon)


def category(name: str, attribute: Attribute, epsilon: float | None, **settings: Any) -> Oracle:
    """The oracle with this name over the codes of an attribute."""
    domain = attribute.domain
    if isinstance(domain, Categories):
        given: dict[str, Any] = {"labels": domain.labels} if domain.labels is not None else {"k": domain.k}
        return oracle(name, epsilon=epsilon, missing=domain.missing, **given, **settings)
    return oracle(name, epsilon=epsilon, k=domain.size, **settings)


def labels(attribute: Attribute) -> tuple[Any, ...]:
    """One label per code, as estimates show them."""
    if isinstance(attribute.domain, Grid) and attribute.domain.missing == "category":
        return (*attribute.labels[:-1], MISSING_LABEL)
    return attribute.labels


def is_number(name: Any) -> bool:
    """Whether this is the name of a number mechanism."""
    return isinstance(name, str) and name.lower() in numbers.NAMES and name.lower() not in map(str.lower, oracles.NAMES)


def _number(name: str, attribute: Attribute, epsilon: float) -> Number:
    domain = attribute.domain
    if not isinstance(domain, Grid):
        raise ParameterError(
            f"{name} asks for a number, and {attribute.name!r} is a category: name an oracle for it, "
            f'as in bases={{{attribute.name!r}: "OUE"}}, or declare a grid.'
        )
    if domain.missing == "category":
        raise ParameterError(
            f'{name} has no category for missing numbers: declare {attribute.name!r} with missing="refuse", or name '
            "an oracle for it in bases, which takes cells for categories."
        )
    return number(name, epsilon=epsilon, bounds=(domain.low, domain.high), cells=domain.cells, missing=domain.missing)
