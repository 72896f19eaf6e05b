"""All numbers between two bounds, with what happens to those that are missing or beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from bruit.domains.grid import Grid, checked_bounds
from bruit.domains.outside import check_outside
from bruit.domains.policy import Policy
from bruit.errors import ParameterError


@dataclass(frozen=True, repr=False)
class Interval(Policy, Sequence[float]):
    """All numbers from `low` to `high`: what a pair of bounds stands for, with policies.

    It is the pair of its ends. A `Grid` has points between them; an interval has none, so that a statistic rounds as
    finely as it can.

    Parameters
    ----------
    low, high
        The declared bounds. They are public: never read them from the data.
    missing
        ``"refuse"`` (an error) or ``"drop"`` (the record is left out).
    outside
        ``"clamp"`` (the usual in releases: the nearest bound) or ``"refuse"`` (an error, before anything is booked: a
        view of the data that no noise covers).

    Examples
    --------
    >>> wages = Interval(0, 5000, missing="drop")
    >>> low, high = wages
    >>> high, wages
    (5000.0, Interval(low=0.0, high=5000.0, missing='drop', outside=None))
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing == "category":
            raise ParameterError('A number has no category for gaps: declare missing="refuse" or missing="drop".')
        check_outside(self.outside, Grid.policies)
        low, high = checked_bounds((self.low, self.high))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def words(cls, name: str) -> tuple[str, ...]:
        """The words that ``missing`` or ``outside`` can be: a number has no category for gaps, nor another value."""
        if name == "outside":
            return tuple(sorted(Grid.policies, key=lambda word: word != "clamp"))  # the usual one first
        return tuple(word for word in super().words(name) if word != "category")

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[float]: ...
    def __getitem__(self, place: int | slice) -> float | Sequence[float]:
        return (self.low, self.high)[place]

    def __len__(self) -> int:
        return 2


def declared_bounds(bounds: Any) -> tuple[float, float] | Interval:
    """Bounds as a statistic keeps them: a pair of floats, or an interval where policies are declared.

    Of a grid, the ends and the policies count.

    >>> declared_bounds(Grid(0, 10)), declared_bounds(Grid(0, 10, missing="drop"))
    ((0.0, 10.0), Interval(low=0.0, high=10.0, missing='drop', outside=None))
    """
    if isinstance(bounds, Grid | Interval):
        interval = Interval(bounds.low, bounds.high, missing=bounds.missing, outside=bounds.outside)
        return interval if interval.policy != Policy() else (interval.low, interval.high)
    return checked_bounds(bounds)
