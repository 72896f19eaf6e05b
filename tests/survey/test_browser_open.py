"""An open question in a real browser: what counts is shown, a hint is sent, and the words stay there."""

from __future__ import annotations

import re

import pytest

from bruit.domains import OpenText

from ..surveys import OPEN
from . import browser as browsers
from .browser import draw as send
from .browser import text, unfolded
from .test_browser import TRUE, _last_word, page_of, take_part

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

#: The button that shows whether the hint fits.
FITS = "Show me whether the hint fits my answer (only when nobody is watching)"
#: A word that is nowhere else.
CANARY = "zqxcanary"
#: The line below the field, which shows what the screen itself shows.
COUNTED = re.compile(r'(<p id="counted"[^>]*>).*?</p>')


@pytest.fixture
def school(write):
    return write(OPEN)


def field(tab):
    return tab.get_by_label("What is the biggest problem at your school?")


def counted(tab):
    return tab.locator("#counted").inner_text().replace("\u00a0", " ")


def fill(tab, typed):
    take_part(tab)
    field(tab).fill(typed)


def test_a_person_types_a_text_sees_what_counts_and_learns_what_was_sent(school, visit, collector):
    tab = visit(page_of(school))
    first = text(tab)
    assert "Your words never leave this device." in first
    assert re.search("Of 100 people with the same answer as you, [0-9]+ send a hint that fits it.", first)
    assert TRUE not in first
    take_part(tab)
    assert "only the first 3 letters count" in text(tab)
    send(tab)
    assert "Please write a word, with letters from a to z or digits." in text(tab)
    for typed in ("   ", "\0", "\t"):
        field(tab).fill(typed)
        send(tab)
        assert "Please write a word, with letters from a to z or digits." in text(tab)
    field(tab).fill("  NOISE and more ")
    assert counted(tab) == "Counted as: “noi”"
    assert collector.bodies == []
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    (body,) = collector.bodies
    column = bytes.fromhex(school.parse(body).columns["problem"])
    (question,) = school.card.questions
    fits = question.law.sets.supports(int.from_bytes(column, "little"), OpenText(letters=3).code("noise"))
    assert f"your device sent a hint that fits about one in {question.law.sets.buckets} of all possible texts" in text(
        tab
    )
    tab.get_by_role("button", name=FITS).click()
    assert f"The hint {'fits' if fits else 'does not fit'} your true answer." in text(tab)
    tab.get_by_text("What these bytes mean").click()
    assert "problem – what chance decided, in code" in text(tab)


@pytest.mark.audit
def test_both_answers_of_chance_are_told(school, visit, collector):
    """The same text again and again: the page says that the hint fits as often as it does."""
    told = set()
    for _ in range(20):
        tab = visit(page_of(school))
        fill(tab, "bus")
        send(tab)
        tab.get_by_role("button", name=FITS).click()
        told |= {line for line in ("The hint fits", "The hint does not fit") if line in text(tab)}
        tab.close()
        if len(told) == 2:
            break
    assert len(told) == 2


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_page_says_that_hints_are_kept_and_nothing_of_it_promises_to_forget(language, school, visit):
    said = unfolded(visit(page_of(school), locale=language))
    kept = {
        "en": "The hint is kept among those of others until",
        "fr": "L’indice est gardé parmi ceux des autres jusqu",
    }
    assert kept[language] in said
    for false in ("is added to the answers of others", "ajouté aux réponses des autres", "may change", "peut changer"):
        assert false not in said


def _traces(survey, visit, typed):
    tab = visit(page_of(survey), before=_last_word(survey))
    fill(tab, typed)
    traces = [tab.evaluate(browsers.SNAPSHOT)]
    traces[0]["shadows"] = COUNTED.sub(r"\1", traces[0]["shadows"])
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    traces.append(tab.evaluate(browsers.SNAPSHOT))
    tab.reload()
    tab.get_by_role("button", name=browsers.SOMEBODY_ELSE).wait_for()
    return [*traces, tab.evaluate(browsers.SNAPSHOT)]


def test_nothing_but_the_draw_depends_on_what_was_typed(school, visit, collector):
    """Two people with other texts and the same random words: all traces and bytes are equal, byte by byte."""
    first, second = (_traces(school, visit, typed) for typed in (CANARY, "noise"))
    assert first == second
    assert collector.bodies[0] == collector.bodies[1]
    assert CANARY not in str(first) + collector.bodies[0].decode()


def test_a_text_is_gone_when_its_screen_is_left(school, visit):
    tab = visit(page_of(school))
    fill(tab, CANARY)
    tab.get_by_role("button", name="I do not take part after all").click()
    assert CANARY[:3] not in tab.evaluate(browsers.SNAPSHOT)["shadows"]
    tab.get_by_role("button", name="Back").click()
    take_part(tab)
    assert field(tab).input_value() == ""
    field(tab).fill(CANARY)
    tab.reload()
    take_part(tab)
    assert field(tab).input_value() == ""


def test_the_field_asks_no_service_about_the_text(school, visit, collector):
    tab = visit(page_of(school))
    take_part(tab)
    names = ("autocomplete", "autocapitalize", "autocorrect", "spellcheck", "translate")
    assert [field(tab).get_attribute(name) for name in names] == ["off", "off", "off", "false", "no"]
    before = len(collector.requests)
    field(tab).press_sequentially(CANARY)
    assert len(collector.requests) == before


def test_changing_the_language_keeps_the_text(school, visit):
    tab = visit(page_of(school))
    fill(tab, "noise")
    tab.get_by_role("button", name="Français").click()
    assert counted(tab) == "Compté comme : « noi »"
    assert tab.locator("input[type=text]").input_value() == "noise"


@pytest.mark.audit("dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_of_an_open_question_breaks_a_rule_of_axe(scheme, school, visit):
    from axe_core_python.sync_playwright import Axe

    tab = visit(page_of(school), color_scheme=scheme)
    take_part(tab)
    field(tab).fill("noise")
    assert Axe().run(tab)["violations"] == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
