"""Metric privacy on a line: ε per distance by enumeration, the ordinary ε, and a mean that is right at the ends."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bruit import audit
from bruit.domains import Grid
from bruit.errors import DataError, LimitError, ParameterError, ParameterTypeError
from bruit.numbers import MetricNumber, from_dict, number
from bruit.numbers.metric import POSITION_ERROR
from bruit.rounding import exp_floor


def ratio(first, second):
    """The largest ratio of two rows, either way."""
    return max(max(a / b, b / a) for a, b in zip(first, second, strict=True))


def holds(exact, epsilon):
    """Whether exact ≤ e^epsilon, in whole numbers."""
    return exact.numerator <= exp_floor(epsilon, exact.denominator)


DESIGNS = [
    MetricNumber(epsilon=1.0, bounds=(0, 12), unit="km"),
    MetricNumber(epsilon=0.1, bounds=(0, 20)),
    MetricNumber(epsilon=0.7, bounds=(-1.0, 1.0), radius=0.25, cells=17),
    MetricNumber(epsilon=2.0, bounds=(0.0, 1.0), radius=0.3, cells=11),
    MetricNumber(epsilon=20.0, bounds=(0, 3)),
]


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_every_two_points_are_within_epsilon_times_their_distance(design):
    rows, step = design.matrix(), design.domain.step
    for x, y in itertools.combinations(range(design.cells), 2):
        worst = ratio(rows[x], rows[y])
        assert holds(worst, design.at(float((y - x) * step)).epsilon)
        assert math.log(worst) <= design.epsilon * float((y - x) * step) / design.radius * (1 + 1e-9)


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_the_stated_epsilon_is_the_requested_one(design):
    assert design.metric.epsilon <= design.epsilon
    assert design.metric.epsilon == pytest.approx(design.epsilon, rel=1e-9)
    assert (design.metric.neighbours, design.metric.radius) == ("metric", design.radius)


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_the_guarantee_is_the_ordinary_one_of_the_whole_width(design):
    found = audit.exact(design)
    assert found.holds
    assert found.requested is None
    assert found.epsilon == design.guarantee.epsilon
    assert design.guarantee.neighbours == "value"
    assert design.at(10 * (design.bounds[1] - design.bounds[0])).epsilon == design.guarantee.epsilon


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_epsilon_is_in_proportion_to_the_distance(design):
    """However near two numbers are, but for 2⁻³¹ of a cell; whole numbers are at least one apart."""
    least = 1.0 if design.rounding == "nearest" else 1e-6
    for distance in (least, 2 * least, 17 * least, design.radius, float(design.domain.step)):
        if distance >= least and distance * design.epsilon < design.guarantee.epsilon:
            assert design.at(distance).epsilon <= design.epsilon * distance / design.radius * (1 + 1e-9) + 1e-8


def test_a_distance_between_whole_numbers_counts_begun_steps():
    road = MetricNumber(epsilon=1.0, bounds=(0, 10))
    assert [road.at(distance).epsilon for distance in (0.2, 1, 2.5, 3)] == pytest.approx([1.0, 1.0, 3.0, 3.0])


@pytest.mark.parametrize("values", [[0.5], [3, 3 + 2.0**-40], ["2.5"], [math.nextafter(1, 2)]], ids=repr)
def test_whole_numbers_are_asked_for_where_epsilon_is_from_one_to_the_next(values):
    numbers = [float(value) for value in values]
    with pytest.raises(DataError, match="whole numbers") as error:
        MetricNumber(epsilon=1.0, bounds=(0, 20)).privatize(numbers)
    assert not any(repr(number) in str(error.value) for number in numbers)
    between = MetricNumber(epsilon=1.0, bounds=(0, 20), rounding="stochastic")
    assert len(between.privatize(numbers, rng=7)) == len(numbers)


def test_policies_come_before_the_question_whether_numbers_are_whole():
    design = MetricNumber(epsilon=1.0, domain=Grid(0, 20, missing="drop", outside="clamp"))
    assert design.encode([None, 3.0, 25.7, -0.5, math.nan, 4]).tolist() == [3, 20, 0, 4]


def test_the_nearest_point_is_for_whole_numbers_only():
    """The control: 0.05 apart, on a grid of tenths, two numbers would differ by the ε of a cell and not of a half."""
    with pytest.raises(ParameterError, match="stochastic"):
        MetricNumber(epsilon=1.0, bounds=(0.0, 10.0), cells=101, rounding="nearest")
    road = MetricNumber(epsilon=1.0, bounds=(0.0, 10.0), cells=101)
    assert road.rounding == "stochastic"
    assert not holds(ratio(*road.matrix()[3:5]), road.at(0.05).epsilon)


BOUNDS = [
    *[(-3, 20), (-20, 0), (-180, 180), (-1000.0, 1000.0), (-0.5, 19.5)],
    *[(0, 20), (17, 90), (0.25, 30.25), (-7.1, 4.9)],
]


def pairs_a_distance_apart(design, distance):
    """Numbers a few floats from a half of a cell or of a unit, each with the greatest float that is no farther away."""
    cells = design.points[:-1]
    near = [cells + 0.5, cells + 2.0**-33]
    for direction in (-np.inf, np.inf):
        values = near[:2]
        for _ in range(6):
            values = [np.nextafter(own, direction) for own in values]
            near += values
    first = np.concatenate([*near, design.points])
    second = first + distance
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    farther = [Fraction(b) - Fraction(a) > Fraction(distance) for a, b in pairs]
    second = np.where(farther, np.nextafter(second, -np.inf), second)
    inside = (first >= design.bounds[0]) & (second <= design.bounds[1])
    return first[inside], second[inside]


@pytest.mark.parametrize("bounds", BOUNDS, ids=repr)
def test_floats_are_not_placed_farther_apart_than_is_counted(bounds):
    """As `encode` places them, and not as the formula would: by at most `POSITION_ERROR`, and that is counted."""
    cells = int(bounds[1] - bounds[0]) + 1
    design = MetricNumber(epsilon=1.0, bounds=bounds, cells=cells, rounding="stochastic")
    for distance in (1.0, 2.0, 5.0, 0.75, 2.0**-20):
        first, second = pairs_a_distance_apart(design, distance)
        assert len(first) > 20
        apart = design.encode(second).astype(np.int64) - design.encode(first).astype(np.int64)
        assert apart.max() <= (design.cells_in(distance) + POSITION_ERROR) * 2**32
        assert apart.max() > (design.cells_in(distance) - POSITION_ERROR) * 2**32


@pytest.mark.parametrize("kind", [Decimal, Fraction, np.longdouble])
def test_numbers_of_every_kind_are_placed_as_the_floats_that_they_are_read_as(kind):
    """Distances are those of the floats: 1.4999999999999999 is 1.5."""
    texts = ["0.4999999999999999", "1.4999999999999999", "2.5", "7.1"]
    design = MetricNumber(epsilon=1.0, bounds=(0, 20), rounding="stochastic")
    floats = [float(text) for text in texts]
    codes = design.encode(floats).tolist()
    assert design.encode([kind(text) for text in texts]).tolist() == codes
    assert codes[1] == 3 << 31
    assert Fraction(floats[1]) - Fraction(floats[0]) > 1 >= Fraction(texts[1]) - Fraction(texts[0])


@pytest.mark.parametrize("bounds", [(2**53, 2**53 + 150), (-(10**17), 0), (1e12, 1e12 + 20)], ids=repr)
def test_bounds_near_which_floats_are_too_far_apart_for_the_radius_are_refused(bounds):
    with pytest.raises(LimitError, match="Take a fixed number off"):
        MetricNumber(epsilon=1.0, bounds=bounds, cells=101, radius=100.0 if bounds[0] < 0 else 1.0)
    assert MetricNumber(epsilon=1.0, bounds=(1e9, 1e9 + 20)).metric.epsilon <= 1.0


@pytest.mark.parametrize("rounding", ["stochastic", "nearest"])
def test_answers_between_two_points_keep_the_promise(rounding):
    """All pairs, as mixtures of rows, enumerated in fifths of a cell; the nearest point is the control that fails."""
    design = MetricNumber(epsilon=0.6, bounds=(0.0, 6.0), cells=7, radius=2)
    rows = design.matrix()

    def row(fifths):
        cell, part = divmod(fifths, 5)
        weight = Fraction(part, 5) if rounding == "stochastic" else Fraction(part >= 3)
        return [(1 - weight) * a + weight * b for a, b in zip(rows[cell], rows[min(cell + 1, 6)], strict=True)]

    pairs = list(itertools.combinations(range(31), 2))
    kept = [holds(ratio(row(x), row(y)), design.at((y - x) / 5).epsilon) for x, y in pairs]
    assert all(kept) == (rounding == "stochastic")
    # It is attained: the nearest neighbours of a point lose all that is stated.
    if rounding == "stochastic":
        near = Fraction(1, 10**6)
        beside = [(1 - near) * a + near * b for a, b in zip(rows[0], rows[1], strict=True)]
        assert math.log(ratio(rows[0], beside)) == pytest.approx(design.at(1e-6).epsilon, rel=1e-2)


@pytest.mark.parametrize("design", [*DESIGNS, MetricNumber(epsilon=0.5, bounds=(0.0, 50.0), cells=501)], ids=repr)
def test_the_mean_is_unbiased_for_every_cell_and_varies_no_more_than_the_noise(design):
    channel = design.probabilities()
    missed = np.abs(channel @ design.message_scores - design.points)
    assert missed.max() < 1e-9 * (design.bounds[1] - design.bounds[0])
    step, lost = float(design.domain.step), design.epsilon * float(design.domain.step) / design.radius
    noise = lost if design.rounding == "nearest" else math.log1p(lost * (1 - 1e-9))
    assert design.worst_variance <= 2 * (step / noise) ** 2 + design._rounding_noise


def test_a_plain_average_is_biased_at_the_ends():
    """The control: what is put on a bound stands for all that lies beyond it."""
    design = MetricNumber(epsilon=0.5, bounds=(0, 20))
    plain = design.output_mean()
    assert plain[0] == pytest.approx(0.94, abs=0.1)
    assert plain[-1] == pytest.approx(19.06, abs=0.1)


def test_people_are_estimated_near_the_bound():
    design = MetricNumber(epsilon=0.5, bounds=(0, 20))
    answer = design.estimate(design.tally(design.privatize([1] * 20_000, rng=7)))
    assert answer.mean == pytest.approx(1, abs=6 * answer.standard_error)
    assert answer.standard_error < 0.03


def test_documents_keep_radius_and_unit():
    design = MetricNumber(epsilon=0.5, domain=Grid(0.0, 5.0, cells=26), radius=0.2, unit="km")
    assert from_dict(design.to_dict()) == design
    assert number("Metric", epsilon=0.5, domain=design.domain, radius=0.2, unit="km") == design


def test_a_radius_has_32_cells_if_there_is_room_and_more_for_a_large_epsilon():
    assert MetricNumber(epsilon=1.0, bounds=(0.0, 10.0)).cells == 321
    assert MetricNumber(epsilon=0.1, bounds=(0.0, 10.0)).cells == 321
    assert MetricNumber(epsilon=2.5, bounds=(0.0, 10.0)).cells == 801
    assert MetricNumber(epsilon=1.0, bounds=(0.0, 1e6)).cells == 4096
    assert MetricNumber(epsilon=1.0, bounds=(0, 10)).cells == 11


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"radius": 0}, ParameterError),
        ({"radius": -1.0}, ParameterError),
        ({"radius": 21}, ParameterError),
        ({"radius": "1"}, ParameterTypeError),
        ({"unit": 3}, ParameterTypeError),
        ({"unit": "k\nm"}, ParameterError),
        ({"unit": "k" * 21}, ParameterError),
        ({"cells": 5000}, LimitError),
    ],
)
def test_bad_options_are_refused(options, kind):
    for bounds in ((0, 20), (0.0, 20.0)):
        with pytest.raises(kind):
            MetricNumber(epsilon=1.0, bounds=bounds, **options)
    with pytest.raises(ParameterError, match="distance"):
        MetricNumber(epsilon=1.0, bounds=(0, 20)).at(0)


def test_bounds_far_from_zero_are_as_far_apart_as_their_floats():
    """People are placed by floats: the decimals 1.3 apart here are 6e-7 of that nearer as floats."""
    low, high = 4294967296.1, 4294967297.4
    design = MetricNumber(epsilon=0.001, bounds=(low, high), cells=4096, rounding="stochastic")
    assert Fraction(high) - Fraction(low) < Fraction("1.3")
    cells, parts = np.divmod(design.encode([low, low + 0.5]), np.uint64(2**32))
    near, far = (
        [(1 - Fraction(part, 2**32)) * a + Fraction(part, 2**32) * b
         for a, b in ((design.law.row(cell)[y], design.law.row(cell + 1)[y]) for y in (0, design.cells - 1))]
        for cell, part in zip(cells.tolist(), parts.tolist(), strict=True)
    )  # fmt: skip
    worst = ratio(near, far)
    assert holds(worst, design.at(0.5).epsilon)
    assert not holds(worst, design.at(0.5).epsilon * (1 - 1e-6))  # the control: it is nearly attained
