"""The page holds every claim and study, needs nothing else, and says what is missing."""

import re

import pytest

from bruit.studies import run
from bruit.studies.report import Report


@pytest.fixture
def report(toy, tmp_path):
    run(toy, workers=0, folder=tmp_path / "results")
    return Report.of([toy], tmp_path / "results")


def test_the_page_starts_with_the_claims_then_shows_each_study(report):
    page = report.to_html()
    order = [
        "2 claims",
        "toy-b",
        'id="study-toy"',
        "Does &lt;it&gt; run?",
        "It is run.",
        "<svg",
        "<figcaption>",
        "Verdicts",
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "student project, §1" in page


def test_the_page_loads_nothing_and_runs_no_script(report):
    page = report.to_html()
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)
    assert "default-src 'none'" in page


def test_every_figure_has_a_text_alternative(report):
    page = report.to_html()
    assert page.count("<svg") == page.count('role="img"') == 1
    assert 'aria-label="Errors fall with ε."' in page


def test_claims_are_filtered_by_verdict_without_a_script(report):
    page = report.to_html()
    assert 'id="show-confirmed"' in page
    assert "#claims:has(#show-confirmed:checked) .claim:not(.confirmed)" in page


def test_a_study_that_was_not_run_is_on_the_page_with_its_claims_not_judged(toy, tmp_path):
    empty = Report.of([toy], tmp_path)
    assert empty.counts["not judged"] == 2
    assert "bruit study run toy" in empty.to_html()


def test_a_skipped_part_is_on_the_page_with_its_reason(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_SKIPS", "b")
    run(toy, workers=0, folder=tmp_path)
    page = Report.of([toy], tmp_path).to_html()
    assert "12 trials were skipped: The file of b is not here." in page


def test_the_markdown_has_a_row_per_claim_with_its_place(report, tmp_path):
    report.write(tmp_path / "claims.md")
    text = (tmp_path / "claims.md").read_text()
    assert "| b is good. | student project, §1 | **confirmed** | It is. |" in text
    assert "| a is good. | student project, §2 | **refuted** | It is not. |" in text


def test_the_claims_for_a_program_carry_their_figures(report):
    rows = report.to_list()
    assert [row["verdict"] for row in rows] == ["confirmed", "refuted"]
    assert set(rows[0]["figures"]) == {"mean"}
