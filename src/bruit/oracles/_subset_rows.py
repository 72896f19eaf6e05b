"""Drawing uniform subsets of a fixed size as rows of bits: independent bits first, then repairs.

Whatever bits a row starts from, the law of the subset is the same; where to start decides the speed only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import Codes
from bruit.engines import memory
from bruit.entropy import Entropy

Words = NDArray[np.uint64]

#: How many random words for bits, and random places for repairs, are drawn at a time: they stay in the cache.
BUFFER_WORDS = 1 << 15
BUFFER_PLACES = 1 << 14
#: No row starts from probabilities finer than this many binary digits.
MOST_PLANES = 8
#: What a random word costs in the time of one draw of a place, as measured.
WORD_COST = 0.5


class Start(NamedTuple):
    """What rows start from: independent bits, each set with probability ones/2^planes."""

    ones: int
    planes: int

    @classmethod
    def choose(cls, omega: int, k: int) -> Start:
        """The quickest for subsets of ω of k values: from no bit (0/1) or all (1/1) to 255/256.

        >>> Start.choose(34, 128), Start.choose(1, 128)
        (Start(ones=1, planes=2), Start(ones=0, planes=0))
        """
        starts = [cls(0, 0), cls(1, 0)]
        for planes in range(1, MOST_PLANES + 1):
            below = (omega << planes) // k
            starts += [cls(ones, planes) for ones in (below, below + 1) if ones % 2]
        return min(starts, key=lambda start: start.cost(omega, k))

    def cost(self, omega: int, k: int) -> float:
        """About how many draws of places a row takes, its random words included."""
        share = self.ones / (1 << self.planes)
        spread = math.sqrt(k * share * (1 - share))
        lacking = omega - k * share
        # The mean of what a nearly normal number of members lacks, and of what it has too much.
        few, many = _mean_excess(lacking, spread), _mean_excess(-lacking, spread)
        return few * k / (k - omega) + many * k / omega + WORD_COST * self.planes * ((k + 63) // 64)

    def rows(self, entropy: Entropy, size: int, words: int) -> Words:
        """So many rows of so many words, to use before the next call; bits beyond the last value are not clean yet."""
        if not self.planes:
            return np.full((size, words), -self.ones % 2**64, np.uint64)
        planes = memory.block_words(entropy, self.planes * size * words).reshape(self.planes, size, words)
        rows: Words = planes[0]
        # From the last binary digit of the probability to the first: 1 halves the way to one, 0 the way to zero.
        for place in range(1, self.planes):
            join = np.bitwise_or if self.ones >> place & 1 else np.bitwise_and
            join(rows, planes[place], out=rows)
        return rows


@dataclass(frozen=True)
class SubsetRows:
    """Rows of k bits, ω of them set."""

    omega: int
    k: int

    @cached_property
    def start(self) -> Start:
        """What rows start from."""
        return Start.choose(self.omega, self.k)

    def draw(self, codes: Codes, included: NDArray[np.bool_], entropy: Entropy, out: NDArray[np.uint8]) -> None:
        """Write a uniform subset for each code: of those with it where it is to be included, else of those without."""
        words = (self.k + 63) // 64
        step = max(1, BUFFER_WORDS // (words * max(1, self.start.planes)))
        places = _Places(entropy)
        for first in range(0, codes.size, step):
            part = slice(first, first + step)
            rows = self.start.rows(entropy, codes[part].size, words)
            self._repair(rows, codes[part], included[part], places)
            out[part] = rows.astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]

    def _repair(self, rows: Words, codes: Codes, included: NDArray[np.bool_], places: _Places) -> None:
        from bruit.kernels import subset_selection as kernel

        row = 0
        while True:
            row, places.used = kernel.repair(rows, codes, included, self.omega, self.k, places.draws, row, places.used)
            if row == codes.size:
                return
            places.refill()


class _Places:
    """Random numbers that name places, and how many of them were used."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self.draws = np.empty(BUFFER_PLACES, np.uint32)
        self.used = self.draws.size

    def refill(self) -> None:
        self._entropy.fill(self.draws)
        self.used = 0


def _mean_excess(mean: float, spread: float) -> float:
    """The mean of the positive part of a normal variable."""
    if spread == 0:
        return max(mean, 0.0)
    z = mean / spread
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return spread * density + mean * math.erfc(-z / math.sqrt(2)) / 2
