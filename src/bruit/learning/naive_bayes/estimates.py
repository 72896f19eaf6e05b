"""From noisy sums of each class to the laws that naive Bayes predicts with.

Only noisy sums and the noise's standard deviations enter, which are public. Where noise dominates, what differs little
between classes or columns is taken as one: counts as means' divisors are drawn to equal ones, variances to their mean
over classes and columns, shares to even ones. Means are not drawn together, which cost accuracy on most tables tried.
Instead the noise of the means is added to the variances, which keeps probabilities modest where little is known.
"""

from __future__ import annotations

import math

import numpy as np

from bruit.learning._features import STEPS, Floats
from bruit.learning._likelihood import Laws
from bruit.learning.naive_bayes.sums import Errors, SumsByClass

#: The variance of numbers spread evenly from −1 to 1; what does not know better is between these.
_EVEN = 1 / 3
_NARROW = 0.02
#: The noise level at which variances are floored counts as at most this.
_MOST_FLOOR = 0.1
#: Noise this small is as good as none.
_NO_NOISE = 1e-9
#: A class keeps at least this share of the variance that all have together.
_LEAST_SHARE = 0.05


def joint_laws(parts: SumsByClass, errors: Errors) -> Laws:
    """The laws from joint statistics; numbers and variances in units where bounds are −1 and 1."""
    counts, error = _better_counts(parts, errors)
    divisors = _divisors(counts, error)
    total = divisors.sum()
    classes = len(counts)
    share = divisors[:, None] / total

    pooled = np.clip(parts.sums.sum(axis=0) / total, -1, 1)
    mean = np.clip(parts.sums / divisors[:, None], -1, 1)
    blur = min((classes * errors.sums / total) ** 2, 1.0)  # the noise's variance on a mean, for classes of equal size
    # Between classes: Σ p (μ_c − μ)², less what the noise adds to it.
    between = np.maximum((share * ((mean - pooled) ** 2 - (1 - share) * blur)).sum(axis=0), 0)
    level = math.sqrt(classes) * errors.squares / total
    within = _shared_variance(np.clip(parts.squares.sum(axis=0) / total + 0.5, 0, 1) - pooled**2 - between, level)
    own = _own_variances(parts.squares / divisors[:, None] + 0.5 - mean**2, within, errors.squares / divisors, share)
    return Laws(_prior(counts, error), mean, own + blur, _tables(parts, errors))


def vaidya_laws(parts: SumsByClass, errors: Errors) -> Laws:
    """The document's estimates: each noisy sum over its noisy count, variances floored at the noise level."""
    counts = np.maximum(parts.counts, 1)[:, None]
    floor = np.clip(errors.squares / counts, STEPS**-2.0, 1)
    variance = np.clip(parts.squares / counts, floor, 1)
    mean = np.clip(parts.sums / counts, -1, 1)
    return Laws(_prior(parts.counts, errors.counts), mean, variance, _tables(parts, errors))


def _better_counts(parts: SumsByClass, errors: Errors) -> tuple[Floats, float]:
    """The counts, averaged with the row totals of the tables, which are noisy counts of the same records."""
    count, cell = (max(error, _NO_NOISE) ** -2.0 for error in (errors.counts, errors.tables))
    weights = [count, *(cell / table.shape[1] for table in parts.tables)]
    values = [parts.counts, *(table.sum(axis=1) for table in parts.tables)]
    weighted = np.array([weight * value for weight, value in zip(weights, values, strict=True)]).sum(axis=0)
    return weighted / sum(weights), sum(weights) ** -0.5


def _prior(counts: Floats, error: float) -> Floats:
    least = np.maximum(counts, max(1.0, 0.1 * error))
    return np.asarray(least / least.sum(), np.float64)


def _divisors(counts: Floats, error: float) -> Floats:
    """Counts to divide sums by: drawn to equal ones as far as the noise explains that they differ, and never small."""
    classes = len(counts)
    even = max(counts.sum(), error * math.sqrt(classes) / 2, 2.0) / classes
    spread = np.square(counts - even).sum() / max(classes - 1, 1)
    kept = _kept(spread - error**2, error**2)
    return np.asarray(np.maximum(even + kept * (counts - even), max(1.0, even / 10)), np.float64)


def _shared_variance(variance: Floats, level: float) -> Floats:
    """The variance within classes of each column, drawn to the columns' mean as far as it is noise of this level."""
    if not variance.size:
        return variance
    centre = float(np.clip(variance.mean(), _NARROW, _EVEN))
    kept = _kept(np.square(variance - centre).mean() - level**2, level**2)
    floor = min(max(level, STEPS**-2.0), _MOST_FLOOR)
    return np.asarray(np.clip(centre + kept * (variance - centre), floor, 1), np.float64)


def _own_variances(variance: Floats, within: Floats, level: Floats, share: Floats) -> Floats:
    """The variance of each class, drawn to the one within all, and floored at the noise level."""
    noise = level[:, None]
    signal = (share * ((variance - within) ** 2 - noise**2)).sum(axis=0)
    kept = _kept(signal.mean() if signal.size else 0.0, noise**2)
    floor = np.minimum(np.maximum(noise, _LEAST_SHARE * within), within)
    return np.asarray(np.maximum(within + kept * (variance - within), floor), np.float64)


def _kept(signal: float, noise: float | Floats) -> float | Floats:
    """signal/(signal + noise), the share of a difference that is not noise; negative estimates count as none."""
    signal = max(float(signal), 0.0)
    return signal / (signal + noise) if signal else 0.0


def _tables(parts: SumsByClass, errors: Errors) -> tuple[Floats, ...]:
    """Shares of categories, each count raised by the noise level (by 1 at least), which draws them to even ones."""
    raised = [np.maximum(table, 0) + max(1.0, errors.tables) for table in parts.tables]
    return tuple(table / table.sum(axis=1, keepdims=True) for table in raised)
