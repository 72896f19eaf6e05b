"""Slips have a box for every character; a poster has the link, its QR code and the hash of the page."""

from __future__ import annotations

import hashlib

import pytest

from bruit.errors import ParameterError
from bruit.survey.handouts import MOST_SLIPS, SLIPS, Handouts

from ..surveys import LONG, MANY, ONE


def prints(survey, address="https://school.example/class.html"):
    return Handouts(survey, survey.page(code=True), address)


@pytest.mark.parametrize(("text", "slips"), [(ONE, 33), (MANY, 220), (LONG, SLIPS + 3)])
def test_a_slip_has_a_box_for_every_character_and_there_are_some_to_spare(write, text, slips) -> None:
    survey = write(text)
    for language in survey.languages:
        page = prints(survey).slips(language).decode()
        assert page.count("<li>") == slips
        assert page.count("<i></i>") == slips * survey.codes.length
        assert page.count("<span>") == slips * -(-survey.codes.length // 4)
        assert survey.wording[language]["print_slip"] in page
        assert page.count("<td>I, L → <b>1</b></td><td>O → <b>0</b></td><td>U → <b>V</b></td>") == slips
        assert page.count(survey.wording[language]["print_slip_name"]) == slips


def test_the_table_of_letters_is_how_codes_are_read() -> None:
    from bruit.survey.codes import digits_of
    from bruit.survey.handouts import _INSTEAD

    assert all(
        digits_of(letter) == digits_of(character) for letters, character in _INSTEAD for letter in letters.split(", ")
    )
    assert digits_of("I") != digits_of("0")


def test_a_translation_from_before_there_was_a_line_for_a_name_has_none(one) -> None:
    known = {name: own for name, own in one.wording["en"].items() if name != "print_slip_name"}
    object.__setattr__(one, "wording", {"en": known})
    assert 'class="name"' not in prints(one).slips("en").decode()


def test_the_number_of_slips_may_be_given(one) -> None:
    assert prints(one).slips("en", 3).decode().count("<li>") == 3
    for number in (0, MOST_SLIPS + 1):
        with pytest.raises(ParameterError):
            prints(one).slips("en", number)


def test_a_poster_has_the_link_its_qr_code_and_the_hash_of_the_page(one) -> None:
    pytest.importorskip("segno", reason="segno is not installed: pip install 'bruit[collector]'")
    own = prints(one)
    poster = own.poster("en").decode()
    assert "https://school.example/class.html" in poster
    assert "<svg" in poster
    assert "a code of 12 characters" in poster
    assert hashlib.sha256(own.page).hexdigest() in poster.replace(" ", "")


def test_a_poster_for_a_file_names_it_and_needs_no_picture(one) -> None:
    poster = prints(one, "class.html").poster("en").decode()
    assert "Open this file in a browser" in poster
    assert "<svg" not in poster


def test_the_page_of_another_survey_is_refused(one, write) -> None:
    other = write(ONE.replace("this week", "this month"), "other.toml")
    with pytest.raises(ParameterError, match="must be that of this survey"):
        Handouts(one, other.page(code=True), "class.html")


def test_texts_that_somebody_wrote_stay_text(write) -> None:
    survey = write(ONE.replace("Alcohol at school", "<b>Alcohol</b>"))
    own = prints(survey, "<script>.html")
    assert "<b>Alcohol" not in own.slips("en").decode().replace("<li><b>&lt;b&gt;", "")
    assert "<script>" not in own.poster("en").decode()
