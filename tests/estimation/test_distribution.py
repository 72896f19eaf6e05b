"""Distributions: EM against its definition, the stopping rule, quantiles, and the parametric bootstrap."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import BruitError, DataError, ParameterError
from bruit.estimation.distribution import DistributionEstimate
from bruit.estimation.fitting import DenseChannel, Rule, fit, smooth
from bruit.privacy.guarantee import Guarantee

#: Three cells, four messages.
TABLE = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.4, 0.4, 0.1], [0.1, 0.1, 0.3, 0.5]])


def _estimate(counts, rule=None, table=TABLE, **others):
    counts = np.asarray(counts)
    settings = {"n": int(counts.sum()), "refused": 0, "mechanism": "test", **others}
    return DistributionEstimate(
        channel=DenseChannel(table),
        counts=counts,
        points=np.array([0.0, 1.0, 2.0]),
        rule=rule or Rule(method="EM"),
        guarantee=Guarantee(epsilon=1.0, neighbours="value"),
        **settings,
    )


def test_em_finds_the_distribution_that_made_the_reports():
    truth = np.array([0.2, 0.5, 0.3])
    found = fit(DenseChannel(TABLE), np.rint(1e6 * truth @ TABLE).astype(int), 3, Rule(method="EM", tolerance=1e-14))
    assert found.probability == pytest.approx(truth, abs=1e-3)
    assert found.stop == "tolerance"


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
@settings(deadline=None, max_examples=50)
def test_no_distribution_is_likelier_than_what_em_finds(counts):
    """At the maximum no cell explains the reports better than the average one (the optimality condition)."""
    counts = np.array(counts)
    found = fit(DenseChannel(TABLE), counts, 3, Rule(method="EM", tolerance=1e-15, iterations=100_000))
    gain = TABLE @ (counts / counts.sum() / (found.probability @ TABLE))
    assert gain.max() < 1 + 1e-3
    assert found.probability.sum() == pytest.approx(1)


def test_em_never_loses_likelihood():
    counts = np.array([40, 10, 25, 25])
    channel = DenseChannel(TABLE)
    steps = [fit(channel, counts, 3, Rule(method="EM", tolerance=1e-300, iterations=i)) for i in range(2, 30)]
    likelihoods = [step.likelihood for step in steps]
    assert all(after >= before - 1e-15 for before, after in pairwise(likelihoods))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_smoothing_keeps_the_sum_and_is_the_obvious_average(values):
    array = np.array(values)
    wide = np.concatenate([array[:1], array, array[-1:]])
    slow = [wide[i] / 4 + wide[i + 1] / 2 + wide[i + 2] / 4 for i in range(array.size)]
    assert smooth(array) == pytest.approx(slow, abs=1e-15)
    assert smooth(array).sum() == pytest.approx(array.sum())


def test_the_rule_that_ended_the_steps_is_told():
    counts = [40, 10, 25, 25]
    short = _estimate(counts, Rule(method="EM", iterations=3))
    long = _estimate(counts, Rule(method="EM", tolerance=1e-4))
    assert (short.stop, short.steps) == ("iterations", 3)
    assert long.stop == "tolerance"
    assert long.steps < 3000
    assert "stopped at its limit after 3 steps" in repr(short)
    assert "converged" in repr(long)


@pytest.mark.parametrize("bad", [{"method": "ML"}, {"tolerance": 0}, {"iterations": 0}, {"iterations": 1.5}])
def test_a_bad_rule_is_refused(bad):
    with pytest.raises(BruitError):
        Rule(**bad)


def _certain(probability):
    """An estimate whose probabilities are these, by a channel that says everything."""
    counts = np.rint(np.array(probability) * 1000).astype(int)
    return _estimate(counts, table=np.eye(3) * 0.999997 + 1e-6)


def test_quantiles_and_cdf_undo_each_other_and_spread_a_cell_evenly():
    answer = _certain([0.2, 0.5, 0.3])
    assert answer.cdf([0.0, 0.5, 1.5, 2.0]) == pytest.approx([0, 0.2, 0.7, 1], abs=1e-3)
    assert answer.quantile([0, 0.2, 0.45, 0.7, 1]) == pytest.approx([0, 0.5, 1.0, 1.5, 2.0], abs=2e-3)
    shares = np.linspace(0, 1, 21)
    assert answer.cdf(answer.quantile(shares)) == pytest.approx(shares, abs=1e-9)
    assert answer.cdf([-5, 9]).tolist() == [0, 1]


def test_the_histogram_is_the_difference_of_the_cdf():
    answer = _certain([0.2, 0.5, 0.3])
    assert answer.histogram([0, 0.5, 2]) == pytest.approx([0.2, 0.8], abs=1e-3)
    for bad in ([1], [1, 1], [2, 1], [[0, 1]]):
        with pytest.raises(ParameterError, match="increasing"):
            answer.histogram(bad)


def test_the_wasserstein_distance_is_the_way_that_the_mass_must_go():
    answer = _certain([1.0, 0.0, 0.0])
    assert answer.wasserstein([0, 0, 1]) == pytest.approx(2, abs=1e-4)
    assert answer.wasserstein(answer.probability) == 0
    with pytest.raises(ParameterError, match="one per cell"):
        answer.wasserstein([1.0])


def test_a_share_outside_0_1_is_refused():
    for bad in (-0.1, 1.1, [0.5, float("nan")]):
        with pytest.raises(ParameterError, match=r"0\.\.1"):
            _certain([0.2, 0.5, 0.3]).quantile(bad)


def test_the_bootstrap_is_reproducible_by_its_seed_and_shrinks_with_the_people():
    small, large = _estimate([40, 10, 25, 25]), _estimate([4000, 1000, 2500, 2500])
    first, again, other = (small.bootstrap(50, rng=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.probability, again.probability)
    assert not np.array_equal(first.probability, other.probability)
    narrow = np.diff(large.bootstrap(50, rng=1).cdf(1.0))
    assert float(narrow[0, 0]) < float(np.diff(first.cdf(1.0))[0, 0]) / 3


def test_bootstrap_intervals_cover_where_the_fit_is_unbiased():
    """Cells that are told nearly for certain: the share of the first cell is binomial, and so are its intervals."""
    generator = np.random.default_rng(1)
    truth, hits = np.array([0.3, 0.3, 0.4]), 0
    for run in range(300):
        answer = _estimate(generator.multinomial(400, truth), table=np.eye(3) * 0.999997 + 1e-6)
        lower, upper = answer.bootstrap(100, rng=run).cdf(0.5, level=0.9)[0]
        hits += lower <= 0.3 <= upper
    # P(Bin(300, 0.9) < 240) is below 10⁻⁶; 100 runs of a bootstrap and whole counts take up to three per cent away.
    assert 230 <= hits <= 297


def test_intervals_of_the_bootstrap_stay_within_what_is_possible():
    boot = _estimate([9, 0, 0, 0]).bootstrap(30, rng=3)
    ends = boot.interval(0.99)
    assert ends.shape == (3, 2)
    assert (ends >= 0).all()
    assert (ends <= 1).all()
    quantiles = boot.quantile([0.1, 0.9])
    assert (quantiles >= 0).all()
    assert (quantiles <= 2).all()
    assert repr(boot) == "Bootstrap(30 fits over 3 cells)"


def test_the_document_states_the_rule_and_which_part_of_it_was_met():
    answer = _estimate([40, 10, 25, 25], refused=2, simulated=True, name="age")
    body = json.loads(answer.to_json())
    assert body["format"] == "bruit.result/1"
    assert (body["method"], body["stop"], body["iterations"], body["refused"]) == ("EM", "tolerance", 10_000, 2)
    assert body["simulated"] is True
    assert [set(cell) for cell in body["cells"]] == [{"value", "probability", "cdf"}] * 3
    assert "age below" in repr(answer)
    assert "simulated" in answer._repr_html_()
    assert list(answer.to_frame("pandas").columns) == ["value", "probability", "cdf"]


def test_nothing_can_be_fitted_to_nobody():
    with pytest.raises(DataError, match="no valid report"):
        _estimate([0, 0, 0, 0])
