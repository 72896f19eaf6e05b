"""Honest reports raise no alarm, whatever people answered; forged ones that no population gives do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

import bruit
from bruit.collector.alarm import FALSE_ALARMS, deviations, largest_shift
from bruit.estimation import Tally

PLANS = {
    "yes or no": bruit.Plan({"a": ["no", "yes"]}, epsilon=1.0),
    "five labels": bruit.Plan({"a": list("vwxyz")}, epsilon=0.5),
    "subsets": bruit.Plan({"a": [str(i) for i in range(12)]}, epsilon=1.0, method="SS"),
    "bits": bruit.Plan({"a": list("vwxyz")}, epsilon=1.0, method="OUE"),
    "a number": bruit.Plan({"a": bruit.domains.Grid(0, 10, cells=11)}, epsilon=1.0),
    "two, split": bruit.Plan({"a": ["no", "yes"], "b": list("xyz")}, epsilon=2.0, method="SPL[GRR]"),
    "two, sampled": bruit.Plan({"a": ["no", "yes"], "b": list("xyz")}, epsilon=2.0),
}


@pytest.mark.parametrize("n", [1, 10, 37, 400])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_chance_of_a_false_alarm_is_below_its_promise_for_every_population(epsilon, n) -> None:
    """Exactly, over all outcomes of a yes or no: the count of yes is a sum of two binomial variables."""
    plan = bruit.Plan({"a": ["no", "yes"]}, epsilon=epsilon)
    mechanism = plan.mechanisms["a"]
    p, q = float(mechanism.p), float(mechanism.q)
    alarms = np.array([bool(deviations(plan, [_tally(plan, yes, n)])) for yes in range(n + 1)])
    for true in {0, 1, n // 3, n // 2, n}:
        law = np.convolve(binom.pmf(range(true + 1), true, p), binom.pmf(range(n - true + 1), n - true, q))
        assert law[alarms].sum() <= FALSE_ALARMS


def _tally(plan: bruit.Plan, yes: int, n: int) -> Tally:
    return Tally(design=plan.digest, counts=[n - yes, yes], n=n)


@pytest.mark.parametrize("name", PLANS)
def test_honest_reports_at_the_ends_of_the_domain_raise_no_alarm(name) -> None:
    plan = PLANS[name]
    for seed, place in itertools.product(range(3), (0, -1)):
        people = {attribute: np.zeros(plan.schema[attribute].size, np.int64) for attribute in plan.schema}
        for counts in people.values():
            counts[place] = 600
        tally = plan.simulate(people["a"] if len(plan.schema) == 1 else people, rng=seed)
        assert deviations(plan, [tally, tally]) == []


@pytest.mark.parametrize("name", PLANS)
def test_reports_that_are_all_the_same_raise_an_alarm(name) -> None:
    plan = PLANS[name]
    people = {
        attribute: [plan.schema[attribute].domain.labels[0] if plan.mechanisms[attribute].gives == "frequency" else 0.0]
        for attribute in plan.schema
    }
    (report,) = [plan.privatize(people, rng=5)]
    forged = {column: np.repeat(values, 600, axis=0) for column, values in report.items()}
    assert deviations(plan, [plan.tally(forged)])
    assert not deviations(plan, [plan.tally({column: values[:2] for column, values in forged.items()})])


def test_an_attribute_that_is_drawn_too_often_raises_an_alarm() -> None:
    plan = PLANS["two, sampled"]
    honest = plan.simulate({"a": [300, 300], "b": [200, 200, 200]}, rng=1)
    assert not deviations(plan, [honest])
    reports = plan.privatize({"a": ["no"] * 600, "b": ["x"] * 600}, rng=2)
    kept = {column: values[reports["attribute"] == 0] for column, values in reports.items()}
    (deviation,) = [
        found for found in deviations(plan, [plan.tally(kept)]) if not found.label and found.attribute == "a"
    ]
    assert deviation.number == deviation.reports == len(kept["attribute"])


@pytest.mark.parametrize("name", PLANS)
def test_forged_reports_move_no_estimate_further_than_is_said(name) -> None:
    plan = PLANS[name]
    rng = np.random.default_rng(3)
    n, m = 60, 6
    labels = {attribute: list(plan.schema[attribute].labels) for attribute in plan.schema}
    people = {
        attribute: [labels[attribute][i] for i in rng.integers(len(labels[attribute]), size=n)]
        for attribute in plan.schema
    }
    reports = plan.privatize(people, rng=4)
    for seed in range(6):
        one = {attribute: [values[seed % len(values)]] * m for attribute, values in labels.items()}
        forged = plan.privatize(one, rng=seed)
        if plan.method.kind == "SMP":  # on the same attributes as before, so that the number of reports on each stays
            reports["attribute"][:m] = forged["attribute"]
            reports["report"][:m] = 0
        mixed = {column: np.concatenate([forged[column], values[m:]]) for column, values in reports.items()}
        before, after = (plan.estimate(plan.tally(table)) for table in (reports, mixed))
        for attribute in plan.schema:
            reported = plan.design.reported(attribute, plan.tally(mixed))
            limit = largest_shift(plan, attribute) * m / reported
            shift = np.max(np.abs(_centre(after[attribute]) - _centre(before[attribute])))
            assert shift <= limit * (1 + 1e-9)


def _centre(answer):
    return answer.frequency if hasattr(answer, "frequency") else np.array([answer.mean])


def test_the_bound_on_forged_reports_is_attained() -> None:
    plan = PLANS["yes or no"]
    low, high = (plan.estimate(_tally(plan, yes, 10))["a"].frequency[1] for yes in (4, 7))
    assert math.isclose(high - low, 3 / 10 * largest_shift(plan, "a"))


def test_fakes_are_not_tested_because_nobody_knows_which_reports_are_true() -> None:
    plan = bruit.Plan({"a": ["no", "yes"], "b": ["no", "yes"]}, epsilon=1.0, method="RS+FD[GRR]")
    assert deviations(plan, [plan.simulate({"a": [5, 5], "b": [5, 5]}, rng=1)]) == []
