"""Surveys that ask for tables of answers: the cells that a page sends, results with tables, and their estimates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.collector import open_store
from bruit.collector.alarm import deviations
from bruit.collector.export import export
from bruit.collector.intake import _Waiting, commit
from bruit.collector.results import results
from bruit.collector.results_page import page

from ..surveys import TABLES

#: Enough people for the two to be seen to go together.
SETTINGS = 'epsilon = 3.0\npeople = 300\nshown_from = 10\nmethod = "TAB[ADP]"\n'
SURVEY = TABLES.replace('epsilon = 2.0\nmethod = "TAB[GRR]"\n', SETTINGS)


@pytest.fixture
def answered(tmp_path, opened):
    """A survey of which the two answers go together, and reports to it."""
    path = tmp_path / "habits.toml"
    path.write_text(SURVEY, encoding="utf-8")
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, path, "habits")
    people = [{"smokes": "Yes", "sport": "never"}, {"smokes": "No", "sport": "often"}]
    bodies = [open_survey.survey.answer(people[number % 2]) for number in range(300)]
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
    yield store, open_survey, bodies
    store.disconnect()


def test_results_have_the_table_that_bruit_estimate_gives(answered, tmp_path, monkeypatch) -> None:
    store, open_survey, bodies = answered
    shown = results(store, open_survey)
    (table,) = shown.crossed
    plan = open_survey.survey.plan
    columns = [open_survey.survey.parse(body).columns for body in bodies]
    direct = plan.estimate(plan.tally({name: [row[name] for row in columns] for name in plan.form}))
    assert table.frequency.tobytes() == direct.table("smokes", "sport").frequency.tobytes()
    assert shown.deviations == ()
    export(shown, tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    command = ["estimate", "tally.json", "--plan", "plan.json", "--table", "smokes,sport", "--json"]
    said = CliRunner().invoke(app, command)
    assert said.exit_code == 0, said.output
    document = json.loads(said.stdout)
    cells = [row["frequency"] for row in document["cells"]]
    own = json.loads(Path("results.json").read_text())["rows"]
    assert [row["estimate"] for row in own if row["attribute"] == "smokes × sport"] == cells
    listed = CliRunner().invoke(app, ["survey", "results", "habits", "--store", "../surveys.sqlite"])
    assert "smokes" in listed.stdout
    assert "sport" in listed.stdout


def test_the_page_of_results_has_cells_with_intervals_and_says_whether_answers_go_together(answered) -> None:
    store, open_survey, _ = answered
    html = page(results(store, open_survey)).decode()
    assert "“Do you smoke?” and “How often do you do sport?” together" in html
    assert "The two have something to do with each other" in html
    assert html.count('<span class="soft">') == 6


def test_tables_with_few_answers_are_not_shown(answered) -> None:
    store, open_survey, _ = answered
    assert results(store, open_survey).crossed
    object.__setattr__(open_survey.survey, "shown_from", 301)
    assert results(store, open_survey).crossed == ()


def test_forged_reports_on_tables_raise_the_alarm(answered) -> None:
    _, open_survey, _ = answered
    plan = open_survey.survey.plan
    body = open_survey.survey.answer({"smokes": "Yes", "sport": "never"})
    columns = open_survey.survey.parse(body).columns
    forged = plan.tally({name: [text] * 400 for name, text in columns.items()})
    assert deviations(plan, [forged])


def test_the_check_and_the_page_speak_of_pairs(answered) -> None:
    _, open_survey, _ = answered
    notes = " ".join(open_survey.survey.check().table().notes)
    assert "Each person reports the answers to all questions together, as one randomised combination." in notes
    data = json.loads(open_survey.survey.page().decode().split('id="data">')[1].split("</script>")[0])
    (entry,) = data["attributes"]
    assert [part["size"] for part in entry["parts"]] == [2, 3]
