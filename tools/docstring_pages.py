"""Let docstrings that were written for a terminal read well on the reference pages.

Two things that Griffe does not do by itself: a ``#:`` comment explains the constant or type alias
below it, and a session that starts with ``>>>`` is code wherever it stands, also without an
*Examples* heading.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import griffe

MARK = "#:"


def comment_above(path: Path, line: int) -> str:
    """The ``#:`` comment that ends just before the 1-based line `line`, without its marks."""
    lines = path.read_text(encoding="utf-8").splitlines()[: line - 1]
    words: list[str] = []
    while lines and lines[-1].lstrip().startswith(MARK):
        words.insert(0, lines.pop().lstrip().removeprefix(MARK).strip())
    return " ".join(words)


def fence_sessions(text: str) -> str:
    """Put every session into a code fence; it ends at the first blank line, as for doctest."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>> "):
            inside = True
            lines.append(_indent(line) + "```pycon")
        elif inside and not line.strip():
            inside = False
            lines.append(_indent(lines[-1]) + "```")
        lines.append(line)
    return "\n".join([*lines, _indent(lines[-1]) + "```"] if inside else lines)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


class DocstringPages(griffe.Extension):
    """Called by Griffe for everything that it has read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the sessions of any docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fence_sessions(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Give an attribute without a docstring the comment above it."""
        if attr.docstring is None and attr.lineno and isinstance(attr.filepath, Path):
            text = comment_above(attr.filepath, attr.lineno)
            if text:
                attr.docstring = griffe.Docstring(text, lineno=attr.lineno, parent=attr)
