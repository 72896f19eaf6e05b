"""Results do not depend on the number of processes nor on interruptions; what fails is told with its factors."""

import os
import signal
import subprocess
import sys
import time

import pytest

from bruit.errors import DesignError, FormatError, StudyError
from bruit_studies import Block, Study, read, run, runner


def _bytes(folder, size="quick"):
    return (folder / "toy" / size / "results.parquet").read_bytes()


def test_one_and_two_processes_and_none_give_the_same_bytes(toy, tmp_path):
    for workers in (0, 1, 2):
        run(toy, seed=3, workers=workers, folder=tmp_path / str(workers))
    assert _bytes(tmp_path / "0") == _bytes(tmp_path / "1") == _bytes(tmp_path / "2")


def test_parts_that_lack_columns_of_others_give_the_same_bytes(tmp_path, monkeypatch):
    def trial(*, part, rng, word=""):
        return {"share": 0.5} if part == "numbers" else {"text": word}

    blocks = [Block({"part": ["numbers"]}, 2), Block({"part": ["texts"], "word": ["a", "b"]})]
    study = Study(name="toy", title="Toy", question="?", method="!", trial=trial, quick=blocks)
    run(study, workers=0, folder=tmp_path / "together")
    monkeypatch.setattr(runner, "PATIENCE", -1.0)
    run(study, workers=0, folder=tmp_path / "apart")
    assert _bytes(tmp_path / "together") == _bytes(tmp_path / "apart")


def test_another_seed_gives_other_results(toy, tmp_path):
    first = run(toy, seed=3, workers=0, folder=tmp_path / "3")
    second = run(toy, seed=4, workers=0, folder=tmp_path / "4")
    assert not set(first["error"].tolist()) & set(second["error"].tolist())


def test_results_have_factors_repetitions_rows_and_metrics(toy, tmp_path):
    found = run(toy, workers=0, folder=tmp_path)
    assert list(found.columns) == ["trial", "repetition", "row", "method", "epsilon", "error", "label"]
    assert len(found) == 12 * 2 + 12
    assert found.trials == 24
    assert found.where(method="a", epsilon=1)["label"].tolist() == ["a0", "a1"] * 4
    assert read(toy, tmp_path)["error"].tolist() == found["error"].tolist()


def test_a_finished_run_is_not_made_again(toy, tmp_path, monkeypatch):
    run(toy, workers=0, folder=tmp_path)
    monkeypatch.setenv("TOY_MARKS", str(tmp_path / "marks"))
    told = []
    run(toy, workers=0, folder=tmp_path, progress=lambda done, total: told.append((done, total)))
    assert not (tmp_path / "marks").exists()
    assert told == [(24, 24)]


def test_full_results_are_read_before_quick_ones(toy, tmp_path):
    assert read(toy, tmp_path) is None
    run(toy, workers=0, folder=tmp_path)
    assert read(toy, tmp_path).size == "quick"
    run(toy, size="full", workers=0, folder=tmp_path)
    assert read(toy, tmp_path).size == "full"
    assert read(toy, tmp_path, "quick").size == "quick"


def test_a_failed_trial_is_told_with_its_factors_and_what_was_finished_is_kept(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAILS", "1")
    with pytest.raises(StudyError, match=r"method='b', epsilon=2\.0, #0: RuntimeError: the wheel came off") as caught:
        run(toy, workers=0, folder=tmp_path / "broken")
    assert caught.value.factors == {"method": "b", "epsilon": 2.0}
    assert read(toy, tmp_path / "broken") is None
    monkeypatch.delenv("TOY_FAILS")
    monkeypatch.setenv("TOY_MARKS", str(tmp_path / "marks"))
    run(toy, workers=0, folder=tmp_path / "broken")
    assert (
        len((tmp_path / "marks").read_text().split()) == 19
    )  # of 24: every setting is tried once before any is repeated
    run(toy, workers=0, folder=tmp_path / "whole")
    assert _bytes(tmp_path / "broken") == _bytes(tmp_path / "whole")


@pytest.mark.parametrize("variable", ["TOY_SKIPS", "TOY_NEEDS"])
def test_a_skipped_part_is_told_and_tried_again_next_time(variable, toy, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, "b")
    found = run(toy, workers=0, folder=tmp_path / "a")
    assert list(found.skipped.values()) == [12]
    assert found.values("method") == ["a"]
    verdicts = [claim.verdict(found).kind for claim in toy.claims]
    assert verdicts == ["not judged", "refuted"]
    monkeypatch.delenv(variable)
    assert run(toy, workers=0, folder=tmp_path / "a").skipped == {}
    run(toy, workers=0, folder=tmp_path / "b")
    assert _bytes(tmp_path / "a") == _bytes(tmp_path / "b")


KILLED = """
import sys
sys.path.insert(0, {modules!r})
from bruit_studies import run
import bruit_studies.runner as runner
import toy_study
runner.PATIENCE = 0.0
if __name__ == "__main__":
    run(toy_study.STUDY, seed=5, workers=2, folder={folder!r})
"""


@pytest.mark.audit("2", "9")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_and_resumed_gives_the_same_bytes(number, toy, tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(KILLED.format(modules=str(tmp_path / "modules"), folder=str(tmp_path / "killed")))
    env = {**os.environ, "TOY_SLEEP": "0.25", "TOY_MARKS": str(tmp_path / "marks")}
    process = subprocess.Popen([sys.executable, str(script)], env=env, stderr=subprocess.DEVNULL)
    folder = tmp_path / "killed" / "toy" / "quick"
    deadline = time.monotonic() + 60
    while len(list(folder.glob("part-*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    process.wait(20)
    made = len((tmp_path / "marks").read_text().split())
    assert read(toy, tmp_path / "killed") is None
    time.sleep(1.0)
    # Nobody is left behind who goes on working; at most what was under way has been begun since.
    assert len((tmp_path / "marks").read_text().split()) <= made + 2
    monkeypatch.setenv("TOY_MARKS", str(tmp_path / "again"))
    run(toy, seed=5, workers=0, folder=tmp_path / "killed")
    assert len((tmp_path / "again").read_text().split()) <= 24 - 3
    run(toy, seed=5, workers=0, folder=tmp_path / "whole")
    assert _bytes(tmp_path / "killed") == _bytes(tmp_path / "whole")
    assert sorted(file.name for file in folder.iterdir() if not file.name.endswith(".partial")) == [
        "manifest.json",
        "results.parquet",
    ]


def test_results_of_another_seed_are_not_mixed(toy, tmp_path):
    run(toy, seed=1, workers=0, folder=tmp_path)
    with pytest.raises(DesignError, match="seed 1"):
        run(toy, seed=2, workers=0, folder=tmp_path)
    assert run(toy, seed=2, workers=0, folder=tmp_path, restart=True).seed == 2


def test_a_folder_of_results_that_is_a_link_is_begun_again_where_it_leads(toy, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "results" / "toy").mkdir(parents=True)
    link = tmp_path / "results" / "toy" / "quick"
    link.symlink_to(tmp_path / "disk")
    run(toy, seed=3, workers=0, folder=tmp_path / "results")
    run(toy, seed=4, workers=0, folder=tmp_path / "results", restart=True)
    run(toy, seed=4, workers=0, folder=tmp_path / "plain")
    assert link.is_symlink()
    assert _bytes(tmp_path / "results") == _bytes(tmp_path / "plain")


def test_results_of_another_definition_are_neither_read_nor_mixed(toy, tmp_path):
    import dataclasses

    run(toy, workers=0, folder=tmp_path)
    newer = dataclasses.replace(toy, version=2)
    assert read(newer, tmp_path) is None
    with pytest.raises(DesignError, match="another definition"):
        run(newer, workers=0, folder=tmp_path)


def test_a_damaged_part_is_told(toy, tmp_path):
    run(toy, workers=0, folder=tmp_path)
    (tmp_path / "toy" / "quick" / "results.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(FormatError, match="--restart"):
        run(toy, workers=0, folder=tmp_path)


def test_the_time_of_a_full_run_is_told_beforehand_and_is_nothing_once_all_is_made(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_SLEEP", "0.01")
    before = runner.seconds_left(toy, folder=tmp_path)
    assert 0.48 <= before < 20
    assert runner.seconds_left(toy, folder=tmp_path, workers=4) < before
    monkeypatch.setenv("TOY_SLEEP", "0")
    run(toy, size="full", workers=0, folder=tmp_path)
    assert runner.seconds_left(toy, folder=tmp_path) == 0


def test_every_setting_is_tried_once_before_any_is_tried_again(toy, tmp_path, monkeypatch):
    order, work = [], runner._work
    monkeypatch.setattr(runner, "_work", lambda *task: order.append(task[-1][0]) or work(*task))
    run(toy, workers=0, folder=tmp_path)
    assert [trial.repetition for trial in order] == sorted(trial.repetition for trial in order)
    assert len({str(trial.factors) for trial in order[:6]}) == 6
