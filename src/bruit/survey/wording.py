"""The texts of the respondent's page, in the form of address and the reading level that a survey asks for.

bruit has English and French. Another language is a file beside the survey, ``de.toml`` for German, with the names of
``texts/en.toml``; where a text has places in braces, so must its translation. A file has two things inside it, so that
no fact stands in two places: both forms of address, in brackets (`bruit.pages.addressed`), and a section ``simple``
with shorter wordings of some of its texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bruit.errors import ParameterError
from bruit.pages import Wording, addressed

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

#: How the page addresses people, where a language has two forms.
Address: TypeAlias = Literal["vous", "tu"]
#: Whom the sentences are for: everybody, or children.
Reading: TypeAlias = Literal["standard", "simple"]
#: How the texts of codes begin: of the page, and to print; those of an open question, and of assigned questions.
CODE, PRINT, OPEN, ASSIGNED = "code_", "print_", "open_", "assigned_"
#: Texts of codes that a translation may lack: the page then has neither these nor those that they stand in place of.
LATER_CODE = frozenset(f"{CODE}{name}" for name in ("brief_choices", "protection_choice", "protection_choices"))
#: The section of a file with shorter wordings.
SIMPLE = "simple"


def _later() -> frozenset[str]:
    """Surveys were opened with translations from before there were these texts."""
    english = Wording("bruit.survey")["en"]
    single = {"lost_last", "next", "change", "none_chosen", "less", "more", "protection_choice", "says_choice"}
    single |= {"leaves_clear", "was_forgotten"}
    begun = {name for name in english if name.startswith((CODE, PRINT, OPEN, ASSIGNED, "brief_", "protection_choices"))}
    return frozenset(single | begun | {f"{SIMPLE}.{name}" for name in english.get(SIMPLE, {})})


#: The texts that bruit has.
TEXTS = Wording("bruit.survey", later=_later())
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def own(language: str, beside: Callable[[str], bytes | None]) -> Mapping[str, Any]:
    """The texts that a survey brings itself, held to the names and places of the English ones."""
    file = f"{language}.toml"
    content = beside(file) if _LANGUAGE.fullmatch(language) else None
    if content is None:
        raise ParameterError(
            f"The page has no texts in {language!r}: use {' or '.join(TEXTS.languages)}, or put a translation of "
            f"bruit's en.toml beside the survey as {file!r}."
        )
    return TEXTS.translation(content, file)


def spoken(texts: Mapping[str, Any], address: Address, reading: Reading) -> dict[str, str]:
    """The texts of a language in one form of address; a text without a simpler wording stays as it is."""
    shorter = texts.get(SIMPLE, {}) if reading == "simple" else {}
    chosen = {name: text for name, text in texts.items() if name != SIMPLE} | shorter
    return {name: addressed(text, familiar=address == "tu") for name, text in chosen.items()}


def check(survey: Survey) -> None:
    """An error if a translation from outside lacks texts that the survey's page needs."""
    if survey.channel == "codes":
        check_texts(survey, CODE, "for codes")
    if survey.open_question is not None:
        check_texts(survey, OPEN, "for an open question")
    if survey.is_assigned:
        check_texts(survey, ASSIGNED, "for questions in rotation")


def check_texts(survey: Survey, prefix: str, purpose: str) -> None:
    """An error if a translation from outside lacks texts that begin so."""
    for language in survey.languages:
        needed = {name for name in TEXTS["en"] if name.startswith(prefix)} - LATER_CODE
        missing = sorted(needed - set(survey.wording[language]))
        if missing:
            raise ParameterError(f"{language}.toml must have a text for {missing[0]!r}, as en.toml has, {purpose}.")
