"""The noise of several draws, combined: its law is the convolution, its variance nearly the least."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from bruit.entropy import Words
from bruit.errors import ParameterError
from bruit.releases.combined import WHOLE, CombinedNoise
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace
from bruit.releases.staircase import StaircaseNoise

SMALL = {
    "laplace": (DiscreteLaplace(Fraction(2)), DiscreteLaplace(Fraction(5, 3))),
    "both": (DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(20))),
    "gaussian": (DiscreteGaussian(Fraction(7, 2)), DiscreteGaussian(Fraction(11))),
    "tiny": (DiscreteLaplace(Fraction(1, 3)), DiscreteLaplace(Fraction(1, 2))),
    "three": (DiscreteLaplace(Fraction(1)), DiscreteLaplace(Fraction(3, 2)), DiscreteGaussian(Fraction(4))),
}
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def convolved(noises, combined, most=40):
    """The law of the rounded weighted mean, by adding up all combinations."""
    line = np.arange(-most, most + 1)
    law = np.zeros(2 * most + 1)
    laws = [np.exp([noise.log_probability(int(value)) for value in line]) for noise in noises]
    for places in itertools.product(*[range(line.size)] * (len(noises) - 1)):
        values = [int(line[place]) for place in places]
        chance = math.prod(own[place] for own, place in zip(laws, places, strict=False))
        total = sum(weight * value for weight, value in zip(combined.weights, values, strict=False))
        rounded = (2 * (total + combined.weights[-1] * line) + WHOLE) // (2 * WHOLE)
        np.add.at(law, rounded + most, chance * laws[-1])
    return line, law


@pytest.mark.parametrize("case", SMALL)
def test_the_law_is_the_convolution_and_the_interval_the_least_that_holds(case):
    combined = CombinedNoise.of(SMALL[case])
    line, law = convolved(SMALL[case], combined)
    assert np.allclose(combined.cumulative(line), np.cumsum(law), atol=1e-6)
    assert combined.variance == pytest.approx((law * line**2).sum(), rel=1e-3)
    for level in LEVELS:
        least = next(h for h in range(40) if law[40 - h : 41 + h].sum() >= level)
        assert combined.half_width(level) == least
    assert combined.log_probability(2) == pytest.approx(math.log(law[42]), abs=1e-4)


@pytest.mark.parametrize("scale", [30, 4000, 10**9, 2**39])
def test_the_variance_is_that_of_inverse_variances_within_a_thousandth(scale):
    first, second = DiscreteLaplace(Fraction(scale)), DiscreteLaplace(Fraction(scale, 3))
    combined = CombinedNoise.of([first, second])
    least = 1 / (1 / first.variance + 1 / second.variance)
    assert least * (1 - 1e-9) <= combined.variance <= least * 1.001 + 1 / 12
    # In the limit the tail of the sum of two Laplace variables is (a²e^{−t/a} − b²e^{−t/b})/(a² − b²).
    a, b = (
        weight / WHOLE * float(noise.scale) for noise, weight in zip(combined.noises, combined.weights, strict=True)
    )
    half = combined.half_width(0.95) + 0.5
    tail = (a**2 * math.exp(-half / a) - b**2 * math.exp(-half / b)) / (a**2 - b**2)
    assert tail == pytest.approx(0.05, rel=0.1 if scale < 100 else 0.003)


def test_a_weighted_mean_never_lies_half_way_and_is_rounded_evenly():
    combined = CombinedNoise.of(SMALL["laplace"])
    values = np.arange(-60, 61)
    pairs = np.array(list(itertools.product(values, values)))
    there = combined.combine([pairs[:, 0], pairs[:, 1]])
    back = combined.combine([-pairs[:, 0], -pairs[:, 1]])
    assert np.array_equal(there, -back)
    assert np.array_equal(combined.combine([pairs[:, 0] + 7, pairs[:, 1] + 7]), there + 7)


def test_the_tail_of_a_ratio_is_that_of_two_sums_with_this_noise():
    first, second = DiscreteLaplace(Fraction(10**6)), DiscreteLaplace(Fraction(3 * 10**6))
    combined = CombinedNoise.of([first, second])
    scale, tail = combined.ratio_law()
    # At a share of 0 one sum is left, and its tail has a closed form.
    a, b = (
        weight / WHOLE * float(noise.scale) for noise, weight in zip(combined.noises, combined.weights, strict=True)
    )
    for deviations in (0.3, 1.0, 2.0, 3.0, 5.0):
        t = deviations * scale
        exact = (a**2 * math.exp(-t / a) - b**2 * math.exp(-t / b)) / (a**2 - b**2)
        assert float(tail(np.array(0.0), t, 0.0, scale)) == pytest.approx(exact, abs=2e-5)
    x, y = (combined.sample(200_000, Words(seed)) for seed in (3, 4))
    for share in (0.2, 0.5, 0.9):
        observed = np.mean(np.abs((1 - share) * x - share * y) >= 1.5 * scale)
        expected = float(tail(np.array(share), 1.5 * scale / (1 - share), 0.0, scale))
        assert abs(observed - expected) < 5.5 * math.sqrt(expected / 200_000)
    plain = CombinedNoise.of(SMALL["gaussian"]).ratio_law()
    assert plain[0] == CombinedNoise.of(SMALL["gaussian"]).standard_error


@pytest.mark.parametrize(
    "noise", [*SMALL["both"], StaircaseNoise.calibrate(7, 1.3), DiscreteGaussian(Fraction(1100**2))], ids=str
)
def test_what_lies_below_is_the_sum_of_probabilities(noise):
    most = 7000 if noise.standard_error > 100 else 200
    line = np.arange(-most, most + 1)
    sums = np.cumsum(np.exp([noise.log_probability(int(value)) for value in line]))
    assert np.allclose(noise.cumulative(line), sums, atol=1e-7)


def test_weights_that_are_no_shares_are_refused():
    with pytest.raises(ParameterError, match="sum to 101"):
        CombinedNoise(SMALL["laplace"], (50, 50))
