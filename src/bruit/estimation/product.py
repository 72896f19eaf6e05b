"""A table of two attributes that were reported apart, each with a part of ε: the product estimator.

Let g_u = (1{u supported} − q)/(p − q) for the first attribute of a person and h_v the same for the second. Each has the
mean 1 for the own value and 0 for others, and the two are independent given the record, so that the mean of g_u·h_v
over people is an unbiased estimate of the share F(u, v). Its variance is exact: E[g_u²] is s₁ for the own value and s₀
for others, and n·Var = F·s₁s₁′ + (F_u−F)·s₁s₀′ + (F_v−F)·s₀s₁′ + (1−F_u−F_v+F)·s₀s₀′ − F² for the population, − F for
these people.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bruit.errors import LimitError, ParameterError
from bruit.estimation.intervals import Floats, wald
from bruit.estimation.support import COVARIANCE_LIMIT, IntervalMethod, Target
from bruit.estimation.tally import Counts


class Side(NamedTuple):
    """How often a report supports the own value and another, and two values: of one of the attributes."""

    p: Fraction
    q: Fraction
    joint: tuple[Fraction, Fraction] | None

    @property
    def squares(self) -> tuple[float, float]:
        """E[g²] for the own value and for another: s₁ and s₀."""
        p, q = self.p, self.q
        return float((p * (1 - 2 * q) + q**2) / (p - q) ** 2), float(q * (1 - q) / (p - q) ** 2)

    def products(self, size: int) -> Floats:
        """E[g_u·g_w] for every own value a: an array with axes a, u, w."""
        if self.joint is None:
            raise ParameterError("The covariance is not known for this mechanism: two values have no joint support.")
        p, q, (own, other) = self.p, self.q, self.joint
        gap = (p - q) ** 2
        both = np.full((size, size, size), float((other - q * q) / gap))
        of_own = float((own - q * (p + q) + q * q) / gap)
        places = np.arange(size)
        both[places, places, :] = of_own
        both[places, :, places] = of_own
        same, apart = self.squares
        both[:, places, places] = apart
        both[places, places, places] = same
        return both


@dataclass(frozen=True)
class ProductModel:
    """Counts of people whose reports support both values, and what is needed to estimate from them.

    Parameters
    ----------
    both
        How many people support u and v, for every pair.
    first, second
        How many support each value of the first and of the second attribute.
    n
        How many people there are.
    sides
        The two attributes.
    """

    both: Counts
    first: Counts
    second: Counts
    n: int
    sides: tuple[Side, Side]

    def frequency(self) -> Floats:
        """F̂(u, v) = [C(u,v)/n − q′C(u)/n − qC(v)/n + qq′]/((p−q)(p′−q′)), cell by cell."""
        left, right = self.sides
        q, other = float(left.q), float(right.q)
        raw = self.both - other * self.first[:, None] - q * self.second + self.n * q * other
        return np.asarray((raw / (self.n * float((left.p - left.q) * (right.p - right.q)))).ravel())

    def variance(self, frequency: Floats, target: Target) -> Floats:
        """The exact variance where the true table is this one."""
        table = frequency.reshape(self.both.shape)
        (own, other), (own_too, other_too) = (side.squares for side in self.sides)
        rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
        squares = (
            table * own * own_too
            + (rows - table) * own * other_too
            + (columns - table) * other * own_too
            + (1 - rows - columns + table) * other * other_too
        )
        return np.asarray((squares - (table**2 if target == "population" else table)).ravel() / self.n)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """The frequency ± z standard errors: a product of two noises has no exact interval."""
        if method == "clopper-pearson":
            raise ParameterError('method "clopper-pearson" is for one count; for a product of reports use "wald".')
        raw = self.frequency()
        return wald(raw, np.maximum(self.variance(raw, target), 0.0), level)

    def covariance(self, frequency: Floats, target: Target) -> Floats:
        """The matrix of covariances where the true table is this one."""
        if frequency.size > COVARIANCE_LIMIT // 4:
            raise LimitError(f"This covariance matrix is made for at most {COVARIANCE_LIMIT // 4:,} cells.")
        table = frequency.reshape(self.both.shape)
        left, right = self.sides[0].products(self.first.size), self.sides[1].products(self.second.size)
        # Σ over the records (a, b) of F(a, b)·E[g_u g_w | a]·E[h_v h_x | b].
        inner = np.einsum("ab,auw->buw", table, left, optimize=True)
        moments = np.einsum("buw,bvx->uvwx", inner, right, optimize=True).reshape(frequency.size, frequency.size)
        less = np.outer(frequency, frequency) if target == "population" else np.diag(frequency)
        return np.asarray((moments - less) / self.n)

    def absent_limit(self, level: float) -> Floats | float:
        """Not known for a product."""
        raise ParameterError('"base-cut" needs the law of one count: it is not known for a product of reports.')

    def most_likely(self) -> Floats:
        """Not known for a product."""
        raise ParameterError("The most likely frequencies are not known for a product of reports: use norm-sub.")
