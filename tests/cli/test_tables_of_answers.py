"""Groups, tables, differences, scales and choices on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

SCHOOLS = ("school=A,B,C", "smokes=no,yes")


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(1)
    school = rng.choice(["A", "B"], 2000)
    smokes = np.where(rng.random(2000) < np.where(school == "A", 0.6, 0.2), "yes", "no")
    agree, sports = rng.choice(["no", "hardly", "yes"], 2000), rng.choice(["run", "run;swim", "swim"], 2000)
    lines = [",".join(row) for row in zip(school, smokes, agree, sports, strict=True)]
    (tmp_path / "people.csv").write_text("school,smokes,agree,sports\n" + "\n".join(lines) + "\n")
    return "people.csv"


def test_a_public_attribute_goes_from_the_plan_to_the_groups(run, people):
    planned = run("plan", *SCHOOLS, "-e", "2", "--public", "school", "-n", "2000", "-o", "plan.json")
    assert "sent in clear: school; 3 groups" in planned.out
    assert (
        "sent in clear: school" in run("privatize", people, "--plan", "plan.json", "--seed", "7", "-o", "r.parquet").out
    )
    shown = run("estimate", "r.parquet", "--by", "school").out
    assert "smokes by school" in shown
    assert "nobody answered of 1 group" in shown
    document = run("estimate", "r.parquet", "--by", "school", "--json").json()
    assert {row["group"] for row in document["rows"]} == {"A", "B"}
    differences = run("analyse", "difference", "r.parquet", "--by", "school", "--json").json()["differences"]
    assert differences[0]["lower"] < 0.4 < differences[0]["upper"]
    assert "--by must name" in run("estimate", "r.parquet", "--by", "smokes", code=2).err
    assert (
        "--value must be" in run("analyse", "difference", "r.parquet", "--by", "school", "--value", "Yes", code=2).err
    )


def test_few_people_for_many_groups_are_warned_of(run):
    assert "single people out" in run("plan", *SCHOOLS, "-e", "2", "--public", "school", "-n", "9").err
    assert "not every attribute" in run("plan", "a=0,1", "-e", "1", "--public", "a", code=2).err
    assert "--public must name" in run("plan", "a=0,1", "-e", "1", "--public", "b", code=2).err


def test_a_table_is_planned_collected_and_shown(run, people):
    planned = run("plan", *SCHOOLS, "-e", "2", "--method", "TAB[ADP]", "-o", "plan.json").out
    assert "school × smokes" in planned
    run("privatize", people, "--plan", "plan.json", "-o", "r.csv")
    assert "depend on each other" in run("estimate", "r.csv", "--table", "school,smokes").out
    document = run("estimate", "r.csv", "--table", "school,smokes", "--json").json()
    assert len(document["cells"]) == 6
    assert document["independence"]["freedom"] == 2
    assert "Estimate of school by TAB" in run("estimate", "r.csv", "--attribute", "school").out
    assert "--table must name two" in run("estimate", "r.csv", "--table", "school", code=2).err


def test_reports_on_single_attributes_have_no_table(run, people):
    run("privatize", people, *SCHOOLS, "-e", "2", "-o", "r.csv")
    assert "depends on the margins alone" in run("estimate", "r.csv", "--table", "school,smokes", code=2).err
    run("privatize", people, *SCHOOLS, "-e", "6", "--method", "SPL[ADP]", "-o", "s.csv")
    assert "SPL[GRR × GRR]" in run("estimate", "s.csv", "--table", "school,smokes").out


def test_two_surveys_are_compared_and_not_one_with_itself(run, people):
    for name in ("march.csv", "june.csv"):
        run("privatize", people, "smokes=no,yes", "-e", "2", "-o", name)
    assert "march.csv less june.csv" in run("analyse", "difference", "march.csv", "june.csv").out
    assert "with itself" in run("analyse", "difference", "march.csv", "march.csv", code=2).err
    assert "second survey" in run("analyse", "difference", "march.csv", code=2).err


def test_a_scale_and_several_choices_are_spelt_on_the_command_line(run, people):
    run("privatize", people, "agree=no<hardly<yes", "-e", "2", "--seed", "7", "-o", "a.csv")
    document = run("estimate", "a.csv", "--json").json()
    assert [row["label"] for row in document["values"]] == ["no", "hardly", "yes"]
    assert document["mean"]["lower"] < 2 < document["mean"]["upper"]
    run("privatize", people, "sports=[run,swim]", "-e", "2", "-o", "s.csv")
    assert [entry["name"] for entry in json.loads(run("estimate", "s.csv", "--json").out)] == [
        "sports: run",
        "sports: swim",
    ]


# What cannot be: a clear message, and nothing half-written.


def test_a_public_value_of_their_own_for_everybody_is_refused_and_nothing_is_written(run, tmp_path):
    (tmp_path / "ids.csv").write_text("id,smokes\n" + "".join(f"{place},no\n" for place in range(30)))
    public = ("id=" + ",".join(map(str, range(40))), "--public", "id")
    shown = run("privatize", "ids.csv", "smokes=no,yes", *public, "-e", "1", "-o", "r.csv", code=3)
    assert "Everybody has a value of their own in 'id'" in shown.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.csv"]


def test_people_alone_in_a_stratum_are_warned_of_before_the_file_appears(run, tmp_path):
    (tmp_path / "people.csv").write_text("school,smokes\n" + "A,no\n" * 30 + "B,no\n")
    shown = run("privatize", "people.csv", *SCHOOLS, "--public", "school", "-e", "1", "-o", "r.csv")
    assert "Of 31 people, 1 have 'school' for themselves" in shown.err


def test_an_empty_stratum_has_nothing_to_compare_with(run, tmp_path):
    (tmp_path / "people.csv").write_text("school,smokes\n" + "A,no\n" * 30)
    run("privatize", "people.csv", *SCHOOLS, "--public", "school", "-e", "1", "-o", "r.csv")
    assert "nobody answered of 2 groups" in run("estimate", "r.csv", "--by", "school").out
    assert "There is one group" in run("analyse", "difference", "r.csv", "--by", "school", code=3).err
    assert "everybody has the same" in run("analyse", "regress", "r.csv", code=3).err


def test_a_table_of_more_than_2_to_the_24_cells_is_refused(run, tmp_path):
    (tmp_path / "many.txt").write_text("".join(f"{place}\n" for place in range(5000)))
    (tmp_path / "people.csv").write_text("a,b\n1,1\n")
    questions = ("a=@many.txt", "b=@many.txt", "-e", "1", "--method", "TAB[ADP]")
    for command in (("plan", *questions), ("privatize", "people.csv", *questions, "-o", "r.csv")):
        assert "at most 16,777,216 cells, 'a × b' has 25,000,000" in run(*command, code=2).err
    assert not list(tmp_path.glob("r.csv*"))


def test_a_table_nobody_was_asked_has_no_estimate(run, tmp_path):
    run("plan", *SCHOOLS, "agree=no,yes", "-e", "1", "--method", "TAB[GRR]", "-o", "plan.json")
    (tmp_path / "r.csv").write_text("attribute,report\n0,1\n0,2\n")
    known = ("estimate", "r.csv", "--plan", "plan.json", "--table")
    assert "school × smokes" in run(*known, "school,smokes").out
    refused = run(*known, "school,agree", code=3)
    assert "Nobody was asked about 'school × agree'" in refused.err
    assert not refused.out


def test_groups_that_do_not_overlap_are_not_compared(run, people, tmp_path):
    (tmp_path / "other.csv").write_text("smokes\n" + "seldom\n" * 30)
    run("privatize", people, "smokes=no,yes", "-e", "2", "-o", "march.csv")
    run("privatize", "other.csv", "smokes=seldom,often", "-e", "2", "-o", "june.csv")
    refused = run("analyse", "difference", "march.csv", "june.csv", code=2)
    assert "those of 'smokes' have no label in common" in refused.err
    rows = "".join("A,1,no\nB,2,yes\nA,1,yes\nB,2,no\n" for _ in range(20))
    (tmp_path / "years.csv").write_text("school,year,smokes\n" + rows)
    public = ("--public", "school", "--public", "year")
    run("privatize", "years.csv", "school=A,B", "year=1,2", "smokes=no,yes", *public, "-e", "2", "-o", "r.csv")
    assert "'year' is a combination of the others" in run("analyse", "regress", "r.csv", code=3).err


def test_a_plan_says_how_many_people_it_takes_to_see_a_difference(run):
    planned = run("plan", "school=A,B", "smokes=no,yes", "-e", "1", "--public", "school")
    shown = " ".join(planned.out.split())
    assert "To see 30 % against 20 % in two groups takes 3,472 people with the group in clear, as here" in shown
    assert "It would take 9,552 with group and answer as one question, and 214,854 with half of ε for each." in shown
    tables = " ".join(run("plan", "a=0,1", "b=0,1", "c=0,1", "-e", "1", "--method", "TAB[ADP]").out.split())
    assert "takes 9,552 people with group and answer as one question, and 3 times as many here" in tables
    document = run("plan", "a=0,1", "b=0,1", "-e", "1", "--method", "TAB[ADP]", "--json").json()
    assert document["people_to_see_30_against_20"]["joint"] == 9552
    assert "To see 30 %" not in run("plan", "a=0,1", "b=0,1", "-e", "1").out
