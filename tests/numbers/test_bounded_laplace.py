"""Bounded Laplace: exactly ε, the law of drawing again until inside, unbiased means; cut and clamped."""

import numpy as np
import pytest

from bruit import audit
from bruit.entropy import Entropy
from bruit.errors import ParameterTypeError
from bruit.numbers import BoundedLaplace


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 5.0, 20.0])
@pytest.mark.parametrize("cells", [2, 3, 64])
def test_epsilon_is_what_was_asked_and_every_output_is_possible(clamped, epsilon, cells):
    mechanism = BoundedLaplace(epsilon=epsilon, bounds=(0.0, 1.0), cells=cells, clamped=clamped)
    found = audit.exact(mechanism)
    assert found.holds
    assert epsilon * (1 - 1e-9) <= found.epsilon == found.stated <= epsilon
    assert min(min(row) for row in mechanism.matrix()) > 0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 5.0])
def test_the_printed_version_is_charged_what_it_is_worth(epsilon):
    assert BoundedLaplace.as_printed(epsilon).guarantee.epsilon == pytest.approx(epsilon, rel=1e-9)


def test_the_law_is_that_of_drawing_again_until_inside():
    """Against the loop of the textbook, in floats, on bins: a χ² that stays below its limit at 10⁻⁶."""
    rng = np.random.default_rng(5)
    n, x, bins = 200_000, 0.2, 16
    found = np.empty(0)
    while found.size < n:
        tried = x + rng.laplace(0, 1.0, n)
        found = np.concatenate([found, tried[(tried >= 0) & (tried <= 1)]])
    # Fine cells, so that a bin of the grid is a bin of the line up to a hundredth of a per cent.
    mechanism = BoundedLaplace(epsilon=1.0, bounds=(0.0, 1.0), cells=4001)
    row = mechanism.law.probabilities()[800]
    expected = np.add.reduceat(row[:-1], np.arange(0, 4000, 4000 // bins)) * n
    seen = np.histogram(found[:n], bins=bins, range=(0, 1))[0]
    assert float(((seen - expected) ** 2 / expected).sum()) < 60


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("cells", [2, 9, 64])
def test_scores_are_unbiased_for_every_cell(clamped, cells):
    mechanism = BoundedLaplace(epsilon=1.0, bounds=(-3.0, 7.0), cells=cells, clamped=clamped)
    assert np.abs(mechanism.probabilities() @ mechanism.message_scores - mechanism.points).max() < 1e-11


@pytest.mark.parametrize(("cells", "worst"), [(16, 18.8), (64, 60.5)])
def test_the_variance_of_the_cut_law_grows_with_the_cells_and_that_of_the_clamped_one_does_not(cells, worst):
    cut = BoundedLaplace(epsilon=1.0, bounds=(-1.0, 1.0), cells=cells)
    clamped = BoundedLaplace(epsilon=1.0, bounds=(-1.0, 1.0), cells=cells, clamped=True)
    at_each = np.eye(cells)
    assert max(cut.variance(row, 1) for row in at_each) == pytest.approx(worst, rel=0.01)
    assert max(clamped.variance(row, 1) for row in at_each) == pytest.approx(5.5, rel=0.02)


def test_outputs_are_pulled_to_the_middle():
    mechanism = BoundedLaplace(epsilon=1.0, bounds=(-1.0, 1.0), cells=33)
    mean, variance = mechanism.output_mean(), mechanism.output_variance()
    assert mean[16] == pytest.approx(0, abs=1e-12)
    assert -1 < mean[0] < 0 < mean[-1] < 1
    assert (np.diff(mean) > 0).all()
    assert ((variance > 0) & (variance < 1)).all()


def test_mean_and_variance_of_the_output_are_those_observed():
    mechanism = BoundedLaplace(epsilon=1.0, bounds=(-1.0, 1.0), cells=33)
    n = 200_000
    numbers = mechanism.decode(mechanism.privatize(np.full(n, -0.5), rng=9))
    mean, variance = mechanism.output_mean()[8], mechanism.output_variance()[8]
    assert abs(numbers.mean() - mean) < 6 * np.sqrt(variance / n)
    assert numbers.var() == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("clamped", [False, True])
def test_the_mean_of_a_survey_is_within_its_interval(clamped):
    rng = np.random.default_rng(1)
    ages = np.clip(rng.normal(40, 12, 200_000), 17, 90)
    mechanism = BoundedLaplace(epsilon=2.0, bounds=(17, 90), clamped=clamped)
    answer = mechanism.estimate(mechanism.tally(mechanism.privatize(ages, rng=2)))
    low, high = answer.interval(1 - 1e-9)
    assert low < ages.mean() < high
    assert answer.standard_error < (0.5 if clamped else 1.0)


def test_the_affine_method_varies_less_and_says_how_biased_it_is():
    mechanism = BoundedLaplace(epsilon=1.0, bounds=(-1.0, 1.0), cells=64)
    tally = mechanism.simulate(np.full(64, 1000), rng=3)
    unbiased, affine = mechanism.estimate(tally), mechanism.estimate(tally, method="affine")
    assert affine.variance < unbiased.variance / 3
    assert unbiased.bias_bound == float(mechanism.domain.step) / 2  # what rounding to the nearest cell can shift
    assert 0.05 < affine.bias_bound - unbiased.bias_bound < 0.1
    bias = mechanism.probabilities() @ affine.model.scores - mechanism.points
    assert np.abs(bias).max() == pytest.approx(affine.bias_bound - unbiased.bias_bound, rel=1e-6)
    low, high = affine.interval()
    assert (high - low) / 2 == pytest.approx(1.959964 * affine.standard_error + affine.bias_bound, rel=1e-6)


def test_the_work_and_the_words_do_not_depend_on_the_value():
    """Three kinds of people use the same words of one stream, up to the one in a thousand that is drawn again."""
    mechanism = BoundedLaplace(epsilon=1.0, bounds=(0, 100))
    used = []
    for value in (0, 50, 100):
        entropy = CountingEntropy(1)
        mechanism._randomize_cells(np.full(10_000, value, np.uint8), entropy, np.empty(10_000, np.uint8))
        used.append(entropy.words_used)
    assert all(10_000 <= count <= 10_050 for count in used)


class CountingEntropy(Entropy):
    """Counts the words that are asked for."""

    __slots__ = ("words_used",)

    def __init__(self, seed):
        super().__init__(seed)
        self.words_used = 0

    def fill(self, out):
        self.words_used += out.size
        super().fill(out)


def test_clamped_is_true_or_false():
    with pytest.raises(ParameterTypeError, match="clamped"):
        BoundedLaplace(epsilon=1.0, bounds=(0, 1), clamped=1)
