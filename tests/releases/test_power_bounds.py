"""Bounds that nobody knows: which cells a number is in, and that noise alone does not move a bound."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.domains import Policy
from bruit.errors import MissingError, ParameterError, ParameterTypeError
from bruit.releases import Mean, Person, PowerBounds, Release, release
from bruit.releases.statistic import Statistic

DESIGN = PowerBounds("x", epsilon=0.5)


def cell(number: float) -> int:
    (place,) = np.flatnonzero(DESIGN.count({"x": np.array([number])}))
    return int(place)


def test_every_double_is_in_the_cell_whose_ends_it_lies_between() -> None:
    numbers = [0.0, -0.0, 1e-300, -1e-300, 5e-324, 2.0**-20, np.nextafter(2.0**-20, 0), 1.0, np.nextafter(2.0, 0), 2.0]
    numbers += [-1.0, -3.7, 1e6, -(2.0**59), np.nextafter(2.0**60, 0)]
    for number in numbers:
        low, high = DESIGN.edges[cell(number)]
        assert low <= number <= high
    assert cell(np.inf) == cell(1e300) == len(DESIGN.edges) - 1 == DESIGN.size - 1
    assert cell(-np.inf) == 0


def test_cells_touch_and_cover_all_numbers() -> None:
    for (_, end), (start, _) in zip(DESIGN.edges, DESIGN.edges[1:], strict=False):
        assert end == start


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_bounds_hold_nearly_all_records_and_are_at_most_twice_too_wide(scale: float) -> None:
    data = np.random.default_rng(1).lognormal(0, 1, 20_000) * scale
    for seed in range(20):
        result = release({"x": data}, DESIGN, rng=seed)
        low, high = DESIGN.pair(result)
        assert np.mean((data < low) | (data > high)) < 0.01
        assert high <= 2 * data.max()
        assert low >= data.min() / 2


def test_noise_alone_hardly_ever_moves_a_bound_and_a_lower_threshold_would() -> None:
    data = {"x": np.full(1000, 3.0)}
    raw = DESIGN.fold(data)
    outcomes = [tuple(DESIGN.release(raw, rng=seed)) for seed in range(300)]
    assert sum(outcome != (2.0, 4.0) for outcome in outcomes) <= 14  # 1 % of 300, with a false alarm below 10⁻⁶
    lower = sum(DESIGN.noise().draw(DESIGN.size, seed).max() > DESIGN.threshold / 3 for seed in range(50))
    assert lower > 40


def test_the_result_of_no_records_is_a_pair_too() -> None:
    low, high = DESIGN.pair(release({"x": np.array([], float)}, DESIGN, rng=1))
    assert low < high


def test_bounds_go_to_a_mean_and_to_a_document() -> None:
    result = release({"x": np.linspace(10, 90, 5000)}, DESIGN, rng=1)
    assert DESIGN.pair(result) == (8.0, 128.0)
    assert Mean("x", bounds=DESIGN.pair(result), epsilon=1.0).bounds == (8.0, 128.0)
    assert Statistic.from_dict(DESIGN.to_dict()) == DESIGN
    with pytest.raises(ParameterError, match="These are no bounds"):
        DESIGN.pair(release({"x": [1.0]}, Mean("x", bounds=(0, 1), epsilon=1.0), rng=1))


def test_gaps_are_refused_or_dropped_and_a_zero_is_a_bound() -> None:
    gaps = {"x": np.array([0.0, np.nan] * 300 + [100.0] * 300)}
    with pytest.raises(MissingError, match="Column 'x'"):
        DESIGN.fold(gaps)
    dropped = PowerBounds("x", epsilon=0.5, policy=Policy(missing="drop"))
    assert list(release(gaps, dropped, rng=1)) == [0.0, 128.0]


def test_for_people_with_several_rows_the_threshold_grows_with_their_rows() -> None:
    people = Release(PowerBounds("x", epsilon=0.5), person=Person("id", rows=4))
    (drawn,) = people.drawn.values()
    assert isinstance(drawn, PowerBounds)
    assert 3.5 * DESIGN.threshold < drawn.threshold < 4.5 * DESIGN.threshold


def test_a_policy_is_one_value_and_stands_in_a_document_as_before() -> None:
    dropped = PowerBounds("x", epsilon=0.5, policy=Policy(missing="drop"))
    assert dropped.to_dict() == {
        "kind": "bounds", "column": "x", "epsilon": 0.5, "neighbours": "add-remove", "missing": "drop",
    }  # fmt: skip
    assert Statistic.from_dict(dropped.to_dict()) == dropped
    assert PowerBounds.declared(["x"], {"missing": "drop", "epsilon": 0.5}) == dropped
    with pytest.raises(ParameterTypeError, match=r"write PowerBounds\('x', epsilon=0.5, policy=Policy\(missing='drop'"):
        PowerBounds("x", epsilon=0.5, missing="drop")  # type: ignore[call-arg]
    for wrong in (Policy(missing="category"), Policy(outside="clamp"), "drop"):
        with pytest.raises((ParameterError, ParameterTypeError)):
            PowerBounds("x", epsilon=0.5, policy=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="none may be dropped"):
        PowerBounds("x", epsilon=0.5, neighbours="replace", policy=Policy(missing="drop"))
