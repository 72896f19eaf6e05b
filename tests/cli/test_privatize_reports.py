"""Reports and the plan beside them: both whole, both of one kind, and never a pair that does not belong together."""

import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import bruit
from bruit import documents
from bruit.collection import files

SECRET = "s3cr3t-value"


def ask(output, epsilon=1, *more):
    return ("smokes=no,yes", "-e", epsilon, "-o", output, *more)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def plan_of(path):
    return bruit.Plan.from_json(path.read_text())


def test_reports_of_one_name_and_two_kinds_have_plans_of_their_own(run, survey, tmp_path):
    run("privatize", survey, *ask("s.csv", 1))
    run("privatize", survey, *ask("s.parquet", 3))
    assert plan_of(tmp_path / "s.csv.plan.json").epsilon == 1
    assert plan_of(tmp_path / "s.parquet.plan.json").epsilon == 3
    for name, epsilon in (("s.csv", 1), ("s.parquet", 3)):
        stated = run("estimate", name, "--json").json()["guarantee"]["epsilon"]
        assert stated == pytest.approx(epsilon)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_run_that_fails_leaves_what_was_there(run, survey, tmp_path, kind):
    (tmp_path / "bad.csv").write_text(f"smokes\nno\n{SECRET}\n")
    run("privatize", "bad.csv", *ask(f"r.{kind}"), code=3)
    assert names(tmp_path) == ["answers.csv", "bad.csv"]
    run("privatize", survey, *ask(f"r.{kind}"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run("privatize", "bad.csv", *ask(f"r.{kind}", 2, "--force"), code=3)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_plan_is_not_replaced_unless_forced(run, survey, tmp_path):
    run("privatize", survey, *ask("r.csv", 1))
    (tmp_path / "r.csv").rename(tmp_path / "moved.csv")
    refused = run("privatize", survey, *ask("r.csv", 2), code=2)
    assert "r.csv.plan.json is another plan" in refused.err
    assert not (tmp_path / "r.csv").exists()
    run("privatize", survey, *ask("r.csv", 1))  # the same plan may stay
    run("privatize", survey, *ask("r.csv!", 2))
    assert plan_of(tmp_path / "r.csv.plan.json").epsilon == 2


@pytest.mark.parametrize("step", ["the plan", "the reports"])
def test_reports_never_stand_beside_another_plan_wherever_it_ends(tmp_path, monkeypatch, step):
    output = tmp_path / "r.csv"
    old, new = (bruit.Plan({"smokes": ["no", "yes"]}, epsilon=epsilon) for epsilon in (1, 2))
    output.write_text("old reports")
    (tmp_path / "r.csv.plan.json").write_text(old.to_json())
    replace = Path.replace

    def fail(self, target):
        if (Path(target) == output) == (step == "the reports"):
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="Input/output"), files.publishing(output, new) as made:
        made.write_text("new reports")
    assert names(tmp_path) == ["r.csv.plan.json"]
    assert plan_of(tmp_path / "r.csv.plan.json") == (new if step == "the reports" else old)


def test_with_the_same_plan_old_reports_are_replaced_at_once(tmp_path, monkeypatch):
    output, plan = tmp_path / "r.csv", bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1)
    output.write_text("old reports")
    (tmp_path / "r.csv.plan.json").write_text(plan.to_json())
    monkeypatch.setattr(
        Path, "unlink", lambda *_, **__: pytest.fail("the old reports must stay until the new ones stand")
    )
    with files.publishing(output, plan) as made:
        made.write_text("new reports")
        assert output.read_text() == "old reports"
    assert output.read_text() == "new reports"


def test_what_a_killed_run_left_is_named(run, survey, tmp_path):
    left = documents.partial_name(tmp_path / "r.parquet")
    left.mkdir()
    assert left.name in " ".join(run("privatize", survey, *ask("r.parquet")).err.split())
    assert "killed" not in run("privatize", survey, *ask("other.parquet")).err


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
def test_the_answers_are_not_overwritten_by_their_reports(run, survey, tmp_path, link):
    before = survey.read_bytes()
    if link:
        link(survey, tmp_path / "other.csv")
    refused = run("privatize", survey, *ask("other.csv" if link else "./answers.csv", 1, "--force"), code=2)
    assert "another file" in refused.err
    assert survey.read_bytes() == before


def test_reports_do_not_go_into_the_folder_that_is_read(run, survey, tmp_path):
    (tmp_path / "data" / "deep").mkdir(parents=True)
    refused = run("privatize", "data", *ask("data/deep/r.parquet"), code=2)
    assert "folder that is read" in refused.err


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("nodir/x.parquet", "The folder nodir does not exist."),
        ("r.txt", "ends in .parquet or .csv"),
        ("folder.parquet", "is a folder"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_any_work(run, tmp_path, output, message):
    (tmp_path / "folder.parquet").mkdir()
    told = run("privatize", "absent.csv", *ask(output, 1, "--force"), code=2)
    assert message in told.err


@pytest.fixture
def folder(run, survey, tmp_path):
    """A folder of two files of reports, whose name looks like that of a file."""
    path = tmp_path / "rd.parquet"
    path.mkdir()
    for name in ("a.parquet", "B.PARQUET"):
        run("privatize", survey, *ask(f"one{name}"))
        (tmp_path / f"one{name}").rename(path / name)
    (tmp_path / "onea.parquet.plan.json").rename(tmp_path / "rd.parquet.plan.json")
    return path


def test_a_folder_of_reports_is_read_as_one(run, folder):
    assert run("estimate", "rd.parquet", "--json").json()["n"] == 6000
    assert run("estimate", "rd.parquet/B.PARQUET", "--plan", "rd.parquet.plan.json", "--json").json()["n"] == 3000


@pytest.mark.parametrize("name", ["stranger.parquet", "STRANGER.PARQUET"])
def test_one_file_of_another_plan_in_a_folder_is_refused(run, survey, tmp_path, folder, name):
    run("privatize", survey, *ask("stranger.parquet", 2))
    shutil.move(tmp_path / "stranger.parquet", folder / name)
    refused = run("estimate", "rd.parquet", code=4)
    assert "another plan" in refused.err
    assert name in refused.err
    alone = run("estimate", f"rd.parquet/{name}", "--plan", "rd.parquet.plan.json", code=4)
    assert "another plan" in alone.err


@pytest.mark.parametrize("name", ["study.parquet", "STUDY.PARQUET"])
def test_one_simulated_file_marks_the_whole_folder(run, survey, tmp_path, folder, name):
    assert run("estimate", "rd.parquet", "--json").json()["simulated"] is False
    run("privatize", survey, *ask("study.parquet", 1, "--seed", 1))
    shutil.move(tmp_path / "study.parquet", folder / name)
    assert run("estimate", "rd.parquet", "--json").json()["simulated"] is True


def test_a_csv_file_is_held_to_the_plan_beside_it(run, survey):
    run("privatize", survey, *ask("a.csv", 1))
    run("privatize", survey, *ask("b.csv", 2))
    for arguments in (("a.csv", "b.csv"), ("b.csv", "--plan", "a.csv.plan.json")):
        refused = run("estimate", *arguments, code=4)
        assert "b.csv were made by another plan" in refused.err


def test_reports_are_not_counted_twice(run, survey, tmp_path, folder):
    run("privatize", survey, *ask("a.csv"))
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    plan = ("--plan", "a.csv.plan.json")
    for twice in (
        ("a.csv", "a.csv"),
        ("a.csv", "./a.csv"),
        ("a.csv", "link.csv"),
        ("rd.parquet", "rd.parquet/a.parquet"),
    ):
        assert "named twice" in run("estimate", *twice, *plan, code=2).err
    assert run("estimate", "a.csv", "rd.parquet", *plan, "--json").json()["n"] == 9000


def test_reports_with_a_name_in_capitals_can_be_written_and_read(run, survey, tmp_path):
    run("privatize", survey, *ask("R.PARQUET"))
    assert pq.read_metadata(tmp_path / "R.PARQUET").num_rows == 3000
    assert run("estimate", "R.PARQUET", "--json").json()["n"] == 3000
