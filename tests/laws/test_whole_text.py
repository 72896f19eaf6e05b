"""Text that is not whole Unicode is refused where it comes in: before a booking, and without being shown."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit
from bruit import Plan, _checks, documents, engines
from bruit.cards import Card
from bruit.collection import Repeat
from bruit.domains import Attribute, Categories, MultiChoice
from bruit.domains.domain import DictionaryColumn
from bruit.errors import BruitError
from bruit.learning import NaiveBayes
from bruit.oracles import Memory
from bruit.privacy import Guarantee, Ledger
from bruit.releases import Count, Histogram, LimitsGuide, Person, Release, Sum

#: Half of a surrogate pair, and a byte that is no text as Python passes it on.
HALVES = ["secret\ud83d", "secret\udcff"]
BYTES = b"sec\xffret"
BUDGET = {"epsilon": 9.0, "delta": 1e-3}


def _arrow(*, encoded: bool = False, kind: Any = None) -> Any:
    """A column that was put together from bytes, which are not looked at."""
    data, ends = pa.py_buffer(b"a" + BYTES), np.array([0, 1, 1 + len(BYTES)], np.int64 if kind else np.int32)
    column = pa.Array.from_buffers(kind or pa.string(), 2, [None, pa.py_buffer(ends), data])
    return pa.DictionaryArray.from_arrays(pa.array([0, 1]), column) if encoded else column


def _parquet(folder: Path, **options: Any) -> Path:
    pq.write_table(pa.table({"v": _arrow(), "x": [1.0, 1.0]}), folder / "table.parquet", **options)
    return folder / "table.parquet"


def _hive(folder: Path) -> Path:
    part = folder / "parts" / f"v={os.fsdecode(BYTES)}"
    part.mkdir(parents=True)
    pq.write_table(pa.table({"x": [1.0, 1.0]}), folder / "part.parquet")
    (folder / "part.parquet").rename(part / "1.parquet")
    return folder / "parts"


def _csv(folder: Path, text: bytes) -> Path:
    (folder / "table.csv").write_bytes(text)
    return folder / "table.csv"


#: What holds a column v in which somebody has such a text, and a column x.
TABLES: dict[str, Callable[[str, Path], Any]] = {
    "a list": lambda half, folder: {"v": ["a", half], "x": [1.0, 1.0]},
    "a list with gaps": lambda half, folder: {"v": ["a", half, None], "x": [1.0, 1.0, 1.0]},
    "a mixed list": lambda half, folder: {"v": [3, half], "x": [1.0, 1.0]},
    "texts of NumPy": lambda half, folder: {"v": np.array(["a", half]), "x": [1.0, 1.0]},
    "objects": lambda half, folder: {"v": np.array(["a", half], object), "x": [1.0, 1.0]},
    "a dictionary": lambda half, folder: {
        "v": DictionaryColumn(np.array(["a", half], object), np.array([0, 1])),
        "x": [1.0, 1.0],
    },
    "batches": lambda half, folder: [{"v": ["a"], "x": [1.0]}, {"v": [half], "x": [1.0]}],
    "pandas": lambda half, folder: pd.DataFrame({"v": pd.Series(["a", half], dtype=object), "x": [1.0, 1.0]}),
    "pandas' categories": lambda half, folder: pd.DataFrame(
        {"v": pd.Categorical(pd.Series(["a", half], dtype=object)), "x": [1.0, 1.0]}
    ),
    "Arrow in a mapping": lambda half, folder: {"v": _arrow(), "x": [1.0, 1.0]},
    "long texts of Arrow": lambda half, folder: {"v": _arrow(kind=pa.large_string()), "x": [1.0, 1.0]},
    "Arrow's dictionary in a mapping": lambda half, folder: {"v": _arrow(encoded=True), "x": [1.0, 1.0]},
    "an Arrow table": lambda half, folder: pa.table({"v": _arrow(), "x": [1.0, 1.0]}),
    "an Arrow table of dictionaries": lambda half, folder: pa.table({"v": _arrow(encoded=True), "x": [1.0, 1.0]}),
    "record batches": lambda half, folder: pa.table({"v": _arrow(), "x": [1.0, 1.0]}).to_batches(),
    "Parquet": lambda half, folder: _parquet(folder),
    "Parquet without dictionaries": lambda half, folder: _parquet(folder, use_dictionary=False),
    "names of folders": lambda half, folder: _hive(folder),
    "CSV": lambda half, folder: _csv(folder, b"v,x\na,1\n" + BYTES + b",1\n"),
    "a stream": lambda half, folder: io.BytesIO(b"v,x\na,1\n" + BYTES + b",1\n"),
}


def _panel(table: Any, ledger: Ledger, folder: Path) -> Any:
    plan = Plan({"x": (0, 1, 2)}, 1.0, repeat=Repeat(2, epoch_epsilon=2.0))
    memory = Memory.create(folder / "memory.json", plan)
    return plan.privatize(table, memory=memory, round=1, person="v")


def _people(table: Any, ledger: Ledger, folder: Path) -> Any:
    return bruit.release(table, Count(epsilon=1.0), person="v", rows=1, ledger=ledger)


def _model(table: Any, ledger: Ledger, folder: Path) -> Any:
    model = NaiveBayes(classes=["a", "b"], epsilon=1.0, bounds={"x": (0, 1)}, ledger=ledger)
    return model.fit(table, "v")


#: Whatever reads a text out of a table: as a group, a category, a person, an answer or a class.
READERS: dict[str, Callable[[Any, Ledger, Path], Any]] = {
    "undeclared groups": lambda table, ledger, folder: bruit.release(
        table, Count(epsilon=1.0, delta=1e-6), by="v", ledger=ledger
    ),
    "declared groups": lambda table, ledger, folder: bruit.release(
        table, Count(epsilon=1.0), by={"v": ["a", "b", ...]}, ledger=ledger
    ),
    "categories": lambda table, ledger, folder: bruit.release(
        table, Histogram("v", domain=["a", ...], epsilon=1.0), ledger=ledger
    ),
    "people": _people,
    "the guide": lambda table, ledger, folder: LimitsGuide(Count(epsilon=1.0), "v", most=2).fold(table),
    "bounded rows": lambda table, ledger, folder: Person("v", rows=1).bounded(table),
    "a panel": _panel,
    "answers": lambda table, ledger, folder: Plan({"v": ["a", "b", ...]}, 1.0).privatize(table),
    "a model": _model,
    "batches": lambda table, ledger, folder: list(engines.batches(table)),
}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__context__ or error.__cause__


def fault(attempt: Callable[[], Any]) -> str:
    """What is wrong with how a text is refused; nothing where it is refused as it should be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            attempt()
    except Exception as error:
        if not isinstance(error, BruitError):
            return f"a bare {type(error).__name__}"
        shown = [repr((link, link.args, str(link))) for link in _chain(error)]
        return "it is shown" if any("secret" in text or "xff" in text for text in shown) else ""
    return "it is accepted"


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_refused_before_anything_is_booked(table: str, reader: str, tmp_path: Path) -> None:
    ledger = Ledger(**BUDGET, neighbours="person-add-remove" if reader == "people" else "add-remove")
    half = HALVES[0]
    assert fault(lambda: READERS[reader](TABLES[table](half, tmp_path), ledger, tmp_path)) == ""
    assert not ledger.entries


@pytest.mark.parametrize("reader", READERS)
def test_whole_text_is_read(reader: str, tmp_path: Path) -> None:
    """The control: what is refused above is refused for its halves."""
    ledger = Ledger(**BUDGET, neighbours="person-add-remove" if reader == "people" else "add-remove")
    name = "b" if reader == "a model" else "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}"
    assert fault(lambda: READERS[reader](TABLES["a list"](name, tmp_path), ledger, tmp_path)) == "it is accepted"


def _documents(half: str) -> dict[str, Callable[[], Any]]:
    plan = Plan({"v": ["a", "b"]}, 1.0)
    escaped = json.dumps(half)
    card = plan.card().to_bytes().replace(b'"v"', escaped.encode())
    raw = f'{{"a": "{half}"}}'
    return {
        "a document": lambda: documents.parsed(f'{{"a": {escaped}}}', "document"),
        "a key of a document": lambda: documents.parsed(f"{{{escaped}: 1}}", "document"),
        "a document with the character itself": lambda: documents.parsed(raw, "document"),
        "its bytes": lambda: documents.parsed(raw.encode("utf-8", "surrogatepass"), "document"),
        "a plan": lambda: Plan.from_json(plan.to_json().replace('"v"', escaped)),
        "a card": lambda: Card.from_bytes(card),
        "a release": lambda: Release.from_json(
            json.dumps({"statistics": [{"kind": "count", "epsilon": 1.0}], "by": half})
        ),
        "what is sealed": lambda: documents.seal("bruit.test/1", {"a": half}),
        "a digest": lambda: documents.digest({half: 1}),
    }


def _parameters(half: str, folder: Path) -> dict[str, Callable[[], Any]]:
    table = {"v": ["a"] * 50, "x": [1.0] * 50}
    half_dollar = Guarantee(epsilon=0.5, neighbours="add-remove")
    ledger = Ledger(epsilon=9.0, delta=1e-3)
    return {
        "labels": lambda: Categories(labels=["a", half]),
        "choices": lambda: MultiChoice(["a", half]),
        "an attribute": lambda: Attribute(half, Categories(k=2)),
        "the column of an attribute": lambda: Attribute("v", Categories(k=2), column=half),
        "a plan's attribute": lambda: Plan({half: ["a", "b"]}, 1.0),
        "a plan's label": lambda: Plan({"v": ["a", half]}, 1.0),
        "an oracle's label": lambda: bruit.oracle("GRR", epsilon=1.0, labels=["a", half]),
        "an oracle's answer": lambda: bruit.oracle("GRR", epsilon=1.0, labels=["a", ...]).privatize(["a", half]),
        "a column to sum": lambda: Release(Sum(half, bounds=(0, 1), epsilon=1.0)).digest,
        "a column of groups": lambda: Release(Count(epsilon=1.0, delta=1e-6), half),
        "a column of people": lambda: Person(half, rows=1),
        "columns to read": lambda: engines.batches(table, [half]),
        "the name of a column": lambda: list(engines.batches({half: [1]})),
        "the name of a statistic": lambda: Release({half: Count(epsilon=1.0)}),
        "a label": lambda: bruit.release(table, Count(epsilon=1.0), label=half),
        "a label that is booked": lambda: bruit.release(table, Count(epsilon=1.0), label=half, ledger=ledger),
        "a label of groups": lambda: bruit.release(table, Count(epsilon=1.0, delta=1e-6), by="v", label=half),
        "an entry": lambda: ledger.spend(half_dollar, half),
        "a mark of gaps": lambda: engines.read(table, missing=[half]),
        "a query": lambda: list(engines.batches(engines.query(f'SELECT 1 AS "{half}"'))),
        "a file to read": lambda: list(engines.batches(folder / f"{half}.csv")),
    }


def _kinds() -> list[str]:
    return [*_parameters("x", Path()), *_documents("x")]


@pytest.mark.parametrize("kind", _kinds())
@pytest.mark.parametrize("half", HALVES)
def test_a_parameter_or_document_is_refused(kind: str, half: str, tmp_path: Path) -> None:
    wrong = fault(({**_parameters(half, tmp_path), **_documents(half)})[kind])
    # A parameter may be shown, and the name of a file always is.
    assert wrong in ("", "it is shown") if kind == "a file to read" else wrong == ""


def test_an_argument_of_the_command_line_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bruit.cli.app import main

    for arguments in (["release", "x.csv", "--count", "-e", "1", "--label", HALVES[1]], ["result", HALVES[1]]):
        monkeypatch.setattr(sys, "argv", ["bruit", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 2
        assert "not whole Unicode" in capsys.readouterr().err


def test_the_law_catches_a_library_that_takes_any_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_checks, "is_whole", lambda text: True)
    half, ledger = HALVES[0], Ledger(**BUDGET)
    caught = {
        name: fault(lambda name=name: READERS[name](TABLES["a list"](half, tmp_path), ledger, tmp_path))
        for name in READERS
    }  # type: ignore[misc]
    assert caught["undeclared groups"] == caught["categories"] == "it is accepted"
    assert caught["a panel"] == "a bare UnicodeEncodeError"
    wrong = {kind: fault(attempt) for kind, attempt in ({**_parameters(half, tmp_path), **_documents(half)}).items()}
    assert wrong["a digest"] == wrong["what is sealed"] == "a bare UnicodeEncodeError"
    assert wrong["a document"] == wrong["a column of people"] == wrong["a label"] == "it is accepted"
