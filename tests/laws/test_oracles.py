"""Every public oracle keeps the common laws of `bruit.testing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from bruit import oracles, testing
from bruit.domains import Categories
from bruit.oracles import (
    NAMES,
    HadamardResponse,
    LocalHashing,
    Oracle,
    ProjectiveGeometry,
    RandomizedResponse,
    SubsetSelection,
    UnaryEncoding,
)

#: One design or two of every class; more of each stand in the tests of its own module.
ORACLES: list[Oracle] = [
    RandomizedResponse.two_coins(labels=("no", "yes")),
    RandomizedResponse(epsilon=1.0, k=16),
    RandomizedResponse(epsilon=1.0, domain=Categories(labels=["red", "green", "blue"], missing="category")),
    RandomizedResponse(epsilon=1.0, domain=Categories(labels=[1, 5, 9], missing="drop")),
    RandomizedResponse(epsilon=1.0, domain=Categories(labels=["red", "green"], missing="category", outside="other")),
    UnaryEncoding(epsilon=1.0, k=5, kind="SUE"),
    UnaryEncoding(epsilon=2.0, domain=Categories(labels=["red", "green", "blue"], missing="category")),
    SubsetSelection(epsilon=1.0, k=7),
    LocalHashing(epsilon=1.0, k=12),
    HadamardResponse(epsilon=1.0, k=12),
    ProjectiveGeometry(epsilon=1.0, k=12),
]

#: Others, for the heavy run.
MORE: list[Oracle] = [
    oracles.oracle("Warner"),
    oracles.oracle("Warner", epsilon=0.5),
    RandomizedResponse.with_odds(7, 2, k=5),
    RandomizedResponse(epsilon=0.1, k=2),
    RandomizedResponse(epsilon=0.2, k=16),
    RandomizedResponse(epsilon=1.0, k=3),
    RandomizedResponse(epsilon=3.0, k=7),
    RandomizedResponse(epsilon=8.0, k=16),
    RandomizedResponse(epsilon=2.0, k=300),
    RandomizedResponse(epsilon=1.0, labels=[False, True]),
]

#: Checks that run all others, that are for numbers, releases or any verb, or that test_sources.py runs over plans too.
OF_OTHERS = ("check_oracle", "check_number", "check_mean", "check_release", "check_canary", "check_sources")
CHECKS = [
    getattr(testing, name)
    for name in testing.__all__
    if name not in OF_OTHERS and not name.endswith("after_booking")  # which are for what spends a budget
]


def _name(oracle: Oracle) -> str:
    missing = "" if oracle.domain.missing == "refuse" else f"-{oracle.domain.missing}"
    kind = "codes" if oracle.labels is None else type(oracle.labels[0]).__name__
    return f"{oracle.name}-{oracle.epsilon:.3g}-{oracle.k}-{kind}{missing}"


@pytest.mark.audit(
    "HR-1-12-codes-check_coverage",
    "HR-1-12-codes-check_unbiased",
    "HR-1-12-codes-check_variance",
    "OLH-1-12-codes-check_coverage",
    "OLH-1-12-codes-check_unbiased",
    "OLH-1-12-codes-check_variance",
    "PGR-1-12-codes-check_coverage",
    "PGR-1-12-codes-check_unbiased",
    "PGR-1-12-codes-check_variance",
    "SS-1-7-codes-check_coverage",
    "SS-1-7-codes-check_unbiased",
    "SS-1-7-codes-check_variance",
    share=3,
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("oracle", ORACLES, ids=_name)
def test_an_oracle_keeps_the_law(oracle: Oracle, check: Callable[[Any], None]) -> None:
    assert check(oracle) is None


def test_every_name_of_the_literature_is_among_those_that_are_checked() -> None:
    checked = {type(oracle) for oracle in ORACLES}
    public = {
        item
        for item in vars(oracles).values()
        if inspect.isclass(item) and issubclass(item, Oracle) and not inspect.isabstract(item)
    }
    assert public <= checked
    assert {type(oracles.oracle(name, epsilon=1.0, k=2)) for name in NAMES} <= checked


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("oracle", [*ORACLES, *MORE], ids=_name)
def test_an_oracle_keeps_all_laws_with_other_seeds(oracle: Oracle, seed: int) -> None:
    assert testing.check_oracle(oracle, rng=seed) is None
