"""One default everywhere: a plan, `bruit plan` and `bruit privatize` take the same method for the same questions."""

import inspect
import json

import pytest

import bruit
from bruit.collection import SMP, Method, Plan
from bruit.collection.method import DEFAULT
from bruit.errors import BruitError, ParameterError

TWO = {"sex": ["F", "M"], "degree": ["none", "school", "college"]}


def test_several_questions_are_sampled_with_the_best_mechanism_for_each():
    plan = Plan(TWO, epsilon=1)
    assert str(plan.method) == "SMP[ADP]"
    assert plan == Plan(TWO, 1.0, "SMP[ADP]") == Plan(TWO, 1.0, "ADP")
    assert Plan.from_json(plan.to_json()) == plan


def test_settings_of_sampling_go_with_the_default():
    plan = Plan(TWO, 1.0, SMP(weights={"sex": 1, "degree": 3}, mechanisms={"degree": "OUE"}))
    assert str(plan.method) == "SMP[ADP]"
    assert plan.mechanisms["degree"].name == "OUE"
    with pytest.raises(ParameterError, match="budgets belongs to SPL"):
        Method.named(DEFAULT, budgets={"sex": 0.5, "degree": 0.5})


@pytest.mark.parametrize(
    ("domain", "epsilon", "name"),
    [
        (["no", "yes"], 1.0, "GRR"),
        (bruit.Categories(k=3, missing="drop"), 1.0, "GRR"),
        (bruit.Categories(k=100), 1.0, "SS"),
        (bruit.Categories(k=100), 6.0, "GRR"),
        (bruit.Grid(0, 100), 1.0, "hybrid"),
        (bruit.Grid(0, 2), 5.0, "piecewise"),
    ],
)
def test_one_question_has_the_mechanism_of_least_error_by_its_own_name(domain, epsilon, name):
    plan = Plan({"x": domain}, epsilon)
    assert str(plan.method) == plan.mechanisms["x"].name == name
    assert plan == Plan({"x": domain}, epsilon, "adp") == Plan({"x": domain}, epsilon, name)
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("k", [2, 3, 7, 12, 60])
@pytest.mark.parametrize("epsilon", [0.3, 0.6, 2.0, 5.0])
def test_no_oracle_beats_the_default_for_one_question(k, epsilon):
    own = Plan({"x": bruit.Categories(k=k)}, epsilon).variance(1)["x"].mean()
    for name in ("GRR", "SUE", "OUE", "BLH", "OLH", "SS", "HR", "PGR"):
        other = Plan({"x": bruit.Categories(k=k)}, epsilon, name).variance(1)["x"].mean()
        assert own <= other * (1 + 2e-9)


def test_without_an_epsilon_there_is_no_default():
    for schema in ({"x": ["0", "1"]}, TWO, {"x": bruit.Grid(0, 9)}):
        with pytest.raises(BruitError, match="epsilon"):
            Plan(schema, None)


def test_the_default_has_one_place():
    assert inspect.signature(Plan).parameters["method"].default == DEFAULT
    assert bruit.compare(TWO, 1.0)[0].plan == Plan(TWO, 1.0)


def test_documents_name_the_mechanism_that_was_chosen():
    document = json.loads(Plan({"x": bruit.Categories(k=100)}, 1.0).to_json())
    assert document["method"] == "SS"
    assert document["mechanism"]["oracle"] == "SS"
