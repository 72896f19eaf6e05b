"""A plan: what is asked, how each answer is made private, and what that guarantees, in one document.

The plan travels from the asker to those who answer and to the analyst: its digest says that all three mean the
same. It asks one question, or several of which each person's record has one answer each.
"""

from __future__ import annotations

import os
from abc import ABCMeta
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.cards import Card
from bruit.collection import card as cards
from bruit.collection import criterion, document, files, groups, one, records, rounds, simulation
from bruit.collection import panel as panels
from bruit.collection.answers import Answers
from bruit.collection.design import Answer, Design, Reports, Unit
from bruit.collection.mechanisms import Mechanism, metric_of
from bruit.collection.method import DEFAULT, Method, Task
from bruit.collection.panel import Panel, Repeat
from bruit.collection.records import Records
from bruit.domains import Attribute, Schema
from bruit.domains.codes import Codes
from bruit.domains.schema import Questions
from bruit.entropy import Randomness, Words
from bruit.errors import DataTypeError, DesignError, ParameterError
from bruit.estimation import Estimate, ScaleEstimate, Tally, Target
from bruit.laws import Form
from bruit.mechanism import LocalMechanism
from bruit.oracles import Memory
from bruit.privacy import Guarantee
from bruit.randomizer import Randomizer
from bruit.rounding import log_ceiling
from bruit.tables import Column, Table
from bruit.typing import SourceLike

#: What a plan took once, and what to write now.
_OPTIONS = {
    "budgets": 'SPL("OUE", budgets={"sex": 0.2, …})',
    "weights": 'SMP("ADP", weights={"sex": 2, …})',
    "prior": 'RSRFD("GRR", prior={"sex": [0.5, 0.5], …})',
    "bases": 'SPL("GRR", mechanisms={"age": "hybrid"})',
    "tables": 'TAB("ADP", tables=[("sex", "smokes")])',
    "published": 'RSFD("GRR", published=True)',
    **dict.fromkeys(("rounds", "epochs", "epoch_epsilon", "follow_changes"), panels.AS_IN.partition(" (")[0]),
}
#: What a plan had once, and what to write now.
_MOVED = {
    "d": "len(plan.schema)",
    "name": "next(iter(plan.schema))",
    "attribute": "next(iter(plan.schema.values()))",
    "oracle": "plan.mechanisms[name]",
    "mechanism": "plan.mechanisms[name]",
    "inner_epsilon": "plan.mechanisms[name].epsilon",
    "strata": "plan.records.size",
    "empty_reports": "plan.records.empty_reports(0)",
    "kind": "plan.method.kind",
    "private": "bruit.collection.plan.without_public(plan)",
    "bases": "plan.method.mechanisms",
    **{name: f"plan.method.{name}" for name in ("budgets", "weights", "prior", "tables", "published")},
    **{name: f"plan.repeat.{name}" for name in ("rounds", "epochs", "epoch_epsilon", "follow_changes")},
    "guarantee_of_a_report": "plan.panel.after(1)",
    **{
        name: f"plan.panel.{name}(…)"
        for name in ("memoize", "answer", "remember", "report", "after", "epoch_of", "series")
    },
    "open": "Plan.load(path)",
    "as_published": f"a method, as in Plan(schema, 1.0, {_OPTIONS['published']})",
}


class _PlanType(ABCMeta):
    """The type of `Plan`: it says where what the class had once is now."""

    if not TYPE_CHECKING:  # a type checker is to see what is missing

        def __getattr__(cls, name: str) -> Any:
            if name in _MOVED:
                raise AttributeError(f"A plan has no {name!r} any more: use {_MOVED[name]}.")
            raise AttributeError(f"type object 'Plan' has no attribute {name!r}")


@dataclass(frozen=True, eq=False, init=False)
class Plan(Randomizer, metaclass=_PlanType):
    """One or several questions to many people: the attributes, the method and ε.

    Parameters
    ----------
    schema
        The declared attributes, as a `Schema` or a mapping from column name to labels, `Categories` or `Grid`. A
        mechanism with the name of its column is a plan too: ``Plan({"smokes": oracle})``.
    epsilon
        The most that a person's reports may tell. None is for Warner's survey with two coins, ε = ln 3, and for a
        mechanism, which has its own. With ``"metric"`` it is per unit of distance, and `guarantee` is more.
    method
        For one attribute, a mechanism by its name: ``"GRR"``, ``"OUE"``, …, or for a number ``"hybrid"``, ….
        For several, what is done with them and the mechanism in brackets: ``"SPL[x]"`` (split ε among all),
        ``"SMP[x]"`` (report one at random and tell which), ``"SMP2[x]"`` (report two, each with half of ε; likewise
        SMP3, …, and ``"SMPk[x]"`` for the number of least error), ``"RS+FD[x]"`` (report one at random among fakes),
        ``"RS+RFD[x]"`` (fakes that follow a prior) or ``"TAB[x]"`` (report the cell of one table at random, and tell
        which). ``ADP`` for x takes the mechanism of least error for each attribute. The default is the mechanism of
        least error for one attribute, and ``"SMP[ADP]"`` for several.

        A method with options is a value: `SPL`, `SMP`, `SMPk`, `RSFD`, `RSRFD` or `TAB`, as in
        ``SMP("ADP", weights={"sex": 2, "smokes": 1})``. A plan has it as a value, and ``str(plan.method)`` is its name.
    unit
        Whom ε speaks of: ``"person"``, whose whole record may change, or ``"attribute"``, of which one changes.
    public
        Attributes that are no secret and are sent in clear beside the reports, so that estimates can be had by group:
        their names in the schema, or a mapping from further names to domains. An `Attribute` of the schema may say so
        itself. They cost nothing of ε, which speaks of the other attributes.
    repeat
        To ask the same people again: a `Repeat`, with rounds and epochs. `epsilon` is then that of one report. For one
        category, SPL and SMP.

    Guarantee
    ---------
    ``guarantee``, of a person, and ``guarantees["attribute"]`` are computed from the very integer laws that are
    sampled, rounded up. With one question the two are the same. ``guarantees.proof.md`` has the arguments.

    With rounds these two are of all rounds of all epochs, for any two histories of a person with reports at the same
    times; ``guarantees["report"]`` is of one report and ``guarantees["epoch"]`` of any number of them in one epoch.
    `Panel.after` gives the ε of several reports. All hold while a person has one memo in an epoch: ``panel.proof.md``.
    With ``follow_changes`` there is no ε of an epoch. ``guarantee`` still holds for any two histories, and grows with
    every report; ``guarantees["same-changes"]`` is less and holds between histories whose values are equal at the same
    pairs of rounds of an epoch: when somebody changes is not hidden.

    References
    ----------
    Arcolezi, H. H., Couchot, J.-F., Al Bouna, B., Xiao, X. (2021), Random sampling plus fake data: multidimensional
    frequency estimates with local differential privacy.
    Arcolezi, H. H., Gambs, S., Couchot, J.-F., Palamidessi, C. (2023), On the risks of collecting multidimensional data
    under local differential privacy.
    Wang, N., Xiao, X., Yang, Y., Zhao, J., Hui, S. C., Shin, H., Shin, J., Yu, G. (2019), Collecting and analyzing
    multidimensional data with local differential privacy.

    Examples
    --------
    >>> plan = Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> reports = plan.privatize({"smokes": ["no", "yes", "no", "no"]}, rng=7)
    >>> answers = plan.estimate(plan.tally(reports))
    >>> answers["smokes"].n
    4
    >>> Plan.from_json(plan.to_json()) == plan
    True

    Several attributes, of which each person reports one among fakes:

    >>> plan = Plan({"sex": ["F", "M"], "smokes": ["no", "yes"]}, epsilon=1.0, method="RS+FD[GRR]")
    >>> reports = plan.privatize({"sex": ["F", "M", "M"], "smokes": ["no", "no", "yes"]}, rng=7)
    >>> list(reports), plan.tally(reports).n
    (['sex', 'smokes'], 3)
    >>> plan.guarantee.epsilon <= 1.0, round(plan.guarantees["attribute"].epsilon, 3)
    (True, 0.62)

    A public attribute is sent in clear, and estimates are to be had by its values:

    >>> plan = Plan({"smokes": ["no", "yes"], "school": ["A", "B"]}, 1.0, public=["school"])
    >>> table = {"smokes": ["no", "yes"] * 50, "school": ["A"] * 40 + ["B"] * 60}
    >>> answers = plan.estimate(plan.tally(plan.privatize(table, rng=7)))
    >>> answers["smokes"].n, answers.by("school")["B"]["smokes"].n
    (100, 60)

    The same people in twelve rounds of four epochs:

    >>> plan = Plan({"smokes": ["no", "yes"]}, epsilon=1.0, repeat=Repeat(12, epochs=4, epoch_epsilon=2.0))
    >>> memos = plan.panel.memoize({"smokes": ["no", "yes", "no", "no"]}, rng=7)
    >>> plan.tally(plan.panel.answer(memos, rng=1)).n
    4
    >>> [round(plan.guarantees[name].epsilon, 4) for name in ("report", "epoch", "person")]
    [1.0, 2.0, 8.0]
    """

    schema: Schema
    epsilon: float | None
    method: Method
    unit: Unit = field(kw_only=True)
    public: Mapping[str, Attribute] = field(kw_only=True)
    repeat: Repeat | None = field(kw_only=True)

    @_checks.renamed({name: f"Plan(schema, 1.0, {new})" for name, new in _OPTIONS.items()})
    def __init__(
        self,
        schema: Questions,
        epsilon: float | None = None,
        method: str | Method = DEFAULT,
        *,
        unit: Unit = "person",
        public: Sequence[str] | Mapping[str, object] | None = None,
        repeat: Repeat | None = None,
    ) -> None:
        private, clear = records.separate(schema, public)
        mechanism = _own_mechanism(private, epsilon, method)
        if not isinstance(private, Schema):
            private = Schema(private if mechanism is None else dict.fromkeys(private, mechanism.domain))
        settled_by = Method.of(method) if mechanism is None else mechanism
        self._settle(Task(private, epsilon, unit), clear, settled_by, repeat)

    def _settle(
        self, task: Task, clear: Mapping[str, Attribute], method: Method | Mechanism, repeat: Repeat | None
    ) -> None:
        """Check everything and put it in its final form."""
        _checks.one_of(get_args(Unit), unit=task.unit)
        settled = method.settled(task) if isinstance(method, Method) else one.own(task.schema, method, task.unit)
        self._become(
            schema=task.schema,
            epsilon=settled.epsilon,
            method=settled.method,
            unit=settled.unit,
            public=clear,
            repeat=None,
            _design=settled.design,
            _settled_panel=None,
        )
        self.records.check()
        if repeat is not None:
            panel = panels.panel(self, repeat)
            self._become(repeat=panel.repeat, _settled_panel=panel)

    def _become(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _declared(
        cls, task: Task, clear: Mapping[str, Attribute], method: Method | Mechanism, repeat: Repeat | None, /
    ) -> Plan:
        """The plan that a document declares."""
        plan = object.__new__(cls)
        plan._settle(task, clear, method, repeat)
        return plan

    # What it is.

    @property
    def design(self) -> Design:
        """What makes reports of codes, and counts of reports."""
        design: Design = self.__dict__["_design"]
        return design

    @cached_property
    def records(self) -> Records:
        """What is done to the records of people: those of the design, with what is sent in clear beside them."""
        return Records(self.design, self.public)

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        """What an answer to each attribute goes through when it is reported."""
        return dict(self.design.mechanisms)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this plan; its reports and tallies carry it."""
        return documents.digest(document.body(self))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to a person, whose whole record may change."""
        return self.guarantees["person"]

    @cached_property
    def guarantees(self) -> Mapping[str, Guarantee]:
        """What is promised by whom it speaks of: ``"person"``, or ``"attribute"`` when one of a record changes.

        With rounds also by what is seen: ``"report"``, one of them, or ``"epoch"``, all of one.
        """
        if self._panel is not None:
            return self._panel.guarantees
        units: tuple[Unit, ...] = get_args(Unit)
        return {unit: Guarantee(epsilon=log_ceiling(self.design.ratio(unit)), neighbours=unit) for unit in units}

    # What people do.

    def privatize(
        self,
        source: SourceLike,
        rng: Randomness = None,
        *,
        to: Any = None,
        replace: bool = False,
        memory: Memory | None = None,
        round: int | None = None,
        person: str | None = None,
    ) -> Any:
        """Reports of a table's rows, wherever the table is.

        One attribute, SPL, RS+FD and RS+RFD: a column for each attribute. SMP: a column ``attribute`` with the number
        of the attribute that each person reports, and a column ``report``. SMP2: ``attribute_1``, ``report_1``,
        ``attribute_2`` and ``report_2``, in the order of the schema.

        Parameters
        ----------
        source
            A mapping from column name to values, a frame, a file, a folder of Parquet files, ``"-"`` for standard
            input, an iterable of mappings or frames, or a Spark DataFrame. `bruit.engines.read` says how CSV is
            written, as in ``read("people.csv", delimiter=";")``. Attributes in rotation are assigned within one source:
            it is read to its end first, and a Spark DataFrame is refused.
        rng
            None for secure randomness; a whole number for a reproducible stream; or an `Entropy`.
        to
            The path of a ``.parquet`` or ``.csv`` file, where the reports appear whole or not at all, with their plan
            beside them; ``"-"`` for CSV on standard output; a list or a function that takes the batches; for Spark, a
            new ``.parquet`` folder. By default the reports are returned.
        replace
            Whether reports that stand at `to` already may be replaced. A second randomisation of the same people tells
            more about them.
        memory, round, person
            For a plan with rounds: the memos of these people, the number of the round, counted from 1 through all
            epochs, and the column that tells people apart; without one the table has one row. The same round gives the
            same reports again.

        Returns
        -------
        dict, DataFrame or int
            A mapping from column name to array; of a Spark DataFrame, a DataFrame that Spark computes when it is
            needed; with `to`, how many reports were written.
        """
        if self._panel is not None and (memory is None or round is None):
            raise ParameterError(
                "This plan asks the same people again, who must keep a memo: give a Memory and the round, as in "
                'privatize(source, memory=memory, round=3, person="id"), or on the command line --memory memory.json '
                "--round 3 --person id."
            )
        if self._panel is not None:
            how: dict[str, Any] = {"memory": memory, "number": round, "person": person}
            return rounds.privatize(self, source, rng=rng, to=to, replace=replace, **how)
        if (memory, round, person) != (None, None, None):
            raise ParameterError("memory, round and person belong to a plan with rounds, and this one asks once.")
        return files.privatize(self, source, rng, to=to, replace=replace)

    def randomize(self, codes: Mapping[str, Codes], words: Words) -> Reports:
        """Reports of people with codes that `encode` gave; block i of them uses up part i of the words.

        With rounds these are reports of memos that nobody keeps: for studies.
        """
        return self.records.randomize(codes, words)

    # What people do who are asked again.

    @property
    def panel(self) -> Panel:
        """Rounds, epochs and memos, of a plan that has them."""
        if self._panel is None:
            raise ParameterError(f"This plan asks once: plan rounds, with {panels.AS_IN}.")
        return self._panel

    def encode(self, table: SourceLike) -> dict[str, Codes]:
        """Codes of a table's rows by attribute, as the mechanisms of this plan read them.

        Parameters
        ----------
        table
            Anything whose columns are read by ``table[name]``.
        """
        return self.records.encode(table)

    def card(self) -> Card:
        """What a person's device needs to answer, in whole numbers, for any language: see `docs/reference/cards.md`.

        >>> Plan({"smokes": ["no", "yes"]}, epsilon=1.0).card().method
        'one'
        """
        return cards.card(self)

    def valid(self, reports: Reports) -> NDArray[np.bool_]:
        """Which people can have sent their reports, of reports in their form."""
        return self.records.valid(reports)

    @property
    def form(self) -> dict[str, Form]:
        """The dtype and bytes of each column of reports, by name."""
        return self.records.form

    # What the collector does.

    def tally(self, source: SourceLike, *more: SourceLike) -> Tally:
        """Count reports from any source; tallies add.

        Each row is one person's reports or one refusal: ``n`` and ``refused`` are together the number of rows. In CSV,
        reports stand as decimal or hexadecimal digits; quotes mean nothing there, and a row is a line.

        Parameters
        ----------
        source, *more
            As for `privatize`, with the columns that it makes; others may stand beside them. Or the path of a tally, a
            ``.json`` file. Files that say of themselves that another plan made them are refused.
        """
        if not more and files.is_table(source):
            return self.count(source)
        if self._panel is not None:
            rounds.check_one_round((source, *more))
        return files.tally(self, (source, *more))

    def count(self, reports: Any) -> Tally:
        """Count reports in memory: a mapping from column name to reports, or a frame.

        A person of whom any report is impossible is counted as refused, once, and is not in n.
        """
        counted = self.records.count(reports)
        return Tally(design=self.digest, counts=counted.counts, n=counted.n, refused=counted.refused)

    def estimate(self, tally: Tally, target: Target = "population") -> Answers:
        """Estimates by column name: an `Estimate` for categories, a `NumberEstimate` for a number.

        Where attributes are public, they are of all people together, and ``answers.by("school")`` has those of groups.
        """
        if not isinstance(tally, Tally):
            raise DataTypeError("estimate needs a Tally: make one with tally(reports).")
        if tally.design != self.digest:
            raise DesignError(
                "This tally was made by another plan: use the plan that made its reports.",
                expected=self.digest,
                actual=tally.design,
            )
        if tally.counts.size != self.records.cells:
            raise DesignError("This tally has another number of cells than its plan.")
        _checks.one_of(get_args(Target), target=target)
        self.records.check_tally(tally)
        group = groups.grouping(self.records, tally, lambda own: self._answers(own, target))
        answers = self._answers(self.records.pooled(tally), target, group)
        if len(self.schema) == 1:
            answers[next(iter(self.schema))]
        return answers

    def _answers(self, tally: Tally, target: Target, group: Any = None) -> Answers:
        """Estimates from a tally of some strata together."""
        self.design.check(tally)
        return Answers(
            self.schema,
            lambda name: self._answer(name, tally, target),
            group,
            lambda names: self._table_of(names, tally, target),
            self.design.counted_tables,
        )

    def _table_of(self, names: tuple[str, ...], tally: Tally, target: Target) -> Any:
        """The table of these attributes, where the method tells one; an error that says why not otherwise."""
        self.method.check_table(self, names)
        return self.design.table(names, tally, target, self.guarantee)

    def table(self, source: SourceLike | Tally, *names: str, target: Target = "population") -> Any:
        """How several attributes go together: the share of every cell, with intervals, differences and a test.

        Parameters
        ----------
        source
            For TAB, a tally, or reports as for `tally`. For SPL, reports: a tally counts each attribute by itself.
        *names
            The attributes, in the order of the schema.
        target
            As for `estimate`.
        """
        self.method.check_table(self, names, whole=not isinstance(source, Tally))
        if self.design.tables_from == "reports":
            return self.design.table_of_reports(names, source, target, self.guarantee)
        tally = source if isinstance(source, Tally) else self.tally(source)
        return self.estimate(tally, target).table(*names)

    def _answer(self, name: str, tally: Tally, target: Target) -> Answer:
        answer = self.design.answer(name, tally, target, self.guarantee)
        domain: Any = self.schema[name].domain
        if getattr(domain, "ordered", False) and isinstance(answer, Estimate):
            return ScaleEstimate.of(answer, domain.k)
        return answer

    # Planning.

    def variance(
        self, n: int, frequencies: Mapping[str, Any] | None = None, target: Target = "population"
    ) -> dict[str, NDArray[np.float64]]:
        """The variance of every estimate that n people will give, by attribute; of the mean, for a number.

        Parameters
        ----------
        n
            How many people will answer.
        frequencies
            The frequencies of the values of each attribute. By default they are those of the prior, where there is
            one, and otherwise all values are alike.
        target
            ``"population"`` or ``"people"``.
        """
        _checks.integer(low=1, n=n)
        _checks.one_of(get_args(Target), target=target)
        known = {**self.method.known_frequencies(), **(frequencies or {})}
        expected = criterion.expected_frequencies(self.schema, known)
        return {name: self.design.variance(name, expected[name], n, target) for name in self.schema}

    def simulate(self, counts: Any, rng: Randomness = None) -> Tally:
        """A tally as `privatize` and `tally` would give it, of people of whom only numbers are known.

        Parameters
        ----------
        counts
            *The joint table*: an array with one axis per attribute, of how many people have each combination of
            values. The tally has the very law of real reports. Or *the marginals*: a mapping from attribute to how many
            people have each of its values. Then what is counted of each attribute alone has its very law, while what
            two attributes have to do with each other is not simulated (with SPL there is no such thing).
            For one attribute, its counts. Where attributes are public, every array has one axis for each of these
            before its own: what it says, it says of every stratum.
        rng
            As for every verb.
        """
        return simulation.simulate(self, counts, rng)

    # Documents.

    def to_json(self) -> str:
        """The plan as a document that a person can read."""
        return documents.seal(files.PLAN, document.body(self), indent=2)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan in a file, or the one beside a file or folder of reports.

        Parameters
        ----------
        path
            A ``.json`` file with a plan; or reports, whose plan is ``reports.csv.plan.json``.
        """
        return cls.from_json(files.read_plan(path))

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """The inverse of `to_json`; damage is detected, forgery is not."""
        with documents.reading(len(text)):
            return document.read(documents.unseal(text, files.PLAN), cls._declared)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def _repr_html_(self) -> str:
        """For a notebook: every question with how many answers it has, and what is promised."""
        private, clear = list(self.schema.values()), list(self.public.values())
        columns = [
            Column("question", [item.name for item in (*private, *clear)], kind="label", write=str),
            Column("answers", [item.size for item in (*private, *clear)]),
        ]
        if clear:
            sent = ["randomised"] * len(private) + ["in clear"] * len(clear)
            columns.append(Column("sent", sent, kind="text", write=str))
        nearby = metric_of(self.mechanisms)
        notes = [f"method: {self.method}", *([] if nearby is None else [f"nearby answers: {nearby}"])]
        notes += [f"{unit}: {promise}" for unit, promise in self.guarantees.items()]
        return Table("Plan", columns, notes, noun="question")._repr_html_()

    def __repr__(self) -> str:
        questions = ", ".join(f"{name!r}" for name in self.schema)
        questions += f"; in clear {', '.join(map(repr, self.public))}" if self.public else ""
        nearby = metric_of(self.mechanisms)
        promised = f"person {self.guarantee}; attribute {self.guarantees['attribute']}"
        return f"Plan({questions}; {self.method}; {'' if nearby is None else f'nearby {nearby}; '}{promised})"

    @property
    def _panel(self) -> Panel | None:
        panel: Panel | None = self.__dict__["_settled_panel"]
        return panel

    if not TYPE_CHECKING:  # a type checker is to see what is missing

        def __getattr__(self, name: str) -> Any:
            """Nothing: an error that says where what a plan had once is now."""
            if name in _MOVED:
                raise AttributeError(f"A plan has no {name!r} any more: use {_MOVED[name]}.")
            raise AttributeError(f"A plan has no attribute {name!r}.")


def _own_mechanism(schema: Any, epsilon: float | None, method: str | Method) -> Mechanism | None:
    """The mechanism that stands where a domain may stand, in a plan for one question."""
    values: list[Any] = list(schema.values()) if isinstance(schema, Mapping) else []
    if not any(isinstance(value, LocalMechanism) for value in values):
        return None
    if len(values) > 1 or epsilon is not None or str(method) != DEFAULT:
        raise ParameterError(
            'A mechanism makes a plan for one question by itself: Plan({"smokes": mechanism}), without epsilon and '
            "method. For several questions, declare their domains and name the mechanisms in the method, as in "
            'SPL(mechanisms={"smokes": "GRR"}).'
        )
    return values[0]  # type: ignore[no-any-return]


def without_public(plan: Plan) -> Plan:
    """The plan without what it sends in clear; it promises the same."""
    if not plan.public:
        return plan
    private = object.__new__(Plan)
    private._become(**{**vars(plan), "public": {}})
    for computed in ("records", "digest", "guarantees"):
        private.__dict__.pop(computed, None)
    if plan._panel is not None:
        private._become(_settled_panel=replace(plan._panel, plan=private))
    return private
