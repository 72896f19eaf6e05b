"""The form of a report: how a message, which is a whole number, is kept in an array, as text and as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.laws.parity import Parity
from bruit.laws.sets import Hash, Subset

#: The unsigned whole numbers, the smallest first.
_INTEGERS = tuple(map(np.dtype, (np.uint8, np.uint16, np.uint32, np.uint64)))
#: The number of digits of the largest 64-bit integer.
_DIGITS = 20


@dataclass(frozen=True)
class Form:
    """What a report is: a whole number, a row of bytes, or a record with fields, which files keep as its bytes.

    Parameters
    ----------
    dtype
        Of an array of reports.
    width
        How many bytes a row of a two-dimensional array of reports has; 0 where an array is one-dimensional.

    Examples
    --------
    >>> Form(np.dtype(np.uint16)).text(300), Form.row(2).text(300)
    ('300', '2c01')
    >>> Form(np.dtype(np.uint16)).packed(300).hex()
    '2c01'
    """

    dtype: np.dtype[Any]
    width: int = 0

    @classmethod
    def of(cls, reports: NDArray[Any]) -> Form:
        """The form of these reports."""
        return cls(reports.dtype, reports.shape[1] if reports.ndim == 2 else 0)

    @classmethod
    def of_law(cls, law: Any) -> Form:
        """What reports drawn by a law look like; a function and its bucket are one row of bytes."""
        if isinstance(law.sets, Subset):
            return cls.row((law.sets.values + 7) // 8)
        if isinstance(law.sets, Hash | Parity):
            return cls.row(law.sets.seed_bits // 8 + cls.integers(law.sets.buckets).size)
        return cls.integers(law.messages)

    @classmethod
    def integers(cls, messages: int) -> Form:
        """The smallest unsigned whole numbers that hold 0..messages−1."""
        return next(cls(dtype) for dtype in _INTEGERS if messages <= 1 << 8 * dtype.itemsize)

    @classmethod
    def row(cls, width: int) -> Form:
        """A form of this many bytes."""
        return cls(np.dtype(np.uint8), width)

    @classmethod
    def widest(cls, forms: list[Form]) -> Form:
        """What holds messages of any of these forms: whole numbers if all are, else rows of the widest."""
        size = max(form.size for form in forms)
        return cls.row(size) if any(form.is_bytes for form in forms) else cls.integers(1 << 8 * size)

    @property
    def is_bytes(self) -> bool:
        """Whether a report is a row of bytes in files; else it is a whole number."""
        return bool(self.width or self.dtype.names)

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return self.width or self.dtype.itemsize

    @property
    def kind(self) -> str:
        """The kind of column by its name in documents: ``"uint8"``, …, ``"uint64"`` or ``"bytes"``."""
        return "bytes" if self.is_bytes else self.dtype.name

    @property
    def most_text(self) -> int:
        """How many characters a report takes at most as text, with quotes around it."""
        return 2 + (2 * self.size if self.is_bytes else _DIGITS)

    def empty(self, n: int) -> NDArray[Any]:
        """Room for n reports, filled with zeros."""
        return np.zeros((n, self.width) if self.width else n, self.dtype)

    def from_bytes(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Reports from their bytes, a row each."""
        if not self.dtype.names:
            return rows
        return np.ascontiguousarray(rows).view(self.dtype).reshape(len(rows))

    # One message.

    def text(self, message: int) -> str:
        """Decimal digits of a whole number; two hexadecimal digits for each byte of a row."""
        return self.packed(message).hex() if self.is_bytes else str(message)

    def packed(self, message: int) -> bytes:
        """The bytes of a message, the least first."""
        return message.to_bytes(self.size, "little")

    def number(self, text: str) -> int:
        """The message from its text."""
        data = self.unpacked(text)
        if len(data) != self.size:
            raise ValueError
        return int.from_bytes(data, "little")

    def unpacked(self, text: str) -> bytes:
        """The bytes of a message from its text."""
        return bytes.fromhex(text) if self.is_bytes else self.packed(int(text))
