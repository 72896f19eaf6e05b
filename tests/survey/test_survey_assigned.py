"""Questions in rotation in a survey file: what each person is told, what a link decides, and what is refused."""

from __future__ import annotations

import json
import re

import pytest

from bruit.collection.sample import Rotation
from bruit.errors import ParameterError, ParameterTypeError
from bruit.survey import PersonalLink

from ..surveys import ASSIGNED, CHOICES, HEALTH, OPEN
from .browser import data_of

LINK = "abcdefghijklmnop-_Z9"
RIGHT = PersonalLink(LINK, 0).text
OWN = {"smokes": "Yes", "sport": "often"}


def test_a_survey_in_rotation_is_the_same_plan_with_another_assignment(write) -> None:
    survey, drawn = write(ASSIGNED), write(HEALTH)
    assert isinstance(survey.plan.design, Rotation)
    assert survey.plan.guarantee.epsilon == drawn.plan.guarantee.epsilon
    assert survey.card.questions == drawn.card.questions
    assert (survey.is_assigned, survey.needs_links) == (True, True)
    assert (drawn.is_assigned, drawn.needs_links) == (False, False)


def test_what_makes_it_this_survey_has_the_assignment(write) -> None:
    assert write(ASSIGNED).digest != write(ASSIGNED.replace('assign = "rotation"', "")).digest


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (ASSIGNED.replace('"rotation"', '"turns"'), "assign must be"),
        (ASSIGNED.replace("assign =", 'channel = "codes"\nassign ='), "leave channel out"),
        (ASSIGNED.replace("assign =", 'channel = "paper"\nassign ='), "leave channel out"),
        (ASSIGNED.replace("assign =", "rounds = 3\nepoch_epsilon = 8.0\nassign ="), "In rounds"),
        (ASSIGNED.replace("assign =", 'method = "SPL[GRR]"\nassign ='), "assign"),
        (ASSIGNED.replace("assign =", 'method = "RS+FD[GRR]"\nassign ='), "assign"),
        (ASSIGNED.replace("assign =", 'method = "TAB[GRR]"\nassign ='), "assign"),
        (ASSIGNED[: ASSIGNED.rindex("[[question]]")], "nothing to assign"),
        (OPEN.replace("people =", 'assign = "rotation"\npeople ='), "leave assign out"),
    ],
)
def test_what_cannot_be_assigned_is_refused_with_what_to_write(text, instead, write) -> None:
    with pytest.raises(ParameterError, match=instead):
        write(text)


def test_who_assigns_is_a_word(write) -> None:
    with pytest.raises(ParameterTypeError, match="assign must be"):
        write(ASSIGNED.replace('"rotation"', "3"))


def test_there_are_no_codes_no_paper_and_no_page_without_links(write) -> None:
    from bruit.survey.paper import Paper

    survey = write(ASSIGNED)
    for attempt in (
        lambda: survey.codes,
        lambda: survey.answer_code(OWN),
        lambda: survey.page(code=True),
        lambda: survey.page(address="report"),
        lambda: survey.sheet("en", channel="codes"),
        lambda: survey.sheet("en", channel="paper"),
        lambda: Paper(survey),
    ):
        with pytest.raises(ParameterError):
            attempt()


def test_a_report_is_on_the_question_that_its_link_names(write) -> None:
    survey = write(ASSIGNED)
    for place in (0, 1) * 20:
        report = survey.parse(survey.answer(OWN, link=PersonalLink(LINK, place).text))
        assert (report.link, int(report.columns["attribute"])) == (LINK, place)
        assert survey.link_of(report) == f"{LINK}.{place}"
    unassigned = write(HEALTH)
    assert unassigned.link_of(unassigned.parse(unassigned.answer(OWN, link=PersonalLink(LINK).text))) == LINK


@pytest.mark.parametrize(
    "link",
    [
        "",
        LINK,
        PersonalLink(LINK).text,
        f"{LINK}.",
        f"{LINK}.0",
        f"{LINK}.0.",
        f".{LINK}",
        f"{RIGHT} ",
        f"{RIGHT}\n",
        f"{RIGHT[:-1]}",
        f"{RIGHT}0",
        RIGHT.replace(".0.", ".٠."),
        PersonalLink(LINK, 2).text,
        PersonalLink(LINK, "00").text,
        PersonalLink(LINK, "-1").text,
        PersonalLink(LINK[:15], 0).text,
        PersonalLink("a" * 33, 0).text,
        PersonalLink("", 0).text,
        None,
    ],
)
def test_what_is_no_link_of_the_survey_draws_nothing(link, write) -> None:
    with pytest.raises(ParameterError, match="personal link"):
        write(ASSIGNED).answer(OWN, link=link)


@pytest.mark.parametrize(
    ("language", "says", "not_says"),
    [
        ("en", "Your link, made before you answer, names one of them", "Your device picks"),
        ("fr", "créé avant vos réponses, en désigne une", "en choisit une au hasard"),
    ],
)
@pytest.mark.parametrize("text", [ASSIGNED, CHOICES.replace("epsilon", 'assign = "rotation"\nepsilon')])
def test_the_sheet_says_that_the_link_names_the_question(language, says, not_says, text, write) -> None:
    survey = write(text.replace("assign =", f'languages = ["{language}"]\nassign ='))
    sheet = re.sub(r"\s+", " ", survey.sheet(language).decode())
    assert says in sheet
    assert not_says not in sheet


@pytest.mark.parametrize("reading", ["standard", "simple"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_text_of_the_page_says_that_the_device_picks(reading, language, write) -> None:
    survey = write(ASSIGNED.replace("assign", f'languages = ["{language}"]\nreading = "{reading}"\nassign'))
    data = json.loads(data_of(survey.page(address="report", links=True)))
    said = {name: text for name, text in data["words"][language].items() if not name.endswith("_tables")}
    assert {"en": "Your link names one", "fr": "lien désigne une"}[language] in said["brief_several"]
    picked = {
        "en": r"device picks|picked one (question|choice|of)",
        "fr": r"appareil (en )?choisit|appareil a choisi une",
    }
    assert [text for text in said.values() if re.search(picked[language], text)] == []


def test_check_says_who_decides_and_that_links_are_made_together(write) -> None:
    text = " ".join(str(write(ASSIGNED).check().table()).split())
    assert "which the link names: one link in 2" in text
    assert "issue them together" in text
    assert "drawn by chance: about" not in text


def test_check_says_of_few_reports_what_links_do(write) -> None:
    drawn = ASSIGNED.replace('assign = "rotation"', "")
    for text, says in (
        (drawn, "is drawn for each person: about 3"),
        (ASSIGNED, "names one line of the table: about 3"),
    ):
        warnings = " ".join(write(text.replace("people = 30", "people = 6")).check().warnings)
        assert says in warnings
        assert ("is drawn" in warnings) is (text is drawn)
