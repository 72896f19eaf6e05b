"""One release for each of several declared groups, all together at the price of one.

A record is in one group, so what is released about the other groups says nothing about it: parallel composition.
Which groups there are must be declared, because a list that is read from the data tells which groups occur.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import engines
from bruit.domains import Categories
from bruit.domains.domain import DictionaryColumn
from bruit.engines import TextOptions
from bruit.engines import batch as batching
from bruit.engines.sources import Progress
from bruit.entropy import Randomness, Words
from bruit.errors import ParameterError, ParameterTypeError, in_column
from bruit.estimation.tally import Counts, RawTally
from bruit.privacy.composition import parallel
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Booking, Ledger
from bruit.releases.base import Books, Release, batch_rows
from bruit.releases.released import Released

__all__ = ["Grouped"]

_VALUES, _GROUPS = "values", "groups"


@dataclass(frozen=True, kw_only=True)
class Grouped(Release):
    """A release for each of the declared groups.

    Parameters
    ----------
    of
        What is released of each group, such as ``Mean(bounds=(0, 100), epsilon=0.5)``.
    by
        The name of the column that says which group a record is in.
    groups
        The groups, declared without looking at the data: a list of labels. A record of another group is an error.

    Guarantee
    ---------
    That of one group, by parallel composition: adding or removing a record changes one group only. Under ``"replace"``
    a record can leave a group and enter another, whose sizes are then not public; that is refused.

    Error
    -----
    That of the release, for the size of the group.

    Examples
    --------
    >>> from bruit.releases import Count
    >>> by_sex = Grouped(of=Count(epsilon=0.5), by="sex", groups=["F", "M"])
    >>> by_sex.guarantee.epsilon
    0.5
    >>> by_sex.release(by_sex.fold({"sex": ["F", "M", "F"]}), rng=7).labels
    ('F', 'M')
    """

    of: Release
    by: str
    groups: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.of, Release) or isinstance(self.of, Grouped):
            raise ParameterTypeError("A grouped release needs a release of one group, such as Count(epsilon=0.5).")
        if self.of.guarantee.neighbours == "replace":
            raise ParameterError(
                'Under "replace" a record may change its group, so that sizes of groups are not public: '
                'release by group with neighbours="add-remove". A histogram of the groups works under both.'
            )
        if self.groups is None or isinstance(self.groups, str | bytes):
            raise ParameterError(
                "groups must be declared, as a list of labels: reading them from the data would tell which groups "
                "occur, and that is not covered by any noise."
            )
        if not isinstance(self.groups, Sequence | np.ndarray):
            raise ParameterTypeError("groups must be a list of labels.")
        object.__setattr__(self, "groups", self._keys.labels)
        object.__setattr__(self, "by", batching.clean_name(self.by))

    @cached_property
    def _keys(self) -> Categories:
        return Categories(labels=tuple(self.groups))

    @property
    def name(self) -> str:
        """What is released."""
        return f"{self.of.name} by {self.by}"

    @property
    def guarantee(self) -> Guarantee:
        """That of the worst group."""
        return parallel([self.of.guarantee])

    @property
    def rho(self) -> float | None:
        """That of the worst group."""
        return self.of.rho

    @property
    def cells(self) -> int:
        """What the release needs, for each group."""
        return self.of.cells * self._keys.size

    def expected_error(self, n: int | None = None) -> Any:
        """The standard deviation of the noise in a group of n records."""
        return self.of.expected_error(n)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"release": "grouped", "of": self.of.to_dict(), "by": self.by, "groups": list(self.groups)}

    def fold(
        self,
        source: Any,
        column: str | None = None,
        *,
        text: TextOptions = TextOptions(),  # noqa: B008 -- frozen
        progress: Progress | None = None,
    ) -> RawTally:
        """What the release needs of each group; `source` is a table with the column and that of the groups."""
        if column is None and self.of.reads_column:
            raise ParameterError('Name the column that is meant, as in column="age".')
        value = None if column is None else batching.clean_name(column)
        columns = [self.by] if value is None else list(dict.fromkeys([value, self.by]))

        def tally(batch: dict[str, Any]) -> RawTally:
            values = batch_rows(batch) if value is None else batch[value]
            with in_column(self.by):
                keys = self._keys.encode(batch[self.by]).astype(np.int64)
            with contextlib.nullcontext() if value is None else in_column(value):
                return RawTally(design=self.digest, counts=self._count_groups(values, keys))

        return engines.fold(engines.Source(source, text, progress), tally, columns=columns)

    def _count_groups(self, values: Any, keys: NDArray[np.int64]) -> Counts:
        order = np.argsort(keys, kind="stable")
        ends = np.searchsorted(keys[order], np.arange(self._keys.size + 1))
        parts = [self.of._count(_take(values, order[low:high])) for low, high in itertools.pairwise(ends)]
        return np.concatenate(parts)

    def loss_between(self, first: Counts, second: Counts) -> Any:
        """The losses of the groups together."""
        pairs = zip(np.split(first, self._keys.size), np.split(second, self._keys.size), strict=True)
        losses = [self.of.loss_between(ours, theirs) for ours, theirs in pairs]
        return None if any(loss is None for loss in losses) else sum(loss for loss in losses if loss is not None)

    def _count(self, column: Any) -> Counts:
        raise ParameterError("A grouped release needs a table: use fold.")

    def _book(self, ledger: Books, label: str) -> None:
        if not isinstance(ledger, Ledger | Booking):
            ledger.spend(self.guarantee, label, rho=self.rho)
            return
        with ledger.parallel(label) as parts:
            for group in self.groups:
                parts.spend(self.of.guarantee, _part_name(group), rho=self.of.rho)

    def _ready(self, counts: Counts) -> Counts:
        pieces = np.split(counts, self._keys.size)
        return np.concatenate([self.of._ready(piece) for piece in pieces])

    def _draw(self, counts: Counts, words: Words) -> Released:
        pieces = np.split(counts, self._keys.size)
        own = words.split(len(pieces))
        parts = [self.of._draw(piece, part) for piece, part in zip(pieces, own, strict=True)]
        return self._together(parts)

    def _together(self, parts: list[Released]) -> Released:
        pairs = [[(group, label) for label in part.labels] for group, part in zip(self.groups, parts, strict=True)]
        alone = all(len(row) == 1 for row in pairs)
        ends = [part.ends for part in parts if part.ends]
        return Released(
            name=self.name,
            values=np.concatenate([part.values for part in parts]),
            labels=self.groups if alone else tuple(itertools.chain(*pairs)),
            error=np.concatenate([part.error for part in parts]),
            guarantee=self.guarantee,
            simulated=parts[0].simulated,
            release=self.to_dict(),
            ends=(lambda level: np.concatenate([np.reshape(end(level), (-1, 2)) for end in ends])) if ends else None,
            notes=parts[0].notes,
        )


def ask(
    release: Release,
    data: Any,
    *,
    column: str | None,
    by: Any,
    groups: Any,
    ledger: Books | None,
    rng: Randomness,
    label: str | None,
) -> Released:
    """Fold and release at once, by group if groups are asked for."""
    if by is None and groups is not None:
        raise ParameterError('groups needs by, the column that says which group a record is in, as in by="sex".')
    if by is not None:
        if not isinstance(by, str):
            data, column, by = {_VALUES: data, _GROUPS: by}, _VALUES, _GROUPS
        release = Grouped(of=release, by=by, groups=groups)
    named = release.name if column is None or column == _VALUES else f"{release.name} of {column}"
    return release.release(release.fold(data, column), ledger, rng, label=label or named[:200])


def _part_name(group: Any) -> str:
    """A group as a ledger writes it down."""
    text = str(group)
    return (text if text.isprintable() and text else repr(group))[:200]


def _take(values: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(values, DictionaryColumn):
        return DictionaryColumn(values.entries, values.positions[rows])
    return values[rows]
