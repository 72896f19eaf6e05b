"""What a histogram with Laplace noise says of its tail: possible histograms, with how likely they make the noise.

Few people have many rows, and many cells of a profile of rows per person are empty. Read as they are, or made to fall
by isotonic regression, noisy cells turn noise in the tail into people with hundreds of rows. Here a cell counts as
occupied only if noise alone would seldom be as large in any cell, or if a tail runs through it: a law of survival
exp(−a·((x/x₀)^c − 1)/c) from some cell on, a power of x for c = 0 and an exponential for c = 1. Tails are tried from
every occupied cell on, with all slopes and bends of a grid, and weighed by the likelihood of the noise that remains.

Rejected: cells above a threshold alone (many cells with few people each are together most of the rows of a heavy
tail); the likeliest tail alone (the bend is seldom clear, and tails that fit as well lead elsewhere); a tail that is
quadratic in log x (it cuts off too late for Poisson or uniform laws).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Readings", "read_profile", "visible"]

Floats = NDArray[np.float64]

#: Slopes and bends of the tails that are tried.
_SLOPES = np.geomspace(0.3, 8.0, 30)
_BENDS = np.array([0.0, 0.12, 0.25, 0.4, 0.6, 1.0, 2.0])
#: What a tail must gain in likelihood, as a multiple of what a cell must; what a cell before the tail must.
_TAIL_PRICE, _BODY_PRICE = 1.5, 4.0
#: From how many of its first cells the height of a tail is taken; how much less likely than the best a reading may be.
_HEIGHTS, _WIDTH = 6, 6.0
#: How many readings are kept.
_KEPT = 1000


class Readings(NamedTuple):
    """Possible profiles, one in each row, and their weights, which add up to 1."""

    profiles: Floats
    weights: Floats


def visible(cells: int) -> float:
    """How many times the scale of the noise a cell must hold to be seen: noise reaches it in one profile of 400.

    >>> round(visible(36), 1)
    8.9
    """
    return math.log(200 * cells)


def read_profile(noisy: Floats, scale: float, ends: Sequence[int]) -> Readings:
    """The profiles that a noisy one may be, for cells that end at such sizes.

    >>> noisy = np.array([4.0, -9.0, 1003.0, 13.0, -20.0, 31.0])
    >>> profiles, weights = read_profile(noisy, 10.0, [1, 2, 3, 4, 5, 6])
    >>> (weights @ profiles).round().tolist()
    [0.0, 0.0, 1003.0, 0.0, 0.0, 0.0]
    """
    seen = visible(noisy.size)
    occupied = np.flatnonzero(noisy > seen * scale)
    last = int(occupied[-1]) if occupied.size else -1
    body = np.where(noisy > _BODY_PRICE * scale, noisy, 0.0)
    surprise = np.abs(noisy) / scale
    price = np.concatenate([[0.0], np.cumsum(np.minimum(surprise, _BODY_PRICE))])
    profiles = [np.where(np.arange(noisy.size) <= last, body, 0.0)[None, :]]
    prices = [np.array([price[last + 1] + np.minimum(surprise[last + 1 :], seen).sum()])]
    for start in range(min(last + 2, noisy.size - 1)):
        tail, rest = _tails(noisy[start:], scale, _starts(ends)[start:], seen)
        profiles.append(np.concatenate([np.broadcast_to(body[:start], (tail.shape[0], start)), tail], axis=1))
        prices.append(price[start] + rest + _TAIL_PRICE * seen)
    return _weighed(np.concatenate(profiles), np.concatenate(prices))


def _weighed(profiles: Floats, prices: Floats) -> Readings:
    """The readings that are nearly as likely as the best."""
    order = np.argsort(prices, kind="stable")[:_KEPT]
    order = order[prices[order] <= prices[order[0]] + _WIDTH]
    weights = np.exp(prices[order[0]] - prices[order])
    return Readings(profiles[order], weights / weights.sum())


def _starts(ends: Sequence[int]) -> Floats:
    """Where the cells begin on the scale of log x."""
    return np.log(np.array([0, *ends[:-1]]) + 0.5)


def _tails(noisy: Floats, scale: float, starts: Floats, seen: float) -> tuple[Floats, Floats]:
    """Tails from the first cell on, cells that stand out of them as they are; and how unlikely each makes the noise."""
    shares = _shares(starts)
    heights = np.divide(
        noisy[:_HEIGHTS],
        shares[:, :_HEIGHTS],
        out=np.zeros_like(shares[:, :_HEIGHTS]),
        where=shares[:, :_HEIGHTS] > 1e-3,
    )
    law, place = np.nonzero(heights > 0)
    tails = heights[law, place, None] * shares[law]
    surprise = np.abs(noisy - tails) / scale
    price = np.minimum(surprise, seen).sum(axis=1)
    near = price <= price.min(initial=math.inf) + _WIDTH
    return np.where(surprise[near] > seen, np.maximum(noisy, 0.0), tails[near]), price[near]


def _shares(starts: Floats) -> Floats:
    """The share of each cell in a tail, one law in each row."""
    slope, bend = (grid.ravel()[:, None] for grid in np.meshgrid(_SLOPES, _BENDS, indexing="ij"))
    distance = starts - starts[0]
    # (e^{cu} − 1)/c, which is u for c = 0; beyond e^60 nobody survives.
    bent = np.expm1(np.minimum(bend * distance, 60.0)) / np.where(bend > 0, bend, 1.0)
    survival = np.exp(-slope * np.where(bend > 0, bent, distance))
    return np.asarray(survival - np.append(survival[:, 1:], np.zeros((survival.shape[0], 1)), axis=1), np.float64)
