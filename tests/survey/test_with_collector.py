"""The page and the collector together: people answer in a browser what `bruit survey open` serves."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ..surveys import ONE, ROUNDS, rounds
from . import browser as browsers

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())
pytest.importorskip("starlette", reason="the collector needs bruit[collector]")

GATE = ONE.replace("people = 30", "people = 30\nshown_from = 2")

AGAIN = """async (body) => {
  const headers = { "Content-Type": "application/json" };
  return (await fetch("class/report", { method: "POST", headers, body })).status;
}"""


@pytest.fixture
def opened(tmp_path):
    """A collector with a survey, the link that it prints, and all that it says."""
    (tmp_path / "class.toml").write_text(GATE, encoding="utf-8")
    command = [sys.executable, "-m", "bruit", "survey", "open", "class.toml", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "Ctrl-C" in line:
            break
    yield process, re.search(r"answer:\s+(\S+)", "".join(lines))[1], lines
    if process.poll() is None:
        process.terminate()
        process.communicate(timeout=20)


def test_people_who_answer_in_a_browser_are_counted_once_and_leave_no_trace_of_their_reports(opened, tmp_path):
    process, link, lines = opened
    bodies, complaints = [], []
    with browsers.chromium() as chromium:
        for label in ("Yes", "No"):
            context = chromium.new_context(locale="en")
            context.set_default_timeout(20_000)
            tab = context.new_page()
            tab.on("console", lambda message: complaints.append(message.text))
            tab.on("pageerror", lambda error: complaints.append(str(error)))
            tab.goto(link)
            tab.get_by_role("button", name=browsers.TAKE_PART).click()
            tab.get_by_label(label, exact=True).check()
            tab.get_by_role("button", name=browsers.DRAW).click()
            tab.get_by_role("heading", name="sent and counted").wait_for()
            bodies.append(tab.locator("pre").inner_text())
            # The same bytes again are acknowledged, and not counted again.
            again = (
                "(body) => fetch('class/report', {method: 'POST', headers: {'Content-Type': 'application/json'}, body})"
            )
            assert tab.evaluate(f"async (body) => (await ({again})(body)).status", bodies[-1]) == 200
            assert context.cookies() == []
            context.close()
    process.terminate()
    said = process.communicate(timeout=20)[0]
    assert complaints == []
    shown = subprocess.run(
        [sys.executable, "-m", "bruit", "survey", "results", "class", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    results = json.loads(shown.stdout)
    assert (results["answered"], results["repeated"], results["refused"]) == (2, 2, 0)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if "sqlite" in path.name)
    for body in bodies:
        number = json.loads(body)["id"]
        assert number not in said + "".join(lines)
        assert body.encode() not in kept
        assert number.encode() not in kept
        assert bytes.fromhex(number) not in kept


@pytest.mark.audit
def test_two_rounds_and_a_lost_memo_with_the_collector_itself(tmp_path):
    from bruit.collector import open_store
    from bruit.collector.demo import running
    from bruit.collector.serving import Listening

    now = datetime.now(UTC).replace(microsecond=0)
    times = [now + timedelta(days=days) for days in (-10, -5, 5, 10)]
    text = rounds(map(datetime.isoformat, times), "shown_from = 2")
    (tmp_path / "class.toml").write_text(text, encoding="utf-8")

    def bruit(*words):
        command = [sys.executable, "-m", "bruit", "survey", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    bruit("open", "class.toml", "--links", "--no-serve")
    store = open_store(tmp_path / "surveys.sqlite")
    with running(store, Listening(port=0)) as port, browsers.chromium() as chromium:
        links = bruit("links", "class", "--number", "2", "--address", f"http://127.0.0.1:{port}").split()
        for link in links:
            device = chromium.new_context(locale="en")
            for time in times[:2]:
                device.clock.set_fixed_time((time + timedelta(hours=2)).isoformat())
                tab = device.new_page()
                tab.goto(link)
                if time == times[0]:
                    tab.get_by_role("button", name=browsers.TAKE_PART).click()
                    browsers.choose(tab, "Yes")
                    browsers.choose(tab, "A")
                    browsers.draw(tab)
                else:
                    tab.get_by_role("button", name=browsers.DRAW_AGAIN).click()
                tab.get_by_role("heading", name="sent and counted").wait_for()
            device.close()
        other = chromium.new_context(locale="en").new_page()  # the storage of the last one is gone
        other.goto(links[-1])
        other.get_by_role("button", name=browsers.TAKE_PART).click()
        other.get_by_role("heading", name="This browser has no note for this link").wait_for()
    store.disconnect()
    results = json.loads(bruit("results", "class", "--json"))
    assert (results["answered"], results["refused"]) == (4, 0)
    assert sorted({row["round"] for row in results["rows"]}) == [1, 2]


@pytest.mark.audit
def test_the_picture_of_the_readme_can_be_taken_again(tmp_path):
    tool = Path(__file__).parents[2] / "tools" / "survey_picture.py"
    subprocess.run([sys.executable, tool, tmp_path / "survey.png"], check=True, timeout=120)
    header = (tmp_path / "survey.png").read_bytes()[:24]
    assert (int.from_bytes(header[16:20]), int.from_bytes(header[20:24])) == (856, 894)


@pytest.mark.audit
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_and_notices_break_no_rule_of_axe_and_fit_a_phone(scheme, tmp_path):
    from axe_core_python.sync_playwright import Axe

    from bruit.collector import demo as example
    from bruit.collector import open_store
    from bruit.collector.demo import running
    from bruit.collector.serving import Listening

    store = open_store(tmp_path / "surveys.sqlite")
    opened = example.opened(store, tmp_path)
    with running(store, Listening(port=0)) as port, browsers.chromium() as chromium:
        example.respond(opened, port, 45)
        phone = chromium.new_context(color_scheme=scheme, viewport={"width": 390, "height": 844})
        for path in (f"/s/demo/results?token={opened.secret}", "/", "/s/demo/results", "/s/another"):
            tab = phone.new_page()
            tab.goto(f"http://127.0.0.1:{port}{path}")
            assert [(entry["id"], entry["nodes"][0]["html"]) for entry in Axe().run(tab)["violations"]] == []
            assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    store.disconnect()


@pytest.mark.audit
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
def test_a_browser_that_is_killed_when_its_report_has_arrived_draws_nothing_again(tmp_path):
    from playwright.sync_api import sync_playwright

    from bruit.collector import open_store
    from bruit.collector.demo import running
    from bruit.collector.links import issue
    from bruit.collector.serving import Listening

    now = datetime.now(UTC).replace(microsecond=0)
    times = [now + timedelta(days=days) for days in (-10, -5, 5, 10)]
    opens = f"round_opens = [{', '.join(map(datetime.isoformat, times))}]"
    (tmp_path / "class.toml").write_text(re.sub(r"round_opens = \[.*?\]", opens, ROUNDS, flags=re.S), encoding="utf-8")
    command = [sys.executable, "-m", "bruit", "survey", "open", "class.toml", "--links", "--no-serve"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    store = open_store(tmp_path / "surveys.sqlite")
    (link,) = issue(store, "class", 1)
    profile = tmp_path / "profile"
    bodies = []

    def device(driver, number, port):
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch_persistent_context(
            str(profile), executable_path=browsers.CHROMIUM, args=root, locale="en"
        )
        browser.on("request", lambda request: request.method == "POST" and bodies.append(json.loads(request.post_data)))
        tab = browser.new_page()
        tab.clock.set_fixed_time((times[number - 1] + timedelta(hours=2)).isoformat())
        tab.goto(f"http://127.0.0.1:{port}/s/class#{link}")
        return browser, tab

    def die(browser, tab):
        tab.get_by_role("heading", name="sent and counted").wait_for()
        browsers.kill(profile)
        with contextlib.suppress(Exception):
            browser.close()

    with running(store, Listening(port=0)) as port, sync_playwright() as driver:
        browser, tab = device(driver, 1, port)
        tab.get_by_role("button", name=browsers.TAKE_PART).click()
        for label in ("Yes", "A"):
            browsers.choose(tab, label)
        browsers.draw(tab)
        die(browser, tab)
        browser, tab = device(driver, 1, port)
        tab.get_by_role("heading", name="You have answered in round 1").wait_for()
        browser.close()
        browser, tab = device(driver, 2, port)
        tab.get_by_role("button", name=browsers.DRAW_AGAIN).click()
        die(browser, tab)
        browser, tab = device(driver, 2, port)
        tab.get_by_role("heading", name="You have answered in round 2").wait_for()
        browser.close()
    assert store.totals("class") == (2, 0, 0)
    store.disconnect()
    assert [body["round"] for body in bodies if "report" in body] == ["1", "2"]
