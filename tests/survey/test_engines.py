"""The page in Chromium, Firefox and WebKit: draws, storage, crashes, the queue without a connection, and codes.

WebKit answers under WebDriver, with the clicks of a pointer. Under WebDriver it keeps nothing on the disk: where
something must outlive it, it is driven by its inspector. MiniBrowser of WebKitGTK stands for Safari here: the engine is
the same, the storage policies of Apple's systems are not.
"""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import pytest

from ..surveys import MANY, OPEN
from . import browser as browsers
from . import engines, traces, webkit
from .test_draws import ALARM, COUNT, OFF, VECTORS, deviation

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")

ENGINES = {"chromium": engines.Chromium, "firefox": engines.Firefox, "webkit": webkit.WebKit}
DRAW_CODE = "Let chance decide and show my code"
HANDED = "I have handed in my code"
SENT = "sent and counted"
#: All texts of a screen, folded ones too.
WORDS = """() => [...document.querySelectorAll("main, .choices")].map((part) => (
  [part, ...part.shadowRoot?.querySelectorAll("label") ?? []].map((own) => own.textContent)
)).flat().join(" ").replaceAll(/[ \\u00a0\\n]+/g, " ")"""
CODE = """() => [...document.querySelectorAll("#code span")].map((part) => part.textContent).join("-")"""


@pytest.fixture(params=ENGINES)
def engine(request):
    """The name of each engine that is installed."""
    if reason := ENGINES[request.param].missing():
        pytest.skip(reason)
    return request.param


@pytest.fixture
def start(tmp_path):
    """Starts an engine with a profile; what is still there in the end is killed."""
    started = []

    def begin(kind, profile="profile"):
        browser = kind(tmp_path / profile)
        started.append(browser)
        return browser

    yield begin
    for browser in started:
        with contextlib.suppress(Exception):
            browser.kill()


def answer(browser, *labels, button=browsers.DRAW):
    browser.press(browsers.TAKE_PART)
    for label in labels:
        browser.press(label)
    browser.press(button)


def page_of(survey, **options):
    return survey.page(address="class/report", **options)


# In every run of the tests.


def test_an_answer_is_drawn_and_sent_in_every_engine(engine, start, one, collector):
    browser = start(webkit.WebKitByDriver if engine == "webkit" else ENGINES[engine])
    browser.goto(collector.serve(page_of(one)))
    assert "Of 100 people whose true answer is “Yes”, 73 send “Yes”." in browser.text("Do you take part?")
    answer(browser, "Yes")
    shown = browser.text(SENT)
    (body,) = collector.bodies
    label = ("No", "Yes")[int(one.parse(body).columns["drinks"])]
    assert f"To “Have you drunk alcohol this week?” your device sent “{label}”." in shown


def test_a_code_is_drawn_and_read_in_every_engine(engine, start, one, tmp_path):
    file = tmp_path / "class.html"
    file.write_bytes(one.page(code=True))
    browser = start(ENGINES[engine])
    browser.goto(file.as_uri())
    answer(browser, "Yes", button=DRAW_CODE)
    code = browser.wait(CODE)
    report = one.codes.read(code).report
    browser.press(HANDED)
    assert f"“{('No', 'Yes')[int(report.columns['drinks'])]}”" in browser.text("Thank you")


@pytest.mark.audit("chromium-sent", "firefox-sent", "webkit-sent", "chromium-code", "firefox-code", "webkit-code")
@pytest.mark.parametrize("moment", ["unsent", "sent", "code"])
def test_an_engine_that_is_killed_draws_nothing_again(engine, moment, start, one, collector, tmp_path):
    (tmp_path / "class.html").write_bytes(one.page(code=True))
    is_code = moment == "code"
    address = (tmp_path / "class.html").as_uri() if is_code else collector.serve(page_of(one))
    if moment == "unsent":
        collector.answers = [503] * 50
    browser = start(ENGINES[engine])
    browser.goto(address)
    answer(browser, "Yes", button=DRAW_CODE if is_code else browsers.DRAW)
    code = browser.wait(CODE) if is_code else browser.text(browsers.NOT_SENT if moment == "unsent" else SENT)
    browser.kill()
    collector.answers = []
    browser = start(ENGINES[engine])
    browser.goto(address)
    if is_code:
        assert browser.wait(CODE) == code
        return
    # Firefox reopens the tab of a crash: it may send what was drawn before this tab asks, which then says so.
    browser.text(browsers.ALREADY, *([SENT] if moment == "unsent" else []))
    assert len(collector.bodies) >= (2 if moment == "unsent" else 1)
    assert len({*collector.bodies}) == 1
    browser.close()


# In the audit.


@pytest.mark.audit
def test_three_engines_show_the_same_words_and_one_collector_counts_them(start, write, tmp_path):
    """The screens of a survey with a question of every kind, word by word; and one store that counts all three."""
    if reasons := [reason for kind in ENGINES.values() if (reason := kind.missing())]:
        pytest.skip(reasons[0])
    screens = {}
    with _collector(MANY, tmp_path) as (address, store):
        for name, kind in ENGINES.items():
            browser = start(kind, name)
            browser.goto(address)
            screens[name] = _answered(browser, "7")
            browser.close()
        assert store.totals("class").answered == len(ENGINES)
    assert screens["chromium"] == screens["firefox"] == screens["webkit"]
    assert len(screens["chromium"]) == 7


@pytest.mark.audit
def test_a_true_answer_is_in_no_file_of_a_profile(engine, start, write, tmp_path):
    """A number is typed in a way of its own; the collector forbids that its page, where all labels stand, is kept."""
    typed, label, control = "0000000007.500000000", "canary-of-a-label", "0000000008.500000000"
    profile = tmp_path / "profile"
    text = MANY.replace('labels.en = ["A", "B", "C"]', f'labels.en = ["A", "{label}", "C"]').replace(
        "clear = true", "clear = false"
    )
    with _collector(text, tmp_path) as (address, _):
        browser = start(ENGINES[engine])
        browser.goto(address)
        _answered(browser, typed, label)
        browser.evaluate("(word) => localStorage.setItem('control', word)", control)
        deadline = time.monotonic() + engines.PATIENCE
        while not traces.present(profile, control):  # what is found of what is stored later
            assert time.monotonic() < deadline, "the browser has written nothing"
            time.sleep(0.2)
        browser.close()
    assert traces.present(profile, control)
    assert not traces.present(profile, typed)
    assert not traces.present(profile, label)


@pytest.mark.skipif(bool(engines.Firefox.missing()), reason=engines.Firefox.missing())
@pytest.mark.parametrize("is_twin", [False, pytest.param(True, marks=pytest.mark.audit)], ids=["page", "twin"])
def test_firefox_saves_no_checked_box(is_twin, start, one, collector, tmp_path):
    """For a crash it saves the checked boxes of a document: none of the page, one of a twin without shadow trees."""
    content = page_of(one)
    if is_twin:
        shadow = 'host.attachShadow({ mode: "open" }).append(style, ...parts.flat());'
        assert shadow in content.decode()
        content = browsers.without_policy(content).replace(shadow.encode(), b"host.append(...parts.flat());")
    browser = start(engines.Firefox)
    browser.goto(collector.serve(content))
    browser.press(browsers.TAKE_PART)
    browser.press("Yes")
    browser.evaluate('() => { document.title = "after the choice"; }')
    deadline = time.monotonic() + engines.PATIENCE
    while "after the choice" not in (session := traces.saved_session(tmp_path / "profile")):
        assert time.monotonic() < deadline, "Firefox saved nothing"
        time.sleep(0.05)
    assert ("input[@name='q0']" in session) is is_twin


@pytest.mark.skipif(bool(engines.Firefox.missing()), reason=engines.Firefox.missing())
@pytest.mark.parametrize("is_twin", [False, pytest.param(True, marks=pytest.mark.audit)], ids=["page", "twin"])
def test_firefox_saves_no_typed_text(is_twin, start, write, collector, tmp_path):
    """The twin has its field in the document, and does not ask that nothing be filled in."""
    survey, typed = write(OPEN), "zqxcanary of a text"
    content = page_of(survey)
    if is_twin:
        shadow = 'host.attachShadow({ mode: "open" }).append(style, ...parts.flat());'
        content = browsers.without_policy(content).replace(shadow.encode(), b"host.append(...parts.flat());")
        off = b'type: "text", autocomplete: "off", autocapitalize'
        assert content.count(off) == 1
        content = content.replace(off, b'type: "text", autocapitalize')
    browser = start(engines.Firefox)
    browser.goto(collector.serve(content))
    browser.press(browsers.TAKE_PART)
    browser.wait("() => Boolean(document.querySelector('fieldset'))")
    browser.type(typed)
    browser.evaluate('() => { document.title = "after the text"; }')
    deadline = time.monotonic() + engines.PATIENCE
    while "after the text" not in (session := traces.saved_session(tmp_path / "profile")):
        assert time.monotonic() < deadline, "Firefox saved nothing"
        time.sleep(0.05)
    assert (typed in session) is is_twin


@pytest.mark.audit
def test_a_typed_text_is_in_no_file_of_a_profile(engine, start, tmp_path):
    typed, control = "zqxcanary of a text", "zqxcontrol of a text"
    profile = tmp_path / "profile"
    with _collector(OPEN, tmp_path) as (address, store):
        browser = start(ENGINES[engine])
        browser.goto(address)
        browser.press(browsers.TAKE_PART)
        browser.wait("() => Boolean(document.querySelector('fieldset'))")
        browser.type(typed)
        browser.press(browsers.DRAW)
        browser.text(SENT)
        assert store.totals("class").answered == 1
        browser.evaluate("(word) => localStorage.setItem('control', word)", control)
        deadline = time.monotonic() + engines.PATIENCE
        while not traces.present(profile, control):  # what is found of what is stored later
            assert time.monotonic() < deadline, "the browser has written nothing"
            time.sleep(0.2)
        browser.close()
    assert traces.present(profile, control)
    assert not traces.present(profile, typed)


@pytest.mark.audit
def test_without_a_collector_every_engine_keeps_what_it_drew_until_there_is_one(engine, start, one, collector):
    browser = start(ENGINES[engine])
    browser.goto(collector.serve(page_of(one)))
    browser.press(browsers.TAKE_PART)
    browser.press("Yes")
    collector.leave()
    browser.press(browsers.DRAW)
    browser.text(browsers.NOT_SENT)
    drawn = browser.evaluate('() => document.querySelector("pre").textContent')
    assert collector.bodies == []
    collector.come_back()
    browser.evaluate('() => { dispatchEvent(new Event("online")); }')
    browser.text(SENT)
    assert {body.decode() for body in collector.bodies} == {drawn}


@pytest.mark.audit
def test_every_engine_agrees_with_python_on_every_vector_and_draws_by_the_law(
    engine, start, one, long, many, collector
):
    browser = start(ENGINES[engine])

    def open_script(survey):
        page = survey.page()
        script = browsers.script_of(page)
        collector.pages["/script.mjs"] = (script.encode(), "text/javascript")
        collector.pages["/twin.mjs"] = (script.replace(*OFF).encode(), "text/javascript")
        browser.goto(collector.serve(browsers.bare(page), f"/s/{survey.digest[:8]}"))

    def drawn(draws, script):
        source = f"""async (job) => {{
          const {{ draw, read }} = await import("{script}");
          {COUNT}
          return count({{ survey: JSON.parse(document.getElementById("data").textContent), ...job }});
        }}"""
        return browser.evaluate(source, {"codes": [0], "places": {}, "draws": draws})

    for survey in (long, many, one):
        vectors = [vector.to_dict() for vector in survey.card.vectors(40, rng=1)]
        open_script(survey)
        for place in range(0, len(vectors), 20):  # the inspector of WebKit takes no long messages
            part = vectors[place : place + 20]
            assert browser.evaluate(VECTORS, [part, survey.card.to_bytes().decode()]) == [True] * len(part)
    assert deviation(drawn(300_000, "/script.mjs"), one, 0) > ALARM
    assert deviation(drawn(300_000, "/twin.mjs"), one, 0) < ALARM


@pytest.mark.audit
def test_two_people_with_other_answers_leave_the_same_traces_in_every_engine(engine, start, one, collector):
    """With the words that the law takes last, what is drawn does not depend on the answer: nothing else may, either."""
    law = one.plan.mechanisms["drinks"].law
    fixed = f"crypto.getRandomValues = (array) => array.fill(array instanceof BigUint64Array ? {law.total - 1}n : 7);"
    content = browsers.without_policy(page_of(one)).replace(b"<main", f"<script>{fixed}</script><main".encode(), 1)
    seen = []
    for label in ("No", "Yes"):
        browser = start(ENGINES[engine], label)
        browser.goto(collector.serve(content))
        browser.press(browsers.TAKE_PART)
        browser.press(label)
        chosen = browser.evaluate(browsers.SNAPSHOT)
        browser.press(browsers.DRAW)
        browser.text(SENT)
        seen.append([chosen, browser.evaluate(browsers.SNAPSHOT)])
        browser.close()
    assert seen[0] == seen[1]
    assert collector.bodies[0] == collector.bodies[1]


def _answered(browser, typed, label="B"):
    """Answer the survey with a question of every kind; all screens but the last, whose words chance chooses."""

    def screen(text):
        browser.text(text)
        return browser.evaluate(WORDS)

    screens = [screen("Do you take part?")]
    browser.press(browsers.TAKE_PART)
    browser.press("I would rather not say")
    screens.append(screen("alcohol"))
    browser.press(browsers.NEXT)
    screens.append(screen("How many hours"))
    browser.type(typed)
    for chosen in ("5", "theft", label):
        browser.press(browsers.NEXT)
        browser.press(chosen)
        screens.append(screen(chosen))
    browser.press(browsers.NEXT)
    screens.append(screen(browsers.DRAW))
    browser.press(browsers.DRAW)
    browser.text(SENT)
    return screens


@contextlib.contextmanager
def _collector(text, folder):
    """The collector itself with a survey that is open now; the address of its page, and its store."""
    from bruit.collector import open_store
    from bruit.collector.demo import running
    from bruit.collector.serving import Listening

    from ..surveys import opened_in

    path = Path(folder) / "survey.toml"
    path.write_text(re.sub("(?m)^(opens|closes) = .*$", "", text), encoding="utf-8")
    store = open_store(Path(folder) / "surveys.sqlite")
    opened_in(store, path, "class")
    with running(store, Listening(port=0)) as port:
        yield f"http://localhost:{port}/s/class", store
    store.disconnect()
