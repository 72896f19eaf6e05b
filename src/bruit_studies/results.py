"""Results of a study: columns as NumPy arrays, and what studies ask of them again and again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.errors import DataError, ParameterError

Floats: TypeAlias = NDArray[np.float64]
#: Columns that every table of results has: which trial, its repetition, and which of its rows.
RESERVED = ("trial", "repetition", "row")


class NoData(DataError):
    """Results lack a column or rows, for instance because a part of the study was skipped."""


@dataclass(frozen=True)
class Summary:
    """What some repetitions of a measurement say.

    `low` and `high` are the ends of the 95 % interval of the mean, by Student's law; `sd` is the dispersion of single
    trials, and `error` that of the mean.
    """

    count: int
    mean: float
    sd: float
    error: float
    low: float
    high: float

    def sure(self, errors: float = 4.0) -> bool:
        """Whether the mean is more standard errors away from 0 than this."""
        return abs(self.mean) > errors * self.error

    def text(self, form: str = ".1f", spread: str = "", *, scale: float = 1.0) -> str:
        """Mean ± dispersion of a trial.

        >>> summarise([1.0, 2.0, 3.0]).text(".2f", ".1f", scale=100)
        '200.00 ± 100.0'
        """
        return f"{self.mean * scale:{form}} ± {self.sd * scale:{spread or form}}"

    def points(self) -> str:
        """The mean of a difference of shares ± its standard error, in percentage points.

        >>> summarise([0.01, 0.02, 0.03]).points()
        '+2.0 ± 0.6'
        """
        return f"{self.mean * 100:+.1f} ± {self.error * 100:.1f}"


@dataclass(frozen=True, eq=False)
class Curve:
    """A metric against a factor: one `Summary` per value of the factor, as arrays."""

    x: NDArray[Any]
    count: Floats
    mean: Floats
    sd: Floats
    error: Floats
    low: Floats
    high: Floats

    def times(self, factor: float) -> Curve:
        """The same in another unit."""
        scaled = {field.name: getattr(self, field.name) * factor for field in fields(Summary) if field.name != "count"}
        return replace(self, **scaled)

    def ends(self, form: str = ".1f", unit: str = "") -> str:
        """Where it begins and ends.

        >>> StudyResults("toy", {"x": [1, 2], "y": [3.0, 4.0]}).curve("y", "x").ends(unit=" %")
        '3.0 % at ε = 1, 4.0 % at 2'
        """
        return f"{self.mean[0]:{form}}{unit} at ε = {self.x[0]:g}, {self.mean[-1]:{form}}{unit} at {self.x[-1]:g}"


@dataclass(frozen=True, eq=False)
class StudyResults:
    """A table of results: factors, repetition and metrics, one row per measurement.

    Parameters
    ----------
    columns
        Arrays of equal length: numbers are float64, with NaN where a row has none; texts are object arrays, with "".
    size, seed, trials
        What was run: ``"quick"`` or ``"full"``, its seed, and how many trials were finished.
    skipped
        Reasons why trials were not made, and how many.

    Examples
    --------
    >>> results = StudyResults("toy", {"method": ["a", "a", "b", "b"], "error": [1.0, 3.0, 5.0, 5.0]})
    >>> results.where(method="a").summary("error").mean
    2.0
    >>> [(key, len(part)) for key, part in results.by("method")]
    [('a', 2), ('b', 2)]
    """

    study: str
    columns: Mapping[str, Any] = field(repr=False)
    size: str = "quick"
    seed: int = 0
    trials: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = {name: as_column(values) for name, values in self.columns.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise ParameterError("Every column must have the same length.")
        object.__setattr__(self, "columns", columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise NoData(f"The results of {self.study!r} have no column {name!r}.")
        column: NDArray[Any] = self.columns[name]
        return column

    def where(self, **values: Any) -> StudyResults:
        """The rows in which each named column has the given value, or one of several given as a list or tuple."""
        kept = np.ones(len(self), bool)
        for name, value in values.items():
            wanted = value if isinstance(value, list | tuple | np.ndarray) else [value]
            kept &= np.any([_equal(self[name], option) for option in wanted], axis=0)
        if not kept.any():
            condition = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise NoData(f"There are no results with {condition}.")
        return self._rows(kept)

    def by(self, *names: str) -> Iterator[tuple[Any, StudyResults]]:
        """Each value of a column, or each combination of values of several, and its rows; in order of appearance."""
        places: dict[tuple[Any, ...], list[int]] = {}
        for place, key in enumerate(zip(*(self[name].tolist() for name in names), strict=True)):
            places.setdefault(key, []).append(place)
        for key, rows in places.items():
            yield (key[0] if len(names) == 1 else key), self._rows(np.array(rows))

    def values(self, name: str) -> list[Any]:
        """The distinct values of a column, in order of appearance, without what is missing."""
        distinct = dict.fromkeys(self[name].tolist())
        return [value for value in distinct if value not in ("", None) and not _is_nan(value)]

    def summary(self, metric: str) -> Summary:
        """Mean, dispersion and the interval of the mean over all these rows; what is missing does not count."""
        return summarise(self._numbers(metric))

    def mean(self, metric: str) -> float:
        """The mean over all these rows."""
        return self.summary(metric).mean

    def quantiles(self, metric: str, shares: Sequence[float]) -> Floats:
        """The quantiles of a metric over all these rows."""
        return np.asarray(np.quantile(self._numbers(metric), shares))

    def curve(self, metric: str, over: str) -> Curve:
        """The summary of a metric for each value of a column of numbers, in rising order."""
        summaries = {key: part.summary(metric) for key, part in self.by(over) if not _is_nan(key)}
        keys = sorted(summaries)
        rows = np.array([astuple(summaries[key]) for key in keys], float).reshape(-1, len(fields(Summary)))
        return Curve(np.array(keys, float), *rows.T)

    def _numbers(self, metric: str) -> Floats:
        column = self[metric]
        if column.dtype == object:
            raise ParameterError(f"The column {metric!r} has texts, not numbers.")
        numbers: Floats = column[~np.isnan(column)]
        if not numbers.size:
            raise NoData(f"There are no results for {metric!r}.")
        return numbers

    def _rows(self, kept: NDArray[Any]) -> StudyResults:
        columns = {name: values[kept] for name, values in self.columns.items()}
        return StudyResults(self.study, columns, self.size, self.seed, self.trials, self.skipped)


def summarise(numbers: Any) -> Summary:
    """What some repetitions of a measurement say.

    >>> summarise([1.0, 2.0, 3.0]).error
    0.5773502691896258
    """
    from scipy import special

    sample = np.asarray(numbers, float)
    mean = float(sample.mean())
    if sample.size < 2:
        return Summary(sample.size, mean, float("nan"), float("nan"), mean, mean)
    sd = float(sample.std(ddof=1))
    error = sd / sample.size**0.5
    reach = float(special.stdtrit(sample.size - 1, 0.975)) * error
    return Summary(sample.size, mean, sd, error, mean - reach, mean + reach)


def as_column(values: Any) -> NDArray[Any]:
    """Texts as an object array with "" for what is missing, everything else as float64 with NaN."""
    if isinstance(values, np.ndarray) and values.dtype in (np.float64, object):
        return values
    entries = list(values) if not isinstance(values, np.ndarray) else values.tolist()
    if any(isinstance(value, str) for value in entries):
        out = np.empty(len(entries), object)
        out[:] = ["" if value is None or _is_nan(value) else str(value) for value in entries]
        return out
    return np.array([np.nan if value is None else value for value in entries], float)


def _equal(column: NDArray[Any], value: Any) -> NDArray[np.bool_]:
    if column.dtype == object or isinstance(value, str):
        return np.asarray(column == value, bool) & np.ones(column.size, bool)
    return np.asarray(np.isclose(column, float(value), rtol=1e-9, atol=0))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
