"""A client for WebSockets (RFC 6455) on this machine, which browsers are driven over: text messages, no extensions."""

from __future__ import annotations

import base64
import itertools
import json
import os
import socket
import struct
import time

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class Disconnected(Exception):
    """The other side is gone."""


class WebSocket:
    """A connection to a server of this machine."""

    def __init__(self, port: int, path: str, patience: float = 30.0) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), patience)
        self._received = b""
        try:
            self._greet(port, path)
        except Disconnected:
            self.close()
            raise

    def _greet(self, port: int, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "",
        ]  # fmt: skip
        self._connection.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self._received:
            self._read_more()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        if b" 101 " not in head.splitlines()[0]:
            raise Disconnected(head.decode(errors="replace"))

    def send(self, text: str) -> None:
        """Send a message."""
        self._send(_TEXT, text.encode())

    def receive(self) -> str:
        """The next message."""
        message = b""
        while True:
            is_last, kind, content = self._frame()
            if kind == _CLOSE:
                raise Disconnected
            if kind == _PING:
                self._send(_PONG, content)
            if kind < _CLOSE:
                message += content
                if is_last:
                    return message.decode()

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _send(self, kind: int, content: bytes) -> None:
        size, mask = len(content), os.urandom(4)
        form, mark = ("", size) if size < 126 else (">H", 126) if size < 65536 else (">Q", 127)
        length = bytes([0x80 | mark]) + (struct.pack(form, size) if form else b"")
        masked = bytes(byte ^ key for byte, key in zip(content, itertools.cycle(mask), strict=False))
        try:
            self._connection.sendall(bytes([0x80 | kind]) + length + mask + masked)
        except OSError as error:
            raise Disconnected from error

    def _frame(self) -> tuple[bool, int, bytes]:
        first, second = self._take(2)
        size = second & 0x7F
        if size >= 126:
            form = ">H" if size == 126 else ">Q"
            (size,) = struct.unpack(form, self._take(struct.calcsize(form)))
        return bool(first & 0x80), first & 0x0F, self._take(size)

    def _take(self, size: int) -> bytes:
        while len(self._received) < size:
            self._read_more()
        content, self._received = self._received[:size], self._received[size:]
        return content

    def _read_more(self) -> None:
        try:
            part = self._connection.recv(1 << 20)
        except OSError as error:
            raise Disconnected from error
        if not part:
            raise Disconnected
        self._received += part


class Commands:
    """Commands with numbers, as both protocols of browsers have them: each waits for the answer with its number."""

    def __init__(self, port: int, path: str, deadline: float) -> None:
        self._socket = _connected(port, path, deadline)
        self._numbers = itertools.count(1)
        self._events: list[dict] = []

    def call(self, method: str, **parameters: object) -> dict:
        """Do something; what it answers."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.receive())
            if message.get("id") == number:
                return result_of(method, message)
            self._events.append(message)

    def next_event(self) -> dict:
        """The first event that nobody has looked at."""
        return self._events.pop(0) if self._events else json.loads(self._socket.receive())

    def past_events(self) -> list[dict]:
        """All events that came beside answers."""
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def result_of(method: str, message: dict) -> dict:
    """What a command answers; an error where it failed."""
    if "error" in message:
        raise RuntimeError(f"{method}: {message['error']} {message.get('message', '')}")
    return message["result"]


def _connected(port: int, path: str, deadline: float) -> WebSocket:
    while True:
        try:
            return WebSocket(port, path)
        except (OSError, Disconnected):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
