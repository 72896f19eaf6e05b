"""Changes of files, texts and documents, drawn from a seed: bytes, lines, and the values of a document."""

from __future__ import annotations

import io
import json
import math
import random
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import tomlkit

from bruit import documents

#: Bytes that mean something to some reader.
TOKENS = (
    *(b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b",", b";", b"\t", b'"', b"'", b"\\", b"\\u0000"),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"[[",
        b"=",
        b":",
        b"#",
        b"null",
        b"true",
        b"NaN",
        b"Infinity",
        b"-",
        b"1e999",
        b"0" * 400,
    ),
    *(b"9" * 400, b"\xed\xa0\x80", "é".encode(), "e\u0301".encode(), "\u202e".encode(), b"PAR1", b"\x1f\x8b\x08\x00"),
)
#: Values that stand where another one is expected.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2**31, 2**53, 2**63, 2**64, -(2**70), 0.0, -0.0, 0.5, 1e-300, 1e308, -1.5),
    *("", "0", "1", "-1", "18446744073709551616", "9" * 39, "yes", "\0", "\ud800", "a" * 300, "é", "bruit.plan/1"),
    *([], [0], [[]], [None], ["a", "a"], {}, {"": ""}, {"kind": "grid"}, {"kind": "categories", "k": 10**9}),
)


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """A few changes anywhere in the bytes."""
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        start = draw.randrange(len(content) + 1)
        stop = min(len(content), start + draw.choice((0, 1, 2, 8, 64, len(content))))
        piece = draw.choice((
            draw.choice(TOKENS),
            bytes(draw.randrange(256) for _ in range(draw.choice((1, 2, 8)))),
            content[start:stop] * draw.choice((2, 3)),
            content[: draw.randrange(len(content) + 1)][-64:],
        ))  # fmt: skip
        content = content[:start] + piece + content[stop if draw.random() < 0.7 else start :]
    return content


def changed_document(content: bytes, draw: random.Random) -> bytes:
    """Other values in a document, whose digest is made to match again, so that what lies behind it is reached."""
    body = json.loads(content)
    for _ in range(draw.choice((1, 1, 2, 3))):
        _change_somewhere(body, draw)
    if isinstance(body, dict) and isinstance(body.get("digest"), str):
        del body["digest"]
        try:
            body["digest"] = documents.digest(body)
        except (ValueError, UnicodeError):
            body["digest"] = "0" * 32
    return json.dumps(body, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")


def _change_somewhere(body: Any, draw: random.Random) -> None:
    places = list(_places(body))
    if not places:
        return
    holder, key = draw.choice(places)
    action = draw.randrange(5)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, list):
        holder.insert(key, draw.choice([holder[key], *VALUES]))
    elif action == 2 and isinstance(holder, dict):
        holder[draw.choice(("", "kind", "format", "more", "epsilon", key + "x"))] = holder.pop(key)
    elif action == 3:
        other, there = draw.choice(places)
        holder[key] = json.loads(json.dumps(other[there]))
    else:
        holder[key] = draw.choice(VALUES)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if (key, value) != ("digest", value):
            yield value, key
        yield from _places(item)


def changes(
    seeds: list[bytes], times: int, seed: int, *kinds: Callable[[bytes, random.Random], bytes]
) -> Iterator[bytes]:
    """So many changed contents, from a seed."""
    draw = random.Random(seed)
    for number in range(times):
        yield kinds[number % len(kinds)](draw.choice(seeds), draw)


def changed_settings(content: bytes, draw: random.Random) -> bytes:
    """Other values in a file of TOML."""
    body = tomllib.loads(content.decode())
    for _ in range(draw.choice((1, 1, 2, 3))):
        _change_somewhere(body, draw)
    try:
        return tomlkit.dumps(body).encode()
    except (TypeError, ValueError, AttributeError, UnicodeError):  # TOML has no such value
        return changed_bytes(content, draw)


#: Columns of every kind that Arrow has, as short lists.
COLUMNS: tuple[Callable[[], pa.Array], ...] = (
    lambda: pa.array([None, None, None], pa.null()),
    lambda: pa.array([True, None, False]),
    *((lambda kind=kind: pa.array([0, None, 1], kind)) for kind in (pa.int8(), pa.uint16(), pa.float64())),
    lambda: pa.array([math.nan, math.inf, -1e308]),
    lambda: pa.array([2**64 - 1, 0, 1], pa.uint64()),
    *((lambda kind=kind: pa.array(["no", None, "yes"], kind)) for kind in (pa.string(), pa.large_string())),
    lambda: pa.array(["no", "e\u0301", "\0"]).dictionary_encode(),
    lambda: pa.array([b"no", None, b"\xff"], pa.binary()),
    lambda: pa.array([b"no", b"12", None], pa.binary(2)),
    lambda: pa.array([Decimal("1.5"), None, Decimal("-9e30")], pa.decimal256(60, 2)),
    lambda: pa.array([0, None, 2**40], pa.timestamp("us", "UTC")),
    lambda: pa.array([0, None, 10**5], pa.date32()),
    lambda: pa.array([0, None, 5], pa.duration("s")),
    lambda: pa.array([0, None, 5], pa.time32("s")),
    lambda: pa.array([[1, 2], None, []], pa.list_(pa.int32())),
    lambda: pa.array([{"a": 1}, None, {"a": None}], pa.struct([("a", pa.int32())])),
    lambda: pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int32())),
)


def other_columns(content: bytes, draw: random.Random) -> bytes:
    """A whole Parquet file whose columns have other kinds, other names, no rows, or the same name twice."""
    names = list(pq.read_schema(io.BytesIO(content)).names)
    if draw.random() < 0.2:
        names[draw.randrange(len(names))] = draw.choice(("", "other", names[0], "é", "\n"))
    columns = [draw.choice(COLUMNS)() for _ in names]
    table = pa.Table.from_arrays(columns, names=names)
    if draw.random() < 0.2:
        table = table.slice(0, draw.choice((0, 1)))
    out = io.BytesIO()
    try:
        pq.write_table(table, out)
    except (pa.ArrowException, NotImplementedError):  # Parquet has no such column
        return content
    return out.getvalue()
