"""Where quantiles are looked for: between two bounds, cut finely, or on the points of a declared grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.domains.domain import Codes, Missing
from bruit.errors import ParameterError
from bruit.releases._points import Integers
from bruit.releases.base import Floats
from bruit.releases.steps import POLICIES, Steps

#: How many cells there are between a pair of bounds, unless declared: as many as domains may have.
MOST_CELLS = _checks.K_LIMITS[1] - 2


class Scale(ABC):
    """Cells in which records are counted, and the numbers that stand for places in them."""

    #: Whether a place means the cell it is in, so that all places of a cell are alike.
    whole_cells: ClassVar[bool]

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many cells there are."""

    @property
    @abstractmethod
    def blur(self) -> float:
        """How far a record may be from the number of its place, because its cell is all that is kept of it."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest number."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """The cell of each number; one outside the bounds is in the nearest."""

    @abstractmethod
    def values(self, places: Integers, bits: int) -> Floats:
        """The numbers for places, of which a cell has 2 to the power `bits`."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""

    def count(self, values: Any) -> Any:
        """How many records are in each cell."""
        return np.bincount(self.encode(values), minlength=self.cells).astype(np.int64, copy=False)


@dataclass(frozen=True)
class Between(Scale):
    """Real numbers between two bounds."""

    whole_cells: ClassVar[bool] = False

    steps: Steps
    ends: tuple[float, float]

    @property
    def cells(self) -> int:
        """One around each multiple of the step."""
        return self.steps.width + 1

    @property
    def blur(self) -> float:
        """A record's place may be anywhere in its cell."""
        return self.steps.step

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared ones."""
        return self.ends

    def encode(self, values: Any) -> Codes:
        """The nearest multiple of the step."""
        return self.steps.encode(values)

    def values(self, places: Integers, bits: int) -> Floats:
        """The number at each place, within the bounds; a cell reaches half a step to both sides of its multiple."""
        inside: Floats = np.clip(self.steps.value(np.asarray(places) / 2.0**bits - 0.5), *self.ends)
        return inside

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"kind": "interval", "bounds": list(self.ends), "step": self.steps.step, "missing": self.steps.missing}


@dataclass(frozen=True)
class OnPoints(Scale):
    """Whole or rounded numbers, the points of a grid."""

    whole_cells: ClassVar[bool] = True

    grid: Grid

    @property
    def cells(self) -> int:
        """One for each point."""
        return self.grid.cells

    @property
    def blur(self) -> float:
        """A record counts as the point that it is rounded to."""
        return 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and the last point."""
        return float(self.grid.low), float(self.grid.high)

    def encode(self, values: Any) -> Codes:
        """The nearest point."""
        return self.grid.encode(values, clip=True)

    def values(self, places: Integers, bits: int) -> Floats:
        """The point whose cell a place is in."""
        points: Floats = self.grid.decode(np.asarray(places, np.int64) >> bits)
        return points

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return self.grid.to_dict()


def scale_of(bounds: Any, *, cells: int = MOST_CELLS, missing: Missing = "refuse") -> Scale:
    """The scale for a pair of bounds, or for a grid, which has its own policy for missing values."""
    _checks.one_of(POLICIES, missing=missing)
    if isinstance(bounds, Grid):
        if bounds.missing == "category":
            raise ParameterError('Missing values have no rank: declare missing="refuse" or missing="drop".')
        return OnPoints(bounds)
    most = _checks.integer(low=2, high=MOST_CELLS, resolution=cells)
    steps = Steps.between(bounds, most=most, missing=missing)
    return Between(steps, (float(bounds[0]), float(bounds[1])))
