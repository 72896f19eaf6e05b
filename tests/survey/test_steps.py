"""Questions come one at a time: progress, ways back that lose nothing, a summary, and no trace of an answer."""

from __future__ import annotations

import pytest

from ..surveys import MANY
from . import browser as browsers
from .browser import choose, fill, reach, text
from .test_browser import page_of, take_part, violations

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

#: The same words for everybody; they pick the first question.
WORDS = """
let word = 3n;
crypto.getRandomValues = (array) => {
  if (!(array instanceof BigUint64Array)) return array.fill(7);
  return array.forEach((_, place) => {
    word = BigInt.asUintN(64, word * 6364136223846793005n + 1442695040888963407n);
    array[place] = word;
  }) ?? array;
};
"""
HOURS = "How many hours did you sleep last night?"


def press(tab, name):
    tab.get_by_role("button", name=name, exact=True).click()


def at(tab, progress):
    """Wait for a question; the heading has the focus, and no answer is in address or history."""
    tab.get_by_role("heading", name=progress).wait_for()
    assert tab.evaluate("[history.state, location.hash, location.search]") == [None, "", ""]
    assert tab.evaluate("localStorage.length + sessionStorage.length") == 0
    assert tab.locator("fieldset").count() == 1


def answered(tab, number="7.5"):
    """Answer everything; the page shows the summary."""
    take_part(tab)
    choose(tab, "I would rather not say")
    fill(tab, HOURS, number)
    for label in ("5 – very much", "theft", "C"):
        choose(tab, label)
    return reach(tab, tab.locator(".summary"))


@pytest.mark.parametrize("way", ["the button", "the phone"])
def test_both_ways_back_come_to_the_question_before_and_lose_no_answer(way, many, visit, collector):
    tab = visit(page_of(many))
    back = (lambda: press(tab, "Back")) if way == "the button" else (lambda: tab.evaluate("history.back()"))
    answered(tab)
    for place in (5, 4, 3, 2, 1):
        back()
        at(tab, f"{place} of 5")
    assert tab.get_by_label("I would rather not say", exact=True).is_checked()
    assert tab.get_by_role("button", name="Back", exact=True).count() == 0
    press(tab, "Next")
    assert tab.get_by_label(HOURS).input_value() == "7.5"
    for label in ("5 – very much", "theft", "C"):
        assert reach(tab, tab.get_by_label(label, exact=True)).is_checked()
    browsers.draw(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    tab.evaluate("history.back()")
    tab.wait_for_timeout(200)
    assert "sent and counted" in text(tab)
    assert len(collector.bodies) == 1


def test_the_first_question_of_the_phones_way_back_leaves_the_page(many, visit, collector):
    """There is one entry of the history more than without steps, and none once the first question is back."""
    tab = visit(page_of(many))
    before = tab.evaluate("history.length")
    answered(tab)
    assert tab.evaluate("history.length") == before + 1
    for place in (5, 4, 3, 2, 1):
        tab.evaluate("history.back()")
        at(tab, f"{place} of 5")
    tab.go_back()
    tab.wait_for_url("about:blank")
    tab.go_forward()
    tab.get_by_role("button", name=browsers.TAKE_PART).wait_for()
    assert collector.bodies == []


def test_a_summary_shows_every_answer_and_changes_one(many, visit, collector):
    tab = visit(page_of(many))
    lines = [line.split("\n") for line in answered(tab).locator("li").all_inner_texts()]
    assert [[part for part in line if part][1] for line in lines] == [
        "I would rather not say", "7.5", "5 – very much", "theft", "C",
    ]  # fmt: skip
    assert [next(filter(None, line)) for line in lines] == [own.text["en"] for own in many.questions]
    assert violations(tab) == []
    assert collector.bodies == []
    tab.get_by_role("button", name="Change: What have you seen?").click()
    at(tab, "4 of 5")
    tab.get_by_label("theft", exact=True).uncheck()
    press(tab, "Next")
    assert "None of these" in tab.locator(".summary").inner_text()  # at once
    tab.get_by_role("button", name=f"Change: {HOURS}").click()
    tab.get_by_label(HOURS).fill("99")
    press(tab, "Next")
    assert "Please enter a number from 0 to 12" in text(tab)
    press(tab, "Back")
    at(tab, "1 of 5")
    press(tab, "Next")
    press(tab, "Next")
    assert "Please enter a number" in text(tab) or "Please answer" in text(tab)  # an answer that is none is not passed
    fill(tab, HOURS, "3")
    browsers.draw(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert many.parse(collector.bodies[0]).public == (2,)


def test_a_reload_forgets_all_answers(many, visit):
    tab = visit(page_of(many))
    answered(tab)
    tab.reload()
    take_part(tab)
    at(tab, "1 of 5")
    assert tab.locator("input:checked").count() == 0
    choose(tab, "Yes")
    press(tab, "Next")
    assert tab.get_by_label(HOURS).input_value() == ""


def test_what_is_seen_from_outside_is_equal_whatever_was_answered(many, visit, collector):
    """Storage, address, history and requests; with the same random words, the bytes too."""
    traces = []
    for number in ("2", "11.5"):
        tab = visit(page_of(many), before=WORDS)
        answered(tab, number)
        kept = tab.evaluate(browsers.SNAPSHOT)
        del kept["dom"]  # the summary is on the screen
        browsers.draw(tab)
        tab.get_by_role("heading", name="sent and counted").wait_for()
        traces.append((kept, tab.evaluate(browsers.SNAPSHOT)))
    assert traces[0] == traces[1]
    assert collector.bodies[0] == collector.bodies[1]
    assert many.parse(collector.bodies[0]).columns["attribute"] != "1"  # else the number would matter


def test_a_translation_from_before_there_were_steps_asks_all_at_once(many, visit, collector):
    known = {own: {key: text for key, text in words.items() if key != "next"} for own, words in many.wording.items()}
    object.__setattr__(many, "wording", known)
    tab = visit(page_of(many))
    take_part(tab)
    assert tab.locator("fieldset").count() == 5
    press(tab, browsers.DRAW)
    assert text(tab).count("Please answer this question.") == 4  # none of several is an answer
    browsers.answer_all(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 1


@pytest.mark.parametrize("language", ["en", "fr"])
def test_questions_and_summary_fit_a_phone(language, write, visit):
    names = {"en": ("I take part", "Next", "Let chance"), "fr": ("Je participe", "Suivant", "Tirer au sort")}[language]
    tab = visit(page_of(write(MANY)), locale=language)
    tab.get_by_role("button", name=names[0], exact=True).click()
    for _ in range(5):
        tab.locator("fieldset").wait_for()
        button = tab.get_by_role("button", name=names[1]).bounding_box()
        assert button["y"] + button["height"] <= 844
        assert violations(tab) == []
        if tab.locator("input[type=text]").count():
            tab.locator("input").fill("7")
        else:
            tab.locator("label").first.click()
        tab.get_by_role("button", name=names[1]).click()
    assert violations(tab) == []
    assert tab.get_by_role("button", name=names[2]).is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
