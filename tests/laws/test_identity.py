"""One person is one person for whatever asks who a person is, from whichever source: memories, releases, models."""

from __future__ import annotations

import datetime
import itertools
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import Plan, engines
from bruit.collection import Repeat, rounds
from bruit.engines import batch as batching
from bruit.engines import bounding as engine
from bruit.errors import DataError
from bruit.learning import AdditiveClassifier, KMeans, LinearRegression, NaiveBayes
from bruit.learning import _base as models
from bruit.oracles import Memory
from bruit.oracles import memory as memories
from bruit.releases import Count, LimitsGuide, Person, Release, Sum
from bruit.releases.person import repeated_identifier

#: The column of the person, by a name that looks like one of an identifier.
WHO = "user_id"


# Spellings.

_ONE_MORE: dict[type, Any] = {int: 1, bool: 1, float: 1.0, datetime.date: datetime.timedelta(1)}
#: What the spelling of a person may go through on its way from one table to another.
CHANGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda value: value,
    "NFC": lambda value: unicodedata.normalize("NFC", str(value)),
    "NFD": lambda value: unicodedata.normalize("NFD", str(value)),
    "NFKC": lambda value: unicodedata.normalize("NFKC", str(value)),
    "text": str,
    "float": lambda value: float(value) if isinstance(value, int) else value,
    "NumPy": lambda value: np.array([value])[0] if isinstance(value, int | float) else value,
    "float16": lambda value: np.float16(value) if isinstance(value, int | float) and value < 2**11 else value,
    "text of a float": lambda value: f"{value}.0",
    "lower": lambda value: str(value).lower(),
    "upper": lambda value: str(value).upper(),
    "title": lambda value: str(value).title(),
    "space before": lambda value: f" {value}",
    "space behind": lambda value: f"{value} ",
    "zero before": lambda value: f"0{value}",
    "plus": lambda value: f"+{value}",
    "minus": lambda value: f"-{value}",
    "negative": lambda value: -value if isinstance(value, float) else value,
    "wide digits": lambda value: str(value).translate({ord("0") + i: 0xFF10 + i for i in range(10)}),
    "NUL behind": lambda value: f"{value}\0",
    "next": lambda value: f"{value}x" if isinstance(value, str) else value + _ONE_MORE[type(value)],
    "truth": lambda value: bool(value) if isinstance(value, int) else value,
    "number": lambda value: int(value) if isinstance(value, bool) else value,
}
#: People as they stand in a table before that.
PEOPLE: list[Any] = ["José", "Straße", "3", 3, 0.0, True, "true", "", "1e3", 10**15, datetime.date(2026, 1, 31)]


class Pair(NamedTuple):
    """Two spellings, and whether they are of one person."""

    first: Any
    second: Any
    same: bool


def who(value: Any) -> str:
    """The rule once more, in other words than those of the library."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if value is True or value is False:
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime.date) else format(round(value), "d")


def _pairs() -> list[Pair]:
    pairs = {}
    for person, change in itertools.product(PEOPLE, CHANGES.values()):
        other = change(person)
        pairs[repr((person, other))] = Pair(person, other, who(person) == who(other))
    return list(pairs.values())


PAIRS = _pairs()


# Sources: from the column of the person, what holds it beside a group and two numbers; None where it cannot.


def _table(column: Any, rows: int) -> dict[str, Any]:
    return {WHO: column, "zone": ["a"] * rows, "x": [0.5] * rows, "y": [1] * rows}


def _objects(pair: Pair, folder: Path) -> Any:
    column = np.empty(2, object)
    column[:] = pair[:2]
    return _table(column, 2)


def _alike(pair: Pair) -> list[Any] | None:
    """Both as plain values of one type, which a typed column needs."""
    values = [value.item() if isinstance(value, np.generic) else value for value in pair[:2]]
    return values if len(set(map(type, values))) == 1 else None


def _numpy(pair: Pair, folder: Path) -> Any:
    values = _alike(pair)
    if values is None or isinstance(values[0], str):  # NumPy drops a NUL at the end of a text by itself
        return None
    return _table(np.array(values, "M8[D]" if isinstance(values[0], datetime.date) else None), 2)


def _framed(build: Callable[[dict[str, Any]], Any]) -> Callable[[Pair, Path], Any]:
    def source(pair: Pair, folder: Path) -> Any:
        values = _alike(pair)
        return None if values is None else build(_table(values, 2))

    return source


def _arrow(table: dict[str, Any], *, encoded: bool = False) -> pa.Table:
    column = pa.array(table[WHO])
    return pa.table({**table, WHO: column.dictionary_encode() if encoded else column})


def _csv(pair: Pair, folder: Path) -> Any:
    if not all(isinstance(value, str) and value and "\0" not in value for value in pair[:2]):
        return None
    (folder / "people.csv").write_text(f"{WHO},zone,x,y\n" + "".join(f'"{name}",a,0.5,1\n' for name in pair[:2]))
    return folder / "people.csv"


def _parquet(pair: Pair, folder: Path) -> Any:
    if _alike(pair) is None:
        return None
    pq.write_table(_arrow(_table(_alike(pair), 2)), folder / "people.parquet")
    return folder / "people.parquet"


def _two_files(pair: Pair, folder: Path) -> Any:
    """A folder of two files, of which each has its own type for the column."""
    (folder / "people").mkdir(exist_ok=True)
    for number, value in enumerate(pair[:2]):
        pq.write_table(pa.table(_table(pa.array([value]), 1)), folder / "people" / f"{number}.parquet")
    return folder / "people"


def _query(pair: Pair, folder: Path) -> Any:
    path = _parquet(pair, folder)
    return None if path is None else engines.query(f"SELECT * FROM '{path}'")


SOURCES: dict[str, Callable[[Pair, Path], Any]] = {
    "lists": lambda pair, folder: _table(list(pair[:2]), 2),
    "objects": _objects,
    "NumPy": _numpy,
    "pandas": _framed(pd.DataFrame),
    "pandas' own objects": _framed(lambda table: pd.DataFrame(table).astype({WHO: object})),
    "pandas' categories": _framed(lambda table: pd.DataFrame(table).astype({WHO: "category"})),
    "polars": _framed(pl.DataFrame),
    "polars, lazy": _framed(pl.LazyFrame),
    "Arrow": _framed(_arrow),
    "Arrow's dictionaries": _framed(lambda table: _arrow(table, encoded=True)),
    "batches": lambda pair, folder: [_table([value], 1) for value in pair[:2]],
    "CSV": _csv,
    "Parquet": _parquet,
    "two Parquet files": _two_files,
    "DuckDB": _query,
}


# Consumers: what each makes of two rows that do not differ, which is one thing for one person and another for two.

PANEL = Plan({"zone": ["a", "b"]}, 1.0, repeat=Repeat(3, epoch_epsilon=2.0))
ONE = Person(WHO, rows=1)
IN_GROUPS = Person(WHO, groups=1, rows_per_group=1)
MODELS = [
    NaiveBayes(classes=[0, 1], epsilon=1.0, bounds={"x": (0, 1)}, person=WHO, rows=1, rng=7),
    LinearRegression(target_bounds=(0, 1), epsilon=1.0, bounds={"x": (0, 1)}, person=WHO, rows=1, rng=7),
    KMeans(1, iterations=1, epsilon=1.0, bounds={"x": (0, 1)}, person=WHO, rows=1, rng=7),
    AdditiveClassifier(classes=[0, 1], epsilon=10.0, bounds={"x": (0, 1)}, person=WHO, rows=1, rng=7),
]


def _folded(design: Any) -> Callable[[Any, Path], Any]:
    def fold(source: Any, folder: Path) -> Any:
        revealed = design.fold(source, 3).reveal(design=design.digest)
        if isinstance(revealed, Mapping):
            return {label: np.asarray(counts).tolist() for label, counts in revealed.items()}
        return np.asarray(revealed).tolist()

    return fold


def _united(source: Any, folder: Path) -> Any:
    union = Release.union([Release({name: Count(epsilon=1.0)}, person=ONE) for name in ("first", "second")])
    first, _ = union.fold(source, 3).parts
    return np.asarray(first.reveal(design=union.digest)).tolist()


def _bounded(source: Any, folder: Path) -> int:
    return len(ONE.bounded(source, rng=7)["x"])


def _model(model: Any) -> Callable[[Any, Path], Any]:
    def fit(source: Any, folder: Path) -> Any:
        sums: list[Any] = []

        def fold(*arguments: Any) -> Any:
            (total,) = engine.fold_people(*arguments)
            sums.append(np.asarray(total.sums).tolist())
            return [total]

        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(models, "fold_people", fold)
            model.fit(source, "y") if model._supervised else model.fit(source)
        return sums[0]

    return fit


def _memory(source: Any, folder: Path) -> str:
    """A round of a panel: whoever is named twice is refused."""
    path = folder / "memory.json"
    path.unlink(missing_ok=True)
    memory = Memory.create(path, PANEL)
    try:
        PANEL.privatize(source, memory=memory, round=1, person=WHO, rng=5)
    except DataError as error:
        return str(error)
    return f"{len(memory._read())} memos"


def _parted(fold: Callable[[Any, Path], Any], *, duckdb: bool) -> Callable[[Any, Path], Any]:
    """The same of a table that is larger than memory."""

    def parted(source: Any, folder: Path) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine, "MOST_ROWS", 1)
            if not duckdb:
                patch.setattr(engine.importlib.util, "find_spec", lambda name: None)
            return fold(source, folder)

    return parted


COUNT = _folded(Release(Count(epsilon=1.0), person=ONE))
GROUPS = Release(Count(epsilon=1.0, delta=1e-3), "zone", IN_GROUPS)
#: By the module that asks who a person is.
CONSUMERS: dict[str, list[Callable[[Any, Path], Any]]] = {
    "releases/release": [
        COUNT,
        _folded(Release(Count(epsilon=1.0), {"zone": ["a", "b"]}, IN_GROUPS)),
        _folded(GROUPS),
        _folded(Release([Count(epsilon=1.0, delta=1e-3), Sum("x", bounds=(0, 1), epsilon=1.0)], "zone", IN_GROUPS)),
        _united,
    ],
    "releases/limits": [_folded(LimitsGuide(Count(epsilon=1.0), WHO, most=4))],
    "releases/person": [_bounded, lambda source, folder: repeated_identifier(source)],
    "learning/_base": [_model(model) for model in MODELS],
    "collection/rounds": [_memory],
    "engines/bounding": [_parted(COUNT, duckdb=False), _parted(COUNT, duckdb=True)],
}

#: Consumers that take long, or read a table several times.
SLOW = {"learning/_base", "engines/bounding"}

ADA, BOB = Pair("Ada", "Ada", True), Pair("Ada", "Bob", False)


FEW = [
    Pair("José", unicodedata.normalize("NFD", "José"), True),
    Pair(3, 3.0, True),
    Pair(3, "3", True),
    Pair(True, "true", True),
    Pair(True, 1, False),
    Pair("3.0", "3", False),
    BOB,
]


def disagreements(
    consumer: Callable[[Any, Path], Any],
    pairs: Iterable[Pair],
    sources: Iterable[Callable[[Pair, Path], Any]],
    folder: Path,
) -> Iterator[tuple[Pair, str]]:
    """Pairs of which a consumer makes something else than of somebody twice, or of two people."""
    expected = {pair.same: consumer(SOURCES["lists"](pair, folder), folder) for pair in (ADA, BOB)}
    assert expected[True] != expected[False]
    for source, pair in itertools.product(sources, pairs):
        opened = source(pair, folder)
        if opened is not None and consumer(opened, folder) != expected[pair.same]:
            yield pair, str(source)


def test_the_spellings_are_of_one_person_and_of_two_and_the_sources_hold_them(tmp_path: Path) -> None:
    assert min(sum(pair.same for pair in PAIRS), sum(not pair.same for pair in PAIRS)) > 20
    for name, source in SOURCES.items():
        for same in (True, False):
            held = [pair for pair in PAIRS if pair.same is same and source(pair, tmp_path) is not None]
            assert len(held) >= 3, name


@pytest.mark.parametrize("module", sorted(set(CONSUMERS) - SLOW))
def test_every_consumer_says_of_every_pair_who_is_one_person(module: str, tmp_path: Path) -> None:
    for consumer in CONSUMERS[module]:
        assert list(disagreements(consumer, PAIRS, [SOURCES["lists"]], tmp_path)) == []


@pytest.mark.audit
@pytest.mark.parametrize("module", sorted(SLOW))
def test_slow_consumers_say_so_too(module: str, tmp_path: Path) -> None:
    for consumer in CONSUMERS[module]:
        assert list(disagreements(consumer, PAIRS, [SOURCES["lists"]], tmp_path)) == []


@pytest.mark.parametrize("name", SOURCES)
def test_a_release_and_a_panel_say_so_from_every_source(name: str, tmp_path: Path) -> None:
    pairs = FEW if name == "DuckDB" else PAIRS  # a query takes as long as all the rest
    for consumer in (COUNT, _memory):
        assert list(disagreements(consumer, pairs, [SOURCES[name]], tmp_path)) == []


@pytest.mark.parametrize("module", CONSUMERS)
def test_every_consumer_says_so_from_every_source(module: str, tmp_path: Path) -> None:
    names = {"lists", "pandas", "Parquet"} if module in SLOW | {"releases/person"} else set(SOURCES)
    for consumer in CONSUMERS[module]:
        assert list(disagreements(consumer, FEW, [SOURCES[name] for name in sorted(names)], tmp_path)) == []


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if all(isinstance(value, str) for value in pair[:2])])
def test_a_memory_that_is_asked_by_texts_says_so_in_one_call_and_in_two(pair: Pair, tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "memory.json", PANEL)
    reports = [memory.report({"zone": "a"}, round=1, person=name, rng=seed) for seed, name in enumerate(pair[:2])]
    assert len(memory._read()) == (1 if pair.same else 2)
    assert not pair.same or reports[0]["zone"].tobytes() == reports[1]["zone"].tobytes()
    assert [memory.rounds(epoch=1, person=name) for name in pair[:2]] == [1, 1]
    if pair.same:
        with pytest.raises(DataError, match="named twice"):
            memory.reports({"zone": ["a", "a"]}, list(pair[:2]), round=2)
    else:
        assert len(memory.reports({"zone": ["a", "a"]}, list(pair[:2]), round=2)["zone"]) == 2


def _by_spelling(batch: Any, person: str | None) -> list[str]:
    """The twin: people by the spelling that Python gives their names, as panels had them."""
    column = batch[person]
    values = batching.values_of(column).tolist()
    whole = not hasattr(column, "positions") and column.dtype.kind in "uif"
    return [str(int(value)) if whole else str(value) for value in values]


def test_a_panel_that_knows_people_by_their_spelling_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_people", _by_spelling)
    monkeypatch.setattr(memories.identity, "text_keys", list)
    caught = [pair for pair, _ in disagreements(_memory, PAIRS, [SOURCES["lists"]], tmp_path)]
    for first, second in (("José", unicodedata.normalize("NFD", "José")), (3, 3.0), ("true", True), ("True", True)):
        pair = Pair(first, second, who(first) == who(second))
        assert pair in caught or Pair(second, first, pair.same) in caught, pair
    monkeypatch.setattr(
        rounds, "_people", lambda batch, person: [name.casefold() for name in _by_spelling(batch, person)]
    )
    assert [pair for pair, _ in disagreements(_memory, PAIRS, [SOURCES["lists"]], tmp_path) if not pair.same]
