"""Published numbers that lie on a declared grid are written as the grid writes them: 21.4, not 21.400000000000002."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from bruit.domains import Grid
from bruit.domains.grid import as_written
from bruit.releases import Histogram, HistogramQuantiles, InverseSensitivity, Mean, Median, Quantiles, Release, Sum

#: Bounds and a step, as a person declares them.
GRIDS = [("0", "100", "0.1"), ("-5", "5", "0.01"), ("0.1", "0.9", "0.1"), ("17.5", "90.5", "0.5"), ("0", "1", "0.001"),
         ("-0.3", "0.3", "0.05"), ("0", "7", "0.7"), ("1000", "5000", "0.2"), ("0", "0.0007", "0.0001")]  # fmt: skip


def data(low, high, step, n=60):
    """Points of the grid, and numbers beside them."""
    points = int((Fraction(high) - Fraction(low)) / Fraction(step)) + 1
    return {"x": np.array([float(Fraction(low) + Fraction(step) * (place * 37 % points)) for place in range(n)])}


def is_written(value, step):
    """Whether a float is the nearest to a decimal multiple of the step."""
    multiple = round(Fraction(value) / Fraction(step))
    return float(value) == float(multiple * Fraction(step))


def published(statistic, table, seed):
    release = Release(statistic)
    (result,) = release.publish(release.fold(table), rng=seed).values()
    return result


@pytest.mark.parametrize(("low", "high", "step"), GRIDS)
def test_sums_and_quantiles_are_decimal_multiples_of_their_step(low, high, step):
    bounds, table = (float(low), float(high)), data(low, high, step)
    cells = int((Fraction(high) - Fraction(low)) / Fraction(step)) + 1
    grid = Grid(*bounds, cells=cells, outside="clamp")
    sums = [Sum("x", bounds=bounds, step=float(step), epsilon=1.0, neighbours=n) for n in ("add-remove", "replace")]
    quartiles = {"quantiles": (0.25, 0.5, 0.75), "epsilon": 1.0}
    ranked = [
        Quantiles("x", bounds=grid, **quartiles, neighbours="replace"),
        Median("x", bounds=grid, epsilon=1.0),
        HistogramQuantiles("x", bounds=bounds, cells=cells - 1, **quartiles),
        InverseSensitivity("x", statistic="median", bounds=grid, epsilon=1.0),
    ]
    for statistic, seed in itertools.product([*sums, *ranked], range(5)):
        result = published(statistic, table, seed)
        assert all(is_written(value, step) for value in result.values.tolist())
        if statistic in sums:
            assert all(is_written(end, step) for end in result.interval(0.9))


@pytest.mark.parametrize(("low", "high", "step"), GRIDS)
def test_labels_of_a_histogram_are_decimals(low, high, step):
    cells = int((Fraction(high) - Fraction(low)) / Fraction(step)) + 1
    labels = Histogram("x", domain=Grid(float(low), float(high), cells=cells), epsilon=1.0).labels
    assert labels == tuple(float(Fraction(low) + place * Fraction(step)) for place in range(cells))


def test_a_mean_of_a_public_number_of_records_is_the_nearest_float():
    for seed in range(20):
        mean = Mean("x", bounds=(0, 100), step=1.0, epsilon=1.0, neighbours="replace")
        value = published(mean, {"x": np.arange(10)}, seed).value
        assert value == float(round(Fraction(value) * 10)) / 10


def test_floats_that_are_added_up_are_caught():
    """The twin: low + place·step in floats is not what a person writes."""
    assert not is_written(214 * 0.1, "0.1")
    assert is_written(21.4, "0.1")
    assert not all(is_written(value, "0.1") for value in Grid(0, 100, cells=1001).points.tolist())
    assert not all(is_written(steps * 0.1, "0.1") for steps in range(1000))


def test_a_power_of_two_is_exact():
    """Steps that bruit chooses are powers of two, whose shortest decimal is not always exact."""
    assert as_written(2.0**-40) == Fraction(1, 2**40)
    assert Fraction(repr(2.0**-40)) != Fraction(1, 2**40)
