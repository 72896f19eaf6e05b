"""Staircase noise on the whole line: mass, moments, the best γ, and the leak of drawing again."""

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize

from bruit.errors import ParameterError
from bruit.numbers.staircase_noise import density, mean_absolute, optimal_gamma, resampled_epsilon, variance

EPSILONS = [0.1, 0.5, 1.0, 2.0, 5.0]


def total(function, epsilon, gamma, sensitivity=1.0):
    """The integral over the line, step by step, to where nothing is left."""
    steps = int(40 / epsilon) + 3
    edges = np.concatenate([[0.0], (np.arange(steps) + gamma) * sensitivity])
    parts = [
        integrate.fixed_quad(
            lambda x: function(x) * density(x, epsilon=epsilon, sensitivity=sensitivity, gamma=gamma), a, b, n=5
        )[0]
        for a, b in itertools.pairwise(edges)
    ]
    return 2 * sum(parts)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("gamma", [0.2, 0.5, None])
@pytest.mark.parametrize("sensitivity", [1.0, 3.0])
def test_mass_and_moments_are_the_integrals_of_the_density(epsilon, gamma, sensitivity):
    known = {"epsilon": epsilon, "sensitivity": sensitivity, "gamma": gamma}
    share = optimal_gamma(epsilon) if gamma is None else gamma
    assert total(np.ones_like, epsilon, share, sensitivity) == pytest.approx(1, rel=1e-9)
    assert total(np.abs, epsilon, share, sensitivity) == pytest.approx(mean_absolute(**known), rel=1e-9)
    assert total(np.square, epsilon, share, sensitivity) == pytest.approx(variance(**known), rel=1e-9)


def test_the_mean_absolute_error_at_one_is_that_of_the_paper():
    assert mean_absolute(epsilon=1.0) == pytest.approx(0.960, abs=0.0005)


def test_the_height_printed_on_the_slides_has_twice_the_mass():
    """Steps b^j instead of b^{j+1} after the first: at ε = 1 the mass is 2.0, so it is no density."""
    g, b = optimal_gamma(1.0), np.exp(-1)
    height = float(density(0.0, epsilon=1.0))
    assert 2 * height * (g + 1 / (1 - b)) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gamma_is_where_the_error_is_least(epsilon):
    for error, moment in (("absolute", mean_absolute), ("squared", variance)):
        found = optimize.minimize_scalar(
            lambda gamma, moment=moment: moment(epsilon=epsilon, gamma=gamma),
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert optimal_gamma(epsilon, error) == pytest.approx(found.x, abs=1e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_densities_a_sensitivity_apart_differ_by_e_to_the_epsilon_at_most(epsilon):
    x = np.linspace(-6, 6, 4001) + 1e-7
    for shift in (0.1, 0.5, 1.0):
        ratio = density(x, epsilon=epsilon) / density(x + shift, epsilon=epsilon)
        assert ratio.max() <= np.exp(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("error", ["absolute", "squared"])
def test_the_leak_is_the_ratio_of_the_densities_after_drawing_again(epsilon, error):
    """Computed from the density cut to [0, 1] and divided by its mass there, on a fine grid of both inputs."""
    gamma = optimal_gamma(epsilon, error)
    x = np.linspace(0, 1, 401)
    y = np.linspace(0, 1, 801)[:, None] + 1e-9
    mass = np.array([_mass(epsilon, gamma, a) for a in x])
    table = density(y - x, epsilon=epsilon, gamma=gamma) / mass
    found = np.log((table.max(axis=1) / table.min(axis=1)).max())
    assert resampled_epsilon(epsilon, error) == pytest.approx(found, abs=0.02)
    assert resampled_epsilon(epsilon, error) > 1.1 * epsilon


def _mass(epsilon, gamma, x):
    """What noise around x has within [0, 1]: two heights, each times its length."""
    near = min(x, gamma) + min(1 - x, gamma)
    return near * float(density(0.0, epsilon=epsilon, gamma=gamma)) + (1 - near) * float(
        density(gamma + 1e-9, epsilon=epsilon, gamma=gamma)
    )


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError):
        optimal_gamma(-1.0)
    with pytest.raises(ParameterError):
        optimal_gamma(1.0, "relative")
    with pytest.raises(ParameterError):
        density(0.0, epsilon=1.0, gamma=1.5)
