"""Duchi's, the piecewise and the hybrid mechanism: figures of the papers, unbiased means, honest intervals."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bruit.errors import LimitError, ParameterError
from bruit.numbers.mean import Duchi, Hybrid, Piecewise

KINDS = [Duchi, Piecewise, Hybrid]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.1, 0.61, 0.62, 1.0, 4.0])
@pytest.mark.parametrize("cells", [2, 3, 11])
def test_every_message_is_possible_under_every_input_and_epsilon_is_exact(kind, epsilon, cells):
    number = kind(epsilon=epsilon, bounds=(-1.0, 1.0), cells=cells)
    rows = number.matrix()
    assert all(sum(row) == 1 and min(row) > 0 for row in rows)
    ratio = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert ratio == number.law.ratio
    assert math.log(ratio) <= number.guarantee.epsilon * (1 + 1e-15)
    assert epsilon * (1 - 1e-9) < number.guarantee.epsilon <= epsilon


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [2, 5, 37])
def test_what_a_message_stands_for_has_the_number_itself_as_its_mean(kind, cells):
    """In fractions, up to the rounding of the outputs to floats."""
    number = kind(epsilon=1.3, bounds=(20.0, 80.0), cells=cells)
    outputs = [Fraction(float(output)) for output in number.outputs]
    for point, row in zip(number.points, number.matrix(), strict=True):
        assert abs(sum(p * y for p, y in zip(row, outputs, strict=True)) - Fraction(float(point))) < Fraction(1, 10**11)


@pytest.mark.parametrize(("epsilon", "worst"), [(0.5, 16.7), (1.0, 4.29), (2.0, 1.04), (4.0, 0.22)])
def test_the_hybrid_has_the_worst_case_variance_of_the_paper(epsilon, worst):
    number = Hybrid(epsilon=epsilon, bounds=(-1.0, 1.0))
    assert number.output_variance().max() == pytest.approx(worst, rel=0.03)


@pytest.mark.parametrize("epsilon", [0.1, 0.61, 0.7, 1.0, 2.0, 4.0, 8.0, 10.9])
def test_the_hybrid_is_never_worse_than_its_parts(epsilon):
    hybrid, piecewise, duchi = (
        kind(epsilon=epsilon, bounds=(-1.0, 1.0)).output_variance().max() for kind in (Hybrid, Piecewise, Duchi)
    )
    assert hybrid <= min(piecewise, duchi) * 1.0001


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 7.0, 10.9])
@pytest.mark.parametrize("cells", ["least", "default"])
def test_the_grid_costs_less_than_three_per_cent_of_the_continuous_variance(epsilon, cells):
    """From 17·e^{ε/2} cells on, at the ends and in the middle; the default is at least that fine."""
    h = math.exp(epsilon / 2)
    fine = math.ceil(17 * h)
    number = Piecewise(epsilon=epsilon, bounds=(-1.0, 1.0), cells=fine if cells == "least" else 0)
    assert number.cells >= fine
    x = number.points
    continuous = x**2 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)
    assert number.output_variance()[[0, -1]] == pytest.approx(continuous[[0, -1]], rel=0.03)
    assert number.output_variance().max() == pytest.approx(continuous.max(), rel=0.03)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_duchi_has_the_variance_of_the_formula(epsilon):
    number = Duchi(epsilon=epsilon, bounds=(-1.0, 1.0))
    c = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    assert number.outputs == pytest.approx([-c, c], rel=1e-12)
    assert number.output_variance() == pytest.approx(c**2 - number.points**2, rel=1e-9)


def test_up_to_an_epsilon_of_061_the_hybrid_is_duchi():
    small, large = Hybrid(epsilon=0.61, bounds=(0, 10)), Hybrid(epsilon=0.62, bounds=(0, 10))
    assert small.matrix() == Duchi(epsilon=0.61, bounds=(0, 10)).matrix()
    assert small.piecewise_probability == 0
    assert float(large.piecewise_probability) == pytest.approx(1 - math.exp(-0.31), rel=1e-9)


def test_which_part_of_the_hybrid_was_used_does_not_depend_on_the_number():
    number = Hybrid(epsilon=2.0, bounds=(0, 9))
    assert {sum(row[:-2]) for row in number.matrix()} == {number.piecewise_probability}


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_mean_is_unbiased_and_varies_as_stated(kind, epsilon):
    """1,000 collections from the same people and as many from people drawn anew: mean and variance of the estimate."""
    number = kind(epsilon=epsilon, bounds=(0.0, 1.0), cells=33)
    shares = np.linspace(1, 4, 33) ** 3
    people = np.floor(shares / shares.sum() * 3000).astype(np.int64)
    n, truth = int(people.sum()), float(people @ number.points / people.sum())
    generator = np.random.default_rng(11)
    for target in ("people", "population"):
        found = []
        for run in range(1000):
            counts = people if target == "people" else generator.multinomial(n, people / n)
            found.append(number.estimate(number.simulate(counts, rng=run), target).mean)
        stated = number.variance(people, n, target)
        assert abs(np.mean(found) - truth) < 5.5 * math.sqrt(stated / 1000)
        assert np.var(found) / stated == pytest.approx(1, abs=0.26)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["people", "population"])
def test_the_estimated_variance_is_the_true_one_or_stated_above_it(kind, target):
    """Two messages tell nothing about squares, so Duchi's variance for the people is that for the population."""
    number = kind(epsilon=1.0, bounds=(0.0, 1.0), cells=65)
    people = np.full(65, 2000)
    answers = [number.estimate(number.simulate(people, rng=run), target) for run in range(50)]
    wanted = "population" if kind is Duchi else target
    assert np.mean([answer.variance for answer in answers]) == pytest.approx(
        number.variance(people, people.sum(), wanted), rel=0.01
    )


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_as_often_as_they_say(kind):
    number = kind(epsilon=1.0, bounds=(0, 64))
    shares = np.arange(65.0)
    truth = float(shares @ number.points / shares.sum())
    generator = np.random.default_rng(3)
    hits = 0
    for run in range(2000):
        counts = generator.multinomial(2000, shares / shares.sum())
        lower, upper = number.estimate(number.simulate(counts, rng=run)).interval(0.9)
        hits += lower <= truth <= upper
    assert abs(hits / 2000 - 0.9) < 0.04


@pytest.mark.parametrize("kind", KINDS)
def test_reports_of_real_people_have_the_same_mean_as_simulated_ones(kind):
    number = kind(epsilon=2.0, bounds=(-5.0, 5.0))
    values = np.linspace(-5, 3, 200_000)
    answer = number.estimate(number.tally(number.privatize(values, rng=5)))
    assert abs(answer.mean - values.mean()) < 5.5 * answer.standard_error
    assert number.decode(number.privatize(values[:5], rng=5)).shape == (5,)


@pytest.mark.parametrize("kind", KINDS)
def test_stochastic_rounding_leaves_the_mean_of_a_coarse_grid_unbiased(kind):
    """All people at 0.3 on a grid of two cells: the nearest cell is 0; stochastic rounding gets the mean right."""
    values = np.full(400_000, 0.3)
    means = {}
    for rounding in ("nearest", "stochastic"):
        number = kind(epsilon=6.0, bounds=(0.0, 1.0), cells=2, rounding=rounding)
        means[rounding] = number.estimate(number.tally(number.privatize(values, rng=1))).mean
    assert abs(means["stochastic"] - 0.3) < 0.01
    assert abs(means["nearest"]) < 0.01


def test_whole_numbers_keep_their_own_cells_and_real_ones_get_enough():
    assert Piecewise(epsilon=1.0, bounds=(17, 90)).cells == 74
    assert Piecewise(epsilon=1.0, bounds=(17.0, 90.0)).cells == 1024
    assert Piecewise(epsilon=10.0, bounds=(17.0, 90.0)).cells == math.ceil(17 * math.exp(5))


@pytest.mark.parametrize("kind", [Piecewise, Hybrid])
def test_an_epsilon_whose_windows_would_need_too_many_cells_is_refused_unless_cells_are_declared(kind):
    with pytest.raises(LimitError, match="Declare cells"):
        kind(epsilon=12.0, bounds=(0.0, 1.0))
    number = kind(epsilon=12.0, bounds=(0.0, 1.0), cells=100)
    assert number.guarantee.epsilon <= 12.0


def test_two_messages_refuse_to_tell_a_distribution():
    number = Duchi(epsilon=1.0, bounds=(0, 10))
    answer = number.estimate(number.tally(number.privatize([3, 4, 5], rng=1)))
    with pytest.raises(ParameterError, match="SquareWave"):
        answer.distribution()


def test_the_piecewise_and_hybrid_reports_tell_a_distribution_too():
    for kind in (Piecewise, Hybrid):
        number = kind(epsilon=4.0, bounds=(0.0, 1.0), cells=101)
        tally = number.tally(number.privatize(np.linspace(0.4, 0.6, 50_000), rng=3))
        assert number.estimate(tally).distribution().quantile(0.5) == pytest.approx(0.5, abs=0.02)
