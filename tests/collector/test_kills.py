"""A server that is killed at any moment has counted what it acknowledged, once; so has a backup under load."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from bruit.collector import open_store
from bruit.collector.demo import running
from bruit.collector.open_survey import OpenSurvey
from bruit.collector.server import Limits, application
from bruit.collector.serving import Listening

sys.path.insert(0, str(Path(__file__).parent))
from serving import listening, report_bytes, run_program

#: Forks a server for every line that it reads, so that a new one is there at once, and prints its process id.
FORGE = """
import os, signal, socket, sys
from bruit.collector import open_store
from bruit.collector.open_survey import OpenSurvey
from serving import unlimited
store = open_store(sys.argv[1])
open_survey = OpenSurvey(store.survey("alcohol"))
open_survey.page
body = open_survey.survey.answer({"drinks": "Yes", "class": "A"})
report = open_survey.read(body).report
open_survey.increments([report], open_survey.columns([report]), [0])
store.disconnect()
for line in sys.stdin:
    child = os.fork()
    if not child:
        unlimited(store).run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
"""


class Servers:
    """One server after the other, on one socket."""

    def __init__(self, address: str, listener: socket.socket) -> None:
        number = listener.fileno()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.forge = run_program(FORGE, address, str(number), pass_fds=[number], **pipes)
        self.port = listener.getsockname()[1]
        self.child = 0

    def start(self) -> None:
        self.forge.stdin.write("start\n")
        self.forge.stdin.flush()
        self.child = int(self.forge.stdout.readline())

    def kill(self) -> None:
        os.kill(self.child, signal.SIGKILL)

    def end(self) -> None:
        self.kill()
        self.forge.stdin.close()
        self.forge.wait(20)
        self.forge.stdout.close()


def people(open_survey: OpenSurvey) -> Iterator[bytes]:
    """Bodies of people who do not exist, without end."""
    number = 0
    while True:
        number += 1
        yield open_survey.survey.answer({"drinks": "Yes" if number % 3 else "No", "class": "AB"[number % 2]})


class Senders:
    """Threads that send reports, each until it is acknowledged, and note when it is."""

    def __init__(self, port: int, bodies: Iterator[bytes], number: int) -> None:
        self.port, self.bodies = port, bodies
        self.sent: list[bytes] = []
        self.acknowledged: list[bytes] = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self._work) for _ in range(number)]
        for thread in self.threads:
            thread.start()

    def _work(self) -> None:
        while not self.stopped.is_set():
            with self.lock:
                body = next(self.bodies)
                self.sent.append(body)
            while not self._send(body):
                time.sleep(0.002)
            self.acknowledged.append(body)

    def _send(self, body: bytes) -> bool:
        with (
            contextlib.suppress(OSError),
            contextlib.closing(socket.create_connection(("127.0.0.1", self.port), 10)) as connection,
        ):
            connection.sendall(report_bytes(body, close=True))
            answer = connection.recv(4096)
            if answer:
                assert re.match(rb"HTTP/1\.1 20[01] ", answer), answer[:60]
                return True
        return False

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join(60)


def check(address: str, open_survey: OpenSurvey, acknowledged: list[bytes], sent: list[bytes]) -> None:
    """Every acknowledged report is in the tally once, and the tally has no other reports than those sent."""
    store = open_store(address)
    try:
        keys = [open_survey.read(body).entry.id for body in acknowledged]
        with store._transaction():
            assert len(store._bodies("alcohol", keys)) == len(keys)
            ids = store._run("SELECT id FROM {ids}")
            answered = store.totals("alcohol").answered
            tallies = store.tallies("alcohol", open_survey.survey.plan.digest, 2, shown=False)
        assert answered == len(ids) == sum(tally.n for tally in tallies.values())
        counted = {bytes(key) for (key,) in ids}
        reports = [open_survey.survey.parse(body) for body in sent if open_survey.read(body).entry.id in counted]
        assert len(reports) == answered
        for (stratum, _), tally in tallies.items():
            some = [report.columns["drinks"] for report in reports if report.public == (stratum,)]
            assert tally == open_survey.survey.plan.tally({"drinks": some})
    finally:
        store.disconnect()


@pytest.mark.parametrize(
    ("kind", "kills"),
    [
        ("sqlite", 10),
        pytest.param("sqlite", 200, marks=pytest.mark.audit),
        pytest.param("postgresql", 200, marks=pytest.mark.audit),
    ],
)
def test_a_killed_server_has_counted_every_acknowledged_report_once(
    tmp_path, opened, survey_file, kind, kills, request
) -> None:
    address = str(tmp_path / "surveys.sqlite") if kind == "sqlite" else request.getfixturevalue("database")
    store = open_store(address)
    open_survey = opened(store, survey_file)
    store.disconnect()
    chance = random.Random(kills)
    with listening() as listener:
        servers = Servers(address, listener)
        servers.start()
        senders = Senders(servers.port, people(open_survey), 6)
        try:
            for number in range(kills):
                before = len(senders.acknowledged)
                while len(senders.acknowledged) <= before:
                    time.sleep(0.001)
                time.sleep(chance.random() * 0.05)
                servers.kill()
                # What is acknowledged when the server is dead must be in the file.
                acknowledged = list(senders.acknowledged)
                if number % 10 == 9:
                    check(address, open_survey, acknowledged, list(senders.sent))
                servers.start()
            senders.stop()
        finally:
            senders.stopped.set()
            senders.stop()
            servers.end()
    check(address, open_survey, senders.acknowledged, senders.sent)
    assert len(senders.acknowledged) == len(senders.sent) >= kills


def test_a_backup_under_load_has_every_acknowledged_report_once(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    with running(store, Listening(port=0)) as port:
        senders = Senders(port, people(open_survey), 4)
        try:
            for number in range(4):
                while len(senders.acknowledged) < 20 * (number + 1):
                    time.sleep(0.001)
                acknowledged = list(senders.acknowledged)
                store.backup(tmp_path / f"backup-{number}.sqlite")
                check(str(tmp_path / f"backup-{number}.sqlite"), open_survey, acknowledged, list(senders.sent))
        finally:
            senders.stop()
    check(str(tmp_path / "surveys.sqlite"), open_survey, senders.acknowledged, senders.sent)


def _grown(store, open_survey: OpenSurvey, first: int, number: int, size) -> int:
    """By how much `size` grows while so many reports go through the whole application."""
    app = application(store, limits=Limits(per_second=1e9, per_address=10**9))
    bodies = people(open_survey)

    async def send(number: int) -> None:
        left = iter(range(number))

        async def person() -> None:
            for _ in left:
                assert await _status(app, next(bodies)) == 201

        await asyncio.gather(*(person() for _ in range(64)))
        gc.collect()

    async def grown() -> int:
        await send(first)
        before = size()
        await send(number)
        return size() - before

    return asyncio.run(grown())


@pytest.mark.audit
@pytest.mark.parametrize("leaks", [False, True])
def test_memory_does_not_grow_with_the_number_of_reports(tmp_path, opened, survey_file, monkeypatch, leaks) -> None:
    """The control keeps what is read of every report, as a cache would, and must fail."""
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    kept: list[object] = []
    if leaks:
        read = OpenSurvey.read
        monkeypatch.setattr(
            OpenSurvey, "read", lambda open_survey, body: kept.append(read(open_survey, body)) or kept[-1]
        )

    def traced() -> int:
        tracemalloc.start()  # when all is compiled, which would take long under it
        return tracemalloc.get_traced_memory()[0]

    try:
        grown = _grown(store, open_survey, 100, 400, traced)
    finally:
        tracemalloc.stop()
    assert (grown > 100_000) == leaks, grown
    store.disconnect()


@pytest.mark.audit
def test_a_million_reports_take_no_more_memory_than_some(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    assert _grown(store, open_survey, 100_000, 900_000, resident) < 20_000_000
    assert store.totals("alcohol").answered == 1_000_000
    store.disconnect()


async def _status(app, body: bytes) -> int:
    path = "/s/alcohol/report"
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "root_path": "", "scheme": "http",
        "query_string": b"", "headers": [(b"content-type", b"application/json")], "client": ("192.0.2.1", 1),
        "server": ("x", 80), "http_version": "1.1", "state": {},
    }  # fmt: skip
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict] = []

    async def receive():
        return messages.pop()

    async def send(message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"]
