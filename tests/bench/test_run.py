"""`make bench`: a promise that a busy moment broke is measured again, and what could not be measured says so."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def run(monkeypatch):
    """The module, which finds its neighbours by their bare names; none of them stays loaded."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.syspath_prepend(str(BENCH / "workers"))
    yield importlib.import_module("run")
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCH)):
            del sys.modules[name]


def measure(run, monkeypatch, seconds):
    """The rows of one case with a promise of 2, where each library takes these seconds in turn."""
    left = {library: list(times) for library, times in seconds.items()}

    def fake(case, library, effort, python):
        time = left[library].pop(0)
        if isinstance(time, Exception):
            raise time
        return {"n": 100, "seconds": [time], "peak_bytes": 0, "versions": {}}

    monkeypatch.setattr(run, "_measure", fake)
    case = run.Case("GRR", "client", 2, ("peer",), {"peer": 2.0})
    return run.measured(case, run.QUICK, {"bruit": Path(), "peer": Path()})


def test_a_promise_that_is_kept_is_measured_once(run, monkeypatch):
    ours, other = measure(run, monkeypatch, {"bruit": [1.0], "peer": [3.0]})
    assert (ours.attempts, other.ratio, other.kept) == (1, 3.0, True)


def test_a_missed_promise_is_measured_again_and_the_best_of_each_side_counts(run, monkeypatch):
    ours, other = measure(run, monkeypatch, {"bruit": [9.0, 1.0], "peer": [2.0, 4.0]})
    assert (ours.seconds, other.seconds, other.attempts) == ([1.0], [2.0], 2)
    assert other.kept
    assert "met in 2 attempts" in " ".join(other.cells())


def test_a_promise_that_is_missed_every_time_stays_missed(run, monkeypatch):
    _, other = measure(run, monkeypatch, {"bruit": [1.0] * 3, "peer": [1.0] * 3})
    assert (other.kept, other.attempts) == (False, 3)
    assert "NOT MET in 3 attempts" in " ".join(other.cells())


@pytest.mark.parametrize(("error", "word"), [("SetupError", "not installed"), ("WorkerError", "failed")])
def test_a_row_that_was_not_measured_says_why_and_is_no_promise_kept(run, monkeypatch, error, word):
    _, other = measure(run, monkeypatch, {"bruit": [1.0], "peer": [getattr(run, error)("no index")]})
    assert other.kept is False
    assert word in other.cells()
    assert ("could not be installed" in run.report._verdict([other])) == (error == "SetupError")


@pytest.mark.parametrize("name", ["with_bruit", "keystream", "deciles_bruit"])
def test_what_a_worker_imports_of_bruit_is_there(name):
    path = BENCH / "workers" / f"{name}.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bruit":
            module = importlib.import_module(node.module)
            missing = [alias.name for alias in node.names if not hasattr(module, alias.name)]
            # A package may be asked for a module of its own.
            lost = [name for name in missing if importlib.util.find_spec(f"{node.module}.{name}") is None]
            assert not lost, (path.name, node.module)


@pytest.mark.audit
def test_every_row_of_bruit_runs_and_its_answer_is_right(run):
    table = importlib.import_module("with_bruit").TABLE
    harness = importlib.import_module("harness")
    for case in run.chosen([]):
        job = harness.Job(case.mechanism, case.side, case.k, run.EPSILON, 0.1, 1, 10_000)
        work, check = table[case.mechanism, case.side](job, 10_000)
        check(work())
