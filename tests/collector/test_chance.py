"""The slider shows the exact law: what reports would say, by fractions, and what they did say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bruit.collection import Plan
from bruit.collector import open_store
from bruit.collector.chance import AnswerLaw, law_of, rounded
from bruit.collector.explanations import Why, why
from bruit.collector.intake import _Waiting, commit
from bruit.collector.links import issue
from bruit.collector.results import results
from bruit.collector.results_page import page
from bruit.collector.sentences import lead
from bruit.collector.wording import TEXTS
from bruit.estimation import Tally
from bruit.oracles import oracle

from ..surveys import HEALTH, ONE, TABLES, rounds


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("labels", [["no", "yes"], list("abcde")])
def test_the_law_is_that_of_the_mechanism_by_its_whole_numbers(epsilon, labels) -> None:
    plan = Plan({"asked": oracle("GRR", epsilon=epsilon, labels=labels)})
    law, rows = law_of(plan, "asked"), plan.mechanisms["asked"].law
    assert law is not None
    assert [law.reports(0), law.reports(100)] == [Fraction(rows.row(1)[0]), Fraction(rows.row(0)[0])]
    # A device sends the truth with chance p - q, and else draws from all answers alike.
    truth = law.own - law.other
    assert law.by_chance == Fraction(1, len(labels))
    assert law.own == truth + (1 - truth) * law.by_chance


@pytest.mark.parametrize("estimate", [-0.2, 0.0, 0.31, 0.995, 1.3])
def test_every_number_of_the_slider_is_the_nearest_to_the_exact_one(estimate) -> None:
    law = AnswerLaw(Fraction(731, 1000), Fraction(269, 1000))
    table = Why("", law, estimate, "", "").table()
    for people in range(101):
        exact = Fraction(269, 1000) + Fraction(people, 100) * Fraction(462, 1000)
        assert abs(table["reports"][people] - 100 * exact) <= Fraction(1, 2)
        assert abs(table["widths"][people] - 1000 * exact) <= Fraction(1, 2)
    distances = [abs(law.reports(people) - law.observed(estimate)) for people in range(101)]
    assert distances[table["closest"]] == min(distances)
    assert abs(table["observed"] - 100 * law.observed(estimate)) <= Fraction(1, 2)


def test_halves_are_rounded_up() -> None:
    assert [rounded(Fraction(number, 2)) for number in (1, 2, 3, 5, -1)] == [1, 1, 2, 3, 0]


@pytest.mark.parametrize("method", ["SMP[GRR]", "SPL[GRR]", "SMP[OUE]", "SMP[SS]"])
def test_what_was_observed_is_the_number_of_reports_that_say_the_answer(method, tmp_path, opened) -> None:
    """The page has no counts of reports: the slider gets them back from the estimate, to the last report."""
    path = tmp_path / "health.toml"
    path.write_text(f'method = "{method}"\n{HEALTH}', encoding="utf-8")
    shown = filled(tmp_path, path, opened, 120)
    plan, tally = shown.survey.plan, shown.tally(1)
    for question in shown.rounds[1]:
        law = law_of(plan, question.name)
        counts = supports(plan, tally, question.name)
        observed = [law.observed(share) * question.n for share in question.answer.frequency.tolist()]
        assert [float(number) for number in observed] == pytest.approx(counts, abs=1e-6)


def test_the_same_holds_for_a_round_of_several(tmp_path, opened) -> None:
    path = tmp_path / "sleep.toml"
    times = [f"2020-01-{day:02}T08:00:00+01:00" for day in (5, 12, 19, 26)]
    path.write_text(rounds(times, "people = 60\nshown_from = 10"), encoding="utf-8")
    shown = filled(tmp_path, path, opened, 40)
    (question,) = shown.rounds[1]
    law = law_of(shown.survey.plan, "slept")
    counts = supports(shown.survey.plan, shown.tally(1), "slept")
    assert [float(law.observed(share) * 40) for share in question.answer.frequency.tolist()] == pytest.approx(counts)


def test_another_law_would_be_seen(tmp_path, opened) -> None:
    """The control of the two tests above: p and q of a neighbouring ε give other counts."""
    path = tmp_path / "one.toml"
    path.write_text(ONE, encoding="utf-8")
    shown = filled(tmp_path, path, opened, 61)  # an odd number: no share is one half
    (question,) = shown.rounds[1]
    law = law_of(Plan({"drinks": ["No", "Yes"]}, 1.1), "drinks")
    counts = supports(shown.survey.plan, shown.tally(1), "drinks")
    for share, count in zip(question.answer.frequency.tolist(), counts, strict=True):
        assert abs(float(law.observed(share) * 61) - count) > 1e-3


@pytest.mark.parametrize("text", [TABLES, TABLES.replace("TAB[GRR]", "RS+FD[GRR]")], ids=["pairs", "fakes"])
def test_where_reports_have_another_law_there_is_no_slider(text, tmp_path, opened) -> None:
    path = tmp_path / "tables.toml"
    path.write_text(text, encoding="utf-8")
    shown = filled(tmp_path, path, opened, 30)
    assert [law_of(shown.survey.plan, question.name) for question in shown.rounds[1]] == [None, None]
    assert b"<input" not in page(shown)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_text_says_by_which_numbers_the_estimate_is_found(language, tmp_path, opened) -> None:
    path = tmp_path / "one.toml"
    path.write_text(ONE, encoding="utf-8")
    shown = filled(tmp_path, path, opened, 50)
    (question,) = shown.rounds[1]
    explained = why(shown.survey, "drinks", question.answer, "“Yes”", TEXTS[language])
    assert all(number in explained.by_chance for number in ("50 ", "27 ", "73 "))
    share = float(question.answer.frequency[lead(shown.survey, "drinks", question.answer)])
    written = f"{100 * round(share, 3):.1f}".replace("-", "−").replace(".", TEXTS[language]["decimal"])
    assert f"= {written}\u00a0%." in explained.undone
    beyond = TEXTS[language]["why_below" if share < 0 else "why_above"]
    assert explained.undone.endswith(beyond) == (not 0 <= share <= 1)


def filled(folder, path, opened, people):
    """Results of this many people, of whom a third gives the last answer to every question."""
    store = open_store(folder / "surveys.sqlite")
    links = "rounds =" in path.read_text(encoding="utf-8")
    open_survey = opened(store, path, "filled", links=links)
    survey, tokens, waiting = open_survey.survey, issue(store, "filled", people) if links else [], []
    for person in range(people):
        answers = {question.name: question.values[-1 if person % 3 == 0 else 0] for question in survey.questions}
        body = (
            survey.refresh(survey.draw_memo(answers), link=tokens[person], round=1) if links else survey.answer(answers)
        )
        waiting.append(_Waiting(open_survey, open_survey.read(body), None))
    assert set(commit(store, waiting)) == {201}
    shown = results(store, open_survey)
    store.disconnect()
    return shown


def supports(plan, tally, name) -> list[int]:
    """How many reports say each answer, counted."""
    mechanism = plan.mechanisms[name]
    counts = tally.counts[plan.design.places[name]]
    if not hasattr(mechanism, "support"):
        return counts.tolist()
    return mechanism.support(Tally(design=mechanism.digest, counts=counts, n=int(counts.sum()))).tolist()
