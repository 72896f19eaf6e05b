"""A declared list of categories, by label or by code.

Where labels are texts, a number or a boolean is the label that spells it: 3 and 3.0 are "3", and true is "true" or
"True". So a column means the same whether a file keeps it as texts or as numbers. 1 is neither "1.0" nor "01", and no
boolean is a number.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import hints
from bruit.domains.domain import DictionaryColumn, Domain, checked_codes, column
from bruit.domains.missing import MISSING_LABEL, Missing, is_missing
from bruit.domains.outside import OTHER_LABEL, Outside, check_outside, declared_outside
from bruit.domains.policy import Read
from bruit.errors import (
    BruitError,
    DataError,
    DataTypeError,
    FormatError,
    ParameterError,
    ParameterTypeError,
    translated,
)
from bruit.typing import ColumnLike, Label


@dataclass(frozen=True, kw_only=True, repr=False)
class Categories(Domain):
    """A finite list of answers, declared before any data is seen.

    Parameters
    ----------
    labels
        The answers: all texts, all whole numbers, or all booleans. Texts are put in Unicode normal form C, so that
        two ways to type "é" are one label; numbers and booleans among the values are the labels that spell them. None
        leaves plain codes 0..k−1.
    k
        How many codes there are; given instead of labels.
    missing
        ``"refuse"`` (an error), ``"drop"`` (the person is left out; the absence of a report then shows that the
        answer was missing) or ``"category"`` (one more category, private like the others).
    outside
        What happens to a value that is not declared: ``"refuse"`` (an error; the usual) or ``"other"`` (one more
        category, private like the others). Three points at the end of the labels mean ``"other"``.

    Examples
    --------
    >>> colours = Categories(labels=["red", "green", "blue"])
    >>> colours.encode(["blue", "red"])
    array([2, 0], dtype=uint8)
    >>> colours.decode([2, 0]).tolist()
    ['blue', 'red']
    >>> Categories(labels=["1", "2"]).encode([2, 1, 1.0]).tolist()
    [1, 0, 0]
    >>> Categories(k=3, missing="category").size
    4
    >>> Categories(labels=["red", "green", ...]).encode(["green", "pink"]).tolist()
    [1, 2]
    """

    policies: ClassVar[tuple[Outside, ...]] = ("refuse", "other")
    #: Whether the answers stand in an order, so that they have a mean and a median.
    ordered: ClassVar[bool] = False

    labels: tuple[Label, ...] | None = None
    k: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_open(self.labels):
            check_outside("other", self.policies)
            object.__setattr__(self, "labels", tuple(self.labels)[:-1])  # type: ignore[arg-type]
            object.__setattr__(self, "outside", "other")
        if self.labels is None:
            object.__setattr__(self, "k", _checks.domain_size(k=self.k))
            return
        labels = _clean_labels(self.labels, self.missing, self.outside)
        if self.k not in (0, len(labels)):
            raise ParameterError(f"k must be the number of labels, {len(labels)}, got {self.k}: give one of the two.")
        _checks.domain_size(labels=len(labels) + (self.outside == "other"))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "k", len(labels))

    @property
    def declared(self) -> int:
        """How many labels or codes are declared."""
        return self.k

    @property
    def declared_names(self) -> tuple[Label, ...]:
        """The labels, or the codes themselves."""
        return tuple(range(self.k)) if self.labels is None else self.labels

    def read(self, values: ColumnLike) -> Read:
        """The values as codes; what is no label is outside."""
        if isinstance(values, DictionaryColumn):
            return self._pick(values.positions, column(values.entries).tolist(), self._code_in_file)
        array = column(values)
        kind = array.dtype.kind
        if self.labels is None and kind in "uif":
            return self._read_codes(array)
        if self.labels is None and kind != "O" and not (kind == "b" and self.k == 2):  # nothing in it is a code
            return Read(array, np.zeros(array.size, bool), np.ones(array.size, bool), wrong=array)
        if kind in "buif":
            distinct, positions = np.unique(array, return_inverse=True)
            return self._pick(positions, python_values(distinct), self._look_up)
        return self._pick(np.arange(array.size), array.tolist(), self._look_up)

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values are read as codes."""
        return values

    def refusal(self, read: Read) -> DataError | DataTypeError:
        """Values must be declared; a hint says by how little they differ from a label."""
        if isinstance(read.wrong, np.ndarray):
            return DataTypeError(self._rule)
        return DataError(f"{self._rule}{hints.about_labels(read.wrong, self.labels or ()) or self._way_out}")

    def decode(self, codes: Any) -> NDArray[Any]:
        """The labels behind codes, as an array of objects (or of integers for plain codes)."""
        array = checked_codes(codes, self.size)
        if self.labels is None and self.size == self.k:
            return array
        names = np.empty(self.size, object)
        names[:] = self.names
        labels: NDArray[Any] = names[array]
        return labels

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        content = {"k": self.k} if self.labels is None else {"labels": list(self.labels)}
        return {"kind": "categories", **content, "missing": self.missing, **declared_outside(self.outside)}

    @classmethod
    def from_dict(cls, body: Any) -> Categories:
        """The inverse of `to_dict`."""
        rule = "Categories must have labels or k, and a policy for missing values."
        with translated((KeyError, TypeError, AttributeError, BruitError), lambda _: FormatError(rule)):
            labels = body.get("labels")
            return cls(
                labels=None if labels is None else tuple(labels),
                k=body.get("k", 0),
                missing=body["missing"],
                outside=body.get("outside"),
            )

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {label: code for code, label in enumerate(self.labels or ())}

    @cached_property
    def _texts(self) -> dict[str, int]:
        """How labels that are not texts look in a file."""
        return {str(label).lower(): code for code, label in enumerate(self.declared_names)}

    @cached_property
    def _clean(self) -> Callable[[Any], Any]:
        """What a value goes through before it is looked up, by the kind of the labels."""
        return {str: self._as_text, bool: _clean_bool, int: _clean_int}[type((self.labels or ("",))[0])]

    @cached_property
    def _booleans(self) -> dict[str, str]:
        """The labels that a boolean spells, in whatever case they are."""
        return {label.lower(): label for label in self.labels or () if isinstance(label, str)}

    def _as_text(self, value: Any) -> Any:
        """The text that a value is, or that spells it."""
        if isinstance(value, str):
            return unicodedata.normalize("NFC", value)
        if isinstance(value, bool):
            return self._booleans.get(spelling(value), _NOT_A_LABEL)
        number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
        return spelling(value) if number else _NOT_A_LABEL

    def _pick(self, positions: NDArray[Any], entries: list[Any], look_up: Callable[[Any], int]) -> Read:
        """Look each distinct entry up once, then send positions to codes."""
        known: dict[Any, int] = {}
        table = np.empty(len(entries) + 1, np.int64)
        table[-1] = _ABSENT  # position −1 is a missing value
        if self.labels is None and len({isinstance(item, bool) for item in entries if not is_missing(item)}) > 1:
            raise DataTypeError(self._rule)  # True is 1, but the two do not stand for the same in one column
        for place, value in enumerate(entries):
            key = type(value), value  # True, 1 and 1.0 are one key, but not one label
            try:
                code = known.get(key)
            except TypeError:  # lists and mappings have no hash, and are no label
                code = _OUTSIDE
            if code is None:
                code = known[key] = look_up(value)
            table[place] = code
        # Entries of a dictionary that nobody has may be anything.
        codes = table[positions]
        outside = codes == _OUTSIDE
        wrong = (entries[place] for place in np.unique(positions[outside]).tolist()) if outside.any() else ()
        return Read(codes, codes == _ABSENT, outside, wrong)

    def _look_up(self, value: Any) -> int:
        """The code of one value, _ABSENT if it is missing, _OUTSIDE if it is not in the list."""
        if is_missing(value):
            return _ABSENT
        if self.labels is not None:
            return self._index.get(self._clean(value), _OUTSIDE)
        if isinstance(value, bool):
            return int(value) if self.k == 2 else _OUTSIDE
        code = _clean_int(value)
        return code if isinstance(code, int) and 0 <= code < self.k else _OUTSIDE

    def _code_in_file(self, value: Any) -> int:
        """As `_look_up`, for an entry of a file: numbers and booleans may stand there as text."""
        if isinstance(value, str) and (self.labels is None or not isinstance(self.labels[0], str)):
            return self._texts.get(value.strip().lower(), _OUTSIDE)
        return self._look_up(value)

    @property
    def _way_out(self) -> str:
        """What to declare where values are none of the labels, with a space before it."""
        if self.labels is None:
            return ""
        return ' Declare all answers, or outside="other" (--outside other), which counts the others as one label.'

    @property
    def _rule(self) -> str:
        rule = "among the declared labels" if self.labels is not None else f"integers in 0..{self.k - 1}"
        return f"values must be {rule}."

    def _read_codes(self, array: NDArray[Any]) -> Read:
        """Plain codes; whole numbers may be floats, because some are missing or could have been."""
        none = np.zeros(array.size, bool)
        if array.dtype.kind != "f":
            wrong = array.size and not (array.min() >= 0 and array.max() < self.k)
            return Read(array, none, (array < 0) | (array >= self.k) if wrong else none)
        absent = np.isnan(array)
        return Read(array, absent, ~(absent | ((array >= 0) & (array < self.k) & (array == np.floor(array)))))


def is_open(labels: Any) -> bool:
    """Whether a list of labels ends in three points, which stand for all other values."""
    return isinstance(labels, list | tuple) and bool(labels) and labels[-1] is ...


def _clean_labels(labels: Any, missing: Missing, outside: Outside | None) -> tuple[Label, ...]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence | np.ndarray):
        raise ParameterTypeError("labels must be a list of texts, of whole numbers or of booleans.")
    items = [item.item() if isinstance(item, np.generic) else item for item in labels]
    if len(items) < (1 if outside == "other" else 2):
        raise ParameterError(
            f"labels must list two or more answers, got {'one' if items else 'none'}: otherwise everybody would answer "
            'the same. Declare every possible answer, and where the list is open outside="other".'
        )
    kinds = {type(item) for item in items}
    if len(kinds) != 1 or not kinds <= {str, int, bool}:
        raise ParameterTypeError("labels must be all texts, all whole numbers, or all booleans.")
    clean = tuple(_checks.normal_form(item) if isinstance(item, str) else item for item in items)
    if any(isinstance(item, int) and abs(item) > documents.SAFE_INTEGER for item in clean):
        raise ParameterError("labels that are whole numbers must lie within ±2⁵³: write larger ones as texts.")
    if any(isinstance(item, str) and not _checks.is_whole(item) for item in clean):
        raise ParameterError("labels must be whole Unicode texts.")
    if len(set(clean)) < len(clean):
        raise ParameterError("labels must be different from each other (after Unicode normalisation).")
    booleans = [item.lower() for item in clean if isinstance(item, str) and item.lower() in _BOOLEANS]
    if len(set(booleans)) < len(booleans):
        raise ParameterError("labels must spell true or false in one way: a boolean would be several of these labels.")
    if missing == "category" and MISSING_LABEL in clean:
        raise ParameterError(f"labels must not contain {MISSING_LABEL!r}: it names the category for missing values.")
    if outside == "other" and OTHER_LABEL in clean:
        raise ParameterError(f"labels must not contain {OTHER_LABEL!r}: it names the category for all other values.")
    return clean


def spelling(value: Any) -> str:
    """How a value is written as a text: true and false, whole numbers without a point, other numbers shortest.

    >>> spelling(True), spelling(3.0), spelling(0.25), spelling("x")
    ('true', '3', '0.25', 'x')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise DataError("A whole number is too long to be an answer.")
    return str(value)


_BOOLEANS = ("true", "false")
#: The most bits of a whole number that is written as a text; Python itself refuses to write much longer ones.
_MOST_BITS = 4096


def python_values(numbers: NDArray[Any]) -> list[Any]:
    """Numbers as Python's own; a narrow float is the decimal that it is written as."""
    narrow = numbers.dtype.kind == "f" and numbers.itemsize < 8
    return [float(str(number)) for number in numbers] if narrow else list(numbers.tolist())


def _clean_bool(value: Any) -> Any:
    return value if isinstance(value, bool) else _NOT_A_LABEL


def _clean_int(value: Any) -> Any:
    """A whole number as such; 3.0 too, because tables with gaps keep whole numbers as floats."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else _NOT_A_LABEL
    return value if isinstance(value, int) and not isinstance(value, bool) else _NOT_A_LABEL


_NOT_A_LABEL = object()
#: What stands among codes for a value that is not declared, and for one that is missing.
_OUTSIDE, _ABSENT = -1, -2
