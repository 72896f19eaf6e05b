"""Rounds in a real browser: memos, claims, the account of what was sent, and links whose memo is lost."""

from __future__ import annotations

import json

import pytest

from . import browser as browsers
from .test_browser import choose, page_of, send, take_part, text, violations

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

LINK = "abcdefghijklmnop-_Z9"
TIMES = ["2026-01-05T09:00:00+01:00", "2026-01-12T09:00:00+01:00", "2026-01-19T09:00:00+01:00"]
STORED = "() => JSON.stringify({ ...localStorage })"


@pytest.fixture
def answer(panel, visit):
    """Opens the survey in a round, as a person with a link; on a device that is given, or on a new one."""

    def open_page(round_number, context=None, **options):
        content = page_of(panel, links=True)
        where = {"fragment": f"#{LINK}", "time": TIMES[round_number - 1], "context": context}
        return visit(content, **where, **options)

    return open_page


def first_round(tab, label="Yes"):
    take_part(tab)
    choose(tab, label)
    choose(tab, "B")
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()


def again(tab):
    tab.get_by_role("button", name="I take part: draw and send").click()
    tab.get_by_role("heading", name="sent and counted").wait_for()


def test_a_person_answers_once_in_an_epoch_and_its_rounds_send_from_the_memo(answer, panel, collector):
    tab = answer(1)
    assert "Round 1 of 4" in text(tab)
    assert "They make 2 periods of 2 rounds." in text(tab)
    assert "could come to think 74 %, at most, after what you send this time, and 97 %, at most, after all" in text(tab)
    first_round(tab)
    claim, first = collector.bodies
    assert panel.claim_body.parse(claim).epoch == 1
    assert "you have answered in 1 of 4 rounds" in text(tab)
    assert "could now think 74 %, at most (ε = 1)" in text(tab)
    assert "Round 2 opens: Monday" in text(tab)
    stored = json.loads(tab.evaluate(STORED))
    assert set(stored) == {f"bruit.survey.{panel.digest}.{LINK}.{name}" for name in ("epoch.1", "round.1")}
    memo = json.loads(stored[f"bruit.survey.{panel.digest}.{LINK}.epoch.1"])
    assert set(memo) == {"claim", "claimed", "memo", "places"}
    tab.reload()
    assert "You have answered in round 1" in text(tab)
    assert tab.get_by_role("button").count() == 0

    second = answer(2, tab.context)
    assert "You are not asked again" in text(second)
    assert second.get_by_role("radio").count() == 0
    assert "If you take part now: 84 %, at most (ε = 1.642)." in text(second)
    again(second)
    assert second.get_by_role("button", name="Was that my true answer?").count() == 0
    assert "could now think 84 %, at most (ε = 1.642)" in text(second)
    reports = [panel.parse(body) for body in (first, collector.bodies[2])]
    assert [(report.round, report.public, report.link) for report in reports] == [(1, (1,), LINK), (2, (1,), LINK)]
    assert len(collector.bodies) == 3

    third = answer(3, tab.context)  # another epoch: asked anew, and the old memo is gone
    assert "Do you take part?" in text(third)
    first_round(third, "No")
    assert panel.claim_body.parse(collector.bodies[3]).epoch == 2
    assert "epoch.1" not in third.evaluate(STORED)
    assert "you have answered in 3 of 4 rounds" in text(third)


def test_a_link_whose_memo_is_lost_draws_nothing_and_waits_for_the_next_epoch(answer, panel, collector):
    tab = answer(1)
    first_round(tab)
    collector.answers = [403]  # as the collector answers to the claim of another device
    other = answer(2, quiet=False)
    take_part(other)
    other.get_by_role("heading", name="This browser has no note for this link").wait_for()
    assert "Here you can answer again from round 3 on: Monday, January 19" in text(other)
    assert other.get_by_role("button").count() == 0
    assert len(collector.bodies) == 3
    panel.claim_body.parse(collector.bodies[-1])  # and no report
    assert other.evaluate("localStorage.getItem(Object.keys(localStorage)[0] ?? '')") is None
    later = answer(3, other.context)
    first_round(later)
    assert panel.parse(collector.bodies[-1]).round == 3


def test_every_attempt_of_a_round_sends_the_same_bytes_and_so_does_a_claim(answer, panel, collector):
    collector.answers = [503, 201, 503, 503, 503]
    tab = answer(1, quiet=False)
    take_part(tab)
    tab.get_by_role("heading", name="No connection").wait_for()
    assert "Nothing was drawn yet." in text(tab)
    tab.get_by_role("button", name="Try again").click()
    choose(tab, "Yes")
    choose(tab, "A")
    send(tab)
    tab.get_by_role("heading", name="Not sent yet").wait_for()
    tab.reload()
    tab.get_by_role("heading", name="Not sent yet").wait_for()
    other = answer(2, tab.context, quiet=False)  # a week later, what was not sent goes out, and the round is its own
    again(other)
    claims, reports = collector.bodies[:2], [panel.parse(body) for body in collector.bodies[2:]]
    assert claims[0] == claims[1]
    assert len({body for body in collector.bodies[2:] if panel.parse(body).round == 1}) == 1
    assert {report.round for report in reports} == {1, 2}


@pytest.mark.parametrize(
    "harm",
    [
        "(name) => localStorage.setItem(name, JSON.stringify({ ...JSON.parse(localStorage[name]), memo: { x: 1 } }))",
        "(name) => localStorage.setItem(name, '{')",
        "(name) => localStorage.removeItem(name)",
    ],
    ids=["tampered", "torn", "removed"],
)
def test_a_memo_that_was_tampered_with_is_lost_and_is_not_drawn_anew(harm, answer, panel, collector):
    tab = answer(1)
    first_round(tab)
    tab.evaluate(harm, f"bruit.survey.{panel.digest}.{LINK}.epoch.1")
    other = answer(2, tab.context)
    assert "This browser has no note for this link" in text(other)
    assert len(collector.bodies) == 2


def test_without_storage_one_round_can_be_answered_and_the_page_says_so(answer, panel, collector):
    forbidden = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } })"
    )
    tab = answer(1, before=forbidden)
    assert "not in the later rounds of this period" in text(tab)
    first_round(tab)
    assert panel.parse(collector.bodies[-1]).round == 1


def test_whoever_leaves_after_the_claim_has_sent_no_answer_and_reads_what_was_noted(answer, panel, collector):
    tab = answer(1)
    take_part(tab)
    choose(tab, "Yes")
    tab.get_by_role("button", name="I do not take part after all").click()
    assert "Only that this browser uses the link was noted" in text(tab)
    assert "Nothing was drawn, stored or sent" not in text(tab)
    (claim,) = collector.bodies
    panel.claim_body.parse(claim)


def test_two_tabs_in_one_round_send_one_report(answer, collector):
    first = answer(1)
    second = answer(1, first.context)
    for tab in (first, second):
        take_part(tab)
        choose(tab, "Yes")
        choose(tab, "A")
    send(first)
    first.get_by_role("heading", name="sent and counted").wait_for()
    second.get_by_role("heading", name="You have answered in round 1").wait_for()
    assert len({*collector.bodies}) == 2  # a claim and a report


def test_before_the_first_round_and_after_a_round_has_begun_the_page_says_so(answer, panel, visit, collector):
    early = visit(page_of(panel, links=True), fragment=f"#{LINK}", time="2026-01-01T00:00:00Z")
    assert "This survey has not begun yet" in text(early)
    tab = answer(1)
    tab.clock.set_fixed_time(TIMES[1])  # the page stays open over a week
    take_part(tab)
    assert "Round 2 of 4" in text(tab)
    assert collector.bodies == []


def test_the_answer_is_in_no_trace_of_a_first_round(answer, panel):
    """Two people with other answers and the same words leave the same traces, memos included."""
    total = panel.plan.panel.memos.mechanisms["slept"].law.total
    fixed = f"crypto.getRandomValues = (array) => array.fill(array instanceof BigUint64Array ? {total - 1}n : 7);"
    traces = []
    for label in ("No", "Yes"):
        tab = answer(1, before=fixed)
        first_round(tab, label)
        traces.append(tab.evaluate(browsers.SNAPSHOT))
        tab.context.clear_cookies()
    assert traces[0] == traces[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_of_a_round_breaks_a_rule_of_axe(scheme, answer, collector):
    tab = answer(1, color_scheme=scheme)
    assert violations(tab) == []
    first_round(tab)
    assert violations(tab) == []
    tab.reload()
    assert violations(tab) == []
    assert violations(answer(2, tab.context)) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
