"""Reading the same records several times. Those in memory are checked and coded once, others at every reading."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bruit import engines
from bruit.engines import memory
from bruit.errors import DataError, DataTypeError
from bruit.estimation.tally import exact_sum
from bruit.learning._base import Count, Counts, FoldedSums, PrivateModel, blocks_of, is_mapping
from bruit.learning._features import FeatureRows, Features

_ONE_SHOT = (
    "This model reads its data several times, and these can be read once only: give an array, a frame, a path or a "
    "list of batches."
)
_OTHER_COLUMNS = "This model reads its data several times, and every time they must have the same columns in order."
#: Rows in memory are counted in blocks of this many.
_BLOCK = 1 << 14

#: From what stands in the target column to one whole number for each row.
Codes = Callable[[Any], Any]
Read = Callable[[Count], FoldedSums]


def reader(model: PrivateModel, X: Any, y: Any, features: Features, codes: Codes) -> Read:
    """What folds all rows, as often as it is called; what is counted gets the targets as whole numbers."""
    if isinstance(X, Iterator) or hasattr(X, "read") or (isinstance(X, str) and X == "-"):
        raise DataTypeError(_ONE_SHOT)
    if model.person is not None:
        return _coded(model._people_reader(X, y, features, codes), codes)
    if _in_memory(X, y):
        return _stored(model, X, y, features, codes)
    return _same_columns(_coded(lambda count: model._fold(X, y, features, count), codes))


def _in_memory(X: Any, y: Any) -> bool:
    """Whether all rows are in memory already: an array, a frame or a mapping of columns."""
    if isinstance(X, str | os.PathLike | list | tuple) and (isinstance(X, str | os.PathLike) or isinstance(y, str)):
        return False
    if isinstance(X, list | tuple) and X and (is_mapping(X[0]) or hasattr(X[0], "columns")):
        return False
    spark = type(X).__module__.startswith("pyspark.")
    arrays = is_mapping(X) or hasattr(X, "__array__") or hasattr(X, "columns") or isinstance(X, list | tuple)
    return arrays and not spark and not engines.is_query(X)


def _coded(read: Read, codes: Codes) -> Read:
    return lambda count: read(functools.partial(_count_coded, count, codes))


def _count_coded(count: Count, codes: Codes, rows: FeatureRows, target: Any) -> Counts:
    coded = codes(target)
    if len(coded) != len(rows.numbers):
        raise DataError("There must be one target for each row.")
    return count(rows, coded)


def _stored(model: PrivateModel, X: Any, y: Any, features: Features, codes: Codes) -> Read:
    """Rows and codes of their targets, read once; they live as long as the fit."""
    parts: list[tuple[FeatureRows, Any]] = []

    def keep(rows: FeatureRows, target: Any) -> Counts:
        coded = codes(target)
        if len(coded) != len(rows.numbers):
            raise DataError("There must be one target for each row.")
        parts.append((rows, coded))
        return np.zeros(1, np.int64)

    first = model._fold(X, y, features, keep)
    blocks = [(rows, target, block) for rows, target in parts for _, block in blocks_of(len(target), _BLOCK)]

    def read(count: Count) -> FoldedSums:
        def part(block: tuple[FeatureRows, Any, slice]) -> Counts:
            rows, target, here = block
            return count(FeatureRows(rows.numbers[here], tuple(code[here] for code in rows.codes)), target[here])

        sums = functools.reduce(exact_sum, memory.in_order(part, blocks))
        return FoldedSums(sums, first.columns, first.names)

    return read


def _same_columns(read: Read) -> Read:
    """The same reading, refused if it finds other columns than the first one did, or another order of them."""
    seen: list[tuple[int, Any]] = []

    def checked(count: Count) -> FoldedSums:
        result = read(count)
        seen.append((result.columns, result.names))
        if seen[-1] != seen[0]:
            raise DataError(_OTHER_COLUMNS)
        return result

    return checked
