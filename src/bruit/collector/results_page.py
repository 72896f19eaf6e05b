"""The page of results: one HTML file without script, in the first language of the survey that there are texts for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from bruit.collector.alarm import Deviation, is_tested
from bruit.collector.results import LEVEL, Group, QuestionResult, SurveyResults
from bruit.collector.sentences import (
    answers,
    group_caption,
    hidden_groups,
    hidden_question,
    label,
    sentence,
    text,
)
from bruit.collector.wording import TEXTS
from bruit.estimation import TableEstimate
from bruit.oracles import Series
from bruit.pages import fill, isolated
from bruit.survey import Survey

__all__ = ["held_back", "notes", "page"]

#: How wide a figure is drawn, and its mark.
_WIDTH, _MARK = 1000, 6


class Row(NamedTuple):
    """A value with its estimate and interval, as texts and as places of a figure.

    Attributes
    ----------
    label, value, interval, heading
        The texts of its row, and what stands above its value.
    low, length, mark
        Where the interval begins, how long it is, and where the mark is.
    below, above
        Whether the interval goes on below the left end of the figure, and above its right end.
    ends
        What the two ends of the figure are.
    zero
        Where 0 is, if it is at neither end.
    """

    label: str
    value: str
    interval: str
    heading: str
    low: int
    length: int
    mark: int
    below: bool
    above: bool
    ends: tuple[str, str]
    zero: int = 0


def page(results: SurveyResults, *, public: bool = False) -> bytes:
    """The page.

    Parameters
    ----------
    results
        What is shown.
    public
        Whether everybody may see it, and not only whoever runs the survey.
    """
    survey = results.survey
    language = TEXTS.first(survey.languages)
    words = TEXTS[language]
    own = _own(results, language)
    clear = [
        words["quoted"].format(text=isolated(question.text[own])) for question in survey.questions if question.clear
    ]
    epsilon = f"{survey.plan.guarantee.epsilon:.7g}"
    rounds = [_round(results, number, words, language) for number in results.rounds]
    over = [_over(results, series, words, own) for series in results.series.values() if len(series.tallies) > 1]
    content = fill(
        "results.html.j2",
        language=language,
        words=words,
        results=results,
        totals=results.totals,
        tested=is_tested(survey.plan),
        title=survey.title[own],
        alarms=list(_alarms(results, words)),
        crossed=[_crossed(results, table, words, own) for table in results.crossed],
        over=over,
        over_heading=words["over"].format(count=len(results.rounds)),
        rounds=rounds,
        cut=any(row.below or row.above for row in _every(rounds, over)),
        held_back=held_back(results, words, for_asker=not public),
        guarantee=words[_guarantee(survey)].format(
            epsilon=epsilon, clear="; ".join(clear) or words["none"], rounds=survey.rounds
        ),
    )
    return content.encode()


def _guarantee(survey: Survey) -> str:
    """The name of the text on how answers were protected; those of a survey for paper that was opened came here too."""
    if survey.has_rounds:
        return "guarantee_rounds"
    return "guarantee_codes" if survey.channel == "codes" else "guarantee_collector"


def _every(rounds: list[dict[str, Any]], over: list[dict[str, Any]]) -> Iterator[Row]:
    """The rows of all questions, for all people, for groups and over rounds."""
    for question in over:
        yield from (*question["mean"], *question["change"])
    for question in (question for known in rounds for question in known["questions"]):
        yield from question["rows"]
        yield from (row for group in question["groups"] for part in group["parts"] for row in part["rows"])


def held_back(results: SurveyResults, words: Mapping[str, str], *, for_asker: bool) -> str:
    """How many answers are not included, and why; nothing where all are, or nothing is shown.

    Parameters
    ----------
    results
        What is shown.
    words
        The texts of the page.
    for_asker
        Whether whoever runs the survey reads it, and may be shown the commands that include them or forget them.
    """
    if not results.held_back or not results.rounds:
        return ""
    number = "one" if results.held_back == 1 else "many"
    line = words[f"{'left_out' if results.closed else 'held'}_{number}"]
    line = line.format(held=results.held_back, step=results.survey.shown_from)
    return f"{line} {words['left_out_all'].format(name=results.name)}" if results.undecided and for_asker else line


def _own(results: SurveyResults, language: str) -> str:
    """The language of the survey's own texts."""
    return language if language in results.survey.languages else results.survey.languages[0]


def _alarms(results: SurveyResults, words: Mapping[str, str]) -> Iterator[str]:
    yield from (_alarm(deviation, words) for deviation in results.deviations)
    yield from (words["alarm_silent"].format(attribute=part) for part in results.silent_deviations)


def _alarm(deviation: Deviation, words: Mapping[str, str]) -> str:
    line = words["alarm_many" if deviation.label else "alarm_drawn"]
    means = {end: _local(f"{getattr(deviation, end):.1f}", words) for end in ("low", "high")}
    return line.format(**{**deviation._asdict(), **means})


def _round(results: SurveyResults, number: int, words: Mapping[str, str], language: str) -> dict[str, Any]:
    heading = words["round"].format(number=number) if results.survey.rounds > 1 else ""
    questions = [_question(results, question, words, language) for question in results.rounds[number]]
    return {"heading": heading, "questions": questions}


def _crossed(results: SurveyResults, table: TableEstimate, words: Mapping[str, str], own: str) -> dict[str, Any]:
    """A table of two attributes: a row for each value of the first, each cell with its share and interval."""
    first, second = table.names
    ends = np.asarray(table.interval(LEVEL), float).reshape(*table.shape, 2)
    test = table.independence(LEVEL)
    cells = [
        [
            {"value": f"{_percent(share, words)} %", "interval": f"{_percent(low, words)} … {_percent(high, words)}"}
            for share, (low, high) in zip(shares, pairs, strict=True)
        ]
        for shares, pairs in zip(table.frequency.tolist(), ends.tolist(), strict=True)
    ]
    beyond = bool((ends < 0).any() or (ends > 1).any())
    return {
        "outside": words["outside_share"].format(n=answers(table.n, words)) if beyond else "",
        "heading": words["together"].format(
            first=isolated(text(results.survey, first, own)), second=isolated(text(results.survey, second, own))
        ),
        "reports": words["reports"].format(n=table.n),
        "across": [label(results.survey, second, str(value), own) for value in table.axes[1]],
        "rows": [
            (label(results.survey, first, str(value), own), row)
            for value, row in zip(table.axes[0], cells, strict=True)
        ],
        "test": words["together_yes" if test.p_value < 1 - LEVEL else "together_no"].format(
            p=_chance(test.p_value, words)
        ),
    }


def _over(results: SurveyResults, series: Series, words: Mapping[str, str], own: str) -> dict[str, Any]:
    """The mean of the rounds of one attribute, and the last one less the first."""
    name, numbers = series.name or "", list(results.rounds)
    mean = series.mean(same_people=False)
    change = series.difference(0, len(numbers) - 1, same_people=False)
    rows = list(_rows(results, name, mean, words, own))
    remarks = [words["over_test"].format(p=_chance(change.p_value, words))]
    if len(set(series.epochs)) == 1:
        remarks.append(words["over_same"])
    return {
        "text": text(results.survey, name, own),
        "sentence": _sentence(results, name, mean, words, own),
        "mean": rows,
        "outside": _outside(rows, mean, _reports(results, name), words),
        "change": list(_rows(results, name, change, words, own, signed=True)),
        "caption": words["over_change"].format(last=numbers[-1], first=numbers[0]),
        "notes": remarks,
    }


def _reports(results: SurveyResults, name: str) -> int:
    """How many reports on an attribute there are in all rounds."""
    return sum(question.n or 0 for known in results.rounds.values() for question in known if question.name == name)


def _question(
    results: SurveyResults, question: QuestionResult, words: Mapping[str, str], language: str
) -> dict[str, Any]:
    own = _own(results, language)
    rows = list(_rows(results, question.name, question.answer, words, own))
    return {
        "hidden": hidden_question(results.survey, question, words),
        "text": text(results.survey, question.name, own),
        "sentence": _sentence(results, question.name, question.answer, words, own),
        # Where everybody reported on everything, the number of answers stands at the head of the page.
        "reports": "" if question.n == results.shown else words["reports"].format(n=question.n),
        "rows": rows,
        "outside": _outside(rows, question.answer, question.n or 0, words),
        "notes": list(notes(results, question, words)),
        "groups": list(_groups(results, question, words, own)),
    }


def _groups(
    results: SurveyResults, question: QuestionResult, words: Mapping[str, str], own: str
) -> Iterator[dict[str, Any]]:
    """The groups by each question that is sent in clear."""
    for name, some in groupby(question.groups, key=lambda group: group.question):
        groups = list(some)
        yield {
            "heading": words["groups"].format(question=isolated(text(results.survey, name, own))),
            "parts": list(_parts(results, groups, question, words, own)),
            "hidden": list(hidden_groups(results.survey, groups, words, own)),
        }


def _sentence(results: SurveyResults, name: str, answer: Any, words: Mapping[str, str], own: str) -> str:
    return "" if answer is None else sentence(results.survey, name, answer, words, own)


def _parts(
    results: SurveyResults, groups: Sequence[Group], question: QuestionResult, words: Mapping[str, str], own: str
) -> Iterator[dict[str, Any]]:
    for group in groups:
        if group.hidden:
            continue
        rows = list(_rows(results, question.name, group.answer, words, own))
        yield {
            "caption": group_caption(results.survey, question.name, group, words, own),
            "rows": rows,
            "outside": _outside(rows, group.answer, group.n or 0, words),
        }


def _outside(rows: list[Row], answer: Any, n: int, words: Mapping[str, str]) -> str:
    """That a table has numbers beyond its scale, where it has."""
    if not any(row.below or row.above for row in rows):
        return ""
    return words["outside_mean" if _is_number(answer) else "outside_share"].format(n=answers(n, words))


def notes(results: SurveyResults, question: QuestionResult, words: Mapping[str, str]) -> Iterator[str]:
    """How far the estimate of a question can be trusted: its uncertainty, what was expected, and forged answers.

    Parameters
    ----------
    results, question
        What is shown, and of which question.
    words
        The texts of the page.
    """
    if question.answer is None:
        return
    share = not _is_number(question.answer)
    if question.now is not None:
        yield words["now"].format(now=_amount(question.now, share, words))
    if question.promised is not None:
        yield words["promised"].format(
            people=results.survey.expected, promised=_amount(question.promised, share, words)
        )
    if question.moved is not None:
        moved = words["beyond"] if share and question.moved > 1 else _amount(question.moved, share, words)
        yield words["forged" if share else "forged_mean"].format(forged=question.forged, n=question.n, moved=moved)


def _amount(number: float, share: bool, words: Mapping[str, str]) -> str:
    return words["points"].format(number=_percent(number, words)) if share else _local(f"{number:.3g}", words)


def _chance(p_value: float, words: Mapping[str, str]) -> str:
    return _local("p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}", words)


def _percent(share: float, words: Mapping[str, str]) -> str:
    return _local(f"{100 * float(share):.1f}", words)


def _local(digits: str, words: Mapping[str, str]) -> str:
    """A number as it is written in the language of the page."""
    return digits.replace("-", "−").replace(".", words["decimal"])


def _is_number(answer: Any) -> bool:
    return answer is not None and not hasattr(answer, "frequency")


def _rows(
    results: SurveyResults, name: str, answer: Any, words: Mapping[str, str], own: str, *, signed: bool = False
) -> Iterator[Row]:
    """The values of an estimate; `signed` for a change, which is in points and may be on either side of 0."""
    if answer is None:
        return
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    if _is_number(answer):
        low, high = (float(bound) for bound in results.survey.plan.mechanisms[name].bounds)  # type: ignore[union-attr]
        mean, lower, upper = (_local(f"{number:.4g}", words) for number in (answer.mean, *ends[0]))
        bounds = (_local(f"{low:.12g}", words), _local(f"{high:.12g}", words))
        places = _places([(answer.mean, *ends[0])], low, high)[0]
        yield Row("", mean, f"{lower} … {upper}", words["mean"], *places, bounds)
        return
    numbers = [(share, *pair) for share, pair in zip(answer.frequency, ends, strict=True)]
    zero = _WIDTH // 2 if signed else 0
    everywhere = _places(numbers, -1.0 if signed else 0.0, 1.0)
    bounds = ("−100", "100") if signed else ("0 %", "100 %")
    for code, number, places in zip(answer.labels, numbers, everywhere, strict=True):
        share, lower, upper = (_percent(part, words) for part in number)
        value = words["points"].format(number=share) if signed else f"{share} %"
        own_label = label(results.survey, name, str(code), own)
        heading = words["change" if signed else "share"]
        yield Row(own_label, value, f"{lower} … {upper}", heading, *places, bounds, zero)


def _places(numbers: Any, low: float, high: float) -> list[tuple[int, int, int, bool, bool]]:
    """Where the interval begins, how long it is, where the mark is, and at which ends the interval is cut."""
    exact = (np.asarray(numbers, float) - low) / (high - low)
    places = []
    for (value, lower, upper), (_, below, above) in zip(np.clip(exact, 0, 1).tolist(), exact.tolist(), strict=True):
        left = min(round(lower * _WIDTH), _WIDTH - 2)
        length = max(2, round(upper * _WIDTH) - left)
        places.append((left, length, round(value * (_WIDTH - _MARK)), below < 0, above > 1))
    return places
