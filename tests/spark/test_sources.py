"""People in a DataFrame of Spark give the reports, the tally and the refusals that they give from memory and files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bruit import Categories, Grid, Plan, engines, numbers, oracles, testing
from bruit.collection import RSRFD
from bruit.testing.sources import Source

SCHEMA = {
    "answer": Categories(labels=["yes", "a,b", "é"], missing="category"),
    "flag": Categories(labels=[False, True], missing="category"),
    "town": Categories(k=20),
    "height": Grid(1.2, 2.2, cells=40),
}
PRIOR = {name: range(1, domain.size + 1) for name, domain in SCHEMA.items()}
#: Every form of reports, every policy for gaps, and every kind of plan; all others have one of these forms.
DESIGNS: list[Any] = [
    *(oracles.oracle(name, epsilon=1.0, k=12) for name in ("GRR", "OUE", "OLH")),
    oracles.oracle("SS", epsilon=1.0, domain=Categories(labels=["no", "yes", "a,b"], missing="drop")),
    oracles.oracle("PGR", epsilon=1.0, domain=Categories(labels=[1, 5, 9], missing="category")),
    numbers.number("hybrid", epsilon=1.0, domain=Grid(0, 9, missing="drop")),
    numbers.number("duchi", epsilon=1.0, bounds=(0.0, 1.0), cells=5, rounding="stochastic"),
    *(Plan(SCHEMA, 4.0, method) for method in ("SPL[ADP]", "SMP[ADP]", "RS+FD[ADP]")),
    Plan(SCHEMA, 4.0, RSRFD("GRR", prior=PRIOR)),
]


def _name(design: Any) -> str:
    return str(design.method) if isinstance(design, Plan) else f"{design.name}-{design.domain.missing}"


@pytest.fixture
def source(frame_of: Callable[..., Any]) -> dict[str, Source]:
    """One partition: with several, each has noise of its own."""

    @contextlib.contextmanager
    def opened(table: Any, folder: Path) -> Iterator[Any]:
        yield frame_of(dict(table), 1)

    return {"Spark": opened}


#: One oracle, one number and one plan by default; each takes ten seconds.
SOME = [design if i in (4, 6, 8) else pytest.param(design, marks=pytest.mark.audit) for i, design in enumerate(DESIGNS)]


@pytest.mark.audit("SMP[ADP]", "duchi-refuse", share=3)
@pytest.mark.parametrize("design", SOME, ids=_name)
def test_spark_gives_the_same_reports_tallies_and_refusals(design: Any, source: dict[str, Source]) -> None:
    assert testing.check_sources(design, sources=source, n=300) == {}


@pytest.mark.audit
def test_a_partition_of_several_batches_too(source: dict[str, Source]) -> None:
    design = oracles.oracle("GRR", epsilon=1.0, domain=Categories(labels=["no", "yes"], missing="category"))
    assert testing.check_sources(design, sources=source, n=engines.BATCH + 1_001) == {}


@pytest.mark.audit
def test_several_partitions_have_other_noise(frame_of: Callable[..., Any]) -> None:
    """The control: the comparison sees what Spark gives."""

    @contextlib.contextmanager
    def opened(table: Any, folder: Path) -> Iterator[Any]:
        yield frame_of(dict(table), 2)

    design = oracles.oracle("GRR", epsilon=1.0, k=12)
    with pytest.raises(AssertionError, match="From Spark, by the plan, people have other reports"):
        testing.check_sources(design, sources={"Spark": opened}, n=300)
