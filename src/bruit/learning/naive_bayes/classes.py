"""Declared classes: what they may be, and the code of each record's class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError, ParameterError, ParameterTypeError

_DECLARE = (
    'classes must be declared before any data is read, as in classes=[0, 1] or classes=["no", "yes"]. Reading them '
    "from the data would show that a rare class has somebody in it. Take all that there can be."
)
_RULE = "classes must be a list of different texts, of finite numbers, or of booleans."
# Begins as scikit-learn's own message does.
_AMONG = "Unknown label type: every target must be one of the declared classes, and none may be missing."
_WAY_OUT = (
    "Declare all that there can be, as in classes=[0, 1], and leave out rows without a target. To predict a number "
    "rather than a class, use LinearRegression."
)


def declared_classes(classes: Any) -> NDArray[Any]:
    """The classes in order; nothing of the data is looked at."""
    if classes is None:
        raise ParameterError(_DECLARE)
    if isinstance(classes, str | bytes) or not hasattr(classes, "__len__") or not hasattr(classes, "__iter__"):
        raise ParameterTypeError(_RULE)
    items = [item.item() if isinstance(item, np.generic) else item for item in classes]
    kinds = {
        bool if isinstance(item, bool) else float if isinstance(item, int | float) else type(item) for item in items
    }
    if not items:
        raise ParameterError("classes must not be empty.")
    if len(kinds) != 1 or not kinds <= {bool, float, str}:
        raise ParameterTypeError(_RULE)
    labels = np.unique(np.array(items, object if kinds == {str} else None))
    if labels.size < len(items) or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        raise ParameterError(_RULE)
    return labels.astype(np.str_) if kinds == {str} else labels


def class_codes(target: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each target among the classes; a target that is not declared is refused, and not shown."""
    if isinstance(target, DictionaryColumn):
        # Entries that nobody has may be anything; position −1 is a missing target.
        codes: NDArray[np.int64] = np.append(_codes(target.entries, classes), -1)[target.positions]
    else:
        codes = _codes(target, classes)
    if codes.size and codes.min() < 0:
        texts = classes.dtype.kind == "U" and np.asarray(getattr(target, "entries", target)).dtype.kind in "biuf"
        kinds = "The declared classes are texts and the targets numbers: write the classes without quotes. "
        raise DataError(f"{_AMONG} {kinds if texts else ''}{_WAY_OUT}")
    return codes


def _codes(target: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    values = np.asarray(target)
    if classes.dtype.kind == "U" or values.dtype.kind in "OUST":
        return _looked_up(values, classes)
    places = np.minimum(np.searchsorted(classes, values), classes.size - 1)
    return np.where(classes[places] == values, places, -1).astype(np.int64)


def _looked_up(values: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Codes of texts, and of numbers and booleans that stand in a file or an object array."""
    known: dict[Any, int] = {label: code for code, label in enumerate(classes.tolist())}
    if classes.dtype.kind != "U":
        known |= {str(label).lower(): code for label, code in list(known.items())}
    return np.array([_code(value, known) for value in values.tolist()], np.int64)


def _code(value: Any, known: dict[Any, int]) -> int:
    try:
        code = known.get(value, -1)
    except TypeError:  # lists and mappings have no hash, and are no class
        return -1
    if code < 0 and isinstance(value, str):
        return known.get(value.strip().lower(), -1) if any(not isinstance(label, str) for label in known) else -1
    return code
