"""The ρ of every release: Rényi divergences, enumerated, are at most ρα, and an eighth is not for everybody."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from bruit.domains import Grid
from bruit.learning import AdditiveClassifier, AdditiveRegressor, KMeans, LinearRegression, NaiveBayes
from bruit.privacy import Ledger
from bruit.privacy.accounting import total
from bruit.privacy.zcdp import bounded_range_rho, epsilon_to_rho, pure_rho, rho_to_epsilon
from bruit.releases import (
    AboveThreshold,
    Count,
    Exponential,
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    Mean,
    Quantiles,
    Release,
    Statistic,
)
from bruit.releases.quantiles import joint as _joint
from bruit.releases.quantiles import tree as trees
from bruit.releases.quantiles.points import RecordPoints

ORDERS = [1.001, 1.1, 1.5, 2.0, 3.0, 6.0, 16.0, 64.0, 256.0]
ROUNDING = 1 + 1e-9
THIRDS = (Fraction(1, 3), Fraction(2, 3))


def divergence_per_order(p, q):
    """The largest D_α(P‖Q)/α, either way, over a grid of orders."""
    p, q = np.array(p, float), np.array(q, float)
    worst = 0.0
    for ours, theirs in ((p, q), (q, p)):
        logs = np.log(ours) - np.log(theirs)
        for order in ORDERS:
            terms = np.log(theirs) + order * logs
            top = terms.max()
            whole = top + math.log(math.fsum(np.exp(terms - top)))
            worst = max(worst, whole / (order - 1) / order)
    return worst


def tables(records, cells):
    for chosen in itertools.combinations_with_replacement(range(cells), records):
        yield np.bincount(chosen, minlength=cells) if chosen else np.zeros(cells, int)


def pairs(neighbours, cells, most):
    """All neighbouring histograms of up to `most` records."""
    for counts in itertools.chain(*(tables(records, cells) for records in range(most + 1))):
        for place in range(cells):
            if neighbours == "add-remove":
                yield counts, counts + np.eye(cells, dtype=int)[place]
            elif counts[place]:
                for other in range(cells):
                    yield counts, counts - np.eye(cells, dtype=int)[place] + np.eye(cells, dtype=int)[other]


def worst_of(law, neighbours, cells=3, most=3):
    return max(divergence_per_order(law(first), law(second)) for first, second in pairs(neighbours, cells, most))


def tree_law(forest, bits, release):
    """The law of all trees of a forest together, small enough to be listed."""

    def law(counts):
        points = RecordPoints(np.asarray(counts), bits=bits)
        laws = [trees.tree_law(tree, points, points.whole, release.whole_cells) for tree in forest]
        return [float(math.prod(outcome)) for outcome in itertools.product(*(chances.values() for chances in laws))]

    return law


def session_law(design, counts, place=0):
    """The law of one quantile of the histogram method: of each index, then of "nothing above"."""
    q, pair = design.fractions[place], design.noises[place]
    s1, s2 = float(pair.threshold.scale), float(pair.answers.scale)
    z = np.arange(-int(45 * max(s1, s2)) - 10, int(45 * max(s1, s2)) + 11)
    ratio, decay = math.exp(-1 / s1), math.exp(-1 / s2)

    def at_most(points):
        right = 1 - decay ** (np.maximum(points, 0) + 1.0) / (1 + decay)
        return np.where(points >= 0, right, decay ** (-np.minimum(points, 0.0)) / (1 + decay))

    reached = (1 - ratio) / (1 + ratio) * ratio ** np.abs(z)
    chances = []
    for answer in q.denominator * np.cumsum(counts)[: design.cells] - q.numerator * np.sum(counts):
        chances.append(float(np.sum(reached * at_most(answer - z))))
        reached = reached * at_most(z - answer - 1)
    return [*chances, float(np.sum(reached))]


# Exponential mechanisms: an eighth.


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_an_exponential_choice_costs_an_eighth_and_small_ones_nearly_all_of_it(epsilon):
    choice = Exponential.calibrate(epsilon)
    scores = list(itertools.product(range(3), repeat=3))
    near = [(s, t) for s in scores for t in scores if max(abs(a - b) for a, b in zip(s, t, strict=True)) <= 1]
    worst = max(divergence_per_order(choice.law(list(s)), choice.law(list(t))) for s, t in near)
    assert worst <= bounded_range_rho(epsilon) * ROUNDING
    if epsilon == 0.1:
        assert worst > 0.95 * bounded_range_rho(epsilon)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("method", ["exponential", "approximate"])
@pytest.mark.parametrize("wanted", [(0.5,), (0.25, 0.75), (0.1, 0.5)])
@pytest.mark.parametrize(("epsilon", "bounds"), [(0.5, Grid(0, 2)), (4.0, Grid(0, 2)), (1.0, (0, 1))])
def test_quantiles_cost_the_squares_of_the_choices_that_see_a_record(neighbours, method, wanted, epsilon, bounds):
    release = Quantiles(quantiles=wanted, bounds=bounds, epsilon=epsilon, neighbours=neighbours, method=method)
    bits, most = (3, 3) if len(wanted) == 1 else (2, 2)
    worst = worst_of(tree_law(release.forest, bits, release), neighbours, most=most)
    assert 0.01 * release.rho < worst <= release.rho * ROUNDING


def test_the_rho_of_quantiles_is_that_of_their_choices():
    median = Quantiles(quantiles=[0.5], bounds=(0, 1), epsilon=1.0)
    assert median.rho == bounded_range_rho(1.0) == 0.125
    four = Quantiles(quantiles=[0.2, 0.4, 0.6, 0.8], bounds=(0, 1), epsilon=1.0, method="exponential")
    assert four.rho == pytest.approx(0.125 / 4)
    assert Quantiles(quantiles=[0.2, 0.8], bounds=(0, 1), epsilon=1.0, method="joint").rho == 0.125
    for neighbours in ("add-remove", "replace"):
        tree = Quantiles(
            quantiles=[i / 10 for i in range(1, 10)], bounds=(0, 1), epsilon=1.0, neighbours=neighbours,
            method="approximate",
        )  # fmt: skip
        (root,) = tree.forest

        def ways(node):
            if node is None:
                return [[]]
            return [[node.epsilon, *rest] for side in (node.left, node.right) for rest in ways(side)]

        assert {sum(way) for way in ways(root) if len(way) > 1} == {Fraction(1)}
        assert tree.rho == bounded_range_rho(*max(ways(root), key=lambda way: sum(epsilon**2 for epsilon in way)))
        assert 0.125 / 5 < tree.rho < 0.125


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_joint_choice_costs_an_eighth(neighbours):
    release = Quantiles(quantiles=[1 / 3, 2 / 3], bounds=(0, 1), epsilon=2.0, neighbours=neighbours, method="joint")
    shares = [float(gap) for gap in _joint.gaps(THIRDS)]
    joint = _joint.JointLaw.calibrate(THIRDS, 2.0, neighbours, places=8)

    def law(counts):
        points = RecordPoints(np.asarray(counts), bits=2)
        n = points.whole.many
        weights = []
        for places in itertools.combinations_with_replacement(range(points.whole.high + 1), 2):
            ranks = [0, *(points.below(place) for place in places), n]
            score = sum(abs(b - a - n * g) for (a, b), g in zip(itertools.pairwise(ranks), shares, strict=True))
            weights.append(math.exp(-joint.rate * score) + math.ldexp(1.0, -joint.floor_bits))
        return np.array(weights) / math.fsum(weights)

    assert worst_of(law, neighbours, most=2) <= release.rho * ROUNDING


@pytest.mark.audit("mean", "variance")
@pytest.mark.parametrize("statistic", ["median", "mean", "variance"])
def test_inverse_sensitivity_costs_an_eighth(statistic):
    release = InverseSensitivity(statistic=statistic, bounds=Grid(0, 2), epsilon=1.5)
    assert release.rho == bounded_range_rho(1.5)

    def law(counts):
        return release.choice.law(release.lengths(np.asarray(counts)))

    tried = [pair for pair in pairs("replace", 3, 4) if pair[0].sum()]
    worst = max(divergence_per_order(law(first), law(second)) for first, second in tried)
    assert 0.05 * release.rho < worst <= release.rho * ROUNDING


# Everything else that is pure: a half.


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("q", [0.01, 0.1, 0.5])
def test_the_histogram_method_costs_what_any_pure_release_does(q, neighbours):
    design = HistogramQuantiles(quantiles=[q], bounds=(0, 1), epsilon=1.5, cells=3, neighbours=neighbours)
    assert worst_of(lambda counts: session_law(design, counts), neighbours) <= design.rho * ROUNDING


def test_an_eighth_is_false_of_the_histogram_method():
    """The pair that refutes it: 60 records in the last of 400 steps, and one more in the first."""
    design = HistogramQuantiles(quantiles=[0.01], bounds=(0, 1), epsilon=0.5, cells=400)
    without, with_it = np.zeros(400, int), np.zeros(400, int)
    without[-1] = with_it[-1] = 60
    with_it[0] = 1
    worst = divergence_per_order(session_law(design, without), session_law(design, with_it))
    assert worst > 1.3 * bounded_range_rho(0.5)
    assert worst <= design.rho
    assert design.rho == pytest.approx(pure_rho(0.5), rel=1e-6)


def test_several_quantiles_of_the_histogram_method_share_epsilon():
    design = HistogramQuantiles(quantiles=[0.25, 0.5, 0.75], bounds=(0, 1), epsilon=1.5, cells=3)
    assert design.rho == pytest.approx(3 * pure_rho(0.5), rel=1e-6)
    for place in range(3):
        worst = worst_of(lambda counts, at=place: session_law(design, counts, at), "add-remove", most=2)
        assert worst <= pure_rho(0.5) * ROUNDING


def test_laplace_noise_costs_at_most_a_half_and_gaussian_noise_its_own():
    laplace, gaussian = Count(epsilon=1.0), Count(epsilon=1.0, delta=1e-6)
    for release, reach in ((laplace, 60), (gaussian, 60)):
        noise = release.noise()
        logs = np.array([noise.log_probability(x) for x in range(-reach, reach + 1)])
        chances = np.exp(logs)
        # The ends are left out on both sides alike, which changes less than 10⁻²⁰ of the sums here.
        orders = [order for order in ORDERS if order <= 6]
        for order in orders:
            terms = chances[:-1] * np.exp((order - 1) * (logs[:-1] - logs[1:]))
            assert math.log(math.fsum(terms)) / (order - 1) / order <= release.rho * ROUNDING
    assert laplace.rho == 0.5
    assert gaussian.rho == epsilon_to_rho(1.0, 1e-6)
    assert rho_to_epsilon(gaussian.rho, 1e-6) <= 1.0


# Every release says its ρ, and its ledger books it.

RELEASES = [
    Count(epsilon=0.5),
    Count(epsilon=0.5, delta=1e-6),
    Histogram(domain=["a", "b"], epsilon=0.5, neighbours="replace"),
    Mean(bounds=(0, 1), epsilon=0.5, delta=1e-6),
    Quantiles(quantiles=[0.5], bounds=(0, 1), epsilon=0.5),
    HistogramQuantiles(quantiles=[0.5], bounds=(0, 1), epsilon=0.5),
    InverseSensitivity(statistic="median", bounds=(0, 1), epsilon=0.5),
]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: f"{release.name}-{release.guarantee.delta}")
def test_the_ledger_books_the_rho_of_the_release(release):
    ledger = Ledger(epsilon=1.0, delta=0.1, neighbours=release.guarantee.neighbours)
    data = ["a", "b"] if isinstance(release, Histogram) else [0.25, 0.5]
    release.release(release.fold(data), ledger)
    (entry,) = ledger.entries
    assert entry.rho == release.rho
    together = total(ledger.entries, 1e-3)
    assert together.rho == release.rho
    assert together.by_method["zcdp"].epsilon == rho_to_epsilon(release.rho, 1e-3 / (1 + 1e-12))


def test_the_rho_of_groups_and_parts_is_booked_for_each():
    grouped = Release(Quantiles("age", quantiles=[0.5], bounds=(0, 1), epsilon=0.5), by={"sex": ("F", "M")})
    people = {"age": [0.1, 0.2, 0.3], "sex": ["F", "M", "F"]}
    ledger = Ledger(epsilon=2.0)
    grouped.publish(grouped.fold(people), ledger)
    with ledger.parallel("by region") as parts:
        grouped.publish(grouped.fold(people), parts.part("north"))
    assert [entry.rho for entry in ledger.entries] == [bounded_range_rho(0.5)] * 2
    assert total(ledger.entries, 1e-6).rho == 2 * bounded_range_rho(0.5)


def test_a_session_is_booked_with_a_half():
    ledger = Ledger(epsilon=1.0)
    alarm = AboveThreshold(epsilon=0.5, threshold=10)
    alarm.start(ledger)
    assert ledger.entries[0].rho == alarm.rho == pure_rho(0.5)


def test_a_release_of_which_only_epsilon_and_delta_are_known_has_no_rho():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Unknown(Count):
        @property
        def rho(self):
            return Statistic.rho.fget(self)  # that of any release

    assert Unknown(epsilon=0.5).rho == pure_rho(0.5)
    assert Unknown(epsilon=0.5, delta=1e-6).rho is None


@pytest.mark.parametrize(
    ("kind", "delta"),
    [
        *((kind, delta) for kind in (LinearRegression, KMeans, AdditiveClassifier) for delta in (0.0, 1e-6)),
        (AdditiveRegressor, 1e-6),
        (NaiveBayes, 0.0),
    ],
)
def test_models_book_the_rho_of_their_noise(kind, delta):
    ledger = Ledger(epsilon=2.0, delta=0.1)
    X, y = np.random.default_rng(1).random((200, 2)), np.arange(200) % 2
    target, classes = {"target_bounds": (0, 1)}, {"classes": [0, 1]}
    extra = {LinearRegression: target, AdditiveRegressor: target, KMeans: {}}.get(kind, classes)
    model = kind(epsilon=1.0, bounds=(0, 1), ledger=ledger, **({"delta": delta} if delta else {}), **extra)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that noise hides the clusters, which it does now and then
        model.fit(X, y)
    (entry,) = ledger.entries
    assert entry.rho == (epsilon_to_rho(1.0, delta) if delta else pure_rho(1.0))
