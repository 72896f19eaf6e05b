"""What a survey promises, what it will be able to say, and what would be unwise, before anybody is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bruit.collection.odds import Share, belief, nearest, odds, person_ratio
from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.survey.open_plan import LEAST_SHARE, OpenPlan
from bruit.survey.survey import Survey, even_step
from bruit.tables import Column, Table, counted

#: How many people are taken where the survey does not say how many it expects.
PEOPLE = 100
#: A share that is off by more than this says little, and one that is off by this is worth asking for.
WIDE, USEFUL = 0.2, 0.1
#: An interval of this half-width around one half holds every share.
NOTHING = 0.5
#: Beyond this belief, from one half, a report says nearly what the person said.
NEARLY_SURE = 0.95
#: The shares of an answer of which it is said how many people find it.
SHARES = (0.2, 0.1, 0.05, 0.02)
#: Fewer people than this in a cell of the answers in clear give no estimate of their own.
SMALL_STRATUM = 30
#: From this expected number on, pairs of codes with one id are worth a line.
PAIRS = 0.01


@dataclass(frozen=True)
class QuestionProspect:
    """What is to be expected of one attribute.

    Parameters
    ----------
    name
        The attribute.
    mechanism
        What makes its answers private.
    answers
        How many answers there are.
    own, other
        How often a report points to the own answer, and to a given other one; None for a number.
    half_width
        Half of the 95 % interval that the expected people give: of a share, or of the mean of a number.
    relative
        The same as a part of the whole range: of 1, or of the distance of the bounds.
    votes
        By how many people's worth a forged report can move the estimate.
    """

    name: str
    mechanism: str
    answers: int
    own: Share | None
    other: Share | None
    half_width: float
    relative: float
    votes: float


@dataclass(frozen=True)
class Check:
    """A survey looked at before it is opened.

    Parameters
    ----------
    survey
        The survey.
    """

    survey: Survey

    @property
    def people(self) -> int:
        """How many people are expected."""
        return self.survey.expected or PEOPLE

    @cached_property
    def prospects(self) -> list[QuestionProspect]:
        """What is to be expected of each attribute, in the order of the plan."""
        plan = self.survey.plan
        if isinstance(plan, OpenPlan):
            return [self._open_prospect(plan)]
        variances = plan.variance(self.people)
        if plan.design.counted_tables:
            return [self._margin(name, float(np.max(variances[name]))) for name in plan.schema]
        return [self._prospect(name, float(np.max(variances[name]))) for name in plan.mechanisms]

    def _open_prospect(self, plan: OpenPlan) -> QuestionProspect:
        """An open question: the interval of the rarest answer that the survey must find."""
        mechanism: Any
        ((name, mechanism),) = plan.mechanisms.items()
        half_width, votes = plan.half_width(LEAST_SHARE, self.people), plan.votes_per_cheater
        own, other = nearest(mechanism.p), nearest(mechanism.q)
        return QuestionProspect(name, mechanism.name, mechanism.size, own, other, half_width, half_width, votes)

    def _margin(self, name: str, variance: float) -> QuestionProspect:
        """An attribute that is asked for in tables; how often a cell is sent is said on the page."""
        plan, half_width = self.survey.plan, intervals.normal_quantile(0.95) * math.sqrt(variance)
        tables: list[Any] = [plan.mechanisms[unit] for unit, names in self.survey.units.items() if name in names]
        votes = max(float(mechanism.votes_per_cheater) for mechanism in tables) / plan.design.chance(name)
        kind, size = plan.design.mechanism_name(name), plan.schema[name].size
        return QuestionProspect(name, kind, size, None, None, half_width, half_width, votes)

    def _prospect(self, name: str, variance: float) -> QuestionProspect:
        plan = self.survey.plan
        mechanism: Any = plan.mechanisms[name]
        half_width = intervals.normal_quantile(0.95) * math.sqrt(variance)
        chances, span = odds(mechanism), 1.0
        if mechanism.gives == "mean":
            low, high = mechanism.bounds
            span, votes = float(high - low), _votes_of_number(mechanism, float(low), float(high))
        else:
            votes = float(mechanism.votes_per_cheater)
        return QuestionProspect(
            name,
            mechanism.name,
            mechanism.size,
            None if chances is None else chances.own_share,
            None if chances is None else chances.other_share,
            half_width,
            half_width / span,
            votes / plan.design.chance(name),
        )

    @cached_property
    def warnings(self) -> list[str]:
        """What would be unwise; empty where nothing is known against the survey."""
        return [*self._obstacles, *self._few_people(), *self._answers_in_clear(), *self._forged()]

    @property
    def verdict(self) -> str:
        """Whether to ask, in a sentence."""
        if self._obstacles:
            return "Verdict: do not ask yet. First see to what is marked change."
        if max(prospect.relative for prospect in self.prospects) >= NOTHING:
            return "Verdict: so few people would tell nothing. First weigh what is marked unwise."
        if self.warnings:
            return "Verdict: you can ask. First weigh what is marked unwise."
        return "Verdict: nothing speaks against asking."

    @cached_property
    def _obstacles(self) -> list[str]:
        """What takes the sense from the survey: hardly any protection, or no results."""
        return [*self._weak_promise(), *self._nothing_shown()]

    def _weak_promise(self) -> list[str]:
        most = belief(person_ratio(self.survey.plan), 50).most
        if most.fraction < NEARLY_SURE:
            return []
        return [
            f"At ε = {self.survey.plan.guarantee.epsilon:.3g} a guess of 50 % can become {_percent(most)}: "
            + (
                "all rounds together say nearly what the person said. Lower epoch_epsilon, or ask in fewer epochs."
                if self.survey.has_rounds
                else "a report says nearly what the person said. Lower epsilon."
            )
        ]

    def _few_people(self) -> list[str]:
        warnings = []
        if self.survey.expected is None:
            warnings.append(
                f"The survey does not say how many people it expects ({PEOPLE} are taken here): people = 30."
            )
        return [*warnings, *self._few_reports(), *self._last_step(), *self._wide()]

    def _nothing_shown(self) -> list[str]:
        expected, least = self.survey.expected, self.survey.shown_from
        if expected is None or expected >= least:
            return []
        return [
            f"Results wait for {counted(least, 'answer')}, and {counted(expected, 'person')} are expected: nothing "
            "would be shown. Lower shown_from."
        ]

    def _wide(self) -> list[str]:
        """How little the widest interval tells, and what would narrow it."""
        widest = max(self.prospects, key=lambda prospect: prospect.relative)
        if widest.relative <= WIDE:
            return []
        needed = math.ceil(self.people * (widest.relative / USEFUL) ** 2)
        is_share = widest.half_width == widest.relative
        low, high = (round(100 * end) for end in (0.5 - widest.relative, 0.5 + widest.relative))
        example = f" A result of 50 % would stand for anything from {max(low, 0)} % to {min(high, 100)} %."
        return [
            f"With {counted(self.people, 'person')} the result of {widest.name!r} will be known to {_width(widest)} "
            f"only.{example if is_share else ''} For ± {100 * USEFUL:.0f} {'points' if is_share else '%'} ask "
            f"{counted(needed, 'person')}, "
            f"{'ask fewer questions, ' if len(self.survey.sensitive) > 1 else ''}"
            "or take a larger epsilon, which protects each person less."
        ]

    def _few_reports(self) -> list[str]:
        """Where each person reports on one question, a question is shown by the reports on it."""
        draws, step = self.survey.plan.design.draws, self.survey.shown_from
        if draws is None or not self.survey.plan.design.is_tested or self.people < step:
            return []
        fewest = self.people * min(draws) / sum(draws)
        if fewest >= step:
            return []
        who = (
            f"Each link names one line of the table: about {fewest:.0f} of {self.people} links name each"
            if self.survey.is_assigned
            else f"One answer or table is drawn for each person: about {fewest:.0f} people report on each"
        )
        return [
            f"{who}, and each is shown from {counted(step, 'report')} on. Lower shown_from, ask fewer questions, or "
            "ask more people."
        ]

    def _last_step(self) -> list[str]:
        """Results move in steps: who comes after the last one is not shown unless the survey is closed with --all.

        Codes that are collected together are one step (the store takes 512 at a time).
        """
        people, step = self.survey.expected or 0, self.survey.shown_from
        if self.survey.has_rounds or self.survey.channel == "codes" or people < step or people % step == 0:
            return []
        other = even_step(people, step)
        return [
            f"{counted(people, 'person')} are expected and results move in steps of {step}: the last "
            f"{counted(people % step, 'answer')} would stay out unless bruit survey close --all includes them. "
            + ("Set people to a multiple of shown_from." if other is None else f"Set shown_from = {other}.")
        ]

    def _answers_in_clear(self) -> list[str]:
        public = self.survey.public
        cells = math.prod(map(len, public.values()))
        if not public or self.people / cells >= SMALL_STRATUM:
            return []
        alone = " Some may be alone in theirs, so that their report is known to be theirs." if cells > 1 else ""
        return [
            f"The answers in clear make {counted(cells, 'group')}, about {self.people / cells:.1f} people in each: too "
            f"few for estimates by group.{alone} Ask less in clear, or with fewer labels."
        ]

    def _forged(self) -> list[str]:
        """GRR with many answers needs many votes; the two are equal at k = 3e^ε + 2 answers."""
        warnings = []
        for name, mechanism in self.survey.plan.mechanisms.items():
            if mechanism.name == "GRR" and mechanism.size >= 3 * float(mechanism.law.ratio) + 2:
                warnings.append(
                    f"{name!r} has {mechanism.size} answers, too many for GRR at this epsilon: a forged report would "
                    "weigh much. Leave method out."
                )
        return warnings

    def table(self) -> Table:
        """What is to be expected of each question, and what would be unwise."""
        rows, plan = self.prospects, self.survey.plan
        moved = belief(person_ratio(plan), 50)
        columns = [
            Column("question", [row.name for row in rows], kind="label", write=str),
            Column("mechanism", [row.mechanism for row in rows], kind="text", write=str),
            Column("answers", [row.answers for row in rows], write=self._answers),
            Column("own", [_share(row.own) for row in rows], self._sent, "text", str),
            Column("other", [_share(row.other) for row in rows], "another", "text", str),
            Column("half_width", [row.half_width for row in rows], hidden=True),
            Column("", [_width(row) for row in rows], "known to (95 % interval)", write=str),
            Column("votes", [row.votes for row in rows], "a forged one weighs", write=lambda v: f"{v:.1f} people"),
        ]
        notes = [
            f"protection of each person, all answers together: {plan.guarantee}",
            f"Someone who thought it 50 % likely can come to think {_percent(moved.most)} at most"
            f"{', after all rounds' if self.survey.has_rounds else ''}.",
            *self._rounds(),
            *self._method(),
            *self._open(),
            *([f"sent in clear: {', '.join(self.survey.public)}"] if self.survey.public else []),
            *self._page(),
            *self._codes(),
            *(f"{'change' if warning in self._obstacles else 'unwise'}: {warning}" for warning in self.warnings),
            self.verdict,
        ]
        about: dict[str, Any] = {
            "people": self.people,
            "guarantee": plan.guarantee.to_dict(),
            "warnings": self.warnings,
            "survey": self.survey.digest,
            **self._about_codes(),
        }
        title = f"{self.survey.title[self.survey.languages[0]]}: expected with {counted(self.people, 'person')}"
        return Table(title, columns, notes=notes, about=about)

    @property
    def _sent(self) -> str:
        return "hint fits own answer" if self.survey.open_question else "own answer sent"

    def _answers(self, number: int) -> str:
        return "any text" if self.survey.open_question else str(number)

    def _open(self) -> list[str]:
        """What an open question finds, and what becomes of its reports."""
        plan, question = self.survey.plan, self.survey.open_question
        if question is None or not isinstance(plan, OpenPlan):
            return []
        needs = [f"{100 * share:.0f} %: {plan.answering.people_needed(share):,}" for share in SHARES]
        return [
            f"The first {question.letters} letters of an answer count, without capitals. Answers that begin alike are "
            "one answer.",
            f"Shown are answers that are certified, and no others. People that are needed by the share of an answer: "
            f"{', '.join(needs)}.",
            "The collector keeps each report of an open question, without a name or a time, until the survey is "
            "deleted.",
        ]

    def _page(self) -> list[str]:
        """How the page speaks, where the file says so."""
        survey = self.survey
        ways = [
            *(["in simple words"] if survey.reading == "simple" else []),
            *(["with tu in French"] if survey.address == "tu" and "fr" in survey.languages else []),
        ]
        return [f"The page speaks {' and '.join(ways)}."] if ways else []

    def _rounds(self) -> list[str]:
        """What one report and one epoch tell, and of what the rounds speak."""
        plan = self.survey.plan
        if not self.survey.has_rounds:
            return []
        rounds, epochs = self.survey.repeat.rounds, self.survey.repeat.epochs
        return [
            f"{counted(self.survey.rounds, 'round')} in {counted(epochs, 'epoch')}: ε = "
            f"{plan.guarantees['report'].epsilon:.4g} for one report, "
            f"{plan.panel.after(rounds).epsilon:.4g} for an epoch.",
            "People answer once in an epoch; its other rounds send again from what was drawn then, so that a change of "
            "answers shows in the next epoch."
            if rounds > 1
            else "People answer again in every round.",
        ]

    def _about_codes(self) -> dict[str, Any]:
        """Length of codes and expected collisions, for programs."""
        try:
            form = self.survey.codes
        except (LimitError, ParameterError):
            return {}
        return {"codes": {"length": form.length, "collisions": form.collisions(self.people)}}

    def _codes(self) -> list[str]:
        """How long codes are, and whether two people may have one id; where answers come as codes, what that adds."""
        if self.survey.needs_links or self.survey.open_question:
            return []
        try:
            form = self.survey.codes
        except LimitError:
            return ["Without a server: the answers are too long for codes; ask fewer questions, or use paper."]
        pairs = form.collisions(self.people)
        meets = (
            f" Of {counted(self.people, 'person')}, {pairs:.2g} pairs have codes with one id on average; the second "
            "code of a pair is set aside."
            if pairs >= PAIRS
            else ""
        )
        if self.survey.channel != "codes":
            return [f"Without a server: bruit survey page --code shows codes of {form.length} characters.{meets}"]
        votes = max(self.prospects, key=lambda prospect: prospect.votes)
        return [
            f"Answers come as codes of {form.length} characters.{meets}",
            "A form with a login, or handwriting, links a person to the randomised report, not to the answer.",
            f"Anyone who has the page can make codes that count. Each moves the estimate of {votes.name!r} by up to "
            f"{votes.votes:.1f} people. bruit survey collect --per COLUMN counts one code for each submitter.",
        ]

    def _method(self) -> list[str]:
        count, design = len(self.survey.units), self.survey.plan.design
        if design.counted_tables and count == 1:
            return ["Each person reports the answers to all questions together, as one randomised combination."]
        if design.counted_tables:
            return [
                f"Each person reports one of {count} tables of answers, drawn by chance: about "
                f"{self.people / count:.0f} people on each."
            ]
        if design.draws is None or design.card_kind is None:
            return []
        if self.survey.is_assigned:
            return [
                "Each person reports on one line of this table, which the link names: one link in "
                f"{count}. This is for links that are all answered; issue them together."
            ]
        return [
            f"Each person reports on one line of this table, drawn by chance: about {self.people / count:.0f} on each."
        ]


def _votes_of_number(mechanism: Any, low: float, high: float) -> float:
    """How many people would have to move from one bound to the other to move the mean as much as one message can."""
    messages = np.arange(mechanism.law.messages).astype(mechanism.form.dtype)
    scores = mechanism.scores(messages)
    return float(max(scores.max() - low, high - scores.min()) / (high - low))


def _width(row: QuestionProspect) -> str:
    """Half of the interval: of a share in points, of the mean of a number in its unit and as a part of its range."""
    part = f"{100 * row.relative:.0f}"
    return f"± {part} points" if row.half_width == row.relative else f"± {row.half_width:.3g} ({part} % of its range)"


def _share(share: Share | None) -> str:
    return "" if share is None else str(share)


def _percent(share: Share) -> str:
    return f"{float(100 * share.fraction):.12g} %"
