"""Bars name no estimate where the interval is wide, and of two answers there is one bar."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bruit.collector.bars import UNKNOWN, main_rows, rows
from bruit.collector.wording import TEXTS
from bruit.survey import Survey

from ..surveys import MANY


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(MANY, encoding="utf-8")
    return Survey.load(path)


def shares(labels, *values):
    ends = [value[1:] for value in values]
    return SimpleNamespace(labels=labels, frequency=[value[0] for value in values], interval=lambda _: ends)


@pytest.mark.parametrize(("language", "between"), [("en", "({} to {})"), ("fr", "({} à {})")])
def test_numbers_for_people_are_rounded_and_cut_and_those_of_the_table_are_not(language, between, survey) -> None:
    answer = shares(
        ["No", "Yes", "I would rather not say"], (1.0312, 0.912, 1.2), (-0.03, -0.1, 0.04), (0, -0.1, 0.4999)
    )
    every = list(rows(survey, "drinks", answer, TEXTS[language], language))
    assert [row.about for row in every] == ["100\u00a0%", "0\u00a0%", "0\u00a0%"]
    assert [row.range for row in every] == [between.format(*pair) for pair in ((91, 100), (0, 4), (0, 50))]
    point = TEXTS[language]["decimal"]
    assert [row.value for row in every] == [f"{value}\u00a0%".replace(".", point) for value in ("103.1", "−3.0", "0.0")]


def test_a_wide_interval_has_no_estimate_beside_its_bar_as_in_the_sentence(survey) -> None:
    answer = shares(["theft", "none"], (0.68, 0.11, 1.2), (0.32, -0.2, 0.89))
    assert {row.about for row in rows(survey, "other", answer, TEXTS["en"], "en")} == {UNKNOWN}
    wide = SimpleNamespace(mean=7.0, interval=lambda _: (1.0, 11.5))
    narrow = SimpleNamespace(mean=7.0, interval=lambda _: (6.0, 8.0))
    kinds = [next(iter(rows(survey, "hours", answer, TEXTS["en"], "en"))).about for answer in (wide, narrow)]
    assert kinds == [UNKNOWN, "7"]


def test_of_two_answers_one_has_a_bar_and_of_a_change_too(survey) -> None:
    answer = shares(["no", "yes"], (0.7, 0.6, 0.8), (0.3, 0.2, 0.4))
    (row,) = main_rows(survey, "seen: theft", answer, TEXTS["en"], "en")
    assert row.about == "30\u00a0%"
    (change,) = main_rows(survey, "seen: theft", answer, TEXTS["en"], "en", signed=True)
    assert (change.about, change.zero) == ("30.0 points", 500)
