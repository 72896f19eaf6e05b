"""Parities: sets of messages for values that are texts of bits, too many to list.

A message is a random id and a bucket. The id names a linear function of the bits of a value, and the bucket is what the
function gives. So the collector can add up the support of all values at once, without a list. The id also says
whether the function looks at all bits or at the first of them only: common beginnings are searched for first, and then
what follows them. ``parity.proof.md`` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bruit import _checks
from bruit.errors import LimitError
from bruit.laws.sets import Sets
from bruit.laws.words import Words

#: The lowest bits of an id say which bits of a value count, the others name the function.
GROUP_BITS = 10
ID_BITS = 64
FUNCTION_BITS = ID_BITS - GROUP_BITS
#: The most bits of a value: JavaScript has no greater whole numbers.
MOST_BITS = 53


@dataclass(frozen=True)
class Parity(Sets):
    """A message is a random id and a bucket, and supports the values that the function of the id puts into the bucket.

    The function is ``parities`` rows of bits: row i is bits i, i + 1, … of the word ``id >> 10``. Bit i of the bucket
    is the parity of the bits that row i and the value have in common.

    Parameters
    ----------
    parities
        How many bits a bucket has.
    bits
        How many bits a value has.
    prefix
        How many of them, the highest, count for the first group of people.
    share
        How many of 1,024 people are in that group: those with ``id & 1023`` below it.

    Examples
    --------
    >>> sets = Parity(parities=3, bits=12, prefix=6, share=430)
    >>> message = sets.member(0b101_000_000_001, 0, iter([0b1111 << 10 | 1023]))
    >>> message >> 64, sets.supports(message, 0b101_000_000_001), sets.supports(message, 0b101_000_000_000)
    (7, True, False)
    """

    kind = "parity"
    parities: int
    bits: int
    prefix: int
    share: int

    def __post_init__(self) -> None:
        _checks.integer(low=1, parities=self.parities)
        _checks.integer(low=1, high=min(FUNCTION_BITS + 1 - self.parities, MOST_BITS), bits=self.bits)
        _checks.integer(low=1, high=self.bits, prefix=self.prefix)
        _checks.integer(low=0, high=1 << GROUP_BITS, share=self.share)

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return 1 << self.parities

    @property
    def members(self) -> int:
        """The value's own bucket."""
        return 1

    @property
    def outcomes(self) -> int:
        """All buckets."""
        return self.buckets

    @property
    def capacity(self) -> int:
        """One per text of bits."""
        return 1 << self.bits

    @property
    def seed_bits(self) -> int:
        """How many binary digits of a message are its id; the bucket stands above them."""
        return ID_BITS

    def member(self, code: int, number: int, words: Words) -> int:
        """An id, and the bucket of the value by it."""
        own = next(words)
        return own | self.bucket(code, own) << ID_BITS

    def other(self, number: int, words: Words) -> int:
        """An id, and the bucket of this number."""
        return next(words) | number << ID_BITS

    def bucket(self, code: int, own: int) -> int:
        """The bucket of a value by the function of an id."""
        is_first = own % (1 << GROUP_BITS) < self.share
        length = self.prefix if is_first else self.bits
        value, word = code >> self.bits - length, own >> GROUP_BITS
        return sum(((word >> row & value).bit_count() & 1) << row for row in range(self.parities))

    def messages(self) -> Iterable[int]:
        """None: there are too many."""
        raise LimitError("There are 2⁶⁴ ids: too many to list their messages.")

    def supports(self, message: int, code: int) -> bool:
        """Whether the value is in the bucket."""
        return self.bucket(code, message % (1 << ID_BITS)) == message >> ID_BITS
