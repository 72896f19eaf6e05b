"""Dots are people: a hundred of them, each in one kind, and as many as the sentence says."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from bruit.collector.explanations import ALONG, dots
from bruit.collector.sentences import headline
from bruit.collector.wording import TEXTS
from bruit.survey import Survey

from ..surveys import MANY


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(MANY, encoding="utf-8")
    return Survey.load(path)


def yes(share, low, high):
    """An estimate of yes and no."""
    ends = [(1 - high, 1 - low), (low, high)]
    return SimpleNamespace(labels=["No", "Yes"], frequency=[1 - share, share], interval=lambda _: ends)


def spots(path):
    return [tuple(map(int, pair)) for pair in re.findall(r"M(\d+) (\d+)h0", path)]


@pytest.mark.parametrize(
    ("estimate", "sure", "maybe"),
    [
        ((0.3149, 0.1501, 0.4899), 15, 34),
        ((-0.02, -0.09, 0.0412), 0, 4),
        ((1.05, 0.912, 1.2), 91, 9),
        ((-0.3, -0.4, -0.1), 0, 1),
        ((1.3, 1.1, 1.4), 99, 1),
        ((0.3149, 0.3061, 0.3191), 30, 2),
        ((0.5, -0.2, 1.2), 0, 100),
    ],
)
def test_a_hundred_dots_show_the_ends_of_the_sentence(survey, estimate, sure, maybe) -> None:
    answer = yes(*estimate)
    picture = dots(survey, "drinks", answer, "“Yes”", TEXTS["en"])
    paths = [spots(path) for path in (picture.full, picture.ring, picture.rest)]
    assert [len(path) for path in paths] == [sure, maybe, 100 - sure - maybe]
    every = [spot for path in paths for spot in path]
    assert every == [(10 * column + 5, 10 * row + 5) for row in range(10) for column in range(10)]
    assert picture.alt == f"100 dots: {sure} full, {maybe} rings, {100 - sure - maybe} small."
    low, high = (line.rpartition(" ")[2] for line in picture.lines[:2])
    assert re.search(f"(between|from) {re.escape(low)} (and|to) {re.escape(high)}", _said(survey, answer))


def _said(survey, answer) -> str:
    return headline(survey, "drinks", answer, TEXTS["en"], "en")


@pytest.mark.parametrize(
    ("mean", "ends"), [(7.2, (5.1, 9.0)), (0.1, (-1.0, 0.2)), (13.0, (11.0, 15.0)), (6.0, (-3, 20))]
)
def test_the_dots_of_a_scale_are_those_in_the_interval_and_the_one_next_to_the_mean(survey, mean, ends) -> None:
    picture = dots(survey, "hours", SimpleNamespace(mean=mean, interval=lambda _: ends), "", TEXTS["fr"])
    full, ring, rest = (spots(path) for path in (picture.full, picture.ring, picture.rest))
    values = {(10 * place + 5, 5): 0.5 * place for place in range(ALONG)}  # the scale is from 0 to 12
    assert sorted([*full, *ring, *rest]) == sorted(values)
    assert [values[spot] for spot in full] == [min(max(round(2 * mean) / 2, 0), 12)]
    assert all(ends[0] <= values[spot] <= ends[1] for spot in ring)
    assert not any(ends[0] <= values[spot] <= ends[1] for spot in rest)
    assert picture.caption == "L’échelle, de 0 à 12"
