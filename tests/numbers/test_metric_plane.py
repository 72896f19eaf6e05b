"""Metric privacy in the plane: ε per Euclidean distance over all pairs of points, and the mean place."""

import itertools
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from bruit import audit
from bruit.domains import Grid
from bruit.errors import (
    DataError,
    DataTypeError,
    DesignError,
    FormatError,
    LimitError,
    MissingError,
    ParameterError,
)
from bruit.laws import DistanceLaw
from bruit.numbers import MetricNumber, MetricPlane
from bruit.privacy import Ledger
from bruit.rounding import exp_floor, log_ceiling

DESIGNS = [
    MetricPlane(epsilon=1.0, x=(0, 4), y=(0, 3), unit="km"),
    MetricPlane(epsilon=0.3, x=Grid(0.0, 1.0, cells=5), y=Grid(0.0, 1.5, cells=4), radius=0.5),
    MetricPlane(epsilon=4.0, x=(0, 3), y=(0, 3), radius=2),
]


def squared_losses(rows, design):
    """For all pairs of points: the squared loss, rounded up, and the squared distance in radii."""
    x, y = (axis.domain for axis in design.axes.values())
    points = [(x.point(i), y.point(j)) for i in range(x.cells) for j in range(y.cells)]
    for p, q in itertools.permutations(range(len(points)), 2):
        worst = max(a / b for a, b in zip(rows[p], rows[q], strict=True))
        square = sum((a - b) ** 2 for a, b in zip(points[p], points[q], strict=True))
        yield worst, square / Fraction(design.radius) ** 2


def holds(rows, design):
    """Whether ln ratio ≤ ε·d for all pairs of points, in fractions and with the logarithm rounded up."""
    limit = Fraction(design.epsilon) ** 2
    return all(Fraction(log_ceiling(worst)) ** 2 <= limit * square for worst, square in squared_losses(rows, design))


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_every_two_points_are_within_epsilon_times_their_distance(design):
    rows = design.matrix()
    assert {sum(row) for row in rows} == {1}
    assert holds(rows, design)
    for worst, square in squared_losses(rows, design):
        stated = design.at(float(square) ** 0.5 * design.radius).epsilon
        assert worst.numerator <= exp_floor(stated * (1 + 1e-15), worst.denominator)


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_epsilon_is_the_requested_one(design):
    assert design.epsilon * (1 - 1e-9) <= design.metric.epsilon <= design.epsilon
    assert (design.metric.radius, design.metric.unit) == (design.radius, design.unit)
    assert design.at(1e6).epsilon == design.guarantee.epsilon


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_the_guarantee_is_the_ordinary_one_of_any_two_places(design):
    found = audit.exact(design)
    assert found.holds
    assert found.epsilon == found.stated == design.guarantee.epsilon
    assert design.guarantee.neighbours == "value"


class Whole(MetricPlane):
    """Gives each axis all of ε, and not ε/√2."""

    @cached_property
    def axes(self):
        return {name: self._axis(self.epsilon, line) for name, line in (("x", self.x), ("y", self.y))}


class Steep(MetricPlane):
    """Gives each cell all of its share, as if places stood on points only."""

    def _axis(self, share, line):
        return MetricNumber(epsilon=share, bounds=line)


class CutNumber(MetricNumber):
    """Cuts the noise to the bounds, as drawing again does."""

    @property
    def law(self):
        return DistanceLaw(super().law.weights)


class Cut(MetricPlane):
    """Cuts the noise of each axis."""

    def _axis(self, share, line):
        return CutNumber(epsilon=share, bounds=line)


@pytest.mark.parametrize("broken", [Whole, Cut])
def test_a_plane_with_a_defect_loses_more(broken):
    design = broken(epsilon=0.5, x=(0, 4), y=(0, 4))
    rows = [
        [a * b for a in first for b in second]
        for first, second in itertools.product(*(axis.matrix() for axis in design.axes.values()))
    ]
    assert not holds(rows, design)


def mixed(rows, quarters, rounding):
    """The row of a coordinate that lies this many quarters of a cell above the lowest point."""
    cell, part = divmod(quarters, 4)
    weight = Fraction(part, 4) if rounding == "stochastic" else Fraction(part >= 2)
    return [(1 - weight) * a + weight * b for a, b in zip(rows[cell], rows[min(cell + 1, len(rows) - 1)], strict=True)]


def holds_between(design, rounding="stochastic"):
    """Whether all places in quarters of a cell are within ε times their distance."""
    lines = [axis.matrix() for axis in design.axes.values()]
    spots = list(itertools.product(range(9), repeat=2))
    rows = [[mixed(line, spot, rounding) for line, spot in zip(lines, place, strict=True)] for place in spots]
    limit = Fraction(design.epsilon) ** 2 / (4 * Fraction(design.radius)) ** 2
    return all(
        Fraction(log_ceiling(ratio(first[0], second[0]) * ratio(first[1], second[1]))) ** 2
        <= limit * sum((a - b) ** 2 for a, b in zip(p, q, strict=True))
        for (p, first), (q, second) in itertools.combinations(zip(spots, rows, strict=True), 2)
    )


def ratio(first, second):
    """The largest ratio of one row to another; two axes have the product."""
    return max(max(a / b, b / a) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("radius", [1, 2])
def test_places_between_points_are_within_epsilon_times_their_distance(radius):
    design = MetricPlane(epsilon=0.7, x=(0, 2), y=(0, 2), radius=radius)
    assert holds_between(design)
    assert not holds_between(design, "nearest")
    assert not holds_between(Steep(epsilon=0.7, x=(0, 2), y=(0, 2)))


def test_places_less_than_a_unit_apart_are_within_the_stated_epsilon():
    """A coordinate is rounded to 2⁻³² of a cell, so that two places hardly apart may differ by a whole unit."""
    design = MetricPlane(epsilon=1.0, x=(0, 3), y=(0, 3), unit="km")
    first, second = 2.0**-33 - 2.0**-60, 2.0**-33
    codes = design.encode([(first, first), (second, second)])
    assert codes.tolist() == [[0, 0], [1, 1]]
    rows = design.axes["x"].matrix()
    part = Fraction(1, 2**32)
    mixed = [(1 - part) * a + part * b for a, b in zip(rows[0], rows[1], strict=True)]
    worst = max(max(a / b, b / a) for a, b in zip(rows[0], mixed, strict=True)) ** 2
    distance = 2**0.5 * 2.0**-60
    assert worst.numerator <= exp_floor(design.at(distance).epsilon, worst.denominator)
    assert worst.numerator > exp_floor(distance * (1 + 1e-9), worst.denominator)  # what the distance alone would allow


@pytest.mark.parametrize("distance", [5e-324, 1e-160, 1e-12, 1e300], ids=repr)
def test_a_distance_of_any_size_has_its_epsilon_at_once(distance):
    design = DESIGNS[0]
    epsilon = design.at(distance).epsilon
    assert 0 < epsilon <= design.guarantee.epsilon
    assert epsilon == design.guarantee.epsilon or distance < 1
    assert epsilon >= min(distance * design.at(1).epsilon, design.guarantee.epsilon) * (1 - 1e-15)


def test_reports_follow_the_law():
    design = DESIGNS[0]
    place, n = (1, 2), 40_000
    tally = design.tally(design.privatize([place] * n, rng=7))
    row = np.array(design.matrix()[1 * 4 + 2], float)
    assert (np.abs(tally.counts - n * row) < 6.5 * np.sqrt(n * row * (1 - row)) + 1).all()
    wrong = np.array(design.matrix()[1 * 4 + 1], float)
    assert (np.abs(tally.counts - n * wrong) > 6.5 * np.sqrt(n * wrong * (1 - wrong)) + 1).any()


def test_the_coordinates_are_drawn_apart():
    design = MetricPlane(epsilon=0.5, x=(0, 40), y=(0, 40))
    places = design.decode(design.privatize([(20, 20)] * 20_000, rng=7))
    assert abs(np.corrcoef(places.T)[0, 1]) < 0.045
    assert len(np.unique(places, axis=0)) > 500


def test_the_mean_place_is_unbiased_also_in_a_corner():
    design = MetricPlane(epsilon=0.5, x=(0, 20), y=(0, 10))
    reports = design.privatize([(0, 9)] * 10_000 + [(20, 9)] * 10_000, rng=7)
    answers = design.estimate(design.tally(reports))
    assert list(answers) == ["x", "y"]
    for name, mean in (("x", 10), ("y", 9)):
        assert answers[name].mean == pytest.approx(mean, abs=6 * answers[name].standard_error)
        assert answers[name].guarantee == design.guarantee
        assert answers[name].name == name
    assert answers["y"].standard_error < (4.5 / 0.5**2 / 20_000) ** 0.5


@pytest.mark.audit
def test_a_report_is_2_29_radii_from_the_place_on_average():
    design = MetricPlane(epsilon=0.2, x=(0.0, 100.0), y=(0.0, 100.0))
    places = design.decode(design.privatize(np.full((400_000, 2), 50.0), rng=3))
    apart = np.hypot(*(places - 50).T) * design.epsilon
    # Eight cells a radius cost 0.9 % at this ε.
    assert apart.mean() == pytest.approx(1.009 * 2.29, abs=6 * apart.std() / 400_000**0.5)


def test_a_town_of_a_hundred_radii_has_room():
    assert MetricPlane(epsilon=0.2, x=(0.0, 100.0), y=(0.0, 100.0)).size == 801**2


def test_tallies_add_and_refuse_another_design():
    design, other = DESIGNS[0], MetricPlane(epsilon=1.0, x=(0, 4), y=(0, 3))
    first, second = ([(0, 0), (1, 1)], [(4, 3)])
    parts = [design.tally(design.privatize(places, rng=seed)) for seed, places in enumerate((first, second))]
    assert (parts[0] + parts[1]).n == 3
    with pytest.raises(DesignError):
        other.estimate(parts[0])
    with pytest.raises(DataTypeError):
        design.estimate([1, 2])


def test_hostile_reports_are_counted_as_refused():
    design = DESIGNS[0]
    tally = design.tally([0, 19, 20, 255, -1, "3", None, "x", 2**70, 1.5])
    assert (tally.n, tally.refused) == (3, 7)
    with pytest.raises(DataError, match="reports must be"):
        design.decode([0, 200])


def test_one_seed_gives_the_same_reports_and_no_seed_gives_others():
    design = MetricPlane(epsilon=1.0, x=(0, 1000), y=(0, 1000))
    places = [(500, 500)] * 200
    assert (design.privatize(places, rng=1) == design.privatize(places, rng=1)).all()
    assert (design.privatize(places) != design.privatize(places)).any()


def test_documents_come_back_and_damage_is_refused():
    for design in DESIGNS:
        assert MetricPlane.from_dict(design.to_dict()) == design
    for damaged in (None, {}, {**DESIGNS[0].to_dict(), "plane": "flat"}, {**DESIGNS[0].to_dict(), "x": 3}):
        with pytest.raises(FormatError):
            MetricPlane.from_dict(damaged)


@pytest.mark.parametrize(
    ("places", "kind"),
    [
        ([1, 2], DataTypeError),
        ([(1, 2, 3)], DataTypeError),
        ([(1, 2), (1,)], DataTypeError),
        ("ab", DataTypeError),
        (None, DataTypeError),
        ([(1, "x")], DataTypeError),
        ([(1, 77)], DataError),
        ([(1, None)], MissingError),
    ],
)
def test_wrong_places_are_refused_and_not_shown(places, kind):
    with pytest.raises(kind) as caught:
        DESIGNS[0].privatize(places)
    assert "77" not in str(caught.value)


def test_places_are_read_from_frames_and_nobody_is_nobody():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2], "y": [3, 0]})
    assert DESIGNS[0].encode(frame).tolist() == DESIGNS[0].encode([(1, 3), (2, 0)]).tolist()
    assert DESIGNS[0].privatize([]).size == 0


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"x": (0, 4000), "y": (0, 4000)}, LimitError),
        ({"x": (0, 4), "y": (0, 4), "radius": 5}, ParameterError),
        ({"x": (0, 4), "y": (0, 4), "epsilon": 0.001}, LimitError),
        ({"x": (0, 4), "y": Grid(0, 4, missing="drop")}, ParameterError),
        ({"x": (4, 0), "y": (0, 4)}, ParameterError),
    ],
)
def test_bad_options_are_refused(options, kind):
    with pytest.raises(kind):
        MetricPlane(**{"epsilon": 1.0, **options})


def test_no_ledger_books_the_metric_guarantee():
    with pytest.raises(ParameterError, match="is not added"):
        Ledger(epsilon=9.0, neighbours="value").spend(DESIGNS[0].metric, "places")
