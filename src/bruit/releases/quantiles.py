"""Quantiles: any set of them, from a histogram on a fine grid, by the exponential mechanism on ranks.

Three methods draw places by how many records lie between them and the wanted ranks. ``"exponential"`` (also called
``"inverse-sensitivity"``: on ranks they are the same) draws each quantile by itself, with an equal share of ε.
``"approximate"`` (ApproximateQuantiles) draws one in the middle first and the others among the records on their side,
so that a record pays once on its way down and not for every quantile. ``"joint"`` (JointExp) draws all at once. For
``"histogram"`` see `HistogramQuantiles`.

The first two are exact: whole-number weights, chosen with integers only. The weights of the third are computed with a
relative error that is known, for which it keeps back a part of ε. What a method can do depends on declared parameters
and not on the data. The arguments are in ``quantiles.proof.md``.

Rejected: adding noise to all counts of the histogram, or to a tree of them, and reading quantiles off the sums (the
noise of many cells adds up, where the exponential mechanism pays for the answer alone).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bruit import _checks
from bruit.domains import Grid
from bruit.domains.domain import Missing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.estimation.tally import Counts, exact_total
from bruit.laws.rounding import log_ceiling
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.zcdp import bounded_range_rho
from bruit.releases import _joint
from bruit.releases import _quantile_tree as trees
from bruit.releases._joint import JointLaw
from bruit.releases._points import PLACE_BITS, Integers, Part, Points
from bruit.releases._quantile_tree import Node
from bruit.releases._scale import MOST_CELLS, Scale, scale_of
from bruit.releases.base import CENTRAL, Books, CentralNeighbours, Floats, Release
from bruit.releases.grouped import ask
from bruit.releases.histogram_method import HistogramQuantiles
from bruit.releases.released import Ends, Released

__all__ = ["Quantiles", "quantiles"]

#: How quantiles are drawn.
Method = Literal["auto", "exponential", "inverse-sensitivity", "approximate", "joint"]
METHODS: tuple[Method, ...] = ("auto", "exponential", "inverse-sensitivity", "approximate", "joint")

#: So many records of a cell are told apart; further ones are left out.
MOST_IN_CELL = 2**PLACE_BITS - 1
#: Weights fall by at least this, so that there are at most five million of them, however many records there are.
_LEAST_STEP = Fraction(1, 2**16)


@dataclass(frozen=True, kw_only=True)
class Quantiles(Release):
    """Quantiles of a bounded number, drawn by their ranks (exponential mechanism, ApproximateQuantiles, JointExp).

    Parameters
    ----------
    quantiles
        Numbers from 0 to 1, in any order. Each is taken as the nearest fraction with a denominator up to 10⁶; one that
        is asked for twice is drawn, and paid for, once.
    bounds
        The least and the greatest that the number can be, as a pair, for real numbers: a result may be any number
        between. Or a `Grid`, for whole or rounded numbers: a result is a point of the grid. Declared, never read from
        the data; numbers outside count as the nearest bound.
    epsilon
        The most that all quantiles together may tell about one record.
    neighbours
        ``"add-remove"`` (default), or ``"replace"``, under which the number of records is public.
    method
        ``"auto"`` (default) takes ``"approximate"`` or ``"exponential"``, whichever has the smaller expected error in
        ranks, from public parameters. Or ``"exponential"``, ``"inverse-sensitivity"`` (the same), ``"approximate"`` or
        ``"joint"``.
    resolution
        How many cells there may be between a pair of bounds, about a million by default. Fewer need less memory, 8
        bytes each, and cost a little accuracy where many records share a cell.
    missing
        ``"refuse"`` (default) or ``"drop"``, under ``"add-remove"`` only.

    Guarantee
    ---------
    ε for all quantiles together. A record moves the distance of each place from the wanted rank a·n/b by at most
    max(a, b−a)/b under add-remove and by 1 under replace, and weights fall by whole-number ratios set for that. In
    ``"approximate"`` a record is in one part at each depth; a replaced one leaves one part and enters another, and
    each of the two has half. ``"joint"`` weighs all quantiles together, and its inner ε is lowered by four times the
    error of its weights, about one part in 10⁹. A cell counts at most 2³² − 1 records, and leaves out further ones.

    Error
    -----
    It depends on how densely the records lie, so it is known in ranks and not in the units of the data: see
    `rank_deviation`, and `rank_error` for a bound that always holds.

    References
    ----------
    Smith (2011), Privacy-preserving statistical estimation with optimal convergence rates. Kaplan, Schnapp and Stemmer
    (2022), Differentially private approximate quantiles. Gillenwater, Joseph and Kulesza (2021), Differentially private
    quantiles. Asi and Duchi (2020), Near instance-optimality in differential privacy.

    Examples
    --------
    >>> ask_for = Quantiles(quantiles=[0.25, 0.5, 0.75], bounds=(0, 100), epsilon=1.0)
    >>> found = ask_for.release(ask_for.fold(np.arange(10_000) / 100), rng=7)
    >>> found.labels
    (0.25, 0.5, 0.75)
    >>> bool((abs(found.values - [25, 50, 75]) < 1).all())
    True
    >>> ask_for.rank_deviation.round(1).tolist()
    [3.0, 2.9, 3.0]
    """

    quantiles: tuple[float, ...]
    bounds: Any
    epsilon: float
    neighbours: CentralNeighbours = "add-remove"
    method: Method = "auto"
    resolution: int = MOST_CELLS
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantiles", _checked_quantiles(self.quantiles))
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        _checks.one_of(METHODS, method=self.method)
        scale = self.scale  # bad bounds are found here
        if not isinstance(self.bounds, Grid):
            object.__setattr__(self, "bounds", scale.bounds)
        policy = self.bounds.missing if isinstance(self.bounds, Grid) else self.missing
        if policy == "drop" and self.public:
            raise ParameterError(
                'Under "replace" the number of records is public, so none may be dropped: '
                'fill the gaps first, or use neighbours="add-remove".'
            )
        object.__setattr__(self, "missing", policy)
        object.__setattr__(self, "method", self._resolved())
        _ = self.joint  # what it cannot do is found here
        if trees.least_step(self.forest) < _LEAST_STEP:
            raise LimitError(
                "So many quantiles at this ε are beyond what is exact here: "
                'ask for fewer, use a larger ε, or method="approximate".'
            )

    @cached_property
    def scale(self) -> Scale:
        """The cells in which records are counted."""
        return scale_of(self.bounds, cells=self.resolution, missing=self.missing)

    @cached_property
    def fractions(self) -> tuple[Fraction, ...]:
        """The different quantiles, as fractions in increasing order."""
        return tuple(sorted({_fraction(q) for q in self.quantiles}))

    @property
    def grid(self) -> Grid | None:
        """The declared grid; None where a pair of bounds is declared."""
        return self.bounds if isinstance(self.bounds, Grid) else None

    @property
    def public(self) -> bool:
        """Whether the number of records is public."""
        return self.neighbours == "replace"

    @property
    def name(self) -> str:
        """What is released."""
        return "quantiles"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised: the ε asked for, which the weights do not exceed, roundings included."""
        return Guarantee(epsilon=self.epsilon, neighbours=self.neighbours)

    @property
    def rho(self) -> float:
        """The ρ-zCDP: an eighth of the square of the ε of each choice that can see one record, summed.

        These are all choices where quantiles are drawn independently, the worst way down the tree for
        ``"approximate"``, and the one choice of ``"joint"``.
        """
        if not self.forest:
            return bounded_range_rho(self.epsilon)
        return bounded_range_rho(*(epsilon for tree in self.forest for epsilon in trees.worst_way(tree)))

    @property
    def cells(self) -> int:
        """How many cells are counted."""
        return self.scale.cells

    @cached_property
    def forest(self) -> tuple[Node, ...]:
        """What is drawn, one tree after the other; none for the joint method."""
        return self._forest(self.method)

    @cached_property
    def joint(self) -> JointLaw | None:
        """How the joint method weighs vectors of places; None for the others."""
        if self.method != "joint":
            return None
        return JointLaw.calibrate(self.fractions, self.epsilon, self.neighbours, self.cells << PLACE_BITS)

    def expected_error(self, n: int | None = None) -> Floats:
        """Not known beforehand: it depends on how densely the records lie. See `rank_deviation` and `rank_error`."""
        return np.full(len(self.quantiles), np.nan)

    @property
    def rank_deviation(self) -> Floats:
        """The standard deviation of each result's rank where records lie densely, in records; NaN for ``"joint"``."""
        return self._asked_order(_deviations(self.forest) or [math.nan] * len(self.fractions))

    def rank_error(self, beta: float = 0.05) -> Floats:
        """By how many records the rank of any result can miss q·n, but for a probability β for all; whatever the data.

        It is wide: it holds for the worst of all data, among all places between the bounds. Ranks are those of records
        as they are counted, evenly spread in their cells. NaN for ``"joint"``.
        """
        _checks.probability(beta=beta)
        return self._asked_order(self._bounds_of_ranks(beta))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "release": self.name,
            "quantiles": list(self.quantiles),
            "domain": self.scale.to_dict(),
            "epsilon": self.epsilon,
            "neighbours": self.neighbours,
            "method": self.method,
        }

    def draw_places(self, points: Points, entropy: Entropy) -> Integers:
        """The place of each different quantile, in increasing order."""
        if self.joint is not None:
            return _joint.draw(points, self.joint, entropy)
        places = [0] * len(self.fractions)

        def choose(node: Node, points: Points, part: Part) -> int:
            return trees.draw_place(node, points, part, entropy, whole_cells=self.whole_cells(node))

        for tree in self.forest:
            trees.draw_tree(tree, points, points.whole, choose, places)
        return np.sort(np.array(places, np.int64))

    def whole_cells(self, node: Node) -> bool:
        """Whether a node takes all places of a cell as one: on the points of a grid, where nothing is split by it."""
        return self.scale.whole_cells and node.left is None and node.right is None

    def loss_between(self, first: Counts, second: Counts) -> Fraction | None:
        """The exact loss where quantiles are drawn independently, rounded up; None where they are not."""
        if not self.forest or any(tree.left or tree.right for tree in self.forest):
            return None
        pair = Points(first), Points(second)
        ratios = [trees.node_ratio(tree, *pair, whole_cells=self.whole_cells(tree)) for tree in self.forest]
        return Fraction(log_ceiling(math.prod(ratios, start=Fraction(1))))

    def _count(self, column: Any) -> Counts:
        counts: Counts = self.scale.count(column)
        return counts

    def _ready(self, counts: Counts) -> Counts:
        if self.public and exact_total(counts) > MOST_IN_CELL:
            raise LimitError(f"There must be at most {MOST_IN_CELL:,} records, and they may all be equal.")
        return counts

    def _draw(self, counts: Counts, words: Words) -> Released:
        values = self.scale.values(self.draw_places(Points(counts), words.stream()), PLACE_BITS)
        return Released(
            name=self.name,
            values=self._asked_order(values),
            labels=self.quantiles,
            error=self.expected_error(),
            guarantee=self.guarantee,
            simulated=not words.secure,
            release=self.to_dict(),
            ends=self._ends(values, int(counts.sum())) if self.public and self.forest else None,
        )

    def _ends(self, values: Floats, n: int) -> Ends:
        """Intervals from the neighbours among the released: their ranks are known but for `rank_error`.

        With r the rank of a quantile: if a released value has fewer than r records below it, the quantile is at or
        above it; if it has r or more below it, the quantile is below it.
        """

        def ends(level: float) -> Floats:
            bound = self._bounds_of_ranks(1 - level)
            wanted = np.array([float(q) for q in self.fractions]) * n
            low, high = self.scale.bounds
            rows = []
            for rank in (max(math.ceil(q * n), 1) for q in self.fractions):
                under, over = values[wanted + bound < rank], values[wanted - bound >= rank]
                rows.append((under.max(initial=low), over.min(initial=high)))
            blurred = np.array(rows) + np.array([-self.scale.blur, self.scale.blur])
            return self._asked_order(np.clip(blurred, low, high))

        return ends

    def _bounds_of_ranks(self, beta: float) -> Floats:
        if not self.forest:
            return np.full(len(self.fractions), np.nan)
        # A place at some distance has at most exp(−rate·distance) of the weight of the best one: count all places.
        logarithm = math.log(self.cells) + PLACE_BITS * math.log(2) + math.log(len(self.fractions) / beta)
        return np.array([bound for tree in self.forest for bound in trees.rank_bound(tree, logarithm)])

    def _asked_order(self, found: Any) -> Floats:
        places = [self.fractions.index(_fraction(q)) for q in self.quantiles]
        ordered: Floats = np.asarray(found)[places]
        return ordered

    def _resolved(self) -> Method:
        if self.method == "inverse-sensitivity":
            return "exponential"
        if self.method != "auto":
            return self.method
        # Mean deviations in ranks; exact methods only.
        options: tuple[Method, ...] = ("approximate", "exponential")
        return min(options, key=lambda method: float(np.mean(_deviations(self._forest(method)))))

    def _forest(self, method: Method) -> tuple[Node, ...]:
        if method == "joint":
            return ()
        epsilon = Fraction(self.epsilon)
        if method == "approximate":
            return (trees.recursive(self.fractions, epsilon, self.neighbours),)
        return tuple(trees.independent(self.fractions, epsilon, self.neighbours))


def quantiles(
    data: Any,
    quantiles: Any,
    *,
    bounds: Any = None,
    epsilon: float,
    method: Method | Literal["histogram"] = "auto",
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    ledger: Books | None = None,
    neighbours: CentralNeighbours = "add-remove",
    missing: Missing = "refuse",
    rng: Randomness = None,
    label: str | None = None,
) -> Released:
    """Quantiles of a bounded number, with noise.

    Parameters
    ----------
    data
        A column, or with `column` a table: a mapping, a frame, or the path of a file.
    quantiles, bounds, epsilon, neighbours, missing
        As in `Quantiles`.
    method
        As in `Quantiles`, or ``"histogram"`` for `HistogramQuantiles`.
    column
        The name of the column in the table.
    by, groups
        Quantiles by group: the name of the column that says the group (or that column, where `data` is one), and the
        list of groups, declared. A record is in one group, so that all groups together cost ε.
    ledger, rng, label
        As in `Release.release`.

    Examples
    --------
    >>> wages = np.arange(20_000) / 200
    >>> found = quantiles(wages, [0.1, 0.5, 0.9], bounds=(0, 100), epsilon=0.5, rng=7)
    >>> bool((abs(found.values - [10, 50, 90]) < 1).all())
    True
    """
    if method == "histogram":
        release: Release = _by_histogram(quantiles, bounds, epsilon, neighbours)
    else:
        release = Quantiles(
            quantiles=quantiles, bounds=bounds, epsilon=epsilon, neighbours=neighbours, method=method, missing=missing
        )
    return ask(release, data, column=column, by=by, groups=groups, ledger=ledger, rng=rng, label=label)


def _by_histogram(quantiles: Any, bounds: Any, epsilon: float, neighbours: CentralNeighbours) -> HistogramQuantiles:
    if isinstance(bounds, Grid):
        raise ParameterError("The histogram method needs a pair of bounds: its results are edges between steps.")
    return HistogramQuantiles(quantiles=quantiles, bounds=bounds, epsilon=epsilon, neighbours=neighbours)


def _deviations(forest: tuple[Node, ...]) -> list[float]:
    return [deviation for tree in forest for deviation in trees.rank_deviation(tree)]


def _checked_quantiles(quantiles: Any) -> tuple[float, ...]:
    if isinstance(quantiles, str | bytes) or not isinstance(quantiles, Iterable):
        raise ParameterTypeError("quantiles must be a list of numbers from 0 to 1.")
    checked = tuple(_checks.fraction(quantiles=q) for q in quantiles)
    if not checked:
        raise ParameterError("quantiles must be at least one number from 0 to 1.")
    return checked


def _fraction(quantile: float) -> Fraction:
    return Fraction(quantile).limit_denominator(trees.MOST_DENOMINATOR)
