"""The order in which quantiles are drawn and what each gets of ε: the least error, for every tree and every split."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from bruit.releases.quantiles import plan as plans
from bruit.releases.quantiles import tree as trees
from bruit.releases.quantiles.plan import Branch
from bruit.releases.statistic import CentralNeighbours

DECILES = tuple(Fraction(i, 10) for i in range(1, 10))
SETS = [
    tuple(Fraction(i, 6) for i in range(1, 6)),
    (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)),
    (Fraction(0), Fraction(1, 20), Fraction(1, 2), Fraction(1)),
]


def shapes(low: int, high: int) -> Iterator[Branch | None]:
    """All trees of the quantiles low..high−1, with portions of one half."""
    if low == high:
        yield None
    for first in range(low, high):
        for left in shapes(low, first):
            for right in shapes(first + 1, high):
                yield Branch(first, Fraction(1, 2) if left or right else Fraction(1), left, right)


def square_error(branch: Branch, quantiles: tuple[Fraction, ...], public: bool, portions: dict[int, float]) -> float:
    """Σ of the variances for ε = 1, by following every draw's error through the tree."""
    ends = [0.0, *map(float, quantiles), 1.0]
    size, found = len(quantiles), {}

    def visit(node: Branch | None, low: int, high: int, errors: tuple[np.ndarray, np.ndarray], left: float) -> None:
        if node is None:
            return
        here = node.place + 1
        mine = left * (portions[node.place] if node.left or node.right else 1.0)
        share = (ends[here] - ends[low]) / (ends[high] - ends[low])
        root = high - low == size + 1
        rate = mine / 2 if public and root else mine / (2 * max(share, 1 - share)) / (2 if public else 1)
        error = (1 - share) * errors[0] + share * errors[1]
        error[node.place] += math.sqrt(2) / rate
        found[node.place] = error
        visit(node.left, low, here, (errors[0], error), left - mine)
        visit(node.right, here, high, (error, errors[1]), left - mine)

    visit(branch, 0, size + 1, (np.zeros(size), np.zeros(size)), 1.0)
    return float(sum((error**2).sum() for error in found.values()))


def inner(branch: Branch | None) -> Iterator[Branch]:
    """The nodes that something follows."""
    if branch is not None and (branch.left or branch.right):
        yield branch
        yield from inner(branch.left)
        yield from inner(branch.right)


def best_of(branch: Branch, quantiles: tuple[Fraction, ...], public: bool) -> float:
    """The least error of a tree over all portions, by search."""
    places = [node.place for node in inner(branch)]

    def error(logits: np.ndarray) -> float:
        portions = 1 / (1 + np.exp(-logits))
        return square_error(branch, quantiles, public, dict(zip(places, portions.tolist(), strict=True)))

    return float(optimize.minimize(error, np.zeros(len(places)), method="L-BFGS-B").fun)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("quantiles", SETS)
def test_no_other_order_and_no_other_portions_are_better(quantiles: tuple[Fraction, ...], public: bool) -> None:
    plan = plans.best(quantiles, public=public)
    ours = square_error(plan, quantiles, public, {node.place: float(node.portion) for node in inner(plan)})
    others = [best_of(tree, quantiles, public) for tree in shapes(0, len(quantiles)) if tree]
    assert len(others) == {4: 14, 5: 42}[len(quantiles)]
    assert min(others) * (1 - 1e-5) <= ours <= min(others) * (1 + 1e-5)
    assert max(others) > 1.2 * ours  # the order matters


@pytest.mark.parametrize(("neighbours", "gain"), [("add-remove", 0.94), ("replace", 0.89)])
def test_deciles_err_less_than_with_the_middle_first_and_equal_portions(
    neighbours: CentralNeighbours, gain: float
) -> None:
    public = neighbours == "replace"

    def published(low: int, high: int) -> Branch | None:
        if low == high:
            return None
        middle = (low + high) // 2
        return Branch(
            middle, Fraction(1, (high - low).bit_length()), published(low, middle), published(middle + 1, high)
        )

    usual = published(0, 9)
    assert usual is not None
    before = square_error(usual, DECILES, public, {node.place: float(node.portion) for node in inner(usual)})
    stated = trees.rank_deviation(trees.recursive(DECILES, Fraction(1, 10), neighbours))
    after = float(np.square(stated).sum()) / 100
    assert math.sqrt(after / before) < gain


@pytest.mark.parametrize("many", [1, 2, 33, 250])
def test_a_plan_draws_every_quantile_once_between_its_neighbours_and_leaves_nothing_of_epsilon(many: int) -> None:
    drawn: list[int] = []

    def visit(branch: Branch | None, low: int, high: int, depth: int) -> None:
        if branch is None:
            assert low == high
            return
        assert low <= branch.place < high
        assert depth < many.bit_length() + 6
        assert 0 < branch.portion < 1 if branch.left or branch.right else branch.portion == 1
        visit(branch.left, low, branch.place, depth + 1)
        drawn.append(branch.place)
        visit(branch.right, branch.place + 1, high, depth + 1)

    visit(plans.best(tuple(Fraction(i + 1, many + 1) for i in range(many)), public=False), 0, many, 0)
    assert drawn == list(range(many))
