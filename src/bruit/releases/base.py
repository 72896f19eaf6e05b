"""What all releases share: fold raw records into whole numbers, book the spend, draw the noise, show the result.

A release is a value: it says what is asked, of which data, with which ε. Its verbs are `fold`, which reads data in
constant memory and gives a `RawTally`, and `release`, which books the guarantee in a ledger and only then draws noise.
Raw tallies add, so that parts of the data may be folded in different places.
"""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit import documents, engines
from bruit.domains.domain import in_memory
from bruit.engines import TextOptions
from bruit.engines import batch as batching
from bruit.engines.sources import Progress
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import DataTypeError, DesignError, ParameterError, in_column
from bruit.estimation.tally import Counts, RawTally
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import pure_rho
from bruit.releases.released import Floats, Released

__all__ = ["Books", "CentralNeighbours", "Floats", "Release", "fold_column"]

#: Whom the guarantee of a central release speaks of.
CentralNeighbours = Literal["add-remove", "replace"]
#: The words for it, for checks.
CENTRAL: tuple[CentralNeighbours, ...] = ("add-remove", "replace")

Result = TypeVar("Result")
#: The name of the one column of data that come without names.
_ONLY = "values"


class Books(Protocol):
    """What a release is booked in: a `Ledger`, one `Part` of it, or a `Booking`."""

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> object:
        """Book a release, and the ρ that it proves of itself, before its noise is drawn; or refuse it."""
        ...


class Release(ABC):
    """A statistic of raw records that is published with noise.

    A subclass is a frozen dataclass. It says how many whole numbers it needs of the data (`cells`), how a batch is
    counted (`_count`) and how a result is drawn from them (`_draw`); everything else is here.
    """

    #: Whether it needs a column, or only the rows.
    reads_column: ClassVar[bool] = True

    @property
    @abstractmethod
    def name(self) -> str:
        """What is released, in a word."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised, computed from the noise that is drawn and rounded up; never above what was asked."""

    @property
    def rho(self) -> float | None:
        """The ρ-zCDP that the release proves of itself, which its ledger books; None where only (ε, δ) is known.

        That of any pure release, ε²/2, unless a subclass proves less.
        """
        promise = self.guarantee
        return None if promise.delta else pure_rho(promise.epsilon)

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many whole numbers the release needs of the data."""

    @abstractmethod
    def expected_error(self, n: int | None = None) -> Any:
        """The standard deviation of the noise in each value, before anything is released.

        Parameters
        ----------
        n
            How many records are expected; needed where the error depends on it.
        """

    @property
    def error(self) -> Any:
        """The standard deviation of the noise in each value, where it does not depend on the data's size."""
        return self.expected_error()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what is released."""

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this release; raw tallies carry it."""
        return documents.digest(self.to_dict())

    def fold(
        self,
        source: Any,
        column: str | None = None,
        *,
        text: TextOptions = TextOptions(),  # noqa: B008 -- frozen
        progress: Progress | None = None,
    ) -> RawTally:
        """What the release needs of the data: whole numbers without noise, which add and cannot be looked at.

        Parameters
        ----------
        source
            A column as an array-like or an iterator of arrays; or with `column` a table: a mapping, a frame, a path,
            or anything else that `bruit.engines.fold` reads.
        column
            The name of the column in the table.
        text, progress
            As for `bruit.engines.fold`.
        """
        source = in_memory(source)
        if not self.reads_column and column is None and _is_table(source):
            return engines.fold(engines.Source(source, text, progress), lambda batch: self._tally(batch_rows(batch)))
        return fold_column(source, column, self._tally, text=text, progress=progress)

    def release(
        self,
        raw: RawTally,
        ledger: Books | None = None,
        rng: Randomness = None,
        *,
        label: str | None = None,
    ) -> Released:
        """Draw the result, after its guarantee was booked.

        What could fail is done before that. Afterwards nothing is raised, warned or returned that depends on the data
        except through the noise.

        Parameters
        ----------
        raw
            What `fold` gave.
        ledger
            The ledger to book in, or a part of it. Without one nothing is booked, and keeping account is up to you.
        rng
            None for secure noise; a whole number for a reproducible result, which is marked as simulated because
            whoever knows the number can undo the noise; or an `Entropy`.
        label
            What the ledger writes down; public.
        """
        self._check(raw)
        ready = self._ready(raw.reveal(design=self.digest))
        if not isinstance(rng, Entropy):  # a bad seed must be found before anything is spent
            rng = Entropy.resolve(rng, "release", self.digest)
        if ledger is not None:
            self._book(ledger, label or self.name)
        return self._draw(ready, Words.resolve(rng, "release", self.digest))

    def loss_between(self, first: Counts, second: Counts) -> Fraction | float | None:
        """The largest privacy loss between two raw tallies: of ln P(outcome | first)/P(outcome | second), either way.

        For checks, which know both tallies. None where it has no closed form.
        """
        return None

    @abstractmethod
    def _count(self, column: Any) -> Counts:
        """The whole numbers of one batch's column."""

    def _tally(self, column: Any) -> RawTally:
        """The same as a raw tally, which adds without overflow."""
        return RawTally(design=self.digest, counts=self._count(column))

    def _ready(self, counts: Counts) -> Counts:
        """What a draw needs of the counts of all data, computed before anything is booked: it may fail."""
        return counts

    @abstractmethod
    def _draw(self, counts: Counts, words: Words) -> Released:
        """Noise, and the result, from what `_ready` gives. It must not fail, nor warn, for any data."""

    def _book(self, ledger: Books, label: str) -> None:
        """Spend, or be refused."""
        ledger.spend(self.guarantee, label, rho=self.rho)

    def _check(self, raw: RawTally) -> None:
        if not isinstance(raw, RawTally):
            raise DataTypeError("release needs a RawTally: make one with fold(data).")
        if raw.design != self.digest:
            raise DesignError("This raw tally was folded for another release.", expected=self.digest, actual=raw.design)


def fold_column(
    source: Any,
    column: str | None,
    function: Callable[[Any], Result],
    *,
    text: TextOptions = TextOptions(),  # noqa: B008 -- frozen
    progress: Progress | None = None,
) -> Result:
    """What `function` makes of one column, batch by batch, added up.

    Parameters
    ----------
    source
        A column as an array-like or an iterator of arrays; or with `column` a table of any kind that
        `bruit.engines.fold` reads.
    column
        The name of the column in the table.
    function
        Takes a column as batches have it (an array or a `DictionaryColumn`, which the domains' `encode` reads) and
        returns something that adds.
    text, progress
        As for `bruit.engines.fold`.

    Examples
    --------
    >>> from bruit.domains import Grid
    >>> ages = Grid(0, 100)
    >>> int(fold_column([31, 40, 22], None, lambda batch: ages.encode(batch).sum(dtype=np.int64)))
    93
    >>> int(fold_column({"age": [31, 40]}, "age", lambda batch: ages.encode(batch).sum(dtype=np.int64)))
    71
    """
    table, name = _as_table(in_memory(source), column)

    def work(batch: Mapping[str, Any]) -> Any:
        with contextlib.nullcontext() if name == _ONLY else in_column(name):
            return function(batch[name])

    counts: Result = engines.fold(engines.Source(table, text, progress), work, columns=[name])
    return counts


def batch_rows(batch: Mapping[str, Any]) -> NDArray[np.uint8]:
    """One entry for each row of a batch."""
    return np.zeros(batching.rows(dict(batch)), np.uint8)


def _as_table(source: Any, column: str | None) -> tuple[Any, str]:
    if column is not None:
        return source, batching.clean_name(column)
    if _is_table(source):
        raise ParameterError('This is a table, so name the column that is meant, as in column="age".')
    if isinstance(source, Iterator):
        return _each_array(source), _ONLY
    return {_ONLY: source}, _ONLY


def _is_table(source: Any) -> bool:
    table = isinstance(source, str | os.PathLike | Mapping)
    return table or hasattr(source, "read") or hasattr(source, "columns") or hasattr(source, "column_names")


def _each_array(source: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for item in source:
        yield {_ONLY: item}
