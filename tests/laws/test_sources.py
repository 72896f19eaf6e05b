"""Every public mechanism, and a plan by every method, gives the same reports from whichever source people come."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit import Categories, Grid, Plan, engines, numbers, oracles, testing
from bruit.collection import METHODS, RSFD, RSRFD, SMP, OpenQuestion
from bruit.domains.domain import DictionaryColumn
from bruit.errors import DataError
from bruit.numbers import BoundedLaplace, Number
from bruit.open_answers import HeavyHitters
from bruit.oracles import Oracle, RandomizedResponse
from bruit.testing.sources import SOURCES

#: Texts that CSV must quote, texts that are not ASCII, and spaces that must stay.
TEXTS = ("yes", "a,b", 'say "é"', "two\nlines", " padded ", "3", "true")
#: A column of every kind, with every policy for gaps that a record may have.
SCHEMA = {
    "answer": Categories(labels=TEXTS, missing="category"),
    "code": Categories(labels=[1, 5, 9]),
    "flag": Categories(labels=[False, True], missing="category"),
    "town": Categories(k=20),
    "age": Grid(17, 90),
    "height": Grid(1.2, 2.2, cells=40),
}
#: The same where cells of a grid are categories, which may have one for gaps.
AS_CATEGORIES = {**SCHEMA, "height": Grid(1.2, 2.2, cells=40, missing="category")}


def _oracles() -> list[Oracle]:
    every = [oracles.oracle(name, epsilon=1.0, k=2 if name == "Warner" else 12) for name in oracles.NAMES]
    kinds: list[dict[str, Any]] = [{"labels": TEXTS}, {"labels": [1, 5, 9]}, {"labels": [True, False]}, {"k": 6}]
    return every + [
        oracles.oracle(name, epsilon=1.0, domain=Categories(missing=missing, **kind))
        for name, kind in zip(("GRR", "OUE", "SS", "PGR"), kinds, strict=True)
        for missing in ("refuse", "drop", "category")
    ]


def _numbers() -> list[Number]:
    whole: dict[str, Any] = {"epsilon": 1.0, "domain": Grid(0, 9, missing="drop")}
    between: dict[str, Any] = {"epsilon": 2.0, "bounds": (-1.0, 1.5), "cells": 11}
    return [
        numbers.number(name, rounding=rounding, **settings)
        for name in numbers.NAMES
        for settings in (whole, between)
        for rounding in ("nearest", "stochastic")
        if (name, rounding) != ("metric", "nearest") or settings is whole  # it rounds by chance between points
    ]


def _plans() -> list[Plan]:
    several = [Plan(SCHEMA, 6.0, f"{kind}[{base}]") for kind in ("SPL", "SMP") for base in ("ADP", "GRR", "OLH", "HR")]
    several += [Plan(AS_CATEGORIES, 3.0, RSFD(base)) for base in RSFD.bases(oracles.NAMES, ())]
    prior = {name: np.arange(1, size + 1) for name, size in _sizes(AS_CATEGORIES).items()}
    several += [Plan(AS_CATEGORIES, 3.0, RSRFD(base, prior=prior)) for base in RSRFD.bases(oracles.NAMES, ())]
    several += [Plan(AS_CATEGORIES, 3.0, f"TAB[{base}]") for base in ("ADP", "OUE")]
    several += [Plan(SCHEMA, 6.0, f"SMP2[{base}]") for base in ("ADP", "OUE")]
    single = [Plan({"x": SCHEMA[name]}, 1.0) for name in SCHEMA]
    rotated = Plan(SCHEMA, 6.0, SMP("ADP", assign="rotation"))
    return [*several, *single, Plan({"x": Grid(0, 9, missing="drop")}, 1.0, "hybrid"), rotated]


def _sizes(schema: dict[str, Any]) -> dict[str, int]:
    return {name: domain.size for name, domain in schema.items()}


DESIGNS = [*_oracles(), *_numbers(), *_plans()]


def _name(design: Any) -> str:
    if isinstance(design, Plan):
        domains = [attribute.domain for attribute in design.schema.values()]
        return str(design.method) if len(domains) > 1 else f"{design.method}-{type(domains[0]).__name__}"
    kind = type((getattr(design, "labels", None) or (0.0,))[0]).__name__
    return f"{design.name}-{kind}-{design.domain.missing}-{getattr(design, 'rounding', '')}"


#: Every fourth by default, so that each kind of design is among them; all of them in the heavy run.
SOME = [design if not i % 4 else pytest.param(design, marks=pytest.mark.audit) for i, design in enumerate(DESIGNS)]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("design", SOME, ids=_name)
def test_every_source_gives_the_same_reports_tallies_and_refusals(design: Any) -> None:
    assert testing.check_sources(design) == {}


#: One with short reports, one that leaves people out, and a plan.
LARGE = [
    oracles.oracle("GRR", epsilon=1.0, domain=Categories(labels=TEXTS, missing="drop")),
    numbers.number("duchi", epsilon=1.0, bounds=(0.0, 1.0), cells=3, rounding="stochastic"),
]


@pytest.mark.audit
@pytest.mark.parametrize(
    "design", [*LARGE[:1], *(pytest.param(design, marks=pytest.mark.audit) for design in LARGE[1:])], ids=_name
)
def test_sources_that_are_read_in_several_batches_too(design: Any) -> None:
    assert testing.check_sources(design, n=engines.BATCH + 1_001) == {}


@pytest.mark.audit
@pytest.mark.parametrize("design", DESIGNS, ids=_name)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_design_in_several_batches(design: Any, seed: int) -> None:
    assert testing.check_sources(design, n=engines.BATCH + 4_321, rng=seed) == {}


def test_a_table_of_ones_own_may_write_labels_in_another_form() -> None:
    """é as one character or as two; 3 for 3.0: what is spelt alike is the same answer from everywhere."""
    plan = Plan({"answer": ["café", "thé"], "age": Grid(0, 9)}, 2.0, "SPL[GRR]")

    def people(n: int) -> dict[str, list[Any]]:
        return {"answer": (["café", "cafe\u0301", "the\u0301"] * n)[:n], "age": ([3.0, 4.0, 5.0] * n)[:n]}

    assert testing.check_sources(plan, people, n=50) == {}


def _asked_in_files() -> list[Any]:
    """A plan of one question for every mechanism, the plans above, and an open question."""
    single: list[Any] = [
        Plan({"answer": ["no", "yes"] if name == "Warner" else TEXTS}, 1.0, name) for name in oracles.NAMES
    ]
    single += [Plan({"age": Grid(0, 9)}, 1.0, name) for name in numbers.NAMES]
    return [*single, *_plans(), OpenQuestion("why", HeavyHitters(2.0))]


@pytest.mark.parametrize("design", _asked_in_files(), ids=lambda design: str(getattr(design, "method", "open")))
def test_a_table_without_people_is_read_written_and_counted_in_files(design: Any, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text(",".join(design.schema) + "\n")
    for ending in ("csv", "parquet"):
        reports = tmp_path / f"reports.{ending}"
        assert design.privatize(source, to=reports) == 0
        assert (design.gather if isinstance(design, OpenQuestion) else design.tally)(reports).n == 0


def test_every_public_mechanism_and_method_is_among_those_that_are_checked() -> None:
    public = {
        item
        for module in (oracles, numbers)
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Oracle | Number) and not inspect.isabstract(item)
    }
    assert public <= {type(design) for design in DESIGNS}
    assert {plan.method.kind for plan in DESIGNS if isinstance(plan, Plan)} == {"one", *METHODS}


# Controls that must fail.


class DropsAGap(RandomizedResponse):
    """Leaves people out of a file whose answer is missing, instead of counting them in their category."""

    def encode(self, values: Any) -> Any:
        if isinstance(values, DictionaryColumn):
            values = DictionaryColumn(values.entries, values.positions[values.positions >= 0])
        return super().encode(values)


class TakesStrangers(RandomizedResponse):
    """Takes an answer in an array that is not declared for the last one that is."""

    def encode(self, values: Any) -> Any:
        if isinstance(values, DictionaryColumn):
            return super().encode(values)
        array = np.asarray(values)
        return super().encode(array if array.dtype.kind not in "ui" else np.minimum(array, self.k - 1))


class OtherWords(RandomizedResponse):
    """Has words of its own for an array that it refuses."""

    def encode(self, values: Any) -> Any:
        try:
            return super().encode(values)
        except DataError:
            if isinstance(values, DictionaryColumn):
                raise
            raise DataError("no") from None


class TakesEverybody(RandomizedResponse):
    """Takes anybody for somebody with the first value."""

    def encode(self, values: Any) -> Any:
        try:
            return super().encode(values)
        except DataError:
            return np.zeros(len(values.positions if isinstance(values, DictionaryColumn) else values), np.uint8)


class RoundsByItself(BoundedLaplace):
    """Randomises what its domain says, and not what its own encoding does."""

    def encode(self, values: Any) -> Any:
        return self.domain.encode(values) if isinstance(values, np.ndarray) else super().encode(values)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (DropsAGap(epsilon=1.0, domain=Categories(labels=["a", "b"], missing="category")), "counts other reports"),
        (TakesStrangers(epsilon=1.0, k=4), "not declared in 'answer' are accepted"),
        (OtherWords(epsilon=1.0, k=4), "in other words"),
        (TakesEverybody(epsilon=1.0, k=4), "are accepted, or raise no"),
        (RoundsByItself(epsilon=1.0, bounds=(0.0, 1.0), cells=5, rounding="stochastic"), "have other reports"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_broken_twin_breaks_the_law(broken: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        testing.check_sources(broken)


GRR = RandomizedResponse(epsilon=1.0, domain=Categories(labels=["a", "b"], missing="category"))


def _source(change: Any) -> Any:
    """Lists after a change."""

    @contextlib.contextmanager
    def opened(table: Any, folder: Path) -> Iterator[Any]:
        yield {name: change(list(values)) for name, values in table.items()}

    return {"a source": opened}


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values[::-1],
        lambda values: [value for value in values if value is not None],
        lambda values: ["a" if value is None else value for value in values],
        lambda values: values[:-1],
    ],
    ids=["another order", "without gaps", "gaps for an answer", "one person less"],
)
def test_a_source_that_changes_the_people_is_noticed(change: Any) -> None:
    with pytest.raises(AssertionError, match="From a source, by the plan, people have other reports"):
        testing.check_sources(GRR, sources=_source(change))


def test_a_source_that_takes_what_is_not_declared_is_noticed() -> None:
    known = {"a", "b", None}
    with pytest.raises(AssertionError, match="From a source, by the plan, people with a value"):
        testing.check_sources(GRR, sources=_source(lambda values: [v if v in known else "a" for v in values]))


def test_a_source_whose_reports_are_counted_otherwise_is_noticed() -> None:
    opened = []

    def other_people_at_the_second_time(values: Any) -> Any:
        opened.append(1)
        return values if len(opened) == 1 else values[:-1]

    with pytest.raises(AssertionError, match="Reports from a source have another tally"):
        testing.check_sources(GRR, sources=_source(other_people_at_the_second_time))


def test_files_whose_reports_are_counted_otherwise_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Plan.tally

    def without_the_refused(plan: Plan, source: Any) -> Any:
        tally = honest(plan, source)
        return type(tally)(design=tally.design, counts=tally.counts, n=tally.n) if isinstance(source, Path) else tally

    monkeypatch.setattr(Plan, "tally", without_the_refused)
    with pytest.raises(AssertionError, match=r"Impossible reports in reports\.parquet are refused otherwise"):
        testing.check_sources(GRR, sources={})

    def twice(plan: Plan, source: Any) -> Any:
        tally = honest(plan, source)
        return tally + tally if isinstance(source, Path) else tally

    monkeypatch.setattr(Plan, "tally", twice)
    with pytest.raises(AssertionError, match=r"Reports in reports\.parquet have another tally"):
        testing.check_sources(GRR, sources={})


def test_a_library_that_is_not_installed_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    import narwhals.stable.v1 as nw

    whole = nw.from_dict

    def without_polars(table: Any, *, backend: Any) -> Any:
        if backend == "polars":
            raise ModuleNotFoundError("polars")
        return whole(table, backend=backend)

    monkeypatch.setattr(nw, "from_dict", without_polars)
    assert testing.check_sources(GRR) == {"polars": "polars is not installed."}


def test_the_sources_are_all_that_the_engines_read_without_spark() -> None:
    assert set(SOURCES) == {
        "lists",
        "NumPy",
        "pandas",
        "pandas with its own gaps",
        "polars",
        "Arrow",
        "batches",
        "CSV",
        "a file object",
        "standard input",
        "Parquet",
        "a folder of Parquet files",
    }
