"""The page with codes in a real browser: from a file and over https, offline, in two tabs, and after a crash."""

from __future__ import annotations

import contextlib
import http.server
import re
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bruit.survey import CodeState

from ..surveys import MANY, ONE, TABLES
from . import browser as browsers
from .browser import text, unfolded
from .test_sheet import contradictions, same_as_page

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

DRAW = "Let chance decide and show my code"
HANDED = "I have handed in my code"


def take_part(tab):
    tab.get_by_role("button", name=browsers.TAKE_PART).click()
    tab.locator("fieldset").first.wait_for()


def answer(tab, *labels):
    """Take part, answer, draw; the code."""
    take_part(tab)
    for label in labels:
        browsers.choose(tab, label)
    browsers.draw(tab, DRAW)
    return code_of(tab)


def code_of(tab):
    tab.locator("#code").wait_for()
    return "-".join(tab.locator("#code span").all_inner_texts())


@pytest.fixture
def file(tmp_path):
    """Writes the page of a survey to a file; its address."""

    def write_page(survey, name="class.html"):
        (tmp_path / name).write_bytes(survey.page(code=True))
        return (tmp_path / name).as_uri()

    return write_page


@pytest.fixture
def open_file(chromium, file):
    """Opens the page of a survey from a file, as a new person; complaints of the browser fail the test."""
    contexts, complaints = [], []

    def open_page(survey, *, context=None, before=None, **options):
        if context is None:
            context = chromium.new_context(**{"locale": "en", "viewport": {"width": 390, "height": 844}, **options})
            context.set_default_timeout(20_000)
            contexts.append(context)
        if before:
            context.add_init_script(before)
        tab = context.new_page()
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.goto(file(survey))
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@contextlib.contextmanager
def https(content, folder):
    """The address of a page over https, with a certificate of its own."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "tls.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *plain) + certificate.public_bytes(serialization.Encoding.PEM)
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = content if self.path == "/class.html" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"https://localhost:{server.server_port}/class.html"
    server.shutdown()
    server.server_close()


# One draw.


def test_a_person_draws_a_code_from_a_file_hands_it_in_and_learns_what_it_says(one, open_file):
    tab = open_file(one)
    assert "Of 100 people whose true answer is “Yes”, 73 get a code that says “Yes”." in text(tab)
    assert f"Nothing is drawn until you press “{DRAW}”." in unfolded(tab)
    assert "Do not use a private window." in unfolded(tab)
    assert tab.evaluate("localStorage.length") == 0
    code = answer(tab, "Yes")
    reading = one.codes.read(code)
    assert reading.state is CodeState.GOOD
    assert "your code says" not in text(tab)  # nobody chooses by what was drawn
    assert tab.get_by_role("img").get_attribute("aria-label") == "The same code as a picture"
    tab.get_by_role("button", name=HANDED).click()
    tab.get_by_role("heading", name="Thank you").wait_for()
    label = ("No", "Yes")[int(reading.report.columns["drinks"])]
    assert f"To “Have you drunk alcohol this week?” your code says “{label}”." in text(tab)
    tab.get_by_role("button", name="Show me what chance did").click()
    assert ("Chance left your answer as it was." if label == "Yes" else "Chance changed your answer.") in text(tab)
    tab.reload()
    assert code_of(tab) == code
    assert tab.get_by_role("button", name="Show me what chance did").count() == 0
    assert "It no longer knows your true answer" in text(tab)


def test_yes_stands_before_no(one, open_file):
    tab = open_file(one)
    tab.get_by_role("button", name="I take part").click()
    tab.get_by_role("radio").first.wait_for()
    above = [tab.get_by_role("radio", name=name).bounding_box()["y"] for name in ("Yes", "No")]
    assert above == sorted(above)


def test_the_picture_on_the_screen_is_the_code(one, open_file, tmp_path):
    zxingcpp = pytest.importorskip("zxingcpp", reason="QR codes are read with the package zxing-cpp")
    image = pytest.importorskip("PIL.Image", reason="pictures are read with Pillow")
    for scheme in ("light", "dark"):
        tab = open_file(one, color_scheme=scheme)
        code = answer(tab, "No")
        tab.locator(".qr").screenshot(path=tmp_path / "qr.png")
        assert [barcode.text for barcode in zxingcpp.read_barcodes(image.open(tmp_path / "qr.png"))] == [code]


def test_over_https_offline_and_after_a_reload_it_is_the_same_code(one, chromium, tmp_path):
    with https(one.page(code=True), tmp_path) as address:
        context = chromium.new_context(locale="en", ignore_https_errors=True)
        context.set_default_timeout(20_000)
        requests = []
        context.on("request", lambda request: requests.append(request.url))
        tab = context.new_page()
        tab.goto(address)
        context.set_offline(True)
        code = answer(tab, "Yes")
        context.set_offline(False)
        assert one.codes.read(code).state is CodeState.GOOD
        tab.reload()
        assert code_of(tab) == code
        assert {url for url in requests if not url.startswith("data:")} == {address}
        context.close()


def test_two_tabs_draw_once(one, open_file):
    first = open_file(one)
    second = open_file(one, context=first.context)
    for tab, label in ((first, "Yes"), (second, "No")):
        take_part(tab)
        tab.get_by_label(label, exact=True).check()
    first.get_by_role("button", name=DRAW).click()
    code = code_of(first)
    assert code_of(second) == code  # it was told by the first
    third = open_file(one, context=first.context)
    assert code_of(third) == code


#: Tabs that do not hear of each other.
DEAF = """
const add = addEventListener;
window.addEventListener = (name, own) => name === "storage" || add(name, own);
"""


def test_two_tabs_that_draw_at_the_same_moment_show_one_code(one, open_file):
    deaf = (
        "const add = addEventListener; window.addEventListener = (name, own) => name === 'storage' || add(name, own);"
    )
    first = open_file(one, before=deaf)
    second = open_file(one, context=first.context)
    for tab, label in ((first, "Yes"), (second, "No")):
        take_part(tab)
        tab.get_by_label(label, exact=True).check()
    for tab in (first, second):
        tab.evaluate("setTimeout(() => document.querySelector('button.main').click(), 50)")
    assert code_of(first) == code_of(second)


def test_a_file_that_is_moved_shows_the_code_that_was_drawn(one, open_file, file):
    tab = open_file(one)
    code = answer(tab, "Yes")
    tab.goto(file(one, "copy of class.html"))
    assert code_of(tab) == code


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize("channel", ["file", pytest.param("https", marks=pytest.mark.audit)])
def test_a_browser_that_is_killed_when_it_shows_a_code_shows_it_again(one, chromium, file, tmp_path, channel):
    profile = tmp_path / "profile"
    source = contextlib.nullcontext(file(one)) if channel == "file" else https(one.page(code=True), tmp_path)
    with source as address:
        with browsers.device(chromium, profile, ignore_https_errors=True) as phone:
            tab = phone.new_page()
            tab.goto(address)
            code = answer(tab, "Yes")
            browsers.kill(profile)
        with browsers.device(chromium, profile, ignore_https_errors=True) as phone:
            tab = phone.new_page()
            tab.goto(address)
            assert code_of(tab) == code


def test_a_record_that_localstorage_has_lost_is_taken_from_the_journal(one, open_file):
    tab = open_file(one)
    code = answer(tab, "Yes")
    tab.evaluate("localStorage.clear()")
    tab.reload()
    assert code_of(tab) == code


# Where nothing is kept, nothing is drawn.


NO_STORAGE = 'Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no"); } });'
NO_JOURNAL = "indexedDB.open = () => ({});"
FULL = """
const put = Storage.prototype.setItem;
Storage.prototype.setItem = function (name, value) {
  if (value.includes("body")) throw new DOMException("full", "QuotaExceededError");
  return put.call(this, name, value);
};
"""


@pytest.mark.parametrize("before", [NO_STORAGE, NO_JOURNAL])
def test_a_window_that_keeps_nothing_is_told_so_before_the_first_question(one, open_file, before):
    tab = open_file(one, before=before)
    tab.locator("h1").wait_for()
    if before is NO_JOURNAL:
        tab.get_by_role("button", name=browsers.TAKE_PART).click()
    tab.get_by_role("heading", name="This window keeps nothing").wait_for()
    assert "Nothing was drawn." in text(tab)
    assert "open it in a browser" in text(tab)
    assert tab.locator("fieldset, button, #code").count() == 0


def test_a_sandboxed_frame_draws_nothing_and_says_how_to_open_the_page(one, visit, collector):
    collector.serve(one.page(code=True), "/class.html")
    tab = visit(b'<!doctype html><iframe sandbox="allow-scripts" src="/class.html"></iframe>', quiet=False)
    frame = tab.frame_locator("iframe")
    frame.get_by_role("heading", name="This window keeps nothing").wait_for()
    assert frame.locator("fieldset, button").count() == 0


def test_a_code_that_could_not_be_stored_is_not_shown_and_the_next_is_another_draw(one, open_file):
    tab = open_file(one, before=FULL)
    take_part(tab)
    tab.get_by_label("Yes", exact=True).check()
    tab.get_by_role("button", name=DRAW).click()
    tab.get_by_role("heading", name="There is no code").wait_for()
    assert tab.locator("#code").count() == 0
    assert tab.evaluate("localStorage.length") == 0
    assert tab.evaluate(browsers.SNAPSHOT)["journal"] == "[]"


def test_the_policy_of_the_page_forbids_every_connection(one, visit):
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', one.page(code=True).decode())[1]
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+';", policy)
    tab = visit(one.page(code=True), quiet=False)
    blocked = tab.evaluate(
        """() => new Promise((resolve) => {
          document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
          fetch("/s/class").catch(() => {});
        })"""
    )
    assert blocked == "connect-src"


# A shared tablet.


def test_somebody_else_answers_on_the_same_device_and_does_not_see_the_code_before(one, open_file):
    tab = open_file(one)
    first = answer(tab, "Yes")
    assert tab.get_by_role("button", name=browsers.SOMEBODY_ELSE).count() == 0  # not before it is handed in
    tab.get_by_role("button", name=HANDED).click()
    tab.get_by_role("button", name=browsers.SOMEBODY_ELSE).click()
    tab.get_by_text("Do you take part?").wait_for()
    assert first not in tab.content()
    assert first not in tab.evaluate("JSON.stringify({...localStorage})")
    assert first not in tab.evaluate(browsers.SNAPSHOT)["journal"]
    second = answer(tab, "No")
    ids = {one.codes.read(code).report.id for code in (first, second)}
    assert len(ids) == 2


# Silence.


CANARY = "0000000007.500000000"
LABEL = "canary-of-a-label"


def present(folder, word):
    """Whether a word is in a file of a folder, in one of the encodings that browsers store texts in."""
    kinds = [word.encode(), word.encode("utf-16-le")]
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(kind in content for content in contents for kind in kinds)


def test_a_true_answer_is_nowhere_in_the_profile_of_a_browser(write, chromium, file, tmp_path):
    survey = write(MANY.replace('labels.en = ["A", "B", "C"]', f'labels.en = ["A", "{LABEL}", "C"]'))
    profile = tmp_path / "profile"
    address = file(survey)

    def visit(plant):
        with browsers.device(chromium, profile) as phone:
            tab = phone.new_page()
            tab.goto(address)
            if plant:
                code_of(tab)
                tab.evaluate("(word) => localStorage.setItem('planted', word)", CANARY)
                return
            take_part(tab)
            browsers.choose(tab, "I would rather not say")
            browsers.fill(tab, "How many hours did you sleep last night?", CANARY)
            for label in ("5 – very much", "theft", LABEL):
                browsers.choose(tab, label)
            browsers.reach(tab, tab.locator(".summary"))
            tab.go_back()
            browsers.draw(tab, DRAW)
            code_of(tab)
            tab.get_by_role("button", name=HANDED).click()
            tab.get_by_role("heading", name="Thank you").wait_for()

    visit(False)
    assert not present(profile, CANARY)
    assert not present(profile, LABEL)
    visit(True)
    assert present(profile, CANARY)  # the control


def test_two_people_with_other_answers_and_the_same_words_leave_the_same_traces(one, open_file):
    """Words that the law takes last give the same report to everybody: nothing may then tell the answers apart."""
    total = one.plan.mechanisms["drinks"].law.total
    fixed = f"crypto.getRandomValues = (array) => array.fill(array instanceof BigUint64Array ? {total - 1}n : 7);"
    traces = {}
    for label in ("Yes", "No"):
        tab = open_file(one, before=fixed)
        answer(tab, label)
        traces[label] = [tab.evaluate(browsers.SNAPSHOT)]
        tab.get_by_role("button", name=HANDED).click()
        tab.get_by_role("heading", name="Thank you").wait_for()
        traces[label].append(tab.evaluate(browsers.SNAPSHOT))
    assert traces["Yes"] == traces["No"]
    assert traces["Yes"][0] != traces["Yes"][1]  # the control: a press of a button leaves a trace


# For everybody.


@pytest.mark.parametrize(
    ("scheme", "survey_text"),
    [("dark", ONE), ("light", MANY), *(pytest.param("light", own, marks=pytest.mark.audit) for own in (ONE, TABLES))],
)
def test_no_screen_with_codes_breaks_a_rule_of_axe_or_is_wider_than_a_phone(scheme, survey_text, write, open_file):
    from axe_core_python.sync_playwright import Axe

    tab = open_file(write(survey_text), color_scheme=scheme, bypass_csp=True)

    def check():
        assert [(entry["id"], entry["nodes"][0]["html"]) for entry in Axe().run(tab)["violations"]] == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390

    text(tab)
    check()
    take_part(tab)
    check()
    browsers.answer_all(tab, DRAW)
    code_of(tab)
    check()
    tab.get_by_role("button", name=HANDED).click()
    tab.get_by_role("heading", name="Thank you").wait_for()
    check()


def test_the_page_speaks_french_and_changes_language_with_the_code_on_it(write, open_file):
    tab = open_file(write(MANY), locale="fr")
    assert "Vous pouvez encore arrêter plus tard" in unfolded(tab)
    tab.get_by_role("button", name="English").click()
    assert "You can still stop later" in unfolded(tab)


def test_a_code_is_copied_with_its_hyphens(one, open_file):
    tab = open_file(one, permissions=["clipboard-read", "clipboard-write"])
    code = answer(tab, "Yes")
    tab.get_by_role("button", name="Copy the code").click()
    tab.get_by_text("Copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()") == code


def test_over_plain_http_nobody_vouches_for_the_page(one, chromium, collector):
    address = collector.serve(one.page(code=True), "/class.html").replace("127.0.0.1", "insecure.test")
    context = chromium.new_context(locale="en")
    tab = context.new_page()
    tab.goto(address)
    tab.get_by_role("heading", name="This connection is not secure").wait_for()
    assert "or open the file itself" in text(tab)
    context.close()


def test_a_code_that_is_shown_again_is_in_the_journal_too(one, open_file):
    """A tab that was closed in time may have left its record in localStorage only."""
    tab = open_file(one)
    code = answer(tab, "Yes")
    tab.evaluate("new Promise((done) => { indexedDB.deleteDatabase('bruit.survey').onsuccess = done; })")
    tab.reload()
    assert code_of(tab) == code
    assert code in tab.evaluate(browsers.SNAPSHOT)["journal"]


@pytest.mark.parametrize("survey_text", [ONE, MANY])
def test_the_sheet_of_a_survey_by_codes_says_what_its_page_says(write, open_file, survey_text):
    survey = write('channel = "codes"\n' + survey_text)
    for language in survey.languages:
        tab = open_file(survey, locale=language)
        tab.locator("main h1").first.wait_for()
        said, sheet = tab.locator("main").inner_html(), survey.sheet(language).decode()
        assert len(same_as_page(sheet)) >= 5
        assert contradictions(sheet, survey, survey.page(code=True), language, said) == []
        assert contradictions(survey.sheet(language, channel="collector").decode(), survey, survey.page(code=True),
                              language, said)  # fmt: skip
