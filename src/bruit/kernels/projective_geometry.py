"""Points and hyperplanes over a prime field: members of a hyperplane, and gathering the lines of a Fourier transform.

A point with t coordinates is canonical when its highest nonzero one is 1. Read as digits to base q it is then a whole
number, its code, with leading digit 1; the points with leading digit at place m have codes from q^m and numbers from
first(m) = (q^m − 1)/(q − 1) on. Point x and y are orthogonal when Σᵢ xᵢ·y_{t−1−i} = 0 mod q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled
from bruit.kernels.two_level import Weights, choose

# ⌊x/q⌋ = ⌊x·(⌊2⁴²/q⌋ + 1) / 2⁴²⌋ for x < 2²² and q ≤ 2²⁰.
_BITS = 42


class Points(NamedTuple):
    """The values of a domain as points.

    `vectors` holds each value's coordinates below its leading one, in reverse order, as digits of a whole number, and
    `levels` the place t − 1 − m. `powers` are q^m, `shifts` q^m − first(m) and `firsts` first(m), for m = 0..t−1; names
    with `per` are reciprocals.
    """

    q: int
    per_q: float
    magic: int
    powers: NDArray[np.int64]
    per_powers: NDArray[np.float64]
    shifts: NDArray[np.int64]
    firsts: NDArray[np.int64]
    vectors: NDArray[np.int32]
    levels: NDArray[np.uint8]


def points(q: int, firsts: NDArray[np.int64], size: int) -> Points:
    """The first `size` points as values; `firsts` has first(m) for m = 0..t."""
    powers = q ** np.arange(firsts.size - 1)
    vectors, levels = np.empty(size, np.int32), np.empty(size, np.uint8)
    _reverse(q, firsts, vectors, levels)
    shifts, magic = powers - firsts[:-1], (1 << _BITS) // q + 1
    return Points(q, 1 / q, magic, powers, 1 / powers, shifts, firsts[:-1], vectors, levels)


@compiled
def _reverse(q: int, firsts: NDArray[np.int64], vectors: NDArray[np.int32], levels: NDArray[np.uint8]) -> None:
    lead = 0
    for number in range(vectors.size):
        while firsts[lead + 1] <= number:
            lead += 1
        rest, turned = number - firsts[lead], 0
        for _ in range(lead):
            turned = turned * q + rest % q
            rest //= q
        vectors[number] = turned
        levels[number] = firsts.size - 2 - lead


@compiled
def _member(number: Any, value: Any, space: Points) -> Any:
    """Point number `number` of the hyperplane of a value.

    The coordinate at the value's level is decided by the others, which are any point with one coordinate less. Only
    coordinates above the level take part, so that the highest nonzero one stays what it was: 1.
    """
    lead: Any = 0
    for m in range(1, space.firsts.size - 1):
        lead += np.int64(space.firsts[m] <= number)
    code = number + space.shifts[lead]
    level = space.levels[value]
    power = space.powers[level]
    # Quotients are at least half a unit away from a whole number: the products cannot cross it.
    high = np.int64((np.float64(code) + 0.5) * space.per_powers[level])
    product: Any = 0
    left, right = high, np.int64(space.vectors[value])
    for _ in range(space.firsts.size - 1):
        next_left, next_right = (left * space.magic) >> _BITS, (right * space.magic) >> _BITS
        product += (left - next_left * space.q) * (right - next_right * space.q)
        left, right = np.int64(next_left), np.int64(next_right)
    product -= space.q * np.int64((np.float64(product) + 0.5) * space.per_q)
    decided = space.q - product if product else 0
    # A point with nothing above the level keeps its code: then `high` and the product are 0.
    return code + high * power * (space.q - 1) + decided * power - space.shifts[lead + np.int64(high > 0)]


@compiled
def members(codes: NDArray[Any], numbers: NDArray[np.int64], space: Points, out: NDArray[np.int64]) -> None:
    """Message number `numbers[i]` of the hyperplane of value `codes[i]`."""
    for i in range(codes.size):
        out[i] = _member(numbers[i], codes[i], space)


@compiled
def randomize(codes: NDArray[Any], words: NDArray[np.uint64], law: Weights, space: Points, out: NDArray[Any]) -> None:
    """Write the message that each word chooses for its code."""
    for i in range(codes.size):
        inside, number = choose(words[i], law)
        # The number of any outcome is no number of a member: member 0 stands in, and is not used.
        member = _member(number if inside else 0, codes[i], space)
        out[i] = member if inside else number


@compiled
def gather(spectrum: NDArray[np.complex128], q: int, firsts: NDArray[np.int64], out: NDArray[np.complex128]) -> None:
    """Write the conjugate of the spectrum at λ·X, X with its coordinates reversed, for each point X and λ = 0..⌊q/2⌋.

    `spectrum` is the half of a real Fourier transform over all vectors that is kept, in one row; digit 0 of a place,
    which runs fastest, is then at most ⌊q/2⌋. It is the highest coordinate of X, 0 or 1, times λ: always in that half.
    """
    half = q // 2 + 1
    size = firsts.size - 1  # how many coordinates X has
    digits, strides, place = np.zeros(size, np.int64), np.ones(size, np.int64), np.zeros(size, np.int64)
    for i in range(1, size):
        strides[i] = half if i == 1 else strides[i - 1] * q
    lead = 0
    for point in range(out.shape[0]):
        while firsts[lead + 1] <= point:
            lead += 1
        rest = point - firsts[lead]
        digits[:] = 0
        for j in range(lead):
            digits[size - 1 - j] = rest % q
            rest //= q
        digits[size - 1 - lead] = 1
        place[:] = 0
        at = 0
        for scale in range(half):
            out[point, scale] = np.conj(spectrum[at])
            for i in range(size):
                step = place[i] + digits[i]
                step -= q if step >= q else 0
                at += (step - place[i]) * strides[i]
                place[i] = step
