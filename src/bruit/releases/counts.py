"""How many records there are, in all, by value and by group.

A record that is added or removed changes one count by one, so noise of scale 1/ε on every count is enough, whatever
their number. Replacing a record moves it from one count to another: two change, and the noise doubles; how many records
there are in all does not change, and is public. See ``counts.proof.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bruit.domains import Bins, Categories
from bruit.domains.attribute import as_domain
from bruit.domains.domain import Domain
from bruit.engines import batch as batching
from bruit.entropy import Randomness
from bruit.errors import ParameterError
from bruit.estimation.tally import Counts
from bruit.releases.additive import AdditiveRelease, whole
from bruit.releases.base import Books, CentralNeighbours
from bruit.releases.grouped import ask
from bruit.releases.noise import Integers, Noise
from bruit.releases.released import Released

__all__ = ["Count", "Histogram", "count", "histogram"]


@dataclass(frozen=True, kw_only=True)
class Count(AdditiveRelease):
    """How many records there are.

    Parameters
    ----------
    epsilon
        The most that the result may tell about one record.
    delta
        0 (default) for Laplace noise; a small number, far below one over the number of records, for Gaussian noise.
    neighbours
        ``"add-remove"``; under ``"replace"`` the number of records is public and needs no release.

    Guarantee
    ---------
    One record changes the count by 1. The noise is discrete Laplace of scale 1/ε, or with a δ discrete Gaussian.

    Error
    -----
    The standard deviation is a little below √2/ε, whatever the data.

    Examples
    --------
    >>> ask_for = Count(epsilon=0.5)
    >>> round(ask_for.error, 2)
    2.8
    >>> found = ask_for.release(ask_for.fold([31, 40, 22]), rng=7)
    >>> type(found.value), found.simulated
    (<class 'int'>, True)
    """

    reads_column = False

    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"

    def __post_init__(self) -> None:
        self._check_privacy()
        if self.neighbours == "replace":
            raise ParameterError(
                'Under "replace" the number of records is public: publish it as it is. To count by value, use a '
                'histogram; to protect the number itself, use neighbours="add-remove".'
            )
        self.noise()

    @property
    def name(self) -> str:
        """What is released."""
        return "count"

    @property
    def cells(self) -> int:
        """One number."""
        return 1

    def sensitivity(self, n: int | None = None) -> int:
        """One record more or less is one more or less."""
        return 1

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise."""
        return self.noise().error

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"release": self.name, **self._privacy()}

    def _count(self, column: Any) -> Counts:
        return whole(batching.height(column))

    def _sums(self, counts: Counts) -> Integers:
        return counts

    def _publish(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Released:
        return _counted(self, noisy, (self.name,), noise, simulated)


@dataclass(frozen=True, kw_only=True)
class Histogram(AdditiveRelease):
    """How many records have each of the declared values.

    Parameters
    ----------
    domain
        The values, declared without looking at the data: a list of labels, `Categories`, a `Grid`, or `Bins`. Numbers
        outside a grid or bins count in the nearest one; a label that is not declared is an error.
    epsilon
        The most that all the counts together may tell about one record.
    delta
        As in `Count`.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.

    Guarantee
    ---------
    One record more or less changes one count by 1; a replaced record changes two. The noise on each count is discrete
    Laplace of scale 1/ε, or 2/ε; or with a δ discrete Gaussian, for a change of Euclidean norm 1, or √2.

    Error
    -----
    Each count has a standard deviation of about √2/ε, or twice that under ``"replace"``, however many there are.

    Examples
    --------
    >>> ask_for = Histogram(domain=["F", "M"], epsilon=1.0)
    >>> found = ask_for.release(ask_for.fold(["F", "M", "F"]), rng=7)
    >>> found.labels, found.values.dtype
    (('F', 'M'), dtype('int64'))
    """

    domain: Domain
    epsilon: float
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"

    def __post_init__(self) -> None:
        if self.domain is None:
            raise ParameterError(
                "The values to count must be declared: a list of labels, a Grid or Bins. Taking them from the data "
                "would tell which values occur, and that is not covered by any noise."
            )
        object.__setattr__(self, "domain", as_domain(self.domain))
        self._check_privacy()
        self.noise()

    @property
    def name(self) -> str:
        """What is released."""
        return "histogram"

    @property
    def cells(self) -> int:
        """One number for each value."""
        return self.domain.size

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label for each count."""
        if isinstance(self.domain, Categories | Bins):
            return self.domain.names
        return tuple(self.domain.decode(np.arange(self.domain.size)).tolist())

    def sensitivity(self, n: int | None = None) -> int:
        """One count changes by 1 under add-remove, two under replace."""
        return 2 if self.neighbours == "replace" else 1

    def squared_sensitivity(self, n: int | None = None) -> int:
        """Two counts that change by 1 each have a squared norm of 2, not 4."""
        return self.sensitivity(n)

    def expected_error(self, n: int | None = None) -> float:
        """The standard deviation of the noise on each count."""
        return self.noise().error

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"release": self.name, "domain": self.domain.to_dict(), **self._privacy()}

    def _count(self, column: Any) -> Counts:
        codes = self.domain.encode(column, clip=True)
        return np.bincount(codes, minlength=self.domain.size).astype(np.int64)

    def _sums(self, counts: Counts) -> Integers:
        return counts

    def _publish(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Released:
        return _counted(self, noisy, self.labels, noise, simulated)


def count(
    data: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """How many records there are, with noise.

    Parameters
    ----------
    data
        A column, or a table: a mapping, a frame, or the path of a file. Rows are counted, whatever stands in them.
    epsilon, delta, neighbours
        As in `Count`.
    column
        A column of the table to count by, for speed: any column gives the same.
    by, groups
        Count by group: the name of the column that says the group (or that column, where `data` is one), and the list
        of groups, declared. A record is in one group, so that all groups together cost ε.
    ledger, rng, label
        As in `Release.release`.

    Examples
    --------
    >>> count([31, 40, 22], epsilon=1.0, rng=7).labels
    ('count',)
    """
    asked = Count(epsilon=epsilon, delta=delta, neighbours=neighbours)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def histogram(
    data: Any,
    domain: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    bins: Any = None,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """How many records have each of the declared values, with noise.

    Parameters
    ----------
    data
        A column, or with `column` a table: a mapping, a frame, or the path of a file.
    domain
        The values, as in `Histogram`.
    bins
        Edges of bins, given instead of a domain.
    epsilon, delta, neighbours
        As in `Histogram`.
    column
        The name of the column in the table.
    by, groups
        One histogram for each declared group, as in `count`.
    ledger, rng, label
        As in `Release.release`.

    Examples
    --------
    >>> histogram([31, 40, 22], bins=[0, 18, 65, 120], epsilon=1.0, rng=7).labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    """
    if bins is not None and domain is not None:
        raise ParameterError("Give a domain or bins, not both.")
    values = domain if bins is None else Bins(bins)
    asked = Histogram(domain=values, epsilon=epsilon, delta=delta, neighbours=neighbours)
    return ask(asked, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def _counted(
    release: Count | Histogram, noisy: Integers, labels: tuple[Any, ...], noise: Noise, simulated: bool
) -> Released:
    def ends(level: float) -> Any:
        half = noise.half_width(level)
        return np.stack([noisy - half, noisy + half], axis=1)

    return Released(
        name=release.name,
        values=noisy,
        labels=labels,
        error=np.full(noisy.size, noise.error),
        guarantee=release.guarantee,
        simulated=simulated,
        release=release.to_dict(),
        ends=ends,
    )
