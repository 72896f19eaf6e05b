"""Where the server listens, and over what: https by certificate files, https by a proxy, or this machine alone.

Nobody holds a connection without end, and nobody holds all. A connection on which nothing goes on for as long as
`_HEAD_TIME`, `_BODY_TIME` or `_ANSWER_TIME` says is closed; asyncio closes one whose TLS does not begin in a minute.
"""

from __future__ import annotations

import asyncio
import errno
import importlib.util
import ipaddress
import socket
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.collector.limits import network
from bruit.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    import uvicorn

    from bruit.collector.server import Limits
    from bruit.collector.store import Store

__all__ = ["Listening", "check_extra", "server"]

#: How long the head of a request, its body, and taking an answer may last, in seconds. A page over a slow network
#: takes half a minute. The server itself answers to a body that is late, before its connection is closed.
_HEAD_TIME = 20.0
_BODY_TIME = 30.0
_ANSWER_TIME = 120.0
#: How long a connection may wait for the next request, and how often each is looked at, in seconds.
_KEEP_ALIVE = 20
_LOOK = 1.0
#: The most connections at once, of all and of one address; a process may often have 1,024 files, and the store needs
#: some. A school may stand behind one address.
_MOST = 900
_MOST_OF_ADDRESS = 600

#: Why a port cannot be had, in words.
_PORT_PROBLEMS = {
    errno.EADDRINUSE: "Another program uses port {port}",
    errno.EACCES: "Only an administrator may listen on port {port}",
}


@dataclass(frozen=True)
class Listening:
    """How people reach the server.

    Parameters
    ----------
    host, port
        Where it listens; port 0 takes a free one.
    certificate, key
        Files in PEM, for https.
    proxy
        The addresses of a proxy that stands before it and speaks https, as in ``"127.0.0.1"``; None if there is none.
    address
        What people type, up to the path, as in ``"https://survey.example.org"``; by default host and port.
    insecure_demo
        Whether plain http is served to other machines, where nobody vouches for the page.

    Examples
    --------
    >>> Listening(host="0.0.0.0", port=8000)
    Traceback (most recent call last):
    bruit.errors.ParameterError: Over plain http anybody on the way can change the page, so that it is served ...
    """

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    proxy: str | None = None
    address: str = ""
    insecure_demo: bool = False

    def __post_init__(self) -> None:
        _checks.integer(low=0, high=65535, **{"--port": self.port})
        if (self.certificate is None) != (self.key is None):
            raise ParameterError("https needs two files: --certificate cert.pem --key key.pem.")
        if self.address and not self.address.startswith("https://") and not self.insecure_demo:
            raise ParameterError("--address must begin with https://, as in https://survey.example.org.")
        if not (self.certificate or self.proxy or self.insecure_demo or is_local(self.host)):
            raise ParameterError(
                "Over plain http anybody on the way can change the page, so that it is served to this machine alone "
                "(--host 127.0.0.1). For others give --certificate and --key, or put a proxy with https before it and "
                "say --proxy 127.0.0.1; to show it without any protection, --insecure-demo."
            )

    @property
    def https(self) -> bool:
        """Whether people reach it over https."""
        return self.certificate is not None or self.proxy is not None

    def base(self, port: int) -> str:
        """The beginning of every address."""
        if self.address:
            return self.address.rstrip("/")
        scheme = "https" if self.certificate else "http"
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104 -- compared only
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def bind(self) -> socket.socket:
        """A socket that listens there."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = _Listener(family, _MOST if self.proxy else _MOST_OF_ADDRESS)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
        except OSError as error:
            listener.close()
            problem = _PORT_PROBLEMS.get(error.errno or 0)
            if problem is None:
                raise
            other = self.port + 1 if 1024 <= self.port < 65535 else 8001
            raise ParameterError(f"{problem.format(port=self.port)}; try --port {other}.") from None
        return listener


class _Listener(socket.socket):
    """A socket with a limit of connections, in all and of one address; others are closed at once.

    They are counted here, where TLS has not begun: a client that never begins it holds a connection too. An address is
    held as long as its connection.
    """

    def __init__(self, family: int, most_of_address: int) -> None:
        # asyncio sends small answers at once only where the protocol is named; others wait for 40 milliseconds.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._most_of_address = most_of_address
        self._networks: weakref.WeakKeyDictionary[socket.socket, str] = weakref.WeakKeyDictionary()

    def accept(self) -> tuple[socket.socket, Any]:
        """A connection; the error of one that was given up where there are too many, which asyncio expects."""
        connection, address = super().accept()
        own = network(address[0])
        if self._is_full(own):
            connection.close()
            raise ConnectionAbortedError
        self._networks[connection] = own
        return connection, address

    def _is_full(self, own: str) -> bool:
        if len(self._networks) < min(_MOST, self._most_of_address):
            return False
        networks = [known for connection, known in self._networks.items() if connection.fileno() >= 0]
        return len(networks) >= _MOST or networks.count(own) >= self._most_of_address


def is_local(host: str) -> bool:
    """Whether a host is this machine for itself.

    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("192.0.2.1"), is_local("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server(store: Store, listening: Listening, limits: Limits | None = None) -> uvicorn.Server:
    """A server that is ready to run: without a log of requests, and without naming itself or the time."""
    import uvicorn

    from bruit.collector.server import application

    app = application(
        store,
        limits=limits,
        https=listening.https,
        behind_proxy=listening.proxy is not None,
        insecure_demo=listening.insecure_demo,
    )
    files: dict[str, Any] = {}
    if listening.certificate is not None:
        files = {"ssl_certfile": str(listening.certificate), "ssl_keyfile": str(listening.key)}
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="error",
        server_header=False,
        date_header=False,
        http=_protocol(),
        ws="none",
        lifespan="on",
        proxy_headers=listening.proxy is not None,
        forwarded_allow_ips=listening.proxy,
        h11_max_incomplete_event_size=16 * 1024,
        loop="asyncio",  # others accept connections without the listener
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=10,
        backlog=4096,
        **files,
    )
    return uvicorn.Server(config)


def _protocol() -> type[asyncio.Protocol]:
    """The protocol by h11, which is strict and needs no further dependency, with one write for an answer, not two.

    uvicorn bounds the time between two requests, and neither that of a head nor that of a body. So each connection is
    looked at again and again, and closed if what it is about has not changed for too long.
    """
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(_Buffered(transport, self.loop))  # type: ignore[arg-type]
            self._state: tuple[Any, ...] = ()
            self._since = self.loop.time()
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._next_look.cancel()
            super().connection_lost(exc)

        def _look(self) -> None:
            state, now = (self.cycle, self.conn.their_state, self.conn.our_state), self.loop.time()
            if state != self._state:
                self._state, self._since = state, now
            self._next_look = self.loop.call_later(_LOOK, self._look)
            if now - self._since > self._patience():
                self.transport.abort()

        def _patience(self) -> float:
            """How long the connection may stay as it is."""
            if self.conn.their_state is h11.SEND_BODY:
                return _BODY_TIME
            if (self.cycle and not self.cycle.response_complete) or self.transport.get_write_buffer_size():
                return _ANSWER_TIME
            return _HEAD_TIME + _KEEP_ALIVE if self.cycle else _HEAD_TIME

    return Protocol


class _Buffered:
    """A transport that sends at once what is written within one step of the event loop.

    An answer is written as its head and its body: two packets, and two wake-ups of the reader.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pending = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data, after what else is written in this step."""
        if data and not self._pending:
            self._loop.call_soon(self._flush)
        self._pending += data

    def close(self) -> None:
        """Send what is pending, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        data, self._pending = self._pending, b""
        if data:
            self._transport.write(data)


def check_extra() -> None:
    """An error that says what to install, where the server's dependencies are not."""
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn", "segno")):
        raise MissingExtraError("The collector", "collector")
