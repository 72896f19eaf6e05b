"""Mechanisms and plans are randomizers: their verbs are their seams, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bruit import Plan, numbers, oracles
from bruit.entropy import Words
from bruit.mechanism import LocalMechanism
from bruit.randomizer import Randomizer

N = 400
ORACLES = [oracles.oracle(name, epsilon=1.0, k=2 if name == "Warner" else 7) for name in oracles.NAMES]
NUMBERS = [numbers.number(name, epsilon=1.0, bounds=(0, 6), rounding="stochastic") for name in numbers.NAMES]
PLANS = [
    Plan({"a": ["0", "1", "2"], "b": ["0", "1"]}, 1.0, method)
    for method in ("SPL[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[SS]")
]


def values(randomizer: Any) -> Any:
    if isinstance(randomizer, Plan):
        return {
            name: np.array(attribute.labels)[np.arange(N) % attribute.size]
            for name, attribute in randomizer.schema.items()
        }
    return np.arange(N) % randomizer.size


def same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return list(first) == list(second) and all((first[name] == second[name]).all() for name in first)
    return bool((first == second).all())


@pytest.mark.parametrize(
    "randomizer",
    [*ORACLES, *NUMBERS, *PLANS],
    ids=lambda item: getattr(item, "name", None) if isinstance(item, LocalMechanism) else str(item.method),
)
def test_verbs_are_seams(randomizer: Randomizer) -> None:
    people = values(randomizer)
    words = Words.resolve(5, "privatize", randomizer.digest)
    reports = randomizer.randomize(randomizer.encode(people), words)
    assert same(randomizer.privatize(people, rng=5), reports)
    assert randomizer.valid(reports).all()
    assert randomizer.tally(reports) == randomizer.count(reports)
    assert randomizer.tally(reports).n == N


def test_nothing_else_randomizes() -> None:
    kinds = {type(item) for item in (*ORACLES, *NUMBERS, *PLANS)}
    assert all(issubclass(kind, Randomizer) for kind in kinds)
    for kind in kinds - {Plan}:
        assert kind.privatize is Randomizer.privatize
        assert kind.tally is Randomizer.tally


@pytest.mark.parametrize("name", ["GRR", "OUE", "OLH", "SS"])
def test_answers_in_place_of_reports_count_nobody_and_draw_a_warning(name: str) -> None:
    oracle = oracles.oracle(name, epsilon=1.0, labels=["never", "once", "often"])
    answers = ["never", "often", "once"] * 3
    with pytest.warns(UserWarning, match="make reports of them first") as warned:
        tally = oracle.tally(answers)
    assert warned[0].filename == __file__
    assert (tally.n, tally.refused) == (0, 9)
    assert oracle.tally(["sometimes"] * 3).n == 0  # forged, and no answers either: counted in silence
    assert oracle.tally(oracle.privatize(answers)).n == 9
