"""What a seed gives is recorded: documents, reports, tallies and releases change only on purpose.

``python tests/test_recorded.py`` writes the record anew. Whoever does so says in CHANGELOG.md what changed and why.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import Ledger, Plan, numbers, releases
from bruit.collection import RSFD, SMP, SPL, TAB, Method, Repeat
from bruit.oracles import NAMES, Memory

RECORD = Path(__file__).with_name("recorded.json")
SEED = 7
PEOPLE = 70_000  # two blocks of people
LABELS = ["never", "once", "often", "daily", "ever"]
METHODS = ("SPL[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[OUE-r]", "RS+RFD[GRR]")
#: Grids that people's files have: labels, whole numbers, real numbers.
SCHEMA = {"smokes": LABELS, "sex": ["F", "M"], "works": ["no", "yes", "retired"]}
SCHOOLS = {"school": ["A", "B", "C"]}
ZONES = [f"zone {i}" for i in range(9)]
#: What no two ledgers share: when and with which random words a line was written.
_CHANCE = ("time", "digest", "previous", "id")
PRIOR = {"smokes": [3, 2, 2, 2, 1], "sex": [1, 1], "works": [2, 5, 1]}
BUDGETS = {"smokes": 0.5, "sex": 0.25, "works": 0.25}
WEIGHTS = {"smokes": 1, "sex": 2, "works": 3}
PAIRS = [("sex", "smokes"), ("smokes", "works")]
PLANS: dict[str, Callable[[], Plan]] = {
    "TAB[GRR]": lambda: Plan(SCHEMA, 1.0, "TAB[GRR]"),
    "TAB[ADP]": lambda: Plan(SCHEMA, 1.0, "TAB[ADP]"),
    "SMP2[GRR]": lambda: Plan(SCHEMA, 1.0, "SMP2[GRR]"),
    "SMPk[ADP]": lambda: Plan(SCHEMA, 1.0, "SMPk[ADP]"),
    "SMP[ADP]": lambda: Plan(SCHEMA, 1.0, "SMP[ADP]"),
    "budgets": lambda: Plan(SCHEMA, 1.0, SPL("GRR", budgets=BUDGETS)),
    "weights": lambda: Plan(SCHEMA, 1.0, SMP(weights=WEIGHTS)),
    "bases": lambda: Plan(SCHEMA, 1.0, SPL("GRR", mechanisms={"works": "OUE"})),
    "tables": lambda: Plan(SCHEMA, 1.0, TAB(tables=PAIRS)),
    "neyman": lambda: Plan(SCHEMA, 1.0, TAB(tables=PAIRS, weights="neyman")),
    "attribute": lambda: Plan(SCHEMA, 1.0, "RS+FD[ADP]", unit="attribute"),
    "published": lambda: Plan(SCHEMA, 1.0, RSFD(published=True)),
    "public": lambda: Plan(SCHEMA, 1.0, "SMP[GRR]", public=SCHOOLS),
    "one": lambda: Plan({"smokes": LABELS}, 1.0),
}


def _answers(labels: list[str]) -> list[str]:
    return [labels[(i * i + i // 7) % len(labels)] for i in range(PEOPLE)]


def _numbers() -> np.ndarray:
    return (np.arange(PEOPLE) * 37 % 1001) / 1000


def _digest(*columns: Any) -> str:
    parts = [np.ascontiguousarray(column) for column in columns]
    text = b"|".join(str((part.dtype.descr, part.shape)).encode() + part.tobytes() for part in parts)
    return hashlib.sha256(text).hexdigest()[:16]


def _mechanism(mechanism: Any, values: Any) -> dict[str, str]:
    reports = mechanism.privatize(values, rng=SEED)
    tally = mechanism.tally(reports)
    return {"document": mechanism.digest[:16], "reports": _digest(reports), "tally": _digest(tally.counts)}


def _plan(method: str) -> dict[str, str]:
    plan = Plan(SCHEMA, 1.0, Method.named(method, prior=PRIOR if "RFD" in method else None))
    reports = plan.privatize({name: _answers(labels) for name, labels in SCHEMA.items()}, rng=SEED)
    names = sorted(reports)
    return {
        "document": plan.digest[:16],
        "reports": _digest(*(reports[name] for name in names)),
        "tally": _digest(plan.tally(reports).counts),
    }


def _of_plan(planned: Callable[[], Plan], table: Any = None) -> dict[str, str]:
    """Everything that both sides of a collection share: the document, the card, reports and their tally."""
    plan = planned()
    table = {name: _answers(labels) for name, labels in {**SCHEMA, **SCHOOLS}.items()} if table is None else table
    reports = plan.privatize(table, rng=SEED)
    return {
        "document": hashlib.sha256(plan.to_json().encode()).hexdigest()[:16],
        "digest": plan.digest[:16],
        "card": "none" if "SMP2" in str(plan.method) else plan.card().digest[:16],
        "reports": _digest(*(reports[name] for name in sorted(reports))),
        "tally": _digest(plan.tally(reports).counts),
        "guarantees": str({unit: guarantee.epsilon for unit, guarantee in plan.guarantees.items()}),
    }


def _panel() -> dict[str, str]:
    """Rounds of the same people: by memos in memory, and by a file of memos."""
    plan = Plan({"works": SCHEMA["works"]}, 1.0, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0))
    table = {"id": [f"person {i}" for i in range(200)], "works": _answers(SCHEMA["works"])[:200]}
    memos = plan.panel.memoize(table, rng=SEED)
    answers = plan.panel.answer(memos, rng=SEED)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.create(Path(folder) / "memory.json", plan)
        by_file = [plan.privatize(table, rng=SEED, memory=memory, round=number, person="id") for number in (1, 2, 4)]
    return {
        "document": hashlib.sha256(plan.to_json().encode()).hexdigest()[:16],
        "card": plan.card().digest[:16],
        "memos": _digest(memos["works"]),
        "answers": _digest(answers["works"]),
        "rounds": _digest(*(reports["works"] for reports in by_file)),
    }


def _people() -> dict[str, list[Any]]:
    """A table in which people have many rows, some in several groups."""
    rider = [(i * i + 3 * i) % 400 for i in range(3000)]
    return {
        "rider": rider,
        "zone": [f"zone {(i * 7 + rider[i]) % 9}" for i in range(3000)],
        "fare": [(i * 37) % 51 for i in range(3000)],
    }


def _rows(*, with_people: bool) -> dict[str, list[Any]]:
    return {name: column for name, column in _people().items() if with_people or name != "rider"}


def _results(results: Any) -> dict[str, str]:
    values = results.items() if isinstance(results, Mapping) else [("values", results)]
    return {
        name: f"{_digest(np.asarray(result.values))} {hashlib.sha256(str(result.labels).encode()).hexdigest()[:8]}"
        for name, result in values
    }


def _ledger_lines() -> dict[str, str]:
    """The lines of a ledger without what time and chance put into them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        ledger = Ledger.open(path, epsilon=10.0, delta=1e-5)
        fares = releases.Sum("fare", bounds=(0, 50), epsilon=1.0)
        rows = _rows(with_people=False)
        releases.release(rows, releases.Count(epsilon=1.0), ledger=ledger, rng=SEED)
        releases.release(rows, {"fares": fares}, by={"zone": ZONES}, ledger=ledger, rng=SEED, label="fares")
        releases.release(rows, releases.Count(epsilon=1.0, delta=1e-6), by="zone", ledger=ledger, rng=SEED)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [{key: value for key, value in line.items() if key not in _CHANCE} for line in lines]
    return {"lines": hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]}


def _page() -> dict[str, str]:
    """Script and style of the page on which a person answers."""
    folder = importlib.resources.files("bruit.survey")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16] for name in ("page.mjs", "page.css")}


def _codes() -> dict[str, str]:
    """Codes of two surveys: a page that is passed on is counted by whatever bruit is installed later."""
    from bruit.survey.reading import parse

    question = '[[question]]\nname = "q%d"\nkind = "%s"\ntext = "Text %d?"\n'
    first = 'title = "Recorded"\nepsilon = 1.0\n' + question % (1, "yes-no", 1)
    clear = 'labels = ["A", "B"]\nclear = true\n'
    second = "people = 5000\n" + first + question % (2, "yes-no", 2) + question % (3, "choice", 3) + clear
    one, several = (parse(text.encode(), lambda _: None).codes for text in (first, second))
    return {
        "one": one.write(123456, (), {"q1": "1"}),
        "several": several.write(654321, (1,), {"attribute": "1", "report": "0"}),
    }


def _release(kind: Callable[..., Any], data: Any, **options: Any) -> dict[str, str]:
    return {"values": _digest(np.asarray(releases.release(data, kind(epsilon=1.0, **options), rng=SEED).values))}


def _tables() -> dict[str, str]:
    table = {name: _answers(labels)[:4000] for name, labels in SCHEMA.items()}
    return _results(releases.release(table, releases.Tables(SCHEMA, epsilon=1.0), rng=SEED))


def _releases() -> dict[str, tuple[Any, dict[str, Any]]]:
    """What is released of rows and of people, for groups that are declared or selected."""
    fares: dict[str, Any] = {"bounds": (0, 50), "step": 1.0, "epsilon": 1.0}
    several = {"count": releases.Count(epsilon=1.0), "mean": releases.Mean("fare", **fares)}
    count = releases.Count(epsilon=1.0, delta=1e-6)
    few = releases.Person("rider", groups=2, rows_per_group=2)
    one = releases.Person("rider", groups=2, rows_per_group=1)
    return {
        "declared groups": (several, {"by": {"zone": ZONES}}),
        "person": (several, {"person": releases.Person("rider", rows=3)}),
        "person and declared groups": (several, {"by": {"zone": ZONES}, "person": few}),
        "selected groups": (count, {"by": "zone"}),
        "selected groups and sums": ([count, releases.Sum("fare", **fares)], {"by": "zone"}),
        "selected groups of a person": ([count, releases.Sum("fare", **fares)], {"by": "zone", "person": one}),
    }


def _of_release(what: Any, options: dict[str, Any]) -> dict[str, str]:
    return _results(releases.release(_rows(with_people="person" in options), what, rng=SEED, **options))


def _cases() -> dict[str, Callable[[], dict[str, str]]]:
    cases: dict[str, Callable[[], dict[str, str]]] = {}
    for name in NAMES:
        labels = LABELS[:2] if name == "Warner" else LABELS
        cases[f"oracle {name}"] = lambda name=name, labels=labels: _mechanism(
            bruit.oracle(name, epsilon=1.0, labels=labels), _answers(labels)
        )
    for name in numbers.NAMES:
        cases[f"number {name}"] = lambda name=name: _mechanism(
            numbers.number(name, epsilon=1.0, bounds=(0.0, 1.0), cells=64), _numbers()
        )
    for method in METHODS:
        cases[f"plan {method}"] = lambda method=method: _plan(method)
    for name, plan in PLANS.items():
        cases[f"plan {name}"] = partial(_of_plan, plan)
    numbers_of = {"age": _numbers()}
    cases["plan number"] = lambda: _of_plan(lambda: Plan({"age": bruit.Grid(0, 1, cells=64)}, 1.0), numbers_of)
    cases["plan rounds"] = _panel
    cases["ledger"] = _ledger_lines
    cases["page"] = _page
    cases["codes"] = _codes
    for name, (what, options) in _releases().items():
        cases[f"release {name}"] = partial(_of_release, what, options)
    cases["release tables"] = _tables
    cases["release count"] = lambda: _release(releases.Count, _numbers())
    cases["release histogram"] = lambda: _release(releases.Histogram, _answers(LABELS), domain=LABELS)
    cases["release sum"] = lambda: _release(releases.Sum, _numbers(), bounds=(0, 1))
    cases["release mean"] = lambda: _release(releases.Mean, _numbers(), bounds=(0, 1))
    cases["release gaussian mean"] = lambda: _release(releases.Mean, _numbers(), bounds=(0, 1), delta=1e-6)
    cases["release variance"] = lambda: _release(releases.Variance, _numbers(), bounds=(0, 1))
    quartiles: dict[str, Any] = {"quantiles": [0.25, 0.5, 0.75], "bounds": (0, 1)}
    for method in ("auto", "joint"):
        cases[f"release quantiles {method}"] = lambda method=method: _release(
            releases.Quantiles, _numbers(), method=method, **quartiles
        )
    cases["release quantiles histogram"] = lambda: _release(releases.HistogramQuantiles, _numbers(), **quartiles)
    return cases


CASES = _cases()


def test_the_record_has_every_case() -> None:
    assert sorted(json.loads(RECORD.read_text())) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_seed_gives_what_is_recorded(name: str) -> None:
    assert CASES[name]() == json.loads(RECORD.read_text())[name]


if __name__ == "__main__":
    RECORD.write_text(json.dumps({name: case() for name, case in CASES.items()}, indent=1) + "\n")
