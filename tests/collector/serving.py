"""Servers of their own for tests, and requests to them over plain sockets."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

#: Serves a store on the socket that it inherits, like `bruit survey open`.
PROGRAM = """
import socket, sys
from bruit.collector import open_store
from serving import unlimited
unlimited(open_store(sys.argv[1])).run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
"""


def unlimited(store: Any) -> Any:
    """A server of a store that takes as many requests as come."""
    from bruit.collector.server import Limits
    from bruit.collector.serving import Listening, server

    return server(store, Listening(), Limits(per_second=1e6, per_address=10**9))


def run_program(program: str, *words: str, **options: Any) -> subprocess.Popen[Any]:
    """A process that runs a program with these functions at hand."""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen([sys.executable, "-c", program, *words], env=environment, **options)


@contextmanager
def listening() -> Iterator[socket.socket]:
    """A socket that a server may inherit; connections wait in it until one accepts them."""
    with closing(socket.socket(proto=socket.IPPROTO_TCP)) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        yield listener


def start(address: str, listener: socket.socket) -> subprocess.Popen[bytes]:
    """A server process."""
    number = listener.fileno()
    return run_program(PROGRAM, address, str(number), pass_fds=[number])


@contextmanager
def served(address: str) -> Iterator[int]:
    """A server process of a store; its port."""
    with listening() as listener:
        process = start(address, listener)
        try:
            port = listener.getsockname()[1]
            ready(port)
            yield port
        finally:
            process.terminate()
            process.wait(20)


def ready(port: int) -> None:
    """Wait until a server answers."""
    for _ in range(600):
        try:
            if request(port, "GET", "/health")[0] == 200:
                return
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def request(port: int, method: str, path: str, body: bytes | None = None, **headers: str):
    """Status, headers and content of an answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


def post(port: int, body: bytes, name: str = "alcohol") -> int:
    """The status of a report; its answer must be a problem of one size."""
    status, _, content = request(port, "POST", f"/s/{name}/report", body, Content_Type="application/json")
    assert len(content) == 160
    assert json.loads(content)["status"] == status
    return status


def report_bytes(body: bytes, name: str = "alcohol", *, close: bool = False) -> bytes:
    """The request that sends a report, as a browser would send it, without what it adds."""
    end = "Connection: close\r\n" if close else ""
    head = f"Host: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{end}\r\n"
    return f"POST /s/{name}/report HTTP/1.1\r\n{head}".encode() + body


def raw(port: int, content: bytes, *, wait: float = 5.0) -> bytes:
    """What a server answers to bytes that need not be HTTP."""
    answer = b""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=wait)) as connection:
        with suppress(ConnectionError):  # it may answer, and hang up, before it has read all
            connection.sendall(content)
        with suppress(TimeoutError, ConnectionError):
            while b"\r\n\r\n" not in answer and (part := connection.recv(65536)):
                answer += part
    return answer
