"""A card for each question: a sentence, bars, and what explains them. A question with several choices is one card.

A card is made from what `bruit.collector.results` shows. It counts nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from bruit.collector import explanations
from bruit.collector.bars import Row, is_mean, local, main_rows, percent, rows
from bruit.collector.explanations import Dots, Why
from bruit.collector.results import Group, QuestionResult, SurveyResults
from bruit.collector.sentences import (
    answers,
    headline,
    hidden_question,
    is_open,
    label,
    leaves_open,
    quoted_lead,
    respondents,
)
from bruit.pages import isolated
from bruit.survey import Survey
from bruit.survey.question import Question

__all__ = ["GroupCard", "GroupPart", "ResultCard", "beyond_scale", "cards", "notes"]


class GroupPart(NamedTuple):
    """A group that is shown: its name with the number of its reports, its bars, and the table with all values."""

    caption: str
    rows: tuple[Row, ...]
    table: tuple[Row, ...]


class GroupCard(NamedTuple):
    """The groups by a question that is sent in clear: those that are shown, and why others are not."""

    heading: str
    parts: tuple[GroupPart, ...]
    hidden: tuple[str, ...]


@dataclass(frozen=True)
class ResultCard:
    """What is shown of a question in a round.

    Parameters
    ----------
    key
        What sets it apart on the page and in names of files.
    attributes, round
        The attributes of the plan that it shows, and the round; None for all rounds.
    text, lead, reports
        The question, its result in a sentence, and how many people reported on it where that is not everybody.
    own
        The same for those who answered, in people; empty where that is not estimated.
    rows, table
        The bars, and the table with all values.
    hidden
        What is not shown of it, and why.
    beyond_scale, notes
        That numbers are beyond the scale, where they are, and how far to trust it.
    groups
        The same by group.
    dots, why
        What explains the interval and the estimate; None where there is nothing to explain.
    changes, caption
        The rows of a change between rounds, and what stands above them.
    """

    key: str
    attributes: tuple[str, ...]
    text: str
    lead: str
    reports: str
    rows: tuple[Row, ...]
    table: tuple[Row, ...]
    hidden: tuple[str, ...]
    own: str = ""
    beyond_scale: str = ""
    notes: tuple[str, ...] = ()
    groups: tuple[GroupCard, ...] = ()
    dots: Dots | None = None
    why: Why | None = None
    changes: tuple[Row, ...] = ()
    caption: str = ""
    round: int | None = None


def cards(results: SurveyResults, number: int, words: Mapping[str, str], own: str) -> Iterator[ResultCard]:
    """The cards of a round, question by question.

    Parameters
    ----------
    results, number
        What is shown, and of which round.
    words, own
        The texts of the page, and the language of the survey's texts.
    """
    known = {question.name: question for question in results.rounds[number]}
    round_key = f"-round-{number}" if results.survey.has_rounds else ""
    for question in results.survey.sensitive:
        parts = [known[name] for name in question.attribute_names]
        card = _Maker(results, question, words, own).card(parts, f"{question.name}{round_key}")
        yield replace(card, round=number)


class _Maker(NamedTuple):
    """What the parts of a card need."""

    results: SurveyResults
    question: Question
    words: Mapping[str, str]
    own: str

    @property
    def survey(self) -> Survey:
        return self.results.survey

    def card(self, parts: Sequence[QuestionResult], key: str) -> ResultCard:
        shown = [part for part in parts if part.answer is not None and not self._finds_nothing(part)]
        bars = tuple(row for part in shown for row in self._bars(part.name, part.answer))
        table = tuple(row for part in shown for row in self._table(part.name, part.answer))
        text, names = self.question.text[self.own], tuple(part.name for part in shown)
        hidden = tuple(self._hidden(parts))
        if not shown:
            return ResultCard(key, names, text, "", "", (), (), hidden)
        first = max(shown, key=self._weight)
        quoted = quoted_lead(self.survey, first.name, first.answer, self.words, self.own)
        return ResultCard(
            key=key,
            attributes=names,
            text=text,
            lead=headline(self.survey, first.name, first.answer, self.words, self.own),
            reports=self._reports(shown, len(parts)),
            rows=bars,
            table=table,
            hidden=hidden,
            own=respondents(self.survey, first, self.words, self.own),
            beyond_scale=beyond_scale(table, first.answer, first.n or 0, self.words),
            notes=tuple(self._notes(shown)),
            groups=tuple(self._groups(parts)),
            dots=explanations.dots(self.survey, first.name, first.answer, quoted, self.words),
            why=self._why(first, quoted),
        )

    def _finds_nothing(self, part: QuestionResult) -> bool:
        """Whether no answer to an open question is certified."""
        return is_open(self.survey, part.name) and part.answer is not None and not part.answer.labels  # type: ignore[union-attr]

    @property
    def _several(self) -> bool:
        return self.question.kind == "several"

    def _why(self, part: QuestionResult, quoted: str) -> Why | None:
        """What the slider needs; a hint at a text says no answer, so that an open question has no slider."""
        if is_open(self.survey, part.name):
            return None
        return explanations.why(self.survey, part.name, part.answer, quoted, self.words)

    def _weight(self, part: QuestionResult) -> float:
        """The choice that is named first is the most frequent one."""
        return float(part.answer.frequency[1]) if self._several else 0.0  # type: ignore[union-attr]

    def _choice(self, name: str) -> str:
        return self.question.labels[self.own][self.question.attribute_names.index(name)] if self._several else ""

    def _bars(self, name: str, answer: Any) -> Iterator[Row]:
        for row in main_rows(self.survey, name, answer, self.words, self.own):
            yield row._replace(label=self._choice(name) or row.label)

    def _table(self, name: str, answer: Any) -> Iterator[Row]:
        if self._several:
            yield from self._bars(name, answer)
        else:
            yield from rows(self.survey, name, answer, self.words, self.own)

    def _reports(self, shown: Sequence[QuestionResult], choices: int) -> str:
        """Where everybody reported on everything, the number of answers stands at the head of the page."""
        if is_open(self.survey, shown[0].name):
            return self.words["open_shown"].format(n=shown[0].n)
        low, high = self._sizes([part.n or 0 for part in shown], choices)
        if low == high == self.results.shown:
            return ""
        return self.words["reports" if low == high else "reports_each"].format(n=low, low=low, high=high)

    def _sizes(self, numbers: Sequence[int], choices: int) -> tuple[int, int]:
        """How many people reported on the question; the fewest and the most by choice where that cannot be said.

        Where one attribute is drawn for each person, those who reported on any choice are the sum over all choices.
        """
        design = self.survey.plan.design
        if design.draws is not None and design.is_tested and len(numbers) == choices:
            return sum(numbers), sum(numbers)
        return min(numbers), max(numbers)

    def _hidden(self, parts: Sequence[QuestionResult]) -> Iterator[str]:
        """Why choices, or all of the question, are not shown."""
        if any(self._finds_nothing(part) for part in parts):
            yield self.words["open_none"]
        for reason in ("few", "follows"):
            hidden = [part for part in parts if part.hidden == reason]
            if not hidden:
                continue
            line = hidden_question(self.survey, hidden[0], self.words)
            names = ", ".join(isolated(self._choice(part.name)) for part in hidden)
            yield line if len(hidden) == len(parts) else f"{names}{self.words['colon']} {line}"

    def _notes(self, shown: Sequence[QuestionResult]) -> Iterator[str]:
        """How far to trust the estimate; of several choices, that with the widest interval."""
        part = max(shown, key=lambda part: part.now or 0.0)
        choice = self._choice(part.name)
        for line in notes(self.results, part, self.words):
            yield f"{isolated(choice)}{self.words['colon']} {line}" if choice else line

    # Groups.

    def _groups(self, parts: Sequence[QuestionResult]) -> Iterator[GroupCard]:
        """The groups by each question that is sent in clear; of several choices, each with those that are shown."""
        for clear in self.survey.public:
            members: dict[str, list[tuple[str, Group]]] = {}
            for part in parts:
                for group in part.groups:
                    if group.question == clear:
                        members.setdefault(group.label, []).append((part.name, group))
            if not members:
                continue
            question = next(known for known in self.survey.questions if known.name == clear)
            yield GroupCard(
                heading=self.words["groups"].format(question=isolated(question.text[self.own])),
                parts=tuple(self._part(own) for own in members.values() if any(not group.hidden for _, group in own)),
                hidden=tuple(self._hidden_groups(list(members.values()))),
            )

    def _part(self, members: Sequence[tuple[str, Group]]) -> GroupPart:
        """A group with the number of its reports."""
        shown = [(name, group) for name, group in members if not group.hidden]
        low, high = self._sizes([group.n or 0 for _, group in shown], len(members))
        size = answers(low, self.words) if low == high else self.words["answers_each"].format(low=low, high=high)
        line = f"{self._member(shown[0][1])}{self.words['colon']} {size}"
        if any(leaves_open(self.survey, name, group.answer) for name, group in shown):
            line = f"{line}. {self.words['compare']}"
        return GroupPart(
            caption=line,
            rows=tuple(row for name, group in shown for row in self._bars(name, group.answer)),
            table=tuple(row for name, group in shown for row in self._table(name, group.answer)),
        )

    def _hidden_groups(self, every: Sequence[Sequence[tuple[str, Group]]]) -> Iterator[str]:
        """Which groups are not shown: a sentence for each reason, without numbers."""
        for reason in ("few", "follows"):
            names = []
            for members in every:
                hidden = [name for name, group in members if group.hidden == reason]
                member = self._member(members[0][1])
                if len(hidden) == len(members):
                    names.append(member)
                else:
                    names += [f"{member} ({isolated(self._choice(name))})" for name in hidden]
            if names:
                yield self.words[f"groups_{reason}"].format(groups=", ".join(names))

    def _member(self, group: Group) -> str:
        return isolated(label(self.survey, group.question, group.label, self.own))


def beyond_scale(table: Sequence[Row], answer: Any, n: int, words: Mapping[str, str]) -> str:
    """That a table has numbers beyond its scale, where it has.

    Parameters
    ----------
    table, answer
        Its rows, and the estimate.
    n
        How many reports it is made from.
    words
        The texts of the page.
    """
    if not any(row.below or row.above for row in table):
        return ""
    return words["outside_mean" if is_mean(answer) else "outside_share"].format(n=answers(n, words))


def notes(results: SurveyResults, question: QuestionResult, words: Mapping[str, str]) -> Iterator[str]:
    """How far the estimate of an attribute can be trusted: its uncertainty, what was expected, and forged answers.

    Parameters
    ----------
    results, question
        What is shown, and of which attribute.
    words
        The texts of the page.
    """
    if question.answer is None:
        return
    if is_open(results.survey, question.name):
        yield words["open_only"].format(letters=results.survey.questions[0].letters)
    share = not is_mean(question.answer)
    if question.now is not None:
        yield words["now"].format(now=_amount(question.now, share, words))
    if question.promised is not None:
        yield words["promised"].format(
            people=results.survey.expected, promised=_amount(question.promised, share, words)
        )
    if question.moved is not None:
        moved = words["beyond"] if share and question.moved > 1 else _amount(question.moved, share, words)
        yield words["forged" if share else "forged_mean"].format(forged=question.forged, n=question.n, moved=moved)


def _amount(number: float, share: bool, words: Mapping[str, str]) -> str:
    return words["points"].format(number=percent(number, words)) if share else local(f"{number:.3g}", words)
