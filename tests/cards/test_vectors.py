"""Vectors: each is what `sample` does, and the words at which something else begins are among them."""

from __future__ import annotations

import json

import pytest

from bruit.laws import ClampedLaw, DistanceLaw, LeaningLaw, TwoLevelLaw
from bruit.oracles import oracle


def test_a_vector_is_what_the_card_draws_and_uses_all_its_words(design):
    for vector in design.card.vectors(5, rng=2)[::7]:
        words = iter(vector.words)
        assert design.draw(vector.codes, words) == vector.report
        assert next(words, None) is None


def test_the_ends_and_the_boundaries_of_every_law_are_among_the_words(design):
    words = {word for vector in design.card.vectors(0, rng=1) for word in vector.words}
    assert {0, 1, 2**64 - 2, 2**64 - 1} <= words
    for question in design.card.questions:
        law = question.law if question.memo is None else question.memo
        if question.refresh is not None:
            assert {question.refresh - 1, question.refresh, question.refresh + 1} <= words
        if isinstance(law, TwoLevelLaw):
            kept = (law.inside - law.outside) * law.members
            assert {kept - 1, kept, kept + 1, law.total - 1} <= words
            assert law.total == 2**64 or {law.total, min(law.total + 1, 2**64 - 1)} <= words
        elif isinstance(law, LeaningLaw):
            assert {law.least - 1, law.least, law.total - 1} <= words
        elif isinstance(law, DistanceLaw | ClampedLaw):
            total = law.total(0)
            first = -(-(law.weights[0] << 64) // total)
            assert {first - 1, first, first + 1} <= words


@pytest.mark.parametrize("name", ["GRR", "SS", "OLH pool", "laplace", "duchi", "hybrid", "SMP weighted", "RS+FD[GRR]"])
def test_words_that_must_be_skipped_are_among_them(designs, name):
    """All others take the same number of words: one that takes more had a word that was skipped."""
    lengths = [len(vector.words) for vector in designs[name].card.vectors(0, rng=1)]
    assert max(lengths) > min(lengths)


def test_all_codes_of_a_question_are_tried():
    card = oracle("GRR", epsilon=1.0, k=5).card("a")
    assert {vector.codes for vector in card.vectors(100, rng=1)} == {(code,) for code in range(5)}


def test_vectors_are_texts_for_other_languages(design):
    first = design.card.vectors(3, rng=4)[-1].to_dict()
    assert json.loads(json.dumps(first)) == first
    assert all(type(text) is str for name in ("codes", "words") for text in first[name])


def test_a_seed_gives_the_same_vectors_again():
    card = oracle("OLH", epsilon=1.0, k=5).card("a")
    assert card.vectors(10, rng=1) == card.vectors(10, rng=1) != card.vectors(10, rng=2)
    with pytest.raises(ValueError, match="n must be"):
        card.vectors(-1)
