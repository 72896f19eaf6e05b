"""Domains read from data, wherever these are, in constant memory: convenient, and a disclosure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from bruit.domains import Schema
from bruit.domains.domain import DictionaryColumn
from bruit.engines.running import fold
from bruit.errors import DataError, ParameterError

#: Above this many different values, texts are not a list of categories.
MOST_VALUES = 10_000
#: More different whole numbers than this are a grid, whichever they are.
_ENOUGH = 1000
#: A number as a file writes it; 007 is a text.
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def read_schema(source: Any, columns: Iterable[str] | None = None) -> Schema:
    """The schema of a table of any kind, read from its values.

    Parameters
    ----------
    source
        What `batches` reads; a file is read in constant memory. Texts that are all numbers count as numbers.
    columns
        The columns to take; all by default.

    Warns
    -----
    DisclosureWarning
        As `Schema.from_frame`: what is read is disclosed, and no guarantee covers it.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True):
    ...     warnings.simplefilter("always")
    ...     schema = read_schema({"smokes": ["no", "yes", None]})
    >>> schema["smokes"].labels
    ('no', 'yes', '(missing)')
    """
    seen = fold(source, _Values.of, columns=columns)
    return Schema.from_frame({name: column.listed() for name, column in seen.items()})


class _Values(dict[str, "_Column"]):
    """The different values of every column; such things add."""

    @classmethod
    def of(cls, batch: dict[str, Any]) -> _Values:
        return cls({name: _Column.of(name, cells) for name, cells in batch.items()})

    def __add__(self, other: _Values) -> _Values:
        return _Values({name: column + other[name] for name, column in self.items()})


class _Column(NamedTuple):
    """The different values of a column; of very many numbers, as many as a schema depends on."""

    name: str
    values: frozenset[Any]
    gaps: bool
    shortened: bool = False

    @classmethod
    def of(cls, name: str, cells: Any) -> _Column:
        if isinstance(cells, DictionaryColumn):
            absent = cells.positions < 0
            values = np.asarray(cells.entries)[np.unique(cells.positions[~absent])].tolist()
        elif cells.ndim > 1:
            raise DataError(f"Column {name!r} must have one value per person: leave it out.")
        else:
            absent = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), bool)
            values = np.unique(cells[~absent]).tolist()
        return cls(name, frozenset(values), bool(absent.any()))._short()

    def __add__(self, other: Any) -> _Column:
        both = self.values | other.values
        return _Column(self.name, both, self.gaps or other.gaps, self.shortened or other.shortened)._short()

    def _short(self) -> _Column:
        if len(self.values) <= MOST_VALUES:
            return self
        ordered = sorted(self.values, key=self._number)
        # A grid is made of the ends, and of whether there are many different numbers and any that is not whole.
        broken = [value for value in ordered if not self._number(value).is_integer()][:1]
        return self._replace(values=frozenset([*ordered[:_ENOUGH], *broken, ordered[-1]]), shortened=True)

    def listed(self) -> list[Any]:
        """The values for `Schema.from_frame`: texts that are all numbers as numbers."""
        values = list(self.values)
        if self.shortened or (values and all(isinstance(value, str) and _PLAIN.fullmatch(value) for value in values)):
            numbers = [self._number(value) for value in values]
            values = [int(number) if number.is_integer() else number for number in numbers]
        return [*values, None] if self.gaps else values

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or (isinstance(value, str) and not _PLAIN.fullmatch(value)):
            raise ParameterError(
                f"Column {self.name!r} has more than {MOST_VALUES:,} different entries: it is not a list of "
                "categories. Name the columns to take."
            )
        return float(value)
