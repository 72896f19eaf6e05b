"""Sums over all placements of several quantiles, in logarithms and in time that grows with the records alone.

The ranks 0..n are the states. A quantile goes from rank r' to r > r' with weight exp(−rate·|r − r' − gap|). This kernel
is exponential on both sides, so its sums are running sums: one over all r' ≤ r − gap, and one over a window of fixed
length behind r, which is put together from the ends of blocks of that length, without subtracting.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Floats = NDArray[np.float64]


@compiled
def log_add(first: float, second: float) -> float:
    """ln(e^first + e^second)."""
    if first < second:
        first, second = second, first
    if second == -math.inf:
        return first
    return first + math.log1p(math.exp(second - first))


@compiled
def forward(log_widths: Floats, gaps: Floats, rate: float, out: Floats) -> None:
    """Fill out[j, r]: the weight of all placements of quantiles 0..j with the last one at rank r, the next one beyond.

    log_widths[r] is the logarithm of how many places have rank r; gaps[j] is the wanted number of records between
    quantiles j − 1 and j. Quantiles at one rank share it: k of them have widthᵏ/k! placements.
    """
    count, ranks = out.shape
    entries = np.empty((count, ranks))
    for r in range(ranks):
        entries[0, r] = -rate * abs(r - gaps[0])
    for j in range(count):
        if j:
            _enter(out[j - 1], gaps[j], rate, entries[j])
        for r in range(ranks):
            total = -math.inf
            together = 0.0  # what the quantiles that share the rank add, but for the entry of the first
            for k in range(1, j + 2):
                together += log_widths[r] - math.log(k)
                total = log_add(total, entries[j - k + 1, r] + together)
                together -= rate * gaps[j - k + 1]
            out[j, r] = total


@compiled
def _enter(before: Floats, gap: float, rate: float, out: Floats) -> None:
    """out[r] = ln Σ over r' < r of exp(before[r'] − rate·|r − r' − gap|)."""
    ranks = before.size
    far = max(math.ceil(gap), 1)  # r' ≤ r − far are beyond the gap
    window = far - 1
    behind = -math.inf
    for r in range(ranks):
        if r >= far:
            behind = log_add(behind - rate, before[r - far])
        out[r] = behind - rate * (far - gap)
    if window == 0:
        return
    suffix = np.empty(ranks)
    prefix = np.empty(ranks)
    for r in range(ranks):
        inside = r % window
        prefix[r] = before[r] if inside == 0 else log_add(prefix[r - 1], before[r] - rate * inside)
    for r in range(ranks - 1, -1, -1):
        last = r == ranks - 1 or (r + 1) % window == 0
        suffix[r] = before[r] if last else log_add(before[r], suffix[r + 1] - rate)
    for r in range(1, ranks):
        start, end = max(r - window, 0), r - 1
        inside = start % window
        near = prefix[end]
        if inside:
            near = log_add(suffix[start], near - rate * (window - inside))
        out[r] = log_add(out[r], near - rate * (start - r + gap))
