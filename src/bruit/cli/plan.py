"""`bruit plan`: what will be asked of each person, and what that guarantees, before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks, documents
from bruit.cli import _engine, _options, _questions, console
from bruit.errors import ParameterError
from bruit.tables import Column, Table, counted, decimals, percent

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.collection.prior import Prior


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
            "attribute; SMP[ADP] if none is named. For one attribute, the mechanism alone; the one of least error if "
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
        typer.Option(help="For SMP: how often one attribute is drawn, as in sex=1; one for each attribute."),
    ] = None,
    unit: Annotated[
        str, typer.Option(help="Whom ε speaks of: person (the whole record) or attribute (one of it).")
    ] = "person",
    rounds: Annotated[int | None, typer.Option(help="Ask the same people again: how many rounds an epoch has.")] = None,
    epochs: Annotated[
        int | None, typer.Option(help="How many epochs there are, each with memos of its own; 1 if nothing is said.")
    ] = None,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="With --rounds: the most that all reports of one epoch may tell.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="A missing value: refuse (if nothing is said), or category (one of its own).")
    ] = None,
    people: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the plan goes: a .json file.")] = None,
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
    """
    from bruit.collection import Plan, methods
    from bruit.collection.design import Unit
    from bruit.collection.prior import read_prior

    speaks = _checks.one_of(get_args(Unit), **{"--unit": unit})
    source = None if data is None else _options.read(data, _engine.options(csv))
    declared = _questions.schema(question, missing, source)
    if epsilon is None:
        raise ParameterError("--epsilon must be given: the most that a person's reports may tell, for example 1.")
    _check_output(output, force=force)
    known = None if prior is None else read_prior(prior, declared)
    settings = {
        "bases": _questions.pairs(base, "--base", "age=square-wave", str),
        "budgets": _questions.pairs(budgets, "--budgets", "sex=0.2", float),
        "weights": _questions.pairs(weights, "--weights", "sex=1", int),
        "prior": known and known.frequencies,
        "rounds": rounds,
        "epochs": epochs,
        "epoch_epsilon": epoch_epsilon,
    }
    chosen: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    planned = Plan(declared, epsilon, method or methods.DEFAULT, unit=speaks, **chosen)
    expected = _Expected.of(planned, _checks.integer(low=1, **{"--people": people}), known, data is not None)
    if output is not None:
        documents.write_text(output, planned.to_json() + "\n")
    if as_json:
        console.print_json(expected.document(output))
    else:
        expected.show(output)


def _check_output(output: Path | None, *, force: bool) -> None:
    if output is None:
        return
    _options.check_file(output, "--output", (".json",))
    if output.exists() and not force:
        raise ParameterError(f"{output} exists: write to another name, or replace it with --force.")


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
            "method": plan.method,
            "unit": plan.unit,
            "people": self.people,
            "attributes": self.attributes,
            "risks": self.risks,
            "population": "uniform" if plan.prior is None else "prior",
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
        notes += [f"who was asked for the prior too: {both}"] if both else []
        tables = [self._attribute_table(), *([self._risk_table()] if self.risks else [])]
        console.show(*tables[:-1], replace(tables[-1], notes=notes))
        if output is not None:
            console.say(f"plan: {output}", whole=True)
            again = "" if plan.rounds is None else " --memory memory.json --person COLUMN --round 1"
            console.say(
                f"next: bruit privatize FILE --plan {output}{again} -o reports.parquet", style="dim", whole=True
            )

    @property
    def _promises(self) -> list[str]:
        """What is guaranteed, in lines."""
        plan = self.plan
        if plan.rounds is None:
            return [f"guarantee: {plan.guarantee}", f"guarantee: {plan.guarantees['attribute']}"]
        epochs = counted(plan.epochs or 1, "epoch")
        return [
            f"one report: {plan.guarantees['report']}",
            f"two reports of an epoch: {plan.after(2)}",
            f"any number of reports of an epoch: {plan.guarantees['epoch']}",
            f"all {counted(plan.rounds, 'round')} of {epochs}: {plan.guarantee}",
            f"all {counted(plan.rounds, 'round')} of {epochs}: {plan.guarantees['attribute']}",
        ]

    @property
    def _rounds(self) -> dict[str, Any]:
        """What a document says of rounds."""
        plan = self.plan
        if plan.rounds is None:
            return {}
        return {
            "rounds": plan.rounds,
            "epochs": plan.epochs,
            "guarantee_of_a_report": plan.guarantees["report"].to_dict(),
            "guarantee_of_two_reports": plan.after(2).to_dict(),
            "guarantee_of_an_epoch": plan.guarantees["epoch"].to_dict(),
        }

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

    def _by_epoch(self, rows: dict[str, list[Any]]) -> list[Column]:
        if self.plan.rounds is None:
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
        return "whose values are all equally frequent" if self.plan.prior is None else "who follow the prior"

    @property
    def _remark(self) -> str:
        read = "Beyond the schema, nothing" if self.from_data else "Nothing"
        return (
            f"Attacks on made-up people {self._whose}. {read} was read from data. Real people, whose values are uneven "
            "and belong together, may be told apart more often."
        )


def _rate(share: float | None) -> str:
    return "" if share is None else percent(share)


def _frequencies(plan: Plan) -> dict[str, Any] | None:
    """The population that the risks are about."""
    from bruit.collection.prior import frequencies

    return None if plan.prior is None else {name: frequencies(weights) for name, weights in plan.prior.items()}


def _attributes(plan: Plan, n: int, guesses: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per attribute."""
    from bruit.estimation import intervals

    rows = []
    for name, variance in plan.variance(n, _frequencies(plan)).items():
        mechanism, guess = plan.mechanisms[name], guesses.get(name)
        size = plan.schema[name].size
        rows.append(
            {
                "attribute": name,
                "values": size,
                "mechanism": mechanism.name,
                "of": mechanism.gives,
                "half_width": intervals.normal_quantile(0.95) * float(variance.mean()) ** 0.5,
                "guessed": guess and guess["rate"],
                "blindly": guess["baseline"] if guess else 1 / size,
                **_guessed_by_epoch(plan, name),
            }
        )
    return rows


def _guessed_by_epoch(plan: Plan, name: str) -> dict[str, float]:
    """How often the best guess is right of whoever knows the memo, where all values are alike."""
    if plan.rounds is None:
        return {}
    chance = plan.design.chance(name)
    memo = plan.panel.repeated[name].memo
    return {"guessed_by_epoch": chance * memo.guessability + (1 - chance) / memo.size}
