"""The fewest people for whom something holds, which then holds for more of them as well."""

from __future__ import annotations

from collections.abc import Callable

from bruit.errors import LimitError
from bruit.tables import counted


def fewest_people(holds: Callable[[int], bool], least: int = 1, most: int | None = None) -> int:
    """The fewest people, from the least on, for whom this holds; an error if more than the most would be needed.

    >>> fewest_people(lambda n: n * n >= 1000), fewest_people(lambda n: True, least=7)
    (32, 7)
    """
    if holds(least):
        return least
    low, high = least, least + 1
    while not holds(high):
        if high == most:
            raise LimitError(f"That needs more than {counted(most, 'person')}.")
        low, high = high, 2 * high - least
        high = high if most is None else min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
