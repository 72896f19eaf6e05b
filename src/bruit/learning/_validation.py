"""scikit-learn's checks of X and y, in words that show nobody's value, nor how many records there are.

Its own messages quote values ("could not convert string to float: …"), exact numbers of records ("inconsistent numbers
of samples: [100, 99]") and advice about its own models. Those that its `check_estimator` looks for begin as they do
there; nothing else of them is kept.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from bruit.errors import BruitError, DataError, DataTypeError, MissingError, translated

#: Messages that are told in other words: how they begin, and the words.
_RETOLD = {
    "Found input variables with inconsistent numbers": "X and y must have one entry each for every record: they have "
    "inconsistent numbers of samples.",
    "Singleton array": "X and y must have one entry per record: a single value is no column.",
    "Input should have at least 1 dimension": "X and y must have one entry per record: a single value is no column.",
    "Complex data not supported": "Complex data not supported: X must hold real numbers.",
    # How many rows have no features is left out; scikit-learn's check does without.
    "Found array with 0 feature(s)": "0 feature(s) (shape=(, 0)) while a minimum of 1 is required.",
    "Input y contains": "Input y contains NaN or infinity: each record needs a finite target. Leave out those without.",
    "y should be a 1d array": "y should be a 1d array: one target per record.",
    "y cannot be None": "This estimator requires y to be passed, but the target y is None.",
}
#: Messages whose beginning is kept, as far as it speaks of columns, names and kinds only.
_KEPT = re.compile(
    r"X has \d+ features.*|Found array with (dim \d+|0 sample\(s\))|"
    r"Feature names are only[^\n]*|\S* ?.*requires y to be passed[^\n]*|Sparse data was passed[^\n]*|"
    r"Expected a 2-dimensional container|Expected sequence or array-like|Expected 2D array, got \w+ array instead"
)
#: The one message that is kept whole: column names are public.
_NAMES = "The feature names should match"
#: How to declare missing numbers where columns have no names yet.
_NAMED = (
    'To learn from gaps, declare every column by name, as in bounds={"age": Grid(18, 90, missing="category"), …}, with '
    "Grid from bruit. Otherwise "
)
_SHAPE = "Reshape your data: one row per record, one column per feature."


def validated(model: Any, X: Any, **settings: Any) -> Any:
    """What `sklearn.utils.validation.validate_data` gives; its errors name the rule and the column, and no value."""
    with translated((ValueError, TypeError), lambda error: _explained(error, X)):
        checked = validate_data(model, X, ensure_all_finite=False, **settings)
    matrix = checked[0] if isinstance(checked, tuple) else checked
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
        names = list(getattr(model, "feature_names_in_", ()))
        check_finite(matrix, names, _NAMED if getattr(model, "_gaps", False) else "")
    return checked


def scikit_learn_errors() -> AbstractContextManager[None]:
    """Within the block, errors of scikit-learn are told in our words."""
    return translated((ValueError, TypeError), lambda error: _explained(error, None))


def check_finite(matrix: Any, names: list[Any], declaration: str = "") -> None:
    """An error that names all columns with gaps, or the first column with an infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum(dtype=np.float64)
    if np.isfinite(total):  # one pass over all; a sum that overflows is looked at again
        return
    gaps = [called(place, names) for place, column in enumerate(matrix.T) if np.isnan(column).any()]
    if gaps:
        raise missing_error(gaps, "numbers", declaration)
    for place, column in enumerate(matrix.T):
        check_column(column, called(place, names))


def check_column(numbers: Any, called: str) -> None:
    """An error for a gap or an infinity, which begins as scikit-learn's own, and a way out."""
    if np.isnan(numbers).any():
        raise missing_error([called], "numbers")
    if np.isinf(numbers).any():
        raise DataError(f"Input X contains infinity: {called} must hold finite numbers.")


def missing_error(columns: Sequence[str], kind: str, declaration: str = "") -> MissingError:
    """An error that names the columns with gaps and how to declare them, where the model can learn from gaps."""
    has = "has" if len(columns) == 1 else "have"
    fill = "fill" if declaration else "Fill"
    filled = f"{fill} them with a number" if kind == "numbers" else f"{fill} numbers with one"
    return MissingError(
        f"Input X contains NaN: {', '.join(columns)} {has} missing {kind}. {declaration}{filled} that you choose "
        "without looking at the data, or leave these rows out."
    )


def called(place: int, names: list[Any]) -> str:
    """A column in a message: by its name, or by its place."""
    return f"column {names[place]!r}" if place < len(names) else f"column {place} of X (the first is 0)"


def _explained(error: Exception, X: Any) -> BruitError:
    rule = f"{_no_number(X)} must hold numbers, one row per record"
    if isinstance(error, TypeError):
        return DataTypeError(_words(str(error)) or f"{rule}: an argument must be a string of digits or a number.")
    return DataError(_words(str(error)) or f"{rule}.")


def _words(message: str) -> str:
    """The rule that a message speaks of; nothing for a message that is not known, which may show a value."""
    if message.startswith(_NAMES):
        return message
    for start, words in _RETOLD.items():
        if message.startswith(start):
            return words
    kept = _KEPT.match(message)
    if kept is None:
        return ""
    return f"{kept[0]}. {_SHAPE}" if kept[0].startswith(("Expected", "Found array")) else kept[0]


def _no_number(X: Any) -> str:
    """The first column that does not hold numbers, for a message; or all of X, where that cannot be told."""
    names = [str(name) for name in getattr(X, "columns", ())]
    with contextlib.suppress(Exception):  # X may be anything; what is said of it then is the rule alone
        columns = [X[name] for name in X.columns] if names else np.asarray(X, object).T
        for place, column in enumerate(columns):
            if not _holds_numbers(column):
                return f"C{called(place, names)[1:]}"
    return "Every column of X"


def _holds_numbers(column: Any) -> bool:
    try:
        np.asarray(column, np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
