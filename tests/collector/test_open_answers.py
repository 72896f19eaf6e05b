"""Results of an open question: certified answers with intervals, and nothing of the others, on page and in files."""

from __future__ import annotations

import csv
import io
import random
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.collection import OpenQuestion
from bruit.collector import open_store
from bruit.collector import results as results_module
from bruit.collector.export import export
from bruit.collector.results import results
from bruit.collector.results_page import pages
from bruit.collector.store import WHOLE
from bruit.errors import FormatError

from ..surveys import OPEN
from .test_report_counters import send

TEXTS = ["noise"] * 45 + ["Homework"] * 30 + ["bus"] * 15 + [f"{letter}qz" for letter in "bcdfgklpvw"]


@pytest.fixture
def keeper(tmp_path):
    store = open_store(tmp_path / "surveys.sqlite")
    yield store
    store.disconnect()


@pytest.fixture
def school(keeper, opened, tmp_path):
    path = tmp_path / "school.toml"
    path.write_text(OPEN, encoding="utf-8")
    return opened(keeper, path, "school")


def fill(store, open_survey, number, texts=tuple(TEXTS)):
    """Reports of so many people, that are the same in every run."""
    generator = random.Random(5)
    codes = [open_survey.survey.plan.schema["problem"].domain.code(generator.choice(texts)) for _ in range(number)]
    words = iter(lambda: generator.getrandbits(64), None)
    bodies = []
    for code in codes:
        columns = open_survey.survey.card.sample_codes([code], words)
        report = open_survey.survey.parse(open_survey.survey.answer({"problem": "x"}))
        bodies.append(open_survey.survey.body.fill(report._replace(columns=columns)))
    for start in range(0, number, 500):
        send(store, open_survey, *bodies[start : start + 500])


def said(page: bytes) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page.decode().partition("<body")[2]))


def test_certified_answers_are_shown_and_no_others(keeper, school) -> None:
    fill(keeper, school, 700)
    shown = results(keeper, school)
    (question,) = shown.rounds[1]
    assert question.answer.labels == ("noi…", "hom…", "bus…")
    ends = question.answer.interval(0.999)
    assert (ends[:, 0] < [0.45, 0.3, 0.15]).all()
    assert (ends[:, 1] > [0.45, 0.3, 0.15]).all()
    page = pages(shown)
    assert [*page] == ["en", "fr"]
    assert "Certified answers from 700 reports. What is not certified is not shown." in said(page["en"])
    assert "The collector keeps the hints until the survey is deleted" in said(page["en"])
    assert "forgot the reports" not in said(page["en"])
    for hidden in ("bqz", "cqz", "wqz"):
        assert hidden not in page["en"].decode()


def test_two_certified_answers_are_both_shown(keeper, school) -> None:
    """Of two answers of a list one is the rest of the other; of two certified ones it is not."""
    fill(keeper, school, 600, ("noise", "bus"))
    shown = results(keeper, school)
    assert len(shown.rounds[1][0].answer.labels) == 2
    page = said(pages(shown)["en"])
    assert "noi… " in page
    assert "bus… " in page


def test_nothing_is_shown_before_the_first_step(keeper, school) -> None:
    fill(keeper, school, 99)
    shown = results(keeper, school)
    assert shown.rounds == {}
    assert shown.held_back == 99
    assert "Answers so far: 99. Results are shown from 100 answers on." in said(pages(shown)["en"])


def test_where_nothing_is_certified_the_page_says_so(keeper, school) -> None:
    fill(keeper, school, 200, tuple(f"{a}{b}z" for a in "bcdfghjk" for b in "bcdfghjk"))
    shown = results(keeper, school)
    assert shown.rounds[1][0].answer.labels == ()
    assert "No answer is certified, and what is not certified is not shown" in said(pages(shown)["en"])
    assert "Aucune réponse n’est certifiée" in said(pages(shown)["fr"])


def test_reports_are_decoded_once_for_a_step(keeper, school, monkeypatch) -> None:
    decoded = []
    certified = results_module.certified
    monkeypatch.setattr(results_module, "certified", lambda *given: decoded.append(1) or certified(*given))
    fill(keeper, school, 120)
    first = results(keeper, school)
    assert results(keeper, school, first).rounds is first.rounds
    send(keeper, school, *(school.survey.answer({"problem": "noise"}) for _ in range(60)))
    second = results(keeper, school, first)
    assert second.rounds is first.rounds
    assert second.totals.answered == 180
    send(keeper, school, *(school.survey.answer({"problem": "noise"}) for _ in range(60)))
    third = results(keeper, school, second)
    assert third.rounds is not first.rounds
    assert len(decoded) == 2


def test_files_have_what_is_shown_and_the_reports_it_rests_on(keeper, school, tmp_path) -> None:
    fill(keeper, school, 700)
    keeper.close("school", whole=True)
    shown = results(keeper, school)
    names = export(shown, tmp_path / "out")
    assert "plan.json" not in names
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "results.csv").read_text(encoding="utf-8"))))
    assert [row["label"] for row in rows] == ["noi…", "hom…", "bus…"]
    lines = (tmp_path / "out" / "reports.csv").read_text().splitlines()
    assert lines[0] == "problem"
    design = school.survey.plan.answering
    packed = np.frombuffer(bytes.fromhex("".join(lines[1:])), design.form.dtype)
    assert design.estimate(packed).labels == ("noi", "hom", "bus")
    file = tmp_path / "out" / "reports.csv"
    assert OpenQuestion.load(file).estimate(file).labels == ("noi", "hom", "bus")
    assert "“noi…”" in (tmp_path / "out" / "question-problem.en.svg").read_text(encoding="utf-8")


def test_forged_reports_that_support_any_text_raise_an_alarm_and_hide_no_frequent_answer(keeper, school) -> None:
    """An id with no bits in its function puts every text into bucket 0."""
    fill(keeper, school, 300)
    forged = []
    for own in range(500, 600):
        report = school.survey.parse(school.survey.answer({"problem": "x"}))
        columns = {"problem": own.to_bytes(8, "little").hex() + "00"}
        forged.append(school.survey.body.fill(report._replace(columns=columns)))
    send(keeper, school, *forged)
    shown = results(keeper, school)
    (answer,) = shown.forged
    assert 30 < answer.answers.raised <= 100
    assert {"noi…", "hom…"} <= set(shown.rounds[1][0].answer.labels)
    page = said(pages(shown)["en"])
    assert "These reports do not follow the law of the page" in page
    assert f"An answer needs {answer.answers.raised} further reports to be shown." in page
    assert "once in a million" not in page
    assert "There is no test" not in page


def test_honest_reports_raise_no_alarm(keeper, school) -> None:
    """The control."""
    fill(keeper, school, 300)
    shown = results(keeper, school)
    assert shown.forged == []
    assert "do not follow the law" not in said(pages(shown)["en"])


def test_a_hostile_bucket_in_a_store_is_refused(keeper, school) -> None:
    """A store may come from anybody; bruit never writes a bucket that the law has not."""
    fill(keeper, school, 200)
    ((stratum, cell),) = keeper._run("SELECT stratum, cell FROM shown WHERE stratum > 0 LIMIT 1")
    keeper._run("UPDATE shown SET stratum = 511 WHERE stratum = ? AND cell = ?", stratum, cell)
    with pytest.raises(FormatError, match="The store is damaged"):
        results(keeper, school)


def test_fewer_answers_than_are_shown_are_refused(keeper, school) -> None:
    fill(keeper, school, 200)
    keeper._run("UPDATE shown SET count = count - 100 WHERE stratum = ?", WHOLE)
    keeper._run("UPDATE tallies SET count = count - 100 WHERE stratum = ?", WHOLE)
    with pytest.raises(FormatError, match="The store is damaged"):
        results(keeper, school)


def test_what_cannot_be_read_is_not_closed(keeper, school, tmp_path) -> None:
    fill(keeper, school, 200)
    keeper._run("DELETE FROM shown WHERE cell IN (SELECT cell FROM shown WHERE stratum > 0 LIMIT 1)")
    keeper.disconnect()
    words = ["survey", "close", "school", "--no-all", "--store", str(tmp_path / "surveys.sqlite")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 4
    assert "damaged" in result.output
    assert not keeper.survey("school").closed
