"""Sentences about a plan for the people who are asked, in their language: of the phrases in ``texts``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bruit import _checks
from bruit.collection.odds import Belief, Share, odds
from bruit.pages import Wording, addressed, isolated
from bruit.tables import label, shown

_TEXTS = Wording("bruit.sheets")
#: The languages that there are phrases in.
LANGUAGES = _TEXTS.languages


@dataclass(frozen=True)
class Phrases:
    """The phrases of a language, and sentences made of them.

    Parameters
    ----------
    language
        ``"en"`` or ``"fr"``.
    familiar
        Whether French addresses people with *tu*.

    Examples
    --------
    >>> from bruit.collection import Plan
    >>> plan = Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> print(Phrases("en").odds(plan.mechanisms["smokes"], ["no", "yes"])[1])
    If your answer is “yes”, 73 of 100 people like you send “yes” and 27 of 100 send “no”.
    >>> from bruit.collection.odds import belief
    >>> print(Phrases("fr").share(belief(plan.design.ratio("person"), 10).most))
    24 sur 100
    """

    language: str
    familiar: bool = False

    def __post_init__(self) -> None:
        _checks.one_of(LANGUAGES, language=self.language)

    def __call__(self, section: str, name: str, /, **words: Any) -> str:
        """The phrase of this name, with the words that stand in braces filled in."""
        phrase = addressed(_TEXTS[self.language][section][name], familiar=self.familiar)
        # French signs of two parts, and %, stay on the line of the word before them.
        return re.sub(" (?=[;:!?%])", "\N{NO-BREAK SPACE}", phrase).format(**words)

    def has(self, section: str, name: str) -> bool:
        """Whether there is a phrase of this name."""
        return name in _TEXTS[self.language][section]

    def whole(self, number: int) -> str:
        """A whole number as the language writes it."""
        return f"{number:,}".replace(",", self._own("thousands"))

    def decimal(self, number: float, places: int) -> str:
        """A number with this many decimals, as the language writes it."""
        before, _, after = f"{number:,.{places}f}".partition(".")
        return before.replace(",", self._own("thousands")) + (self._own("point") + after if after else "")

    def share(self, share: Share) -> str:
        """A count out of a hundred."""
        return self._own("share").format(count=self.whole(share.count), of=self.whole(share.of))

    def quoted(self, text: Any) -> str:
        """A text from outside in quotation marks, on one line."""
        before, after = _TEXTS[self.language]["quotes"]
        return f"{before}{isolated(shown(label(text)))}{after}"

    def odds(self, mechanism: Any, labels: Sequence[Any]) -> list[str]:
        """How chance decides what is sent: a sentence for each of two answers, one for all where there are more.

        Parameters
        ----------
        mechanism
            What makes the answer private: ``plan.mechanisms[name]``.
        labels
            How its answers are called, in the order of the codes.
        """
        chances = odds(mechanism)
        if chances is None:
            return [self("odds", "any", ratio=self.ratio(mechanism.law.ratio))]
        words = {"own": self.share(chances.own_share), "other": self.share(chances.other_share)}
        if not chances.names:
            return [self("odds", "points", **words)]
        if chances.answers > 2:
            return [self("odds", "named", **words)]
        names = [self.quoted(text) for text in labels]
        return [
            self("odds", "two", own_answer=own, other_answer=other, **words) for own, other in (names, reversed(names))
        ]

    def ratio(self, ratio: Fraction) -> str:
        """A ratio that is not exceeded, rounded up to two decimals."""
        return self.decimal(-(-ratio * 100 // 1) / 100, 2)

    def belief(self, moved: Belief, *, between: bool = False) -> str:
        """What somebody can come to believe: at most, or between what and what."""
        words = {name: self.share(getattr(moved, name)) for name in ("before", "least", "most")}
        return self("belief", "between" if between else "most", **words)

    def _own(self, name: str) -> str:
        text: str = _TEXTS[self.language][name]
        return text
