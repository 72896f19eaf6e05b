"""Public attributes, asked tables and central tables by Spark: what the memory engine gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bruit
from bruit.domains import Categories
from bruit.errors import DataError, DisclosureWarning
from bruit.releases import Tables, release

Frames = Callable[..., Any]
SCHEMA = {"school": ["A", "B"], "smokes": ["no", "yes"], "degree": ["none", "school", "college"]}


@pytest.fixture(scope="module")
def pupils() -> dict[str, list[str]]:
    rng = np.random.default_rng(3)
    return {name: rng.choice(labels, 600).tolist() for name, labels in SCHEMA.items()}


@pytest.mark.parametrize(("method", "public"), [("SMP[ADP]", ["school"]), ("TAB[ADP]", None), ("TAB[OUE]", ["school"])])
def test_reports_tallies_and_estimates_are_those_of_the_memory_engine(
    frame_of: Frames, pupils: dict[str, list[str]], method: str, public: list[str] | None
) -> None:
    plan = bruit.Plan(SCHEMA, epsilon=2.0, method=method, public=public)
    expected = plan.tally(plan.privatize(pupils, rng=11))
    reports = plan.privatize(frame_of(pupils, 1), rng=11).cache()
    assert plan.tally(reports) == expected
    answers = plan.estimate(plan.tally(reports))
    if public:
        assert set(answers.by("school")) == {"A", "B"}
        assert sum(answers.by("school").n.values()) == 600
    if method.startswith("TAB"):
        table = answers.table("smokes", "degree")
        assert np.array_equal(table.frequency, plan.estimate(expected).table("smokes", "degree").frequency)


def test_the_product_of_reports_made_apart_is_counted_by_spark(frame_of: Frames, pupils: dict[str, list[str]]) -> None:
    plan = bruit.Plan(SCHEMA, epsilon=6.0, method="SPL[GRR]")
    expected = plan.table(plan.privatize(pupils, rng=2), "smokes", "degree")
    by_spark = plan.table(plan.privatize(frame_of(pupils, 1), rng=2), "smokes", "degree")
    assert np.array_equal(by_spark.frequency, expected.frequency)


def test_a_public_value_that_names_everybody_is_refused_before_spark_writes(frame_of: Frames, tmp_path: Path) -> None:
    plan = bruit.Plan({"smokes": ["no", "yes"], "id": Categories(k=100)}, 1.0, public=["id"])
    people = {"smokes": ["no"] * 40, "id": list(range(40))}
    with pytest.raises(DataError, match="name each person"):
        plan.privatize(frame_of(people, 2), to=tmp_path / "reports.parquet")
    assert not list(tmp_path.iterdir())
    with pytest.warns(DisclosureWarning, match="Of 40 people, 1 have"):
        plan.privatize(frame_of({**people, "id": [1] * 39 + [2]}, 2))


def test_central_tables_are_counted_by_spark_as_in_memory(frame_of: Frames, pupils: dict[str, list[str]]) -> None:
    tables = Tables(SCHEMA, epsilon=1.0, delta=1e-6)
    by_spark, in_memory = (release(source, tables, rng=5) for source in (frame_of(pupils, 3), pupils))
    assert np.array_equal(by_spark.values, in_memory.values)
    people = {**pupils, "who": np.arange(600) // 3}
    by_spark, in_memory = (
        release(source, tables, person="who", rows=2, rng=5) for source in (frame_of(people, 3), people)
    )
    assert np.array_equal(by_spark.values, in_memory.values)
