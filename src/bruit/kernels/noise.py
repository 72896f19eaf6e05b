"""Integer noise: discrete Laplace, discrete Gaussian and staircase, from random words by comparisons of integers only.

Every kernel draws into `out` from `start` on and reads `words` in order. If the words end in the middle of a draw, it
stops: it returns how many draws are done and how many words those have used. The caller keeps the words that are left,
puts new ones behind them and calls again, so that the outcome does not depend on how many words came at a time.

Reading beyond the end is harmless: it gives the last word again, and the draw that did so is thrown away.

The methods are those of Canonne, Kamath and Steinke (2020); ``releases/noise.proof.md`` has the arguments.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]
Noise = NDArray[np.int64]

#: Noise beyond this is cut to it.
MOST = 1 << 62
#: Gaussian proposals beyond this number of scales are refused; they would be kept with probability below e⁻⁷⁰⁰⁰.
MOST_SCALES = 127

# The greatest multiple of 15! in 64 bits, and its share for each k!: a word below `_ALL` is below `_ALL`/k! with
# probability exactly 1/k!.
_FACTORS = 15
_ALL = np.uint64(2**64 // math.factorial(_FACTORS) * math.factorial(_FACTORS))
_SHARES = tuple(np.uint64(int(_ALL) // math.factorial(k)) for k in range(_FACTORS + 1))
_HALF = _SHARES[2]
_SIXTH = _SHARES[3]


@compiled
def laplace(words: Words, start: int, out: Noise, top: int, bottom: int) -> tuple[int, int]:
    """Discrete Laplace noise of scale top/bottom: P(x) ∝ exp(−|x|·bottom/top)."""
    used = 0
    mask = _mask(top)
    for i in range(start, out.size):
        value, at = _laplace(words, used, top, bottom, mask)
        if at > words.size:
            return i, used
        out[i] = value
        used = at
    return out.size, used


@compiled
def gaussian(words: Words, start: int, out: Noise, scale: int, centre: tuple[int, int]) -> tuple[int, int]:
    """Discrete Gaussian noise, P(x) ∝ exp(−x²/2σ²), with σ² = scale·c and c = centre[0]/centre[1].

    Discrete Laplace proposals of this scale; y is kept with probability exp(−(|y| − c)²/2σ²).
    """
    used = 0
    mask = _mask(scale)
    for i in range(start, out.size):
        at = used
        kept = False
        value = 0
        while not kept and at <= words.size:
            value, at = _laplace(words, at, scale, 1, mask)
            kept, at = _gaussian_keeps(words, at, abs(value), scale, centre)
        if at > words.size:
            return i, used
        out[i] = value
        used = at
    return out.size, used


@compiled
def staircase(
    words: Words, start: int, out: Noise, sizes: tuple[int, int], chances: tuple[np.uint64, np.uint64]
) -> tuple[int, int]:
    """Staircase noise: level 0 is |x| < inner, and each `step` further is one level more; `sizes` are both.

    `chances` are the probability of the levels above 0 in all, and that of each relative to the one before, in units
    of 2⁻⁶⁴.
    """
    step, inner = sizes
    outside, decay = chances
    used = 0
    centre = 2 * inner - 1
    for i in range(start, out.size):
        if _word(words, used) >= outside:
            place, at = _below(words, used + 1, centre, _mask(centre))
            value = place - inner + 1
        else:
            value = inner
            at = used + 1
            while at <= words.size and _word(words, at) < decay:
                value = min(value + step, MOST)
                at += 1
            place, at = _below(words, at + 1, 2 * step, _mask(2 * step))
            value = min(value + (place >> 1), MOST)
            if place & 1:
                value = -value
        if at > words.size:
            return i, used
        out[i] = value
        used = at
    return out.size, used


@compiled
def _laplace(words: Words, at: int, top: int, bottom: int, mask: np.uint64) -> tuple[int, int]:
    """One draw, and the place of the next word."""
    while at <= words.size:
        word = _word(words, at)
        at += 1
        # The highest bit is the sign: numbers below `top` have fewer.
        unit = _low_bits(word, mask)
        if unit >= top:
            continue
        if unit > 0:
            kept, at = _exp_fraction(words, at, unit, top, mask)
            if not kept:
                continue
        more, at = _exp_one(words, at)
        value = unit // bottom
        if more:
            # unit + top·(number of successes), divided by bottom; bit by bit, so that nothing overflows.
            rest = unit - value * bottom
            whole = top // bottom
            part = top - whole * bottom
            while more and at <= words.size:
                value += whole
                rest += part
                if rest >= bottom:
                    rest -= bottom
                    value += 1
                value = min(value, MOST)
                more, at = _exp_one(words, at)
        if word >> np.uint64(63):
            if value == 0:  # 0 would otherwise come twice, as +0 and as −0
                continue
            value = -value
        return value, at
    return 0, at


@compiled
def _gaussian_keeps(words: Words, at: int, size: int, scale: int, centre: tuple[int, int]) -> tuple[bool, int]:
    """True with probability exp(−(size − c)²/(2·scale·c)), where c = centre[0]/centre[1].

    With d = |size − c| the exponent is k²·x·y, where x = d/(k·scale) and y = d/(2ck); k is the least whole number that
    brings both to at most 1.
    """
    top, bottom = centre
    if size > MOST_SCALES * scale:
        return False, at
    gap = abs(size * bottom - top)
    first = scale * bottom
    second = 2 * top
    least = min(first, second)
    parts = (gap + least - 1) // least
    first *= parts
    second *= parts
    first_mask = _mask(first)
    second_mask = _mask(second)
    for _ in range(parts * parts):
        power = 1
        while at <= words.size:
            draw, at = _below(words, at, first, first_mask)
            if draw >= gap:
                break
            draw, at = _below(words, at, second, second_mask)
            if draw >= gap:
                break
            power += 1
            chosen, at = _one_in(words, at, power)
            if not chosen:
                break
        if power % 2 == 0:
            return False, at
    return True, at


@compiled
def _exp_fraction(words: Words, at: int, top: int, bottom: int, mask: np.uint64) -> tuple[bool, int]:
    """True with probability exp(−top/bottom), for 0 ≤ top ≤ bottom.

    Of the chances x/1, x/2, x/3, … in turn, the first that fails is an odd one with probability exp(−x).
    """
    power = 1
    while at <= words.size:
        draw, at = _below(words, at, bottom, mask)
        if draw >= top:
            break
        power += 1
        chosen, at = _one_in(words, at, power)
        if not chosen:
            break
    return power % 2 == 1, at


@compiled
def _exp_one(words: Words, at: int) -> tuple[bool, int]:
    """True with probability exp(−1): as `_exp_fraction`, whose chances are now 1/1, 1/2, 1/3, …

    All of the first k succeed with probability 1/k!, so that one word decides about the first fifteen of them.
    """
    word = _word(words, at)
    at += 1
    while word >= _ALL and at <= words.size:
        word = _word(words, at)
        at += 1
    if word >= _HALF:
        return False, at
    if word >= _SIXTH:
        return True, at
    power = 4
    while power <= _FACTORS and word < _SHARES[power]:
        power += 1
    if power > _FACTORS:
        chosen = True
        while chosen and at <= words.size:
            chosen, at = _one_in(words, at, power)
            power += chosen
    return power % 2 == 1, at


@compiled
def _one_in(words: Words, at: int, number: int) -> tuple[bool, int]:
    """True with probability 1/number."""
    if number == 2:
        return _word(words, at) >> np.uint64(63) == 1, at + 1
    share = np.uint64(0xFFFFFFFFFFFFFFFF) // np.uint64(number)
    last = share * np.uint64(number)
    while at <= words.size:
        word = _word(words, at)
        at += 1
        if word < last:
            return word < share, at
    return False, at


@compiled
def _below(words: Words, at: int, bound: int, mask: np.uint64) -> tuple[int, int]:
    """A whole number of 0..bound−1, each equally likely: the low bits of words, until they are below the bound."""
    while at <= words.size:
        draw = _low_bits(_word(words, at), mask)
        at += 1
        if draw < bound:
            return draw, at
    return 0, at


@compiled
def _word(words: Words, at: int) -> Any:
    return words[min(at, words.size - 1)]


@compiled
def _low_bits(word: np.uint64, mask: np.uint64) -> Any:
    return np.int64(word & mask)


@compiled
def _mask(bound: int) -> Any:
    """As many low bits as bound − 1 has."""
    mask = np.uint64(0)
    while np.int64(mask) < bound - 1:
        mask = (mask << np.uint64(1)) | np.uint64(1)
    return mask
