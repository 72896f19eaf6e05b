"""Methods as values: their names, their options, and what each says of itself."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from bruit.collection import METHODS, RSFD, RSRFD, SMP, SPL, TAB, Method, One, Plan, Repeat, SMPk
from bruit.errors import BruitError, ParameterError, ParameterTypeError

SCHEMA = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "smokes": ["no", "yes"]}
PRIOR = {"sex": [0.5, 0.5], "degree": [1, 2, 3], "smokes": [9, 1]}
VALUES = [
    SPL(),
    SPL("OUE", budgets={"sex": 0.5, "degree": 0.25, "smokes": 0.25}),
    SMP("GRR", weights={"sex": 1, "degree": 2, "smokes": 3}, mechanisms={"degree": "OUE"}),
    SMP("GRR", assign="rotation"),
    SMPk("GRR"),
    SMPk("GRR", 2),
    RSFD("OUE-z"),
    RSFD(published=True),
    RSRFD("GRR", prior=PRIOR),
    TAB("GRR", tables=[("sex", "smokes"), ("sex", "degree")], weights="neyman"),
]


@pytest.mark.parametrize("method", VALUES, ids=repr)
def test_a_method_is_a_value(method):
    assert method == copy.deepcopy(method) == pickle.loads(pickle.dumps(method)) == eval(repr(method))
    assert hash(method) == hash(copy.deepcopy(method))
    assert method != str(method)
    with pytest.raises(AttributeError):
        method.base = "SS"


@pytest.mark.parametrize("method", VALUES, ids=repr)
def test_a_plan_keeps_its_method_and_its_document_gives_it_back(method):
    plan = Plan(SCHEMA, 1.0, method)
    again = Plan.from_json(plan.to_json())
    assert (again.method, again.method.options()) == (plan.method, plan.method.options())
    assert Plan(SCHEMA, 1.0, plan.method).to_json() == plan.to_json()


def test_options_tell_values_apart():
    assert SMP() == SMP("adp") == Method.named("smp[ADP]") != SMP("GRR")
    assert SMP() != SMP(weights={"sex": 1}) != SMP(weights={"sex": 2})
    assert RSFD() != RSFD(published=True)
    assert SMPk("GRR", 2) != SMPk("GRR", 3)
    assert TAB(tables=[("sex", "smokes")]) == TAB(tables=(["sex", "smokes"],)) != TAB()


def test_the_documents_have_the_keys_that_they_had():
    plan = Plan(
        SCHEMA, 1.0, SMP(weights={"sex": 1, "smokes": 2, "degree": 3}, mechanisms={"smokes": "OUE", "sex": "GRR"})
    )
    assert plan.method.options() == {
        "weights": {"sex": 1, "degree": 3, "smokes": 2},
        "bases": {"sex": "GRR", "smokes": "OUE"},
    }
    assert list(plan.method.options()) == ["weights", "bases"]
    pair = {name: SCHEMA[name] for name in ("sex", "smokes")}
    tables = Plan(pair, 1.0, TAB(tables=[("sex", "smokes")], weights={("sex", "smokes"): 2})).method
    assert list(tables.options().items()) == [("weights", {"sex × smokes": 2}), ("tables", [["sex", "smokes"]])]


@pytest.mark.parametrize("kind", METHODS)
def test_every_method_says_what_is_done_with_the_questions(kind):
    method = Method.named(f"{kind}[ADP]", prior=PRIOR if kind == "RS+RFD" else None)
    assert method.in_words(7).startswith("each person answers ")
    assert METHODS[kind]
    assert One("GRR").in_words(1) == ""


def test_an_option_of_another_method_is_refused_with_those_that_take_it():
    with pytest.raises(ParameterError, match=r"weights belongs to SMP and TAB, not to SPL\[GRR\]"):
        Method.named("SPL[GRR]", weights={"sex": 1})
    with pytest.raises(ParameterError, match="mechanisms belongs to SPL and SMP and SMPk and RS"):
        TAB(mechanisms={"sex": "GRR"})
    with pytest.raises(ParameterError, match="mechanisms belongs to"):
        One("GRR", mechanisms={"sex": "GRR"})
    with pytest.raises(ParameterError, match="no option of any method"):
        Method.named("SPL[GRR]", colour="red")
    with pytest.raises(TypeError):
        SPL(weights={"sex": 1})


def test_none_and_false_are_no_options():
    assert Method.named("GRR", weights=None, published=False) == One("GRR")
    assert Method.named("adp", weights={"sex": 1}) == SMP(weights={"sex": 1})


@pytest.mark.parametrize(
    "make",
    [
        lambda: SPL("XYZ"),
        lambda: SPL(3),
        lambda: SPL(mechanisms="GRR"),
        lambda: SPL(mechanisms={"sex": "XYZ"}),
        lambda: SPL(published="yes"),
        lambda: RSFD("OUE"),
        lambda: RSRFD("OUE-z", prior=PRIOR),
        lambda: RSRFD("GRR"),
        lambda: RSRFD("GRR", prior=3),
        lambda: TAB("hybrid"),
        lambda: SMPk("GRR", 1),
        lambda: Method.named(3),
        lambda: Method.named("SPL"),
        lambda: Method.named("SPL2[GRR]"),
        lambda: Method.named("one[GRR]"),
    ],
)
def test_a_method_is_valid_from_birth(make):
    with pytest.raises(BruitError):
        make()


def test_frequencies_of_any_column_are_kept_as_they_are():
    arrays = {name: np.array(shares, float) for name, shares in PRIOR.items()}
    lists = {name: [float(share) for share in shares] for name, shares in PRIOR.items()}
    assert RSRFD("GRR", prior=arrays) == RSRFD("GRR", prior=lists)


def test_a_method_that_is_no_method_is_refused():
    with pytest.raises(ParameterTypeError, match="or a Method"):
        Plan(SCHEMA, 1.0, 3)
    with pytest.raises(ParameterTypeError, match="repeat must be a Repeat"):
        Plan({"sex": ["F", "M"]}, 1.0, repeat=3)


@pytest.mark.parametrize(
    "bad",
    [
        {"rounds": 0, "epoch_epsilon": 2.0},
        {"rounds": 2},
        {"rounds": None, "epochs": 2},
        {"rounds": 2, "epochs": 0, "epoch_epsilon": 2.0},
        {"rounds": 2, "epoch_epsilon": -1.0},
        {"rounds": 2, "epoch_epsilon": 2.0, "follow_changes": 1},
    ],
)
def test_rounds_are_valid_from_birth(bad):
    with pytest.raises(BruitError):
        Repeat(**bad)


def test_one_round_in_an_epoch_tells_what_one_report_tells():
    plan = Plan({"sex": ["F", "M"]}, 1.0, repeat=Repeat(1, epochs=3))
    assert plan.repeat == Repeat(1, 3, 1.0)
    assert plan == Plan({"sex": ["F", "M"]}, 1.0, repeat=Repeat(1, 3, 1.0))
    assert plan.guarantees["epoch"].epsilon == plan.guarantees["report"].epsilon
    assert Plan.from_json(plan.to_json()) == plan
