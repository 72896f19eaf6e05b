"""A statistic from outside, the most frequent category, works everywhere; nothing of the library names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bruit
from bruit import Ledger
from bruit.domains import Categories
from bruit.errors import ParameterError
from bruit.privacy.zcdp import bounded_range_rho
from bruit.publications import Publication
from bruit.releases import Count, Person, Release, Result, Results, Statistic
from bruit.testing import check_release, check_release_after_booking

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from most_frequent import MostFrequent  # noqa: E402 -- as a program that brings its own statistic does

TABLE = {"eye": ["brown"] * 60 + ["blue"] * 20 + ["green"] * 10, "sex": ["F", "M"] * 45}
EYES = Categories(labels=["brown", "blue", "green"])
MODE = MostFrequent("eye", domain=EYES, epsilon=2.0)


@pytest.mark.audit("replace")
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_it_keeps_the_common_laws(neighbours: str) -> None:
    statistic = MostFrequent(domain=EYES, epsilon=1.0, neighbours=neighbours)
    check_release(statistic)


def test_nothing_depends_on_the_data_after_booking() -> None:
    check_release_after_booking(MostFrequent(domain=EYES, epsilon=1.0))


def test_it_is_released_and_booked_with_its_own_rho() -> None:
    ledger = Ledger(epsilon=2.0)
    result = bruit.release(TABLE, MODE, ledger=ledger, rng=7)
    assert result.value == "brown"
    (entry,) = ledger.entries
    assert (entry.label, entry.rho) == ("most frequent value of eye", bounded_range_rho(2.0))


def test_it_works_by_group_and_beside_other_statistics() -> None:
    asked = {"eyes": MODE, "people": Count(epsilon=1.0)}
    results = bruit.release(TABLE, asked, by={"sex": ["F", "M"]}, rng=7)
    assert results["eyes"].values.tolist() == ["brown", "brown"]
    assert results["eyes"].labels == results["people"].labels == ("F", "M")


def test_its_result_has_a_table_and_survives_being_saved(tmp_path: Path) -> None:
    results = bruit.release(TABLE, [MODE, Count(epsilon=1.0)], rng=7)
    (result, _) = results.values()
    assert "brown" in repr(result)
    assert result.to_frame("pandas")["value"].tolist() == ["brown"]
    result.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json").value == "brown"
    results.save(tmp_path / "results.json")
    assert Results.load(tmp_path / "results.json")[MODE.title].value == "brown"


def test_a_document_holds_it_and_a_file_asks_for_it(tmp_path: Path) -> None:
    assert Release.from_json(Release(MODE).to_json()).digest == Release(MODE).digest
    ask = {"statistics": [{"kind": MODE.kind, "column": "eye", "domain": EYES.to_dict(), "epsilon": 2}]}
    (tmp_path / "ask.json").write_text(json.dumps(ask))
    assert bruit.release(TABLE, tmp_path / "ask.json", rng=7)[MODE.title].value == "brown"


def test_it_has_at_most_forty_lines() -> None:
    assert len((HERE / "most_frequent.py").read_text().splitlines()) <= 40


def test_it_protects_people_with_several_rows() -> None:
    table = {**TABLE, "user": [f"u{row // 3}" for row in range(90)]}
    result = bruit.release(table, MODE, person=Person("user", rows=2), rng=7)
    assert result.value == "brown"


@pytest.fixture
def _known():
    bruit.register(MostFrequent)
    yield
    Statistic.kinds.remove(MODE.kind)
    Statistic.kinds.add(MODE.kind, MostFrequent)  # as its import left it: documents know it, and nothing else


def publication(epsilon: float = 2.0) -> str:
    return f"""
title = "Eyes"
table = "people.csv"
epsilon = {epsilon}
ledger = "my.ledger"
budget = {{ epsilon = 4.0 }}
page = false

[[statistic]]
name = "eyes"
kind = "{MODE.kind}"
of = "eye=brown,blue,green"
by = ["sex=F,M"]
"""


def people(folder: Path) -> None:
    rows = [f"{eye},{sex},u{row // 3}" for row, (eye, sex) in enumerate(zip(*TABLE.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(["eye,sex,user", *rows]) + "\n")


@pytest.mark.usefixtures("_known")
def test_a_publication_knows_it_once_it_is_registered(tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "eyes.toml").write_text(publication())
    (release,) = Publication.load(tmp_path / "eyes.toml").release.parts
    assert release.statistics["eyes"].digest == MODE.digest


def test_without_registering_it_a_publication_says_which_kinds_there_are(tmp_path: Path) -> None:
    (tmp_path / "eyes.toml").write_text(publication())
    with pytest.raises(ParameterError, match="kind must be one of 'count'"):
        Publication.load(tmp_path / "eyes.toml")


@pytest.fixture
def run(tmp_path: Path):
    """Commands where a package is installed that declares the statistic as an entry point."""
    folder = tmp_path / "site" / "stranger-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[bruit.statistics]\n{MODE.kind} = most_frequent:MostFrequent\n")
    paths = os.pathsep.join([str(tmp_path / "site"), str(HERE)])
    people(tmp_path)

    def command(*arguments: str, code: int = 0) -> str:
        bruit_command = [Path(sys.executable).with_name("bruit"), *arguments]
        environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "100"}
        done = subprocess.run(
            bruit_command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=120
        )
        assert done.returncode == code, done.stderr.decode()
        return (done.stdout if code == 0 else done.stderr).decode()

    return command


EYE = f"{MODE.kind}: eye=brown,blue,green"


def test_an_installed_statistic_runs_in_bruit_release(run, tmp_path: Path) -> None:
    asked = ("release", "people.csv", "-e", "2", "--statistic", EYE, "--seed", "7", "--json")
    for more, many in (((), 1), (("--by", "sex=F,M"), 2), (("--person", "user:rows=2"), 1)):
        values = json.loads(run(*asked, *more))["values"]
        assert [item["value"] for item in values] == ["brown"] * many
    error = run("release", "people.csv", "-e", "2", "--statistic", f"{EYE} top=3", code=2)
    assert "has no option 'top'" in error


def test_an_installed_statistic_runs_in_bruit_publish(run, tmp_path: Path) -> None:
    (tmp_path / "eyes.toml").write_text(publication(4.0))
    run("publish", "eyes.toml")
    text = (tmp_path / "my.ledger").read_text()
    assert "eyes" in text
    assert any("brown" in path.read_text() for path in (tmp_path / "eyes").glob("*.csv"))
