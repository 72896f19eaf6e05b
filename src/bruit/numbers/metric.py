"""Metric privacy on a line: geometric noise, and what falls beyond a bound is put on the bound (truncated geometric).

ε is per distance: two numbers that are d apart give one report with probabilities at most e^(ε·d) apart. The literature
calls it d-privacy, d_X-privacy or geo-indistinguishability. Cutting the noise to the bounds instead, as drawing again
does, divides each row by its own total, and a step at an end then costs up to twice ε (``metric.proof.md``). Rejected:
rounding to the nearest point, because two numbers that are hardly apart then differ by all the ε of a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.domains.grid import as_written
from bruit.errors import DataError, LimitError, ParameterError
from bruit.estimation.scores import Floats
from bruit.laws.distance import ClampedLaw
from bruit.numbers._by_distance import GridNumber
from bruit.numbers.base import Rounding
from bruit.privacy.guarantee import METRIC, Guarantee, checked_unit
from bruit.rounding import above, log_ceiling, share
from bruit.typing import ColumnLike

#: How many floats a radius has at least, near the bound that is farthest from zero.
FLOATS_IN_A_RADIUS = 1 << 20
#: The most, in cells, by which rounding to units of 2⁻³² moves two positions apart.
POSITION_ERROR = Fraction(1, 2**31)
#: The share of ε that is used between points. What is left covers `POSITION_ERROR` and the roundings of weights.
_EPSILON_USED = 1 - 2.0**-30


@dataclass(frozen=True, kw_only=True)
class MetricNumber(GridNumber):
    """Report a number near one's own, with ε per distance: near numbers are hidden among each other, far ones are not.

    Parameters
    ----------
    epsilon
        The most that a report may tell between two numbers that are `radius` apart, from 0.001 to 20.
    bounds, cells, domain
        As for every `Number`. Over real numbers a radius has 32 cells by default, and 32·ε above ε = 1, if there is
        room.
    rounding
        ``"nearest"``: answers are whole numbers, and others are refused. The default where both bounds are. Otherwise
        ``"stochastic"``: an answer between two points is put on either by chance.
    radius
        The distance that ε speaks of, in the unit of the bounds; 1 by default.
    unit
        The name of that unit, as in ``"km"``; it is shown with the guarantee.

    Guarantee
    ---------
    `metric`: ε between numbers at most `radius` apart, and `at` for another distance. Of whole numbers it is the
    largest ratio of adjacent rows, one cell after another. Between points it is in proportion, however near two numbers
    are: rounding by chance is counted. **It protects nearby numbers from each other only, and repeated reports average
    out.** `guarantee` is the ordinary ε-LDP between any two numbers (neighbours ``"value"``), exact for the whole width
    of the bounds. It is far larger, and it is the one that totals add. **Distances are those of the numbers as 64-bit
    floats**, which every source is read as: two decimals of more than 15 digits may be read farther apart than they
    are. A distance between points counts as 2⁻³¹ of a cell more. ``metric.proof.md`` has the argument.

    Error
    -----
    The noise has mean distance 1/ε and variance 2/ε², for fine cells and unit radius; with the default cells 2 and 3 %
    more. Clamping biases a plain average near the bounds; `estimate` moves what is reported at a bound outwards, by the
    mean of what lies beyond it, and is unbiased. A score has at most the variance of the noise and of the rounding.

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
    >>> print(MetricNumber(epsilon=1.0, bounds=(0.0, 20.0), unit="km").at(0.25))
    ε = 0.25 within 0.25 km (local, an answer moved by 0.25 km)
    """

    name: ClassVar[str] = "metric"
    #: How many cells a radius has over real numbers, unless declared: for each unit of ε, and at least.
    CELLS_OF_A_RADIUS: ClassVar[int] = 32

    rounding: Rounding = None  # type: ignore[assignment] # from the bounds
    radius: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _checks.positive(radius=self.radius))
        checked_unit(self.unit)
        is_open = self.rounding is None
        if is_open:
            object.__setattr__(self, "rounding", "stochastic")
        super().__post_init__()
        if is_open and self.domain.has_own_cells:
            object.__setattr__(self, "rounding", "nearest")
        if self.rounding == "nearest" and not self.domain.is_whole:
            raise ParameterError(
                'rounding must be "stochastic" unless the points are whole numbers: on the nearest point two numbers '
                "that are hardly apart differ by all the ε of a cell."
            )
        low, high = map(as_written, self.bounds)
        if as_written(self.radius) > high - low:
            raise ParameterError("radius must be at most the distance between the bounds, which the ordinary ε is for.")
        if math.ulp(max(map(abs, self.bounds))) * FLOATS_IN_A_RADIUS > self.radius:
            raise LimitError(
                "bounds must be nearer to zero: numbers are read as 64-bit floats, which so far from zero differ by "
                "more than a millionth of the radius. Take a fixed number off all of them first."
            )

    @cached_property
    def law(self) -> ClampedLaw:
        """Geometric noise, clamped to the grid."""
        return ClampedLaw.geometric(self._step_epsilon, self.cells)

    @property
    def _step_epsilon(self) -> float:
        """The ε from one point to the next, h: in proportion between points, it costs e^h − 1 a cell."""
        if self.rounding == "nearest":
            return share(self.epsilon, self._whole_cells(self.radius))
        return math.log1p(self.epsilon * _EPSILON_USED / float(max(self.cells_in(self.radius), Fraction(1))))

    @property
    def metric(self) -> Guarantee:
        """What is promised of two numbers at most `radius` apart."""
        return self.at(self.radius)

    def at(self, distance: float) -> Guarantee:
        """What is promised of two numbers at most this far apart."""
        distance = _checks.positive(distance=distance)
        exact, most = self._between(distance), self.guarantee.epsilon
        epsilon = above(exact) if exact < Fraction(most) else most
        return Guarantee(epsilon=epsilon, neighbours=METRIC, radius=distance, unit=self.unit)

    def _between(self, distance: float) -> Fraction:
        """The loss between two numbers so far apart: a step for each whole cell, or in proportion between points."""
        if self.rounding == "nearest":
            return self._whole_cells(distance) * Fraction(log_ceiling(self.law.step_ratio))
        return self.slope * (self.cells_in(distance) + POSITION_ERROR)

    @property
    def slope(self) -> Fraction:
        """How fast the logarithm of a chance changes at most, per cell, where rounding is by chance: R − 1."""
        return self.law.step_ratio - 1

    @cached_property
    def message_scores(self) -> Floats:
        """The number reported; at a bound, moved outwards by the mean of what lies beyond it, which is unbiased."""
        scores = np.array(self.points)
        # Noise beyond a bound has forgotten where it began: its mean is 1/(e^h − 1) cells.
        beyond = float(self.domain.step) / math.expm1(self._step_epsilon)
        scores[[0, -1]] += -beyond, beyond
        return scores

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of the numbers; with rounding to the nearest point only whole numbers have one."""
        if self.rounding != "nearest":
            return super().encode(values)
        numbers = self.domain.admit(values).values
        if not (np.floor(numbers) == numbers).all():
            raise DataError(
                "values must be whole numbers, because ε is from one whole number to the next. For other numbers "
                'declare bounds with a point, as in 0.0 and 50.0 (0.0..50.0), or rounding="stochastic".'
            )
        return super().encode(numbers)

    def cells_in(self, distance: float) -> Fraction:
        """How many cells the distance has, in the decimals that people write, of bounds in decimals or in floats."""
        low, high = map(as_written, self.bounds)
        # Numbers are placed by the floats of the bounds, whose distance may be the smaller one.
        width = min(high - low, Fraction(self.domain.high) - Fraction(self.domain.low))
        return as_written(distance) * (self.cells - 1) / width

    def _whole_cells(self, distance: float) -> int:
        """The same, rounded up."""
        return math.ceil(self.cells_in(distance))

    def _default_cells(self) -> int:
        low, high = map(as_written, self.bounds)
        fine = math.floor(self._cells_of_a_radius * (high - low) / as_written(self.radius))
        return min(max(fine, 1) + 1, self.MOST_CELLS)

    @property
    def _cells_of_a_radius(self) -> int:
        return math.ceil(self.CELLS_OF_A_RADIUS * max(1.0, self.epsilon))

    def _settings(self) -> dict[str, Any]:
        return {"radius": self.radius, "unit": self.unit}
