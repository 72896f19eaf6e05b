"""What an attack achieved: how often it was right, how sure that is, and what guessing blindly would give."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import DataError
from bruit.estimation.intervals import clopper_pearson


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackResult:
    """How often an attack was right.

    Parameters
    ----------
    hits
        How many of the attacked people it was right about.
    n
        How many people were attacked.
    baseline
        How often somebody would be right who has not seen the reports.
    description
        What was attacked and how, in words; it shows no data.
    level
        How often an interval made in this way holds the true rate of the attack.
    expected
        How often theory says that it is right, where that is known.

    Examples
    --------
    >>> found = AttackResult(hits=30, n=100, baseline=0.25, description="value from one report")
    >>> found
    AttackResult(value from one report: right for 30.00 % of 100, 95 % interval 21.24 % to 39.98 %, baseline 25.00 %)
    >>> found.leaks
    False
    """

    hits: int
    n: int
    baseline: float
    description: str
    level: float = 0.95
    expected: float | None = None

    def __post_init__(self) -> None:
        _checks.probability(level=self.level)
        if self.n < 1:
            raise DataError("There is nobody to attack: the table must have at least one person.")

    @property
    def accuracy(self) -> float:
        """The share of people whom it was right about."""
        return self.hits / self.n

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The exact (Clopper–Pearson) interval of the rate at which the attack is right."""
        low, high = clopper_pearson(self.hits, self.n, self.level)
        return float(low), float(high)

    @property
    def leaks(self) -> bool:
        """Whether it is right more often than without the reports, beyond what chance explains."""
        return self.interval[0] > self.baseline

    def __repr__(self) -> str:
        low, high = self.interval
        rate = f"right for {self.accuracy:.2%} of {self.n:,}, {self.level:.0%} interval {low:.2%} to {high:.2%}"
        expected = "" if self.expected is None else f", expected {self.expected:.2%}"
        text = f"{self.description}: {rate}, baseline {self.baseline:.2%}{expected}"
        return f"AttackResult({text.replace('%', ' %')})"


def scored(
    right: NDArray[np.bool_], *, baseline: float, description: str, level: float, expected: float | None = None
) -> AttackResult:
    """The result of guesses of which these were right."""
    return AttackResult(
        hits=int(np.count_nonzero(right)),
        n=right.size,
        baseline=baseline,
        description=description,
        level=level,
        expected=expected,
    )


def rows(columns: Any, chosen: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Some people's entries of every column."""
    return {name: column[chosen] for name, column in columns.items()}
