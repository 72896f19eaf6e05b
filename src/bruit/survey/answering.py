"""A report drawn in Python, for devices without a browser and for trials; the page does the same in JavaScript."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.domains import OpenText
from bruit.errors import DataError, ParameterError
from bruit.survey.body import ID_LENGTH, DeviceClaim, Memo, Report
from bruit.survey.personal_link import PersonalLink
from bruit.survey.question import Question

if TYPE_CHECKING:
    from bruit.survey.survey import Survey


def answer(survey: Survey, values: Mapping[str, Any], link: str, number: int) -> bytes:
    """The body of one person's report; the true answers do not leave this function."""
    if survey.has_rounds:
        raise ParameterError(
            "This survey asks the same people again: keep draw_memo(values), and send refresh(memo, link=…, round=…)."
        )
    codes, public = _coded(survey, values)
    _checks.integer(low=1, high=survey.rounds, round=number)
    own = _linked(survey, link)
    return _filled(survey, survey.card.sample_codes(codes, place=own.place), public, own, number)


def answer_code(survey: Survey, values: Mapping[str, Any]) -> str:
    """The code of one person's report; the true answers do not leave this function."""
    form = survey.codes
    codes, public = _coded(survey, values)
    return form.draw(public, survey.card.sample_codes(codes))


def draw_memo(survey: Survey, values: Mapping[str, Any]) -> Memo:
    """What one person keeps for an epoch."""
    codes, public = _coded(survey, values)
    return Memo(survey.card.draw_memo_codes(codes), public)


def refresh(survey: Survey, memo: Memo, link: str, number: int) -> bytes:
    """The body of the report of a memo in one round."""
    _checks.integer(low=1, high=survey.rounds, round=number)
    return _filled(survey, survey.card.refresh(memo.columns), memo.public, _linked(survey, link), number)


def claim(survey: Survey, link: str, epoch: int) -> bytes:
    """The body that comes before the memo of an epoch."""
    if not survey.has_rounds:
        raise ParameterError("This survey asks once, and has no memo: send answer(values).")
    _checks.integer(low=1, high=survey.repeat.epochs, epoch=epoch)
    return survey.claim_body.fill(DeviceClaim(secrets.token_bytes(ID_LENGTH // 2), _linked(survey, link).token, epoch))


def claim_round(survey: Survey, claimed: bytes, number: int) -> bytes:
    """The body that comes before the report of a round from the memo of its epoch."""
    known = survey.claim_body.parse(claimed)
    rounds = survey.claim_body.rounds_of(known.epoch)
    _checks.integer(low=rounds[0], high=rounds[-1], round=number)
    return survey.claim_body.fill(known._replace(round=number))


def _filled(survey: Survey, columns: dict[str, str], public: tuple[int, ...], link: PersonalLink, number: int) -> bytes:
    report = Report(secrets.token_bytes(ID_LENGTH // 2), link.token, public, number, columns)
    return survey.body.fill(report)


def _linked(survey: Survey, link: str) -> PersonalLink:
    """A personal link of the survey, or none where it can do without."""
    if link == "" and not survey.needs_links:
        return PersonalLink("")
    return PersonalLink.parse(link, len(survey.units) if survey.is_assigned else 0)


def _coded(survey: Survey, values: Mapping[str, Any]) -> tuple[list[int], tuple[int, ...]]:
    """The codes of the sensitive answers, and the places of those that are sent in clear."""
    if set(values) != {question.name for question in survey.questions}:
        raise DataError("values must have an answer to every question of the survey, and to no other.")
    codes = {
        name: code
        for question in survey.sensitive
        for name, code in zip(question.attribute_names, _codes(question, values[question.name]), strict=True)
    }
    cells = [_cell(survey, codes, names) for names in survey.units.values()]
    return cells, tuple(_place(question, values[question.name]) for question in survey.questions if question.clear)


def _codes(question: Question, value: Any) -> list[int]:
    """The codes of the attributes that a question becomes."""
    if question.kind == "open":
        return [_text_code(question, value)]
    if question.kind != "several":
        return [_place(question, value)]
    rule = f"The answer to {question.name!r} must be a list of its labels, each at most once."
    if isinstance(value, str) or not isinstance(value, Collection):
        raise DataError(rule)
    if len(set(value)) < len(value) or not set(value) <= set(question.values):
        raise DataError(rule)
    return [int(label in value) for label in question.values]


def _text_code(question: Question, value: Any) -> int:
    """The code of a text."""
    code = OpenText(letters=question.letters).code(value) if isinstance(value, str) else -1
    if code < 1:
        raise DataError(f"The answer to {question.name!r} must be a text with a letter.")
    return code


def _place(question: Question, value: Any) -> int:
    if value not in question.values:
        raise DataError(f"The answer to {question.name!r} must be one of its labels.")
    return question.values.index(value)


def _cell(survey: Survey, codes: Mapping[str, int], names: tuple[str, ...]) -> int:
    """The code of an attribute, or the cell of several in their table, the last one fastest."""
    cell = 0
    for name in names:
        cell = cell * survey.plan.schema[name].size + codes[name]
    return cell
