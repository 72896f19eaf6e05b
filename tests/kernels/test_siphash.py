"""SipHash of rows of words, against the published vectors and a slow version in Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.kernels.siphash import siphash

#: Hashes of the first 0, 8, 16, … bytes of 00 01 02 …, under the key 00 01 … 0f, from the authors' reference program.
PUBLISHED = {0: 0x726FDB47DD0E0E31, 8: 0x93F5F5799A932462}


def _slow(message: bytes, key: bytes) -> int:
    mask = 2**64 - 1

    def turned(word: int, places: int) -> int:
        return (word << places | word >> (64 - places)) & mask

    def rounds(state: list[int], times: int) -> None:
        for _ in range(times):
            a, b, c, d = state
            a = (a + b) & mask
            b = turned(b, 13) ^ a
            a = turned(a, 32)
            c = (c + d) & mask
            d = turned(d, 16) ^ c
            a = (a + d) & mask
            d = turned(d, 21) ^ a
            c = (c + b) & mask
            b = turned(b, 17) ^ c
            c = turned(c, 32)
            state[:] = a, b, c, d

    first, second = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    state = [first ^ 0x736F6D6570736575, second ^ 0x646F72616E646F6D, first ^ 0x6C7967656E657261]
    state.append(second ^ 0x7465646279746573)
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) & 255])
    for place in range(0, len(padded), 8):
        word = int.from_bytes(padded[place : place + 8], "little")
        state[3] ^= word
        rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _hashes(messages: np.ndarray, key: bytes) -> list[int]:
    out = np.empty(len(messages), np.uint64)
    siphash(messages, np.frombuffer(key, np.uint64), out)
    return [int(word) for word in out]


def test_the_slow_version_has_the_example_of_the_paper() -> None:
    assert _slow(bytes(range(15)), bytes(range(16))) == 0xA129CA6149BE45E5


@pytest.mark.parametrize("length", PUBLISHED)
def test_the_kernel_has_the_published_hashes(length: int) -> None:
    words = np.frombuffer(bytes(range(length)), np.uint64).reshape(1, -1)
    assert _hashes(words, bytes(range(16))) == [PUBLISHED[length]]


@pytest.mark.parametrize("width", [1, 2, 5, 40])
def test_the_kernel_is_the_slow_version_for_any_words(width: int) -> None:
    generator = np.random.default_rng(width)
    words = generator.integers(0, 2**64, (50, width), np.uint64, endpoint=False)
    key = generator.bytes(16)
    assert _hashes(words, key) == [_slow(row.tobytes(), key) for row in words]
