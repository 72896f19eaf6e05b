"""scikit-learn's checks of X and y, without the values that some of its messages show."""

from __future__ import annotations

import re
from typing import Any

from sklearn.utils.validation import validate_data

from bruit.errors import DataError, DataTypeError

#: How messages begin that speak of shapes, names and kinds only.
_SILENT = re.compile(
    r"Input [Xy] contains|X has \d+ features|Found array with|Found input variables|The feature names should match|"
    r"Feature names are only|y should be a 1d array, got an array of shape|\S* ?.*requires y to be passed|"
    r"Sparse data was passed|Expected a 2-dimensional container|Expected sequence or array-like|"
    r"float\(\) argument must be a string|A column-vector y"
)
_FLAT = re.compile(r"Expected 2D array, got \w+ array instead")


def validated(model: Any, X: Any, **settings: Any) -> Any:
    """What `sklearn.utils.validation.validate_data` gives; its errors name the rule and show nobody's value."""
    try:
        return validate_data(model, X, **settings)
    except ValueError as error:
        raise DataError(_told(str(error))) from None
    except TypeError as error:
        raise DataTypeError(_told(str(error))) from None


def _told(message: str) -> str:
    """The message, if it is known to hold no value, or the rule that was broken."""
    if _SILENT.match(message):
        return message
    if flat := _FLAT.match(message):
        return f"{flat[0]}. Reshape your data: one row per record, one column per feature."
    if message.startswith(("Singleton array", "Input should have at least 1 dimension")):  # and shows the value
        return "X and y must have one entry per record: a single value is no column."
    if message.startswith("Complex data not supported"):
        return "Complex data not supported: X must hold real numbers."
    return "X must be a matrix of numbers, one row per record."
