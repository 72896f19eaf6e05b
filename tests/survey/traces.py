"""What is in the folder of a browser's profile, under the compression that browsers write with."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

_SESSION = b"mozLz40\0"
_DATABASE = b"SQLite format 3\0"


def present(folder: Path, word: str) -> list[str]:
    """The files of a folder that have a word, in one of the encodings that browsers store texts in."""
    kinds = [word.encode(), word.encode("utf-16-le")]
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return [
        str(path.relative_to(folder))
        for path in files
        if any(kind in content for content in _contents(path) for kind in kinds)
    ]


def saved_session(profile: Path) -> str:
    """What Firefox has written of its windows for the case of a crash; nothing before the first time."""
    with contextlib.suppress(OSError, ValueError, pa.ArrowException):
        content = (profile / "sessionstore-backups" / "recovery.jsonlz4").read_bytes()
        return json.dumps(json.loads(_unpacked(content)), ensure_ascii=False)
    return ""


def _contents(path: Path) -> Iterator[bytes]:
    """A file as it is, and what is packed in it."""
    try:
        content = path.read_bytes()
    except OSError:  # deleted meanwhile
        return
    yield content
    if content.startswith(_SESSION):
        yield _unpacked(content)
    if content.startswith(_DATABASE):
        for cell in _cells(path):
            yield cell
            with contextlib.suppress(pa.ArrowException, OSError):
                yield pa.decompress(cell, decompressed_size=_snappy_size(cell), codec="snappy", asbytes=True)


def _unpacked(content: bytes) -> bytes:
    """A file of Firefox in its own form of LZ4."""
    size = int.from_bytes(content[8:12], "little")
    return pa.decompress(content[12:], decompressed_size=size, codec="lz4_raw", asbytes=True)


def _snappy_size(cell: bytes) -> int:
    """The size that a block of Snappy declares at its beginning; 0 for what is none."""
    size = 0
    for place, byte in enumerate(cell[:4]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return size
    return 0


def _cells(path: Path) -> Iterator[bytes]:
    """Every text and every blob of a database; of a copy, because reading one with a journal changes it."""
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal"):
            if Path(f"{path}{end}").exists():
                shutil.copy(f"{path}{end}", f"{folder}/copy{end}")
        with contextlib.closing(sqlite3.connect(f"{folder}/copy")) as database, contextlib.suppress(sqlite3.Error):
            database.text_factory = bytes
            tables = [
                name.decode() for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            for table in tables:
                for row in database.execute('SELECT * FROM "{}"'.format(table.replace('"', '""'))):
                    yield from (cell for cell in row if isinstance(cell, bytes))
