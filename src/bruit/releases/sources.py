"""Of which bytes a result was drawn: a keyed digest of the table's file, for its steward alone.

Two draws may be combined only if they are of the same table. What tells is a digest of the file's bytes under a random
key. Key and digests are in one file of mode 600 beside the ledger, ``LEDGER.sources``, and nowhere else: no result,
page, message or statement has them. Anyone who has this file can test a guess at the whole table. See
``refining.proof.md``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bruit import documents
from bruit.engines.csv_options import TextOptions
from bruit.entropy import Entropy
from bruit.errors import BruitError, FormatError, LedgerError, translated
from bruit.privacy import Ledger

__all__ = ["SourceMark", "SourceRecords", "place_of"]

FORMAT = "bruit.sources/1"
#: How many bytes the key and a digest have.
_BYTES = 32
#: Those but the owner who may do anything with a file.
_OTHERS = 0o077


def place_of(source: str, ledger: Path | None) -> str:
    """A table by its place as seen from the ledger's file, so that both may move together; another name as it is."""
    if ledger is not None and source and Path(source).exists():
        return Path(os.path.relpath(Path(source).resolve(), ledger.resolve().parent)).as_posix()
    return source


class SourceMark(NamedTuple):
    """A file as it was before it was read: its place, keyed digest and options of text, and what the system said."""

    path: Path
    place: str
    digest: str
    text: TextOptions
    key: bytes
    state: tuple[int, ...]

    @property
    def is_current(self) -> bool:
        """Whether the system says that the file was not written to since."""
        return self.state == _state(self.path)


@dataclass
class SourceRecords:
    """What ``LEDGER.sources`` has: the key, of which bytes each result was drawn, and what was refined by what.

    Parameters
    ----------
    path
        The file.
    key
        The key of all digests; a new one where there is no file yet.
    draws
        Place, digest and options of text of the table, by the name of a result's file.
    refined
        The name of the file that refines a statistic, by the result's file and the statistic.
    """

    path: Path
    key: bytes = field(default_factory=lambda: bytes(Entropy().bytes(_BYTES)), repr=False)
    draws: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    refined: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, ledger: Ledger) -> SourceRecords:
        """The records beside a ledger; a file that others may read is refused."""
        if ledger.results is None:
            raise LedgerError("What is drawn from a file is recorded beside a ledger in a file: Ledger.open(path, …).")
        return cls.beside(ledger.results.with_suffix(""))

    @classmethod
    def beside(cls, ledger: Path) -> SourceRecords:
        """The records beside the file of a ledger, which need not be there yet."""
        file = documents.state_file(ledger)
        path = file.with_name(f"{file.name}.sources")
        try:
            text = documents.read_state(path)
        except FileNotFoundError:
            return cls(path)
        if path.stat().st_mode & _OTHERS:
            raise LedgerError(f"{path.name} must be for its owner alone: chmod 600 {path.name}. It can test guesses.")
        rule = f"{path.name} is damaged: restore it from a copy, or remove it, and nothing drawn so far can be refined."
        with translated((KeyError, TypeError, ValueError, AttributeError, BruitError), lambda _: FormatError(rule)):
            return cls._read(path, documents.unseal(text, FORMAT))

    @classmethod
    def _read(cls, path: Path, body: Mapping[str, Any]) -> SourceRecords:
        key = bytes.fromhex(body["key"])
        if len(key) != _BYTES or not all(_is_digest(draw["digest"]) for draw in body["draws"].values()):
            raise ValueError
        return cls(path, key, dict(body["draws"]), {name: dict(own) for name, own in body["refined"].items()})

    def mark(self, source: Any, text: TextOptions) -> SourceMark | None:
        """A file with the digest of its bytes; None for a table that is not one file."""
        if not isinstance(source, str | os.PathLike) or not Path(source).is_file():
            return None
        path = Path(source)
        state = _state(path)
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(key=self.key, digest_size=_BYTES)).hexdigest()
        return SourceMark(path, place_of(str(path), self.path), digest, text, self.key, state)

    def record(self, name: str, mark: SourceMark | None) -> None:
        """Write down of which bytes a result is drawn; the caller holds the lock of the folder of results.

        An older record of this name goes. Nothing is written of a file that changed while it was read, nor under a key
        that another program was faster to replace.
        """
        self.draws.pop(name, None)
        if mark is not None and not self.path.exists():
            self.key = mark.key
        if mark is not None and mark.is_current and mark.key == self.key:
            self.draws[name] = {"place": mark.place, "digest": mark.digest, "text": dataclasses.asdict(mark.text)}
        elif not self.path.exists():
            return
        self._write()

    def text_of(self, name: str) -> TextOptions:
        """How the text of the table was read when a result was drawn."""
        text = self.draws[name]["text"]
        return TextOptions(**{**text, "missing": tuple(text["missing"])})

    def agrees(self, name: str, mark: SourceMark) -> bool:
        """Whether a file has the bytes that a result was drawn of, at the same place, read in the same way."""
        draw = self.draws[name]
        same = (draw["place"], self.text_of(name)) == (mark.place, mark.text)
        return same and mark.key == self.key and draw["digest"] == mark.digest

    def refinement(self, name: str, statistic: str) -> str:
        """The file that refines a statistic of a result; nothing if there is none."""
        return self.refined.get(name, {}).get(statistic, "")

    def claim(self, name: str, statistic: str, by: str) -> None:
        """Write down that a file refines a statistic of a result; the caller holds the lock."""
        self.refined.setdefault(name, {})[statistic] = by
        self._write()

    def _write(self) -> None:
        body = {"key": self.key.hex(), "draws": self.draws, "refined": self.refined}
        documents.remove_unfinished(self.path)  # what a kill left has the key, too
        documents.write_secret(self.path, documents.seal(FORMAT, body, indent=1) + "\n")


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is written to, or replaced."""
    state = path.stat()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _is_digest(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch(rf"[0-9a-f]{{{2 * _BYTES}}}", text) is not None
