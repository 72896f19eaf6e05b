"""What is declared about the columns of X, and how rows are read: numbers between bounds, and codes of categories.

Bounds and categories are declared, never read from the data: the least and the greatest record would be published
without noise. How many columns there are, and their names, are public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains import Categories, Grid, Schema
from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError, MissingError, ParameterError, ParameterTypeError, in_column, translated
from bruit.learning._validation import check_column, missing_error

Floats = NDArray[np.float64]

#: Numbers are counted as multiples of 1/STEPS of half the distance between their bounds: −STEPS..STEPS.
STEPS = 1 << 12

_DECLARE = (
    "bounds must be declared before any data is read, as in bounds=(0, 100) for all columns, bounds=([0, 17], [1, 90]) "
    "for each, or bounds=Schema({…}). Reading them from the data would publish the smallest and the largest record "
    "without noise. Take what the numbers can be; those outside count as the nearest bound."
)
#: Half the distance between two bounds must be more than this: numbers are divided by it.
LEAST_HALF = 1e-290
TOO_NEAR = "bounds are too near to each other: choose another unit for the numbers."
_SHAPE = "Expected 2D array or a frame: one row per record, one column per feature. Reshape your data."


class FeatureRows(NamedTuple):
    """Some rows: the numeric columns as a matrix, and the codes of each categorical column."""

    numbers: Floats
    codes: tuple[NDArray[np.integer[Any]], ...]


@dataclass(frozen=True, eq=False)
class Features:
    """The declared columns: bounds of the numeric ones, categories of the others.

    Parameters
    ----------
    low, high
        Bounds of the numeric columns, one of each, or single ones that hold for every column.
    names
        The names of all columns in their order, where they are declared.
    categories
        The categorical columns, by place.
    grids
        The numeric columns that are declared by a domain, by place.
    gaps
        Whether a number may be missing, where its grid declares that as a category.
    """

    low: Floats
    high: Floats
    names: tuple[str, ...] | None = None
    categories: Mapping[int, Categories] = ()  # type: ignore[assignment]
    grids: Mapping[int, Grid] = field(default_factory=dict)
    gaps: bool = False

    @classmethod
    def declared(
        cls, bounds: Any, *, categorical: bool = False, gaps: bool = False, lists_are_bounds: bool = False
    ) -> Features:
        """Features from what a user gives as `bounds`; nothing of the data is looked at.

        `gaps` says whether a number may be missing, where its grid declares that as a category. With `lists_are_bounds`
        a list of two numbers means bounds also where columns may be categories.
        """
        if bounds is None:
            raise ParameterError(_DECLARE)
        if isinstance(bounds, Mapping):
            labels = categorical and not lists_are_bounds
            schema = bounds if isinstance(bounds, Schema) else schema_of(bounds, categorical=labels)
            return cls._from_schema(schema, categorical, gaps)
        low, high = _pair(bounds)
        return cls(low, high, None, {}, gaps=gaps)

    @classmethod
    def _from_schema(cls, schema: Schema, categorical: bool, gaps: bool) -> Features:
        for name, attribute in schema.items():
            _check_domain(name, attribute.domain, categorical, gaps)
        domains = [attribute.domain for attribute in schema.values()]
        categories = {place: domain for place, domain in enumerate(domains) if isinstance(domain, Categories)}
        grids = [domain for domain in domains if isinstance(domain, Grid)]
        low = np.array([grid.low for grid in grids], np.float64)
        high = np.array([grid.high for grid in grids], np.float64)
        _check_apart(low, high)
        declared = {place: domain for place, domain in enumerate(domains) if isinstance(domain, Grid)}
        return cls(low, high, tuple(schema), categories, declared, gaps)

    def width(self, columns: int) -> int:
        """How many numeric columns there are among so many; refused if the declaration is of another number."""
        if not columns:
            raise DataError("The table must have a column to learn from, besides the target.")
        numeric = columns - len(self.categories)
        declared = len(self.names) if self.names is not None else self.low.size if self.low.ndim else columns
        if declared != columns:
            raise DataError(f"X has {columns} features, but {declared} are declared in bounds.")
        return numeric

    def ends(self, columns: int) -> tuple[Floats, Floats]:
        """The bounds of each numeric column, where there are so many columns in all."""
        numeric = self.width(columns)
        return np.broadcast_to(self.low, numeric).copy(), np.broadcast_to(self.high, numeric).copy()

    def table(self, X: Any) -> dict[str, Any]:
        """The declared columns of a frame, by name, or of an array, by place."""
        names = self.names or ()
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            return {name: column_of(X, name) for name in names}
        matrix = two_dimensional(X)
        self.width(matrix.shape[1])
        return {name: matrix[:, place] for place, name in enumerate(names)}

    def of_columns(self, columns: Mapping[str, Any]) -> FeatureRows:
        """Rows from columns by name, in their order, as batches have them."""
        self.width(len(columns))
        numbers, codes, incomplete = list[Floats](), list[NDArray[np.integer[Any]]](), dict[str, int]()
        for place, (name, column) in enumerate(columns.items()):
            try:
                if place in self.categories:
                    with in_column(name):
                        codes.append(self.categories[place].encode(column))
                else:
                    numbers.append(self._admitted(place, name, column))
            except MissingError:
                incomplete[name] = place
        if incomplete:
            raise self._missing_error(incomplete)
        heights = {len(column) for column in [*numbers, *codes]}
        if len(heights) > 1:
            raise DataError("The columns of a table must have the same number of rows.")
        matrix = np.stack(numbers, axis=1) if numbers else np.empty((heights.pop(), 0))
        return FeatureRows(matrix, tuple(codes))

    def _missing_error(self, incomplete: Mapping[str, int]) -> MissingError:
        """An error that names all columns with gaps, and how each is declared so that a gap is learned from."""
        words = {
            name: "Categories(labels=[…]" if place in self.categories else f"Grid({self._bounds_of(place)}"
            for name, place in incomplete.items()
            if place in self.categories or self.gaps
        }
        declared = ", ".join(f'"{name}": {start}, missing="category")' for name, start in list(words.items())[:3])
        imported = " and ".join(sorted({start.split("(")[0] for start in words.values()}))
        advice = f"To learn from gaps, declare bounds={{{declared}, …}}, with {imported} from bruit. Otherwise "
        kind = "values" if any(place in self.categories for place in incomplete.values()) else "numbers"
        return missing_error([f"column {name!r}" for name in incomplete], kind, advice if words else "")

    def _bounds_of(self, place: int) -> str:
        """The declared bounds of a number, as they are written in a declaration."""
        if place in self.grids:
            return f"{self.grids[place].low}, {self.grids[place].high}"
        low, high = (float(end if end.ndim == 0 else end[place]) for end in (self.low, self.high))
        return f"{low}, {high}"

    def _admitted(self, place: int, name: str, column: Any) -> Floats:
        """The numbers of a column after the policy for values outside, if one is declared; else models clamp them.

        A gap stays NaN where it is declared as a category.
        """
        grid = self.grids.get(place)
        gaps = grid is not None and grid.missing == "category"
        numbers = as_numbers(column, f"column {name!r}", gaps=gaps)
        if grid is None or grid.outside is None:
            return numbers
        with in_column(name):
            admitted: Floats = grid.admit(numbers).values
            return admitted

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for digests."""
        categories = {str(place): domain.to_dict() for place, domain in sorted(self.categories.items())}
        return {"low": self.low.tolist(), "high": self.high.tolist(), "categories": categories}


def _check_domain(name: str, domain: Any, categorical: bool, gaps: bool) -> None:
    """An error, with what to declare instead, for a column that no model or not this one takes."""
    if isinstance(domain, Categories) and not categorical:
        raise ParameterError(
            f"This model takes numbers only, and {name!r} is a category: leave it out of bounds, or code it as numbers "
            "first."
        )
    if isinstance(domain, Grid) and domain.missing == "drop" and gaps:
        raise ParameterError(
            f"Rows with gaps in {name!r} are not dropped here: declare it as "
            f'Grid({domain.low}, {domain.high}, missing="category"), which gives a gap an effect of its own, or leave '
            "these rows out."
        )
    if isinstance(domain, Grid) and domain.missing != "refuse" and not gaps:
        raise ParameterError(
            f'{name!r} is a number, and numbers must not be missing here: declare it with missing="refuse", and fill '
            "its gaps with a number that you choose without looking at the data, or leave these rows out."
        )
    if isinstance(domain, Categories) and domain.missing == "drop":
        raise ParameterError(
            f"Rows with gaps in {name!r} are not dropped here: declare it as "
            'Categories(labels=[…], missing="category"), which makes a gap a category of its own, or leave these rows '
            "out."
        )


def schema_of(bounds: Mapping[str, Any], *, categorical: bool) -> Schema:
    """A schema from a plain mapping, where a tuple of two numbers means bounds; labels are a list.

    A model of numbers has no labels, and takes a list of two numbers as bounds, too. Where it may be either, neighbours
    such as [0, 1] are labels, and others are asked for.
    """
    pairs = {}
    for name, pair in bounds.items():
        if not _is_pair(pair):
            continue
        if isinstance(pair, list) and categorical:
            if pair[1] - pair[0] == 1:
                continue
            raise ParameterError(
                f"bounds of {name!r} are a list, which stands for labels: write a tuple, ({pair[0]!r}, {pair[1]!r}), "
                f"for a number between these bounds, or texts, [{str(pair[0])!r}, {str(pair[1])!r}], for two labels."
            )
        pairs[name] = Grid(*pair)
    return Schema({**bounds, **pairs})


def _is_pair(pair: Any) -> bool:
    """Whether this is a tuple or list of two numbers."""
    numbers = int | float | np.integer | np.floating
    return (
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and all(isinstance(end, numbers) and not isinstance(end, bool) for end in pair)
    )


def _pair(bounds: Any) -> tuple[Floats, Floats]:
    """A pair of numbers, or of sequences with one number for each column."""
    rule = "bounds must be a pair (low, high) of numbers, or of sequences with one number for each column, or a Schema."
    if isinstance(bounds, str | bytes | Mapping) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        raise ParameterTypeError(rule)
    unusable = "bounds must be finite and increasing: each low below its high."
    beyond = translated(OverflowError, lambda _: ParameterError(unusable))
    with beyond, translated((TypeError, ValueError), lambda _: ParameterTypeError(rule)):
        low, high = (np.asarray(end, np.float64) for end in bounds)
        low, high = np.broadcast_arrays(low, high)
    if low.ndim > 1:
        raise ParameterTypeError(rule)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(low).all() and np.isfinite(high - low).all()
    if not finite or not (low < high).all():
        raise ParameterError(unusable)
    _check_apart(low, high)
    return low.copy(), high.copy()


def _check_apart(low: Floats, high: Floats) -> None:
    if not (high / 2 - low / 2 > LEAST_HALF).all():
        raise ParameterError(TOO_NEAR)


def two_dimensional(X: Any) -> NDArray[Any]:
    """X as an array of rows; what else it is, is not shown."""
    with translated((TypeError, ValueError, OverflowError), lambda _: DataError(_SHAPE)):  # rows of different lengths
        matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise DataError(_SHAPE)
    return matrix


def column_of(frame: Any, name: str) -> Any:
    """A declared column of a frame or mapping."""
    names = getattr(frame, "columns", None) if not isinstance(frame, Mapping) else list(frame)
    near = "" if names is None else _checks.suggestion(name, [item for item in names if isinstance(item, str)])
    rule = f"The table must have a column {name!r}, which is declared in bounds.{near}"
    with translated(Exception, lambda _: DataError(rule)):  # every library of frames has an error of its own for this
        return frame[name]


def as_numbers(column: Any, called: str, *, gaps: bool = False) -> Floats:
    """A batch's column as numbers; what is no finite number is refused, and the error calls the column so.

    With `gaps` a missing number stays NaN.
    """
    start = f"{called[0].upper()}{called[1:]}"
    with translated((TypeError, ValueError, OverflowError), lambda _: DataError(f"{start} must hold numbers.")):
        if isinstance(column, DictionaryColumn):
            numbers: Floats = np.append(np.asarray(column.entries, np.float64), np.nan)[column.positions]
        else:
            numbers = np.asarray(column, np.float64)
    if numbers.ndim != 1:
        raise DataError(f"{start} must be one-dimensional: one entry per record, and each name once.")
    check_column(numbers[~np.isnan(numbers)] if gaps else numbers, called)
    return numbers
