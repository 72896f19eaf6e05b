"""How bruit writes what it keeps: canonical JSON with a format name, a version and a digest.

Every document reads ``{"format": "bruit.tally/1", …, "digest": "…"}``. The digest is SHA-256 over the canonical
form of all the rest: it detects damage, a truncated or an edited file. It is not a signature: someone who can change
the file can also compute the digest again, so it does not detect forgery.

Files are written beside their final name and moved there when whole, so that a full disk or a kill leaves
either the old file or none, never half of one.

A *state file* is read, changed and written again, by several programs and for years: a ledger, a series, a memory. One
that has two names must not have two locks, nor become two files. So every opener asks `state_file` for the file
itself, keeps that path, and changes the file within `alone_with` that path.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from bruit import _checks
from bruit.errors import FormatError, LimitError, ParameterError, translated

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: The largest integer that every JSON reader keeps exactly; beyond, integers are written as strings.
SAFE_INTEGER = 2**53 - 1
#: Opening a file that is there, and not what a link points to; some systems have no such flags.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_AS_IT_IS = _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
#: More digits than any whole number in a document has: the time to read a number grows with their square.
_MOST_DIGITS = 40
_WHOLE = re.compile(f"-?[0-9]{{1,{_MOST_DIGITS}}}")
#: A key of TOML with more parts than a person writes: the time to read one grows with the square of their number.
_LONG_KEY = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){50}""")
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(body: Any) -> str:
    """The one text of a value: sorted keys, no spaces, plain Unicode, big integers as strings.

    >>> canonical({"b": 2**60, "a": [1.5, None]})
    '{"a":[1.5,null],"b":"1152921504606846976"}'
    """
    text = _CANONICAL.encode(_safe(body))
    if not _checks.is_whole(text):
        raise ParameterError("A text is not whole Unicode: it has half of a surrogate pair. Mend its encoding.")
    return text


def digest(body: Any) -> str:
    """32 hexadecimal digits that change with any part of `body`."""
    return hashlib.sha256(canonical(body).encode()).hexdigest()[:32]


def seal(name: str, body: Mapping[str, Any], *, indent: int | None = None) -> str:
    """A document as text: format first, digest last, readable by a person when indented."""
    whole = {"format": name, **body}
    document = _safe({**whole, "digest": digest(whole)})
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def parsed(text: str | bytes, what: str) -> Any:
    """A document as plain values; what no writer of ours leaves is refused.

    That is: text that is no JSON or cut short, half characters, endless nesting, infinities and what is not a number,
    whole numbers of more than 40 digits (which are slow to read, and strings in our documents), and an object with a
    key twice, on which readers do not agree.

    >>> parsed('{"a": 1, "a": 2}', "document")
    Traceback (most recent call last):
    bruit.errors.FormatError: This is not a whole document: it is cut short or damaged.
    """
    rule = f"This is not a whole {what}: it is cut short or damaged."
    with translated((ValueError, TypeError, RecursionError), lambda _: FormatError(rule)):
        body = json.loads(text, parse_constant=_refuse, parse_int=_short_number, object_pairs_hook=_no_key_twice)
        return _whole(body, text)


def unseal(text: str | bytes, name: str) -> dict[str, Any]:
    """The body of a document of format `name`, after its format and digest were checked."""
    document = parsed(text, f"{name} document")
    if not isinstance(document, dict) or not isinstance(document.get("format"), str):
        raise FormatError(f"This is not a {name} document: it has no format name.")
    _check_format(document["format"], name)
    stated = document.pop("digest", "")
    if not isinstance(stated, str) or stated != _digest_of_text(document):
        raise FormatError(
            f"This {name} document was changed or damaged after it was written: its digest does not match."
        )
    del document["format"]
    return document


def read_toml(path: Path, rule: str) -> dict[str, Any]:
    """A TOML file that a person wrote; what cannot be read is an error with its line, and the rule."""
    return parse_toml(path.read_bytes(), path.name, rule)


def parse_toml(text: bytes, name: str, rule: str) -> dict[str, Any]:
    """The same of the content of a file, with the name that errors give it."""

    def explain(error: Exception) -> FormatError:
        lines = text.decode(errors="replace").split("\n")
        where = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = f", line {where[1]}, column {where[2]}" if where else ""
        twice = re.match(r"Cannot declare \('(\w+)',\) twice", str(error))
        if twice is not None:
            table = twice[1]
            return FormatError(
                f"{name}{place}: [{table}] stands there a second time. Write [[{table}]], in double brackets, where "
                "there are several."
            )
        quotes = " Texts need quotes." if where and _is_bare(lines, int(where[1]), int(where[2])) else ""
        return FormatError(f"{name}{place}: {rule}{quotes}")

    with translated((ValueError, RecursionError), explain):  # TOML and text that is none, and numbers without end
        decoded = text.decode()
        if _LONG_KEY.search(decoded):
            raise ValueError
        return tomllib.loads(decoded)


def _is_bare(lines: Sequence[str], line: int, column: int) -> bool:
    """Whether a letter stands there, behind the sign of a value."""
    before, here = lines[line - 1][: column - 1], lines[line - 1][column - 1 : column]
    return here.isalpha() and before.rstrip().endswith(("=", "[", ","))


#: About how many microseconds of work the content of a document may ask for, and how many more for each of its bytes.
MOST_WORK, WORK_PER_BYTE = 500_000, 1.0
_work_left: ContextVar[int | None] = ContextVar("_work_left", default=None)


@contextlib.contextmanager
def reading(length: int = 0) -> Iterator[None]:
    """Within the block, limit the work that a document may declare in all; the limit grows with its bytes.

    A few bytes can declare what takes a second to compute, and a document can have thousands of them. Whatever is
    costly to make from declared numbers says so by `work` before it begins. Outside of such a block nothing is limited:
    who declares something in a program waits for it.
    """
    outer = _work_left.get()
    token = _work_left.set(MOST_WORK + round(WORK_PER_BYTE * length) if outer is None else outer)
    try:
        yield
    finally:
        left = _work_left.get()
        _work_left.reset(token)
        if outer is not None:
            _work_left.set(left)


def work(microseconds: float) -> None:
    """Say that something takes about so long, before it is computed; more than a document may ask for is an error."""
    left = _work_left.get()
    if left is None:
        return
    left -= math.ceil(microseconds)
    _work_left.set(left)
    if left < 0:
        raise LimitError(
            f"This document asks for more than {MOST_WORK / 1e6:g} s of computation. Declare fewer or smaller things "
            "in one document."
        )


def whole_number(value: Any, what: str) -> int:
    """An integer read from a document, where big ones are strings."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise FormatError(f"{what} must be a whole number.")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside `path` to write to; it takes the place of `path` when the block ends well.

    On any error the unfinished file is removed and `path` is as it was.
    """
    final = Path(path)
    partial = partial_name(final)
    try:
        yield partial
        sync(partial)
        partial.replace(final)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync(final.parent)


def write_secret(path: Path, text: str) -> None:
    """Write a file for its owner alone (mode 600), whole or not at all."""
    with replacing(path) as partial:
        create_secret(partial, text)


def create_secret(path: Path, text: str) -> None:
    """Write a new file for its owner alone (mode 600), which may be left unfinished."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)


def state_file(path: str | os.PathLike[str]) -> Path:
    """The file itself behind one of its names, to be kept as long as it is used: absolute, and without links.

    There need not be a file yet: where a link leads, it will be. A file with several hard links is refused, as is what
    is no regular file.

    >>> state_file("/nowhere/./else/../series.json").as_posix()
    '/nowhere/series.json'
    """
    real = Path(os.path.realpath(path))
    with contextlib.suppress(OSError):  # there is none, or opening it will say why not
        check_state(real, os.lstat(real), Path(path).name)
    return real


def check_state(path: Path, state: os.stat_result, name: str) -> None:
    """Refuse what cannot be kept as one file with one name; `state` is what the system says of it."""
    if stat.S_ISLNK(state.st_mode):
        raise ParameterError(f"{name} is a link that leads nowhere: name the file itself.")
    if not stat.S_ISREG(state.st_mode):
        raise ParameterError(f"{name} must be a file: it is a folder, a pipe or a device.")
    if state.st_nlink > 1 and _other_names(path, state):
        raise ParameterError(
            f"{name} has several names on the disk (hard links), and what is kept under one of them would be missed "
            "under the others. Remove the other names; a symbolic link (ln -s) may stand in their place."
        )


def check_place(path: Path) -> None:
    """Refuse a path that `state_file` gave if it leads elsewhere now."""
    if state_file(path) != path:
        raise ParameterError(f"{path.name} was moved while in use, and a link stands in its place: open it again.")


def read_state(path: Path) -> bytes:
    """What a state file has, by the path that `state_file` gave: a link or pipe in its place is not read."""
    with os.fdopen(os.open(path, os.O_RDONLY | _AS_IT_IS), "rb") as stream:
        check_state(path, os.fstat(stream.fileno()), path.name)
        return stream.read()


@contextlib.contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Alone with a state file among all programs, by the path that `state_file` gave.

    The lock is on a file beside it, for the file itself is replaced. What a kill left of an unfinished version is
    removed: a process at work on one has the lock.
    """
    if fcntl is None:
        raise ParameterError("A file that several programs change needs POSIX locks, which this system lacks.")
    check_place(path)
    handle = _locked(path.with_name(f".{path.name}.lock"))
    try:
        check_place(path)
        remove_unfinished(path)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def remove_unfinished(path: Path) -> None:
    """Remove what kills left of a file; the caller holds its lock. What may not be removed stays."""
    for partial in unfinished(path):
        with contextlib.suppress(OSError):
            partial.unlink()


def _other_names(path: Path, state: os.stat_result) -> bool:
    """Whether a file has further names; a kill while it was being made may have left a hidden one, which is its own."""
    own = 0
    for partial in unfinished(path):
        with contextlib.suppress(OSError):
            own += os.path.samestat(state, os.lstat(partial))
    try:  # after the hidden names were counted: a process that makes the file removes one meanwhile
        return os.lstat(path).st_nlink - own > 1
    except OSError:
        return False


def _locked(path: Path) -> int:
    """The descriptor of a lock file that is ours, and still stands under its name."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise ParameterError(
                f"{path.name} is a link, and a lock must be a file of its own: remove it while no program is at work."
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), os.lstat(path)):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # it was removed while we waited: the next process would lock another


def partial_name(path: Path) -> Path:
    """A new hidden name beside `path` for what is not finished yet."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")


def unfinished(path: str | os.PathLike[str]) -> list[Path]:
    """What stands beside `path` under such names: a kill left it, or another process is at work.

    >>> unfinished("nowhere/reports.parquet")
    []
    """
    final = Path(path)
    pattern = re.compile(rf"\.{re.escape(final.name)}\.[0-9a-f]{{8}}\.partial")
    try:
        return sorted(file for file in final.parent.iterdir() if pattern.fullmatch(file.name))
    except OSError:
        return []


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a small document, whole or not at all."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def sync(path: Path) -> None:
    """Ask the disk to keep what was written to a file or folder."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # some systems do not let a folder be opened
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


#: What JSON keeps as it is; by far the most of what documents hold.
_PLAIN = frozenset({str, float, bool, type(None)})


def _safe(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {str(key): _safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE_INTEGER:
        return str(value)
    return value


def _digest_of_text(document: dict[str, Any]) -> str | None:
    """The digest; None, which nothing matches, for what no writer leaves: half characters, infinities, long nesting."""
    try:
        return digest(document)
    except (UnicodeEncodeError, ValueError, RecursionError):
        return None


def _check_format(format_name: str, name: str) -> None:
    if format_name == name:
        return
    family, _, version = name.rpartition("/")
    if format_name.rpartition("/")[0] == family:
        raise FormatError(
            f"This document is {format_name[:60]}, and this version of bruit reads {family} version {version}: "
            "use another version of bruit."
        )
    raise FormatError(f"This is a {format_name[:60]} document, a {name} document is needed.")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a document; readers do not agree on which of two equal keys counts."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


#: How JSON spells what may be half a character.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _whole(body: Any, text: str | bytes) -> Any:
    """What was read of a text, if it has no half characters, neither as such nor as \\ud800."""
    read = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    if not _checks.is_whole(read) or (_HALF.search(read) and not _checks.is_whole(_CANONICAL.encode(body))):
        raise ValueError
    return body


def _refuse(constant: str) -> Any:
    """NaN and infinity, which Python reads and JSON does not know."""
    raise ValueError


def _short_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError
    return int(digits)
