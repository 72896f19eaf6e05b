"""The collector behind Caddy, as deploy/ starts them: a browser answers over https, and kills lose nothing."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bruit.collector import open_store
from bruit.collector.open_survey import OpenSurvey

from ..collector.test_kills import check, people
from ..survey import browser as browsers
from ..survey import engines
from ..surveys import ALCOHOL, opened_in
from .caddy import BUBBLEWRAP, CADDY, behind_caddy, free_ports, restricted, unit_command

pytestmark = pytest.mark.skipif(CADDY is None, reason="Caddy is not on PATH (on Debian: caddy)")
pytest.importorskip("starlette", reason="the collector needs bruit[collector]")

#: Forks a server for every line that it reads, behind a proxy and on a port; prints its process id.
FORGE = """
import os, sys
from bruit.collector import open_store
from bruit.collector.open_survey import OpenSurvey
from bruit.collector.server import Limits
from bruit.collector.serving import Listening, server
store = open_store(sys.argv[1])
OpenSurvey(store.survey("alcohol")).page
store.disconnect()
listening = Listening(port=int(sys.argv[2]), proxy="127.0.0.1")
for line in sys.stdin:
    child = os.fork()
    if not child:
        server(store, listening, Limits(per_second=1e6, per_address=10**9)).run(sockets=[listening.bind()])
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
"""

KIND = {"Content-Type": "application/json"}


def ask(caddy, method, path, body=None, headers=None):
    """Status, headers and content of an answer, over https with a certificate that was checked."""
    context = ssl.create_default_context(cafile=caddy.trust)
    connection = http.client.HTTPSConnection("localhost", caddy.port, timeout=40, context=context)
    with contextlib.closing(connection):
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "alcohol.toml"
    path.write_text(ALCOHOL, encoding="utf-8")
    return path


@pytest.fixture
def unit(tmp_path, survey):
    """The command of the unit under its restrictions, on a port of its own, with one survey; its port."""
    if BUBBLEWRAP is None:
        pytest.skip("bwrap is not on PATH (on Debian: bubblewrap)")
    (port,) = free_ports(1)
    folder = tmp_path / "unit"
    folder.mkdir()
    command = unit_command("localhost")
    (folder / "state").mkdir()
    opening = [sys.executable, "-m", "bruit", *command[1:], str(survey), "--no-serve"]
    opening[opening.index("--store") + 1] = str(folder / "state" / "surveys.sqlite")
    subprocess.run(opening, check=True, capture_output=True)
    if os.geteuid() == 0:
        for file in (folder / "state").iterdir():
            os.chown(file, 65534, 65534)
    with (tmp_path / "said").open("wb") as output:
        process = subprocess.Popen(
            restricted([*command, "--port", str(port)], folder), stdout=output, stderr=output, cwd="/"
        )
    yield port, folder
    process.terminate()
    process.wait(30)


def test_a_browser_answers_through_caddy_what_the_unit_serves_under_its_restrictions(unit, survey, tmp_path):
    port, folder = unit
    with behind_caddy(tmp_path / "caddy", port) as caddy:
        deadline = time.monotonic() + 60
        while ask(caddy, "GET", "/health")[0] != 200:
            assert time.monotonic() < deadline, (tmp_path / "said").read_text()
        status, headers, content = ask(caddy, "GET", "/s/alcohol")
        assert status == 200
        assert content == _page(folder / "state" / "surveys.sqlite")
        assert headers["Strict-Transport-Security"]
        assert ask(caddy, "POST", "/s/alcohol/report", b"0" * 70_000, KIND)[0] == 413
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as plain:
            plain.request("GET", "/s/alcohol")
            assert plain.getresponse().status == 426  # past Caddy
        if not browsers.missing():
            browser = engines.Chromium(tmp_path / "profile")
            browser.goto(f"https://localhost:{caddy.port}/s/alcohol")
            for label in (browsers.TAKE_PART, "Yes", browsers.NEXT, "A", browsers.NEXT, browsers.DRAW):
                browser.press(label)
            browser.text("sent and counted")
            browser.close()
            store = open_store(folder / "state" / "surveys.sqlite")
            assert store.totals("alcohol").answered == 1
            store.disconnect()
        said = caddy.output.read_text()
        assert not re.search("remote_ip|127\\.0\\.0\\.1:\\d+.*alcohol", said)
        # Nothing is written but the store, and what Caddy needs for its certificate.
        names = {path.name for path in (folder / "state").iterdir()}
        assert names <= {"surveys.sqlite", "surveys.sqlite-wal", "surveys.sqlite-shm"}
        assert not any("alcohol" in path.read_text(errors="replace") for path in _files(caddy.folder))


def _page(path: Path) -> bytes:
    """The page as the store has it."""
    store = open_store(path)
    try:
        return OpenSurvey(store.survey("alcohol")).page
    finally:
        store.disconnect()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class Senders:
    """Threads that send reports through Caddy, each until it is acknowledged."""

    def __init__(self, caddy, bodies, number):
        self.caddy, self.bodies = caddy, bodies
        self.sent, self.acknowledged = [], []
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self._work) for _ in range(number)]
        for thread in self.threads:
            thread.start()

    def _work(self):
        while not self.stopped.is_set():
            with self.lock:
                body = next(self.bodies)
                self.sent.append(body)
            while not self._send(body):
                time.sleep(0.005)
            self.acknowledged.append(body)

    def _send(self, body):
        with contextlib.suppress(OSError, http.client.HTTPException):
            status = ask(self.caddy, "POST", "/s/alcohol/report", body, KIND)[0]
            assert status in (200, 201, 502, 503, 504), status
            return status < 300
        return False

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(120)


@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.audit)])
def test_a_collector_that_is_killed_behind_caddy_loses_and_doubles_nothing(tmp_path, survey, kills):
    address = str(tmp_path / "surveys.sqlite")
    store = open_store(address)
    open_survey = opened_in(store, survey)
    store.disconnect()
    (port,) = free_ports(1)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    forge = subprocess.Popen([sys.executable, "-c", FORGE, address, str(port)], **pipes)

    def start():
        forge.stdin.write("start\n")
        forge.stdin.flush()
        return int(forge.stdout.readline())

    child = start()
    with behind_caddy(tmp_path / "caddy", port) as caddy:
        senders = Senders(caddy, people(open_survey), 4)
        try:
            for number in range(kills):
                before, deadline = len(senders.acknowledged), time.monotonic() + 120
                while len(senders.acknowledged) <= before:
                    assert time.monotonic() < deadline, "no report came through"
                    time.sleep(0.001)
                time.sleep(number % 10 * 0.005)
                os.kill(child, signal.SIGKILL)
                acknowledged = list(senders.acknowledged)
                if number % 10 == 9:
                    check(address, open_survey, acknowledged, list(senders.sent))
                child = start()
        finally:
            senders.stop()
            os.kill(child, signal.SIGKILL)
            forge.stdin.close()
            forge.wait(20)
            forge.stdout.close()
        assert not re.search("remote_ip|error", caddy.output.read_text())
    check(address, open_survey, senders.acknowledged, senders.sent)
    assert len(senders.acknowledged) == len(senders.sent) > kills
