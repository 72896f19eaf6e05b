"""`bruit limits`: the guide to bounds, booked and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_it_shows_the_errors_books_the_profile_and_prints_the_options(run: Any, tmp_path: Path) -> None:
    rows = [f"{person},{page}" for person in range(300) for page in "abc"[: 1 + person % 3]]
    (tmp_path / "views.csv").write_text("\n".join(["visitor,page", *rows]))
    options = ["--person", "visitor", "-e", 1, "--spend", 2, "--ledger", tmp_path / "views.ledger", "--seed", 1]
    shown = run("limits", tmp_path / "views.csv", *options, "--by", "page=a,b,c", "--budget", 5)
    assert "Take --person visitor:groups=3,rows_per_group=1" in shown.out
    assert "not private" in shown.err
    output = tmp_path / "bounds.json"
    document = run("limits", tmp_path / "views.csv", *options, "--most", 5, "-o", output, "--json").json()
    assert [row["rows"] for row in document["rows"]] == [1, 2, 3, 4, 5]
    assert json.loads(output.read_text()) == document
    assert "profile of rows per visitor" in run("ledger", "show", tmp_path / "views.ledger").out
    assert "another name" in run("limits", tmp_path / "views.csv", *options, "-o", output, code=2).err
    assert "--by page=a,b" in run("limits", tmp_path / "views.csv", *options, "--by", "page=?", code=2).err
    assert "needs ε=2" in run("limits", tmp_path / "views.csv", *options, code=5).err


def test_a_profile_is_kept_shown_again_and_not_paid_for_twice_in_silence(run: Any, tmp_path: Path) -> None:
    (tmp_path / "views.csv").write_text("\n".join(["visitor", *(str(person // 3) for person in range(900))]))
    options = ["views.csv", "--person", "visitor", "-e", 1, "--spend", 2, "--ledger", "views.ledger"]
    shown = run("limits", *options, "--budget", 5)
    assert "ledger: ε = 2.0 of 5.0 spent, 3.0 remain" in shown.out
    assert "  bruit result views.ledger 0" in shown.out.splitlines()
    repeated = run("limits", *options)
    assert repeated.out == shown.out
    assert "nothing was spent. Rows that came since are not in it" in " ".join(repeated.err.split())
    again = run("result", "views.ledger", 0)
    assert "Take --person visitor:rows=3" in again.out
    assert "Take --person visitor:rows=3" in shown.out
    document = run("result", "views.ledger", 0, "--json").json()
    run("limits", *options, "--again", "-o", "second.json")
    assert "ε = 4.0 of 5.0" in run("ledger", "show", "views.ledger").out
    assert run("result", "second.json", "--json").json()["guide"] == document["guide"]
    assert "--ledger" in run("limits", *options[:-2], "--again", code=2).err
