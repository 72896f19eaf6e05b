"""Declared bins: numbers between edges, so that a number becomes the code of its bin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.domains.domain import column
from bruit.domains.grid import Grid, check_width, checked_bounds, read_numbers
from bruit.domains.missing import ABSENT, GAPS_OF_NUMBERS, MISSING_LABEL, Missing, keep_present
from bruit.domains.outside import OTHER_LABEL, Outside, check_outside, declared_outside, with_outside
from bruit.errors import BruitError, DataError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.typing import ColumnLike


@dataclass(frozen=True)
class Bins:
    """Intervals between increasing edges, each with its lower edge and without its upper; the last one has both.

    Parameters
    ----------
    edges
        At least two numbers, increasing. They are public: never read them from the data.
    missing
        The policy for missing values, as in `Categories`.
    outside
        What happens to a number beyond the edges: ``"refuse"``, ``"clamp"`` (it counts in the nearest bin), as in
        `Grid`, or ``"other"`` (in a bin of its own).

    Examples
    --------
    >>> ages = Bins([0, 18, 65, 120])
    >>> ages.names
    ('[0, 18)', '[18, 65)', '[65, 120]')
    >>> ages.encode([17.9, 18, 120]).tolist()
    [0, 1, 2]
    """

    gives: ClassVar[Literal["frequency", "mean"]] = "frequency"
    policies: ClassVar[tuple[Outside, ...]] = ("refuse", "clamp", "other")

    edges: tuple[float, ...]
    missing: Missing = "refuse"
    outside: Outside | None = None

    def __post_init__(self) -> None:
        if isinstance(self.edges, str | bytes) or not isinstance(self.edges, Sequence | np.ndarray):
            raise ParameterTypeError("edges must be a list of increasing numbers.")
        edges = [item.item() if isinstance(item, np.generic) else item for item in self.edges]
        floats = [_checks.finite(edges=edge) for edge in edges]
        if len(edges) < 2 or any(high <= low for low, high in itertools.pairwise(floats)):
            raise ParameterError("edges must be at least two increasing numbers.")
        check_width(floats[0], floats[-1])
        _checks.one_of(get_args(Missing), missing=self.missing)
        check_outside(self.outside, self.policies)
        object.__setattr__(self, "edges", tuple(edges))

    @classmethod
    def even(
        cls, bounds: tuple[float, float], cells: int, missing: Missing = "refuse", outside: Outside | None = None
    ) -> Bins:
        """Bins of equal width between two bounds, with edges in the decimals that a person would write.

        >>> Bins.even((0, 0.3), 3).edges
        (0.0, 0.1, 0.2, 0.3)
        """
        low, high = (Fraction(repr(bound)) for bound in checked_bounds(bounds))
        many = _checks.integer(low=1, high=_checks.K_LIMITS[1], cells=cells)
        return cls(tuple(float(low + (high - low) * place / many) for place in range(many + 1)), missing, outside)

    @property
    def size(self) -> int:
        """How many bins there are, those for other and for missing values included."""
        return self._bins + (self.outside == "other") + (self.missing == "category")

    @property
    def _bins(self) -> int:
        """How many bins are between the edges."""
        return len(self.edges) - 1

    @property
    def names(self) -> tuple[str, ...]:
        """One name per bin."""
        last = len(self.edges) - 2
        pairs = enumerate(itertools.pairwise(self.edges))
        names = tuple(f"[{low:g}, {high:g}{']' if place == last else ')'}" for place, (low, high) in pairs)
        other = (OTHER_LABEL,) if self.outside == "other" else ()
        return (*names, *other, MISSING_LABEL) if self.missing == "category" else (*names, *other)

    def encode(self, values: ColumnLike) -> Codes:
        """The bin of each number; one outside the edges is an error, or in the nearest bin, or in one of its own."""
        numbers = read_numbers(values) if self.outside == "other" else self._range.read(values)
        absent = np.isnan(numbers)
        codes = np.searchsorted(np.asarray(self.edges[1:-1], np.float64), numbers, side="right").astype(np.int64)
        if self.outside == "other":
            codes[(numbers < self.edges[0]) | (numbers > self.edges[-1])] = self._bins
        codes[absent] = ABSENT
        return keep_present(codes, self.size, self.missing, GAPS_OF_NUMBERS)

    def decode(self, codes: Any) -> NDArray[Any]:
        """The names of the bins behind codes."""
        array = column(codes, "codes")
        if array.dtype.kind not in "ui" or (array.size and not (array.min() >= 0 and array.max() < self.size)):
            raise DataError(f"codes must be integers in 0..{self.size - 1}.")
        names = np.empty(self.size, object)
        names[:] = self.names
        return np.asarray(names[array])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        body = {"kind": "bins", "edges": list(self.edges), "missing": self.missing}
        return {**body, **declared_outside(self.outside)}

    @classmethod
    def from_dict(cls, body: Any) -> Bins:
        """The inverse of `to_dict`."""
        rule = "Bins must have edges and a policy for missing values."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            return cls(tuple(body["edges"]), body["missing"], body.get("outside"))

    @cached_property
    def _range(self) -> Grid:
        return with_outside(Grid(float(self.edges[0]), float(self.edges[-1]), cells=2), self.outside)
