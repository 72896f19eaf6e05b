"""A survey on paper: coins or dice with their exact law, a sheet to print, and a form to enter the sheets.

Chance on paper has few odds, so that a sheet has a plan of its own: randomised response by exactly these odds. Reports
that are entered from sheets are counted and estimated as any others.
"""

from __future__ import annotations

import html
import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from bruit.collection import Plan
from bruit.collection.odds import Share, belief, nearest
from bruit.errors import ParameterError
from bruit.oracles import RandomizedResponse
from bruit.survey.question import Question

if TYPE_CHECKING:
    from bruit.survey.survey import Survey

#: By how much the odds of a sheet may exceed those of the survey: what rounding makes of 3:1.
_ROUNDING = 1 + Fraction(1, 10**9)
_PLACES = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class Device:
    """Coins or dice, and the odds of the true answer against each other one.

    Parameters
    ----------
    name
        What it is called on the command line.
    answers
        For how many answers it is.
    odds
        How often the true answer is marked for each time that another one is, in whole numbers.
    text
        The name of its instruction among the texts of the page.
    faces
        For a die with two answers: on how many faces the truth is told.
    """

    name: str
    answers: int
    odds: tuple[int, int]
    text: str
    faces: int = 0

    def law(self) -> list[Fraction]:
        """The chance that each answer is marked by somebody whose true answer is the first, from the instruction."""
        if self.faces:
            return [Fraction(self.faces, 6), Fraction(6 - self.faces, 6)]
        # The truth for one half of the throws; for the other half every answer alike.
        other = Fraction(1, 2 * self.answers)
        return [Fraction(1, 2) + other, *[other] * (self.answers - 1)]


#: All devices, the most private first for each number of answers.
DEVICES = (
    Device("die-4", 2, (2, 1), "paper_die", 4),
    Device("coins", 2, (3, 1), "paper_coins"),
    Device("die-5", 2, (5, 1), "paper_die", 5),
    Device("die", 3, (4, 1), "paper_die_three"),
    Device("coins", 4, (5, 1), "paper_coins_four"),
    Device("dice", 6, (7, 1), "paper_dice_six"),
)


@dataclass(frozen=True)
class Paper:
    """The paper version of a survey with one question of two, three, four or six answers.

    Parameters
    ----------
    survey
        The survey.
    device
        The name of a device; by default the one with the least error whose odds the survey allows.
    """

    survey: Survey
    device: str | None = None

    def __post_init__(self) -> None:
        _ = self.chosen

    @property
    def question(self) -> Question:
        """The question on the sheet."""
        if len(self.survey.questions) > 1 or self.survey.questions[0].kind in ("number", "several"):
            raise ParameterError("A sheet of paper has one question: yes-no, choice or scale.")
        return self.survey.questions[0]

    @cached_property
    def chosen(self) -> Device:
        """Coins or dice."""
        size = len(self.question.values)
        fitting = [device for device in DEVICES if device.answers == size]
        if not fitting:
            raise ParameterError("On paper a question must have 2, 3, 4 or 6 answers, for coins or dice.")
        if self.device is not None and self.device not in [device.name for device in fitting]:
            names = ", ".join(device.name for device in fitting)
            raise ParameterError(f"device must be one of {names} for {size} answers.")
        named = [device for device in fitting if self.device in (None, device.name)]
        most = self.survey.plan.design.ratio("person") * _ROUNDING
        allowed = [device for device in named if Fraction(*device.odds) <= most]
        if not allowed:
            least = named[0].odds
            raise ParameterError(
                f'Coins and dice have larger odds than this survey allows: write odds = "{least[0]}:{least[1]}" in '
                "place of epsilon, which tells more about a person, or ask in the browser."
            )
        return allowed[-1]

    @cached_property
    def plan(self) -> Plan:
        """The plan of the sheets: exactly the law of the coins or dice."""
        oracle = RandomizedResponse.with_odds(*self.chosen.odds, labels=self.question.values)
        return Plan({self.question.name: oracle})  # type: ignore[arg-type] # a mechanism may stand for a domain

    def sheet(self, language: str) -> bytes:
        """A page to print: what to do, what that promises, and boxes to mark."""
        question, words = self.question, self.survey.wording[language]
        labels = question.labels[language]
        introduction = self.survey.introduction[language]
        boxes = "".join(f"<li><span></span>{html.escape(label)}</li>" for label in labels)
        lines = [
            f"<h1>{html.escape(self.survey.title[language])}</h1>",
            *([f"<p>{html.escape(introduction)}</p>"] if introduction else []),
            f"<h2>{html.escape(words['paper_how'])}</h2>",
            *(f"<p>{html.escape(text)}</p>" for text in self.instructions(language)),
            f"<h2>{html.escape(question.text[language])}</h2>",
            *([f"<p>{html.escape(question.help[language])}</p>"] if question.help[language] else []),
            f'<ol dir="auto">{boxes}</ol>',
        ]
        return self._page("sheet.html", language, "".join(lines), {})

    def instructions(self, language: str) -> list[str]:
        """What to do with the coins or dice, how often the truth is marked, and what others can conclude."""
        words, labels, law = self.survey.wording[language], self.question.labels[language], self.chosen.law()
        quoted = [words["quoted"].format(text=label) for label in labels]
        example = 1 if len(labels) == 2 else 0
        faces = self.chosen.faces
        values = {
            **dict(zip(_PLACES, quoted, strict=False)),
            "truth": ", ".join(map(str, range(1, faces + 1))),
            "lie": ", ".join(map(str, range(faces + 1, 7))),
        }
        moved = belief(Fraction(*self.chosen.odds), 50)
        shares = {"own": _share(nearest(law[0]), words), "share": _share(nearest(law[1]), words)}
        percents = {"before": _percent(moved.before, words), "most": _percent(moved.most, words)}
        return [
            _filled(words[self.chosen.text], values),
            words["paper_once"],
            _filled(words["paper_odds"], {"answer": quoted[example], **shares}),
            _filled(words["paper_promise"], percents),
        ]

    def entry(self, language: str) -> bytes:
        """A page to enter the sheets: it counts taps and saves them as reports in CSV; nothing leaves the device."""
        words, question = self.survey.wording[language], self.question
        heading = f"<h1>{html.escape(words['paper_entry'])}</h1><p>{html.escape(words['paper_entry_text'])}</p>"
        data = {
            "name": question.name,
            "labels": list(question.labels[language]),
            "undo": words["paper_undo"],
            "save": words["paper_save"],
        }
        return self._page("entry.html", language, f"{heading}<h2>{html.escape(question.text[language])}</h2>", data)

    def _page(self, name: str, language: str, body: str, data: Mapping[str, Any]) -> bytes:
        template = string.Template(resources.files("bruit.survey").joinpath(name).read_text(encoding="utf-8"))
        embedded = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
        filled = {
            "language": html.escape(language),
            "direction": html.escape(self.survey.wording[language]["direction"]),
            "title": html.escape(self.survey.title[language]),
            "body": body,
            "data": embedded,
        }
        return template.substitute(filled).encode()


def _filled(text: str, values: dict[str, str]) -> str:
    """A text with its places filled, in one pass, so that braces in an answer stay as they are."""
    for name in values:
        text = text.replace(f"{{{name}}}", f"\0{name}\0")
    return "".join(piece if place % 2 == 0 else values[piece] for place, piece in enumerate(text.split("\0")))


def _share(share: Share, words: Mapping[str, str]) -> str:
    return _filled(words["share"], {"count": f"{share.count}", "of": f"{share.of}"})


def _percent(share: Share, words: Mapping[str, str]) -> str:
    return _filled(words["percent"], {"number": f"{float(100 * share.fraction):.12g}"})
