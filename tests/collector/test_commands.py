"""The commands are the life of a survey: open, links, results, export, close, delete, backup, and a demo."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.cli.survey.open import _shown_log
from bruit.collector import demo, open_store
from bruit.collector.intake import _Waiting, commit
from bruit.collector.open_survey import OpenSurvey
from bruit.collector.server import _log_unserved
from bruit.collector.serving import Listening
from bruit.errors import DataError
from bruit.survey import Survey

from ..surveys import ASSIGNED, MANY, OPEN, ROUNDS

sys.path.insert(0, str(Path(__file__).parent))
from serving import post, ready, request


def run(*words: str, code: int = 0) -> str:
    """What a command prints, if it ends as it should."""
    result = CliRunner().invoke(app, ["survey", *words], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def here(tmp_path, monkeypatch, survey_file) -> Path:
    """An empty folder with a survey file."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(number: int) -> None:
    """So many people answer, without a server."""
    store = open_store("surveys.sqlite")
    open_survey = OpenSurvey(store.survey("alcohol"))
    bodies = [open_survey.survey.answer({"drinks": "Yes", "class": "AB"[i % 2]}) for i in range(number)]
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in bodies])
    store.disconnect()


def test_a_file_that_is_opened_twice_is_two_surveys_to_its_reports_and_one_to_its_results(here) -> None:
    """Under two names, or under one after it was deleted: no report is counted where it was not drawn."""
    open_surveys = []
    for name in ("alcohol", "alcohol", "second"):
        if name == "alcohol" and open_surveys:
            run("delete", name, "--yes")
        output = run("open", "alcohol.toml", "--no-serve", "--name", name)
        run("open", "alcohol.toml", "--no-serve", "--name", name)  # again: the same survey
        store = open_store("surveys.sqlite")
        open_surveys.append(OpenSurvey(store.survey(name)))
        store.disconnect()
        assert f"page:     sha256 {sha256(open_surveys[-1].page).hexdigest()}" in output
    identities = {open_survey.survey.identity for open_survey in open_surveys}
    assert len(identities) == 3
    assert (
        len({open_survey.survey.digest for open_survey in open_surveys})
        == len({open_survey.survey.plan.digest for open_survey in open_surveys})
        == 1
    )
    bodies = [open_survey.survey.answer({"drinks": "Yes", "class": "A"}) for open_survey in open_surveys]
    for place, open_survey in enumerate(open_surveys):
        open_survey.read(bodies[place])
        for other in {0, 1, 2} - {place}:
            with pytest.raises(DataError):
                open_survey.read(bodies[other])


def test_a_page_in_a_file_is_that_of_a_survey_in_a_store(here) -> None:
    run("open", "alcohol.toml", "--no-serve", "--name", "class")
    words = ("page", "alcohol.toml", "-o", "page.html", "--force", "--address", "class/report")
    store = ("--store", "surveys.sqlite", "--name")
    keeper = open_store("surveys.sqlite")
    open_survey = OpenSurvey(keeper.survey("class"))
    keeper.disconnect()
    run(*words)
    assert Path("page.html").read_bytes() != open_survey.page
    run(*words, *store, "class")
    assert Path("page.html").read_bytes() == open_survey.page
    assert "There are class." in run(*words, *store, "alcohol", code=2)
    assert "leave --links out" in run(*words, *store, "class", "--links", code=2)
    assert "give --store, too" in run(*words, "--name", "class", code=2)
    Path("alcohol.toml").write_text(Path("alcohol.toml").read_text().replace("title = ", 'asker = "x"\ntitle = '))
    assert "other questions or texts" in run(*words, *store, "class", code=2)


def test_a_survey_is_opened_answered_shown_exported_closed_and_deleted(here) -> None:
    output = run("open", "alcohol.toml", "--no-serve")
    assert "http://127.0.0.1:8000/s/alcohol\n" in output
    assert re.search(r"/s/alcohol/results\?token=[0-9a-z]{26}\n", output)
    assert "token=" not in run("open", "alcohol.toml", "--no-serve")
    assert "token=" in run("open", "alcohol.toml", "--no-serve", "--new-token")
    assert "from 10 answers on" in run("results", "alcohol")
    answer(14)
    assert "alcohol (open): 14 answers." in run("results", "alcohol")
    answer(1)
    output = run("results", "alcohol")
    assert "Answers to 'drinks', estimated from" in output
    assert "1 more answer is waiting: results move in steps of 10, so that" in output
    assert re.search(r"drinks: (Of|Too few answers to tell: of) 100 people like these, .* would say “Yes”", output)
    assert "close alcohol --all" not in output
    assert re.search(r"drinks by class: Too few answers to show: A, B\.", output)
    assert "If 1 of these 14 answers were forged, a share could be off by up to" in output
    assert json.loads(run("results", "alcohol", "--json"))["answered"] == 15
    assert "bruit estimate out/tally.json --plan out/plan.json" in run("export", "alcohol", "--to", "out")
    assert "not empty" in run("export", "alcohol", "--to", "out", code=2)
    output = " ".join(run("close", "alcohol", code=2).split())
    assert "1 answer came since the last step, and after closing the results do not change." in output
    assert "bruit survey close alcohol --all to include them" in output
    assert "alcohol (open)" in run("results", "alcohol")
    assert "15 are in the results" in run("close", "alcohol", "--all")
    assert "15 are in the results" in run("close", "alcohol", "--no-all")
    assert "closed" in run("open", "alcohol.toml", "--no-serve", code=2)
    assert "--yes" in run("delete", "alcohol", code=2)
    run("delete", "alcohol", "--yes")
    assert "There are none" in run("results", "alcohol", code=2)


def test_links_are_printed_or_written_on_a_sheet(here, monkeypatch) -> None:
    run("open", "alcohol.toml", "--no-serve", "--links")
    lines = run("links", "alcohol", "--number", "3", "--address", "https://example.org").split()
    assert len(lines) == 3
    assert all(re.fullmatch(r"https://example\.org/s/alcohol#[0-9a-z]{18}\.[0-9]{2}", line) for line in lines)
    monkeypatch.setattr(Path, "chmod", lambda *_: pytest.fail("the sheet was for others to read before"))
    run("links", "alcohol", "--number", "4", "--address", "https://example.org/", "--slips", "links.html")
    assert Path("links.html").read_text().count("<svg") == 4
    assert Path("links.html").stat().st_mode & 0o077 == 0
    assert "0 of 7 links" in run("results", "alcohol")
    assert "https://" in run("links", "alcohol", "--number", "1", "--address", "example.org", code=2)


#: What commands refuse to keep, and how it is opened; each is a survey file that can be read.
UNKEPT = {
    "rotation": (ASSIGNED, "--links"),
    "rounds": (ROUNDS, "--links"),
    "open": (OPEN, "--public"),
    "codes": ('channel = "codes"\n' + MANY, ""),
}


@pytest.mark.parametrize("name", UNKEPT)
def test_a_command_that_refuses_a_survey_keeps_none(name, here) -> None:
    text, option = UNKEPT[name]
    (here / "class.toml").write_text(text, encoding="utf-8")
    (here / "codes.csv").write_text("code\n", encoding="utf-8")
    collect = ("collect", "class.toml", "codes.csv", "--store", "surveys.sqlite")
    if option:
        run(*collect, code=2)
    if option != "--public":
        run("open", "class.toml", "--no-serve", code=2)
    store = open_store("surveys.sqlite")
    assert store.names() == []
    store.disconnect()
    if option:
        run("open", "class.toml", "--no-serve", option)  # the name is free
    else:
        run(*collect)
    store = open_store("surveys.sqlite")
    assert store.survey("class").links is Survey.load("class.toml").needs_links
    store.disconnect()


def test_a_backup_is_a_store(here) -> None:
    run("open", "alcohol.toml", "--no-serve")
    answer(10)
    run("backup", "copy.sqlite")
    assert "alcohol (open): 10 answers." in run("results", "alcohol", "--store", "copy.sqlite")
    assert Path("copy.sqlite").stat().st_mode & 0o077 == 0
    run("backup", "copy.sqlite", code=2)


def test_mistakes_say_the_corrected_spelling(here) -> None:
    assert "bruit survey open" in run("results", "alcohol", code=4)
    assert "--name my-survey" in run("open", "alcohol.toml", "--no-serve", "--name", "My Survey", code=2)
    assert "--certificate" in run("open", "alcohol.toml", "--host", "0.0.0.0", code=2)
    assert "https://" in run("open", "alcohol.toml", "--address", "http://example.org", code=2)
    assert "--port must be" in run("open", "alcohol.toml", "--port", "70000", code=2)
    run("open", "alcohol.toml", "--no-serve")
    for option in ("--links", "--public", "--new-token"):
        assert f"bruit survey open FILE {option}" in " ".join(run("open", "--no-serve", option, code=2).split())
    assert "Did you mean 'alcohol'?" in run("results", "alcohl", code=2)
    assert ".sqlite" in run("results", "alcohol", "--store", "alcohol.toml", code=2)


def test_errors_of_the_collector_reach_the_terminal(monkeypatch, capsys) -> None:
    """bruit adds a handler that says nothing, and Python then has no last resort."""
    log = logging.getLogger("bruit.collector")
    monkeypatch.setattr(log, "handlers", [])
    _log_unserved("alcohol")
    assert capsys.readouterr().err == ""  # the control
    with _shown_log():
        _log_unserved("alcohol")
    assert "Warning: The survey alcohol in the store cannot be served" in " ".join(capsys.readouterr().err.split())
    _log_unserved("alcohol")
    assert capsys.readouterr().err == ""


def test_open_serves_until_it_is_asked_to_end(here) -> None:
    command = [sys.executable, "-m", "bruit", "survey", "open", "alcohol.toml", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        port = int(re.search(r"127\.0\.0\.1:(\d+)/s/alcohol", lines[1])[1])
        token = re.search(r"token=(\w+)", lines[2])[1]
        ready(port)
        store = open_store("surveys.sqlite")
        open_survey = OpenSurvey(store.survey("alcohol"))
        body = open_survey.survey.answer({"drinks": "Yes", "class": "A"})
        assert post(port, body) == 201
        assert request(port, "GET", f"/s/alcohol/results?token={token}")[0] == 200
        store.close("alcohol")
        assert post(port, open_survey.survey.answer({"drinks": "Yes", "class": "A"})) == 410
        store.disconnect()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 143
    assert "Traceback" not in errors
    assert body.decode() not in errors
    assert sorted(path.name for path in here.iterdir()) == ["alcohol.toml", "surveys.sqlite"]


def test_a_port_that_is_taken_is_named_with_another_one(here) -> None:
    with contextlib.closing(Listening(port=0).bind()) as listener:
        port = listener.getsockname()[1]
        listener.listen()
        output = run("open", "alcohol.toml", "--port", str(port), code=2)
    assert f"Another program uses port {port}; try --port {port + 1 if port < 65535 else 8001}." in output


def test_an_interrupt_of_open_says_where_the_answers_are(here, monkeypatch) -> None:
    run("open", "alcohol.toml", "--no-serve")
    answer(3)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("uvicorn.Server.run", interrupted)
    output = run("open", "alcohol.toml", "--port", "0", code=130)
    assert "Stopped. 3 answers are kept in surveys.sqlite; the same command goes on." in output
    assert "let people answer one after another on this computer" in output
    assert "nothing half-written" not in output


def test_the_demo_works(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "The demo works: 40 simulated people" in run("demo", "--check", "--people", "40")
    assert list(tmp_path.iterdir()) == []


def test_the_demo_says_the_truth_of_its_people_and_expects_as_many_as_it_has(tmp_path, monkeypatch) -> None:
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bruit.cli.survey.demo.time.sleep", interrupted)
    monkeypatch.setattr("bruit.collector.demo.running", lambda *_: contextlib.nullcontext(8000))
    monkeypatch.setattr("bruit.collector.demo.respond", lambda *_: None)
    output = run("demo", "--people", "40", code=130)
    assert re.search(r"present:\s+http://127.0.0.1:8000/s/demo/results\?token=[0-9a-z]{26}&present\n", output)
    assert "Of the 40 simulated people 14 truly say yes (35 of 100)" in output
    assert "Stopped; nothing was kept." in output
    store = open_store(tmp_path / "surveys.sqlite")
    assert demo.opened(store, tmp_path, 15).survey.expected == 15
    store.disconnect()
