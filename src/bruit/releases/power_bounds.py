"""Bounds of a number that nobody knows: the powers of two between which its records lie, but for a few.

Reading bounds from the data would publish the smallest and the largest record. So records are counted by the power of
two of their size, with noise as in any histogram, and the bounds are the ends of the outermost cells whose noisy count
is above what noise alone reaches. The privacy is that of the histogram, see ``counts.proof.md``: what follows from
noisy counts costs nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains import Grid, Interval, Policy
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation.tally import Counts
from bruit.releases.noise import Integers, Noise
from bruit.releases.result import Result
from bruit.releases.statistic import AdditiveStatistic, CentralNeighbours, histogram_of
from bruit.tables import counted

__all__ = ["PowerBounds"]

#: Numbers are told apart by size from 2 to the first power to 2 to the second.
EXPONENTS = (-20, 60)
#: The chance that noise alone moves a bound outwards.
_BETA = 0.01


@dataclass(frozen=True)
class PowerBounds(AdditiveStatistic):
    """The powers of two between which a number lies, for releases whose bounds nobody knows.

    Parameters
    ----------
    column
        The column of a table; None for data that are one column.
    epsilon
        The most that the result may tell about one record.
    delta
        As in `Count`.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    policy
        ``Policy(missing="drop")`` leaves records without a number out, under ``"add-remove"`` only; they are refused
        by default. Every number has a place here, so that none is outside.

    Guarantee
    ---------
    That of a histogram of 163 cells: a record changes one count by 1, or two if it is replaced.

    Error
    -----
    A cell of fewer records than `threshold` is likely to be left out: about 10/ε of them, and twice as many under
    replace. They then count as the nearest bound wherever the bounds are used. The upper bound is up to twice as large
    as the largest number, in size; numbers beyond 2⁶⁰ count as that, those nearer to 0 than 2⁻²⁰ as one cell.

    Examples
    --------
    >>> from bruit.releases import release
    >>> bounds = release({"income": [900.0, 1500.0, 2100.0] * 200}, PowerBounds("income", epsilon=0.5), rng=7)
    >>> bounds["lower"], bounds["upper"]
    (512.0, 4096.0)
    """

    kind: ClassVar[str] = "bounds"
    rising: ClassVar[bool] = True
    document_policies: ClassVar[tuple[str, ...]] = ("missing",)

    column: str | None = None
    _: KW_ONLY
    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    policy: Policy = Policy()  # noqa: RUF009 # frozen

    def __post_init__(self) -> None:
        self._check_privacy()
        if not isinstance(self.policy, Policy):
            raise ParameterTypeError('policy must be a Policy, as in policy=Policy(missing="drop").')
        _checks.one_of(Interval.words("missing"), missing=self.policy.missing)
        if self.policy.outside is not None:
            raise ParameterError("Without declared bounds no number is outside: leave outside out.")
        self._check_gaps(self.policy)
        self.noise()

    @property
    def labels(self) -> tuple[str, str]:
        """Two labels."""
        return ("lower", "upper")

    @cached_property
    def edges(self) -> tuple[tuple[float, float], ...]:
        """The ends of each cell, from the most negative: by powers of two, then up to 0, then 0 itself."""
        low, high = EXPONENTS
        powers = [(2.0**place, 2.0 ** (place + 1)) for place in range(low, high)]
        sizes = [(0.0, 2.0**low), *powers]
        return (*[(-far, 0.0 - near) for near, far in reversed(sizes)], (0.0, 0.0), *sizes)

    @property
    def size(self) -> int:
        """One count for each cell."""
        return 2 * (EXPONENTS[1] - EXPONENTS[0] + 1) + 1

    @property
    def threshold(self) -> int:
        """A cell counts if its noisy count is above this; noise alone takes an empty one there with 1 % in all."""
        return math.ceil(self.noise().half_width(1 - 2 * _BETA / self.size))

    def describe_error(self, n: int) -> str:
        """How many records may be left out of a cell."""
        return f"cells above {self.threshold:,}"

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """The cell of each number; a gap has a code of its own."""
        codes, present = self._codes(batch)
        return [np.where(present, codes, self.size)]

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """How many records are in each cell."""
        codes, present = self._codes(batch)
        return histogram_of(codes[present], self.size)

    def _codes(self, batch: Mapping[str, Any]) -> tuple[Integers, Any]:
        """The cell of each number, and which are there."""
        missing = self.policy.missing
        missing = "category" if missing == "drop" else missing  # the caller leaves gaps out
        reader = Grid(-(2.0 ** EXPONENTS[1]), 2.0 ** EXPONENTS[1], cells=3, missing=missing, outside="clamp")
        read = reader.admit(self.values(batch))
        numbers, present = read.values, ~read.absent
        low, high = EXPONENTS
        # |x| is in [2^(e−1), 2^e): exact for every double.
        exponents = np.frexp(np.where(present, numbers, 0.0))[1].astype(np.int64) - 1
        distance = 1 + np.clip(exponents - low + 1, 0, high - low)
        codes = self.size // 2 + np.sign(np.where(present, numbers, 0.0)).astype(np.int64) * distance
        return codes, present

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        """The ends of the outermost cells above the threshold; of the largest count if there is none."""
        above = np.flatnonzero(noisy > self.threshold)
        cells = above if above.size else np.array([int(np.argmax(noisy))])
        low, high = self.edges[int(cells[0])][0], self.edges[int(cells[-1])][1]
        notes = (f"powers of two; beyond them, a cell has likely no more than {counted(self.threshold, 'record')}",)
        return self._result(np.array([low, high]), simulated, labels=self.labels, notes=notes)

    def pair(self, result: Result) -> tuple[float, float]:
        """A result as the bounds of another statistic: a pair that increases."""
        if tuple(result.labels) != self.labels:
            raise ParameterError("These are no bounds: give the result of Bounds.")
        low, high = (_checks.finite(bound=float(value)) for value in result)
        return (low, high) if low < high else (low - 2.0 ** EXPONENTS[0], high + 2.0 ** EXPONENTS[0])
