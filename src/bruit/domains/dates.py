"""Dates and times as a finite domain: the hours, days, weeks or months of a declared range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.domain import ZONED, DictionaryColumn, Domain, checked_codes, column
from bruit.domains.missing import is_missing
from bruit.domains.outside import Outside, declared_outside
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
from bruit.typing import ColumnLike

#: What one code stands for.
Period: TypeAlias = Literal["hour", "day", "week", "month"]

#: NumPy's unit of each period; weeks are counted in days.
_UNITS: dict[str, str] = {"hour": "h", "day": "D", "week": "D", "month": "M"}
#: Days from 1970-01-01, a Thursday, back to the Monday of its week.
_MONDAY = 3
#: Moments are kept in seconds: nanoseconds would end in the year 2262.
_SECONDS = "M8[s]"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"\d{4}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?")

_RULE = (
    "values must be dates or times: date and datetime objects, a column of such a type, "
    "or texts as 2023-01-31 and 2023-01-31T14:05."
)
_NO_HOUR = "values must be times, because the domain counts hours, and some are dates only."


@dataclass(frozen=True, repr=False)
class Dates(Domain):
    """The hours, days, weeks or months from `first` to `last`, both included.

    Parameters
    ----------
    first, last
        The declared range: a date, a time without a time zone, or a text as ``"2023-01-31"`` or ``"2023-01"``. It is
        public: never read it from the data.
    every
        What one code stands for: ``"hour"``, ``"day"``, ``"week"`` (from Monday) or ``"month"``.
    missing
        The policy for missing values, as in `Categories`.
    outside
        What happens to a date beyond the range: ``"refuse"``, ``"clamp"`` (it counts in the nearest period), as in
        `Grid`, or ``"other"`` (a value of its own).

    Examples
    --------
    >>> months = Dates("2023-01-01", "2023-12-31", every="month")
    >>> months.size, months.encode(["2023-02-14", "2023-12-31"]).tolist()
    (12, [1, 11])
    >>> months.labels[:2]
    ('2023-01', '2023-02')
    >>> Dates("2023-01-01", "2023-01-31", every="week").labels[:2]
    ('2022-12-26', '2023-01-02')
    """

    policies: ClassVar[tuple[Outside, ...]] = ("refuse", "clamp", "other")

    first: str
    last: str
    every: Period = "day"

    def __post_init__(self) -> None:
        _checks.one_of(get_args(Period), every=self.every)
        super().__post_init__()
        for name in ("first", "last"):
            bound = _bound(name, getattr(self, name))
            object.__setattr__(self, name, str(self._period(np.array([bound], _SECONDS))[0]))
        if self._ends[0] >= self._ends[1]:
            raise ParameterError(f"first must be at least a {self.every} before last.")
        _checks.domain_size(**{f"the number of {self.every}s": self.k})

    @property
    def k(self) -> int:
        """How many periods there are."""
        low, high = self._ends
        return high - low + 1

    @property
    def declared(self) -> int:
        """How many periods there are."""
        return self.k

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """One text per period: its month, day (the Monday of a week) or hour."""
        return tuple(str(start) for start in self._starts(np.arange(self.k)))

    @property
    def declared_names(self) -> tuple[str, ...]:
        """The periods."""
        return self.labels

    def read(self, values: ColumnLike) -> Read:
        """The values as numbers of periods, counted from 1970."""
        moments = self._moments(values)
        absent = np.isnat(moments)
        numbers = self._number(moments)
        low, high = self._ends
        return Read(numbers, absent, ~absent & ((numbers < low) | (numbers > high)))

    def nearest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The first or the last period for dates beyond it."""
        return np.asarray(np.clip(values, *self._ends))

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """How many periods each is after the first."""
        return np.asarray(values - self._ends[0])

    def refusal(self, read: Read) -> DataError:
        """Dates must lie within the range."""
        return DataError(
            f"values must lie in the declared range {self.first}..{self.last}. Mend them, or declare "
            'outside="clamp" or "other" (--outside), which takes the nearest period, or a value for all others.'
        )

    def decode(self, codes: Any) -> NDArray[Any]:
        """The first moment of each period; not-a-time for other and for missing values."""
        array = checked_codes(codes, self.size)
        starts = self._starts(array.astype(np.int64))
        starts[array >= self.k] = np.datetime64("NaT", "s")
        return starts

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        body = {"kind": "dates", "first": self.first, "last": self.last, "every": self.every, "missing": self.missing}
        return {**body, **declared_outside(self.outside)}

    @classmethod
    def from_dict(cls, body: Any) -> Dates:
        """The inverse of `to_dict`."""
        rule = "Dates must have first, last, every and a policy for missing values."
        with translated((KeyError, TypeError, BruitError), lambda _: FormatError(rule)):
            return cls(body["first"], body["last"], body["every"], missing=body["missing"], outside=body.get("outside"))

    @cached_property
    def _ends(self) -> tuple[int, int]:
        first, last = self._number(np.array([self.first, self.last], _SECONDS))
        return int(first), int(last)

    def _period(self, moments: NDArray[Any]) -> NDArray[Any]:
        """The first moment of the period that each moment lies in, in the unit of the period."""
        return self._of_number(self._number(moments))

    def _number(self, moments: NDArray[Any]) -> NDArray[np.int64]:
        """The number of the period that each moment lies in, counted from 1970."""
        units = moments.astype(f"M8[{_UNITS[self.every]}]").astype(np.int64)
        return (units + _MONDAY) // 7 if self.every == "week" else units

    def _of_number(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        units = numbers * 7 - _MONDAY if self.every == "week" else numbers
        return units.astype(f"M8[{_UNITS[self.every]}]")

    def _starts(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        return self._of_number(codes + self._ends[0])

    def _moments(self, values: Any) -> NDArray[Any]:
        """The values as moments of NumPy, not-a-time where one is missing."""
        if isinstance(values, DictionaryColumn):
            return self._read_entries(values)
        array = column(values)
        if array.dtype.kind == "M":
            self._check_unit(np.datetime_data(array.dtype)[0], array.size)
            return array.astype(_SECONDS)
        if array.dtype.kind not in "OUT" and array.size:
            raise DataTypeError(_RULE)
        return np.array([self._moment(value) for value in array.tolist()], _SECONDS)

    def _read_entries(self, cells: DictionaryColumn) -> NDArray[Any]:
        """Dates that a file keeps once each; an entry that nobody has may be anything."""
        entries = np.asarray(cells.entries).tolist()
        used = np.unique(cells.positions[cells.positions >= 0])
        moments = np.full(len(entries) + 1, np.datetime64("NaT", "s"), _SECONDS)  # position −1 is a missing value
        moments[used] = [self._moment(entries[place]) for place in used]
        return np.asarray(moments[cells.positions])

    def _check_unit(self, unit: str, rows: int) -> None:
        too_coarse = {"hour": ("Y", "M", "W", "D"), "day": ("Y", "M", "W"), "week": ("Y", "M"), "month": ("Y",)}
        if rows and unit in too_coarse[self.every]:
            raise DataTypeError(_NO_HOUR if self.every == "hour" else _RULE)

    def _moment(self, value: Any) -> Any:
        """One value as a moment of NumPy; what is no date is an error that does not show it."""
        if is_missing(value) or value != value:  # noqa: PLR0124 -- not-a-time of NumPy
            return np.datetime64("NaT", "s")
        if isinstance(value, datetime):
            if value.tzinfo is not None:
                raise DataTypeError(ZONED)
            return np.datetime64(value, "us")
        if isinstance(value, date):
            if self.every == "hour":
                raise DataTypeError(_NO_HOUR)
            return np.datetime64(value, "D")
        if isinstance(value, np.datetime64):
            return value
        moment = _from_text(value, self.every) if isinstance(value, str) else None
        if moment is None:
            raise DataTypeError(_RULE)
        return moment


def _from_text(text: str, every: Period) -> np.datetime64 | None:
    """A text as a moment, None if it is none; the error, which shows the text, goes no further."""
    word = text.strip()
    forms = [_TIME] if every == "hour" else [_TIME, _DATE]
    if every == "month":
        forms.append(_MONTH)
    if not any(form.fullmatch(word) for form in forms):
        return None
    try:
        return np.datetime64(word.replace(" ", "T").partition(".")[0], "s")
    except ValueError:
        return None


def _bound(name: str, value: Any) -> np.datetime64:
    """An end of the declared range as a moment."""
    if isinstance(value, str):
        moment = _from_text(value, "month")
        if moment is None:
            raise ParameterError(f"{name} must be a date or a time, as 2023-01-31 or 2023-01-31T14:00, got {value!r}.")
        return moment
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise ParameterError(f"{name} must be a local time without a time zone.")
    if isinstance(value, date | np.datetime64):
        return np.array([value], "M8[us]").astype(_SECONDS)[0]  # type: ignore[no-any-return]
    raise ParameterTypeError(f"{name} must be a date, a time, or a text as 2023-01-31.")
