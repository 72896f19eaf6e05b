"""Several noisy tables of the same people, made to agree: total, main effects and interactions.

A table over the attributes S is a sum of one part for every subset A of S: the margin of A, centred along each of its
attributes, spread evenly over the others. Parts of different subsets are orthogonal. So where the noise of every cell
of a table has one variance, least squares over all tables at once is one pass: the part of A is the mean of what the
tables with A say about it, each weighted by the inverse of its variance there, and a table is the sum of its parts.
That is unbiased, and cells may be negative.

What follows is biased and has names that say so: an interaction is shrunk towards independence by as much as noise
alone explains of it, and a table is scaled to its margins.

Nothing here knows where the noise comes from: tables of reports and of noisy counts are treated alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: The attributes of a table, one per axis.
Names: TypeAlias = tuple[str, ...]

#: Scaling to margins stops after this number of rounds, or when no margin is further off than this.
ROUNDS, TOLERANCE = 200, 1e-10


def centred(table: Floats, axes: Iterable[int] | None = None) -> Floats:
    """A table less its mean along each of these axes, or of all.

    >>> centred(np.array([[0.5, 0.1], [0.1, 0.3]])).round(3).tolist()
    [[0.15, -0.15], [-0.15, 0.15]]
    """
    for axis in range(table.ndim) if axes is None else axes:
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def effects(table: Floats, names: Names) -> dict[Names, Floats]:
    """The centred margin of every subset of a table's attributes; the total is that of no attribute."""
    parts = {}
    for size in range(len(names) + 1):
        for kept in itertools.combinations(range(len(names)), size):
            others = tuple(axis for axis in range(len(names)) if axis not in kept)
            parts[tuple(names[axis] for axis in kept)] = centred(np.asarray(table.sum(axis=others)))
    return parts


def spread(parts: Mapping[Names, Floats], names: Names, shape: tuple[int, ...]) -> Floats:
    """The table that has these centred margins: the inverse of `effects`."""
    table = np.zeros(shape)
    for kept, part in parts.items():
        own = tuple(size if name in kept else 1 for name, size in zip(names, shape, strict=True))
        table += part.reshape(own) * (part.size / table.size)
    return table


def least_squares(
    tables: Mapping[Names, Floats], variances: Mapping[Names, float], total: float | None = 1.0
) -> dict[Names, Floats]:
    """The tables nearest to these that agree in every margin that they share.

    Parameters
    ----------
    tables
        A table for each tuple of names, with an axis per name; tables name their shared attributes in one order.
    variances
        The variance of the noise of a cell, of each table.
    total
        The sum of every table, if it is known: 1 for frequencies. None estimates it.

    Examples
    --------
    >>> first, second = np.array([[0.4, 0.2], [0.2, 0.2]]), np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> agreed = least_squares({("a", "b"): first, ("a", "c"): second}, {("a", "b"): 1.0, ("a", "c"): 1.0})
    >>> [table.sum(axis=1).round(3).tolist() for table in agreed.values()]
    [[0.65, 0.35], [0.65, 0.35]]
    """
    sums: dict[Names, Floats] = {}
    weights: dict[Names, float] = {}
    for names, table in tables.items():
        for kept, part in effects(np.asarray(table, float), names).items():
            # A cell of the margin is a sum of size/part.size cells, so it has that many times the variance.
            weight = part.size / (variances[names] * table.size)
            sums[kept] = sums.get(kept, np.zeros_like(part)) + weight * part
            weights[kept] = weights.get(kept, 0.0) + weight
    means = {kept: part / weights[kept] for kept, part in sums.items()}
    if total is not None:
        means[()] = np.asarray(float(total))
    return {
        names: spread({kept: means[kept] for kept in subsets(names)}, names, np.shape(table))
        for names, table in tables.items()
    }


def cell_variance(noise: Mapping[Names, float], sizes: Mapping[str, int], names: Names) -> float:
    """The variance of every cell of a table that is the sum of its parts.

    The part of A, spread over the table of S, adds σ²·Π_A (1 − 1/n)·Π_{S∖A} 1/n².

    Parameters
    ----------
    noise
        For every subset of the names, the variance σ² of the white noise of its margin, before it is centred.
    sizes
        How many values each attribute has.
    names
        The attributes of the table.
    """
    return math.fsum(noise[kept] * cell_share(kept, sizes, names) for kept in subsets(names))


def cell_share(kept: Names, sizes: Mapping[str, int], names: Names) -> float:
    """How much of the noise of a part's margin is in each cell of the table: Π_A (1 − 1/n)·Π_{S∖A} 1/n²."""
    return math.prod(1 - 1 / sizes[name] if name in kept else sizes[name] ** -2.0 for name in names)


def margin_weights(tables: Mapping[Names, int], variances: Mapping[Names, float], name: str) -> dict[Names, float]:
    """The weights of the tables in the least-squares margin of one attribute, of sum one.

    Parameters
    ----------
    tables
        How many cells each table has.
    variances
        The variance of the noise of a cell, of each table.
    name
        The attribute.
    """
    raw = {names: 1 / (variances[names] * cells) for names, cells in tables.items() if name in names}
    return {names: weight / sum(raw.values()) for names, weight in raw.items()}


def dependence(table: Floats, first: Floats, second: Floats) -> Floats:
    """The interaction of a table of two attributes, beyond that of independent ones with these margins."""
    return centred(table) - np.outer(centred(first), centred(second))


def towards_independence(table: Floats, first: Floats, second: Floats, variance: float) -> Floats:
    """Independent attributes with these margins, and of the dependence as much as noise alone does not explain.

    The factor is that of James and Stein, never negative, for an interaction of three degrees of freedom or more; with
    fewer, nothing is shrunk, because no factor helps there. Biased towards independence.
    """
    beyond = dependence(table, first, second)
    freedom = (first.size - 1) * (second.size - 1)
    size = float((beyond**2).sum())
    kept = max(0.0, 1 - (freedom - 2) * variance / size) if freedom > 2 and size > 0 else 1.0
    return np.asarray(np.outer(first, second) + kept * beyond)


def scaled_to(table: Floats, first: Floats, second: Floats) -> Floats:
    """A table of two attributes without negative cells whose margins are these, by scaling each in turn; biased.

    Where the zeros of a table leave no such table within reach, what is missing is added as independence would have it.

    >>> scaled_to(np.array([[0.4, -0.1], [0.1, 0.6]]), np.array([0.5, 0.5]), np.array([0.5, 0.5])).round(3).tolist()
    [[0.499, 0.001], [0.001, 0.499]]
    """
    held = np.maximum(table, 0.0)
    for _ in range(ROUNDS):
        off = float(np.abs(held.sum(axis=1) - first).max())
        held = held * _factor(first, held.sum(axis=1))[:, None]
        off = max(off, float(np.abs(held.sum(axis=0) - second).max()))
        held = held * _factor(second, held.sum(axis=0))
        if off < TOLERANCE:
            break
    held = held * np.minimum(_factor(first, held.sum(axis=1)), 1.0)[:, None]
    held = held * np.minimum(_factor(second, held.sum(axis=0)), 1.0)
    rows, columns = np.maximum(first - held.sum(axis=1), 0.0), np.maximum(second - held.sum(axis=0), 0.0)
    lacking = float(columns.sum())
    return held + np.outer(rows, columns) / lacking if lacking > 0 else held


def _factor(wanted: Floats, present: Floats) -> Floats:
    """What scales these sums to the wanted ones; a sum of nothing stays nothing."""
    return np.divide(wanted, present, out=np.zeros_like(present), where=present > 0)


def subsets(names: Names) -> list[Names]:
    """Every selection of these attributes, in their order; the empty one first."""
    return [kept for size in range(len(names) + 1) for kept in itertools.combinations(names, size)]


def interaction_freedom(shape: tuple[int, ...]) -> int:
    """How many numbers the interaction of all attributes of a table has."""
    return math.prod(size - 1 for size in shape)
