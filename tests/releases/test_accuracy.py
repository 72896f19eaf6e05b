"""Accuracy beforehand: the known figures, that the bound is never broken, and that it says so when there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bruit.entropy import Entropy
from bruit.errors import ParameterError, ParameterTypeError
from bruit.releases.quantiles.accuracy import (
    Distribution,
    above_threshold_accuracy,
    accuracy,
    least_n,
    normal,
    uniform,
)
from bruit.releases.quantiles.histogram import DECILES, HistogramQuantiles
from bruit_studies.as_printed import accuracy_as_printed

UNIFORM = {"epsilon": 1.0, "cells": 100, "gamma": 0.05, "distribution": uniform()}
NORMAL = {"epsilon": 1.0, "cells": 1000, "gamma": 0.1, "distribution": normal(), "bounds": (-5, 5)}


def test_the_alpha_of_above_threshold_is_the_textbook_s():
    assert above_threshold_accuracy(100, 0.5, 0.1) == pytest.approx(8 * (math.log(100) + math.log(20)) / 0.5)


def test_with_much_epsilon_alpha_allows_for_noise_in_whole_numbers():
    assert above_threshold_accuracy(1, 20.0, 0.5) > 8 * math.log(4) / 20
    assert above_threshold_accuracy(1, 20.0, 0.5) == pytest.approx(6 * math.log(4) / 20 + 1)


def test_the_records_needed_match_the_known_figures():
    assert least_n(0.9, **UNIFORM) == pytest.approx(17_400, rel=0.01)
    assert least_n(0.9, **NORMAL, quantile=0.5) == pytest.approx(24_700, rel=0.01)
    assert least_n(0.9, **NORMAL, quantile=0.9) == pytest.approx(58_100, rel=0.01)


@pytest.mark.parametrize("problem", [UNIFORM, NORMAL], ids=["uniform", "normal"])
def test_the_least_n_promises_what_was_wanted_and_a_little_less_does_not(problem):
    for wanted in (0.5, 0.9, 0.999):
        n = least_n(wanted, **problem, quantile=0.3)
        assert accuracy(n, **problem, quantile=0.3).bound >= wanted
        less = accuracy(int(0.99 * n), **problem, quantile=0.3).bound
        assert less is None or less < wanted


def test_the_bound_is_that_of_the_binomial_laws_at_the_best_beta():
    n, x, step = 20_000, 0.5, 0.01
    found = accuracy(n, **UNIFORM, quantile=x)

    def failure(beta):
        alpha = above_threshold_accuracy(100, 1 / 9, beta)
        early = stats.binom.sf(math.ceil(n * x - alpha) - 1, n, x - 0.05)
        late = stats.binom.cdf(math.floor(n * x + alpha), n, x + 0.05 - step)
        return beta + early + late

    assert found.bound == pytest.approx(1 - failure(found.beta), abs=1e-9)
    assert found.alpha == pytest.approx(above_threshold_accuracy(100, 1 / 9, found.beta))
    assert all(found.bound >= 1 - failure(beta) - 1e-3 for beta in np.geomspace(1e-6, 0.5, 50))


def test_there_is_no_guarantee_where_the_bound_is_not_positive():
    found = accuracy(3000, **UNIFORM)
    assert found.bound is None
    assert str(found).startswith("no guarantee")
    assert "probability" in str(accuracy(30_000, **UNIFORM))


@pytest.mark.usefixtures("any_epsilon")
def test_too_coarse_a_grid_is_never_promised_anything():
    coarse = UNIFORM | {"cells": 7}  # no edge lies within 0.05 of the median
    assert least_n(0.5, **coarse, quantile=0.5) is None
    assert accuracy(10**11, **coarse, quantile=0.5).bound is None
    design = HistogramQuantiles(quantiles=[0.5], bounds=(0, 1), epsilon=1e6, cells=7)
    data = (np.arange(100_000) + 0.5) / 100_000
    assert abs(design.release(design.fold(data), rng=1).value - 0.5) > 0.05


def test_the_worst_of_the_deciles_is_given_unless_one_is_named():
    each = [accuracy(60_000, **NORMAL, quantile=q).bound for q in DECILES]
    assert accuracy(60_000, **NORMAL).bound == min(each)
    assert least_n(0.9, **NORMAL) == max(least_n(0.9, **NORMAL, quantile=q) for q in DECILES)


def test_fewer_quantiles_more_epsilon_and_tighter_noise_need_fewer_records():
    needed = least_n(0.9, **UNIFORM)
    assert least_n(0.9, **UNIFORM, quantiles=3) < needed / 2
    assert least_n(0.9, **(UNIFORM | {"epsilon": 4.0})) < needed / 2
    replace = least_n(0.9, **UNIFORM, noise="tight", neighbours="replace")
    assert least_n(0.9, **UNIFORM, noise="tight") < replace < needed


def test_any_distribution_function_serves():
    shown = accuracy(30_000, epsilon=1.0, cells=100, gamma=5.0, distribution=uniform(0, 100), quantile=0.3)
    plain = accuracy(
        30_000, epsilon=1.0, cells=100, gamma=5.0, distribution=lambda x: x / 100, bounds=(0, 100), quantile=0.3
    )
    assert plain.bound == pytest.approx(shown.bound, abs=1e-9)
    with pytest.raises(ParameterError, match="bounds"):
        accuracy(100, epsilon=1.0, cells=10, gamma=1, distribution=lambda x: x)
    with pytest.raises(ParameterTypeError, match="distribution"):
        accuracy(100, epsilon=1.0, cells=10, gamma=1, distribution="uniform")


def test_quantiles_are_those_of_the_distribution():
    for q in (0.01, 0.3, 0.5, 0.99):
        assert normal(3, 2).quantile(q, (-20, 20)) == pytest.approx(stats.norm(3, 2).ppf(q), abs=1e-9)
        assert uniform(2, 4).quantile(q, (0, 10)) == pytest.approx(2 + 2 * q)
    atoms = Distribution(lambda x: 0.4 * (x >= 1) + 0.6 * (x >= 2))
    assert atoms.quantile(0.4, (0, 3)) == pytest.approx(1)
    assert atoms.quantile(0.41, (0, 3)) == pytest.approx(2)


def test_a_side_without_records_is_not_taken_for_a_side_that_cannot_fail():
    # Nothing lies below 0.5, yet with few records noise alone says "above" at an edge there.
    gap = {"epsilon": 1.0, "cells": 100, "gamma": 0.05, "distribution": uniform(0.5, 1), "bounds": (0, 1)}
    assert accuracy(500, **gap, quantile=0.1).bound is None
    assert accuracy(500_000, **gap, quantile=0.1).bound > 0.99


def test_a_side_that_lies_beyond_the_bounds_cannot_fail():
    wide = {"epsilon": 1.0, "cells": 10, "gamma": 2.0, "distribution": uniform()}
    assert accuracy(1, **wide).bound == pytest.approx(1)
    assert least_n(0.9, **wide) == 1


def failures(design, draw, true, gamma, runs, seed):
    people, entropy = np.random.default_rng(seed), Entropy(seed)
    missed = np.zeros(len(design.quantiles))
    for _ in range(runs):
        found = design.release(design.fold(draw(people)), rng=entropy).values
        missed += np.abs(found - true) > gamma
    return missed / runs


def uniform_failures(runs, n, noise):
    design = HistogramQuantiles(bounds=(0, 1), epsilon=1.0, cells=100, noise=noise)
    return failures(design, lambda people: people.random(n), np.array(DECILES), 0.05, runs, 3)


def normal_failures(runs, n, noise):
    design = HistogramQuantiles(bounds=(-5, 5), epsilon=1.0, cells=1000, noise=noise)
    true = stats.norm.ppf(DECILES)
    return failures(design, lambda people: people.normal(size=n), true, 0.1, runs, 4)


@pytest.mark.parametrize("runs", [60, pytest.param(2000, marks=pytest.mark.audit)])
@pytest.mark.parametrize(("problem", "observed"), [(UNIFORM, uniform_failures), (NORMAL, normal_failures)])
def test_the_bound_is_not_broken(problem, observed, runs):
    for noise in ("tight", "dwork-roth"):
        # The least n for which anything is promised: there the bound is most easily broken.
        n = least_n(0.05, **problem, noise=noise)
        rates = observed(runs, n, noise)
        for q, rate in zip(DECILES, rates, strict=True):
            assert rate <= 1 - accuracy(n, **problem, noise=noise, quantile=q).bound


def test_far_fewer_records_do_break_such_a_promise():
    # The control: with a twentieth of the records, the results miss by more than γ often.
    n = least_n(0.9, **UNIFORM) // 20
    assert uniform_failures(60, n, "dwork-roth").max() > 0.1


def test_the_theorem_as_printed_promises_less_than_nothing():
    for n in (1000, 100_000, 10**7):
        for decile in range(1, 10):
            printed = accuracy_as_printed(n, epsilon=1.0, cells=100, gamma=0.05, decile=decile)
            assert printed < 0
    assert printed == pytest.approx(-1.05, abs=0.01)  # 1 − β − η − μ with η about 2


def test_bad_parameters_are_refused():
    for change in ({"gamma": 0}, {"cells": 0}, {"epsilon": 0}, {"bounds": (1, 0)}, {"noise": "no"}, {"quantiles": 0}):
        with pytest.raises(ParameterError):
            accuracy(100, **(UNIFORM | change))
    for bad in ({"quantile": 0.0}, {"quantile": 1.5}):
        with pytest.raises(ParameterError):
            least_n(0.9, **UNIFORM, **bad)
    with pytest.raises(ParameterError):
        least_n(1.0, **UNIFORM)
    with pytest.raises(ParameterError):
        accuracy(0, **UNIFORM)
