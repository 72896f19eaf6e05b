"""Cards that ask again: the memo is drawn once, refreshed in every round, and a report has the law of the plan."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from bruit import Plan
from bruit.cards import Card
from bruit.entropy import Entropy
from bruit.errors import DataError, FormatError, ParameterError
from bruit.laws.words import WORDS, stream

from .. import plans

#: How often a comparison may fail a sampler that is right.
ALARM = 1e-8


def planned(method="GRR", k=3, **settings):
    labels = [str(code) for code in range(k)]
    schema = {"a": labels} if "[" not in method else {"a": labels, "b": ["x", "y"]}
    return plans.planned(schema, 1.0, method, **{"epoch_epsilon": 2.5, "rounds": 12, "epochs": 4, **settings})


def refreshed_row(law, weight, code):
    """P(report | code) of a memo of this law that so many words refresh, exactly."""
    share = Fraction(weight, WORDS)
    if law.shape == "bits":
        values = law.sets.values
        chances = [law.p if value == code else law.q for value in range(values)]
        after = [chance * (1 - share) + (1 - chance) * share for chance in chances]
        return [
            math.prod((chance if message >> v & 1 else 1 - chance for v, chance in enumerate(after)), start=Fraction(1))
            for message in law.sets.messages()
        ]
    row = law.row(code)
    return [(1 - share) * chance + share / len(row) for chance in row]


@pytest.mark.parametrize(("method", "k"), [("GRR", 3), ("SS", 5), ("HR", 5), ("PGR", 7), ("OUE", 4), ("SUE", 4)])
def test_a_report_has_the_law_of_the_plan_but_for_one_word_of_all_and_never_tells_more(method, k):
    plan = planned(method, k)
    question, oracle = plan.card().questions[0], plan.mechanisms["a"]
    rows = [refreshed_row(question.memo, question.refresh, code) for code in range(k)]
    for code in range(k):
        gaps = [abs(a - b) for a, b in zip(rows[code], oracle.law.row(code), strict=True)]
        assert max(gaps) <= Fraction(k if method in ("OUE", "SUE") else 1, WORDS)
        assert sum(rows[code]) == 1
    ratio = max(x[m] / y[m] for x, y in itertools.permutations(rows, 2) for m in range(len(rows[0])))
    assert ratio <= oracle.law.ratio
    # Control: a weight that is rounded down tells more.
    if plan.panel.repeated["a"].keep * WORDS % 1:
        rows = [refreshed_row(question.memo, question.refresh - 1, code) for code in range(k)]
        assert max(x[m] / y[m] for x, y in itertools.permutations(rows, 2) for m in range(len(rows[0]))) > ratio


def chance(counts, law):
    seen, expected = np.array(counts, float), np.array(law, float) * sum(counts)
    return special.chdtrc(len(law) - 1, ((seen - expected) ** 2 / expected).sum())


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["GRR", "SS", "HR", "OUE"])
def test_what_a_device_draws_has_that_law(method):
    plan, words, draws = planned(method, 3), stream(Entropy(7)), 20_000
    card, law = plan.card(), plan.mechanisms["a"].law
    form, messages = card.columns["a"], list(law.sets.messages())
    seen = Counter(form.number(card.refresh(card.draw_memo_codes([1], words), words)["a"]) for _ in range(draws))
    counts = [seen[message] for message in messages]
    assert chance(counts, [float(p) for p in law.row(1)]) > ALARM
    assert chance(counts, [float(p) for p in card.questions[0].memo.row(1)]) < ALARM  # control: the memo itself


def test_rounds_of_one_memo_are_as_alike_as_the_plan_says():
    plan, words, draws = planned("GRR", 3), stream(Entropy(8)), 20_000
    card, keep = plan.card(), float(plan.panel.repeated["a"].keep)
    memos = [card.draw_memo_codes([1], words) for _ in range(draws)]
    alike = sum(card.refresh(memo, words) == card.refresh(memo, words) for memo in memos)
    expected = keep**2 + (1 - keep**2) / 3
    assert abs(alike / draws - expected) < 6 * math.sqrt(expected * (1 - expected) / draws)
    assert abs(alike / draws - (1 / 3)) > 0.1  # control: memos that are drawn anew


def test_the_attribute_that_is_sampled_stays_in_the_epoch():
    card, words = planned("SMP[GRR]").card(), stream(Entropy(9))
    memos = [card.draw_memo({"a": "1", "b": "x"}, words) for _ in range(60)]
    assert {memo["attribute"] for memo in memos} == {"0", "1"}
    for memo in memos:
        assert {card.refresh(memo, words)["attribute"] for _ in range(4)} == {memo["attribute"]}


@pytest.mark.parametrize("method", ["GRR", "OUE", "OLH", "SPL[SS]", "SMP[GRR]"])
def test_a_card_with_rounds_is_read_back(method):
    card = planned(method).card()
    assert Card.from_bytes(card.to_bytes()) == card
    assert (card.rounds, card.epochs) == (12, 4)
    assert b'"memo"' in card.to_bytes()
    assert b'"refresh"' in card.to_bytes()


@pytest.mark.parametrize(
    ("part", "other"),
    [
        (b'"rounds":"12"', b'"rounds":"0"'),
        (b'"epochs":"4",', b""),
        (b'"rounds":"12"', b'"rounds":"12.5"'),
        (b'"memo":{"inside"', b'"memory":{"inside"'),
        (b'"refresh":"', b'"refresh":"99'),
    ],
)
def test_a_card_with_rounds_that_is_not_whole_is_refused(part, other):
    content = planned().card().to_bytes()
    assert content.count(part) == 1
    with pytest.raises(FormatError):
        Card.from_bytes(content.replace(part, other))


def test_sample_is_for_cards_that_ask_once_and_memos_for_those_that_ask_again():
    again, once = planned().card(), Plan({"a": ["0", "1"]}, 1.0).card()
    with pytest.raises(ParameterError, match="draw_memo"):
        again.sample({"a": "1"})
    with pytest.raises(ParameterError, match="asks once"):
        once.draw_memo({"a": "1"})
    with pytest.raises(ParameterError, match="asks once"):
        once.refresh({"a": "1"})
    for memo in ({}, {"a": "x"}, {"a": "-1"}, None, {"a": "300"}):
        with pytest.raises(DataError, match="memo must be"):
            again.refresh(memo)
    smp = planned("SMP[GRR]").card()
    with pytest.raises(DataError, match="memo must be"):
        smp.refresh({"attribute": "7", "report": "0"})
