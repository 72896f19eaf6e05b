"""What a release publishes: noisy values, their error, their guarantee, and nothing without noise.

A result is paid for, so it can be kept: `save` writes a document (``bruit.result/1`` for a `Result`,
``bruit.results/1`` for several), and `load` reads it back without spending anything. Intervals of a few levels are
written down, because what computes those of any level is not.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.errors import BruitError, FormatError, ParameterError, translated
from bruit.privacy.guarantee import Guarantee
from bruit.releases.draws import Draws
from bruit.tables import Column, Table, Tabular, digits, ends, interval_of, label, number, rounded

Floats = NDArray[np.float64]
#: From a level to the ends of each value's interval, one row per value.
Ends = Callable[[float], Any]

#: The levels whose intervals a document has, besides the one asked for.
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
_ENDS = ("lower", "upper")
#: The columns of a file of results.
_FILE_COLUMNS = ("statistic", "column", "group", "label", "value", "error", *_ENDS)
#: How people read the column `error`.
STANDARD_DEVIATION = "error (sd)"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(Tabular):
    """Noisy values that may be shown to anybody.

    Parameters
    ----------
    name
        What was released.
    values
        The noisy values: whole numbers, floats, or texts.
    labels
        What each value is about.
    standard_error
        The standard deviation of the noise in each value; NaN where it is not known.
    guarantee
        What is promised to each person.
    simulated
        Whether the noise came from a seed, so that anyone who has the seed can remove it.
    statistic
        The public description of what was asked.
    ends
        From a level to the ends of the intervals; None if the release has none.
    notes
        What a reader must know, such as "approximate interval".
    draws
        The noisy sums that the values are computed from, so that a later draw can refine them; None where there are
        none, or where they came from a seed.
    """

    FORMAT = "bruit.result/1"
    #: The kind of the statistic whose results are of this class; a document of that kind is read as one.
    kind: ClassVar[str] = ""
    _classes: ClassVar[dict[str, type[Result]]] = {}

    name: str
    values: NDArray[Any]
    labels: tuple[Any, ...]
    standard_error: Floats
    guarantee: Guarantee
    simulated: bool
    statistic: Mapping[str, Any]
    ends: Ends | None = field(default=None)
    notes: tuple[str, ...] = ()
    draws: Draws | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.kind:
            Result._classes[cls.kind] = cls

    def __post_init__(self) -> None:
        values = np.array(self.values, ndmin=1)
        values = _read_only(values.astype(object) if values.dtype.kind in "US" else values)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "standard_error", _read_only(np.full(values.shape, self.standard_error, np.float64)))
        object.__setattr__(self, "labels", tuple(self.labels))
        if values.ndim != 1 or len(self.labels) != values.size:
            raise ParameterError("A release has one label for each value.")

    @property
    def value(self) -> Any:
        """The one value, as a plain number."""
        if self.values.size != 1:
            raise ParameterError(f"This release has {self.values.size} values: use values.")
        return _item(self.values[0])

    def interval(self, level: float = 0.95) -> Any:
        """The ends between which each true value lies with probability `level`; about the noise alone.

        One row (lower, upper) for each value; a plain pair for a release of one value. The ends of dates are texts.
        """
        _checks.probability(level=level)
        if self.ends is None:
            raise ParameterError(f"A release of {self.name} has no interval.")
        kind: Any = object if _type(self.values) == "text" else np.float64
        ends = np.asarray(self.ends(level), kind).reshape(-1, 2)
        return (_item(ends[0, 0]), _item(ends[0, 1])) if self._alone else ends

    def __getitem__(self, label: Any) -> Any:
        with translated(ValueError, lambda _: ParameterError("This is not one of the labels of the release.")):
            return _item(self.values[self.labels.index(label)])

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def table(self, level: float = 0.95) -> Table:
        """Every value: columns label, value, error, and lower and upper where there is an interval."""
        texts = _type(self.values) == "text"
        write = self._rounding()
        value = Column("value", self.values, None, "label", label if texts else write)
        value = value if texts else replace(value, kind="number")
        columns = [*self._label_columns(), value]
        finite = np.isfinite(self.standard_error).any()
        columns.append(Column("error", self.standard_error, STANDARD_DEVIATION, write=digits(3), hidden=not finite))
        if self.ends is not None:
            rows = np.asarray(self.interval(level)).reshape(-1, 2)
            columns.append(
                Column("interval", rows, interval_of(level), write=label_ends if texts else _pairs(write), parts=_ENDS)
            )
        notes = [f"guarantee: {self.guarantee}", *self.notes]
        about = {key: value for key, value in self._facts(level).items() if key != "notes"}
        column = self.statistic.get("column")
        kind, by, groups = self.name.partition(" by ")
        subject = f"{kind}{'' if column is None else f' of {column}'}{by}{groups}"
        own = self.statistic.get("label")
        title = f"Released {subject}" + (f": {own}" if own else "") + (", simulated" if self.simulated else "")
        return Table(title, columns, notes, about, noun="value")

    def _rounding(self) -> Callable[[Any], str]:
        """How people read the values: to what the least error supports. Programs get every digit."""
        errors = self.standard_error[np.isfinite(self.standard_error) & (self.standard_error > 0)]
        if not errors.size:
            return number
        half = 1.96 * float(errors.min())
        return lambda value: rounded(value, half)

    def attributes(self) -> dict[str, list[str]]:
        """The label of each value by attribute, for results that have several; nothing for others."""
        return {}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Plain values, for documents and programs."""
        return {
            **self._facts(level),
            "values": self.table(level).to_dict()["values"],
            "intervals": [] if self.ends is None else [self._interval_columns(at) for at in LEVELS],
            **({} if self.draws is None or self.draws.release is None else {"draws": self.draws.to_dict()}),
        }

    def _facts(self, level: float) -> dict[str, Any]:
        return {
            "name": self.name,
            "statistic": dict(self.statistic),
            "guarantee": self.guarantee.to_dict(),
            "simulated": self.simulated,
            "type": _type(self.values),
            "level": level,
            "notes": list(self.notes),
        }

    def to_json(self, level: float = 0.95) -> str:
        """The result as a document of format ``bruit.result/1``; read it with `from_json`."""
        return documents.seal(self.FORMAT, self.to_dict(level), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Result:
        """The inverse of `to_json`; damage is detected, forgery is not. Intervals have the levels of the document."""
        body = documents.unseal(text, cls.FORMAT)
        with _reading(cls.FORMAT):
            return cls._of_document(body)

    def save(self: Result | Results, path: str | os.PathLike[str], *, level: float = 0.95, force: bool = False) -> None:
        """Write the result to a file, whole or not at all; a file that exists is replaced only with `force`."""
        if not force and os.path.lexists(path):
            raise ParameterError("This file exists, and may hold what was paid for: take another name, or force=True.")
        documents.write_text(path, self.to_json(level) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """A result that was saved. It spends nothing.

        >>> import tempfile, pathlib
        >>> from bruit.releases import Count, release
        >>> count = release([31, 40, 22], Count(epsilon=1.0), rng=7)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     count.save(pathlib.Path(folder, "count.json"))
        ...     again = Result.load(pathlib.Path(folder, "count.json"))
        >>> again.value == count.value, again.interval(0.99) == count.interval(0.99)
        (True, True)
        """
        return cls.from_json(Path(path).read_bytes())

    @classmethod
    def _of_document(cls, body: dict[str, Any]) -> Result:
        rows, simulated = body["values"], body["simulated"]
        if not isinstance(simulated, bool) or not isinstance(body["name"], str):
            raise TypeError
        grouped = bool(rows) and "group" in rows[0]
        read = _texts if body["type"] == "text" else _numbers
        saved = {
            float(interval["level"]): np.stack([read(interval[end]) for end in _ENDS], axis=1)
            for interval in [*body["intervals"], *_own_interval(body)]
        }
        if any(len(ends) != len(rows) for ends in saved.values()):
            raise ValueError
        own = cls._classes.get(body["statistic"].get("kind"), cls)
        return own(
            name=body["name"],
            values=_values([row["value"] for row in rows], body["type"]),
            labels=tuple((row["group"], row["label"]) if grouped else row["label"] for row in rows),
            standard_error=_numbers([row["error"] for row in rows]),
            guarantee=Guarantee.from_dict(body["guarantee"]),
            simulated=simulated,
            statistic=dict(body["statistic"]),
            ends=_SavedEnds(saved) if saved else None,
            notes=tuple(map(str, body["notes"])),
            draws=Draws.from_dict(body["draws"]) if "draws" in body else None,
        )

    def _interval_columns(self, level: float) -> dict[str, Any]:
        ends = np.asarray(self.interval(level)).reshape(-1, 2)
        return {"level": level, **{name: [_plain(end) for end in ends[:, i]] for i, name in enumerate(_ENDS)}}

    def _label_columns(self) -> list[Column]:
        """Labels, apart from their group where there are groups."""
        if self.labels and all(isinstance(name, tuple) for name in self.labels):
            groups, names = zip(*self.labels, strict=True)
            return [Column("group", groups, kind="label", write=label), Column("label", names, "", "label", label)]
        return [Column("label", self.labels, "", "label", label)]

    @property
    def _alone(self) -> bool:
        return self.values.size == 1 and self.labels == (self.name,)


class Results(Mapping[str, Result]):
    """The results of one release, by name, in the order in which they were asked."""

    FORMAT = "bruit.results/1"

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = dict(results)

    def __getitem__(self, name: str) -> Result:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return "\n\n".join(repr(result) for result in self.values())

    def _repr_html_(self) -> str:
        return "".join(result._repr_html_() for result in self.values())

    def table(self, level: float = 0.95) -> Table:
        """All values, one row each, with their statistic, column, group and label; for files."""
        rows = [row for name, result in self.items() for row in _rows(name, result, level)]
        names, columns, groups, labels, values, errors, intervals = zip(*rows, strict=True) if rows else [()] * 7
        return Table(
            "Released " + ", ".join(self),
            [
                Column("statistic", names, kind="label", write=str),
                Column("column", columns, kind="text", write=lambda text: text or "", hidden=not any(columns)),
                Column("group", groups, kind="text", write=label, hidden=not any(groups)),
                Column("label", labels, "", "text", label),
                *self._attribute_columns(),
                Column("value", values if all(isinstance(value, int) for value in values) else _mixed(values)),
                Column("error", errors, STANDARD_DEVIATION, write=digits(3)),
                _interval_column(intervals, level),
            ],
            noun="value",
        )

    def _attribute_columns(self) -> list[Column]:
        """A column for each attribute of tables, for programs; a name that the file has already is left out."""
        parts = [(len(result), result.attributes()) for result in self.values()]
        names = dict.fromkeys(name for _, own in parts for name in own if name not in _FILE_COLUMNS)
        columns = {name: [label for many, own in parts for label in own.get(name, [""] * many)] for name in names}
        return [Column(name, labels, kind="text", write=str, hidden=True) for name, labels in columns.items()]

    def to_json(self, level: float = 0.95) -> str:
        """The results as one document of format ``bruit.results/1``."""
        body = [{"name": name, "result": result.to_dict(level)} for name, result in self.items()]
        return documents.seal(self.FORMAT, {"results": body}, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Results:
        """The inverse of `to_json`."""
        body = documents.unseal(text, cls.FORMAT)
        with _reading(cls.FORMAT):
            return cls({item["name"]: Result._of_document(item["result"]) for item in body["results"]})

    save = Result.save

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Results:
        """Results that were saved. It spends nothing."""
        return cls.from_json(Path(path).read_bytes())


def _rows(name: str, result: Result, level: float) -> Iterator[tuple[Any, ...]]:
    """The rows of one result in a table of several: a group stands apart from the label in it."""
    bounds = np.full((len(result), 2), np.nan) if result.ends is None else np.reshape(result.interval(level), (-1, 2))
    grouped = " by " in result.name
    for own, value, error, interval in zip(
        result.labels, result, result.standard_error.tolist(), bounds.tolist(), strict=True
    ):
        group, text = own if isinstance(own, tuple) else (own, "") if grouped else ("", own)
        yield name, result.statistic.get("column"), str(group), str(text), value, error, tuple(interval)


def _interval_column(intervals: Sequence[tuple[Any, Any]], level: float) -> Column:
    """A column of a file has one type: the ends are texts where there are any, as of dates."""
    if not any(isinstance(end, str) for pair in intervals for end in pair):
        return Column("interval", intervals, interval_of(level), write=ends, parts=_ENDS)
    texts = [tuple("" if end != end else str(end) for end in pair) for pair in intervals]  # noqa: PLR0124 # NaN
    return Column("interval", texts, interval_of(level), write=label_ends, parts=_ENDS)


def label_ends(pair: Sequence[str]) -> str:
    """The two ends of an interval of labels."""
    return " … ".join(map(label, pair)) if any(pair) else ""


def _mixed(values: Sequence[Any]) -> list[Any]:
    """A column of a file has one type: texts where there are any, else numbers."""
    texts = any(isinstance(value, str) for value in values)
    return [str(value) if texts else float(value) for value in values]


def labelled(result: Result, label: str | None) -> Result:
    """A result that says under which label it was booked."""
    if label is None:
        return result
    return replace(result, statistic={**result.statistic, "label": _checks.whole_text(label=label)})


def named_by(name: str, by: Iterable[str]) -> str:
    """A name with its columns of groups, unless it says them already.

    >>> named_by("orders", ["shop"]), named_by("orders by shop", ["shop"])
    ('orders by shop', 'orders by shop')
    """
    groups = f" by {', '.join(by)}"
    return name if name.endswith(groups) else f"{name}{groups}"


def by_group(by: Sequence[str], groups: Sequence[Any], parts: Sequence[Result]) -> Result:
    """The results of one statistic for several groups, as one: a label is the group, or the group and a label in it."""
    pairs = [[(group, _one_label(name)) for name in part.labels] for group, part in zip(groups, parts, strict=True)]
    alone = all(len(row) == 1 for row in pairs)
    ends = [part.ends for part in parts if part.ends]
    return replace(
        parts[0],
        name=f"{parts[0].name} by {', '.join(by)}",
        statistic={**parts[0].statistic, "by": list(by)},
        values=np.concatenate([part.values for part in parts]),
        labels=tuple(groups) if alone else tuple(itertools.chain(*pairs)),
        standard_error=np.concatenate([part.standard_error for part in parts]),
        ends=(lambda level: np.concatenate([np.reshape(end(level), (-1, 2)) for end in ends])) if ends else None,
        draws=Draws.joined([part.draws for part in parts]),
    )


def _one_label(name: Any) -> Any:
    """The label of a cell of a table, in one text."""
    return ": ".join(map(str, name)) if isinstance(name, tuple) else name


def _pairs(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """How people read the two ends of an interval."""
    return lambda pair: " … ".join(map(write, pair))


def _reading(form: str) -> Any:
    kinds = (KeyError, TypeError, ValueError, AttributeError, OverflowError, BruitError)
    return translated(kinds, lambda _: FormatError(f"This is not a {form} document: a field is missing or wrong."))


class _SavedEnds:
    """The intervals of a saved result, at the levels that were written down."""

    def __init__(self, saved: Mapping[float, Floats]) -> None:
        self.saved = saved

    def __call__(self, level: float) -> Floats:
        if level not in self.saved:
            levels = ", ".join(f"{known:g}" for known in sorted(self.saved))
            raise ParameterError(f"A saved result has intervals of the levels {levels}: ask for one of them.")
        return self.saved[level]


def _own_interval(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The interval of the level that the document was written for, where there are intervals."""
    rows = body["values"]
    if not body["intervals"]:
        return []
    return [{"level": body["level"], **{end: [row[end] for row in rows] for end in _ENDS}}]


def _type(values: NDArray[Any]) -> str:
    return {"i": "integer", "u": "integer", "f": "number"}.get(values.dtype.kind, "text")


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _values(column: list[Any], kind: str) -> NDArray[Any]:
    """Texts, floats, or whole numbers, of which large ones are strings in documents."""
    if kind == "text":
        values = np.empty(len(column), object)
        values[:] = column
        return values
    if kind == "number":
        return _numbers(column)
    return np.array([documents.whole_number(value, "A value") for value in column], np.int64)


def _texts(column: list[Any]) -> NDArray[Any]:
    if not all(isinstance(value, str) for value in column):
        raise TypeError
    return np.array(column, object)


def _numbers(column: list[Any]) -> Floats:
    """Numbers of a document, where nothing stands for what is not finite."""
    if any(isinstance(value, bool | str) for value in column):
        raise TypeError
    return np.array([np.nan if value is None else value for value in column], np.float64)


def _plain(value: Any) -> Any:
    """A number as JSON has it: NaN and infinities become nothing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
