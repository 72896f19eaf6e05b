"""Whatever the bounds, a statistic refuses them when it is declared, or publishes finite numbers with finite errors."""

import itertools
import math
import warnings

import numpy as np
import pytest

from bruit import numbers
from bruit.domains import Bins, Grid, grid
from bruit.errors import BruitError, ParameterError
from bruit.learning import AdditiveClassifier, AdditiveRegressor, KMeans, LinearRegression, NaiveBayes
from bruit.releases import (
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    Mean,
    Median,
    Quantiles,
    Release,
    Sum,
    Variance,
    WeightedMean,
    WeightedSum,
)

HUGE = 1.7976931348623157e308
#: Bounds that are huge, subnormal, nearly equal, too far apart, or beyond what other programs hold.
EXTREME = [
    (-HUGE, HUGE), (0, HUGE), (-HUGE, 0), (1e307, HUGE), (-1e308, 1e308), (0.0, 2.0**1000), (0.0, 2.0**980),
    (-(2.0**980), 2.0**980), (0.0, 2.0**481), (0.0, 2.0**480), (0.0, 1e140), (-1e140, 1e140), (0.0, 1e-140),
    (0.0, 1e155), (0, 2**70), (-(2**63) - 1, 2**63),
    (2**63, 2**63 + 1), (0, 10**400), (-(10**400), 0), (0.0, 5e-324), (-5e-324, 5e-324), (0.0, 1e-320), (0.0, 1e-310),
    (0.0, 2.3e-308), (0.0, 1e-300), (0.0, 1e-200), (0.0, 1e-160), (1.0, math.nextafter(1.0, 2)), (1.0, 1.0 + 1e-12),
    (1e16, 1e16 + 2), (1e308, math.nextafter(1e308, HUGE)), (-1e-320, 1e300), (0.1, 0.1 + 1e-16), (1e-320, 1.0),
]  # fmt: skip
QUARTILES = {"quantiles": (0.25, 0.5, 0.75), "epsilon": 1.0}


def moments():
    for kind, neighbours, delta in itertools.product((Sum, Mean, Variance), ("add-remove", "replace"), (0.0, 1e-6)):
        options = {"epsilon": 1.0, "neighbours": neighbours, "delta": delta}
        yield lambda low, high, kind=kind, options=options: kind("x", bounds=(low, high), **options)
        yield lambda low, high, kind=kind, options=options: kind(
            "x", bounds=(low, high), step=high / 2 - low / 2 if abs(high) + abs(low) < 10**400 else 1.0, **options
        )


def weighted():
    for kind, delta in itertools.product((WeightedMean, WeightedSum), (0.0, 1e-6)):
        for other in ((0, 1), (0, 1e300), (0, 1e-300)):
            yield lambda low, high, kind=kind, other=other, delta=delta: kind(
                "x", weight="w", bounds=(low, high), weight_bounds=other, epsilon=1.0, delta=delta
            )
        yield lambda low, high, kind=kind, delta=delta: kind(
            "x", weight="w", bounds=(0, 1), weight_bounds=(low, high), epsilon=1.0, delta=delta
        )


def ranked():
    for method, neighbours in itertools.product(("approximate", "exponential", "joint"), ("add-remove", "replace")):
        options = {**QUARTILES, "method": method, "neighbours": neighbours, "cells": 64}
        yield lambda low, high, options=options: Quantiles("x", bounds=(low, high), **options)
    yield lambda low, high: Quantiles("x", bounds=Grid(low, high, cells=7, outside="clamp"), **QUARTILES)
    yield lambda low, high: Median("x", bounds=(low, high), epsilon=1.0, neighbours="replace", cells=64)
    yield lambda low, high: HistogramQuantiles("x", bounds=(low, high), **QUARTILES, cells=16)
    for statistic in ("mean", "median"):
        yield lambda low, high, statistic=statistic: InverseSensitivity(
            "x", statistic=statistic, bounds=(low, high), epsilon=1.0
        )


def histograms():
    yield lambda low, high: Histogram("x", domain=Grid(low, high, cells=5, outside="clamp"), epsilon=1.0)
    yield lambda low, high: Histogram("x", domain=Bins.even((low, high), 5, outside="clamp"), epsilon=1.0)
    yield lambda low, high: Histogram("x", domain=Bins([low, high], outside="clamp"), epsilon=1.0)


STATISTICS = [*moments(), *weighted(), *ranked(), *histograms()]


def rows(low, high, n=40):
    """Numbers at both ends, between them and beyond them."""
    ends = [float(min(max(end, -HUGE), HUGE)) for end in (low, high)]
    middle = ends[0] / 2 + ends[1] / 2
    return {"x": np.resize([*ends, middle], n), "w": np.resize([0.0, *ends, middle], n)}


def outcome(make, low, high):
    """None where the bounds are refused when they are declared; otherwise all numbers that are published."""
    try:
        statistic = make(low, high)
    except ParameterError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = Release(statistic).publish(Release(statistic).fold(rows(low, high)), rng=1)
    (result,) = result.values()
    error = result.standard_error[~np.isnan(result.standard_error)]  # unknown, as of quantiles
    ends = np.zeros(0) if result.ends is None else np.asarray(result.interval(0.95), float)
    ends = ends[~np.isinf(ends)]  # an end that is not known
    return {"value": result.values.astype(float), "error": error, "ends": ends.ravel()}


def check(make, bounds):
    """Fail where anything but a refusal is raised, or anything but a finite number is published."""
    published = outcome(make, *bounds)
    if published is None:
        return
    assert all(np.isfinite(numbers).all() for numbers in published.values()), published
    assert (published["error"] > 0).all(), published  # an error that vanishes promises what is not kept


@pytest.mark.parametrize("place", range(len(STATISTICS)))
def test_extreme_bounds_are_refused_or_give_finite_results(place):
    failed = []
    for bounds in EXTREME:
        try:
            check(STATISTICS[place], bounds)
        except (BruitError, AssertionError, ValueError, ArithmeticError, TypeError) as error:
            failed.append((bounds, type(error).__name__, str(error)[:200]))
    assert failed == []


def test_usual_bounds_are_published():
    """Refusing everything would pass the law: usual bounds are not refused."""
    for make in STATISTICS[:24]:
        for bounds in ((0, 100), (-1.5, 2.5), (1e-6, 1e6)):
            published = outcome(make, *bounds)
            assert published is not None
            assert np.isfinite(published["value"]).all()


@pytest.mark.parametrize("limits", [{"MOST_BOUND": HUGE}, {"LEAST_WIDTH": 0.0}])
def test_statistics_without_the_limits_of_bounds_are_caught(monkeypatch, limits):
    """The twin: without either limit, sums are infinite, errors are 0, or something else than a refusal is raised."""
    for name, value in limits.items():
        monkeypatch.setattr(grid, name, value)
    failed = 0
    for make, bounds in itertools.product((STATISTICS[0], STATISTICS[8], *weighted()), EXTREME):
        try:
            check(make, bounds)
        except (AssertionError, ValueError, ArithmeticError):
            failed += 1
    assert failed > 5


@pytest.mark.parametrize("name", numbers.NAMES)
def test_numbers_of_people_are_refused_or_give_finite_means(name):
    failed = []
    for bounds in EXTREME:
        try:
            mechanism = numbers.number(name, epsilon=1.0, domain=Grid(*bounds, cells=9, outside="clamp"))
        except ParameterError:
            continue
        except Exception as error:
            failed.append((bounds, "declared", repr(error)[:200]))
            continue
        try:
            estimate = mechanism.estimate(mechanism.tally(mechanism.privatize(rows(*bounds)["x"], rng=1)))
            assert np.isfinite([estimate.mean, estimate.standard_error]).all()
            assert estimate.standard_error > 0
        except Exception as error:
            failed.append((bounds, "estimated", repr(error)[:200]))
    assert failed == []


MODELS = {
    "regression": lambda pair: LinearRegression(epsilon=1.0, bounds=pair, target_bounds=(0, 1), rng=1),
    "target": lambda pair: LinearRegression(epsilon=1.0, bounds=(0, 1), target_bounds=pair, rng=1),
    "k-means": lambda pair: KMeans(2, epsilon=1.0, bounds=pair, rng=1),
    "naive Bayes": lambda pair: NaiveBayes(epsilon=1.0, bounds=pair, classes=[0, 1], rng=1),
    "additive": lambda pair: AdditiveClassifier(epsilon=10.0, bounds=pair, classes=[0, 1], rng=1),
    "additive target": lambda pair: AdditiveRegressor(epsilon=10.0, bounds=(0, 1), target_bounds=pair, rng=1),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_refuse_extreme_bounds_or_learn_finite_numbers(name):
    failed = []
    for low, high in EXTREME:
        data = np.stack([rows(low, high)["x"], rows(low, high)["x"][::-1]], 1)
        y = np.resize([0, 1], len(data))
        model = MODELS[name]((low, high))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(np.clip(data, 0, 1) if name.endswith("target") else data, y)
        except ParameterError:
            continue
        except Exception as error:
            failed.append(((low, high), repr(error)[:200]))
            continue
        learned = [
            getattr(model, key) for key in ("coef_", "intercept_", "cluster_centers_", "theta_") if hasattr(model, key)
        ]
        if not all(np.isfinite(np.asarray(part, float)).all() for part in learned):
            failed.append(((low, high), "not finite"))
    assert failed == []
