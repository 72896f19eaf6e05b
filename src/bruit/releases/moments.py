"""Sums and means of a bounded number.

Numbers become whole steps between the declared bounds, sums are sums of integers, and noise is added to those.

Under ``"add-remove"`` the number of records is not public, and a mean divides one noisy sum by another. Each record
gives c steps to one sum and the remaining m − c to the other: m in all, wherever it lies, so that noise of scale m/ε on
both is enough. Releasing the sum of centred values and the count, as is usual, needs noise of twice the variance. See
``moments.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bruit.domains.domain import Missing
from bruit.entropy import Randomness
from bruit.errors import LimitError
from bruit.estimation.tally import Counts
from bruit.releases import ratio
from bruit.releases._moment import Moment
from bruit.releases.base import Books, CentralNeighbours
from bruit.releases.grouped import ask
from bruit.releases.noise import DiscreteLaplace, Integers, Noise
from bruit.releases.released import Released

__all__ = ["Mean", "Sum", "mean", "sum"]

#: The largest number that may be summed.
_MOST_BOUND = 2.0**980


@dataclass(frozen=True, kw_only=True)
class Sum(Moment):
    """The sum of a bounded number over all records.

    Parameters
    ----------
    bounds
        The least and the greatest that the number can be, declared; a number outside counts as the nearest bound.
    epsilon
        The most that the result may tell about one record.
    delta
        0 (default) for Laplace noise; a small number, far below one over the number of records, for Gaussian noise.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``, under which the number of records is public.
    step
        Numbers are rounded to multiples of it; by default a power of two, under two millionths of the bounds' width.
    missing
        ``"refuse"`` (default) or ``"drop"``, under ``"add-remove"`` only.

    Guarantee
    ---------
    A record changes the sum by at most the greater bound by absolute value (``"add-remove"``) or by the width of the
    bounds (``"replace"``), in whole steps; the noise is discrete Laplace for that, or with a δ discrete Gaussian. The
    sum of more than 2⁴⁰ records may be cut; under ``"replace"`` so many are refused.

    Error
    -----
    The standard deviation is about √2 times that change over ε, whatever the data.

    Examples
    --------
    >>> ask_for = Sum(bounds=(0, 100), epsilon=0.5)
    >>> round(ask_for.error, 1)
    282.8
    >>> found = ask_for.release(ask_for.fold([31, 40, 22]), rng=7)
    >>> low, high = found.interval()
    >>> low < found.value < high
    True
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if max(map(abs, self.bounds)) > _MOST_BOUND:
            raise LimitError("bounds must lie within ±2⁹⁸⁰, so that the sum of 2⁴⁰ records is a finite number.")

    @property
    def name(self) -> str:
        """What is released."""
        return "sum"

    def sensitivity(self, n: int | None = None) -> int:
        """In units: the width of the bounds where n is public, else the greater bound."""
        return self.steps.width if self.public else -(-self._change // self._unit(n))

    @property
    def _change(self) -> int:
        steps = self.steps
        return steps.width if self.public else max(abs(steps.low), abs(steps.high))

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise."""
        return self.noise().error * self._unit(n) * self.steps.step

    def _sums(self, counts: Counts) -> Integers:
        n, steps = int(counts[0]), int(counts[1])
        return self._rounded(None, steps if self.public else steps + n * self.steps.low)

    def _publish(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Released:
        unit = self._unit(n)
        steps = int(noisy[0]) * unit + (n or 0) * self.steps.low
        return self._about(steps * self.steps.step, noise, unit * self.steps.step, simulated)


@dataclass(frozen=True, kw_only=True)
class Mean(Moment):
    """The mean of a bounded number.

    Parameters
    ----------
    bounds, epsilon, delta, neighbours, step, missing
        As in `Sum`.

    Guarantee
    ---------
    ``"add-remove"``: a record of c steps changes two sums by c and m − c, together by m, the width of the bounds in
    steps. ``"replace"``: the sum of steps changes by at most m, and the number of records is public. The noise is
    discrete Laplace of scale m/ε in both cases, or with a δ discrete Gaussian for a change of Euclidean norm m.

    Error
    -----
    For n records about √2·width/(n·ε) under ``"replace"``; under ``"add-remove"`` between 0.71 of that, for a mean in
    the middle of the bounds, and all of it, for one at an end.

    Examples
    --------
    >>> ask_for = Mean(bounds=(0, 100), epsilon=0.5)
    >>> round(ask_for.expected_error(n=1000), 3)
    0.283
    >>> found = ask_for.release(ask_for.fold(range(100)), rng=7)
    >>> 0 <= found.value <= 100
    True
    """

    @property
    def name(self) -> str:
        """What is released."""
        return "mean"

    def sensitivity(self, n: int | None = None) -> int:
        """The width of the bounds in steps."""
        return self.steps.width

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise for n records; the largest for any mean, under add-remove."""
        return self.noise(n).error * self.steps.step / self._needed(n)

    def _sums(self, counts: Counts) -> Integers:
        n, steps = int(counts[0]), int(counts[1])
        return self._rounded(None, *([steps] if self.public else [steps, n * self.steps.width - steps]))

    def _publish(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Released:
        steps = self.steps
        if n is not None:
            unit = steps.step / n
            value = steps.low * steps.step + float(noisy[0]) * unit
            return self._about(value, noise, unit, simulated)
        above, below = float(noisy[0]), float(noisy[1])
        scale, tail = _law(noise)
        total = max(above + below, float(steps.width))
        share = min(max(above / total, 0.0), 1.0)
        error = math.hypot(share, 1 - share) * noise.error / total

        def ends(level: float) -> Any:
            return steps.value(ratio.interval(above, below, scale, level, tail) * steps.width)

        value = float(steps.value(share * steps.width))
        spread = error * steps.width * steps.step
        return self._released(value, spread, ends, simulated, "kept within the bounds, Fieller interval")


def _law(noise: Noise) -> tuple[float, ratio.Tail]:
    """The scale of the noise, and the tail of its law."""
    if isinstance(noise, DiscreteLaplace):
        return float(noise.scale), ratio.laplace_tail
    return noise.error, ratio.normal_tail


def sum(  # the word of the trade; within this module the built-in is not used
    data: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    bounds: Any = None,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    step: float | None = None,
    missing: Missing = "refuse",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """The sum of a bounded number, with noise.

    Parameters
    ----------
    data
        A column, or with `column` a table: a mapping, a frame, or the path of a file.
    epsilon, delta, bounds, neighbours, step, missing
        As in `Sum`.
    column
        The name of the column in the table.
    by, groups
        One result for each declared group, as in `count`.
    ledger, rng, label
        As in `Release.release`.

    Examples
    --------
    >>> sum([31, 40, 22], bounds=(0, 100), epsilon=1.0, rng=7).labels
    ('sum',)
    """
    asked = Sum(bounds=bounds, epsilon=epsilon, delta=delta, neighbours=neighbours, step=step, missing=missing)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def mean(
    data: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    bounds: Any = None,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    step: float | None = None,
    missing: Missing = "refuse",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """The mean of a bounded number, with noise; parameters as in `sum`.

    Examples
    --------
    >>> table = {"age": [31, 40, 22, 57], "sex": ["F", "M", "F", "M"]}
    >>> found = mean(table, column="age", by="sex", groups=["F", "M"], bounds=(0, 100), epsilon=1.0, rng=7)
    >>> found.labels, found.guarantee.epsilon
    (('F', 'M'), 1.0)
    """
    asked = Mean(bounds=bounds, epsilon=epsilon, delta=delta, neighbours=neighbours, step=step, missing=missing)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)
