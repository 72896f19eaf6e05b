"""Load a table and look at it: columns as NumPy arrays, with what is known about them.

Nothing heavy is imported: pandas, polars and pyarrow are touched only when `to_frame` is called. A
bundled file is read once per process and shared, and so its arrays are read-only. Its checksum is
compared before anything is parsed: a study that quotes a figure should fail loudly on another
table, not drift quietly.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from bruit import _checks
from bruit.datasets.catalogue import CatalogueEntry, DatasetColumn, entries
from bruit.datasets.reading import read
from bruit.domains import Categories, Grid, Schema
from bruit.errors import FormatError, ParameterError
from bruit.tables import Table, counted
from bruit.tables.table import frame

Backend = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with its declared domains, origin and terms. Made by `load`.

    ``data[name]`` is a column: int64, float64, or an object array of texts with None for a missing
    value. Arrays are read-only: copy one to change it. ``len(data)`` counts rows, iterating gives
    the columns' names, and ``dict(data)`` is a plain dictionary of arrays.

    Attributes
    ----------
    name, title, source, licence, citation, notes
        What the set is, where it comes from and on what terms, all text.
    schema
        The declared domain of every column, from public documentation, never from the data.
    checksum
        SHA-256 of the file that was read.
    part
        ``"all"``, ``"train"`` or ``"test"``.

    Examples
    --------
    >>> data = load("adult")
    >>> data.columns[:3], len(data), len(data.train), len(data.test)
    (('age', 'workclass', 'fnlwgt'), 48842, 32561, 16281)
    >>> data["age"].dtype, sum(value is None for value in data["occupation"])
    (dtype('int64'), 2809)
    >>> codes = data.schema.encode(data)
    >>> data
    Dataset('adult', 48,842 rows, 15 columns)
    """

    entry: CatalogueEntry
    checksum: str
    _table: dict[str, NDArray[Any]]
    part: Literal["all", "train", "test"] = "all"

    @property
    def name(self) -> str:
        """The name that `load` knows it by."""
        return self.entry.name

    @property
    def title(self) -> str:
        """What it is, in one line."""
        return self.entry.title

    @property
    def source(self) -> str:
        """Where it comes from."""
        return self.entry.source

    @property
    def licence(self) -> str:
        """The terms of the data."""
        return self.entry.licence

    @property
    def citation(self) -> str:
        """What to cite."""
        return self.entry.citation

    @property
    def notes(self) -> str:
        """What to know before using it: order of rows, missing values, oddities."""
        return self.entry.notes

    @property
    def schema(self) -> Schema:
        """The declared domain of every column."""
        return self.entry.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._table)

    @property
    def train(self) -> Dataset:
        """The rows published as the training file."""
        return self._view(slice(None, self._split()), "train")

    @property
    def test(self) -> Dataset:
        """The rows published as the test file."""
        return self._view(slice(self._split(), None), "test")

    def keys(self) -> tuple[str, ...]:
        """The names of the columns, so that ``dict(data)`` works."""
        return self.columns

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The table as a pandas, polars or pyarrow frame; by default the first one installed."""
        # Texts go as lists: polars would keep an object array as opaque objects.
        columns = {
            name: array.tolist() if array.dtype == object else array.copy() for name, array in self._table.items()
        }
        return frame(columns, backend)

    def describe(self) -> Table:
        """What the set is, where it comes from, and what its columns mean; no value of the data."""
        part = "" if self.part == "all" else f" ({self.part})"
        rows = [(column.name, _domain_text(column), column.meaning) for column in self.entry.columns]
        notes = (
            f"source: {self.source}",
            f"licence: {self.licence}",
            f"cite: {self.citation}",
            f"sha256: {self.checksum}",
            f"notes: {self.notes}",
        )
        size = f"{counted(len(self), 'row')}, {counted(len(self.columns), 'column')}"
        title = f"{self.name}{part}: {size}. {self.title}"
        table = Table.of(title, ("column", "domain", "meaning"), rows, texts=3)
        return replace(table, notes=[note for note in notes if not note.endswith(": ")])

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self._table[_checks.one_of(self._table, column=column)]

    def __contains__(self, column: object) -> bool:
        return column in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(next(iter(self._table.values())))

    def _repr_html_(self) -> str:
        """For a notebook: the columns as they are declared, and the terms; no row is shown."""
        table = self.schema.table()
        size = f"{counted(len(self), 'row')}, {counted(len(self.columns), 'column')}"
        notes = [self.title, f"licence: {self.licence}", f"source: {self.source}"]
        part = "" if self.part == "all" else f", {self.part}"
        return replace(table, title=f"{self.name}{part}: {size}", notes=notes)._repr_html_()

    def __repr__(self) -> str:
        part = "" if self.part == "all" else f", {self.part}"
        size = f"{counted(len(self), 'row')}, {counted(len(self.columns), 'column')}"
        return f"Dataset({self.name!r}{part}, {size})"

    def _split(self) -> int:
        if not self.entry.training or self.part != "all":
            raise ParameterError(f"{self!r} has no published split into training and test rows.")
        return self.entry.training

    def _view(self, rows: slice, part: Literal["train", "test"]) -> Dataset:
        table = {name: array[rows] for name, array in self._table.items()}
        return replace(self, _table=table, part=part)


def load(name: str, *, path: str | os.PathLike[str] | None = None) -> Dataset:
    """A real table, by name: adult, nursery, diabetes, iris, or acs_employment.

    Parameters
    ----------
    name
        All are bundled and need no network.
    path
        For acs_employment only: a file of yours with the same columns, as of another state or year
        (CSV, plain or packed with gzip or xz), instead of the bundled one.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris["species"][0], iris["petal_length"][:3].tolist()
    ('setosa', [1.4, 1.4, 1.3])
    """
    entry = entries()[_checks.one_of(entries(), name=name)]
    return _load_bundled(entry.name) if path is None else _load_file(entry, Path(path).expanduser())


@cache
def _load_bundled(name: str) -> Dataset:
    packed = (resources.files("bruit.datasets") / "_files" / f"{name}.csv.xz").read_bytes()
    return _verified(entries()[name], packed)


def _verified(entry: CatalogueEntry, packed: bytes) -> Dataset:
    """The table, if its file is the one that the catalogue describes."""
    checksum = _sha256(packed)
    if checksum != entry.checksum:
        raise FormatError(
            f"The bundled file of {entry.name!r} is damaged: its SHA-256 is not the one in the "
            "catalogue. Install bruit again."
        )
    return Dataset(entry, checksum, read(entry, packed))


def _load_file(entry: CatalogueEntry, path: Path) -> Dataset:
    """A file with the columns of an entry, if it may be read instead of the bundled one."""
    if not entry.files:
        raise ParameterError(f"path must be left out for {entry.name!r}: it is bundled.")
    if not path.is_file():
        raise ParameterError(
            f"There is no file {str(path)!r}. Leave out path for the bundled table, or name a CSV file with its "
            f"{len(entry.columns)} columns; docs/reference/datasets.md tells how to make one."
        )
    packed = path.read_bytes()
    return Dataset(entry, _sha256(packed), read(entry, packed))


def _sha256(packed: bytes) -> str:
    return hashlib.sha256(packed).hexdigest()


def _domain_text(column: DatasetColumn) -> str:
    domain = column.domain
    if isinstance(domain, Grid):
        return f"{domain.low:,.9g}..{domain.high:,.9g} in steps of {float(domain.step):g}"
    if isinstance(domain, Categories) and domain.missing == "category":
        return f"{counted(domain.k, 'category')}, and missing"
    return counted(domain.size, "category")
