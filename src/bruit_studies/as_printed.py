"""Algorithms of the documents as they were printed, mistakes included; for study, not for use.

The right versions are `bruit.releases.HistogramQuantiles`, `bruit.releases.quantiles.accuracy` and
`bruit.learning.NaiveBayes`. The functional mechanism for logistic regression is right as printed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.entropy import Entropy
from bruit.estimation.tally import Counts
from bruit.releases import HistogramQuantiles
from bruit.releases.quantiles.accuracy import MOST_N, _at_most
from bruit.releases.quantiles.histogram import NoiseChoice
from bruit.releases.statistic import CentralNeighbours, Floats


@dataclass(frozen=True, kw_only=True)
class DecilesAsPrinted(HistogramQuantiles):
    """The nine deciles as the course's listing has them, mistakes included.

    The questions ask about i·(b−a)/cells without the offset a, and so does the result; the result counts steps from 0
    although the questions start at 1; points equal to b are never below; "nothing above" gives −1 step. Its ε is right.
    Its list of questions is taken as emptied for each decile, as it must be.
    """

    kind: ClassVar[str] = "deciles by histogram, as printed"
    notes: ClassVar[tuple[str, ...]] = ("as printed, with its mistakes",)

    neighbours: CentralNeighbours = "replace"
    noise: NoiseChoice = "dwork-roth"

    @property
    def size(self) -> int:
        """One more than the steps, for what is never below."""
        return self.cells + 1

    @property
    def width(self) -> float:
        """The length of a step."""
        return (self.bounds[1] - self.bounds[0]) / self.cells

    @property
    def _cuts(self) -> Floats:
        # element < i*(b-a)/steps: the offset a is forgotten
        return np.asarray(np.arange(self.cells + 2, dtype=np.float64) * self.width)

    def _is_above(self, answers: Counts, threshold: Counts) -> NDArray[np.bool_]:
        return answers > threshold

    def _edge(self, index: int | None) -> float:
        # result * (b-a)/steps: the offset is forgotten again, the first question has index 0, and nothing above is -1.
        return (-1 if index is None else index) * self.width


def accuracy_as_printed(n: int, *, epsilon: float, cells: int, gamma: float, decile: int, beta: float = 0.05) -> float:
    """The course's theorem for the uniform distribution on 0..1, as printed: 1 − β − η − μ; for study, it is wrong.

    Its η is 2 − Σ + Σ with both sums near 0, so that the "probability" is about −1 whatever n is: the proof subtracts
    the probabilities of two good events where it means their complements, for which η = Σ + Σ. Its α has ε where each
    decile has ε/9, and the grid's step does not occur at all.

    >>> round(accuracy_as_printed(100_000, epsilon=1.0, cells=100, gamma=0.05, decile=5), 2)
    -1.05
    """
    _checks.integer(low=1, high=MOST_N, n=n)
    _checks.integer(low=1, high=9, decile=decile)
    _checks.probability(beta=beta)
    share = decile / 10
    alpha = 8 * (math.log(cells) + math.log(2 / beta)) / _checks.positive(epsilon=epsilon)
    few = 2 * _at_most(n, gamma / 2, alpha)
    eta = 2 - _at_most(n, share + gamma / 2, n * share) + _at_most(n, 1 - share + gamma / 2, n * (1 - share))
    return float(1 - beta - eta - few)


class ClassLaws(NamedTuple):
    """The share of each class, and the mean and variance of each number (columns) in each class (rows)."""

    prior: Floats
    mean: Floats
    variance: Floats

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The number of the likeliest class of each row."""
        away = (np.asarray(X, float)[:, None, :] - self.mean) ** 2 / self.variance + np.log(self.variance)
        return np.asarray(np.argmax(np.log(self.prior) - away.sum(axis=2) / 2, axis=1))


@dataclass(frozen=True, kw_only=True)
class VaidyaAsPrinted:
    """Naive Bayes for numbers with the noise that the course prints for Vaidya's algorithm, mistakes included.

    Each of d attributes and the classes have ε/(d + 1). In a class of n records the mean has Laplace noise for
    (U − L)/(n + 1), the variance for n(U − L)/(n + 1), and the count Laplace(0, 1). What the noise makes of a variance
    or count may be negative; the slides say nothing of it, and the least positive value of a grid of 1,000 cells, or 1,
    stands there.

    It is **not private at the ε it is given**, nor at any other: the count loses 1 whatever ε is, and the widths of the
    other noises depend on n, which is private, so that far results tell n (`loss_at`).
    """

    epsilon: float
    bounds: tuple[tuple[float, ...], tuple[float, ...]]

    def __post_init__(self) -> None:
        _checks.positive(epsilon=self.epsilon)

    @property
    def share(self) -> float:
        """ε/(d + 1)."""
        return self.epsilon / (len(self.bounds[0]) + 1)

    def scales(self, n: int) -> tuple[Floats, Floats]:
        """The printed scales of the noise on means and variances of a class of n records."""
        width = np.subtract(self.bounds[1], self.bounds[0])
        return width / (n + 1) / self.share, n * width / (n + 1) / self.share

    def fit(self, X: Any, y: Any, classes: int, rng: Entropy) -> ClassLaws:
        """Noisy shares, means and variances of the classes 0, 1, …"""
        draw, low, high = rng.generator(), *(np.asarray(bound, float) for bound in self.bounds)
        counts, means, variances = [], [], []
        for number in range(classes):
            rows = np.clip(np.asarray(X, float)[np.asarray(y) == number], low, high)
            of_mean, of_variance = self.scales(len(rows))
            means.append(rows.mean(axis=0) + draw.laplace(0, of_mean))
            variances.append(np.maximum(rows.var(axis=0) + draw.laplace(0, of_variance), ((high - low) / 1000) ** 2))
            counts.append(max(len(rows) + draw.laplace(0, 1), 1.0))
        return ClassLaws(np.array(counts) / sum(counts), np.array(means), np.array(variances))

    def loss_at(self, distance: float, n: int) -> float:
        """What one more record at the mean of n others loses where the noisy mean is this number of widths U − L away.

        The mean stays, the scale shrinks from 1/(n + 1) to 1/(n + 2): the logarithm of the ratio of the two densities.

        >>> model = VaidyaAsPrinted(epsilon=1.0, bounds=((0.0,), (1.0,)))
        >>> [round(model.loss_at(distance, 100), 2) for distance in (1, 10, 100)]
        [0.49, 4.99, 49.99]
        """
        return distance * self.share - math.log((n + 2) / (n + 1))


@dataclass(frozen=True, kw_only=True)
class FunctionalLogisticAsPrinted:
    """Logistic regression by the functional mechanism, as Zhang et al. (2012), whom the course cites, print it.

    Each number is brought to 0 … 1/√d by the declared bounds, so that a row has norm 1 at most; there is no intercept.
    The cost ln(1 + e^(xω)) − y·xω of a record is cut after its second order, ln 2 + xω/2 + (xω)²/8 − y·xω. Every
    coefficient of the sum gets Laplace noise for Δ = d²/4 + 3d. Four times the standard deviation of that noise is
    added to the diagonal, and directions in which the noisy function still does not rise are left out.

    Guarantee
    ---------
    ε for one record that is replaced: `worst_change` is what a record can add, and twice that is at most Δ.
    """

    epsilon: float
    bounds: tuple[tuple[float, ...], tuple[float, ...]]

    def __post_init__(self) -> None:
        _checks.positive(epsilon=self.epsilon)

    @property
    def sensitivity(self) -> float:
        """The printed Δ."""
        d = len(self.bounds[0])
        return d**2 / 4 + 3 * d

    def rows(self, X: Any) -> Floats:
        """Records as rows of norm 1 at most."""
        low, high = (np.asarray(bound, float) for bound in self.bounds)
        shares = (np.clip(np.asarray(X, float), low, high) - low) / (high - low)
        return np.asarray(shares / math.sqrt(len(low)))

    def coefficients(self, X: Any, y: Any) -> tuple[Floats, Floats]:
        """The linear and the quadratic coefficients, the latter as a symmetric matrix, summed over records."""
        rows, labels = self.rows(X), np.asarray(y, float)
        return rows.T @ (0.5 - labels), rows.T @ rows / 8

    def fit(self, X: Any, y: Any, rng: Entropy) -> Floats:
        """The noisy ω."""
        linear, square = self.coefficients(X, y)
        draw, scale, d = rng.generator(), self.sensitivity / self.epsilon, linear.size
        linear = linear + draw.laplace(0, scale, d)
        # Σ a_jk ω_j ω_k has one coefficient for each pair j ≤ k: the noise of a pair is halved over both places.
        noise = np.triu(draw.laplace(0, scale, (d, d)))
        square = square + (noise + noise.T) / 2 + 4 * math.sqrt(2) * scale * np.eye(d)
        values, vectors = np.linalg.eigh(square)
        kept = vectors[:, values > 0]
        if not kept.size:
            return np.zeros(d)
        return np.asarray(-kept @ np.linalg.solve(2 * kept.T @ square @ kept, kept.T @ linear))

    def predict(self, weights: Floats, X: Any) -> NDArray[np.int64]:
        """1 where the score is above 0."""
        return np.asarray(self.rows(X) @ weights > 0, np.int64)


def worst_change(row: Any) -> float:
    """The L1 norm of what a record with this row, of norm 1 at most, adds to the coefficients of the cut cost.

    >>> worst_change([1.0])
    0.625
    """
    size = float(np.abs(np.asarray(row, float)).sum())
    return size / 2 + size**2 / 8
