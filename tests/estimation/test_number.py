"""Estimates of a mean: what they say, in every form, and that the stated variance is right."""

import json

import numpy as np
import pytest

from bruit import documents
from bruit.errors import DataError, ParameterError
from bruit.numbers import BoundedLaplace


@pytest.fixture(scope="module")
def mechanism():
    return BoundedLaplace(epsilon=2.0, bounds=(0, 10), clamped=True)


@pytest.fixture(scope="module")
def tally(mechanism):
    return mechanism.tally(np.append(mechanism.privatize([3] * 4000 + [7] * 1000, rng=1), [99]))


def test_mean_variance_and_interval_belong_together(mechanism, tally):
    answer = mechanism.estimate(tally)
    low, high = answer.interval(0.95)
    assert low < 3.8 < high
    assert (low + high) / 2 == pytest.approx(answer.mean)
    assert (high - low) / 2 == pytest.approx(1.959964 * answer.standard_error, rel=1e-6)
    assert answer.standard_error**2 == pytest.approx(answer.variance)
    assert answer.interval(0.5)[0] > low


def test_the_people_vary_less_than_their_population(mechanism, tally):
    population, people = mechanism.estimate(tally), mechanism.estimate(tally, target="people")
    assert people.mean == population.mean
    assert people.variance < population.variance
    # The drawing of the people adds their own variance: 0.8·0.2·4² here, seen through noise of about 12.
    assert (population.variance - people.variance) * tally.n == pytest.approx(2.56, rel=0.5)


def test_the_estimated_variance_is_the_exact_one_at_the_true_distribution(mechanism, tally):
    shares = np.zeros(11)
    shares[3], shares[7] = 0.8, 0.2
    exact = {target: mechanism.variance(shares, 5000, target) for target in ("population", "people")}
    assert exact["population"] - exact["people"] == pytest.approx(2.56 / 5000)
    for target, variance in exact.items():
        assert mechanism.estimate(tally, target).variance == pytest.approx(variance, rel=0.1)


def test_an_estimate_can_be_read_printed_and_sent(mechanism, tally):
    answer = mechanism.estimate(tally)
    assert "5,000 reports" in repr(answer)
    assert "1 refused" in repr(answer)
    assert "simulated" not in repr(answer)
    assert "<table>" in answer._repr_html_()
    body = documents.unseal(answer.to_json(), "bruit.result/1")
    assert body["mean"] == answer.mean
    assert body["bounds"] == [0, 10]
    assert json.loads(answer.to_json())["n"] == 5000
    for backend in ("pandas", "polars", "pyarrow"):
        assert len(answer.to_frame(backend)) == 1


def test_a_simulated_tally_is_told(mechanism):
    answer = mechanism.estimate(mechanism.simulate(np.full(11, 50), rng=1))
    assert "simulated" in repr(answer)
    assert answer.to_dict()["simulated"] is True


def test_bad_requests_are_refused(mechanism, tally):
    with pytest.raises(ParameterError, match="target"):
        mechanism.estimate(tally, "nobody")
    with pytest.raises(ParameterError, match="method"):
        mechanism.estimate(tally, method="exact")
    with pytest.raises(ParameterError, match="level"):
        mechanism.estimate(tally).interval(1.5)
    with pytest.raises(DataError):
        mechanism.estimate(mechanism.tally([]))


def test_one_report_has_a_mean_and_no_negative_variance(mechanism):
    for target in ("population", "people"):
        answer = mechanism.estimate(mechanism.tally([4]), target)
        assert np.isfinite(answer.mean)
        assert answer.variance >= 0


def test_the_distribution_is_near_the_truth(mechanism, tally):
    found = mechanism.estimate(tally).distribution("EM")
    assert found.probability.sum() == pytest.approx(1)
    assert found.probability[2:5].sum() > 0.6
