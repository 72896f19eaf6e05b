"""`bruit attack`: what reports give away to their reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from bruit import _checks
from bruit.cli import _engine, _options, console
from bruit.errors import ParameterError
from bruit.tables import Column, Table, counted, percent

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.estimation import Tally
    from bruit.oracles import Repeated

#: People are counted of whom the sampled attribute is known at least as surely as this.
SURE = (0.5, 0.9)


class Attacks(TyperGroup):
    """The attacks by name; a file alone is attacked by the first of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """The arguments, with the name of the attack before a file."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["sampled", *args]
        return super().parse_args(ctx, args)


Rounds = Annotated[
    Path, typer.Argument(metavar="PLAN", help="A plan with rounds (.json), or reports that stand beside theirs.")
]
People = Annotated[int, typer.Option("--people", "-n", help="How many people are made up and attacked.")]
Seed = Annotated[int | None, typer.Option(help="Make the run repeatable.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def averaging(
    plan: Rounds,
    after: Annotated[
        str, typer.Option(help="After how many rounds to look; the last one is the number of draws.")
    ] = "1,4,16,64",
    people: People = 1000,
    attribute: Annotated[str | None, typer.Option(help="Which attribute of a plan with several.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Also draw it: a .png or .svg file.")] = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Say how often averaging many reports of a person names the value: with fresh noise it wins, with a memo it stops.

    On simulated people whose values are all equally frequent. The limit is the best guess from the memo itself, which
    the ε of the epoch bounds.
    """
    from bruit import attacks

    _options.check_whole(seed=seed)
    _options.check_figure(figure)
    numbers = _whole_numbers(after)
    result = attacks.averaging(_repeated(plan, attribute), rounds=numbers, n=_people(people), rng=seed)
    if figure is not None:
        from bruit import figures

        _options.save_figure(figures.plot_averaging(result), figure)
    console.print_json(result.table().to_json()) if as_json else console.show(result.table())


def changes(
    plan: Rounds,
    rounds: Annotated[int, typer.Option(help="How many rounds, half before the change and half after it.")] = 16,
    people: People = 1000,
    attribute: Annotated[str | None, typer.Option(help="Which attribute of a plan with several.")] = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Say how often somebody whose answer changes within an epoch can be told from somebody whose answer stays.

    The people are simulated, of three kinds: those whose every report has fresh noise, those who keep the memo of the
    epoch, as the plan says, and those who draw another memo for another answer.
    """
    from bruit import attacks

    _options.check_whole(seed=seed)
    table = attacks.change_detection(_repeated(plan, attribute), rounds=rounds, n=_people(people), rng=seed)
    console.print_json(table.to_json()) if as_json else console.show(table)


def _people(people: int) -> int:
    return _checks.integer(low=1, **{"--people": people})


def _whole_numbers(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ParameterError("--after must be whole numbers with commas between them, as in 1,4,16.")
    return [int(part) for part in parts]


def _repeated(path: Path, attribute: str | None) -> Repeated:
    """How the one attribute that is attacked is asked again."""
    panel = _options.plan(path).panel
    names = list(panel.repeated)
    if attribute is None and len(names) > 1:
        raise ParameterError(f"--attribute must name one of {', '.join(names)}.")
    return panel.repeated[_checks.one_of(tuple(names), **{"--attribute": attribute or names[0]})]


def _no_reports(path: Path) -> str:
    """What to run in place of an attack on a document, which is a tally or a plan and holds no reports."""
    command = "bruit attack reports.csv"
    if not path.exists():
        return f"There is no file {path}. An attack is on people's reports, as bruit privatize writes them: {command}."
    if not _options.is_plan(path):
        return f"A tally has no reports, and this attack needs them, as bruit privatize writes them: {command}."
    if _options.plan(path).repeat is not None:
        return f"{path.name} is a plan with rounds: bruit attack averaging {path}, or bruit attack changes {path}."
    return f"{path.name} is a plan, and this attack needs the reports that were made by it: {command} --plan {path}."


def sampled(
    reports: Annotated[Path, typer.Argument(help="A file of reports, or a folder of Parquet files.")],
    plan: Annotated[
        Path | None, typer.Option(help="The plan, if it is not beside the reports, as reports.csv.plan.json.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how well the sampled attribute can be told from reports of RS+FD or RS+RFD.

    The attacker has the reports and nothing else, estimates the frequencies from them, and names for each person the
    likeliest attribute by the rule of Bayes: nobody does better with the same knowledge. How often that is right is
    expected, not observed, because the reports do not say which attribute was true.
    """
    from bruit.collection import Plan

    if reports.suffix.lower() == ".json":
        raise ParameterError(_no_reports(reports))
    known = Plan.load(plan or reports)
    if not known.design.hides:
        raise ParameterError(f"Only RS+FD and RS+RFD hide which attribute is true, this plan is {known.method}.")
    tally = _options.tally(known, [reports], _engine.LOCAL)
    result = _result(known, tally, _certainty(known, reports, _frequencies(known, tally)))
    table = _table(result)
    console.print_json(table.to_json()) if as_json else console.show(table)


class _Certainty(NamedTuple):
    """Sums over people of how surely their sampled attribute is told; such sums add."""

    right: float
    sure: tuple[int, ...]

    def __add__(self, other: Any) -> _Certainty:
        return _Certainty(self.right + other.right, tuple(map(sum, zip(self.sure, other.sure, strict=True))))


def _frequencies(plan: Plan, tally: Tally) -> dict[str, Any]:
    answers = plan.estimate(tally)
    return {name: answers[name].consistent("norm-sub").frequency for name in plan.schema}


def _certainty(plan: Plan, source: Path, frequencies: dict[str, Any]) -> _Certainty:
    from bruit.attacks import sampled_posterior
    from bruit.engines import reports as reading
    from bruit.engines.report_parsing import Rows

    def work(rows: Rows) -> _Certainty:
        valid = plan.valid(rows.reports)
        kept = {name: column[valid] for name, column in rows.reports.items()}
        surest = sampled_posterior(plan, kept, frequencies).max(axis=1)
        return _Certainty(float(surest.sum()), tuple(int((surest >= level).sum()) for level in SURE))

    with console.progress("attack") as report:
        return reading.fold(_options.read(source, {}, report), plan.form, work)


def _result(plan: Plan, tally: Tally, certainty: _Certainty) -> dict[str, Any]:
    return {
        "attack": "sampled attribute, closed-form Bayes",
        "method": str(plan.method),
        "people": tally.n,
        "refused": tally.refused,
        "simulated": tally.simulated,
        "expected_right": certainty.right / tally.n,
        "baseline": 1 / len(plan.schema),
        "told_surely": [{"at_least": level, "people": n} for level, n in zip(SURE, certainty.sure, strict=True)],
        "guarantee": plan.guarantee.to_dict(),
        "guarantee_of_an_attribute": plan.guarantees["attribute"].to_dict(),
    }


def _table(result: dict[str, Any]) -> Table:
    rates = {
        "right, expected of the best guess": result["expected_right"],
        "right, blindly": result["baseline"],
        **{
            f"told with {percent(row['at_least'], 0)} certainty or more": row["people"] / result["people"]
            for row in result["told_surely"]
        },
    }
    columns = [
        Column("statement", list(rates), "which attribute is true", "text", str),
        Column("share", list(rates.values()), "share of people", write=lambda share: percent(share, 2)),
    ]
    simulated = ", simulated" if result["simulated"] else ""
    refused = f", {result['refused']:,} refused" if result["refused"] else ""
    title = f"Attack on the reports of {counted(result['people'], 'person')} by {result['method']}{refused}{simulated}"
    return Table(title, columns, about=result)
