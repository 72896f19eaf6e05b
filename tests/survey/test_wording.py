"""The words of the page: two forms of address and two reading levels say the same, in all languages."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from bruit.errors import BruitError
from bruit.sheets.phrases import _TEXTS as SHEETS
from bruit.survey import Survey
from bruit.survey.wording import SIMPLE, TEXTS, spoken

from ..surveys import ASSIGNED, CHOICES, MANY, ONE, OPEN, TABLES
from .test_language import WORKED as GERMAN

ADDRESSES, READINGS = ("vous", "tu"), ("standard", "simple")
#: Words that belong to one form of address; "s’il vous plaît" is one too.
FORMAL = re.compile(r"\b(vous|votre|vos|vôtres?|(?!chez|assez)\w+ez)\b", re.IGNORECASE)
FAMILIAR = re.compile(r"\b(tu|te|toi|ton|ta|tes|tiennes?)\b|\bt’", re.IGNORECASE)
#: Texts for those who enter sheets of paper, not for those who answer.
FOR_STAFF = {"paper_entry", "paper_entry_text", "paper_undo", "paper_save"}


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,]\d+)?", text))


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence."""
    parts = [re.findall(r"[\w’'-]+", part) for part in re.split(r"[.!?:;]", re.sub(r"\{\w+\}", "X", text))]
    return [words for words in parts if words]


# Forms of address.


@pytest.mark.parametrize("reading", READINGS)
def test_every_french_text_keeps_to_one_form_of_address(reading: str) -> None:
    for address, other in (("vous", FAMILIAR), ("tu", FORMAL)):
        words = spoken(TEXTS["fr"], address, reading)
        mixed = {name: text for name, text in words.items() if other.search(text) and name not in FOR_STAFF}
        assert mixed == {}
        assert not [name for name, text in words.items() if re.search(r"[\[\]|]", text)]
    assert sum(bool(FORMAL.search(text)) for text in spoken(TEXTS["fr"], "vous", reading).values()) > 100


def test_no_form_of_address_is_glued_to_the_word_after_it() -> None:
    glued = re.compile(r"\w\[|\[[^\[\]|]*\w\|[^\[\]]*\]\w|\[[^\[\]|]*\|[^\[\]]*\w\]\w")
    texts = [*TEXTS["fr"][SIMPLE].values(), *(text for name, text in TEXTS["fr"].items() if name != SIMPLE)]
    texts += SHEETS["fr"]["survey"].values()
    assert [text for text in texts if glued.search(text)] == []
    assert glued.search("qui [vous|t’]a donné")
    assert not glued.search("qui [vous |t’]a donné")


def test_the_check_of_the_form_of_address_sees_both_forms() -> None:
    assert FORMAL.search("Ouvrez le lien")
    assert FORMAL.search("la vôtre")
    assert FAMILIAR.search("qui t’a donné")
    assert FAMILIAR.search("Ta réponse")
    assert not FORMAL.search("assez de temps chez Mme Martin")
    assert not FAMILIAR.search("une réponse")


def test_both_forms_of_address_have_the_same_numbers_and_places() -> None:
    for reading in READINGS:
        formal, familiar = (spoken(TEXTS["fr"], address, reading) for address in ADDRESSES)
        assert set(formal) == set(familiar)
        for name in formal:
            assert numbers(formal[name]) == numbers(familiar[name]), name
            assert re.findall(r"\{\w+\}", formal[name]) == re.findall(r"\{\w+\}", familiar[name]), name


@pytest.mark.parametrize("channel", ["collector", "codes", "paper"])
def test_the_sheet_says_vous_unless_the_survey_says_tu(channel: str, write) -> None:
    survey = 'odds = "3:1"\n' + ONE.replace("epsilon = 1.0\n", "").replace("title", 'languages = ["fr"]\ntitle')
    for address, own, other in (("vous", FORMAL, FAMILIAR), ("tu", FAMILIAR, FORMAL)):
        sheet = write(f'address = "{address}"\n{survey}').sheet("fr", channel=channel).decode()
        text = re.sub("<[^>]*>", " ", sheet.partition("<body>")[2].partition("<footer>")[0])
        assert own.search(text)
        assert not other.search(text), other.search(text)


# Simple words.


@pytest.mark.parametrize("language", ["en", "fr"])
def test_simple_texts_have_the_numbers_and_places_of_the_others(language: str) -> None:
    texts = TEXTS[language]
    assert set(spoken(texts, "vous", "simple")) == set(spoken(texts, "vous", "standard"))
    for name, text in texts[SIMPLE].items():
        assert numbers(text) == numbers(texts[name]), name
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", texts[name])), name


@pytest.mark.parametrize("language", ["en", "fr"])
def test_simple_texts_have_shorter_sentences_and_words(language: str) -> None:
    texts = TEXTS[language]
    simple = [sentence for text in texts[SIMPLE].values() for sentence in sentences(text)]
    standard = [sentence for name in texts[SIMPLE] for sentence in sentences(texts[name])]
    assert max(map(len, simple)) <= 27
    for measure in (lambda lines: sum(map(len, lines)) / len(lines), _letters):
        assert measure(simple) < measure(standard)
    assert sum(map(len, simple)) / len(simple) < 10


def _letters(lines: list[list[str]]) -> float:
    words = [word for line in lines for word in line]
    return sum(map(len, words)) / len(words)


def test_answers_are_called_the_same_at_every_reading_level() -> None:
    """They are the values of the plan."""
    for language in TEXTS.languages:
        assert not {"yes", "no", "refusal", "language", "direction"} & set(TEXTS[language][SIMPLE])


# The file of a survey.


def test_both_settings_are_read_and_make_another_survey(write) -> None:
    survey = write(MANY)
    assert (survey.address, survey.reading) == ("vous", "standard")
    assert write(f'address = "vous"\nreading = "standard"\n{MANY}').digest == survey.digest
    familiar, simple = write(f'address = "tu"\n{MANY}'), write(f'reading = "simple"\n{MANY}')
    assert (familiar.address, simple.reading) == ("tu", "simple")
    assert len({survey.digest, familiar.digest, simple.digest}) == 3
    assert survey.plan == familiar.plan == simple.plan
    notes = " ".join(write(f'address = "tu"\nreading = "simple"\n{MANY}').check().table().notes)
    assert "The page speaks in simple words and with tu in French." in notes
    assert "The page speaks" not in " ".join(survey.check().table().notes)
    for line, message in (('address = "du"', "address must be one of"), ('reading = "easy"', "reading must be one of")):
        with pytest.raises(BruitError, match=message):
            write(f"{line}\n{MANY}")
    with pytest.raises(BruitError, match="Did you mean 'address'"):
        write(f'adress = "tu"\n{MANY}')


#: A survey of each kind of page, in one language.
KINDS = {
    "one question": ONE,
    "several questions": TABLES,
    "choices": CHOICES,
    "codes": f'channel = "codes"\n{CHOICES}',
    "rotation": ASSIGNED,
    "an open question": re.sub(r'(title|text)\.fr = .*|address = "tu"', "", OPEN).replace(".en =", " ="),
}


@pytest.mark.parametrize(
    ("kind", "part"),
    [pytest.param(kind, part, marks=[pytest.mark.audit] * (part == 1), id=f"{kind}-{'all' if part == 1 else 'some'}")
     for kind in KINDS for part in (12, 1)],
)  # fmt: skip
def test_what_is_loaded_in_a_language_of_its_own_has_a_page(kind: str, part: int, tmp_path) -> None:
    """Whatever text its translation lacks: the file is refused, or its page is written. By default a part of them."""
    lines = (files("bruit.survey") / "texts" / "en.toml").read_text(encoding="utf-8").splitlines()
    names = {line.partition(" = ")[0] for line in lines[: lines.index("[simple]")] if " = " in line}
    file = tmp_path / "class.toml"
    file.write_text(f'languages = ["de"]\n{KINDS[kind]}', encoding="utf-8")
    refused = set()
    own = {"codes": "code_", "rotation": "assigned_", "an open question": "open_"}
    tried = [
        *sorted(names)[::part],
        *(next(name for name in sorted(names) if name.startswith(begin)) for begin in own.values()),
    ]
    for name in (*tried, "nothing"):
        kept = [line for line in lines if not line.startswith(f"{name} = ")]
        (tmp_path / "de.toml").write_text("\n".join(kept), encoding="utf-8")
        try:
            survey = Survey.load(file)
        except BruitError:
            refused.add(name)
        else:
            is_code = survey.channel == "codes"
            assert survey.page(code=True) if is_code else survey.page(links=survey.needs_links)
    assert "nothing" not in refused
    for other, prefix in own.items():
        lacking = {name for name in tried if name.startswith(prefix)}
        assert bool(lacking & refused) is (kind == other), prefix


def _german(folder: Path, simple: str | None = None) -> Survey:
    """A survey in German, in simple words; its texts have this section, or none."""
    texts = GERMAN.read_text(encoding="utf-8").partition("[simple]")[0]
    section = "" if simple is None else f"[simple]\n{simple}\n"
    (folder / "de.toml").write_text(texts + section, encoding="utf-8")
    settings = 'languages = ["de"]\naddress = "tu"\nreading = "simple"\n'
    (folder / "class.toml").write_text(settings + ONE, encoding="utf-8")
    return Survey.load(folder / "class.toml")


def test_a_language_from_outside_needs_neither_form_nor_simple_texts_and_may_have_both(tmp_path: Path) -> None:
    plain = _german(tmp_path)
    assert plain.wording["de"] == {name: text for name, text in _texts(GERMAN).items() if name != SIMPLE}
    own = _german(tmp_path, 'brief_sure = "[Sie wissen|Du weißt] es nicht."')
    assert own.wording["de"] == {**plain.wording["de"], "brief_sure": "Du weißt es nicht."}
    assert own.digest != plain.digest
    assert "Du weißt es nicht." in own.page(address="report").decode()
    with pytest.raises(BruitError, match=r"no text 'simple\.yes'"):
        _german(tmp_path, 'yes = "Jo"')
    with pytest.raises(BruitError, match=r"'simple\.may_decline' must have the places"):
        _german(tmp_path, 'may_decline = "Nein"')


def _texts(path: Path) -> dict[str, str]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
