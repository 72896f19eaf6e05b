"""`bruit publish`: a whole publication from one file."""

import json

import pytest

from bruit import documents
from bruit.privacy import Ledger
from bruit.publications import Published

PLAN = """
title = "Ages"
table = "people.csv"
epsilon = 0.5
ledger = "people.ledger"
budget = { epsilon = 1.0 }
page = false

[[statistic]]
name = "people"
kind = "count"

[[statistic]]
name = "mean age"
kind = "mean"
of = "age=0..100"
by = "sex=F,M"
"""


@pytest.fixture
def plan(tmp_path):
    rows = [f"{20 + i % 50},{'FM'[i % 2]}" for i in range(500)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex", *rows]) + "\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


def test_a_dry_run_reads_nothing_and_spends_nothing(run, plan):
    (plan.parent / "people.csv").unlink()
    told = run("publish", "plan.toml", "--dry-run")
    assert "± 5.64" in told.out  # of the count: a little below √2/0.25
    assert "would have ε = 0.5 of 1.0 left" in told.out
    assert max(map(len, told.out.splitlines())) <= 80
    assert not (plan.parent / "people.ledger").exists()
    table = run("publish", "plan.toml", "--dry-run", "--json").json()
    assert [row["epsilon"] for row in table["prospects"]] == [0.25, 0.25]


def test_a_dry_run_says_what_would_be_refused_and_ends_so(run, plan):
    run("publish", "plan.toml")
    (plan.parent / "own").mkdir()
    plan.write_text('edition = "2"\noutput = "own"\n' + PLAN.replace("epsilon = 0.5", "epsilon = 0.4"))
    for options in (("--dry-run",), ("--dry-run", "--json"), ()):
        assert "own exists and is not this publication" in run("publish", "plan.toml", *options, code=2).err
    plan.write_text('edition = "3"\noutput = "other"\n' + PLAN.replace("epsilon = 0.5", "epsilon = 0.6"))
    for options in (("--dry-run",), ("--dry-run", "--json"), ()):
        assert "needs ε=0.6, 0.5 remain of 1.0" in run("publish", "plan.toml", *options, code=5).err
    plan.write_text(PLAN)
    assert "a run would show it, and spend nothing" in run("publish", "plan.toml", "--dry-run").out


def test_it_is_published_once_and_shown_again(run, plan):
    told = run("publish", "plan.toml")
    assert "Ages. Published now." in told.out
    assert "mean age: mean of age by sex" in told.out
    assert "ε = 0.5 of 1.0 spent, 0.5 remain" in told.out
    again = run("publish", "plan.toml")
    assert "nothing was spent" in again.out
    assert again.out.splitlines()[2:] == told.out.splitlines()[2:]
    assert Ledger.open(plan.parent / "people.ledger").spent.epsilon == 0.5
    body = documents.unseal(run("publish", "plan.toml", "--json").out, Published.FORMAT)
    assert [item["name"] for item in body["results"]] == ["people", "mean age"]
    shown = run("result", "people.ledger", 0)
    assert "Released mean of age by sex" in shown.out
    assert json.loads(run("result", "people.ledger", 0, "--json").out)["format"] == "bruit.results/1"


def test_what_is_wrong_is_said_in_one_line(run, plan):
    plan.write_text(PLAN.replace("epsilon = 0.5", "epsilom = 0.5"))
    told = run("publish", "plan.toml", code=2)
    assert "'epsilom' is no key here. Did you mean 'epsilon'?" in told.err
    plan.write_text(PLAN.replace("[[statistic]]", "[statistic]"))
    assert "[statistic] stands there a second time. Write [[statistic]]" in run("publish", "plan.toml", code=4).err
    plan.write_text(PLAN.replace("age=0..100", "height=0..100"))
    told = run("publish", "plan.toml", code=3)
    assert "height" in told.err
    plan.write_text(PLAN.replace("sex=F,M", "sex=F,X"))
    run("publish", "plan.toml", code=3)
    assert not (plan.parent / "people.ledger").exists()


def test_a_budget_that_an_existing_ledger_does_not_have_is_said_not_to_be_used(run, plan):
    assert "not used" not in run("publish", "plan.toml").err
    plan.write_text(PLAN.replace("{ epsilon = 1.0 }", "{ epsilon = 5.0 }"))
    for options in (("--dry-run",), ()):
        told = " ".join(run("publish", "plan.toml", *options).err.split())
        assert "people.ledger exists with a budget of ε = 1; budget in this file (ε = 5) is not used." in told
