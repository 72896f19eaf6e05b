"""`bruit privatize --ledger`: reports appear when they are booked, and not before."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_reports_are_booked_before_they_appear_and_not_when_they_are_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("smokes\n" + "no\nyes\n" * 50)
    (tmp_path / "wrong.csv").write_text("smokes\nmaybe\n")
    options = ["smokes=no,yes", "-e", 1, "--ledger", "people.ledger"]
    assert run("privatize", "wrong.csv", *options, "-o", "reports.csv", "--budget", 1.5, code=3).out == ""
    assert run("ledger", "show", "people.ledger", "--json").json()["entries"] == []
    run("privatize", "people.csv", *options, "-o", "reports.csv")
    (entry,) = run("ledger", "show", "people.ledger", "--json").json()["entries"]
    assert (entry["label"], entry["epsilon"]) == ("reports: smokes", 1.0)
    assert "no" in run("estimate", "reports.csv").out
    assert "0.5 remain" in run("privatize", "people.csv", *options, "-o", "more.csv", code=5).err
    assert not [path for path in tmp_path.iterdir() if "more" in path.name or path.name.startswith(".bruit")]
    alone = ["smokes=no,yes", "-e", 1, "-o", "x.csv", "--budget", 1]
    assert "--ledger" in run("privatize", "people.csv", *alone, code=2).err
