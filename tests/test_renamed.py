"""Old names of packages answer with the new ones, and nothing else answers."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from bruit import Plan
from bruit._renamed import RENAMED
from bruit.attacks.risks import risks
from bruit.cards import Card
from bruit.collection import compare_groups, plan_for
from bruit.errors import ParameterTypeError
from bruit.publications import Publication
from bruit.sheets import sheet
from bruit.survey import Survey

NAMES = [(package, old, new) for package, names in RENAMED.items() for old, new in names.items()]


@pytest.mark.parametrize(("package", "old", "new"), NAMES)
def test_an_old_name_answers_with_one_that_there_is(package: str, old: str, new: str) -> None:
    with pytest.raises(ImportError, match=rf"^{package}\.{old} is {new} now\.$"):
        exec(f"from {package} import {old}")
    module, _, name = new.rpartition(".")
    assert name in importlib.import_module(module).__all__
    assert old not in importlib.import_module(package).__all__


@pytest.mark.parametrize("package", RENAMED)
def test_a_name_that_never_was_is_missing_as_usual(package: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = importlib.import_module(package).Nothing


@pytest.mark.parametrize(
    ("owner", "old", "new"),
    [
        (Card, "content", "Card.to_bytes()"),
        (Card, "read", "Card.from_bytes(data)"),
        (Plan, "open", "Plan.load(path)"),
        (Publication, "open", "Publication.load(path)"),
        (Survey, "read", "Survey.load(path)"),
    ],
)
def test_an_old_member_answers_with_one_that_there_is(owner: type, old: str, new: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(new)):
        getattr(owner, old)
    assert callable(getattr(owner, new.partition(".")[2].partition("(")[0]))


@pytest.mark.parametrize(
    "call",
    [
        lambda plan: plan_for(plan.schema, people=10, epsilon=1.0),
        lambda plan: compare_groups(0.3, 0.2, people=10, epsilon=1.0),
        lambda plan: risks(plan, people=10),
        lambda plan: sheet(plan, "en", people=10),
    ],
    ids=["plan_for", "compare_groups", "risks", "sheet"],
)
def test_how_many_people_answer_is_n_now(call: Any) -> None:
    with pytest.raises(ParameterTypeError, match="no option 'people': write n=1000"):
        call(Plan({"smokes": ["no", "yes"]}, 1.0))
