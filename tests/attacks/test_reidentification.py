"""People are found again in a table, the more often the more they have told."""

import math
import sys

import numpy as np
import pytest

from bruit.attacks import draw_people, reidentification
from bruit.attacks.reidentification import Prediction, _places
from bruit.collection import SMP, Plan
from bruit.domains import Categories, Schema
from bruit.errors import BruitError, DataError, ParameterError

N = 400
SCHEMA = Schema({name: [str(i) for i in range(25)] for name in "abcd"})
PEOPLE = draw_people(SCHEMA, {}, N, rng=1)
#: Everybody has a value of their own.
ALONE = Schema({name: Categories(k=N) for name in "ab"})
ONESELF = {name: np.arange(N) for name in "ab"}


def test_who_tells_a_value_that_nobody_else_has_is_found():
    found = reidentification([Plan(ALONE, 20.0, "SMP[GRR]")], ONESELF, rng=1)
    assert found.accuracy == found[1].accuracy > 0.99
    assert found[1].baseline == 1 / N
    assert found[10].baseline == 10 / N
    assert found[1].n == N


def test_who_tells_nearly_nothing_is_found_by_chance_only():
    found = reidentification([Plan(SCHEMA, 0.001, "SMP[GRR]")] * 3, PEOPLE, top=(1, 10, 40), rng=1)
    for nearest in (1, 10, 40):
        baseline = nearest / N
        assert found[nearest].baseline == baseline
        assert abs(found[nearest].accuracy - baseline) < 5.5 * math.sqrt(baseline * (1 - baseline) / N)


def test_with_equal_records_everybody_is_one_of_many():
    same = {name: ["3"] * N for name in SCHEMA}
    found = reidentification([Plan(SCHEMA, 20.0, "SPL[GRR]")], same, top=(40,), rng=1)
    assert abs(found[40].accuracy - 0.1) < 5.5 * math.sqrt(0.09 / N)


@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[GRR]", "SMP[OUE]", "SMP[OLH]", "RS+FD[GRR]", "RS+FD[SUE-z]"])
def test_more_surveys_find_more_people(method):
    # With fakes, which attribute is true shows only where values are not all alike.
    shares = {name: np.r_[0.5, np.full(24, 0.5 / 24)] for name in SCHEMA}
    people = draw_people(SCHEMA, shares, N, rng=1)
    plan = Plan(SCHEMA, 12.0, method)
    once, often = (reidentification([plan] * many, people, rng=1) for many in (1, 6))
    assert often[10].accuracy > once[10].accuracy
    assert often[10].leaks
    assert often[1].accuracy <= often[10].accuracy
    assert method in often[1].description
    assert "6 ×" in often[1].description


def test_surveys_may_differ_and_ask_for_some_attributes_only():
    surveys = [
        Plan({"a": SCHEMA["a"].domain}, 8.0, "GRR"),
        Plan({"b": SCHEMA["b"].domain, "c": SCHEMA["c"].domain}, 8.0, SMP(mechanisms={"b": "OUE", "c": "GRR"})),
        Plan(SCHEMA, 8.0, "SPL[OUE]"),
    ]
    found = reidentification(surveys, PEOPLE, rng=1)
    assert found[10].leaks
    assert "GRR, SMP[ADP], SPL[OUE]" in found[1].description


def test_what_the_attacker_does_not_know_of_the_background_does_not_help():
    plan = Plan(SCHEMA, 20.0, "SPL[GRR]")
    whole, part, none = (reidentification([plan], PEOPLE, known=known, rng=1) for known in (None, ["a", "b"], ["a"]))
    assert whole[1].accuracy > part[1].accuracy > none[1].accuracy


def test_strangers_in_the_background_hide_people():
    strangers = draw_people(SCHEMA, {}, 5 * N, rng=2)
    crowd = {name: np.concatenate([PEOPLE[name], strangers[name]]) for name in SCHEMA}
    plan = Plan(SCHEMA, 10.0, "SMP[GRR]")
    alone, crowded = (reidentification([plan] * 3, PEOPLE, background=table, rng=1) for table in (None, crowd))
    assert crowded[10].baseline == 10 / (6 * N)
    assert crowded[10].accuracy < alone[10].accuracy
    assert crowded[10].leaks


@pytest.mark.parametrize("chunk", [1 << 24, 7 * 60])
def test_places_are_those_of_an_obvious_count(chunk, monkeypatch):
    monkeypatch.setattr(sys.modules[_places.__module__], "CHUNK", chunk)
    generator = np.random.default_rng(4)
    n, size = 40, 60
    records = {name: generator.integers(3, size=size) for name in "ab"}
    profile = []
    for name in "aab":
        whose = np.flatnonzero(generator.random(n) < 0.7)
        profile.append(Prediction(name, whose, generator.integers(3, size=whose.size)))
    draws = np.array([_places(profile, records, n, size, generator) for _ in range(300)])
    for person in range(n):
        agreed = [0] * size
        for name, whose, codes in profile:
            for guessed in codes[whose == person]:
                for record in range(size):
                    agreed[record] += records[name][record] == guessed
        nearer = sum(agreed[record] > agreed[person] for record in range(size))
        equal = sum(agreed[record] == agreed[person] for record in range(size))
        assert draws[:, person].min() >= nearer
        assert draws[:, person].max() < nearer + equal
        assert abs(draws[:, person].mean() - nearer - (equal - 1) / 2) < 5.5 * math.sqrt(equal**2 / 12 / 300)


def test_the_text_lists_every_rate():
    text = repr(reidentification([Plan(SCHEMA, 1.0, "SMP[GRR]")], PEOPLE, rng=1))
    assert text.startswith("Re-identification of 400 people")
    assert text.count(", top") == 2
    assert "top 10 of" in text


@pytest.mark.parametrize(
    ("surveys", "settings"),
    [
        ([], {}),
        ("SMP", {}),
        ([SCHEMA], {}),
        (None, {"top": []}),
        (None, {"top": [0]}),
        (None, {"known": []}),
        (None, {"known": "a"}),
        (None, {"known": ["z"]}),
        (None, {"level": 0}),
        ([Plan(SCHEMA, 1.0, "SMP[GRR]"), Plan({"a": ["0", "1"]}, 1.0, "GRR")], {}),
        ([Plan({"a": Categories(labels=[str(i) for i in range(25)], missing="drop")}, 1.0, "GRR")], {}),
    ],
)
def test_bad_settings_are_refused(surveys, settings):
    with pytest.raises(BruitError):
        reidentification([Plan(SCHEMA, 1.0, "SMP[GRR]")] if surveys is None else surveys, PEOPLE, **settings)


def test_bad_tables_are_refused():
    plan = Plan(SCHEMA, 1.0, "SMP[GRR]")
    with pytest.raises(DataError, match="record for every person"):
        reidentification([plan], PEOPLE, background={name: column[:-1] for name, column in PEOPLE.items()})
    with pytest.raises(DataError, match="nobody"):
        reidentification([plan], {name: [] for name in SCHEMA})
    ragged = {**PEOPLE, "a": PEOPLE["a"][:-1]}
    with pytest.raises(DataError, match="as many entries"):
        reidentification([plan], ragged)
    with pytest.raises(DataError, match="background must have as many entries"):
        reidentification([plan], PEOPLE, background=ragged)
    with pytest.raises(DataError, match="column 'a'"):
        reidentification([plan], {"b": ["1"]})
    with pytest.raises(ParameterError):
        reidentification([plan], PEOPLE, known=["nobody asks this"])
