"""The figures that randomised response promises, over the whole range of ε and k and on the people of a real table."""

from __future__ import annotations

import math
from collections import Counter

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from bruit import audit, datasets
from bruit.entropy import Entropy
from bruit.estimation import Tally
from bruit.oracles import RandomizedResponse

EPSILONS = [0.01, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0]
SIZES = [2, 3, 7, 128, 1024, 10**6]

RUNS = 20_000


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_worst_ratio_is_below_the_stated_epsilon_and_that_below_what_was_asked(epsilon: float, k: int) -> None:
    oracle = RandomizedResponse(epsilon=epsilon, k=k)
    found = audit.exact(oracle)
    stated = oracle.guarantee.epsilon
    with mpmath.workdps(80):
        worst = mpmath.mpf(found.ratio.numerator) / found.ratio.denominator
        assert worst <= mpmath.exp(mpmath.mpf(stated)) <= mpmath.exp(mpmath.mpf(epsilon))
    assert stated >= epsilon * (1 - 1e-9)
    assert found.holds
    assert found.method == ("closed form" if k == 10**6 else "enumeration")


@pytest.fixture(scope="module")
def adult() -> tuple[RandomizedResponse, NDArray[np.int64]]:
    """The marital status of the people of the Adult table: the oracle that asks for it, and the true counts."""
    table = datasets.load("adult")
    labels = table.schema["marital-status"].labels
    counted = Counter(table["marital-status"].tolist())
    counts = np.array([counted[label] for label in labels])
    assert sorted(counts.tolist()) == [37, 628, 1518, 1530, 6633, 16117, 22379]
    return RandomizedResponse(epsilon=1.0, labels=labels), counts


def _frequencies(oracle: RandomizedResponse, tallies: list[Tally]) -> NDArray[np.float64]:
    return np.array([oracle.estimate(tally, "people").frequency for tally in tallies])


@pytest.fixture(scope="module")
def collections(adult: tuple[RandomizedResponse, NDArray[np.int64]]) -> NDArray[np.float64]:
    """Frequencies estimated from many simulated collections from the same people."""
    oracle, counts = adult
    entropy = Entropy(2024)
    return _frequencies(oracle, [oracle.simulate(counts, rng=entropy) for _ in range(RUNS)])


@pytest.mark.audit
def test_the_mean_over_many_collections_is_the_truth(adult, collections) -> None:
    oracle, counts = adult
    n = int(counts.sum())
    truth = counts / n
    error = np.sqrt(oracle.variance(truth, n, "people") / RUNS)
    assert (np.abs(collections.mean(axis=0) - truth) < 5.5 * error).all()


@pytest.mark.audit
def test_the_variance_over_many_collections_is_the_stated_one(adult, collections) -> None:
    oracle, counts = adult
    n = int(counts.sum())
    ratio = collections.var(axis=0, ddof=1) / oracle.variance(counts / n, n, "people")
    assert (ratio > 0.93).all()
    assert (ratio < 1.07).all()


@pytest.mark.audit
def test_wilson_intervals_for_the_population_cover_at_their_level(adult) -> None:
    oracle, counts = adult
    n = int(counts.sum())
    truth = counts / n
    entropy = Entropy(2025)
    generator = entropy.generator()
    hits = np.zeros(truth.size)
    for _ in range(RUNS):
        tally = oracle.simulate(generator.multinomial(n, truth), rng=entropy)
        lower, upper = oracle.estimate(tally, "population").interval(0.95, "wilson").T
        hits += (lower <= truth) & (truth <= upper)
    assert (hits / RUNS >= 0.94).all()
    assert (hits / RUNS <= 0.96).all()


def test_those_limits_would_notice_people_taken_for_a_population(adult, collections) -> None:
    # The control: the population's variance is larger by f(1−f)/n, which shows where ε is large.
    _, counts = adult
    oracle = RandomizedResponse(epsilon=4.0, k=7)
    entropy = Entropy(2026)
    n = int(counts.sum())
    found = _frequencies(oracle, [oracle.simulate(counts, rng=entropy) for _ in range(2_000)])
    ratio = found.var(axis=0, ddof=1) / oracle.variance(counts / n, n, "population")
    assert ratio[counts.argmax()] < 0.93


def test_real_reports_of_these_people_agree_with_the_simulated_collections(adult, collections) -> None:
    oracle, counts = adult
    values = np.repeat(np.array(oracle.labels, object), counts)
    entropy = Entropy(2027)
    real = _frequencies(oracle, [oracle.tally(oracle.privatize(values, rng=entropy)) for _ in range(20)])
    error = collections.std(axis=0, ddof=1) * math.sqrt(1 / 20 + 1 / RUNS)
    assert (np.abs(real.mean(axis=0) - collections.mean(axis=0)) < 5.5 * error).all()
