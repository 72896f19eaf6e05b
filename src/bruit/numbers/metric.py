"""Metric privacy on a line: geometric noise, and what falls beyond a bound is put on the bound (truncated geometric).

ε is per distance: two numbers that are d apart give one report with probabilities at most e^(ε·d) apart. The literature
calls it d-privacy, d_X-privacy or geo-indistinguishability. Cutting the noise to the bounds instead, as drawing again
does, divides each row by its own total, and a step at an end then costs up to twice ε (``metric.proof.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains.grid import as_written
from bruit.errors import LimitError, ParameterError
from bruit.estimation.scores import Floats
from bruit.laws.distance import ClampedLaw
from bruit.numbers._by_distance import OnTheGrid
from bruit.privacy.guarantee import METRIC, Guarantee, checked_unit
from bruit.rounding import above, log_ceiling, share

#: How many floats a radius has at least, near the bound that is farthest from zero.
READ_IN_A_RADIUS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class MetricNumber(OnTheGrid):
    """Report a number near one's own, with ε per distance: near numbers are hidden among each other, far ones are not.

    Parameters
    ----------
    epsilon
        The most that a report may tell between two numbers that are `radius` apart, from 0.001 to 20.
    bounds, cells, domain, rounding
        As for every `Number`. Over real numbers a radius has 32 cells by default, if there is room.
    radius
        The distance that ε speaks of, in the unit of the bounds; 1 by default.
    unit
        The name of that unit, as in ``"km"``; it is shown with the guarantee.

    Guarantee
    ---------
    `metric`: ε between numbers at most `radius` apart, and `at` for another distance: the largest ratio of adjacent
    rows, one cell after another. **It protects nearby numbers from each other only, and repeated reports average out.**
    `guarantee` is the ordinary ε-LDP between any two numbers (neighbours ``"value"``), exact for the whole width of the
    bounds: far larger, and what adds up. Unless the points of the grid are whole numbers, one cell more is counted,
    because a float half-way between two points may be put on either. **Distances are those of the numbers as 64-bit
    floats**, which every source is read as: two decimals of more than 15 digits may be read farther apart than they
    are. ``metric.proof.md`` has the argument.

    Error
    -----
    The noise has mean distance 1/ε and variance 2/ε², for fine cells and unit radius; 3 and 6 % more with 32 cells in a
    radius, because of the one more that is counted. Clamping biases a plain average
    near the bounds; `estimate` moves what is reported at a bound outwards, by the mean of what lies beyond it, and is
    unbiased. A score has no more variance than the noise.

    References
    ----------
    Chatzikokolakis, K., Andrés, M., Bordenabe, N., Palamidessi, C. (2013), Broadening the scope of differential privacy
    using metrics.
    Ghosh, A., Roughgarden, T., Sundararajan, M. (2012), Universally utility-maximizing privacy mechanisms.

    Examples
    --------
    >>> road = MetricNumber(epsilon=1.0, bounds=(0, 20), unit="km")
    >>> print(road.metric, road.at(3), road.guarantee, sep="\\n")
    ε = 1 per km (local, an answer moved by 1 km)
    ε = 3 within 3 km (local, an answer moved by 3 km)
    ε = 20 (local, one answer changed)
    >>> reports = road.privatize([3, 4, 17], rng=7)
    >>> road.decode(reports).shape
    (3,)
    """

    name: ClassVar[str] = "metric"
    #: How many cells a radius has over real numbers, unless declared.
    CELLS_OF_A_RADIUS: ClassVar[int] = 32

    radius: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _checks.positive(radius=self.radius))
        checked_unit(self.unit)
        super().__post_init__()
        low, high = map(as_written, self.bounds)
        if as_written(self.radius) > high - low:
            raise ParameterError("radius must be at most the distance between the bounds, which the ordinary ε is for.")
        if math.ulp(max(map(abs, self.bounds))) * READ_IN_A_RADIUS > self.radius:
            raise LimitError(
                "bounds must be nearer to zero: numbers are read as 64-bit floats, which so far from zero differ by "
                "more than a millionth of the radius. Take a fixed number off all of them first."
            )

    @cached_property
    def law(self) -> ClampedLaw:
        """Geometric noise of the ε of a cell, clamped to the grid."""
        return ClampedLaw.geometric(share(self.epsilon, self.cells_in(self.radius)), self.cells)

    @property
    def metric(self) -> Guarantee:
        """What is promised of two numbers at most `radius` apart."""
        return self.at(self.radius)

    def at(self, distance: float) -> Guarantee:
        """What is promised of two numbers at most this far apart: the ε of a cell for each cell between them."""
        cells = self.cells_in(_checks.positive(distance=distance))
        step = Fraction(log_ceiling(self.law.step_ratio))
        epsilon = min(above(cells * step), self.guarantee.epsilon)
        return Guarantee(epsilon=epsilon, neighbours=METRIC, radius=distance, unit=self.unit)

    @cached_property
    def message_scores(self) -> Floats:
        """The number reported; at a bound, moved outwards by the mean of what lies beyond it, which is unbiased."""
        scores = np.array(self.points)
        # Noise beyond a bound has forgotten where it began: its mean is 1/(e^ε − 1) cells.
        beyond = float(self.domain.step) / math.expm1(share(self.epsilon, self.cells_in(self.radius)))
        scores[[0, -1]] += -beyond, beyond
        return scores

    def cells_in(self, distance: float) -> int:
        """How many cells two numbers that far apart may be apart at most, in the decimals that people write."""
        # Whole points place floats exactly; others put a number half-way between two points on either of them.
        between = self._cells_between(distance)
        return between if self.domain.is_whole else min(between + 1, self.cells - 1)

    def _cells_between(self, distance: float) -> int:
        """How many cells the distance has, begun ones included."""
        low, high = map(as_written, self.bounds)
        return math.ceil(as_written(distance) * (self.cells - 1) / (high - low))

    def _default_cells(self) -> int:
        low, high = map(as_written, self.bounds)
        fine = math.floor(self.CELLS_OF_A_RADIUS * (high - low) / as_written(self.radius))
        return min(max(fine, 1) + 1, self.MOST_CELLS)

    def _settings(self) -> dict[str, Any]:
        return {"radius": self.radius, "unit": self.unit}
