"""A second draw that depends on the first: the pair costs the larger ε, and the draw has the law it says."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from bruit.entropy import Words
from bruit.errors import ParameterError
from bruit.releases.gradual import GradualLaplace
from bruit.releases.noise import DiscreteLaplace

PAIRS = [
    GradualLaplace(DiscreteLaplace(Fraction(first)), DiscreteLaplace(Fraction(second)))
    for first, second in ((4, 2), (Fraction(7, 2), 3), (Fraction(1, 2), Fraction(1, 3)), (10, 1))
]
LINE = range(-25, 26)


def pair_loss(first, chance, shift=1):
    """The largest |ln P(y₁, y₂ | s)/P(y₁, y₂ | s + shift)|, with P(y₁)·P(y₂ | y₁), over a box of outcomes."""

    def law(outcome, second, exact):
        return first.log_probability(outcome - exact) + math.log(chance(second - exact, outcome - exact))

    return max(abs(law(a, b, 0) - law(a, b, shift)) for a, b in itertools.product(LINE, LINE))


@pytest.mark.parametrize("law", PAIRS, ids=str)
def test_the_pair_loses_what_the_second_draw_alone_would(law):
    second = float(1 / law.second.scale)
    assert pair_loss(law.first, law.probability) == pytest.approx(second, rel=1e-9)
    # The control: an independent second draw of that scale loses the sum of both.
    independent = pair_loss(law.first, lambda value, _: math.exp(law.second.log_probability(value)))
    assert independent == pytest.approx(second + float(1 / law.first.scale), rel=1e-9)


@pytest.mark.parametrize("law", PAIRS, ids=str)
def test_given_the_first_probabilities_sum_to_one_and_the_first_keeps_its_law(law):
    for first in (0, 1, -4, 20):
        assert math.fsum(law.probability(value, first) for value in range(-400, 400)) == pytest.approx(1, abs=1e-12)
    # Σ P(x₁)·P(x₂ | x₁) over x₁ is the law of the second noise.
    for value in (0, 2, -7):
        chances = (
            math.exp(law.first.log_probability(first)) * law.probability(value, first) for first in range(-300, 300)
        )
        assert math.log(math.fsum(chances)) == pytest.approx(law.second.log_probability(value), abs=1e-9)


def fits(law, given, drawn):
    """Whether draws fit the law given a first noise, by a χ² test of level 10⁻⁷."""
    values, counts = np.unique(drawn, return_counts=True)
    expected = np.array([drawn.size * law.probability(int(value), given) for value in values])
    kept = expected > 8
    rest = drawn.size - counts[kept].sum(), drawn.size - expected[kept].sum()
    statistic = ((counts[kept] - expected[kept]) ** 2 / expected[kept]).sum() + (rest[0] - rest[1]) ** 2 / max(
        rest[1], 8
    )
    return statistic < stats.chi2.isf(1e-7, kept.sum())


@pytest.mark.parametrize("law", PAIRS[:3], ids=str)
@pytest.mark.parametrize("first", [0, 3, -2])
def test_draws_have_the_law_given_the_first_and_not_that_of_another(law, first):
    drawn = law.draw(np.full(2500, first), Words(11))
    assert fits(law, first, drawn)
    assert not fits(PAIRS[3], first, drawn)


def test_large_scales_and_far_first_draws_are_drawn_too():
    law = GradualLaplace(DiscreteLaplace(Fraction(2**40)), DiscreteLaplace(Fraction(2**39)))
    drawn = law.draw(law.first.sample(1500, Words(1)), Words(2))
    assert 0.8 < drawn.std() / law.second.standard_error < 1.2
    assert np.abs(PAIRS[2].draw(np.array([2**61, -(2**61)]), Words(3))).max() < 100


def test_a_second_draw_with_more_noise_is_refused():
    with pytest.raises(ParameterError, match="smaller scale"):
        GradualLaplace(DiscreteLaplace(Fraction(2)), DiscreteLaplace(Fraction(2)))
