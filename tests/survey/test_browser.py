"""The page in a real browser: the flow, what leaves the device, retries, tabs, storage, keyboard and screen readers."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from bruit.errors import DataError
from bruit.survey import PersonalLink

from ..plans import only_mechanism
from ..surveys import CHOICES, LONG, MANY, ONE, TABLES
from . import browser as browsers
from .browser import choose, text, unfolded
from .browser import draw as send

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

#: The button that shows whether chance changed the answer.
TRUE = "Show me what chance did to my answer (only when nobody is watching)"


def page_of(survey, **options):
    return survey.page(address="class/report", **options)


def take_part(tab):
    tab.get_by_role("button", name=browsers.TAKE_PART).click()
    tab.get_by_text("One moment …").wait_for(state="hidden")  # it asks whether the survey is open


def test_a_person_reads_the_odds_takes_part_answers_and_learns_what_was_sent(one, visit, collector):
    tab = visit(page_of(one))
    assert "Of 100 people whose true answer is “Yes”, 73 send “Yes”." in text(tab)
    assert "Of 100 whose true answer is “No”, 27 send “Yes” anyway." in text(tab)
    assert "50 % likely that your true answer is “Yes” could come to think 74 %, at most" in unfolded(tab)
    pictures = [picture.get_attribute("aria-label") for picture in tab.get_by_role("img").all()]
    assert pictures == ["73 of 100", "27 of 100"]
    assert [tab.locator(f".odds > div:nth-child({row}) .on").count() for row in (1, 2)] == [73, 27]
    assert tab.locator("details li").first.inner_text() == "Have you drunk alcohol this week? chance may change it"
    assert f"No answer is sent until you press “{browsers.DRAW}”." in unfolded(tab)
    assert tab.locator("input[type=radio], .banner").count() == 0
    take_part(tab)
    assert collector.bodies == []
    choose(tab, "Yes")
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    (body,) = collector.bodies
    report = one.parse(body)
    label = ("No", "Yes")[int(report.columns["drinks"])]
    assert tab.locator("pre").inner_text() == body.decode()
    assert f"To “Have you drunk alcohol this week?” your device sent “{label}”." in text(tab)
    assert "That may or may not be your true answer." in text(tab)
    tab.get_by_text("What these bytes mean").click()
    assert f"drinks – {report.columns['drinks']} stands for “{label}”" in text(tab)
    names = [line.inner_text() for line in tab.locator("li > code:first-child").all()]
    assert names == ["id", "link", "pad", "drinks", "round", "survey"]
    truth = "Chance left your answer as it was." if label == "Yes" else "Chance changed your answer."
    for press, is_shown in ((TRUE, True), ("Hide this again", False), (TRUE, True)):
        assert (truth in text(tab)) is not is_shown
        tab.get_by_role("button").click()  # the only button
        assert (truth in text(tab)) is is_shown, press


def test_whoever_does_not_take_part_leaves_nothing_behind(one, visit, collector):
    tab = visit(page_of(one))
    tab.get_by_role("button", name="I do not take part").click()
    assert "Nothing was drawn, stored or sent." in text(tab)
    tab.get_by_role("button", name="Back").click()
    assert "Do you take part?" in text(tab)
    take_part(tab)
    choose(tab, "Yes")
    tab.get_by_role("button", name="I do not take part after all").click()
    assert "Nothing was drawn, stored or sent." in text(tab)
    assert collector.bodies == []
    assert tab.evaluate("localStorage.length + sessionStorage.length") == 0
    tab.get_by_role("button", name="Back").click()
    take_part(tab)
    assert not tab.get_by_label("Yes", exact=True).is_checked()


def test_every_kind_of_question_is_answered_and_sent(many, visit, collector):
    tab = visit(page_of(many))
    assert not tab.get_by_text("What have you seen?", exact=True).first.is_visible()  # five questions are folded
    tab.get_by_text("What you will be asked").click()
    questions = [line.inner_text() for line in tab.locator("details").first.locator("li").all()]
    marks = {False: "chance may change it", True: "sent as it is"}
    assert questions == [f"{question.text['en']} {marks[question.clear]}" for question in many.questions]
    assert "There are 4 protected questions. Your device picks one of them" in unfolded(tab)
    assert "Sent as they are, without protection: your answers to “Your class”." in text(tab)
    take_part(tab)
    forward = tab.get_by_role("button", name=browsers.NEXT)
    forward.click()
    assert text(tab).count("Please answer this question.") == 1
    choose(tab, "I would rather not say")
    for typed in ("7.3", "13", "-1", "x", "1e1", "0x7"):
        browsers.fill(tab, "How many hours did you sleep last night?", typed)
        forward.click()
        assert "Please enter a number from 0 to 12, in steps of 0.5." in text(tab)
    browsers.fill(tab, "How many hours did you sleep last night?", "7,5")
    choose(tab, "5 – very much")
    choose(tab, "theft")
    choose(tab, "C")
    assert collector.bodies == []
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    report = many.parse(collector.bodies[0])
    assert report.public == (2,)
    assert "Your answer to “Your class” was sent as it is: “C”." in text(tab)
    assert "Your device picked one question by chance." in text(tab)
    tab.get_by_text("What these bytes mean").click()
    assert "class – 2 stands for “C”" in text(tab)
    assert re.search("attribute – [0-5] stands for “", text(tab))
    assert re.search("report – ([0-9]+ stands for “|what chance decided, in code)", text(tab))
    tab.get_by_role("button", name=TRUE).click()
    assert re.search("Chance (left|changed) your answer|That (includes|does not include) your true answer", text(tab))


def test_a_pair_of_answers_is_sent_and_read_as_a_pair(write, visit, collector):
    survey = write(TABLES)
    tab = visit(page_of(survey))
    assert "Two answers are sent as a pair" in unfolded(tab)
    assert "Of 100 people whose true answer is “No + never”, 60 send “No + never”." in text(tab)
    take_part(tab)
    choose(tab, "Yes")
    choose(tab, "often")
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    cell = int(survey.parse(collector.bodies[0]).columns["report"])
    smokes, sport = divmod(cell, 3)
    sent = f"{('No', 'Yes')[smokes]} + {('never', 'sometimes', 'often')[sport]}"
    assert f"your device sent “{sent}”." in text(tab)
    tab.get_by_role("button", name=TRUE).click()
    assert ("Chance left your answer as it was." if cell == 5 else "Chance changed your answer.") in text(tab)


def test_a_question_with_several_choices_is_one_question_on_every_screen(many, write, visit, collector):
    tab = visit(page_of(many))
    said = unfolded(tab)
    assert "There are 4 protected questions." in said
    assert "each choice counts on its own" in said
    assert tab.locator("details h3").all_inner_texts() == [own.text["en"] for own in many.sensitive]
    tab = visit(page_of(write(CHOICES)), path="/s/choices")
    said = unfolded(tab)
    assert "Your device picks one of the choices at random." in said
    assert "sends only whether you ticked it" in said
    assert not re.search("[0-9]+ (protected )?(question|answer)s", said)
    take_part(tab)
    assert " of " not in tab.locator("legend").inner_text()
    choose(tab, "theft")
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert "Your device picked one choice by chance." in text(tab)


@pytest.mark.audit
def test_the_language_is_that_of_the_browser_and_can_be_changed_without_losing_answers(many, visit):
    tab = visit(page_of(many), locale="fr-CH")
    tab.get_by_role("heading", level=1).wait_for()  # the page is shown once its journal was read
    assert tab.locator("html").get_attribute("lang") == "fr"
    assert "Participez-vous" in text(tab)
    tab.get_by_role("button", name="English").click()
    take_part(tab)
    choose(tab, "Yes")
    tab.get_by_role("button", name="Français").click()
    assert tab.get_by_label("Oui", exact=True).is_checked()
    tab.get_by_role("button", name="English").click()
    browsers.fill(tab, "How many hours", "7.5")
    tab.get_by_role("button", name="Français").click()
    assert tab.get_by_label("Combien d’heures").input_value() == "7,5"
    tab.get_by_role("button", name="English").click()
    choose(tab, "5 – very much")
    choose(tab, "theft")
    tab.get_by_role("button", name="Français").click()
    assert tab.get_by_label("un vol", exact=True).is_checked()


def test_the_only_requests_are_for_the_page_and_its_report_without_cookie_or_referrer(many, visit, collector):
    tab = visit(b'<!doctype html><link rel="icon" href="data:,">', path="/")
    requests = []
    tab.on("request", lambda request: requests.append((request.method, request.url.removeprefix(collector.address))))
    tab.goto(collector.serve(page_of(many)))
    _answer_all(tab)
    # The page, whether the survey is open when it is opened and when somebody takes part, and the report.
    state = ("GET", f"/s/class/report?survey={many.identity}")
    assert requests == [("GET", "/s/class"), state, state, ("POST", "/s/class/report")]
    assert [request[:2] for request in collector.requests[-4:]] == requests
    for _, _, sent in collector.requests[-3:]:
        assert not {name.lower() for name in sent} & {"cookie", "referer", "authorization"}
    assert tab.context.cookies() == []


def _answer_all(tab):
    take_part(tab)
    browsers.answer_all(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()


@pytest.mark.audit("not open")
@pytest.mark.parametrize(
    ("state", "heading"), [(410, "This survey is closed"), (404, "This survey is not open")], ids=["closed", "not open"]
)
def test_a_survey_that_takes_no_answers_asks_nothing(state, heading, one, visit, collector):
    collector.state = state
    tab = visit(page_of(one), quiet=False)
    tab.get_by_role("heading", name=heading).wait_for()
    assert "Nothing was drawn" in text(tab)
    assert tab.get_by_role("button").count() == 0
    assert tab.evaluate("localStorage.length") == 0
    assert collector.bodies == []


@pytest.mark.audit
def test_a_survey_that_closes_while_its_page_is_open_draws_nothing(one, visit, collector):
    tab = visit(page_of(one), quiet=False)
    tab.wait_for_load_state("networkidle")
    collector.state = 410
    take_part(tab)
    tab.get_by_role("heading", name="This survey is closed").wait_for()
    assert tab.evaluate("localStorage.length") == 0


def test_a_survey_that_closes_before_its_answer_came_says_so_and_draws_nothing(one, visit, collector):
    """The questions are shown after three seconds without an answer; an answer that comes then is still heeded."""
    tab = visit(page_of(one), quiet=False)
    tab.wait_for_load_state("networkidle")
    waiting = []

    def hold(route):
        waiting.append(route)

    tab.route("**/report?*", hold)
    tab.clock.install()
    tab.get_by_role("button", name=browsers.TAKE_PART).click()
    tab.get_by_text("One moment …").wait_for()
    assert tab.get_by_role("radio").count() == 0
    tab.clock.fast_forward(3100)
    choose(tab, "Yes")
    waiting[0].fulfill(status=410, body=browsers.problem(410), content_type="application/json")
    tab.get_by_role("heading", name="The survey closed while you were answering").wait_for()
    assert "Nothing was drawn" in text(tab)
    assert tab.evaluate("localStorage.length") == 0
    assert collector.bodies == []


def test_an_answer_that_came_too_late_is_known_as_such_and_is_followed_by_none(one, visit, collector):
    """The bytes are forgotten, and a mark stays in their place: they have left the device."""
    collector.answers = [410]
    tab = visit(page_of(one), quiet=False)
    _drawn(tab)
    tab.get_by_role("heading", name="Too late").wait_for()
    assert "it was refused and is in no result" in text(tab)
    assert tab.locator("pre").inner_text() == collector.bodies[0].decode()
    assert violations(tab) == []
    assert json.loads(tab.evaluate("Object.values(localStorage)[0]")) == {"sent": True, "late": True}
    assert collector.bodies[0].decode() not in tab.evaluate(browsers.SNAPSHOT)["journal"]
    for state in (410, 204):  # also if the collector should open again
        collector.state = state
        tab.reload()
        tab.get_by_role("heading", name="Too late").wait_for()
        tab.wait_for_load_state("networkidle")
        assert tab.get_by_role("button").count() == 0
    assert len(collector.bodies) == 1


def test_whoever_has_answered_reads_that_the_survey_is_closed(one, visit, collector):
    tab = visit(page_of(one), quiet=False)
    _drawn(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    collector.state = 410
    tab.reload()
    tab.get_by_role("heading", name="This survey is closed").wait_for()
    assert "You have answered. Thank you." in text(tab)
    assert tab.get_by_role("button").count() == 0


def test_what_was_drawn_before_a_survey_closed_is_sent_again_after_it(one, visit, collector):
    collector.answers = [503, 200]
    tab = visit(page_of(one), quiet=False)
    _drawn(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    collector.state = 410
    tab.reload()
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 2
    assert len({*collector.bodies}) == 1


# The true answer.

#: Makes every word the last one that the law takes: what is drawn then does not depend on the answer.
FIXED = """
crypto.getRandomValues = (array) => array.fill(array instanceof BigUint64Array ? WORDn : 7);
"""


def _last_word(survey):
    law = only_mechanism(survey.plan).law
    total = getattr(law, "total", None)
    if total is None:  # a coin, and then a window
        total = 2 * law.coin.least + (law.coin.cells - 1) * law.coin.slope + law.window.total
    return FIXED.replace("WORD", str(total - 1))


def _traces(survey, content, visit, answer, **options):
    """All that can be seen of a person at each step, but for what the screen itself shows of the choice."""
    tab = visit(content, before=_last_word(survey), **options)
    traces = []
    take_part(tab)
    answer(tab)
    traces.append(tab.evaluate(browsers.SNAPSHOT))
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    traces.append(tab.evaluate(browsers.SNAPSHOT))
    tab.reload()
    tab.get_by_role("button", name=browsers.SOMEBODY_ELSE).wait_for()
    traces.append(tab.evaluate(browsers.SNAPSHOT))
    return traces


@pytest.mark.audit("number")
@pytest.mark.parametrize("kind", ["choice", "number"])
def test_nothing_but_the_draw_depends_on_the_true_answer(kind, write, visit, collector):
    """Two people with other answers and the same random words: all traces and bytes are equal, byte by byte."""
    if kind == "choice":
        survey = write(ONE)
        ways = [lambda tab, label=label: choose(tab, label) for label in ("No", "Yes")]
    else:
        number = '"number"\nfrom = 0\nto = 12\nstep = 0.5'
        survey = write(ONE.replace('"yes-no"', number))
        ways = [lambda tab, typed=typed: tab.locator("input").fill(typed) for typed in ("11.5", "2")]
    first, second = (_traces(survey, page_of(survey), visit, way) for way in ways)
    assert first == second
    assert collector.bodies[0] == collector.bodies[1]


#: Where the answers are known when something is drawn, and when something is chosen.
DRAWN, CHOSEN = "if (body) await person.store.set(", "if (!several) answers[row] = code;"
LEAKS = {
    "an attribute": (CHOSEN, f"input.dataset.on = 1;\n        {CHOSEN}"),
    "storage": (DRAWN, f'localStorage.setItem("x", JSON.stringify(answers)); {DRAWN}'),
    "the address": (DRAWN, f"history.replaceState(null, '', '#' + answers); {DRAWN}"),
    "history": (DRAWN, f"history.replaceState(JSON.stringify(answers), ''); {DRAWN}"),
    "the title": (DRAWN, f"survey.title.en = JSON.stringify(answers); {DRAWN}"),
}


@pytest.mark.audit("an attribute", "history", "the")
@pytest.mark.parametrize("leak", LEAKS)
def test_a_page_that_leaks_the_answer_is_noticed(leak, one, visit):
    content = browsers.without_policy(page_of(one)).decode()
    assert content.count(LEAKS[leak][0]) == 1
    twin = content.replace(*LEAKS[leak]).encode()
    first, second = (
        _traces(one, twin, visit, lambda tab, label=label: choose(tab, label), quiet=False) for label in ("No", "Yes")
    )
    assert first != second


def test_an_answer_that_was_chosen_and_not_sent_is_gone_after_reload_and_back(one, visit):
    tab = visit(page_of(one))
    take_part(tab)
    choose(tab, "Yes")
    tab.reload()
    assert "Do you take part?" in text(tab)
    take_part(tab)
    assert not tab.get_by_label("Yes", exact=True).is_checked()
    choose(tab, "Yes")
    tab.goto("about:blank")
    tab.go_back()
    assert "Do you take part?" in text(tab)
    take_part(tab)
    assert not tab.get_by_label("Yes", exact=True).is_checked()


def test_a_page_that_comes_back_from_the_cache_of_the_browser_has_forgotten_the_answer(one, visit):
    tab = visit(page_of(one))
    take_part(tab)
    choose(tab, "Yes")
    tab.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    assert tab.locator("main").inner_text() == ""
    tab.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    take_part(tab)
    assert not tab.get_by_label("Yes", exact=True).is_checked()


# Once drawn, always the same bytes.


def _drawn(tab, label="Yes"):
    take_part(tab)
    choose(tab, label)
    send(tab)


@pytest.mark.audit("429", "hang up")
@pytest.mark.parametrize("failure", [503, 429, "hang up"])
def test_every_attempt_sends_the_same_bytes(failure, one, visit, collector):
    collector.answers = [failure] * 50  # a browser tries again by itself where a connection was cut
    tab = visit(page_of(one), quiet=False)
    _drawn(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    assert "true answer" not in text(tab)
    shown = tab.locator("pre").inner_text()
    tab.reload()  # tries again, and fails again
    tab.get_by_role("button", name=browsers.SEND_AGAIN).wait_for()
    attempts = len(collector.bodies)
    collector.answers = []
    tab.get_by_role("button", name=browsers.SEND_AGAIN).click()
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert {body.decode() for body in collector.bodies} == {shown}
    assert len(collector.bodies) > attempts >= 2


def test_without_a_connection_the_page_works_until_it_sends_and_then_waits_for_one(one, visit, collector):
    tab = visit(page_of(one), quiet=False)
    tab.context.set_offline(True)
    _drawn(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    shown = tab.locator("pre").inner_text()
    assert "Your device keeps what it drew and sends it later by itself. It counts only once." in text(tab)
    assert "close it and open it again later" in text(tab)
    assert collector.bodies == []
    tab.context.set_offline(False)  # it goes on by itself
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert [body.decode() for body in collector.bodies] == [shown]


def test_a_page_that_stays_open_sends_again_by_itself_when_the_collector_is_back(one, visit, collector):
    collector.answers = [503]
    tab = visit(page_of(one), quiet=False)
    tab.clock.install()
    tab.reload()
    _drawn(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    assert len(collector.bodies) == 1
    tab.clock.fast_forward(16_000)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 2
    assert len({*collector.bodies}) == 1


def test_a_double_tap_draws_and_sends_once(one, visit, collector):
    collector.delay = 0.2
    tab = visit(page_of(one))
    take_part(tab)
    choose(tab, "Yes")
    button = tab.get_by_role("button", name=browsers.DRAW)
    button.evaluate("(element) => { element.click(); element.click(); element.click(); }")
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 1


@pytest.mark.audit
def test_two_tabs_of_one_person_send_one_report(one, visit, collector):
    first = visit(page_of(one))
    second = visit(page_of(one), context=first.context)
    for tab in (first, second):
        take_part(tab)
        choose(tab, "Yes")
    send(first)
    first.get_by_role("heading", name="sent and counted").wait_for()
    second.get_by_role("heading", name=browsers.ALREADY).wait_for()
    assert len(collector.bodies) == 1


def test_two_tabs_that_draw_at_the_same_moment_send_the_same_bytes(one, visit, collector):
    collector.delay = 0.3
    first = visit(page_of(one))
    quiet = "addEventListener('storage', (event) => event.stopImmediatePropagation())"  # the news comes too late
    second = visit(page_of(one), context=first.context, before=quiet)
    for tab in (first, second):
        take_part(tab)
        choose(tab, "Yes")
    for tab in (first, second):
        tab.get_by_role("button", name=browsers.DRAW).evaluate("(element) => setTimeout(() => element.click(), 50)")
    for tab in (first, second):
        tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len({*collector.bodies}) == 1


def test_after_sending_nobody_is_asked_again_and_the_report_is_not_shown(one, visit, collector):
    tab = visit(page_of(one))
    _drawn(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    tab.reload()
    assert browsers.ALREADY in text(tab)
    assert collector.bodies[0].decode() not in tab.content()
    assert json.loads(tab.evaluate("Object.values(localStorage)[0]")) == {"sent": True}
    tab.get_by_role("button", name=browsers.SOMEBODY_ELSE).click()
    _drawn(tab, "No")
    tab.get_by_role("heading", name="sent and counted").wait_for()
    ids = [one.parse(body).id for body in collector.bodies]
    assert len(set(ids)) == 2


@pytest.mark.audit("full")
@pytest.mark.parametrize(
    "obstacle",
    [
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } })",
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }",
    ],
    ids=["forbidden", "full"],
)
def test_without_storage_the_page_says_so_and_still_sends_the_same_bytes(obstacle, one, visit, collector):
    collector.answers = [503]
    tab = visit(page_of(one), before=obstacle, quiet=False)
    assert "This browser keeps nothing for this page." in text(tab)
    _drawn(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    assert "Leave this page open until it is sent" in text(tab)
    tab.get_by_role("button", name=browsers.SEND_AGAIN).click()
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 2
    assert len({*collector.bodies}) == 1


FILL = """(left) => {
  let text = "";
  for (let size = 1 << 22; size >= 1; size >>= 1) {
    try {
      localStorage.setItem("other", text + "0".repeat(size));
      text += "0".repeat(size);
    } catch {}
  }
  localStorage.setItem("other", text.slice(left));
}"""


@pytest.mark.audit
@pytest.mark.parametrize("left", [60, 300])
def test_where_storage_is_nearly_full_the_page_says_so_and_nobody_answers_twice(left, one, visit, collector):
    tab = visit(page_of(one))
    assert "This browser keeps nothing for this page." not in text(tab)
    tab.evaluate(FILL, left)
    tab.reload()
    assert "This browser keeps nothing for this page." in text(tab)
    _drawn(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    tab.reload()
    tab.get_by_role("heading", name=browsers.ALREADY).wait_for()  # the journal has it
    assert len(collector.bodies) == 1


@pytest.mark.audit
def test_a_browser_that_cannot_draw_says_so_and_sends_nothing(one, visit, collector):
    tab = visit(
        page_of(one), before="crypto.getRandomValues = () => { throw new DOMException('', 'QuotaExceededError'); }"
    )
    _drawn(tab)
    tab.get_by_role("heading", name="Nothing was sent").wait_for()
    assert collector.bodies == []
    assert tab.evaluate("localStorage.length") == 0


def test_equal_surveys_at_two_places_keep_what_was_drawn_apart(one, visit, collector):
    """An unsent report stays where it was drawn, whether the page knows its opening or only its address."""
    collector.answers = [503]
    first = visit(page_of(one), quiet=False)
    _drawn(first)
    first.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    opened = replace(one, opening="class 2")
    places = [
        (one.page(address="other/report"), "/s/other"),
        (page_of(replace(one, opening="class 1")), "/s/class"),
        (page_of(opened), "/s/class"),
    ]
    for content, path in places:
        second = visit(content, path=path, context=first.context)
        second.get_by_role("heading", name="Do you take part?").wait_for()
        assert len(collector.bodies) == 1
    experts = second.locator("details", has_text="For experts").text_content()
    assert f"which is sent: {opened.identity}. Digest of its file: {opened.digest}." in experts
    _drawn(second)
    second.get_by_role("heading", name="sent and counted").wait_for()
    with pytest.raises(DataError):
        one.parse(collector.bodies[1])
    opened.parse(collector.bodies[1])


PORTAL = "<title>Log in to this network</title>"


@pytest.mark.audit("200")
@pytest.mark.parametrize("status", [200, 403])
def test_an_answer_of_somebody_else_than_the_collector_is_none(status, one, visit, collector):
    tab = visit(page_of(one), quiet=False)
    take_part(tab)
    tab.route("**/report", lambda route: route.fulfill(status=status, body=PORTAL, content_type="text/html"))
    choose(tab, "Yes")
    send(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    tab.unroute("**/report")
    tab.get_by_role("button", name=browsers.SEND_AGAIN).click()
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 1


@pytest.mark.audit("403", "404", "409", "413", "422")
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (200, "sent and counted"),
        (403, "This link was used before, or is not a link of this survey."),
        (410, "it was refused and is in no result"),
        (404, "did not accept the report. Please tell the person who gave you the link: 404."),
        (409, ": 409."),
        (413, ": 413."),
        (422, ": 422."),
    ],
)
def test_every_answer_of_the_collector_has_its_words(status, message, one, visit, collector):
    collector.answers = [status]
    tab = visit(page_of(one), quiet=False)
    _drawn(tab)
    tab.get_by_text(message).wait_for()
    assert tab.get_by_role("button", name=browsers.DRAW).count() == 0


# Links, disks and plain http.

TOKEN = "abcdefghijklmnop-_Z9"
LINK, OTHER_LINK = PersonalLink(TOKEN).text, PersonalLink(TOKEN[::-1]).text


def test_the_token_of_a_link_travels_in_the_report_and_in_no_other_way(one, visit, collector):
    tab = visit(page_of(one, links=True), fragment=f"#{LINK}")
    tab.get_by_text("What leaves this device").click()
    assert "The person who gave you the link could know that the report is yours" in text(tab)
    _drawn(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert one.parse(collector.bodies[0]).link == TOKEN
    assert "your personal link" in tab.locator("details ul").text_content()
    assert TOKEN not in json.dumps(collector.requests)
    tab.reload()
    assert browsers.ALREADY in text(tab)
    assert tab.get_by_role("button").count() == 0
    tab.goto(f"{collector.address}/s/class#{OTHER_LINK}")  # another person's link on the same device
    _drawn(tab, "No")
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert one.parse(collector.bodies[1]).link == TOKEN[::-1]


@pytest.mark.audit
@pytest.mark.parametrize(
    "moment",
    ["location.hash = token;", "setTimeout(() => { location.hash = token; }, 200);"],
    ids=["before the draw", "after the draw"],
)
def test_a_link_that_is_opened_while_another_one_is_being_sent_stays_unused(moment, one, visit, collector):
    collector.delay = 0.4
    tab = visit(page_of(one, links=True), fragment=f"#{LINK}")
    take_part(tab)
    choose(tab, "Yes")
    button = tab.get_by_role("button", name=browsers.DRAW)
    button.evaluate(f"(element, token) => {{ element.click(); {moment} }}", OTHER_LINK)
    tab.get_by_role("heading", name="Do you take part?").wait_for()
    tab.wait_for_timeout(800)  # the collector has answered meanwhile
    assert "Do you take part?" in text(tab)
    _drawn(tab, "No")
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert [one.parse(body).link for body in collector.bodies] == [TOKEN, TOKEN[::-1]]
    tab.evaluate("(token) => { location.hash = token; }", LINK)
    tab.get_by_role("heading", name=browsers.ALREADY).wait_for()


@pytest.mark.audit
def test_a_page_without_storage_that_comes_back_from_the_cache_does_not_draw_again(one, visit, collector):
    forbidden = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } })"
    )
    collector.answers = [503, 503]
    tab = visit(page_of(one), before=forbidden, quiet=False)
    _drawn(tab)
    tab.get_by_role("heading", name=browsers.NOT_SENT).wait_for()
    tab.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    tab.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    tab.get_by_role("button", name=browsers.SEND_AGAIN).click()
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert len(collector.bodies) == 3
    assert len({*collector.bodies}) == 1


@pytest.mark.audit("#%22", "#short")
@pytest.mark.parametrize("fragment", ["", "#short", f"#{TOKEN}", f"#{LINK[:-1]}0", "#%22%3E%3Cscript%3E", "#%"])
def test_a_survey_with_links_asks_nothing_without_one(fragment, one, visit):
    tab = visit(page_of(one, links=True), fragment=fragment)
    assert "needs a link of your own" in text(tab)
    assert tab.get_by_role("button").count() == 0


def test_a_copy_on_a_disk_asks_nothing(one, visit, tmp_path):
    tab = visit(page_of(one))
    (tmp_path / "copy.html").write_bytes(page_of(one))
    tab.goto((tmp_path / "copy.html").as_uri())
    assert "This is a saved copy" in text(tab)


def test_over_plain_http_the_page_asks_nothing_unless_it_is_a_demo(one, visit, collector):
    tab = visit(page_of(one))
    address = collector.serve(page_of(one)).replace("127.0.0.1", "insecure.test")
    tab.goto(address)
    assert "This connection is not secure" in text(tab)
    assert tab.get_by_role("button").count() == 0
    collector.serve(page_of(one, insecure_demo=True))
    tab.goto(address)
    assert "For trying out only: this connection is not protected." in tab.get_by_role("note").inner_text()
    assert violations(tab) == []
    _drawn(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    assert tab.get_by_role("note").is_visible()


# What people write, and how people read.

HOSTILE = [
    "<script>window.hacked = 1</script>", '"><img src=x onerror="window.hacked = 1">', "{answer}", "שלום עולם",
    "😀 & é", "' OR 1=1 --", "${window.hacked = 1}", "</script>",
]  # fmt: skip


def test_labels_are_shown_as_they_are_written_whatever_they_are(write, visit, collector):
    labels = json.dumps(HOSTILE, ensure_ascii=False)
    survey = write(
        ONE.replace('"yes-no"', f'"choice"\nlabels = {labels}').replace("Alcohol at school", "<b>{title}</b>")
    )
    tab = visit(page_of(survey))
    assert tab.locator("h1").inner_text() == "<b>{title}</b>"
    take_part(tab)
    assert [label.inner_text() for label in tab.locator("label.choice").all()] == HOSTILE
    tab.locator("label.choice").nth(3).click()
    send(tab)
    tab.get_by_role("heading", name="sent and counted").wait_for()
    survey.parse(collector.bodies[0])
    assert tab.evaluate("window.hacked") is None


def test_the_page_can_be_used_by_keyboard_alone(one, visit, collector):
    tab = visit(page_of(one))

    def press_until(role, name):
        for _ in range(12):
            tab.keyboard.press("Tab")
            if tab.get_by_role(role, name=name, exact=True).evaluate(browsers.HAS_FOCUS):
                return
        raise AssertionError(f"{name} cannot be reached")

    press_until("button", browsers.TAKE_PART)
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.tagName") in ("H1", "H2")
    press_until("radio", "Yes")
    tab.keyboard.press("ArrowDown")
    assert tab.get_by_label("No", exact=True).is_checked()
    press_until("button", browsers.DRAW)
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="sent and counted").wait_for()
    press_until("button", TRUE)
    tab.keyboard.press(" ")
    assert "Only you know this: nobody can tell from what was sent." in text(tab)
    assert len(collector.bodies) == 1


def violations(tab):
    from axe_core_python.sync_playwright import Axe

    tab.locator("main h1").first.wait_for()
    return [(entry["id"], entry["nodes"][0]["html"][:80]) for entry in Axe().run(tab)["violations"]]


@pytest.mark.audit("long", "many-dark", "many-light")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("text_of_survey", [MANY, LONG], ids=["many", "long"])
def test_no_screen_breaks_a_rule_of_axe(scheme, text_of_survey, write, visit, collector):
    tab = visit(page_of(write(text_of_survey)), color_scheme=scheme)
    for summary in tab.locator("summary").all():
        summary.click()
    assert violations(tab) == []
    take_part(tab)
    tab.locator(".buttons .main").click()  # shows what is missing
    assert violations(tab) == []
    tab.reload()
    _answer_all(tab)
    tab.get_by_role("button", name=TRUE).click()
    tab.locator("summary").click()
    assert violations(tab) == []
    tab.reload()
    assert violations(tab) == []


def test_the_check_by_axe_sees_a_button_without_a_name(one, visit):
    tab = visit(page_of(one))
    assert violations(tab) == []
    tab.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [name for name, _ in violations(tab)] == ["button-name"]


@pytest.mark.audit("1280", "390")
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_screen(width, many, visit):
    tab = visit(page_of(many), viewport={"width": width, "height": 600})
    take_part(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    _answer_all_from_questions(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def _answer_all_from_questions(tab):
    tab.reload()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    _answer_all(tab)


@pytest.mark.audit
def test_the_slider_shows_what_can_be_concluded(one, visit):
    tab = visit(page_of(one))
    tab.get_by_text("What others can conclude").click()
    slider = tab.get_by_label("How strongly does someone already suspect “Yes”?")
    slider.fill("10")
    assert "Before: 10 %. After: at least 3 %, at most 24 %." in text(tab)
