"""What categories and grids have in common: a finite set of codes, and a way from data to codes."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes, code_dtype
from bruit.domains.missing import GAPS_OF_CATEGORIES, MISSING_LABEL
from bruit.domains.outside import OTHER_LABEL, Outside, check_outside
from bruit.domains.policy import Policy, Read
from bruit.errors import BruitError, DataError, DataTypeError, translated
from bruit.typing import ColumnLike


class DictionaryColumn(NamedTuple):
    """A column as files keep it: each distinct entry once, and per person its position, or −1 where it is missing."""

    entries: NDArray[Any]
    positions: NDArray[Any]


@dataclass(frozen=True, kw_only=True, repr=False)
class Domain(Policy, ABC):
    """A finite set of values that a person may have, numbered 0..size−1, with the policies for all other values.

    A new domain is a frozen dataclass that says how a column is read and where a value has its place.
    """

    #: What is estimated of it unless said otherwise: the frequencies of its values, or the mean of a number.
    gives: ClassVar[Literal["frequency", "mean"]] = "frequency"
    #: The policies for values outside that this kind of domain can follow.
    policies: ClassVar[tuple[Outside, ...]] = ("refuse",)
    #: What can be done about missing values, for messages.
    gaps: ClassVar[str] = GAPS_OF_CATEGORIES

    def __post_init__(self) -> None:
        super().__post_init__()
        check_outside(self.outside, self.policies)

    @property
    @abstractmethod
    def declared(self) -> int:
        """How many values are declared: without those for other and for missing values."""

    @property
    @abstractmethod
    def declared_names(self) -> tuple[Any, ...]:
        """One label per declared value."""

    @property
    def size(self) -> int:
        """How many codes there are, those for other and for missing values included."""
        return self.declared + (self.outside == "other") + (self.missing == "category")

    @property
    def names(self) -> tuple[Any, ...]:
        """One label per code, as estimates show them: `OTHER_LABEL` for values outside, last `MISSING_LABEL`."""
        return self.with_others(self.declared_names)

    def with_others(self, names: tuple[Any, ...]) -> tuple[Any, ...]:
        """Names of the declared values, and then those for other and for missing values where these are counted."""
        other = (OTHER_LABEL,) if self.outside == "other" else ()
        missing = (MISSING_LABEL,) if self.missing == "category" else ()
        return (*names, *other, *missing)

    @abstractmethod
    def read(self, values: ColumnLike) -> Read:
        """The column as values of the kind that `place` takes, and which are missing or outside; no policy yet."""

    @abstractmethod
    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """The codes of values within the domain, as `read` gives them."""

    @abstractmethod
    def refusal(self, read: Read) -> BruitError:
        """The error about values outside, which shows none of them."""

    def nearest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values as `read` gives them, with the nearest end for those outside."""
        raise NotImplementedError(f"{type(self).__name__} has no ends.")  # its policies have no "clamp"

    def admit(self, values: ColumnLike) -> Read:
        """The column after the policies: values within the domain that have no code yet, one per person who is kept."""
        return self.apply(self, self.read(values))

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of the values, one per person who has one: first the policies, then the place of each value."""
        read = self.admit(values)
        apart = read.absent | read.outside
        if not apart.any():
            return self.place(read.values).astype(code_dtype(self.size), copy=False)
        codes = np.empty(apart.size, np.int64)
        codes[~apart] = self.place(read.values[~apart])
        codes[read.outside] = self.declared
        codes[read.absent] = self.size - 1
        return codes.astype(code_dtype(self.size))

    @abstractmethod
    def decode(self, codes: Any) -> NDArray[Any]:
        """The values that stand behind codes."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""


def column(values: Any, what: str = "values") -> NDArray[Any]:
    """Data as a one-dimensional array: one person is ``[value]``, never a scalar."""
    if isinstance(values, str | bytes):
        raise DataTypeError(f"{what} must be a sequence with one entry per person, not one text: wrap it in a list.")
    if type(values).__module__.startswith("pyspark."):  # its names would be taken for values
        raise DataTypeError(f"{what} must be in memory: give a Spark DataFrame to a Plan.")
    if not hasattr(values, "__array__") and not isinstance(values, list | tuple | range):
        values = _listed(values, what)
    array = _as_array(for_numpy(values))
    if array.ndim == 2 and array.dtype == np.uint8:  # what files keep as bytes
        raise DataTypeError(f"{what} must be text, numbers or booleans: a column of bytes can only hold reports.")
    if array.ndim != 1:
        raise DataTypeError(f"{what} must be one-dimensional, one entry per person: one person is [value].")
    if array.dtype.kind in "OU":
        check_whole(array.tolist())
    return array


#: What is wrong with times that have a time zone.
ZONED = "values must be local times without a time zone: convert the column to the zone of the people first."


def _has_zone(values: Any) -> bool:
    """Whether a column of pandas, polars or pyarrow holds times with a time zone."""
    kinds = [getattr(values, name, None) for name in ("dtype", "type")]
    return any(getattr(kind, name, None) for kind in kinds for name in ("tz", "time_zone"))


def checked_codes(codes: Any, size: int) -> NDArray[Any]:
    """Codes as an array of integers in 0..size−1; anything else is an error."""
    array = column(codes, "codes")
    if array.dtype.kind not in "ui" or (array.size and not (array.min() >= 0 and array.max() < size)):
        raise DataError(f"codes must be integers in 0..{size - 1}.")
    return array


def is_lazy(table: Any) -> bool:
    """Whether this is a lazy frame of polars, which is not imported to find out."""
    kind = type(table)
    return kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars.")


def in_memory(table: Any) -> Any:
    """A lazy frame of polars as a frame whose rows are in memory; anything else as it is."""
    if not is_lazy(table):
        return table
    with contextlib.suppress(Exception):  # whatever a query does; its words may quote a value, so nothing is kept
        return table.collect()
    raise DataError("The lazy frame could not be collected: its query failed. Collect it first, to see why.")


def for_numpy(values: Any) -> Any:
    """A column as NumPy may read it: gaps that are kept beside the values as None, and no times with a zone.

    NumPy would read what is behind a gap, and drop the zone.
    """
    if _has_zone(values):
        raise DataTypeError(ZONED)
    if isinstance(values, np.ma.MaskedArray):
        # Floats stay in their type, which says how far their whole numbers are exact.
        return values.filled(np.nan) if values.dtype.kind == "f" else values.tolist()
    if not hasattr(values, "to_pylist"):
        return values
    encoded = "dictionary" in str(values.type)
    kind = str(values.type.value_type if encoded else values.type)
    if kind in _ARROW_FLOATS:
        return values.cast(values.type.value_type) if encoded else values
    if "string" in kind:  # an array that was put together from bytes may hold anything
        with translated(ValueError, lambda _: DataError(HALVES)):
            values.validate(full=True)
    return values.to_pylist() if encoded or values.null_count else values


#: Arrow's floats, whose gaps NumPy reads as NaN.
_ARROW_FLOATS = ("halffloat", "float", "double")


#: What is wrong with texts that no file can hold.
HALVES = (
    "some texts are not whole Unicode (half of a surrogate pair, or bytes that are no UTF-8). Mend the encoding of the "
    "data."
)


def check_whole(values: Iterable[Any]) -> None:
    """Refuse values of which some are texts with half characters, without showing them.

    >>> check_whole(["Zoë", 3, None])
    >>> check_whole(["\\ud83d"])
    Traceback (most recent call last):
    bruit.errors.DataError: some texts are not whole Unicode (half of a surrogate pair, or bytes that are no UTF-8). ...
    """
    if not _checks.is_whole("".join([value for value in values if isinstance(value, str)])):
        raise DataError(HALVES)


def _listed(values: Any, what: str) -> Any:
    """A series of another library, or any finite iterable, as something NumPy reads."""
    for method in ("to_numpy", "tolist"):
        if hasattr(values, method):
            return getattr(values, method)()
    rule = f"{what} must be a sequence with one entry per person: one person is [value]."
    with translated(TypeError, lambda _: DataTypeError(rule)):
        return list(values)


def _as_array(values: Any) -> NDArray[Any]:
    """NumPy's reading of the data, except that it must not turn mixed lists into text."""
    mixed = isinstance(values, list | tuple) and not all(type(v) is type(values[0]) for v in values)
    try:
        if not mixed:
            return np.asarray(values)
        plain = [value.item() if isinstance(value, np.generic) else value for value in values]
        if len({type(value) for value in plain}) == 1:
            return np.asarray(plain)
        array = np.empty(len(plain), object)
        array[:] = plain
        return array
    except ValueError:  # ragged nested lists
        return np.empty((0, 0))
