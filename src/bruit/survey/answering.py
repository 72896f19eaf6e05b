"""A report drawn in Python, for devices without a browser and for trials; the page does the same in JavaScript."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.errors import DataError, ParameterError
from bruit.survey.body import ID_LENGTH, LINK, Report
from bruit.survey.question import Question

if TYPE_CHECKING:
    from bruit.survey.survey import Survey


def answer(survey: Survey, values: Mapping[str, Any], link: str, number: int) -> bytes:
    """The body of one person's report; the true answers do not leave this function."""
    if set(values) != {question.name for question in survey.questions}:
        raise DataError("values must have an answer to every question of the survey, and to no other.")
    if not isinstance(link, str) or not re.fullmatch(LINK, link):
        raise ParameterError("link must be the token of a single-use link, or nothing.")
    _checks.integer(low=1, high=survey.rounds, round=number)
    codes = [code for question in survey.sensitive for code in _codes(question, values[question.name])]
    public = tuple(_place(question, values[question.name]) for question in survey.questions if question.clear)
    columns = survey.card.sample_codes(codes)
    return survey.body.fill(Report(secrets.token_bytes(ID_LENGTH // 2), link, public, number, columns))


def _codes(question: Question, value: Any) -> list[int]:
    """The codes of the attributes that a question becomes."""
    if question.kind != "several":
        return [_place(question, value)]
    rule = f"The answer to {question.name!r} must be a list of its labels, each at most once."
    if isinstance(value, str) or not isinstance(value, Collection):
        raise DataError(rule)
    if len(set(value)) < len(value) or not set(value) <= set(question.values):
        raise DataError(rule)
    return [int(label in value) for label in question.values]


def _place(question: Question, value: Any) -> int:
    if value not in question.values:
        raise DataError(f"The answer to {question.name!r} must be one of its labels.")
    return question.values.index(value)
