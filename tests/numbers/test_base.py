"""What all number mechanisms share: the grid, rounding, reports, documents and errors."""

import json

import numpy as np
import pytest

from bruit import documents
from bruit.domains import Grid
from bruit.entropy import Entropy
from bruit.errors import (
    BruitError,
    DataError,
    DesignError,
    FormatError,
    LimitError,
    ParameterError,
    ParameterTypeError,
)
from bruit.estimation import Tally
from bruit.numbers import (
    NAMES,
    BoundedLaplace,
    Duchi,
    Hybrid,
    Number,
    Piecewise,
    SquareWave,
    Staircase,
    from_dict,
    number,
)


def laplace(**settings):
    return BoundedLaplace(**{"epsilon": 1.0, "bounds": (0, 10), **settings})


def test_whole_numbers_keep_their_own_cells():
    assert laplace(bounds=(17, 90)).cells == 74
    assert laplace(bounds=(17, 90)).points.tolist() == list(range(17, 91))


def test_real_numbers_get_the_cells_of_the_mechanism():
    assert laplace(bounds=(0.0, 1.0)).cells == BoundedLaplace.DEFAULT_CELLS
    assert laplace(bounds=(0, 10**6)).cells == BoundedLaplace.DEFAULT_CELLS


def test_numpy_bounds_are_as_good_as_plain_ones():
    assert laplace(bounds=(np.int64(0), np.int64(10))) == laplace()
    assert laplace(bounds=np.array([0, 10])) == laplace()


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, float("inf")), (float("nan"), 1), (0, 1, 2), 5, "01", ("a", 1)])
def test_bounds_that_are_none_are_refused(bounds):
    with pytest.raises((ParameterError, ParameterTypeError)):
        laplace(bounds=bounds)


@pytest.mark.parametrize(
    "settings",
    [
        {"cells": 1},
        {"cells": -1},
        {"cells": 5000},
        {"domain": Grid(0, 10, missing="category")},
        {"rounding": "up"},
        {"epsilon": 0},
    ],
)
def test_parameters_out_of_range_are_refused(settings):
    with pytest.raises(ParameterError):
        laplace(**settings)


def test_too_many_cells_say_what_the_limit_is():
    with pytest.raises(LimitError, match="4,096"):
        laplace(cells=5000)


def test_missing_numbers_are_refused_or_dropped_with_both_roundings():
    for rounding in ("nearest", "stochastic"):
        with pytest.raises(DataError, match="missing"):
            laplace(rounding=rounding).privatize([1.0, None])
        assert (
            len(laplace(rounding=rounding, domain=Grid(0, 10, missing="drop")).privatize([1.0, None, np.nan, 3.0])) == 2
        )


def test_numbers_outside_the_bounds_are_refused_and_not_shown():
    for rounding in ("nearest", "stochastic"):
        with pytest.raises(DataError, match=r"0\.\.10") as caught:
            laplace(rounding=rounding).privatize([1.0, 733.25])
        assert "733" not in str(caught.value)


def test_stochastic_rounding_lands_on_the_two_neighbours_in_proportion():
    mechanism = laplace(rounding="stochastic")
    n = 400_000
    codes = mechanism.encode(np.full(n, 3.3))
    from bruit.numbers.base import _rounded

    cells = _rounded(codes, Entropy(1))
    assert set(np.unique(cells)) == {3, 4}
    # Six standard deviations of a binomial.
    assert abs(float((cells == 4).mean()) - 0.3) < 6 * np.sqrt(0.21 / n)


def test_stochastic_rounding_leaves_grid_points_alone():
    from bruit.numbers.base import _rounded

    mechanism = laplace(bounds=(-1.0, 1.0), cells=7, rounding="stochastic")
    cells = _rounded(mechanism.encode(np.repeat(mechanism.points, 1000)), Entropy(1))
    assert cells.tolist() == np.repeat(np.arange(7), 1000).tolist()


def test_stochastic_rounding_removes_the_bias_that_rounding_to_the_nearest_leaves():
    """People at 0.3 of a cell: the nearest rounding is off by 0.3 cells, the stochastic one is not."""
    n = 400_000
    values = np.full(n, 4.3)
    means, errors = {}, {}
    for rounding in ("nearest", "stochastic"):
        mechanism = laplace(epsilon=8.0, rounding=rounding)
        answer = mechanism.estimate(mechanism.tally(mechanism.privatize(values, rng=3)))
        means[rounding], errors[rounding] = answer.mean, answer.standard_error
    assert abs(means["stochastic"] - 4.3) < 6 * errors["stochastic"]
    assert abs(means["nearest"] - 4.0) < 6 * errors["nearest"] < 0.1


def test_reports_decode_to_the_numbers_they_stand_for():
    mechanism = laplace(bounds=(-5, 5))
    reports = mechanism.privatize([0] * 50, rng=1)
    assert reports.dtype == np.uint8
    assert np.array_equal(mechanism.decode(reports), mechanism.outputs[reports])
    with pytest.raises(DataError, match=r"0\.\.10"):
        mechanism.decode([11])
    with pytest.raises(DataError, match="can have made"):
        mechanism.decode([0.5])


def test_impossible_reports_are_counted_as_refused():
    tally = laplace().tally(np.array([0, 10, 11, -1]))
    assert (tally.n, tally.refused) == (2, 2)


def test_a_tally_of_another_design_is_refused():
    with pytest.raises(DesignError):
        laplace().estimate(laplace(epsilon=2.0).tally([0, 1]))


def test_an_empty_tally_gives_no_estimate():
    with pytest.raises(DataError, match="no valid report"):
        laplace().estimate(laplace().tally([]))


def test_variance_is_computed_for_a_distribution_over_the_cells_only():
    mechanism = laplace()
    assert mechanism.variance(np.ones(11), 100) > mechanism.variance(np.ones(11), 100, "people") > 0
    for wrong in (np.ones(10), np.zeros(11), -np.ones(11), np.full(11, np.nan)):
        with pytest.raises(ParameterError, match="11 entries"):
            mechanism.variance(wrong, 100)


def test_a_matrix_too_large_to_write_is_refused():
    with pytest.raises(LimitError, match="fewer cells"):
        laplace(bounds=(0.0, 1.0), cells=2000).matrix()


@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_a_mechanism_that_comes_back_from_its_document(name):
    for bounds in ((0, 20), (-0.5, 2.5)):
        mechanism = number(
            name.upper(), epsilon=1.5, domain=Grid(*bounds, cells=21, missing="drop"), rounding="stochastic"
        )
        assert isinstance(mechanism, Number)
        assert mechanism.name == name
        again = from_dict(json.loads(documents.canonical(mechanism.to_dict())))
        assert again == mechanism
        assert again.digest == mechanism.digest


def test_an_unknown_name_and_a_foreign_document_are_refused():
    with pytest.raises(ParameterError, match="laplace"):
        number("gauss", epsilon=1.0, bounds=(0, 1))
    for body in ({}, {"number": "gauss"}, None, {**laplace().to_dict(), "domain": {}}):
        with pytest.raises(FormatError):
            from_dict(body)


EVERY = [BoundedLaplace, Staircase, Duchi, Piecewise, Hybrid, SquareWave]


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("bounds", [(-1e308, 1e308), (0.0, 5e-324), (1e16, 1e16 + 2), {0.0, 1.0}, (0, 10**400)])
def test_bounds_that_floats_cannot_divide_are_refused_at_birth(kind, bounds):
    with pytest.raises(BruitError):
        kind(epsilon=1.0, bounds=bounds)


@pytest.mark.parametrize("kind", [Duchi, Hybrid, Piecewise])
@pytest.mark.parametrize("target", ["population", "people"])
def test_reports_that_coincide_do_not_make_an_interval_of_no_width(kind, target):
    """Everybody at the lower bound, and ε so large that most collections have one report only."""
    mechanism = kind(epsilon=8.0, bounds=(0, 10))
    hits = 0
    for seed in range(60):
        low, high = mechanism.estimate(mechanism.simulate([100, *[0] * 10], rng=seed), target).interval()
        hits += low <= 0 <= high
    assert hits >= 50


def test_rounding_to_the_nearest_cell_is_counted_as_bias_and_rounding_at_random_as_noise():
    half = np.full(2000, 0.5)
    nearest = Hybrid(epsilon=4.0, bounds=(0.0, 1.0), cells=2)
    assert nearest.estimate(nearest.tally(nearest.privatize(half, rng=1))).bias_bound == 0.5
    random = Hybrid(epsilon=4.0, bounds=(0.0, 1.0), cells=2, rounding="stochastic")
    answers = [random.estimate(random.tally(random.privatize(half, rng=seed)), "people") for seed in range(200)]
    observed = np.var([answer.mean for answer in answers], ddof=1)
    assert observed < 1.7 * np.mean([answer.variance for answer in answers])
    assert answers[0].bias_bound == 0
    assert (
        Hybrid(epsilon=4.0, bounds=(0, 10)).estimate(Hybrid(epsilon=4.0, bounds=(0, 10)).tally([0, 1])).bias_bound == 0
    )


def test_a_tally_whose_counts_do_not_add_up_is_refused():
    mechanism = Hybrid(epsilon=1.0, bounds=(0, 10))
    with pytest.raises(DataError, match="do not add up"):
        mechanism.estimate(Tally(design=mechanism.digest, counts=np.full(mechanism.messages, 5), n=5))


def test_hostile_reports_of_numbers_are_counted_as_refused():
    mechanism = Hybrid(epsilon=1.0, bounds=(0, 10))
    assert mechanism.tally([0, 2**70, None]).refused == 2
    assert mechanism.tally(np.array([0, 1], ">u2")).n == 2


def test_a_policy_is_declared_with_the_domain_and_the_error_has_the_call_as_it_should_be():
    spelling = (
        r"write BoundedLaplace\(epsilon=1.0, domain=Grid\(0, 10, cells=11, missing='drop'\), rounding='nearest'\)"
    )
    with pytest.raises(ParameterTypeError, match=spelling):
        laplace(missing="drop", rounding="nearest")
    assert laplace(domain=Grid(0, 10, cells=11, missing="drop")).cells == laplace().cells
    for wrong in ({"domain": Grid(0, 11)}, {"domain": Grid(0, 10), "cells": 5}):
        with pytest.raises(ParameterError, match="once"):
            laplace(**wrong)
    with pytest.raises(ParameterTypeError, match="Grid"):
        laplace(domain=["a", "b"])
