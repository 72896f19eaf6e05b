"""How the budget of an additive model is shared between its releases, and the noise of each.

| release | share | with replaced records |
|---|---|---|
| the number of records | .01 | public, the share goes to the tables |
| fine histograms of numbers with many values, if there is a pass | .04 | .04 |
| tables of the targets | .4, or .99 without a pass | .41, or 1 |
| the pass, in four blocks | .55, or .59 without histograms | the same |

See ``additive.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from bruit.kernels import additive as kernels
from bruit.learning._sums import SumNoise
from bruit.learning.additive.problem import Norms, Problem
from bruit.privacy.zcdp import epsilon_to_rho

FOR_SIZE = Fraction(1, 100)
_FOR_FINE = Fraction(4, 100)
_FOR_TABLES = Fraction(40, 100)
_FOR_PASS = Fraction(55, 100)


@dataclass(frozen=True)
class Promise:
    """What a fit promises, and by how many records neighbours differ.

    Parameters
    ----------
    epsilon, delta
        The budget; Gaussian noise where delta is above 0.
    replaced
        Whether neighbours replace one record, so that the number of records is public.
    times
        By how many records, added or removed, neighbours differ.
    size_times
        By how much the number of records differs.
    """

    epsilon: float
    delta: float = 0.0
    replaced: bool = False
    times: int = 1
    size_times: int = 1

    @property
    def gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return self.delta > 0

    def noise(self, units: tuple[int, ...], norms: Norms, columns: int, share: Fraction) -> SumNoise:
        """The noise of sums over so many columns that one record changes together."""
        change = columns * (norms.l2_squared if self.gaussian else norms.l1)
        return SumNoise(units, change, self.epsilon, self.delta, share, self.times)

    @cached_property
    def size(self) -> SumNoise | None:
        """The noise of the number of records; None where it is public."""
        if self.replaced:
            return None
        return SumNoise((1,), Fraction(1), self.epsilon, self.delta, FOR_SIZE, self.size_times)

    def spread(self, columns: int) -> float:
        """σ₀, the noise of one cell if all were spent on tables of counts; ν is the number of records over it."""
        if self.gaussian:
            factor = columns * (2 if self.replaced else 1) * self.times**2
            return math.sqrt(factor / (2 * epsilon_to_rho(self.epsilon, self.delta)))
        return math.sqrt(2) * columns * (2 if self.replaced else 1) * self.times / self.epsilon


@dataclass(frozen=True, eq=False)
class Releases:
    """The releases of one fit.

    Parameters
    ----------
    promise
        What all releases together may spend.
    problem
        The kind of target.
    columns
        How many columns there are.
    dense
        How many of them have fine histograms.
    passes
        Whether there is a pass.
    """

    promise: Promise
    problem: Problem
    columns: int
    dense: int
    passes: bool

    @property
    def shares(self) -> dict[str, Fraction]:
        """The share of each release; they sum to 1."""
        public = FOR_SIZE if self.promise.replaced else Fraction(0)
        if not self.passes:
            return {"size": FOR_SIZE - public, "tables": 1 - FOR_SIZE + public}
        fine = _FOR_FINE if self.dense else Fraction(0)
        return {
            "size": FOR_SIZE - public,
            "fine": fine,
            "tables": _FOR_TABLES + public,
            "pass": _FOR_PASS + _FOR_FINE - fine,
        }

    def fine(self, cells: int) -> SumNoise:
        """The noise of all fine histograms: each record is in one cell of each."""
        norms = Norms(Fraction(2), Fraction(2)) if self.promise.replaced else Norms(Fraction(1), Fraction(1))
        return self.promise.noise((1,) * cells, norms, self.dense, self.shares["fine"])

    def tables(self, cells: int) -> SumNoise:
        """The noise of the tables of all columns."""
        norms = self.problem.table_norms[self.promise.replaced]
        return self.promise.noise(self.problem.units * cells, norms, self.columns, self.shares["tables"])

    def block(self, columns: int, cells: int) -> SumNoise:
        """The noise of the residuals in a block of so many columns, which has their part of the pass."""
        norms = self.problem.pass_norms[self.promise.replaced]
        share = self.shares["pass"] * Fraction(columns, self.columns)
        unit = kernels.WEIGHT * kernels.UNIT
        return self.promise.noise((unit,) * (cells * self.problem.outputs), norms, columns, share)

    def check(self) -> None:
        """Refuse noise that cannot be drawn; nothing but declared parameters is needed."""
        _ = self.promise.size, self.tables(1)
        if self.passes:
            _ = self.fine(1) if self.dense else None, self.block(1, 1)
