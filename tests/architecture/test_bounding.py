"""The walk to the rows of people that count goes down: where they are kept, no module stands twice on the stack."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sources import sources

from bruit.engines import bounding
from bruit.kernels import bounding as kernels
from bruit.learning import KMeans, NaiveBayes
from bruit.releases import Count, LimitsGuide, Person, Release, Sum, release

ROWS = 600
TABLE = pd.DataFrame(
    {
        "user": np.arange(ROWS) % 90,
        "zone": np.array(["a", "b", "c"])[np.arange(ROWS) % 3],
        "fare": np.arange(ROWS) % 10 / 10,
        "ill": np.arange(ROWS) % 2,
    }
)
BY = {"zone": ["a", "b", "c"]}
IN_GROUPS = Person("user", groups=2, rows_per_group=1)
NAMED = Count(epsilon=1.0, delta=1e-3)
ZONES = Release(NAMED, "zone", IN_GROUPS)
FARES = Sum("fare", bounds=(0, 1), epsilon=1.0)
MODEL: dict[str, Any] = {"epsilon": 1.0, "bounds": {"fare": (0, 1)}, "person": "user", "rows": 2, "rng": 7}

#: Everything that counts rows of people, by its name.
WALKS: dict[str, Callable[[Any], object]] = {
    "rows": lambda source: release(source, Count(epsilon=1.0), person="user", rows=2, rng=3),
    "declared groups": lambda source: Release([Count(epsilon=1.0), FARES], BY, IN_GROUPS).fold(source, 3),
    "undeclared groups": lambda source: ZONES.fold(source, 3),
    "sums of undeclared groups": lambda source: Release([NAMED, FARES], "zone", IN_GROUPS).fold(source, 3),
    "a publication": lambda source: Release.union(
        [Release({"n": Count(epsilon=1.0)}, None, Person("user", rows=2)), ZONES]
    ).fold(source, 3),
    "limits": lambda source: LimitsGuide(Count(epsilon=1.0), "user", BY, epsilon=0.5).fold(source, 3),
    "a model": lambda source: NaiveBayes(classes=[0, 1], **MODEL).fit(source, "ill"),
    "clusters": lambda source: KMeans(2, iterations=1, **MODEL).fit(source),
    "rows for a computation": lambda source: Person("user", rows=2).bounded(source, rng=3),
}


def modules(frame: FrameType | None) -> Iterator[str]:
    """The modules of bruit on the stack, from a frame on upwards."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] == "bruit":
            yield name
        frame = frame.f_back


def twice(names: Iterator[str]) -> set[str]:
    """The modules to which a stack comes back after it was in another."""
    runs = [name for name, _ in itertools.groupby(names)]
    return {name for name in runs if runs.count(name) > 1}


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The modules on the stack whenever rows are kept."""
    seen: list[list[str]] = []
    keep_first = kernels.keep_first

    def watched(*arguments: Any) -> None:
        seen.append(list(modules(sys._getframe(1))))
        keep_first(*arguments)

    monkeypatch.setattr(kernels, "keep_first", watched)
    return seen


@pytest.fixture(params=["memory", "parts", "DuckDB"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A table in memory, in parts of a file that is read several times, and through DuckDB."""
    if request.param == "memory":
        return TABLE
    if request.param == "DuckDB":
        pytest.importorskip("duckdb")
    else:
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "duckdb" else find_spec(name))
    monkeypatch.setattr(bounding, "MOST_ROWS", ROWS // 2)
    TABLE.to_parquet(tmp_path / "trips.parquet", index=False)
    return tmp_path / "trips.parquet"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("walk", WALKS)
def test_no_module_is_on_the_stack_twice_where_rows_are_kept(walk: str, source: Any, stacks: list[list[str]]) -> None:
    WALKS[walk](source)
    assert stacks
    for stack in stacks:
        assert stack[0] == "bruit.engines.bounding"
        assert not twice(iter(stack)), stack


def test_a_walk_that_comes_back_is_caught(stacks: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    choose = bounding.choose
    scope = {"__name__": "bruit.releases.person", "choose": choose}
    exec("def planted(*arguments):\n    return choose(*arguments)", scope)
    monkeypatch.setattr(bounding, "choose", scope["planted"])
    WALKS["rows"](TABLE)
    assert [twice(iter(stack)) for stack in stacks] == [{"bruit.engines.bounding"}]


def test_only_one_module_keeps_rows() -> None:
    assert [module.name for module in sources() if "keep_first(" in module.text] == [
        "engines/bounding",
        "kernels/bounding",
    ]
    for gone in ("PeopleTally", "BoundedRows", "BoundedParts", "_Profiled", "engines.people"):
        assert not [module.name for module in sources() if gone in module.text]
