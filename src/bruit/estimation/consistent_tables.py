"""Tables that agree with each other, for people to read: linear and unbiased, or shrunk and scaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from bruit import _checks
from bruit.errors import ParameterError
from bruit.estimation import consistency, contrasts
from bruit.estimation.contrasts import Names
from bruit.estimation.cross_table import TableEstimate
from bruit.estimation.intervals import Floats
from bruit.tables import Column, Table, Tabular, decimals, label

#: How tables are made to agree.
TablesMethod: TypeAlias = Literal["least-squares", "shrunk"]


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentTable(Tabular):
    """One of several tables that agree: to show, not to infer from; it carries no variance."""

    method: TablesMethod
    names: Names
    axes: tuple[tuple[Any, ...], ...]
    frequency: Floats

    def table(self) -> Table:
        """Every cell with its share."""
        places = list(np.ndindex(*self.frequency.shape))
        columns = [
            Column(f"value_{axis + 1}", [self.axes[axis][codes[axis]] for codes in places], name, "label", label)
            for axis, name in enumerate(self.names)
        ]
        columns.append(Column("frequency", self.frequency.ravel(), write=decimals(4)))
        biased = (
            [] if self.method == "least-squares" else ["biased: shrunk towards independence, scaled to its margins"]
        )
        title = f"{' × '.join(self.names)}, made consistent with other tables by {self.method}"
        return Table(title, columns, biased, {"method": self.method, "names": list(self.names)}, "cell")


class ConsistentTables(Mapping[Names, ConsistentTable]):
    """Tables by the tuple of their attributes, all with the same margins."""

    def __init__(self, tables: Sequence[ConsistentTable]) -> None:
        self._tables = {table.names: table for table in tables}

    def __getitem__(self, names: Names) -> ConsistentTable:
        return self._tables[names]

    def __iter__(self) -> Iterator[Names]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def margin(self, name: str) -> Floats:
        """The shares of the values of an attribute, which are the same in every table."""
        for names, table in self._tables.items():
            if name in names:
                others = tuple(axis for axis, own in enumerate(names) if own != name)
                return np.asarray(table.frequency.sum(axis=others))
        raise ParameterError(f"No table has the attribute {name!r}.")

    def __repr__(self) -> str:
        return "\n\n".join(str(table.table()) for table in self._tables.values())


def consistent_tables(tables: Sequence[TableEstimate], method: TablesMethod) -> ConsistentTables:
    """Tables that agree in every margin that they share."""
    _checks.one_of(get_args(TablesMethod), method=method)
    if method == "shrunk" and any(len(table.names) != 2 for table in tables):
        raise ParameterError('method "shrunk" is for tables of two attributes: use "least-squares".')
    raw = {table.names: table.frequency for table in tables}
    noise = {table.names: float(table.variance.mean()) for table in tables}
    linear = contrasts.least_squares(raw, noise)
    shares = linear if method == "least-squares" else _shrunk(linear, noise)
    return ConsistentTables([ConsistentTable(method, own.names, own.axes, shares[own.names]) for own in tables])


def _shrunk(tables: Mapping[Names, Floats], noise: Mapping[Names, float]) -> dict[Names, Floats]:
    margins: dict[str, Floats] = {}
    for names, table in tables.items():
        for axis, name in enumerate(names):
            margins.setdefault(name, consistency.norm_sub(np.asarray(table.sum(axis=1 - axis))))
    shares = {}
    for names, table in tables.items():
        first, second = (margins[name] for name in names)
        shrunk = contrasts.towards_independence(table, first, second, noise[names])
        shares[names] = contrasts.scaled_to(shrunk, first, second)
    return shares
