"""Rounds in a real browser: memos, claims, the account of what was sent, and links whose memo is lost."""

from __future__ import annotations

import json

import pytest

from bruit.survey import PersonalLink

from . import browser as browsers
from .browser import choose, text, unfolded
from .browser import draw as send
from .test_browser import page_of, take_part, violations

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

LINK = "abcdefghijklmnop-_Z9"
TIMES = [
    "2026-01-05T09:00:00+01:00",
    "2026-01-12T09:00:00+01:00",
    "2026-01-19T09:00:00+01:00",
    "2026-01-26T09:00:00+01:00",
]
STORED = "() => JSON.stringify({ ...localStorage })"


@pytest.fixture
def answer(panel, visit):
    """Opens the survey in a round, as a person with a link; on a device that is given, or on a new one."""

    def open_page(round_number, context=None, **options):
        content = page_of(panel, links=True)
        where = {"fragment": f"#{PersonalLink(LINK).text}", "time": TIMES[round_number - 1], "context": context}
        return visit(content, **where, **options)

    return open_page


def record_name(tab, end):
    """The name of a stored record."""
    (name,) = (name for name in json.loads(tab.evaluate(STORED)) if name.endswith(f".{end}"))
    return name


def first_round(tab, label="Yes"):
    take_part(tab)
    choose(tab, label)
    choose(tab, "B")
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()


def again(tab):
    tab.get_by_role("button", name=browsers.DRAW_AGAIN).click()
    tab.get_by_role("heading", name="sent and counted").wait_for()


def test_a_person_answers_once_in_an_epoch_and_its_rounds_send_from_the_memo(answer, panel, collector):
    tab = answer(1)
    assert "Round 1 of 4" in text(tab)
    assert "in 2 periods of 2 rounds each." in unfolded(tab)
    assert "could come to think 74 %, at most, after what you send this time, and 97 %, at most, after all" in unfolded(
        tab
    )
    first_round(tab)
    claim, first = collector.bodies
    assert panel.claim_body.parse(claim).epoch == 1
    assert "you have answered in 1 of 4 rounds" in text(tab)
    assert "could now think 74 %, at most (ε = 1)" in text(tab)
    assert "Round 2 opens: Monday" in text(tab)
    stored = json.loads(tab.evaluate(STORED))
    assert {name[77:] for name in stored} == {".epoch.1", ".round.1"}
    memo = json.loads(stored[record_name(tab, "epoch.1")])
    assert LINK not in json.dumps(tab.evaluate(browsers.SNAPSHOT)["journal"]) + json.dumps(stored)
    assert set(memo) == {"id", "claimed", "memo", "places"}
    tab.reload()
    assert "You have answered in round 1" in text(tab)
    assert tab.get_by_role("button").count() == 0

    second = answer(2, tab.context)
    assert "You are not asked again" in text(second)
    assert second.get_by_role("radio").count() == 0
    assert "If you take part now: 84 %, at most (ε = 1.642)." in text(second)
    again(second)
    assert second.get_by_role("button", name="Show me what chance did").count() == 0
    assert "could now think 84 %, at most (ε = 1.642)" in text(second)
    asked = panel.claim_body.parse(collector.bodies[2])
    assert asked == panel.claim_body.parse(claim)._replace(round=2)
    reports = [panel.parse(body) for body in (first, collector.bodies[3])]
    assert [(report.round, report.public, report.link) for report in reports] == [(1, (1,), LINK), (2, (1,), LINK)]
    assert len(collector.bodies) == 4

    third = answer(3, tab.context)  # another epoch: asked anew, and the old memo is gone
    assert "Do you take part?" in text(third)
    first_round(third, "No")
    assert panel.claim_body.parse(collector.bodies[4])[2:] == (2, 0)
    assert "memo" not in json.loads(third.evaluate(STORED))[record_name(third, "epoch.1")]
    journal = json.loads(third.evaluate(browsers.SNAPSHOT)["journal"])
    assert {entry["name"][-7:] for entry in journal if "memo" in entry["record"]} == {"epoch.2"}
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


def test_in_the_last_epoch_another_device_is_sent_back_to_the_first_which_alone_reads_that_all_is_over(
    answer, collector
):
    tab = answer(3)
    first_round(tab)
    collector.answers = [403]  # as the collector answers to the claim of another device
    other = answer(3, quiet=False)
    take_part(other)
    other.get_by_role("heading", name="This browser has no note for this link").wait_for()
    assert "open the link there" in text(other)
    assert "The browser that you used before can answer in the remaining rounds." in text(other)
    assert "There is no further round" not in text(other)  # there is one, for the first device
    last = answer(4, tab.context)
    again(last)
    assert "There are no more rounds." in text(last)


def test_every_attempt_of_a_round_sends_the_same_bytes_and_so_does_a_claim(answer, panel, collector):
    collector.answers = [503, 201, 503, 503, 503]
    tab = answer(1, quiet=False)
    take_part(tab)
    tab.get_by_role("heading", name="No connection").wait_for()
    assert "Nothing has been drawn yet." in text(tab)
    tab.get_by_role("button", name="Try again").click()
    choose(tab, "Yes")
    choose(tab, "A")
    send(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    tab.reload()
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    other = answer(2, tab.context, quiet=False)  # a week later, what was not sent goes out, and the round is its own
    again(other)
    claims = [body for body in collector.bodies if b'"epoch"' in body]
    assert [panel.claim_body.parse(body).round for body in claims] == [0, 0, 2]
    assert claims[0] == claims[1]
    reports = {body for body in collector.bodies if body not in claims}
    assert sorted(panel.parse(body).round for body in reports) == [1, 2]


NO_JOURNAL = """() => new Promise((resolve) => {
  const request = indexedDB.deleteDatabase("bruit.survey");
  request.onsuccess = resolve;
})"""


@pytest.mark.audit("removed", "torn")
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
    tab.evaluate(harm, record_name(tab, "epoch.1"))
    tab.evaluate(NO_JOURNAL)
    other = answer(2, tab.context)
    assert "This browser has no note for this link" in text(other)
    assert len(collector.bodies) == 2


# A browser that dies: what localStorage had not written to the disk is gone.

FORGET = "(names) => names.forEach((name) => localStorage.removeItem(name))"
BACK = "([name, record]) => localStorage.setItem(name, JSON.stringify(record))"


def crash(tab, *rounds, memo=True):
    """What these rounds wrote was not on the disk, and without `memo` neither was the memo."""
    name = record_name(tab, "epoch.1").removesuffix(".epoch.1")
    tab.evaluate(FORGET, [f"{name}.round.{number}" for number in rounds])
    if not memo:
        record = json.loads(json.loads(tab.evaluate(STORED))[f"{name}.epoch.1"])
        tab.evaluate(BACK, [f"{name}.epoch.1", {"id": record["id"], "claimed": True}])


def test_after_a_crash_the_journal_knows_the_memo_and_what_was_drawn(answer, panel, collector):
    tab = answer(1)
    first_round(tab)
    crash(tab, 1, memo=False)
    reopened = answer(1, tab.context)
    assert "You have answered in round 1" in text(reopened)
    second = answer(2, tab.context)
    again(second)
    crash(second, 1, 2)
    second.reload()
    assert "You have answered in round 2" in text(second)
    assert [panel.parse(body).round for body in collector.bodies if b'"epoch"' not in body] == [1, 2]


@pytest.mark.audit
def test_without_a_journal_the_collector_knows_after_a_crash_and_nothing_is_drawn_again(answer, panel, collector):
    tab = answer(1)
    first_round(tab)
    crash(tab, 1, memo=False)
    tab.evaluate(NO_JOURNAL)
    collector.answers = [403]  # to the same claim, because a report of the epoch has come
    reopened = answer(1, tab.context, quiet=False)
    take_part(reopened)
    reopened.get_by_role("heading", name="This browser has no note for this link").wait_for()
    assert len(collector.bodies) == 3
    assert collector.bodies[2] == collector.bodies[0]


@pytest.mark.audit
def test_without_a_journal_a_round_that_was_sent_before_a_crash_is_not_drawn_again(answer, panel, collector):
    tab = answer(1)
    first_round(tab)
    second = answer(2, tab.context, quiet=False)
    again(second)
    crash(second, 2)
    second.evaluate(NO_JOURNAL)
    second.reload()
    collector.answers = [503, 403]
    second.get_by_role("button", name=browsers.DRAW_AGAIN).click()
    second.get_by_role("heading", name="No connection").wait_for()
    second.get_by_role("button", name="Try again").click()
    second.get_by_role("heading", name="You have answered in round 2").wait_for()
    assert "you have answered in 2 of 4 rounds" in text(second)
    assert [panel.parse(body).round for body in collector.bodies if b'"epoch"' not in body] == [1, 2]


@pytest.mark.audit
def test_nothing_is_sent_before_it_is_on_the_disk(answer, panel, collector):
    watch = (
        "const posts = []; window.posts = posts; const real = window.fetch;"
        f"const look = {browsers.SNAPSHOT}; window.fetch = async (address, options) => {{"
        " if (options.method === 'POST') posts.push((await look()).journal);"
        " return real(address, options); };"
        "const begin = IDBDatabase.prototype.transaction;"
        "IDBDatabase.prototype.transaction = function (names, mode, options) {"
        " if (mode === 'readwrite' && options.durability !== 'strict') posts.push('late');"
        " return begin.call(this, names, mode, options); };"
    )
    tab = answer(1, before=watch)
    first_round(tab)
    before_claim, before_report = map(json.loads, tab.evaluate("posts"))
    assert [set(entry["record"]) for entry in before_claim] == [{"id"}]
    records = {entry["name"].rpartition(".")[0][-5:]: entry["record"] for entry in before_report}
    assert records["round"] == {"body": collector.bodies[1].decode().replace(LINK, "")}
    assert "memo" in records["epoch"]


def test_an_old_tab_draws_nothing_after_its_round_nor_after_its_epoch(answer, panel, collector):
    old = answer(1)
    take_part(old)
    choose(old, "No")
    choose(old, "A")
    second = answer(2, old.context)
    first_round(second)
    third = answer(3, old.context)
    assert "Do you take part?" in text(third)
    sent = len(collector.bodies)
    send(old)
    old.get_by_role("heading", name="Do you take part?").wait_for()  # in round 3, by the clock of the device
    old.clock.set_fixed_time(TIMES[0])  # and if that clock is set back
    old.reload()
    assert "This browser has no note for this link" in text(old)
    assert len(collector.bodies) == sent


@pytest.mark.audit
def test_without_storage_one_round_can_be_answered_and_the_page_says_so(answer, panel, collector):
    forbidden = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } })"
    )
    tab = answer(1, before=forbidden)
    assert "not in the later rounds of this period" in text(tab)
    first_round(tab)
    assert panel.parse(collector.bodies[-1]).round == 1


@pytest.mark.audit
def test_whoever_leaves_after_the_claim_has_sent_no_answer_and_reads_what_was_noted(answer, panel, collector):
    tab = answer(1)
    take_part(tab)
    choose(tab, "Yes")
    tab.get_by_role("button", name="I do not take part after all").click()
    assert "the collector noted only that this browser uses the link" in text(tab)
    assert "Nothing was drawn, stored or sent" not in text(tab)
    (claim,) = collector.bodies
    panel.claim_body.parse(claim)


@pytest.mark.audit
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
    early = visit(page_of(panel, links=True), fragment=f"#{PersonalLink(LINK).text}", time="2026-01-01T00:00:00Z")
    assert "This survey has not begun yet" in text(early)
    tab = answer(1)
    assert "Round 1 of 4" in text(tab)
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


@pytest.mark.audit
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
