"""Local hashing: the bucket of one's own value, and which values lie in a reported bucket.

The collector does not compute buckets. Bucket j holds the hashes from ⌈j·2³²/g⌉ up to ⌈(j+1)·2³²/g⌉, so value v lies in
it exactly when a·π(v) + b − first·2³² < width·2³², all modulo 2⁶⁴: one multiplication, one addition, one comparison.
A report prepared in this way is called a line: its slope a, its start b − first·2³², and its width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

#: How many lines are looked at together: each value's word and count are then read once for all of them.
TOGETHER = 4
#: Frequencies are added as whole numbers of this unit, because whole numbers may be added in any order.
UNIT = 2.0**-52

# The number of values whose words and counts stay in the nearest cache.
_TILE = 1024
_HALF = np.uint64(32)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def buckets(codes: NDArray[Any], words: Words, seeds: Words, g: np.uint64, own: NDArray[np.uint32]) -> None:
    """Write the bucket of each code under its own seed; `seeds` has the rows a and b."""
    many = np.uint64(g)
    a, b = seeds[0], seeds[1]
    for i in range(codes.size):
        own[i] = (((a[i] * words[codes[i]] + b[i]) >> _HALF) * many) >> _HALF


@compiled
def prepare(a: Words, b: Words, bucket: NDArray[Any], g: np.uint64, lines: Words) -> int:
    """Write the lines of reports, leaving out those whose bucket does not exist; return how many are left."""
    many = np.uint64(g)
    size = (_ONE << _HALF) // many
    over = (_ONE << _HALF) % many
    slope, start, width = lines[0], lines[1], lines[2]
    kept = 0
    for i in range(bucket.size):
        j = np.uint64(bucket[i])
        if j < many:
            # j·2³² = first·g + rest; rounding up needs one more where there is a rest.
            first = (j << _HALF) // many
            rest = (j << _HALF) - first * many
            last = first + size
            if rest + over > _ZERO:
                last += _ONE
            if rest + over > many:
                last += _ONE
            if rest > _ZERO:
                first += _ONE
            slope[kept] = a[i]
            start[kept] = b[i] - (first << _HALF)
            width[kept] = (last - first) << _HALF
            kept += 1
    return kept


@compiled
def support(lines: Words, words: Words, counts: Counts) -> None:
    """Add to `counts` how many lines support each value; lines of width 0 support nothing, and make up whole fours."""
    slope, start, width = lines[0], lines[1], lines[2]
    for low in range(0, words.size, _TILE):
        tile = words[low : low + _TILE]
        sums = counts[low : low + _TILE]
        for i in range(0, slope.size, TOGETHER):
            a0, s0, w0 = slope[i], start[i], width[i]
            a1, s1, w1 = slope[i + 1], start[i + 1], width[i + 1]
            a2, s2, w2 = slope[i + 2], start[i + 2], width[i + 2]
            a3, s3, w3 = slope[i + 3], start[i + 3], width[i + 3]
            for v in range(sums.size):
                word = tile[v]
                sums[v] += (
                    np.int64(a0 * word + s0 < w0)
                    + np.int64(a1 * word + s1 < w1)
                    + np.int64(a2 * word + s2 < w2)
                    + np.int64(a3 * word + s3 < w3)
                )


@compiled
def count_pool(seed: NDArray[np.uint32], bucket: NDArray[Any], cells: Counts) -> int:
    """Count reports by seed and bucket; return how many have a seed or a bucket that does not exist."""
    refused = 0
    for i in range(seed.size):
        if seed[i] < cells.shape[0] and bucket[i] < cells.shape[1]:
            cells[np.int64(seed[i]), np.int64(bucket[i])] += 1
        else:
            refused += 1
    return refused


@compiled
def pool_support(seeds: Words, cells: Counts, words: Words, counts: Counts) -> None:
    """Add to `counts` how many reports, counted by seed and bucket, support each value."""
    many = np.uint64(cells.shape[1])
    for i in range(cells.shape[0]):
        row = cells[i]
        if row.any():
            slope, start = seeds[0, i], seeds[1, i]
            for v in range(words.size):
                counts[v] += row[np.int64((((slope * words[v] + start) >> _HALF) * many) >> _HALF)]


@compiled
def expect(
    lines: Words, times: Counts, words: Words, shares: Counts, law: NDArray[np.float64]
) -> tuple[float, float, NDArray[np.float64]]:
    """One step of EM: the log-likelihood, the weight of all lines, and that of the lines that support each value.

    `shares` are the frequencies in units of `UNIT`, `times` says how often each line was reported. A line has
    probability law[0] + law[1]·(share of the values that it supports), and weighs its times divided by that.
    """
    slope, start, width = lines[0], lines[1], lines[2]
    votes = np.zeros(words.size)
    likelihood = 0.0
    weights = 0.0
    for i in range(times.size):
        a, s, w = slope[i], start[i], width[i]
        share = np.int64(0)
        for v in range(words.size):
            share += shares[v] if a * words[v] + s < w else np.int64(0)
        chance = law[0] + law[1] * (share * UNIT)
        weight = times[i] / chance
        likelihood += times[i] * np.log(chance)
        weights += weight
        for v in range(words.size):
            votes[v] += weight if a * words[v] + s < w else 0.0
    return likelihood, weights, votes
