"""Metric privacy on a line: ε per distance by enumeration, the ordinary ε, and a mean that is right at the ends."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bruit import audit
from bruit.domains import Grid
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.numbers import MetricNumber, from_dict, number
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
        # A cell more is counted where points are not whole numbers, so that less is told than was asked for.
        assert math.log(worst) <= design.epsilon * float((y - x) * step) / design.radius * (1 + 1e-9)


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_the_stated_epsilon_is_what_was_asked_for(design):
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


def test_a_distance_between_two_points_counts_whole_cells_and_one_more_between_whole_numbers():
    road = MetricNumber(epsilon=1.0, bounds=(0.0, 10.0), cells=101)
    cell = road.epsilon / 11  # a radius of ten cells, and one more
    assert road.at(0.1).epsilon == pytest.approx(2 * cell)
    assert road.at(0.11).epsilon == pytest.approx(3 * cell)
    assert road.at(1.0).epsilon == pytest.approx(1.0)
    assert MetricNumber(epsilon=1.0, bounds=(0, 10)).at(3).epsilon == pytest.approx(3.0)


@pytest.mark.parametrize(
    "design",
    [
        MetricNumber(epsilon=1.0, bounds=(0.0, 20.0), cells=201),
        MetricNumber(epsilon=1.0, bounds=(0, 2), cells=21, radius=0.1),
        MetricNumber(epsilon=1.0, bounds=(0.0, 10.0), cells=101, radius=0.5),
    ],
    ids=repr,
)
def test_decimals_half_way_between_two_points_are_not_placed_farther_apart_than_is_counted(design):
    """Every pair of decimals of a twentieth that are a radius apart; one cell fewer is the control that fails."""
    decimals = np.round(np.arange(0, design.bounds[1] - design.radius + 1e-9, 0.05), 2)
    near, far = (design.row(design.encode(values)) for values in (decimals, np.round(decimals + design.radius, 2)))
    step = Fraction(design.law.step_ratio)
    assert holds(step ** int((far - near).max()), design.metric.epsilon)
    without = Fraction(design.radius).limit_denominator(1000) / Fraction(design.domain.step)
    assert (far - near).max() > without


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


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("bounds", BOUNDS, ids=repr)
def test_floats_are_not_placed_farther_apart_than_is_counted(bounds, rounding):
    """As `encode` places them, and not as the formula would."""
    cells = int(bounds[1] - bounds[0]) + 1
    design = MetricNumber(epsilon=1.0, bounds=bounds, cells=cells, rounding=rounding)
    unit = 1 if rounding == "nearest" else 2**32
    for distance in (1.0, 2.0, 5.0, 0.75):
        first, second = pairs_a_distance_apart(design, distance)
        assert len(first) > 20
        apart = design.encode(second).astype(np.int64) - design.encode(first).astype(np.int64)
        assert apart.max() <= design.cells_in(distance) * unit
        assert apart.max() > (math.floor(distance) - 1) * unit


def test_a_difference_of_floats_places_two_numbers_a_radius_apart_in_cells_two_apart():
    """The control: what a grid that begins below zero must not do."""
    first, second = 0.5 - 2.0**-51, 1.5 - 2.0**-51
    assert Fraction(second) - Fraction(first) == 1
    assert math.floor(second + 3 + 0.5) - math.floor(first + 3 + 0.5) == 2
    assert MetricNumber(epsilon=1.0, bounds=(-3, 20)).encode([first, second]).tolist() == [3, 4]


@pytest.mark.parametrize("kind", [Decimal, Fraction, np.longdouble])
def test_numbers_of_every_kind_are_placed_as_the_floats_that_they_are_read_as(kind):
    """Distances are those of the floats: 1.4999999999999999 is 1.5."""
    texts = ["0.4999999999999999", "1.4999999999999999", "2.5", "7.1"]
    design = MetricNumber(epsilon=1.0, bounds=(0, 20))
    floats = [float(text) for text in texts]
    assert design.encode([kind(text) for text in texts]).tolist() == design.encode(floats).tolist() == [0, 2, 3, 7]
    assert Fraction(floats[1]) - Fraction(floats[0]) > 1 >= Fraction(texts[1]) - Fraction(texts[0])
    assert (design.at(1.0).epsilon, design.at(math.nextafter(1.0, 2.0)).epsilon) == (1.0, 2.0)


@pytest.mark.parametrize("bounds", [(2**53, 2**53 + 150), (-(10**17), 0), (1e12, 1e12 + 20)], ids=repr)
def test_bounds_near_which_floats_are_too_far_apart_for_the_radius_are_refused(bounds):
    with pytest.raises(LimitError, match="Take a fixed number off"):
        MetricNumber(epsilon=1.0, bounds=bounds, cells=101, radius=100.0 if bounds[0] < 0 else 1.0)
    assert MetricNumber(epsilon=1.0, bounds=(1e9, 1e9 + 20)).metric.epsilon <= 1.0


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_answers_between_two_points_keep_the_promise(rounding):
    """Answers at most a radius apart: mixtures of rows, enumerated in fifths of a cell."""
    design = MetricNumber(epsilon=0.6, bounds=(0, 6), radius=2, rounding=rounding)
    rows = design.matrix()

    def row(fifths):
        cell, part = divmod(fifths, 5)
        if rounding == "nearest":
            return rows[cell + (part >= 3)]
        weight = Fraction(part, 5)
        return [(1 - weight) * a + weight * b for a, b in zip(rows[cell], rows[min(cell + 1, 6)], strict=True)]

    for x, y in itertools.combinations(range(31), 2):
        if y - x <= 10:
            assert holds(ratio(row(x), row(y)), design.metric.epsilon)


@pytest.mark.parametrize("design", [*DESIGNS, MetricNumber(epsilon=0.5, bounds=(0.0, 50.0), cells=501)], ids=repr)
def test_the_mean_is_unbiased_for_every_cell_and_varies_no_more_than_the_noise(design):
    channel = design.probabilities()
    missed = np.abs(channel @ design.message_scores - design.points)
    assert missed.max() < 1e-9 * (design.bounds[1] - design.bounds[0])
    cells = design.radius / float(design.domain.step)
    counted = cells if design.domain.is_whole else min(math.ceil(cells) + 1, design.cells - 1)
    assert design.worst_variance <= 2 * (float(design.domain.step) * counted / design.epsilon) ** 2


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


def test_a_radius_has_32_cells_if_there_is_room():
    assert MetricNumber(epsilon=1.0, bounds=(0.0, 10.0)).cells == 321
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
