"""Texts by language: every language has the names and places of English, and a file from outside is held to them."""

from __future__ import annotations

import json

import pytest

from bruit.collector.wording import TEXTS as RESULTS
from bruit.errors import FormatError, ParameterError
from bruit.pages import Wording, isolated
from bruit.sheets.phrases import _TEXTS as SHEETS
from bruit.survey.wording import TEXTS as PAGE

ALL = {"results": RESULTS, "sheets": SHEETS, "page": PAGE}


@pytest.mark.parametrize("name", ALL)
def test_every_language_of_a_package_has_the_names_and_places_of_english(name: str) -> None:
    texts = ALL[name]
    assert set(texts.languages) >= {"en", "fr"}
    for language in texts.languages:
        Wording(texts.package).check(texts[language], language)  # with nothing that may be missing


def test_the_check_sees_a_text_that_is_missing_unknown_or_lacks_a_place() -> None:
    french = dict(SHEETS["fr"])
    SHEETS.check(french, "fr.toml")
    for changes, message in [
        ({"quotes": ["«"]}, r"must have a text for 'quotes\.1'"),
        ({"points": "."}, r"no text 'points'\. Did you mean 'point'"),
        ({"share": "{count}"}, "'share' must have the places in braces"),
        ({"odds": {**french["odds"], "any": "x"}}, r"'odds\.any' must have the places in braces"),
    ]:
        with pytest.raises(ParameterError, match=message):
            SHEETS.check(french | changes, "fr.toml")


def _german(**changes: object) -> bytes:
    texts = {**PAGE["en"], "simple": None, **changes}
    return "\n".join(f"{name} = {json.dumps(text)}" for name, text in texts.items() if text is not None).encode()


def test_a_translation_from_outside_may_lack_what_came_later_and_nothing_else() -> None:
    assert PAGE.translation(_german(yes="Ja"), "de.toml")["yes"] == "Ja"
    assert "lost_last" not in PAGE.translation(_german(lost_last=None), "de.toml")
    with pytest.raises(ParameterError, match="must have a text for 'back'"):
        PAGE.translation(_german(back=None), "de.toml")


@pytest.mark.parametrize("value", [1, True, ["a"], {"a": 1}, "", "  "])
def test_a_translation_has_texts_only(value: object) -> None:
    content = _german(yes=None) + f"\nyes = {_toml(value)}\n".encode()
    with pytest.raises(FormatError, match="texts only"):
        PAGE.translation(content, "de.toml")


def _toml(value: object) -> str:
    return "{ a = 1 }" if isinstance(value, dict) else json.dumps(value)


def test_the_first_language_with_texts_is_taken_or_english() -> None:
    assert RESULTS.first(["de", "fr", "en"]) == "fr"
    assert RESULTS.first(["../fr", "de"]) == RESULTS.first([]) == "en"
    with pytest.raises(ParameterError, match="language must be"):
        RESULTS["../en"]


def test_a_text_from_right_to_left_does_not_move_the_words_around_it() -> None:
    haifa = "\u05d7\u05d9\u05e4\u05d4"
    assert isolated(haifa) == f"\u2068{haifa}\u2069"
    assert isolated("Dole (39)") == "Dole (39)"
    # Marks that would turn the rest of the sentence around, or leave the isolation, are dropped.
    assert isolated("\u202egnp.exe") == "gnp.exe"
    assert isolated(f"{haifa}\u2069\u202e") == f"\u2068{haifa}\u2069"
