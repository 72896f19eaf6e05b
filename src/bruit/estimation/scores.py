"""Scores: one number per message, so chosen that their average over the reports estimates a mean.

A channel is the table P(message | cell), one row per cell. Scores g are unbiased for a function v of the cell when
Σ_y P(y | x) g(y) = v(x) for every cell x: then the average of g over the reports has the mean of v over the people.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.errors import LimitError

Floats: TypeAlias = NDArray[np.float64]
#: ``"unbiased"`` for every distribution of people, or ``"affine"``: approximate, with a known largest bias.
Method: TypeAlias = Literal["unbiased", "affine"]

#: Scores take a dense decomposition of the channel; above this size it would take minutes.
SCORES_LIMIT = 1 << 22
#: How exactly scores must meet what they are unbiased for, relative to its range.
_TOLERANCE = 1e-7
#: Directions in which a channel is weaker than this, relative to the strongest, are left out.
_RANK = 1e-13
#: Rows that add less than this to what the rows before them tell, relative to the largest, are not trusted to be new.
_SAFE = 1e-9


def unbiased_scores(channel: Floats, values: Floats) -> Floats:
    """Scores with Σ_y P(y | x) g(y) = values(x) for every cell; of all those, the ones that vary least on average.

    The average is over cells that are equally likely. An error if there are none.
    """
    if channel.size > SCORES_LIMIT:
        raise LimitError(
            f"Unbiased scores are computed for tables of at most {SCORES_LIMIT:,} entries, cells times messages: "
            'use fewer cells, or method="affine".'
        )
    centre = float(values.mean())
    scores, missed = _least_varying(channel, values - centre)
    if missed > 0:
        raise LimitError(
            "No scores are unbiased for every distribution on this grid: "
            'use another number of cells, or method="affine".'
        )
    return scores + centre


def noise_scores(channel: Floats, scores: Floats) -> tuple[Floats, bool]:
    """Scores for the variance of `scores` given the cell, and whether they are unbiased for it.

    If none are, their mean is nowhere below that variance: what follows from them is on the safe side.
    """
    noise, missed = _least_varying(channel, score_variance(channel, scores))
    return noise + missed, missed == 0


def score_variance(channel: Floats, scores: Floats) -> Floats:
    """The variance of the score of a report, given the cell."""
    centred = scores - scores.mean()
    mean = channel @ centred
    variance: Floats = np.maximum(channel @ centred**2 - mean**2, 0.0)
    return variance


def affine_scores(channel: Floats, outputs: Floats, points: Floats) -> tuple[Floats, float]:
    """Scores a + b·output with the least largest bias over the cells, and that bias."""
    mean = channel @ outputs
    middle = (points[0] + points[-1]) / 2

    def worst(slope: float) -> tuple[float, float]:
        gap = points - middle - slope * (mean - middle)
        return float(gap.max() - gap.min()) / 2, float(gap.max() + gap.min()) / 2

    # The largest bias is a convex function of the slope: halve the interval by the better third.
    low, high = 0.0, 4 * float(points[-1] - points[0]) / float(np.ptp(mean))
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if worst(left)[0] <= worst(right)[0] else (left, high)
    slope = (low + high) / 2
    bias, shift = worst(slope)
    return middle + shift + slope * (outputs - middle), bias


def _least_varying(channel: Floats, values: Floats) -> tuple[Floats, float]:
    """The nearest solution of P g = values with the least Σ_x Σ_y P(y | x) g(y)², and by how much it falls short."""
    weight = np.sqrt(channel.mean(axis=0))
    scores = _least_squares(channel / weight, values) / weight
    gap = values - channel @ scores
    missed = float(np.abs(gap).max()) > _TOLERANCE * float(np.abs(values).max())
    return scores, max(float(gap.max()), np.finfo(float).tiny) if missed else 0.0


def _least_squares(table: Floats, values: Floats) -> Floats:
    """The shortest vector that the table sends to the values, or nearest to them."""
    from scipy import linalg

    solution: Floats
    if table.shape[0] <= table.shape[1]:
        # By far the fastest way where no row is a mixture of others.
        basis, corner = linalg.qr(table.T, mode="economic", check_finite=False)
        size = np.abs(np.diag(corner))
        if size.min() > _SAFE * size.max():
            solution = basis @ linalg.solve_triangular(corner, values, trans="T", check_finite=False)
            return solution
    solution, *_ = linalg.lstsq(table, values, cond=_RANK, lapack_driver="gelsy", check_finite=False)
    return solution
