"""The tour: what it tells is computed, fits a terminal, and is kept in files that need nothing else."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

import bruit_studies
from bruit import datasets, documents
from bruit.cli.app import app
from bruit_studies.cli.tour import TourResult, glimpses, run_tour
from bruit_studies.cli.tour.facts import EPSILONS

FILES = ["marital-status.csv", "marital-status.svg", "marital-status.png", "beliefs.svg", "beliefs.png", "tour.html"]


def take_tour(folder: Path, seed: int | None = 7, *, page: bool = True) -> tuple[TourResult, str]:
    screen = io.StringIO()
    result = run_tour(folder, seed=seed, console=Console(file=screen, width=80), page=page)
    return result, screen.getvalue()


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> tuple[TourResult, str]:
    folder = tmp_path_factory.mktemp("tour")
    begun = time.monotonic()
    taken = take_tour(folder)
    assert time.monotonic() - begun < 30, "half a minute at the very most"
    return taken


@pytest.fixture(scope="module")
def result(taken: tuple[TourResult, str]) -> TourResult:
    return taken[0]


@pytest.fixture(scope="module")
def text(taken: tuple[TourResult, str]) -> str:
    return taken[1]


@pytest.fixture(scope="module")
def html(result: TourResult) -> str:
    return result.files[-1].read_text(encoding="utf-8")


def percent(share: float, places: int = 1) -> str:
    return f"{100 * share:.{places}f} %".replace("-", "−")


@pytest.mark.audit
def test_one_report_moves_a_belief_of_one_half_to_three_quarters_at_most(text: str) -> None:
    assert "from a belief of 50 % to at most 75 %" in " ".join(text.split())
    assert f"{math.log(3):.4f}" in text


@pytest.mark.audit
def test_the_survey_states_its_reports_its_estimate_and_the_truth(result: TourResult, text: str) -> None:
    facts = result.facts
    truth = float(np.mean(datasets.load("adult")["income"] == ">50K"))
    share = facts.yes_reports / facts.income.n
    assert facts.yes.truth == truth
    assert facts.yes.estimate == pytest.approx(2 * share - 0.5)
    assert f"{facts.yes_reports:,} reports say yes" in " ".join(text.split())
    assert percent(facts.yes.estimate, 2) in text
    assert percent(truth) in text


@pytest.mark.audit
def test_the_estimate_lies_within_six_standard_errors_of_the_truth(result: TourResult) -> None:
    facts = result.facts
    assert abs(facts.yes.estimate - facts.yes.truth) < 6 * facts.income.standard_error[1]
    misses = np.abs(facts.marital.frequency - facts.marital_truth) / facts.marital.standard_error
    assert misses.max() < 6


@pytest.mark.audit
def test_every_answer_is_told_with_its_interval_and_whether_it_holds_the_truth(result: TourResult, text: str) -> None:
    assert len(result.facts.rows) == 7
    for row in result.facts.rows:
        (line,) = [line for line in text.splitlines() if line.startswith(row.label)]
        assert percent(row.estimate).replace("−0.0", "0.0") in line
        assert percent(row.truth) in line
        assert line.endswith("yes" if row.lower <= row.truth <= row.upper else "no")


def test_more_epsilon_gives_shorter_intervals_and_larger_beliefs(result: TourResult) -> None:
    prices = result.facts.prices
    assert [price.epsilon for price in prices] == list(EPSILONS)
    for less, more in itertools.pairwise(prices):
        assert less.half_width > more.half_width
        assert less.belief < more.belief
        assert less.truthful < more.truthful
    odds = 0.1 / 0.9 * math.exp(4.0)
    assert prices[-1].belief == pytest.approx(odds / (1 + odds))
    assert prices[-1].truthful == pytest.approx(math.exp(4.0) / (math.exp(4.0) + 6))


def test_the_law_is_whole_numbers_whose_ratio_keeps_the_stated_epsilon(result: TourResult, text: str) -> None:
    trust = result.facts.trust
    assert trust.own + 6 * trust.other == trust.total
    assert trust.holds
    assert trust.stated <= trust.requested
    assert f"{trust.own:,}" in text
    assert f"{trust.other:,}" in text


@pytest.mark.audit
def test_watching_reports_clears_the_mechanism_and_catches_its_broken_twin(result: TourResult, text: str) -> None:
    trust = result.facts.trust
    assert 0.8 < trust.bound <= trust.stated < trust.twin_bound <= 1.5
    assert "it is caught" in " ".join(text.split())


@pytest.mark.audit
def test_it_ends_with_claims_that_hold_that_nearly_do_and_that_do_not(result: TourResult, text: str, html: str) -> None:
    end = text[text.index(result.blocks[-1].heading) :]
    shown = {claim for glimpse in glimpses.GLIMPSES for claim in glimpse.claims}
    assert {one.claim.id for one in result.facts.judged} == shown
    verdicts = [one.verdict.kind for one in result.facts.judged]
    assert set(verdicts) == {"confirmed", "improved", "slip", "corrected", "refuted"}
    begun = tuple(f"{verdict} " for verdict in verdicts)  # a line of the paragraph above may begin with "corrected."
    assert [line.split()[0] for line in end.splitlines() if line.startswith(begun)] == verdicts
    for one in result.facts.judged:
        assert one.claim.statement in " ".join(end.split())
        assert one.claim.statement.split("=")[-1].strip() in html
    assert "2r − ½ estimates the share," in " ".join(end.split())
    assert "“" + result.facts.judged[0].claim.statement not in " ".join(end.split())


@pytest.mark.audit
def test_after_the_claims_it_says_how_to_judge_all_of_them(text: str, html: str) -> None:
    assert "bruit study run --all\nbruit study report\n" in text
    assert "<code>bruit study run --all\nbruit study report</code>" in html


@pytest.mark.audit
def test_a_trial_of_the_tour_draws_what_it_draws_in_the_whole_study() -> None:
    for glimpse in glimpses.GLIMPSES:
        study = bruit_studies.find(glimpse.study)
        cut = glimpse.cut(study)
        whole = {(str(dict(trial.factors)), trial.repetition): trial for trial in study.trials("quick")}
        few = cut.trials("quick")
        assert 0 < len(few) < len(whole)
        for trial in (few[0], few[-1]):
            same = whole[str(dict(trial.factors)), trial.repetition]
            assert cut.stream(trial, 0).generator().random() == study.stream(same, 0).generator().random()


@pytest.mark.audit
def test_text_and_tables_fit_eighty_columns(text: str) -> None:
    told = text[: text.index("Written")]
    # A letter with a hat is two characters in one place.
    assert max(cell_len(line) for line in told.splitlines()) <= 80


@pytest.mark.audit
def test_all_files_are_written_and_named(result: TourResult, text: str) -> None:
    assert [file.name for file in result.files] == FILES
    for file in result.files:
        assert file.stat().st_size > 500
        assert str(file) in text
    assert sorted(file.name for file in result.files[0].parent.iterdir()) == sorted(FILES)


@pytest.mark.audit
def test_svg_files_are_well_formed_and_have_a_text_alternative(result: TourResult) -> None:
    for file in result.files:
        if file.suffix == ".svg":
            title = ElementTree.parse(file).getroot().findtext("{http://www.w3.org/2000/svg}title")
            assert title is not None
            assert len(title) > 50


@pytest.mark.audit
def test_the_page_tells_the_same_as_the_terminal_and_loads_nothing(result: TourResult, html: str) -> None:
    assert "http:" not in html
    assert "https:" not in html
    for row in result.facts.rows:
        assert row.label in html
        assert percent(row.truth).replace(" ", "\N{NO-BREAK SPACE}") in html
    assert html.count("<svg") == html.count('role="img"') == html.count('aria-label="Estimated') + 1 == 2
    for block in result.blocks:
        assert block.heading in html


@pytest.mark.audit
def test_the_same_seed_gives_the_same_tour_and_files(result: TourResult, tmp_path: Path) -> None:
    again, _ = take_tour(tmp_path)
    assert again.blocks == result.blocks
    for first, second in zip(result.files, again.files, strict=True):
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.audit
def test_without_a_seed_two_tours_differ(tmp_path: Path) -> None:
    (first, text), (second, _) = (take_tour(tmp_path, seed=None, page=False) for _ in range(2))
    assert first.facts.rows != second.facts.rows
    assert "secure randomness" in text


@pytest.mark.audit
def test_the_page_can_be_left_out(tmp_path: Path) -> None:
    result, _ = take_tour(tmp_path, page=False)
    assert [file.name for file in result.files] == FILES[:-1]


@pytest.mark.audit
def test_json_is_one_sealed_document_with_the_same_facts(result: TourResult, tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["tour", "--seed", "7", "--json", "-o", str(tmp_path / "new" / "folder")])
    assert run.exit_code == 0, run.output
    body = documents.unseal(run.stdout, "bruit.tour/1")
    assert body["two_coins"]["yes_reports"] == result.facts.yes_reports
    assert body["trust"]["twin_caught"] is True
    assert [(one["id"], one["verdict"]) for one in body["claims"]] == [
        (one.claim.id, one.verdict.kind) for one in result.facts.judged
    ]
    assert [Path(file).name for file in body["files"]] == FILES
    assert json.loads(run.stdout)["people"] == 48_842


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_told(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file stands here")
    screen = io.StringIO()
    with pytest.raises(OSError, match="cannot be written to; name another with --output") as caught:
        run_tour(taken, console=Console(file=screen))
    assert caught.value.filename == str(taken)
    assert screen.getvalue() == ""


@pytest.mark.audit
def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = io.StringIO()
    run_tour(tmp_path, seed=7, console=Console(file=screen, force_terminal=True, color_system="truecolor"), page=False)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", screen.getvalue())


@pytest.mark.audit
def test_without_the_extra_the_text_is_told_and_the_remedy_named(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from bruit.cli.app import main\n"
        f"sys.argv = ['bruit', 'tour', '--seed', '7', '-o', {str(tmp_path)!r}]\n"
        "main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "Married-civ-spouse" in run.stdout
    assert "pip install 'bruit[figures]'" in " ".join(run.stderr.split())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["marital-status.csv", "tour.txt"]
    text = (tmp_path / "tour.txt").read_text(encoding="utf-8")
    assert run.stdout.startswith(text), "the file has what the terminal has"
    assert str(tmp_path / "tour.txt") in "".join(run.stderr.split())
    rows = list(csv.DictReader(io.StringIO((tmp_path / "marital-status.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 7


@pytest.mark.audit
def test_the_results_file_has_what_the_tour_tells(result: TourResult) -> None:
    rows = list(csv.DictReader(io.StringIO(result.files[0].read_text(encoding="utf-8"))))
    estimates = {row["label"]: float(row["frequency"]) for row in rows}
    assert estimates == pytest.approx({row.label: row.estimate for row in result.facts.rows})


def test_the_commands_it_proposes_work(result: TourResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = result.blocks[-2].code.splitlines()
    assert [shlex.split(command)[1] for command in commands] == ["data", "privatize", "estimate"]
    for command in commands:
        run = CliRunner().invoke(app, shlex.split(command)[1:])
        assert run.exit_code == 0, run.output
    assert ">50K" in run.output
