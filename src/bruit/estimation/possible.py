"""The frequencies at which variances are stated: the possible ones that are nearest to the estimates.

An unbiased estimate may lie below 0 or above 1, and no frequency does. The formula of a variance is wrong there: with
few reports it comes out as 0, or below. So estimates stay as they are, and their variances are those at the nearest
possible frequencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.estimation.consistency import norm_sub

if TYPE_CHECKING:
    from bruit.estimation.support import Model, Target

Floats = NDArray[np.float64]

#: By how much rounding may lift the sum of frequencies above one.
_ROUNDING = 1e-9


def nearest_possible(frequency: Floats, least: Floats | float = 0.0) -> Floats:
    """The nearest frequency in 0..1, value by value; `least` is a limit from below that is known to hold.

    >>> nearest_possible(np.array([1.157, -0.157, 0.3])).tolist()
    [1.0, 0.0, 0.3]
    """
    return np.asarray(np.clip(frequency, least, 1.0), float)


def nearest_covariance(model: Model, frequency: Floats, target: Target) -> Floats:
    """The covariances at the nearest possible frequencies, whose diagonal is what `model.variance` states.

    Correlations are those at the nearest frequencies that are not negative and have a sum of at most one. There a
    matrix of covariances has no negative variance in any direction; value by value in 0..1 it may have.
    """
    possible = float(frequency.min()) >= 0 and float(frequency.sum()) <= 1 + _ROUNDING
    matrix = model.covariance(frequency if possible else norm_sub(frequency), target)
    stated, own = model.variance(frequency, target), np.diagonal(matrix).copy()
    if not np.array_equal(stated, own):
        scale = np.sqrt(stated / own)
        matrix = matrix * np.outer(scale, scale)
        np.fill_diagonal(matrix, stated)
    return matrix
