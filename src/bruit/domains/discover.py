"""A domain read from data: convenient for a first look, and a disclosure that no guarantee covers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.domains.categories import Categories
from bruit.domains.domain import Domain, column
from bruit.domains.grid import Grid
from bruit.domains.missing import Missing, is_missing
from bruit.errors import DataError, DataTypeError


class Discovered(NamedTuple):
    """A domain, and in words what of it was read from the data."""

    domain: Domain
    disclosed: str


def names(frame: Any) -> list[str]:
    """The columns of a frame, or of a mapping from name to column."""
    if isinstance(frame, Mapping):
        return list(frame)
    for attribute in ("column_names", "columns"):  # pyarrow's `columns` are the columns themselves
        columns = getattr(frame, attribute, None)
        if columns is not None and not callable(columns):
            return list(columns)
    raise DataTypeError("A frame must be of pandas, polars or pyarrow, or a mapping from column name to values.")


def domain(name: str, values: Any, most: int) -> Discovered:
    """What a column holds: categories if its values are texts, booleans or few numbers, else a grid."""
    read = _domain(name, values, most)
    if read.domain.missing == "refuse":
        return read
    gaps = "that some are missing"
    return read._replace(disclosed=f"{read.disclosed} and {gaps}" if read.disclosed else gaps)


def _domain(name: str, values: Any, most: int) -> Discovered:
    declared = _declared_categories(values)
    array = column(values)
    gaps = np.array([is_missing(value) for value in array.tolist()], bool)
    missing: Missing = "category" if gaps.any() else "refuse"
    if declared is not None:
        return Discovered(Categories(labels=declared, missing=missing), "the list of its categories")
    present = array[~gaps]
    if not present.size:
        raise DataError(f"Column {name!r} has no value to read a domain from: declare it.")
    kind = _kind(present)
    if kind is bool:
        return Discovered(Categories(labels=(False, True), missing=missing), "")
    if kind is str:
        return Discovered(_labels(name, sorted(set(present.tolist())), missing), "which values occur")
    if kind is None:
        raise DataTypeError(f"Column {name!r} must hold texts, numbers or booleans: declare its domain yourself.")
    return _numbers(name, present.astype(np.float64), most, missing)


def _numbers(name: str, numbers: NDArray[np.float64], most: int, missing: Missing) -> Discovered:
    if not np.isfinite(numbers).all():
        raise DataError(f"Column {name!r} must hold finite numbers: declare its domain yourself.")
    distinct = np.unique(numbers)
    whole = bool((distinct == np.floor(distinct)).all())
    if whole and distinct.size <= most:
        return Discovered(_labels(name, [int(number) for number in distinct], missing), "which values occur")
    low, high = (int(end) if whole else float(end) for end in (distinct[0], distinct[-1]))
    if low == high:
        raise DataError(f"Column {name!r} must have two or more different values, or be declared.")
    return Discovered(Grid(low, high, missing=missing), "its least and greatest value")


def _labels(name: str, values: list[Any], missing: Missing) -> Categories:
    if len(values) < 2:
        raise DataError(f"Column {name!r} must have two or more different values, or be declared.")
    return Categories(labels=tuple(values), missing=missing)


def _declared_categories(values: Any) -> tuple[str, ...] | None:
    """The labels of a column whose type lists them, as pandas' and polars' types for categories can."""
    listed = getattr(getattr(values, "dtype", None), "categories", None)
    if listed is None or not hasattr(listed, "__len__"):
        return None
    labels = list(listed)
    return tuple(labels) if len(labels) > 1 and all(type(label) is str for label in labels) else None


def _kind(present: NDArray[Any]) -> type | None:
    """What all values are: booleans, numbers (float), texts, or nothing that a domain can be read from."""
    if present.dtype.kind in "uif":
        return float
    kinds = {type(value) for value in present.tolist()}
    if kinds <= {int, float}:
        return float
    return next((kind for kind in (bool, str) if kinds == {kind}), None)
