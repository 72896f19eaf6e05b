"""Answers in an order: mean and median with intervals that cover, and the order kept."""

from __future__ import annotations

import numpy as np
import pytest

from bruit import Plan
from bruit.domains import Scale, Schema
from bruit.domains.declare import question
from bruit.errors import ParameterError
from bruit.estimation import ScaleEstimate

LABELS = ["never", "seldom", "often", "always"]
SHARES = np.array([0.1, 0.25, 0.45, 0.2])


def plan(epsilon: float = 1.5, missing: str = "refuse") -> Plan:
    return Plan({"agree": Scale(labels=LABELS, missing=missing)}, epsilon)


def test_mean_and_median_cover_the_truth() -> None:
    rng, own, means, medians = np.random.default_rng(1), plan(), 0, 0
    truth = SHARES @ [1, 2, 3, 4]
    for seed in range(800):
        answer = own.estimate(own.simulate(rng.multinomial(2000, SHARES), rng=seed))["agree"]
        mean, median = answer.mean(), answer.median()
        means += mean.lower < truth < mean.upper
        medians += LABELS.index(median.lower) <= 2 <= LABELS.index(median.upper)
    assert 0.92 < means / 800 < 0.975
    assert medians / 800 > 0.94


def test_a_mean_has_the_variance_of_the_whole_covariance() -> None:
    rng, own = np.random.default_rng(1), plan(1.0)
    runs = [own.estimate(own.simulate(rng.multinomial(3000, SHARES), rng=seed))["agree"].mean() for seed in range(2000)]
    observed = np.var([run.value for run in runs])
    assert abs(np.mean([run.standard_error**2 for run in runs]) / observed - 1) < 0.1


def test_missing_answers_stand_apart_from_the_scale() -> None:
    own = plan(8.0, "category")
    answer = own.estimate(own.simulate(np.array([100, 0, 0, 300, 600]) * 100, rng=1))["agree"]
    mean = answer.mean()
    assert abs(mean.value - 3.25) < 6 * mean.standard_error
    assert answer.median().label == "always"
    assert answer.answered == 4


def test_tables_and_figures_keep_the_order_and_show_mean_and_median() -> None:
    own = plan(4.0)
    answer = own.estimate(own.simulate(np.array([100, 200, 900, 50]), rng=1))["agree"]
    assert isinstance(answer, ScaleEstimate)
    assert answer.top(2) == [0, 1]
    assert [text.get_text() for text in answer.plot().get_yticklabels()] == LABELS
    assert answer.table().data()["label"] == LABELS
    assert "median: often" in str(answer)
    assert "mean of 1..4" in str(answer)


def test_means_of_two_groups_are_compared() -> None:
    own = Plan({"agree": Scale(labels=LABELS), "school": ["A", "B"]}, 2.0, public=["school"])
    tally = own.simulate(np.array([[500, 500, 3000, 1000], [2000, 2000, 500, 500]]), rng=1)
    groups = own.estimate(tally).by("school")
    change = groups["A"]["agree"].mean_difference(groups["B"]["agree"])
    assert change.lower < 2.9 - 1.9 < change.upper
    assert change.p_value < 1e-6
    with pytest.raises(ParameterError, match="other people"):
        groups["A"]["agree"].mean_difference(groups["A"]["agree"])


def test_a_scale_is_a_kind_of_its_own_in_documents_and_on_the_command_line() -> None:
    schema = Schema({"agree": Scale(labels=LABELS)})
    assert Schema.from_json(schema.to_json()) == schema
    assert Schema({"agree": LABELS}) != schema
    assert Plan.from_json(plan().to_json()) == plan()
    assert question("agree=never<seldom<often<always").domain == Scale(labels=LABELS)
    assert question("age=<18,18-64,>64").domain.labels == ("<18", "18-64", ">64")
    with pytest.raises(ParameterError, match="must have labels"):
        Scale(k=3)
    with pytest.raises(ParameterError, match="scores must be 4 numbers"):
        plan().estimate(plan().simulate([1, 1, 1, 1], rng=1))["agree"].mean([1, 2])
