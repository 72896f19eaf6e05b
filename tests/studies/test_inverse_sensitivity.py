"""What every ε-DP mechanism misses: the modulus by brute force, and the bound for mechanisms whose law is known."""

import itertools
import math

import numpy as np
import pytest

from bruit_studies.inverse_sensitivity import BOUNDS, CELLS, STATISTICS, _release, least_error, modulus

RECORDS = np.array([0.1, 0.2, 0.4, 0.5, 0.9])


def statistic_of(name, records):
    """As the release has it: the median is the ⌈n/2⌉-th smallest."""
    return {"median": lambda x: np.sort(x)[(x.size - 1) // 2], "mean": np.mean, "variance": np.var}[name](records)


def farthest(name, records, changed):
    """How far k changed records move a statistic, over all choices of records and a few places; a lower bound."""
    own, places = statistic_of(name, records), (0.0, 0.25, 0.5, 0.75, 1.0)
    most = 0.0
    for chosen in itertools.combinations(range(records.size), changed):
        for to in itertools.product(places, repeat=changed):
            other = records.copy()
            other[list(chosen)] = to
            most = max(most, abs(statistic_of(name, other) - own))
    return most


def law_of(name, records, epsilon):
    """The exact law of the mechanism: its values and their probabilities."""
    release = _release(name, "inverse-sensitivity", epsilon)
    lengths = release.lengths(release.count({"values": records}))
    weights = np.array([float(weight) for weight in release.choice.weights(records.size + 1)])
    chances = weights[np.minimum(lengths, weights.size - 1)]
    return np.linspace(release.value_at(0), release.value_at(lengths.size - 1), lengths.size), chances / chances.sum()


def expected_error(name, records, epsilon):
    values, chances = law_of(name, records, epsilon)
    return float(chances @ np.abs(values - statistic_of(name, records)))


@pytest.mark.parametrize("name", STATISTICS)
def test_the_modulus_is_that_over_all_changes_less_a_step_of_the_grid(name):
    reach = modulus(RECORDS, name, 1.0)
    step = (BOUNDS[1] - BOUNDS[0]) / (CELLS - 1) if name == "median" else 1 / 1024
    for changed in (0, 1, 2):
        brute = farthest(name, RECORDS, changed)
        assert reach[changed] <= brute + 0.02 * (name == "variance") + 1e-9
        assert reach[changed] >= brute - 2 * step - 1e-9


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_mechanism_misses_what_the_bound_says_on_one_of_the_two_tables(epsilon):
    records = np.linspace(0.05, 0.95, 21)
    bound = least_error(records, "median", epsilon)
    errors = [expected_error("median", records, epsilon)]
    for changed in range(1, 11):
        moved = records.copy()
        moved[:changed] = 1.0  # the lowest go to the top: the median moves as far as it can
        errors.append(expected_error("median", moved, epsilon))
    assert max(errors) >= bound > 0


def test_noise_for_the_whole_width_misses_more_than_the_bound_on_any_data():
    rng = np.random.default_rng(5)
    for epsilon in (0.1, 1.0):
        for records in (rng.random(50), np.full(50, 0.5), np.repeat([0.0, 1.0], 25)):
            for name, width in (("median", 1.0), ("mean", 1 / 50)):
                assert least_error(records, name, epsilon) <= width / epsilon


def test_who_always_gives_the_same_answer_misses_nothing_at_one_table_and_more_than_the_bound_at_the_other():
    records = np.array([0.0, 0.0, 1.0])
    bound = least_error(records, "median", 1.0)
    assert bound == pytest.approx(1 / (2 * (1 + math.e)), rel=1e-3)
    assert abs(0.0 - statistic_of("median", records)) < bound < abs(0.0 - statistic_of("median", np.array([0.0, 1, 1])))
