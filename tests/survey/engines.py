"""Chromium, Firefox and WebKit by one small interface: each with a profile on the disk, as a phone has.

Chromium is driven by Playwright, Firefox over WebDriver BiDi. Under WebDriver, WebKit keeps nothing on the disk. So a
WebKit with a profile is driven over the protocol of its inspector, where a script clicks. A WebKit without a profile is
driven over WebDriver, where a pointer clicks.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from . import browser as browsers
from .processes import XVFB, Display, Processes, free_port
from .sockets import Commands, Disconnected, result_of

#: How long anything may take, in seconds.
PATIENCE = 40.0
FIREFOX = next((path for path in map(shutil.which, ("firefox-esr", "firefox")) if path), None)
MINI_BROWSER = next((str(path) for path in Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")), None)

#: The element that a person would press: the last one that is a button with this text or a label, and can be seen.
_PRESSED = """(text) => {
  const shadows = [...document.querySelectorAll(".choices")].flatMap((host) => host.shadowRoot ?? []);
  const elements = [document, ...shadows].flatMap((tree) => [...tree.querySelectorAll("button, label")]);
  return elements.findLast((own) => own.innerText.trim() === text && own.getClientRects().length);
}"""
_ARRIVED = "(address) => location.href === address && document.readyState === 'complete'"
#: All that a person can read.
_SEEN = """() => {
  const labels = [...document.querySelectorAll(".choices")].flatMap((host) => [...host.shadowRoot.children]);
  const parts = [document.querySelector("main"), ...labels.filter((label) => label.matches("label"))];
  return parts.map((part) => part.innerText.replaceAll("\\u00a0", " ")).join("\\n");
}"""

#: No pages and no requests of its own; and the session is saved often, which is harder.
_FIREFOX_SETTINGS = {
    "browser.aboutwelcome.enabled": False,
    "browser.sessionstore.interval": 200,
    "browser.sessionstore.interval.idle": 200,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "extensions.update.enabled": False,
    "intl.accept_languages": "en",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "remote.prefs.recommended": False,
    "services.settings.server": "data:,",
    "toolkit.startup.max_resumed_crashes": -1,
}


class Engine:
    """A browser with one tab.

    A subclass starts it and has `goto`, `evaluate`, `_press`, `kill` and `close`. `evaluate` takes a function of one
    argument, which may be asynchronous; arguments and results are JSON. `_press` clicks the element that it returns.
    """

    name: str

    def press(self, text: str) -> None:
        """Press the button or the label with this text, as soon as there is one."""
        self.wait(f"(text) => Boolean(({_PRESSED})(text))", text)
        self._press(_PRESSED, text)

    def type(self, typed: str) -> None:
        """Type into the only field of the screen."""
        self.evaluate(
            """(typed) => {
              const field = document.querySelector("main input[type=text]");
              field.focus();
              document.execCommand("insertText", false, typed);
            }""",
            typed,
        )

    def text(self, *wanted: str) -> str:
        """What a person reads, as soon as one of these texts is there."""
        self.wait(f"(texts) => texts.some((text) => ({_SEEN})().includes(text))", list(wanted))
        return self.evaluate(_SEEN)

    def wait(self, function: str, argument: Any = None) -> Any:
        """What a function returns, as soon as that is true."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(RuntimeError):  # the page is loading
                if value := self.evaluate(function, argument):
                    return value
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name} waited for {argument}, and shows: {self.evaluate(_SEEN)}")
            time.sleep(0.02)


class Chromium(Engine):
    """Chromium by Playwright."""

    name = "chromium"

    def __init__(self, profile: Path) -> None:
        from playwright.sync_api import sync_playwright

        self._profile = profile
        self._playwright = sync_playwright().start()
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._context = self._playwright.chromium.launch_persistent_context(
            str(profile), executable_path=browsers.CHROMIUM, args=root, locale="en", ignore_https_errors=True
        )
        self._tab = self._context.new_page()

    def goto(self, address: str) -> None:
        self._tab.goto(address)

    def evaluate(self, function: str, argument: Any = None) -> Any:
        from playwright.sync_api import Error

        try:
            return self._tab.evaluate(function, argument)
        except Error as error:
            raise RuntimeError(str(error)) from None

    def _press(self, function: str, argument: Any) -> None:
        self._tab.evaluate_handle(function, argument).as_element().click()

    def kill(self) -> None:
        browsers.kill(self._profile)
        self._end()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._context.close()
        self._end()

    def _end(self) -> None:
        self._playwright.stop()


class Firefox(Engine):
    """Firefox over WebDriver BiDi."""

    name = "firefox"

    def __init__(self, profile: Path) -> None:
        profile.mkdir(exist_ok=True)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _FIREFOX_SETTINGS.items()]
        (profile / "user.js").write_text("\n".join(lines))
        address = profile / "WebDriverBiDiServer.json"
        address.unlink(missing_ok=True)
        self._process = Processes(
            [str(FIREFOX), "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)],
            HOME=str(profile), MOZ_CRASHREPORTER_DISABLE="1",
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not (port := _port(address)):
            if time.monotonic() > deadline:
                raise AssertionError("Firefox did not start.")
            time.sleep(0.02)
        self._commands = Commands(port, "/session", deadline)
        self._commands.call("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        # A tab of its own: the first one is still busy with what Firefox shows when it starts.
        self._context = self._commands.call("browsingContext.create", type="tab")["context"]

    def goto(self, address: str) -> None:
        self._commands.call("browsingContext.navigate", context=self._context, url=address, wait="none")
        self.wait(_ARRIVED, address)

    def evaluate(self, function: str, argument: Any = None) -> Any:
        source = f"async (text) => JSON.stringify((await ({function})(JSON.parse(text))) ?? null)"
        return json.loads(self._run(source, json.dumps(argument))["value"])

    def _run(self, function: str, argument: str) -> dict:
        answer = self._commands.call(
            "script.callFunction", functionDeclaration=function, awaitPromise=True,
            arguments=[{"type": "string", "value": argument}], target={"context": self._context},
        )  # fmt: skip
        if answer["type"] != "success":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"]

    def _press(self, function: str, argument: Any) -> None:
        self.evaluate(f'(argument) => ({function})(argument).scrollIntoView({{ block: "center" }})', argument)
        element = self._run(f"(text) => ({function})(JSON.parse(text))", json.dumps(argument))
        origin = {"type": "element", "element": {"sharedId": element["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "mouse", "actions": steps}
        self._commands.call("input.performActions", context=self._context, actions=[pointer])

    def kill(self) -> None:
        self._process.kill()
        self._commands.close()

    def close(self) -> None:
        """Firefox writes what it keeps of a session when it ends."""
        with contextlib.suppress(Disconnected, RuntimeError):
            self._commands.call("browser.close")
        self._process.end()
        self._commands.close()


class WebKit(Engine):
    """MiniBrowser of WebKitGTK over the protocol of its inspector."""

    name = "webkit"

    def __init__(self, profile: Path) -> None:
        profile.mkdir(exist_ok=True)
        self._profile = profile
        self._display = Display()
        self._process: Processes | None = None
        self._target = ""
        self._numbers = 0

    def goto(self, address: str) -> None:
        """Open an address; the first one by the command line, because the inspector opens no file."""
        if self._process is None:
            self._start(address)
        else:
            with contextlib.suppress(RuntimeError):
                self._call("Page.navigate", url=address)
        self.wait(_ARRIVED, address)

    def _start(self, address: str) -> None:
        port = free_port()
        self._process = Processes(
            [str(MINI_BROWSER), "--ignore-tls-errors", address],
            **_webkit_environment(self._profile, self._display), WEBKIT_INSPECTOR_HTTP_SERVER=f"127.0.0.1:{port}",
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        self._commands = Commands(port, _target_path(port, deadline), deadline)
        while not self._target:
            self._note(self._commands.next_event())

    def evaluate(self, function: str, argument: Any = None) -> Any:
        text = json.dumps(json.dumps(argument))
        source = f"(async () => JSON.stringify((await ({function})(JSON.parse({text}))) ?? null))()"
        promise = self._call("Runtime.evaluate", expression=source)
        if promise.get("wasThrown"):
            raise RuntimeError(promise["result"].get("description"))
        answer = self._call("Runtime.awaitPromise", promiseObjectId=promise["result"]["objectId"], returnByValue=True)
        if answer.get("wasThrown"):
            raise RuntimeError(answer["result"].get("description"))
        return json.loads(answer["result"]["value"])

    def _press(self, function: str, argument: Any) -> None:
        self.evaluate(f"(argument) => ({function})(argument).click()", argument)

    def _call(self, method: str, **parameters: Any) -> dict:
        """Do something in the page, whose process may change on the way to another address."""
        for event in self._commands.past_events():
            self._note(event)
        self._numbers += 1
        target, number = self._target, self._numbers
        command = json.dumps({"id": number, "method": method, "params": parameters})
        self._commands.call("Target.sendMessageToTarget", targetId=target, message=command)
        while self._target == target:
            message = self._commands.next_event()
            self._note(message)
            if message.get("method") == "Target.dispatchMessageFromTarget":
                content = json.loads(message["params"]["message"])
                if content.get("id") == number:
                    return result_of(method, content)
        raise RuntimeError(f"{method}: the page has moved to another process")

    def _note(self, message: dict) -> None:
        """Which process has the page."""
        parameters = message.get("params", {})
        if message.get("method") == "Target.targetCreated" and not parameters["targetInfo"].get("isProvisional"):
            self._target = parameters["targetInfo"]["targetId"]
        if message.get("method") == "Target.didCommitProvisionalTarget":
            self._target = parameters["newTargetId"]

    def kill(self) -> None:
        if self._process is not None:
            self._commands.close()
            self._process.kill()
        self._display.close()

    def close(self) -> None:
        if self._process is not None:
            self._commands.close()
            self._process.end()
        self._display.close()


class WebKitByDriver(Engine):
    """MiniBrowser of WebKitGTK over WebDriver: real clicks, and nothing that outlives it."""

    name = "webkit"

    def __init__(self, profile: Path) -> None:
        profile.mkdir(exist_ok=True)
        port = free_port()
        self._display = Display()
        self._process = Processes(["WebKitWebDriver", f"--port={port}"], **_webkit_environment(profile, self._display))
        self._address = f"http://127.0.0.1:{port}/session"
        options = {"binary": MINI_BROWSER, "args": ["--automation"]}
        wanted = {"browserName": "MiniBrowser", "acceptInsecureCerts": True, "webkitgtk:browserOptions": options}
        _wait_for(port, time.monotonic() + PATIENCE)
        session = self._call("POST", "", capabilities={"alwaysMatch": wanted})
        self._address += f"/{session['sessionId']}"

    def goto(self, address: str) -> None:
        self._call("POST", "/url", url=address)

    def evaluate(self, function: str, argument: Any = None) -> Any:
        return json.loads(self._run(f"JSON.stringify((await ({function})(argument)) ?? null)", argument))

    def _run(self, expression: str, argument: Any) -> Any:
        script = (
            "const [argument, done] = arguments;"
            f"(async () => {expression})().then((value) => done([value]), (error) => done(String(error)));"
        )
        answer = self._call("POST", "/execute/async", script=script, args=[argument])
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer[0]

    def _press(self, function: str, argument: Any) -> None:
        (element,) = self._run(f"({function})(argument)", argument).values()
        self._call("POST", f"/element/{element}/click")

    def _call(self, method: str, path: str, **content: Any) -> Any:
        body = json.dumps(content).encode() if method == "POST" else None
        request = urllib.request.Request(
            self._address + path, body, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode(errors="replace")) from None

    def kill(self) -> None:
        self._process.kill()
        self._display.close()

    def close(self) -> None:
        with contextlib.suppress(RuntimeError, OSError):
            self._call("DELETE", "")
        self._process.end()
        self._display.close()


def missing(engine: type[Engine]) -> str:
    """Why an engine cannot be used here; nothing if it can."""
    if not Path("/proc/self/environ").exists():
        return "processes of browsers are found in /proc"
    if engine is Chromium:
        return browsers.missing()
    if engine is Firefox:
        return "" if FIREFOX else "Firefox is not on PATH (on Debian: firefox-esr)"
    has_all = MINI_BROWSER and shutil.which("WebKitWebDriver") and XVFB
    return "" if has_all else "WebKit needs MiniBrowser, WebKitWebDriver and Xvfb (on Debian: webkit2gtk-driver, xvfb)"


def _port(path: Path) -> int | None:
    """The port that Firefox has written into its profile."""
    with contextlib.suppress(OSError, ValueError):
        return int(json.loads(path.read_text())["ws_port"])
    return None


def _webkit_environment(profile: Path, display: Display) -> dict[str, str]:
    """A home of its own. WebKit's sandbox needs rights that root in a container has not."""
    folders = {f"XDG_{kind}_HOME": str(profile / kind.lower()) for kind in ("DATA", "CACHE", "CONFIG", "STATE")}
    root = {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"} if os.geteuid() == 0 else {}
    own = {"HOME": str(profile), "DISPLAY": display.name, "LC_ALL": "C.UTF-8", "LANGUAGE": "en"}
    quiet = {"GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1", "WEBKIT_DISABLE_COMPOSITING_MODE": "1"}
    return {**own, **quiet, **folders, **root}


def _target_path(port: int, deadline: float) -> str:
    """Where the inspector of the only page is reached."""
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as response:
            if path := re.search(r"/socket/\d+/\d+/\w+", response.read().decode()):
                return path[0]
        if time.monotonic() > deadline:
            raise AssertionError("WebKit did not start.")
        time.sleep(0.02)


def _wait_for(port: int, deadline: float) -> None:
    """Wait until somebody listens."""
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return
        if time.monotonic() > deadline:
            raise AssertionError("The driver did not start.")
        time.sleep(0.02)
