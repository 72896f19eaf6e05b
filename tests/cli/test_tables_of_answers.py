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
    assert "sent in clear: school" in run("privatize", people, "--plan", "plan.json", "-o", "r.parquet").out
    shown = run("estimate", "r.parquet", "--by", "school").out
    assert "smokes by school" in shown
    assert "nobody answered of 1 group" in shown
    document = run("estimate", "r.parquet", "--by", "school", "--json").json()
    assert {row["group"] for row in document["rows"]} == {"A", "B"}
    differences = run("difference", "r.parquet", "--by", "school", "--json").json()["differences"]
    assert differences[0]["lower"] < 0.4 < differences[0]["upper"]
    assert "--by must name" in run("estimate", "r.parquet", "--by", "smokes", code=2).err
    assert "--value must be" in run("difference", "r.parquet", "--by", "school", "--value", "Yes", code=2).err


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
    assert "march.csv less june.csv" in run("difference", "march.csv", "june.csv").out
    assert "with itself" in run("difference", "march.csv", "march.csv", code=2).err
    assert "second survey" in run("difference", "march.csv", code=2).err


def test_a_scale_and_several_choices_are_spelt_on_the_command_line(run, people):
    run("privatize", people, "agree=no<hardly<yes", "-e", "2", "-o", "a.csv")
    document = run("estimate", "a.csv", "--json").json()
    assert [row["label"] for row in document["values"]] == ["no", "hardly", "yes"]
    assert document["mean"]["lower"] < 2 < document["mean"]["upper"]
    run("privatize", people, "sports=[run,swim]", "-e", "2", "-o", "s.csv")
    assert [entry["name"] for entry in json.loads(run("estimate", "s.csv", "--json").out)] == [
        "sports: run",
        "sports: swim",
    ]
