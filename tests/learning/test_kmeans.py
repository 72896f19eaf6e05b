"""k-means: what one record can change, audits that catch a defect, accuracy, and data read several times."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import bruit
from bruit import audit, datasets
from bruit.domains import Grid
from bruit.entropy import Entropy
from bruit.errors import BudgetError, DataError, DataTypeError, ParameterError, ParameterTypeError
from bruit.kernels import kmeans as kernels
from bruit.learning import KMeans
from bruit.learning._features import STEPS
from bruit.learning._sums import SumNoise
from bruit.learning.kmeans.cells import HalvedBox, threshold
from bruit.learning.kmeans.lloyd import Step, nearest_sums, packed, sensitivity, units

pytestmark = pytest.mark.filterwarnings("ignore:At this ε noise hides")
LOW, HIGH = np.array([-1.0, 0.0, 5.0]), np.array([1.0, 10.0, 6.0])


def some_rows(n=500, seed=1):
    """Rows of three columns, some of them beyond the bounds."""
    return np.random.default_rng(seed).normal((LOW + HIGH) / 2, (HIGH - LOW) / 3, (n, 3))


def steps_of(X):
    """The steps of rows, written plainly."""
    return np.clip(np.rint((X - (LOW / 2 + HIGH / 2)) / (HIGH / 2 - LOW / 2) * STEPS), -STEPS, STEPS)


def three_clouds(n=3000, seed=2, spread=0.3):
    rng = np.random.default_rng(seed)
    middles = np.array([[1.0, 1.0], [8.0, 2.0], [5.0, 9.0]])
    return np.clip(middles[rng.integers(0, 3, n)] + spread * rng.standard_normal((n, 2)), 0, 10)


def inertia(X, centres):
    return ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()


def iris():
    data = datasets.load("iris")
    grids = {name: data.schema[name].domain for name in data.columns if isinstance(data.schema[name].domain, Grid)}
    ends = tuple([float(getattr(grid, end)) for grid in grids.values()] for end in ("low", "high"))
    return np.column_stack([np.asarray(data[name], float) for name in grids]), ends


# Kernels


def test_each_row_is_added_to_its_nearest_centre_as_a_slow_version_says():
    X, rng = some_rows(), np.random.default_rng(3)
    centres, weights = rng.uniform(-1, 1, (5, 3)), np.array([0.5, 0.8, 0.3])
    z = steps_of(X)
    nearest = (weights**2 * (z[:, None] - centres * STEPS) ** 2).sum(axis=2).argmin(axis=1)
    expected = [[(nearest == k).sum(), *z[nearest == k].sum(axis=0)] for k in range(5)]
    assert nearest_sums(X, LOW, HIGH, centres, weights).reshape(5, 4).tolist() == expected


def test_a_tie_goes_to_the_first_centre():
    sums = nearest_sums(np.array([[0.0, 5.0, 5.5]]), LOW, HIGH, np.full((2, 3), 0.25), np.ones(3)).reshape(2, 4)
    assert sums[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize("width", [1e-306, 1e-300, 1e300])
def test_no_bounds_however_odd_let_a_row_count_for_more_than_its_steps(width):
    X = np.array([[0.0], [width / 2], [width], [1e308], [-1e308]])
    for row in X:
        (count, total) = nearest_sums(row[None], np.zeros(1), np.full(1, width), np.zeros((1, 1)), np.ones(1))
        assert count == 1
        assert abs(total) <= STEPS
    assert HalvedBox.of(np.ones(1)).count(X, np.zeros(1), np.full(1, width)).sum() == len(X)


@pytest.mark.parametrize("columns", [1, 3, 4, 7, 8])
def test_any_number_of_columns_is_summed_as_a_slow_version_says(columns):
    rng = np.random.default_rng(columns)
    X, centres = rng.uniform(-1, 1, (200, columns)), rng.uniform(-1, 1, (4, columns))
    z = np.rint(X * STEPS)
    nearest = ((z[:, None] - centres * STEPS) ** 2).sum(axis=2).argmin(axis=1)
    expected = [[(nearest == k).sum(), *z[nearest == k].sum(axis=0)] for k in range(4)]
    ends = -np.ones(columns), np.ones(columns)
    assert nearest_sums(X, *ends, centres, np.ones(columns)).reshape(4, -1).tolist() == expected


def test_every_row_is_counted_in_the_cell_whose_middle_is_near():
    X = some_rows()
    cells = HalvedBox.of(np.array([1.0, 5.0, 0.5]))
    counts = cells.count(X, LOW, HIGH)
    points, z = cells.points(cells.splits.size), steps_of(X) / STEPS
    reach = 1 / 2.0 ** cells.halvings(cells.splits.size)
    slow = np.zeros_like(counts)
    for row in z:
        # Cell edges in whole steps differ from those in fractions by less than a step.
        slow[np.flatnonzero((np.abs(row - points) <= reach + 2 / STEPS).all(axis=1))[0]] += 1
    assert counts.sum() == len(X)
    for level in (2, 4, 6):
        coarse = [each.reshape(1 << level, -1).sum(axis=1) for each in (counts, slow)]
        assert np.abs(coarse[0] - coarse[1]).sum() <= 4


def test_the_longest_side_is_halved_first_and_a_short_one_never():
    cells = HalvedBox.of(np.array([1.0, 4.0, 1e-9]))
    assert cells.splits[:4].tolist() == [1, 1, 0, 1]
    assert 2 not in cells.splits


def test_k_means_on_weighted_points_is_that_on_repeated_points():
    rng = np.random.default_rng(4)
    points, mass = rng.uniform(-1, 1, (60, 2)), rng.integers(1, 5, 60).astype(float)
    start = points[:3].copy()
    weighted, repeated = start.copy(), start.copy()
    one = kernels.weighted_lloyd(points, mass, weighted, 20)
    rows = np.repeat(points, mass.astype(int), axis=0)
    other = kernels.weighted_lloyd(rows, np.ones(len(rows)), repeated, 20)
    assert np.allclose(weighted, repeated)
    assert one == pytest.approx(other)
    assert inertia(rows, weighted) < inertia(rows, start)


def test_starting_centres_are_points_far_from_each_other():
    points = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    out = np.empty((3, 1))
    kernels.spread_out(points, np.ones(12), np.array([0.1, 0.5, 0.5]), out)
    assert sorted(out[:, 0].tolist()) == [0.0, 1.0, 5.0]


def test_packed_centres_lie_inside_and_apart():
    centres = packed((1.0, 2.0), 5) * (1.0, 2.0)
    gaps = [np.linalg.norm(one - other) for i, one in enumerate(centres) for other in centres[:i]]
    assert (np.abs(centres) <= (1.0, 2.0)).all()
    assert min(gaps) > 0.5


def test_empty_cells_that_pass_by_chance_hold_few_records():
    scale, cells, few = 3.0, 4096, 30
    noise = bruit.releases.noise.DiscreteLaplace(Fraction(3)).draw(cells * 50, Entropy(1))
    assert noise[noise >= threshold(cells, scale, few)].sum() / 50 < 1.5 * few
    assert noise[noise >= threshold(cells, scale, few) / 2].sum() / 50 > 10 * few


def test_crowds_are_seen_in_small_cells_and_scattered_records_in_large_ones():
    cells = HalvedBox.of(np.array([1.0]))
    counts = np.zeros(256)
    counts[3] = 500
    counts[128:] = 3
    points, mass = cells.standing_out(counts, 900.0, 1.0)
    assert mass[0] == 500
    assert points[0, 0] == pytest.approx(-1 + 7 / 256)
    assert mass.sum() == 884
    assert (points[1:] > 0).all()
    assert len(points) == 1 + 64


def test_a_start_among_nothing_but_noise_is_that_of_an_even_box():
    noisy = np.tile([3.0, -3.0], 64)
    start = HalvedBox.of(np.array([0.6, 0.8])).start(noisy, 50.0, 5.0, 2, Entropy(1))
    assert start.hidden
    assert start.divided.all()
    assert np.abs(start.centres.mean(axis=0)).max() < 0.1


# What one record can change


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_no_record_changes_a_step_by_more_than_its_share_and_some_do_by_as_much(neighbours, delta):
    weights = np.array([0.3, 0.9, math.sqrt(0.1)])
    share = Fraction(1, 5)
    step = Step.of(weights, 2, epsilon=1.0, delta=delta, neighbours=neighbours, share=share)
    edges = [(a, *z) for a in (0, 1) for z in product((-STEPS, 0, 1, STEPS), repeat=3)]
    vectors = [np.zeros(8, int)] if neighbours == "add-remove" else []
    for cluster, *z in edges:
        vector = np.zeros(8, int)
        vector[4 * cluster : 4 * cluster + 4] = [1, *z]
        vectors.append(vector)
    pairs = [(vectors[0], other) for other in vectors] if neighbours == "add-remove" else product(vectors, vectors)
    most = max(step.noise.loss_between(one, other) for one, other in pairs)
    allowed = share * Fraction(step.noise.rho if delta else 1)
    assert allowed * Fraction(99, 100) < most <= allowed


def test_a_column_that_matters_more_gets_less_noise_and_none_gets_endlessly_much():
    count, wide, narrow, tiny = units(np.array([0.99, 0.1, 1e-9]), gaussian=False)
    assert count == 1
    assert wide < narrow < tiny <= 256 * STEPS
    assert sensitivity((1, STEPS, STEPS), "add-remove", gaussian=False) == 3
    assert sensitivity((1, STEPS, STEPS), "replace", gaussian=False) == 6
    assert sensitivity((1, STEPS, STEPS), "replace", gaussian=True) == 8


class Recorded:
    """Releases of a fit, whose noisy answers are given by a script, so that two fits take the same path."""

    def __init__(self, monkeypatch, seed):
        self.releases = []
        self._rng = np.random.default_rng(seed)
        monkeypatch.setattr(SumNoise, "draw", lambda noise, sums, entropy: self._answer(noise, np.asarray(sums)))

    def _answer(self, noise, sums):
        self.releases.append((noise, sums.copy()))
        return self._rng.integers(-3, 12, sums.size) * np.asarray(noise.units)


def _loss(monkeypatch, first, second, seed, **settings):
    """The exact loss of a whole fit between two data sets, given the same noisy answers all along."""
    found = []
    for X in (first, second):
        with monkeypatch.context() as patched:
            recorded = Recorded(patched, seed)
            # The same stream for both: a whole number would be mixed with the data.
            KMeans(3, bounds=(0, 10), rng=Entropy(1), **settings).fit(X)
            found.append(recorded.releases)
    assert [noise for noise, _ in found[0]] == [noise for noise, _ in found[1]]
    pairs = zip(found[0], found[1], strict=True)
    return sum((noise.loss_between(one, other) for (noise, one), (_, other) in pairs), Fraction(0)), found[0]


TINY = np.array([[2.0, 3.0]])
CROWD = three_clouds(40)
#: Neighbours: an edge value added, one alone in its cluster, one to nearly nothing, one more of many.
ADDED = [
    (TINY, np.vstack([TINY, [[10.0, 10.0]]])),
    (TINY, np.vstack([TINY, [[0.0, 0.0]]])),
    (CROWD, np.vstack([CROWD, [[10.0, 0.0]]])),
    (CROWD, np.vstack([CROWD, [[1e9, -1e9]]])),
    (np.zeros((5, 2)), np.vstack([np.zeros((5, 2)), [[10.0, 10.0]]])),
]
REPLACED = [
    (np.array([[0.0, 0.0]]), np.array([[10.0, 10.0]])),
    (np.vstack([CROWD, [[0.0, 0.0]]]), np.vstack([CROWD, [[10.0, 10.0]]])),
    (np.vstack([CROWD, [[0.0, 10.0]]]), np.vstack([CROWD, [[10.0, 0.0]]])),
]


@pytest.mark.parametrize("settings", [{}, {"method": "lloyd"}, {"iterations": 4}, {"delta": 1e-6}], ids=str)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_losses_of_all_releases_of_a_fit_add_up_to_no_more_than_epsilon(monkeypatch, neighbours, settings):
    most = Fraction(0)
    for seed, (first, second) in product(range(3), ADDED if neighbours == "add-remove" else REPLACED):
        loss, releases = _loss(monkeypatch, first, second, seed, epsilon=1.0, neighbours=neighbours, **settings)
        most = max(most, loss)
    budget = Fraction(releases[0][0].rho if "delta" in settings else 1)
    # Replaced records that are the worst for counts are not always the worst for sums.
    least = Fraction(9, 10) if neighbours == "add-remove" else Fraction(7, 10)
    assert budget * least < most <= budget


def test_the_same_sum_shows_a_fit_that_skips_empty_clusters(monkeypatch):
    draw = SumNoise.draw
    seen = []
    monkeypatch.setattr(SumNoise, "draw", lambda *given: seen.append(given[1]) or draw(*given))
    KMeans(3, epsilon=1.0, bounds=(0, 10), rng=1, method="lloyd", iterations=2).fit(TINY)
    # Two clusters of three are empty, and still every count and every sum is released with noise.
    assert [np.size(sums) for sums in seen] == [3, 6, 3, 6]


def test_the_printed_variant_has_the_printed_scales():
    seen = {}
    for columns in (1, 4):
        X = np.full((10, columns), 3.0)
        with pytest.MonkeyPatch.context() as patched:
            noises = []
            draw = SumNoise.draw
            patched.setattr(SumNoise, "draw", lambda noise, *given: noises.append(noise) or draw(noise, *given))  # noqa: B023
            KMeans(2, epsilon=0.5, bounds=(0, 10), method="lloyd", iterations=3).fit(X)
        counts, sums = noises[0], noises[1]
        # Lap(2t/ε) and Lap(2drt/ε); r = 10 is 2·STEPS steps.
        seen[columns] = (float(counts.by_unit[1].scale), float(sums.by_unit[2 * STEPS].scale) / (2 * STEPS) * 10)
    assert seen == {1: pytest.approx((12.0, 120.0)), 4: pytest.approx((12.0, 480.0))}


# Audits


def centres_of(X, trials, entropy, **settings):
    fits = [KMeans(2, epsilon=1.0, bounds=(0, 10), rng=entropy, **settings).fit(X) for _ in range(trials)]
    return np.array([np.append(fit.cluster_centers_.reshape(-1), fit.cluster_counts_) for fit in fits])


def leaky(X, trials, entropy):
    """diffprivlib's k-means in small: budgets for counts and sums swapped, and no noise for empty clusters."""
    rng, d, iterations = entropy.generator(), X.shape[1], 2
    for_sums, for_count = 1.0, np.cbrt(4 * d * 0.225**2)
    whole = 1.0 / iterations / (for_sums * d + for_count)
    out = []
    for _ in range(trials):
        centres = np.array([[2.0] * d, [8.0] * d])
        for _ in range(iterations):
            labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
            for cluster in set(labels.tolist()):
                here = X[labels == cluster]
                count = max(1.0, abs(len(here) + round(rng.laplace(0, 1 / (for_sums * whole)))))
                noisy = here.sum(axis=0) + rng.laplace(0, 10 / (for_count * whole), d)
                centres[cluster] = np.clip(noisy / count, 0, 10)
        out.append(np.append(centres.reshape(-1), 0.0))
    return np.array(out)


ALONE = np.array([[1.0, 1.0], [1.5, 1.0]])
WITH = np.vstack([ALONE, [[10.0, 10.0]]])


@pytest.mark.audit
def test_an_audit_of_whole_fits_finds_nothing_above_epsilon():
    found = audit.empirical(centres_of, ALONE, WITH, trials=600, rng=3, level=1 - 1e-7)
    assert found.epsilon_lower <= 1.0


def test_the_same_audit_shows_that_skipping_empty_clusters_tells_more_than_twice_epsilon():
    found = audit.empirical(leaky, ALONE, WITH, trials=4000, rng=3, level=1 - 1e-7)
    assert found.epsilon_lower > 2.0


def test_the_swapped_budgets_spend_half_as_much_again():
    d = 20
    for_sums, for_count = 1.0, np.cbrt(4 * d * 0.225**2)
    assert (for_sums + d * for_count) / (for_sums * d + for_count) > 1.5


@pytest.mark.audit
@pytest.mark.parametrize("settings", [{}, {"method": "lloyd", "iterations": 2}, {"neighbours": "replace"}], ids=str)
def test_a_long_audit_of_whole_fits_finds_nothing_above_epsilon(settings):
    pairs = [(ALONE, WITH), (TINY, np.vstack([TINY, [[10.0, 0.0]]]))]
    if "neighbours" in settings:
        pairs = [(WITH, np.vstack([ALONE, [[0.0, 0.0]]])), REPLACED[0]]
    for first, second in pairs:
        found = audit.empirical(
            lambda X, trials, entropy: centres_of(X, trials, entropy, **settings),
            first,
            second,
            trials=1500,
            rng=5,
            level=1 - 1e-7,
        )
        assert found.epsilon_lower <= 1.0


@pytest.mark.audit
def test_an_audit_of_one_step_comes_near_its_epsilon_and_not_above():
    step = Step.of(np.array([0.6, 0.8]), 2, epsilon=1.0, delta=0.0, neighbours="add-remove", share=Fraction(1))
    first, second = np.zeros(6, int), np.array([0, 0, 0, 1, STEPS, -STEPS])
    of_units, scale = np.asarray(step.noise.units), float(step.noise.by_unit[1].scale)

    def draw(sums, trials, entropy):
        many = SumNoise(step.noise.units * trials, step.noise.sensitivity, 1.0)
        return many.draw(np.tile(sums, trials), entropy).reshape(trials, -1)

    def score(outputs):
        return ((np.abs(outputs - second) - np.abs(outputs - first)) / (of_units * scale)).sum(axis=1)

    found = audit.empirical(draw, first, second, trials=100_000, rng=6, score=score, level=1 - 1e-7)
    assert 0.7 < found.epsilon_lower <= 1.0


# Centres


def test_centres_come_near_those_of_ordinary_k_means():
    X = three_clouds()
    found = KMeans(3, epsilon=1.0, bounds=(0, 10), rng=1).fit(X)
    expected = np.array([[1.0, 1.0], [5.0, 9.0], [8.0, 2.0]])
    assert np.allclose(found.cluster_centers_[found.cluster_centers_[:, 0].argsort()], expected, atol=0.3)
    assert np.allclose(found.cluster_counts_, 1000, atol=200)


@pytest.mark.parametrize(("epsilon", "most"), [(1.0, 4.0), (5.0, 1.4), (10.0, 1.2)])
def test_inertia_on_iris_is_near_that_of_ordinary_k_means(epsilon, most):
    X, bounds = iris()
    fits = [KMeans(3, epsilon=epsilon, bounds=bounds, scale=False, rng=seed).fit(X) for seed in range(20)]
    assert np.mean([-fit.score(X) for fit in fits]) / 78.85 < most


@pytest.mark.parametrize("settings", [{"delta": 1e-6}, {"neighbours": "replace"}, {"iterations": 2}], ids=str)
def test_clouds_that_are_far_apart_are_found_with_any_noise(settings):
    X = three_clouds(30_000)
    found = KMeans(3, epsilon=5.0, bounds=(0, 10), rng=2, **settings).fit(X)
    assert inertia(X, found.cluster_centers_) < 1.05 * inertia(X, np.array([[1.0, 1.0], [8.0, 2.0], [5.0, 9.0]]))


@pytest.mark.usefixtures("any_epsilon")
def test_the_printed_variant_ends_where_lloyd_s_algorithm_ends_without_noise():
    X = three_clouds(30_000)
    found = KMeans(3, epsilon=1e6, bounds=(0, 10), method="lloyd", iterations=6).fit(X)
    centres = 5 + 5 * packed((math.sqrt(0.5),) * 2, 3)
    for _ in range(6):
        nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([X[nearest == k].mean(axis=0) if (nearest == k).any() else centres[k] for k in range(3)])
    assert np.allclose(found.cluster_centers_, centres, atol=0.01)


def test_a_cluster_with_a_small_noisy_count_keeps_its_centre():
    step = Step.of(np.array([0.6, 0.8]), 2, epsilon=1.0, delta=0.0, neighbours="add-remove", share=Fraction(1))
    centres = np.array([[0.5, 0.5], [-0.5, -0.5]])
    moved = step.moved(centres, np.array([-3.0, 1000.0]), np.array([[5.0, 5.0], [-900.0, -900.0]]))
    assert moved[0].tolist() == [0.5, 0.5]
    assert np.allclose(moved[1], -0.9, atol=0.05)


@pytest.mark.usefixtures("any_epsilon")
def test_a_warning_says_when_one_centre_would_do_as_well_and_only_then():
    X = three_clouds(300)
    for settings in ({}, {"method": "lloyd"}):
        with pytest.warns(UserWarning, match="one centre would"):
            KMeans(3, epsilon=0.01, bounds=(0, 10), rng=1, **settings).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            KMeans(3, epsilon=20.0, bounds=(0, 10), rng=1, **settings).fit(X)
            KMeans(1, epsilon=0.01, bounds=(0, 10), rng=1, **settings).fit(X)


@pytest.mark.parametrize("scale", [True, False])
def test_labels_distances_and_scores_are_of_the_rows_that_are_given(scale):
    X = three_clouds(200) * [1, 50]
    model = KMeans(3, epsilon=5.0, bounds=([0, 0], [10, 500]), scale=scale, rng=3)
    labels = model.fit_predict(X)
    unit = np.array([10, 500]) if scale else np.ones(2)
    distances = np.linalg.norm((X[:, None] - model.cluster_centers_) / unit, axis=2)
    assert np.allclose(model.transform(X), distances)
    assert labels.tolist() == distances.argmin(axis=1).tolist() == model.predict(X).tolist()
    assert model.score(X) == pytest.approx(-inertia(X / unit, model.cluster_centers_ / unit))


@pytest.mark.usefixtures("any_epsilon")
@pytest.mark.parametrize("method", ["joint", "lloyd"])
def test_the_unit_of_a_column_changes_nothing_where_columns_are_scaled_and_all_where_not(method):
    """Two clouds that differ in the first column only; the second is wide and says nothing."""
    rng = np.random.default_rng(8)
    X = np.column_stack([np.repeat([2.0, 8.0], 2000) + rng.normal(0, 0.5, 4000), rng.uniform(0, 10, 4000)])
    truth = np.repeat([0, 1], 2000)

    def agreement(unit, **settings):
        model = KMeans(2, epsilon=50.0, bounds=([0, 0], [10, 10 * unit]), method=method, rng=1, **settings)
        labels = model.fit(X * [1, unit]).predict(X * [1, unit])
        return max((labels == truth).mean(), (labels != truth).mean())

    assert agreement(1.0) == agreement(1000.0) > 0.99
    assert agreement(1000.0, scale=False) < 0.6


def test_a_model_predicts_with_the_scale_that_it_was_fitted_with():
    X = three_clouds(300) * [1, 50]
    model = KMeans(3, epsilon=5.0, bounds=([0, 0], [10, 500]), rng=3).fit(X)
    before = model.transform(X)
    assert np.array_equal(model.set_params(scale=False).transform(X), before)


def test_nothing_without_noise_is_kept():
    model = KMeans(3, epsilon=1.0, bounds=(0, 10)).fit(three_clouds(200))
    kept = {name for name in vars(model) if name.endswith("_") or name.startswith("_")}
    public = {"cluster_centers_", "cluster_counts_", "n_iter_", "guarantee_", "simulated_", "n_features_in_"}
    assert kept == public | {"_features", "_scaled"}


# Data that are read several times


class Again:
    """Batches that can be gone through again; counts how often."""

    def __init__(self, X, size=100):
        self.parts = [{"a": X[i : i + size, 0], "b": X[i : i + size, 1]} for i in range(0, len(X), size)]
        self.times = 0

    def __iter__(self):
        self.times += 1
        return iter(self.parts)


@pytest.mark.parametrize("method", ["joint", "lloyd"])
def test_files_and_batches_give_the_centres_that_memory_gives(method, tmp_path):
    X = three_clouds(20_000)
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(tmp_path / "people.parquet")
    again = Again(X)
    sources = [X, tmp_path / "people.parquet", again, again.parts, {"a": X[:, 0], "b": X[:, 1]}, pd.DataFrame(X)]
    sources[-1].columns = ["a", "b"]
    made = [
        KMeans(3, epsilon=1.0, bounds=(0, 10), rng=5, method=method, iterations=3).fit(source) for source in sources
    ]
    assert all(np.array_equal(model.cluster_centers_, made[0].cluster_centers_) for model in made)
    assert again.times == (4 if method == "joint" else 3)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    X = three_clouds(30_000)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        found.append(KMeans(3, epsilon=1.0, bounds=(0, 10), rng=5).fit(X).cluster_centers_)
    assert np.array_equal(*found)


def test_what_can_be_read_only_once_is_refused_before_anything_is_spent(tmp_path):
    ledger = bruit.Ledger(epsilon=1.0)
    again = Again(three_clouds(300))
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n")
    with path.open("rb") as file:
        for source in (iter(again), (part for part in again.parts), file, "-"):
            with pytest.raises(DataTypeError, match="several times"):
                KMeans(3, epsilon=1.0, bounds=(0, 10), ledger=ledger).fit(source)
    assert len(ledger) == 0


class Changing:
    """Batches that are others at the second reading."""

    def __init__(self, first, later):
        self.first, self.later, self.times = first, later, 0

    def __iter__(self):
        self.times += 1
        if self.times == 1:
            yield self.first
        elif isinstance(self.later, BaseException):
            raise self.later
        else:
            yield self.later


@pytest.mark.parametrize("method", ["joint", "lloyd"])
@pytest.mark.parametrize("names", ["ba", "abcdefgh", "a"], ids=["order", "more", "fewer"])
def test_other_columns_at_a_later_reading_are_refused(method, names):
    rng = np.random.default_rng(3)
    later = {name: rng.uniform(0, 1, 200) for name in names}
    with pytest.raises(DataError, match="the same columns"):
        KMeans(2, epsilon=1.0, bounds=(0, 1), method=method).fit(
            Changing({name: rng.uniform(0, 1, 200) for name in "ab"}, later)
        )


def test_rows_with_more_columns_than_the_centres_do_not_reach_the_kernel(monkeypatch):
    monkeypatch.setattr(kernels, "nearest_sums", None)
    with pytest.raises(DataError, match="the same columns"):
        nearest_sums(np.zeros((2, 3)), np.zeros(3), np.ones(3), np.zeros((2, 2)), np.ones(2))


@pytest.mark.parametrize("method", ["joint", "lloyd"])
def test_a_fit_whose_later_reading_fails_leaves_no_model_and_nothing_of_an_old_one(method):
    people = {"a": np.linspace(0, 1, 300), "b": np.linspace(1, 0, 300)}
    model = KMeans(2, epsilon=1.0, bounds=(0, 1), method=method).fit(people)
    model.set_params(bounds=(0, 100))
    with pytest.raises(OSError, match="gone"):
        model.fit(Changing(people, OSError("gone")))
    with pytest.raises(NotFittedError):
        model.predict([[0.1, 0.2]])
    assert not {"cluster_centers_", "cluster_counts_", "guarantee_", "simulated_"} & set(vars(model))


@pytest.mark.usefixtures("any_epsilon")
@pytest.mark.parametrize("epsilon", [2e3, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("method", ["joint", "lloyd"])
def test_a_cluster_without_records_has_a_centre_even_where_there_is_no_noise(epsilon, method):
    for n in (0, 50):
        for seed in range(3):
            model = KMeans(3, epsilon=epsilon, bounds=(0, 1), method=method, random_state=seed).fit(np.zeros((n, 1)))
            assert np.isfinite(model.cluster_centers_).all()
            assert ((model.cluster_centers_ >= 0) & (model.cluster_centers_ <= 1)).all()


@pytest.mark.parametrize("columns", [1, 2, 4, 10, 30])
@pytest.mark.parametrize("times", [1, 5])
def test_the_noise_of_a_centre_is_about_what_the_docstring_says(columns, times):
    weights = np.full(columns, 1 / math.sqrt(columns))
    stated = 2.3 * (columns + (columns / 5) ** (1 / 3)) * times
    for neighbours, factor in (("add-remove", 1), ("replace", 2)):
        step = Step.of(weights, 3, epsilon=1.0, delta=0.0, neighbours=neighbours, share=Fraction(62, 100 * times))
        assert step.errors[1:] == pytest.approx(stated * factor, rel=0.02)


def test_a_fit_is_booked_once_with_all_it_spends():
    ledger = bruit.Ledger(epsilon=1.0)
    model = KMeans(2, epsilon=0.6, bounds=(0, 10), iterations=4, ledger=ledger)
    model.fit(three_clouds(300))
    assert [entry.guarantee for entry in ledger.entries] == [model.guarantee_]
    with pytest.raises(BudgetError):
        model.fit(three_clouds(300))
    assert len(ledger) == 1


@pytest.mark.parametrize("method", ["joint", "lloyd"])
def test_no_rows_are_as_good_as_one(method):
    model = KMeans(2, epsilon=1.0, bounds=(0, 10), method=method).fit(np.empty((0, 3)))
    assert model.cluster_centers_.shape == (2, 3)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_clusters": 0},
        {"n_clusters": 2.5},
        {"method": "elkan"},
        {"scale": "minmax"},
        {"iterations": 0},
        {"delta": 1},
        {"delta": -0.1},
        {"method": "lloyd", "delta": 1e-6},
        {"bounds": None},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_any_data_is_read(settings):
    with pytest.raises((ParameterError, ParameterTypeError)):
        KMeans(**{"epsilon": 1.0, "bounds": (0, 10)} | settings).fit(object())


# scikit-learn

#: Checks that cannot pass, and why.
EXCEPTIONS = {
    "check_clustering": "it asks for labels_, which would be kept without noise, and for exact clusters at ε = 1",
    "check_clusterer_compute_labels_predict": "it asks for labels_, which would be kept without noise",
    "check_estimators_empty_data_messages": "no rows are a neighbour of one row: an error would tell them apart",
    "check_sample_weights_pandas_series": "sample weights are refused",
    "check_sample_weights_not_an_array": "sample weights are refused",
    "check_sample_weights_list": "sample weights are refused",
    "check_sample_weights_shape": "sample weights are refused",
    "check_sample_weights_not_overwritten": "sample weights are refused",
    "check_sample_weight_equivalence_on_dense_data": "sample weights are refused",
}


def test_scikit_learn_s_checks_pass_but_for_those_that_privacy_forbids():
    results = check_estimator(
        KMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=1),
        expected_failed_checks=EXCEPTIONS,
        on_fail=None,
        on_skip=None,
    )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    unexpected = [result["check_name"] for result in results if result["status"] == "xfail"]
    assert set(unexpected) <= set(EXCEPTIONS)


def test_distances_come_as_a_frame_with_names_where_that_is_asked_for():
    frame = pd.DataFrame(three_clouds(200), columns=["a", "b"])
    found = KMeans(3, epsilon=1.0, bounds=(0, 10)).set_output(transform="pandas").fit(frame).transform(frame)
    assert list(found.columns) == ["kmeans0", "kmeans1", "kmeans2"]
