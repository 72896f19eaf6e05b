"""Distance laws: ε from the rows as they are, in whole numbers; calibrated to what is asked and never above it."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import LimitError, ParameterError
from bruit.laws.distance import TOTAL_BITS, ClampedLaw, DistanceLaw
from bruit.rounding import log_ceiling

WEIGHTS = st.lists(st.integers(1, 60), min_size=2, max_size=9).map(tuple)


def obvious_rows(weights, stride=1):
    """The law as its definition says, row by row."""
    points = len(weights)
    table = [[weights[abs(y - x)] for y in range(points)] for x in range(0, points, stride)]
    return [[Fraction(weight, sum(row)) for weight in row] for row in table]


def obvious_clamped_rows(weights):
    """Noise of every size, to both sides, and everything beyond an end on the end."""
    last = len(weights) - 1
    rows = []
    for x in range(last + 1):
        row = [0] * (last + 1)
        for size, weight in enumerate(weights):
            for step in {-size, size}:
                row[min(max(x + step, 0), last)] += weight
        rows.append([Fraction(weight, sum(row)) for weight in row])
    return rows


def obvious_ratio(rows):
    return max(first[y] / second[y] for first, second in itertools.product(rows, repeat=2) for y in range(len(rows[0])))


def laplace(points):
    return lambda nominal: np.exp(nominal * np.arange(points)[::-1] / (points - 1))


def two_steps(points, near):
    return lambda nominal: np.where(np.arange(points) < near, np.exp(nominal), 1.0)


@given(WEIGHTS)
def test_rows_and_ratio_are_those_of_the_definition(weights):
    law = DistanceLaw(weights)
    assert [law.row(x) for x in range(law.rows)] == obvious_rows(weights)
    assert law.ratio == obvious_ratio(obvious_rows(weights))


@given(st.integers(1, 4), st.lists(st.integers(1, 60), min_size=13, max_size=13).map(tuple))
def test_with_a_stride_only_the_rows_of_values_count(stride, weights):
    law = DistanceLaw(weights, stride)
    rows = obvious_rows(weights, stride)
    assert [law.row(x) for x in range(law.rows)] == rows
    assert law.ratio == obvious_ratio(rows)
    assert np.allclose(law.probabilities(), np.array(rows, float), rtol=1e-15)


@given(WEIGHTS)
def test_where_the_largest_ratio_is_said_to_be_it_is(weights):
    law = DistanceLaw(weights)
    first, second, message = law.worst
    rows = obvious_rows(weights)
    assert rows[first][message] / rows[second][message] == law.ratio


@given(WEIGHTS)
def test_clamped_rows_and_ratio_are_those_of_the_definition(weights):
    law = ClampedLaw(weights)
    rows = obvious_clamped_rows(weights)
    assert [law.row(x) for x in range(law.rows)] == rows
    assert law.ratio == obvious_ratio(rows)
    assert np.allclose(law.probabilities(), np.array(rows, float), rtol=1e-15)


def test_ties_in_floats_are_decided_in_whole_numbers():
    """Two weights that are one double: the larger by one is found."""
    big = 2**54
    law = DistanceLaw((big + 1, big, 1, 1))
    assert float(big) == float(big + 1)
    assert law.ratio == obvious_ratio(obvious_rows(law.weights))


def test_the_rows_own_totals_matter():
    """A control: without them the ratio would be understated."""
    law = DistanceLaw((8, 8, 1, 1, 1, 1))
    assert law.ratio > Fraction(8, 1)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("points", [2, 3, 16, 129])
def test_calibration_meets_epsilon_from_below_to_one_part_in_a_billion(epsilon, points):
    for shape in (laplace(points), two_steps(points, max(1, points // 3))):
        law = DistanceLaw.calibrate(epsilon, shape)
        assert max(law.total(x) for x in range(law.rows)) < 2**TOTAL_BITS
        with mpmath.workdps(60):
            true = mpmath.log(mpmath.mpf(law.ratio.numerator) / law.ratio.denominator)
            assert epsilon * (1 - 1e-9) <= true <= law.epsilon <= epsilon


@pytest.mark.parametrize(("epsilon", "points", "stride"), [(0.001, 4096, 1), (1.0, 2047, 2), (20.0, 2047, 2)])
def test_calibration_works_at_the_limits(epsilon, points, stride):
    for shape in (laplace(points), two_steps(points, max(1, points // 3))):
        law = DistanceLaw.calibrate(epsilon, shape, stride=stride)
        assert epsilon * (1 - 1e-9) <= law.epsilon <= epsilon


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
@pytest.mark.parametrize("points", [2, 3, 64, 4096])
def test_a_clamped_law_meets_epsilon_exactly_in_its_numbers(epsilon, points):
    for shape in (laplace(points)(epsilon)[:-1], two_steps(points - 1, max(1, points // 3))(epsilon)):
        law = ClampedLaw.calibrate(epsilon, shape)
        with mpmath.workdps(60):
            true = mpmath.log(mpmath.mpf(law.ratio.numerator) / law.ratio.denominator)
            assert epsilon * (1 - 1e-9) <= true <= law.epsilon <= epsilon
        assert 2**63 < law.total() < 2**64


def test_laplace_weights_for_the_whole_width_attain_epsilon_at_the_ends():
    law = DistanceLaw.calibrate(1.0, laplace(65))
    assert law.worst in {(0, 64, 0), (64, 0, 64)}
    assert law.ratio == Fraction(law.weights[0], law.weights[-1])


def test_laplace_weights_for_a_smaller_sensitivity_are_not_private_enough():
    """Scale for a tenth of the width at ε = 1: the true ε between neighbours a tenth apart is 1.49."""
    points = 501
    shape = np.exp(-np.arange(points) / 50.0)
    rows = DistanceLaw.scale(shape / shape[-1]).probabilities()
    near = max(float(np.log(rows[x + 50] / rows[x]).max()) for x in range(points - 50))
    mirrored = max(float(np.log(rows[x] / rows[x + 50]).max()) for x in range(points - 50))
    assert max(near, mirrored) == pytest.approx(1.49, abs=0.01)


@pytest.mark.parametrize("weights", [(1,), (3, 0), (3, -1), [3, 1], (2.0, 1.0)])
def test_weights_that_are_no_law_are_refused(weights):
    for kind in (DistanceLaw, ClampedLaw):
        with pytest.raises(ParameterError):
            kind(weights)


def test_a_stride_must_reach_both_ends():
    with pytest.raises(ParameterError, match="stride"):
        DistanceLaw((3, 2, 1, 1), stride=2)


def test_totals_beyond_a_word_are_refused():
    for kind in (DistanceLaw, ClampedLaw):
        with pytest.raises(LimitError):
            kind((2**63, 2**63, 1))


def test_an_epsilon_that_weights_cannot_meet_is_refused():
    with pytest.raises(LimitError, match="fewer cells"):
        DistanceLaw.calibrate(1.0, lambda nominal: np.ones(4))


def test_the_stated_epsilon_is_the_logarithm_rounded_up():
    assert DistanceLaw((3, 1, 1)).epsilon == pytest.approx(math.log(3), rel=1e-15)


@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("points", [2, 3, 4, 12, 60])
def test_a_geometric_law_loses_its_epsilon_from_one_value_to_the_next(epsilon, points):
    law = ClampedLaw.geometric(epsilon, points)
    rows = [law.row(x) for x in range(points)]
    worst = max(obvious_ratio(pair) for pair in itertools.pairwise(rows))
    assert law.step_ratio == worst
    assert epsilon * (1 - 1e-9) <= log_ceiling(worst) <= epsilon
    assert law.total() < 2**64
    assert min(law.weights) >= 1


@given(WEIGHTS)
def test_the_step_of_a_clamped_law_is_that_of_its_adjacent_rows(weights):
    rows = obvious_clamped_rows(weights)
    assert ClampedLaw(weights).step_ratio == max(obvious_ratio(pair) for pair in itertools.pairwise(rows))


def test_the_same_weights_cut_to_the_grid_lose_nearly_twice_as_much_at_the_ends():
    """The control: drawing again until inside divides each row by its own total."""
    rows = [DistanceLaw(ClampedLaw.geometric(0.1, 102).weights[:-1]).row(x) for x in (0, 1)]
    assert math.log(obvious_ratio(rows)) == pytest.approx(0.1826, abs=5e-5)
