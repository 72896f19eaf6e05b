"""The texts of the respondent's page.

bruit has English and French. Another language is a file beside the survey, ``de.toml`` for German, with the names of
``texts/en.toml``; where a text has places in braces, so must its translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bruit.errors import ParameterError
from bruit.pages import Wording

#: How the texts of codes begin: of the page, and to print.
CODE, PRINT = "code_", "print_"
#: Surveys were opened with translations from before there were these texts.
_LATER = frozenset(
    {
        "lost_last",
        "next",
        "change",
        "none_chosen",
        *(name for name in Wording("bruit.survey")["en"] if name.startswith((CODE, PRINT, "brief_"))),
    }
)
#: The texts that bruit has.
TEXTS = Wording("bruit.survey", later=_LATER)
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def own(language: str, beside: Callable[[str], bytes | None]) -> Mapping[str, str]:
    """The texts that a survey brings itself, held to the names and places of the English ones."""
    file = f"{language}.toml"
    content = beside(file) if _LANGUAGE.fullmatch(language) else None
    if content is None:
        raise ParameterError(
            f"The page has no texts in {language!r}: use {' or '.join(TEXTS.languages)}, or put a translation of "
            f"bruit's en.toml beside the survey as {file!r}."
        )
    return TEXTS.translation(content, file)
