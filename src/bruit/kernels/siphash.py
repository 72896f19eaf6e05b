"""SipHash-2-4 of rows of 64-bit words: a keyed hash that nobody without the key can foresee.

Aumasson and Bernstein (2012), SipHash: a fast short-input PRF. A message here is a whole number of words, so that its
last block holds nothing but its length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]

_START = (
    np.uint64(0x736F6D6570736575),
    np.uint64(0x646F72616E646F6D),
    np.uint64(0x6C7967656E657261),
    np.uint64(0x7465646279746573),
)
_END = np.uint64(0xFF)
_ROUNDS = 2
_LAST_ROUNDS = 4


@compiled
def siphash(messages: Words, key: Words, out: Words) -> None:
    """The hash of every row of `messages` under a key of two words, into `out`."""
    rows, width = messages.shape
    length = np.uint64((8 * width) & 255) << np.uint64(56)
    for i in range(rows):
        a, b, c, d = key[0] ^ _START[0], key[1] ^ _START[1], key[0] ^ _START[2], key[1] ^ _START[3]
        for j in range(width + 1):
            word = messages[i, j] if j < width else length
            d ^= word
            for _ in range(_ROUNDS):
                a, b, c, d = _round(a, b, c, d)
            a ^= word
        c ^= _END
        for _ in range(_LAST_ROUNDS):
            a, b, c, d = _round(a, b, c, d)
        out[i] = a ^ b ^ c ^ d


@compiled
def _round(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    a += b
    b = _turned(b, 13) ^ a
    a = _turned(a, 32)
    c += d
    d = _turned(d, 16) ^ c
    a += d
    d = _turned(d, 21) ^ a
    c += b
    b = _turned(b, 17) ^ c
    c = _turned(c, 32)
    return a, b, c, d


@compiled
def _turned(word: np.uint64, places: int) -> np.uint64:
    return (word << np.uint64(places)) | (word >> np.uint64(64 - places))
