"""Chromium, Firefox and WebKit by one small interface: each with a profile on the disk, as a phone has.

Chromium is driven by Playwright, Firefox over WebDriver BiDi. Under WebDriver, WebKit keeps nothing on the disk. So a
WebKit with a profile is driven over the protocol of its inspector, where a script clicks. A WebKit without a profile is
driven over WebDriver, where a pointer clicks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from . import browser as browsers
from .processes import Processes
from .sockets import Commands, Disconnected

#: How long anything may take, in seconds.
PATIENCE = 40.0
FIREFOX = next((path for path in map(shutil.which, ("firefox-esr", "firefox")) if path), None)

#: The element that a person would press: the last one that is a button with this text or a label, and can be seen.
_PRESSED = """(text) => {
  const shadows = [...document.querySelectorAll(".choices")].flatMap((host) => host.shadowRoot ?? []);
  const elements = [document, ...shadows].flatMap((tree) => [...tree.querySelectorAll("button, label")]);
  return elements.findLast((own) => own.innerText.trim() === text && own.getClientRects().length);
}"""
ARRIVED = "(address) => location.href === address && document.readyState === 'complete'"
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

    @staticmethod
    def missing() -> str:
        """Why the engine cannot be used here; nothing if it can."""
        raise NotImplementedError

    def press(self, text: str) -> None:
        """Press the button or the label with this text, as soon as there is one."""
        self.wait(f"(text) => Boolean(({_PRESSED})(text))", text)
        self._press(_PRESSED, text)

    def type(self, typed: str) -> None:
        """Type into the only field of the screen."""
        self.evaluate(
            """(typed) => {
              const hosts = [...document.querySelectorAll(".choices")].map((host) => host.shadowRoot ?? host);
              const trees = [document.querySelector("main"), ...hosts];
              const field = trees.map((tree) => tree.querySelector("input[type=text]")).find(Boolean);
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

    @staticmethod
    def missing() -> str:
        return browsers.missing()

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

    @staticmethod
    def missing() -> str:
        return "" if FIREFOX else "Firefox is not on PATH (on Debian: firefox-esr)"

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
        self.wait(ARRIVED, address)

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


def _port(path: Path) -> int | None:
    """The port that Firefox has written into its profile."""
    with contextlib.suppress(OSError, ValueError):
        return int(json.loads(path.read_text())["ws_port"])
    return None
