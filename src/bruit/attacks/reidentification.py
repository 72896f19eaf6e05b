"""Finding a person in a table that the attacker has, from what they reported in several surveys.

Each survey gives a prediction or more: of the attribute that a person reported, the likeliest value behind the report.
Where fakes hide which attribute it is, the likeliest one is taken for it. Predictions add up to a profile, and the
records of the background table that agree with most of it are the nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.attacks.guess import best_guess
from bruit.attacks.people import how_many
from bruit.attacks.result import AttackResult, results_table, scored
from bruit.attacks.sampled_attribute import sampled_posterior
from bruit.collection import Plan
from bruit.collection.composite import AttributeReports
from bruit.collection.design import Reports
from bruit.collection.plan import without_public
from bruit.domains import Attribute, Schema
from bruit.domains.codes import Codes
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, ParameterError, ParameterTypeError
from bruit.tables import Table, Tabular, counted

Places: TypeAlias = NDArray[np.int64]

#: How many comparisons of a person with a record are held at a time.
CHUNK = 1 << 24


class Prediction(NamedTuple):
    """What a survey told about one attribute: whose, and which values were predicted."""

    name: str
    people: Places
    codes: Places


@dataclass(frozen=True, repr=False)
class Reidentification(Tabular):
    """How often a person is among the nearest records, for several numbers of records that are looked at.

    ``attack[10]`` is the result where the ten nearest are looked at.

    Examples
    --------
    >>> nearest = AttackResult(hits=3, n=10, baseline=0.1, description="re-identification, top 1")
    >>> Reidentification({1: nearest}).accuracy
    0.3
    """

    top: Mapping[int, AttackResult]

    @property
    def accuracy(self) -> float:
        """The rate with the fewest records looked at, which is one unless other numbers were asked for."""
        return self.top[min(self.top)].accuracy

    def __getitem__(self, nearest: int) -> AttackResult:
        """The result where this number of nearest records is looked at."""
        return self.top[nearest]

    def table(self) -> Table:
        """A row for each number of records: columns attack, rate, lower, upper, baseline, expected."""
        results = list(self.top.values())
        return results_table(f"Re-identification of {counted(results[0].n, 'person')}", results)


def reidentification(
    surveys: Sequence[Plan],
    table: Any,
    *,
    background: Any = None,
    known: Sequence[str] | None = None,
    top: Sequence[int] = (1, 10),
    level: float = 0.95,
    rng: Randomness = None,
) -> Reidentification:
    """Let people answer several surveys, and look for each of them in a table with names.

    Parameters
    ----------
    surveys
        A plan for each survey, over all attributes or some; the same plan may come several times. In each, every person
        draws a fresh attribute to report.
    table
        The people who answer.
    background
        The table that the attacker has: person i of `table` is its record i, and strangers may follow. By default
        `table` itself.
    known
        The attributes that the attacker has of the background; all that the surveys ask for by default.
    top
        How many of the nearest records are looked at.
    level
        Of the intervals.
    rng
        As for every verb.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> schema = {name: [str(i) for i in range(20)] for name in "abc"}
    >>> people = {name: rng.integers(20, size=500).astype(str) for name in schema}
    >>> plan = Plan(schema, 8.0, "SMP[GRR]")
    >>> once, often = (reidentification([plan] * times, people, rng=7) for times in (1, 5))
    >>> bool(once[10].accuracy < often[10].accuracy)
    True
    """
    attributes = _attributes(surveys)
    surveys = [without_public(plan) for plan in surveys]
    nearest = _clean_top(top)
    names = _clean_known(known, attributes)
    words = Words.resolve(rng, "reidentification", "-".join(plan.digest for plan in surveys))
    codes = {plan.digest: plan.encode(table) for plan in dict.fromkeys(surveys)}
    n = how_many({name: column for columns in codes.values() for name, column in columns.items()})
    # The attacker compares guesses with records, which nobody randomises.
    held = Schema({name: attributes[name].domain for name in names})
    records = held.encode(table if background is None else background)
    size = how_many(records, "The background")
    if size < n:
        raise DataError("The background must have a record for every person, in the same order.")
    *own, choice = words.split(len(surveys) + 1)
    profile = [
        prediction
        for plan, part in zip(surveys, own, strict=True)
        for prediction in _predicted(plan, codes[plan.digest], part)
        if prediction.name in names
    ]
    places = _places(profile, records, n, size, choice.stream().generator())
    methods = ", ".join(dict.fromkeys(str(plan.method) for plan in surveys))
    return Reidentification(
        {
            many: scored(
                places < many,
                baseline=min(1.0, many / size),
                description=f"re-identification after {len(surveys)} × {methods}, top {many} of {size:,}",
                level=level,
            )
            for many in nearest
        }
    )


def _predicted(plan: Plan, codes: Mapping[str, Codes], words: Words) -> Iterator[Prediction]:
    """What one survey tells about each attribute."""
    noise, choices = words.split(2)
    for place, (name, people, own) in enumerate(_reported(plan, plan.randomize(codes, noise))):
        guess = best_guess(plan.mechanisms[name], own, rng=choices.part(place).stream())
        for attribute, values in plan.design.attribute_codes(name, guess).items():
            yield Prediction(attribute, people, values)


def _reported(plan: Plan, reports: Reports) -> Iterator[AttributeReports]:
    """For each attribute, who reported on it truly, as far as one can see, and their reports."""
    if not plan.design.hides:
        yield from plan.design.by_attribute(reports)
        return
    likeliest = sampled_posterior(plan, reports).argmax(axis=1)
    for place, name in enumerate(plan.schema):
        people = np.flatnonzero(likeliest == place)
        yield AttributeReports(name, people, reports[name][people])


def _places(
    profile: list[Prediction], records: Mapping[str, Codes], n: int, size: int, generator: np.random.Generator
) -> Places:
    """How many records come before each person's own one, the nearest first; equally near ones in any order."""
    before = np.empty(n, np.int64)
    step = max(1, CHUNK // size)
    for start in range(0, n, step):
        people = np.arange(start, min(start + step, n))
        agreed = np.zeros((people.size, size), np.uint16)
        for name, whose, codes in profile:
            first, last = np.searchsorted(whose, (start, start + people.size))
            agreed[whose[first:last] - start] += codes[first:last, None] == records[name]
        own = agreed[people - start, people][:, None]
        equals = (agreed == own).sum(axis=1)  # the true record is one of them
        before[people] = (agreed > own).sum(axis=1) + generator.integers(equals)
    return before


def _attributes(surveys: Sequence[Plan]) -> dict[str, Attribute]:
    """All attributes that the surveys ask for."""
    if not isinstance(surveys, Sequence) or not all(isinstance(plan, Plan) for plan in surveys):
        raise ParameterTypeError("surveys must be a list of plans, one for each survey.")
    if not surveys:
        raise ParameterError("surveys must have at least one plan.")
    attributes: dict[str, Attribute] = {}
    for plan in surveys:
        for name, attribute in plan.schema.items():
            if attributes.setdefault(name, attribute) != attribute:
                raise ParameterError(f"{name!r} has another domain in another survey: they must be the same.")
            if attribute.domain.missing == "drop":
                raise ParameterError(
                    f"{name!r} drops missing values, so that people cannot be followed from survey to survey: "
                    'declare missing="category" or missing="refuse".'
                )
    return attributes


def _clean_top(top: Sequence[int]) -> list[int]:
    numbers = sorted({_checks.integer(low=1, top=many) for many in top})
    if not numbers:
        raise ParameterError("top must have at least one number of records to look at.")
    return numbers


def _clean_known(known: Sequence[str] | None, attributes: Mapping[str, Attribute]) -> list[str]:
    if known is None:
        return list(attributes)
    if isinstance(known, str) or not known or not set(known) <= set(attributes):
        raise ParameterError("known must be a list of attributes that the surveys ask for.")
    return list(known)
