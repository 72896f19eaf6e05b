"""Estimates over rounds: means and differences have the variance that is stated, and what is not known is bounded."""

import numpy as np
import pytest

import bruit
from bruit.errors import BruitError, DataError, DesignError, ParameterError
from bruit.oracles import Oracle, RandomizedResponse, Repeated, UnaryEncoding

PEOPLE = np.array([200, 120, 80, 60, 40, 0, 0])
SAMPLES = 150


def panel_of(name):
    return Repeated(bruit.oracle(name, epsilon=1.5, k=7), epoch=2.0)


def spread(panel, combine):
    """The observed mean square error of a contrast over its stated variance; 1 if that is right."""
    errors, stated = [], []
    for seed in range(SAMPLES):
        contrast, truth = combine(panel.simulate(PEOPLE, rounds=4, rng=seed))
        errors.append((contrast.frequency - truth) ** 2)
        stated.append(contrast.variance)
    return np.mean(errors) / np.mean(stated)


def mean_of(series):
    return series.mean(target="people"), PEOPLE / 500


def difference_of(series):
    return series.difference(0, 3, target="people"), np.zeros(7)


# About 150 × 6 squares of nearly normal numbers: one deviation is 5 %, and 0.27 more than five.
@pytest.mark.audit(share=3)
@pytest.mark.parametrize("combine", [mean_of, difference_of])
@pytest.mark.parametrize("name", ["GRR", "SUE", "OUE", "SS", "PGR", "HR", "OLH"])
def test_a_mean_and_a_difference_have_the_stated_variance(name, combine):
    assert spread(panel_of(name), combine) == pytest.approx(1.0, abs=0.27)


@pytest.mark.parametrize("kind", [RandomizedResponse, UnaryEncoding])
def test_the_quick_simulation_has_the_law_of_reports(kind, monkeypatch):
    """The same, by the reports of people and not by counts of memos."""
    monkeypatch.setattr(kind, "simulate_rounds", Oracle.simulate_rounds)
    panel = panel_of("GRR" if kind is RandomizedResponse else "OUE")
    assert spread(panel, mean_of) == pytest.approx(1.0, abs=0.27)
    assert spread(panel, difference_of) == pytest.approx(1.0, abs=0.27)


def test_rounds_taken_for_independent_would_understate_the_variance_of_a_mean():
    """The control: V/T is far below what is observed, 2V far above for a difference."""
    panel = panel_of("GRR")
    observed = spread(panel, mean_of)
    variance = panel.oracle.variance(PEOPLE / 500, 500, "people").mean()
    stated = panel.simulate(PEOPLE, rounds=4, rng=0).mean(target="people").variance.mean()
    assert observed * stated > 1.5 * variance / 4
    apart = panel.simulate(PEOPLE, rounds=4, rng=0).difference(0, 3, target="people").variance.mean()
    assert apart < 1.4 * variance


@pytest.mark.parametrize(("rounds", "figure"), [(1, 3.68), (4, 1.46), (16, 0.91), (64, 0.77)])
def test_the_memo_does_not_average_out(rounds, figure):
    panel = Repeated(bruit.oracle("OUE", epsilon=1.0, k=50), epoch=2.0)
    everybody = np.zeros(50, int)
    everybody[0] = 10**6
    stated = panel.simulate(everybody, rounds, rng=1).mean(target="people").variance * 10**6
    assert np.median(stated) == pytest.approx(figure, rel=0.01)
    assert np.median(stated) > panel.memo.variance(np.array([0.0]), 1)[0]


def test_between_epochs_noise_is_independent():
    panel = panel_of("GRR")
    series = panel.simulate([PEOPLE, PEOPLE[::-1]], rounds=2, rng=1)
    assert series.epochs == (0, 0, 1, 1)
    change = series.difference(0, 2, target="people")
    shares = [series.frequency[:2].mean(axis=0).clip(0, 1), series.frequency[2:].mean(axis=0).clip(0, 1)]
    wanted = sum(panel.oracle.variance(share, 500, "people") for share in shares)
    assert change.variance == pytest.approx(wanted)


def test_for_a_population_that_swaps_its_values_the_variance_is_not_understated():
    """Everybody changes from one value to the other: the difference varies more than two independent samples would."""
    panel = Repeated(bruit.oracle("GRR", epsilon=8.0, k=2), epoch=9.0)
    generator = np.random.default_rng(5)
    n, changes, stated, apart = 400, [], [], []
    for seed in range(400):
        first = generator.binomial(n, 0.5)
        series = panel.simulate([[first, n - first], [n - first, first]], rounds=1, rng=seed)
        contrast = series.difference(0, 1)
        changes.append(contrast.frequency[0])
        stated.append(contrast.variance[0])
        apart.append(series.estimates()[0].variance[0] + series.estimates()[1].variance[0])
    # 400 squares: five deviations are 35 %.
    assert np.mean(np.square(changes)) < 1.35 * np.mean(stated)
    assert np.mean(np.square(changes)) > 1.35 * np.mean(apart)  # the control: covariance left out


@pytest.mark.parametrize("target", ["people", "population"])
def test_without_the_same_people_a_variance_is_never_less(target):
    series = panel_of("SS").simulate([PEOPLE, PEOPLE[::-1]], rounds=3, rng=1)
    for same, other in [
        (series.mean(target=target), series.mean(target=target, same_people=False)),
        (series.difference(0, 1, target=target), series.difference(0, 1, target=target, same_people=False)),
        (series.difference(0, 5, target=target), series.difference(0, 5, target=target, same_people=False)),
    ]:
        assert (other.variance >= same.variance * (1 - 1e-12)).all()
        assert (other.frequency == same.frequency).all()


def test_a_change_is_found_and_none_is_seldom_found():
    panel = panel_of("OUE")
    quiet = [panel.simulate([PEOPLE * 20, PEOPLE * 20], 1, rng=seed).difference(0, 1) for seed in range(200)]
    # At most 0.2 expected: eight have a chance below 10⁻⁹.
    assert sum(change.p_value < 1e-3 for change in quiet) < 8
    moved = panel.simulate([PEOPLE * 20, np.roll(PEOPLE, 3) * 20], 1, rng=1).difference(0, 1)
    assert moved.p_value < 1e-9
    assert moved.p_values.shape == (7,)
    ends = moved.interval(0.999)
    truth = (np.roll(PEOPLE, 3) - PEOPLE) / 500
    assert ((ends[:, 0] < truth) & (truth < ends[:, 1])).sum() >= 5


def test_a_series_of_real_reports_has_the_estimates_of_its_rounds():
    panel = Repeated(bruit.oracle("GRR", epsilon=1.0, labels=["a", "b", "c"]), 2.0)
    memos = panel.memoize(["a", "b", "c", "a"] * 100, rng=1)
    tallies = [panel.oracle.tally(panel.answer(memos, rng=seed)) for seed in range(3)]
    series = panel.series(tallies)
    wanted = [panel.oracle.estimate(tally) for tally in tallies]
    assert (series.frequency == [answer.frequency for answer in wanted]).all()
    assert (series.interval(0.9) == [answer.interval(0.9) for answer in wanted]).all()
    assert series.mean().frequency == pytest.approx(np.mean([answer.frequency for answer in wanted], axis=0))
    assert len(series.table().to_csv().splitlines()) == 10
    assert len(series.mean().table().to_csv().splitlines()) == 4
    assert series.mean([1]).variance == pytest.approx(panel.oracle.variance(series.frequency.mean(axis=0), 400))


def test_a_simulated_panel_says_so_and_repeats_with_its_seed():
    panel = panel_of("HR")
    series = panel.simulate(PEOPLE, 3, rng=4)
    assert all(tally.simulated for tally in series.tallies)
    assert (series.frequency == panel.simulate(PEOPLE, 3, rng=4).frequency).all()
    assert (series.frequency != panel.simulate(PEOPLE, 3, rng=5).frequency).any()


def test_what_makes_no_series_is_refused():
    panel = panel_of("GRR")
    series = panel.simulate(PEOPLE, 2, rng=1)
    fewer = panel.simulate(PEOPLE // 2, 1, rng=1)
    mixed = panel.series([*series.tallies, *fewer.tallies])
    with pytest.raises(DataError, match="same_people=False"):
        mixed.difference(0, 2)
    assert (mixed.difference(0, 2, same_people=False).variance > 0).all()
    with pytest.raises(DataError, match="one round"):
        panel.series([])
    with pytest.raises(ParameterError, match="epochs"):
        panel.series(series.tallies, epochs=[0])
    with pytest.raises(DesignError):
        panel_of("SS").series(series.tallies)
    for bad in (lambda: series.difference(0, 0), lambda: series.difference(0, 2), lambda: series.mean([])):
        with pytest.raises(BruitError):
            bad()
    for bad in (lambda: series.mean([0, 0]), lambda: series.mean(target="all"), lambda: panel.simulate(PEOPLE, 0)):
        with pytest.raises(BruitError):
            bad()
    with pytest.raises(BruitError, match="counts"):
        panel.simulate([1, 2], 1)
