"""A plan method of a few lines, made known by one call of `register`, does all that the library's own methods do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import bruit
from bruit import Plan, audit
from bruit.attacks import reidentification, risks
from bruit.cards import Card
from bruit.collection import METHODS, SMP, Method, Repeat, plan_for
from bruit.errors import FormatError, ParameterError, ParameterTypeError
from bruit.sheets import sheet

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from even import Even  # noqa: E402 -- as a program that brings its own method does

SCHEMA = {"sex": ["F", "M"], "town": [f"town {i}" for i in range(8)]}
WEIGHTS = {"sex": 141, "town": 283}


@pytest.fixture(autouse=True)
def _known():
    if Even.kind in Method.kinds:
        Method.kinds.remove(Even.kind)
    bruit.register(Even)
    yield
    if Even.kind in Method.kinds:
        Method.kinds.remove(Even.kind)


@pytest.fixture
def plan():
    return Plan(SCHEMA, 1.5, "even[grr]")


def people(n=4_000):
    generator = np.random.default_rng(1)
    return {name: np.array(labels)[generator.integers(2, size=n)] for name, labels in SCHEMA.items()}


def test_it_has_at_most_twenty_lines():
    assert len((HERE / "even.py").read_text().splitlines()) <= 20


def test_its_name_is_read_and_written_as_those_of_the_library(plan):
    assert (str(plan.method), plan.method.kind, plan.method.base) == ("EVEN[GRR]", "EVEN", "GRR")
    assert plan == Plan(SCHEMA, 1.5, Even("GRR")) == Plan(SCHEMA, 1.5, "EVEN[GRR]")
    assert plan.method == Even("GRR") != Even("OUE")
    assert "EVEN" in METHODS
    assert plan.method.in_words(2).startswith("Each person answers one of the 2 questions")
    with pytest.raises(ParameterError, match="SPL, SMP, SMPk, RS\\+FD, RS\\+RFD, TAB, EVEN"):
        Plan(SCHEMA, 1.0, "EVN[GRR]")


def test_what_holds_for_every_method_is_checked(plan):
    with pytest.raises(ParameterError, match="for several attributes"):
        Plan({"sex": ["F", "M"]}, 1.0, "EVEN[GRR]")
    with pytest.raises(ParameterError, match="must name attributes of the schema"):
        Plan(SCHEMA, 1.0, Even("GRR", mechanisms={"age": "OUE"}))
    with pytest.raises(ParameterError, match="must be one of"):
        Even("XYZ")
    with pytest.raises(ParameterError, match="weights belongs to SMP and TAB, not to EVEN"):
        Method.named("EVEN[GRR]", weights=WEIGHTS)


def test_documents_are_written_and_read_back_while_it_is_known(plan, tmp_path):
    other = Plan(SCHEMA, 1.5, Even(mechanisms={"town": "OUE"}), unit="attribute")
    for own in (plan, other):
        again = Plan.from_json(own.to_json())
        assert (again, again.method, again.to_json()) == (own, own.method, own.to_json())
    assert other.mechanisms["town"].name == "OUE"
    assert "even" not in plan.to_json()  # the module; a document names no code
    Method.kinds.remove("EVEN")
    with pytest.raises(FormatError):
        Plan.from_json(plan.to_json())


def test_people_report_and_all_is_estimated_as_by_the_library_s_own_method(plan):
    """It is SMP with weights: the same seed gives the same estimates but for the seed's own digest."""
    table = people(20_000)
    answers = plan.estimate(plan.tally(plan.privatize(table, rng=7)))
    truth = np.array([(table["town"] == label).mean() for label in SCHEMA["town"]])
    spread = np.sqrt(plan.variance(20_000, {"town": truth})["town"])
    assert (np.abs(answers["town"].frequency - truth) < 5.5 * spread).all()
    same = Plan(SCHEMA, 1.5, SMP("GRR", weights=WEIGHTS))
    assert np.allclose(plan.variance(500)["town"], same.variance(500)["town"])
    assert plan.guarantees == same.guarantees
    with pytest.raises(ParameterError, match="Reports of EVEN have a law that depends on the margins alone"):
        answers.table("sex", "town")


def test_groups_are_counted_apart(plan):
    grouped = Plan(SCHEMA, 1.5, plan.method, public={"school": ["A", "B"]})
    table = {**people(3_000), "school": ["A"] * 1_000 + ["B"] * 2_000}
    answers = grouped.estimate(grouped.tally(grouped.privatize(table, rng=7)))
    by = answers.by("school")
    assert [answers["sex"].n, by["A"]["sex"].n + by["B"]["sex"].n] == [answers["sex"].n] * 2
    assert Plan.from_json(grouped.to_json()) == grouped


def test_the_same_people_are_asked_again(plan):
    panel = Plan(SCHEMA, 1.0, plan.method, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0))
    memos = panel.panel.memoize(people(400), rng=1)
    tallies = [panel.tally(panel.panel.answer(memos, rng=number)) for number in (1, 2)]
    assert panel.panel.series(tallies)["town"].estimates()[0].n == tallies[0].counts[1]
    assert panel.guarantees["epoch"].epsilon <= 2.0
    assert Plan.from_json(panel.to_json()) == panel


def test_attacks_and_their_risks_know_it(plan):
    rates = {risk.attribute: risk.rate for risk in risks(plan, {"town": np.arange(1, 9) / 36}, n=200)}
    assert rates["town"] >= 8 / 36
    attack = reidentification([plan], people(300), rng=1)
    assert attack[10].n == 300
    assert "EVEN[GRR]" in attack[10].description


@pytest.mark.parametrize("unit", ["person", "attribute"])
def test_an_audit_of_its_whole_law_finds_the_epsilon_that_is_stated(plan, unit):
    exact = audit.exact_plan(plan, unit)
    assert (exact.method, exact.holds) == ("enumeration", True)
    assert exact.epsilon == plan.guarantees[unit].epsilon <= 1.5
    assert audit.empirical_plan(plan, unit, trials=20_000, rng=3).passes(plan.guarantees[unit])


def test_its_card_draws_reports_that_the_plan_counts(plan):
    card = plan.card()
    again = Card.from_bytes(card.to_bytes())
    assert (again, again.method, again.weights) == (card, "SMP", tuple(WEIGHTS.values()))
    words = iter(range(10**17, 2**64, 10**14))
    reports = [again.sample({"sex": "F", "town": "town 3"}, words) for _ in range(200)]
    columns = {name: np.array([int(report[name]) for report in reports], np.uint8) for name in again.columns}
    assert plan.tally(columns).n == 200


@pytest.mark.parametrize(("language", "words"), [("en", "drawn by chance"), ("fr", "tirée au hasard")])
def test_a_page_for_an_ethics_board_says_what_its_card_does(plan, language, words):
    assert words in sheet(plan, language, n=1_000)


def test_it_is_compared_and_sized():
    ranked = bruit.compare(SCHEMA, 2.0, methods=["EVEN[GRR]", "SMP[GRR]", "SPL[GRR]"])
    assert {row.method for row in ranked} == {"EVEN[GRR]", "SMP[GRR]", "SPL[GRR]"}
    assert plan_for(SCHEMA, epsilon=2.0, half_width=0.05, method="EVEN[ADP]").n > 100


def test_an_option_of_its_own_is_in_the_document():
    @bruit.register
    @dataclass(frozen=True)
    class Rooted(Even):
        """As often as a power of the number of answers."""

        kind = "ROOTED"
        power: float | None = field(default=None, kw_only=True)

    try:
        plan = Plan(SCHEMA, 1.0, Rooted("GRR", power=0.25))
        again = Plan.from_json(plan.to_json())
        assert again == plan != Plan(SCHEMA, 1.0, Rooted("GRR"))
        assert (json.loads(plan.to_json())["power"], again.method.power) == (0.25, 0.25)
    finally:
        Method.kinds.remove("ROOTED")


def test_a_name_that_is_taken_or_no_name_is_refused():
    for name in ("SMP", "smp", "Even", "one"):
        with pytest.raises(ParameterError, match="is taken"):
            bruit.register(Even, name)
    for name in ("", "TWO WORDS", "SMP9", "a[b]", "X-z", "+A"):
        with pytest.raises(ParameterError, match="name must be"):
            bruit.register(Even, name)
    with pytest.raises(ParameterTypeError, match=r"bruit\.collection\.Method"):
        bruit.register(dict)


@pytest.fixture
def installed(tmp_path):
    """An environment in which a package declares the method as an entry point."""
    folder = tmp_path / "site" / "stranger-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[bruit.methods]\nEVEN = even:Even\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(HERE)]), "COLUMNS": "100"}


def test_commands_know_an_installed_method(tmp_path, installed):
    table = people(300)
    rows = "\n".join(f"{sex},{town}" for sex, town in zip(table["sex"], table["town"], strict=True))
    (tmp_path / "people.csv").write_text(f"sex,town\n{rows}\n")
    (tmp_path / "schema.json").write_text(bruit.Schema(SCHEMA).to_json())

    def run(*arguments):
        command = [Path(sys.executable).with_name("bruit"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    shown = run("plan", "schema.json", "--epsilon", "2", "--method", "even[grr]", "-o", "plan.json")
    assert "EVEN[GRR], expected with 10,000 people" in shown
    assert "Each person answers one of the 2 questions" in " ".join(shown.split())
    run("privatize", "people.csv", "--plan", "plan.json", "-o", "reports.csv", "--seed", "3")
    answers = json.loads(run("estimate", "reports.csv", "--plan", "plan.json", "--json"))
    assert len(answers) == 2
    assert json.loads(run("audit", "plan.json", "--json"))["holds"] is True
