"""Forged reports: an id of somebody's choice can support any number of texts at once, which is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.domains import OpenText
from bruit.open_answers import HeavyHitters

DESIGN = HeavyHitters(4.0, domain=OpenText(letters=3))
#: Its letters are fewer than by default, so that decoding takes moments.
SCHOOL = HeavyHitters(2.0, domain=OpenText(letters=6))
ANSWERS = {"noise": 1_200, "litter": 900, "buses": 600, "lights": 300}


def forged(ids, design=DESIGN):
    """Reports with these ids and bucket 0: their functions have no bits, so that each supports every text."""
    reports = design.form.empty(len(ids))
    reports["id"] = ids
    return reports


def of_school(seed):
    return SCHOOL.privatize([text for text, people in ANSWERS.items() for _ in range(people)], rng=seed)


def test_reports_whose_functions_have_no_bits_alone_show_nothing_and_fill_no_memory() -> None:
    answers = DESIGN.estimate(forged(1000 + 1024 * np.arange(5)))
    assert answers.labels == ()
    assert answers.raised >= 1


@pytest.mark.parametrize("count", [24, 60, 594])
def test_forged_reports_neither_hide_the_frequent_answers_nor_invent_dozens(count) -> None:
    """Each of them supports every text and lifts all shares alike; noise would do the rest."""
    honest = of_school(count)
    before = SCHOOL.estimate(honest)
    after = SCHOOL.estimate(np.concatenate([honest, forged(430 + np.arange(count), SCHOOL)]))
    assert before.raised == 0
    assert "noise" in before.labels
    assert {"noise", "litter", "buses"} <= set(after.labels)
    assert len(set(after.labels) - set(ANSWERS)) <= 3
    assert count / 3 < after.raised <= count
    noise = after.interval()[after.labels.index("noise")]
    assert noise[0] < ANSWERS["noise"] / 3_000 + 0.1


def test_without_raised_limits_forged_reports_would_invent_dozens(monkeypatch) -> None:
    """The control: the sum of shares is what tells."""
    from bruit.open_answers import certification

    monkeypatch.setattr(certification, "MOST_FALSE_NAMES", 10**9)
    answers = SCHOOL.estimate(np.concatenate([of_school(24), forged(430 + np.arange(24), SCHOOL)]))
    assert answers.raised == 0
    assert len(answers.labels) > 20


def test_raised_limits_are_stated_with_their_number() -> None:
    answers = SCHOOL.estimate(np.concatenate([of_school(3), forged(430 + np.arange(60), SCHOOL)]))
    assert any(f"needs {answers.raised} further reports to be shown" in note for note in answers.table().notes)
    assert not any("further reports" in note for note in SCHOOL.estimate(of_school(3)).table().notes)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 20, 200])
def test_honest_reports_are_decoded_however_few_they_are(n) -> None:
    for seed in range(10):
        answers = DESIGN.estimate(DESIGN.privatize(["noise"] * n, rng=seed))
        assert (answers.n, answers.raised) == (n, 0)


def test_as_many_answers_as_there_can_be_are_shown() -> None:
    """Texts of equal share, each far above the limit."""
    texts = [f"{letter}xy" for letter in "abcdefghijkl"]
    answers = DESIGN.estimate(DESIGN.privatize(texts * 2_000, rng=3))
    assert sorted(answers.labels) == texts
    assert answers.raised == 0
