"""Priors for fakes: frequencies above zero, rounded to whole numbers of units of 2⁻⁶⁴."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import Schema
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation import Estimate
from bruit.privacy.law import WORD_BITS

#: Whole numbers with the sum 2⁶⁴, each 1 or above.
Weights = tuple[int, ...]

_UNIT = 2**WORD_BITS


def clean_prior(given: Any, schema: Schema) -> dict[str, Weights]:
    """The exact weights of every attribute's values."""
    if not isinstance(given, Mapping):
        raise ParameterTypeError("prior must be a mapping from attribute to the frequencies of its values.")
    if set(given) != set(schema):
        raise ParameterError("prior must name every attribute of the schema, and no other.")
    return {name: weights(given[name], attribute.size, name) for name, attribute in schema.items()}


def weights(given: Any, size: int, name: str = "prior") -> Weights:
    """Frequencies as whole numbers of sum 2⁶⁴, none of them 0; such numbers stay as they are.

    >>> [weight / 2**64 for weight in weights([3, 1], 2)]
    [0.75, 0.25]
    """
    shares = [_share(value, name) for value in np.asarray(given, object).ravel().tolist()]
    if len(shares) != size:
        raise ParameterError(f"The prior of {name!r} must have {size} frequencies, one per value, got {len(shares)}.")
    if min(shares) <= 0:
        raise ParameterError(
            f"The prior of {name!r} must be above 0 for every value. A value that no fake ever has discloses, as soon "
            "as it is reported, that this is the sampled attribute: mix the prior with a little of each value."
        )
    total = sum(shares)
    exact = [share * _UNIT / total for share in shares]
    found = [max(1, int(share)) for share in exact]
    # What rounding down left over goes where it took most; what "never below 1" added comes off the largest.
    spare = _UNIT - sum(found)
    for place in sorted(range(size), key=lambda place: exact[place] - found[place], reverse=True)[: max(spare, 0)]:
        found[place] += 1
    if spare < 0:
        found[found.index(max(found))] += spare
    return tuple(found)


def frequencies(found: Weights) -> NDArray[np.float64]:
    """The weights as frequencies."""
    return np.array([weight / _UNIT for weight in found])


def learnt_prior(answers: Mapping[str, Any], *, floor: float = 0.01) -> dict[str, list[float]]:
    """A prior from the estimates of an earlier collection, with a little of every value.

    The estimates were paid for by those who answered then: this only rearranges them, and costs nothing more.

    Parameters
    ----------
    answers
        Estimates by attribute, as `Plan.estimate` gives them.
    floor
        The share of the prior that is spread evenly over all values, so that none is 0.

    Examples
    --------
    >>> import bruit
    >>> earlier = bruit.Plan({"a": ["x", "y"], "b": ["u", "v"]}, 1.0, "SMP[GRR]")
    >>> people = {"a": ["x"] * 900 + ["y"] * 100, "b": ["u"] * 500 + ["v"] * 500}
    >>> prior = learnt_prior(earlier.estimate(earlier.tally(earlier.privatize(people, rng=7))))
    >>> later = bruit.Plan(earlier.schema, 1.0, "RS+RFD[GRR]", prior=prior)
    """
    share = _checks.probability(floor=floor)
    return {name: _positive(name, answers[name], share) for name in answers}


def _positive(name: str, answer: Any, floor: float) -> list[float]:
    if not isinstance(answer, Estimate):
        raise ParameterTypeError(f"The estimate of {name!r} must be of frequencies, not of a mean.")
    found = answer.consistent("norm-sub").frequency
    mixed: list[float] = ((1 - floor) * found + floor / found.size).tolist()
    return mixed


def _share(value: Any, name: str) -> Fraction:
    if isinstance(value, str):  # as documents keep whole numbers that are too large for JSON
        return Fraction(documents.whole_number(value, "A weight"))
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return Fraction(value)
    return Fraction(_checks.non_negative(**{f"The prior of {name!r}": value}))
