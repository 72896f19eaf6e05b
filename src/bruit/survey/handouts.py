"""What a class needs besides the page, to print: slips with boxes for codes, and a poster."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bruit import _checks
from bruit.errors import ParameterError
from bruit.pages import fill, qr_svg
from bruit.survey.codes import GROUP
from bruit.survey.wording import PRINT, TEXTS

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

#: How many slips are printed where nobody says how many people there are, and at most.
SLIPS = 30
MOST_SLIPS = 2_000
#: There is one spare slip for this number of expected people, and at least three.
SPARE = 10
#: What is written in place of letters that codes do not have.
_INSTEAD = (("I, L", "1"), ("O", "0"), ("U", "V"))
#: A text that translations from before there was this line lack.
_LATER = "print_slip_name"


@dataclass(frozen=True)
class Handouts:
    """Slips and a poster for a survey by codes.

    Parameters
    ----------
    survey
        The survey.
    page
        Its page, as it is passed on; its hash stands on the poster.
    address
        Where the page is, or the name of its file.
    """

    survey: Survey
    page: bytes
    address: str

    def __post_init__(self) -> None:
        if self.survey.digest.encode() not in self.page:
            raise ParameterError("The page must be that of this survey: write it again with bruit survey page --code.")
        for language in self.survey.languages:
            known = {*self._words(language), _LATER}
            missing = [name for name in TEXTS["en"] if name.startswith(PRINT) and name not in known]
            if missing:
                raise ParameterError(f"{language}.toml must have a text for {missing[0]!r}, as en.toml has.")

    @property
    def is_link(self) -> bool:
        """Whether people open a link, and not a file."""
        return self.address.startswith(("https://", "http://"))

    def slips(self, language: str, number: int | None = None) -> bytes:
        """A page of slips to print and cut: each has a box for every character of a code.

        Parameters
        ----------
        language
            The language of its texts.
        number
            How many; one for each of the expected people by default, and some to spare.
        """
        people = self.survey.expected or SLIPS
        count = min(people + max(3, people // SPARE), MOST_SLIPS) if number is None else number
        _checks.integer(low=1, high=MOST_SLIPS, number=count)
        length, words = self.survey.codes.length, self._words(language)
        groups = [range(min(GROUP, length - start)) for start in range(0, length, GROUP)]
        texts = {
            "heading": words["print_slip"],
            "text": words["print_slip_text"],
            "name": words.get(_LATER, ""),
            "instead": _INSTEAD,
        }
        return self._filled("code_slips.html.j2", language, number=count, groups=groups, **texts)

    def poster(self, language: str) -> bytes:
        """A poster: where the page is, its QR code where that is a link, what to do, and the hash of the page.

        Parameters
        ----------
        language
            The language of its texts.
        """
        words, digest = self._words(language), hashlib.sha256(self.page).hexdigest()
        return self._filled(
            "poster.html.j2",
            language,
            lead=words["print_poster_link" if self.is_link else "print_poster_file"],
            address=self.address,
            picture=qr_svg(self.address) if self.is_link else "",
            how=words["print_poster_how"].format(length=self.survey.codes.length),
            private=words["print_poster_private"],
            hash=words["print_poster_hash"],
            digest=" ".join(digest[start : start + 8] for start in range(0, len(digest), 8)),
        )

    def _words(self, language: str) -> Any:
        return self.survey.wording[language]

    def _filled(self, template: str, language: str, **values: Any) -> bytes:
        direction, title = self._words(language)["direction"], self.survey.title[language]
        return fill(template, language=language, direction=direction, title=title, **values).encode()
