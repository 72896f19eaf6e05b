"""A plan says what is asked and guaranteed, and travels as a document."""

import copy
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import bruit
from bruit import documents
from bruit.collection import SPL, TAB, Plan, Repeat, SMPk
from bruit.domains import Dates
from bruit.errors import BruitError, DataError, DataTypeError, DesignError, FormatError, ParameterTypeError

PLAN = Plan({"smokes": ["no", "yes"]}, epsilon=1.0)


def test_a_plan_asks_counts_and_estimates():
    people = pd.DataFrame({"smokes": ["no"] * 700 + ["yes"] * 300, "name": range(1000)})
    reports = PLAN.privatize(people, rng=7)
    assert list(reports) == ["smokes"]
    answer = PLAN.estimate(PLAN.tally(reports))["smokes"]
    assert answer.name == "smokes"
    assert answer.interval()[1, 0] < 0.3 < answer.interval()[1, 1]


def test_the_guarantee_is_the_same_for_the_attribute_and_the_person():
    for unit in ("person", "attribute"):
        assert PLAN.guarantees[unit].neighbours == unit
        assert PLAN.guarantees[unit].epsilon == next(iter(PLAN.mechanisms.values())).guarantee.epsilon
    assert PLAN.guarantee == PLAN.guarantees["person"]
    assert set(PLAN.guarantees) == {"person", "attribute"}


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        Plan({"q": ["no", "yes"]}, None, "Warner"),
        Plan({"q": bruit.Categories(k=5, missing="category")}, 0.5, "krr"),
        Plan({"été": bruit.Categories(labels=["é", "b"], missing="drop")}, 2, "Warner"),
    ],
)
def test_a_plan_survives_the_round_trip(plan):
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.digest == plan.digest
    assert again.mechanisms == plan.mechanisms
    assert hash(again) == hash(plan)


def test_a_person_can_read_a_plan():
    document = json.loads(PLAN.to_json())
    assert document["format"] == "bruit.plan/1"
    assert document["attributes"][0]["name"] == "smokes"
    assert document["guarantee"]["neighbours"] == "person"
    assert PLAN.to_json().count("\n") > 10


def test_a_cut_or_edited_plan_is_refused():
    text = PLAN.to_json()
    for end in range(0, len(text), 7):
        with pytest.raises(FormatError):
            Plan.from_json(text[:end])
    with pytest.raises(FormatError, match="changed or damaged"):
        Plan.from_json(text.replace('"yes"', '"Yes"'))


@pytest.mark.parametrize(
    "change",
    [
        {"guarantee": {"epsilon": 0.1, "delta": 0.0, "neighbours": "person"}},
        {"mechanism": {"oracle": "GRR", "epsilon": 1.0, "odds": [3, 1]}},
        {"mechanism": {"oracle": "XXX", "epsilon": 1.0}},
        {"mechanism": 3},
        {"method": "XXX"},
        {"method": None},
        {"attributes": []},
    ],
)
def test_a_plan_that_contradicts_itself_is_refused_even_with_a_right_digest(change):
    body = json.loads(PLAN.to_json())
    body = {key: value for key, value in body.items() if key not in ("format", "digest")}
    with pytest.raises(FormatError):
        Plan.from_json(documents.seal("bruit.plan/1", {**body, **change}))


def test_tallies_of_two_questions_with_the_same_answers_do_not_mix():
    other = Plan({"drinks": ["no", "yes"]}, epsilon=1.0)
    mine, theirs = PLAN.tally({"smokes": [0, 1]}), other.tally({"drinks": [0, 1]})
    with pytest.raises(DesignError):
        mine + theirs
    with pytest.raises(DesignError, match="another plan"):
        PLAN.estimate(theirs)
    with pytest.raises(DataTypeError):
        PLAN.estimate({"smokes": 3})


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="column 'smokes'"):
        PLAN.privatize({"drinks": ["no"]})
    with pytest.raises(DataError, match="column 'smokes'"):
        PLAN.tally({"drinks": [1]})


@pytest.mark.parametrize(
    "bad",
    [
        ({"a": ["x", "y"]}, -1),
        ({"a": ["x", "y"]}, None),
        ({}, 1.0),
        (3, 1.0),
    ],
)
def test_a_plan_is_valid_from_birth(bad):
    with pytest.raises(BruitError):
        Plan(*bad)


def test_a_simulated_tally_belongs_to_its_plan_and_is_marked():
    answer = PLAN.estimate(PLAN.simulate(np.array([700, 300]), rng=1))["smokes"]
    assert answer.simulated


def test_dates_are_asked_like_any_category():
    when = Dates("2023-01-01", "2023-12-31", every="month", missing="category")
    plan = Plan({"when": when}, epsilon=4.0, method="GRR")
    dates = ["2023-02-14"] * 4000 + ["2023-11-01"] * 2000 + [None] * 2000
    answer = plan.estimate(plan.tally(plan.privatize({"when": dates}, rng=7)))["when"]
    assert answer.labels == (*when.labels, "(missing)")
    assert answer.frequency[[1, 10, 12]] == pytest.approx([0.5, 0.25, 0.25], abs=0.05)
    assert Plan.from_json(plan.to_json()) == plan


def test_dates_stand_beside_other_attributes():
    plan = Plan({"when": Dates("2023-01-01", "2023-01-07"), "smokes": ["no", "yes"]}, epsilon=2.0)
    reports = plan.privatize({"when": np.array(["2023-01-03"] * 500, "M8[D]"), "smokes": ["yes"] * 500}, rng=7)
    answers = plan.estimate(plan.tally(reports))
    assert answers["when"].labels[2] == "2023-01-03"
    assert answers["when"].frequency.argmax() == 2


@pytest.mark.parametrize(
    ("old", "new"),
    {
        "d": "len(plan.schema)",
        "oracle": "plan.mechanisms[name]",
        "strata": "plan.records.size",
        "memoize": "plan.panel.memoize(…)",
        "series": "plan.panel.series(…)",
        "mechanism": "plan.mechanisms[name]",
        "kind": "plan.method.kind",
        "private": "without_public(plan)",
        "bases": "plan.method.mechanisms",
        "budgets": "plan.method.budgets",
        "epochs": "plan.repeat.epochs",
        "inner_epsilon": "plan.mechanisms[name].epsilon",
        "as_published": 'RSFD("GRR", published=True)',
    }.items(),
)
def test_what_a_plan_had_once_says_what_to_write_now(old, new):
    for owner in (PLAN, Plan):
        with pytest.raises(AttributeError, match=re.escape(new)):
            getattr(owner, old)


@pytest.mark.parametrize(
    ("option", "new"),
    {
        "budgets": "SPL(",
        "weights": "SMP(",
        "prior": "RSRFD(",
        "tables": "TAB(",
        "bases": "mechanisms=",
        "published": "published=True",
        "rounds": "repeat=Repeat(12, epochs=4, epoch_epsilon=2.0)",
        "epochs": "repeat=Repeat(",
        "epoch_epsilon": "repeat=Repeat(",
        "follow_changes": "repeat=Repeat(",
    }.items(),
)
def test_an_option_that_moved_is_answered_with_its_new_place(option, new):
    with pytest.raises(ParameterTypeError, match=re.escape(new)):
        Plan({"x": ["0", "1"]}, 1.0, **{option: None})


def test_an_option_that_never_was_is_an_error_as_everywhere():
    with pytest.raises(TypeError, match="nothing"):
        Plan({"x": ["0", "1"]}, 1.0, nothing=1)


def test_a_plan_is_made_again_of_what_it_has():
    for method in ("SMP[ADP]", SPL("GRR", budgets={"a": 0.25, "b": 0.75}), TAB(weights="neyman"), SMPk()):
        plan = Plan({"a": ["0", "1"], "b": ["x", "y", "z"]}, 1.0, method)
        assert Plan(plan.schema, plan.epsilon, plan.method, unit=plan.unit) == plan
        assert Plan(plan.schema, plan.epsilon, plan.method).method == plan.method
    panel = Plan({"a": ["0", "1"]}, 1.0, repeat=Repeat(3, epoch_epsilon=2))
    assert Plan(panel.schema, panel.epsilon, panel.method, repeat=panel.repeat) == panel


def test_what_a_plan_never_had_is_missing_as_everywhere():
    assert not hasattr(PLAN, "nothing")
    assert copy.deepcopy(PLAN) == PLAN == pickle.loads(pickle.dumps(PLAN))
