"""The commands of studies: list, run and report."""

import json
import re
from pathlib import Path

import pytest

import bruit_studies
from bruit.tables import typeset
from bruit_studies import all_studies, recorded


@pytest.mark.audit
def test_the_list_for_a_program_is_a_list(run):
    found = run("study", "list", "--json").json()
    assert isinstance(found, list)
    assert [one["name"] for one in found][:2] == ["warner", "krr"]
    assert found[0]["claims"][0] == "warner-unbiased"


def test_the_list_shows_the_question_of_each(run):
    assert "unbiased" in run("study", "list").out


@pytest.mark.audit
def test_a_run_tells_its_verdicts_and_a_report_makes_the_page(run, tmp_path):
    ended = run("study", "run", "variance", "--workers", "0")
    assert "confirmed" in ended.out
    assert "bruit study report" in ended.err
    told = run("study", "report", "--figures", "pictures")
    assert told.out.startswith("10 claims: ")
    assert "<svg" in (tmp_path / "bruit-studies" / "report.html").read_text()
    assert (tmp_path / "pictures" / "variance-surface.png").exists()
    assert (tmp_path / "pictures" / "variance-surface.svg").exists()
    run("study", "report", "--out", "claims.md")
    assert (tmp_path / "claims.md").read_text().startswith("<!-- Written by")
    again = run("study", "run", "variance", "--workers", "0", "--json").json()
    assert {row["study"] for row in again} == {"variance"}
    claim = run("study", "show", "oue-minimises").out
    assert "oue-minimises: " in claim
    assert "claimed in: " in claim
    assert "bruit study run" not in claim
    assert run("study", "show", "variance", "--json").json() == again


def test_a_claim_is_shown_with_its_place_and_how_it_is_judged(run):
    told = run("study", "show", "warner-ln3").out
    assert "warner-ln3: The survey with two fair coins is ln(3)-LDP." in told
    assert "claimed in: LDP slides" in told
    assert "bruit study run warner" in told
    (facts,) = run("study", "show", "warner-ln3", "--json").json()
    assert (facts["id"], facts["study"]) == ("warner-ln3", "warner")
    assert "Did you mean 'krr-unbiased'?" in run("study", "show", "krr-unbaised", code=2).err


def test_a_verdict_that_is_recorded_is_shown_before_anything_is_run(run):
    told = run("study", "show", "attack").out
    assert "confirmed: All 30 rates of XGBoost" in told
    assert "Not run here: verdicts are from recorded results alone (XGBoost 3.2.0" in told
    assert "bruit study run attack" in told  # the other claims have none
    one = run("study", "show", "attack-published").out
    assert "confirmed: " in one
    assert "bruit study run" not in one
    published, inferred = (
        run("study", "show", name, "--json").json()[0] for name in ("attack-published", "attack-inferred")
    )
    assert published["verdict"] == "confirmed"
    assert "verdict" not in inferred
    assert "recorded" not in run("study", "show", "krr").out


def test_recorded_rows_alone_have_the_verdicts_of_the_page_of_claims():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "claims.md").read_text(encoding="utf-8")
    cells = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    verdicts = {_letters(row[0]): row[2].strip("*") for row in cells if len(row) > 3}
    judged = 0
    for study in all_studies():
        rows = recorded.read(study.name)
        for claim in study.claims if rows is not None else ():
            kind, stated = claim.verdict(rows).kind, verdicts[_letters(typeset(claim.statement))]
            assert kind in ("not judged", stated), claim.id
            judged += kind == stated
    assert judged > 20


def _letters(text):
    return re.sub(r"[\W_]", "", text)


@pytest.mark.audit
def test_an_export_has_every_figure_in_three_forms_and_every_table_for_latex(run, tmp_path):
    run("study", "run", "variance", "--workers", "0")
    run("study", "report", "--export", "paper")
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    assert {f"variance-surface{ending}" for ending in (".svg", ".png", ".pdf")} <= names
    assert {"variance.tex", "variance.csv"} <= names
    assert (tmp_path / "paper" / "variance-surface.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "paper" / "variance.tex").read_text().startswith(r"\begin{tabular}{")


@pytest.mark.audit
def test_a_report_after_one_study_shows_that_study_and_names_the_others_once(run, tmp_path):
    run("study", "run", "variance", "--workers", "0")
    told = run("study", "report")
    assert told.out.splitlines()[0].startswith("10 claims: ")
    assert f"Not run yet: {len(all_studies()) - 1} studies" in told.out
    assert len(told.out.splitlines()) < 8
    page = (tmp_path / "bruit-studies" / "report.html").read_text()
    assert page.count('class="claim ') == 10
    assert page.count("central-or-local") == 1
    only = run("study", "report", "variance", "--json").json()
    assert {row["study"] for row in only} == {"variance"}
    assert "Not run" not in run("study", "report", "variance").out
    assert "bruit study run krr makes them" in run("study", "report", "krr", code=2).err


def test_names_or_all_must_be_given_and_not_both(run):
    assert "--all" in run("study", "run", code=2).err
    assert "--all" in run("study", "run", "warner", "--all", code=2).err


def test_an_unknown_study_is_a_mistake_of_usage(run):
    assert "'warner'" in run("study", "run", "nothing", code=2).err


def test_a_report_of_nothing_says_how_to_make_results(run):
    assert "bruit study run --all" in run("study", "report", code=2).err


def test_a_bad_seed_or_ending_is_refused_before_any_work(run, tmp_path):
    run("study", "run", "warner", "--seed", "-1", code=2)
    run("study", "report", "--out", "page.pdf", code=2)
    assert not (tmp_path / "bruit-studies").exists()


@pytest.mark.audit
def test_results_of_another_seed_end_with_the_code_for_files(run):
    run("study", "run", "variance", "--workers", "0")
    assert "--restart" in run("study", "run", "variance", "--workers", "0", "--seed", "1", code=4).err


@pytest.mark.audit
def test_a_failing_study_ends_with_its_own_code_and_the_others_are_run(run, monkeypatch):
    good = bruit_studies.find("variance")
    bad = bruit_studies.Study(
        name="bad", title="Bad", question="?", method=".", trial=_fails, quick=[bruit_studies.Block({"x": [1]})]
    )
    monkeypatch.setattr(bruit_studies, "all_studies", lambda: (bad, good))
    ended = run("study", "run", "--all", "--workers", "0", "--json", code=1)
    assert "x=1, #0: ZeroDivisionError" in ended.err
    assert {row["study"] for row in json.loads(ended.out)} == {"variance"}


def test_a_defect_of_a_study_is_told_with_its_place_and_without_its_words(run, monkeypatch):
    def fail():
        raise KeyError("s3cr3t")

    monkeypatch.setattr(bruit_studies, "all_studies", fail)
    ended = run("study", "list", code=70)
    assert re.search(r"KeyError in bruit_studies/cli/study\.py, line \d+", " ".join(ended.err.split()))
    assert "s3cr3t" not in ended.err


def _fails(*, x, rng):
    return {"y": x / 0}
