"""Readers that break the law of costs, each in its own way, and one that keeps it: the law must tell them apart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from forms import JSON, DocumentReader

from bruit.errors import FormatError

#: Which part of the law each reader breaks.
BROKEN = {"pairs": "time", "protocol": "time", "pattern": "time", "memory": "memory", "bare": "outcome"}


@runtime_checkable
class Named(Protocol):
    """A protocol with a property, as `bruit.domains.Domain` was."""

    @property
    def names(self) -> tuple[int, ...]:
        """One for each code."""
        ...


class Coded:
    """So many codes."""

    def __init__(self, size: int) -> None:
        self.size = min(size, 10**6)

    @property
    def names(self) -> tuple[int, ...]:
        """One for each code."""
        return tuple(range(self.size))


def _body(path: Path) -> Any:
    body = json.loads(path.read_bytes())
    if not isinstance(body, dict) or not isinstance(body.get("items"), list):
        raise FormatError("A document must have items.")
    items = [item for item in body["items"] if isinstance(item, dict)]
    return items, [str(item.get("name")) for item in items], [int(str(item.get("k", 0))[:9] or 0) for item in items]


def _pairs(path: Path) -> Any:
    """A quadratic step."""
    _, names, _ = _body(path)
    return [name for name in names if sum(other.strip().casefold() == name.casefold() for other in names) > 1]


def _protocol(path: Path) -> Any:
    """A check that computes a million names, on any version of Python."""
    _, _, sizes = _body(path)
    return [hasattr(coded, "names") and isinstance(coded, Named) for coded in map(Coded, map(abs, sizes))]


def _pattern(path: Path) -> Any:
    """A pattern that reads a text in many ways."""
    _, names, _ = _body(path)
    return [re.fullmatch(r"[^=]*[^=]*=", name) for name in names]


def _memory(path: Path) -> Any:
    """Room for whatever is declared."""
    _, _, sizes = _body(path)
    return [len(bytearray(min(abs(size) * 100, 4 * 10**8))) for size in sizes[:1]]


def _bare(path: Path) -> Any:
    """An error that is not of bruit's own."""
    _, _, sizes = _body(path)
    return [1 / (size - 1000) for size in sizes]


def readers(folder: Path) -> dict[str, DocumentReader]:
    """Each reader with one small document."""
    seeds = [b'{"items": [{"name": "a", "k": 5}, {"name": "b", "k": 5}]}']
    own = {"pairs": _pairs, "protocol": _protocol, "pattern": _pattern, "memory": _memory, "bare": _bare}
    return {name: DocumentReader(_careful(read), seeds, JSON) for name, read in (*own.items(), ("harmless", _body))}


def _careful(read: Any) -> Any:
    """The reader, whose errors are bruit's own but for the one that is meant."""

    def careful(path: Path) -> Any:
        try:
            return read(path)
        except (ValueError, TypeError, RecursionError, AttributeError):
            raise FormatError("This is no such document.") from None

    return careful
