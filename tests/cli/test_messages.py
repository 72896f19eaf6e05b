"""What commands say about a mistake: where it is, and the spelling that would be right; never a value of the data."""

import polars as pl
import pytest

import bruit
from bruit import datasets, engines
from bruit.errors import BruitError

VALUES = "married,never"
ASK = (f"marital={VALUES}", "-e", 1, "-o", "r.parquet")


@pytest.fixture
def people(tmp_path):
    """The same small table as CSV and as Parquet."""
    table = pl.DataFrame({"marital": ["married", "never"] * 5, "income": [1.5, 2.5] * 5})
    table.write_csv(tmp_path / "people.csv")
    table.write_parquet(tmp_path / "people.parquet")
    return table


def text(ended):
    return " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("NA", "--csv missing=NA"),
        ("married ", "only by spaces"),
        ("Married", "only by upper and lower case"),
        ("maried", "only by one letter"),
    ],
)
@pytest.mark.parametrize("command", ["privatize", "release"])
def test_a_wrong_answer_names_the_column_and_the_way_out(run, tmp_path, command, cell, words):
    (tmp_path / "bad.csv").write_text(f"marital\nmarried\nnever\n{cell}\n")
    ask = ASK if command == "privatize" else ("--histogram", *ASK[:-2])
    refused = text(run(command, "bad.csv", *ask, code=3))
    assert "Column 'marital': values must be among the declared labels." in refused
    assert words in refused
    assert "maried" not in refused
    assert "Married" not in refused


def test_the_way_out_leads_out(run, tmp_path):
    (tmp_path / "bad.csv").write_text("marital\nmarried\nnever\nNA\n")
    refused = text(run("privatize", "bad.csv", *ASK, "--csv", "missing=NA", code=3))
    assert "Column 'marital': values contain missing entries" in refused
    assert "--missing drop" in refused
    assert "2 reports" in run("privatize", "bad.csv", *ASK, "--csv", "missing=NA", "--missing", "drop").out


@pytest.mark.parametrize("command", ["privatize", "release"])
def test_a_decimal_comma_is_told_and_not_shown(run, tmp_path, command):
    (tmp_path / "bad.csv").write_text("income;x\n1.5;1\n77,25;1\n")
    more = ("-o", "r.parquet", "income=0..100") if command == "privatize" else ("--mean", "income=0..100")
    refused = text(run(command, "bad.csv", *more, "-e", 1, "--csv", "delimiter=;", code=3))
    assert "Column 'income': values must be numbers. Some have a comma" in refused
    assert "77" not in refused


def test_one_answer_is_one_report(run, tmp_path):
    (tmp_path / "one.csv").write_text("marital\nmarried\n")
    told = run("privatize", "one.csv", *ASK).out
    assert told.startswith("1 report written to r.parquet\n")
    shown = run("estimate", "r.parquet").out
    assert "from 1 report" in shown
    assert "1 reports" not in told + shown


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_that_is_nearly_there_is_suggested(run, people, kind):
    for name in ("maritall", "marita", "martial", "Marital"):
        refused = text(run("privatize", f"people.{kind}", f"{name}={VALUES}", *ASK[1:], code=3))
        assert f"The table must have a column {name!r}." in refused
        assert "Did you mean 'marital'?" in refused


def test_a_cell_of_a_file_without_names_is_not_taken_for_a_name(run, tmp_path):
    """The first line may be somebody's: a cell that is not nearly the name is not shown."""
    (tmp_path / "bare.csv").write_text("unvaccinated,12\nvaccinated,13\n")
    refused = text(run("privatize", "bare.csv", f"vaccinated={VALUES}", *ASK[1:], code=3))
    assert "unvaccinated" not in refused


@pytest.mark.parametrize(
    ("command", "suggested", "code"),
    [
        (("estimate", "r.parquet", "--attribute", "maritl"), "marital", 2),
        (("data", "adlut"), "adult", 2),
        (("data", "adult", "-c", "martial-status", "-o", "x.csv"), "marital-status", 2),
        (("study", "run", "varaince"), "variance", 2),
        (("choose", "--k", 4, "-e", 1, "--criterion", "rares"), "rare", 2),
        (("audit", "-e", 1, "--method", "GRRR"), "GRR", 2),
        (("privatize", "people.csv", *ASK[:-1], "q.parquet", "--method", "OEU"), "OUE", 2),
        (("privatize", "people.csv", *ASK[:-1], "q.parquet", "--missing", "dorp"), "drop", 2),
        (("plan", "-e", 1, "a=b,c", "d=e,f", "--method", "SMP[GRRR]"), "GRR", 2),
        (("plan", "-e", 1, "--data", "people.csv", "maritall=?"), "marital", 3),
    ],
    ids=lambda part: "-".join(map(str, part)) if isinstance(part, tuple) else None,
)
def test_a_name_that_is_nearly_known_is_suggested(run, people, command, suggested, code):
    run("privatize", "people.csv", *ASK)
    assert f"Did you mean {suggested!r}?" in text(run(*command, code=code))


def test_a_name_that_is_far_from_all_known_ones_gets_no_suggestion(run, people):
    assert "Did you mean" not in text(run("data", "zebra", code=2))
    assert "Did you mean" not in text(run("privatize", "people.parquet", f"zebra={VALUES}", *ASK[1:], code=3))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda people: bruit.Plan({"maritall": ["married", "never"]}, 1.0).privatize(people),
        lambda people: bruit.releases.release(people, bruit.releases.Mean("incone", bounds=(0, 9), epsilon=1.0)),
        lambda people: engines.fold(people, len, columns=["maritall"]),
        lambda people: datasets.load("adult")["marital-statuss"],
        lambda people: bruit.Plan({"a": ["b", "c"]}, 1.0, "GRX"),
        lambda people: bruit.releases.Mean("income", bounds=(0, 9), epsilom=1.0),
        lambda people: bruit.Plan({"a": ["b", "c"], "d": ["e", "f"]}, 1.0, "SMP[OUX]"),
    ],
)
def test_the_library_suggests_too(people, wrong):
    with pytest.raises(BruitError, match="Did you mean '"):
        wrong(people)


def test_a_lazy_frame_is_collected(people):
    plan = bruit.Plan({"marital": ["married", "never"]}, 5.0)
    assert len(plan.privatize(people.lazy())["marital"]) == 10
    assert bruit.releases.release(people.lazy(), bruit.releases.Count(epsilon=5.0), rng=1).value == pytest.approx(
        10, abs=20
    )
    assert bruit.Schema({"income": bruit.Grid(0, 9)}).encode(people.lazy())["income"].size == 10
    (batch,) = engines.batches([people.lazy().filter(pl.col("income") > 2)])
    assert len(batch["income"]) == 5


def test_a_lazy_frame_that_cannot_be_collected_is_an_error_without_its_data(people):
    def fails(_):
        raise ValueError("s3cr3t")

    lazy = people.lazy().with_columns(pl.col("income").map_elements(fails, return_dtype=pl.Float64))
    with pytest.raises(BruitError, match="lazy frame") as caught:
        list(engines.batches(lazy))
    assert "s3cr3t" not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ledger", "my.ledger"), "No such command 'my.ledger'. Did you mean bruit ledger show my.ledger?"),
        (("choose", "--k", 4), "Missing option '--epsilon' / '-e'. The most that a person's reports may tell."),
        (("limits", "p.csv", "--persn", "patient", "-e", 1), "No such option: --persn (Possible options: --person)"),
        (("limits", "p.csv", "--zebra", "patient", "-e", 1), "No such option: --zebra"),
    ],
)
def test_an_error_about_the_words_of_a_command_says_what_was_probably_meant(run, arguments, words):
    refused = text(run(*arguments, code=2))
    assert refused.endswith(f"Error: {words}")


@pytest.mark.parametrize("command", [("limits", "--person", "patiant"), ("release", "--mean", "patiant=0..9")])
def test_nothing_is_said_about_books_when_the_work_fails(run, tmp_path, command):
    (tmp_path / "p.csv").write_text("patient\n1\n2\n")
    name, *options = command
    refused = text(run(name, "p.csv", *options, "-e", 1, code=3))
    assert "must have a column 'patiant'. Did you mean 'patient'?" in refused
    assert "booked" not in refused
    options[-1] = options[-1].replace("patiant", "patient")
    assert "nothing is booked" in text(run(name, "p.csv", *options, "-e", 1))
