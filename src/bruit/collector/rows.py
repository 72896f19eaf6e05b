"""Values of a store: each is what bruit writes, or the store is refused.

Anybody may have written a store. SQLite keeps any value in any column, whatever its type says, and a database of
PostgreSQL may belong to somebody else.
"""

from __future__ import annotations

from typing import Any

from bruit.errors import FormatError

__all__ = ["damaged", "flag", "hashed", "whole"]

#: The bytes of a hash, and the largest counter.
HASH_BYTES = 32
MOST = 2**63 - 1


def damaged(column: str) -> FormatError:
    """The error about a value that bruit never writes."""
    return FormatError(
        f"The store is damaged, or bruit did not write it: its column {column!r} has a value that bruit never writes."
    )


def whole(value: Any, column: str, *, low: int = 0, high: int = MOST) -> int:
    """A whole number in this range.

    >>> whole(3.0, "count")
    Traceback (most recent call last):
    bruit.errors.FormatError: The store is damaged, or bruit did not write it: its column 'count' has a value that ...
    """
    if type(value) is not int or not low <= value <= high:
        raise damaged(column)
    return value


def flag(value: Any, column: str) -> bool:
    """Yes or no: a boolean, or 0 or 1 where a database has none."""
    if type(value) not in (bool, int) or value not in (0, 1):
        raise damaged(column)
    return bool(value)


def hashed(value: Any, column: str) -> bytes:
    """A hash."""
    if not isinstance(value, bytes) or len(value) != HASH_BYTES:
        raise damaged(column)
    return value
