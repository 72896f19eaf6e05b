"""`--outside`: what happens to values that are not declared, in reports and in releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("town,age\n" + "Bern,30\nRome,150\nBasel,40\n" * 50)
    return path


def test_people_are_refused_clamped_or_other(run: Any, answers: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports.parquet"
    ask = ("privatize", answers, "-e", 8, "--seed", 1, "-o", reports, "--force")
    assert "--outside clamp" in run(*ask, "age=0..99", code=3).err
    run(*ask, "age=0..99", "--outside", "clamp")
    run(*ask, "town=Bern,Basel,...")
    shown = run("estimate", reports).out
    assert "other" in shown
    assert "labels" in run(*ask, "town=Bern,Basel", code=3).err
    assert "fits none" in run(*ask, "town=Bern,Basel", "--outside", "clamp", code=2).err
    assert "--outside must be" in run(*ask, "age=0..99", "--outside", "drop", code=2).err
    plan = tmp_path / "plan.json"
    run("plan", "town=Bern,Basel", "age=0..99", "-e", 2, "--outside", "other", "-o", plan)
    assert '"outside": "other"' in plan.read_text()
    assert "--outside" in run(*ask, "--plan", plan, "--outside", "other", code=2).err


def test_a_release_clamps_refuses_or_has_another_group(run: Any, answers: Path, tmp_path: Path) -> None:
    ask = ("release", answers, "-e", 9, "--seed", 1)
    ages = run(*ask, "--histogram", "age=0..90/3", "--outside", "other", "--json").json()
    assert "other" in str(ages)
    ledger = ("--ledger", tmp_path / "a.ledger", "--budget", 20)
    refused = run(*ask, "--mean", "age=0..99", "--outside", "refuse", *ledger, code=3).err
    assert "declared bounds 0.0..99.0" in refused
    assert "150" not in refused
    assert run("ledger", "show", tmp_path / "a.ledger", "--json").json()["spent"]["epsilon"] == 0
    assert "other" in run(*ask, "--mean", "age=0..99", "--by", "town=Bern,Basel,...").out
    assert "cannot be here" in run(*ask, "--mean", "age=0..99", "--outside", "other", code=2).err
    assert "cannot be here" in run(*ask, "--histogram", "town=Bern,Basel", "--outside", "clamp", code=2).err
    assert "of no use" in run(*ask, "--count", "--outside", "clamp", code=2).err
