"""A forged plan costs nothing: what a small document declares bounds the work of reading it, whatever it declares.

Nothing here is timed. What is counted instead: how often a ratio is tried, how large arrays become, and whether a law
is computed at all before a document is refused.
"""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import numpy as np
import pytest

from bruit import documents
from bruit.collection import Plan, fake, guarantees, settling
from bruit.collection import fake_column as columns
from bruit.domains import Categories, Grid
from bruit.errors import BruitError, FormatError
from bruit.privacy.distance import DistanceLaw

MILLION = 1_000_000
METHODS = ["RS+FD[GRR]", "RS+FD[SS]", "RS+FD[ADP]", "RS+FD[OUE-z]", "RS+FD[OUE-r]"]


def million(method: str, **settings: Any) -> Plan:
    return Plan({"a": Categories(k=MILLION), "b": Categories(k=MILLION - 1)}, 0.5, method, **settings)


def changed(plan: Plan, **body: Any) -> str:
    """The plan's document with some of its body replaced, sealed again."""
    return documents.seal(Plan.FORMAT, documents.unseal(plan.to_json(), Plan.FORMAT) | body)


@pytest.mark.parametrize("method", METHODS)
def test_reading_a_plan_confirms_its_inner_epsilon_and_does_not_look_for_it(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan({"a": ["x", "y"], "b": ["u", "v", "w"], "c": Categories(k=70)}, 0.8, method, unit="attribute")
    text, tried = plan.to_json(), []

    def counted(found: Any, unit: Any) -> Any:
        tried.append(unit)
        return fake.fake_ratio(found, unit)

    monkeypatch.setattr(guarantees, "solve", None)
    monkeypatch.setattr(settling, "fake_ratio", counted)
    assert Plan.from_json(text) == plan
    assert 1 <= len(tried) <= 4


@pytest.mark.parametrize("stated", [None, 0, "much", 0.8, 0.9, 19.0, 20.0, 21.0])
def test_an_inner_epsilon_that_is_not_the_one_is_refused(stated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan({"a": ["x", "y"], "b": ["u", "v", "w"]}, 0.8, "RS+FD[GRR]", unit="attribute")
    described = {name: {**body, "epsilon": stated} for name, body in plan.design.describe().items()}
    text = changed(plan, mechanisms=described)
    monkeypatch.setattr(guarantees, "solve", None)
    with pytest.raises(FormatError):
        Plan.from_json(text)


@pytest.mark.parametrize("unit", ["person", "attribute"])
@pytest.mark.parametrize("method", [*METHODS, "SPL[ADP]", "SMP[SS]", "SMP[PGR]", "SPL[OLH]", "SMP[HR]"])
def test_a_million_values_that_stand_in_a_small_document_make_no_large_array(method: str, unit: Any) -> None:
    text = million(method, unit=unit).to_json()
    assert len(text) < 1100
    Plan.from_json(text)  # what is loaded at the first use is not of interest
    tracemalloc.start()
    try:
        Plan.from_json(text)
        assert tracemalloc.get_traced_memory()[1] < MILLION  # an array of so many numbers takes eight times that
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", ["SPL[staircase]", "SMP[laplace]", "SPL[laplace]"])
def test_too_many_numbers_with_too_many_cells_are_refused_before_any_law_is_computed(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 9 if "staircase" in method else 33
    attributes = [{"name": f"x{i}", "domain": Grid(0.0, 1.0, cells=4096).to_dict()} for i in range(many)]
    text = documents.seal(
        Plan.FORMAT, {"attributes": attributes, "method": method, "epsilon": 1.0, "unit": "person", "mechanisms": {}}
    )
    monkeypatch.setattr(DistanceLaw, "calibrate", None)
    with pytest.raises(FormatError, match="Declare fewer cells"):
        Plan.from_json(text)


def test_a_plan_of_many_numbers_of_a_usual_size_is_read() -> None:
    plan = Plan({f"age{i}": Grid(17, 90) for i in range(40)}, 19.0, "SPL[staircase]")
    assert Plan.from_json(plan.to_json()) == plan


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


@pytest.mark.parametrize("seed", range(300))
def test_a_document_with_anything_in_it_is_read_or_refused_with_an_error_of_ours(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarantees, "solve", None)
    text = documents.seal(Plan.FORMAT, _body(random.Random(seed)))
    try:
        plan = Plan.from_json(text)
    except BruitError:
        return
    assert Plan.from_json(plan.to_json()) == plan


# What makes it cheap gives the same results.


def _every_omega(epsilon: float, k: int, d: int) -> int:
    """The best size of subsets, by trying all."""
    omega = np.arange(1, k)
    p = omega * np.exp(epsilon) / (omega * np.exp(epsilon) + k - omega)
    q = (omega - p) / (k - 1)
    share = (q + (d - 1) * omega / k) / d
    return int(omega[np.argmin(share * (1 - share) / (p - q) ** 2)])


def test_the_best_size_of_subsets_is_among_the_likely_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_SOME", 1)  # never try all
    chance = random.Random(1)
    for _ in range(400):
        k, d = int(np.exp(chance.uniform(np.log(2), np.log(3000)))), chance.choice([2, 3, 10, 1024])
        epsilon = float(np.exp(chance.uniform(np.log(0.001), np.log(20))))
        assert columns.best_omega(epsilon, k, d) == _every_omega(epsilon, k, d)


def test_the_best_size_of_large_subsets_is_that_of_trying_all() -> None:
    for k, epsilon, d in ((4097, 0.01, 2), (50_001, 1.0, 3), (200_000, 4.0, 12), (300_000, 20.0, 2)):
        assert columns.best_omega(epsilon, k, d) == _every_omega(epsilon, k, d)
