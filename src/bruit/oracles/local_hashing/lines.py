"""Reports of local hashing prepared for counting and for the likelihood: lines, in the words of the kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.engines import memory
from bruit.errors import LimitError
from bruit.estimation.consistency import Floats, Step
from bruit.estimation.tally import Counts

Words = NDArray[np.uint64]

#: The most hashes that a search for the most likely frequencies evaluates: some seconds on one core.
EM_LIMIT = 10**10
#: A search that cannot have this number of steps within the limit is not begun.
EM_LEAST_STEPS = 100


def lines_of(a: Words, b: Words, bucket: NDArray[Any], g: int) -> Words:
    """Lines of the reports whose bucket exists: rows of slopes, starts and widths."""
    from bruit.kernels import local_hashing as kernel

    lines = np.empty((3, bucket.size), np.uint64)
    kept = kernel.prepare(a, b, bucket, np.uint64(g), lines)
    return lines[:, :kept]


def count_support(a: Words, b: Words, bucket: NDArray[Any], g: int, words: Words) -> tuple[Counts, int]:
    """How many reports support each of the values with these words, and how many reports have no such bucket."""
    from bruit.kernels import local_hashing as kernel

    counts, refused = np.zeros(words.size, np.int64), 0
    lines = np.empty((3, min(bucket.size, memory.BLOCK) + kernel.TOGETHER), np.uint64)
    for _, block in memory.blocks(bucket.size):
        kept = kernel.prepare(a[block], b[block], bucket[block], np.uint64(g), lines)
        refused += bucket[block].size - kept
        whole = -(-kept // kernel.TOGETHER) * kernel.TOGETHER
        lines[2, kept:whole] = 0
        kernel.support(lines[:, :whole], words, counts)
    return counts, refused


def likelihood_step(lines: Words, times: Counts, words: Words, low: Fraction, gap: Fraction) -> Step:
    """One step of EM on the true likelihood, where line i was reported times[i] times.

    Given its seed, a report has probability low + gap·(share of the people whose value it supports).
    """
    from bruit.kernels import local_hashing as kernel

    left = _steps_allowed(times.size * words.size)
    law = np.array([float(low), float(gap)])
    n = int(times.sum())

    def step(frequency: Floats) -> tuple[Floats, float]:
        nonlocal left
        left -= 1
        if left < 0:
            raise LimitError(
                f"The most likely frequencies were not found within {EM_LIMIT:,} hashes: "
                'use consistent("norm-sub"), or --consistent norm-sub.'
            )
        shares = np.round(frequency / kernel.UNIT).astype(np.int64)
        parts = memory.each_block(
            times.size, lambda _, block: kernel.expect(lines[:, block], times[block], words, shares, law)
        )
        likelihood, weight, votes = (sum(part) for part in zip(*parts, strict=True))
        better = frequency * (law[0] * weight + law[1] * votes)
        return better / better.sum(), float(likelihood) / n

    return step


def _steps_allowed(cost: int) -> int:
    """How many steps of this number of hashes are within the limit."""
    steps = EM_LIMIT // max(cost, 1)
    if steps < EM_LEAST_STEPS:
        raise LimitError(
            f"The most likely frequencies take people × values = {cost:,} hashes a step, and at most "
            f'{EM_LIMIT // EM_LEAST_STEPS:,} are allowed: use consistent("norm-sub"), or --consistent norm-sub.'
        )
    return steps
