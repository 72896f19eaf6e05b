"""The attributes that a command is given: a schema document, declared one by one, or read from data with a warning."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from bruit import _checks
from bruit.cli import _answers, console
from bruit.errors import DataError, DisclosureWarning, FormatError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.domains import Schema

#: A number as a file writes it; 007 is a text.
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
#: More different whole numbers than this are a grid, whichever they are.
_ENOUGH = 1000


def schema(source: Path | None, attributes: list[str] | None, missing: str | None) -> Schema:
    """The schema of a document, or the one that --attribute declares."""
    if (source is None) == (not attributes):
        raise ParameterError(_UNDECLARED)
    return _document(source, missing) if source is not None else _declared(attributes or [], missing)


_UNDECLARED = (
    'Declare what is asked: name a schema document, or repeat --attribute, as in --attribute "sex=F,M" '
    '--attribute "age=17..90". Reading the values from the data would disclose them.'
)


def _declared(attributes: list[str], missing: str | None) -> Schema:
    from bruit.domains import Missing, Schema, declare

    policy = _checks.one_of(get_args(Missing), **{"--missing": missing or "refuse"})
    domains = declare.questions(attributes, policy)
    unread = [name for name, domain in domains.items() if domain is None]
    if unread:
        raise ParameterError(f"{unread[0]}=? reads the values from the data: name the file with --schema-from.")
    return Schema(domains)


def from_data(file: Path, columns: list[str] | None) -> Schema:
    """A schema read from a file in constant memory, with a warning of what that discloses."""
    from bruit import engines
    from bruit.domains import Schema

    with console.progress("read the values") as report:
        seen: _Seen = engines.fold(str(file), _Seen.of, columns=columns, progress=report)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DisclosureWarning)
        found = Schema.from_frame({name: column.listed(name) for name, column in seen.items()})
    for warning in told:
        console.warn(str(warning.message))
    return found


class _Seen(dict[str, "_Column"]):
    """What was seen of every column; such things add."""

    @classmethod
    def of(cls, batch: dict[str, Any]) -> _Seen:
        return cls({name: _Column.of(name, cells) for name, cells in batch.items()})

    def __add__(self, other: _Seen) -> _Seen:
        return _Seen({name: column + other[name] for name, column in self.items()})


class _Column(NamedTuple):
    """The different values of a column; of very many numbers, as many as a schema depends on."""

    name: str
    values: frozenset[Any]
    gaps: bool
    shortened: bool = False

    @classmethod
    def of(cls, name: str, cells: Any) -> _Column:
        import numpy as np

        from bruit.domains.domain import DictionaryColumn

        if isinstance(cells, DictionaryColumn):
            used = np.unique(cells.positions[cells.positions >= 0])
            values = np.asarray(cells.entries)[used].tolist()
        elif cells.ndim > 1:
            raise DataError(f"Column {name!r} must have one value per person: leave it out with --column.")
        else:
            values = np.unique(cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells).tolist()
        return cls(name, frozenset(values), _answers.has_gaps(cells))._short()

    def __add__(self, other: Any) -> _Column:
        both = self.values | other.values
        return _Column(self.name, both, self.gaps or other.gaps, self.shortened or other.shortened)._short()

    def _short(self) -> _Column:
        if len(self.values) <= _answers.MOST_VALUES_FROM_DATA:
            return self
        ordered = sorted(self.values, key=self._number)
        # A grid is made of the ends, and of whether there are many different numbers and any that is not whole.
        broken = [value for value in ordered if not self._number(value).is_integer()][:1]
        return self._replace(values=frozenset([*ordered[:_ENOUGH], *broken, ordered[-1]]), shortened=True)

    def listed(self, name: str) -> list[Any]:
        """The values for `Schema.from_frame`: texts that are all numbers as numbers."""
        values = list(self.values)
        if self.shortened or (values and all(isinstance(value, str) and _PLAIN.fullmatch(value) for value in values)):
            values = [_plain(self._number(value)) for value in values]
        return [*values, None] if self.gaps else values

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or (isinstance(value, str) and not _PLAIN.fullmatch(value)):
            raise ParameterError(
                f"Column {self.name!r} has more than {_answers.MOST_VALUES_FROM_DATA:,} different entries: it is not a "
                "list of categories. Name the columns to take with --column."
            )
        return float(value)


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number


def _document(source: Path, missing: str | None) -> Schema:
    from bruit.domains import Schema

    if missing is not None:
        raise ParameterError("--missing goes with --attribute: a schema document says it of each attribute.")
    if source.suffix.lower() != ".json":
        raise ParameterError(
            "A schema document ends in .json: Schema.to_json writes one. Declare the columns of a data file with "
            "--attribute; reading their values from the data would disclose them."
        )
    if not source.exists():
        raise FormatError(f"There is no schema {source}.")
    with translated(UnicodeDecodeError, lambda _: FormatError(f"{source} must be encoded in UTF-8.")):
        return Schema.from_json(source.read_text(encoding="utf-8"))
