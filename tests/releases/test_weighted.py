"""Weighted sums and means: what a record changes, by enumeration, and that they are what they say."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bruit.domains import Interval
from bruit.errors import DataError, MissingError, ParameterError
from bruit.releases import Mean, Person, Release, Statistic, WeightedMean, WeightedSum, release
from bruit.testing import check_release

ASKED: dict[str, Any] = {"weight": "w", "bounds": (-2, 3), "weight_bounds": (0, 4), "epsilon": 1.0}
KINDS = [WeightedMean, WeightedSum]


def sums(design: Any, records: list[tuple[float, float]]) -> Any:
    values, weights = zip(*records, strict=True) if records else ((), ())
    batch = {"x": np.array(values, float), "w": np.array(weights, float)}
    return design.sums(design.count(batch)).astype(float)


RECORDS = list(itertools.product((-9.0, -2.0, 0.0, 1.3, 3.0, 9.0), (0.0, 0.7, 4.0, 50.0)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_record_changes_the_sums_by_more_than_stated_and_some_do_by_as_much(kind: Any) -> None:
    design = kind("x", **ASKED)
    others = [(1.0, 2.0), (2.5, 0.3)]
    base = sums(design, others)
    added = [sums(design, [*others, record]) for record in RECORDS]
    steps = [np.abs(after - base) for after in added]
    assert max(step.sum() for step in steps) == design.change("add-remove").l1
    assert max((step**2).sum() for step in steps) <= design.change("add-remove").l2_squared
    pairs = [np.abs(first - second) for first, second in itertools.combinations(added, 2)]
    assert max(step.sum() for step in pairs) == design.change("replace").l1
    assert max((step**2).sum() for step in pairs) == design.change("replace").l2_squared


@pytest.mark.audit
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_weighted_release_keeps_the_common_laws(kind: Any, neighbours: Any) -> None:
    design = kind("x", **{**ASKED, "neighbours": neighbours})

    def fold(records: Any) -> Any:
        if not isinstance(records, list) or not all(isinstance(record, tuple) for record in records):
            raise DataError("records must be pairs.")
        if not all(len(record) == 2 for record in records):
            raise DataError("records must be pairs.")
        columns = zip(*records, strict=True) if records else (np.array([], float), np.array([], float))
        return design.fold(dict(zip("xw", [list(column) or column for column in columns], strict=True)))

    check_release(design, values=[(-2.0, 4.0), (3.0, 4.0), (0.0, 1.0)], fold=fold, trials=2000)


@pytest.mark.usefixtures("any_epsilon")
def test_results_are_those_of_numpy_but_for_noise_and_weights_of_one_give_a_mean() -> None:
    rng = np.random.default_rng(1)
    table = {"x": rng.uniform(-2, 3, 5000), "w": rng.uniform(0, 4, 5000)}
    sharp = {**ASKED, "epsilon": 500.0}
    mean, total = (release(table, kind("x", **sharp), rng=1) for kind in KINDS)
    assert mean.value == pytest.approx(np.average(table["x"], weights=table["w"]), abs=1e-3)
    assert total.value == pytest.approx((table["x"] * table["w"]).sum(), abs=1)
    low, high = release(table, WeightedMean("x", **ASKED), rng=2).interval()
    assert low < np.average(table["x"], weights=table["w"]) < high
    equal = WeightedMean("x", **{**ASKED, "weight_bounds": (0, 1)})
    plain = Mean("x", bounds=(-2, 3), epsilon=1.0)
    assert equal.expected_error(5000) == pytest.approx(plain.expected_error(5000), rel=1e-3)


def test_gaps_are_refused_with_their_column_or_dropped() -> None:
    table = {"x": [1.0, 2.0, 1.0] * 500, "w": [1.0, math.nan, 3.0] * 500}
    with pytest.raises(MissingError, match="Column 'w'"):
        WeightedMean("x", **ASKED).fold(table)
    dropped = WeightedSum("x", **{**ASKED, "bounds": Interval(*ASKED["bounds"], missing="drop")})
    assert abs(release(table, dropped, rng=1).value - 2000) < 200


@pytest.mark.usefixtures("any_epsilon")
def test_people_documents_and_what_is_refused() -> None:
    design = WeightedMean("x", **ASKED)
    assert Statistic.from_dict(design.to_dict()) == design
    (drawn,) = Release(design, person=Person("id", rows=3)).drawn.values()
    assert drawn.expected_error(100) == pytest.approx(3 * design.expected_error(100), rel=1e-6)
    rows = {"x": [1.0] * 600, "w": [1.0] * 600, "id": np.repeat(np.arange(100), 6)}
    total = release(rows, WeightedSum("x", **{**ASKED, "epsilon": 50.0}), person="id", rows=3, rng=1)
    assert abs(total.value - 300) < 30
    with pytest.raises(ParameterError, match="weight_bounds must go from 0 upwards"):
        WeightedMean("x", **{**ASKED, "weight_bounds": (1, 4)})
