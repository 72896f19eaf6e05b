"""Documents that nobody's program wrote: refused, or read without the work of making them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bruit import documents
from bruit.collection import Plan, guarantees
from bruit.domains import Grid
from bruit.errors import FormatError, LimitError

LABELS = ["x", "y", "z"]


def forged(plan: Plan, **changes: Any) -> str:
    """The document of a plan with other fields, sealed as a forger would."""
    body = documents.unseal(plan.to_json(), Plan.FORMAT)
    return documents.seal(Plan.FORMAT, {**body, **changes})


@pytest.mark.parametrize("method", ["RS+FD[GRR]", "RS+FD[ADP]", "RS+FD[SS]", "RS+FD[OUE-z]", "RS+FD[SUE-r]"])
@pytest.mark.parametrize("unit", ["person", "attribute"])
def test_a_plan_is_read_without_looking_for_its_epsilon_again(
    monkeypatch: pytest.MonkeyPatch, method: str, unit: Any
) -> None:
    plan = Plan({"a": LABELS, "b": LABELS[:2], "c": list("uvwxyz")}, 1.0, method, unit=unit)

    def never(*_: Any) -> float:
        raise AssertionError("the ε of fakes is looked for")

    monkeypatch.setattr(guarantees, "solve", never)
    assert Plan.from_json(plan.to_json()) == plan


def test_an_epsilon_of_fakes_that_is_not_the_right_one_is_refused() -> None:
    plan = Plan({"a": LABELS, "b": LABELS}, 1.0, "RS+FD[GRR]", unit="attribute")
    mechanisms = documents.unseal(plan.to_json(), Plan.FORMAT)["mechanisms"]
    for epsilon in (1.0, 1.2, 19.0, 0.0, None, "1", float(plan.inner_epsilon or 0) * (1 + 1e-9)):
        stated = {name: {**entry, "epsilon": epsilon} for name, entry in mechanisms.items()}
        with pytest.raises(FormatError):
            Plan.from_json(forged(plan, mechanisms=stated))


@pytest.mark.parametrize("mechanisms", [{}, {"a": {}}, {"a": {"oracle": "XYZ"}}, 3, {"a": {"oracle": None}, "b": 7}])
def test_mechanisms_that_are_none_are_refused(mechanisms: Any) -> None:
    plan = Plan({"a": LABELS, "b": LABELS}, 1.0, "RS+FD[ADP]", unit="attribute")
    with pytest.raises(FormatError):
        Plan.from_json(forged(plan, mechanisms=mechanisms))


def test_laws_that_take_long_are_refused_by_what_a_document_declares() -> None:
    plan = Plan({"a": Grid(0.0, 1.0, cells=16), "b": Grid(0.0, 1.0, cells=16)}, 1.0, "SPL[staircase]")
    attributes = [
        {"name": name, "domain": Grid(0.0, 1.0, cells=4096).to_dict()} for name in ("a", "b")
    ]  # two of 4,096 cells: one is the most
    with pytest.raises(LimitError, match="too many cells"):
        Plan.from_json(forged(plan, attributes=attributes))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"format": "bruit.plan/1", "epsilon": NaN}',
        '{"format": "bruit.plan/1", "epsilon": 1e999}',
        '{"format": "bruit.plan/1", "format": "bruit.plan/1"}',
        '{"format": "bruit.plan/1", "k": ' + "9" * 100_000 + "}",
        b"\xff\xfe",
        "",
        "3",
    ],
    ids=["brackets", "objects", "NaN", "infinity", "twice", "digits", "bytes", "nothing", "number"],
)
def test_text_that_no_writer_of_ours_leaves_is_refused(text: str | bytes) -> None:
    with pytest.raises(FormatError):
        Plan.from_json(text)


def test_a_whole_number_may_have_as_many_digits_as_ours_have() -> None:
    assert documents.parsed(json.dumps([2**63]), "document") == [2**63]
