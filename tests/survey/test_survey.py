"""The file of a survey: what it compiles to, what it is refused for, and what makes it another survey."""

from __future__ import annotations

import json
import time

import pytest

from bruit import Plan
from bruit.errors import BruitError
from bruit.survey import Survey
from bruit.survey.survey import even_step

from ..plans import only_mechanism
from ..surveys import MANY, ONE


def test_one_question_is_the_plan_of_that_question(one):
    assert one.plan == Plan({"drinks": ["No", "Yes"]}, epsilon=1.0)
    assert one.card == one.plan.card()
    assert (one.languages, one.public, one.rounds, one.expected, one.shown_from) == (("en",), {}, 1, 30, 10)
    assert one.opens is None
    assert one.closes is None


def test_every_kind_of_question_is_compiled_and_clear_ones_are_not_in_the_plan(many):
    schema = many.plan.schema
    assert list(schema) == ["drinks", "hours", "happy", "seen: bullying", "seen: theft", 'seen: a "prank" <b>é</b> 😀']
    assert schema["drinks"].labels == ("No", "Yes", "I would rather not say")
    assert [schema["hours"].labels[place] for place in (0, 1, 24)] == [0.0, 0.5, 12.0]
    assert schema["happy"].labels == ("1 – not at all", "2", "3", "4", "5 – very much")
    assert schema["seen: theft"].labels == ("No", "Yes")
    assert many.public == {"class": ("A", "B", "C")}
    assert many.plan.guarantee.epsilon <= 1.0
    assert many.card.method == "SMP"
    assert many.closes.isoformat() == "2026-12-01T18:00:00+01:00"


def test_the_first_language_names_the_values(write):
    survey = write(ONE.replace("epsilon", 'languages = ["fr"]\nepsilon', 1))
    assert survey.plan.schema["drinks"].labels == ("Non", "Oui")


def test_odds_stand_for_their_logarithm(write):
    survey = write(ONE.replace("epsilon = 1.0", 'odds = "3:1"'))
    law = only_mechanism(survey.plan).law
    assert law.ratio <= 3
    assert law.ratio > 2.999999


SAME = {
    "a comment": ("# A comment.", "# Another one."),
    "the closing date": ("2026-12-01", "2026-12-02"),
    "the opening date": ("2026-11-20T08:00:00+01:00", "2026-11-20T09:00:00+01:00"),
    "the gate": ("shown_from = 20", "shown_from = 30"),
    "how many are expected": ("people = 200", "people = 300"),
    "spaces": ("people = 200", "people=200\n\n"),
}
OTHER = {
    "the title": ("Life at school", "Life in school"),
    "the title in the other language": ("La vie au collège", "La vie au lycée"),
    "the introduction": ("A few questions.", "Some questions."),
    "who asks": ("Ms Martin", "Mr Martin"),
    "ε": ("epsilon = 1.0", "epsilon = 1.1"),
    "a question's text": ("this week?", "this month?"),
    "a remark": ("Half hours count.", "Full hours count."),
    "a label that is translated": ("un vol", "des vols"),
    "a public label": ('labels.en = ["A", "B", "C"]', 'labels.en = ["A", "B", "D"]'),
    "what is sent in clear": ("clear = true", "clear = false"),
    "the order of languages": ("epsilon", 'languages = ["fr", "en"]\nepsilon'),
}


@pytest.mark.parametrize("change", SAME)
def test_it_stays_the_same_survey_with_another_date_gate_or_comment(change, many, write):
    assert MANY.count(SAME[change][0]) == 1
    changed = write(MANY.replace(*SAME[change]))
    assert (changed.digest, changed) == (many.digest, many)


@pytest.mark.parametrize("change", OTHER)
def test_it_is_another_survey_with_another_word_or_law(change, many, write):
    changed = write(MANY.replace(*OTHER[change], 1))
    assert changed.digest != many.digest
    assert changed != many


REFUSED = {
    "not TOML": ("title =", "title", "line 2, column"),
    "an unknown key": ("people = 30", "peeple = 30", "Did you mean 'people'"),
    "no ε": ("epsilon = 1.0", "", "epsilon = 1.0, or odds"),
    "ε as a text": ("epsilon = 1.0", 'epsilon = "1"', "epsilon must be"),
    "ε and odds": ("epsilon = 1.0", 'epsilon = 1.0\nodds = "3:1"', "one of the two"),
    "odds the wrong way": ("epsilon = 1.0", 'odds = "1:3"', 'odds = "3:1"'),
    "no people": ("people = 30", "people = 0", "people must be a whole number"),
    "a gate of one": ("people = 30", "shown_from = 1", "shown_from must be"),
    "a time without its offset": ("people = 30", "closes = 2026-12-01T18:00:00", r"T18:00:00\+01:00"),
    "a time in quotes": ("people = 30", 'closes = "2026-12-01T18:00:00+01:00"', "without quotes"),
    "it closes before it opens": (
        "people = 30",
        "opens = 2026-12-01T18:00:00+01:00\ncloses = 2026-12-01T17:30:00+01:00",
        "opens must come before",
    ),
    "no title": ('title = "Alcohol at school"', "", "title must be given"),
    "an empty title": ("Alcohol at school", " ", "from 1 to"),
    "a title with a bell": ("Alcohol at school", "a\\u0007b", "control characters"),
    "an unknown language": ("people = 30", 'languages = ["de"]', "de.toml"),
    "a language that is a path": ("people = 30", 'languages = ["../en"]', "has no texts"),
    "one text for two languages": ("people = 30", 'languages = ["en", "fr"]', r"text\.en = .*text\.fr ="),
    "a single bracket": ("[[question]]", "[question]", "double brackets"),
    "no name": ('name = "drinks"', "", 'name = "drinks"'),
    "a name with a space": ('"drinks"', '"drinks much"', "letters, digits"),
    "an unknown kind": ('"yes-no"', '"yes_no"', "Did you mean 'yes-no'"),
    "a key of the survey below a question": (
        "kind =",
        'channel = "codes"\nkind =',
        r"channel belongs to the whole survey: move it above the first \[\[question\]\]",
    ),
    "labels of a yes or no": ("kind =", 'labels = ["a", "b"]\nkind =', "'labels' is no key here"),
    "only questions in clear": ("kind =", "clear = true\nkind =", "not sent in clear"),
    "a flag in quotes": ("kind =", 'refusal = "yes"\nkind =', "refusal must be true or false"),
    "a choice without labels": ('"yes-no"', '"choice"', "labels must be given"),
    "labels that are no list": ('"yes-no"', '"choice"\nlabels = "a, b"', "must be a list"),
    "one label": ('"yes-no"', '"choice"\nlabels = ["a"]', "from 2 to 100 labels"),
    "labels alike": ('"yes-no"', '"choice"\nlabels = ["a", "A "]', "labels must differ"),
    "several in clear": ('"yes-no"', '"several"\nclear = true\nlabels = ["a", "b"]', "not sent in clear"),
    "a scale without an end": ('"yes-no"', '"scale"\nfrom = 1', "to must be a whole number"),
    "a scale of one step": ('"yes-no"', '"scale"\nfrom = 1\nto = 1', "from = 1 and to = 5"),
    "a number without bounds": ('"yes-no"', '"number"', "from must be"),
    "bounds in quotes": ('"yes-no"', '"number"\nfrom = "0"\nto = 5', "from must be"),
    "a step that does not fit": ('"yes-no"', '"number"\nfrom = 0\nto = 10\nstep = 3', "step must divide"),
    "too many steps": ('"yes-no"', '"number"\nfrom = 0\nto = 256', "at most 256 numbers"),
    "a report nobody can read": ("people = 30", 'method = "HR"', "name GRR, SS or OUE"),
    "hash functions that clients choose": ("people = 30", 'method = "OLH"', "name GRR, SS or OUE"),
    "an unknown method": ("people = 30", 'method = "XYZ"', "must be one of"),
    "the same name twice": (
        'kind = "yes-no"',
        'kind = "yes-no"\n[[question]]\nname = "Drinks"\ntext = "?"\nkind = "yes-no"',
        "different names",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_file_is_refused_with_the_right_spelling(case, write):
    old, new, message = REFUSED[case]
    assert old in ONE
    with pytest.raises(BruitError, match=message):
        write(ONE.replace(old, new, 1))


def test_a_file_that_is_not_there_or_not_text_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Survey.load(tmp_path / "nothing.toml")
    (tmp_path / "latin.toml").write_bytes("title = 'été'".encode("latin-1"))
    with pytest.raises(BruitError, match="UTF-8"):
        Survey.load(tmp_path / "latin.toml")


def test_a_language_of_ones_own_stands_beside_the_survey(write, tmp_path):
    from bruit.survey.wording import TEXTS

    def german(**changes):
        texts = {**TEXTS["en"], "yes": "Ja", "no": "Nein", "simple": None, **changes}
        lines = [f"{name} = {json.dumps(text)}" for name, text in texts.items() if text]
        (tmp_path / "de.toml").write_text("\n".join(lines), encoding="utf-8")
        return write(ONE.replace("epsilon", 'languages = ["de"]\nepsilon', 1))

    survey = german()
    assert survey.plan.schema["drinks"].labels == ("Nein", "Ja")
    assert german(back="Zurück").digest != survey.digest
    with pytest.raises(BruitError, match="must have a text for 'back'"):
        german(back="")
    with pytest.raises(BruitError, match="no text 'begun'"):
        german(begun="Los")
    with pytest.raises(BruitError, match="'asked_by' must have the places in braces"):
        german(asked_by="Gefragt von")


def test_the_texts_of_all_shipped_languages_have_the_same_names_and_places():
    from bruit.pages.texts import _PLACE
    from bruit.survey.wording import TEXTS

    english, french = (
        {**texts, **{f"simple.{name}": text for name, text in texts["simple"].items()}, "simple": ""}
        for texts in (TEXTS["en"], TEXTS["fr"])
    )
    assert set(english) == set(french)
    for name, text in english.items():
        places = sorted(set(_PLACE.findall(text)))
        assert sorted(set(_PLACE.findall(french[name]))) == places, name


def test_the_nearest_even_step_is_that_of_a_plain_search() -> None:
    def plain(people: int, step: int) -> int | None:
        sizes = [size for size in range(max(5, step // 2), 2 * step + 1) if people and people % size == 0]
        return min(sizes, key=lambda size: (abs(size - step), -size), default=None)

    assert all(even_step(people, step) == plain(people, step) for people in range(300) for step in range(0, 130, 3))


@pytest.mark.parametrize(
    ("people", "step"), [(10**9, 10**8), (10**9, 499_999_999), (999_999_937, 99_999_993), (10**9, 31_623)]
)
def test_an_even_step_of_very_many_people_is_found_at_once(people: int, step: int) -> None:
    """A survey file of a hundred bytes may declare them."""
    start = time.process_time()
    even_step(people, step)
    assert time.process_time() - start < 0.5
