"""Estimates of several attributes, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.collection.groups import GroupAnswers
    from bruit.estimation.consistent_tables import ConsistentTables, TablesMethod
    from bruit.estimation.cross_table import TableEstimate


class Answers(Mapping[str, Any]):
    """Estimates by attribute, each made when it is asked for: an `Estimate`, or a `NumberEstimate` for a number.

    So an attribute that nobody reported is an error when that attribute is asked for, and no sooner.

    Parameters
    ----------
    names
        The attributes.
    make
        Makes the estimate of an attribute.
    group
        Makes the answers of every group of people with the same values of these public attributes.
    table
        Makes the table of these attributes.
    tables
        The attributes of each table that there is.
    """

    def __init__(
        self,
        names: Iterable[str],
        make: Callable[[str], Any],
        group: Callable[[tuple[str, ...]], GroupAnswers] | None = None,
        table: Callable[[tuple[str, ...]], TableEstimate] | None = None,
        tables: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        self._names, self._make, self._group, self._table = tuple(names), make, group, table
        #: The tables that these answers have: the attributes of each.
        self.tables = tables
        self._made: dict[str, Any] = {}

    def table(self, *names: str) -> TableEstimate:
        """How several attributes go together: ``answers.table("sex", "smokes")``, where the method tells it."""
        if self._table is None:
            raise ParameterError("These answers have no tables.")
        return self._table(names)

    def consistent(self, method: TablesMethod = "least-squares") -> ConsistentTables:
        """All tables made to agree in every margin that they share; to show, not to infer from.

        Parameters
        ----------
        method
            ``"least-squares"``: the nearest tables that agree, which is linear and unbiased; cells may be negative.
            ``"shrunk"``, for pairs: from there, margins without negative shares, the dependence shrunk towards
            independence by as much as noise explains of it, and the table scaled to its margins. Biased, and nearer to
            the truth where noise is large.
        """
        from bruit.estimation.consistent_tables import consistent_tables

        if not self.tables:
            raise ParameterError("These answers have no tables: ask for them with TAB[ADP].")
        return consistent_tables([self.table(*names) for names in self.tables], method)

    def by(self, *names: str) -> GroupAnswers:
        """The answers of every group of people, by public attributes: ``answers.by("school")["A"]["smokes"]``.

        Parameters
        ----------
        *names
            Attributes that were sent in clear; with several, a group is a combination of their values.
        """
        from bruit.collection import groups

        if self._group is None:
            groups.check_names(names, {})
            raise AssertionError  # check_names has said that there is nothing to group by
        return self._group(names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return "\n\n".join(repr(self[name]) for name in self)
