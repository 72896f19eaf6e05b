"""How many records there are, in all and by value.

A record that is added or removed changes one count by one, so noise of scale 1/ε on every count is enough, whatever
their number. Replacing a record moves it from one count to another: two change, and the noise doubles; how many records
there are in all does not change, and is public. See ``counts.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any, ClassVar

import numpy as np

from bruit.domains.declare import weights_question
from bruit.domains.domain import Domain
from bruit.domains.policy import POLICIES
from bruit.domains.schema import as_domain
from bruit.engines import batch as batching
from bruit.errors import ParameterError
from bruit.estimation.tally import Counts
from bruit.releases.noise import Integers, Noise
from bruit.releases.result import Result
from bruit.releases.statistic import (
    AdditiveStatistic,
    CentralNeighbours,
    Statistic,
    codes_by,
    histogram_of,
    record_codes,
    whole,
)
from bruit.releases.widths import WidthLike

__all__ = ["Count", "Histogram"]


class _Counted(AdditiveStatistic):
    """Counts with noise, as they are."""

    rising: ClassVar[bool] = True
    labels: Any

    def from_noisy(self, noisy: Integers, noise: Noise, n: int | None, simulated: bool) -> Result:
        def ends(level: float) -> Any:
            half = noise.half_width(level)
            return np.stack([noisy - half, noisy + half], axis=1)

        return self._result(noisy, simulated, labels=self.labels, standard_error=noise.standard_error, ends=ends)


@dataclass(frozen=True)
class Count(_Counted):
    """How many records there are.

    Parameters
    ----------
    column
        A column of the table to count by, for speed: any column gives the same, and none is needed.
    epsilon
        The most that the result may tell about one record.
    delta
        0 (default) for Laplace noise; a small number, far below one over the number of records, for Gaussian noise.
    neighbours
        ``"add-remove"``; under ``"replace"`` the number of records is public and needs no release, unless people have
        several rows (`Person`).
    within
        In place of `epsilon`: half the width of the 95 % interval, for the least ε that gives it.

    Guarantee
    ---------
    One record changes the count by 1. The noise is discrete Laplace of scale 1/ε, or with a δ discrete Gaussian.

    Error
    -----
    The standard deviation is a little below √2/ε, whatever the data.

    Examples
    --------
    >>> from bruit.releases import release
    >>> count = release([31, 40, 22], Count(epsilon=0.5), rng=7)
    >>> type(count.value), count.simulated, count.standard_error.round(1).tolist()
    (<class 'int'>, True, [2.8])
    """

    kind: ClassVar[str] = "count"
    reads_column: ClassVar[bool] = False

    column: str | None = None
    _: KW_ONLY
    epsilon: float = math.nan
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    within: InitVar[WidthLike | None] = None

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The weights of the records."""
        return ("weighted_by",)

    @classmethod
    def declared(cls, questions: Sequence[str], options: Mapping[str, Any]) -> Statistic:
        """A count; with `weighted_by`, the sum of the weights, whose gaps have a policy."""
        others = {name: value for name, value in options.items() if name not in ("weighted_by", *POLICIES)}
        if not options.get("weighted_by"):
            return super().declared(questions, others)
        cls._check_questions(questions, 0)
        weights_question(options["weighted_by"])
        policies = {name: options[name] for name in POLICIES if name in options}
        return cls.kinds["sum"].kind.declared([options["weighted_by"]], {**others, **policies})

    def __post_init__(self, within: WidthLike | None) -> None:
        self._settle(within)
        self._check_privacy()
        self.noise()

    def check_rows(self) -> None:
        """Where each row is a person, their number is public under ``"replace"``."""
        if self.public:
            raise ParameterError(
                'Under "replace" the number of records is public: publish it as it is. To count by value, use a '
                'histogram; to protect the number itself, use neighbours="add-remove".'
            )

    @property
    def size(self) -> int:
        """One number."""
        return 1

    @property
    def labels(self) -> tuple[str]:
        """One label."""
        return (self.name,)

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """Nothing: all rows count alike."""
        return []

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """The number of rows, whatever stands in them."""
        return whole(batching.rows(dict(batch)))


@dataclass(frozen=True)
class Histogram(_Counted):
    """How many records have each of the declared values.

    Parameters
    ----------
    column
        The column of a table; None for data that are one column.
    domain
        The values, declared without looking at the data: a list of labels, `Categories`, `Dates`, a `Grid`, or `Bins`.
        Numbers outside a grid or bins count in the nearest one; a label that is not declared is an error.
    epsilon
        The most that all the counts together may tell about one record.
    delta
        As in `Count`.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    within
        As in `Count`, of each count.

    Guarantee
    ---------
    One record more or less changes one count by 1; a replaced record changes two. The noise on each count is discrete
    Laplace of scale 1/ε, or 2/ε; or with a δ discrete Gaussian, for a change of Euclidean norm 1, or √2.

    Error
    -----
    Each count has a standard deviation of about √2/ε, or twice that under ``"replace"``, however many there are.

    Examples
    --------
    >>> from bruit.releases import release
    >>> sexes = release({"sex": ["F", "M", "F"]}, Histogram("sex", domain=["F", "M"], epsilon=1.0), rng=7)
    >>> sexes.labels, sexes.values.dtype
    (('F', 'M'), dtype('int64'))
    """

    kind: ClassVar[str] = "histogram"

    column: str | None = None
    _: KW_ONLY
    domain: Domain
    epsilon: float = math.nan
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    within: InitVar[WidthLike | None] = None

    def __post_init__(self, within: WidthLike | None) -> None:
        if self.domain is None:
            raise ParameterError(
                "The values to count must be declared: a list of labels, a Grid or Bins. Taking them from the data "
                "would tell which values occur, and that is not covered by any noise."
            )
        object.__setattr__(self, "domain", as_domain(self.domain))
        self._settle(within)
        self._check_privacy()
        self.noise()

    @property
    def size(self) -> int:
        """One number for each value."""
        return self.domain.size

    @property
    def outcomes(self) -> int:
        """One count for each value."""
        return self.size

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label for each count; the points of a grid as a person writes them."""
        names: tuple[Any, ...] = getattr(self.domain, "written_names", self.domain.names)
        return names

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """The code of each value."""
        return [codes_by(self.domain, self.values(batch))]

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """How many records have each value."""
        return histogram_of(record_codes(self.domain, self.values(batch)), self.size)
