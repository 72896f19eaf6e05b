"""What the study of few people computes from, against other ways to the same numbers."""

import math

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit_studies import StudyResults, few_people


def _exact():
    """The rows of exact variances."""
    rows = [
        {"part": "exact", "shape": shape, "epsilon": epsilon, **row}
        for shape in few_people.SHAPES
        for epsilon in few_people.GRID
        for row in few_people.trial(part="exact", rng=Entropy(0), shape=shape, epsilon=epsilon)
    ]
    return StudyResults("few-people", {name: [row[name] for row in rows] for name in rows[0]})


def _published_over_sampled(d, k, epsilon):
    """Var* of RS+FD[GRR] as published over that of SMP[GRR], written out from their reports' probabilities."""
    e = math.exp(epsilon)
    size = d * (e - 1) + k
    share = (1 / size + (d - 1) / k) / d
    return share * (1 - share) * size**2 / (d * (e + k - 2))


def test_fakes_as_published_have_less_variance_below_an_epsilon_and_never_at_the_same_one_for_a_person():
    results = _exact()
    crossings = [few_people.crossing(results, shape) for shape in few_people.SHAPES]
    assert crossings == pytest.approx([0.60, 1.05, 1.32], abs=0.005)
    for (shape, epsilon), rows in results.where(calibration="published").by("shape", "epsilon"):
        assert rows.mean("ratio") == pytest.approx(
            _published_over_sampled(*few_people.SHAPES[shape], epsilon), rel=1e-6
        )
    person = results.where(calibration="person")
    assert person["ratio"].min() > 4
    assert person.where(shape="5 of 5", epsilon=1.0).mean("ratio") == pytest.approx(6.1, abs=0.05)
    assert (person["person"] <= person["epsilon"]).all()


@pytest.mark.parametrize(("n", "d"), [(2, 2), (7, 3), (20, 5)])
def test_what_drawing_costs_is_the_sum_over_the_binomial_law(n, d):
    chances = {m: math.comb(n, m) * (d - 1) ** (n - m) / d**n for m in range(1, n + 1)}
    mean = sum(chance / m for m, chance in chances.items()) / sum(chances.values())
    assert few_people.expected_inverse(n, d) == pytest.approx(mean * n / d)


def test_an_estimate_is_shrunk_to_the_middle_and_never_beyond():
    raw = np.array([0.7, 0.4, 0.2, -0.1, -0.2])
    assert few_people.shrunk(raw, 0.0) == pytest.approx(raw)
    assert few_people.shrunk(raw, 100.0) == pytest.approx([0.2] * 5)
    half = few_people.shrunk(raw, float(np.sum((raw - 0.2) ** 2)))
    assert half == pytest.approx(0.2 + 0.5 * (raw - 0.2))
    assert few_people.shrunk(np.full(4, 0.25), 1.0) == pytest.approx([0.25] * 4)


def test_collections_by_both_methods_have_the_stated_error():
    drawn = [
        {row["method"]: row for row in few_people.trial(part="compared", shape="5 of 5", epsilon=1.5, rng=Entropy(run))}
        for run in range(80)
    ]
    for method in (few_people.SAMPLING, few_people.FAKES):
        error = np.mean([rows[method]["error"] for rows in drawn])
        assert error == pytest.approx(drawn[0][method]["stated"], rel=5.5 * math.sqrt(2 / (80 * 5 * 4)))
