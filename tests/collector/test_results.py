"""Results are the plan's own estimates as of the last step; their page and files say the same."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path

import pytest

import bruit
from bruit.cli import estimate as estimate_command
from bruit.collector import links, open_store
from bruit.collector.bars import places
from bruit.collector.export import export
from bruit.collector.intake import _Waiting, commit
from bruit.collector.open_survey import OpenSurvey, link_hash
from bruit.collector.results import results
from bruit.collector.results_page import page
from bruit.collector.wording import TEXTS
from bruit.errors import DataError, ParameterError
from bruit.estimation import Tally
from bruit.survey import PersonalLink

from ..surveys import ALCOHOL

EVERYTHING = """
languages = ["en", "fr"]
title.en = "Health <script>alert(1)</script>"
title.fr = "Santé"
epsilon = 3.0
people = 300
shown_from = 20
[[question]]
name = "smokes"
text.en = "Do you \\"smoke\\" & drink? \U0001f6ac"
text.fr = "Fumez-vous ?"
kind = "yes-no"
[[question]]
name = "sports"
text.en = "Which sports?"
text.fr = "Quels sports ?"
kind = "several"
labels.en = ["football", "<b>chess</b>"]
labels.fr = ["foot", "échecs"]
[[question]]
name = "hours"
text.en = "How many hours do you sleep?"
text.fr = "Combien d'heures dormez-vous ?"
kind = "number"
from = 0
to = 12
[[question]]
name = "town"
text.en = "Which town?"
text.fr = "Quelle ville ?"
kind = "choice"
labels.en = ["Vesoul", "\u05d7\u05d9\u05e4\u05d4"]
labels.fr = ["Vesoul", "Haïfa"]
clear = true
"""


@pytest.fixture
def health(tmp_path: Path) -> Path:
    """A survey with a question of every kind, and labels that are hostile."""
    path = tmp_path / "everything.toml"
    path.write_text(EVERYTHING, encoding="utf-8")
    return path


def fill(store, open_survey: OpenSurvey, number: int) -> list[bytes]:
    bodies = []
    for person in range(number):
        answers = {
            "smokes": "Yes" if person % 4 == 0 else "No",
            "sports": ["football"] if person % 2 else [],
            "hours": str(person % 13),
            "town": open_survey.survey.public["town"][person % 3 == 0],
        }
        bodies.append(open_survey.survey.answer(answers))
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
    return bodies


@pytest.fixture
def filled(tmp_path, opened, health):
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, health, "health")
    bodies = fill(store, open_survey, 960)
    yield store, open_survey, bodies
    store.disconnect()


def test_estimates_are_those_of_the_plan_for_all_and_for_groups(filled) -> None:
    store, open_survey, bodies = filled
    plan = open_survey.survey.plan
    shown = results(store, open_survey)
    reports = [open_survey.survey.parse(body) for body in bodies]

    def direct(some):
        return plan.estimate(plan.tally({name: [report.columns[name] for report in some] for name in plan.form}))

    whole = direct(reports)
    for question in shown.rounds[1]:
        assert question.answer.table().to_json() == whole[question.name].table().to_json()
        for group in question.groups:
            place = open_survey.survey.public["town"].index(group.label)
            some = [report for report in reports if report.public == (place,)]
            assert group.n == direct(some)[question.name].n
            assert group.answer.table().to_json() == direct(some)[question.name].table().to_json()
    assert shown.deviations == ()
    assert shown.shown == 960


def test_small_groups_and_few_answers_are_not_shown(tmp_path, opened, health) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, health, "health")
    fill(store, open_survey, 19)
    assert results(store, open_survey).rounds == {}
    assert b"Results are shown from 20 answers on" in page(results(store, open_survey))
    with pytest.raises(DataError, match="20"):
        export(results(store, open_survey), tmp_path / "out")
    fill(store, open_survey, 1)
    for question in results(store, open_survey).rounds[1]:
        assert (question.n, question.answer, question.groups, question.hidden) == (None, None, (), "few")
    store.disconnect()


def test_the_page_leads_with_sentences_and_says_which_answers_are_waiting(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)

    def send(number: int) -> str:
        bodies = [open_survey.survey.answer({"drinks": "No", "class": "A"}) for _ in range(number)]
        commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
        return page(results(store, open_survey)).decode()

    text = send(10)
    assert "<b>10</b> answers counted" in text
    assert "estimated from" not in text
    assert "reported on this" not in text
    assert "sent again" not in text
    assert "waiting" not in text
    (estimate,) = [question.answer for question in results(store, open_survey).rounds[1]]
    sentence = re.search(r'<p class="lead">(.*?)</p>', text)[1]
    assert sentence.startswith(("Of 100 people like these, about", "Too few answers to tell: of 100 people like these"))
    outside = bool((estimate.interval()[:, 0] < 0).any() | (estimate.interval()[:, 1] > 1).any())
    assert ("V14Z" in text) == outside
    assert ("is no mistake: with 10 answers, the noise has not averaged out" in text) == outside
    assert text.index('<svg class="bar"') < text.index("The bar is the range of plausible values")
    assert "forged answers" not in text  # nothing is to be said
    assert "1 more answer is waiting: results move in steps of 10, so that nobody’s answer" in send(1)
    text = send(4)
    assert "5 more answers are waiting: results move in steps of 10" in text
    assert "bruit survey close" not in text
    store.close("alcohol")
    text = send(0)
    assert "waiting" not in text
    assert "5 answers came after the last step and are left out, to protect the people who sent them." in text
    assert "To include all answers anyway: bruit survey close alcohol --all." in text
    public = page(results(store, open_survey), public=True).decode()
    assert "5 answers came after the last step" in public
    assert "bruit survey close" not in public
    store.close("alcohol", whole=True)
    assert "estimated from" not in send(0)
    store.disconnect()


def test_bars_that_are_cut_have_an_arrow_at_that_end_and_others_have_none() -> None:
    below, above, inside = places([(0.1, -0.2, 0.4), (1.1, 0.9, 1.3), (0.5, 0.0, 1.0)], 0.0, 1.0)
    assert below == (0, 400, 99, True, False)
    assert above == (900, 100, 992, False, True)
    assert inside == (0, 1000, 496, False, False)


def test_what_one_person_sent_follows_neither_from_the_page_nor_from_the_export(tmp_path, opened, survey_file) -> None:
    survey_file.write_text(survey_file.read_text().replace('["A", "B"]', '["A", "B", "C"]'))
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    bodies = [open_survey.survey.answer({"drinks": "Yes", "class": label}) for label in "A" * 12 + "B" * 17 + "C"]
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
    shown = results(store, open_survey)
    (question,) = shown.rounds[1]
    assert [(group.label, group.n, group.hidden) for group in question.groups] == [
        ("A", None, "follows"), ("B", 17, None), ("C", None, "few"),
    ]  # fmt: skip
    assert question.answer.n == 30
    text = page(shown).decode()
    assert "Not shown, because what a smaller group sent would follow by subtraction: A." in text
    assert "Too few answers to show: C." in text
    export(shown, tmp_path / "out")
    exported = json.loads((tmp_path / "out" / "strata.json").read_text())
    assert [part["tally"]["n"] for part in exported["strata"]] == [17]
    assert exported["answers_in_strata_not_shown"] == {"1": 13}
    rows = csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines())
    assert {row["member"] for row in rows} == {"", "B"}
    store.disconnect()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_page_says_how_answers_came(language, tmp_path, opened) -> None:
    """A collector forgets reports; codes stay where they were handed in."""
    store = open_store(tmp_path / "surveys.sqlite")
    said = {"en": ("The collector kept", "The codes themselves"), "fr": ("Le collecteur a", "Les codes eux-mêmes")}
    for channel, own in zip(("collector", "codes"), said[language], strict=True):
        path = tmp_path / f"{channel}.toml"
        path.write_text(f'languages = ["{language}"]\nchannel = "{channel}"\n{ALCOHOL}', encoding="utf-8")
        text = page(results(store, opened(store, path, channel))).decode()
        assert [sentence in text for sentence in said[language]] == [sentence == own for sentence in said[language]]
    store.disconnect()


def test_the_page_shows_texts_as_texts_whatever_is_in_them(filled) -> None:
    store, open_survey, _ = filled
    text = page(results(store, open_survey)).decode()
    assert re.findall("<script[^>]*>", text) == ['<script type="application/json" id="data">', '<script type="module">']
    assert "<b>chess" not in text
    assert html.escape("Health <script>alert(1)</script>") in text
    assert "\U0001f6ac" in text
    assert "\u05d7\u05d9\u05e4\u05d4" in text
    assert re.search("\u2068\u05d7\u05d9\u05e4\u05d4\u2069: [0-9]+ answers", text)  # the number stays behind its group
    markup = text.partition('<script type="application/json"')[0]
    assert not re.search(r"\son\w+=|javascript:|style=", markup)
    assert markup.count("<svg") > 10


def test_the_page_is_in_the_first_language_of_the_survey(tmp_path, opened, health) -> None:
    health.write_text(health.read_text().replace('["en", "fr"]', '["fr", "en"]'))
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, health, "sante")
    answers = {"smokes": "Oui", "sports": ["foot"], "hours": "8", "town": "Vesoul"}
    bodies = [open_survey.survey.answer(answers) for _ in range(60)]
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
    text = page(results(store, open_survey)).decode()
    assert '<html lang="fr">' in text
    shown, hidden = re.findall(r"<main.*?</main>", text, re.DOTALL)
    assert shown.startswith('<main lang="fr">')
    assert "réponses comptées" in shown
    assert "Fumez-vous" in shown
    assert "answers counted" not in shown
    assert hidden.startswith('<main lang="en" hidden>')
    assert "answers counted" in hidden
    store.disconnect()


def test_both_languages_have_the_same_texts_with_the_same_gaps() -> None:
    english, french = TEXTS["en"], TEXTS["fr"]
    gaps = re.compile(r"\{\w+\}")
    assert {key: sorted(gaps.findall(text)) for key, text in english.items()} == {
        key: sorted(gaps.findall(text)) for key, text in french.items()
    }


def test_forged_reports_raise_an_alarm_on_the_page(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    honest = open_survey.survey.answer({"drinks": "No", "class": "A"})
    forged = [
        re.sub(rb'"drinks":"."', b'"drinks":"1"', re.sub(rb'"id":"\w{32}"', b'"id":"%032x"' % i, honest))
        for i in range(200)
    ]
    assert set(commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in forged])) == {201}
    shown = results(store, open_survey)
    assert {deviation.label for deviation in shown.deviations} == {"No", "Yes"}
    assert b'role="alert"' in page(shown)
    store.disconnect()


def test_exported_plan_and_tally_give_the_same_estimates_by_bruit_estimate(filled, tmp_path, capsys) -> None:
    store, open_survey, _ = filled
    shown = results(store, open_survey)
    names = export(shown, tmp_path / "out")
    assert [name for name in names if not name.startswith("question-")] == [
        "plan.json", "results.csv", "results.json", "results.parquet", "strata.json", "tally.json",
    ]  # fmt: skip
    estimate_command.estimate([tmp_path / "out" / "tally.json"], plan=tmp_path / "out" / "plan.json", as_json=True)
    printed = json.loads(capsys.readouterr().out)
    for document, question in zip(printed, shown.rounds[1], strict=True):
        if hasattr(question.answer, "frequency"):
            assert [row["frequency"] for row in document["values"]] == question.answer.frequency.tolist()
            assert [row["lower"] for row in document["values"]] == question.answer.interval()[:, 0].tolist()
    plan = bruit.Plan.load(tmp_path / "out" / "plan.json")
    strata = json.loads((tmp_path / "out" / "strata.json").read_text())["strata"]
    parts = [Tally.from_dict(part["tally"]) for part in strata]
    assert parts[0] + parts[1] == Tally.from_json((tmp_path / "out" / "tally.json").read_text())
    assert plan == open_survey.survey.plan
    with pytest.raises(ParameterError, match="--replace"):
        export(shown, tmp_path / "out")
    export(shown, tmp_path / "out", replace=True)


def test_the_exported_tables_are_one_table(filled, tmp_path) -> None:
    from pyarrow import parquet

    store, open_survey, _ = filled
    export(results(store, open_survey), tmp_path / "out")
    text = (tmp_path / "out" / "results.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    columns = parquet.read_table(tmp_path / "out" / "results.parquet").to_pydict()
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(rows) == len(columns["label"]) == len(document["rows"])
    assert [float(row["estimate"]) for row in rows] == columns["estimate"]
    assert {row["member"] for row in rows} == {"", *open_survey.survey.public["town"]}


def test_links_are_random_and_a_sheet_has_a_code_for_each(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file, links=True)
    tokens = links.issue(store, "alcohol", 30)
    assert len(set(tokens)) == 30
    assert all(re.fullmatch(r"[0-9a-z]{18}\.[0-9]{2}", token) for token in tokens)
    held = b"".join(path.read_bytes() for path in tmp_path.glob("surveys.sqlite*"))
    assert link_hash(PersonalLink.parse(tokens[0]).token) in held
    assert PersonalLink.parse(tokens[0]).token.encode() not in held
    sheet = links.slips(open_survey.survey, [f"https://example.org/s/alcohol#{token}" for token in tokens]).decode()
    assert sheet.count("<svg") == 30
    assert all(f"#{token}<" in sheet for token in tokens)
    assert "http://www.w3.org" not in re.sub(r'xmlns="[^"]*"', "", sheet)
    opened(store, survey_file, "open")
    with pytest.raises(ParameterError, match="--links"):
        links.issue(store, "open", 1)
    store.disconnect()
