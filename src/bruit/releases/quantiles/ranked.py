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
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains import Dates, Grid
from bruit.domains.declare import number_question, question
from bruit.domains.domain import Domain
from bruit.domains.interval import Interval, declared_bounds
from bruit.domains.policy import POLICIES
from bruit.entropy import Entropy, Words
from bruit.errors import LimitError, ParameterError, translated
from bruit.estimation.tally import Counts, exact_total
from bruit.privacy.zcdp import bounded_range_rho
from bruit.releases.laws import ChoiceLaw, TreeLaw
from bruit.releases.quantiles import joint as joints
from bruit.releases.quantiles import tree as trees
from bruit.releases.quantiles.histogram import HistogramQuantiles, checked_quantiles
from bruit.releases.quantiles.joint import JointLaw
from bruit.releases.quantiles.points import PLACE_BITS, Integers, PointRun, RecordPoints
from bruit.releases.quantiles.tree import Node
from bruit.releases.result import Ends, Result
from bruit.releases.statistic import CentralNeighbours, Floats, Statistic, codes_by, histogram_of, record_codes
from bruit.releases.widths import LEVEL, WidthLike
from bruit.rounding import log_ceiling
from bruit.tables import digits
from bruit.typing import Bounds

__all__ = ["Median", "Quantiles"]

#: How quantiles are drawn.
Method = Literal["auto", "exponential", "inverse-sensitivity", "approximate", "joint"]
METHODS: tuple[Method, ...] = ("auto", "exponential", "inverse-sensitivity", "approximate", "joint")

#: How many cells there are between a pair of bounds, unless declared: as many as domains may have.
MOST_CELLS = _checks.K_LIMITS[1] - 2
#: The most records of a cell that are told apart; further ones are left out.
MOST_IN_CELL = 2**PLACE_BITS - 1
#: The number of weights of the joint method that is computed in well under a second.
_QUICK_WEIGHTS = 2 * 10**5
#: Weights fall by at least this, so that there are at most five million of them, however many records there are.
_LEAST_STEP = Fraction(1, 2**16)
#: The quantiles of a declaration that names none.
QUARTILES = (0.25, 0.5, 0.75)
#: The most quantiles of a range.
MOST_QUANTILES = 1000
#: How a quantile is written: as a decimal, or as a fraction.
_POINT = re.compile(r"[0-9]*\.?[0-9]+|[0-9]+/[0-9]+")


@dataclass(frozen=True)
class Quantiles(Statistic):
    """Quantiles of a bounded number, drawn by their ranks (exponential mechanism, ApproximateQuantiles, JointExp).

    Parameters
    ----------
    column
        The column of a table; None for data that are one column.
    quantiles
        Numbers from 0 to 1, in any order. Each is taken as the nearest fraction with a denominator up to 10⁶; one that
        is asked for twice is drawn, and paid for, once.
    bounds
        The least and the greatest that the number can be, as a pair, for real numbers: a result may be any number
        between. Or a `Grid`, for whole or rounded numbers: a result is a point of the grid. Declared, never read from
        the data; numbers outside count as the nearest bound. Or `Dates`, for dates and times: a result is the label of
        a day, week, month or hour. An `Interval`, a `Grid` and `Dates` may declare policies, as in `Sum`.
    epsilon
        The most that all quantiles together may tell about one record.
    neighbours
        ``"add-remove"`` (default), or ``"replace"``, under which the number of records is public.
    method
        ``"auto"`` (default) takes ``"approximate"`` or ``"exponential"``, or under replace ``"joint"``, whichever has
        the smallest expected error in ranks, from public parameters. Or ``"exponential"``, ``"inverse-sensitivity"``
        (the same), ``"approximate"`` or ``"joint"``.
    cells
        How many cells there may be between a pair of bounds, about a million by default. Fewer need less memory, 8
        bytes each, and cost a little accuracy where many records share a cell.
    at_least
        A number of records that the table is known to have at least, from elsewhere. Under add-remove, where their
        number is not public, results then have intervals, which hold if that is true.
    within
        In place of `epsilon`: by how many ranks any result may miss, but for one time of 20, as in ``"50 ranks"``, or
        ``Within(0.02, "share", n=5000)``. It holds for the worst of all data, so the ε is larger than most tables need.

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
    >>> from bruit.releases import release
    >>> quartiles = Quantiles("wage", quantiles=[0.25, 0.5, 0.75], bounds=(0, 100), epsilon=1.0)
    >>> result = release({"wage": np.arange(10_000) / 100}, quartiles, rng=7)
    >>> result.labels
    (0.25, 0.5, 0.75)
    >>> bool((abs(result.values - [25, 50, 75]) < 1).all())
    True
    >>> quartiles.rank_deviation.round(1).tolist()
    [3.0, 2.9, 3.0]
    """

    kind: ClassVar[str] = "quantiles"
    width_unit: ClassVar[str] = "ranks"
    document_policies: ClassVar[tuple[str, ...]] = ("missing", "outside")

    column: str | None = None
    _: KW_ONLY
    quantiles: tuple[float, ...]
    bounds: Bounds | Interval | Grid | Dates
    epsilon: float = math.nan
    neighbours: CentralNeighbours = "add-remove"
    method: Method = "auto"
    cells: int = MOST_CELLS
    at_least: int | None = None
    within: InitVar[WidthLike | None] = None

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Which quantiles, the method, and the policies of the bounds."""
        return ("at", "method", *POLICIES)

    @classmethod
    def declared(cls, questions: Sequence[str], options: Mapping[str, Any]) -> Statistic:
        """The quantiles of a number between bounds or on a grid, or of dates; `at` is a list, or a text of one."""
        (text,) = cls._check_questions(questions, 1)
        at, method = (options.get(name) for name in ("at", "method"))
        policies: dict[str, Any] = {name: options[name] for name in POLICIES if name in options}
        others = {name: value for name, value in options.items() if name not in cls.option_names()}
        points = cls._declared_points(at)
        build: Any = cls
        if re.search(r"=\s*[0-9]{4}-[0-9]{2}", text):
            name, dates = question(text, **policies)
            return cast(Statistic, build(name, bounds=dates, method=method or "auto", **points, **others))
        name, bounds, cells, step = number_question(text)
        if method == "histogram":
            interval = Interval(*bounds, **policies)
            points = {"quantiles": (0.5,), **points}
            return HistogramQuantiles(name, bounds=interval, cells=cells or 1000, **points, **others)
        span: Any = Interval(*bounds, **policies)
        if step is not None:
            span = question(text, **policies).domain
        elif cells is not None:
            span = Grid(*bounds, cells=cells, **policies)
        return cast(Statistic, build(name, bounds=span, method=method or "auto", **points, **others))

    @classmethod
    def _declared_points(cls, at: Any) -> dict[str, Any]:
        """The quantiles that a declaration names; the quartiles unless it does."""
        return {"quantiles": QUARTILES if at is None else quantile_list(at)}

    def __post_init__(self, within: WidthLike | None) -> None:
        object.__setattr__(self, "quantiles", checked_quantiles(self.quantiles, _checks.fraction))
        self._settle(within)
        self._check_privacy()
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        _checks.one_of(METHODS, method=self.method)
        _checks.integer(low=2, high=MOST_CELLS, cells=self.cells)
        if self.at_least is not None:
            _checks.integer(low=1, at_least=self.at_least)
        if isinstance(self.bounds, Grid | Dates):
            if self.bounds.missing == "category":
                raise ParameterError('Missing values have no rank: declare missing="refuse" or missing="drop".')
            if self.bounds.outside == "other":
                raise ParameterError('Other values have no rank: declare outside="clamp" or outside="refuse".')
        else:
            object.__setattr__(self, "bounds", declared_bounds(self.bounds))
        self._check_gaps(self.bounds)
        object.__setattr__(self, "method", self._resolved())
        _ = self.joint  # what it cannot do is found here
        if trees.least_step(self.forest) < _LEAST_STEP:
            raise LimitError(
                "This number of quantiles at this ε is beyond what is exact here: "
                'ask for fewer, use a larger ε, or method="approximate".'
            )

    @cached_property
    def grid(self) -> Grid:
        """The cells in which records are counted: the declared grid, or fine steps between a pair of bounds."""
        if isinstance(self.bounds, Grid):
            return self.bounds
        if isinstance(self.bounds, Dates):
            return Grid(0, self.bounds.k - 1)
        return Grid.of(self.bounds, cells=self.cells)

    @property
    def on_points(self) -> bool:
        """Whether results are points of a declared grid, so that all places of a cell are alike."""
        return isinstance(self.bounds, Grid | Dates)

    @property
    def _domain(self) -> Domain:
        """What a value is counted by."""
        return self.bounds if isinstance(self.bounds, Dates) else self.grid

    @cached_property
    def fractions(self) -> tuple[Fraction, ...]:
        """The different quantiles, as fractions in increasing order."""
        return tuple(sorted({_fraction(q) for q in self.quantiles}))

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
    def size(self) -> int:
        """How many cells are counted."""
        return self.grid.cells

    @cached_property
    def forest(self) -> tuple[Node, ...]:
        """What is drawn, one tree after the other; none for the joint method."""
        return self._forest(self.method)

    @cached_property
    def joint(self) -> JointLaw | None:
        """How the joint method weighs vectors of places; None for the others."""
        if self.method != "joint":
            return None
        return JointLaw.calibrate(self.fractions, self.epsilon, self.neighbours, self.size << PLACE_BITS)

    @property
    def rank_deviation(self) -> Floats:
        """The standard deviation of each result's rank where records lie densely, in records."""
        return self._asked_order(_deviations(self.forest) if self.joint is None else self.joint.deviations)

    def rank_error(self, beta: float = 0.05) -> Floats:
        """By how many records the rank of any result can miss q·n, but for a probability β for all; whatever the data.

        It is wide: it holds for the worst of all data, among all places between the bounds. Ranks are those of records
        as they are counted, evenly spread in their cells.
        """
        _checks.probability(beta=beta)
        return self._asked_order(self._bounds_of_ranks(beta))

    def half_width(self, n: int | None = None, level: float = LEVEL) -> float:
        """By how many records the rank of any result can miss, but for a probability 1 − level, whatever the data."""
        return float(np.max(self.rank_error(1 - level)))

    def describe_error(self, n: int) -> str:
        """The standard deviation of the ranks where records lie densely."""
        return f"± {digits(3)(float(np.max(self.rank_deviation)))} ranks"

    def draw_places(self, points: RecordPoints, entropy: Entropy) -> Integers:
        """The place of each different quantile, in increasing order."""
        if self.joint is not None:
            return joints.draw(points, self.joint, entropy)
        places = [0] * len(self.fractions)

        def choose(node: Node, points: RecordPoints, part: PointRun) -> int:
            return trees.draw_place(node, points, part, entropy, whole_cells=self.whole_cells(node))

        for tree in self.forest:
            trees.draw_tree(tree, points, points.whole, choose, places)
        return np.sort(np.array(places, np.int64))

    def whole_cells(self, node: Node) -> bool:
        """Whether a node takes all places of a cell as one: on the points of a grid, where nothing is split by it."""
        return self.on_points and node.left is None and node.right is None

    def loss_between(self, first: Counts, second: Counts) -> Fraction | None:
        """The exact loss where quantiles are drawn independently, rounded up; None where they are not."""
        if not self.forest or any(tree.left or tree.right for tree in self.forest):
            return None
        pair = RecordPoints(first), RecordPoints(second)
        ratios = [trees.node_ratio(tree, *pair, whole_cells=self.whole_cells(tree)) for tree in self.forest]
        return Fraction(log_ceiling(math.prod(ratios, start=Fraction(1))))

    def law(self, counts: Counts) -> tuple[ChoiceLaw | TreeLaw, ...]:
        """The exact laws of the places of the different quantiles, in increasing order; see `values_at`.

        Quantiles that are drawn independently have a law each, and what is published is sorted afterwards; those drawn
        one after the other have one law together. The law of ``"joint"`` is not written down.
        """
        if not self.forest:
            return super().law(counts)  # type: ignore[return-value] # it says why there is none
        points = RecordPoints(np.asarray(counts))
        if all(tree.left is None and tree.right is None for tree in self.forest):
            return tuple(
                trees.node_choice(tree, points, points.whole, whole_cells=self.whole_cells(tree))
                for tree in self.forest
            )
        return tuple(trees.tree_choice(tree, points, points.whole, self.whole_cells) for tree in self.forest)

    def row_codes(self, batch: Mapping[str, Any]) -> list[Integers]:
        """The cell of each number."""
        return [codes_by(self._domain, self.values(batch))]

    def count(self, batch: Mapping[str, Any]) -> Counts:
        """How many records are in each cell; a number outside the bounds is in the nearest."""
        return histogram_of(record_codes(self._domain, self.values(batch)), self.size)

    def prepare(self, counts: Counts) -> Counts:
        """The counts; a public number of records beyond what a cell holds is refused."""
        if self.public and exact_total(counts) > MOST_IN_CELL:
            raise LimitError(f"There must be at most {MOST_IN_CELL:,} records, and they may all be equal.")
        return counts

    def publish(self, counts: Counts, words: Words) -> Result:
        """The drawn places as numbers."""
        places = self.draw_places(RecordPoints(counts), words.stream())
        values, simulated = self.values_at(places), not words.secure
        ends, several = None, len(self.fractions) > 1  # an interval of one without neighbours would say nothing
        if self.public and several:
            ends = self._ends(values, int(counts.sum()))
        elif self.at_least is not None and several:
            ends = self._ends_from(values, self.at_least)
        options: dict[str, Any] = {"labels": self._labels, "notes": self._notes()}
        if isinstance(self.bounds, Dates):
            labels = np.array(self.bounds.labels, object)
            dates = None if ends is None else _labelled(ends, labels)
            return self._result(self._asked_order(labels[values.astype(int)]), simulated, ends=dates, **options)
        return self._result(self._asked_order(values), simulated, ends=ends, **options)

    def _notes(self) -> tuple[str, ...]:
        """What a reader must know of the exactness: ranks, what intervals rest on, and how coarse cells are."""
        bound, deviation = float(np.max(self._bounds_of_ranks(0.05))), float(np.max(self.rank_deviation))
        notes = [
            f"error in ranks, the places in the sorted records: about ± {deviation:.3g} where records lie densely, and "
            f"within {math.ceil(bound):,} with probability 95 % whatever the data"
        ]
        if not self.public and self.at_least is not None and len(self.fractions) > 1:
            notes.append(f"intervals hold for {self.at_least:,} or more records")
        if not self.on_points and float(self.grid.step) > _shown_step(self._ends_of_bounds):
            notes.append(f"counted in cells of width {float(self.grid.step):.3g}: finer digits say nothing")
        return tuple(notes)

    @property
    def _labels(self) -> tuple[Any, ...]:
        return self.quantiles

    def values_at(self, places: Integers) -> Floats:
        """The numbers at places: points of the declared grid, or within the half step to both sides of a multiple."""
        if self.on_points:
            return self.grid.numbers(places >> PLACE_BITS)
        return np.asarray(np.clip(self.grid.value(places / 2.0**PLACE_BITS - 0.5), *self._ends_of_bounds))

    @property
    def _ends_of_bounds(self) -> tuple[float, float]:
        if isinstance(self.bounds, Grid | Dates):
            return float(self.grid.low), float(self.grid.high)
        return float(self.bounds[0]), float(self.bounds[1])

    def _ends(self, values: Floats, n: int) -> Ends:
        """Intervals from the neighbours among the released: their ranks are known but for `rank_error`.

        With r the rank of a quantile: if a released value has fewer than r records below it, the quantile is at or
        above it; if it has r or more below it, the quantile is below it.
        """

        def ends(level: float) -> Floats:
            bound = self._bounds_of_ranks(1 - level)
            wanted = np.array([float(q) for q in self.fractions]) * n
            low, high = self._ends_of_bounds
            rows = []
            for rank in (max(math.ceil(q * n), 1) for q in self.fractions):
                under, over = values[wanted + bound < rank], values[wanted - bound >= rank]
                rows.append((under.max(initial=low), over.min(initial=high)))
            # Between bounds a record may be anywhere in its cell; on a grid it counts as its point.
            blur = 0.0 if self.on_points else float(self.grid.step)
            blurred = np.array(rows) + np.array([-blur, blur])
            return self._asked_order(np.clip(blurred, low, high))

        return ends

    def _ends_from(self, values: Floats, least: int) -> Ends:
        """Intervals where only this is known of the number of records, that it is `least` or more.

        A released value is below the quantile q if q'·n + bound < q·n, and above it if q'·n − bound ≥ q·n + 1; both are
        true of all larger n, if of the least.
        """

        def ends(level: float) -> Floats:
            bound = self._bounds_of_ranks(1 - level)
            low, high = self._ends_of_bounds
            shares = np.array([float(q) for q in self.fractions])
            slack = 1e-9 * least  # roundings of the products below
            rows = []
            for share in shares:
                under = values[(share - shares) * least > bound + slack]
                over = values[(shares - share) * least > bound + 1 + slack]
                rows.append((under.max(initial=low), over.min(initial=high)))
            blur = 0.0 if self.on_points else float(self.grid.step)
            return self._asked_order(np.clip(np.array(rows) + np.array([-blur, blur]), low, high))

        return ends

    def _bounds_of_ranks(self, beta: float) -> Floats:
        if self.joint is not None:
            return np.full(len(self.fractions), self.joint.rank_bound(beta))
        # A place at some distance has at most exp(−rate·distance) of the weight of the best one: count all places.
        logarithm = math.log(self.size) + PLACE_BITS * math.log(2) + math.log(len(self.fractions) / beta)
        return np.array([bound for tree in self.forest for bound in trees.rank_bound(tree, logarithm)])

    def _asked_order(self, sorted_values: Any) -> Floats:
        places = [self.fractions.index(_fraction(q)) for q in self.quantiles]
        return np.asarray(np.asarray(sorted_values)[places])

    def _resolved(self) -> Method:
        if self.method == "inverse-sensitivity":
            return "exponential"
        if self.method != "auto":
            return self.method
        options: tuple[Method, ...] = ("approximate", "exponential")
        means = {method: float(np.mean(_deviations(self._forest(method)))) for method in options}
        best = min(options, key=lambda method: means[method])
        law = self._joint_law() if self.public and len(self.fractions) > 1 else None
        return "joint" if law is not None and np.mean(law.deviations) < means[best] else best

    def _joint_law(self) -> JointLaw | None:
        """The law of the joint method; None where it is beyond its limits, or takes seconds."""
        try:
            law = JointLaw.calibrate(self.fractions, self.epsilon, self.neighbours, self.size << PLACE_BITS)
        except LimitError:
            return None
        return law if law.weights <= _QUICK_WEIGHTS else None

    def _forest(self, method: Method) -> tuple[Node, ...]:
        if method == "joint":
            return ()
        epsilon = Fraction(self.epsilon)
        if method == "approximate":
            return (trees.recursive(self.fractions, epsilon, self.neighbours),)
        return tuple(trees.independent(self.fractions, epsilon, self.neighbours))


@dataclass(frozen=True)
class Median(Quantiles):
    """The median of a bounded number; parameters as in `Quantiles`.

    >>> from bruit.releases import release
    >>> 45 < release(range(101), Median(bounds=(0, 100), epsilon=2.0), rng=7).value < 55
    True
    """

    kind: ClassVar[str] = "median"

    quantiles: tuple[float, ...] = field(default=(0.5,), init=False)

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The method, and the policies of the bounds."""
        return ("method", *POLICIES)

    @classmethod
    def _declared_points(cls, at: Any) -> dict[str, Any]:
        """Nothing: the quantile of a median is no option."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {name: value for name, value in super().to_dict().items() if name != "quantiles"}

    @property
    def _labels(self) -> tuple[Any, ...]:
        return (self.name,)


def quantile_list(at: Any) -> tuple[float, ...]:
    """The quantiles of a list, of a number, or of a text: numbers with commas between them, or first:last:step.

    >>> quantile_list("0.25,0.5,0.75"), quantile_list("0.1:0.3:0.1"), quantile_list([0.5])
    ((0.25, 0.5, 0.75), (0.1, 0.2, 0.3), (0.5,))
    """
    if not isinstance(at, str):
        numbers = at if isinstance(at, Sequence) else [at]
        return tuple(_checks.fraction(at=number) for number in numbers)
    words = at.replace(" ", "").split(":" if ":" in at else ",")
    wrong = "at must be numbers from 0 to 1, as in 0.25,0.5,0.75, or first:last:step, as in 0.1:0.9:0.1."
    if not all(_POINT.fullmatch(word) for word in words) or (":" in at and len(words) != 3):
        raise ParameterError(wrong)
    with translated(ZeroDivisionError, lambda _: ParameterError(wrong)):
        fractions = [Fraction(word) for word in words]
    points = _range(*fractions) if ":" in at else fractions
    if any(point > 1 for point in points):
        raise ParameterError(wrong)
    return tuple(float(point) for point in points)


def _range(first: Fraction, last: Fraction, step: Fraction) -> list[Fraction]:
    if not step or first > last:
        raise ParameterError("at first:last:step must go upwards, as 0.1:0.9:0.1 does.")
    many = (last - first) // step + 1
    if many > MOST_QUANTILES:
        raise ParameterError(f"at must be at most {MOST_QUANTILES:,} numbers.")
    return [first + place * step for place in range(many)]


def _labelled(ends: Ends, labels: NDArray[Any]) -> Ends:
    """Intervals of cells as those of their labels."""
    return lambda level: labels[np.asarray(ends(level)).astype(int)]


def _shown_step(bounds: tuple[float, float]) -> float:
    """The last digit that is shown of numbers between bounds: six digits of the larger one."""
    return 10.0 ** (math.floor(math.log10(max(map(abs, bounds)))) - 5)


def _deviations(forest: tuple[Node, ...]) -> list[float]:
    return [deviation for tree in forest for deviation in trees.rank_deviation(tree)]


def _fraction(quantile: float) -> Fraction:
    return Fraction(quantile).limit_denominator(trees.MOST_DENOMINATOR)
