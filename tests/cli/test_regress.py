"""`bruit analyse regress`, as a user meets it."""

import numpy as np
import pytest

import bruit


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, 3000)
    yes = rng.random(3000) < 1 / (1 + np.exp(-(age - 50) / 15))
    rows = "\n".join(f"{a},{'FM'[i % 2]}" for i, a in enumerate(age))
    (tmp_path / "people.csv").write_text(f"age,sex\n{rows}\n")
    plan = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=2.0)
    plan.privatize({"smokes": np.where(yes, "yes", "no")}, rng=3, to=tmp_path / "reports.parquet")
    return tmp_path


def test_reports_are_regressed_on_a_file_of_the_same_people(run, files):
    shown = run("analyse", "regress", "reports.parquet", "--on", "people.csv").out
    assert "Log-odds of smokes: yes against no by GRR from 3,000 reports" in shown
    assert "sex = M" in shown
    assert max(map(len, shown.splitlines())) <= 80
    body = run("analyse", "regress", "reports.parquet", "--on", "people.csv", "-c", "age", "--json").json()
    age = next(row for row in body["coefficients"] if row["term"] == "age")
    assert age["low"] - 0.02 < 1 / 15 < age["high"] + 0.02
    assert body["simulated"] is True


def test_public_attributes_of_the_plan_are_predictors(run, files):
    rows = "\n".join(f"{'yes' if i % 4 == 0 or i % 6 == 3 else 'no'},{'AB'[i % 2]}" for i in range(3000))
    (files / "b.csv").write_text(f"smokes,school\n{rows}\n")
    run("privatize", "b.csv", "smokes=no,yes", "school=A,B", "--public", "school", "-e", 2, "-o", "b.parquet")
    assert "school = B" in run("analyse", "regress", "b.parquet").out
    assert "nothing to regress on" in run("analyse", "regress", "reports.parquet", code=2).err


def test_a_figure_is_drawn_and_a_reference_is_taken(run, files):
    shown = run(
        "analyse", "regress", "reports.parquet", "--on", "people.csv", "--reference", "sex=M", "--figure", "odds.svg"
    )
    assert "sex = F" in shown.out
    assert "<svg" in (files / "odds.svg").read_text()


def test_mistakes_are_named(run, files):
    assert (
        "Did you mean 'age'?"
        in run("analyse", "regress", "reports.parquet", "--on", "people.csv", "-c", "agee", code=3).err
    )
    assert (
        "moments" in run("analyse", "regress", "reports.parquet", "--on", "people.csv", "--method", "ols", code=2).err
    )
    assert (
        "sex=F" in run("analyse", "regress", "reports.parquet", "--on", "people.csv", "--reference", "sex", code=2).err
    )
    (files / "few.csv").write_text("age\n20\n30\n")
    assert "one row for each report" in run("analyse", "regress", "reports.parquet", "--on", "few.csv", code=3).err


def test_a_table_is_regressed_within_itself(run, tmp_path):
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], 4000)
    smokes = np.where(rng.random(4000) < np.where(sex == "M", 0.6, 0.2), "yes", "no")
    lines = [",".join(row) for row in zip(sex, smokes, strict=True)]
    (tmp_path / "people.csv").write_text("sex,smokes\n" + "\n".join(lines) + "\n")
    asked = ("sex=F,M", "smokes=no,yes", "-e", "3", "--method", "TAB[ADP]", "--seed", "7")
    run("privatize", "people.csv", *asked, "-o", "r.csv")
    document = run("analyse", "regress", "r.csv", "--table", "sex,smokes", "--json").json()
    effect = next(row for row in document["coefficients"] if row["term"] == "sex = M")
    assert effect["low"] < 1.79 < effect["high"]
    assert "Log-odds of sex" in run("analyse", "regress", "r.csv", "--table", "sex,smokes", "--answer", "sex").out
    assert (
        "--answer must be an attribute of --table"
        in run("analyse", "regress", "r.csv", "--table", "sex,smokes", "--answer", "age", code=2).err
    )
    assert (
        "--on does not go with --table"
        in run("analyse", "regress", "r.csv", "--table", "sex,smokes", "--on", "people.csv", code=2).err
    )
