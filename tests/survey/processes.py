"""Processes of browsers: started with a mark in their environment, so that all of them can be found and killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

XVFB = shutil.which("Xvfb")
_MARK = "BRUIT_TEST_BROWSER"
#: A program that ends with the tests, whatever becomes of them.
_MORTAL = ["setpriv", "--pdeathsig", "KILL"]


class Processes:
    """A program and all that it starts."""

    def __init__(self, command: list[str], **environment: str) -> None:
        self._mark = secrets.token_hex(16)
        self._process = subprocess.Popen(
            [*_MORTAL, *command], env={**os.environ, **environment, _MARK: self._mark}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def kill(self) -> None:
        """Kill all of them at once."""
        deadline = time.monotonic() + 20
        while processes := self._running():
            for number in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
            assert time.monotonic() < deadline, "a browser cannot be killed"
        self._process.wait(20)

    def end(self) -> None:
        """Let it end by itself, for a while."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(10)
        self.kill()

    def _running(self) -> list[int]:
        """The numbers of all processes that have the mark."""
        word = f"{_MARK}={self._mark}".encode()
        numbers = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and word in (folder / "environ").read_bytes().split(b"\0"):
                    numbers.append(int(folder.name))
        return numbers


class Display:
    """A screen that is nowhere."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        command = [str(XVFB), "-displayfd", str(writing), "-screen", "0", "800x1000x24", "-nolisten", "tcp"]
        self._process = subprocess.Popen([*_MORTAL, *command], pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.name = f":{pipe.readline().strip()}"

    def close(self) -> None:
        """Switch it off."""
        self._process.terminate()
        self._process.wait(20)


def free_port() -> int:
    """A port that nobody uses in this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
