"""The page for an ethics board says what the plan's integers say, in every language, and nothing it cannot know."""

from __future__ import annotations

import html
import math
import re

import pytest

from bruit import Grid
from bruit.collection import RSRFD, Plan, Repeat
from bruit.collection.odds import belief, person_ratio
from bruit.domains import MultiChoice
from bruit.errors import ParameterError
from bruit.sheets import LANGUAGES, Phrases, sheet

PLANS = {
    "one": Plan({"smokes": ["no", "yes"]}, 1.0),
    "SMP": Plan(
        {"drinks": ["never", "often", "daily"], "smokes": ["no", "yes"], "school": ["A", "B"]}, 1.0, public=["school"]
    ),
    "SPL": Plan({"drinks": ["never", "often", "daily"], "age": Grid(15, 19, cells=5)}, 2.0, "SPL[ADP]"),
    "RS+FD": Plan({"drinks": ["never", "often", "daily"], "smokes": ["no", "yes"]}, 1.0, "RS+FD[GRR]"),
    "RS+RFD": Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, RSRFD("GRR", prior={"a": [0.5, 0.5], "b": [0.4, 0.6]})),
    "rounds": Plan({"smokes": ["no", "yes"]}, 1.0, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0)),
    "number": Plan({"age": Grid(0, 120.5, cells=64)}, 1.0),
    "choices": Plan({"smokes": ["no", "yes"], "seen": MultiChoice(["theft", "fights", "bullying"])}, 1.0),
    "town": Plan({"town": [f"town {i}" for i in range(200)]}, 1.0),
}


def text(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.partition("</style>")[2])).split())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PLANS)
def test_every_plan_has_its_page_with_all_numbers_filled_in(name: str, language: str) -> None:
    page = sheet(PLANS[name], language, n=3_000)
    words = text(page)
    assert not re.search(r"[{}]|nan|None|Fraction", words)
    assert "anonym" not in words.lower()
    assert PLANS[name].digest in words
    assert f'lang="{language}"' in page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PLANS)
def test_what_can_be_learnt_is_the_person_s_ratio_rounded_to_the_private_side(name: str, language: str) -> None:
    plan, phrases = PLANS[name], Phrases(language)
    cells = re.findall(r"<td[^>]*><bdi>(.*?)</bdi>", sheet(plan, language, n=3_000))
    for before in (1, 10, 50):
        moved = belief(person_ratio(plan), before)
        assert phrases.share(moved.least) in cells
        assert phrases.share(moved.most) in cells
        _, most = plan.guarantee.belief(before / 100)
        assert float(moved.most.fraction) >= most - 1e-12


def test_what_is_sent_in_clear_is_listed_and_only_then() -> None:
    assert "These answers, which are sent as they are: “school”." in text(sheet(PLANS["SMP"], "en", n=10))
    assert "Which question was drawn" in text(sheet(PLANS["SMP"], "en", n=10))
    assert "No answer to these questions is sent as it is." in text(sheet(PLANS["one"], "en", n=10))
    assert "Which question was drawn" not in text(sheet(PLANS["one"], "en", n=10))


def test_a_plan_with_rounds_speaks_of_all_messages_together() -> None:
    plan, words = PLANS["rounds"], text(sheet(PLANS["rounds"], "en", n=10))
    assert "They hold for all 6 messages of a person together" in words
    assert "asked up to 6 times, in 2 period(s)" in words
    assert "A person is asked once" not in words
    assert math.log(person_ratio(plan)) == pytest.approx(plan.guarantee.epsilon)
    assert float(person_ratio(plan)) >= math.exp(plan.guarantee.epsilon) * (1 - 1e-12)


def test_the_expected_error_is_that_of_the_plan() -> None:
    variance = float(PLANS["one"].variance(1_000)["smokes"].mean())
    assert f"{100 * 1.959964 * math.sqrt(variance):.1f} points" in text(sheet(PLANS["one"], "en", n=1_000))


def test_the_page_loads_nothing_and_labels_cannot_break_it() -> None:
    plan = Plan({"<img src=x>": ["</td><script>alert(1)</script>", "{own}"]}, 1.0)
    page = sheet(plan, "en", n=10, title='"><script>')
    assert "<script" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|url\(|@import", page)


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ParameterError, match="language must be"):
        sheet(PLANS["one"], "de", n=10)
    with pytest.raises(ParameterError, match="n must be"):
        sheet(PLANS["one"], "en", n=0)


@pytest.mark.parametrize("method", ["SMP[GRR]", "SPL[GRR]", "SMP2[GRR]", "RS+FD[GRR]"])
def test_a_question_with_several_choices_is_one_question_on_the_page(method: str) -> None:
    """Its answers stand in one row, its odds are said once, and no count has its choices."""
    schema = {"smokes": ["no", "yes"], "seen": MultiChoice(["theft", "fights", "bullying"])}
    for questions in (schema, {"seen": schema["seen"]}):
        words = text(sheet(Plan(questions, 1.0, method), "en", n=100)).partition("What anybody can learn")[0]
        assert "seen any of “theft”, “fights”, “bullying”" in words
        assert words.count("For the question “seen”:") == 1
        assert "each choice is an answer of its own: yes or no." in words
        assert not re.search("(One of the|All) [0-9]", words)
    assert "each choice" not in text(sheet(PLANS["SMP"], "en", n=100))
