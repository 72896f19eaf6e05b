"""Predictors in clear: columns of a table as the columns of a model, and what each is called."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import engines
from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError, LimitError, MissingError, ParameterError
from bruit.tables import counted, label

Floats: TypeAlias = NDArray[np.float64]

#: What the constant is called.
INTERCEPT = "(intercept)"
#: The most levels of a predictor that is no number.
MOST_LEVELS = 100
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
#: A column that is within this share of its length of a combination of others is one.
_RANK = 1e-9


class Term(NamedTuple):
    """A column of the model: the predictor that it belongs to, and of a category its level."""

    predictor: str
    level: Any = None

    def __str__(self) -> str:
        return self.predictor if self.level is None else f"{self.predictor} = {label(self.level)}"


@dataclass(frozen=True, eq=False)
class Predictors:
    """A row per person and a column per term, the constant first."""

    terms: tuple[Term, ...]
    rows: Floats
    references: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def kept(self, people: NDArray[Any]) -> Predictors:
        """The rows of some people; what they cannot tell apart is an error."""
        rows = self.rows[people]
        _check_rank(rows, self.terms)
        return Predictors(self.terms, rows, self.references)


def read_columns(source: Any, names: Sequence[str] | None) -> dict[str, NDArray[Any]]:
    """Whole columns of a table, wherever it is; texts and gaps as objects."""
    pieces = list(engines.batches(source, names))
    return {name: np.concatenate([_plain(piece[name]) for piece in pieces]) for name in pieces[0]}


def _plain(column: Any) -> NDArray[Any]:
    if not isinstance(column, DictionaryColumn):
        return np.asarray(column)
    entries = np.empty(len(column.entries) + 1, object)  # the last is None, for gaps at −1
    entries[:-1] = column.entries
    return np.asarray(entries[column.positions])


def predictors(
    source: Any, names: Sequence[str] | None = None, references: Mapping[str, Any] | None = None
) -> Predictors:
    """The terms of a table: a column of numbers is a term, any other has one for each level but its reference.

    Parameters
    ----------
    source
        A table in clear, one row per person.
    names
        Its columns to use, all by default.
    references
        The level that the others of a column are compared with; the first in order by default. A column that is
        named here is a category, also if its levels are numbers.
    """
    columns = read_columns(source, names)
    known = dict(references or {})
    for name in known:
        if name not in columns:
            raise ParameterError(f"reference must name a predictor, and {name!r} is none.")
    terms, parts, used = [Term(INTERCEPT)], [], {}
    for name, values in columns.items():
        if name == INTERCEPT:
            raise DataError(f"A predictor must not be called {INTERCEPT!r}: that is the constant.")
        levels = _levels(name, values, category=name in known)
        if levels is None:
            terms.append(Term(name))
            parts.append(values.astype(float)[:, None])
            continue
        own, codes = levels
        first = _reference(name, own, known)
        used[name] = own[first]
        others = [place for place in range(len(own)) if place != first]
        terms += [Term(name, own[place]) for place in others]
        parts.append((codes[:, None] == np.array(others)).astype(float))
    rows = np.hstack([np.ones((len(values), 1)), *parts])
    return Predictors(tuple(terms), rows, used)


def _levels(name: str, values: NDArray[Any], *, category: bool) -> tuple[list[Any], NDArray[Any]] | None:
    """The levels of a category in order and the place of each person's; None for a number."""
    distinct = list(dict.fromkeys(values.tolist()))
    if any(value is None or (isinstance(value, float) and not math.isfinite(value)) for value in distinct):
        raise MissingError(f"Column {name!r} has missing values: leave these people out, or give the gap a name.")
    if not category and all(map(_is_number, distinct)):
        return None
    if len(distinct) > MOST_LEVELS:
        raise LimitError(f"Column {name!r} has more than {MOST_LEVELS} levels: group them, or give numbers.")
    own = sorted(distinct, key=lambda value: (str(type(value)), value))
    if len(own) < 2:
        raise DataError(f"Column {name!r} must have at least two levels: everybody has the same.")
    places = {value: place for place, value in enumerate(own)}
    return own, np.array([places[value] for value in values.tolist()])


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number, as a text too: CSV has nothing else."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _reference(name: str, levels: list[Any], known: Mapping[str, Any]) -> int:
    if name not in known:
        return 0
    texts = [label(level) for level in levels]
    if label(known[name]) not in texts:
        raise ParameterError(f"reference of {name!r} must be one of its {counted(len(levels), 'level')}.")
    return texts.index(label(known[name]))


def _check_rank(rows: Floats, terms: Sequence[Term]) -> None:
    """An error that names a term which the others make up."""
    if len(rows) < len(terms):
        raise DataError(
            f"There must be more people than terms: {len(terms)} terms need more than {counted(len(rows), 'person')}."
        )
    lengths = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(lengths > 0, lengths, 1.0)
    basis = np.zeros((len(rows), 0))
    for place, term in enumerate(terms):
        rest = scaled[:, place] - basis @ (basis.T @ scaled[:, place])
        rest -= basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size < _RANK:
            raise DataError(
                f"The predictor {term.predictor!r} is a combination of the others, or the same for everybody: its "
                "effect cannot be told from theirs. Leave it out."
            )
        basis = np.column_stack([basis, rest / size])
