"""What a survey is told before it is opened: odds, widths, votes, and what would be unwise."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.estimation import intervals

from ..plans import only_mechanism
from ..surveys import LONG, MANY, ONE


def test_the_width_is_that_of_the_estimates_and_the_votes_those_of_the_law(one, write):
    (row,) = one.check().prospects
    oracle = only_mechanism(one.plan)
    tally = oracle.simulate([15, 15], rng=1)
    variance = float(oracle.variance(0.5, 30))
    assert row.half_width == pytest.approx(intervals.normal_quantile(0.95) * variance**0.5)
    assert tally.n == 30
    assert row.votes == pytest.approx(float((1 - oracle.q) / (oracle.p - oracle.q)))
    assert (str(row.own), str(row.other)) == ("73 of 100", "27 of 100")


def test_a_forged_report_moves_an_estimate_by_the_votes_that_are_stated(one, write):
    """One report more of the likeliest message against one report of a person with the other answer."""
    plan, (row,) = one.plan, one.check().prospects
    reports = {"drinks": np.array([0] * 50 + [1] * 50, np.uint8)}
    forged = {"drinks": np.append(reports["drinks"], np.uint8(1))}
    before, after = (plan.estimate(plan.tally(part), "people")["drinks"] for part in (reports, forged))
    raised = after.frequency[1] * 101 - before.frequency[1] * 100
    assert raised == pytest.approx(row.votes)
    number = write(ONE.replace('"yes-no"', '"number"\nfrom = 0\nto = 10'))
    (row,) = number.check().prospects
    mechanism = only_mechanism(number.plan)
    scores = mechanism.scores(np.arange(mechanism.law.messages).astype(mechanism.form.dtype))
    assert row.votes == pytest.approx(max(scores.max(), 10 - scores.min()) / 10)
    assert row.votes > 1


def test_with_several_questions_a_forged_report_weighs_as_many_times_more(many):
    rows = {row.name: row for row in many.check().prospects}
    oracle = many.plan.mechanisms["seen: theft"]
    assert rows["seen: theft"].votes == pytest.approx(6 * oracle.votes_per_cheater)


WISE = ONE.replace("people = 30", "people = 1000")
UNWISE = {
    "few people": (
        WISE,
        "people = 1000",
        "people = 30",
        "known to ± 39 points only. A result of 50 % .* 11 % to 89 %.* ask 450 people, or take a larger epsilon, which",
    ),
    "nobody knows how many": (WISE, "people = 1000", "", "does not say how many"),
    "a gate beyond all people": (WISE, "people = 1000", "people = 1000\nshown_from = 2000", "nothing would be shown"),
    "a last step that is not whole": (WISE, "people = 1000", "people = 1008", r"last 8 answers .* shown_from = 9\."),
    "people of whom no step is whole": (WISE, "people = 1000", "people = 1009", "last 9 answers .* a multiple"),
    "questions that few report on": (
        MANY,
        "people = 200",
        "people = 48",
        "about 8 people report on each, and each is shown from 20 reports on",
    ),
    "hardly any protection": (WISE, "epsilon = 1.0", "epsilon = 4.0", "can become 99 %"),
    "groups of few": (MANY, "people = 200", "people = 60", "3 groups, about 20.0 people in each"),
    "GRR with many answers": (LONG, "epsilon = 1.0", 'epsilon = 1.0\nmethod = "GRR"', "too many for GRR"),
}


@pytest.mark.parametrize("case", UNWISE)
def test_what_is_unwise_is_said_with_what_to_do(case, write):
    text, old, new, warning = UNWISE[case]
    import re

    assert any(re.search(warning, line) for line in write(text.replace(old, new, 1)).check().warnings)


def test_nothing_is_said_against_a_wise_survey(write):
    assert write(WISE).check().warnings == []


def test_the_last_line_is_a_verdict(write):
    verdicts = {
        WISE: "Verdict: nothing speaks against asking.",
        WISE.replace("people = 1000", "people = 30"): "Verdict: you can ask. First weigh what is marked unwise.",
        WISE.replace(
            "people = 1000", "people = 11"
        ): "Verdict: so few people would tell nothing. First weigh what is marked unwise.",
        WISE.replace("epsilon = 1.0", "epsilon = 4.0"): "Verdict: do not ask yet. First see to what is marked change.",
        WISE.replace("people = 1000", "people = 5"): "Verdict: do not ask yet. First see to what is marked change.",
    }
    for text, verdict in verdicts.items():
        assert write(text).check().table().notes[-1] == verdict


def test_codes_have_no_last_step_to_warn_of(write):
    """They are collected together; what becomes of them is tested with a class."""
    people = WISE.replace("people = 1000", "people = 1008")
    assert "last 8 answers" in " ".join(write(people).check().warnings)
    assert write(f'channel = "codes"\n{people}').check().warnings == []


def test_pairs_of_codes_with_one_id_are_named_only_where_they_matter(write):
    few, many = write(ONE), write(ONE.replace("people = 30", "people = 1000"))
    assert "one id" not in " ".join(few.check().table().notes)
    assert "0.03 pairs have codes with one id on average" in " ".join(many.check().table().notes)
