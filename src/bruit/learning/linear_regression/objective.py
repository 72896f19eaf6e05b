"""The sum of squared residuals as a polynomial of the coefficients, and where it is least."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Objective(NamedTuple):
    """Σ(y − ω·x)² = ωᵀ·square·ω + linear·ω + constant, over floats or exact fractions.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> found = Objective.of([[F(1), F(0)], [F(1), F(1)]], [F(1, 3), F(1)])
    >>> found.minimiser().tolist()
    [Fraction(1, 3), Fraction(2, 3)]
    """

    square: Any
    linear: Any
    constant: Any = 0

    @classmethod
    def of(cls, rows: Any, targets: Any) -> Objective:
        """The objective of some rows and targets."""
        x, y = np.asarray(rows), np.asarray(targets)
        return cls(x.T @ x, -2 * (x.T @ y), y @ y)

    def at(self, weights: Any) -> Any:
        """The sum of squared residuals for these coefficients."""
        return weights @ self.square @ weights + self.linear @ weights + self.constant

    def minimiser(self) -> Any:
        """Where it is least, by elimination: 2·square·ω = −linear; exact for fractions."""
        left, right = np.array(2 * self.square), np.array(-self.linear)
        size = len(right)
        for pivot in range(size):
            swap = pivot + int(np.argmax(np.abs(left[pivot:, pivot])))
            left[[pivot, swap]], right[[pivot, swap]] = left[[swap, pivot]], right[[swap, pivot]]
            for row in range(pivot + 1, size):
                times = left[row, pivot] / left[pivot, pivot]
                left[row] = left[row] - times * left[pivot]
                right[row] = right[row] - times * right[pivot]
        for row in reversed(range(size)):
            right[row] = (right[row] - left[row, row + 1 :] @ right[row + 1 :]) / left[row, row]
        return right

    def trimmed_minimiser(self, ridge: float) -> Any:
        """Where it is least with a ridge, among directions in which it then grows (Zhang et al. 2012, section 6)."""
        values, vectors = np.linalg.eigh(self.square + ridge * np.eye(len(self.linear)))
        kept = values > 0
        inside = vectors[:, kept]
        return inside @ (inside.T @ self.linear / (-2 * values[kept]))

    def floored_minimiser(self, floor: float) -> Any:
        """Where it is least after no eigenvalue of the square part is below `floor`."""
        values, vectors = np.linalg.eigh(self.square)
        return vectors @ (vectors.T @ self.linear / (-2 * np.maximum(values, floor)))
