"""Laws for auditors: what a release draws from, given its sums, without a private name."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bruit
from bruit.domains import Grid
from bruit.errors import ParameterError
from bruit.releases import (
    AboveThreshold,
    Bounds,
    ChoiceLaw,
    Count,
    FirstAboveLaw,
    Groups,
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    Mean,
    Median,
    Person,
    Quantiles,
    Release,
    Sum,
    SumLaw,
    Tables,
    TreeLaw,
    Variance,
    WeightedMean,
    WeightedSum,
    statistic,
)
from bruit.releases.quantiles import tree
from bruit.releases.quantiles.points import RecordPoints

GRID = Grid(0, 4)
STATISTICS: dict[str, Any] = {
    "count": Count(epsilon=0.5),
    "histogram": Histogram(domain=["a", "b", "c"], epsilon=0.5),
    "sum": Sum(bounds=(0, 4), epsilon=0.5),
    "mean": Mean(bounds=(0, 4), epsilon=0.5),
    "variance": Variance(bounds=(0, 4), epsilon=0.5),
    "quantiles": Quantiles(quantiles=[0.2, 0.7], bounds=GRID, epsilon=0.5, method="exponential"),
    "median": Median(bounds=GRID, epsilon=0.5),
    "quantiles by histogram": HistogramQuantiles(quantiles=[0.2, 0.7], bounds=(0, 4), cells=5, epsilon=0.5),
    "inverse sensitivity": InverseSensitivity(statistic="median", bounds=GRID, epsilon=0.5),
    "bounds": Bounds(epsilon=0.5),
}
#: Statistics of several columns.
WIDE: dict[str, Any] = {
    "weighted mean": WeightedMean("x", weight="w", bounds=(0, 4), weight_bounds=(0, 2), epsilon=0.5),
    "weighted sum": WeightedSum("x", weight="w", bounds=(0, 4), weight_bounds=(0, 2), epsilon=0.5),
    "tables": Tables({"x": [0, 1, 4], "w": [0, 1, 2]}, epsilon=0.5),
}


def test_every_statistic_of_bruit_has_its_law_here() -> None:
    own = {name for name, kind in statistic._KINDS.items() if kind.__module__.startswith("bruit.releases")}
    assert own == {item.kind for item in [*STATISTICS.values(), *WIDE.values()]}


@pytest.mark.parametrize("name", WIDE)
def test_laws_of_several_columns_lose_at_most_epsilon_and_nearly_all_of_it(name: str) -> None:
    item = WIDE[name]
    base = [(1, 1), (4, 2)]

    def laws(records: list[tuple[int, int]]) -> Any:
        columns = {"x": [x for x, _ in records], "w": [w for _, w in records]}
        return item.law(item.fold(columns).reveal(design=item.digest))

    losses = [
        sum(ours.loss(theirs) for ours, theirs in zip(laws(base), laws([*base, record]), strict=True))
        for record in itertools.product((0, 1, 4), (0, 1, 2))
    ]
    assert 0.2 < max(losses) <= Fraction(0.5) * (1 + Fraction(1, 10**12))


def test_the_laws_of_contrasts_cost_the_rho_of_the_tables() -> None:
    tables = Tables({"x": [0, 1, 4], "w": [0, 1, 2]}, epsilon=1.0, delta=1e-6)
    first, second = (
        tables.law(tables.fold({"x": x, "w": x}).reveal(design=tables.digest)) for x in ([0, 1], [0, 1, 1])
    )
    spent = sum(ours.rho(theirs) for ours, theirs in zip(first, second, strict=True))
    assert 0 < spent <= Fraction(tables.rho)


def _pairs(item: Any) -> list[tuple[Any, Any]]:
    values: list[Any] = ["a", "b", "c"] if item.kind == "histogram" else [0, 1, 4]
    tables = [list(table) for many in range(3) for table in itertools.product(values, repeat=many)]
    if item.neighbours == "replace":
        return [(table, [*table[:-1], value]) for table in tables if table for value in values]
    return [(table, [*table, value]) for table in tables for value in values]


@pytest.mark.parametrize("name", STATISTICS)
def test_the_loss_between_two_laws_is_that_of_the_statistic_and_within_its_epsilon(name: str) -> None:
    item = STATISTICS[name]
    worst = 0.0
    for first, second in _pairs(item):
        laws = [item.alone.law(item.fold(table))[item.name] for table in (first, second)]
        losses = [ours.loss(theirs) for ours, theirs in zip(*laws, strict=True)]
        total = sum(losses)
        assert total <= Fraction(0.5) * (1 + Fraction(1, 10**12))
        counts = [item.fold(table).reveal(design=item.digest) for table in (first, second)]
        stated = item.loss_between(*counts)
        if stated is not None:
            assert float(total) == pytest.approx(float(stated), rel=1e-12, abs=1e-15)
        worst = max(worst, float(total))
    assert worst > 0.2  # the laws are not all alike


def test_two_tables_far_apart_lose_more_than_epsilon() -> None:
    for item in (STATISTICS["count"], STATISTICS["median"], STATISTICS["quantiles by histogram"]):
        near, far = (item.alone.law(item.fold([4] * n))[item.name] for n in (0, 40))
        assert sum(ours.loss(theirs) for ours, theirs in zip(near, far, strict=True)) > 0.6


def test_sums_have_probabilities_odds_and_rho() -> None:
    laplace, gaussian = Count(epsilon=1.0), Count(epsilon=1.0, delta=1e-6)
    (five,), (six,) = laplace.law([5]), laplace.law([6])
    assert isinstance(five, SumLaw)
    total = math.fsum(math.exp(five.log_probability([value])) for value in range(-60, 70))
    assert total == pytest.approx(1)
    for value in (-3, 5, 6, 9):
        assert five.log_odds([value], six) == pytest.approx(
            five.log_probability([value]) - six.log_probability([value])
        )
    (here,), (there,) = gaussian.law([5]), gaussian.law([6])
    assert here.loss(there) == math.inf
    assert here.rho(there) <= Fraction(gaussian.rho)
    assert here.rho(there) == 1 / (2 * gaussian.noise().sigma2)  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="different noise"):
        five.loss(here)
    with pytest.raises(ParameterError, match="1 whole numbers"):
        five.log_probability([1, 2])
    with pytest.raises(ParameterError, match="use loss"):
        five.rho(six)


def test_the_law_of_a_node_is_that_of_every_place() -> None:
    """Few places per cell, so that all can be written down."""
    points = RecordPoints(np.array([1, 0, 2]), bits=3)
    item = Quantiles(quantiles=[0.2, 0.5, 0.7], bounds=Grid(0, 2), epsilon=1.0, method="approximate")
    (root,) = item.forest
    law = tree.tree_choice(root, points, points.whole, item.whole_cells)
    assert isinstance(law, TreeLaw)
    written = tree.tree_law(root, points, points.whole, item.whole_cells)
    assert sum(written.values()) == 1
    assert {places: law.probability(places) for places in written} == written
    assert law.probability([40, 1, 2]) == 0
    (alone,) = Median(bounds=Grid(0, 2), epsilon=1.0).forest
    for whole in (False, True):
        choice = tree.node_choice(alone, points, points.whole, whole_cells=whole)
        assert isinstance(choice, ChoiceLaw)
        expected = dict(tree.node_law(alone, points, points.whole, whole_cells=whole))
        assert {place: choice.probability(place) for place in expected} == expected
        assert choice.probability(-1) == choice.probability(24) == 0


def test_a_place_is_the_number_that_is_published() -> None:
    item = Median(bounds=(0.0, 1.0), cells=4, epsilon=1.0)
    assert item.values_at(np.array([0, 2**33, 2**34 - 1])).tolist() == pytest.approx([0, 0.5, 1], abs=0.2)


def test_the_law_of_the_first_above_is_what_a_session_draws() -> None:
    alarm = AboveThreshold(epsilon=1.0, threshold=10, monotone=True)
    law = alarm.law([4, 12, 9, 30])
    assert isinstance(law, FirstAboveLaw)
    chances = np.exp(law.log_probabilities)
    assert chances.sum() == pytest.approx(1)
    entropy = bruit.Entropy(5)
    runs = 1500
    found = [alarm.start(rng=entropy).first([4, 12, 9, 30]) for _ in range(runs)]
    counts = np.array([sum(index == place for index in found) for place in (0, 1, 2, 3, None)])
    spread = np.sqrt(runs * chances * (1 - chances))
    assert (np.abs(counts - runs * chances) < 6 * spread + 3).all()
    wrong = np.exp(AboveThreshold(epsilon=1.0, threshold=14, monotone=True).law([4, 12, 9, 30]).log_probabilities)
    assert (np.abs(counts - runs * wrong) > 6 * np.sqrt(runs * wrong * (1 - wrong))).any()
    assert law.log_probability(None) == law.log_probabilities[-1]


@pytest.mark.parametrize("person", [None, Person("id", groups=3, rows_per_group=1)])
def test_groups_that_nobody_declared_have_a_law_each(person: Person | None) -> None:
    groups = Groups("zone", epsilon=1.0, delta=1e-6, person=person)
    table = {"zone": ["a"] * 25 + ["b"] * 2, "id": list(range(27))}
    laws = groups.law(groups.fold(table, rng=1))
    assert list(laws) == ["a", "b"]
    for law in laws.values():
        named = [law.log_probability(value) for value in range(law.people + groups.noise.reach + 1)]
        total = math.fsum(math.exp(value) for value in [*named, law.log_probability(None)])
        assert total == pytest.approx(1)
    assert laws["b"].log_probability(groups.threshold) == -math.inf
    assert laws["a"].loss(laws["b"]) is None


def test_a_release_by_group_has_a_law_for_each_group_and_statistic() -> None:
    about = Release({"n": Count(epsilon=0.5), "m": Median("x", bounds=GRID, epsilon=0.5)}, by={"sex": ["F", "M"]})
    laws = about.law(about.fold({"sex": ["F", "F", "M"], "x": [1, 2, 4]}))
    assert [law.sums for law in laws["n"]] == [(2,), (1,)]  # type: ignore[attr-defined]
    assert len(laws["m"]) == 2


def test_a_law_shows_nothing_of_the_data() -> None:
    for name, item in STATISTICS.items():
        table = ["a", "b"] if name == "histogram" else [3, 4]
        assert {repr(law).endswith(": redacted>") for law in item.alone.law(item.fold(table))[item.name]} == {True}
    alarm, groups = AboveThreshold(epsilon=1.0, threshold=0), Groups("zone", epsilon=1.0, delta=1e-6)
    laws = [alarm.law([77123]), *groups.law(groups.fold({"zone": ["a"] * 3})).values()]
    assert [repr(law) for law in laws] == ["<FirstAboveLaw: redacted>", "<NamedLaw: redacted>"]


def test_a_law_that_is_not_written_down_says_so() -> None:
    joint = Quantiles(quantiles=[0.2, 0.7], bounds=GRID, epsilon=1.0, method="joint")
    with pytest.raises(ParameterError, match=r"not written down: compare samples, with bruit\.audit\.empirical"):
        joint.law(np.zeros(5, np.int64))
