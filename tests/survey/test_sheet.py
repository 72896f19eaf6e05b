"""The sheet of a survey has the questions, sentences and numbers of its page, in every language and channel."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.errors import ParameterError
from bruit.survey import PersonalLink, Survey
from bruit.survey import sheet as module
from bruit.survey.paper import Paper

from ..surveys import CHOICES, LONG, MANY, ONE, ROUNDS, TABLES
from . import browser as browsers

#: A question with several choices among two others, and pairs of their answers.
PAIRS = MANY.replace("epsilon = 1.0", 'epsilon = 1.0\nmethod = "TAB[GRR]"').replace(
    'kind = "number"\nfrom = 0\nto = 12\nstep = 0.5', 'kind = "scale"\nfrom = 1\nto = 3'
)
SURVEYS = {
    "one": ONE, "many": MANY, "long": LONG, "tables": TABLES, "rounds": ROUNDS, "choices": CHOICES, "pairs": PAIRS,
}  # fmt: skip
#: What somebody may have thought before, on every sheet.
BELIEFS = (1, 10, 50)


# What a sheet says, and what a page says.


def plain(text: str) -> str:
    """A text without tags, on one line, with ordinary spaces."""
    return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).replace("\u202f", " ").replace("\xa0", " ").split())


def same_as_page(sheet: str) -> list[str]:
    """The sentences that the sheet says are on the page."""
    return [plain(text) for _, text in re.findall(r"<(p|li|td)[^>]* data-page>(.*?)</\1>", sheet)]


def others(sheet: str) -> str:
    """All other texts of the sheet."""
    body = sheet.partition("<body>")[2].partition("<footer>")[0]
    return plain(re.sub(r"<(p|li|td)[^>]* data-page>.*?</\1>", " ", body).replace("<", " <"))


def rows(sheet: str) -> list[list[list[str]]]:
    """The rows of each table."""
    tables = re.findall("<tbody>(.*?)</tbody>", sheet, re.DOTALL)
    return [
        [[plain(cell) for cell in re.findall("<td.*?>(.*?)</td>", row)] for row in re.findall("<tr>(.*?)</tr>", table)]
        for table in tables
    ]


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)?", text))


def data_of(page: bytes) -> dict[str, Any]:
    """What the script of a page knows."""
    return json.loads(page.decode().split('id="data">')[1].split("</script>")[0])


def contradictions(sheet: str, survey: Survey, page: bytes, language: str, said: str | None = None) -> list[str]:
    """What a sheet says otherwise than the page; `said` is what a browser shows of the page."""
    data, found = data_of(page), []
    point = "," if language == "fr" else "."
    asked, believed = rows(sheet)
    for question, (text, answers, sent) in zip(data["questions"], asked, strict=True):
        words = data["words"][language]
        if text != plain(f"{question['text'][language]} {question['help'][language]}"):
            found.append(text)
        if question["kind"] != "number" and not answers.startswith(", ".join(question["labels"][language])):
            found.append(answers)
        if sent != words["is_clear" if question["clear"] else "is_protected"]:
            found.append(sent)
    for before, row in zip(BELIEFS, believed, strict=True):
        expected = [str(before), *(share.replace(".", point) for share in data["beliefs"][before - 1])]
        found += [] if [cell.removesuffix(" %") for cell in row] == expected else [str(row)]
    known = {str(survey.shown_from), data["epsilon"].replace(".", point), "0"}
    known |= numbers(data["digest"]) | numbers(" ".join(map(str, asked + believed)))
    known |= {
        part for time in (survey.opens, survey.closes) if time for part in numbers(f"{time:%Y %m %d %H %M %z} 01 00")
    }
    known |= numbers(" ".join(text[language] for text in [data["title"], *(own["text"] for own in data["questions"])]))
    known |= numbers(" ".join(label for own in data["questions"] for label in own["labels"][language]))
    found += sorted(numbers(others(sheet)) - known)
    if said is not None:
        found += [sentence for sentence in same_as_page(sheet) if sentence not in plain(said)]
    return found


def page_of(survey: Survey) -> bytes:
    return survey.page(address="class/report", links=survey.has_rounds)


@pytest.mark.parametrize("name", SURVEYS)
def test_no_number_of_a_sheet_is_another_one_than_on_the_page(name, write) -> None:
    survey = write(SURVEYS[name])
    for language in survey.languages:
        text = survey.sheet(language).decode()
        assert contradictions(text, survey, page_of(survey), language) == []
        assert same_as_page(text)
        assert not re.search(r"[{}]|\bnan\b|None|Fraction", others(text))
        assert "anonym" not in text.lower()
        assert f'lang="{language}"' in text
        assert survey.digest in text


@pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())
@pytest.mark.parametrize("name", SURVEYS)
def test_a_browser_shows_every_sentence_that_the_sheet_shares_with_the_page(name, write, visit) -> None:
    survey = write(SURVEYS[name])
    for language in survey.languages:
        options = (
            {"fragment": f"#{PersonalLink('a' * 18).text}", "time": survey.opens.isoformat()}
            if survey.has_rounds
            else {}
        )
        tab = visit(page_of(survey), locale=language, **options)
        tab.locator("main h1").first.wait_for()
        said = tab.locator("main").inner_html()
        sheet = survey.sheet(language).decode()
        assert len(same_as_page(sheet)) >= 5
        assert contradictions(sheet, survey, page_of(survey), language, said) == []
        other = sheet.replace("73", "74").replace("79", "80").replace("88", "89")
        if same_as_page(other) != same_as_page(sheet):  # digits of a digest may be among them too
            assert contradictions(other, survey, page_of(survey), language, said)


PLANTED = {
    "a belief": lambda text: re.sub(r"<bdi>74(\xa0| )%", r"<bdi>73\1%", text),
    "an ε": lambda text: text.replace("ε = 1 ", "ε = 0.9 "),
    "a question": lambda text: text.replace("<bdi>Have you drunk alcohol this week?", "<bdi>Do you drink alcohol?"),
    "an answer": lambda text: text.replace("<bdi>No, Yes", "<bdi>No, Sometimes"),
    "what is in clear": lambda text: text.replace("chance may change it", "sent as it is"),
    "from when on results are shown": lambda text: text.replace("shown from 10 answers", "shown from 30 answers"),
}


@pytest.mark.parametrize("case", PLANTED)
def test_a_contradiction_that_is_planted_is_found(case, write) -> None:
    survey = write(ONE)
    text = survey.sheet("en").decode()
    other = PLANTED[case](text)
    assert other != text
    assert contradictions(text, survey, page_of(survey), "en") == []
    assert contradictions(other, survey, page_of(survey), "en")


# What is in it.


def test_a_sheet_says_who_asks_what_is_in_clear_where_data_go_and_why_nothing_is_taken_back(write) -> None:
    text = plain(write(MANY).sheet("fr").decode())
    for sentence in (
        "Enquête menée par Mme Martin, maths",
        "Envoyées telles quelles, sans protection : vos réponses à",
        "Votre appareil envoie un message par Internet au collecteur",
        "Combien de temps elles sont gardées",
        "au moins 20 réponses à cette question dans ce groupe",
        "Après la clôture, il n’y a qu’une page.",
        "On ne peut pas le reprendre.",
        "il n’y a rien que l’on puisse rechercher et retirer.",
        "Contact pour les questions et les réclamations",
    ):
        assert sentence in text, sentence
    assert "Qui mène l’enquête" not in text


def test_the_channel_decides_where_data_go_and_how_long_they_are_kept(write) -> None:
    survey = write(ONE)
    texts = {channel: plain(survey.sheet("en", channel=channel).decode()) for channel in module.CHANNELS}
    assert "sends one message over the internet to the collector" in texts["collector"]
    assert "Your device sends nothing. It shows a short code" in texts["codes"]
    assert "a form may know who is logged in" in texts["codes"]
    assert "Nothing is sent over a network" in texts["paper"]
    assert texts["collector"] == plain(survey.sheet("en").decode())
    for channel in ("codes", "paper"):
        assert "server" not in texts[channel]
        with pytest.raises(ParameterError, match="leave --links out"):
            survey.sheet("en", channel=channel, links=True)
    with pytest.raises(ParameterError, match="channel must be one of"):
        survey.sheet("en", channel="post")
    object.__setattr__(survey, "channel", "codes")
    assert plain(survey.sheet("en").decode()) == texts["codes"]


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", ["one", "many", "tables"])
def test_a_sheet_for_codes_says_what_the_channel_adds_and_speaks_of_no_message(name, language, write) -> None:
    """No device sends anything; and whoever has the page can forge codes."""
    text = SURVEYS[name] if name == "many" else f'languages = ["{language}"]\n{SURVEYS[name]}'
    text = plain(write(text).sheet(language, channel="codes").decode())
    for sentence in {
        "en": (
            "make codes that count",
            "make the estimates wrong",
            "a form may know who is logged in",
            "not to the answer",
        ),
        "fr": ("fabriquer des codes", "fausser les estimations", "peut savoir qui est connecté", "non à la réponse"),
    }[language]:
        assert sentence in text, sentence
    for word in {
        "en": ("sends only", "are sent as pairs", "what you sent", "How it is sent"),
        "fr": ("n’envoie que", "sont envoyées par paires", "vous avez envoyé"),
    }[language]:
        assert word not in text, word


def test_texts_of_codes_stand_in_place_of_those_of_the_page(write) -> None:
    survey = write(ONE)
    words = {**survey.wording["en"], "code_own_answer": "Of {of}, {count} get a code that says {answer}."}
    object.__setattr__(survey, "wording", {"en": words})
    assert "Of 100, 73 get a code that says “Yes”." in plain(survey.sheet("en", channel="codes").decode())
    assert "get a code" not in plain(survey.sheet("en").decode())


def test_links_are_named_where_people_come_by_links(write) -> None:
    survey = write(ONE)
    assert "Your personal link is sent along" in survey.sheet("en", links=True).decode()
    assert "Your personal link" not in survey.sheet("en").decode()
    assert "counts once in each round" in write(ROUNDS).sheet("en").decode()


@pytest.mark.parametrize("odds", ["3:1", "5:1"])
def test_a_sheet_for_paper_has_the_numbers_of_the_coins_or_dice(odds, write) -> None:
    survey = write(ONE.replace("epsilon = 1.0", f'odds = "{odds}"'))
    text, form = survey.sheet("en", channel="paper").decode(), plain(Paper(survey).sheet("en").decode())
    assert all(sentence in form for sentence in same_as_page(text))
    assert len(same_as_page(text)) >= 3
    promise = {"3:1": "75", "5:1": "84"}[odds]
    assert f"could come to think {promise} %, at most, after seeing the sheet that you marked" in plain(text)
    assert f"could come to think {promise} %" in form


def test_a_sheet_is_in_a_language_of_the_survey(write) -> None:
    survey = write(MANY)
    assert b'lang="en"' in survey.sheet()
    with pytest.raises(ParameterError, match="language must be one of 'en', 'fr'"):
        survey.sheet("de")
    with pytest.raises(ParameterError, match="language must be one of 'en'"):
        write(ONE).sheet("fr")


# Counts.


def test_a_question_with_several_choices_is_one_question_in_every_count(write) -> None:
    """Of four protected questions one has three choices: the plan has six attributes."""
    survey = write(MANY)
    assert len(survey.plan.schema) == 6
    for language, said in (("en", "There are 4 protected questions."), ("fr", "Il y a 4 questions protégées.")):
        text = plain(survey.sheet(language).decode())
        assert said in text
        assert len(re.findall("For the question|Pour la question", text)) == 4
    text = plain(write(CHOICES).sheet("en").decode())
    assert "Your device picks one of them at random and sends only whether you ticked it" in text
    assert text.count("For the question “What have you seen?”:") == 1
    assert not re.search("[0-9]+ (protected )?(question|answer)s", text.partition("What is published")[0])
    pairs = write(PAIRS)
    assert len(pairs.units) == 15
    questions = {tuple(dict.fromkeys(name.partition(":")[0] for name in names)) for names in pairs.units.values()}
    assert f"There are {len(questions)} pairs." in plain(pairs.sheet("en").decode())
    assert len(questions) == 7  # six of two questions, and one of two choices


# The commands.


def run(*words: str, code: int = 0) -> str:
    said = CliRunner().invoke(app, words)
    assert said.exit_code == code, said.output
    return " ".join(said.output.split())


def test_the_command_writes_a_sheet_beside_the_survey(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "class.toml"
    path.write_text(MANY, encoding="utf-8")
    assert "sheet: class.sheet.fr.html" in run("survey", "sheet", "class.toml", "--language", "fr")
    assert (tmp_path / "class.sheet.fr.html").read_bytes() == Survey.load(path).sheet("fr")
    assert "-o class.sheet.fr.html!" in run("survey", "sheet", "class.toml", "--language", "fr", code=2)
    run("survey", "sheet", "class.toml", "--language", "fr", "--channel", "codes", "--force")
    assert (tmp_path / "class.sheet.fr.html").read_bytes() == Survey.load(path).sheet("fr", channel="codes")
    run("survey", "sheet", "class.toml", "--links", "-o", "other.html")
    assert (tmp_path / "other.html").read_bytes() == Survey.load(path).sheet("en", links=True)
    assert "must be one of" in run("survey", "sheet", "class.toml", "--channel", "post", code=2)


@pytest.mark.parametrize("name", SURVEYS)
def test_bruit_plan_writes_the_sheet_of_the_plan_of_a_survey(name, write, tmp_path, monkeypatch) -> None:
    """As export writes it."""
    monkeypatch.chdir(tmp_path)
    survey = write(SURVEYS[name])
    (tmp_path / "plan.json").write_text(survey.plan.to_json() + "\n", encoding="utf-8")
    output = run("plan", "plan.json", "--sheet", "fr", "--people", "300", "--title", "Titre")
    assert "sheet: plan.fr.html" in output
    assert "bruit survey sheet has them all" in output
    text = (tmp_path / "plan.fr.html").read_text(encoding="utf-8")
    assert survey.plan.digest in text
    assert "Aucune réponse à ces questions n’est envoyée telle quelle." in text
    assert "--force" in run("plan", "plan.json", "--sheet", "fr", code=2)
    assert "leave --epsilon out" in run("plan", "plan.json", "--sheet", "en", "--epsilon", "1", code=2)
    assert "--sheet en writes its page" in run("plan", "plan.json", code=2)
