"""Estimates over rounds of one panel: a series, means, differences, and a test for change.

Reports of one epoch share a memo, so their noise does not average out. The covariance of two rounds of the same people
in one epoch is the noise of the memo itself, the variance W of the oracle at the ε of the epoch, whichever oracle it is
(``repeated.proof.md``). Between epochs noise is independent. What is not known, how many people are in both rounds or
have a value in both epochs, is bounded so that no variance is stated too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import DataError, ParameterError
from bruit.estimation import intervals
from bruit.estimation.estimate import Estimate
from bruit.estimation.possible import nearest_possible
from bruit.estimation.support import IntervalMethod, Target
from bruit.estimation.tally import Tally
from bruit.oracles.base import Oracle
from bruit.tables import Column, Table, Tabular, counted, decimals, interval_of, label

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RoundContrast(Tabular):
    """A mean or difference of rounds: a number for every value, with its variance.

    Parameters
    ----------
    frequency
        The weighted sum of the frequencies of the rounds, unbiased.
    variance
        Its variance at the estimated frequencies, or a bound where it depends on what is not known.
    labels
        One label per value.
    title
        What it is, in words.
    """

    frequency: Floats
    variance: Floats
    labels: tuple[Any, ...]
    title: str

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> Floats:
        """Lower and upper ends, one row per value: the frequency ± z standard errors."""
        _checks.probability(level=level)
        return np.column_stack(intervals.wald(self.frequency, self.variance, level))

    @property
    def p_values(self) -> Floats:
        """For every value, how often noise alone would be as far from 0 as this; large counts are taken for normal."""
        from scipy import special

        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(self.frequency) / self.standard_error
        return np.asarray(special.erfc(np.nan_to_num(z, posinf=np.inf) / np.sqrt(2)))

    @property
    def p_value(self) -> float:
        """The test for any change at all: the least p-value times the number of values (Bonferroni)."""
        return min(1.0, len(self.labels) * float(self.p_values.min()))

    def table(self, level: float = 0.95) -> Table:
        """Every value with its number and interval: columns label, frequency, standard_error, lower, upper."""
        columns = [
            Column("label", self.labels, "value", "label", label),
            Column("frequency", self.frequency, write=decimals(4)),
            Column("standard_error", self.standard_error, hidden=True),
            Column("interval", self.interval(level), interval_of(level), write=decimals(4), parts=("lower", "upper")),
        ]
        return Table(self.title, columns, about={"level": level}, noun="value")


@dataclass(frozen=True, eq=False, repr=False)
class Series(Tabular):
    """Rounds of one panel, in order. `Repeated.series` makes it.

    Parameters
    ----------
    oracle, memo
        What a report is, and what a memo is drawn by.
    tallies
        One tally of `oracle` for each round.
    epochs
        The number of the epoch of each round.
    rounds
        The number of each round, for tables and titles; its place in the series by default.
    labels, name
        The labels of the values and the name of the question, where they are not those of the oracle.
    sampled
        Whether those who report were drawn from those who take part, as SMP does: such rounds speak of a population.
    follow_changes
        Whether another value has another memo. Who changed is not known, so that variances are bounds.

    Examples
    --------
    >>> import bruit
    >>> from bruit.oracles import Repeated
    >>> panel = Repeated(bruit.oracle("OUE", epsilon=1.0, labels=["bus", "car", "bike"]), epoch=2.0)
    >>> series = panel.simulate([[6000, 3000, 1000], [4000, 3000, 3000]], rounds=4, rng=7)
    >>> series.frequency.shape
    (8, 3)
    >>> change = series.difference(0, 4)
    >>> change.p_value < 1e-6
    True
    """

    oracle: Oracle
    memo: Oracle
    tallies: tuple[Tally, ...]
    epochs: tuple[int, ...]
    rounds: tuple[int, ...] | None = None
    labels: tuple[Any, ...] | None = None
    name: str | None = None
    sampled: bool = False
    follow_changes: bool = False

    def __post_init__(self) -> None:
        if not self.tallies:
            raise DataError("A series needs the tally of one round or more.")
        if len(self.epochs) != len(self.tallies):
            raise ParameterError("epochs must have a number for each round.")
        for number in self.epochs:
            _checks.integer(low=0, epochs=number)
        if self.rounds is None:
            object.__setattr__(self, "rounds", tuple(range(len(self.tallies))))
        if self.labels is None:
            object.__setattr__(self, "labels", tuple(self.oracle.domain.names))
        self.estimates()

    def estimates(self, target: Target = "population") -> list[Estimate]:
        """The estimate of each round."""
        self._check_target(target)
        answers = [self.oracle.estimate(tally, target) for tally in self.tallies]
        return [replace(answer, labels=self._labels, name=self.name or answer.name) for answer in answers]

    @property
    def _labels(self) -> tuple[Any, ...]:
        return self.labels or ()

    @property
    def _numbers(self) -> tuple[int, ...]:
        return self.rounds or ()

    def _check_target(self, target: Target) -> None:
        _checks.one_of(("population", "people"), target=target)
        if self.sampled and target == "people":
            raise ParameterError(
                'Who reports on this question was drawn: a series of SMP is estimated for the "population".'
            )

    @cached_property
    def frequency(self) -> Floats:
        """Unbiased frequencies: a row per round, a column per value."""
        return np.array([answer.frequency for answer in self.estimates()])

    def interval(self, level: float = 0.95, method: IntervalMethod = "wilson", target: Target = "population") -> Floats:
        """Lower and upper ends of each round: rounds × values × 2."""
        return np.array([answer.interval(level, method) for answer in self.estimates(target)])

    def mean(
        self, rounds: Sequence[int] | None = None, *, target: Target = "population", same_people: bool = True
    ) -> RoundContrast:
        """The mean over rounds, all by default; its variance does not fall below that of the memos.

        Parameters
        ----------
        rounds
            Places of rounds in the series, from 0.
        target
            ``"population"`` or ``"people"``.
        same_people
            Whether the very same people reported in these rounds. If not, the variance is a bound.
        """
        chosen = list(range(len(self.tallies))) if rounds is None else list(rounds)
        if not chosen:
            raise ParameterError("rounds must name one round or more.")
        return self._combine(
            chosen, [1 / len(chosen)] * len(chosen), target, same_people, f"Mean of {counted(len(chosen), 'round')}"
        )

    def difference(
        self, first: int, second: int, *, target: Target = "population", same_people: bool = True
    ) -> RoundContrast:
        """The later round less the earlier one; `p_value` tests whether anything changed.

        Within one epoch memos do not change, and a difference shows who takes part: compare rounds of two epochs. With
        `follow_changes` any two rounds can be compared.

        Parameters
        ----------
        first, second
            Places of two rounds in the series, from 0.
        target, same_people
            As for `mean`.
        """
        if first == second:
            raise ParameterError("A difference needs two rounds.")
        for place in (first, second):
            _checks.integer(low=0, high=len(self.tallies) - 1, rounds=place)
        title = f"Round {self._numbers[second]} less round {self._numbers[first]}"
        return self._combine([second, first], [1.0, -1.0], target, same_people, title)

    def table(self, level: float = 0.95, target: Target = "population") -> Table:
        """Every round and value: columns round, epoch, label, frequency, lower, upper."""
        k, rounds = len(self._labels), len(self.tallies)
        columns = [
            Column("round", np.repeat(self._numbers, k), write=str),
            Column("epoch", np.repeat(self.epochs, k), write=str),
            Column("label", self._labels * rounds, "value", "label", label),
            Column("frequency", self.frequency.ravel(), write=decimals(4)),
            Column(
                "interval",
                self.interval(level, target=target).reshape(-1, 2),
                interval_of(level),
                write=decimals(4),
                parts=("lower", "upper"),
            ),
        ]
        what = self.oracle.name if self.name is None else f"{self.name} by {self.oracle.name}"
        return Table(
            f"{counted(rounds, 'round')} of {what}", columns, about={"name": self.name, "level": level}, noun="row"
        )

    def tables(self, level: float = 0.95, target: Target = "population", *, same_people: bool = False) -> list[Table]:
        """The series, and where it has several rounds their mean, and the last one less the first with its test.

        Parameters
        ----------
        level, target
            As for `table`.
        same_people
            As for `mean`.
        """
        tables = [self.table(level, target)]
        if len(self.tallies) < 2:
            return tables
        change = self.difference(0, len(self.tallies) - 1, target=target, same_people=same_people)
        note = f"test for any change: p = {change.p_value:.3g}"
        if len(set(self.epochs)) == 1 and not self.follow_changes:
            note += "; within one epoch memos stay, so that a change shows who takes part"
        last = change.table(level)
        about = {**last.about, "p_value": change.p_value, "same_people": same_people}
        mean = self.mean(target=target, same_people=same_people).table(level)
        return [*tables, mean, replace(last, notes=[note], about=about)]

    # Sums of rounds.

    def _combine(
        self, rounds: list[int], weights: list[float], target: Target, same_people: bool, title: str
    ) -> RoundContrast:
        for place in rounds:
            _checks.integer(low=0, high=len(self.tallies) - 1, rounds=place)
        if len(set(rounds)) < len(rounds):
            raise ParameterError("rounds must be different.")
        self._check_target(target)
        sizes = {self.tallies[place].n for place in rounds}
        if same_people and len(sizes) > 1:
            raise DataError("These rounds have different numbers of reports: say same_people=False for a bound.")
        total = np.zeros(self.oracle.size)
        for i, a in zip(rounds, weights, strict=True):
            total += a * a * self._variance(i, target)
            for j, b in zip(rounds, weights, strict=True):
                if i < j:
                    total += 2 * a * b * self._covariance(i, j, target, same_people, upper=a * b > 0)
        frequency = np.asarray(np.array(weights) @ self.frequency[rounds])
        return RoundContrast(frequency=frequency, variance=np.maximum(total, 0.0), labels=self._labels, title=title)

    @cached_property
    def _shares(self) -> dict[int, Floats]:
        """The frequencies of each epoch at which variances are computed: the mean of its rounds, within 0..1."""
        epochs = np.array(self.epochs)
        return {e: nearest_possible(self.frequency[epochs == e].mean(axis=0)) for e in set(self.epochs)}

    def _share(self, place: int) -> Floats:
        """The frequencies of a round at which variances are computed; where values change, its own."""
        return nearest_possible(self.frequency[place]) if self.follow_changes else self._shares[self.epochs[place]]

    def _variance(self, place: int, target: Target) -> Floats:
        return self.oracle.variance(self._share(place), self.tallies[place].n, target)

    def _covariance(self, i: int, j: int, target: Target, same_people: bool, *, upper: bool) -> Floats:
        """Cov of two rounds; where it is not known, the largest that it can be if `upper`, else the least."""
        n = max(self.tallies[i].n, self.tallies[j].n)
        share, other = self._share(i), self._share(j)
        one_epoch = self.epochs[i] == self.epochs[j]
        # Each person whose memo is in both rounds adds its noise: at least nobody, at most everybody; all for certain
        # where the same people keep one memo.
        certain = upper or (same_people and not self.follow_changes)
        noise = self._memo_noise(share, other, n) if one_epoch and certain else np.zeros_like(share)
        if target == "people":
            return noise
        if one_epoch and not self.follow_changes:
            return noise + (share * (1 - share) / n if certain else 0.0)
        # P(the value in both rounds) − f·f', between nobody more than must and everybody who can.
        both = np.minimum(share, other) if upper else np.maximum(0.0, share + other - 1)
        return noise + (both - share * other) / n

    def _memo_noise(self, share: Floats, other: Floats, n: int) -> Floats:
        """The most that memos in both rounds add: W, at the frequencies of either round."""
        return np.minimum(self.memo.variance(share, n, "people"), self.memo.variance(other, n, "people"))
