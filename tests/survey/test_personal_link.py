"""Personal links: a mistyped one is none, whatever it names, and so nothing is drawn for it."""

from __future__ import annotations

import itertools
import string

import pytest

from bruit.errors import ParameterError
from bruit.survey import personal_link
from bruit.survey.personal_link import PersonalLink

from ..surveys import HEALTH

#: What may stand in a link.
LETTERS = f"{string.ascii_letters}{string.digits}-_."
#: As many questions as need two digits.
QUESTIONS = 99
#: Tokens that end in letters and in digits, so that a dot may be swapped with what could be a number.
TOKENS = ("abcdefghijklmnop-_Z9", "0123456789abcdefgh", "zzzzzzzzzzzzzzzz99", "-_-_-_-_-_-_-_-_", "A" * 16, "k7" * 16)
LINKS = [PersonalLink(token, place) for token in TOKENS for place in (None, 0, 7, 10, 37, 98)]


def slips(link: str) -> set[str]:
    """The links with one wrong character, or with two neighbours swapped."""
    wrong = {f"{link[:at]}{letter}{link[at + 1 :]}" for at in range(len(link)) for letter in LETTERS}
    swapped = {f"{link[:at]}{link[at + 1]}{link[at]}{link[at + 2 :]}" for at in range(len(link) - 1)}
    return (wrong | swapped) - {link}


def misread(link: str) -> set[str]:
    """The links in which a letter that stands twice in the token is taken for another one both times."""
    token = link.partition(".")[0]
    twice = {letter for letter in token if token.count(letter) == 2}
    others = (LETTERS.replace(".", "").replace(letter, "") for letter in sorted(twice))
    return {
        link.replace(letter, other, 2)
        for letter, allowed in zip(sorted(twice), others, strict=True)
        for other in allowed
    }


def is_read(text: str, questions: int) -> bool:
    try:
        return bool(PersonalLink.parse(text, questions))
    except ParameterError:
        return False


def questions_of(link: PersonalLink) -> int:
    return 0 if link.place is None else QUESTIONS


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_every_wrong_character_and_swap_of_neighbours_in_a_link_is_refused(link) -> None:
    assert PersonalLink.parse(link.text, questions_of(link)) == link
    assert [slip for slip in slips(link.text) if is_read(slip, questions_of(link))] == []


def test_a_letter_that_is_misread_alike_twice_is_refused() -> None:
    for first, second in itertools.combinations(range(32), 2):
        token = "".join("0" if at in (first, second) else "abcdefghjkmnpqrstvwxyzABCDEFGHIJ"[at] for at in range(32))
        assert [slip for slip in misread(PersonalLink(token).text) if is_read(slip, 0)] == []


@pytest.mark.parametrize("base", [64, 1])
def test_another_base_would_let_a_slip_through(base, monkeypatch) -> None:
    """The control: in base 64 the same slip twice, four apart, cancels; the sum of digits misses a swap."""
    monkeypatch.setattr(personal_link, "_BASE", base)
    link = PersonalLink("dp12j07pt0phtyw4g2", 2)
    assert any(is_read(slip, QUESTIONS) for slip in (misread if base == 64 else slips)(link.text))


def test_links_without_the_check_would_be_read_with_another_question(monkeypatch) -> None:
    """The control: the law sees a wrong number, a wrong token, and a dot that moved."""
    link = PersonalLink("k7" * 8, 37).text
    monkeypatch.setattr(personal_link, "_check", lambda _: link[-2:])
    wrong = {PersonalLink.parse(slip, QUESTIONS) for slip in slips(link) if is_read(slip, QUESTIONS)}
    assert {("k7" * 8, 38), (f"{'k7' * 7}k8", 37), (f"{'k7' * 8}3", 7)} <= wrong


def test_a_link_that_names_a_question_is_none_where_links_name_none_and_the_other_way_round() -> None:
    token = "abcdefghijklmnop"
    assert not is_read(PersonalLink(token, 3).text, 0)
    assert not is_read(PersonalLink(token).text, QUESTIONS)
    assert not is_read(PersonalLink(token, QUESTIONS).text, QUESTIONS)


@pytest.mark.parametrize(
    "text", ["", "abcdefghijklmnop", "short.00", None, 3, "abcdefghijklmnop.٦٢", "abcdefghijklmnop.62\n"]
)
def test_what_is_no_link_is_refused_with_an_example(text) -> None:
    with pytest.raises(ParameterError, match="personal link of this survey, as in"):
        PersonalLink.parse(text)


def test_a_report_is_not_drawn_for_a_mistyped_link(write) -> None:
    survey, answers = write(HEALTH), {"smokes": "Yes", "sport": "often"}
    link = PersonalLink("abcdefghijklmnop")
    assert survey.parse(survey.answer(answers, link=link.text)).link == link.token
    for slip in sorted(slips(link.text))[::50]:
        with pytest.raises(ParameterError, match="personal link"):
            survey.answer(answers, link=slip)
