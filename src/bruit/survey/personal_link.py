"""What stands behind # in a personal link: a random token, in rotation the number of a question, and two check digits.

A mistyped link is refused before anything is asked. Otherwise its report would leave the device and be refused by the
collector, and the right link would draw another report, at twice ε. ``personal_link.proof.md`` has the argument.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from bruit.errors import ParameterError
from bruit.survey.body import LINK_LENGTH

_FORM = re.compile(
    rf"(?P<token>[A-Za-z0-9_-]{{16,{LINK_LENGTH}}})(?:\.(?P<place>0|[1-9][0-9]{{0,3}}))?\.(?P<check>[0-9]{{2}})"
)
#: The numbers of the characters before the check, the base in which they are read, and what is divided by.
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
_BASE, _PRIME = 5, 97


class PersonalLink(NamedTuple):
    """What one respondent's link says; the page reads it, and the collector knows its hash.

    Parameters
    ----------
    token
        16 to 32 letters, digits, - and _, drawn at random: by it the collector counts one report.
    place
        In rotation, the number of the question that this person reports on, from 0; otherwise None.

    Examples
    --------
    >>> PersonalLink("abcdefghijklmnop").text, PersonalLink("abcdefghijklmnop", 3).text
    ('abcdefghijklmnop.62', 'abcdefghijklmnop.3.82')
    >>> PersonalLink.parse("abcdefghijklmnop.3.82", questions=5).place
    3
    """

    token: str
    place: int | None = None

    @property
    def named(self) -> str:
        """The token and the number of the question: what the collector compares."""
        return self.token if self.place is None else f"{self.token}.{self.place}"

    @property
    def text(self) -> str:
        """The same with its check digits: what stands behind #."""
        return f"{self.named}.{_check(self.named)}"

    @classmethod
    def parse(cls, text: Any, questions: int = 0) -> PersonalLink:
        """The inverse of `text`; an error after any one wrong character, or a swap of two neighbours.

        Parameters
        ----------
        text
            What stands behind #.
        questions
            How many questions links name; 0 where they name none.
        """
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is not None:
            place = None if match["place"] is None else int(match["place"])
            link = cls(match["token"], place)
            is_of_survey = place is None if not questions else place is not None and place < questions
            if is_of_survey and _check(link.named) == match["check"]:
                return link
        shown = "…kp3.0.57" if questions else "…kp3.57"
        raise ParameterError(f"link must be what stands behind # in a personal link of this survey, as in {shown}.")


def _check(named: str) -> str:
    """Two digits: the characters as digits in base 5, modulo 97."""
    rest = 0
    for letter in named:
        rest = (_BASE * rest + _DIGITS.index(letter)) % _PRIME
    return f"{rest:02}"
