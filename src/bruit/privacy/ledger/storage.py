"""The file under a ledger: a chain of JSON lines that is only ever appended to.

The first line is a header, each next line an entry that names the digest of the line before it::

    {"format": "bruit.ledger/1", "epsilon": 1.0, "delta": 0.0, "neighbours": "…", "digest": "…"}
    {"delta":0.0,"digest":"…","epsilon":0.5,"group":null,"index":0,"label":"…",…,"previous":"…","rho":0.125,"time":"…"}

Three rules make a kill harmless. The header is written under another name and linked to the final
one when it is whole. An entry is one write, followed by fsync, under an exclusive lock. What
stands after the last line end was never acknowledged, so nothing was released for it: readers
ignore it, and the next writer cuts it off.

The file is never replaced, so the lock is taken on the file itself. A descriptor lives for one
operation: a fork then shares no lock, and a file that was moved away is noticed. A separate lock
file was rejected: it can be deleted while it is held.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.errors import FormatError, LedgerError, ParameterError, translated

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = "bruit.ledger/1"
#: Seconds to wait for somebody else's operation, which takes milliseconds unless it is stopped.
PATIENCE = 30.0

_log = logging.getLogger("bruit")


class LedgerFile:
    """A ledger's file, and the proof that it is still the one that was first opened.

    `path` is where it is, without links, and `name` the absolute path that was given, which people know it by.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = Path(path).absolute()
        with translated(ParameterError, _refused):
            self.path = documents.state_file(path)
        self._identity: tuple[int, int] | None = None
        self._seen = 0

    @contextlib.contextmanager
    def locked(self, *, write: bool) -> Iterator[int]:
        """A descriptor of the file, alone with it if `write`, among readers otherwise."""
        handle = self._open(os.O_RDWR | os.O_APPEND if write else os.O_RDONLY)
        try:
            _lock(handle, exclusive=write)
            try:
                self._check_same(handle)
                if write:
                    documents.remove_unfinished(self.path)
                yield handle
            finally:
                # Closing is not enough: a fork in another thread may hold a copy of the descriptor.
                fcntl.flock(handle, fcntl.LOCK_UN)
        finally:
            os.close(handle)

    def lines_after(self, handle: int, start: int) -> list[bytes]:
        """The whole lines from byte `start` on, each with its line end."""
        with open(handle, "rb", closefd=False) as stream:
            stream.seek(start)
            lines = stream.readlines()
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
            _log.warning("A ledger ends with an unfinished line: it was never acknowledged and is ignored.")
        self._seen = max(self._seen, start + sum(map(len, lines)))
        return lines

    def append(self, handle: int, end: int, line: bytes) -> None:
        """Put `line` at byte `end`, on the disk, or leave the file as it was."""
        try:
            if os.fstat(handle).st_size > end:  # an unfinished line
                os.ftruncate(handle, end)
            _write(handle, line)
            os.fsync(handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, end)
                os.fsync(handle)
            raise LedgerError(
                f"The ledger could not be written ({_reason(error)}); nothing was released. "
                "Make room or mend the disk, then ask again."
            ) from None

    def _open(self, flags: int) -> int:
        if fcntl is None:
            raise LedgerError(
                "Ledgers on disk need POSIX file locks, which this system lacks. "
                "Use Ledger(epsilon=...) in memory, or another system."
            )
        try:
            # Neither a link that was put there meanwhile is followed, nor a pipe waited for.
            return os.open(self.path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            raise LedgerError(
                f"The ledger {self.name.name} does not exist, or no longer. Restore it, or give "
                "a budget to start a new one: Ledger.open(path, epsilon=1.0)."
            ) from None
        except OSError as error:
            raise LedgerError(f"The ledger {self.name.name} cannot be opened ({_reason(error)}).") from None

    def _check_same(self, handle: int) -> None:
        """Refuse a file that was moved away, replaced, or cut shorter than what was read."""
        opened = os.fstat(handle)
        try:
            named = os.lstat(self.path)
        except OSError:
            named = None
        identity = (opened.st_dev, opened.st_ino)
        moved = named is None or not os.path.samestat(opened, named)
        if moved or (self._identity or identity) != identity:
            raise LedgerError(
                f"The ledger {self.name.name} was moved or replaced while in use. Open it again, "
                "after making sure that no entry was lost."
            )
        if opened.st_size < self._seen:
            raise LedgerError(
                f"The ledger {self.name.name} lost entries that were already read. Restore it from a copy."
            )
        with translated(ParameterError, _refused):
            documents.check_state(self.path, opened, self.name.name)
        self._identity = identity


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Alone with a folder, made if there is none, among those who ask so; a kill frees it."""
    handle = _locked_folder(folder)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _locked_folder(folder: Path) -> int:
    rule = f"{folder.name} must be the folder of results, and is none: move it away."
    while True:
        try:
            with translated(FileExistsError, lambda _: LedgerError(rule)):
                folder.mkdir(exist_ok=True)
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            if not folder.parent.is_dir():
                raise
            continue  # an empty one, which was just removed
        try:
            _lock(handle, exclusive=True)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), folder.stat()):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # it was removed while we waited: the next process would lock another


def create(path: Path, header: bytes) -> None:
    """Start a ledger at `path`, whole or not at all; if somebody else just did, leave theirs."""
    partial = documents.partial_name(path)
    try:
        try:
            _write_new(partial, header)
            try:
                # Unlike a rename, a link never takes the place of an existing file.
                os.link(partial, path)
            except FileExistsError:
                pass
            except FileNotFoundError:  # another process has removed what was unfinished
                if not path.exists():
                    raise
        finally:
            partial.unlink(missing_ok=True)
        documents.sync(path.parent)
    except OSError as error:
        raise LedgerError(
            f"The ledger {path.name} could not be created ({_reason(error)}). Choose an existing "
            "folder on a local disk that you may write to."
        ) from None


def header_line(budget: Mapping[str, Any]) -> bytes:
    """The first line of a ledger with this budget."""
    return documents.seal(FORMAT, budget).encode() + b"\n"


def read_header(lines: list[bytes]) -> tuple[dict[str, Any], str]:
    """The budget in the first of `lines`, and the digest that the next line must name."""
    line = lines[0] if lines else b""
    with translated((FormatError, UnicodeError), _untrusted):
        budget = documents.unseal(line, FORMAT)
        if header_line(budget) != line:
            raise FormatError("This is not how bruit writes it.")
    return budget, documents.digest({"format": FORMAT, **budget})


def _untrusted(error: Exception) -> FormatError:
    reason = error if isinstance(error, FormatError) else "It is not Unicode text."
    return FormatError(f"Line 1 of the ledger cannot be trusted. {reason}")


def entry_line(body: Mapping[str, Any], previous: str) -> bytes:
    """An entry's line, chained to the line whose digest is `previous`."""
    chained = {**body, "previous": previous}
    return documents.canonical({**chained, "digest": documents.digest(chained)}).encode() + b"\n"


def read_entry(line: bytes, number: int, previous: str) -> tuple[dict[str, Any], str]:
    """The body and digest of line `number`, once its link to the line before is checked."""
    kinds = (ValueError, KeyError, TypeError, AttributeError, RecursionError, FormatError)
    with translated(kinds, lambda _: damaged(number)):
        body = documents.parsed(line, "line")
        digest, _ = body.pop("digest"), body.pop("previous")
        if entry_line(body, previous) != line:  # every byte, so also both digests
            raise damaged(number)
    return body, digest


def damaged(number: int) -> FormatError:
    """What to say about a line that is not as it was written."""
    return FormatError(
        f"Line {number} of the ledger was changed, or a line before it was removed or moved. "
        "Restore the file from a copy."
    )


def _lock(handle: int, *, exclusive: bool) -> None:
    mode = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
    deadline, pause = time.monotonic() + PATIENCE, 0.0005
    while True:
        try:
            return fcntl.flock(handle, mode)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LedgerError(
                    f"Another program has held the ledger for {PATIENCE:g} seconds. "
                    "Let it go on or end it, then ask again."
                ) from None
        except OSError as error:
            raise LedgerError(f"The ledger cannot be locked ({_reason(error)}). Keep it on a local disk.") from None
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _write_new(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        _write(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    """One write: what a full disk cut short is an error, not something to continue later."""
    if os.write(handle, content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _refused(error: Exception) -> LedgerError:
    return LedgerError(f"The ledger cannot be used: {error}")


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
