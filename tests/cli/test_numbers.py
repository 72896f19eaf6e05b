"""Numbers on the command line: a column within declared bounds becomes reports, a mean and quantiles."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit
from bruit.numbers import NAMES

PEOPLE = 20_000
ASK = ("age=17..90", "-e", "2")


@pytest.fixture
def ages(tmp_path):
    """The same people as CSV and as Parquet."""
    found = np.random.default_rng(1).normal(45, 14, PEOPLE).clip(17, 90).round().astype(int)
    (tmp_path / "people.csv").write_text("name,age\n" + "".join(f"p,{age}\n" for age in found))
    pq.write_table(pa.table({"age": found}), tmp_path / "people.parquet")
    return found


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
@pytest.mark.parametrize("output", ["r.csv", "r.parquet"])
def test_a_column_of_numbers_becomes_a_mean_and_quantiles(run, ages, source, output):
    told = run("privatize", source, *ASK, "-o", output, "--seed", 3)
    assert "74 numbers from 17 to 90, 1 apart" in told.out
    found = run("estimate", output, "--seed", 1, "--json").json()
    error = 5.5 * found["standard_error"]
    assert abs(found["mean"] - ages.mean()) < error
    assert found["lower"] < found["mean"] < found["upper"]
    mean, *quantiles = found["statistics"]
    assert (mean["statistic"], mean["value"]) == ("mean", found["mean"])
    assert [row["share"] for row in quantiles] == [0.1, 0.25, 0.5, 0.75, 0.9]
    for row in quantiles:
        assert row["lower"] < row["value"] < row["upper"]
        assert abs(row["value"] - np.quantile(ages, row["share"])) < 4
    assert found["fit"]["approximate"] is True
    shown = run("estimate", output).out
    assert "mean" in shown
    assert "approximate" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_both_kinds_of_files_give_the_reports_of_the_library(run, ages, tmp_path):
    run("privatize", "people.csv", *ASK, "-o", "a.parquet", "--seed", 7)
    run("privatize", "people.parquet", *ASK, "-o", "b.parquet", "--seed", 7)
    plan = bruit.Plan({"age": bruit.Grid(17, 90)}, 2.0, "hybrid")
    expected = plan.privatize({"age": ages}, rng=7)["age"]
    for name in ("a", "b"):
        assert (pq.read_table(tmp_path / f"{name}.parquet")["age"].to_numpy() == expected).all()
        assert bruit.Plan.from_json((tmp_path / f"{name}.parquet.plan.json").read_text()) == plan


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", NAMES)
def test_every_number_mechanism_can_be_named(run, ages, method):
    run("privatize", "people.csv", *ASK, "--method", method.upper(), "-o", "r.parquet", "--seed", 3)
    found = run("estimate", "r.parquet", "--json").json()
    assert found["mechanism"] == method
    assert (len(found["statistics"]) > 1) == (method in ("piecewise", "hybrid", "square-wave"))
    assert abs(found["mean"] - ages.mean()) < 5.5 * found["standard_error"]


def test_where_reports_tell_the_mean_only_it_says_which_tell_more(run, ages):
    run("privatize", "people.csv", *ASK, "--method", "duchi", "-o", "r.parquet")
    assert "square-wave" in run("estimate", "r.parquet").out


def test_a_seed_repeats_the_intervals_of_quantiles_and_the_rest_needs_none(run, ages):
    run("privatize", "people.csv", *ASK, "-o", "r.parquet")
    first, again, other = (run("estimate", "r.parquet", "--seed", seed, "--json").json() for seed in (1, 1, 2))
    assert first == again
    assert first["statistics"][1:] != other["statistics"][1:]
    assert (first["mean"], first["lower"]) == (other["mean"], other["lower"])


@pytest.mark.audit
def test_an_answer_comes_soon_also_on_a_fine_grid(run, ages):
    run("privatize", "people.csv", "age=17.0..90.0/4096", "-e", "0.7", "-o", "r.csv")
    begun = time.process_time()
    found = run("estimate", "r.csv", "--json").json()
    assert time.process_time() - begun < 20
    assert [row["lower"] for row in found["statistics"][1:]] == [None] * 5
    assert "would take long" in run("estimate", "r.csv").out


def test_bounds_with_a_point_have_cells_of_the_mechanism_and_cells_can_be_declared(run, ages):
    told = run("privatize", "people.csv", "age=17.0..90", "-e", 1, "-o", "a.csv")
    assert "1,024 numbers from 17.0 to 90" in told.out
    told = run("privatize", "people.csv", "age=17..90/10", "-e", 2, "-o", "b.csv")
    assert "10 numbers from 17 to 90" in told.out


def test_a_negative_bound_is_a_number_and_not_an_option(run, tmp_path):
    (tmp_path / "t.csv").write_text("t\n-3\n4\n")
    assert "from -5 to 5" in run("privatize", "t.csv", "t=-5..5", "-e", 1, "-o", "r.csv").out


@pytest.mark.parametrize("bad", ["91", "-40000000", "inf", "s3cr3t"])
def test_a_number_that_breaks_the_rule_is_refused_without_showing_it(run, tmp_path, bad):
    (tmp_path / "bad.csv").write_text(f"age\n20\n{bad}\n")
    refused = run("privatize", "bad.csv", *ASK, "-o", "r.parquet", code=3)
    assert "values must" in refused.err
    assert bad not in refused.err + refused.out
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("name", ["gaps.csv", "gaps.parquet"])
def test_missing_numbers_are_refused_or_dropped(run, tmp_path, name):
    (tmp_path / "gaps.csv").write_text("age,x\n20,1\n,1\n30,1\n")
    pq.write_table(pa.table({"age": [20, None, 30]}), tmp_path / "gaps.parquet")
    refused = run("privatize", name, *ASK, "-o", "r.parquet", code=3).err
    assert "--missing drop" in refused
    assert "category" not in refused
    run("privatize", name, *ASK, "--missing", "drop", "-o", "r.parquet")
    assert run("estimate", "r.parquet", "--json").json()["n"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*ASK, "--method", "GRR"), "GRR asks for a category: declare labels or k for 'age', not a grid"),
        ((*ASK, "--missing", "category"), "has no category for missing numbers"),
        ((*ASK, "--missing", "leave"), "--missing must be one of 'refuse', 'drop'"),
        (("age=17..90/1", "-e", "1"), "cells must be"),
        (("age=90..17", "-e", "1"), "must go upwards: write age=17..90."),
        (("age=x..17", "-e", "1"), "age must have two answers or more, or a range"),
        (("age=0..inf", "-e", "1"), "age must have two answers or more, or a range"),
        (("age=17..90",), "--epsilon must be given"),
        (("-e", "1"), "Declare what is asked"),
        (("--plan", "p.json", "age=17..90"), "--plan already says what a question would"),
    ],
)
def test_options_that_cannot_be_are_refused_by_their_name(run, ages, options, message):
    assert message in run("privatize", "people.csv", *options, "-o", "r.parquet", code=2).err


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--consistent", "norm-sub"), "--consistent is for frequencies"), (("--figure", "x.png"), "--figure draws")],
)
def test_what_is_for_frequencies_is_refused_for_a_number(run, ages, options, message):
    run("privatize", "people.csv", *ASK, "-o", "r.parquet")
    assert message in run("estimate", "r.parquet", *options, code=2).err


def test_an_impossible_report_of_a_number_is_counted_and_no_more(run, ages, tmp_path):
    run("privatize", "people.csv", *ASK, "-o", "r.csv")
    with (tmp_path / "r.csv").open("a") as file:
        file.write("999999\nnonsense\n")
    found = run("estimate", "r.csv", "--json").json()
    assert (found["n"], found["refused"]) == (PEOPLE, 2)
