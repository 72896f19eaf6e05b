"""Numbers as whole multiples of a step between declared bounds, so that sums are sums of integers.

The step is a power of two unless declared, so that its multiples are exact in floating point. Bounds that are not
multiples are moved outwards to the next one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.domains.domain import Codes, Missing
from bruit.errors import LimitError, ParameterError, ParameterTypeError

#: The policies for missing values that a sum can follow.
POLICIES: tuple[Missing, ...] = ("refuse", "drop")


@dataclass(frozen=True)
class Steps:
    """The multiples low..high of a step; codes 0..width are how many steps a number is above the lowest.

    Examples
    --------
    >>> cents = Steps.between((0, 1), most=1000, step=0.01)
    >>> cents.low, cents.high, cents.encode([0.25, 7.0]).tolist()
    (0, 100, [25, 100])
    """

    low: int
    high: int
    step: float
    missing: Missing = "refuse"

    @classmethod
    def between(cls, bounds: Any, *, most: int, step: float | None = None, missing: Missing = "refuse") -> Steps:
        """The steps between two bounds: of this size, or the finest power of two of which there are at most `most`."""
        _checks.one_of(POLICIES, missing=missing)
        low, high = _checked_bounds(bounds)
        if step is None:
            step = math.ldexp(1.0, math.ceil(math.log2((high - low) / most)))
        unit = Fraction(_checks.positive(step=step))
        first, last = _near(Fraction(low) / unit, math.floor), _near(Fraction(high) / unit, math.ceil)
        if last - first >= _checks.K_LIMITS[1]:
            raise LimitError(f"There must be fewer than {_checks.K_LIMITS[1]:,} steps between the bounds.")
        return cls(first, max(last, first + 1), float(step), missing)

    @property
    def width(self) -> int:
        """How many steps there are between the bounds."""
        return self.high - self.low

    @cached_property
    def _grid(self) -> Grid:
        return Grid(self.low * self.step, self.high * self.step, cells=self.width + 1, missing=self.missing)

    def encode(self, values: Any) -> Codes:
        """How many steps each number is above the lowest; numbers outside the bounds count as the nearest bound."""
        return self._grid.encode(values, clip=True)

    def value(self, steps: Any) -> Any:
        """The number that is so many steps above the lowest."""
        return (self.low + np.asarray(steps, np.float64)) * self.step


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    if bounds is None:
        raise ParameterError(
            "bounds must be declared, as in bounds=(0, 100): reading them from the data would publish the smallest and "
            "the largest record without noise. Take what the numbers can be; those outside count as the nearest bound."
        )
    pair = isinstance(bounds, Sequence | np.ndarray) and not isinstance(bounds, str | bytes) and len(bounds) == 2
    if not pair:
        raise ParameterTypeError("bounds must be a pair of numbers, as in bounds=(0, 100).")
    low, high = _checks.finite(low=bounds[0]), _checks.finite(high=bounds[1])
    if not low < high or not math.isfinite(high - low):
        raise ParameterError(f"bounds must be increasing, got {low:g} and {high:g}.")
    return low, high


def _near(exact: Fraction, rounding: Any) -> int:
    """A whole number that is meant (1/0.01 is a hundred), or else the next one outwards."""
    nearest = round(exact)
    return nearest if abs(exact - nearest) <= Fraction(1, 10**9) * max(1, abs(nearest)) else int(rounding(exact))
