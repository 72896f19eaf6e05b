"""The sums that a linear regression needs, in whole steps, and the noise that one record's share of them asks for.

A row is u = (1, z₁, …, z_d), or z alone without an intercept, and a target t; z and t lie in −1..1, counted in steps.
The sums are those of u_j·u_k for j ≤ k and of u_j·t. In L1 one record gives Σ_{j<k} |u_j u_k| + ½Σ u_j² = ½‖u‖₁² when
the squares count half (their noise is twice as wide), and ‖u‖₁|t|; in L2, with squares over √2, it gives ½‖u‖₂⁴ and
‖u‖₂²t². So the norm of the row is all that matters. Two choices of public parameters follow:

* A row with a large norm is multiplied, target and all, by the factor that brings its share down to that of a row of
  norm `cap`. That is least squares with weights that depend on the row alone: it estimates the same line where a line
  is right, and the noise is that of the shorter row. Left as they are, the noise would be made for the corners of the
  box, where nobody is.
* The products with the target, of which there are few, get noise that is α times smaller than the others'.

The argument is in ``linear_regression.proof.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import LimitError, ParameterError
from bruit.kernels import rows as kernels
from bruit.learning._features import LEAST_HALF, STEPS, TOO_NEAR, Floats
from bruit.learning._sums import SumNoise

Integers = NDArray[np.int64]

#: The norm that is left as it is: that of a row with all numbers at a quarter of the way from the middle to a bound.
TYPICAL = Fraction(1, 4)
#: The square of the norm of the coefficients for which the noise is divided best between the two kinds of products.
SLOPES = 0.1
#: The fewest steps with which a noise of large scale is tried.
_FEWEST_STEPS = 16


@dataclass(frozen=True)
class Products:
    """The layout of the sums for declared columns.

    Parameters
    ----------
    columns
        How many columns X has.
    intercept
        Whether a constant stands before them.
    euclidean
        Whether norms are L2 (Gaussian noise) instead of L1 (Laplace noise).
    steps
        How many steps there are from the middle to a bound.
    plain
        Whether all rows are left as they are.
    indicators, categories
        How many of the columns are indicators of labels, and how many categorical columns these come from: a row has
        one indicator of each that is not 0.
    """

    columns: int
    intercept: bool
    euclidean: bool = False
    steps: int = STEPS
    plain: bool = False
    indicators: int = 0
    categories: int = 0

    @property
    def width(self) -> int:
        """How many entries a row has."""
        return self.columns + self.intercept

    @property
    def size(self) -> int:
        """How many sums there are."""
        return self.width * (self.width + 1) // 2 + self.width

    @property
    def cap(self) -> int:
        """The largest norm that is left as it is: Σ|u| in steps, or Σu² in their squares."""
        if self.plain:
            return 1 << 62
        unit = self.steps * self.steps if self.euclidean else self.steps
        return math.floor(unit * self._norm)

    @cached_property
    def quarters(self) -> int:
        """Four times α: how many times the noise of products of columns is that of products with the target.

        α minimises the noise of an equation Σ_k A_jk ω_k = b_j where ‖ω‖² is `SLOPES`.
        """
        ratio = float(self._norm) / (2 * SLOPES)
        return max(1, round(4 * math.pow(ratio, 1 / 4 if self.euclidean else 1 / 3)))

    @property
    def units(self) -> tuple[int, ...]:
        """The steps that count as 1 for each sum: products of columns, by rows of the upper triangle, then targets."""
        unit = self.steps**2
        other = self.quarters * unit // 4
        square = math.isqrt(2 * other * other - 1) + 1 if self.euclidean else 2 * other
        return self._laid(square, other, unit)

    @property
    def share(self) -> Fraction:
        """The most that one record gives, in units: in L1, or the square of it in L2."""
        norm = Fraction(self.cap, self.steps ** (2 if self.euclidean else 1))
        if self.euclidean:
            return 8 * norm**2 / self.quarters**2 + norm
        return 2 * norm**2 / self.quarters + norm

    def noise(
        self, epsilon: float, delta: float, neighbours: str, times: int = 1, part: Fraction = Fraction(1)
    ) -> SumNoise:
        """The noise for so many records; a replaced one takes its share away and brings another.

        `part` is the part of ε, or of ρ, that is spent here.
        """
        factor = {"add-remove": 1, "replace": 2}[neighbours] ** (2 if self.euclidean else 1)
        return SumNoise(self.units, factor * self.share, epsilon, delta, part, times)

    def count(self, numbers: Floats, target: Floats, middle: Floats, half: Floats) -> Integers:
        """The sums of some rows; exact, because no sum of products in a block reaches 2⁵³."""
        out = np.empty((len(numbers), self.width + 1))
        kernels.weighted_rows(
            np.ascontiguousarray(numbers),
            np.ascontiguousarray(target),
            middle,
            self.steps / half,
            int(self.intercept),
            self.steps,
            self.cap,
            self.quarters,
            self.euclidean,
            out,
        )
        products = out.T @ out
        upper = np.triu_indices(self.width)
        return np.concatenate([products[:-1, :-1][upper], products[:-1, -1]]).astype(np.int64)

    def unpacked(self, sums: Any) -> tuple[Floats, Floats]:
        """The symmetric matrix and the vector of such sums, in units of whole half-widths."""
        values = np.asarray(sums, np.float64) / self.steps**2
        matrix = np.empty((self.width, self.width))
        upper = np.triu_indices(self.width)
        matrix[upper] = matrix.T[upper] = values[: -self.width]
        return matrix, values[-self.width :]

    @property
    def _norm(self) -> Fraction:
        """The norm of a row with all numbers at `TYPICAL`, and its indicators."""
        typical = TYPICAL * TYPICAL if self.euclidean else TYPICAL
        return typical * (self.columns - self.indicators) + int(self.intercept) + self.categories

    def _laid(self, square: int, other: int, target: int) -> tuple[int, ...]:
        rows, columns = np.triu_indices(self.width)
        triangle = np.where(rows == columns, square, other).tolist()
        return (*triangle, *[target] * self.width)


@dataclass(frozen=True)
class FunctionalProducts(Products):
    """The same sums as coefficients of the objective Σ(t − ω·x)² with ‖x‖₂ ≤ 1, x = u/√D for a row of D entries.

    The coefficient of ω_j² is Σx_j², of ω_jω_k it is 2Σx_jx_k, and of ω_j it is −2Σx_j t; all get noise for
    Δ = 2(1 + D)² as printed.
    """

    plain: bool = True

    @property
    def units(self) -> tuple[int, ...]:
        """The steps that count as 1 for each coefficient; rounded up where they are not whole."""
        unit = self.steps**2
        root = math.isqrt(unit * unit * self.width - 1) + 1
        return self._laid(unit * self.width, -(-unit * self.width // 2), -(-root // 2))

    @property
    def share(self) -> Fraction:
        """What one record is taken to change, added, removed or replaced; more than it can."""
        return Fraction(2 * (1 + self.width) ** 2)

    def noise(
        self, epsilon: float, delta: float, neighbours: str, times: int = 1, part: Fraction = Fraction(1)
    ) -> SumNoise:
        """The noise for so many records; the printed Δ is for replaced ones, and kept for others."""
        return SumNoise(self.units, self.share, epsilon, delta, part, times)


def fitting(products: type[Products], noise: tuple[Any, ...], **layout: Any) -> tuple[Products, SumNoise]:
    """The sums with as many steps as their noise has room for, and the noise; public parameters decide."""
    steps = STEPS
    while True:
        sums = products(steps=steps, **layout)
        try:
            return sums, sums.noise(*noise)
        except LimitError:
            if steps <= _FEWEST_STEPS:
                raise
            steps //= 2


def middle_and_half(low: Floats, high: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """The middle of bounds and half their distance; without an intercept 0 stays 0, so the bounds are made even."""
    if not intercept:
        high = np.maximum(np.abs(low), np.abs(high))
        low = -high
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    if not (half > LEAST_HALF).all():
        raise ParameterError(TOO_NEAR)
    return middle, half
