"""What a survey found out, in a sentence for each question, for those who do not read tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bruit.collector.results import LEVEL
from bruit.survey import Survey

__all__ = ["label", "sentence", "text"]

#: How many answers to a question a sentence names; the table has all.
MOST = 3
#: From this width on an interval leaves much open, as a part of all that is possible.
WIDE = 0.5
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
        return _mean(survey, name, float(answer.mean), ends[0], words)
    shares = np.asarray(answer.frequency, float)
    places = _named(survey, name, shares)
    kinds = ["share_only"] if len(places) == 1 else ["share_first", *["share_next"] * (len(places) - 1)]
    parts = [
        words[kind].format(
            answer=words["quoted"].format(text=label(survey, name, str(answer.labels[place]), own)),
            **_of_hundred(float(shares[place]), ends[place].tolist(), words),
        )
        for kind, place in zip(kinds, places, strict=True)
    ]
    widths = np.diff(np.clip(ends[places], 0, 1))
    notes = [words["share_rest"]] * (shares.size > MOST) + [words["wide"]] * bool((widths > WIDE).any())
    return " ".join(["; ".join(parts) + ".", *notes])


def _mean(survey: Survey, name: str, mean: float, ends: Any, words: Mapping[str, str]) -> str:
    mechanism: Any = survey.plan.mechanisms[name]
    low, high = (float(bound) for bound in mechanism.bounds)
    first, last = max(float(ends[0]), low), min(float(ends[1]), high)
    # As many decimals as half the interval takes to be seen; the ends are rounded outwards.
    places = max(0, -math.floor(math.log10(max(last - first, 1e-6) / 2)))
    scale = 10**places
    numbers = {
        "about": round(min(max(mean, low), high) * scale) / scale,
        "low": math.floor(first * scale) / scale,
        "high": math.ceil(last * scale) / scale,
    }
    values = {key: _written(number, places, words) for key, number in numbers.items()}
    wide = " " + words["wide"] if last - first > WIDE * (high - low) else ""
    return words["mean_only"].format(**values) + "." + wide


def _written(number: float, places: int, words: Mapping[str, str]) -> str:
    return f"{number:.{places}f}".replace("-", "−").replace(".", words["decimal"])


def _named(survey: Survey, name: str, shares: Any) -> list[int]:
    """Which answers are named: of two, the yes or the first; of more, the most frequent."""
    if shares.size == 2:
        kinds = {own: question.kind for question in survey.questions for own in question.attribute_names}
        return [1 if kinds.get(name) in ("yes-no", "several") else 0]
    order: list[int] = np.argsort(-shares, kind="stable").tolist()
    return order[:MOST]


def _inside(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _of_hundred(share: float, ends: Sequence[float], words: Mapping[str, str]) -> dict[str, str]:
    """Numbers of a hundred people: whole ones unless the interval is narrow, with ends that are rounded outwards."""
    low, high = ends
    places = 1 if 100 * (high - low) < NARROW else 0
    scale = 10**places
    # An end that is not below 100, or not above 0, is the last one that leaves room for a person.
    least = min(math.floor(100 * scale * _inside(low)), 100 * scale - 1)
    most = max(math.ceil(100 * scale * _inside(high)), 1)
    numbers = {"about": round(100 * scale * _inside(share)), "low": least, "high": most}
    return {key: _written(number / scale, places, words) for key, number in numbers.items()}


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
    return value
