"""`bruit continual`: a series that is begun, goes on and is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bruit.releases import Result


def test_a_series_is_begun_goes_on_and_is_shown(run: Any, tmp_path: Path) -> None:
    start = ["continual", "start", "visits.series", "--steps", 3, "-e", 1, "--delta", 1e-6, "--ledger", "visits.ledger"]
    assert "Budget exceeded" in run(*start, "--budget", "0.5,1e-5", code=5).err
    (tmp_path / "visits.ledger").unlink()
    begun = run(*start, "--budget", "1,1e-5")
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


def test_the_same_file_and_an_earlier_day_are_refused_with_the_option_that_adds_them(run: Any, tmp_path: Path) -> None:
    run("continual", "start", "visits.series", "--steps", 9, "-e", 1, "--delta", 1e-6)
    (tmp_path / "monday.csv").write_text("visit\n" + "x\n" * 25)
    add = ("continual", "add", "visits.series")
    run(*add, "monday.csv", "--day", "2026-05-04")
    same = run(*add, "monday.csv", "--day", "2026-05-05", code=2).err
    assert "'2026-05-04'" in same
    assert "--anyway" in same
    run(*add, "monday.csv", "--day", "2026-05-06", "--anyway")
    with (tmp_path / "monday.csv").open("a") as file:
        file.write("x\n")
    run(*add, "monday.csv", "--day", "2026-05-07")
    earlier = run(*add, "--count", 3, "--day", "2026-05-01", code=2).err
    assert "is before" in earlier
    assert "--anyway" in earlier
    for day in ("2026-05-08", "2026-05-09"):  # a stream is not compared
        run(*add, "-", "--day", day, stdin=b"visit\nx\n")
    shown = run("continual", "show", "visits.series", "--json").json()["values"]
    assert [row["label"] for row in shown] == [f"2026-05-0{day}" for day in (4, 6, 7, 8, 9)]


def test_an_identifier_that_repeats_is_warned_of_unless_the_series_is_about_people(run: Any, tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("patient,visit\n1,a\n1,b\n2,a\n")
    (tmp_path / "once.csv").write_text("patient,visit\n1,a\n3,b\n2,a\n")
    start = ("continual", "start", "--steps", 3, "-e", 1, "--delta", 1e-6)
    run(*start, "events.series")
    run(*start, "people.series", "--rows", 4)
    warned = " ".join(run("continual", "add", "events.series", "day.csv").err.split())
    assert "'patient' looks like an identifier" in warned
    assert "bruit continual start … --rows 10" in warned
    assert "identifier" not in run("continual", "add", "events.series", "once.csv").err
    assert "identifier" not in run("continual", "add", "people.series", "day.csv").err


def test_a_day_that_is_there_names_the_command_that_shows_it(run: Any) -> None:
    run("continual", "start", "visits.series", "--steps", 3, "-e", 1, "--delta", 1e-6)
    run("continual", "add", "visits.series", "--count", 3, "--day", "monday")
    again = run("continual", "add", "visits.series", "--count", 3, "--day", "monday", code=2).err
    assert "bruit continual show" in " ".join(again.split())
