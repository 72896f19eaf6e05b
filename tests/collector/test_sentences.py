"""A sentence for each question: whole numbers of a hundred people, rounded as in the table, nothing that cannot be."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from bruit.collector.results import QuestionResult
from bruit.collector.sentences import leaves_open, respondents, sentence
from bruit.collector.wording import TEXTS
from bruit.survey import Survey

SURVEY = """
title.en = "Health"
title.fr = "Santé"
epsilon = 2.0
[[question]]
name = "smokes"
text.en = "Do you smoke?"
text.fr = "Fumez-vous ?"
kind = "yes-no"
[[question]]
name = "town"
text.en = "Which town?"
text.fr = "Quelle ville ?"
kind = "choice"
labels.en = ["Vesoul", "Dole", "Gray", "Lure"]
labels.fr = ["Vesoul (70)", "Dole (39)", "Gray (70)", "Lure (70)"]
[[question]]
name = "hours"
text.en = "How many hours do you sleep?"
text.fr = "Combien d'heures dormez-vous ?"
kind = "number"
from = 0
to = 12
"""


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "health.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return Survey.load(path)


def shares(labels, *rows):
    """An estimate of shares with these intervals."""
    ends = [row[1:] for row in rows]
    return SimpleNamespace(labels=labels, frequency=[row[0] for row in rows], interval=lambda _: ends)


@pytest.mark.parametrize(
    ("estimate", "numbers"),
    [
        ((0.3149, 0.1501, 0.4899), "about 31 would say “Yes”; between 15 and 49."),
        ((0.3149, 0.3061, 0.3191), "about 31.5 would say “Yes”; between 30.6 and 31.9."),
        ((-0.02, -0.09, 0.0412), "about 0 would say “Yes”; between 0 and 4."),
        ((1.05, 0.912, 1.2), "about 100 would say “Yes”; between 91 and 100."),
        ((-0.3, -0.4, -0.1), "about 0 would say “Yes”; between 0 and 1."),
        ((1.3, 1.1, 1.4), "about 100 would say “Yes”; between 99 and 100."),
        ((0.3149, 0.31471, 0.31509), "about 31.49 would say “Yes”; between 31.47 and 31.51."),
        ((0.7, 0.4791, 0.9781), "about 70 would say “Yes”; between 48 and 98."),
    ],
)
def test_numbers_are_whole_where_the_interval_is_wide_and_cut_to_what_is_possible(survey, estimate, numbers) -> None:
    value, low, high = estimate
    answer = shares(["No", "Yes"], (1 - value, 1 - high, 1 - low), estimate)
    assert sentence(survey, "smokes", answer, TEXTS["en"], "en") == f"Of 100 people like these, {numbers}"


@pytest.mark.parametrize(
    ("estimate", "range_of"),
    [((0.5, -0.2, 1.2), "0 to 100"), ((1.149, 0.479, 1.459), "48 to 100"), ((0.25, 0.0, 0.5), "0 to 50")],
)
def test_an_interval_of_half_the_scale_is_named_without_an_estimate(survey, estimate, range_of) -> None:
    value, low, high = estimate
    answer = shares(["No", "Yes"], (1 - value, 1 - high, 1 - low), estimate)
    said = sentence(survey, "smokes", answer, TEXTS["en"], "en")
    assert said == f"Too few answers to tell: of 100 people like these, anywhere from {range_of} would say “Yes”."
    assert leaves_open(survey, "smokes", answer)


def test_of_many_answers_the_most_frequent_are_named_in_the_language_of_the_page(survey) -> None:
    rows = [(0.2, 0.1, 0.3), (0.4, 0.3, 0.5), (0.1, 0.0, 0.2), (0.3, 0.2, 0.4)]
    answer = shares(["Vesoul", "Dole", "Gray", "Lure"], *rows)
    assert sentence(survey, "town", answer, TEXTS["en"], "en") == (
        "Of 100 people like these, about 40 would say “Dole” (between 30 and 50); "
        "about 30 would say “Lure” (20 to 40); "
        "about 20 would say “Vesoul” (10 to 30). The other answers are in the table."
    )
    french = sentence(survey, "town", answer, TEXTS["fr"], "fr")
    assert "environ 40 répondraient «\u00a0Dole (39)\u00a0»" in french


@pytest.mark.parametrize(
    ("mean", "ends", "numbers"),
    [
        (7.2345, (6.91, 7.52), "about 7.2; between 6.9 and 7.5."),
        (7.2345, (4.9, 9.1), "about 7; between 5 and 9."),
        (7.2345, (7.21, 7.25), "about 7.23; between 7.21 and 7.25."),
        (12.8, (-1.5, 14.0), "anything from 0 to 12."),
    ],
)
def test_a_mean_has_as_many_decimals_as_its_interval_allows(survey, mean, ends, numbers) -> None:
    answer = SimpleNamespace(mean=mean, interval=lambda _: ends)
    said = sentence(survey, "hours", answer, TEXTS["en"], "en")
    assert said.lower().endswith(f"on average, people like these would say {numbers}")
    assert said.startswith("Too few answers to tell") == ("anything" in numbers) == leaves_open(survey, "hours", answer)
    assert "." not in sentence(survey, "hours", answer, TEXTS["fr"], "fr").replace(". ", "")[:-1]


# Of those who answered.


def of_class(tmp_path, epsilon: float) -> Survey:
    path = tmp_path / "class.toml"
    path.write_text(
        f'title = "T"\nepsilon = {epsilon}\n[[question]]\nname = "smokes"\nkind = "yes-no"\ntext = "?"\n',
        encoding="utf-8",
    )
    return Survey.load(path)


def respondents_of(survey: Survey, yes: int, n: int, words=TEXTS["en"]) -> str:
    tally = survey.plan.tally({"smokes": np.array([0] * (n - yes) + [1] * yes, np.uint8)})
    answers = [survey.plan.estimate(tally, target)["smokes"] for target in ("population", "people")]
    return respondents(survey, QuestionResult("smokes", n, answers[0], None, respondents=answers[1]), words, "en")


def binomial(n: int, share: float):
    return np.array([math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("n", [12, 28, 60])
def test_the_range_of_those_who_answered_holds_the_truth_nineteen_times_of_twenty(epsilon, n, tmp_path) -> None:
    """Computed from the law for every truth; where no range is named, it would be all of it. Narrower ones miss."""
    survey = of_class(tmp_path, epsilon)
    (oracle,) = survey.plan.mechanisms.values()
    ranges = []
    for yes in range(n + 1):
        said = re.search(r"between (\d+) and (\d+)", respondents_of(survey, yes, n))
        ranges.append(tuple(map(int, said.groups())) if said else (0, n))
    held, narrow = [], []
    for truth in range(n + 1):
        law = np.convolve(binomial(truth, float(oracle.p)), binomial(n - truth, float(oracle.q)))
        held.append(sum(law[yes] for yes, (low, high) in enumerate(ranges) if low <= truth <= high))
        narrow.append(sum(law[yes] for yes, (low, high) in enumerate(ranges) if low + 2 <= truth <= high - 2))
    assert min(held) >= 0.95
    assert min(narrow) < 0.95


def test_those_who_answered_are_counted_in_people_and_nothing_is_said_where_that_tells_little(tmp_path) -> None:
    survey = of_class(tmp_path, 2.0)
    assert respondents_of(survey, 7, 25) == "Of these 25 people themselves, about 5 would say “Yes”; between 1 and 10."
    french = respondents_of(survey, 7, 25, TEXTS["fr"])
    assert french.replace("\u00a0", " ") == (
        "Parmi ces 25 personnes elles-mêmes, environ 5 répondraient « Yes » ; entre 1 et 10."
    )
    assert respondents_of(of_class(tmp_path, 0.5), 12, 25) == ""
    assert respondents(survey, QuestionResult("smokes", 25, None, None), TEXTS["en"], "en") == ""
