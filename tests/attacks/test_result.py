"""What an attack reports about itself, and the people it is tried on."""

import numpy as np
import pytest

from bruit.attacks import AttackResult, draw_people
from bruit.collection import Plan
from bruit.domains import Categories, Grid, Schema
from bruit.errors import BruitError, DataError, ParameterError
from bruit.estimation.intervals import clopper_pearson


def test_a_result_has_the_rate_and_its_exact_interval():
    found = AttackResult(hits=37, n=200, baseline=0.1, description="x", level=0.9)
    assert found.accuracy == 37 / 200
    assert found.interval == tuple(float(end) for end in clopper_pearson(37, 200, 0.9))
    assert found.interval[0] < found.accuracy < found.interval[1]


@pytest.mark.parametrize(("hits", "interval"), [(0, 0.0), (50, 1.0)])
def test_an_attack_that_is_never_or_always_right_has_an_interval_that_ends_there(hits, interval):
    assert interval in AttackResult(hits=hits, n=50, baseline=0.5, description="x").interval


def test_an_attack_leaks_only_where_its_whole_interval_is_above_the_baseline():
    assert AttackResult(hits=60, n=100, baseline=0.4, description="x").leaks
    assert not AttackResult(hits=45, n=100, baseline=0.4, description="x").leaks
    assert not AttackResult(hits=10, n=100, baseline=0.4, description="x").leaks


def test_the_text_of_a_result_tells_everything_that_matters():
    text = repr(AttackResult(hits=60, n=1000, baseline=0.05, description="a thing", expected=0.0625))
    assert "a thing" in text
    for words in ("6.00 %", "1,000", "95 % interval", "5.00 %", "expected", "6.25 %"):
        assert words in text


def test_a_result_cannot_be_changed_and_speaks_of_somebody():
    found = AttackResult(hits=1, n=2, baseline=0.5, description="x")
    with pytest.raises(AttributeError):
        found.hits = 2
    with pytest.raises(DataError, match="nobody"):
        AttackResult(hits=0, n=0, baseline=0.5, description="x")
    with pytest.raises(ParameterError):
        AttackResult(hits=1, n=2, baseline=0.5, description="x", level=1.0)


SCHEMA = Schema({"sex": ["F", "M"], "age": Grid(0, 9)})


def test_people_who_do_not_exist_have_the_frequencies_that_were_asked_for():
    people = draw_people(SCHEMA, {"sex": [0.9, 0.1]}, 20_000, rng=1)
    assert abs(np.mean(people["sex"] == "F") - 0.9) < 5.5 * np.sqrt(0.09 / 20_000)
    counts = np.bincount(people["age"].astype(int), minlength=10)
    assert np.abs(counts - 2000).max() < 5.5 * np.sqrt(1800)
    assert {name: column.tolist() for name, column in SCHEMA.encode(people).items()}.keys() == {"sex", "age"}


@pytest.mark.parametrize(
    "frequencies", [{"other": [1.0]}, {"sex": [0.5, 0.6]}, {"sex": [1.5, -0.5]}, {"sex": [1.0]}, {"sex": [np.nan, 1]}]
)
def test_frequencies_that_are_none_are_refused(frequencies):
    with pytest.raises(BruitError):
        draw_people(SCHEMA, frequencies, 5)


def test_made_up_people_with_gaps_can_be_asked():
    """Who has no value has a gap, as in a table, and not the name of the category for gaps."""
    schema = Schema({"sex": Categories(labels=["F", "M"], missing="category"), "age": Grid(0, 3, missing="category")})
    people = draw_people(schema, {"sex": [0.2, 0.2, 0.6]}, 300, rng=1)
    assert sum(value is None for value in people["sex"].tolist()) > 100
    assert sum(value is None for value in people["age"].tolist()) > 20
    assert {len(column) for column in Plan(schema, 1.0, "RS+FD[GRR]").privatize(people, rng=1).values()} == {300}
