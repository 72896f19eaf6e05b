"""A question in rotation in a real browser: the link names it, the report is on it, and another place draws nothing."""

from __future__ import annotations

import json

import pytest

from bruit.survey import PersonalLink

from ..surveys import ASSIGNED
from . import browser as browsers
from .browser import answer_all, text
from .test_browser import TOKEN, page_of, take_part
from .test_personal_link import slips

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())


@pytest.fixture
def rotated(write):
    return write(ASSIGNED)


def answer(tab):
    take_part(tab)
    answer_all(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()


@pytest.mark.parametrize(("place", "question"), [(0, "Do you smoke?"), (1, "How often do you do sport?")])
def test_the_report_is_on_the_question_that_the_link_names(place, question, rotated, visit, collector):
    tab = visit(page_of(rotated, links=True), fragment=f"#{PersonalLink(TOKEN, place).text}")
    assert "Your link names one protected question." in text(tab)
    tab.get_by_text("What leaves this device").click()
    assert "could know that the report is yours, and which question it is about" in text(tab)
    answer(tab)
    (body,) = collector.bodies
    report = rotated.parse(body)
    assert (report.link, int(report.columns["attribute"])) == (TOKEN, place)
    assert "Your link named one question." in text(tab)
    assert question in text(tab)
    assert f"{TOKEN}.{place}" not in json.dumps(collector.requests) + body.decode()


def test_a_link_with_another_place_sends_nothing_again(rotated, visit, collector):
    tab = visit(page_of(rotated, links=True), fragment=f"#{PersonalLink(TOKEN, 0).text}")
    answer(tab)
    tab.goto(f"{collector.address}/s/class#{PersonalLink(TOKEN, 1).text}")
    assert browsers.ALREADY in text(tab)
    tab.reload()
    assert browsers.ALREADY in text(tab)
    assert len(collector.bodies) == 1
    other = PersonalLink(TOKEN[::-1], 1)  # another person's, on the same device
    tab.goto(f"{collector.address}/s/class#{other.text}")
    answer(tab)
    assert [int(rotated.parse(body).columns["attribute"]) for body in collector.bodies] == [0, 1]


@pytest.mark.audit(share=4)
@pytest.mark.parametrize(
    "fragment",
    [
        *("", TOKEN, f"{TOKEN}.", f"{TOKEN}.0", f"{TOKEN}.0.", f"{TOKEN}.x.00", PersonalLink(TOKEN, 0).text + "0"),
        *(PersonalLink(TOKEN, place).text for place in (2, "00")),
        *(PersonalLink(token, 0).text for token in ("short", "a" * 33)),
    ],
)
def test_what_names_no_question_asks_nothing(fragment, rotated, visit):
    tab = visit(page_of(rotated, links=True), fragment=f"#{fragment}")
    assert "needs a link of your own" in text(tab)
    assert tab.get_by_role("button").count() == 0


def test_a_mistyped_link_asks_nothing_and_the_right_one_after_it_is_asked(rotated, visit, collector):
    """Wrong characters and swaps of neighbours; only then does the page draw, once."""
    link = PersonalLink(TOKEN, 0).text
    tab = visit(page_of(rotated, links=True), fragment=f"#{TOKEN}")
    asked = tab.evaluate(
        """async (links) => {
          const asked = [];
          for (const link of links) {
            const changed = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
            document.getElementById("survey").replaceChildren();
            location.hash = link;
            await changed;
            if (document.querySelector("h2")?.textContent !== "This survey needs a link of your own") asked.push(link);
          }
          return asked;
        }""",
        sorted(slips(link) - {""})[::7],  # `test_draws` holds the page's check to Python's, whose law has all
    )
    assert asked == []
    assert collector.bodies == []
    tab.goto(f"{collector.address}/s/class#{link}")
    answer(tab)
    assert [int(rotated.parse(body).columns["attribute"]) for body in collector.bodies] == [0]


def test_a_page_whose_questions_are_drawn_takes_no_place(write, visit):
    tab = visit(
        page_of(write(ASSIGNED.replace('assign = "rotation"', "")), links=True),
        fragment=f"#{PersonalLink(TOKEN, 0).text}",
    )
    assert "needs a link of your own" in text(tab)


@pytest.mark.audit
def test_what_was_drawn_for_one_place_is_sent_again_under_another(rotated, visit, collector):
    """The number behind the dot is no second chance: the bytes that were drawn are the ones that are sent."""
    collector.answers = [503, 503, 503]
    tab = visit(page_of(rotated, links=True), fragment=f"#{PersonalLink(TOKEN, 0).text}", quiet=False)
    take_part(tab)
    answer_all(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    tab.goto(f"{collector.address}/s/class#{PersonalLink(TOKEN, 1).text}")
    tab.reload()
    tab.wait_for_timeout(500)
    assert len({*collector.bodies}) == 1
    assert int(rotated.parse(collector.bodies[0]).columns["attribute"]) == 0
