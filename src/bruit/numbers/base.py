"""What all number mechanisms share: one bounded number per person, and the same verbs.

A number is first put on a declared grid: it becomes a cell 0..cells−1. The cell is then randomised by an exact integer
law into one of K messages 0..K−1, each of which stands for a number. A new mechanism is a frozen dataclass that adds
its law, what its messages stand for, and how it randomises a block of cells.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.cards import CardQuestion
from bruit.cards.question import MOST_CELLS as MOST_CELLS_OF_A_CARD
from bruit.domains.codes import Codes
from bruit.domains.grid import Grid
from bruit.engines import report_parsing
from bruit.entropy import Entropy
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.estimation.number import NumberEstimate, ScoreModel
from bruit.estimation.scores import Floats, Method, affine_scores, score_variance, unbiased_scores
from bruit.estimation.support import Target
from bruit.estimation.tally import Counts, Tally
from bruit.mechanism import Gives, MessageReports
from bruit.registry import Registry
from bruit.typing import ColumnLike

__all__ = ["Number"]

#: How a number between two cells is put on one: on the nearest, or on either by chance so that the mean stays.
Rounding: TypeAlias = Literal["nearest", "stochastic"]

#: `matrix` writes cells·K fractions; above this many it would fill the memory.
MATRIX_LIMIT = 1_100_000
#: `probabilities` writes as many floats.
PROBABILITIES_LIMIT = 40_000_000
#: Stochastic rounding divides the way from one cell to the next into 2³² parts.
_PARTS = 32


@dataclass(frozen=True, kw_only=True)
class Number(MessageReports):
    """A mechanism by which each person reports one bounded number privately.

    Parameters
    ----------
    epsilon
        The most that one report may tell, from 0.001 to 20.
    bounds
        The least and the greatest number that a person may have. They are public: never read them from the data.
    cells
        How many evenly spaced numbers are told apart, both bounds included. By default one per whole number where both
        bounds are whole numbers (written without a point) and there are few, otherwise what suits the mechanism.
    domain
        The numbers with their policies, instead of bounds and cells: ``Grid(0, 100, missing="drop")``. A missing number
        is refused or dropped; one beyond the bounds is refused, or counts as the nearest bound (``"clamp"``).
    rounding
        How a number between two cells is put on one: ``"nearest"``, or ``"stochastic"``: on one of the two neighbours
        by chance, the nearer one more often, so that rounding does not bias a mean. It happens before the law is
        applied, so the guarantee is the same.
    """

    kinds: ClassVar[Registry[Number]] = Registry("number mechanism", "bruit.numbers")
    gives: ClassVar[Gives] = "mean"
    #: The number of cells over real numbers, unless declared, and the most that there may be.
    DEFAULT_CELLS: ClassVar[int] = 256
    MOST_CELLS: ClassVar[int] = 4096
    CARD_VALUES: ClassVar[int] = MOST_CELLS_OF_A_CARD

    epsilon: float
    bounds: tuple[float, float] = field(default=None, repr=False)  # type: ignore[assignment] # from the domain
    cells: int = field(default=0, repr=False)
    domain: Grid = None  # type: ignore[assignment] # from bounds and cells
    rounding: Rounding = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        _checks.one_of(get_args(Rounding), rounding=self.rounding)
        domain = self._shorthand() if self.domain is None else self._checked(self.domain)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "bounds", (domain.low, domain.high))
        object.__setattr__(self, "cells", domain.cells)

    def _checked(self, domain: Any) -> Grid:
        """A declared grid that numbers can be asked by."""
        if not isinstance(domain, Grid):
            raise ParameterTypeError(
                'The domain of a number must be a Grid, as in domain=Grid(0, 100, missing="drop").'
            )
        if domain.missing == "category":
            raise ParameterError(
                f'{self.name} has no category for missing numbers: declare missing="refuse" or "drop".'
            )
        ends = (domain.low, domain.high)
        if self.cells not in (0, domain.cells) or (self.bounds is not None and tuple(self.bounds) != ends):
            raise ParameterError("Declare the domain once: by domain, or by bounds and cells.")
        if domain.cells > self.MOST_CELLS:
            raise LimitError(f"cells must be at most {self.MOST_CELLS:,} for {self.name}, got {domain.cells:,}.")
        return domain

    def _shorthand(self) -> Grid:
        """The grid that bounds and cells stand for, without a policy; by default as fine as suits the mechanism."""
        low, high = _clean_bounds(self.bounds)
        cells = _checks.integer(low=0, cells=self.cells)
        if cells == 0:
            own = high - low + 1 if isinstance(low, int) and isinstance(high, int) else 0
            cells = own if 2 <= own <= self.MOST_CELLS else self._default_cells()
        if cells > self.MOST_CELLS:
            raise LimitError(f"cells must be at most {self.MOST_CELLS:,} for {self.name}, got {cells:,}.")
        return Grid(low, high, cells=_checks.integer(low=2, cells=cells))

    @classmethod
    def _respelt_domain(cls, **options: Any) -> tuple[str, dict[str, Any]]:
        """With the cells that the mechanism chooses, because a grid alone chooses others."""
        plain = cls(**options)
        others = {name: options[name] for name in options if name not in ("bounds", "cells")}
        return f"Grid({plain.bounds[0]!r}, {plain.bounds[1]!r}, cells={plain.cells}", others

    # What a person does.

    def encode(self, values: ColumnLike) -> Codes:
        """What `randomize` takes: cells, or with stochastic rounding positions in units of 2⁻³² of a cell."""
        if self.rounding == "nearest":
            return super().encode(values)
        return _positions(self.domain, values)

    def row(self, codes: Codes) -> NDArray[np.int64]:
        """The cell that each code is on; of a position between two cells, the nearest, and of a half the upper."""
        if self.rounding == "nearest":
            return super().row(codes)
        return ((codes + np.uint64(1 << (_PARTS - 1))) >> np.uint64(_PARTS)).astype(np.int64)

    def codes_of(self, rows: NDArray[Any]) -> Codes:
        """Codes of people whose numbers are those of the cells."""
        if self.rounding == "nearest":
            return super().codes_of(rows)
        return rows.astype(np.uint64) << np.uint64(_PARTS)

    def question(self, name: str, labels: Sequence[Any] | None = None) -> CardQuestion:
        """The question on a card, whose answers are the points of the grid."""
        if self.rounding != "nearest":
            raise ParameterError(
                'The answers on a card are the points of the grid, and nothing is rounded: use rounding="nearest".'
            )
        return super().question(name, labels)

    def decode(self, reports: Any) -> Floats:
        """The randomised numbers, one per report: what a model of the reports would use."""
        messages = report_parsing.strict(self.form, reports)
        if not self.valid(messages).all():
            raise DataError(f"reports must be integers in 0..{self.messages - 1}.")
        numbers: Floats = self.outputs[messages]
        return numbers

    # What the collector does.

    def estimate(self, tally: Tally, target: Target = "population", method: Method = "unbiased") -> NumberEstimate:
        """The mean with its variance and interval, and on demand the distribution, from a tally of this very design.

        Parameters
        ----------
        tally
            What `tally` made of the reports.
        target
            ``"population"``: the variance counts the noise and the drawing of the people. ``"people"``: the noise only.
        method
            ``"unbiased"``, or ``"affine"``: an approximate correction that varies less; the largest bias that it can
            have is known, shown, and added to both ends of the interval.
        """
        self._check_tally(tally)
        _checks.one_of(get_args(Method), method=method)
        return NumberEstimate(
            model=self._model(tally, method) if tally.n else _NOTHING,
            n=tally.n,
            refused=tally.refused,
            bounds=self.bounds,
            target=target,
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=tally.simulated,
        )

    # Planning a survey, drawing a figure.

    @property
    @abstractmethod
    def messages(self) -> int:
        """How many messages there are."""

    @property
    @abstractmethod
    def outputs(self) -> Floats:
        """The number that each message stands for."""

    @abstractmethod
    def probabilities(self) -> Floats:
        """P(message | cell) as floats: one row per cell, one column per message."""

    @property
    def points(self) -> Floats:
        """The number that each cell stands for, from the lower bound to the upper."""
        return self.domain.points

    @cached_property
    def message_scores(self) -> Floats:
        """One number per message whose mean, given the cell, is the cell's number: their average estimates the mean."""
        return unbiased_scores(self.probabilities(), self.points)

    @property
    def score_names(self) -> None:
        """One column, about the number."""

    def scores(self, reports: NDArray[Any]) -> Floats:
        """One column of numbers whose mean, given the person's number, is that number."""
        return np.asarray(self.message_scores[reports][:, None])

    @property
    def _probabilities(self) -> Floats:
        return self.probabilities()

    def output_mean(self) -> Floats:
        """The mean of what a report stands for, given the cell."""
        return self._moments(self.outputs)[0]

    def output_variance(self) -> Floats:
        """The variance of what a report stands for, given the cell."""
        return self._moments(self.outputs)[1]

    def variance(self, distribution: Any, n: int, target: Target = "population", method: Method = "unbiased") -> float:
        """The exact variance of the estimated mean of n people, where the cells have these probabilities.

        For ``"people"`` with stochastic rounding it is an upper bound: it adds the most that rounding can.
        """
        _checks.integer(low=1, n=n)
        _checks.one_of(get_args(Target), target=target)
        shares = np.asarray(distribution, float)
        if shares.shape != (self.cells,) or not np.isfinite(shares).all() or shares.min() < 0 or not shares.sum() > 0:
            raise ParameterError(f"distribution must have {self.cells} entries, 0 or above, not all of them 0.")
        shares = shares / shares.sum()
        scores, _ = self._scores(method)
        centre, by_cell = self._moments(scores)
        noise = float(shares @ by_cell) + (self._rounding_noise if target == "people" else 0.0)
        drawing = float(shares @ (centre - shares @ centre) ** 2) if target == "population" else 0.0
        return (noise + drawing) / n

    @cached_property
    def worst_variance(self) -> float:
        """The most that one person's report adds to the variance of a sum: for the number of most noise."""
        return float(self._moments(self.message_scores)[1].max()) + self._rounding_noise

    def _check_matrix(self) -> None:
        if self.cells * self.messages > MATRIX_LIMIT:
            raise LimitError("matrix() is made for at most 1,024 cells; use fewer cells.")

    # Identity.

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: everything that decides what a report means."""
        return {
            "number": self.name,
            "epsilon": self.epsilon,
            "domain": self.domain.to_dict(),
            "rounding": self.rounding,
            **self._settings(),
        }

    @classmethod
    def from_settings(cls, domain: Grid, epsilon: float, settings: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, after the domain and ε were read."""
        return cls(epsilon=epsilon, domain=domain, **settings)

    # What each mechanism fills in.

    @abstractmethod
    def _randomize_cells(self, cells: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        """Write the messages of one block of people whose cells these are."""

    def _settings(self) -> dict[str, Any]:
        """Parameters of this mechanism beyond ε, the domain and the rounding."""
        return {}

    def _default_cells(self) -> int:
        """How many cells real numbers get, unless declared."""
        return self.DEFAULT_CELLS

    def _moments(self, scores: Floats) -> tuple[Floats, Floats]:
        """The mean and the variance of the score of a report, given the cell."""
        channel = self.probabilities()
        return channel @ scores, score_variance(channel, scores)

    def _scores(self, method: Method) -> tuple[Floats, float]:
        """Scores, and the largest bias that their average can have."""
        if method == "unbiased":
            return self.message_scores, self._rounding_bias
        scores, bias = affine_scores(self.probabilities(), self.outputs, self.points)
        return scores, bias + self._rounding_bias

    @property
    def _rounding_bias(self) -> float:
        """How far rounding to the nearest cell can shift a mean: half a cell, unless every number has its own."""
        exact = self.domain.has_own_cells or self.rounding == "stochastic"
        return 0.0 if exact else float(self.domain.step) / 2

    @property
    def _rounding_noise(self) -> float:
        """The most that stochastic rounding adds to the variance of a score: a quarter of a squared cell."""
        return float(self.domain.step) ** 2 / 4 if self.rounding == "stochastic" else 0.0

    def _model(self, tally: Tally, method: Method) -> ScoreModel:
        scores, bias = self._scores(method)
        return ScoreModel(
            tally.counts,
            tally.n,
            scores,
            self.points,
            self.probabilities,
            bias_bound=bias,
            rounding_noise=self._rounding_noise,
        )

    def _labels(self) -> Sequence[float]:
        return tuple(self.points.tolist())

    def _cells(self) -> int:
        return self.messages

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        cells = codes if self.rounding == "nearest" else _rounded(codes, entropy)
        self._randomize_cells(cells, entropy, out)

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        there = np.flatnonzero(people)
        rows = self.probabilities()[there]
        drawn = generator.multinomial(people[there], rows / rows.sum(axis=1, keepdims=True))
        return np.asarray(drawn.sum(axis=0), np.int64)


def _clean_bounds(bounds: Any) -> tuple[float, float]:
    """The two bounds; whole numbers stay whole, because they then keep cells of their own."""
    if not isinstance(bounds, tuple | list | np.ndarray) or len(bounds) != 2:
        raise ParameterTypeError("bounds must be two numbers, as in (0, 100).")
    low, high = (_plain(bound) for bound in bounds)
    if not _checks.finite(bounds=low) < _checks.finite(bounds=high):
        raise ParameterError(f"bounds must be a lower and a higher number, got {low} and {high}.")
    return low, high


def _plain(bound: Any) -> float:
    """A plain number, so that documents can hold it; whole ones stay whole."""
    number = bound.item() if isinstance(bound, np.generic) else bound
    if isinstance(number, int) and not isinstance(number, bool) and abs(number) <= 2**53:
        return number
    return _checks.finite(bounds=number)


def _positions(grid: Grid, values: Any) -> Codes:
    """Where each number lies, in units of 2⁻³² of a cell."""
    numbers = grid.admit(values).values
    parts = float(1 << _PARTS)
    return np.floor((numbers - grid.low) / float(grid.step) * parts + 0.5).astype(np.uint64)


def _rounded(positions: Codes, entropy: Entropy) -> Codes:
    """A cell for each position: the one below, or the one above with probability equal to the fraction above it."""
    cells = positions >> np.uint64(_PARTS)
    chance = entropy.words(positions.size) >> np.uint64(64 - _PARTS)
    return cells + (chance < (positions & np.uint64(2**_PARTS - 1)))


#: Stands for the model of a tally without reports; `NumberEstimate` refuses before it is looked at.
_NOTHING: Any = None
