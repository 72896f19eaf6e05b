"""What a survey found out, in a sentence for each question, for those who do not read tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bruit.collector.results import LEVEL, Group, QuestionResult
from bruit.pages import isolated
from bruit.survey import Survey

__all__ = [
    "answers",
    "group_caption",
    "headline",
    "hidden_groups",
    "hidden_question",
    "is_open",
    "is_wide",
    "label",
    "lead",
    "leaves_open",
    "mean_numbers",
    "of_hundred",
    "quoted_lead",
    "respondents",
    "sentence",
    "text",
]

#: How many answers to a question a sentence names; the table has all.
MOST = 3
#: From this width on an interval tells little, as a part of all that is possible: no estimate is named.
WIDE = 0.5
#: What is said in place of a sentence where the interval is that wide.
_WIDE_TEXT = {"share_only": "share_wide", "share_first": "share_wide", "share_next": "share_next_wide"}
#: Shares whose interval is narrower than this, in points, get a decimal.
NARROW = 2.0


def sentence(survey: Survey, name: str, answer: Any, words: Mapping[str, str], own: str) -> str:
    """The estimate of an attribute in words, cut to what is possible.

    Parameters
    ----------
    survey, name
        The survey and the attribute.
    answer
        Its estimate: of shares, or of a mean.
    words
        The texts of the page.
    own
        The language of the survey's texts.
    """
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    if not hasattr(answer, "frequency"):
        return _mean(survey, name, answer, words)
    shares = np.asarray(answer.frequency, float)
    if not shares.size:
        return words["open_none"]
    places = _named(survey, name, shares)
    wide = (_widths(ends[places]) >= WIDE).tolist()
    kinds = ["share_only"] if len(places) == 1 else ["share_first", *["share_next"] * (len(places) - 1)]
    parts = [
        words[_WIDE_TEXT[kind] if is_wide else kind].format(
            answer=words["quoted"].format(text=isolated(label(survey, name, str(answer.labels[place]), own))),
            **of_hundred(float(shares[place]), ends[place].tolist(), words),
        )
        for kind, place, is_wide in zip(kinds, places, wide, strict=True)
    ]
    return " ".join(["; ".join(parts) + ".", *[words["share_rest"]] * (shares.size > MOST)])


def headline(survey: Survey, name: str, answer: Any, words: Mapping[str, str], own: str) -> str:
    """The estimate of an attribute in one short sentence: of several answers, that of the leading one.

    Parameters
    ----------
    survey, name, answer
        The survey, the attribute and its estimate.
    words, own
        As for a sentence.
    """
    if not hasattr(answer, "frequency"):
        return _mean(survey, name, answer, words)
    place = lead(survey, name, answer)
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)[place]
    kind = f"{'chosen' if _choice(survey, name, own) else 'share'}_{'wide' if is_wide(*ends.tolist()) else 'only'}"
    numbers = of_hundred(float(answer.frequency[place]), ends.tolist(), words)
    return words[kind].format(answer=quoted_lead(survey, name, answer, words, own), **numbers) + "."


def respondents(survey: Survey, question: QuestionResult, words: Mapping[str, str], own: str) -> str:
    """How many of those who answered would say what the headline names; nothing where that is not estimated.

    The interval is of the noise alone, so it is narrower than that for all people like them. Its ends are rounded to
    whole people, outwards.

    Parameters
    ----------
    survey, question
        The survey, and what is shown of the attribute.
    words, own
        As for a sentence.
    """
    answer, n = question.respondents, question.n or 0
    if answer is None or not hasattr(answer, "frequency"):
        return ""
    place = lead(survey, question.name, question.answer)
    low, high = np.clip(np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)[place], 0, 1).tolist()
    if is_wide(low, high):
        return ""
    return words["own_chosen" if _choice(survey, question.name, own) else "own_share"].format(
        n=n,
        about=round(n * _inside(float(answer.frequency[place]))),
        low=math.floor(n * low),
        high=math.ceil(n * high),
        answer=quoted_lead(survey, question.name, question.answer, words, own),
    )


def quoted_lead(survey: Survey, name: str, answer: Any, words: Mapping[str, str], own: str) -> str:
    """The answer that a headline names, quoted; of several choices, the choice. A mean has none."""
    if not hasattr(answer, "frequency"):
        return ""
    value = str(answer.labels[lead(survey, name, answer)])
    named = _choice(survey, name, own) or label(survey, name, value, own)
    return words["quoted"].format(text=isolated(named))


def lead(survey: Survey, name: str, answer: Any) -> int:
    """The place of the answer that a headline names: yes, the first of two, or the most frequent one."""
    shares = np.asarray(answer.frequency, float)
    kinds = {own: question.kind for question in survey.questions for own in question.attribute_names}
    if kinds.get(name) in ("yes-no", "several"):
        return 1
    return 0 if shares.size == 2 else int(np.argmax(shares))


def is_open(survey: Survey, name: str) -> bool:
    """Whether an attribute is an open question, whose answers are not all shown."""
    return survey.open_question is not None and survey.open_question.name == name


def leaves_open(survey: Survey, name: str, answer: Any) -> bool:
    """Whether an interval of an estimate is at least half of the scale wide, so that it tells little."""
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)
    if hasattr(answer, "frequency"):
        return bool((_widths(ends) >= WIDE).any())
    low, high = _bounds(survey, name)
    return bool(_widths((ends - low) / (high - low))[0] >= WIDE)


def group_caption(survey: Survey, name: str, group: Group, words: Mapping[str, str], own: str) -> str:
    """A group of people that is shown, how many reports it has on the attribute, and whether they tell little.

    Parameters
    ----------
    survey, name
        The survey and the attribute that is estimated.
    group
        The group.
    words, own
        As for a sentence.
    """
    line = f"{_member(survey, group, own)}{words['colon']} {answers(group.n or 0, words)}"
    return f"{line}. {words['compare']}" if leaves_open(survey, name, group.answer) else line


def hidden_groups(survey: Survey, groups: Sequence[Group], words: Mapping[str, str], own: str) -> Iterator[str]:
    """Which groups are not shown: a sentence for each reason, without numbers.

    Parameters
    ----------
    survey, groups
        The survey, and the groups by one of its questions.
    words, own
        As for a sentence.
    """
    for reason in ("few", "follows"):
        members = [_member(survey, group, own) for group in groups if group.hidden == reason]
        if members:
            yield words[f"groups_{reason}"].format(groups=", ".join(members))


def hidden_question(survey: Survey, question: QuestionResult, words: Mapping[str, str]) -> str:
    """Why a question is not shown; nothing if it is."""
    return "" if question.hidden is None else words[f"question_{question.hidden}"].format(step=survey.shown_from)


def _member(survey: Survey, group: Group, own: str) -> str:
    return isolated(label(survey, group.question, group.label, own))


def answers(number: int, words: Mapping[str, str]) -> str:
    """A number of answers, in words."""
    return words["answers_one" if number == 1 else "answers_many"].format(n=number)


def is_wide(low: float, high: float) -> bool:
    """Whether an interval of shares leaves half of the scale open or more, so that no estimate is named."""
    return min(high, 1.0) - max(low, 0.0) >= WIDE


def _widths(ends: Any) -> Any:
    """How much of a scale from 0 to 1 each interval leaves open."""
    return np.diff(np.clip(ends, 0, 1)).ravel()


def _bounds(survey: Survey, name: str) -> tuple[float, float]:
    mechanism: Any = survey.plan.mechanisms[name]
    low, high = (float(bound) for bound in mechanism.bounds)
    return low, high


def _mean(survey: Survey, name: str, answer: Any, words: Mapping[str, str]) -> str:
    kind = "mean_wide" if leaves_open(survey, name, answer) else "mean_only"
    return words[kind].format(**mean_numbers(survey, name, answer, words)) + "."


def mean_numbers(survey: Survey, name: str, answer: Any, words: Mapping[str, str]) -> dict[str, str]:
    """A mean and the ends of its interval, cut to the scale, with the decimals that the interval allows."""
    low, high = _bounds(survey, name)
    first, last = (min(max(float(end), low), high) for end in np.ravel(answer.interval(LEVEL)))
    places = _decimals(last - first)
    numbers = {"about": min(max(float(answer.mean), low), high), "low": first, "high": last}
    return {key: _written(number, places, words) for key, number in numbers.items()}


def _decimals(width: float) -> int:
    """As many decimals as half of an interval takes to be seen."""
    return max(0, -math.floor(math.log10(max(width, 1e-6) / 2)))


def _written(number: float, places: int, words: Mapping[str, str]) -> str:
    return f"{number:.{places}f}".replace("-", "−").replace(".", words["decimal"])


def _named(survey: Survey, name: str, shares: Any) -> list[int]:
    """Which answers are named: of two, the yes or the first; of more, the most frequent."""
    if shares.size == 2 and not is_open(survey, name):
        kinds = {own: question.kind for question in survey.questions for own in question.attribute_names}
        return [1 if kinds.get(name) in ("yes-no", "several") else 0]
    order: list[int] = np.argsort(-shares, kind="stable").tolist()
    return order[:MOST]


def _inside(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def of_hundred(share: float, ends: Sequence[float], words: Mapping[str, str]) -> dict[str, str]:
    """Numbers of a hundred people: whole ones unless the interval is narrow, rounded to the nearest as in the table."""
    low, high = (100 * end for end in ends)
    places = _decimals(high - low) if high - low < NARROW else 0
    least = 10.0**-places
    # An end that is not below 100, or not above 0, is the last one that leaves room for a person.
    numbers = {
        "about": 100 * _inside(share),
        "low": min(100 * _inside(low / 100), 100 - least),
        "high": max(100 * _inside(high / 100), least),
    }
    return {key: _written(number, places, words) for key, number in numbers.items()}


def _choice(survey: Survey, name: str, own: str) -> str:
    """The choice that an attribute is about, of a question with several; else nothing."""
    for question in survey.questions:
        if question.kind == "several" and name in question.attribute_names:
            return question.labels[own][question.attribute_names.index(name)]
    return ""


def text(survey: Survey, name: str, own: str) -> str:
    """The question behind an attribute, in a language of the survey; of several choices, with the choice."""
    for question in survey.questions:
        if name == question.name:
            return question.text[own]
        if question.kind == "several" and name in question.attribute_names:
            return f"{question.text[own]} – {question.labels[own][question.attribute_names.index(name)]}"
    return name


def label(survey: Survey, name: str, value: str, own: str) -> str:
    """An answer in a language of the survey."""
    for question in survey.questions:
        if name == question.name and value in question.values:
            return question.labels[own][question.values.index(value)]
        if name == question.name and question.bounds is not None:  # a plan that asks for shares has 7.0 for 7
            return f"{float(value):g}"
    return value
