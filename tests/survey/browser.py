"""A real browser and a small collector for the tests of the page; both on this machine, and nothing is downloaded."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser")) if path), None)

#: Buttons and headings of the English page.
TAKE_PART = "I take part"
DRAW = "Let chance decide and send"
NEXT = "Next"
DRAW_AGAIN = "I take part: draw and send"
SEND_AGAIN = "Try again now"
NOT_SENT = "Not sent yet"
ALREADY = "You have already answered."
SOMEBODY_ELSE = "Somebody else answers here"

#: The elements of a page that a selector names, in their order; also those in shadow trees.
ALL = """((selector) => {
  const below = (tree) => [...tree.querySelectorAll("*")].flatMap((part) => (
    [...(part.matches(selector) ? [part] : []), ...(part.shadowRoot ? below(part.shadowRoot) : [])]
  ));
  return below(document);
})"""
#: Whether an element has the focus, in a shadow tree or not.
HAS_FOCUS = "(element) => element === element.getRootNode().activeElement"

#: What a page asks the browser to tell about itself: all that outlives a screen or could be looked at by others.
SNAPSHOT = """async () => ({
  dom: document.documentElement.outerHTML.replace(/<script type="application\\/json".*?<\\/script>/s, ""),
  shadows: [...document.querySelectorAll("*")].map((host) => host.shadowRoot?.innerHTML ?? "").join(""),
  address: location.href,
  title: document.title,
  state: JSON.stringify(history.state),
  entries: history.length,
  local: JSON.stringify({ ...localStorage }),
  session: JSON.stringify({ ...sessionStorage }),
  cookies: document.cookie,
  databases: JSON.stringify(await indexedDB.databases()),
  journal: JSON.stringify(await new Promise((resolve) => {
    const request = indexedDB.open("bruit.survey", 1);
    request.onupgradeneeded = () => request.transaction.abort();
    request.onerror = () => resolve(null);
    request.onsuccess = () => {
      const answer = request.result.transaction("records").objectStore("records").getAll();
      answer.onsuccess = () => resolve(answer.result);
      request.result.close();
    };
  })),
  caches: JSON.stringify(await caches.keys()),
  name: window.name,
})"""


def missing() -> str:
    """Why the browser cannot be used here; nothing if it can."""
    try:
        import axe_core_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError:
        return "the page is tried with the packages playwright and axe-core-python, which are not installed"
    return "" if CHROMIUM else "the page is tried with Chromium, which is not on PATH"


@contextlib.contextmanager
def chromium(*arguments):
    """The system's browser."""
    from playwright.sync_api import sync_playwright

    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*root, *arguments])
        yield browser
        browser.close()


@contextlib.contextmanager
def device(browser, profile, **options):
    """A further browser of the same kind with a profile on the disk, as a phone has."""
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    settings = {"locale": "en", "viewport": {"width": 390, "height": 844}, **options}
    context = browser.browser_type.launch_persistent_context(
        str(profile), executable_path=CHROMIUM, args=root, **settings
    )
    context.set_default_timeout(20_000)
    yield context
    with contextlib.suppress(Exception):  # it may have been killed
        context.close()


def kill(profile):
    """Kill the browser of a profile, all of its processes at once."""
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if folder.name.isdigit() and any(str(profile).encode() in word for word in words):
                os.kill(int(folder.name), signal.SIGKILL)
    for name in ("SingletonLock", "SingletonSocket", "SingletonCookie"):
        (profile / name).unlink(missing_ok=True)


def text(tab):
    """What a person sees, without what is folded."""
    tab.locator("main h1").first.wait_for()
    return tab.locator("main").inner_text().replace("\u00a0", " ")


def unfolded(tab):
    """What a person sees who opens all that is folded."""
    tab.locator("main h1").first.wait_for()
    for line in tab.locator("details:not([open]) > summary").all()[::-1]:
        line.click()
    return text(tab)


def reach(tab, wanted):
    """Press on until this can be seen; questions come one at a time."""
    tab.locator("fieldset, .summary").first.wait_for()
    for _ in range(20):
        if wanted.count():
            return wanted
        tab.get_by_role("button", name=NEXT).click()
    raise AssertionError("It is on no screen.")


def choose(tab, label):
    """Choose an answer to this question, or to a later one."""
    reach(tab, tab.get_by_label(label, exact=True)).check()


def fill(tab, question, typed):
    """Type an answer to this question, or to a later one."""
    reach(tab, tab.get_by_label(question)).fill(typed)


def draw(tab, button=DRAW):
    """Press on to the summary, where there is one, and let the page draw."""
    reach(tab, tab.get_by_role("button", name=button)).click()


def answer_all(tab, button=DRAW):
    """Give the first answer, or 7, to every question, and let the page draw."""
    for _ in range(20):
        tab.locator("fieldset, .summary").first.wait_for()
        for place in tab.locator("fieldset").all():
            if place.locator("input[type=text]").count():
                place.locator("input").fill("7")
            else:
                place.locator("label").first.click()
        if tab.get_by_role("button", name=button).count():
            break
        tab.get_by_role("button", name=NEXT).click()
    tab.get_by_role("button", name=button).click()


def problem(status):
    """What a collector answers."""
    return json.dumps({"status": status, "title": ""}).encode()


class Collector:
    """Serves pages by path, takes reports, and keeps all that it was sent: lines, headers and bodies."""

    def __init__(self):
        self.pages, self.requests, self.bodies, self.answers, self.delay = {}, [], [], [], 0.0
        self.state = 204  # what a page learns that has not asked anybody yet
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                collector.requests.append(("GET", self.path, dict(self.headers)))
                content, kind = collector.pages.get(self.path.split("?")[0], (b"", "text/plain"))
                status = collector.state if self.path.split("?")[0].endswith("/report") else 404
                if content or status == 204:
                    self._answer(200 if content else status, content, kind)
                else:
                    self._answer(status, problem(status), "application/problem+json")

            def do_POST(self):
                collector.requests.append(("POST", self.path, dict(self.headers)))
                collector.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(collector.delay)
                status = collector.answers.pop(0) if collector.answers else 201
                if status == "hang up":
                    self.connection.close()
                else:
                    self._answer(status, problem(status), "application/json")

            def _answer(self, status, content, kind):
                with contextlib.suppress(OSError):  # the page was closed meanwhile
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_):
                pass

        self._handler = Handler
        self._listen(0)

    def _listen(self, port):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), self._handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def leave(self):
        """Refuse every connection, as if there was no network."""
        self.server.shutdown()
        self.server.server_close()

    def come_back(self):
        """Listen again, where it listened before."""
        self._listen(self.server.server_port)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def serve(self, content, path="/s/class"):
        """The address of a page with this content."""
        self.pages[path] = (content, "text/html; charset=utf-8")
        return self.address + path

    def close(self):
        self.leave()


def script_of(page: bytes) -> str:
    """The script as it is shipped in a page."""
    return re.search('<script type="module">(.*?)</script>', page.decode(), re.DOTALL)[1]


def data_of(page: bytes) -> str:
    """The data of a page, as text."""
    return re.search('<script type="application/json" id="data">(.*?)</script>', page.decode(), re.DOTALL)[1]


def without_policy(page: bytes) -> bytes:
    """The same page with no policy, so that a changed script runs."""
    return re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.decode()).encode()


def bare(page: bytes) -> bytes:
    """The data of a page without its script, which a test imports."""
    data = f'<script type="application/json" id="data">{data_of(page)}</script>'
    return f'<!doctype html><main id="survey"></main>{data}'.encode()
