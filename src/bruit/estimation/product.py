"""A table of two attributes that were reported apart, each with a part of ε: the product estimator.

Let g_u = (1{u supported} − q)/(p − q) for the first attribute of a person and h_v the same for the second. Each has the
mean 1 for the true value and 0 for others, and the two are independent given the record, so that the mean of g_u·h_v
over people is an unbiased estimate of the share F(u, v). Its variance is exact: E[g_u²] is s₁ for the true value and s₀
for others, and n·Var = F·s₁s₁′ + (F_u−F)·s₁s₀′ + (F_v−F)·s₀s₁′ + (1−F_u−F_v+F)·s₀s₀′ − F² for the population, − F for
these people.

Where few people support both values, the variance at the estimated share is far too small as often as not: with ε = 4
for each attribute, 300 people and a cell that nobody has, F̂ ± z standard errors covers in 30 to 47 of 100 surveys. So
intervals are those of scores: all shares F that a test with the variance at F itself would not reject, with the margins
at their estimates. These cover in 94 to 97 of 100 over the same surveys.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bruit.errors import LimitError, ParameterError
from bruit.estimation.intervals import Floats, score, wald
from bruit.estimation.possible import nearest_possible
from bruit.estimation.support import COVARIANCE_LIMIT, IntervalMethod, Target
from bruit.estimation.tally import Counts


class Side(NamedTuple):
    """How often a report supports the true value and another, and two values: of one of the attributes."""

    p: Fraction
    q: Fraction
    joint: tuple[Fraction, Fraction] | None

    @property
    def squares(self) -> tuple[float, float]:
        """E[g²] for the true value and for another: s₁ and s₀."""
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
        """The exact variance where the true table is this one, or the share of a cell and its margins the nearest.

        A margin is at least as large as the cell.
        """
        raw = frequency.reshape(self.both.shape)
        (own, other), (own_too, other_too) = (side.squares for side in self.sides)
        table = nearest_possible(raw)
        rows, columns = (nearest_possible(raw.sum(axis=axis, keepdims=True), least=table) for axis in (1, 0))
        squares = (
            table * own * own_too
            + (rows - table) * own * other_too
            + (columns - table) * other * own_too
            + (1 - rows - columns + table) * other * other_too
        )
        return np.asarray((squares - (table**2 if target == "population" else table)).ravel() / self.n)

    def interval(self, level: float, method: IntervalMethod, target: Target) -> tuple[Floats, Floats]:
        """The score interval, or with "wald" the frequency ± z standard errors; an exact one is not known."""
        if method == "clopper-pearson":
            raise ParameterError('method "clopper-pearson" is for one count; for a product of reports use "wilson".')
        raw = self.frequency()
        if method == "wald":
            return wald(raw, self.variance(raw, target), level)
        # n·Var = constant + (slope − 1)·F, and F(1 − F) more for the population.
        constant, slope = self._noise_by_share()
        drawn = 1 / self.n if target == "population" else 0.0
        return score(raw, self.variance(raw, target), (constant / self.n, (slope - 1) / self.n, drawn), level)

    def _noise_by_share(self) -> tuple[Floats, float]:
        """E[(g·h)²] of every cell as a constant and a multiple of the cell's share, at the estimated margins."""
        (own, other), (own_too, other_too) = (side.squares for side in self.sides)
        shares = [
            nearest_possible((counts / self.n - float(side.q)) / float(side.p - side.q))
            for counts, side in zip((self.first, self.second), self.sides, strict=True)
        ]
        rows, columns = shares[0][:, None], shares[1]
        constant = rows * own * other_too + columns * other * own_too + (1 - rows - columns) * other * other_too
        return constant.ravel(), (own - other) * (own_too - other_too)

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
