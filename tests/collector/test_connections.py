"""Nobody holds a connection to the server without end, and nobody holds all of them."""

from __future__ import annotations

import asyncio
import http.client
import select
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from bruit.collector import open_store, serving
from bruit.collector.demo import running
from bruit.collector.serving import Listening

sys.path.insert(0, str(Path(__file__).parent))
from serving import post, report_bytes, request

from .test_server import _certificate

#: Limits that a test can wait for, in seconds, and by when whoever is over them is gone.
SHORT = {"_HEAD_TIME": 0.8, "_BODY_TIME": 0.8, "_ANSWER_TIME": 0.8, "_KEEP_ALIVE": 1, "_LOOK": 0.05}
GONE = 6.0

GET = b"GET /health HTTP/1.1\r\nHost: x\r\n"
#: What a client sends at once, and then again and again.
SLOW = {
    "nothing": (b"", b""),
    "half a line": (b"GET /hea", b""),
    "a head byte by byte": (GET + b"X: ", b"x"),
    "empty lines": (b"", b"\r\n"),
    "a body byte by byte": (report_bytes(b"").replace(b"Length: 0", b"Length: 9999"), b"x"),
    "a body after its answer": (GET + b"Content-Length: 99999\r\n\r\n", b"x"),
    "a second head byte by byte": (GET + b"\r\n" + GET + b"X: ", b"x"),
    "a body that is promised": (GET + b"Expect: 100-continue\r\nContent-Length: 99\r\n\r\n", b""),
}


@pytest.fixture
def site(tmp_path, opened, survey_file, monkeypatch) -> Iterator:
    """A function that serves a survey with short limits."""
    for name, value in SHORT.items():
        monkeypatch.setattr(serving, name, value)
    with ExitStack() as stack:
        store = open_store(tmp_path / "surveys.sqlite")
        open_survey = opened(store, survey_file)

        def serve(**settings):
            port = stack.enter_context(running(store, Listening(port=0, **settings)))
            return port, lambda: open_survey.survey.answer({"drinks": "Yes", "class": "A"})

        yield serve
    store.disconnect()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server hung up; what it sent before is thrown away."""
    try:
        while select.select([connection], [], [], 0)[0]:
            if not connection.recv(65536):
                return True
    except ConnectionError:
        return True
    return False


def outlast(slow: list[tuple[socket.socket, bytes]], seconds: float) -> list[bool]:
    """Go on sending for so long, or until the server hung up on all; who is then without a connection."""
    end, closed = time.monotonic() + seconds, [False] * len(slow)
    while time.monotonic() < end and not all(closed):
        for place, (connection, piece) in enumerate(slow):
            if not closed[place]:
                closed[place] = is_closed(connection)
            if piece and not closed[place]:
                try:
                    connection.send(piece)
                except ConnectionError:
                    closed[place] = True
        time.sleep(0.05)
    return closed


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_client_is_hung_up_on_while_others_are_answered(site, kind) -> None:
    port, answer = site()
    begin, piece = SLOW[kind]
    with ExitStack() as stack:
        slow = [(stack.enter_context(closing(connected(port))), piece) for _ in range(20)]
        for connection, _ in slow:
            connection.sendall(begin)
        assert post(port, answer()) == 201
        assert all(outlast(slow, GONE))
        assert post(port, answer()) == 201


def test_the_test_of_slow_clients_sees_a_server_that_waits(site, monkeypatch) -> None:
    """The control: without the limits half-open connections stay."""
    for name in ("_HEAD_TIME", "_BODY_TIME", "_ANSWER_TIME"):
        monkeypatch.setattr(serving, name, 1e9)
    port, _ = site()
    with ExitStack() as stack:
        slow = [(stack.enter_context(closing(connected(port))), b"") for _ in range(5)]
        slow[0][0].sendall(GET)
        assert not any(outlast(slow, 2.0))


def test_whoever_does_not_read_the_answers_is_hung_up_on(site) -> None:
    port, answer = site()
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.setblocking(False)
        content, end = b"GET /s/alcohol HTTP/1.1\r\nHost: x\r\n\r\n" * 400, time.monotonic() + 2 * GONE
        is_open = True
        while is_open and time.monotonic() < end:
            with suppress(BlockingIOError):
                try:
                    content = content[connection.send(content or b"GET") :]
                except ConnectionError:
                    is_open = False
            time.sleep(0.05)
        assert not is_open
        assert post(port, answer()) == 201


def test_a_client_that_keeps_its_connection_and_asks_again_is_not_hung_up_on(site) -> None:
    port, answer = site()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        for _ in range(8):  # together longer than every limit
            connection.request("POST", "/s/alcohol/report", answer(), {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert (response.status, len(response.read())) == (201, 160)
            time.sleep(0.4)


def test_connections_beyond_the_limits_are_closed_at_once_and_room_is_made_again(site, monkeypatch) -> None:
    monkeypatch.setattr(serving, "_MOST", 12)
    monkeypatch.setattr(serving, "_MOST_OF_ADDRESS", 8)
    monkeypatch.setattr(serving, "network", lambda address: address)
    port, answer = site()
    with ExitStack() as stack:
        held = [(stack.enter_context(closing(connected(port))), b"") for _ in range(14)]
        time.sleep(0.3)
        assert sum(is_closed(connection) for connection, _ in held) == 6  # of 14 of one address
        others = [socket.socket() for _ in range(6)]
        for other in others:
            stack.enter_context(closing(other))
            other.bind(("127.0.0.2", 0))  # another address
            other.connect(("127.0.0.1", port))
        time.sleep(0.3)
        assert sum(map(is_closed, others)) == 2  # of 14 of all
        assert all(outlast(held, GONE))
        assert post(port, answer()) == 201


def test_behind_a_proxy_one_address_may_have_all_connections(monkeypatch) -> None:
    for proxy, most in ((None, serving._MOST_OF_ADDRESS), ("127.0.0.1", serving._MOST)):
        with closing(Listening(port=0, proxy=proxy).bind()) as listener:
            assert listener._most_of_address == most
    assert serving._MOST_OF_ADDRESS >= 200  # a school behind one address


def test_tls_that_never_begins_or_never_ends_its_greeting_is_hung_up_on(site, tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.setattr(asyncio.constants, "SSL_HANDSHAKE_TIMEOUT", 1.0)
    certificate, key = _certificate(tmp_path)
    port, _ = site(certificate=certificate, key=key)
    context = ssl.create_default_context(cafile=str(certificate))
    greeting = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), greeting, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = greeting.read()
    with ExitStack() as stack:
        slow = [(stack.enter_context(closing(connected(port))), b"") for _ in range(10)]
        for connection, _ in slow[5:]:
            connection.sendall(hello[: len(hello) // 2])
        begun = context.wrap_socket(stack.enter_context(closing(connected(port))), server_hostname="localhost")
        with closing(begun):
            with closing(http.client.HTTPSConnection("localhost", port, timeout=10, context=context)) as honest:
                honest.request("GET", "/s/alcohol")
                assert honest.getresponse().status == 200
            assert all(outlast(slow, GONE))
            assert all(outlast([(begun, b"")], GONE))  # TLS, and then no head
    shown = capfd.readouterr()
    assert "127.0.0.1" not in shown.out + shown.err


def test_a_burst_of_connections_is_answered(site) -> None:
    port, _ = site()
    with ExitStack() as stack:
        idle = [stack.enter_context(closing(connected(port))) for _ in range(400)]
        assert request(port, "GET", "/health")[0] == 200
        assert len(idle) == 400
