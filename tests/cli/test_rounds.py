"""Panels on the command line: planned, made private with a memory, and estimated over rounds."""

import json
import stat

import numpy as np
import pyarrow.parquet as pq
import pytest

from bruit import Plan


@pytest.fixture
def people(tmp_path):
    drawn = np.random.default_rng(1).choice(["no", "yes"], 400, p=[0.7, 0.3])
    rows = "".join(f"p{number},{answer}\n" for number, answer in enumerate(drawn))
    (tmp_path / "p.csv").write_text("id,smokes\n" + rows)
    return drawn


@pytest.fixture
def planned(run, people):
    return run("plan", "smokes=no,yes", "-e", 1, "--rounds", 2, "--epochs", 2, "--epoch-epsilon", 2, "-o", "plan.json")


def privatize(run, number, *more, code=0):
    options = ("--plan", "plan.json", "--memory", "m.json", "--person", "id", "--round", number)
    return run("privatize", "p.csv", *options, "-o", f"r{number}.parquet", *more, code=code)


def test_a_plan_says_what_a_report_an_epoch_and_all_epochs_tell(run, planned):
    assert "one report: ε = 1 (" in planned.out
    assert "any number of reports of an epoch: ε = 2 (" in planned.out
    assert "all 2 rounds of 2 epochs: ε = 3.2833" in planned.out
    assert "--memory memory.json --person COLUMN --round 1" in planned.out
    document = run("plan", "a=0,1", "-e", 1, "--rounds", 2, "--epoch-epsilon", 2, "--json").json()
    assert document["guarantee_of_an_epoch"]["epsilon"] <= 2
    assert document["attributes"][0]["guessed_by_epoch"] == pytest.approx(0.8808, abs=1e-4)


def test_rounds_are_made_with_one_memory_and_estimated_together(run, planned, people, tmp_path):
    for number in (1, 2, 3):
        privatize(run, number)
    assert stat.S_IMODE((tmp_path / "m.json").stat().st_mode) == 0o600
    first = pq.read_table(tmp_path / "r1.parquet")["smokes"].to_pylist()
    privatize(run, 1, "--force")
    assert pq.read_table(tmp_path / "r1.parquet")["smokes"].to_pylist() == first
    series, mean, change = run(
        "estimate", "--over-rounds", "r3.parquet", "r1.parquet", "r2.parquet", "--json", "--same-people"
    ).json()
    assert [row["round"] for row in series["rows"]] == [1, 1, 2, 2, 3, 3]
    assert [row["epoch"] for row in series["rows"]] == [1, 1, 1, 1, 2, 2]
    truth = (people == "no").mean()
    assert abs(mean["values"][0]["frequency"] - truth) < 6 * mean["values"][0]["standard_error"]
    assert 0 <= change["p_value"] <= 1
    text = run("estimate", "--over-rounds", "r1.parquet", "r2.parquet").out
    assert "within one epoch memos stay" in text
    assert "Mean of 2 rounds" in text
    memos = {
        name: history["1"]["memo"] for name, history in json.loads((tmp_path / "m.json").read_text())["people"].items()
    }
    assert len(memos) == 400


def test_rounds_are_not_added_up_as_if_they_were_different_people(run, planned):
    privatize(run, 1)
    privatize(run, 2)
    assert "--over-rounds" in run("estimate", "r1.parquet", "r2.parquet", code=2).err
    assert "400 reports" in run("estimate", "r2.parquet").out


def test_a_memory_that_is_not_there_in_the_middle_of_an_epoch_must_be_asked_for(run, planned, tmp_path):
    lost = privatize(run, 2, code=2)
    assert "cost ε = 2 once more: say --new-memory" in lost.err
    assert not (tmp_path / "r2.parquet").exists()
    privatize(run, 2, "--new-memory")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plan", "plan.json"), "--memory memory.json and --round 3"),
        (("--plan", "plan.json", "--memory", "m.json", "--round", "5", "--person", "id"), "round must be"),
        (("--plan", "plan.json", "--memory", "m.json", "--round", "1"), "must have one row"),
        (("--plan", "plan.json", "--memory", "m.json", "--round", "1", "--person", "smokes"), "named twice"),
        (("smokes=no,yes", "-e", "1", "--memory", "m.json"), "belongs to a plan with rounds"),
    ],
)
def test_what_a_round_needs_is_said(run, planned, arguments, words, tmp_path):
    ended = run(
        "privatize",
        "p.csv",
        *arguments,
        "-o",
        "r.parquet",
        code=3 if words in ("must have one row", "named twice") else 2,
    )
    assert words in ended.err.replace("\n", " ")
    assert not (tmp_path / "r.parquet").exists()


def test_one_person_needs_no_column(run, planned, tmp_path):
    (tmp_path / "me.csv").write_text("smokes\nyes\n")
    run("privatize", "me.csv", "--plan", "plan.json", "--memory", "me.json", "--round", 1, "-o", "me.parquet")
    assert pq.read_table(tmp_path / "me.parquet").num_rows == 1


def test_rounds_are_refused_for_fakes_with_the_reason(run):
    ended = run(
        "plan", "a=0,1", "b=0,1", "-e", 1, "--method", "RS+FD[GRR]", "--rounds", 2, "--epoch-epsilon", 2, code=2
    )
    assert "one report per epoch" in ended.err


def test_choose_and_people_know_the_mean_over_rounds(run):
    table = run("choose", "--k", 24, "-e", 2, "--epoch-epsilon", 2, "--rounds", 1, "-n", 1, "--json").json()
    best = table["oracles"][0]
    assert best["oracle"] == "SS"
    assert best["rare"] == pytest.approx(0.585, rel=0.01)
    once = run("size", "--k", 24, "-e", 1, "--half-width", 0.02, "--json").json()
    again = run("size", "--k", 24, "-e", 1, "--half-width", 0.02, "--epoch-epsilon", 2, "--rounds", 12, "--json").json()
    needed = {row["mechanism"]: row["people"] for row in again["mechanisms"]}
    assert all(needed[row["mechanism"]] < row["people"] for row in once["mechanisms"])
    assert "epoch_epsilon=2.0" in run("size", "--k", 24, "-e", 1, "--half-width", 0.02, "--rounds", 12, code=2).err


def test_a_plan_with_rounds_is_opened_from_beside_its_reports(run, planned, tmp_path):
    privatize(run, 1)
    assert Plan.load(tmp_path / "r1.parquet").repeat.rounds == 2


def test_attacks_on_rounds_show_where_a_memo_stops_them(run, planned, tmp_path):
    rows = run("attack", "averaging", "plan.json", "--after", "1,64", "--seed", 1, "--json", "--figure", "a.png")
    drawn = rows.json()["rows"]
    assert drawn[-1]["redrawn"] > 0.97
    assert drawn[-1]["memoised"] < drawn[-1]["limit"] + 0.1
    assert (tmp_path / "a.png").exists()
    rates = run("attack", "changes", "plan.json", "--seed", 1, "--json").json()["attacks"]
    assert abs(rates[1]["rate"] - 0.5) < 0.1
    assert "1,4,16" in run("attack", "averaging", "plan.json", "--after", "x", code=2).err


def test_changes_are_followed_and_both_guarantees_say_whom_they_protect(run, people, tmp_path):
    options = ("-e", 0.9, "--rounds", 2, "--epoch-epsilon", 1, "--follow-changes")
    planned = run("plan", "smokes=no,yes", *options, "-o", "plan.json").out.replace("\n", " ")
    assert "all 2 rounds of 1 epoch: ε = 2 (local, all answers changed, equal at the same pairs" in planned
    assert "any two histories: ε = 6." in planned
    document = run("plan", "smokes=no,yes", *options, "--json").json()
    assert document["guarantee_of_same_changes"]["neighbours"] == "same-changes"
    assert "guarantee_of_an_epoch" not in document
    assert "once more for every value" in privatize(run, 1).err
    text = (tmp_path / "p.csv").read_text()
    (tmp_path / "p.csv").write_text(text.replace(",no", ",?").replace(",yes", ",no").replace(",?", ",yes"))
    assert "equal at the same pairs of rounds" in privatize(run, 2).out.replace("\n", " ")
    out = run("estimate", "--over-rounds", "r1.parquet", "r2.parquet", "--same-people").out.replace("\n", " ")
    assert "memos stay" not in out
    assert "ε = 2 (local, all answers changed, equal at the same pairs of rounds)" in out
    assert "guarantee of all epochs: ε = 6." in out
    refused = run("plan", "a=0,1", "b=0,1", *options, "--method", "SPL[GRR]", code=2)
    assert "one question" in refused.err


def test_choose_lists_the_published_protocols_by_name(run):
    rounds = ("choose", "--k", 10, "-e", 1, "--epoch-epsilon", 2, "--rounds", 4, "-n", 1)
    rows = {row["protocol"]: row for row in run(*rounds, "--published", "--json").json()["protocols"]}
    assert rows["L-OSUE"]["variance"] == pytest.approx(3.683, rel=0.001)
    assert rows["L-GRR"]["report_epsilon"] == pytest.approx(0.699, abs=0.001)
    assert "L-ADP takes L-OSUE" in run(*rounds, "--published").out
    assert "OUE with memos is L-OSUE" in run(*rounds).out
    assert "--rounds 12" in run("choose", "--k", 10, "-e", 1, "--published", code=2).err
    assert "--criterion" in run(*rounds, "--published", "--criterion", "total", code=2).err
