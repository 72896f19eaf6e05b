"""The commands with --engine spark give what they give without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.engines import spark as engine

runner = CliRunner()
SPARK = ["--engine", "local[2]"]


@pytest.fixture(autouse=True)
def _one_session(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands use the session of the tests, and leave it running."""
    monkeypatch.setattr(engine, "session", lambda master: spark)
    monkeypatch.setattr(type(spark), "stop", lambda self: None)


def said(*words: str | Path) -> Any:
    result = runner.invoke(app, [*map(str, words), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    draw = np.random.default_rng(4)
    table = pa.table({"smokes": draw.choice(["no", "yes"], 2000), "age": draw.integers(17, 91, 2000)})
    pq.write_table(table, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_privatize_and_estimate_agree_with_the_local_engine(people: Path, tmp_path: Path) -> None:
    asked = ["smokes=no,yes", "-e", "1", "--seed", "3"]
    local, there = tmp_path / "local.parquet", tmp_path / "there.parquet"
    first = said("privatize", people, "-o", local, *asked)
    second = said("privatize", people, "-o", there, *asked, *SPARK)
    assert {**first, "reports": 0, "plan": 0} == {**second, "reports": 0, "plan": 0}
    assert there.is_dir()
    found = [said("estimate", where, *how) for where in (local, there) for how in ([], SPARK)]
    assert found[0] == found[1] == found[2] == found[3]  # one file is one partition, so the very reports are the same
    assert found[0]["simulated"] is True
    again = runner.invoke(app, ["privatize", str(people), "-o", str(there), *asked, *SPARK])
    assert again.exit_code == 2
    assert said("privatize", people, "-o", there, *asked, *SPARK, "--force")["people"] == 2000
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_forged_lines_are_refused_one_by_one_as_by_the_local_engine(people: Path, tmp_path: Path) -> None:
    reports = tmp_path / "r.csv"
    said("privatize", people, "-o", reports, "smokes=no,yes", "-e", "1")
    lines = reports.read_bytes().split(b"\n")
    reports.write_bytes(b"\n".join([*lines[:700], b'"1', b"1,1", b"\xff\xfe", b"1\r1", b"", *lines[700:]]))
    found = [said("estimate", reports, *how) for how in ([], SPARK)]
    assert found[0] == found[1]
    assert (found[0]["n"], found[0]["refused"]) == (2000, 5)


def test_release_agrees_with_the_local_engine(people: Path) -> None:
    for asked in (
        ["--mean", "age=0..100", "--by", "smokes=no,yes"],
        ["--histogram", "smokes=no,yes"],
    ):
        words = ["release", people, "-e", "1", "--seed", "3", *asked]
        assert said(*words)["values"] == said(*words, *SPARK)["values"]


def test_what_spark_cannot_do_is_refused_before_it_starts(people: Path, tmp_path: Path) -> None:
    asked = ["privatize", str(people), "-e", "1"]
    for words in (
        [*asked, "-o", str(tmp_path / "r.csv"), "smokes=no,yes", *SPARK],
        [*asked, "-o", str(tmp_path / "r.parquet"), "smokes=?", *SPARK],
        [*asked, "-o", str(tmp_path / "r.parquet"), "smokes=no,yes", "--engine", "flink"],
    ):
        assert runner.invoke(app, words).exit_code == 2
    wrong = [*asked, "-o", str(tmp_path / "r.parquet"), "smokes=no,maybe", *SPARK]
    result = runner.invoke(app, wrong)
    assert result.exit_code == 3
    assert not (tmp_path / "r.parquet").exists()


def test_without_java_the_command_says_what_is_needed(people: Path, tmp_path: Path) -> None:
    words = ["estimate", str(people), *SPARK, "--plan", str(tmp_path / "p.json")]
    from bruit import Plan

    (tmp_path / "p.json").write_text(Plan({"smokes": ["no", "yes"]}, 1.0).to_json())
    environment = {**os.environ, "PATH": "", "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "bruit", *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "needs Java 17" in done.stderr


def test_a_file_is_published_from_spark(people: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        'title = "Smoking"\ntable = "people.parquet"\nepsilon = 1.0\nledger = "people.ledger"\npage = false\n'
        'budget = { epsilon = 1.0 }\n[[statistic]]\nname = "smokers"\nkind = "histogram"\nof = "smokes=no,yes"\n'
    )
    body = said("publish", tmp_path / "plan.toml", *SPARK)
    (result,) = (item["result"] for item in body["results"])
    assert abs(sum(row["value"] for row in result["values"]) - 2000) < 100
    assert said("publish", tmp_path / "plan.toml")["results"] == body["results"]  # shown again, and not paid again
