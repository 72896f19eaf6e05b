"""A card for each question: one for several choices, whose people are counted once, and what is hidden stays hidden."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bruit.collector.cards import cards
from bruit.collector.results_page import page
from bruit.collector.wording import TEXTS

from .six import SIX, six


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return six(tmp_path_factory.mktemp("six"))


def made(shown, language="en"):
    return {card.key: card for card in cards(shown, 1, TEXTS[language], language)}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_question_is_one_card_in_the_order_of_the_survey(language, shown) -> None:
    every = made(shown, language)
    assert list(every) == [question.name for question in shown.survey.sensitive]
    assert [card.text for card in every.values()] == [question.text[language] for question in shown.survey.sensitive]
    rows = [len(card.rows) for card in every.values()]
    assert rows == [3, 1, 4, 5, 1, 4]  # of two answers one, of choices one each
    several = every["seen"]
    assert [row.label for row in several.rows] == list(shown.survey.sensitive[-1].labels[language])
    assert several.attributes == shown.survey.sensitive[-1].attribute_names


def test_people_who_reported_on_any_choice_are_counted_once(shown) -> None:
    """One attribute is drawn for each person: those of all choices are other people."""
    choices = [question for question in shown.rounds[1] if question.name.startswith("seen: ")]
    total = sum(question.n for question in choices)
    assert len(choices) == 4
    assert made(shown)["seen"].reports == f"{total} people reported on this."
    counted = [int(re.match(r"\d+", card.reports)[0]) for card in made(shown).values()]
    assert sum(counted) == shown.shown  # six questions, and every answer is of one of them


def test_where_everybody_reports_on_everything_no_card_says_so(tmp_path) -> None:
    everything = six(tmp_path, f'method = "SPL[GRR]"\n{SIX}')
    assert {card.reports for card in made(everything).values()} == {""}


def test_the_sentence_is_about_the_most_frequent_choice_and_about_yes(shown) -> None:
    every = made(shown)
    choices = {name: next(q for q in shown.rounds[1] if q.name == name) for name in every["seen"].attributes}
    most = max(choices, key=lambda name: choices[name].answer.frequency[1])
    assert f"would choose “{most.removeprefix('seen: ')}”" in every["seen"].lead
    assert "would say “Yes”" in every["drinks"].lead  # although no is more frequent
    assert every["sleep"].lead.startswith(("On average", "Too few"))


def test_a_hidden_choice_is_named_without_its_number_and_no_sum_is_shown(shown) -> None:
    *others, last = shown.rounds[1]
    hidden = replace(last, n=None, answer=None, hidden="few", groups=())
    fewer = replace(shown, rounds={1: (*others, hidden)})
    card = made(fewer)["seen"]
    assert [row.label for row in card.rows] == ["theft", "a fight", "bullying"]
    assert card.hidden == ("cheating: Too few people reported on this to show it: 20 reports are needed.",)
    numbers = sorted(question.n for question in others if question.name.startswith("seen: "))
    assert card.reports == f"Between {numbers[0]} and {numbers[-1]} people reported on each choice."
    assert "cheating" not in "".join(card.attributes)


def test_groups_of_choices_are_one_part_each_and_hidden_ones_are_named(shown) -> None:
    (grades,) = made(shown)["seen"].groups
    assert [part.caption.partition(":")[0] for part in grades.parts] == ["6th", "7th"]
    assert all(len(part.rows) == len(part.table) == 4 for part in grades.parts)
    *others, last = shown.rounds[1]
    first, second = last.groups
    partly = replace(last, groups=(first._replace(n=None, answer=None, hidden="follows"), second))
    (grades,) = made(replace(shown, rounds={1: (*others, partly)}))["seen"].groups
    assert [len(part.rows) for part in grades.parts] == [3, 4]
    assert grades.hidden == (
        "Not shown, because what a smaller group sent would follow by subtraction: 6th (cheating).",
    )


def test_the_page_has_a_section_for_each_question(shown) -> None:
    article = re.findall("<main.*?</main>", page(shown).decode(), re.DOTALL)[0]
    assert article.count('<section class="card"') == len(shown.survey.sensitive) == 6


def test_the_notes_of_several_choices_are_of_the_least_certain_one(shown) -> None:
    choices = [question for question in shown.rounds[1] if question.name.startswith("seen: ")]
    widest = max(choices, key=lambda question: question.now).name.removeprefix("seen: ")
    notes = made(shown)["seen"].notes
    assert len(notes) == 3
    assert all(line.startswith(f"{widest}: ") for line in notes)
