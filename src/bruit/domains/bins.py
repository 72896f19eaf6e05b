"""Declared bins: numbers between edges, so that a number becomes the code of its bin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.domain import Domain, column
from bruit.domains.grid import between, beyond, check_width, checked_bounds, read_numbers
from bruit.domains.missing import GAPS_OF_NUMBERS, Missing
from bruit.domains.outside import Outside, declared_outside
from bruit.domains.policy import Read
from bruit.errors import BruitError, DataError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.typing import ColumnLike


@dataclass(frozen=True, repr=False)
class Bins(Domain):
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

    policies: ClassVar[tuple[Outside, ...]] = ("refuse", "clamp", "other")
    gaps: ClassVar[str] = GAPS_OF_NUMBERS

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        if isinstance(self.edges, str | bytes) or not isinstance(self.edges, Sequence | np.ndarray):
            raise ParameterTypeError("edges must be a list of increasing numbers.")
        edges = [item.item() if isinstance(item, np.generic) else item for item in self.edges]
        floats = [_checks.finite(edges=edge) for edge in edges]
        if len(edges) < 2 or any(high <= low for low, high in itertools.pairwise(floats)):
            raise ParameterError("edges must be at least two increasing numbers.")
        check_width(floats[0], floats[-1])
        super().__post_init__()
        object.__setattr__(self, "edges", tuple(edges))

    @classmethod
    def even(
        cls, bounds: tuple[float, float], cells: int, *, missing: Missing = "refuse", outside: Outside | None = None
    ) -> Bins:
        """Bins of equal width between two bounds, with edges in the decimals that a person would write.

        >>> Bins.even((0, 0.3), 3).edges
        (0.0, 0.1, 0.2, 0.3)
        """
        low, high = (Fraction(repr(bound)) for bound in checked_bounds(bounds))
        many = _checks.integer(low=1, high=_checks.K_LIMITS[1], cells=cells)
        edges = tuple(float(low + (high - low) * place / many) for place in range(many + 1))
        return cls(edges, missing=missing, outside=outside)

    @property
    def declared(self) -> int:
        """How many bins are between the edges."""
        return len(self.edges) - 1

    @property
    def declared_names(self) -> tuple[str, ...]:
        """One name per bin."""
        last = len(self.edges) - 2
        pairs = enumerate(itertools.pairwise(self.edges))
        return tuple(f"[{low:g}, {high:g}{']' if place == last else ')'}" for place, (low, high) in pairs)

    def read(self, values: ColumnLike) -> Read:
        """The values as numbers, NaN where one is missing."""
        return between(read_numbers(values), *self._ends)

    def nearest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The nearest edge for numbers beyond all."""
        return np.asarray(np.clip(values, *self._ends))

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """The bin of each number."""
        return np.searchsorted(np.asarray(self.edges[1:-1], np.float64), values, side="right")

    def refusal(self, read: Read) -> DataError:
        """Numbers must lie between the edges."""
        return beyond(*self._ends)

    @property
    def _ends(self) -> tuple[float, float]:
        return float(self.edges[0]), float(self.edges[-1])

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
            return cls(tuple(body["edges"]), missing=body["missing"], outside=body.get("outside"))
