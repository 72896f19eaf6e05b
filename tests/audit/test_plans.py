"""Plans for several attributes keep what they state, and one that states too little is found out."""

import math
from fractions import Fraction

import pytest

import bruit
from bruit.audit import empirical_plan, exact_plan
from bruit.audit.plans import adversarial_records
from bruit.collection import RSFD, SMP, Plan
from bruit.errors import ParameterError, ParameterTypeError
from bruit.privacy import Guarantee

from ..plans import planned

SMALL = {"a": bruit.Categories(k=2), "b": bruit.Categories(k=3)}
PRIOR = {"a": [1, 3], "b": [1, 2, 5]}
METHODS = [
    "SPL[GRR]",
    "SPL[OUE]",
    "SMP[GRR]",
    "SMP[HR]",
    "RS+FD[GRR]",
    "RS+FD[SUE-z]",
    "RS+FD[OUE-r]",
    "RS+FD[SS]",
    "RS+RFD[GRR]",
    "RS+RFD[OUE-r]",
]


def made(method, schema=SMALL, **settings):
    return planned(schema, 1.0, method, **({"prior": PRIOR} if "RFD" in method else {}), **settings)


@pytest.mark.parametrize("unit", ["person", "attribute"])
@pytest.mark.parametrize("method", METHODS)
def test_writing_the_law_down_gives_the_stated_guarantee_and_reports_do_not_contradict_it(method, unit):
    plan = made(method)
    proof = exact_plan(plan, unit)
    assert (proof.method, proof.holds) == ("enumeration", True)
    assert proof.epsilon == plan.guarantees[unit].epsilon
    seen = empirical_plan(plan, unit, trials=40_000, level=1 - 1e-7, rng=1)
    # The worst report of some laws is rare, so that few draws show less than half of it so surely.
    assert 0.4 * proof.epsilon < seen.epsilon_lower <= proof.epsilon


def test_unequal_weights_and_numbers_are_audited_too():
    plan = Plan({"a": ["x", "y"], "n": bruit.Grid(0, 4)}, 1.0, SMP(weights={"a": 1, "n": 3}))
    for unit in ("person", "attribute"):
        assert exact_plan(plan, unit).epsilon == plan.guarantees[unit].epsilon
        assert empirical_plan(plan, unit, trials=40_000, level=1 - 1e-7, rng=1).passes(plan.guarantees[unit])


@pytest.mark.parametrize("method", ["SMP[OLH]", "SPL[OUE]", "RS+FD[OUE-z]"])
def test_a_law_too_large_to_write_down_is_audited_by_its_closed_form(method):
    plan = made(method, {"a": bruit.Categories(k=40), "b": bruit.Categories(k=3)})
    proof = exact_plan(plan)
    assert (proof.method, proof.worst, proof.holds) == ("closed form", None, True)
    assert empirical_plan(plan, trials=40_000, level=1 - 1e-7, rng=1).passes(plan.guarantee)


@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[GRR]", "RS+FD[GRR]"])
@pytest.mark.parametrize("unit", ["person", "attribute"])
def test_a_plan_that_states_less_than_it_leaks_is_found_out(monkeypatch, method, unit):
    plan = made(method)
    lie = Guarantee(epsilon=plan.guarantees[unit].epsilon * 0.6, neighbours=unit)
    monkeypatch.setitem(plan.__dict__, "guarantees", {**plan.guarantees, unit: lie})
    assert not exact_plan(plan, unit).holds
    assert not empirical_plan(plan, unit, trials=100_000, level=1 - 1e-7, rng=1).passes(lie)


def test_the_published_calibration_certifies_more_than_it_states_for_a_person_and_ours_does_not():
    schema = {name: bruit.Categories(k=2) for name in "abc"}
    published = Plan(schema, 1.0, RSFD("GRR", published=True))
    assert empirical_plan(published, trials=200_000, rng=1).epsilon_lower > 1.6
    assert exact_plan(published).ratio == pytest.approx(3 * (math.e - 1) + 1)
    assert empirical_plan(Plan(schema, 1.0, "RS+FD[GRR]"), trials=200_000, level=1 - 1e-7, rng=1).epsilon_lower <= 1.0


def test_the_worst_pair_of_records_for_one_attribute_differs_in_one():
    plan = made("RS+FD[GRR]")
    proof = exact_plan(plan, "attribute")
    records = [(a, b) for a in range(2) for b in range(3)]
    first, second = records[proof.worst.first], records[proof.worst.second]
    assert sum(one != other for one, other in zip(first, second, strict=True)) == 1
    one, other = adversarial_records(plan, "attribute")
    assert [name for name in one if one[name] != other[name]] == [
        max(ratios := plan.design.attribute_ratios(), key=lambda name: ratios[name])
    ]
    one, other = adversarial_records(made("RS+RFD[GRR]"), "person")
    assert (one, other) == ({"a": 0, "b": 0}, {"a": 1, "b": 2})
    assert isinstance(proof.ratio, Fraction)


def test_only_plans_and_known_units_are_audited():
    with pytest.raises(ParameterTypeError, match=r"bruit\.Plan"):
        exact_plan(SMALL)
    with pytest.raises(ParameterError, match="unit"):
        empirical_plan(made("SPL[GRR]"), "household")
