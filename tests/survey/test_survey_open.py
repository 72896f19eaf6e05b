"""An open question in a survey file: what it may be, and what is refused with what to write instead."""

from __future__ import annotations

import pytest

from bruit.domains import OpenText
from bruit.errors import DataError, ParameterError

from ..surveys import OPEN
from .test_language import WORKED as GERMAN

QUESTION = """
[[question]]
name = "sport"
kind = "yes-no"
text.en = "Do you do sport?"
text.fr = "Fais-tu du sport ?"
"""


def test_an_open_question_is_the_plan_of_its_survey(write) -> None:
    survey = write(OPEN)
    assert survey.open_question is survey.questions[0]
    assert survey.plan.schema["problem"].domain == OpenText(letters=3)
    assert survey.card.questions[0].values == ()
    report = survey.parse(survey.answer({"problem": "Noise"}))
    assert len(report.columns["problem"]) == 18
    assert report.columns["problem"][:16] not in report.id.hex()


def test_what_makes_it_this_survey_has_the_letters(write) -> None:
    assert write(OPEN).digest != write(OPEN.replace("letters = 3", "letters = 4")).digest
    assert write(OPEN).digest == write(OPEN.replace("people = 600", "people = 700")).digest


def test_eight_letters_count_unless_the_file_says_otherwise(write) -> None:
    survey = write(OPEN.replace("letters = 3\n", ""))
    assert survey.open_question.letters == 8
    assert survey.card.questions[0].answers == 2**48


@pytest.mark.parametrize(
    ("old", "new", "instead"),
    [
        ("epsilon = 4.0", 'epsilon = 4.0\nchannel = "codes"', "leave channel out"),
        ("epsilon = 4.0", 'epsilon = 4.0\nchannel = "paper"', "leave channel out"),
        ("epsilon = 4.0", "epsilon = 4.0\nrounds = 3\nepoch_epsilon = 8.0", "leave rounds, epochs"),
        ("epsilon = 4.0", "epsilon = 4.0\nepochs = 2", "leave rounds, epochs"),
        ("epsilon = 4.0", 'epsilon = 4.0\nmethod = "OUE"', "leave method out"),
        ("letters = 3", "letters = 3\nclear = true", "leave clear out"),
        ("letters = 3", "letters = 9", "letters must be"),
        ("letters = 3", "letters = 3\nrefusal = true", "refusal"),
        ("people = 600", "people = 100", 'kind = "choice"'),
        ("people = 600\n", "", "people = "),
        ("people = 600", "people = 60000", "shown_from must be at least a part in 100"),
    ],
)
def test_what_an_open_question_cannot_have_is_refused_with_what_to_write(old, new, instead, write) -> None:
    with pytest.raises(ParameterError, match=instead):
        write(OPEN.replace(old, new))


@pytest.mark.parametrize("text", [OPEN + QUESTION, OPEN.replace("[[question]]", QUESTION + "[[question]]")])
def test_an_open_question_is_alone(text, write) -> None:
    with pytest.raises(ParameterError, match="alone in its survey"):
        write(text)


def test_people_are_enough_from_the_number_that_the_error_names(write) -> None:
    needed = write(OPEN).plan.answering.people_needed(0.2)
    assert write(OPEN.replace("people = 600", f"people = {needed}")).expected == needed
    with pytest.raises(ParameterError, match=f"people = {needed}"):
        write(OPEN.replace("people = 600", f"people = {needed - 1}"))
    eight = OPEN.replace("letters = 3\n", "").replace("epsilon = 4.0", "epsilon = 2.0")
    with pytest.raises(ParameterError, match=r"needs 2,29[0-9] people at ε = 2"):
        write(eight)


def test_results_move_in_a_tenth_of_the_people_unless_the_file_says_otherwise(write) -> None:
    assert write(OPEN.replace("shown_from = 100\n", "")).shown_from == 60
    assert write(OPEN).shown_from == 100


@pytest.mark.parametrize(("people", "step"), [(604, 48), (2292, 191), (2299, 209), (2300, 230), (2293, 230)])
def test_a_step_near_a_tenth_of_the_people_leaves_nobody_out(people: int, step: int, write) -> None:
    """The check of a survey does not call unwise what the survey chose itself, unless no such step leaves nobody."""
    text = OPEN.replace("shown_from = 100\n", "").replace("people = 600", f"people = {people}")
    survey = write(text)
    expected = step if people % step == 0 else -(-people // 10)
    assert survey.shown_from == expected
    unwise = [warning for warning in survey.check().warnings if "would stay out" in warning]
    assert bool(unwise) == (people % step != 0)


def test_the_check_says_what_counts_what_is_kept_and_how_many_people_find_an_answer(write) -> None:
    table = write(OPEN).check().table()
    text = str(table)
    for said in ("any text", "first 3 letters", "keeps each report", "20 %: ", "2 %: "):
        assert said in text
    assert "Without a server" not in text


@pytest.mark.parametrize("value", ["", "  ", "\0", None, 3, ["noise"]])
def test_a_text_without_a_letter_is_no_answer(value, write) -> None:
    with pytest.raises(DataError, match="must be a text with a letter"):
        write(OPEN).answer({"problem": value})


def test_there_are_no_codes_and_no_paper_of_it(write) -> None:
    from bruit.survey.paper import Paper

    survey = write(OPEN)
    for attempt in (
        lambda: survey.codes,
        lambda: survey.answer_code({"problem": "noise"}),
        lambda: survey.page(code=True),
        lambda: survey.sheet("en", channel="codes"),
        lambda: survey.sheet("en", channel="paper"),
        lambda: Paper(survey),
    ):
        with pytest.raises(ParameterError):
            attempt()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_sheet_says_that_hints_are_kept_and_promises_nothing_else(language, write) -> None:
    sheet = write(OPEN).sheet(language).decode()
    said = {
        "en": ("keeps the hint that your message has", "Only answers that are certified", "only the first 3 letters"),
        "fr": ("garde l’indice de ton message", "Seules les réponses certifiées", "seules les 3 premières lettres"),
    }
    false = {"en": ("to counters", "Only sums are kept"), "fr": ("à des compteurs", "Seules des sommes")}
    assert all(text in sheet for text in said[language])
    assert not any(text in sheet for text in false[language])


def test_a_translation_without_texts_for_open_questions_is_refused(write, tmp_path) -> None:
    (tmp_path / "de.toml").write_bytes(GERMAN.read_bytes())
    text = OPEN.replace("title.fr", "title.de").replace("text.fr", "text.de").replace('address = "tu"\n', "")
    with pytest.raises(ParameterError, match=r"de\.toml must have a text for 'open_brief_text'"):
        write(text)


def test_a_page_of_another_survey_has_no_text_of_an_open_question(one) -> None:
    page = one.page().decode()
    assert "textCode(" in page  # called where a question is open
    assert "function textCode" not in page
    assert "Your words never leave" not in page
