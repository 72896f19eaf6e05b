"""A public pool of seeds for local hashing: reports can be counted, and none need be kept.

Seed number i has the words a and b that stand at 2i and 2i + 1 of the stream ``Entropy(POOL_KEY)``: everybody has the
same pool, and a smaller pool is the beginning of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.engines import memory
from bruit.entropy import Entropy
from bruit.estimation.tally import Counts
from bruit.kernels import hash_family
from bruit.oracles.local_hashing.lines import Words, lines_of

#: The number from which the pool is made: public, and the same for everybody, permanently.
POOL_KEY = 1_717_986_918


@dataclass(frozen=True)
class SeedPool:
    """A pool of public hash functions into g buckets, and counts of reports by seed and bucket.

    >>> [hex(word) for word in SeedPool(1, 4).seeds[:, 0]]
    ['0xc34f475079f75395', '0x4f4ac845b4dd832f']
    """

    size: int
    g: int

    @cached_property
    def seeds(self) -> Words:
        """The words a and b of every seed, in two rows."""
        return np.ascontiguousarray(Entropy(POOL_KEY).words(2 * self.size).reshape(-1, 2).T)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: int) -> tuple[int, int]:
        return int(self.seeds[0, number]), int(self.seeds[1, number])

    def count(self, seed: NDArray[Any], bucket: NDArray[Any]) -> tuple[Counts, int]:
        """Reports by seed and bucket, and how many were refused."""
        from bruit.kernels import local_hashing as kernel

        cells = np.zeros((self.size, self.g), np.int64)
        refused = kernel.count_pool(seed, bucket, cells)
        return cells.reshape(-1), refused

    def support(self, counts: Counts, words: Words) -> Counts:
        """How many reports support each value: one hash per value and seed that anybody picked."""
        from bruit.kernels import local_hashing as kernel

        cells = counts.reshape(self.size, self.g)

        def support(_: int, block: slice) -> Counts:
            counts_of_block = np.zeros(words.size, np.int64)
            kernel.pool_support(self.seeds[:, block], cells[block], words, counts_of_block)
            return counts_of_block

        total: Counts = np.sum(memory.each_block(self.size, support), axis=0)
        return total

    def lines(self, counts: Counts) -> tuple[Words, Counts]:
        """The reports as lines, and how often each was made."""
        cells = np.flatnonzero(counts)
        seed, bucket = np.divmod(cells, self.g)
        a, b = self.seeds[:, seed]
        return lines_of(a, b, bucket, self.g), counts[cells]

    def buckets(self, words: Words) -> Counts:
        """The bucket of every value (rows) under every seed (columns)."""
        a, b = self.seeds
        return hash_family.bucket(a, b, words[:, None], self.g)

    def simulate(self, truthful: Counts, others: int, words: Words, generator: np.random.Generator) -> Counts:
        """Counts of reports of `truthful` people per value who report their own bucket, and others who report any."""
        cells = self.size * self.g
        drawn = generator.multinomial(others, np.full(cells, 1 / cells))

        def picks(many: int) -> tuple[Counts, Counts]:
            """How many people pick each seed: drawn by person or by seed, whichever is less work."""
            if many > self.size:
                return np.arange(self.size), generator.multinomial(many, np.full(self.size, 1 / self.size))
            return np.unique(generator.integers(self.size, size=many), return_counts=True)

        for word, many in zip(words, truthful.tolist(), strict=True):
            seed, times = picks(many)
            a, b = self.seeds[:, seed]
            drawn[seed * self.g + hash_family.bucket(a, b, word, self.g)] += times
        return drawn
