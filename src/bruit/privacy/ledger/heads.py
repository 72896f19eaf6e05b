"""Heads: how far a ledger was at some time, signed, so that a rollback, a fork or another history is seen later.

The lines of a ledger are a chain of digests, so that the digest of a line stands for all lines up to it. A head is that
digest with its number of entries. The keeper of a head elsewhere can ask later whether the ledger still has these
entries as its first ones. The signature (Ed25519) says whose head it is: a file that was rewritten, with digests
that match, has another head, and nobody but the holder of the key signs that.

A head says nothing about entries that were booked after it, and nothing about releases that were never booked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from bruit import documents
from bruit.errors import FormatError, LedgerError, ParameterError, translated
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.privacy.ledger import Ledger

__all__ = ["Head", "SignedHead", "create_keys"]

FORMAT = "bruit.ledger-head/1"
_RAW = serialization.Encoding.Raw
_PEM = serialization.Encoding.PEM
#: A key file has less; more is not read.
_LONGEST_KEY = 4096


@dataclass(frozen=True)
class Head:
    """How far a ledger was.

    Parameters
    ----------
    ledger
        The digest of the first line, which has the budget.
    entries
        How many entries there were.
    last
        The digest of the last line, and by it of all lines.
    """

    ledger: str
    entries: int
    last: str

    def sign(self, key: str | os.PathLike[str]) -> SignedHead:
        """The head with the time and a signature by the private key in this file; see `create_keys`."""
        private = _private_key(Path(key))
        public = private.public_key().public_bytes(_RAW, serialization.PublicFormat.Raw).hex()
        time = datetime.now(UTC).isoformat(timespec="seconds")
        return SignedHead(self, time, public, private.sign(_message(self, time, public)).hex())


@dataclass(frozen=True)
class SignedHead:
    """A head, when it was signed, and by whom.

    Parameters
    ----------
    head
        How far the ledger was.
    time
        When it was signed, as the signer's clock said (UTC).
    key
        The public key, 64 hexadecimal digits.
    signature
        The signature, 128 hexadecimal digits.
    """

    head: Head
    time: str
    key: str
    signature: str

    def check(self, ledger: Ledger, key: str | os.PathLike[str]) -> int:
        """How many entries were booked since; an error if the ledger does not have those of this head.

        Parameters
        ----------
        ledger
            The ledger as it is now, in a file.
        key
            The file with the public key of the trusted signer. The key in the head itself proves nothing.
        """
        self._check_signature(Path(key))
        if ledger.head_at(0).ledger != self.head.ledger:
            raise LedgerError("This head was signed of another ledger: the first lines differ.")
        now = ledger.head
        if now.entries < self.head.entries:
            raise LedgerError(
                f"Rolled back: the ledger has {counted(now.entries, 'entry')}, and had {self.head.entries} when this "
                f"head was signed ({self.time}). Restore the newer file: what it booked was released."
            )
        if ledger.head_at(self.head.entries) != self.head:
            raise LedgerError(
                f"Another history: the first {counted(self.head.entries, 'entry')} of the ledger are not those of this "
                f"head ({self.time}). The file was rewritten, or two copies of it were used side by side."
            )
        return now.entries - self.head.entries

    def to_json(self) -> str:
        """The head as a document."""
        body = {**_body(self.head, self.time, self.key), "signature": self.signature}
        return documents.seal(FORMAT, body, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The inverse of `to_json`; the signature is not checked here."""
        body = documents.unseal(text, FORMAT)
        names = {"ledger": 32, "last": 32, "key": 64, "signature": 128}
        if set(body) != {*names, "entries", "time"} or not isinstance(body["time"], str) or len(body["time"]) > 40:
            raise FormatError("This is not the head of a ledger: its fields are others.")
        if not all(_is_hex(body[name], size) for name, size in names.items()):
            raise FormatError("This is not the head of a ledger: its digests are not hexadecimal digits.")
        entries = documents.whole_number(body["entries"], "entries")
        if entries < 0:
            raise FormatError("The head of a ledger has 0 entries or more.")
        return cls(Head(body["ledger"], entries, body["last"]), body["time"], body["key"], body["signature"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        documents.write_text(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read it from a file."""
        name = Path(path).name
        with translated(OSError, lambda _: FormatError(f"The head {name} cannot be read.")):
            return cls.from_json(Path(path).read_bytes())

    def _check_signature(self, key: Path) -> None:
        trusted = _public_key(key)
        if trusted.public_bytes(_RAW, serialization.PublicFormat.Raw).hex() != self.key:
            raise LedgerError(f"This head was not signed with the key of {key.name}.")
        rule = "The signature of this head is not true: the head was changed, or never signed."
        with translated(InvalidSignature, lambda _: LedgerError(rule)):
            trusted.verify(bytes.fromhex(self.signature), _message(self.head, self.time, self.key))


def create_keys(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Make a pair of keys: the private one at `path`, for its owner alone, and the public one with ``.pub`` behind it.

    Files that are there are not replaced.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> private, public = create_keys(Path(folder.name, "steward.key"))
    >>> private.stat().st_mode & 0o777 == 0o600, public.name
    (True, 'steward.key.pub')
    >>> folder.cleanup()
    """
    private = Path(path)
    public = private.with_name(f"{private.name}.pub")
    if os.path.lexists(private) or os.path.lexists(public):
        raise ParameterError(f"There is a file {private.name} or {public.name} already: keys are never replaced.")
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    shown = key.public_key().public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    for file, content, mode in ((private, secret, 0o600), (public, shown, 0o644)):
        rule = f"The key {file.name} could not be written: choose an existing folder that you may write to."
        with translated(OSError, lambda _, rule=rule: LedgerError(rule)):  # type: ignore[misc]
            file.touch(mode, exist_ok=False)
            file.write_bytes(content)
    return private, public


def _body(head: Head, time: str, key: str) -> dict[str, Any]:
    return {"ledger": head.ledger, "entries": head.entries, "last": head.last, "time": time, "key": key}


def _message(head: Head, time: str, key: str) -> bytes:
    """What is signed: the canonical text of the document without signature and digest."""
    return documents.canonical({"format": FORMAT, **_body(head, time, key)}).encode()


def _private_key(path: Path) -> Ed25519PrivateKey:
    rule = f"{path.name} is not a private key: make one with bruit ledger keys."
    with translated((ValueError, TypeError, UnsupportedAlgorithm), lambda _: ParameterError(rule)):
        key = serialization.load_pem_private_key(_key_content(path), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(rule)
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    rule = f"{path.name} is not a public key: bruit ledger keys makes one, with .pub at its end."
    with translated((ValueError, TypeError, UnsupportedAlgorithm), lambda _: ParameterError(rule)):
        key = serialization.load_pem_public_key(_key_content(path))
    if not isinstance(key, Ed25519PublicKey):
        raise ParameterError(rule)
    return key


def _key_content(path: Path) -> bytes:
    with translated(OSError, lambda _: ParameterError(f"The key {path.name} cannot be read.")), path.open("rb") as file:
        return file.read(_LONGEST_KEY)


def _is_hex(value: Any, size: int) -> bool:
    return isinstance(value, str) and len(value) == size and set(value) <= set("0123456789abcdef")
