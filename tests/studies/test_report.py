"""The page holds every claim and study, needs nothing else, and says what is missing."""

import dataclasses
import re

import pytest

from bruit_studies import DOCUMENTS, REFERENCES, all_studies, run
from bruit_studies.report import StudyReport


@pytest.fixture
def report(toy, tmp_path):
    run(toy, workers=0, folder=tmp_path / "results")
    return StudyReport.of([toy], tmp_path / "results")


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
    assert page.index("student project: ") < page.index(">§1<") < page.index(">§2<")


def test_claims_stand_by_document_and_then_by_slide(toy, tmp_path):
    last = [claim for study in all_studies() for claim in study.claims if claim.document != "student project"][:2]
    moved = dataclasses.replace(toy.claims[0], document=last[0].document, id="moved")
    mixed = dataclasses.replace(toy, claims=[toy.claims[0], moved, toy.claims[1]])
    run(mixed, workers=0, folder=tmp_path)
    report = StudyReport.of([mixed], tmp_path)
    order = [judged.claim.id for _, own in report.by_document for judged in own]
    documents = [name for name, _ in report.by_document]
    assert documents == [name for name in DOCUMENTS if name in documents]
    assert sorted(order) == ["moved", "toy-a", "toy-b"]
    assert abs(order.index("toy-a") - order.index("toy-b")) == 1
    page = report.to_html()
    assert page.count('class="document"') == 2
    assert page.index(DOCUMENTS[documents[0]].split(",")[0]) < page.index(f'id="{order[0]}"')


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


def test_studies_that_were_not_run_are_one_line_with_the_command_that_runs_them(report, toy):
    others = [dataclasses.replace(toy, name=f"other-{i}") for i in range(11)]
    both = StudyReport([toy, *others], report.results)
    names = " ".join(study.name for study in others)
    line = f"Not run yet: 11 studies with 22 claims. To run: bruit study run {names}"
    assert both.not_run == line
    for page, rows in ((both.to_html(), 'class="claim '), (both.to_markdown(), "student project, §")):
        assert line in page
        assert page.count(rows) == 2
        assert page.count("other-3") == 1
    assert report.not_run == ""
    assert "Not run" not in report.to_html() + report.to_markdown()


def test_a_page_of_nothing_says_how_to_make_results(toy, tmp_path):
    empty = StudyReport.of([toy], tmp_path)
    assert (empty.judged, empty.summary) == ([], "0 claims")
    assert "bruit study run toy" in empty.to_html()
    assert "no study was run yet" in empty.to_markdown()


def test_a_skipped_part_is_on_the_page_with_its_reason(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_SKIPS", "b")
    run(toy, workers=0, folder=tmp_path)
    page = StudyReport.of([toy], tmp_path).to_html()
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


def test_the_documents_and_what_they_build_on_stand_on_the_page_with_title_and_year(report):
    for page in (report.to_html(), report.to_markdown()):
        assert all(text.replace("'", "&#39;") in page or text in page for text in REFERENCES)
        assert "student project" in page
    assert all(re.search(r"\b(19|20)\d\d\b", text) for text in (*REFERENCES, *DOCUMENTS.values()))
