"""An oracle of bits from outside: a name and a law are enough for all that the library's own oracles do."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import bruit
from bruit import audit, testing
from bruit.attacks import guess
from bruit.cards import Card
from bruit.errors import ParameterTypeError
from bruit.oracles import BitOracle, Oracle

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from thirds import Thirds  # noqa: E402 -- as a program that brings its own oracle does

TOWNS = [f"town {i}" for i in range(9)]
SCHEMA = {"town": TOWNS, "sex": ["F", "M"]}


@pytest.fixture(autouse=True)
def _known():
    bruit.register(Thirds)
    yield
    Oracle.kinds.remove(Thirds.name)


@pytest.fixture
def thirds():
    return bruit.oracle("thirds", epsilon=2.0, labels=TOWNS)


def test_it_has_at_most_twenty_five_lines():
    assert len((HERE / "thirds.py").read_text().splitlines()) <= 25


def test_it_keeps_every_law(thirds):
    testing.check_oracle(thirds)


def test_it_is_none_of_the_oracles_of_the_library(thirds):
    assert float(thirds.p) == pytest.approx(2 / 3)
    others = [bruit.oracle(name, epsilon=2.0, k=9) for name in ("OUE", "SUE", "SS", "GRR")]
    assert all(thirds.typical_variance(0.0, 1) > other.typical_variance(0.0, 1) for other in others[:1])


@pytest.mark.parametrize("method", ["SPL[THIRDS]", "SMP[THIRDS]", "RS+FD[THIRDS-r]"])
def test_plans_take_it_and_estimate_as_they_say(method):
    plan = bruit.Plan(SCHEMA, 3.0, method)
    assert bruit.Plan.from_json(plan.to_json()) == plan
    generator = np.random.default_rng(1)
    table = {name: np.array(labels)[generator.integers(2, size=5_000)] for name, labels in SCHEMA.items()}
    answers = plan.estimate(plan.tally(plan.privatize(table, rng=3)))
    for name, labels in SCHEMA.items():
        truth = np.array([(table[name] == label).mean() for label in labels])
        assert (np.abs(answers[name].frequency - truth) < 6 * np.sqrt(answers[name].variance)).all()


@pytest.mark.parametrize("method", ["RS+FD[THIRDS-z]", "RS+FD[THIRDS-r]", "SPL[THIRDS]"])
def test_the_guarantee_is_the_worst_ratio_over_all_records_and_reports(method):
    plan = bruit.Plan({"a": ["x", "y", "z"], "b": ["0", "1"]}, 1.0, method)
    exact = audit.exact_plan(plan, "person")
    assert exact.holds
    assert exact.epsilon <= plan.guarantees["person"].epsilon


def test_attacks_and_cards_go_by_its_law(thirds):
    values = np.tile(TOWNS, 1_000)
    rate = guess(thirds, values, rng=5).accuracy
    assert abs(rate - thirds.guessability) < 6 * (thirds.guessability / len(values)) ** 0.5
    card = thirds.card("town")
    assert Card.from_bytes(card.to_bytes()) == card
    for vector in card.vectors(10, rng=1):
        message = thirds.law.sample(vector.codes[0], iter(vector.words))
        row = np.frombuffer(bytes.fromhex(vector.report["town"]), np.uint8)
        assert int.from_bytes(row.tobytes(), "little") == message


def test_without_a_law_it_cannot_be_made():
    class Lawless(BitOracle):
        name = "LAWLESS"

    with pytest.raises(TypeError, match="law"):
        Lawless(epsilon=1.0, k=4)
    with pytest.raises(ParameterTypeError):
        bruit.register(object)
