"""Priors for fakes: frequencies above zero, rounded to whole numbers of units of 2⁻⁶⁴."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.collection.answers import Answers
from bruit.domains import Schema
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation import Estimate
from bruit.estimation.consistency import norm_sub
from bruit.laws.words import WORD_BITS
from bruit.privacy import Guarantee, Ledger
from bruit.privacy.composition import sequential
from bruit.privacy.ledger import Part

#: How far the sum of given frequencies may be from 1, for those that were rounded.
_NEAR_ONE = Fraction(1, 50)
#: Whole numbers with the sum 2⁶⁴, each 1 or above.
Weights = tuple[int, ...]

_UNIT = 2**WORD_BITS


def clean_prior(given: Any, schema: Schema) -> dict[str, Weights]:
    """The exact weights of every attribute's values."""
    if not isinstance(given, Mapping):
        raise ParameterTypeError("prior must be a mapping from attribute to the frequencies of its values.")
    if set(given) != set(schema):
        missing, unknown = sorted(set(schema) - set(given)), sorted(map(str, set(given) - set(schema)))
        told = [f"lacks {name!r}" for name in missing] + [f"has {name!r}, which is none of them" for name in unknown]
        raise ParameterError(f"prior must name every attribute of the schema, and no other: it {', '.join(told[:4])}.")
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
    total = sum(shares, Fraction(0))
    if any(share.denominator > 1 for share in shares) and abs(total - 1) > _NEAR_ONE:
        raise ParameterError(f"The prior of {name!r} must sum to 1, or be whole numbers (counts).")
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


def prior_frequencies(prior: Mapping[str, Weights] | None) -> dict[str, NDArray[np.float64]]:
    """The frequencies that the fakes of every attribute follow; nothing where there is no prior."""
    return {name: frequencies(shares) for name, shares in (prior or {}).items()}


def learnt_prior(
    answers: Mapping[str, Any], *, floor: float = 0.01, ledger: Ledger | Part | None = None, label: str = "prior"
) -> dict[str, list[float]]:
    """A prior from what was learnt before, with a little of every value.

    What was learnt has been paid for by those who were asked then; making a prior of it costs nothing more. Who is
    asked again by the plan that uses the prior pays for both rounds, and anybody else for one.

    Parameters
    ----------
    answers
        By attribute: estimates, as `Plan.estimate` gives them, or noisy counts of its values in their order, as
        `bruit.releases.Histogram` gives them.
    floor
        The share of the prior that is spread evenly over all values, so that none is 0.
    ledger
        Where to book what the estimates cost, if that was not done before people were asked; a part of a ledger's
        parallel block where they are other people than the next round's. If it is refused, there is no prior. The
        answers of one plan are booked once, at the plan's guarantee for a person; separate estimates add. A release
        is booked where it is made, and is refused here.
    label
        What the ledger writes down; public.

    Examples
    --------
    >>> import bruit
    >>> earlier = bruit.Plan({"a": ["x", "y"], "b": ["u", "v"]}, 0.5, "SMP[GRR]")
    >>> people = {"a": ["x"] * 900 + ["y"] * 100, "b": ["u"] * 500 + ["v"] * 500}
    >>> answers = earlier.estimate(earlier.tally(earlier.privatize(people, rng=7)))
    >>> ledger = bruit.Ledger(epsilon=1.5, neighbours="person")
    >>> later = bruit.Plan(earlier.schema, 1.0, "RS+RFD[GRR]", prior=learnt_prior(answers, ledger=ledger))
    >>> entry = ledger.spend(later.guarantee("person"), "the survey")
    >>> round(ledger.spent.epsilon, 6)
    1.5
    """
    share = _checks.probability(floor=floor)
    if not isinstance(answers, Mapping) or not answers:
        raise ParameterTypeError("answers must be a mapping from attribute to what was learnt of it.")
    found = {name: never_zero(_learnt(name, answers[name]), share) for name in answers}
    if ledger is not None:
        ledger.spend(_cost(answers), label)
    return found


def never_zero(raw: Any, floor: float) -> list[float]:
    """Estimated frequencies put on the simplex, with this share spread evenly over all values.

    >>> never_zero([1.5, -0.5], 0.5)
    [0.75, 0.25]
    """
    found = norm_sub(np.asarray(raw, float))
    mixed: list[float] = ((1 - floor) * found + floor / found.size).tolist()
    return mixed


def _learnt(name: str, answer: Any) -> Any:
    """The frequencies of an attribute, as they were estimated or counted."""
    if isinstance(answer, Estimate):
        return answer.frequency
    if _is_histogram(answer):
        counts = np.asarray(answer.values, float)
        total = float(counts.sum())
        # Noise alone can leave nobody: then nothing was learnt.
        return counts / total if total > 0 else np.full(counts.size, 1 / counts.size)
    raise ParameterTypeError(f"The estimate of {name!r} must be of frequencies, or a histogram, not of a mean.")


def _is_histogram(answer: Any) -> bool:
    """Whether this is a release of noisy counts; releases are neighbours, known by what they have."""
    about = getattr(answer, "statistic", None)
    return isinstance(about, Mapping) and about.get("kind") == "histogram" and "by" not in about


def _cost(answers: Mapping[str, Any]) -> Guarantee:
    """What those who were asked have paid."""
    if any(_is_histogram(answer) for answer in answers.values()):
        raise ParameterError("A release is booked before its noise is drawn: give the ledger to the release, not here.")
    paid = [_of_a_person(answer.guarantee) for answer in answers.values()]
    # Every answer of one plan carries the guarantee of the whole plan.
    return paid[0] if isinstance(answers, Answers) else sequential(paid)


def _of_a_person(guarantee: Guarantee) -> Guarantee:
    """One answer, when it is all that a survey asked: whatever else changes in the record, its report does not."""
    return replace(guarantee, neighbours="person") if guarantee.neighbours == "value" else guarantee


def _share(value: Any, name: str) -> Fraction:
    if isinstance(value, str):  # as documents keep whole numbers that are too large for JSON
        return Fraction(documents.whole_number(value, "A weight"))
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return Fraction(value)
    return Fraction(_checks.non_negative(**{f"The prior of {name!r}": value}))
