"""Which mechanism an attribute gets: by name, or the one of least error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from bruit import referrals
from bruit.collection import criterion
from bruit.collection.criterion import Floats
from bruit.domains import Attribute, Categories
from bruit.errors import ParameterError
from bruit.numbers import Number, number
from bruit.numbers import from_dict as number_from_dict
from bruit.oracles import Oracle, oracle
from bruit.oracles import from_dict as oracle_from_dict
from bruit.privacy.guarantee import Guarantee

#: What can make one answer private.
Mechanism: TypeAlias = Oracle | Number

#: The name that stands for the mechanism of least error.
ADAPTIVE = "ADP"

#: What ADP chooses from, the first of equals. The papers know two, and choose by the variance of a rare value. Local
#: hashing is not among them: it has more variance than SS, and counting takes a step per report and value.
CANDIDATES = ("GRR", "SS", "PGR", "HR", "OUE", "SUE")
PUBLISHED_CANDIDATES = ("GRR", "OUE")
#: The most bytes of a report, where there is a choice: a quarter of a million reports of SS on 10⁶ values are 32 GB,
#: and those of PGR, with some per cent more variance at most, are 1 MB.
MOST_BYTES = 1024
#: What it chooses from for a number, by the variance of a mean in the worst case: that of a mean depends on the numbers
#: that people have, which nobody knows beforehand.
FOR_NUMBERS = ("hybrid", "piecewise", "duchi", "square-wave")


def mechanism(
    name: str, attribute: Attribute, epsilon: float, frequency: Floats, *, published: bool = False
) -> Mechanism:
    """The mechanism with this name for an attribute; ADP takes the best where values have these frequencies.

    A number mechanism needs a grid. An oracle on a grid takes its cells for categories.
    """
    if name == ADAPTIVE:
        if attribute.domain.gives == "mean":
            return _best_number(attribute, epsilon)
        return _best_oracle(attribute, epsilon, frequency, published=published)
    if name in Number.kinds:
        return _number(name, attribute, epsilon)
    return category(name, attribute, epsilon)


def _best_number(attribute: Attribute, epsilon: float) -> Number:
    candidates = criterion.able(FOR_NUMBERS, lambda name: _number(name, attribute, epsilon))
    return criterion.least(candidates, lambda candidate: candidate.worst_variance)


def _best_oracle(attribute: Attribute, epsilon: float, frequency: Floats, *, published: bool) -> Oracle:
    names = PUBLISHED_CANDIDATES if published else CANDIDATES
    criterion.choosing(names, attribute.size)
    candidates = criterion.able(names, lambda name: category(name, attribute, epsilon))
    if published:
        return min(candidates, key=lambda candidate: candidate.typical_variance(0.0, 1))
    short = [candidate for candidate in candidates if candidate.report_bytes <= MOST_BYTES]
    return criterion.least(short, lambda candidate: criterion.attribute_error(candidate.variance(frequency, 1)))


def category(name: str, attribute: Attribute, epsilon: float | None, **settings: Any) -> Oracle:
    """The oracle with this name over the codes of an attribute."""
    domain = attribute.domain
    if name not in Oracle.kinds:
        refer(name)  # `oracle` takes a published setting, which documents do not name
    if isinstance(domain, Categories):
        return oracle(name, epsilon=epsilon, domain=domain, **settings)
    return oracle(name, epsilon=epsilon, k=domain.size, **settings)


def refer(name: Any) -> None:
    """Refuse a name of the literature that no mechanism of a plan has, with what to write in its place."""
    referral = referrals.known(name)
    if referral and name.lower() not in map(str.lower, (*Oracle.kinds, *Number.kinds)):
        taken = f" In a plan, and after --method: {referral.in_plans}." if referral.in_plans else ""
        raise ParameterError(f"{referral.text}{taken}")


def metric_of(mechanisms: Mapping[str, Mechanism]) -> Guarantee | None:
    """What the mechanism of a plan promises of nearby answers, where its ε is per distance."""
    return next((known.metric for known in mechanisms.values() if known.metric is not None), None)


def metric_facts(mechanisms: Mapping[str, Mechanism]) -> dict[str, Any]:
    """The same for documents; nothing where no ε is per distance."""
    nearby = metric_of(mechanisms)
    return {} if nearby is None else {"metric_guarantee": nearby.to_dict()}


def check_ordinary(mechanisms: Mapping[str, Mechanism], what: str) -> None:
    """Refuse mechanisms whose ε is per distance, where something states an ε of any two answers."""
    if metric_of(mechanisms) is not None:
        raise ParameterError(f"{what} states an ε of any two answers, and none per distance: name another method.")


def described(body: Mapping[str, Any], attribute: Attribute) -> Mechanism:
    """The mechanism that a plan's document describes for an attribute."""
    whole = {**body, "domain": attribute.domain.to_dict()}
    return number_from_dict(whole) if "number" in body else oracle_from_dict(whole)


def is_number(name: Any) -> bool:
    """Whether this is the name of a number mechanism."""
    return name in Number.kinds and name not in Oracle.kinds


def _number(name: str, attribute: Attribute, epsilon: float) -> Number:
    domain: Any = attribute.domain
    if domain.gives != "mean" and Number.kinds[name].kind.metric is not Number.metric:
        raise ParameterError(
            f"{name} has ε per distance, and is for one number in a plan of its own: {attribute.name!r} is a category."
        )
    if domain.gives != "mean":
        raise ParameterError(
            f"{name} asks for a number, and {attribute.name!r} is a category: name an oracle for it, "
            f'as in mechanisms={{{attribute.name!r}: "OUE"}}, or declare a grid.'
        )
    if domain.missing == "category":
        raise ParameterError(
            f'{name} has no category for missing numbers: declare {attribute.name!r} with missing="refuse", or name '
            "an oracle for it in mechanisms, which takes cells for categories."
        )
    return number(name, epsilon=epsilon, domain=domain)
