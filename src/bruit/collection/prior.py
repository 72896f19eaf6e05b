"""Priors for fakes: frequencies above zero, rounded to whole numbers of units of 2⁻⁶⁴."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.collection.answers import Answers
from bruit.domains import Attribute, Schema
from bruit.errors import DesignError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.estimation import Estimate
from bruit.estimation.consistency import norm_sub
from bruit.laws.words import WORD_BITS
from bruit.privacy import Guarantee, Ledger
from bruit.privacy.booking import Charge, booked
from bruit.privacy.composition import sequential
from bruit.privacy.ledger import Part

#: How far the sum of given frequencies may be from 1, for those that were rounded.
_NEAR_ONE = Fraction(1, 50)
#: Whole numbers with the sum 2⁶⁴, each 1 or above.
Weights = tuple[int, ...]

_UNIT = 2**WORD_BITS


def clean_prior(prior: Any, schema: Schema) -> dict[str, Weights]:
    """The exact weights of every attribute's values."""
    if not isinstance(prior, Mapping):
        raise ParameterTypeError("prior must be a mapping from attribute to the frequencies of its values.")
    if set(prior) != set(schema):
        missing, unknown = sorted(set(schema) - set(prior)), sorted(map(str, set(prior) - set(schema)))
        faults = [f"lacks {name!r}" for name in missing] + [f"has {name!r}, which is none of them" for name in unknown]
        raise ParameterError(
            f"prior must name every attribute of the schema, and no other: it {', '.join(faults[:4])}."
        )
    return {name: weights(prior[name], attribute.size, name) for name, attribute in schema.items()}


def weights(frequencies: Any, size: int, name: str = "prior") -> Weights:
    """Frequencies as whole numbers of sum 2⁶⁴, none of them 0; such numbers stay as they are.

    >>> [weight / 2**64 for weight in weights([3, 1], 2)]
    [0.75, 0.25]
    """
    shares = [_share(value, name) for value in np.asarray(frequencies, object).ravel().tolist()]
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
    rounded = [max(1, int(share)) for share in exact]
    # What rounding down left over goes where it took most; what "never below 1" added comes off the largest.
    spare = _UNIT - sum(rounded)
    for place in sorted(range(size), key=lambda place: exact[place] - rounded[place], reverse=True)[: max(spare, 0)]:
        rounded[place] += 1
    if spare < 0:
        rounded[rounded.index(max(rounded))] += spare
    return tuple(rounded)


def frequencies(shares: Weights) -> NDArray[np.float64]:
    """The weights as frequencies."""
    return np.array([weight / _UNIT for weight in shares])


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
    >>> prior = learnt_prior(answers, ledger=ledger)
    >>> later = bruit.Plan(earlier.schema, 1.0, bruit.collection.RSRFD("GRR", prior=prior))
    >>> entry = ledger.spend(later.guarantee, "the survey")
    >>> round(ledger.spent.epsilon, 6)
    1.5
    """
    share = _checks.probability(floor=floor)
    if not isinstance(answers, Mapping) or not answers:
        raise ParameterTypeError("answers must be a mapping from attribute to what was learnt of it.")
    prior = {name: never_zero(_learnt(name, answers[name]), share) for name in answers}
    if ledger is not None:
        booked(Charge(_cost(answers), label), ledger)
    return prior


def never_zero(raw: Any, floor: float) -> list[float]:
    """Estimated frequencies put on the simplex, with this share spread evenly over all values.

    >>> never_zero([1.5, -0.5], 0.5)
    [0.75, 0.25]
    """
    shares = norm_sub(np.asarray(raw, float))
    mixed: list[float] = ((1 - floor) * shares + floor / shares.size).tolist()
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


# Files.

#: The share of a learnt prior that is spread evenly over all values, as in `learnt_prior`.
FLOOR = 0.01
#: No estimate has a frequency beyond this, at any ε; beyond it doubles do not know what 1 is.
_MOST_SHARE = 1e9


@dataclass(frozen=True)
class Prior:
    """Frequencies by attribute, and what those paid from whom they were learnt; None if they come from elsewhere."""

    frequencies: dict[str, Any]
    paid: Guarantee | None = None

    def both_rounds(self, now: Guarantee) -> Guarantee | None:
        """What somebody pays who was asked for the prior and is asked again; None where that is not known."""
        if self.paid is None or self.paid.neighbours != now.neighbours:
            return None
        return sequential([self.paid, now])


def read_prior(path: Path, schema: Schema) -> Prior:
    """The prior in a file: frequencies by attribute, or what `bruit estimate --json` printed."""
    with translated((FileNotFoundError, ValueError, FormatError), lambda error: _unread(path, error)):
        content = documents.parsed(path.read_text(encoding="utf-8"), "prior")
    if isinstance(content, list) or (isinstance(content, dict) and "format" in content):
        return _prior_of(content if isinstance(content, list) else [content], schema)
    if not isinstance(content, dict) or not all(_is_numbers(shares) for shares in content.values()):
        raise FormatError(
            '--prior must be a file with the frequencies of each attribute, as in {"sex": [0.4, 0.6]}, or the output '
            "of bruit estimate --json."
        )
    return Prior(content)


def _unread(path: Path, error: Exception) -> FormatError:
    missing = isinstance(error, FileNotFoundError)
    return FormatError(f"There is no prior {path}." if missing else f"{path} must be JSON, encoded in UTF-8.")


def _is_numbers(shares: Any) -> bool:
    return isinstance(shares, list) and all(type(share) in (int, float) for share in shares)


def _prior_of(answers: list[Any], schema: Schema) -> Prior:
    """A prior from documents of estimates."""
    bodies = [documents.unseal(json.dumps(answer), "bruit.result/1") for answer in answers]
    prior = {str(body.get("name")): never_zero(_shares(body, schema), FLOOR) for body in bodies}
    if len(prior) < len(bodies) or not bodies:
        raise ParameterError("--prior must have one estimate of each attribute.")
    promised = [Guarantee.from_dict(body.get("guarantee")) for body in bodies]
    # Estimates from one plan carry the guarantee of the whole plan, and its digest; other ones add.
    plans = {str(body.get("plan", place)) for place, body in enumerate(bodies)}
    return Prior(prior, promised[0] if len(plans) == 1 and len(set(promised)) == 1 else sequential(promised))


def _shares(body: Mapping[str, Any], schema: Schema) -> list[float]:
    name, rows = body.get("name"), body.get("values")
    if not isinstance(name, str) or name not in schema:
        raise ParameterError("--prior must name attributes of the schema, and it estimates another one.")
    if not isinstance(rows, list):
        raise ParameterError(
            f"--prior has a mean of {name!r}, and frequencies are needed: plan the earlier round with an oracle, "
            f"as in --base {name}=OUE."
        )
    rule = "--prior has an estimate without labels and frequencies."
    with translated((KeyError, TypeError, ValueError), lambda _: FormatError(rule)):
        labels, shares = [row["label"] for row in rows], [float(row["frequency"]) for row in rows]
    if labels != _labels(schema[name]):
        raise DesignError(f"--prior speaks of other values of {name!r} than the plan, or has them in another order.")
    if not np.isfinite(shares).all() or np.abs(shares).max() > _MOST_SHARE:
        raise FormatError(f"--prior has frequencies of {name!r} that no estimate has.")
    return shares


def _labels(attribute: Attribute) -> list[Any]:
    """The labels as a document has them."""
    labels: list[Any] = json.loads(documents.canonical(list(attribute.labels)))
    return labels
