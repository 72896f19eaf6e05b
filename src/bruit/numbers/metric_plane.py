"""Metric privacy in the plane: geometric noise on each of two axes, clamped to a rectangle (geo-indistinguishability).

For the Euclidean distance each axis has ε/√2, because |dx| + |dy| ≤ √2·d. A place between points of the grid is put on
one of them by chance, so that ε of any two places is in proportion to their distance. Planar Laplace noise errs
2/ε on average and this 2.29/ε; it needs no trigonometry in floating point, is drawn exactly, and stays within the
rectangle (``metric_plane.proof.md``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.grid import Grid
from bruit.engines import memory, report_parsing
from bruit.entropy import Words
from bruit.errors import (
    BruitError,
    DataError,
    DataTypeError,
    FormatError,
    LimitError,
    ParameterError,
    in_column,
    translated,
)
from bruit.estimation.number import NumberEstimate
from bruit.estimation.support import Target
from bruit.estimation.tally import IMPOSSIBLE, Tally, check_design
from bruit.laws import Form
from bruit.numbers.metric import POSITION_ERROR, MetricNumber
from bruit.privacy.guarantee import METRIC, Guarantee, checked_unit
from bruit.randomizer import Randomizer
from bruit.rounding import above, log_ceiling
from bruit.tables.facts import Described

#: Each axis has a part of ε, and a limit of its own.
LEAST_EPSILON = 0.002
#: The most points of the plane: a tally counts each.
MOST_POINTS = 1 << 20


class _Axis(MetricNumber):
    """A coordinate of a plane, on a coarser grid."""

    @property
    def _cells_of_a_radius(self) -> int:
        return 8


@dataclass(frozen=True, kw_only=True)
class MetricPlane(Described, Randomizer):
    """Report a place near one's own, with ε per Euclidean distance: the two coordinates, each with geometric noise.

    Parameters
    ----------
    epsilon
        The most that a report may tell between two places that are `radius` apart, from 0.002 to 20.
    x, y
        Each a pair of bounds, as for `MetricNumber`, or a `Grid`. All distances are in one unit: project degrees first.
    radius, unit
        The distance that ε speaks of, 1 by default, and the name of its unit, as in ``"km"``.

    Guarantee
    ---------
    `metric`: ε between any two places at most `radius` apart, and in proportion for other distances (`at`). A place is
    put on one of the four points of the grid around it, by chance, and ε counts that. A distance counts as 2⁻³¹ of a
    cell more along each axis, because coordinates are rounded to such parts. Distances are those of coordinates as
    64-bit floats. **It protects nearby places from each other only, and repeated reports average out.** `guarantee` is
    the ordinary ε-LDP between any two places. It is exact, and it is the one that totals add.
    ``metric_plane.proof.md`` has the argument.

    Error
    -----
    For fine grids and unit radius, a report is 2.29/ε from the place on average; with eight cells a radius 4 % more at
    ε = 1. `estimate` gives the mean place, each coordinate unbiased, with a variance of about 4/ε² per report, 4.4/ε²
    with eight cells at ε = 1, and what the places themselves vary.

    References
    ----------
    Andrés, M., Bordenabe, N., Chatzikokolakis, K., Palamidessi, C. (2013), Geo-indistinguishability: differential
    privacy for location-based systems.

    Examples
    --------
    >>> town = MetricPlane(epsilon=1.0, x=(0, 12), y=(0, 9), unit="km")
    >>> print(town.metric, town.guarantee, sep="\\n")
    ε = 1 per km (local, an answer moved by 1 km)
    ε = 11.2308 (local, one answer changed)
    >>> reports = town.privatize([(3, 4), (3, 5), (10, 1)], rng=7)
    >>> town.decode(reports).shape
    (3, 2)
    """

    epsilon: float
    x: Grid | tuple[float, float]
    y: Grid | tuple[float, float]
    radius: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        checked_unit(self.unit)
        if self.epsilon < LEAST_EPSILON:
            raise LimitError(f"epsilon must lie in {LEAST_EPSILON}..20 for a plane, got {self.epsilon}.")
        for name, axis in zip(("x", "y"), self.axes.values(), strict=True):
            if axis.domain.missing == "drop":
                raise ParameterError(f"{name} must not drop missing numbers: a place needs both coordinates.")
            object.__setattr__(self, name, axis.domain)
        object.__setattr__(self, "radius", self.axes["x"].radius)
        if self.size > MOST_POINTS:
            raise LimitError(f"x and y must have at most {MOST_POINTS:,} points together, got {self.size:,}.")

    @cached_property
    def axes(self) -> dict[str, MetricNumber]:
        """The mechanism of each coordinate: between two places d apart along it, ε/√2 per radius."""
        share = self.epsilon / math.sqrt(2)
        return {name: self._axis(share, line) for name, line in (("x", self.x), ("y", self.y))}

    def _axis(self, share: float, line: Grid | tuple[float, float]) -> MetricNumber:
        where: dict[str, Any] = {"bounds": line} if isinstance(line, tuple | list) else {"domain": line}
        return _Axis(epsilon=share, **where, radius=self.radius, unit=self.unit, rounding="stochastic")

    @property
    def size(self) -> int:
        """How many points the grid has."""
        return math.prod(axis.cells for axis in self.axes.values())

    # What is promised.

    @property
    def metric(self) -> Guarantee:
        """What is promised of two points at most `radius` apart."""
        return self.at(self.radius)

    def at(self, distance: float) -> Guarantee:
        """What is promised of two places at most this far apart."""
        axes = self.axes.values()
        distance = _checks.positive(distance=distance)
        along = max(axis.slope * axis.cells_in(distance) for axis in axes)
        exact = _root_above(2 * along**2) + POSITION_ERROR * sum(axis.slope for axis in axes)
        most = self.guarantee.epsilon
        epsilon = above(exact) if exact < Fraction(most) else most
        return Guarantee(epsilon=epsilon, neighbours=METRIC, radius=distance, unit=self.unit)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised of any two places: the two axes together."""
        ratio = math.prod((axis.law.ratio for axis in self.axes.values()), start=Fraction(1))
        return Guarantee(epsilon=log_ceiling(ratio), neighbours="value")

    def matrix(self) -> list[list[Fraction]]:
        """P(report | point), exactly: one row per point, x before y."""
        if self.size**2 > MOST_POINTS:
            raise LimitError("matrix() is made for at most 1,024 points; use fewer cells.")
        x, y = (axis.matrix() for axis in self.axes.values())
        return [[a * b for a in first for b in second] for first in x for second in y]

    # What a person does.

    def encode(self, values: Any) -> NDArray[np.uint64]:
        """Codes of places, which are pairs of numbers, one pair per person."""
        places = _pairs(values)
        columns = []
        for place, (name, axis) in enumerate(self.axes.items()):
            with in_column(name):
                columns.append(axis.encode(places[:, place]).astype(np.uint64))
        return np.stack(columns, axis=1)

    def randomize(self, codes: Any, words: Words) -> NDArray[Any]:
        """Reports of codes that `encode` gave; block i of these people uses up part i of the words."""
        out = self.form.empty(len(codes))

        def write(index: int, block: slice) -> None:
            entropy = words.part(index).stream()
            cells = [np.empty(len(codes[block]), axis.form.dtype) for axis in self.axes.values()]
            for place, axis in enumerate(self.axes.values()):
                axis._randomize(codes[block, place], entropy, cells[place])
            out[block] = cells[0].astype(np.uint64) * np.uint64(self.axes["y"].cells) + cells[1]

        memory.each_block(len(codes), write)
        return out

    def decode(self, reports: Any) -> NDArray[np.float64]:
        """The randomised places, a pair of numbers per report."""
        messages = report_parsing.strict(self.form, reports)
        if not self.valid(messages).all():
            raise DataError(f"reports must be integers in 0..{self.size - 1}.")
        x, y = np.divmod(messages.astype(np.int64), self.axes["y"].cells)
        return np.stack([self.axes["x"].outputs[x], self.axes["y"].outputs[y]], axis=1)

    # What the collector does.

    @cached_property
    def form(self) -> Form:
        """The dtype and bytes of a report."""
        return Form.integers(self.size)

    def valid(self, reports: Any) -> NDArray[np.bool_]:
        """Those that are points."""
        return np.asarray(reports < self.size)

    def count(self, reports: Any) -> Tally:
        """The tally of reports; one that no person can have sent is refused."""
        points, refused = report_parsing.lawful(self.form, reports, self.valid)
        counts = np.bincount(points.astype(np.int64), minlength=self.size)
        return Tally(design=self.digest, counts=counts, n=points.size, refused=refused)

    def estimate(self, tally: Tally, target: Target = "population") -> dict[str, NumberEstimate]:
        """The mean of each coordinate, as `Number.estimate` gives it."""
        check_design(tally, self.digest, self.size)
        if tally.total != tally.n:
            raise DataError(IMPOSSIBLE)
        table = tally.counts.reshape([axis.cells for axis in self.axes.values()])
        margins = zip(self.axes.items(), (table.sum(axis=1), table.sum(axis=0)), strict=True)
        return {name: self._margin(name, axis, counts, tally, target) for (name, axis), counts in margins}

    def _margin(self, name: str, axis: MetricNumber, counts: Any, tally: Tally, target: Target) -> NumberEstimate:
        own = Tally(design=axis.digest, counts=counts, n=tally.n, refused=tally.refused, simulated=tally.simulated)
        return replace(axis.estimate(own, target), name=name, guarantee=self.guarantee)

    # Identity.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; tallies carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what a report means."""
        axes = {name: axis.domain.to_dict() for name, axis in self.axes.items()}
        return {"plane": METRIC, "epsilon": self.epsilon, **axes, "radius": self.radius, "unit": self.unit}

    @classmethod
    def from_dict(cls, body: Any) -> MetricPlane:
        """The inverse of `to_dict`."""
        rule = "This document does not describe a plane that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            if body["plane"] != METRIC:
                raise FormatError(rule)
            axes = {name: Grid.from_dict(body[name]) for name in ("x", "y")}
            return cls(epsilon=body["epsilon"], **axes, radius=body["radius"], unit=body["unit"])

    def _facts(self) -> Mapping[str, Any]:
        """For a notebook: the parameters, and both guarantees."""
        return {**super()._facts(), "nearby places": self.metric, "guarantee": self.guarantee}


def _pairs(values: Any) -> NDArray[Any]:
    """Places as an array of two columns."""
    rule = "places must be pairs of numbers, one pair per person."
    own = values.to_numpy() if hasattr(values, "to_numpy") else values
    with translated((ValueError, TypeError), lambda _: DataTypeError(rule)):
        pairs = own if isinstance(own, np.ndarray) else np.array(list(own), dtype=object)
    if not pairs.size:
        return np.empty((0, 2))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DataTypeError(rule)
    return pairs


def _root_above(square: Fraction) -> Fraction:
    """A number whose square is not below this, by less than 2⁻⁶⁰ of itself too large.

    >>> root = _root_above(Fraction(2, 10**400))
    >>> root**2 >= Fraction(2, 10**400) > (root * (1 - Fraction(1, 2**60))) ** 2
    True
    """
    # The root of 4^s·square has some 64 binary digits, and is rounded up to a whole number.
    scale = 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    whole = math.ceil(square * Fraction(4) ** scale)
    return (math.isqrt(whole - 1) + 1) / Fraction(2) ** scale
