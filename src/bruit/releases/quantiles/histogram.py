"""Quantiles by the histogram method: for each one, the first edge of a grid with enough records below it.

The interval is cut into equal steps. For a quantile q the edges are asked about from the left, "do at least q·n records
lie below?", by the sparse vector technique; the first edge that is said to is the result. One histogram and its running
sum answer all questions, so the cost is that of reading the data once.

The method is that of a course on differential privacy whose listing has mistakes; `bruit_studies.as_printed` has them
all. The other methods of this package are closer to the true quantiles at the same ε; this one is
the easiest to explain, and says beforehand how close it comes (`bruit.releases.quantiles.accuracy`). The
arguments are in ``histogram.proof.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, rounding
from bruit.domains import Grid
from bruit.domains.interval import Interval, declared_bounds
from bruit.domains.outside import clamping
from bruit.entropy import Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.estimation.tally import Counts, exact_total
from bruit.privacy.zcdp import pure_rho
from bruit.releases.laws import FirstAboveLaw
from bruit.releases.noise import MOST_SUM, DiscreteLaplace
from bruit.releases.result import Result
from bruit.releases.statistic import CentralNeighbours, Floats, Statistic, histogram_of
from bruit.tables import digits
from bruit.typing import Bounds

__all__ = ["DECILES", "HistogramQuantiles"]

#: The nine deciles.
DECILES = tuple(i / 10 for i in range(1, 10))
#: The noise: as little as the counts allow, or that of Dwork and Roth for any answers.
NoiseChoice = Literal["tight", "dwork-roth"]
#: Quantiles are taken as fractions with denominators up to this.
MOST_DENOMINATOR = 10**6
MOST_CELLS = 10**6


class NoisePair(NamedTuple):
    """The noise on a threshold and on each answer, in units of 1/denominator of a record."""

    threshold: DiscreteLaplace
    answers: DiscreteLaplace


@dataclass(frozen=True)
class HistogramQuantiles(Statistic):
    """Quantiles as the first edge of a grid with enough records below it (AboveThreshold on a histogram).

    Parameters
    ----------
    column
        The column of a table; None for data that are one column.
    quantiles
        Numbers between 0 and 1. Each is taken as the nearest fraction with a denominator up to 10⁶.
    bounds
        The ends of the interval that is cut into steps. They are public: never read them from the data. Numbers
        outside count at the nearest end, unless an `Interval` declares ``outside="refuse"``.
    epsilon
        The most that all the quantiles together may tell about one record; each gets an equal share.
    cells
        How many steps the interval has. A result is an edge, so it is not finer than a step.
    neighbours
        ``"add-remove"`` (default), or ``"replace"``, where the number of records is public.
    noise
        ``"tight"`` (default) or ``"dwork-roth"``, the textbook's, for which the published accuracy bounds are stated.

    Guarantee
    ---------
    Each quantile is a session of `AboveThreshold` on b·count − a·n, where the quantile is a/b, against the threshold 0.
    Under ``"replace"`` the counts move by at most 1 and all one way. Under ``"add-remove"`` a record that leaves moves
    the first answers by +a and the others by a − b; the loss is (a + b)/s for noise of scale s on both, so less noise
    is needed than for counts in general. The shares add up to ε.

    Error
    -----
    Each result is an edge whose count is within `rank_error(beta)` records of q·n but for a probability β, and no edge
    before it has more than that above q·n. If no edge is found above, the result is the upper bound.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 3.6. Lyu, Su and Li (2017).

    Examples
    --------
    >>> from bruit.releases import release
    >>> quantiles = HistogramQuantiles(quantiles=[0.25, 0.5], bounds=(0, 100), epsilon=2.0, cells=100)
    >>> result = release(np.arange(10_000) / 100, quantiles, rng=7)
    >>> result.labels, bool(abs(result[0.5] - 50) < 3)
    ((0.25, 0.5), True)
    """

    kind: ClassVar[str] = "quantiles by histogram"
    document_policies: ClassVar[tuple[str, ...]] = ("outside",)

    column: str | None = None
    _: KW_ONLY
    quantiles: tuple[float, ...] = DECILES
    bounds: Bounds | Interval
    epsilon: float
    cells: int = 1000
    neighbours: CentralNeighbours = "add-remove"
    noise: NoiseChoice = "tight"

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantiles", checked_quantiles(self.quantiles, _checks.probability))
        if len(set(self.quantiles)) < len(self.quantiles):
            raise ParameterError("quantiles must be different from each other.")
        if isinstance(self.bounds, Grid):
            raise ParameterError("The histogram method needs a pair of bounds: its results are edges between steps.")
        object.__setattr__(self, "bounds", declared_bounds(self.bounds))
        if isinstance(self.bounds, Interval) and self.bounds.missing != "refuse":
            raise ParameterError("The histogram method drops no records: fill the gaps first, or use another method.")
        self._check_privacy()
        object.__setattr__(self, "cells", _checks.integer(low=1, high=MOST_CELLS, cells=self.cells))
        _checks.one_of(get_args(NoiseChoice), noise=self.noise)
        _ = self.noises, self._grid  # what they cannot do is found here

    @property
    def size(self) -> int:
        """One count for each step."""
        return self.cells

    @property
    def edges(self) -> Floats:
        """The ends of the steps, from the lower bound to the upper."""
        low, high = self.bounds
        return np.linspace(low, high, self.cells + 1)

    @cached_property
    def _grid(self) -> Grid:
        """The same ends as points, which write themselves."""
        low, high = self.bounds
        return Grid(low, high, cells=self.cells + 1)

    @cached_property
    def fractions(self) -> tuple[Fraction, ...]:
        """The quantiles as they are used."""
        return tuple(Fraction(q).limit_denominator(MOST_DENOMINATOR) for q in self.quantiles)

    @cached_property
    def noises(self) -> tuple[NoisePair, ...]:
        """The noise for each quantile."""
        share = rounding.share(self.epsilon, len(self.quantiles))
        return tuple(self._noise_for(q, share) for q in self.fractions)

    def _noise_for(self, q: Fraction, share: float) -> NoisePair:
        if self.noise == "dwork-roth":
            calibrate = DiscreteLaplace.calibrate
            return NoisePair(calibrate(q.denominator, share / 2), calibrate(2 * q.denominator, share / 2))
        both = DiscreteLaplace.calibrate(sum(self._changes(q)), share)
        return NoisePair(both, both)

    def _changes(self, q: Fraction) -> tuple[int, int]:
        """How far the threshold must follow the answers that are passed over, and the one found fall behind it."""
        if self.noise == "dwork-roth":
            return q.denominator, 2 * q.denominator
        return (q.numerator if self.neighbours == "add-remove" else q.denominator), q.denominator

    @property
    def loss(self) -> Fraction:
        """The exact privacy loss of all quantiles together."""
        return sum(self._losses, Fraction(0))

    @property
    def rho(self) -> float:
        """The ρ-zCDP of all quantiles together: half the square of each one's loss, as for any pure release.

        An eighth is for exponential mechanisms, whose losses span ε; those of the sparse vector technique span more.
        """
        return pure_rho(*self._losses)

    @property
    def _losses(self) -> list[Fraction]:
        """The exact privacy loss of each quantile."""
        pairs = zip(self.noises, map(self._changes, self.fractions), strict=True)
        return [pair.threshold.loss(behind) + pair.answers.loss(gap) for pair, (behind, gap) in pairs]

    def rank_error(self, beta: float = 0.05) -> Floats:
        """By how many records the count of each result can miss q·n, but for a probability β each.

        >>> HistogramQuantiles(bounds=(0, 1), epsilon=1.0, cells=100).rank_error(0.05).round().tolist()
        [119.0, 129.0, 140.0, 151.0, 162.0, 173.0, 183.0, 194.0, 205.0]
        """
        _checks.probability(beta=beta)
        widths = [
            pair.threshold.half_width(1 - beta / 2) + pair.answers.half_width(1 - beta / (2 * self.cells))
            for pair in self.noises
        ]
        return np.array(widths) / [q.denominator for q in self.fractions]

    def describe_error(self, n: int) -> str:
        """By how many records a count can miss, but for one time in twenty."""
        return f"within {digits(3)(float(np.max(self.rank_error())))} ranks (95 %)"

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """How many records are in each step."""
        return histogram_of(self._steps(batch), self.size)

    def row_codes(self, batch: Mapping[str, Any]) -> list[Any]:
        """The step of each number."""
        return [self._steps(batch)]

    def _steps(self, batch: Mapping[str, Any]) -> Any:
        low, high = self.bounds
        ends = Grid(low, high, cells=2, outside=self.bounds.outside if isinstance(self.bounds, Interval) else None)
        return _cells(clamping(ends).admit(self.values(batch)).values, self._cuts)

    @property
    def _cuts(self) -> Floats:
        """The edges of the cells that are counted."""
        return self.edges

    def prepare(self, counts: Counts) -> Counts:
        """The counts, cut to what keeps all answers within 61 bits; too many public records are refused."""
        if not self.public:
            return np.minimum(counts, self.most_records // self.size).astype(np.int64)
        if exact_total(counts) > self.most_records:  # the number is public
            raise LimitError(f"There must be at most {self.most_records:,} records.")
        return counts

    @property
    def most_records(self) -> int:
        """How many records are counted: as many in each step as keep all answers within 61 bits, whatever the data.

        Under ``"add-remove"`` further records of a step are left out; under ``"replace"``, where their number is
        public, more of them are refused.
        """
        return MOST_SUM // max(q.denominator for q in self.fractions)

    def publish(self, counts: Counts, words: Words) -> Result:
        """The first edge above, for each quantile."""
        n, below = int(counts.sum()), np.cumsum(counts)[: self.cells]
        edges = [
            self._first_above(q.denominator * below - q.numerator * n, pair, part)
            for q, pair, part in zip(self.fractions, self.noises, words.split(len(self.fractions)), strict=True)
        ]
        values = np.array([self._edge(index) for index in edges])
        return self._result(values, not words.secure, labels=self.quantiles, notes=self.notes or self._notes())

    def law(self, counts: Counts) -> tuple[FirstAboveLaw, ...]:
        """For each quantile, which edge is the first above: number i is edge i + 1, and none the upper bound."""
        kept = self.prepare(np.asarray(counts))
        n, below = int(kept.sum()), np.cumsum(kept)[: self.cells]
        return tuple(
            FirstAboveLaw(tuple((q.denominator * below - q.numerator * n).tolist()), 0, pair.threshold, pair.answers)
            for q, pair in zip(self.fractions, self.noises, strict=True)
        )

    def _notes(self) -> tuple[str, ...]:
        """The exactness: ranks, and the width of a step, of which a result is an edge."""
        bound, step = math.ceil(float(np.max(self.rank_error()))), (self.bounds[1] - self.bounds[0]) / self.cells
        return (
            f"ranks: within {bound:,} with probability 95 % each, for an edge",
            f"results are edges of steps of {step:.3g}",
        )

    #: What a reader of a result must know, in place of its exactness.
    notes: ClassVar[tuple[str, ...]] = ()

    def _first_above(self, answers: Counts, noise: NoisePair, words: Words) -> int | None:
        """A whole session of AboveThreshold at once: the index of the first answer above 0, noise on both."""
        first, second = words.split(2)
        threshold = noise.threshold.sample(1, first)
        above = np.flatnonzero(self._is_above(answers + noise.answers.sample(answers.size, second), threshold))
        return int(above[0]) if above.size else None

    def _is_above(self, answers: Counts, threshold: Counts) -> NDArray[np.bool_]:
        return answers >= threshold

    def _edge(self, index: int | None) -> float:
        # The first question is about the first edge after the lower bound.
        return self.bounds[1] if index is None else float(self._grid.numbers(index + 1))


def _cells(numbers: Floats, cuts: Floats) -> NDArray[np.int64]:
    """The cell of each number between evenly spaced cuts; the first and the last take what is beyond them."""
    last = cuts.size - 2
    near = np.floor((numbers - cuts[0]) / (cuts[-1] - cuts[0]) * (last + 1))
    cells: NDArray[np.int64] = np.clip(near, 0, last).astype(np.int64)
    # The quotient may be rounded to the other side of a cut: the cuts themselves decide.
    cells -= (numbers < cuts[cells]) & (cells > 0)
    cells += (numbers >= cuts[cells + 1]) & (cells < last)
    return cells


def checked_quantiles(quantiles: Any, check: Callable[..., float]) -> tuple[float, ...]:
    """A list of at least one number that passes the check."""
    if isinstance(quantiles, str | bytes) or not isinstance(quantiles, Iterable):
        raise ParameterTypeError("quantiles must be a list of numbers from 0 to 1.")
    checked = tuple(check(quantiles=q) for q in quantiles)
    if not checked:
        raise ParameterError("quantiles must be at least one number from 0 to 1.")
    return checked
