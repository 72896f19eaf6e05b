"""Documents that nobody's program wrote: refused, or read without the work of making them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from bruit import documents
from bruit.collection import Plan, files, guarantees
from bruit.domains import Grid
from bruit.errors import BruitError, FormatError, LimitError
from bruit.numbers import Staircase, _by_distance

LABELS = ["x", "y", "z"]
MILLION = 1_000_000


def forged(plan: Plan, **changes: Any) -> str:
    """The document of a plan with other fields, sealed as a forger would."""
    body = documents.unseal(plan.to_json(), files.PLAN)
    return documents.seal(files.PLAN, {**body, **changes})


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
    mechanisms = documents.unseal(plan.to_json(), files.PLAN)["mechanisms"]
    for epsilon in (1.0, 1.2, 19.0, 0.0, None, "1", next(iter(plan.mechanisms.values())).epsilon * (1 + 1e-9)):
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
        {"name": name, "domain": Grid(0.0, 1.0, cells=cells).to_dict()} for name, cells in (("a", 4096), ("b", 4095))
    ]  # two laws of 4,096 cells: one is the most
    with pytest.raises(LimitError, match="too many cells"):
        Plan.from_json(forged(plan, attributes=attributes))


def test_attributes_with_one_law_are_read_with_the_work_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan({f"a{place}": Grid(0.0, 1.0 + place, cells=512) for place in range(40)}, 1.0, "SMP[staircase]")
    text, laws = plan.to_json(), []
    calibrated = Staircase._calibrated
    monkeypatch.setattr(Staircase, "_calibrated", lambda number: laws.append(number) or calibrated(number))
    _by_distance._law.cache_clear()
    assert Plan.from_json(text) == plan
    assert len(laws) == 1


def test_numbers_of_many_different_cells_are_refused_by_what_a_document_declares() -> None:
    plan = Plan({"a": Grid(0.0, 1.0, cells=16), "b": Grid(0.0, 1.0, cells=16)}, 1.0, "SMP[staircase]")
    attributes = [{"name": f"a{place}", "domain": Grid(0.0, 1.0, cells=1024 - place).to_dict()} for place in range(6)]
    with pytest.raises(LimitError, match="5 of different numbers near 1,024"):
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


def _body(chance: random.Random) -> dict[str, Any]:
    """Something like a plan, with extremes everywhere."""

    def domain() -> dict[str, Any]:
        missing = chance.choice(["refuse", "refuse", "category", "drop", 3])
        if chance.random() < 0.6:
            k = chance.choice([2, 3, 50, MILLION, MILLION - 1, MILLION + 1, 0, -1, 10**30, 1.5, "9", None, True])
            return {"kind": "categories", "k": k, "missing": missing}
        ends = chance.choice([(0.0, 1.0), (0, 9), (-1e308, 1e308), (0, 10**30), ("a", 1), (1, 0)])
        cells = chance.choice([2, 4096, 4095, MILLION, 10**18, 0, -3, "9"])
        return {"kind": "grid", "low": ends[0], "high": ends[1], "cells": cells, "missing": missing}

    names = [f"a{i}" for i in range(chance.choice([1, 2, 3, 5]))]
    kinds = ["SPL", "SMP", "RS+FD", "RS+RFD"]
    bases = ["GRR", "OUE", "OLH", "SS", "HR", "PGR", "ADP", "OUE-z", "SUE-r", "staircase", "laplace", "hybrid", "x"]
    method = chance.choice(bases) if len(names) == 1 else f"{chance.choice(kinds)}[{chance.choice(bases)}]"
    epsilon = chance.choice([0.001, 1.0, 20.0, 0.0, -1, 1e308, 10**30, "1", None])
    one = {"oracle": method, "epsilon": epsilon} | chance.choice([{}, {"odds": [10**39, 1]}, {"omega": 10**18}])
    body: dict[str, Any] = {
        "attributes": [{"name": name, "domain": domain()} for name in names],
        "method": method,
        "epsilon": epsilon,
        "unit": chance.choice(["person", "attribute", "nobody", 7]),
        "calibration": chance.choice(["exact", "published", None]),
        "mechanisms": {name: {"epsilon": chance.choice([epsilon, 1.0, 2.0])} for name in names},
    }
    for key in ("budgets", "weights", "prior", "bases"):
        if chance.random() < 0.3:
            value = chance.choice([1, 0.5, [0.5, 0.5], "GRR", 10**30, None, {}])
            body[key] = chance.choice([dict.fromkeys(names, value), value])
    if len(names) == 1:
        body["mechanism"] = chance.choice([one, None, 3, []])
        del body["mechanisms"]
    if chance.random() < 0.2:
        body[chance.choice(list(body))] = chance.choice([None, [], {}, 0, "x", [[]], {"a": {}}])
    return body


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("seed", range(300))
def test_a_document_with_anything_in_it_is_read_or_refused_with_an_error_of_ours(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarantees, "solve", None)
    text = documents.seal(files.PLAN, _body(random.Random(seed)))
    try:
        plan = Plan.from_json(text)
    except BruitError:
        return
    assert Plan.from_json(plan.to_json()) == plan
