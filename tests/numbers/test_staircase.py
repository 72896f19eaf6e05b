"""The staircase: the leak of drawing again until inside, the calibrated law, the clamped one, and their means."""

import numpy as np
import pytest

from bruit import audit
from bruit.errors import ParameterError, ParameterTypeError
from bruit.numbers import Staircase
from bruit.numbers.staircase_noise import resampled_epsilon


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(
    ("nominal", "true", "true_squared"),
    [(0.5, 0.700, 0.706), (1.0, 1.332, 1.349), (2.0, 2.490, 2.520), (5.0, 5.651, 5.670)],
)
def test_the_printed_version_states_its_true_epsilon(nominal, true, true_squared):
    assert Staircase.as_printed(nominal).guarantee.epsilon == pytest.approx(true, abs=0.002)
    squared = Staircase.as_printed(nominal, error="squared")
    assert squared.guarantee.epsilon == pytest.approx(true_squared, abs=0.002)
    assert resampled_epsilon(nominal) == pytest.approx(true, abs=0.0005)
    assert resampled_epsilon(nominal, "squared") == pytest.approx(true_squared, abs=0.0005)


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("error", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 5.0, 20.0])
@pytest.mark.parametrize("cells", [2, 3, 64])
def test_epsilon_is_what_was_asked_and_every_output_is_possible(clamped, error, epsilon, cells):
    mechanism = Staircase(epsilon=epsilon, bounds=(0.0, 1.0), cells=cells, clamped=clamped, error=error)
    found = audit.exact(mechanism)
    assert found.holds
    assert epsilon * (1 - 1e-9) <= found.epsilon == found.stated <= epsilon
    assert min(min(row) for row in mechanism.matrix()) > 0


@pytest.mark.parametrize(("epsilon", "nominal"), [(0.5, 0.351), (1.0, 0.733), (2.0, 1.566), (5.0, 4.365)])
def test_the_calibrated_law_runs_at_the_smaller_nominal_epsilon(epsilon, nominal):
    """The step is that of a noise whose γ belongs to the ε asked; the published figures move γ too, hence 4 %."""
    weights = Staircase(epsilon=epsilon, bounds=(0.0, 1.0), cells=1024).law.weights
    assert np.log(weights[0] / weights[-1]) == pytest.approx(nominal, rel=0.04)


def test_within_the_bounds_there_are_two_steps():
    mechanism = Staircase(epsilon=1.0, bounds=(0.0, 1.0))
    assert len(set(mechanism.law.weights)) == 2
    inside = sum(weight == mechanism.law.weights[0] for weight in mechanism.law.weights)
    assert inside == round(mechanism.gamma * mechanism.messages)


def test_the_audit_of_the_calibrated_law_stays_below_and_that_of_the_printed_one_does_not():
    """The printed one is a control that must fail."""
    honest = Staircase(epsilon=1.0, bounds=(0.0, 1.0))
    printed = Staircase.as_printed(1.0, cells=65)
    trials = 400_000
    for mechanism in (honest, printed):
        # The best pair: one end, and of the values with the largest total the farthest from it.
        totals = mechanism.law.tables.totals
        other = mechanism.points[np.flatnonzero(totals == totals.max())[-1]]
        found = audit.empirical(mechanism, 0.0, float(other), trials=trials, level=1 - 1e-7, rng=5)
        if mechanism is honest:
            assert 0.8 < found.epsilon_lower <= 1.0
            assert found.passes(honest.guarantee)
        else:
            assert found.epsilon_lower > 1.2
            assert not found.passes(honest.guarantee)
            assert found.passes(printed.guarantee)


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("cells", [2, 3, 17, 64, 74])
def test_scores_are_unbiased_for_every_cell(clamped, epsilon, cells):
    mechanism = Staircase(epsilon=epsilon, bounds=(-3.0, 7.0), cells=cells, clamped=clamped)
    assert np.abs(mechanism.probabilities() @ mechanism.message_scores - mechanism.points).max() < 1e-9


def test_without_half_cells_no_scores_would_be_unbiased():
    """A control: why reports lie on the cells and half-way between them."""
    from bruit.errors import LimitError
    from bruit.estimation.scores import unbiased_scores
    from bruit.laws.distance import DistanceLaw

    law = DistanceLaw.scale(np.where(np.arange(64) < 24, np.e, 1.0))
    with pytest.raises(LimitError, match="affine"):
        unbiased_scores(law.probabilities(), np.linspace(-1, 1, 64))


@pytest.mark.parametrize("cells", [16, 64, 200])
def test_the_variance_of_the_clamped_law_does_not_grow_with_the_cells(cells):
    mechanism = Staircase(epsilon=1.0, bounds=(-1.0, 1.0), cells=cells, clamped=True)
    worst = max(mechanism.variance(row, 1) for row in np.eye(cells))
    assert worst == pytest.approx(4.85, rel=0.02)


def test_the_clamped_law_uses_the_whole_staircase():
    """What is put on an end is what noise has beyond it: b times the sum of all noise to one side, as on the line."""
    mechanism = Staircase(epsilon=1.0, bounds=(0.0, 1.0), cells=64, clamped=True)
    weights = mechanism.law.weights
    assert weights[-1] / sum(weights) == pytest.approx(np.exp(-1), rel=1e-12)


@pytest.mark.parametrize("clamped", [False, True])
def test_the_mean_of_a_survey_is_within_its_interval(clamped):
    rng = np.random.default_rng(1)
    shares = rng.beta(5, 2, 300_000)
    mechanism = Staircase(epsilon=2.0, bounds=(0.0, 1.0), clamped=clamped)
    answer = mechanism.estimate(mechanism.tally(mechanism.privatize(shares, rng=2)), "people")
    low, high = answer.interval(1 - 1e-9)
    # Rounding to the nearest of 64 cells moves a mean by less than half a cell.
    assert low - 1 / 126 < shares.mean() < high + 1 / 126
    assert answer.standard_error < 0.01


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="error"):
        Staircase(epsilon=1.0, bounds=(0, 1), error="relative")
    with pytest.raises(ParameterError, match="clamp"):
        Staircase(epsilon=1.0, bounds=(0, 1), clamped=True, printed=True)
    with pytest.raises(ParameterTypeError, match="printed"):
        Staircase(epsilon=1.0, bounds=(0, 1), printed="yes")
