"""`bruit continual`: a series that is begun, goes on and is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bruit.releases import Result


def test_a_series_is_begun_goes_on_and_is_shown(run: Any, tmp_path: Path) -> None:
    start = ["continual", "start", "visits.series", "--steps", 3, "-e", 1, "--delta", 1e-6, "--ledger", "visits.ledger"]
    assert "Budget exceeded" in run(*start, "--budget", 0.5, "--budget-delta", 1e-5, code=5).err
    (tmp_path / "visits.ledger").unlink()
    begun = run(*start, "--budget", 1, "--budget-delta", 1e-5)
    assert "3 days" in begun.out
    assert "true counts" in begun.err
    assert "no day yet" in run("continual", "show", "visits.series", code=2).err
    first = run("continual", "add", "visits.series", "--count", 40, "--day", "2026-05-01", "--json").json()
    (tmp_path / "day.csv").write_text("patient\n" + "x\n" * 25)
    run("continual", "add", "visits.series", "day.csv", "--day", "2026-05-02")
    assert "drawn once" in run("continual", "add", "visits.series", "--count", 1, "--day", "2026-05-02", code=2).err
    assert "one of the two" in run("continual", "add", "visits.series", code=2).err
    shown = run("continual", "show", "visits.series", "-o", "totals.json")
    assert "day 2 of 3: 1 day may follow" in " ".join(shown.out.split())
    totals = Result.load(tmp_path / "totals.json")
    assert totals.labels == ("2026-05-01", "2026-05-02")
    assert totals.values[0] == first["values"][0]["value"]
    assert abs(totals.values[1] - 65) < 80
    assert run("continual", "show", "visits.series", "--daily", "--last", 1, "--json").json()["name"] == "daily count"
    assert "keeps another series" in run(*start, code=2).err
    assert run("ledger", "show", "visits.ledger").out.count("running total") == 1
