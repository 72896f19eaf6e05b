"""A survey on paper: coins or dice with their exact law, a sheet to print, and a form to enter the sheets.

Chance on paper has few odds, so that a sheet has a plan of its own: randomised response by exactly these odds. Reports
that are entered from sheets are counted and estimated as any others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bruit.collection import Plan
from bruit.collection.odds import Share, belief, nearest
from bruit.errors import ParameterError
from bruit.oracles import RandomizedResponse
from bruit.pages import fill, isolated, source
from bruit.privacy import Guarantee
from bruit.survey.page import asset
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


#: By how many questions: the instruction that draws one of them, all equally likely.
PICKS = {number: f"paper_pick_{number}" for number in range(2, 7)}


@dataclass(frozen=True)
class PaperQuestion:
    """A question on a sheet, with its coins or dice.

    Parameters
    ----------
    question
        The question.
    device
        Coins or dice.
    """

    question: Question
    device: Device

    @cached_property
    def plan(self) -> Plan:
        """What counts the sheets that answer this question: exactly the law of the coins or dice."""
        oracle = RandomizedResponse.with_odds(*self.device.odds, labels=self.question.values)
        return Plan({self.question.name: oracle})

    @property
    def ratio(self) -> Fraction:
        """The odds of the true answer against another one."""
        return Fraction(*self.device.odds)

    def instruction(self, language: str, words: Mapping[str, str]) -> str:
        """What to do with the coins or dice."""
        faces = self.device.faces
        values = {
            **dict(zip(_PLACES, self._quoted(language, words), strict=False)),
            "truth": ", ".join(map(str, range(1, faces + 1))),
            "lie": ", ".join(map(str, range(faces + 1, 7))),
        }
        return _filled(words[self.device.text], values)

    def odds(self, language: str, words: Mapping[str, str]) -> str:
        """How often an answer is marked by those whose true answer it is, and by others."""
        law, quoted = self.device.law(), self._quoted(language, words)
        shares = {"own": _share(nearest(law[0]), words), "share": _share(nearest(law[1]), words)}
        return _filled(words["paper_odds"], {"answer": quoted[1 if len(quoted) == 2 else 0], **shares})

    def _quoted(self, language: str, words: Mapping[str, str]) -> list[str]:
        return [_filled(words["quoted"], {"text": isolated(label)}) for label in self.question.labels[language]]


@dataclass(frozen=True)
class Paper:
    """The paper version of a survey with up to six questions of two, three, four or six answers.

    Of several questions each person draws one by a coin or die, answers that one, and leaves the others empty.

    Parameters
    ----------
    survey
        The survey.
    device
        The name of a device; by default the one with the least error whose odds the survey allows. With several
        questions it is for those that it fits.

    Guarantee
    ---------
    A sheet is a report on one question by `PaperQuestion.plan`, and which one it is was drawn by equally likely throws
    that do not depend on the answers. So all that a sheet tells is bounded by the largest odds, `ratio`.
    """

    survey: Survey
    device: str | None = None

    def __post_init__(self) -> None:
        _ = self.parts

    @cached_property
    def parts(self) -> tuple[PaperQuestion, ...]:
        """The questions, each with its coins or dice."""
        questions = self.survey.questions
        if self.survey.has_rounds:
            raise ParameterError("Paper keeps no memo: leave rounds out, or ask in the browser.")
        if self.survey.is_assigned:
            raise ParameterError("On paper a die draws the question of each person: leave assign out.")
        if any(question.clear or question.kind in ("number", "several", "open") for question in questions):
            raise ParameterError("A sheet of paper has questions of the kinds yes-no, choice and scale, none in clear.")
        if len(questions) > max(PICKS):
            raise ParameterError(f"A sheet of paper has at most {max(PICKS)} questions, of which a die draws one.")
        names = {name for question in questions for name in _devices(question)}
        if self.device is not None and self.device not in names:
            sizes = ", ".join(sorted({str(len(question.values)) for question in questions}))
            raise ParameterError(f"device must be one of {', '.join(_sorted(names))} for {sizes} answers.")
        return tuple(PaperQuestion(question, self._chosen(question)) for question in questions)

    def _chosen(self, question: Question) -> Device:
        known = _devices(question)
        named = known.get(self.device or "")
        fitting = list(known.values()) if named is None else [named]
        most = self.survey.plan.design.ratio("person") * _ROUNDING
        allowed = [device for device in fitting if Fraction(*device.odds) <= most]
        if not allowed:
            least = fitting[0].odds
            raise ParameterError(
                f'Coins and dice have larger odds than this survey allows: write odds = "{least[0]}:{least[1]}" in '
                "place of epsilon, which tells more about a person, or ask in the browser."
            )
        return allowed[-1]

    @property
    def plans(self) -> dict[str, Plan]:
        """The plan of each question, which counts the sheets that answer it."""
        return {part.question.name: part.plan for part in self.parts}

    @property
    def ratio(self) -> Fraction:
        """The most that a sheet tells of a person: how many times likelier it is from one record than from another."""
        return max(part.ratio for part in self.parts)

    @property
    def guarantee(self) -> Guarantee:
        """The same as an ε."""
        return max((part.plan.guarantee for part in self.parts), key=lambda guarantee: guarantee.epsilon)

    def sheet(self, language: str) -> bytes:
        """A page to print: what to do, what that promises, and boxes to mark."""
        return self._page(
            "paper.html.j2",
            language,
            introduction=self.survey.introduction[language],
            how=self.survey.wording[language]["paper_how"],
            instructions=self.instructions(language),
            questions=[self._question(number, part, language) for number, part in enumerate(self.parts, 1)],
        )

    def _question(self, number: int, part: PaperQuestion, language: str) -> dict[str, Any]:
        """A question with its boxes; of several each has its number and its coins or dice."""
        words, question = self.survey.wording[language], part.question
        several = len(self.parts) > 1
        texts = [question.help[language]] if question.help[language] else []
        texts += [part.instruction(language, words), part.odds(language, words)] if several else []
        heading = f"{number}. {question.text[language]}" if several else question.text[language]
        return {"heading": heading, "texts": texts, "labels": question.labels[language]}

    def instructions(self, language: str) -> list[str]:
        """What to do first, and what others can conclude; of one question, all about it."""
        words = self.survey.wording[language]
        moved = belief(self.ratio, 50)
        percents = {"before": _percent(moved.before, words), "most": _percent(moved.most, words)}
        promise = _filled(words["paper_promise"], percents)
        if len(self.parts) > 1:
            return [words[PICKS[len(self.parts)]], words["paper_only"], words["paper_once"], promise]
        (part,) = self.parts
        return [part.instruction(language, words), words["paper_once"], part.odds(language, words), promise]

    def entry(self, language: str) -> bytes:
        """A page to enter the sheets: it counts taps and saves them as reports in CSV; nothing leaves the device."""
        words = self.survey.wording[language]
        questions = [part.question for part in self.parts]
        data = {
            "questions": [
                {"name": own.name, "text": own.text[language], "labels": list(own.labels[language])}
                for own in questions
            ],
            "undo": words["paper_undo"],
            "save": words["paper_save"],
        }
        texts = {"heading": words["paper_entry"], "text": words["paper_entry_text"]}
        return self._page("entry.html.j2", language, script=source(asset("entry.mjs")), data=data, **texts)

    def _page(self, template: str, language: str, **values: Any) -> bytes:
        direction, title = self.survey.wording[language]["direction"], self.survey.title[language]
        return fill(template, language=language, direction=direction, title=title, **values).encode()


def _filled(text: str, values: dict[str, str]) -> str:
    """A text with its places filled, in one pass, so that braces in an answer stay as they are."""
    for name in values:
        text = text.replace(f"{{{name}}}", f"\0{name}\0")
    return "".join(piece if place % 2 == 0 else values[piece] for place, piece in enumerate(text.split("\0")))


def _share(share: Share, words: Mapping[str, str]) -> str:
    return _filled(words["share"], {"count": f"{share.count}", "of": f"{share.of}"})


def _percent(share: Share, words: Mapping[str, str]) -> str:
    return _filled(words["percent"], {"number": f"{float(100 * share.fraction):.12g}"})


def _devices(question: Question) -> dict[str, Device]:
    """The coins and dice for as many answers as a question has, by name."""
    known = {device.name: device for device in DEVICES if device.answers == len(question.values)}
    if not known:
        raise ParameterError(
            f"On paper a question must have 2, 3, 4 or 6 answers, for coins or dice; {question.name!r} has "
            f"{len(question.values)}."
        )
    return known


def _sorted(names: Collection[str]) -> list[str]:
    """Names of devices, in the order of the table above."""
    return [name for name in dict.fromkeys(device.name for device in DEVICES) if name in names]
