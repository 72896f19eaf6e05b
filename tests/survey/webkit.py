"""WebKit by the interface of the other engines: MiniBrowser of WebKitGTK, by its inspector or under WebDriver."""

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

from .engines import ARRIVED, PATIENCE, Engine
from .processes import XVFB, Display, Processes, free_port
from .sockets import Commands, result_of

MINI_BROWSER = next((str(path) for path in Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")), None)
DRIVER = shutil.which("WebKitWebDriver")


class WebKit(Engine):
    """MiniBrowser of WebKitGTK over the protocol of its inspector."""

    name = "webkit"

    @staticmethod
    def missing() -> str:
        has_all = MINI_BROWSER and DRIVER and XVFB
        return "" if has_all else "WebKit needs webkit2gtk-driver and xvfb, packages of Debian"

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
        self.wait(ARRIVED, address)

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

    @staticmethod
    def missing() -> str:
        has_all = MINI_BROWSER and DRIVER and XVFB
        return "" if has_all else "WebKit needs webkit2gtk-driver and xvfb, packages of Debian"

    def __init__(self, profile: Path) -> None:
        profile.mkdir(exist_ok=True)
        port = free_port()
        self._display = Display()
        self._process = Processes([str(DRIVER), f"--port={port}"], **_webkit_environment(profile, self._display))
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
