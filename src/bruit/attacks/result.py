"""What an attack achieved: how often it was right, how sure that is, and what guessing blindly would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import DataError
from bruit.estimation.intervals import clopper_pearson
from bruit.tables import Column, Table, Tabular, counted, interval_of, percent


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackResult(Tabular):
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
    Attack on 100 people
    attack                   right    95 % interval  blindly
    value from one report  30.00 %  21.24 … 39.98 %  25.00 %
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

    def table(self) -> Table:
        """How often it was right: columns attack, rate, lower, upper, baseline, expected."""
        return results_table(f"Attack on {counted(self.n, 'person')}", [self])


def results_table(title: str, results: Sequence[AttackResult]) -> Table:
    """Attacks at one level, below each other."""
    columns = [
        Column("attack", [result.description for result in results], kind="text", write=str),
        Column("rate", [result.accuracy for result in results], "right", write=_rate),
        Column("interval", [result.interval for result in results], interval_of(results[0].level), write=_rates,
               parts=("lower", "upper")),
        Column("baseline", [result.baseline for result in results], "blindly", write=_rate),
        Column("expected", [result.expected for result in results], write=_rate,
               hidden=all(result.expected is None for result in results)),
    ]  # fmt: skip
    return Table(title, columns, about={"n": results[0].n, "level": results[0].level}, noun="attack")


def _rate(share: float | None) -> str:
    return "" if share is None else percent(share, 2)


def _rates(shares: tuple[float, float]) -> str:
    return f"{100 * shares[0]:.2f} … {percent(shares[1], 2)}"


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
