"""Open questions on the command line: declared by one option, recognised by the document beside the reports."""

import pytest

from bruit.collection import OpenQuestion
from bruit.domains import OpenText
from bruit.open_answers import HeavyHitters


@pytest.fixture
def answers(tmp_path):
    texts = ("no", "yes", "la vie")
    (tmp_path / "a.csv").write_text("why\n" + "".join(texts[number % 3] + "\n" for number in range(3000)))


@pytest.fixture
def short(tmp_path, answers):
    """Reports of the first two letters, which are decoded at once."""
    question = OpenQuestion("why", HeavyHitters(2.0, domain=OpenText(letters=2)))
    for kind in ("csv", "parquet"):
        question.privatize(tmp_path / "a.csv", to=tmp_path / f"s.{kind}")


def test_an_open_question_is_privatised_with_its_document_and_booked(run, answers, tmp_path):
    shown = run("privatize", "a.csv", "why", "--open-ended", "-e", 2, "-o", "r.csv", "--ledger", "l", "--budget", 3)
    assert "3,000 reports written to r.csv" in shown.out
    assert "guarantee: ε = 2 (local, the whole record changed)" in shown.out
    assert "spent: ε = 2.0 of 3.0" in run("ledger", "show", "l").out
    again = ("privatize", "a.csv", "--plan", "r.csv.plan.json", "-o", "more.parquet")
    assert run(*again, "--json").json()["mechanism"] == "heavy-hitters"
    assert "Budget exceeded" in run(*again, "--force", "--ledger", "l", code=5).err
    assert OpenQuestion.load(tmp_path / "more.parquet") == OpenQuestion("why", HeavyHitters(2.0))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_estimate_knows_an_open_question_by_its_document(run, short, kind):
    text = run("estimate", f"s.{kind}").out
    assert "Frequent answers of why by heavy hitters from 3,000 reports" in text
    assert "an answer of" in text
    result = run("estimate", f"s.{kind}", "--json", "--level", 0.9).json()
    assert {row["label"] for row in result["answers"]} >= {"no", "ye", "la"}
    assert (result["n"], result["refused"], result["level"]) == (3000, 0, 0.9)


def test_estimate_takes_several_files_and_a_document_elsewhere(run, short, tmp_path):
    (tmp_path / "s.csv.plan.json").rename(tmp_path / "p.json")
    result = run("estimate", "s.csv", "s.parquet", "--plan", "p.json", "--json").json()
    assert result["n"] == 6000


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "GRR"), ("--public", "why"), ("--outside", "other"), ("--missing", "category"),
        ("--round", 1), ("--engine", "spark"),
    ],
)  # fmt: skip
def test_options_of_other_questions_are_refused_before_anything_is_written(run, answers, tmp_path, options):
    refused = run("privatize", "a.csv", "why", "--open-ended", "-e", 2, "-o", "r.csv", *options, code=2)
    assert options[0] in refused.err
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize("question", [(), ("why=a,b",), ("why", "who")])
def test_an_open_question_is_one_column_without_a_list(run, answers, question):
    refused = run("privatize", "a.csv", *question, "--open-ended", "-e", 2, "-o", "r.csv", code=2)
    assert "--open-ended takes the name of one column" in refused.err
    assert "--epsilon must be given" in run("privatize", "a.csv", "why", "--open-ended", "-o", "r.csv", code=2).err


@pytest.mark.parametrize(
    "options",
    [
        ("--target", "people"), ("--interval", "wald"), ("--simultaneous",), ("--consistent", "norm-sub"),
        ("--tally", "t.json"), ("--figure", "f.png"), ("--attribute", "why"), ("--table", "a,b"), ("--by", "a"),
        ("--seed", 1), ("--over-rounds",), ("--same-people",), ("--engine", "spark"),
    ],
)  # fmt: skip
def test_options_of_other_estimates_are_refused_in_one_wording(run, short, options):
    refused = run("estimate", "s.csv", *options, code=2).err
    assert f"{options[0]} does not go with an open question: leave it out." in refused


def test_a_damaged_document_is_refused(run, short, tmp_path):
    path = tmp_path / "s.csv.plan.json"
    path.write_text(path.read_text().replace("2.0", "3.0", 1))
    assert "changed or damaged" in run("estimate", "s.csv", code=4).err
