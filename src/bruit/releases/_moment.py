"""What sums, means and variances have in common: a bounded number in whole steps, and one noisy result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bruit import _checks
from bruit.domains.domain import Missing
from bruit.errors import ParameterError
from bruit.estimation.tally import Counts
from bruit.releases.additive import MOST_RECORDS, AdditiveRelease, public_size, whole
from bruit.releases.base import CentralNeighbours
from bruit.releases.noise import MOST_SUM, Integers, Noise, cut
from bruit.releases.released import Ends, Released
from bruit.releases.steps import Steps

#: One record changes a sum by at most 2 to this power of units, so that 2⁴⁰ of them fit 61 bits.
_CHANGE_BITS = (MOST_SUM // MOST_RECORDS).bit_length() - 1


@dataclass(frozen=True, kw_only=True)
class Moment(AdditiveRelease):
    """What the three have in common: a bounded number, and the sums of its steps."""

    #: How many steps there are at most between the bounds, unless a step is declared.
    most_steps: ClassVar[int] = 2**19

    bounds: tuple[float, float]
    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    step: float | None = None
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        self._check_privacy()
        steps = self.steps
        object.__setattr__(self, "bounds", (float(self.bounds[0]), float(self.bounds[1])))
        object.__setattr__(self, "step", steps.step)
        if self.missing == "drop" and self.public:
            raise ParameterError(
                'Under "replace" the number of records is public, so none may be dropped: '
                'fill the gaps first, or use neighbours="add-remove".'
            )
        self.noise(2**30 if self.public else None)  # a scale beyond the limits is found here

    @cached_property
    def steps(self) -> Steps:
        """The steps between the bounds."""
        return Steps.between(self.bounds, most=self.most_steps, step=self.step, missing=self.missing)

    @property
    def public(self) -> bool:
        """Whether the number of records is public."""
        return self.neighbours == "replace"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "release": self.name,
            "bounds": list(self.bounds),
            "step": self.step,
            "missing": self.missing,
            **self._privacy(),
        }

    @property
    def cells(self) -> int:
        """The number of records, and the sum of their steps."""
        return 2

    def _count(self, column: Any) -> Counts:
        codes = self.steps.encode(column)
        return whole(codes.size, codes.sum(dtype=np.int64))

    def _unit(self, n: int | None) -> int:
        """How many steps (or squares of them) sums are rounded to: a power of two, 1 unless records change much.

        In multiples of it the sums of 2⁴⁰ records fit 61 bits, and what one record changes is still 2²⁰ or more.
        """
        return 1 << max(0, (self._change - 1).bit_length() - _CHANGE_BITS)

    @property
    def _change(self) -> int:
        """The most that one record changes any of the sums, in steps, where n is not public."""
        return self.steps.width

    def _rounded(self, n: int | None, *sums: int) -> Integers:
        """Sums of any size to the nearest multiple of the unit, and cut: a change of d becomes at most ⌈d/unit⌉."""
        unit = self._unit(n)
        return cut([(2 * total + unit) // (2 * unit) for total in sums])

    def _public_n(self, counts: Counts) -> int | None:
        return public_size(int(counts[0])) if self.public else None

    def _needed(self, n: int | None) -> int:
        if n is None:
            raise ParameterError(
                f"The error of a {self.name} depends on the number of records: expected_error(n=1000)."
            )
        return _checks.integer(low=1, n=n)

    def _released(self, value: float, error: float, ends: Ends, simulated: bool, *notes: str) -> Released:
        return Released(
            name=self.name,
            values=np.array([value]),
            labels=(self.name,),
            error=np.array([error]),
            guarantee=self.guarantee,
            simulated=simulated,
            release=self.to_dict(),
            ends=ends,
            notes=notes,
        )

    def _about(self, value: float, noise: Noise, unit: float, simulated: bool) -> Released:
        """A value that has this noise in these units."""

        def ends(level: float) -> Any:
            half = noise.half_width(level) * unit
            return [value - half, value + half]

        return self._released(value, noise.error * unit, ends, simulated)
