"""The first screen fits a phone: few words before the buttons, no scrolling, and every fact below them."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from ..surveys import MANY, ONE, TABLES
from . import browser as browsers
from .browser import data_of, text, unfolded
from .test_browser import violations

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

#: The most words that stand before the buttons.
MOST = 90
HEIGHT = 844

#: One question in two languages, with who asks.
ALCOHOL = """
title.en = "Alcohol at school"
title.fr = "L’alcool au collège"
asker.en = "Ms Martin, room 12"
asker.fr = "Mme Martin, salle 12"
epsilon = 1.0
people = 30
[[question]]
name = "drinks"
text.en = "Have you drunk alcohol this week?"
text.fr = "As-tu bu de l’alcool cette semaine ?"
kind = "yes-no"
"""

#: Two questions whose pair is reported, in two languages.
HABITS = """
title.en = "Habits"
title.fr = "Les habitudes"
asker.en = "Ms Martin, room 12"
asker.fr = "Mme Martin, salle 12"
introduction.en = "Two questions about your week, for the science fair."
introduction.fr = "Deux questions sur la semaine, pour la fête de la science."
epsilon = 2.0
method = "TAB[GRR]"
[[question]]
name = "smokes"
text.en = "Do you smoke?"
text.fr = "Est-ce que tu fumes ?"
kind = "yes-no"
[[question]]
name = "sport"
text.en = "How often do you do sport?"
text.fr = "Combien de fois fais-tu du sport ?"
kind = "choice"
labels.en = ["never", "sometimes", "often"]
labels.fr = ["jamais", "parfois", "souvent"]
"""

BEFORE = """() => {
  const parts = [...document.querySelector("main").children];
  return parts.slice(0, parts.findIndex((part) => part.matches(".buttons"))).map((part) => part.innerText).join(" ");
}"""


def words(tab) -> int:
    """How many words stand before the buttons, on them not counted."""
    tab.locator(".buttons").wait_for()
    return sum(bool(re.search(r"\w", word)) for word in tab.evaluate(BEFORE).split())


def bottom(tab) -> float:
    """Where the buttons end."""
    box = tab.locator(".buttons").bounding_box()
    return box["y"] + box["height"]


def page_of(survey, channel):
    return survey.page(code=True) if channel == "codes" else survey.page(address="class/report")


@pytest.mark.parametrize("channel", ["collector", "codes"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_decision_is_on_the_first_screen_of_a_phone(language, channel, write, visit):
    tab = visit(page_of(write(ALCOHOL), channel), locale=language)
    assert words(tab) <= MOST
    assert bottom(tab) <= HEIGHT
    assert tab.get_by_role("img").count() == 2
    assert tab.locator(".buttons button").count() == 2
    assert violations(tab) == []
    unfolded(tab)
    assert violations(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


SHOWN = """() => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  return document.querySelector("main").innerText;
}"""
#: Surveys in two languages, and some numbers that each of them shows.
SURVEYS = {
    "one": (ALCOHOL, {"73", "27", "50", "74"}),
    "many": (MANY, {"4", "58", "21"}),
    "tables": (HABITS, {"60", "8"}),
}


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,]\d+)?", text))


@pytest.mark.audit(share=2)
@pytest.mark.parametrize("channel", ["collector", "codes"])
@pytest.mark.parametrize("name", SURVEYS)
def test_every_way_of_speaking_has_few_words_before_the_buttons_and_the_same_numbers(name, channel, write, visit):
    """English and French, with vous and tu, standard and simple; the digests differ, for these are other surveys."""
    survey_text, known = SURVEYS[name]
    seen, tab = {}, None
    for address, reading in itertools.product(("vous", "tu"), ("standard", "simple")):
        survey = write(f'address = "{address}"\nreading = "{reading}"\n{survey_text}')
        place = {"path": f"/{address}/{reading}", "context": tab.context if tab else None}
        tab = visit(page_of(survey, channel), **place)
        for language in ("en", "fr"):
            tab.locator(f'nav [lang="{language}"]').click()
            assert words(tab) <= MOST, (language, address, reading)
            assert bottom(tab) <= HEIGHT, (language, address, reading)
            if survey.public:  # what is sent as it is stands before them
                assert tab.locator(".clear").first.bounding_box()["y"] < bottom(tab)
            said = tab.evaluate(SHOWN).replace(survey.digest, "").replace(survey.identity, "")
            seen.setdefault(language, []).append(numbers(said))
    for pages in seen.values():
        assert len(pages) == 4
        assert all(page == pages[0] for page in pages)
        assert set(pages[0]) >= known


@pytest.mark.parametrize("channel", ["collector", "codes"])
@pytest.mark.parametrize("survey_text", [ONE, MANY, TABLES], ids=["one", "many", "tables"])
def test_every_fact_is_on_the_page_that_is_unfolded(survey_text, channel, write, visit):
    """The texts whose words do not depend on the survey, whole; of the others their beginnings."""
    content = page_of(write(survey_text), channel)
    tab = visit(content)
    seen = text(tab)
    said = unfolded(tab)
    known = json.loads(data_of(content))["words"]["en"]
    names = {name for name in known if name.startswith("leaves_") and not name.endswith(("link", "rounds", "memo"))}
    names -= set() if survey_text == MANY else {"leaves_clear"}
    names -= {"leaves_network", "leaves_page"} if channel == "codes" else {"leaves_channel", "leaves_file"}
    names |= {"protection", "protection_text", "decide_text", "belief", "belief_lasts", "preview", "may_decline"}
    names |= {"technical", "belief_text" if survey_text != ONE else "belief_answer"}
    names |= {"private"} if channel == "codes" else set()
    for name in sorted(names):
        assert known[name].replace("\u00a0", " ").partition("{")[0] in said, name
    assert known["leaves_stays"] not in seen
    assert (known["clear_none"] in said) is (survey_text != MANY)


def test_a_long_introduction_stands_below_the_buttons(write, visit):
    for count, is_above in ((20, True), (21, False)):
        lines = " ".join(["Word"] * count)
        tab = visit(page_of(write(f'introduction = "{lines}"\n{ONE}'), "collector"))
        place = tab.get_by_text(lines, exact=True).bounding_box()
        assert (place["y"] < bottom(tab)) is is_above
        assert words(tab) <= MOST


def test_a_long_question_is_quoted_by_its_first_words_and_is_whole_below(write, visit):
    long = " ".join(["mot"] * 60)
    text_of_survey = MANY.replace("Have you drunk", f"{long} have you drunk").replace("As-tu bu", f"{long} as-tu bu")
    tab = visit(page_of(write(text_of_survey), "codes"), locale="fr")
    assert words(tab) <= MOST
    assert f"« {long[:31]} … »" in text(tab)
    assert f"{long} as-tu bu de l’alcool cette semaine ?" in unfolded(tab)


def test_the_count_of_words_sees_a_paragraph_that_is_planted(write, visit):
    tab = visit(page_of(write(ALCOHOL), "collector"))
    before = words(tab)
    plant = "document.querySelector('main h1').after(Object.assign(document.createElement('p'), {textContent: %r}))"
    tab.evaluate(plant % ("word " * 120))
    assert words(tab) == before + 120 > MOST
    assert bottom(tab) > HEIGHT


def test_a_translation_from_before_there_were_short_texts_shows_the_long_one(one, visit):
    known = {name: own for name, own in one.wording["en"].items() if "brief_" not in name}
    object.__setattr__(one, "wording", {"en": known})
    assert known["protection_text"] in text(visit(page_of(one, "collector")))
