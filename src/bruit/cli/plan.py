"""`bruit plan`: what will be asked of each person, and what that guarantees, before anybody is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks, documents
from bruit.cli import _engine, _options, _questions, console
from bruit.errors import ParameterError
from bruit.tables import Column, Table, counted, decimals, percent

if TYPE_CHECKING:
    from bruit.collection import Plan, Repeat
    from bruit.collection.prior import Prior
    from bruit.privacy import Guarantee


#: With fewer people than this in a group, if all groups are alike, some groups have hardly anybody.
FEW_PER_STRATUM = 10
#: Up to so many answers, a question is one whose shares are compared between groups.
FEW_ANSWERS = 8


def plan(
    question: _questions.Questions = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="The CSV or Parquet file that questions such as smokes=? are read from, which discloses the answers; "
            "without a question, all its columns."
        ),
    ] = None,
    csv: _engine.Csv = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="SPL[x], SMP[x], RS+FD[x] or RS+RFD[x] with a mechanism for x, or ADP to choose one for each "
            "attribute; SMP2[x] for two attributes of each person, SMPk[x] for the number of least error; SMP[ADP] if "
            "none is named. For one attribute, the mechanism alone; the one of least error if "
            "none is named."
        ),
    ] = None,
    base: Annotated[
        list[str] | None, typer.Option(help="Another mechanism for one attribute, as in age=square-wave; repeatable.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            help="For RS+RFD: a .json file of the frequencies that the fakes of each attribute follow, "
            '{"sex": [0.4, 0.6], …}, or what bruit estimate --json printed of an earlier round.'
        ),
    ] = None,
    budgets: Annotated[
        list[str] | None,
        typer.Option(help="For SPL: the part of ε of one attribute, as in sex=0.2; one for each attribute."),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="For SMP: how often one attribute is drawn, as in sex=1; one for each attribute. For TAB, neyman "
            "draws tables so that the variance summed over all is least."
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option(help="Whom ε speaks of: person (the whole record) or attribute (one of it).")
    ] = "person",
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="For TAB: a table that is asked for, as in sex,smokes; repeatable. All pairs if none is named."
        ),
    ] = None,
    public: _questions.Public = None,
    rounds: Annotated[int | None, typer.Option(help="Ask the same people again: how many rounds an epoch has.")] = None,
    epochs: Annotated[
        int | None, typer.Option(help="How many epochs there are, each with memos of its own; 1 if nothing is said.")
    ] = None,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="With --rounds: the most that all reports of one epoch may tell.")
    ] = None,
    follow_changes: Annotated[
        bool,
        typer.Option(
            "--follow-changes",
            help="With --rounds, for one question: a memo for every value of a person, which protects less; the "
            "ε of an epoch is then that of one memo.",
        ),
    ] = False,
    missing: Annotated[
        str | None, typer.Option(help="A missing value: refuse (if nothing is said), or category (one of its own).")
    ] = None,
    outside: _options.Outside = None,
    people: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the plan goes: a .json file.")] = None,
    check_compliance: Annotated[
        float | None,
        typer.Option(
            help="Also plan a second random group at this other ε, as plan.2.json: together the two show how many "
            "people do not follow. For one question, by GRR."
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            help="Also write a page for an ethics board, in en or fr, beside the plan as plan.fr.html: what is asked, "
            "what leaves a person, and what that tells."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What the survey is called on that page.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a plan that exists already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Plan which attributes are asked for and how, and show what to expect before anybody is asked.

    Shown for each attribute: how many values it has, its mechanism, the expected error, as the half-width of a 95 %
    interval of a frequency or of a mean, and how often the best guess of a person's value is right, with and without
    the reports. Then the other attacks. All of that is about made-up people, whose values are all equally frequent or
    follow the prior. The plan is what bruit privatize takes.

    With --rounds and --epoch-epsilon, --epsilon is that of one report, and it is shown what one report, two, an epoch
    and all epochs tell, and how often the best guess is right that has seen all reports of an epoch.

    With a plan in place of questions, as bruit plan or bruit survey export wrote it, --sheet writes its page.
    """
    from bruit import sheets
    from bruit.collection import Method, Plan
    from bruit.collection.design import Unit
    from bruit.collection.method import DEFAULT
    from bruit.collection.prior import read_prior

    if question is not None and len(question) == 1 and _options.is_plan(Path(question[0])):
        options = {
            "--epsilon": epsilon, "--data": data, "--csv": csv, "--method": method, "--base": base, "--prior": prior,
            "--budgets": budgets, "--weights": weights, "--table": table, "--public": public, "--rounds": rounds,
            "--epochs": epochs, "--epoch-epsilon": epoch_epsilon, "--follow-changes": follow_changes or None,
            "--missing": missing, "--outside": outside, "--output": output, "--check-compliance": check_compliance,
            "--json": as_json or None,
        }  # fmt: skip
        _write_sheet(Path(question[0]), sheet, options, people=people, title=title, force=force)
        return
    speaks = _checks.one_of(get_args(Unit), **{"--unit": unit})
    source = None if data is None else _options.read(data, _engine.options(csv))
    declared = _questions.schema(question, missing, source, outside)
    if epsilon is None:
        raise ParameterError("--epsilon must be given: the most that a person's reports may tell, for example 1.")
    _check_output(output, force=force)
    page = _page(sheet, output, force=force)
    known = None if prior is None else read_prior(prior, declared)
    settings = {
        "mechanisms": _questions.pairs(base, "--base", "age=square-wave", str),
        "budgets": _questions.pairs(budgets, "--budgets", "sex=0.2", float),
        "weights": _weights(weights),
        "tables": None if table is None else [_questions.names(text, "--table") for text in table],
        "prior": known and known.frequencies,
    }
    clear = _questions.public(public, declared) or None
    several = len(declared) - len(clear or ()) > 1
    named = _options.method(method, several=several) or (DEFAULT if check_compliance is None else "GRR")
    repeat = _repeat(rounds, epochs, epoch_epsilon, follow_changes=follow_changes)
    planned = Plan(declared, epsilon, Method.named(named, **settings), unit=speaks, public=clear, repeat=repeat)
    second = None if check_compliance is None else _Second.of(planned, check_compliance, people, output, force=force)
    expected = _Expected.of(planned, _checks.integer(low=1, **{"--people": people}), known, data is not None)
    written = "" if sheet is None else sheets.sheet(planned, sheet, people=people, title=title)
    if output is not None:
        documents.write_text(output, planned.to_json() + "\n")
    if second is not None and second.path is not None:
        documents.write_text(second.path, second.plan.to_json() + "\n")
    if page is not None:
        documents.write_text(page, written)
        console.note(f"sheet: {page}")
    if as_json:
        console.print_json({**expected.document(output), **({} if second is None else second.document())})
    else:
        expected.show(output)
        if second is not None:
            second.show(output)


def _write_sheet(
    path: Path, language: str | None, options: dict[str, Any], *, people: int, title: str, force: bool
) -> None:
    """Write the page of a plan that there is, beside it."""
    from bruit import sheets
    from bruit.collection import Plan

    if language is None:
        raise ParameterError(f"{path.name} is a plan already: --sheet en writes its page for an ethics board.")
    for name in (name for name, value in options.items() if value is not None):
        raise ParameterError(f"{path.name} is a plan already, and --sheet writes its page: leave {name} out.")
    page, known = _page(language, path, force=force), Plan.open(path)
    written = sheets.sheet(known, language, people=people, title=title)
    if page is not None:
        documents.write_text(page, written)
    console.say(f"sheet: {page}", whole=True)
    if not known.public:
        console.note("The plan of a survey lacks its questions in clear; bruit survey sheet has them all.")


def _page(language: str | None, output: Path | None, *, force: bool) -> Path | None:
    """Where the page for an ethics board goes: beside the plan, or in this folder."""
    from bruit.sheets import LANGUAGES

    if language is None:
        return None
    _checks.one_of(LANGUAGES, **{"--sheet": language})
    page = (output or Path("plan.json")).with_suffix(f".{language}.html")
    if page.exists() and not force:
        raise ParameterError(f"{page} exists: write to another name (-o), or replace it with --force.")
    return page


def _repeat(rounds: Any, epochs: int | None, epsilon: float | None, *, follow_changes: bool) -> Repeat | None:
    """How often the same people are asked; None where it is once."""
    from bruit.collection import Repeat

    if (rounds, epochs, epsilon) == (None, None, None) and not follow_changes:
        return None
    return Repeat(rounds, 1 if epochs is None else epochs, epsilon, follow_changes)


def _weights(texts: list[str] | None) -> Any:
    """How often attributes or tables are drawn: numbers, or the name of a rule."""
    if texts in (["neyman"], ["equal"]):
        return texts[0]
    return _questions.pairs(texts, "--weights", "sex=1", int)


def _check_output(output: Path | None, *, force: bool) -> None:
    if output is None:
        return
    _options.check_file(output, "--output", (".json",))
    if output.exists() and not force:
        raise ParameterError(f"{output} exists: write to another name, or replace it with --force.")


@dataclass(frozen=True)
class _Second:
    """A second random group that is asked at another ε, and what the two then show."""

    plan: Plan
    path: Path | None
    guarantee: Guarantee
    following: float
    ignoring: float

    @classmethod
    def of(cls, first: Plan, epsilon: float, people: int, output: Path | None, *, force: bool) -> _Second:
        from bruit.analysis import second_plan
        from bruit.analysis.compliance import largest_errors, promise

        if len(first.schema) > 1:
            raise ParameterError("--check-compliance is for one question: plan the others by themselves.")
        second = second_plan(first, _checks.epsilon(**{"--check-compliance": epsilon}))
        if second.guarantee.epsilon > first.guarantee.epsilon:
            raise ParameterError("--check-compliance must be below --epsilon, the most that anybody's report may tell.")
        path = None if output is None else output.with_suffix(".2.json")
        if path is not None:
            _check_output(path, force=force)
        halves = (max(1, people // 2), max(1, people - people // 2))
        return cls(second, path, promise(first, second), *largest_errors(first, second, halves))

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "second_group": {
                "plan": None if self.path is None else str(self.path),
                "digest": self.plan.digest,
                "guarantee": self.plan.guarantee.to_dict(),
                "guarantee_of_both_groups": self.guarantee.to_dict(),
                "half_width_following": self.following,
                "half_width_ignoring": self.ignoring,
            }
        }

    def show(self, output: Path | None) -> None:
        """What the second group is for."""
        console.say(
            f"second group: ε = {self.plan.guarantee.epsilon:.7g}. With half of the people in each, the share that "
            f"does not follow is known to ± {percent(self.ignoring)} at most, and the share that follows and has "
            f"another answer to ± {percent(self.following)}."
        )
        console.say(f"guarantee of a person in either group: {self.guarantee}")
        if self.path is not None:
            console.say(f"second plan: {self.path}", whole=True)
            console.say("Put people into the two groups by chance, and whatever they may answer.", style="dim")
            console.say("then: bruit compliance REPORTS REPORTS-OF-THE-SECOND-GROUP", style="dim", whole=True)


@dataclass(frozen=True)
class _Expected:
    """What a plan would give, and what it would give away."""

    plan: Plan
    people: int
    attributes: list[dict[str, Any]]
    risks: list[dict[str, Any]]
    prior: Prior | None
    from_data: bool

    @classmethod
    def of(cls, plan: Plan, people: int, prior: Prior | None, from_data: bool) -> _Expected:
        from bruit.attacks import risks

        computed = [risk.to_dict() for risk in risks(plan, _frequencies(plan))]
        guesses = {risk["attribute"]: risk for risk in computed if risk["attribute"] is not None}
        others = [risk for risk in computed if risk["attribute"] is None]
        return cls(plan, people, _attributes(plan, people, guesses), others, prior, from_data)

    def document(self, output: Path | None) -> dict[str, Any]:
        """Plain values."""
        plan, both = self.plan, self.prior and self.prior.both_rounds(self.plan.guarantee)
        return {
            "plan": None if output is None else str(output),
            "method": str(plan.method),
            "unit": plan.unit,
            "people": self.people,
            "attributes": self.attributes,
            "risks": self.risks,
            "population": "prior" if plan.method.known_frequencies() else "uniform",
            "sent_in_clear": list(plan.public),
            "people_to_see_30_against_20": self._people_by_design,
            "schema_from_data": self.from_data,
            "guarantee": plan.guarantee.to_dict(),
            "guarantee_of_an_attribute": plan.guarantees["attribute"].to_dict(),
            **self._rounds,
            "guarantee_of_both_rounds": both and both.to_dict(),
            "digest": plan.digest,
        }

    def show(self, output: Path | None) -> None:
        """Two tables, and the guarantees."""
        plan, both = self.plan, self.prior and self.prior.both_rounds(self.plan.guarantee)
        notes = [self._remark, *self._promises]
        notes += [_in_clear(plan, self.people)] if plan.public else []
        notes += self._groups_seen
        notes += [f"who was asked for the prior too: {both}"] if both else []
        tables = [self._attribute_table(), *self._cell_tables(), *([self._risk_table()] if self.risks else [])]
        console.show(*tables[:-1], replace(tables[-1], notes=notes))
        if plan.public and self.people < FEW_PER_STRATUM * plan.records.size:
            console.warn(
                f"{counted(self.people, 'person')} in {counted(plan.records.size, 'group')}: what is sent in clear "
                "would single people out. Declare fewer, wider values of what is public."
            )
        if output is not None:
            console.say(f"plan: {output}", whole=True)
            again = "" if plan.repeat is None else " --memory memory.json --person COLUMN --round 1"
            console.say(
                f"next: bruit privatize FILE --plan {output}{again} -o reports.parquet", style="dim", whole=True
            )

    @property
    def _groups_seen(self) -> list[str]:
        """How many people it takes to see a difference between two groups, where this plan can show one."""
        plan, alone = self.plan, self._people_by_design
        if alone is None:
            return []
        own, other = ("clear", "joint") if plan.public else ("joint", "clear")
        ways = {"clear": "with the group in clear", "joint": "with group and answer as one question"}
        needed = f"To see 30 % against 20 % in two groups takes {counted(alone[own], 'person')} {ways[own]}"
        instead = f"It would take {alone[other]:,} {ways[other]}, and {alone['split']:,} with half of ε for each."
        drawn = math.ceil(round(1 / self._drawn, 6))
        what = "attributes" if plan.public else "tables"
        as_here = f", and {drawn} times as many here, where each person reports on one of several {what}"
        return [f"{needed}{as_here if drawn > 1 else ', as here'} (80 % power, 5 % level). {instead}"]

    @property
    def _people_by_design(self) -> dict[str, int] | None:
        """People to see 30 % against 20 % in two groups, by how the group is known, at the ε of this plan."""
        from bruit.collection import compare_groups

        plan = self.plan
        sizes = [attribute.size for attribute in plan.schema.values() if plan.design.gives(attribute.name) != "mean"]
        alone = plan.method.parts(len(plan.schema)) == 1 and not plan.design.hides
        shows = plan.design.counted_tables or (plan.public and alone)
        if not shows or not sizes or min(sizes) > FEW_ANSWERS or plan.repeat is not None:
            return None
        ways = compare_groups(0.3, 0.2, epsilon=plan.epsilon, power=0.8, answers=min(sizes))
        people = {row.design: row.people for row in ways.rows}
        return people if {"clear", "joint", "split"} <= set(people) else None

    @property
    def _drawn(self) -> float:
        """The least chance with which a person reports on what is compared."""
        design = self.plan.design
        if design.counted_tables and design.draws is not None:
            return min(design.draws) / sum(design.draws)
        return min(design.chance(name) for name in self.plan.schema)

    @property
    def _promises(self) -> list[str]:
        """What is guaranteed, in lines."""
        plan, repeat = self.plan, self.plan.repeat
        if repeat is None:
            return _options.promises(plan)
        epochs = counted(repeat.epochs, "epoch")
        first = [f"one report: {plan.guarantees['report']}", f"two reports of an epoch: {plan.panel.after(2)}"]
        if repeat.follow_changes:
            return [
                *first,
                f"all {counted(repeat.rounds, 'round')} of {epochs}: {plan.guarantees['same-changes']}",
                f"all {counted(repeat.rounds, 'round')} of {epochs}, any two histories: {plan.guarantee}",
                "When somebody changes is not hidden: what holds for any two histories grows with every report.",
            ]
        return [
            *first,
            f"any number of reports of an epoch: {plan.guarantees['epoch']}",
            f"all {counted(repeat.rounds, 'round')} of {epochs}: {plan.guarantee}",
            f"all {counted(repeat.rounds, 'round')} of {epochs}: {plan.guarantees['attribute']}",
        ]

    @property
    def _rounds(self) -> dict[str, Any]:
        """What a document says of rounds."""
        plan, repeat = self.plan, self.plan.repeat
        if repeat is None:
            return {}
        return {
            "rounds": repeat.rounds,
            "epochs": repeat.epochs,
            "guarantee_of_a_report": plan.guarantees["report"].to_dict(),
            "guarantee_of_two_reports": plan.panel.after(2).to_dict(),
            **self._of_an_epoch,
        }

    @property
    def _of_an_epoch(self) -> dict[str, Any]:
        guarantees = self.plan.guarantees
        if self.plan.panel.follow_changes:
            return {"follow_changes": True, "guarantee_of_same_changes": guarantees["same-changes"].to_dict()}
        return {"guarantee_of_an_epoch": guarantees["epoch"].to_dict()}

    def _attribute_table(self) -> Table:
        rows = {name: [row[name] for row in self.attributes] for name in self.attributes[0]}
        columns = [
            Column("attribute", rows["attribute"], kind="label", write=str),
            Column("mechanism", rows["mechanism"], kind="text", write=str),
            Column("of", rows["of"], kind="text", write=str),
            Column("values", rows["values"]),
            Column("half_width", rows["half_width"], "95 % interval ±", write=decimals(4)),
            Column("guessed", rows["guessed"], write=_rate),
            *self._by_epoch(rows),
            Column("blindly", rows["blindly"], write=_rate),
        ]
        return Table(f"{self.plan.method}, expected with {counted(self.people, 'person')} {self._whose}", columns)

    def _cell_tables(self) -> list[Table]:
        """Every table that is asked for, with the error of a cell."""
        from bruit.collection.cross_tables import expected_cells

        rows = expected_cells(self.plan.design, self.people)
        if not rows:
            return []
        columns = [
            Column("table", [row.title for row in rows], kind="label", write=str),
            Column("mechanism", [row.mechanism for row in rows], kind="text", write=str),
            Column("cells", [row.cells for row in rows]),
            Column("people", [row.people for row in rows], write=lambda n: f"{n:,.0f}"),
            Column("half_width", [row.half_width for row in rows], "95 % interval ±", write=decimals(4)),
        ]
        return [Table("", columns)]

    def _by_epoch(self, rows: dict[str, list[Any]]) -> list[Column]:
        if self.plan.repeat is None or self.plan.repeat.follow_changes:
            return []
        return [Column("guessed_by_epoch", rows["guessed_by_epoch"], "by epoch", write=_rate)]

    def _risk_table(self) -> Table:
        columns = [
            Column("attack", [row["attack"] for row in self.risks], "other attacks", "text", str),
            Column("rate", [row["rate"] for row in self.risks], "right", write=percent),
            Column("baseline", [row["baseline"] for row in self.risks], "blindly", write=percent),
        ]
        return Table("", columns)

    @property
    def _whose(self) -> str:
        return (
            "who follow the prior" if self.plan.method.known_frequencies() else "whose values are all equally frequent"
        )

    @property
    def _remark(self) -> str:
        read = "Beyond the schema, nothing" if self.from_data else "Nothing"
        return (
            f"Attacks on made-up people {self._whose}. {read} was read from data. Real people, whose values are uneven "
            "and belong together, may be told apart more often."
        )


def _in_clear(plan: Plan, people: int) -> str:
    """What is sent in clear, and how many groups it makes."""
    names, groups = ", ".join(plan.public), counted(plan.records.size, "group")
    share = f"about {people // plan.records.size:,}" if people >= plan.records.size else "fewer than one"
    return f"sent in clear: {names}; {groups}, with {share} of {counted(people, 'person')} each if all are alike"


def _rate(share: float | None) -> str:
    return "" if share is None else percent(share)


def _frequencies(plan: Plan) -> dict[str, Any] | None:
    """The population that the risks are about."""
    return plan.method.known_frequencies() or None


def _attributes(plan: Plan, n: int, guesses: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per attribute."""
    from bruit.estimation import intervals

    rows = []
    for name, variance in plan.variance(n, _frequencies(plan)).items():
        guess = guesses.get(name)
        size = plan.schema[name].size
        rows.append(
            {
                "attribute": name,
                "values": size,
                "mechanism": plan.design.mechanism_name(name),
                "of": plan.design.gives(name),
                "half_width": intervals.normal_quantile(0.95) * float(variance.mean()) ** 0.5,
                "guessed": guess and guess["rate"],
                "blindly": guess["baseline"] if guess else 1 / size,
                **_guessed_by_epoch(plan, name),
            }
        )
    return rows


def _guessed_by_epoch(plan: Plan, name: str) -> dict[str, float]:
    """How often the best guess is right of whoever knows the memo, where all values are alike."""
    if plan.repeat is None or plan.repeat.follow_changes:
        return {}
    chance = plan.design.chance(name)
    memo = plan.panel.repeated[name].memo
    return {"guessed_by_epoch": chance * memo.guessability + (1 - chance) / memo.size}
