"""A report drawn in Python, for devices without a browser and for trials; the page does the same in JavaScript."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.domains import OpenText
from bruit.errors import DataError, ParameterError
from bruit.survey.body import ID_LENGTH, LINK, LINK_LENGTH, DeviceClaim, Memo, Report
from bruit.survey.question import Question

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

#: What stands behind # in a link that names a question: its token, the place of the question, and two check digits.
_ASSIGNED = re.compile(
    rf"(?P<named>(?P<token>[A-Za-z0-9_-]{{16,{LINK_LENGTH}}})\.(?P<place>0|[1-9][0-9]{{0,3}}))\.(?P<check>[0-9]{{2}})"
)
#: The numbers of the characters before the check, and what the check is a remainder of.
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
_PRIME = 97


def answer(survey: Survey, values: Mapping[str, Any], link: str, number: int) -> bytes:
    """The body of one person's report; the true answers do not leave this function."""
    if survey.has_rounds:
        raise ParameterError(
            "This survey asks the same people again: keep draw_memo(values), and send refresh(memo, link=…, round=…)."
        )
    codes, public = _coded(survey, values)
    _checks.integer(low=1, high=survey.rounds, round=number)
    token, place = assigned_place(survey, link) if survey.is_assigned else (link, None)
    return _filled(survey, survey.card.sample_codes(codes, place=place), public, token, number)


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
    return _filled(survey, survey.card.refresh(memo.columns), memo.public, link, number)


def claim(survey: Survey, link: str, epoch: int) -> bytes:
    """The body that comes before the memo of an epoch."""
    if not survey.has_rounds:
        raise ParameterError("This survey asks once, and has no memo: send answer(values).")
    _checks.integer(low=1, high=survey.repeat.epochs, epoch=epoch)
    return survey.claim_body.fill(DeviceClaim(secrets.token_bytes(ID_LENGTH // 2), _checked_link(link), epoch))


def claim_round(survey: Survey, claimed: bytes, number: int) -> bytes:
    """The body that comes before the report of a round from the memo of its epoch."""
    known = survey.claim_body.parse(claimed)
    rounds = survey.claim_body.rounds_of(known.epoch)
    _checks.integer(low=rounds[0], high=rounds[-1], round=number)
    return survey.claim_body.fill(known._replace(round=number))


def _filled(survey: Survey, columns: dict[str, str], public: tuple[int, ...], link: str, number: int) -> bytes:
    report = Report(secrets.token_bytes(ID_LENGTH // 2), _checked_link(link), public, number, columns)
    return survey.body.fill(report)


def assigned_link(token: str, place: int) -> str:
    """What stands behind # in a link that names a question; ``page.mjs`` reads it.

    >>> assigned_link("abcdefghijklmnop", 3)
    'abcdefghijklmnop.3.36'
    """
    named = f"{token}.{place}"
    return f"{named}.{_check(named)}"


def _check(named: str) -> str:
    """Two digits that differ after any one wrong character, or a swap of neighbours: `collection/rotation.proof.md`."""
    rest = 0
    for letter in named:
        rest = (64 * rest + _DIGITS.index(letter)) % _PRIME
    return f"{rest:02}"


def assigned_place(survey: Survey, link: str) -> tuple[str, int]:
    """The token of a link that names a question, and the place of the question."""
    match = _ASSIGNED.fullmatch(link) if isinstance(link, str) else None
    if match is None or int(match["place"]) >= len(survey.units) or match["check"] != _check(match["named"]):
        raise ParameterError("link must be what stands behind # in a personal link of this survey, as in …kp3.0.57.")
    return match["token"], int(match["place"])


def _checked_link(link: str) -> str:
    if not isinstance(link, str) or not re.fullmatch(LINK, link):
        raise ParameterError("link must be the token of a single-use link, or nothing.")
    return link


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
