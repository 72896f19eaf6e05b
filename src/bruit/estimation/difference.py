"""Differences between estimates of different people: two groups, two waves, two surveys; never without uncertainty.

The two estimates must come from different people, whose reports are independent: then variances add. An interval takes
the distances of the two estimates to their own ends, squared and added (Newcombe), so that it is as accurate as theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from bruit import _checks
from bruit.errors import ParameterError
from bruit.estimation.intervals import Floats, normal_quantile
from bruit.estimation.support import TARGET_NOTES, IntervalMethod
from bruit.tables import Column, Table, Tabular, counted, decimals, digits, interval_of, label


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Tabular):
    """What the first estimate has more than the second, value by value, or in the mean of a number.

    Parameters
    ----------
    first, second
        Two estimates of the same attribute from different people, by any mechanisms and at any ε.
    names
        What the two are called.

    Examples
    --------
    >>> import bruit
    >>> oracle = bruit.oracle("GRR", epsilon=2.0, labels=["no", "yes"])
    >>> before, after = (oracle.estimate(oracle.tally(oracle.privatize(["no"] * (1000 - yes) + ["yes"] * yes, rng=yes)))
    ...                  for yes in (200, 400))
    >>> change = after - before
    >>> change.value.round(2).tolist(), bool(change.p_value[1] < 0.001)
    ([-0.2, 0.2], True)
    """

    first: Any
    second: Any
    names: tuple[str, str] = ("first", "second")

    def __post_init__(self) -> None:
        kinds = {_is_number(self.first), _is_number(self.second)}
        if len(kinds) > 1 or self.first.target != self.second.target:
            raise ParameterError("Estimates must be of one kind, and of one target, to be compared.")
        if not _is_number(self.first) and tuple(self.first.labels) != tuple(self.second.labels):
            shared = set(self.first.labels) & set(self.second.labels)
            problem = "differ in their labels or in the order of them" if shared else "have no label in common"
            raise ParameterError(
                f"Estimates must have the same labels, in the same order, to be compared, and those of "
                f"{self.first.name!r} {problem}."
            )
        if self.first.model is self.second.model:
            raise ParameterError("An estimate cannot be compared with itself: the two must come from different people.")

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label per difference; that of a number is its mean."""
        return ("mean",) if _is_number(self.first) else tuple(self.first.labels)

    @cached_property
    def value(self) -> Floats:
        """The differences, unbiased."""
        return _centre(self.first) - _centre(self.second)

    @cached_property
    def variance(self) -> Floats:
        """The sum of the two variances."""
        return np.atleast_1d(np.asarray(self.first.variance) + np.asarray(self.second.variance))

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def p_value(self) -> Floats:
        """How likely a difference as large is by chance alone, if there is none: a two-sided test, value by value."""
        from scipy import special

        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(self.standard_error > 0, np.abs(self.value) / self.standard_error, np.inf * np.abs(self.value))
        return np.asarray(2 * special.ndtr(-np.nan_to_num(z, nan=0.0)))

    def interval(self, level: float = 0.95, method: IntervalMethod = "wilson", *, simultaneous: bool = False) -> Floats:
        """Lower and upper ends, one row per difference.

        Parameters
        ----------
        level, method
            As for `Estimate.interval`.
        simultaneous
            Whether all should cover together, by Bonferroni's inequality.
        """
        _checks.probability(level=level)
        _checks.one_of(get_args(IntervalMethod), method=method)
        own = 1 - (1 - level) / len(self.labels) if simultaneous else level
        (low, high), (low_too, high_too) = (_ends(side, own, method) for side in (self.first, self.second))
        here, there = _centre(self.first), _centre(self.second)
        below = np.hypot(here - low, high_too - there)
        above = np.hypot(high - here, there - low_too)
        return np.column_stack([self.value - below, self.value + above])

    def table(self, level: float = 0.95, method: IntervalMethod = "wilson", *, simultaneous: bool = False) -> Table:
        """Every value with its difference, interval and p-value: columns label, difference, lower, upper, p_value."""
        write = digits(5) if _is_number(self.first) else decimals(4)
        ends = self.interval(level, method, simultaneous=simultaneous)
        columns = [
            Column("label", self.labels, self.first.name, "label", label),
            Column("difference", self.value, write=write),
            Column("standard_error", self.standard_error, hidden=True),
            Column("interval", ends, interval_of(level), write=write, parts=("lower", "upper")),
            Column("p_value", self.p_value, "p", write=p_text),
        ]
        sizes = f"{counted(self.first.n, 'report')} and {counted(self.second.n, 'report')}"
        title = f"{self.first.name}: {self.names[0]} less {self.names[1]}, from {sizes}"
        notes = [f"guarantee: {side.guarantee}" for side in _different_guarantees(self.first, self.second)]
        notes.append(TARGET_NOTES[self.first.target] + (", all together" if simultaneous else ""))
        notes.append("The two must be different people: a person in both makes the interval too wide or too narrow.")
        about = {
            "name": self.first.name,
            "first": self.names[0],
            "second": self.names[1],
            "n": [self.first.n, self.second.n],
            "target": self.first.target,
            "level": level,
            "simultaneous": simultaneous,
        }
        return Table(title, columns, notes, about, noun="difference")


def subtract(first: Any, second: object) -> Any:
    """What ``first - second`` gives for two estimates."""
    if not hasattr(second, "model") or not hasattr(second, "target"):
        return NotImplemented
    return Difference(first, second)


def joint_level(level: float, comparisons: int) -> float:
    """The level of each of several intervals that cover together at this one, by Bonferroni's inequality."""
    return 1 - (1 - level) / max(comparisons, 1)


def p_text(p_value: float) -> str:
    """A p-value for people: none is zero."""
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def _is_number(estimate: Any) -> bool:
    return not hasattr(estimate, "frequency")


def _centre(estimate: Any) -> Floats:
    return np.atleast_1d(np.asarray(estimate.mean if _is_number(estimate) else estimate.frequency, float))


def _ends(estimate: Any, level: float, method: IntervalMethod) -> tuple[Floats, Floats]:
    if _is_number(estimate):
        half = normal_quantile(level) * estimate.standard_error + estimate.bias_bound
        return _centre(estimate) - half, _centre(estimate) + half
    ends = estimate.interval(level, method)
    return ends[:, 0], ends[:, 1]


def _different_guarantees(first: Any, second: Any) -> list[Any]:
    return [first] if first.guarantee == second.guarantee else [first, second]
