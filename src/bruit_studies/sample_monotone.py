"""Whether a statistic is sample-monotone (definition 3.2.0.1 of the internship report), over all small tables.

f is sample-monotone if values that lie farther from f(x), on the same side, take at least as many changed records to
reach. Then the inverse sensitivity mechanism is nearly as good as any for this very table. The lengths here are true
ones, by going through all tables; values that no table has are left out, since their length is infinite for every x.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from bruit import _checks

Table: TypeAlias = tuple[int, ...]
Statistic: TypeAlias = Callable[[Table], Fraction | int]


class Break(NamedTuple):
    """A table, and two values on one side of its own of which the farther is reached by changing fewer records."""

    table: Table
    near: Fraction
    far: Fraction
    near_length: int
    far_length: int


def lengths(statistic: Statistic, table: Table, values: Sequence[int]) -> dict[Fraction, int]:
    """How many records of a table must change for the statistic to take each value, the values in rising order.

    >>> lengths(max, (0, 0, 1), [0, 1, 2])
    {Fraction(0, 1): 1, Fraction(1, 1): 0, Fraction(2, 1): 1}
    """
    least: dict[Fraction, int] = {}
    for other in itertools.product(values, repeat=len(table)):
        value = Fraction(statistic(other))
        changed = sum(a != b for a, b in zip(table, other, strict=True))
        least[value] = min(changed, least.get(value, changed))
    return dict(sorted(least.items()))


def first_break(statistic: Statistic, values: Sequence[int], n: int) -> Break | None:
    """The first table of n records, each one of `values`, on which a statistic is not sample-monotone; None if it is.

    The order of records must not matter to the statistic.

    >>> def median(table):
    ...     return sorted(table)[len(table) // 2]
    >>> first_break(median, range(4), 3) is None
    True
    >>> def mode(table):
    ...     return max(sorted(set(table)), key=table.count)
    >>> print(*first_break(mode, range(4), 4))  # for 0, 0, 1, 3 it takes two records to make it 2, and one to make it 3
    (0, 0, 1, 3) 2 3 2 1
    """
    _checks.integer(low=1, n=n)
    for table in itertools.combinations_with_replacement(values, n):
        own = Fraction(statistic(table))
        reach = lengths(statistic, table, values)
        above = [(value, length) for value, length in reach.items() if value >= own]
        below = [(value, length) for value, length in reversed(reach.items()) if value <= own]
        for side in (above, below):
            for (near, short), (far, long) in itertools.pairwise(side):
                if long < short:
                    return Break(table, near, far, short, long)
    return None
