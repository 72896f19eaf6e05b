"""Whatever stands among the reports of any mechanism or plan, honest ones count and a row is one report or one refusal.

The law runs with its own list of hostile rows over everything that is public, and with generated ones over every form
that reports have. Readers that break it, each in one way, are found.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit import numbers, oracles, testing
from bruit.collection import RSFD, RSRFD, SMP, SPL, Method, Plan
from bruit.domains import Categories, Grid
from bruit.engines import arrow, running
from bruit.engines import reports as reading
from bruit.mechanism import LocalMechanism
from bruit.oracles import LocalHashing, RandomizedResponse, SubsetSelection, UnaryEncoding

SCHEMA = {"sex": ["F", "M"], "smokes": Categories(labels=["no", "yes", "seldom"], missing="category"), "k": ["a", "b"]}
PRIOR = {"sex": [0.5, 0.5], "smokes": [0.25] * 4, "k": [0.3, 0.7]}


def plan(method: str) -> Plan:
    """A plan by this method, for as many attributes as it needs."""
    kind = Method.kind_of(method).kind
    if kind == "one":
        domain: Any = Grid(0, 20) if method in numbers.NAMES else ["no", "yes"]
        return Plan({"2020": domain}, 1.0, method)
    if method.partition("[")[2].rstrip("]") in numbers.NAMES:
        return Plan({"age": Grid(0, 20), "size": Grid(0.0, 2.0, cells=9)}, 2.0, method)
    schema = {"a": ["0", "1"], "b": ["x", "y"]} if "Warner" in method else SCHEMA
    return Plan(schema, 2.0, Method.named(method, prior=PRIOR if kind == "RS+RFD" else None))


MECHANISMS: list[Any] = [
    *(oracles.oracle(name, epsilon=1.0, k=2 if name == "Warner" else 21) for name in oracles.NAMES),
    *(numbers.number(name, epsilon=1.0, bounds=(0, 20)) for name in numbers.NAMES),
    RandomizedResponse(epsilon=1.0, domain=Categories(labels=["red", "green", "blue"], missing="category")),
    RandomizedResponse(epsilon=1.0, domain=Categories(labels=[1, 5, 9], missing="drop")),
    RandomizedResponse(epsilon=1.0, k=256),
    RandomizedResponse(epsilon=1.0, k=70_000),
    UnaryEncoding(epsilon=1.0, k=8),
    LocalHashing(epsilon=1.0, k=21, pool=40),
    LocalHashing(epsilon=8.0, k=21),
    numbers.SquareWave(epsilon=1.0, bounds=(0.0, 1.0), cells=300, rounding="stochastic"),
]

KINDS = (oracles.Oracle.kinds, numbers.Number.kinds)
METHODS = [
    *oracles.NAMES,
    *numbers.NAMES,
    # ε per distance is for one attribute.
    *(
        f"{method.kind}[{base}]"
        for method in (SPL, SMP, RSFD, RSRFD)
        for base in method.bases(*KINDS)
        if base != "metric"
    ),
]


def _name(design: Any) -> str:
    return f"{design.name}-{design.epsilon:g}-{design.form.dtype}"


@pytest.mark.audit("OLH-8-", "OUE-1-uint8_1", "duchi-1-uint8", "square-wave-1-uint16", share=3)
@pytest.mark.parametrize("design", MECHANISMS, ids=_name)
def test_a_mechanism_keeps_the_law(design: Any) -> None:
    assert testing.check_hostile_reports(design) is None


def test_every_public_class_is_among_those_that_are_checked() -> None:
    public = {
        item
        for package in (oracles, numbers)
        for item in vars(package).values()
        if inspect.isclass(item) and issubclass(item, LocalMechanism) and not inspect.isabstract(item)
    }
    assert public <= {type(design) for design in MECHANISMS}


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", METHODS)
def test_a_plan_keeps_the_law(method: str) -> None:
    assert testing.check_hostile_reports(plan(method)) is None


#: One design of every form that reports have: numbers of one byte and two, rows, records, and several columns.
FORMS: list[Any] = [
    RandomizedResponse(epsilon=1.0, k=4),
    RandomizedResponse(epsilon=1.0, k=300),
    UnaryEncoding(epsilon=1.0, k=11),
    SubsetSelection(epsilon=1.0, k=16),
    LocalHashing(epsilon=1.0, k=12),
    LocalHashing(epsilon=1.0, k=12, pool=40),
    plan("SPL[ADP]"),
    plan("SMP[OLH]"),
    plan("RS+FD[OUE-z]"),
]

scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=40), st.binary(max_size=40)),
    *(st.integers(0, 400).map(str), st.binary(max_size=20).map(bytes.hex), st.integers(0, 9).map(np.uint8)),
)
items = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=20), st.tuples(inner, inner, inner), st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=20,
)
lines = st.one_of(
    st.binary(max_size=60),
    st.text('0123456789abcdefx,;"\r\n\t\0 -+.', max_size=60).map(str.encode),
    st.binary(max_size=20).map(lambda data: data.hex().encode()),
)


@pytest.mark.audit("6", "7", "8", share=3)
@pytest.mark.parametrize("place", range(len(FORMS)))
@settings(deadline=None, max_examples=12)
@given(items=st.lists(items, max_size=6), lines=st.lists(lines, max_size=6))
def test_no_generated_row_breaks_the_law(place: int, items: list[Any], lines: list[bytes]) -> None:
    assert testing.check_hostile_reports(FORMS[place], items=items, lines=lines) is None


@pytest.mark.audit
@pytest.mark.parametrize("place", range(len(FORMS)))
@settings(deadline=None, max_examples=400)
@given(items=st.lists(items, max_size=10), lines=st.lists(lines, max_size=20))
def test_no_generated_row_breaks_the_law_however_long_it_is_looked_for(
    place: int, items: list[Any], lines: list[bytes]
) -> None:
    assert testing.check_hostile_reports(FORMS[place], items=items, lines=lines) is None


# Readers that break it.


def _trusting(source: Any, forms: Any) -> Any:
    """Reads reports as a trusted table."""
    found = list(running.open_source(source, list(forms)).batches)
    return None, iter([reading._mapping(batch, forms) for batch in found])


def _losing(pieces: Callable[..., Any]) -> Callable[..., Any]:
    """Forgets who was refused."""

    def read(source: Any, forms: Any) -> Any:
        total, found = pieces(source, forms)
        return total, (rows._replace(refused=0) for rows in found)

    return read


def _doubling(pieces: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the last piece twice."""

    def twice(found: Iterator[Any]) -> Iterator[Any]:
        for rows in found:
            yield rows
        yield rows

    return lambda source, forms: (None, twice(pieces(source, forms)[1]))


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (lambda _: _trusting, "in a stream (raise FormatError|are lost)"),
        (_losing, "in a stream are lost or count twice"),
        (_doubling, "in a stream are lost or count twice"),
    ],
    ids=["trusting", "losing", "doubling"],
)
def test_a_reader_of_files_that_breaks_the_law_is_found(
    reader: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "pieces", reader(reading.pieces))
    for design in FORMS:
        with pytest.raises(AssertionError, match=words):
            testing.check_hostile_reports(design)


def test_a_line_that_ends_with_a_return_alone_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = reading._blocks

    def cut(stream: Any, most: int) -> Iterator[tuple[bytes, int]]:
        for block, skipped in blocks(stream, most):
            yield block.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), skipped

    monkeypatch.setattr(reading, "_blocks", cut)
    with pytest.raises(AssertionError, match="lost or count twice"):
        testing.check_hostile_reports(FORMS[0], lines=[b"1\r1"])


@pytest.mark.parametrize("kind", ["bytes", "integers"])
def test_a_reader_of_parquet_that_breaks_the_law_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(form: Any, values: Any) -> Any:
        found = reports(form, values)
        if found.readable is not None:
            raise ValueError
        return found

    reports = arrow.reports
    monkeypatch.setattr(arrow, "reports", strict)
    design = FORMS[2] if kind == "bytes" else FORMS[0]
    with pytest.raises(AssertionError, match=f"in a Parquet file of {kind} raise ValueError"):
        testing.check_hostile_reports(design)


def test_a_plan_that_refuses_a_person_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Plan.tally

    def twice(self: Plan, reports: Any) -> Any:
        found = tally(self, reports)
        return replace(found, refused=found.refused * len(self.schema))

    monkeypatch.setattr(Plan, "tally", twice)
    with pytest.raises(AssertionError, match="lost or count twice"):
        testing.check_hostile_reports(plan("SPL[GRR]"))
