"""The hash family of local hashing: a public scrambling of codes, then a random line modulo 2⁶⁴.

The hash of code v under the seed (a, b) is the high 32 bits of (a·π(v) + b) mod 2⁶⁴, two random 64-bit words a and b:
Dietzfelbinger's multiply-shift, strongly universal on 32-bit keys. So the hashes of any two codes are independent and
uniform, exactly. Of g buckets, hash h is in number ⌊h·g / 2³²⌋.

π is a fixed public one-to-one map of 32-bit words. Without it, consecutive codes lie on a line, and the hashes of three
of them depend on each other so much that it shows in sums over values. π, the line and the buckets are part of the
format of a report: they never change.

Rejected: xxhash and its like (no proof of any independence, and its output changed between versions); tabulation
hashing (independent in threes, but a seed has kilobytes).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How many hashes there are, before they are put into buckets.
HASHES = 2**32

# The first 32 bits of the fractions of √7, √2, √3 and √5; the factors made odd, so that each step has an inverse.
_SHIFT = 0xA54FF53A
_ROUNDS = ((16, 0x6A09E667), (15, 0xBB67AE85), (17, 0x3C6EF373))
_LAST = 16


def scramble(codes: Any) -> NDArray[np.uint32]:
    """π: a different 32-bit word for each code, the same for everybody.

    >>> [hex(word) for word in scramble([0, 1, 2])]
    ['0xa943587d', '0xda007423', '0x3ae60ab9']
    """
    word = np.array(codes, np.uint32, ndmin=1)
    word += np.uint32(_SHIFT)
    for shift, factor in _ROUNDS:
        word ^= word >> np.uint32(shift)
        word *= np.uint32(factor)
    word ^= word >> np.uint32(_LAST)
    return word


def scrambled(code: int) -> int:
    """π of one code in plain whole numbers, for one person at a time.

    >>> hex(scrambled(2))
    '0x3ae60ab9'
    """
    word = (code + _SHIFT) % HASHES
    for shift, factor in _ROUNDS:
        word = (word ^ word >> shift) * factor % HASHES
    return word ^ word >> _LAST


def bucket_sizes(g: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The sizes of buckets in hashes, and how many buckets have each: two sizes, where g does not divide 2³².

    >>> bucket_sizes(3)
    ((1431655766, 1), (1431655765, 2))
    """
    size, longer = divmod(HASHES, g)
    return (size + 1, longer), (size, g - longer)


@lru_cache(maxsize=256)
def agreement(g: int, hashes: int = 2) -> Fraction:
    """The probability that all of some independent uniform hashes are in one bucket: g^(1 − hashes), or a hair more.

    >>> agreement(4)
    Fraction(1, 4)
    """
    return sum((many * Fraction(size, HASHES) ** hashes for size, many in bucket_sizes(g)), Fraction(0))


def bucket(a: Any, b: Any, word: Any, g: int) -> NDArray[np.int64]:
    """The bucket of the value with this word under the seed (a, b); the kernels have their own, compiled, version."""
    half = np.uint64(32)
    return np.asarray(((((a * word + b) >> half) * np.uint64(g)) >> half).astype(np.int64))
