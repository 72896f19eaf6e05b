"""How documents become trees and trees documents again: JSON whose digest matches, TOML, and plain text."""

from __future__ import annotations

import contextlib
import datetime
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from growth import Nested

from bruit import documents


class Form(NamedTuple):
    """How a content becomes a tree and a tree a content."""

    parse: Callable[[bytes], Any]
    write: Callable[[Any], bytes]


class DocumentReader(NamedTuple):
    """How a document is read from a file, small whole documents, their form, and the end of the file's name."""

    read: Callable[[Path], Any]
    seeds: list[bytes]
    form: Form
    ending: str = ".json"


def plain(value: Any) -> Any:
    """The tree without marks for deep values; these are left out."""
    if isinstance(value, Nested):
        return None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _deep(value: Any, open_close: tuple[str, str, str, str], marks: list[str]) -> Any:
    """The tree with texts in place of deep values, whose own text is put in later."""
    if isinstance(value, Nested):
        before, after = open_close[2:] if value.braces else open_close[:2]
        marks.append(before * value.depth + json.dumps(plain(value.value), default=str) + after * value.depth)
        return f"@@{len(marks) - 1}@@"
    if isinstance(value, dict):
        return {key: _deep(item, open_close, marks) for key, item in value.items()}
    return [_deep(item, open_close, marks) for item in value] if isinstance(value, list) else value


def _put_back(text: str, marks: list[str]) -> bytes:
    for place, mark in enumerate(marks):
        text = text.replace(f'"@@{place}@@"', mark)
    return text.encode("utf-8", "surrogatepass")


def write_json(body: Any) -> bytes:
    """JSON whose digest matches, where it has one."""
    marks: list[str] = []
    tree = _deep(body, ("[", "]", '{"a":', "}"), marks)
    text = _put_back(json.dumps(tree, ensure_ascii=False), marks)
    if not isinstance(body, dict) or not isinstance(body.get("digest"), str) or "format" not in body:
        return text
    sealed = tree
    with contextlib.suppress(RecursionError, ValueError):
        sealed = json.loads(text) if marks else tree
    digest = "0" * 32
    with contextlib.suppress(RecursionError, ValueError):
        digest = documents.digest({key: value for key, value in sealed.items() if key != "digest"})
    return _put_back(json.dumps({**tree, "digest": digest}, ensure_ascii=False), marks)


def _write_canonical(body: Any) -> bytes:
    """The one form that cards have."""
    marks: list[str] = []
    return _put_back(documents.canonical(_deep(body, ("[", "]", '{"a":', "}"), marks)), marks)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write_toml(body: Any) -> bytes:
    marks: list[str] = []
    tree = _deep(body, ("[", "]", '{"a" = ', "}"), marks)
    text = "".join(f"{json.dumps(key)} = {_toml(item)}\n" for key, item in tree.items())
    return _put_back(text, marks)


def _parse_text(content: bytes) -> Any:
    return [content.decode()]


def _write_text(body: Any) -> bytes:
    return "\n".join(map(str, body)).encode("utf-8", "surrogatepass")


JSON = Form(json.loads, write_json)
CANONICAL = Form(json.loads, _write_canonical)
TOML = Form(lambda content: tomllib.loads(content.decode()), _write_toml)
TEXT = Form(_parse_text, _write_text)
