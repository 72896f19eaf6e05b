"""The same people again, for a plan: rounds within epochs, one memo per person and epoch, and what that guarantees.

A plan with rounds is a plan of which every question is `Repeated`. With one question there is one memo; with SPL one
for every question; with SMP the attribute is drawn once per epoch and is part of the memo. A memo has the form of a
report, and a round refreshes it. ``panel.proof.md`` has the arguments.

Rejected: RS+FD and RS+RFD. Fresh fakes beside a truth that stays show which is true, and fakes that stay
are as many memos as there are questions, which is SPL with the noise of RS+FD. Rejected: several questions that follow
changes, because with SMP a memo for every value would be one for every attribute too.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.cards import CardQuestion
from bruit.collection import rotation
from bruit.collection.answers import Answers
from bruit.collection.design import Design, Reports, Unit
from bruit.domains.codes import Codes
from bruit.engines import report_parsing
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, ParameterError, ParameterTypeError
from bruit.estimation import Tally
from bruit.laws import Form
from bruit.oracles import Repeated, Series
from bruit.oracles.repeated import ROUNDS_LIMIT
from bruit.privacy import Guarantee
from bruit.privacy.composition import sequential
from bruit.typing import SourceLike

if TYPE_CHECKING:
    from bruit.collection.plan import Plan

#: How rounds are declared, in Python and on the command line.
AS_IN = "repeat=Repeat(12, epochs=4, epoch_epsilon=2.0) (-e 1 --epoch-epsilon 2 --rounds 12 --epochs 4)"


@dataclass(frozen=True)
class Repeat:
    """How often the same people are asked: rounds within epochs.

    Parameters
    ----------
    rounds
        How many rounds an epoch has.
    epochs
        How many epochs there are, each with memos of its own.
    epoch_epsilon
        The most that all reports of an epoch may tell; the `epsilon` of the plan is that of one report. None for one
        round in an epoch, which then tells what one report does.
    follow_changes
        Whether a person has a memo for every value, for one question, so that estimates speak of the values of each
        round. It protects less: `epoch_epsilon` is then that of one memo, and there is no ε of an epoch.

    Examples
    --------
    >>> Repeat(12, epochs=4, epoch_epsilon=2.0)
    Repeat(rounds=12, epochs=4, epoch_epsilon=2.0, follow_changes=False)
    """

    rounds: int
    epochs: int = 1
    epoch_epsilon: float | None = None
    follow_changes: bool = False

    def __post_init__(self) -> None:
        rounds: Any = self.rounds
        if not isinstance(self.follow_changes, bool):
            raise ParameterError("follow_changes must be True or False.")
        if rounds is None or (self.epoch_epsilon is None and rounds != 1):
            raise ParameterError(
                "Rounds need the most that one report and all reports of an epoch may tell, as in epsilon=1.0, "
                f"{AS_IN}."
            )
        object.__setattr__(self, "rounds", _checks.integer(low=1, high=ROUNDS_LIMIT, rounds=self.rounds))
        object.__setattr__(self, "epochs", _checks.integer(low=1, high=ROUNDS_LIMIT, epochs=self.epochs))
        if self.epoch_epsilon is not None:
            object.__setattr__(self, "epoch_epsilon", _checks.epsilon(epoch_epsilon=self.epoch_epsilon))

    def to_dict(self) -> dict[str, Any]:
        """What a document says of rounds."""
        following = {"follow_changes": True} if self.follow_changes else {}
        return {"epoch_epsilon": self.epoch_epsilon, "rounds": self.rounds, "epochs": self.epochs, **following}


#: How often a plan without rounds asks.
ONCE = Repeat(1)


@dataclass(frozen=True, eq=False)
class Panel:
    """What the people of a plan do who are asked again, and what the collector makes of their rounds.

    Parameters
    ----------
    plan
        The plan: what one report is.
    repeated
        How each question is asked again, by name.
    repeat
        Rounds and epochs.
    """

    plan: Plan
    repeated: Mapping[str, Repeated]
    repeat: Repeat

    @property
    def design(self) -> Design:
        """What one report is of what is asked privately."""
        return self.plan.design

    # What a memory asks.

    @property
    def digest(self) -> str:
        """That of the plan."""
        return self.plan.digest

    @property
    def form(self) -> dict[str, Form]:
        """That of the plan: a memo has the form of a report."""
        return self.plan.form

    @property
    def follow_changes(self) -> bool:
        """Whether a person has a memo for every value."""
        return self.repeat.follow_changes

    def encode(self, values: SourceLike) -> dict[str, Codes]:
        """As the plan."""
        return self.plan.encode(values)

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """As the plan."""
        return self.plan.valid(reports)

    # What a person does.

    @cached_property
    def memos(self) -> Design:
        """What draws the memos: the same design at the ε of the epoch."""
        return replace(self.design, mechanisms={name: panel.memo for name, panel in self.repeated.items()})

    def memoize(self, table: SourceLike, rng: Randomness = None) -> Reports:
        """The memos of an epoch, of people with these records: to be stored by each person and shown to nobody.

        Parameters
        ----------
        table
            Anything whose columns are read by ``table[name]``.
        rng
            As for `Plan.privatize`.
        """
        if self.repeat.follow_changes:
            raise ParameterError(
                "A person has a memo for every value here, which a Memory keeps: privatize(source, memory=memory, "
                'round=3, person="id").'
            )
        return self.remember(self.plan.encode(table), Words.resolve(rng, "memoize", self.plan.digest))

    def answer(self, memos: Reports, rng: Randomness = None) -> Reports:
        """The reports of one round, one per memo; with fresh randomness in every round.

        Parameters
        ----------
        memos
            As `memoize` gives them.
        rng
            As for `Plan.privatize`. A number must be another one in every round: the same one gives the same reports.
        """
        return self.report(memos, Words.resolve(rng, "answer", self.plan.digest))

    def remember(self, codes: Mapping[str, Codes], words: Words) -> Reports:
        """Memos of people with codes that the plan's `encode` gave, in the form of reports."""
        records = self.plan.records
        return records.beside(codes, self.memos.randomize(records.private_codes(codes), words))

    def report(self, memos: Mapping[str, Any], words: Words) -> Reports:
        """Reports of memos; what is sent in clear is that of the epoch's first report."""
        rows = {name: report_parsing.strict(form, memos[name]) for name, form in self.design.form.items()}
        if not self.design.valid(rows).all():
            raise ParameterError("memos must be those that this plan gave.")
        return {**self.design.refresh(rows, self.repeated, words), **self.plan.records.kept(memos)}

    def question(self, name: str) -> CardQuestion:
        """The question of a card, with the law of its memo and how it is refreshed."""
        memo, panel = self.memos.question(name), self.repeated[name]
        return replace(self.design.question(name), memo=memo.law, refresh=panel.refresh_weight)

    # When.

    def epoch_of(self, round: int, epoch: int | None = None) -> int:
        """The epoch of a round; both are counted from 1, rounds through all epochs."""
        if epoch is not None:
            raise ParameterError("A plan says itself in which epoch a round is: leave epoch out.")
        last = self.repeat.rounds * self.repeat.epochs
        return (_checks.integer(low=1, high=last, round=round) - 1) // self.repeat.rounds + 1

    # What is promised.

    def after(self, rounds: int | None, unit: Unit = "person") -> Guarantee:
        """What `rounds` reports of one epoch tell in all, which is less than their sum; None for any number."""
        if rounds is not None:
            _checks.integer(low=1, rounds=rounds)
        _checks.one_of(get_args(Unit), unit=unit)
        parts = [
            replace(panel.guarantees["epoch"] if rounds is None else panel.after(rounds), neighbours=unit)
            for panel in self.repeated.values()
        ]
        return self.design.together(parts, unit)

    @cached_property
    def guarantees(self) -> dict[str, Guarantee]:
        """What all rounds of all epochs tell of a person and of one attribute; and of a person one report, one epoch.

        An epoch is stated for any number of reports, all epochs for the rounds that the plan has. With `follow_changes`
        ``"same-changes"`` stands in the place of an epoch: of all rounds of all epochs, between histories whose values
        are equal at the same pairs of rounds of an epoch.
        """
        units: tuple[Unit, ...] = get_args(Unit)
        whole: dict[str, Guarantee] = {
            unit: sequential([self.after(self.repeat.rounds, unit)] * self.repeat.epochs) for unit in units
        }
        report = {**whole, "report": self.after(1, "person")}
        if self.repeat.follow_changes:
            return {**report, "same-changes": self._same_changes()}
        return {**report, "epoch": self.after(None, "person")}

    def _same_changes(self) -> Guarantee:
        """Of every epoch as many memos as a person can have: one for each value or each round."""
        (repeated,) = self.repeated.values()
        return sequential([repeated.same_changes(min(repeated.oracle.size, self.repeat.rounds))] * self.repeat.epochs)

    # What the collector does.

    def series(self, tallies: Sequence[Tally], rounds: Sequence[int] | None = None) -> Mapping[str, Series]:
        """Estimates of several rounds by column name: of each, of their mean, and of differences.

        Parameters
        ----------
        tallies
            One tally of this plan for each round, in order.
        rounds
            The number of each round, counted from 1 through all epochs; 1, 2, 3, … by default.
        """
        known = tuple(tallies)
        for tally in known:
            self.plan.estimate(tally)
        pooled = tuple(self.plan.records.pooled(tally) for tally in known)
        return Answers(self.design.schema, lambda name: self._series(name, pooled, rounds))

    def _series(self, name: str, tallies: Sequence[Tally], rounds: Sequence[int] | None) -> Series:
        """The rounds of one attribute, in order."""
        numbers = list(range(1, len(tallies) + 1)) if rounds is None else list(rounds)
        if len(numbers) != len(tallies):
            raise ParameterError("rounds must have a number for each tally.")
        epochs = [self.epoch_of(number) for number in numbers]
        if any(later <= earlier for earlier, later in itertools.pairwise(numbers)):
            raise ParameterError("rounds must be in order, each with one tally.")
        for tally in tallies:
            if not self.design.reported(name, tally):
                raise DataError(f"Nobody reported on {name!r} in a round: there is nothing to estimate it from.")
        panel, parts = self.repeated[name], [self.design._part(name, tally) for tally in tallies]
        return Series(
            panel.oracle,
            panel.memo,
            tuple(parts),
            tuple(epochs),
            rounds=tuple(numbers),
            labels=self.design.schema[name].labels,
            name=name,
            sampled=self.design.draws is not None,
            follow_changes=self.repeat.follow_changes,
        )

    # Documents.

    def to_dict(self) -> dict[str, Any]:
        """What a document says of rounds, with what is promised of a report and of an epoch."""
        names = ("report", "same-changes" if self.repeat.follow_changes else "epoch")
        promised = {name: self.guarantees[name].to_dict() for name in names}
        return {**self.repeat.to_dict(), "guarantees": promised}


def panel(plan: Plan, repeat: Any) -> Panel:
    """The panel of a plan, whose own epsilon is that of one report; an error where it cannot be asked again."""
    if not isinstance(repeat, Repeat):
        raise ParameterTypeError(f"repeat must be a Repeat, as in {AS_IN}.")
    design, epsilon = plan.design, float(plan.epsilon or 0.0)
    limit = epsilon if repeat.epoch_epsilon is None else repeat.epoch_epsilon
    if limit < epsilon:
        raise ParameterError(f"epoch_epsilon must be at least the epsilon of one report, {epsilon:g}, got {limit:g}.")
    if design.hides:
        raise ParameterError(
            "RS+FD and RS+RFD allow one report per epoch: fakes that are drawn again beside an answer that stays show "
            "which is true. Take SMP or SPL for rounds, or a plan of its own for every report."
        )
    rotation.check_alone(design, "In rounds everybody draws a memo alone")
    if not design.repeats:
        raise ParameterError(
            "Tables are asked once, and so are several attributes drawn for each person: take SMP or SPL for rounds, "
            "or one question."
        )
    if repeat.follow_changes and len(design.mechanisms) > 1:
        raise ParameterError("follow_changes is for a plan of one question: make a plan for each, and add their ε.")
    repeated = _repeated(design, epsilon, limit, plan.unit, following=repeat.follow_changes)
    if repeat.follow_changes and plan.public:
        raise ParameterError("follow_changes is for a plan that sends nothing in clear: leave public out.")
    return Panel(plan, repeated, replace(repeat, epoch_epsilon=limit))


def _repeated(design: Design, epsilon: float, limit: float, unit: Unit, *, following: bool) -> dict[str, Repeated]:
    """How each question is repeated; with SPL each has a part of the ε of the epoch."""
    parts = design.epoch_budgets(limit, epsilon, unit)
    return {
        name: _of_question(name, mechanism, parts[name], following) for name, mechanism in design.mechanisms.items()
    }


def _of_question(name: str, mechanism: Any, limit: float, following: bool) -> Repeated:
    if mechanism.gives != "frequency":
        raise ParameterError(
            f"{name!r} is asked for as a number, which has no memo: ask for rounds of categories, declared as labels "
            "or bins."
        )
    return Repeated(mechanism, max(limit, mechanism.epsilon), follow_changes=following)
