"""Two listings of a course as they were printed, mistakes included; for study, not for use.

The right versions are `bruit.releases.HistogramQuantiles` and `bruit.releases.quantiles.accuracy`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
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
