"""Which quantile to draw first, and how much of ε to spend on it: the least mean square error in ranks.

The error of a drawn quantile moves the targets of all that are drawn in the two parts it makes, in proportion to how
near they are to it. So a draw is worth the more, the more quantiles follow. A record pays for the draws on its way
down, and the sum along every way must be ε. For a given order the best split has a closed form, and the best order is
found by trying every quantile as the first of every span: see ``quantiles.proof.md``.

A plan depends on the quantiles and on the neighbours alone, never on data, and any plan is private: what is decided
here in floats bears on accuracy only.

Rejected: equal shares for all depths, the middle quantile first, as published (7 % more error for nine deciles, 12 %
under replace).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

#: In spans of more quantiles than this the middle one is first; in the others the best one.
MOST_TRIED = 32
#: Portions of ε are multiples of this, so that fractions stay short.
UNIT = Fraction(1, 4096)
#: A cost must be lower by this to count as lower: equals are then the same on every machine.
_LOWER = 1 - 1e-9


@dataclass(frozen=True)
class Branch:
    """One quantile of a span, and what follows in the parts below and above it.

    Parameters
    ----------
    place
        Which of the quantiles is drawn, in increasing order.
    portion
        Which part of what is left of ε it gets; all if nothing follows.
    left, right
        The quantiles below and above, or None.
    """

    place: int
    portion: Fraction
    left: Branch | None = None
    right: Branch | None = None


@lru_cache(maxsize=64)
def best(quantiles: tuple[Fraction, ...], *, public: bool) -> Branch:
    """The plan for quantiles in increasing order; `public` says that the number of records is, as under replace.

    >>> first = best((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), public=False)
    >>> first.place, float(first.portion)
    (1, 0.47607421875)
    """
    return _Planner(quantiles, public).branch(0, len(quantiles) + 1)


class _Planner:
    """The costs of spans. The span low..high has the quantiles strictly between these two ends."""

    def __init__(self, quantiles: Sequence[Fraction], public: bool) -> None:
        self.ends = [0.0, *map(float, quantiles), 1.0]
        self.public = public
        self.sums = [0.0, *itertools.accumulate(self.ends)]
        self.squares = [0.0, *itertools.accumulate(end * end for end in self.ends)]
        self.known: dict[tuple[int, int], tuple[float, int, float]] = {}

    def branch(self, low: int, high: int) -> Branch:
        _, first, portion = self.span(low, high)
        parts = [self.branch(*part) if part[1] - part[0] > 1 else None for part in ((low, first), (first, high))]
        if parts == [None, None]:
            return Branch(first - 1, Fraction(1))
        units = min(max(round(portion / UNIT), 1), UNIT.denominator - 1)
        return Branch(first - 1, units * UNIT, *parts)

    def span(self, low: int, high: int) -> tuple[float, int, float]:
        """The least cost, the quantile to draw first, and its portion of ε."""
        if high - low == 1:
            return 0.0, low, 0.0
        if (low, high) not in self.known:
            middle = (low + high) // 2
            tried = [middle] if high - low - 1 > MOST_TRIED else range(low + 1, high)
            costs = [(*self.cost(low, first, high), first) for first in tried]
            least = costs[0]
            for cost in costs[1:]:
                least = cost if cost[0] < least[0] * _LOWER else least
            self.known[low, high] = least[0], least[2], least[1]
        return self.known[low, high]

    def cost(self, low: int, first: int, high: int) -> tuple[float, float]:
        """The sum of square errors for ε = 1 when `first` is drawn first, and its portion.

        min over x of A/x² + B/(1−x)² is (∛A + ∛B)³, at x = ∛A/(∛A + ∛B).
        """
        own = (self.weight(low, first, high) * self.scale(low, first, high) ** 2) ** (1 / 3)
        rest = (self.span(low, first)[0] + self.span(first, high)[0]) ** (1 / 3)
        return (own + rest) ** 3, own / (own + rest)

    def scale(self, low: int, first: int, high: int) -> float:
        """The mean distance in ranks from the target for ε = 1: the inverse of the rate at which weights fall."""
        share = (self.ends[first] - self.ends[low]) / (self.ends[high] - self.ends[low])
        if self.public and (low, high) == (0, len(self.ends) - 1):
            return 2.0
        return 2 * max(share, 1 - share) * (2 if self.public else 1)

    def weight(self, low: int, first: int, high: int) -> float:
        """How much a square error of `first` adds to those of all quantiles of the span, its own included."""
        return 1.0 + self._moved(low, low + 1, first, first) + self._moved(high, first + 1, high, first)

    def _moved(self, still: int, start: int, stop: int, first: int) -> float:
        """Σ ((u − still)/(first − still))² over the quantiles start..stop−1."""
        if start >= stop:
            return 0.0
        centre, many = self.ends[still], stop - start
        total = self.sums[stop] - self.sums[start]
        squares = self.squares[stop] - self.squares[start]
        moved = squares - 2 * centre * total + many * centre * centre
        return max(moved, 0.0) / (self.ends[first] - centre) ** 2
