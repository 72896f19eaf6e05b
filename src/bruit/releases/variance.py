"""The variance of a bounded number.

Under ``"add-remove"`` a record of c of the m steps between the bounds gives (m − c)² to one sum, 2c(m − c) to another
and c² to a third: m² in all, wherever it lies. Number, mean and variance of the records are functions of the three.
Under ``"replace"`` the number of records is public, and the noise is on the variance itself. See ``moments.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bruit.domains.domain import Missing
from bruit.entropy import Randomness
from bruit.estimation.tally import Counts
from bruit.releases import ratio
from bruit.releases._moment import Moment
from bruit.releases.additive import whole
from bruit.releases.base import Books, CentralNeighbours
from bruit.releases.grouped import ask
from bruit.releases.noise import MOST_SUM, Integers, Noise
from bruit.releases.released import Released

__all__ = ["Variance", "variance"]

#: The sensitivity, in units of what is rounded, of the variance under replace.
_FINENESS = 28
#: What is released has at most so many bits.
_SUM_BITS = MOST_SUM.bit_length() - 1


@dataclass(frozen=True, kw_only=True)
class Variance(Moment):
    """The variance of a bounded number: the mean square distance from the mean, over all records.

    Parameters
    ----------
    bounds, epsilon, delta, neighbours, step, missing
        As in `Sum`.

    Guarantee
    ---------
    ``"add-remove"``: a record of c steps changes three sums by (m − c)², 2c(m − c) and c², together by m²; the noise is
    discrete Laplace of scale m²/ε on each. ``"replace"``: the variance itself changes by at most (n − 1)·width²/n², and
    n is public; the noise is on that. With a δ it is discrete Gaussian for a change of Euclidean norm as large.

    Error
    -----
    For n records about √2·width²/(n·ε) or less.

    Examples
    --------
    >>> ask_for = Variance(bounds=(0, 10), epsilon=1.0)
    >>> found = ask_for.release(ask_for.fold([2, 4, 6, 8] * 5000), rng=7)
    >>> round(found.value, 1)
    5.0
    """

    # Squares of steps must leave room for many records in 64 bits.
    most_steps: ClassVar[int] = 2**14

    @property
    def name(self) -> str:
        """What is released."""
        return "variance"

    @property
    def cells(self) -> int:
        """The number of records, the sum of their steps, and that of their squares."""
        return 3

    def sensitivity(self, n: int | None = None) -> int:
        """In units: m², rounded up for each sum; or where n is public (n − 1)·m², of n² times the variance."""
        unit = self._unit(n)
        if not self.public:
            return (self._change + 3 * (unit - 1)) // unit
        return max(1, -(-(self._needed(n) - 1) * self.steps.width**2 // unit))

    @property
    def _change(self) -> int:
        return self.steps.width**2

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise for n records; the largest for any data, under add-remove."""
        many = self._needed(n)
        spread = self.noise(n).error * self._unit(n) * self.steps.step**2
        if self.public:
            return spread / many**2
        # The gradient of B₀B₂/N² − B₁²/4N² is longest, 1/N, where all records are at one end.
        return spread / many

    def _unit(self, n: int | None) -> int:
        """As for all moments; under replace what n² times the variance is rounded to, far below its sensitivity."""
        if not self.public:
            return super()._unit(n)
        change, most = self._needed(n) * self.steps.width**2, (self._needed(n) * self.steps.width) ** 2 // 4
        return 1 << max(0, change.bit_length() - _FINENESS, most.bit_length() - _SUM_BITS)

    def _count(self, column: Any) -> Counts:
        codes = self.steps.encode(column).astype(np.int64)
        return whole(codes.size, codes.sum(), np.dot(codes, codes))

    def _sums(self, counts: Counts) -> Integers:
        n, first, second = (int(count) for count in counts)
        m = self.steps.width
        if self.public:
            return self._rounded(n, n * second - first**2)
        return self._rounded(None, n * m**2 - 2 * m * first + second, 2 * (m * first - second), second)

    def _publish(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Released:
        square, many = self.steps.step**2, self._unit(n)
        if n is not None:
            unit = many * square / n**2
            value = float(noisy[0]) * unit
            return self._about(value, noise, unit, simulated)
        width = self.steps.width**2
        total = max(float(noisy.sum()), width / many)
        b0, b1, b2 = (float(part) / total for part in noisy)
        share = b0 * b2 - b1**2 / 4
        slope = math.hypot(b2 - 2 * share, b1 / 2 + 2 * share, b0 - 2 * share)
        value = min(max(share, 0.0), 0.25) * width * square
        error = slope * noise.error / total * width * square
        factor = ratio.normal_factor if self.delta else ratio.laplace_factor

        def ends(level: float) -> Any:
            half = factor(level) * error
            return [max(value - half, 0.0), min(value + half, width * square / 4)]

        return self._released(value, error, ends, simulated, "kept within the bounds, approximate interval")


def variance(
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
    """The variance of a bounded number, with noise; parameters as in `sum`.

    Examples
    --------
    >>> variance([31, 40, 22], bounds=(0, 100), epsilon=1.0, rng=7).labels
    ('variance',)
    """
    asked = Variance(bounds=bounds, epsilon=epsilon, delta=delta, neighbours=neighbours, step=step, missing=missing)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)
