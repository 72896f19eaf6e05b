"""An oracle of a few lines, made known by one call of `register`, does all that the library's own oracles do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import bruit
from bruit import audit, testing
from bruit.attacks import guess, reidentification, risks, sampled_attribute
from bruit.cards import Card
from bruit.collection import Method
from bruit.errors import FormatError, ParameterError, ParameterTypeError
from bruit.laws import Listed, TwoLevelLaw
from bruit.learning import LocalPrivatizer, honest_split
from bruit.oracles import Oracle, SetOracle

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from paley import Paley  # noqa: E402 -- as a program that brings its own oracle does

TOWNS = [f"town {i}" for i in range(10)]
SCHEMA = {"town": TOWNS, "month": [f"{i:02}" for i in range(11)]}


@pytest.fixture(autouse=True)
def _known():
    if Paley.name in Oracle.kinds:
        Oracle.kinds.remove(Paley.name)
    bruit.register(Paley)
    yield
    for name in (Paley.name, "BOAST"):
        if name in Oracle.kinds:
            Oracle.kinds.remove(name)


@pytest.fixture
def paley():
    return bruit.oracle("paley", epsilon=2.0, labels=TOWNS)


def people(n=4_000):
    generator = np.random.default_rng(1)
    return {name: np.array(labels)[generator.integers(3, size=n)] for name, labels in SCHEMA.items()}


def test_it_has_at_most_thirty_lines():
    assert len((HERE / "paley.py").read_text().splitlines()) <= 30


def test_it_is_none_of_the_oracles_of_the_library(paley):
    """A biplane: eleven messages of which each value has five, and any two share two; no named oracle has that."""
    assert (paley.law.outcomes, paley.law.members, paley.shared) == (11, 5, 2)
    assert 1 / paley.law.ratio < Fraction(paley.q, paley.p) < 1
    others = [bruit.oracle(name, epsilon=2.0, k=10) for name in bruit.oracles.NAMES if name not in ("Warner", "PALEY")]
    assert all(paley.typical_variance(0.0, 1) != other.typical_variance(0.0, 1) for other in others)


@pytest.mark.audit
def test_it_keeps_every_law(paley):
    testing.check_oracle(paley)


def test_every_word_of_a_small_law_gives_exactly_its_weights(paley):
    law = TwoLevelLaw(inside=5, outside=2, sets=paley.law.sets)
    words = np.arange(law.total, dtype=np.uint64)
    small = bruit.oracle("paley", epsilon=2.0, labels=TOWNS)
    small.__dict__.update(law=law, _words=lambda entropy, size: words)
    for code in range(10):
        out = np.empty(law.total, np.uint8)
        small._randomize(np.full(law.total, code, np.uint8), None, out)
        weights = [5 if law.sets.supports(message, code) else 2 for message in range(law.outcomes)]
        assert np.bincount(out, minlength=law.outcomes).tolist() == weights
        assert out.tolist() == [law.sample(code, iter([word])) for word in words.tolist()]


def test_people_report_and_frequencies_are_estimated(paley):
    values = people(20_000)["town"]
    tally = paley.tally(paley.privatize(values, rng=7))
    answer = paley.estimate(tally)
    truth = np.array([(values == town).mean() for town in TOWNS])
    assert (np.abs(answer.frequency - truth) < 5 * np.sqrt(paley.variance(truth, 20_000))).all()
    assert np.abs(answer.consistent("em").frequency - truth).max() < 0.05
    assert np.allclose(np.diag(answer.covariance()), answer.variance)


def test_a_plan_with_it_is_written_and_read_back_while_it_is_known(tmp_path):
    plan = bruit.Plan({"town": TOWNS}, 2.0, "PALEY")
    text = plan.to_json()
    assert bruit.Plan.from_json(text) == plan
    assert "paley" not in text  # the module; a document names no code
    Oracle.kinds.remove("PALEY")
    with pytest.raises(FormatError):
        bruit.Plan.from_json(text)
    bruit.register(Paley)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_go_through_a_plan(tmp_path, ending):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table, plan = people(500), bruit.Plan({"town": TOWNS}, 2.0, "PALEY")
    source, reports = tmp_path / f"people.{ending}", tmp_path / f"reports.{ending}"
    frame = pa.table({name: column.tolist() for name, column in table.items()})
    (pa.csv.write_csv if ending == "csv" else pa.parquet.write_table)(frame, source)
    plan.privatize(source, rng=3, to=reports)
    assert replace(plan.tally(reports), simulated=False) == plan.tally(plan.privatize(table, rng=3))


def test_choose_ranks_it_and_compare_takes_it():
    assert "PALEY" in [choice.name for choice in bruit.choose(k=11, epsilon=1.0)]
    methods = ["SPL[PALEY]", "SMP[PALEY]", "RS+FD[PALEY]", "RS+FD[GRR]"]
    assert {row.method for row in bruit.compare(SCHEMA, 2.0, methods=methods)} == set(methods)


def test_a_value_is_guessed_as_often_as_it_says(paley):
    values = np.tile(TOWNS, 2_000)
    result = guess(paley, values, rng=5)
    assert abs(result.accuracy - paley.guessability) < 5 * (paley.guessability / len(values)) ** 0.5
    assert paley.guessability == pytest.approx(float(np.array(paley.matrix(), float).max(axis=0).sum()) / 10)


@pytest.mark.parametrize("method", ["SPL[PALEY]", "SMP[PALEY]", "RS+FD[PALEY]"])
def test_the_risks_of_a_plan_are_known_before_anybody_answers(method):
    plan = bruit.Plan(SCHEMA, 2.0, method)
    shares = {"town": np.arange(1, 11) / 55}
    rates = {(risk.attack, risk.attribute): risk.rate for risk in risks(plan, shares, n=200)}
    assert rates["value from the reports", "town"] > 10 / 55
    assert ("sampled attribute", None) in rates or plan.method.kind != "RS+FD"
    assert reidentification([plan], people(300), rng=1)[10].n == 300


def test_an_exact_audit_finds_the_epsilon_that_is_stated_and_an_empirical_one_does_not_pass_it(paley):
    exact = audit.exact(paley)
    assert (exact.holds, exact.method) == (True, "enumeration")
    assert exact.ratio == paley.law.ratio
    found = audit.empirical(paley, TOWNS[0], TOWNS[1], trials=40_000, rng=7)
    assert 1.5 < found.epsilon_lower <= paley.guarantee.epsilon


@pytest.mark.parametrize("method", ["RS+FD[PALEY]", "RS+RFD[PALEY]"])
@pytest.mark.parametrize("unit", ["person", "attribute"])
def test_among_fakes_the_guarantee_is_the_worst_ratio_over_all_records_and_reports(method, unit):
    schema = {"a": ["x", "y", "z"], "b": ["0", "1", "2", "3"]}
    prior = {"a": [5, 3, 1], "b": [1, 2, 3, 4]} if "RFD" in method else None
    plan = bruit.Plan(schema, 1.0, Method.named(method, prior=prior))
    found = audit.exact_plan(plan, unit)
    assert found.method == "enumeration"
    assert found.epsilon == plan.guarantees[unit].epsilon
    assert audit.empirical_plan(plan, unit, trials=20_000, rng=3).passes(plan.guarantees[unit])


def test_among_fakes_estimates_are_unbiased_and_vary_as_stated():
    plan = bruit.Plan(SCHEMA, 3.0, "RS+FD[PALEY]")
    counts = {"town": np.array([500, 300, 200] + [0] * 7), "month": np.array([100] * 10)}
    counts["month"] = np.append(counts["month"], 0)
    runs = [plan.estimate(plan.simulate(counts, rng=run))["town"].frequency for run in range(400)]
    stated = plan.variance(1_000, {"town": counts["town"] / 1_000}, target="people")["town"]
    error = np.sqrt(stated / len(runs))
    assert (np.abs(np.mean(runs, axis=0) - counts["town"] / 1_000) < 5 * error).all()
    assert (np.abs(np.var(runs, axis=0) / stated - 1) < 0.4).all()
    assert sampled_attribute(plan, people(500), rng=2).n == 500


def test_a_law_whose_values_share_unequally_is_refused_before_anything_is_claimed():
    """The control: a window on a circle has no constant q, so that no estimate and no fake may use it."""

    class Circle(SetOracle):
        name = "CIRCLE"

        @property
        def law(self):
            rows = tuple(tuple((value + step) % 9 for step in range(3)) for value in range(9))
            return TwoLevelLaw.calibrate(self.epsilon, Listed(9, rows))

    circle = Circle(epsilon=1.0, k=9)
    with pytest.raises(ParameterError, match="share as many messages"):
        circle.estimate(circle.tally(circle.privatize([1, 2, 3], rng=1)))


def test_a_mechanism_that_misstates_its_masses_is_found():
    class Boast(Paley):
        def masses(self, prior):
            return super().masses(prior)._replace(least=2 * super().masses(prior).least)

    with pytest.raises(AssertionError, match="masses"):
        testing.check_capabilities(Boast(epsilon=1.0, k=9))


def test_with_misstated_masses_the_enumeration_does_not_confirm_the_guarantee():
    class Boast(Paley):
        name = "BOAST"

        def masses(self, prior):
            return super().masses(prior)._replace(least=Fraction(9, 10), most=Fraction(9, 10))

    bruit.register(Boast)
    schema = {"a": ["x", "y", "z"], "b": ["0", "1", "2", "3"]}
    assert not audit.exact_plan(bruit.Plan(schema, 1.0, "RS+FD[BOAST]"), "attribute").holds
    assert audit.exact_plan(bruit.Plan(schema, 1.0, "RS+FD[PALEY]"), "attribute").holds


@pytest.mark.parametrize("output", ["values", "unbiased"])
def test_models_learn_from_its_reports(output):
    table = people(2_000)
    settings = {"epsilon": 8.0, "bounds": bruit.Schema(SCHEMA), "method": "SPL[PALEY]", "output": output}
    privatizer = LocalPrivatizer(**settings, rng=1)
    reports = privatizer.fit_transform(table)
    assert reports.shape == (2_000, 21)
    assert privatizer.get_feature_names_out()[0] == "town_town 0"
    if output == "unbiased":
        shares = [(table[name] == label).mean() for name, labels in SCHEMA.items() for label in labels]
        assert (np.abs(reports.mean(axis=0) - shares) < 6 * reports.std(axis=0) / 2_000**0.5).all()
    labels = (table["town"] == TOWNS[0]).astype(int)
    split = honest_split(table, labels, LocalPrivatizer(**settings), classes=[0, 1], epsilon=1.0, rng=1)
    assert split.X_train.shape == (1_600, 21)


def test_its_card_samples_by_the_same_words_and_has_vectors(paley):
    card = paley.card("town")
    again = Card.from_bytes(card.to_bytes())
    assert again == card
    for vector in again.vectors(20, rng=1):
        assert paley.law.sample(vector.codes[0], iter(vector.words)) == int(vector.report["town"])
    words = iter(range(10**17, 2**64, 10**15))
    drawn = [int(again.sample({"town": town}, words)["town"]) for town in TOWNS]
    assert paley.tally(drawn).n == 10
    assert bruit.Plan(SCHEMA, 2.0, "RS+FD[PALEY]").card().questions[0].fake == "noise"


def test_a_rule_of_its_own_is_listed_on_the_card():
    class Rule(Listed):
        kind = "squares"

    class Own(Paley):
        @property
        def law(self):
            law = super().law
            return TwoLevelLaw(inside=law.inside, outside=law.outside, sets=Rule(law.sets.size, law.sets.rows))

    own = Own(epsilon=2.0, labels=TOWNS)
    card = own.card("town")
    assert card.questions[0].to_dict()["sets"]["kind"] == "listed"
    assert [vector.report for vector in Card.from_bytes(card.to_bytes()).vectors(20, rng=1)] == [
        vector.report for vector in card.vectors(20, rng=1)
    ]


@pytest.fixture
def installed(tmp_path):
    """An environment in which a package declares the oracle as an entry point."""
    folder = tmp_path / "site" / "stranger-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[bruit.oracles]\nPALEY = paley:Paley\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(HERE)]), "COLUMNS": "100"}


@pytest.mark.audit
def test_commands_know_an_installed_oracle(tmp_path, installed):
    rows = "\n".join(people(300)["town"])
    (tmp_path / "people.csv").write_text(f"town\n{rows}\n")
    (tmp_path / "schema.json").write_text(bruit.Schema({"town": TOWNS}).to_json())

    def run(*arguments):
        command = [Path(sys.executable).with_name("bruit"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    run("plan", "schema.json", "--epsilon", "2", "--method", "paley", "-o", "plan.json")
    run("privatize", "people.csv", "--plan", "plan.json", "-o", "reports.csv", "--seed", "3")
    answer = json.loads(run("estimate", "reports.csv", "--plan", "plan.json", "--json"))
    assert "PALEY" in json.dumps(answer)
    assert "PALEY" in run("choose", "--k", "11", "--epsilon", "1")


def test_a_name_that_is_taken_or_no_name_is_refused():
    for name in ("GRR", "grr", "krr", "Paley"):
        with pytest.raises(ParameterError, match="is taken"):
            bruit.register(Paley, name)
    for name in ("", "two words", "9lives", "a[b]", "X-z"):
        with pytest.raises(ParameterError, match="name must be"):
            bruit.register(Paley, name)
    with pytest.raises(ParameterTypeError, match="extends"):
        bruit.register(dict)
    with pytest.raises(ParameterError, match="no name of its own"):
        bruit.register(SetOracle)
