"""What plans are ranked by, and what ADP makes least: the mean variance of an estimated frequency.

`compare` and the choice of a mechanism call the same functions, so that what was chosen cannot lose by the ranking
that it is shown in. Without fakes, and with uniform ones, the mean over the k values of an attribute depends on their
frequencies only by −Σf²/k, which is the same for every mechanism (but HR, where its blocks differ), so the choice does
not. With fakes that follow a prior it does: there the frequencies are expected to be the prior unless others are known.

Rejected: the variance of a rare value, by which the papers choose. Where an attribute has few values none of them is
rare: with attributes of 3, 4, 2 and 2 values at ε = 3, RS+FD with mechanisms chosen so has 1.4 times the variance of
RS+FD[GRR].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit import documents
from bruit.domains import Schema
from bruit.errors import LimitError, ParameterError

Floats: TypeAlias = NDArray[np.float64]
Candidate = TypeVar("Candidate")

#: With this many people variances are in proportion to 1/n: what the drawing of attributes costs is nothing.
MANY = 1 << 50
#: Errors that differ by less than this share are equal; the first candidate is then taken.
ROUNDING = 1e-9


def attribute_error(variance: Floats) -> float:
    """The mean over the values of an attribute, from the variance of each frequency; of a number, that of its mean."""
    return float(np.mean(variance))


def plan_error(variances: Mapping[str, Floats]) -> float:
    """The mean over the attributes: what methods are ranked by."""
    return float(np.mean([attribute_error(variance) for variance in variances.values()]))


def expected_frequencies(schema: Schema, known: Mapping[str, Any] | None) -> dict[str, Floats]:
    """The frequencies of all attributes: those that are known, otherwise all values alike."""
    # One number that is seen as many: nothing is kept of them.
    frequencies: dict[str, Floats] = {
        name: np.broadcast_to(np.float64(1 / attribute.size), (attribute.size,)) for name, attribute in schema.items()
    }
    frequencies.update({name: np.asarray(shares, float) for name, shares in (known or {}).items()})
    for name, attribute in schema.items():
        if frequencies[name].shape != (attribute.size,):
            raise ParameterError(f"frequencies of {name!r} must be {attribute.size} numbers, one per value.")
    return frequencies


#: How many microseconds the error of a mechanism takes for each value of its attribute, about.
_VALUE_WORK = 0.005


def choosing(names: Iterable[str], size: int) -> None:
    """Declare the work of comparing these mechanisms over a domain of this size, before any of them is made."""
    documents.work(_VALUE_WORK * size * len(list(names)))


def able(names: Iterable[str], make: Callable[[str], Candidate]) -> list[Candidate]:
    """What `make` gives for each name, without those that exceed a limit; if all do, the first one's error."""
    candidates: list[Candidate] = []
    first: LimitError | None = None
    for name in names:
        try:
            candidates.append(make(name))
        except LimitError as error:
            first = first or error
    if first is not None and not candidates:
        raise first
    return candidates


def least(candidates: Iterable[Candidate], error: Callable[[Candidate], float]) -> Candidate:
    """The first candidate whose error is the least, but for rounding."""
    errors = [(error(candidate), candidate) for candidate in candidates]
    limit = min(amount for amount, _ in errors) * (1 + ROUNDING)
    return next(candidate for amount, candidate in errors if amount <= limit)
