"""Quantiles one after the other: one in the middle first, then those below among the points below, and so on.

A node draws one quantile of the points of its part by the exponential mechanism. The drawn place splits the part in
two, each with the quantiles that belong there. A record is in one part at each depth, so it pays once along its path,
not once for each quantile: ApproximateQuantiles. Quantiles that are drawn independently are trees of one node.

A tree is public: it depends on the quantiles, ε and the neighbours alone. The argument is in ``quantiles.proof.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bruit.entropy import Entropy
from bruit.releases.exponential import Exponential
from bruit.releases.laws import ChoiceLaw, Stretch, TreeLaw
from bruit.releases.quantiles.plan import Branch, best
from bruit.releases.quantiles.points import Integers, PointRun, RecordPoints
from bruit.releases.statistic import CentralNeighbours

#: Targets are fractions with at most this denominator.
MOST_DENOMINATOR = 10**6
#: Distances from a target are told apart in at most this many steps per record,
FINENESS = 64
#: and where the share of ε is below this, which makes a single record count for little, in one.
COARSE = Fraction(1, 16)

#: What one node draws: from a node, points and their part to a place.
Choose = Callable[["Node", RecordPoints, PointRun], int]


@dataclass(frozen=True)
class Node:
    """One quantile of a part of the points.

    Parameters
    ----------
    place
        Which of the asked quantiles it is, in increasing order.
    share
        The quantile relative to its part, a/b: the rank R that is wanted has bR = an for n points.
    grain
        The score is |bR − an| divided by this, rounded down.
    choice
        The exponential mechanism for that score.
    epsilon
        What the choice may tell about a record; where a replaced one changes two parts, about both together.
    left, right
        The quantiles below and above, or None.
    """

    place: int
    share: Fraction
    grain: int
    choice: Exponential
    epsilon: Fraction
    left: Node | None = None
    right: Node | None = None

    @property
    def rate(self) -> float:
        """By how much the logarithm of a weight falls for each record between the outcome and its target."""
        return float(self.choice.step) * self.share.denominator / self.grain


def one_node(place: int, share: Fraction, epsilon: Fraction, *, public: bool) -> Node:
    """A quantile of all points; `public` says that their number is, as under replace."""
    a, b = share.numerator, share.denominator
    change = b if public else max(a, b - a)
    grain = change if epsilon <= COARSE else -(-change // FINENESS)
    return Node(place, share, grain, Exponential.calibrate(epsilon, sensitivity=-(-change // grain)), epsilon)


def independent(quantiles: Sequence[Fraction], epsilon: Fraction, neighbours: CentralNeighbours) -> list[Node]:
    """Each quantile by itself, with an equal share of ε."""
    share, public = epsilon / len(quantiles), neighbours == "replace"
    return [one_node(place, quantile, share, public=public) for place, quantile in enumerate(quantiles)]


def recursive(quantiles: Sequence[Fraction], epsilon: Fraction, neighbours: CentralNeighbours) -> Node:
    """One quantile first, then those below and above it, in the order and with the portions of ε of the best plan.

    Every node gets a portion of what is left on its way, and one that nothing follows gets all: every way sums to ε.
    """
    replace = neighbours == "replace"
    ends = [Fraction(0), *quantiles, Fraction(1)]

    def build(branch: Branch | None, low: int, high: int, left: Fraction) -> Node | None:
        """The quantiles of a branch, between the ends low and high of its part."""
        if branch is None:
            return None
        middle, mine = branch.place + 1, left * branch.portion
        share = _relative(ends[middle], ends[low], ends[high])
        if replace and high - low <= len(quantiles):
            # A replaced record leaves one part and enters another, and each of the two then costs half.
            node = one_node(branch.place, share, mine / 2, public=False)
        else:
            node = one_node(branch.place, share, mine, public=replace)
        below = build(branch.left, low, middle, left - mine)
        above = build(branch.right, middle, high, left - mine)
        return Node(node.place, share, node.grain, node.choice, mine, below, above)

    root = build(best(tuple(quantiles), public=replace), 0, len(ends) - 1, epsilon)
    assert root is not None  # noqa: S101 -- there is at least one quantile
    return root


def worst_way(node: Node | None) -> tuple[Fraction, ...]:
    """The ε of the nodes on the way from the root to a leaf whose squares sum to most."""
    if node is None:
        return ()
    ways = worst_way(node.left), worst_way(node.right)
    return (node.epsilon, *max(ways, key=lambda way: sum(epsilon**2 for epsilon in way)))


def _relative(quantile: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """A quantile relative to the part between two others."""
    return ((quantile - low) / (high - low)).limit_denominator(MOST_DENOMINATOR)


def least_step(forest: Sequence[Node | None]) -> Fraction:
    """The smallest step of any node: the smaller it is, the more weights there are, about 70 over it."""
    steps = [min(node.choice.step, least_step([node.left, node.right])) for node in forest if node is not None]
    return min(steps, default=Fraction(1))


def rings(node: Node, points: RecordPoints, part: PointRun, *, whole_cells: bool) -> tuple[Integers, Integers]:
    """The places of score 0..s lie in low[s]..high[s], both included; of the last score, everywhere.

    With `whole_cells` all places of a cell have the score of the best of them: what counts is that the wanted rank lies
    between the number of points before the cell and that up to its end, so that ties do no harm.
    """
    a, b = node.share.numerator, node.share.denominator
    target = a * part.many
    scores = len(node.choice.weights(max(target, b * part.many - target) // node.grain))
    reach = node.grain * np.arange(1, scores + 1, dtype=np.int64) - 1
    whole, rest = divmod(target, b)  # the target itself may not fit 64 bits
    least = np.maximum(whole - (reach - rest) // b, 0)  # ⌈(an − reach)/b⌉
    most = np.minimum(whole + (reach + rest) // b, part.many)
    low = np.full(scores, part.low, np.int64)
    high = np.full(scores, part.high, np.int64)
    start, stop = least > 0, most < part.many
    low[start] = np.maximum(_after(points, part.first + least[start] - 1, whole_cells), part.low)
    high[stop] = np.minimum(_until(points, part.first + most[stop], whole_cells), part.high)
    low[-1], high[-1] = part.low, part.high
    return low, high


def _after(points: RecordPoints, rank: Integers, whole_cells: bool) -> Integers:
    """The first place that has the point of this rank before it."""
    return points.cell(rank) << points.bits if whole_cells else points.place(rank) + 1


def _until(points: RecordPoints, rank: Integers, whole_cells: bool) -> Integers:
    """The last place that has the point of this rank not before it."""
    return ((points.cell(rank) + 1) << points.bits) - 1 if whole_cells else points.place(rank)


def sizes(low: Integers, high: Integers) -> list[int]:
    """How many places have each score."""
    inside: list[int] = (high - low + 1).tolist()
    return [inside[0], *(after - before for before, after in itertools.pairwise(inside))]


def draw_place(node: Node, points: RecordPoints, part: PointRun, entropy: Entropy, *, whole_cells: bool) -> int:
    """A place for the quantile of this node."""
    low, high = rings(node, points, part, whole_cells=whole_cells)
    score, offset = node.choice.draw(sizes(low, high), entropy)
    if score == 0:
        return int(low[0]) + offset
    before = int(low[score - 1] - low[score])
    return int(low[score]) + offset if offset < before else int(high[score - 1]) + 1 + offset - before


def draw_tree(node: Node | None, points: RecordPoints, part: PointRun, choose: Choose, out: list[int]) -> None:
    """Draw the places of all quantiles of a tree into `out`."""
    if node is None:
        return
    place = out[node.place] = choose(node, points, part)
    if node.left is None and node.right is None:
        return
    below, above = points.split(part, place)
    draw_tree(node.left, points, below, choose, out)
    draw_tree(node.right, points, above, choose, out)


def node_law(node: Node, points: RecordPoints, part: PointRun, *, whole_cells: bool) -> Iterator[tuple[int, Fraction]]:
    """The exact probability of each place."""
    low, high = rings(node, points, part, whole_cells=whole_cells)
    weights = node.choice.weights(low.size - 1)
    total = sum(size * weight for size, weight in zip(sizes(low, high), weights, strict=True))
    everywhere = np.arange(part.low, part.high + 1)
    for place, score in zip(everywhere.tolist(), _scores(low, high, everywhere).tolist(), strict=True):
        yield place, Fraction(weights[score], total)


def node_choice(node: Node, points: RecordPoints, part: PointRun, *, whole_cells: bool) -> ChoiceLaw:
    """The exact law of the place of one node, in stretches of places that have the same score."""
    low, high = rings(node, points, part, whole_cells=whole_cells)
    weights, starts, stops = node.choice.weights(low.size - 1), low.tolist(), high.tolist()
    stretches = [Stretch(starts[0], stops[0], weights[0])]
    for score in range(1, low.size):
        stretches.append(Stretch(starts[score], starts[score - 1] - 1, weights[score]))
        stretches.append(Stretch(stops[score - 1] + 1, stops[score], weights[score]))
    return ChoiceLaw(tuple(sorted(stretch for stretch in stretches if stretch.first <= stretch.last)))


def tree_choice(node: Node, points: RecordPoints, part: PointRun, whole_cells: Callable[[Node], bool]) -> TreeLaw:
    """The exact law of all places of a tree."""

    def after(place: int) -> tuple[TreeLaw | None, TreeLaw | None]:
        below, above = points.split(part, place)
        left, right = node.left, node.right
        return (
            None if left is None else tree_choice(left, points, below, whole_cells),
            None if right is None else tree_choice(right, points, above, whole_cells),
        )

    law = node_choice(node, points, part, whole_cells=whole_cells(node))
    return TreeLaw(law, node.place - _first(node), _size(node), after)


def _scores(low: Integers, high: Integers, places: Integers) -> Integers:
    """The score of each place: of how many rings it lies outside, to the left or to the right."""
    left = low.size - np.searchsorted(low[::-1], places, side="right")
    return np.maximum(left, np.searchsorted(high, places)).astype(np.int64)


def node_ratio(node: Node, first: RecordPoints, second: RecordPoints, *, whole_cells: bool) -> Fraction:
    """The largest ratio of the probabilities of one place for two sets of points, either way, for a tree of one node.

    Probabilities change at the ends of rings only, so it is enough to look there.
    """
    both = [rings(node, points, points.whole, whole_cells=whole_cells) for points in (first, second)]
    ends = np.concatenate([edge for low, high in both for edge in (low, low - 1, high, high + 1)])
    places = np.unique(ends[(ends >= first.whole.low) & (ends <= first.whole.high)])
    laws: list[list[Fraction]] = []
    for low, high in both:
        weights = node.choice.weights(low.size - 1)
        total = sum(size * weight for size, weight in zip(sizes(low, high), weights, strict=True))
        laws.append([Fraction(weights[score], total) for score in _scores(low, high, places).tolist()])
    odds: list[Fraction] = [p / q for p, q in zip(*laws, strict=True)]
    return max(*odds, 1 / min(odds))


def tree_law(
    node: Node | None, points: RecordPoints, part: PointRun, whole_cells: Callable[[Node], bool]
) -> dict[tuple[int, ...], Fraction]:
    """The exact probability of all places of a tree together, in increasing order of their quantiles."""
    if node is None:
        return {(): Fraction(1)}
    law: dict[tuple[int, ...], Fraction] = {}
    for place, chance in node_law(node, points, part, whole_cells=whole_cells(node)):
        below, above = points.split(part, place)
        rights = tree_law(node.right, points, above, whole_cells)
        for first, p in tree_law(node.left, points, below, whole_cells).items():
            law |= {(*first, place, *last): chance * p * q for last, q in rights.items()}
    return law


def _propagate(root: Node, own: Callable[[Node], Any]) -> list[Any]:
    """The error of each quantile: its own, and what the errors at the ends of its part leave to it."""
    errors: dict[int, Any] = {}

    def visit(node: Node | None, low: Any, high: Any) -> None:
        if node is not None:
            share = float(node.share)
            errors[node.place] = mine = own(node) + (1 - share) * low + share * high
            visit(node.left, low, mine)
            visit(node.right, mine, high)

    visit(root, 0.0, 0.0)
    return [errors[place] for place in sorted(errors)]


def rank_deviation(root: Node) -> list[float]:
    """The standard deviation of each quantile's rank where the points are dense, in records.

    There the distance of the rank from its target is two-sided exponential with the node's rate, and the error at the
    ends of a part moves the target within it: by 1 − share of the lower and by share of the upper.
    """

    def own(node: Node) -> Any:
        # The deviation of a discrete two-sided exponential law; one unit vector for each independent draw.
        mine = np.zeros(_size(root))
        mine[node.place - _first(root)] = 1 / (math.sqrt(2) * math.sinh(node.rate / 2))
        return mine

    return [float(np.sqrt((error**2).sum())) for error in _propagate(root, own)]


def rank_bound(root: Node, logarithm: float) -> list[float]:
    """A bound on each quantile's distance from its target rank, when no node is worse than exp(−logarithm) allows."""

    def own(node: Node) -> float:
        # One record for targets that are not whole and for ends, one grain for rounding scores down.
        return logarithm / node.rate + 1 + node.grain / node.share.denominator

    return [float(bound) for bound in _propagate(root, own)]


def _size(node: Node | None) -> int:
    return 0 if node is None else 1 + _size(node.left) + _size(node.right)


def _first(node: Node) -> int:
    return node.place if node.left is None else _first(node.left)
