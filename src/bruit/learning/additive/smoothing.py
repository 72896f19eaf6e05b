"""One step of the pass: from noisy sums of residuals to a change of a column's shape.

Neighbouring knots are drawn together as far as noise asks for it, cells without order towards 0 by their own noise, and
the whole step by the share of it that noise explains. Only noisy sums and public numbers enter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bruit.learning._features import Floats

#: How strongly neighbouring knots are drawn together, in units of the noise.
_SMOOTH = 3.0
#: The largest step, on the scale of logarithms of odds.
MOST_STEP = 3.0


class ShapeStep(NamedTuple):
    """The change of a shape, the standard deviations that noise gives it, and how knots share their noise."""

    change: Floats
    errors: Floats
    mixing: Floats


def step(gradient: Floats, weights: Floats, ordered: int, variance: float, freedom: int, *, level: bool) -> ShapeStep:
    """The step of one column.

    Parameters
    ----------
    gradient
        The noisy sums of residuals of its cells (rows) and outputs.
    weights
        W, the curvature of every cell.
    ordered
        How many cells have an order; they come first.
    variance
        Of the noise on an entry of the gradient.
    freedom
        How many numbers the gradient has.
    level
        Whether the step may move the intercept. In a block one column may: all see the same residuals.
    """
    if not level:
        gradient = gradient - weights[:, None] * (gradient.sum(axis=0) / weights.sum())
    change, errors = gradient / (weights + 1)[:, None], 1 / (weights + 1)
    inverse = np.linalg.inv(np.diag(weights[:ordered] + 1) + _SMOOTH * np.sqrt(variance) * _roughness(ordered))
    change[:ordered] = inverse @ gradient[:ordered]
    errors[:ordered] = np.sqrt((inverse**2).sum(axis=1))
    change[ordered:] *= (weights**2 / (weights**2 + variance))[ordered:, None]
    squares = max(float((gradient**2).sum()), 1e-300)
    change *= max(0.0, 1 - max(freedom - 2, 0.5) * variance / squares)
    spread = np.sqrt(variance)
    # A step is cut, so that its standard deviation is no larger than the cut.
    errors = np.minimum(spread * errors[:, None], MOST_STEP)
    return ShapeStep(np.clip(change, -MOST_STEP, MOST_STEP), errors, spread * inverse)


def _roughness(knots: int) -> Floats:
    """D'D for the first differences D."""
    differences = np.diff(np.eye(knots), axis=0)
    return np.asarray(differences.T @ differences, np.float64)
