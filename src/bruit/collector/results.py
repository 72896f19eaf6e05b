"""What may be shown of a survey: estimates as of the last step, how far to trust them, and what was refused."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bruit.collection import Plan
from bruit.collector import alarm
from bruit.collector.alarm import Deviation
from bruit.collector.desk import Desk
from bruit.collector.gate import Gate
from bruit.collector.store import Links, Store, Totals
from bruit.errors import ParameterError
from bruit.estimation import Estimate, NumberEstimate, TableEstimate, Tally
from bruit.oracles import Series
from bruit.survey import Survey
from bruit.tables import Table

__all__ = ["Group", "Question", "Results", "results"]

#: How often intervals cover the truth.
LEVEL = 0.95
#: Of how many answers one is taken to be forged, where it is said what forged answers could have moved.
ONE_IN = 20


#: From an attribute to what is estimated of it.
_Answers: TypeAlias = Callable[[str], Estimate | NumberEstimate | None]


class Group(NamedTuple):
    """People with one answer to a question that is sent in clear, and what is estimated of them; None if hidden."""

    question: str
    label: str
    n: int
    answer: Estimate | NumberEstimate | None


@dataclass(frozen=True)
class Question:
    """What is known of one attribute of the plan.

    Parameters
    ----------
    name
        The attribute.
    n
        How many reports on it there are.
    answer
        The estimate; None where nobody reported on it.
    groups
        The same for groups of people.
    now, promised
        Half the width of the intervals: the widest one now, and what so many people as expected give; None if unknown.
    forged
        How many of the answers are taken to be forged.
    moved
        By how much these could have moved an estimate; None for the margin of tables, of which no bound is stated.
    """

    name: str
    n: int
    answer: Estimate | NumberEstimate | None
    groups: tuple[Group, ...]
    now: float | None
    promised: float | None
    forged: int
    moved: float | None

    @property
    def table(self) -> Table | None:
        """The estimate as a table."""
        return None if self.answer is None else self.answer.table(LEVEL)


@dataclass(frozen=True)
class Results:
    """What a look at a survey shows.

    Parameters
    ----------
    name, survey
        The survey and its name.
    totals
        How many reports were counted, refused and came again until now.
    links
        How many single-use links were issued and spent, or personal links issued and reports sent with them; None where
        none are needed.
    closed
        Whether it is closed.
    tallies
        What is in the estimates of all people, by stratum and round.
    strata
        Those of these tallies that are shown.
    rounds
        The questions of each round that has answers.
    crossed
        How answers go together, where the plan asks for tables: those with enough answers.
    deviations
        The counts that do not follow the law; none in honest surveys, but for one look in a million.
    """

    name: str
    survey: Survey
    totals: Totals
    links: Links | None
    closed: bool
    tallies: Mapping[tuple[int, int], Tally]
    strata: Mapping[tuple[int, int], Tally]
    rounds: Mapping[int, tuple[Question, ...]]
    crossed: tuple[TableEstimate, ...]
    deviations: tuple[Deviation, ...]

    @property
    def shown(self) -> int:
        """How many answers are in what is shown."""
        return sum(tally.n for tally in self.tallies.values())

    @property
    def held_back(self) -> int:
        """How many answers came since the last step."""
        return self.totals.answered - self.shown

    @property
    def tables(self) -> Iterator[Table]:
        """The estimates of all questions; with rounds, those of each, their mean, and the last less the first."""
        if self.series:
            return (table for series in self.series.values() for table in series.tables(LEVEL))
        single = (question.table for known in self.rounds.values() for question in known if question.table is not None)
        return itertools.chain(single, (table.table(LEVEL) for table in self.crossed))

    @cached_property
    def series(self) -> dict[str, Series]:
        """The rounds of each attribute that was reported on in all of them; none where people are asked once."""
        plan, numbers = self.survey.plan, list(self.rounds)
        if not self.survey.has_rounds or not numbers:
            return {}
        tallies = [self.tally(number) for number in numbers]
        known = plan.panel.series(tallies, numbers)
        return {
            name: known[name] for name in plan.schema if all(plan.design.reported(name, tally) for tally in tallies)
        }

    def tally(self, round_number: int) -> Tally:
        """The tally of a round, over all strata; what `bruit estimate` takes."""
        return _sum([tally for (_, number), tally in self.tallies.items() if number == round_number])


def results(store: Store, desk: Desk, before: Results | None = None) -> Results:
    """What may be shown of a survey now.

    Parameters
    ----------
    store
        Where it is.
    desk
        The survey.
    before
        An earlier look, whose estimates are taken where they rest on the same tallies.
    """
    plan = desk.survey.plan
    opened = store.survey(desk.name)
    if opened is None or opened.digest != desk.opened.digest:
        raise ParameterError(f"The survey {desk.name!r} was deleted.")
    tallies = _enough(desk, store.tallies(desk.name, plan.digest, plan.design.cells))
    totals = store.totals(desk.name)
    links = _links(store, desk) if opened.links else None
    if before is not None and before.survey is desk.survey and before.tallies == tallies:
        return replace(before, totals=totals, links=links, closed=opened.closed)
    numbers = sorted({number for _, number in tallies})
    parts = {number: _part(desk, tallies, number) for number in numbers}
    rounds = {number: _round(desk, *part) for number, part in parts.items()}
    whole = [_sum([tally for (_, number), tally in tallies.items() if number == wanted]) for wanted in numbers]
    return Results(
        name=desk.name,
        survey=desk.survey,
        totals=totals,
        links=links,
        closed=opened.closed,
        tallies=tallies,
        strata={key: tally for key, tally in tallies.items() if desk.public(key[0]) in parts[key[1]].gate.strata},
        rounds=rounds,
        crossed=tuple(_crossed(desk.survey, _sum(whole))) if whole else (),
        deviations=tuple(alarm.deviations(plan, whole)),
    )


def _links(store: Store, desk: Desk) -> Links:
    """With rounds a link has a row for each round and each epoch, and every report has spent one of the former."""
    links, survey = store.links(desk.name), desk.survey
    if not survey.has_rounds:
        return links
    return Links(links.issued // (survey.rounds + survey.repeat.epochs), store.totals(desk.name).answered)


def _enough(desk: Desk, tallies: Mapping[tuple[int, int], Tally]) -> dict[tuple[int, int], Tally]:
    """What rounds with enough answers have, of the strata and rounds that the survey has."""
    answers: Counter[int] = Counter()
    for (stratum, number), tally in tallies.items():
        if 0 <= stratum < desk.strata and 1 <= number <= desk.survey.rounds:
            answers[number] += tally.n
    return {
        key: tally
        for key, tally in tallies.items()
        if 0 <= key[0] < desk.strata and answers[key[1]] >= desk.survey.shown_from
    }


class _Part(NamedTuple):
    """The strata of a round, and what is shown of them."""

    strata: Mapping[int, Tally]
    gate: Gate


def _part(desk: Desk, tallies: Mapping[tuple[int, int], Tally], round_number: int) -> _Part:
    strata = {stratum: tally for (stratum, number), tally in tallies.items() if number == round_number}
    answers = {desk.public(stratum): tally.n for stratum, tally in strata.items()}
    return _Part(strata, Gate(answers, desk.survey.shown_from))


def _round(desk: Desk, strata: Mapping[int, Tally], gate: Gate) -> tuple[Question, ...]:
    survey = desk.survey
    tally = _sum(list(strata.values()))
    answers = _answers(survey.plan, tally)
    groups = list(_groups(desk, strata, gate))
    return tuple(_question(survey, name, tally, answers, groups) for name in survey.plan.schema)


def _crossed(survey: Survey, tally: Tally) -> Iterator[TableEstimate]:
    """The tables of a plan that asks for tables, of those on which enough people reported."""
    design = survey.plan.design
    if not design.counted_tables:
        return
    answers = survey.plan.estimate(tally)
    for unit, names in design.parts.items():
        if design.reported_on(unit, tally) >= survey.shown_from:
            yield answers.table(*names)


def _question(survey: Survey, name: str, tally: Tally, answers: _Answers, groups: Sequence[_People]) -> Question:
    plan = survey.plan
    n = plan.design.reported(name, tally)
    answer = answers(name)
    forged = max(1, n // ONE_IN)
    return Question(
        name=name,
        n=n,
        answer=answer,
        groups=tuple(
            Group(people.question, people.label, people.n, people.answers(name) if people.answers else None)
            for people in groups
        ),
        now=None if answer is None else _half_width(answer),
        promised=_promised(survey, name),
        forged=forged,
        moved=alarm.largest_shift(plan, name) * forged / n if n and name in plan.mechanisms else None,
    )


class _People(NamedTuple):
    """People with one answer to a question that is sent in clear; no answers of theirs where they are hidden."""

    question: str
    label: str
    n: int
    answers: _Answers | None


def _groups(desk: Desk, strata: Mapping[int, Tally], gate: Gate) -> Iterator[_People]:
    """The people with each answer to each question that is sent in clear."""
    tallies = [(desk.public(stratum), tally) for stratum, tally in strata.items()]
    for place, (question, labels) in enumerate(desk.survey.public.items()):
        for code, label in enumerate(labels):
            some = [tally for public, tally in tallies if public[place] == code]
            if some:
                shown = _answers(desk.survey.plan, _sum(some)) if code in gate.groups[place] else None
                yield _People(question, label, sum(tally.n for tally in some), shown)


def _answers(plan: Plan, tally: Tally) -> _Answers:
    """From an attribute to its estimate, None where nobody reported on it. The tally is checked once for all."""
    answers = plan.estimate(tally)
    return lambda name: answers[name] if plan.design.reported(name, tally) else None


def _half_width(answer: Any) -> float:
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    return float((ends[:, 1] - ends[:, 0]).max() / 2)


def _promised(survey: Survey, name: str) -> float | None:
    from bruit.estimation.intervals import normal_quantile

    if survey.expected is None:
        return None
    variance = np.asarray(survey.plan.variance(survey.expected)[name], float)
    return float(normal_quantile(LEVEL) * math.sqrt(variance.max()))


def _sum(tallies: Sequence[Tally]) -> Tally:
    return functools.reduce(operator.add, tallies)
