"""How far a noisy score is from the truth: the law of a weighted sum of noises and of a sampling error.

A score is, to first order, its true value plus Σ wᵢ·noiseᵢ. The noises are Laplace or Gaussian, and independent. The
sampling error of held-out records is taken as normal. The law of the sum is symmetric, and its characteristic function
is the product of theirs; a Fourier series gives the probability of an interval. Normal quantiles would cover too little
at high levels where one Laplace noise dominates.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special

from bruit.learning.scores.sums import Floats

#: The period of the Fourier series, in standard deviations, and its terms.
_PERIOD, _TERMS = 60.0, 4096
#: Noises with less than this share of the variance are taken together as normal; quantiles change by under 0.5 %.
_SMALL = 0.02


def half_width(weights: Floats, sampling: float, level: float, *, gaussian: bool) -> float:
    """Half the width of the interval that holds the error with this probability.

    Parameters
    ----------
    weights
        The standard deviation that each noise adds to the score.
    sampling
        The variance of the sampling error; 0 for the noise alone.
    level
        The probability.
    gaussian
        Whether the noises are Gaussian; else they are Laplace.
    """
    variances = np.square(weights)
    total = math.sqrt(float(variances.sum()) + sampling)
    if not total:
        return 0.0
    if gaussian:
        return total * float(special.ndtri((1 + level) / 2))
    shares = np.sort(variances)[::-1] / total**2
    large = shares[shares >= _SMALL].round(9)
    return total * _laplace_quantile(tuple(large.tolist()), round(max(0.0, 1 - float(large.sum())), 9), level)


@functools.lru_cache(maxsize=512)
def _laplace_quantile(variances: tuple[float, ...], normal: float, level: float) -> float:
    """The same for Laplace noises of these variances, which sum to 1 with that of a normal error."""
    steps = 2 * math.pi / _PERIOD * np.arange(1, _TERMS + 1)
    logarithm = -normal * steps**2 / 2
    for variance in variances:
        logarithm -= np.log1p(variance * steps**2 / 2)
    terms = np.exp(logarithm) / steps

    def covered(width: float) -> float:
        return (2 * width + 4 * float((terms * np.sin(steps * width)).sum())) / _PERIOD

    low, high = 0.0, _PERIOD / 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if covered(middle) < level else (low, middle)
    return high
