"""What a release gives: noisy values, their error, their guarantee, and nothing without noise."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.errors import ParameterError, translated
from bruit.estimation import frames
from bruit.privacy.guarantee import Guarantee

Floats = NDArray[np.float64]
#: From a level to the ends of each value's interval, one row per value.
Ends = Callable[[float], Any]

#: How many rows a repr shows.
SHOWN_ROWS = 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Released:
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
        with translated(ValueError, lambda _: ParameterError("This is not one of the labels of the release.")):
            return self.values[self.labels.index(label)].item()

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        """The release as named columns: label, value, error, and lower and upper where there is an interval."""
        columns: dict[str, Any] = {**self._label_columns(), "value": self.values, "error": self.error}
        if self.ends is not None:
            ends = np.asarray(self.interval(level)).reshape(-1, 2)
            columns |= {"lower": ends[:, 0], "upper": ends[:, 1]}
        return columns

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A data frame, one row per value: pandas, polars or pyarrow, the first that is installed unless named."""
        return frames.make(self.columns(level), backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Plain values, for documents and programs."""
        columns = self.columns(level)
        rows = [{key: _plain(column[place]) for key, column in columns.items()} for place in range(self.values.size)]
        return {
            "name": self.name,
            "release": dict(self.release),
            "guarantee": self.guarantee.to_dict(),
            "simulated": self.simulated,
            "level": level,
            "notes": list(self.notes),
            "values": rows,
        }

    def to_json(self, level: float = 0.95) -> str:
        """The release as a document of format ``bruit.release/1``."""
        return documents.seal(self.FORMAT, self.to_dict(level), indent=2)

    def _label_columns(self) -> dict[str, list[Any]]:
        """Labels, apart from their group where there are groups."""
        if self.labels and all(isinstance(label, tuple) for label in self.labels):
            group, label = zip(*self.labels, strict=True)
            return {"group": list(group), "label": list(label)}
        return {"label": list(self.labels)}

    @property
    def _alone(self) -> bool:
        return self.values.size == 1 and self.labels == (self.name,)

    def _title(self) -> str:
        return " · ".join([self.name, str(self.guarantee), *self.notes, *(["simulated"] if self.simulated else [])])

    def _table(self) -> list[list[str]]:
        head = ["", "value", "error"] + (["95 % interval"] if self.ends else [])
        columns = self.columns()
        rows = [head]
        for place in range(min(self.values.size, SHOWN_ROWS)):
            row = [self._label_text(place), f"{self.values[place]:,.6g}", f"{self.error[place]:.3g}"]
            if self.ends:
                row.append(f"{columns['lower'][place]:,.6g} … {columns['upper'][place]:,.6g}")
            rows.append(row)
        return rows

    def _label_text(self, place: int) -> str:
        label = self.labels[place]
        return " · ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)

    def _more(self) -> list[str]:
        hidden = self.values.size - SHOWN_ROWS
        return [f"and {hidden:,} more"] if hidden > 0 else []

    def __repr__(self) -> str:
        rows = self._table()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join([f"{row[0]:<{widths[0]}}", *(f"{cell:>{widths[i + 1]}}" for i, cell in enumerate(row[1:]))])
            for row in rows
        ]
        return "\n".join([f"Released: {self._title()}", *(line.rstrip() for line in lines), *self._more()])

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        heading = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        caption = html.escape(" · ".join([self._title(), *self._more()]))
        return f"<table><caption>{caption}</caption><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"


def _plain(value: Any) -> Any:
    """A number as JSON has it: NaN and infinities become nothing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
