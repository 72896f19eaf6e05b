"""What to expect of a plan: errors, risks and promises, before anybody is asked."""

from __future__ import annotations

import pytest

from bruit import Grid, Plan
from bruit.attacks import prospects
from bruit.errors import ParameterError

SCHEMA = {"town": ["a", "b", "c"], "smokes": ["no", "yes"]}


def test_every_attribute_has_its_error_and_how_often_it_is_guessed() -> None:
    expected = prospects(Plan(SCHEMA, 2.0, "SMP[GRR]"), n=10_000)
    assert [row["attribute"] for row in expected.attributes] == list(SCHEMA)
    few = prospects(Plan(SCHEMA, 2.0, "SMP[GRR]"), n=100)
    for row, wide in zip(expected.attributes, few.attributes, strict=True):
        # How many draw an attribute varies: the variance of n people is about V·d/n·(1 + (d − 1)/n), here with d = 2.
        assert row["half_width"] == pytest.approx(wide["half_width"] / 10 / 1.01**0.5, rel=1e-3)
        assert row["blindly"] < row["guessed"] < 1
    assert expected.to_dict()["people"] == 10_000
    assert "guarantee for all answers of a person" in " ".join(expected.tables[-1].notes)


def test_a_warning_says_that_what_is_sent_in_clear_singles_people_out() -> None:
    plan = Plan(SCHEMA, 1.0, "GRR", public=["town"])
    assert "3 groups" in prospects(plan, n=20).warning
    assert prospects(plan, n=3000).warning == ""


def test_nobody_is_no_number_of_people() -> None:
    with pytest.raises(ParameterError, match="n must be"):
        prospects(Plan(SCHEMA, 1.0, "SMP[GRR]"), n=0)


def test_a_note_names_too_few_people_and_documents_have_the_number() -> None:
    plan = Plan({**SCHEMA, "age": Grid(17, 90)}, 1.0, "SMP[ADP]")
    few, enough = prospects(plan, n=60), prospects(plan, n=10_000)
    assert any("further from the truth than guessing" in note for note in few.tables[-1].notes)
    assert not any("further from the truth" in note for note in enough.tables[-1].notes)
    assert few.to_dict()["uniform_guess_for"] == "zipf"
    needed = {row["attribute"]: row["people_to_beat_uniform"] for row in enough.attributes}
    assert needed["town"] > needed["smokes"] > 60
    assert needed["age"] is None
