"""Rounds at the collector: claims, one report of a link in each round, tallies by round, and estimates over rounds."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.collector import Store, open_store
from bruit.collector.demo import running
from bruit.collector.export import export
from bruit.collector.intake import _Waiting, commit
from bruit.collector.links import issue
from bruit.collector.results import results
from bruit.collector.results_page import page, question_files
from bruit.collector.serving import Listening
from bruit.survey import PersonalLink

sys.path.insert(0, str(Path(__file__).parent))
from serving import post

from ..surveys import rounds


@pytest.fixture
def sleep_file(tmp_path: Path) -> Path:
    """A survey in its third round of four."""
    now = datetime.now(UTC).replace(microsecond=0)
    times = [(now + timedelta(days=days)).isoformat() for days in (-15, -8, -1, 6)]
    path = tmp_path / "sleep.toml"
    path.write_text(rounds(times, "shown_from = 4"), encoding="utf-8")
    return path


@pytest.fixture
def open_survey(store: Store, opened, sleep_file: Path):
    return opened(store, sleep_file, "sleep", links=True)


@contextmanager
def taking(store: Store):
    """Within the block, the status of a body that is posted."""
    with running(store, Listening(port=0)) as port:
        yield lambda body: post(port, body, "sleep")


def person(open_survey, number: int):
    return open_survey.survey.draw_memo({"slept": "Yes" if number % 3 else "No", "class": "AB"[number % 2]})


def test_one_device_has_an_epoch_of_a_link_and_other_links_are_none(store, open_survey) -> None:
    (token,) = issue(store, "sleep", 1)
    survey = open_survey.survey
    claim = survey.claim(link=token, epoch=1)
    with taking(store) as status:
        assert [status(claim), status(claim)] == [201, 200]
        assert status(survey.claim(link=token, epoch=1)) == 403  # another device, whose page then draws nothing
        assert status(survey.claim(link=PersonalLink("x" * 18).text, epoch=1)) == 403
        assert status(survey.claim(link=token, epoch=2)) == 201
        assert store.totals("sleep") == (0, 0, 0)
        store.close("sleep")
        assert [status(claim), status(survey.claim(link=token, epoch=2))] == [410, 410]


def test_a_claim_is_granted_again_only_while_nothing_has_come_that_it_was_to_precede(store, open_survey) -> None:
    """A device that lost its memo, or what it drew in a round, learns that its report is known here."""
    tokens = issue(store, "sleep", 2)
    survey, memo = open_survey.survey, person(open_survey, 1)
    claim = survey.claim(link=tokens[0], epoch=1)
    before = {number: survey.claim_round(claim, round=number) for number in (1, 2)}
    with taking(store) as status:
        assert [status(body) for body in (claim, before[1], before[2], claim)] == [201, 200, 200, 200]
        assert status(survey.refresh(memo, link=tokens[1], round=1)) == 201  # somebody else's report changes nothing
        assert [status(body) for body in (claim, before[1])] == [200, 200]
        assert status(survey.refresh(memo, link=tokens[0], round=1)) == 201
        assert [status(body) for body in (claim, before[1], before[2])] == [403, 403, 200]
        assert status(survey.refresh(memo, link=tokens[0], round=2)) == 201
        assert status(before[2]) == 403
        assert status(survey.claim(link=tokens[1], epoch=1)) == 403  # a first claim after a report, too
        assert status(survey.claim(link=tokens[0], epoch=2)) == 201
        assert status(survey.claim_round(survey.claim(link=tokens[0], epoch=2), round=4)) == 422  # not begun
    assert store.totals("sleep")[:2] == (3, 1)


def test_a_link_counts_once_in_each_round_that_has_begun(store, open_survey) -> None:
    (token,) = issue(store, "sleep", 1)
    memo = person(open_survey, 1)
    body = {number: open_survey.survey.refresh(memo, link=token, round=number) for number in (1, 2, 3, 4)}
    with taking(store) as status:
        assert [status(body[number]) for number in (2, 1, 3, 2)] == [201, 201, 201, 200]  # late ones count
        assert status(body[4]) == 422  # not yet
        assert status(open_survey.survey.refresh(memo, link=token, round=2)) == 403  # the same link in the same round
        assert status(body[2].replace(b'"round":"2"', b'"round":"3"')) == 409  # replayed in another round
        assert status(open_survey.survey.refresh(memo, link=PersonalLink("x" * 18).text, round=1)) == 403
    assert store.totals("sleep") == (3, 4, 1)
    tallies = store.tallies("sleep", open_survey.survey.plan.digest, 2, shown=False)
    assert {key: tally.n for key, tally in tallies.items()} == {(1, 1): 1, (1, 2): 1, (1, 3): 1}


def test_a_late_report_does_not_appear_alone_in_its_round(store, open_survey) -> None:
    tokens = issue(store, "sleep", 9)

    def look(first: int, last: int, number: int) -> dict[int, int]:
        bodies = [
            open_survey.survey.refresh(person(open_survey, 1), link=token, round=number) for token in tokens[first:last]
        ]
        commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
        return {
            number: sum(question.n for question in known)
            for number, known in results(store, open_survey).rounds.items()
        }

    assert look(0, 4, 1) == {1: 4}
    assert look(4, 5, 1) == {1: 4}
    assert look(0, 4, 2) == {1: 4, 2: 4}  # the late one stays out although another round advanced
    assert look(5, 8, 1) == {1: 8, 2: 4}
    assert store.totals("sleep") == (12, 0, 0)


def test_of_many_devices_that_claim_at_once_one_has_the_epoch_whatever_else_is_committed_with_it(
    store, open_survey
) -> None:
    tokens = issue(store, "sleep", 2)
    claims = [open_survey.read_claim(open_survey.survey.claim(link=tokens[0], epoch=1)) for _ in range(20)]
    claims += [claims[3], open_survey.read_claim(open_survey.survey.claim(link=tokens[1], epoch=1))]
    memo = person(open_survey, 1)
    reports = [open_survey.read(open_survey.survey.refresh(memo, link=token, round=1)) for token in tokens]
    mixed = [*claims[:10], reports[0], None, *claims[10:], reports[1]]
    outcomes = commit(store, [_Waiting(open_survey, arrival, None) for arrival in mixed])
    by_arrival = dict(zip(map(id, mixed), map(int, outcomes), strict=True))
    won = [place for place in range(20) if by_arrival[id(claims[place])] in (200, 201)]
    assert len(won) == 1
    assert [by_arrival[id(arrival)] for arrival in (claims[-1], *reports)] == [201, 201, 201]
    assert store.totals("sleep") == (2, 1, 0)
    again = commit(store, [_Waiting(open_survey, claims[won[0]], None)])
    assert [int(status) for status in again] == [403]  # its report has come


def test_hostile_bodies_of_rounds_are_refused_and_change_no_tally(store, open_survey) -> None:
    (token,) = issue(store, "sleep", 1)
    body = open_survey.survey.refresh(person(open_survey, 0), link=token, round=1)
    claim = open_survey.survey.claim(link=token, epoch=1)
    forged = [
        body.replace(b'"round":"1"', text)
        for text in (b'"round":"0"', b'"round":"5"', b'"round":"9"', b'"round":"-"', b'"round":1  ')
    ]
    forged += [claim.replace(b'"epoch":"1"', text) for text in (b'"epoch":"0"', b'"epoch":"3"', b'"epoch":"x"')]
    forged += [body[:-2] + b'" ', claim.replace(b'"survey"', b'"SURVEY"'), b"\0" * len(body), claim[::-1]]
    with taking(store) as status:
        assert {status(bad) for bad in forged} == {422}
        assert status(claim.replace(b'"link":"', b'"link":"x')[: len(claim)]) == 422
    assert store.totals("sleep") == (0, len(forged) + 1, 0)
    assert store.tallies("sleep", open_survey.survey.plan.digest, 2, shown=False) == {}


def test_nothing_in_the_store_connects_the_rounds_of_a_link(tmp_path, opened, sleep_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    opened(store, sleep_file, "sleep", links=True)
    tokens = issue(store, "sleep", 3)
    rows = [bytes(row) for (row,) in store._connection.execute("SELECT link FROM links ORDER BY link")]
    assert len(set(rows)) == 3 * (4 + 2)
    kept = (tmp_path / "surveys.sqlite").read_bytes()
    assert not any(token.encode() in kept for token in tokens)
    store.disconnect()


@pytest.fixture
def answered(tmp_path, opened, sleep_file):
    """A store in which people have answered three rounds; a round has too few to be shown."""
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, sleep_file, "sleep", links=True)
    tokens = issue(store, "sleep", 12)
    memos = [person(open_survey, number) for number in range(12)]
    bodies = {
        number: [
            open_survey.survey.refresh(memo, link=token, round=number)
            for memo, token in zip(memos, tokens, strict=True)
        ]
        for number in (1, 2, 3)
    }
    bodies[3] = bodies[3][:3]
    sent = [body for some in bodies.values() for body in some]
    assert {
        int(status) for status in commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in sent])
    } == {201}
    yield store, open_survey, bodies
    store.disconnect()


def test_results_are_by_round_and_over_rounds_and_rounds_with_few_answers_wait(answered) -> None:
    store, open_survey, bodies = answered
    shown = results(store, open_survey)
    plan = open_survey.survey.plan
    assert list(shown.rounds) == [1, 2]
    assert (shown.shown, shown.held_back, shown.links) == (24, 3, (12, 27))
    columns = {n: [open_survey.survey.parse(body).columns["slept"] for body in some] for n, some in bodies.items()}
    tallies = [plan.tally({"slept": columns[number]}) for number in (1, 2)]
    assert [shown.tally(number) for number in (1, 2)] == tallies
    series = plan.panel.series(tallies, [1, 2])["slept"]
    assert shown.series["slept"].frequency.tobytes() == series.frequency.tobytes()
    html = page(shown).decode()
    assert re.findall('<p class="slide when">(.*?)</p>', html) == ["Over 2 rounds", "Round 1", "Round 2"]
    assert {"question-slept-round-1.csv", "question-slept-over-rounds.en.svg"} <= set(question_files(shown))
    for words in ("Over 2 rounds", "Round 2 less round 1", "Round 1</h2>", "personal links", "for all 4 rounds"):
        assert words in html, words
    assert "Round 3" not in html


def test_an_export_over_rounds_is_what_bruit_estimate_says_of_its_tallies(answered, tmp_path, monkeypatch) -> None:
    store, open_survey, _ = answered
    names = export(results(store, open_survey), tmp_path / "out")
    assert {"tally-round-1.json", "tally-round-2.json", "over-rounds.json", "plan.json"} <= set(names)
    monkeypatch.chdir(tmp_path / "out")
    files = ["tally-round-1.json", "tally-round-2.json", "--plan", "plan.json", "--json"]
    said = CliRunner().invoke(app, ["estimate", "--over-rounds", *files])
    assert said.exit_code == 0
    assert json.loads(said.stdout) == json.loads(Path("over-rounds.json").read_text())
    shown = CliRunner().invoke(app, ["survey", "results", "sleep", "--store", "../surveys.sqlite"])
    assert "Round 2 less round 1" in shown.stdout
    assert "12 personal links, for 4 rounds each." in shown.stdout
