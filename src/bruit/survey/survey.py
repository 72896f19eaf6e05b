"""A survey: what people are asked, in which words, how each answer is randomised, and what a report looks like."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bruit import documents
from bruit._renamed import Signpost
from bruit.cards import Card
from bruit.collection import Plan, Repeat
from bruit.collection.card import assigned_card
from bruit.collection.panel import ONCE
from bruit.collection.sample import ATTRIBUTE
from bruit.engines import report_parsing
from bruit.errors import DataError, ParameterError
from bruit.survey.body import Body, ClaimBody, Memo, Report
from bruit.survey.personal_link import PersonalLink
from bruit.survey.question import Question, Texts
from bruit.survey.wording import Address, Reading

if TYPE_CHECKING:
    from bruit.survey.check import Check
    from bruit.survey.codes import CodeForm

#: How answers come back: over the network to a collector, as codes that people hand in, or on paper.
Channel: TypeAlias = Literal["collector", "codes", "paper"]


@dataclass(frozen=True, eq=False, repr=False)
class Survey:
    """A survey as its file describes it, compiled to a plan.

    Parameters
    ----------
    title, introduction, asker
        What it is called, what a respondent reads first, and who asks, by language; the last two may be empty.
    languages
        The languages of its texts. The first one names the values of the plan.
    questions
        All questions, in the order in which they are shown.
    plan
        The plan over the sensitive questions.
    wording
        The page's own texts, by language and name.
    own_wording
        The languages whose texts the survey brought itself.
    expected
        How many people are expected to answer; None if the file does not say.
    shown_from
        The least number of reports for which a question is shown, and the least step of results in answers.
    opens, closes
        When reports are taken, with their offset; None if nothing is said.
    round_opens
        When each round begins, where the same people are asked again; else empty.
    opening
        What sets this opening of it at a collector apart from others: its name there and a random number; else empty.
    channel
        How answers come back: ``"collector"``, ``"codes"`` or ``"paper"``.
    address
        How French texts address people: ``"vous"`` or ``"tu"``.
    reading
        ``"simple"`` has shorter words and sentences on the page, with the same facts; else ``"standard"``.

    Guarantee
    ---------
    What a page sends of the sensitive questions is one report of `plan`, drawn once; ``plan.guarantee`` speaks of it.
    Answers to questions in `public` are sent as they are, and nothing is promised about them. With rounds a page draws a
    memo once in an epoch, keeps it and sends one report of it in each round; ``plan.guarantee`` is of all rounds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "survey.toml"
    ...     _ = path.write_text('''
    ... title = "Alcohol at school"
    ... epsilon = 1.0
    ... [[question]]
    ... name = "drinks"
    ... text = "Have you drunk alcohol this week?"
    ... kind = "yes-no"
    ... ''')
    ...     survey = Survey.load(path)
    >>> survey.plan
    Plan('drinks'; GRR; person ε = 1 (local, the whole record changed); attribute ε = 1 (local, one attribute of a record changed))
    >>> report = survey.parse(survey.answer({"drinks": "Yes"}))
    >>> report.columns["drinks"] in ("0", "1")
    True
    """  # noqa: E501 -- what a plan prints

    FORMAT = "bruit.survey/1"

    title: Texts
    languages: tuple[str, ...]
    questions: tuple[Question, ...]
    plan: Plan
    wording: Mapping[str, Mapping[str, str]]
    introduction: Texts
    asker: Texts
    own_wording: tuple[str, ...] = ()
    expected: int | None = None
    shown_from: int = 10
    opens: datetime | None = None
    closes: datetime | None = None
    round_opens: tuple[datetime, ...] = ()
    opening: str = ""
    channel: Channel = "collector"
    address: Address = "vous"
    reading: Reading = "standard"

    if not TYPE_CHECKING:  # a checker is to see what is missing
        read = Signpost("load(path)")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Survey:
        """The survey in a TOML file; ``docs/reference/survey_file.md`` has its format.

        Parameters
        ----------
        path
            The file. Texts of the page in a language that bruit does not have stand beside it, as in ``de.toml``.
        """
        from bruit.survey.reading import read

        return read(Path(path))

    # What it is.

    @cached_property
    def public(self) -> dict[str, tuple[str, ...]]:
        """The questions whose answers are sent as they are: their names and labels."""
        return {question.name: question.values for question in self.questions if question.clear}

    @cached_property
    def sensitive(self) -> tuple[Question, ...]:
        """The questions whose answers are randomised, in the order of the plan."""
        return tuple(question for question in self.questions if not question.clear)

    @cached_property
    def open_question(self) -> Question | None:
        """The question that takes any text, where the survey has one; it is then the only question."""
        return next((question for question in self.questions if question.kind == "open"), None)

    @cached_property
    def units(self) -> dict[str, tuple[str, ...]]:
        """What a device may be asked to report on: the attributes of each, several where tables are asked for."""
        return self.plan.design.parts

    @property
    def has_rounds(self) -> bool:
        """Whether the same people are asked again, each with a memo and a personal link."""
        return self.plan.repeat is not None

    @property
    def is_assigned(self) -> bool:
        """Whether each personal link names the question, or the choice, that its holder reports on, in equal shares."""
        return self.plan.design.needs_list

    @property
    def needs_links(self) -> bool:
        """Whether it can be answered by personal links only."""
        return self.has_rounds or self.is_assigned

    @property
    def repeat(self) -> Repeat:
        """Rounds and epochs; one of each where people are asked once."""
        return self.plan.repeat or ONCE

    @cached_property
    def rounds(self) -> int:
        """How often the same people are asked: the rounds of all epochs together."""
        return self.repeat.rounds * self.repeat.epochs

    def round_at(self, time: datetime) -> int:
        """The round that is open at a time; 0 before the first."""
        return sum(opens <= time for opens in self.round_opens) if self.has_rounds else 1

    @cached_property
    def card(self) -> Card:
        """What a respondent's device draws from."""
        return assigned_card(self.plan) if self.is_assigned else self.plan.card()

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits: what makes it this survey. Comments, dates, people, gate, channel do not count."""
        return hashlib.sha256(documents.canonical(self._body()).encode()).hexdigest()

    @cached_property
    def identity(self) -> str:
        """64 hexadecimal digits that its reports carry: its digest, or a hash of that and of `opening`."""
        return hashlib.sha256(f"{self.digest} {self.opening}".encode()).hexdigest() if self.opening else self.digest

    def _body(self) -> dict[str, Any]:
        return {
            "format": self.FORMAT,
            "card": self.card.digest,
            "title": dict(self.title),
            "introduction": dict(self.introduction),
            "asker": dict(self.asker),
            "languages": list(self.languages),
            "questions": [question.to_dict() for question in self.questions],
            "rounds": self.rounds,
            **({"assign": "rotation"} if self.is_assigned else {}),
            "wording": {language: dict(self.wording[language]) for language in self.own_wording},
            **({"address": self.address} if self.address != "vous" else {}),
            **({"reading": self.reading} if self.reading != "standard" else {}),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Survey) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        names = ", ".join(f"{question.name!r}" for question in self.questions)
        return f"Survey({self.title[self.languages[0]]!r}: {names}; {self.plan.guarantee}; sha256 {self.digest[:16]}…)"

    # What a report of it looks like.

    @cached_property
    def body(self) -> Body:
        """The form of a report."""
        sizes = {name: len(labels) for name, labels in self.public.items()}
        return Body(self.identity, self.card.columns, sizes, self.rounds)

    @property
    def body_length(self) -> int:
        """How many bytes every report has."""
        return self.body.length

    @cached_property
    def claim_body(self) -> ClaimBody:
        """The form of what a page sends before it draws with a memo or for one, as long as a report."""
        return ClaimBody(self.identity, self.repeat.epochs, self.repeat.rounds, self.body_length)

    def parse(self, body: bytes) -> Report:
        """The report in a body that came from outside; all that the page cannot have sent is an error.

        Parameters
        ----------
        body
            The bytes, as they came.
        """
        report = self.body.parse(body)
        forms = self.plan.form
        columns = {name: report_parsing.parse(forms[name], [text]) for name, text in report.columns.items()}
        readable = all(column.readable is None for column in columns.values())
        if not readable or not self.plan.valid({name: column.reports for name, column in columns.items()}).all():
            raise DataError("A report of this survey must have messages that its law can give.")
        return report

    def link_of(self, report: Report) -> str:
        """What a collector compares of a report's personal link: its token, in rotation with its question's number."""
        return PersonalLink(report.link, int(report.columns[ATTRIBUTE]) if self.is_assigned else None).named

    def answer(self, values: Mapping[str, Any], *, link: str = "", round: int = 1) -> bytes:
        """The body of a new report, as the page would draw it: for devices without a browser, and for trials.

        Parameters
        ----------
        values
            The label of the answer to each question, in the first language; of several choices, a list of labels; of
            an open question, a text.
        link, round
            What stands behind ``#`` in a personal link; the round.
        """
        from bruit.survey.answering import answer

        return answer(self, values, link, round)

    @cached_property
    def codes(self) -> CodeForm:
        """The form of its codes, which people hand in where there is no collector."""
        if self.open_question is not None:
            raise ParameterError(
                "An open question has no codes: give its page to a collector with bruit survey open, or ask a question "
                'with labels (kind = "choice").'
            )
        from bruit.survey.codes import CodeForm

        return CodeForm(self)

    def answer_code(self, values: Mapping[str, Any]) -> str:
        """A new report as a code, as the page would show it: for devices without a browser, and for trials.

        Parameters
        ----------
        values
            As for `answer`.
        """
        from bruit.survey.answering import answer_code

        return answer_code(self, values)

    def draw_memo(self, values: Mapping[str, Any]) -> Memo:
        """What a device keeps for one epoch of a survey with rounds, and shows to nobody.

        Parameters
        ----------
        values
            As for `answer`; they are looked at in the first round of an epoch only.
        """
        from bruit.survey.answering import draw_memo

        return draw_memo(self, values)

    def refresh(self, memo: Memo, *, link: str, round: int) -> bytes:
        """The body of the report of one round from the memo of its epoch. Draw it once, keep it, and send that.

        Parameters
        ----------
        memo
            As `draw_memo` gave it.
        link, round
            The person's own link; the round, counted through all epochs.
        """
        from bruit.survey.answering import refresh

        return refresh(self, memo, link, round)

    def claim(self, *, link: str, epoch: int) -> bytes:
        """The body that a device sends before it draws the memo of an epoch: only the first device of a link may.

        Keep it: a device that finds no memo sends the same again, and draws one only if the collector agrees again,
        which it does as long as no report of the epoch has come.

        Parameters
        ----------
        link, epoch
            The person's own link; the epoch, from 1.
        """
        from bruit.survey.answering import claim

        return claim(self, link, epoch)

    def claim_round(self, claim: bytes, *, round: int) -> bytes:
        """The body that a device sends before it draws from its memo: the collector agrees if the round is free.

        Parameters
        ----------
        claim
            The claim of the epoch, as `claim` gave it.
        round
            The round, counted through all epochs.
        """
        from bruit.survey.answering import claim_round

        return claim_round(self, claim, round)

    def check(self) -> Check:
        """What it promises, what the expected people will tell, and what would be unwise."""
        from bruit.survey.check import Check

        return Check(self)

    def page(
        self, *, address: str = "report", links: bool = False, insecure_demo: bool = False, code: bool = False
    ) -> bytes:
        """The respondent's page: one static HTML file that draws on the device and sends the report.

        Parameters
        ----------
        address
            Where reports are posted to: relative to the page, or with its host.
        links
            Whether people come by single-use links, whose token stands behind ``#`` in the address of the page.
        insecure_demo
            Whether the page works over plain http from another machine too, where nobody vouches for it.
        code
            Whether the page sends nothing and shows a code instead, which people hand in. It then works from a disk
            too, and neither `address` nor `links` is for it.
        """
        from bruit.survey.page import code_page, page

        if code:
            if links or insecure_demo or address != "report":
                raise ParameterError("A page with codes sends nothing: leave out address, links and insecure_demo.")
            return code_page(self)
        return page(self, address=address, links=links, insecure_demo=insecure_demo)

    def sheet(self, language: str | None = None, *, channel: str | None = None, links: bool = False) -> bytes:
        """What people and ethics boards read before anybody is asked: one HTML file to print.

        Parameters
        ----------
        language
            A language of the survey, ``"en"`` or ``"fr"``; by default the first of these that it has.
        channel
            How answers come back: ``"collector"`` (default), ``"codes"`` or ``"paper"``.
        links
            Whether people come by single-use links, as for `page`.
        """
        from bruit.survey.sheet import sheet

        return sheet(self, language, channel=channel, links=links)


def even_step(people: int, step: int) -> int | None:
    """The step nearest to this one that divides the people; None where no step like it does.

    >>> even_step(2300, 230), even_step(2292, 230), even_step(2293, 230)
    (230, 191, None)
    """
    low, high = max(5, step // 2), min(2 * step, people)
    sizes, shares = range(low, high + 1), range(-(-people // max(1, high)), people // low + 1)
    # A step divides the people, and so does the number of steps: the shorter list has at most some √people of them.
    tried = sizes if len(sizes) <= len(shares) else (people // share for share in shares)
    steps = (size for size in tried if size and low <= size <= high and people % size == 0)
    return min(steps, key=lambda size: (abs(size - step), -size), default=None)
