"""The page of results: one HTML file without script, in the first language of the survey that there are texts for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from bruit.collector.alarm import Deviation, is_tested
from bruit.collector.results import LEVEL, Question, Results
from bruit.collector.wording import language_of, template, words_of
from bruit.estimation import TableEstimate
from bruit.oracles import Series

__all__ = ["page"]

#: How wide a figure is drawn, and its mark.
_WIDTH, _MARK = 1000, 6


class Row(NamedTuple):
    """A value with its estimate and interval, as texts and as places of a figure."""

    label: str
    value: str
    interval: str
    heading: str
    low: int
    length: int
    mark: int
    zero: int = 0


def page(results: Results) -> bytes:
    """The page.

    Parameters
    ----------
    results
        What is shown.
    """
    survey = results.survey
    language = language_of(survey.languages)
    words = words_of(language)
    own = _own(results, language)
    clear = [f"“{question.text[own]}”" for question in survey.questions if question.clear]
    epsilon = f"{survey.plan.guarantee.epsilon:.7g}"
    text: str = template("results").render(
        language=language,
        words=words,
        results=results,
        totals=results.totals,
        tested=is_tested(survey.plan),
        title=survey.title[own],
        alarms=[_alarm(deviation, words) for deviation in results.deviations],
        crossed=[_crossed(results, table, words, own) for table in results.crossed],
        over=[_over(results, series, words, own) for series in results.series.values() if len(series.tallies) > 1],
        over_heading=words["over"].format(count=len(results.rounds)),
        rounds=[_round(results, number, words, language) for number in results.rounds],
        guarantee=words["guarantee_rounds" if survey.has_rounds else "guarantee_text"].format(
            epsilon=epsilon, clear="; ".join(clear) or words["none"], rounds=survey.rounds
        ),
    )
    return text.encode()


def _own(results: Results, language: str) -> str:
    """The language of the survey's own texts."""
    return language if language in results.survey.languages else results.survey.languages[0]


def _alarm(deviation: Deviation, words: Mapping[str, str]) -> str:
    text = words["alarm_many" if deviation.label else "alarm_drawn"]
    return text.format(**{**deviation._asdict(), "low": f"{deviation.low:.1f}", "high": f"{deviation.high:.1f}"})


def _round(results: Results, number: int, words: Mapping[str, str], language: str) -> dict[str, Any]:
    heading = words["round"].format(number=number) if results.survey.rounds > 1 else ""
    questions = [_question(results, question, words, language) for question in results.rounds[number]]
    return {"heading": heading, "questions": questions}


def _crossed(results: Results, table: TableEstimate, words: Mapping[str, str], own: str) -> dict[str, Any]:
    """A table of two attributes: a row for each value of the first, each cell with its share and interval."""
    first, second = table.names
    ends = np.asarray(table.interval(LEVEL), float).reshape(*table.shape, 2)
    test = table.independence(LEVEL)
    cells = [
        [
            {"value": f"{_signed(100 * share)} %", "interval": f"{_signed(100 * low)} … {_signed(100 * high)}"}
            for share, (low, high) in zip(shares, pairs, strict=True)
        ]
        for shares, pairs in zip(table.frequency.tolist(), ends.tolist(), strict=True)
    ]
    return {
        "heading": words["together"].format(first=_text(results, first, own), second=_text(results, second, own)),
        "reports": words["reports"].format(n=table.n),
        "across": [_label(results, second, str(label), own) for label in table.axes[1]],
        "rows": [
            (_label(results, first, str(label), own), row) for label, row in zip(table.axes[0], cells, strict=True)
        ],
        "test": words["together_yes" if test.p_value < 1 - LEVEL else "together_no"].format(p=_chance(test.p_value)),
    }


def _over(results: Results, series: Series, words: Mapping[str, str], own: str) -> dict[str, Any]:
    """The mean of the rounds of one attribute, and the last one less the first."""
    name, numbers = series.name or "", list(results.rounds)
    mean = series.mean(same_people=False)
    change = series.difference(0, len(numbers) - 1, same_people=False)
    notes = [words["over_test"].format(p=_chance(change.p_value))]
    if len(set(series.epochs)) == 1:
        notes.append(words["over_same"])
    return {
        "text": _text(results, name, own),
        "mean": list(_rows(results, name, mean, words, own)),
        "change": list(_rows(results, name, change, words, own, signed=True)),
        "caption": words["over_change"].format(last=numbers[-1], first=numbers[0]),
        "notes": notes,
    }


def _question(results: Results, question: Question, words: Mapping[str, str], language: str) -> dict[str, Any]:
    own = _own(results, language)
    groups = [
        {
            "heading": words["groups"].format(question=_text(results, name, own)),
            "parts": list(_parts(results, some, question, words, own)),
        }
        for name, some in groupby(question.groups, key=lambda group: group.question)
    ]
    return {
        "text": _text(results, question.name, own),
        "reports": words["reports"].format(n=question.n),
        "rows": list(_rows(results, question.name, question.answer, words, own)),
        "notes": list(_notes(results, question, words)),
        "groups": groups,
    }


def _parts(
    results: Results, groups: Any, question: Question, words: Mapping[str, str], own: str
) -> Iterator[dict[str, Any]]:
    for group in groups:
        label = _label(results, group.question, group.label, own)
        rows = list(_rows(results, question.name, group.answer, words, own))
        few = "too_few" if group.n < results.survey.shown_from else "hidden_too"
        caption = f"{label} ({group.n})" if rows else f"{label}: {words[few].format(n=group.n)}"
        yield {"caption": caption, "rows": rows}


def _notes(results: Results, question: Question, words: Mapping[str, str]) -> Iterator[str]:
    share = not _is_number(question.answer)
    if question.now is not None:
        yield words["now"].format(now=_amount(question.now, share, words))
    if question.promised is not None:
        yield words["promised"].format(
            people=results.survey.expected, promised=_amount(question.promised, share, words)
        )
    if question.n and question.moved is not None:
        moved = words["beyond"] if share and question.moved > 1 else _amount(question.moved, share, words)
        yield words["forged" if share else "forged_mean"].format(forged=question.forged, n=question.n, moved=moved)


def _amount(number: float, share: bool, words: Mapping[str, str]) -> str:
    return words["points"].format(number=f"{100 * number:.1f}") if share else f"{number:.3g}"


def _chance(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _signed(number: float) -> str:
    return f"{number:.1f}".replace("-", "−")


def _is_number(answer: Any) -> bool:
    return answer is not None and not hasattr(answer, "frequency")


def _rows(
    results: Results, name: str, answer: Any, words: Mapping[str, str], own: str, *, signed: bool = False
) -> Iterator[Row]:
    """The values of an estimate; `signed` for a change, which is in points and may be on either side of 0."""
    if answer is None:
        return
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    if _is_number(answer):
        low, high = (float(bound) for bound in results.survey.plan.mechanisms[name].bounds)  # type: ignore[union-attr]
        texts = (f"{answer.mean:.4g}", f"{ends[0, 0]:.4g} … {ends[0, 1]:.4g}")
        yield Row("", *texts, words["mean"], *_places([(answer.mean, *ends[0])], low, high)[0])
        return
    numbers = [(share, *pair) for share, pair in zip(answer.frequency, ends, strict=True)]
    zero = _WIDTH // 2 if signed else 0
    everywhere = _places(numbers, -1.0 if signed else 0.0, 1.0)
    for label, number, places in zip(answer.labels, numbers, everywhere, strict=True):
        share, lower, upper = (100 * float(part) for part in number)
        value = words["points"].format(number=_signed(share)) if signed else f"{_signed(share)} %"
        texts = (value, f"{_signed(lower)} … {_signed(upper)}")
        yield Row(_label(results, name, str(label), own), *texts, words["change" if signed else "share"], *places, zero)


def _places(numbers: Any, low: float, high: float) -> list[tuple[int, int, int]]:
    """Where the interval begins, how long it is, and where the mark is; what lies outside is drawn at the end."""
    scaled = np.clip((np.asarray(numbers, float) - low) / (high - low), 0, 1)
    places = []
    for value, lower, upper in scaled.tolist():
        left = round(lower * _WIDTH)
        places.append((left, max(2, round(upper * _WIDTH) - left), round(value * (_WIDTH - _MARK))))
    return places


def _text(results: Results, name: str, own: str) -> str:
    """The question behind an attribute, in the language of the page; of several choices, with the choice."""
    for question in results.survey.questions:
        if name == question.name:
            return question.text[own]
        if question.kind == "several" and name in question.attribute_names:
            return f"{question.text[own]} – {question.labels[own][question.attribute_names.index(name)]}"
    return name


def _label(results: Results, name: str, label: str, own: str) -> str:
    """An answer in the language of the page."""
    for question in results.survey.questions:
        if name == question.name and label in question.values:
            return question.labels[own][question.values.index(label)]
    return label
