"""Sentences say what the law's integers say, in every language, and promise to the private side."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from bruit import Grid
from bruit.collection import Plan
from bruit.collection.odds import belief
from bruit.errors import ParameterError
from bruit.oracles import oracle
from bruit.sheets import LANGUAGES, Phrases
from bruit.sheets.phrases import _TEXTS


def _leaves(tree: dict[str, object], path: str = "") -> dict[str, str]:
    leaves: dict[str, str] = {}
    for name, item in tree.items():
        leaves |= _leaves(item, f"{path}{name}.") if isinstance(item, dict) else {f"{path}{name}": str(item)}
    return leaves


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_phrases_with_the_same_words_to_fill_in(language: str) -> None:
    english, other = _leaves(dict(_TEXTS["en"])), _leaves(dict(_TEXTS[language]))
    assert english.keys() == other.keys()
    for name, phrase in english.items():
        assert sorted(set(re.findall(r"{\w+}", phrase))) == sorted(set(re.findall(r"{\w+}", other[name]))), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_says_anonymous(language: str) -> None:
    assert "anonym" not in " ".join(_leaves(dict(_TEXTS[language])).values()).lower()


def test_two_answers_get_a_sentence_each_whose_shares_are_a_hundred() -> None:
    mechanism = oracle("GRR", epsilon=1.0, labels=["no", "yes"])
    assert Phrases("en").odds(mechanism, ["no", "yes"]) == [
        "If your answer is “no”, 73 of 100 people like you send “no” and 27 of 100 send “yes”.",
        "If your answer is “yes”, 73 of 100 people like you send “yes” and 27 of 100 send “no”.",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["GRR", "OUE", "SS", "OLH", "HR"])
def test_every_oracle_has_its_sentence(language: str, name: str) -> None:
    (sentence,) = Phrases(language).odds(oracle(name, epsilon=1.0, k=5), list(range(5)))
    assert re.search(r"\d", sentence)


def test_a_number_is_described_by_its_largest_ratio_rounded_up() -> None:
    plan = Plan({"age": Grid(0, 10, cells=11)}, epsilon=1.0)
    (sentence,) = Phrases("en").odds(plan.mechanisms["age"], plan.schema["age"].labels)
    assert "2.72 times" in sentence


def test_numbers_are_written_as_the_language_does() -> None:
    assert Phrases("en").whole(10_000) == "10,000"
    assert Phrases("fr").whole(10_000) == "10\u202f000"
    assert Phrases("fr").decimal(1234.5, 1) == "1\u202f234,5"


def test_a_label_from_outside_cannot_break_a_sentence() -> None:
    mechanism = oracle("GRR", epsilon=1.0, labels=["a{own}", "b\n<script>"])
    first, _ = Phrases("en").odds(mechanism, ["a{own}", "b\n<script>"])
    assert "a{own}" in first
    assert "\n" not in first


def test_a_belief_is_a_sentence_in_either_form() -> None:
    moved = belief(Fraction(3), 50)
    assert "75 of 100 at most" in Phrases("en").belief(moved)
    assert "between 25 of 100 and 75 of 100" in Phrases("en").belief(moved, between=True)


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(ParameterError, match="language must be"):
        Phrases("xx")
