"""A declared list of categories, by label or by code."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import hints
from bruit.domains.domain import ABSENT, Codes, DictionaryColumn, Missing, code_dtype, column, keep_present
from bruit.errors import DataError, DataTypeError, FormatError, ParameterError, ParameterTypeError

Label: TypeAlias = str | int | bool

#: The label of the category for missing values, where the policy asks for one.
MISSING_LABEL = "(missing)"


@dataclass(frozen=True, kw_only=True)
class Categories:
    """A finite list of answers, declared before anything is asked.

    Parameters
    ----------
    labels
        The answers: all texts, all whole numbers, or all booleans. Texts are put in Unicode normal form C, so that
        two ways to type "é" are one label. None leaves plain codes 0..k−1.
    k
        How many codes there are; given instead of labels.
    missing
        ``"refuse"`` (an error), ``"drop"`` (the person is left out; the absence of a report then shows that the
        answer was missing) or ``"category"`` (one more category, private like the others).

    Examples
    --------
    >>> colours = Categories(labels=["red", "green", "blue"])
    >>> colours.encode(["blue", "red"])
    array([2, 0], dtype=uint8)
    >>> colours.decode([2, 0]).tolist()
    ['blue', 'red']
    >>> Categories(k=3, missing="category").size
    4
    """

    labels: tuple[Label, ...] | None = None
    k: int = 0
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        _checks.one_of(get_args(Missing), missing=self.missing)
        if self.labels is None:
            object.__setattr__(self, "k", _checks.domain_size(k=self.k))
            return
        labels = _clean_labels(self.labels, self.missing)
        if self.k not in (0, len(labels)):
            raise ParameterError(f"k must be the number of labels, {len(labels)}, got {self.k}: give one of the two.")
        _checks.domain_size(labels=len(labels))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "k", len(labels))

    @property
    def size(self) -> int:
        """How many codes there are, the category for missing values included."""
        return self.k + (self.missing == "category")

    @property
    def names(self) -> tuple[Label, ...]:
        """One label per code: the declared ones, or the codes themselves, and then the one for missing values."""
        names = tuple(range(self.k)) if self.labels is None else self.labels
        return (*names, MISSING_LABEL) if self.missing == "category" else names

    def encode(self, values: Any) -> Codes:
        """Codes of the values; a value outside the declared list is an error that does not show it."""
        if isinstance(values, DictionaryColumn):
            return self._pick(values.positions, column(values.entries), self._read)
        array = column(values)
        if self.labels is None:
            return self._check_codes(array)
        return self._pick(np.arange(array.size), array, self._look_up)

    def decode(self, codes: Any) -> NDArray[Any]:
        """The labels behind codes, as an array of objects (or of integers for plain codes)."""
        array = column(codes, "codes")
        if array.dtype.kind not in "ui" or (array.size and not (array.min() >= 0 and array.max() < self.size)):
            raise DataError(f"codes must be integers in 0..{self.size - 1}.")
        if self.labels is None and self.missing != "category":
            return array
        names = np.empty(self.size, object)
        names[:] = self.names
        labels: NDArray[Any] = names[array]
        return labels

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        content = {"k": self.k} if self.labels is None else {"labels": list(self.labels)}
        return {"kind": "categories", **content, "missing": self.missing}

    @classmethod
    def from_dict(cls, body: Any) -> Categories:
        """The inverse of `to_dict`."""
        try:
            labels = body.get("labels")
            return cls(labels=None if labels is None else tuple(labels), k=body.get("k", 0), missing=body["missing"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise FormatError("Categories must have labels or k, and a policy for missing values.") from None

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {label: code for code, label in enumerate(self.labels or ())}

    @cached_property
    def _texts(self) -> dict[str, int]:
        """How labels that are not texts look in a file."""
        return {str(label).lower(): code for code, label in enumerate(self.names[: self.k])}

    @cached_property
    def _clean(self) -> Callable[[Any], Any]:
        """What a value goes through before it is looked up, by the kind of the labels."""
        return {str: _clean_text, bool: _clean_bool, int: _clean_int}[type((self.labels or ("",))[0])]

    def _pick(self, positions: NDArray[Any], entries: NDArray[Any], look_up: Callable[[Any], int]) -> Codes:
        """Look each distinct entry up once, then send positions to codes."""
        known: dict[Any, int] = {}
        table = np.empty(entries.size + 1, np.int64)
        table[-1] = ABSENT  # position −1 is a missing value
        for place, value in enumerate(entries.tolist()):
            key = type(value), value  # True, 1 and 1.0 are one key, but not one label
            try:
                code = known.get(key)
            except TypeError:  # lists and mappings have no hash, and are no label
                code = -1
            if code is None:
                code = known[key] = look_up(value)
            table[place] = code
        # Entries of a dictionary that nobody has may be anything.
        codes = table[positions]
        if (codes < 0).any():
            rule = "among the declared labels" if self.labels is not None else f"integers in 0..{self.k - 1}"
            wrong = (entries[place] for place in np.unique(positions[codes < 0]).tolist())
            raise DataError(f"values must be {rule}.{hints.about_labels(wrong, self.labels or ())}")
        return keep_present(codes, self.size, self.missing, "values")

    def _look_up(self, value: Any) -> int:
        """The code of one value, ABSENT if it is missing, −1 if it is not in the list."""
        if _is_missing(value):
            return int(ABSENT)
        return self._index.get(self._clean(value), -1)

    def _read(self, value: Any) -> int:
        """As `_look_up`, for an entry of a file: numbers and booleans may stand there as text."""
        if isinstance(value, str) and not isinstance(self.names[0], str):
            return self._texts.get(value.strip().lower(), -1)
        if self.labels is None and not _is_missing(value):
            return value if isinstance(value, int) and 0 <= value < self.k else -1
        return self._look_up(value)

    def _check_codes(self, array: NDArray[Any]) -> Codes:
        rule = f"values must be integers in 0..{self.k - 1}."
        if array.dtype.kind == "b" and self.k == 2:
            return array.astype(np.uint8)
        if array.dtype.kind in "ui":
            if array.size and not (array.min() >= 0 and array.max() < self.k):
                raise DataError(rule)
            return array.astype(code_dtype(self.size), copy=False)
        if array.dtype.kind not in "fO" or array.size == 0:
            if array.size == 0:
                return array.astype(code_dtype(self.size))
            raise DataTypeError(rule)
        return keep_present(_whole(array, self.k, rule), self.size, self.missing, "values")


def _clean_labels(labels: Any, missing: Missing) -> tuple[Label, ...]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence | np.ndarray):
        raise ParameterTypeError("labels must be a list of texts, of whole numbers or of booleans.")
    items = [item.item() if isinstance(item, np.generic) else item for item in labels]
    if len(items) < 2:
        raise ParameterError(
            f"labels must list two or more answers, got {'one' if items else 'none'}: otherwise everybody would answer "
            'the same. Declare every possible answer, and where the list is open one more, such as "other".'
        )
    kinds = {type(item) for item in items}
    if len(kinds) != 1 or not kinds <= {str, int, bool}:
        raise ParameterTypeError("labels must be all texts, all whole numbers, or all booleans.")
    clean = tuple(_clean_text(item) if isinstance(item, str) else item for item in items)
    if any(isinstance(item, int) and abs(item) > documents.SAFE_INTEGER for item in clean):
        raise ParameterError("labels that are whole numbers must lie within ±2⁵³: write larger ones as texts.")
    if any(isinstance(item, str) and not _is_unicode(item) for item in clean):
        raise ParameterError("labels must be whole Unicode texts.")
    if len(set(clean)) < len(clean):
        raise ParameterError("labels must be different from each other (after Unicode normalisation).")
    if missing == "category" and MISSING_LABEL in clean:
        raise ParameterError(f"labels must not contain {MISSING_LABEL!r}: it names the category for missing values.")
    return clean


def _is_unicode(text: str) -> bool:
    """Whether a text has no half characters, which no file can hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _clean_text(value: Any) -> Any:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else _NOT_A_LABEL


def _clean_bool(value: Any) -> Any:
    return value if isinstance(value, bool) else _NOT_A_LABEL


def _clean_int(value: Any) -> Any:
    """A whole number as such; 3.0 too, because tables with gaps keep whole numbers as floats."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else _NOT_A_LABEL
    return value if isinstance(value, int) and not isinstance(value, bool) else _NOT_A_LABEL


_NOT_A_LABEL = object()


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    if isinstance(value, str | int):
        return False
    return (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def _whole(array: NDArray[Any], k: int, rule: str) -> NDArray[np.int64]:
    """Codes that came as floats or objects because some are missing; any other float or object is refused."""
    codes = np.empty(array.size, np.int64)
    gaps = False
    for place, value in enumerate(array.tolist()):
        if _is_missing(value):
            gaps, codes[place] = True, ABSENT
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataTypeError(rule)
        if not (0 <= value < k and value == int(value)):
            raise DataError(rule)
        codes[place] = int(value)
    if array.dtype.kind == "f" and not gaps:
        raise DataTypeError(rule)
    return codes
