"""People with several rows: how many rows and groups of a person count, and which.

A guarantee about a *row* says little about somebody who has a thousand of them. With a `Person`, a release bounds what
each person contributes before anything is counted, and its noise is for all that they contribute together. Rows are
chosen by a keyed hash of what they say: neither by their order nor by a rule that prefers some values. See
``person.proof.md``.

Rejected: the first rows of a person (their order in a file is an accident, and differs between engines), the largest
or the most recent ones (what is published would then be biased towards them), and a random choice per row (a second
run of a task on a cluster would make another choice).
"""

from __future__ import annotations

import inspect
import itertools
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from bruit import _checks, documents, engines
from bruit.engines import batch as batching
from bruit.engines import bounding, identity
from bruit.engines.batch import Batch
from bruit.engines.bounding import Bounded, Most, Sorting, Whose
from bruit.engines.sources import column_names
from bruit.entropy import Randomness
from bruit.errors import DataError, DataTypeError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.tables import counted
from bruit.typing import SourceLike

__all__ = ["Contribution", "PeopleWarning", "Person"]

#: The most rows of a person that may count.
MOST_ROWS = 2**30

#: Names of columns that say whose row it is.
_IDENTIFIER = re.compile(
    r"(?i)(^|_|\b)(id|uid|uuid|guid|user|person|people|patient|customer|client|visitor|member|subject|subscriber|"
    r"student|employee|respondent|participant|household|driver|rider|passenger|device|account|session)(_?(id|no|nr|key|"
    r"code|number|hash))?$"
)


class PeopleWarning(UserWarning):
    """A table looks as if people had several rows, and no person is named."""


class Contribution(NamedTuple):
    """What a person contributes at most: rows in all, the sum of squares of their rows per group, rows in a group.

    `replaced` says whether neighbours replace a person, who then takes as many rows away as another brings.
    """

    rows: int
    squares: int
    rows_per_group: int
    replaced: bool

    @property
    def times(self) -> int:
        """By how many rows, added or removed, two neighbouring tables differ."""
        return 2 * self.rows if self.replaced else self.rows

    @property
    def full_groups(self) -> int:
        """In how many groups a person has all rows that count there, rounded up."""
        return -(-self.rows // self.rows_per_group)


@dataclass(frozen=True)
class Person:
    """Who is protected, with all their rows, and how many rows and groups of a person count.

    Parameters
    ----------
    column
        The column that says whose row it is: whole numbers or texts. 3, 3.0 and ``"3"`` are one person, and so are two
        ways of writing é.
    rows
        How many rows of a person count at most, in all.
    groups
        In how many groups of `by` a person counts at most; by default in all that are declared.
    rows_per_group
        How many rows of a person count at most in each group of `by`; by default `rows`.
    missing
        What happens to rows without a person: ``"refuse"`` (default) or ``"drop"``.

    Guarantee
    ---------
    What is counted of a person follows from their own rows and a secret key that is drawn for each release, so that
    adding, removing or replacing a person changes what is counted by no more than the bounds.

    Error
    -----
    Rows beyond the bounds are not counted: results tend to be too low for people with many rows, and intervals do not
    cover that. More rows need more noise, in proportion.

    Examples
    --------
    >>> from bruit.releases import Count, release
    >>> views = {"visitor": [1, 1, 1, 2], "page": ["a", "a", "b", "a"]}
    >>> person = Person("visitor", groups=1, rows_per_group=1)
    >>> count = release(views, Count(epsilon=1.0), by={"page": ["a", "b"]}, person=person, rng=7)
    >>> print(count.guarantee)
    ε = 1 (central, one person added or removed with all their rows)
    """

    column: str
    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None
    missing: Literal["refuse", "drop"] = "refuse"

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise ParameterTypeError('person must name the column that says whose row it is, as in person="user_id".')
        object.__setattr__(self, "column", batching.clean_name(self.column))
        for name in ("rows", "groups", "rows_per_group"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _checks.integer(low=1, high=MOST_ROWS, **{name: value}))
        if self.rows is None and self.rows_per_group is None:
            raise ParameterError(
                f"Say how many rows of a person count: rows=10, as in Person({self.column!r}, rows=10), or by group "
                f"groups=3 and rows_per_group=1."
            )
        _checks.one_of(("refuse", "drop"), missing=self.missing)

    @classmethod
    def of(
        cls,
        person: Person | str | None,
        rows: int | None = None,
        groups: int | None = None,
        rows_per_group: int | None = None,
    ) -> Person | None:
        """A person, from the name of a column and bounds."""
        bounds = (rows, groups, rows_per_group)
        if person is None:
            if bounds != (None, None, None):
                raise ParameterError(
                    "rows, groups and rows_per_group bound what a person contributes: name the person, as in "
                    'person="user_id".'
                )
            return None
        if not isinstance(person, Person):
            return cls(person, *bounds)
        if bounds != (None, None, None):
            raise ParameterError("This Person has its own bounds: leave rows, groups and rows_per_group out.")
        return person

    def contribution(self, groups: int | None, *, replaced: bool) -> Contribution:
        """What a person contributes at most, for this number of groups, or None if there are no groups."""
        if groups is None:
            if self.rows is None or self.groups is not None or self.rows_per_group is not None:
                raise ParameterError(
                    "groups and rows_per_group are about the groups of by, and there are none: say rows=10."
                )
            return Contribution(self.rows, self.rows**2, self.rows, replaced)
        bound = self.rows_per_group or self.rows or 0
        many = min(groups, self.groups or groups)
        rows = min(many * bound, self.rows or many * bound)
        bound = min(bound, rows)
        full, rest = divmod(rows, bound)
        return Contribution(rows, full * bound**2 + rest**2, bound, replaced)

    def bounded(
        self, source: SourceLike | engines.Source, columns: Sequence[str] | None = None, rng: Randomness = None
    ) -> dict[str, Any]:
        """The rows that count, for a computation of your own: columns by name, as arrays. They are as secret as all.

        Parameters
        ----------
        source
            A table, as for `bruit.engines.batches`; it must fit in memory.
        columns
            The columns to read, all by default.
        rng
            Where the key comes from by which rows are chosen.

        Examples
        --------
        >>> rows = Person("user", rows=2).bounded({"user": [1, 1, 1, 2], "fare": [5, 7, 9, 4]}, rng=7)
        >>> sorted(rows["user"].tolist())
        [1, 1, 2]
        """
        self.contribution(None, replaced=False)
        names = None if columns is None else list(dict.fromkeys([self.column, *map(batching.clean_name, columns)]))
        whole = batching.joined(list(engines.batches(source, names)))
        batch, people = bounding.identify(whole, self.whose)
        key = bounding.draw_key(rng, documents.digest(self.to_dict()))
        sorting = Sorting(None, None, [identity.column_words(column) for column in batch.values()])
        rows = bounding.choose(people.codes, bounding.keys(people, sorting, self.most, key), self.most, key)
        return {name: batching.values_of(column) for name, column in batching.take(batch, rows).items()}

    @property
    def whose(self) -> Whose:
        """Whose row it is, for engines."""
        return Whose(self.column, self.missing == "drop")

    @property
    def most(self) -> Most:
        """The bounds, for engines."""
        return Most(self.rows, self.groups, self.rows_per_group)

    def job(self, key: bytes, sort: Callable[[Batch], Sorting], count: Callable[[Batch], Any]) -> Bounded:
        """The rows that count by a key, and what is counted of them; as `Bounded`."""
        return Bounded(self.whose, self.most, key, sort, count)

    def describe(self) -> str:
        """The bounds in words, for readers of a result."""
        in_group = counted(self.rows_per_group, "row") if self.rows_per_group else ""
        most = counted(self.rows, "row") if self.rows else f"{in_group} in a group" if in_group else ""
        groups = f"in at most {counted(self.groups, 'group')}" if self.groups else ""
        verb = "count" if (self.rows or self.rows_per_group or 1) > 1 else "counts"
        limits = [f"at most {most} of each {self.column!r} {verb}" if most else f"each {self.column!r} counts", groups]
        more = f", {in_group} in each" if in_group and self.rows else ""
        return (
            f"{' '.join(filter(None, limits))}{more}, chosen by chance; how many rows that leaves out is not known "
            "(bruit limits estimates it)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        fields = {"rows": self.rows, "groups": self.groups, "rows_per_group": self.rows_per_group}
        bounds = {name: value for name, value in fields.items() if value is not None}
        return {"column": self.column, **bounds, "missing": self.missing}

    @classmethod
    def from_dict(cls, body: Any) -> Person:
        """The inverse of `to_dict`."""
        rule = "A person must have a column, and bounds: rows, groups, rows_per_group."
        with translated((KeyError, TypeError, AttributeError), lambda _: FormatError(rule)):
            return cls(**body)


def warn_of_people(source: Any) -> None:
    """Warn of a table that looks as if people had several rows; it is read before anything is booked.

    A column whose name is that of an identifier, and in whose first rows somebody occurs twice, is a hint, not a proof.
    """
    name = repeated_identifier(source)
    if name is not None:
        warnings.warn(
            f"Column {name!r} looks like an identifier, and occurs several times: this protects a row, and not a "
            f"person with all their rows. Say person={name!r} and rows=10 (choose_limits says how many are best), "
            "or filter this warning if a row is all that a person has.",
            PeopleWarning,
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """The stack level, for a warning of the function that calls this, of the line that called bruit."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "bruit":
        frame, level = frame.f_back, level + 1
    return max(1, level)


def repeated_identifier(source: Any) -> str | None:
    """The column that looks like an identifier of people with several rows, if there is one that can be read again."""
    table = engines.Source.of(source)
    for name in filter(_IDENTIFIER.search, column_names(table)):
        (batch, *_) = itertools.islice(engines.batches(engines.Source(table.data, table.text), [name]), 1)
        try:
            codes = identity.people(batch[name]).codes
        except (DataError, DataTypeError):  # amounts of an account, say: no identifier, and no reason to refuse a table
            continue
        if np.unique(codes[codes >= 0]).size < (codes >= 0).sum():
            return name
    return None
