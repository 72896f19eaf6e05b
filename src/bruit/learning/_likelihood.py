"""The arithmetic of naive Bayes: how likely each class makes a record, from a prior and one law per column.

Noise plays no part here. The private model feeds it with what it estimates from noisy sums; `ordinary` feeds it with
the plain shares, means and variances of a table, as a course does on the blackboard.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.learning._features import FeatureRows, Floats


class Laws(NamedTuple):
    """The prior of each class, the normal law of each number, and the shares of each categorical column."""

    prior: Floats
    mean: Floats
    variance: Floats
    tables: tuple[Floats, ...]


def joint_log_likelihood(rows: FeatureRows, laws: Laws) -> Floats:
    """The logarithm of prior × density × shares, for each row (first axis) and class.

    >>> laws = Laws(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1)), ())
    >>> joint_log_likelihood(FeatureRows(np.array([[0.5]]), ()), laws).round(3).tolist()
    [[-1.737, -1.737]]
    """
    with np.errstate(divide="ignore"):  # a share of 0 is a logarithm of −∞
        joint = np.tile(np.log(laws.prior), (len(rows.numbers), 1))
        for table, codes in zip(laws.tables, rows.codes, strict=True):
            joint += np.log(table).T[codes]
    for place, (mean, variance) in enumerate(zip(laws.mean, laws.variance, strict=True)):
        # ln φ = −½ ln(2πσ²) − (x − μ)²/(2σ²), summed over the columns.
        joint[:, place] -= 0.5 * np.log(2 * np.pi * variance).sum()
        joint[:, place] -= 0.5 * (np.square(rows.numbers - mean) / variance).sum(axis=1)
    return joint


def ordinary(rows: FeatureRows, codes: NDArray[np.integer], cells: tuple[int, ...], classes: int) -> Laws:
    """The laws without any privacy: shares, means, and variances with n − 1. For teaching and tests only."""
    members = [codes == code for code in range(classes)]
    prior = np.array([own.mean() for own in members])
    mean = np.array([rows.numbers[own].mean(axis=0) for own in members])
    variance = np.array([rows.numbers[own].var(axis=0, ddof=1) for own in members])
    tables = tuple(
        np.array([np.bincount(column[own], minlength=size) / own.sum() for own in members])
        for column, size in zip(rows.codes, cells, strict=True)
    )
    return Laws(prior, mean, variance, tables)
