"""Fitting a distribution to noisy reports: EM, and EM with smoothing (EMS).

EM looks for the most likely distribution given the reports. It fits the noise too when there are many cells, so EMS
averages neighbouring cells with weights ¼, ½, ¼ after each step (Li et al. 2020). EMS is the better choice for smooth
distributions and few people; it flattens narrow peaks, and there EM is better.

The channel, P(message | cell), is only ever multiplied with, so a channel of sliding windows needs no matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.estimation.tally import Counts

Floats: TypeAlias = NDArray[np.float64]
#: How a distribution is fitted: with smoothing, or without.
DistributionMethod: TypeAlias = Literal["EMS", "EM"]
#: Why the steps ended.
Stop: TypeAlias = Literal["tolerance", "iterations"]


class LinearMap(Protocol):
    """The law of a mechanism as a linear map, and its transpose."""

    def forward(self, share: Floats) -> Floats:
        """The shares of messages where the cells have these shares."""
        ...

    def backward(self, score: Floats) -> Floats:
        """The mean score of the messages from each cell."""
        ...


@dataclass(frozen=True, eq=False)
class DenseChannel:
    """A channel given as its matrix: one row per cell, one column per message."""

    matrix: Floats

    def forward(self, share: Floats) -> Floats:
        """The shares of messages where the cells have these shares."""
        return share @ self.matrix

    def backward(self, score: Floats) -> Floats:
        """The mean score of the messages from each cell."""
        return self.matrix @ score


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How to fit a distribution, and when to stop.

    Parameters
    ----------
    method
        ``"EMS"``: with smoothing over neighbouring cells. ``"EM"``: the most likely distribution.
    tolerance
        Stop when a step changes the log-likelihood per report by less than this.
    iterations
        The most steps.
    """

    method: DistributionMethod = "EMS"
    tolerance: float = 1e-9
    iterations: int = 10_000

    def __post_init__(self) -> None:
        _checks.one_of(("EMS", "EM"), method=self.method)
        _checks.positive(tolerance=self.tolerance)
        _checks.integer(low=1, iterations=self.iterations)


@dataclass(frozen=True, eq=False)
class DistributionFit:
    """A fitted distribution: the probability of each cell, the number of steps, and which rule ended them."""

    probability: Floats
    steps: int
    stop: Stop
    likelihood: float


def fit(channel: LinearMap, counts: Counts, cells: int, rule: Rule) -> DistributionFit:
    """Fit a distribution over the cells to the counts of messages, from the uniform one on."""
    observed = counts / counts.sum()
    probability, before = np.full(cells, 1 / cells), -np.inf
    for step in range(rule.iterations):
        expected = channel.forward(probability)
        likelihood = float(observed @ np.log(expected))
        if abs(likelihood - before) < rule.tolerance:
            return DistributionFit(probability, step, "tolerance", likelihood)
        # Each cell's share grows by how much better it explains the reports than the average cell does.
        probability = probability * channel.backward(observed / expected)
        if rule.method == "EMS":
            probability = smooth(probability)
        probability /= probability.sum()
        before = likelihood
    return DistributionFit(probability, rule.iterations, "iterations", before)


def smooth(probability: Floats) -> Floats:
    """Each cell's mean with its neighbours, weights ¼, ½, ¼; at the ends a cell is its own neighbour.

    >>> smooth(np.array([0.0, 1.0, 0.0, 0.0])).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    out = probability / 2
    out[1:] += probability[:-1] / 4
    out[:-1] += probability[1:] / 4
    out[0] += probability[0] / 4
    out[-1] += probability[-1] / 4
    return out
