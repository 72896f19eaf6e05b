"""What a seed gives is recorded: documents, reports, tallies and releases change only on purpose.

``python tests/test_recorded.py`` writes the record anew. Whoever does so says in CHANGELOG.md what changed and why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import Plan, numbers, releases
from bruit.oracles import NAMES

RECORD = Path(__file__).with_name("recorded.json")
SEED = 7
PEOPLE = 70_000  # two blocks of people
LABELS = ["never", "once", "often", "daily", "ever"]
METHODS = ("SPL[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[OUE-r]", "RS+RFD[GRR]")
#: Grids that people's files have: labels, whole numbers, real numbers.
SCHEMA = {"smokes": LABELS, "sex": ["F", "M"], "works": ["no", "yes", "retired"]}
PRIOR = {"smokes": [3, 2, 2, 2, 1], "sex": [1, 1], "works": [2, 5, 1]}


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
    prior = {"prior": PRIOR} if "RFD" in method else {}
    plan = Plan(SCHEMA, 1.0, method, **prior)
    reports = plan.privatize({name: _answers(labels) for name, labels in SCHEMA.items()}, rng=SEED)
    names = sorted(reports)
    return {
        "document": plan.digest[:16],
        "reports": _digest(*(reports[name] for name in names)),
        "tally": _digest(plan.tally(reports).counts),
    }


def _release(kind: Callable[..., Any], data: Any, **options: Any) -> dict[str, str]:
    return {"values": _digest(np.asarray(releases.release(data, kind(epsilon=1.0, **options), rng=SEED).values))}


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
