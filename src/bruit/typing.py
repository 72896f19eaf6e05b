"""What calls take from users, as types: a column, a table or a file, labels, bounds.

They are as wide as what is read, and say what is not: a number is no column, and None is no table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

__all__ = ["Bounds", "ColumnLike", "FeatureBounds", "Frame", "Label", "Labels", "SourceLike"]


class Frame(Protocol):
    """A table with named columns: of pandas, polars, PyArrow, DuckDB or Spark."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


#: One column, a value for each person: an array, a list, a column of a frame; gaps are None or NaN.
ColumnLike: TypeAlias = Iterable[object]
#: Rows of people: a path, a mapping from names to columns, a frame, batches of these, or one column.
SourceLike: TypeAlias = str | os.PathLike[str] | Mapping[str, ColumnLike] | Frame | ColumnLike
#: What a category is called.
Label: TypeAlias = str | int | bool
#: What the categories of a question are called, in order.
Labels: TypeAlias = Sequence[Label]
#: The least and the largest number that counts.
Bounds: TypeAlias = Sequence[float] | NDArray[Any]
#: The bounds of each feature, in order or by name; or one pair for all.
FeatureBounds: TypeAlias = Bounds | Sequence[Bounds] | Mapping[str, Bounds | Labels]
