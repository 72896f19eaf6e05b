"""Sets: which messages support a value, by rules that need no table.

A two-level law gives one weight to the messages in the set of the person's own value and a smaller one to all others.
A rule says which messages these are, and how a message is drawn once the law has decided for the value's set (`member`)
or for any message at all (`other`). A message is a whole number throughout: a row of bits is the number whose binary
digits they are, and the fields of a hashed report stand one above the other.

``sets.proof.md`` has the arguments.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Protocol

from bruit import _checks
from bruit.errors import LimitError, ParameterError
from bruit.kernels import hash_family
from bruit.laws.words import WORD_BITS, Words, uniform

#: The largest prime: more than any domain needs.
PRIME_LIMIT = 1 << 20


class Sets(ABC):
    """A rule that gives every value its set of messages, all of the same size."""

    #: The name of the rule on a card.
    kind: ClassVar[str]

    @property
    @abstractmethod
    def members(self) -> int:
        """How many outcomes of the law stand for the set of one value."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many outcomes the law has in all."""

    @property
    def alphabet(self) -> int:
        """How many messages there are; with hashing, to one function."""
        return self.outcomes

    @property
    def capacity(self) -> int:
        """How many values there is room for: the field `values`, unless a rule says otherwise."""
        return int(self.__dict__["values"])

    @abstractmethod
    def member(self, code: int, number: int, words: Words) -> int:
        """A message of the set of value `code`: that of this number, or by further words where there are too many."""

    def other(self, number: int, words: Words) -> int:
        """Any message: that of this number, or by further words."""
        return number

    def fresh(self, memo: int, words: Words) -> int:
        """Any message, all equally likely, in place of a memo."""
        return self.other(uniform(self.outcomes, words), words)

    def messages(self) -> Iterable[int]:
        """All messages, in the order in which a matrix has them."""
        return range(self.outcomes)

    @abstractmethod
    def supports(self, message: int, code: int) -> bool:
        """Whether the message is in the set of value `code`."""


@dataclass(frozen=True)
class Itself(Sets):
    """A value's only message is the value itself: randomised response.

    >>> [Itself(values=3).supports(message, 2) for message in range(3)]
    [False, False, True]
    """

    kind = "self"
    values: int

    def __post_init__(self) -> None:
        _checks.integer(low=2, values=self.values)

    @property
    def members(self) -> int:
        """One."""
        return 1

    @property
    def outcomes(self) -> int:
        """One per value."""
        return self.values

    def member(self, code: int, number: int, words: Words) -> int:
        """The value."""
        return code

    def supports(self, message: int, code: int) -> bool:
        """Whether the message is the value."""
        return message == code


@dataclass(frozen=True)
class Window(Sets):
    """Value x has the messages x..x+width−1: a window that slides over a grid.

    >>> window = Window(values=3, width=2)
    >>> window.outcomes, [window.member(2, number, iter(())) for number in range(2)]
    (4, [2, 3])
    """

    kind = "window"
    values: int
    width: int

    def __post_init__(self) -> None:
        _checks.integer(low=2, values=self.values)
        _checks.integer(low=1, width=self.width)

    @property
    def members(self) -> int:
        """The width."""
        return self.width

    @property
    def outcomes(self) -> int:
        """From the start of the first window to the end of the last."""
        return self.values - 1 + self.width

    def member(self, code: int, number: int, words: Words) -> int:
        """The message at this place of the window, counted from its first."""
        return code + number

    def supports(self, message: int, code: int) -> bool:
        """Whether the message is in the window."""
        return code <= message < code + self.width


@dataclass(frozen=True)
class Listed(Sets):
    """The messages of each value, listed: any sets of one size.

    Parameters
    ----------
    size
        How many messages there are.
    rows
        For each value the messages of its set, all as many, in the order in which `member` numbers them.

    Examples
    --------
    >>> sets = Listed(3, ((0, 1), (1, 2), (0, 2)))
    >>> sets.members, sets.member(2, 1, iter(())), sets.supports(1, 2)
    (2, 2, False)
    """

    kind = "listed"
    size: int
    rows: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _checks.integer(low=2, size=self.size)
        rows = self.rows
        if len(rows) < 2 or not 0 < len({len(row) for row in rows}) < 2 or not rows[0]:
            raise ParameterError("rows must be two sets or more, all with as many messages, one or more.")
        if any(len(set(row)) < len(row) or min(row) < 0 or max(row) >= self.size for row in rows):
            raise ParameterError(f"Every set must have different messages from 0 to {self.size - 1}.")

    @classmethod
    def of(cls, sets: Sets, values: int) -> Listed:
        """The same sets listed, of a rule that draws no words to choose a member."""
        if type(sets) is Listed:
            return sets
        numbers = range(sets.members)
        rows = tuple(tuple(sets.member(code, number, iter(())) for number in numbers) for code in range(values))
        return cls(sets.outcomes, rows)

    @property
    def members(self) -> int:
        """As many as each set has."""
        return len(self.rows[0])

    @property
    def outcomes(self) -> int:
        """All messages."""
        return self.size

    @property
    def capacity(self) -> int:
        """One per set."""
        return len(self.rows)

    def member(self, code: int, number: int, words: Words) -> int:
        """The message of this number in the list."""
        return self.rows[code][number]

    def supports(self, message: int, code: int) -> bool:
        """Whether the message is listed."""
        return message in self.rows[code]


@dataclass(frozen=True)
class Subset(Sets):
    """A message is a set of values, and supports its members: Σ 2^v over them.

    Parameters
    ----------
    values
        How many values there are.
    size
        How many values a message has; 0 where each value is in it or not by itself, as with `BitsLaw`.

    Examples
    --------
    >>> [bin(message) for message in Subset(values=3, size=2).messages()]
    ['0b11', '0b101', '0b110']
    """

    kind = "subset"
    values: int
    size: int = 0

    def __post_init__(self) -> None:
        _checks.integer(low=2, values=self.values)
        _checks.integer(low=0, high=self.values - 1, size=self.size)

    @property
    def members(self) -> int:
        """As many as a message has: of all subsets, so large a share has a given value."""
        return self.size

    @property
    def outcomes(self) -> int:
        """One per value: the first member, which `member` and `other` complete."""
        return self.values

    @property
    def alphabet(self) -> int:
        """All sets of the size, or of any."""
        return math.comb(self.values, self.size) if self.size else 1 << self.values

    def member(self, code: int, number: int, words: Words) -> int:
        """Any set with this value."""
        return self._complete(code, words)

    def other(self, number: int, words: Words) -> int:
        """Any set: one with a value that is as likely as any other."""
        return self._complete(number, words)

    def _complete(self, first: int, words: Words) -> int:
        """The set of `first` and size − 1 others, all such sets equally likely: draws without replacement by Floyd.

        The others are numbered without `first`, one bit each, and `first` is put among them at the end: nothing is left
        of the order in which they were drawn.
        """
        others = 0
        for last in range(self.values - self.size, self.values - 1):
            place = uniform(last + 1, words)
            others |= 1 << (last if others >> place & 1 else place)
        lower = others & ((1 << first) - 1)
        return (others - lower) << 1 | 1 << first | lower

    def messages(self) -> Iterable[int]:
        """All sets, in the order of their numbers."""
        if not self.size:
            return range(1 << self.values)
        return sorted(sum(1 << value for value in chosen) for chosen in combinations(range(self.values), self.size))

    def supports(self, message: int, code: int) -> bool:
        """Whether the value is a member."""
        return bool(message >> code & 1)


@dataclass(frozen=True)
class Hadamard(Sets):
    """Message j·rows + y is row y of block j; it supports the values of block j whose column has sign + in that row.

    Value x has column c = x mod (rows − 1) + 1 of block x // (rows − 1). The sign is + where y & c has an even number
    of ones, which is so in half of the rows.

    >>> sets = Hadamard(rows=4, blocks=1)
    >>> [sets.member(0, number, iter(())) for number in range(2)], sets.supports(1, 0)
    ([0, 2], False)
    """

    kind = "hadamard"
    rows: int
    blocks: int

    def __post_init__(self) -> None:
        if _checks.integer(low=2, rows=self.rows).bit_count() != 1:
            raise ParameterError(f"rows must be a power of two, got {self.rows}.")
        _checks.integer(low=1, blocks=self.blocks)

    @property
    def members(self) -> int:
        """Half of the rows of a block."""
        return self.rows // 2

    @property
    def outcomes(self) -> int:
        """All rows of all blocks."""
        return self.rows * self.blocks

    @property
    def capacity(self) -> int:
        """One per column, but for the first of each block, whose signs are all +."""
        return (self.rows - 1) * self.blocks

    def member(self, code: int, number: int, words: Words) -> int:
        """Row number `number` of the set: free bits around the column's lowest one, which evens the parity."""
        block, column = divmod(code, self.rows - 1)
        column += 1
        lowest = column & -column
        below = number & (lowest - 1)
        free = (number - below) << 1 | below
        return block * self.rows + (free | lowest * ((free & column).bit_count() % 2))

    def supports(self, message: int, code: int) -> bool:
        """Whether the row is in the value's block and its sign is +."""
        block, column = divmod(code, self.rows - 1)
        own, row = divmod(message, self.rows)
        return own == block and (row & (column + 1)).bit_count() % 2 == 0


@dataclass(frozen=True)
class Projective(Sets):
    """Values and messages are points of a projective space; message y supports value x where Σᵢ xᵢ·y_{t−1−i} = 0.

    A point has t coordinates modulo a prime, the highest nonzero one being 1: the digits, to the base of the prime, of
    a whole number with leading digit 1. Points are numbered in the order of these numbers.

    Parameters
    ----------
    prime
        The prime.
    dimension
        How many coordinates a point has, t.

    Examples
    --------
    >>> plane = Projective(prime=2, dimension=3)
    >>> [plane.member(0, number, iter(())) for number in range(plane.members)]
    [0, 1, 2]
    """

    kind = "projective"
    prime: int
    dimension: int

    def __post_init__(self) -> None:
        if not is_prime(_checks.integer(low=2, high=PRIME_LIMIT, prime=self.prime)):
            raise ParameterError(f"prime must be a prime, got {self.prime}.")
        _checks.integer(low=2, high=WORD_BITS, dimension=self.dimension)

    @property
    def members(self) -> int:
        """The points of a hyperplane."""
        return self._first(self.dimension - 1)

    @property
    def outcomes(self) -> int:
        """All points."""
        return self._first(self.dimension)

    @property
    def capacity(self) -> int:
        """One per point."""
        return self.outcomes

    def member(self, code: int, number: int, words: Words) -> int:
        """Point number `number` of the hyperplane: a point with a coordinate less, and one that the others decide."""
        value, point = self._point(code, self.dimension), self._point(number, self.dimension - 1)
        leading = max(place for place, digit in enumerate(value) if digit)
        level = self.dimension - 1 - leading
        point.insert(level, 0)
        point[level] = -self._product(value, point) % self.prime
        return self._number(point)

    def supports(self, message: int, code: int) -> bool:
        """Whether the message is orthogonal to the value."""
        value, point = self._point(code, self.dimension), self._point(message, self.dimension)
        return self._product(value, point) % self.prime == 0

    def _first(self, places: int) -> int:
        """How many points have their leading digit below this place: (q^m − 1)/(q − 1)."""
        return int((self.prime**places - 1) // (self.prime - 1))

    def _point(self, number: int, places: int) -> list[int]:
        """The digits of a point, the lowest first."""
        leading = 0
        while self._first(leading + 1) <= number:
            leading += 1
        digits = [(number - self._first(leading)) // self.prime**place % self.prime for place in range(leading)]
        return [*digits, 1] + [0] * (places - leading - 1)

    def _number(self, digits: Sequence[int]) -> int:
        """The number of a point with these digits: the inverse of `_point`."""
        leading = max(place for place, digit in enumerate(digits) if digit)
        below: int = sum(digit * self.prime**place for place, digit in enumerate(digits[:leading]))
        return self._first(leading) + below

    @staticmethod
    def _product(value: Sequence[int], point: Sequence[int]) -> int:
        """Σᵢ xᵢ·y_{t−1−i}."""
        return sum(x * y for x, y in zip(value, reversed(point), strict=True))


def is_prime(number: int) -> bool:
    """Whether a number up to `PRIME_LIMIT` is a prime."""
    return number > 1 and all(number % i for i in range(2, math.isqrt(number) + 1))


class Pool(Protocol):
    """Public hash functions, each as its words a and b."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> tuple[int, int]: ...


@dataclass(frozen=True)
class Hash(Sets):
    """A message is a hash function and a bucket, and supports the values that the function puts into the bucket.

    Without a pool the function is drawn as two words a and b, and the message is a + 2⁶⁴·b + 2¹²⁸·bucket. With a pool
    its number is drawn, and the message is number + 2³²·bucket. The family is that of ``bruit.kernels.hash_family``.

    Parameters
    ----------
    buckets
        How many buckets there are.
    pool
        The public functions, each as its words a and b; None where everybody draws their own.

    Examples
    --------
    >>> sets = Hash(buckets=4, pool=((3, 5),))
    >>> sets.bucket(7, 3, 5), sets.member(7, 0, iter([0])) >> 32
    (0, 0)
    """

    kind = "hash"
    buckets: int
    pool: Pool | None = None

    def __post_init__(self) -> None:
        _checks.integer(low=2, high=hash_family.HASHES, buckets=self.buckets)
        if self.pool is not None and not 1 <= len(self.pool) <= 2**32:
            raise ParameterError("A pool must have from 1 to 2³² functions.")

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
        """One per 32-bit word."""
        return hash_family.HASHES

    @property
    def seed_bits(self) -> int:
        """How many binary digits of a message say which function was drawn; the bucket stands above them."""
        return 128 if self.pool is None else 32

    def member(self, code: int, number: int, words: Words) -> int:
        """A function, and the bucket of the value by it."""
        seed = self._draw(words)
        return seed | self.bucket(code, *self.function(seed)) << self.seed_bits

    def other(self, number: int, words: Words) -> int:
        """A function, and the bucket of this number."""
        return self._draw(words) | number << self.seed_bits

    def fresh(self, memo: int, words: Words) -> int:
        """The function of the memo, and any bucket."""
        function: int = memo % 2**self.seed_bits
        return function | uniform(self.buckets, words) << self.seed_bits

    def _draw(self, words: Words) -> int:
        """The lower digits of a message: two words, or the number of a function."""
        if self.pool is None:
            return next(words) | next(words) << 64
        return uniform(len(self.pool), words)

    def function(self, seed: int) -> tuple[int, int]:
        """The words a and b of the function that the lower digits of a message name."""
        if self.pool is None:
            return seed % 2**64, seed >> 64
        return self.pool[seed]

    def bucket(self, code: int, a: int, b: int) -> int:
        """The bucket of a value: of the high 32 bits h of a·π(code) + b mod 2⁶⁴, ⌊h·buckets / 2³²⌋."""
        return ((a * hash_family.scrambled(code) + b) % 2**64 >> 32) * self.buckets >> 32

    def messages(self) -> Iterable[int]:
        """All functions of the pool with all buckets, function by function."""
        if self.pool is None:
            raise LimitError("There are 2¹²⁸ hash functions without a pool: too many to list their messages.")
        return (seed | bucket << 32 for seed in range(len(self.pool)) for bucket in range(self.buckets))

    def supports(self, message: int, code: int) -> bool:
        """Whether the value is in the bucket."""
        seed, bucket = message % (1 << self.seed_bits), message >> self.seed_bits
        return self.bucket(code, *self.function(seed)) == bucket
