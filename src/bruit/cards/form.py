"""The form of a column of reports: how a message, which is a whole number, becomes text and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bruit.laws import Hash, Subset

#: The kinds of columns: unsigned whole numbers, or rows of bytes.
Dtype: TypeAlias = Literal["uint8", "uint16", "uint32", "uint64", "bytes"]

_INTEGERS: tuple[tuple[Dtype, int], ...] = (("uint8", 1), ("uint16", 2), ("uint32", 4), ("uint64", 8))


@dataclass(frozen=True)
class Form:
    """How a column keeps messages.

    Parameters
    ----------
    dtype
        An unsigned whole number, or ``"bytes"``.
    size
        How many bytes a message has.

    Examples
    --------
    >>> Form("uint16", 2).text(300), Form("bytes", 2).text(300)
    ('300', '2c01')
    >>> Form("uint16", 2).packed(300).hex()
    '2c01'
    """

    dtype: Dtype
    size: int

    @classmethod
    def integers(cls, messages: int) -> Form:
        """The smallest unsigned whole numbers that hold 0..messages−1."""
        return next(cls(dtype, size) for dtype, size in _INTEGERS if messages <= 1 << 8 * size)

    @classmethod
    def of(cls, law: Any) -> Form:
        """What reports drawn by a law look like."""
        if isinstance(law.sets, Subset):
            return cls("bytes", (law.sets.values + 7) // 8)
        if isinstance(law.sets, Hash):
            return cls("bytes", law.sets.seed_bits // 8 + cls.integers(law.sets.buckets).size)
        return cls.integers(law.messages)

    @classmethod
    def widest(cls, forms: list[Form]) -> Form:
        """What holds messages of any of these forms: whole numbers if all are, else rows of the widest."""
        size = max(form.size for form in forms)
        if any(form.dtype == "bytes" for form in forms):
            return cls("bytes", size)
        return cls.integers(1 << 8 * size)

    def text(self, message: int) -> str:
        """Decimal digits of a whole number; two hexadecimal digits for each byte of a row."""
        return self.packed(message).hex() if self.dtype == "bytes" else str(message)

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
        return bytes.fromhex(text) if self.dtype == "bytes" else self.packed(int(text))
