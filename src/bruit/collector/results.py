"""What may be shown of a survey: estimates as of the last step, how far to trust them, and what was refused."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

import numpy as np

from bruit.collection.answers import Answers
from bruit.collector import alarm, rows
from bruit.collector.alarm import Deviation
from bruit.collector.gate import Gates
from bruit.collector.open_answers import CertifiedAnswers, certified
from bruit.collector.open_survey import OpenSurvey
from bruit.collector.report_counters import reports
from bruit.collector.store import Links, Store, StoredTotals, tallies_of
from bruit.errors import ParameterError
from bruit.estimation import Estimate, NumberEstimate, TableEstimate, Tally
from bruit.oracles import Series
from bruit.survey import Survey
from bruit.tables import Table, counted

__all__ = ["Group", "QuestionResult", "SurveyResults", "results"]

#: How often intervals cover the truth.
LEVEL = 0.95
#: The most people of whom an estimate in people is stated, besides that in shares.
CLASS = 200
#: Of how many answers one is taken to be forged, where it is said what forged answers could have moved.
ONE_IN = 20


#: Why nothing is shown: few reports, or enough of them, but those of others would follow by subtraction.
Hidden: TypeAlias = Literal["few", "follows"]


class Group(NamedTuple):
    """People with one answer to a question that is sent in clear, and what is estimated of them.

    Attributes
    ----------
    question, label
        The question that is sent in clear, and their answer to it.
    n
        How many reports on the estimated question they sent; None if hidden.
    answer
        What is estimated of them; None if hidden.
    hidden
        Why nothing of them is shown; None if they are shown.
    """

    question: str
    label: str
    n: int | None
    answer: Estimate | NumberEstimate | None
    hidden: Hidden | None


@dataclass(frozen=True)
class QuestionResult:
    """What is shown of one attribute of the plan.

    Parameters
    ----------
    name
        The attribute.
    n
        How many reports on it there are; None if hidden.
    answer
        The estimate; None if hidden.
    hidden
        Why nothing of it is shown; None if it is shown.
    groups
        The same for groups of people; none if it is hidden.
    now, promised
        Half the width of the intervals: the widest one now, and that of the expected number of people; None if unknown.
    forged
        How many of the reports are taken to be forged.
    moved
        By how much these could have moved an estimate; None for the margin of tables, of which no bound is stated.
    respondents
        The estimate for the people who answered and nobody else, whose interval is narrower; None unless they are few
        and all of them reported on it.
    """

    name: str
    n: int | None
    answer: Estimate | NumberEstimate | CertifiedAnswers | None
    hidden: Hidden | None
    groups: tuple[Group, ...] = ()
    now: float | None = None
    promised: float | None = None
    forged: int = 0
    moved: float | None = None
    respondents: Estimate | NumberEstimate | None = None

    @property
    def table(self) -> Table | None:
        """The estimate as a table."""
        if self.answer is None:
            return None
        title = f"Answers to {self.name!r}, estimated from {counted(self.n or 0, 'report')}"
        return replace(self.answer.table(LEVEL), title=title)


@dataclass(frozen=True)
class SurveyResults:
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
    undecided
        Whether it is closed, and nobody has said yet whether the answers since the last step are left out.
    tallies
        What was counted until the last step, by stratum and round, whether it is shown or not.
    strata
        Those of these tallies that are shown.
    rounds
        The questions of each round that has answers.
    parts
        What people may report on, of each round, as far as it is shown: questions, or tables of them.
    crossed
        How answers go together, where the plan asks for tables: those with enough answers.
    deviations
        The counts that do not follow the law; none in honest surveys, but for one look in a million.
    silent_deviations
        The parts of which other counts do not follow the law, which are not shown.
    """

    name: str
    survey: Survey
    totals: StoredTotals
    links: Links | None
    closed: bool
    undecided: bool
    tallies: Mapping[tuple[int, int], Tally]
    strata: Mapping[tuple[int, int], Tally]
    rounds: Mapping[int, tuple[QuestionResult, ...]]
    parts: Mapping[int, frozenset[str]]
    crossed: tuple[TableEstimate, ...]
    deviations: tuple[Deviation, ...]
    silent_deviations: tuple[str, ...]

    @property
    def forged(self) -> list[CertifiedAnswers]:
        """The answers to an open question of which some reports were drawn by no page."""
        if self.survey.open_question is None:
            return []
        answers: list[Any] = [question.answer for questions in self.rounds.values() for question in questions]
        return [answer for answer in answers if not answer.is_lawful]

    @property
    def shown(self) -> int:
        """How many answers came until the last step, on all questions together."""
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
        """The rounds of each attribute that is shown in all of them; none where people are asked once."""
        plan, numbers = self.survey.plan, list(self.rounds)
        if not self.survey.has_rounds or not numbers:
            return {}
        known = plan.panel.series([_whole(self.tallies, number) for number in numbers], numbers)
        hidden = {question.name for questions in self.rounds.values() for question in questions if question.hidden}
        return {name: known[name] for name in plan.schema if name not in hidden}

    def tally(self, round_number: int) -> Tally:
        """The tally of a round, over all strata, without the parts that are hidden; what `bruit estimate` takes."""
        whole, shown = _whole(self.tallies, round_number), self.parts[round_number]
        return whole if shown == set(self.survey.units) else _without(self.survey, whole, shown)

    def left_out(self, round_number: int) -> dict[str, str]:
        """The parts that the tally of a round is without, and why."""
        hidden = [part for part in self.survey.units if part not in self.parts[round_number]]
        reason = (
            f"Not shown: fewer than {self.survey.shown_from} reports, or such a number would follow by subtraction."
        )
        return dict.fromkeys(hidden, reason)


def results(store: Store, open_survey: OpenSurvey, before: SurveyResults | None = None) -> SurveyResults:
    """What may be shown of a survey now.

    Parameters
    ----------
    store
        Where it is.
    open_survey
        The survey.
    before
        An earlier look, whose estimates are taken where they rest on the same tallies.
    """
    plan = open_survey.survey.plan
    opened = store.survey(open_survey.name)
    if opened is None or opened.digest != open_survey.opened.digest:
        raise _gone(open_survey)
    tallies = _enough(open_survey, store.tallies(open_survey.name, plan.digest, plan.design.cells))
    is_new = before is None or before.survey is not open_survey.survey or before.tallies != tallies
    counters: list[tuple[int, int, int, int]] = []
    if is_new and open_survey.survey.open_question is not None:  # its reports are counters, and of the same moment
        counters = list(store.counters(open_survey.name))
        tallies = _enough(open_survey, tallies_of(counters, plan.digest, plan.design.cells))
    totals = store.totals(open_survey.name)
    if totals.answered < sum(tally.n for tally in tallies.values()):
        raise _gone(open_survey) if store.survey(open_survey.name) is None else rows.damaged("count")
    links = _links(store, open_survey) if opened.links else None
    undecided = opened.closed and store.waiting(open_survey.name) > 0
    if before is not None and not is_new:
        return replace(before, totals=totals, links=links, closed=opened.closed, undecided=undecided)
    if open_survey.survey.open_question is not None:
        return _of_open_question(
            open_survey, counters, totals, links, tallies, closed=opened.closed, undecided=undecided
        )
    numbers = sorted({number for _, number in tallies})
    wholes = {number: _whole(tallies, number) for number in numbers}
    gates = {number: _gates(open_survey, tallies, number) for number in numbers}
    crossed = (table for number in numbers for table in _crossed(open_survey.survey, wholes[number], gates[number]))
    return SurveyResults(
        name=open_survey.name,
        survey=open_survey.survey,
        totals=totals,
        links=links,
        closed=opened.closed,
        undecided=undecided,
        tallies=tallies,
        strata={key: tally for key, tally in tallies.items() if open_survey.public(key[0]) in gates[key[1]].strata},
        rounds={number: _round(open_survey, tallies, number, gates[number]) for number in numbers},
        parts={number: frozenset(gates[number].parts) for number in numbers},
        crossed=tuple(crossed),
        **_alarms(open_survey.survey, wholes, gates),
    )


def _gone(open_survey: OpenSurvey) -> ParameterError:
    return ParameterError(f"The survey {open_survey.name!r} was deleted.")


def _of_open_question(
    open_survey: OpenSurvey,
    counters: Iterable[tuple[int, int, int, int]],
    totals: StoredTotals,
    links: Links | None,
    tallies: Mapping[tuple[int, int], Tally],
    **state: bool,
) -> SurveyResults:
    """The certified answers to an open question; its reports are decoded here, once for every step."""
    survey, (name,) = open_survey.survey, open_survey.survey.units
    rounds = {}
    if tallies:
        answer = certified(survey, reports(counters))
        n, forged = answer.answers.n, max(1, answer.answers.n // ONE_IN)
        now = _half_width(answer) if answer.labels else None
        moved = answer.moved(forged) if answer.labels else None
        rounds[1] = (QuestionResult(name, n, answer, None, now=now, forged=forged, moved=moved),)
    return SurveyResults(
        name=open_survey.name,
        survey=survey,
        totals=totals,
        links=links,
        tallies=tallies,
        strata=tallies,
        rounds=rounds,
        parts={number: frozenset(survey.units) for number in rounds},
        crossed=(),
        deviations=(),
        silent_deviations=(),
        **state,
    )


def _links(store: Store, open_survey: OpenSurvey) -> Links:
    """With rounds a link has a row for each round and each epoch, and every report has spent one of the former."""
    links, survey = store.links(open_survey.name), open_survey.survey
    if not survey.has_rounds:
        return links
    return Links(links.issued // (survey.rounds + survey.repeat.epochs), store.totals(open_survey.name).answered)


def _enough(open_survey: OpenSurvey, tallies: Mapping[tuple[int, int], Tally]) -> dict[tuple[int, int], Tally]:
    """What rounds with enough answers have, of the strata and rounds that the survey has."""
    answers: Counter[int] = Counter()
    for (stratum, number), tally in tallies.items():
        if 0 <= stratum < open_survey.strata and 1 <= number <= open_survey.survey.rounds:
            answers[number] += tally.n
    return {
        key: tally
        for key, tally in tallies.items()
        if 0 <= key[0] < open_survey.strata and answers[key[1]] >= open_survey.survey.shown_from
    }


def _whole(tallies: Mapping[tuple[int, int], Tally], round_number: int) -> Tally:
    """The tally of a round, over all strata."""
    return functools.reduce(operator.add, [tally for (_, number), tally in tallies.items() if number == round_number])


def _gates(open_survey: OpenSurvey, tallies: Mapping[tuple[int, int], Tally], round_number: int) -> Gates:
    """What is shown of a round: by the reports on each part in each stratum."""
    design = open_survey.survey.plan.design
    strata = {
        open_survey.public(stratum): tally for (stratum, number), tally in tallies.items() if number == round_number
    }
    reports = {
        part: {stratum: design.reported_on(part, tally) for stratum, tally in strata.items()}
        for part in open_survey.survey.units
    }
    return Gates(reports, open_survey.survey.shown_from)


def _without(survey: Survey, tally: Tally, shown: Iterable[str]) -> Tally:
    """A tally that counts the reports on some parts only. Parts are drawn wherever some are hidden and others not."""
    design, kept = survey.plan.design, set(shown)
    counts = tally.counts.copy()
    for place, part in enumerate(design.parts):
        if part not in kept:
            counts[place] = 0
            counts[design.places[part]] = 0
    return Tally(design=tally.design, counts=counts, n=sum(design.reported_on(part, tally) for part in kept))


class _Alarms(TypedDict):
    """The counts that do not follow the law: those that are shown, and the parts that have others."""

    deviations: tuple[Deviation, ...]
    silent_deviations: tuple[str, ...]


def _alarms(survey: Survey, wholes: Mapping[int, Tally], gates: Mapping[int, Gates]) -> _Alarms:
    """The rounds share the chance of a false alarm."""
    shown: list[Deviation] = []
    silent: list[str] = []
    for number, whole in wholes.items():
        for deviation in alarm.deviations(survey.plan, [whole], alarm.FALSE_ALARMS / len(wholes)):
            if gates[number].shows([deviation.attribute]):
                shown.append(deviation)
            else:
                silent.append(deviation.attribute)
    return {"deviations": tuple(shown), "silent_deviations": tuple(dict.fromkeys(silent))}


def _crossed(survey: Survey, tally: Tally, gates: Gates) -> Iterator[TableEstimate]:
    """The tables of a plan that asks for tables, of those that are shown."""
    design = survey.plan.design
    if not design.counted_tables:
        return
    answers = survey.plan.estimate(tally)
    for part, names in design.parts.items():
        if gates.shows([part]):
            yield answers.table(*names)


class _People(NamedTuple):
    """People with one answer to a question that is sent in clear, and what they sent; None where that is nothing."""

    question: str
    label: str
    place: int
    code: int
    tally: Tally | None
    answers: Answers | None


def _round(
    open_survey: OpenSurvey, tallies: Mapping[tuple[int, int], Tally], round_number: int, gates: Gates
) -> tuple[QuestionResult, ...]:
    known = _Round(
        open_survey.survey, _whole(tallies, round_number), list(_people(open_survey, tallies, round_number)), gates
    )
    answers = open_survey.survey.plan.estimate(known.whole)
    return tuple(known.question(name, answers) for name in open_survey.survey.plan.schema)


def _people(open_survey: OpenSurvey, tallies: Mapping[tuple[int, int], Tally], round_number: int) -> Iterator[_People]:
    """The people with each answer to each question that is sent in clear; answers that nobody gave are there, too.

    A list of the groups that have answers would tell where there are none.
    """
    strata = [
        (open_survey.public(stratum), tally) for (stratum, number), tally in tallies.items() if number == round_number
    ]
    for place, (question, labels) in enumerate(open_survey.survey.public.items()):
        for code, label in enumerate(labels):
            some = [tally for public, tally in strata if public[place] == code]
            tally = functools.reduce(operator.add, some) if some else None
            # A tally is checked once for all questions.
            answers = None if tally is None else open_survey.survey.plan.estimate(tally)
            yield _People(question, label, place, code, tally, answers)


class _Round(NamedTuple):
    """What a round has, of all people and by group, and what of it is shown."""

    survey: Survey
    whole: Tally
    people: Sequence[_People]
    gates: Gates

    def question(self, name: str, answers: Answers) -> QuestionResult:
        """What is shown of an attribute."""
        plan = self.survey.plan
        parts = [part for part, names in self.survey.units.items() if name in names]
        n, promised = plan.design.reported(name, self.whole), _promised(self.survey, name)
        if not self.gates.shows(parts):
            return QuestionResult(name, None, None, _reason(self.survey, n), promised=promised)
        answer, forged, shown = answers[name], max(1, n // ONE_IN), self.gates.groups(parts)
        return QuestionResult(
            name=name,
            n=n,
            answer=answer,
            hidden=None,
            groups=tuple(self._group(name, some, is_shown=some.code in shown[some.place]) for some in self.people),
            now=_half_width(answer),
            promised=promised,
            forged=forged,
            moved=alarm.largest_shift(plan, name) * forged / n if name in plan.mechanisms else None,
            respondents=self._respondents(name),
        )

    def _respondents(self, name: str) -> Estimate | NumberEstimate | None:
        """The estimate for those who answered, where they are few enough to be thought of as a class."""
        plan = self.survey.plan
        if self.survey.has_rounds or self.whole.n > CLASS or plan.design.reported(name, self.whole) != self.whole.n:
            return None
        answer: Estimate | NumberEstimate = plan.estimate(self.whole, "people")[name]
        return answer

    def _group(self, name: str, some: _People, *, is_shown: bool) -> Group:
        n = 0 if some.tally is None else self.survey.plan.design.reported(name, some.tally)
        if some.answers is None or not is_shown:
            return Group(some.question, some.label, None, None, _reason(self.survey, n))
        return Group(some.question, some.label, n, some.answers[name], None)


def _reason(survey: Survey, n: int) -> Hidden:
    """Why a number of reports is hidden."""
    return "few" if n < survey.shown_from else "follows"


def _half_width(answer: Any) -> float:
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    return float((ends[:, 1] - ends[:, 0]).max() / 2)


def _promised(survey: Survey, name: str) -> float | None:
    from bruit.estimation.intervals import normal_quantile

    if survey.expected is None:
        return None
    variance = np.asarray(survey.plan.variance(survey.expected)[name], float)
    return float(normal_quantile(LEVEL) * math.sqrt(variance.max()))
