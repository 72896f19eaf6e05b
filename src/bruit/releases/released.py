"""What a release gives: noisy values, their error, their guarantee, and nothing without noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.errors import ParameterError
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, digits, ends, interval_of, label

Floats = NDArray[np.float64]
#: From a level to the ends of each value's interval, one row per value.
Ends = Callable[[float], Any]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Released(Tabular):
    """Noisy values that may be shown to anybody.

    Parameters
    ----------
    name
        What was released.
    values
        The noisy values, whole numbers or floats.
    labels
        What each value is about.
    error
        The standard deviation of the noise in each value; NaN where it is not known.
    guarantee
        What is promised to each person.
    simulated
        Whether the noise came from a seed, so that whoever knows the seed can undo it.
    release
        The public description of what was asked.
    ends
        From a level to the ends of the intervals; None if the release has none.
    notes
        What a reader must know, such as "approximate interval".
    """

    FORMAT = "bruit.release/1"

    name: str
    values: NDArray[Any]
    labels: tuple[Any, ...]
    error: Floats
    guarantee: Guarantee
    simulated: bool
    release: Mapping[str, Any]
    ends: Ends | None = field(default=None)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = _read_only(np.array(self.values, ndmin=1))
        error = np.broadcast_to(np.asarray(self.error, np.float64), values.shape)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "error", _read_only(np.array(error)))
        object.__setattr__(self, "labels", tuple(self.labels))
        if values.ndim != 1 or len(self.labels) != values.size:
            raise ParameterError("A release has one label for each value.")

    @property
    def value(self) -> Any:
        """The one value, as a plain number."""
        if self.values.size != 1:
            raise ParameterError(f"This release has {self.values.size} values: use values.")
        return self.values[0].item()

    def interval(self, level: float = 0.95) -> Any:
        """The ends between which each true value lies with probability `level`; about the noise alone.

        One row (lower, upper) for each value; a plain pair for a release of one value.
        """
        _checks.probability(level=level)
        if self.ends is None:
            raise ParameterError(f"A release of {self.name} has no interval.")
        ends = np.asarray(self.ends(level), np.float64).reshape(-1, 2)
        return (float(ends[0, 0]), float(ends[0, 1])) if self._alone else ends

    def __getitem__(self, label: Any) -> Any:
        try:
            return self.values[self.labels.index(label)].item()
        except ValueError:
            raise ParameterError("This is not one of the labels of the release.") from None

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def table(self, level: float = 0.95) -> Table:
        """Every value: columns label, value, error, and lower and upper where there is an interval."""
        columns = [*self._label_columns(), Column("value", self.values)]
        columns.append(Column("error", self.error, write=digits(3), hidden=not np.isfinite(self.error).any()))
        if self.ends is not None:
            rows = np.asarray(self.interval(level)).reshape(-1, 2)
            columns.append(Column("interval", rows, interval_of(level), write=ends, parts=("lower", "upper")))
        notes = [f"guarantee: {self.guarantee}", *self.notes]
        about = {key: value for key, value in self._facts(level).items() if key != "notes"}
        title = f"Released {self.name}" + (", simulated" if self.simulated else "")
        return Table(title, columns, notes, about, noun="value")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Plain values, for documents and programs."""
        return {**self._facts(level), "values": self.table(level).to_dict()["values"]}

    def to_json(self, level: float = 0.95) -> str:
        """The release as a document of format ``bruit.release/1``."""
        return documents.seal(self.FORMAT, self.to_dict(level), indent=2)

    def _facts(self, level: float) -> dict[str, Any]:
        return {
            "name": self.name,
            "release": dict(self.release),
            "guarantee": self.guarantee.to_dict(),
            "simulated": self.simulated,
            "level": level,
            "notes": list(self.notes),
        }

    def _label_columns(self) -> list[Column]:
        """Labels, apart from their group where there are groups."""
        if self.labels and all(isinstance(name, tuple) for name in self.labels):
            groups, names = zip(*self.labels, strict=True)
            return [Column("group", groups, kind="label", write=label), Column("label", names, "", "label", label)]
        return [Column("label", self.labels, "", "label", label)]

    @property
    def _alone(self) -> bool:
        return self.values.size == 1 and self.labels == (self.name,)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
