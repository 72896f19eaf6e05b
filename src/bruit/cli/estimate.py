"""`bruit estimate`: frequencies, means and quantiles with intervals, from files of reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

import typer

from bruit import _checks, documents
from bruit.cli import _engine, _options, _questions, console, open_question
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.collection import Answers, Plan
    from bruit.estimation import Tally, Target
    from bruit.tables import Table

#: The quantiles of a number that are shown.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def estimate(
    reports: Annotated[
        list[Path],
        typer.Argument(
            help="Files of reports made with one plan, folders of Parquet files, tallies (.json), or - for CSV on "
            "standard input."
        ),
    ],
    plan: Annotated[
        Path | None, typer.Option(help="The plan, if it is not beside the first reports, as reports.csv.plan.json.")
    ] = None,
    target: Annotated[
        str, typer.Option(help="population: those the people come from. people: those who answered.")
    ] = "population",
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    interval: Annotated[str, typer.Option(help="wilson, clopper-pearson or wald.")] = "wilson",
    simultaneous: Annotated[bool, typer.Option(help="Intervals that cover all together.")] = False,
    consistent: Annotated[
        str | None, typer.Option(help="Add a column that is not negative: norm-sub, clip, norm-cut, base-cut, em …")
    ] = None,
    rows: Annotated[int, typer.Option("--show", help="How many rows to show; 0 for all.")] = 20,
    tally_output: Annotated[Path | None, typer.Option("--tally", help="Also write the tally, as .json.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Also draw the estimates: a .png or .svg file.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Only this attribute of a plan with several; may be repeated.")
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(help="How attributes go together, as in sex,smokes; may be repeated. By TAB, or SPL."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Estimates for every value of an attribute that was sent in clear; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Make the intervals of quantiles, which come from refits, repeatable.")
    ] = None,
    over_rounds: Annotated[
        bool,
        typer.Option(
            "--over-rounds",
            help="The files are rounds of one panel: the series, its mean, and the change between them.",
        ),
    ] = False,
    same_people: Annotated[
        bool,
        typer.Option(
            "--same-people",
            help="The very same people reported in all rounds; else a bound is stated.",
        ),
    ] = False,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Estimate frequencies or means, with intervals, from files of reports.

    Every row is one report or is refused, whatever stands in it.

    Estimates are unbiased: a rare answer may come out below zero. Add --consistent norm-sub for a table to publish. Of
    a number, the mean is shown, and where the mechanism tells them quantiles, which are approximate.

    Of an open question, the certified answers are shown, with their shares.

    With --over-rounds, files of rounds of a plan that has them: every round, the mean over all of them with its
    variance, which the memo keeps from falling as 1/T, and the last round less the first, with a test for change.
    """
    from bruit.collection import Plan
    from bruit.estimation.consistency import Method as Consistency
    from bruit.estimation.support import IntervalMethod, Target

    frequencies = {
        "level": _checks.probability(**{"--level": level}),
        "method": _checks.one_of(get_args(IntervalMethod), **{"--interval": interval}),
        "simultaneous": simultaneous,
        "consistent": consistent,
    }
    people = _checks.one_of(get_args(Target), **{"--target": target})
    _options.check_whole(show=rows, seed=seed)
    _options.check_figure(figure)
    if tally_output is not None:
        _options.check_file(tally_output, "--tally", (".json",))
    if consistent is not None and not table:
        _checks.one_of(get_args(Consistency), **{"--consistent": consistent})
    for source in filter(_options.is_plan, reports):
        raise ParameterError(
            f"{source.name} is a plan, and estimates are from reports or tallies: bruit estimate reports.csv --plan "
            f"{source}."
        )
    if open_question.stands_at(plan or reports[0]):
        open_question.refuse({
            "--target": target != "population", "--interval": interval != "wilson", "--simultaneous": simultaneous,
            "--consistent": consistent, "--tally": tally_output, "--figure": figure, "--attribute": attribute,
            "--table": table, "--by": by, "--seed": seed is not None, "--over-rounds": over_rounds,
            "--same-people": same_people, "--engine": _engine.is_spark(engine),
        })  # fmt: skip
        with console.progress("count", _engine.LOCAL.unit) as report:
            gathered = open_question.gathered(plan or reports[0], reports, report)
        open_question.show(*gathered, level, rows=rows, as_json=as_json)
        return
    known = Plan.load(plan or reports[0])
    names = _names(known, attribute)
    _check_kinds(known, names, figure, consistent)
    _check_groups(known, by, figure, consistent)
    if table:
        shown = _tables(known, reports, [_questions.names(text, "--table") for text in table], people, frequencies)
        _print(shown, rows=rows, as_json=as_json)
        return
    if over_rounds:
        unused = {"--tally": tally_output, "--consistent": consistent, "--by": by or None}
        _refuse(unused, "--over-rounds")
        with _engine.opened(engine) as reads, console.progress("count", reads.unit) as report:
            numbered = _options.rounds(known, reports, reads, report)
        over = _Rounds(known, *numbered, people, level, same_people)
        over.show(names, figure, rows=rows, as_json=as_json)
        return
    _refuse({"--same-people": same_people or None}, "an estimate without --over-rounds")
    with _engine.opened(engine) as reads, console.progress("count", reads.unit) as report:
        tally = _options.tally(known, reports, reads, report)
    if tally_output is not None:
        documents.write_text(tally_output, tally.to_json() + "\n")
    answers = known.estimate(tally, people)
    if by:
        _show_groups(answers, by, names, frequencies, rows=rows, as_json=as_json)
        return
    numbers = {"level": level, "quantiles": QUANTILES, "rng": seed}
    tables = [answers[name].table(**(numbers if _is_number(known, name) else frequencies)) for name in names]
    if figure is not None:
        _options.save_figure(answers[names[0]].plot(level=level), figure)
    if as_json:
        console.print_json(_document(known, tables))
    else:
        console.show(*_with_guarantee(known, tables, tally.n), rows=rows, hint="--show 0 shows all")


def _refuse(options: Mapping[str, object], beside: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} does not go with {beside}: leave it out.")


class _Rounds(NamedTuple):
    """Rounds of one plan, and what is asked of them."""

    plan: Plan
    numbers: list[int]
    tallies: list[Tally]
    target: Target
    level: float
    same_people: bool

    def show(self, names: list[str], figure: Path | None, *, rows: int, as_json: bool) -> None:
        """The series, the mean and the change of every attribute."""
        series = self.plan.panel.series(self.tallies, self.numbers)
        how = (self.level, self.target)
        tables = [table for name in names for table in series[name].tables(*how, same_people=self.same_people)]
        if figure is not None:
            from bruit import figures

            _options.save_figure(figures.plot_series(series[names[0]], level=self.level), figure)
        if as_json:
            console.print_json("[\n" + ",\n".join(table.to_json() for table in tables) + "\n]")
        else:
            tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *self._promises()])
            console.show(*tables, rows=rows, hint="--show 0 shows all")

    def _promises(self) -> list[str]:
        last = self.numbers[-1]
        epoch = self.plan.panel.epoch_of(last)
        following = self.plan.repeat is not None and self.plan.repeat.follow_changes
        return [
            f"guarantee of {'all' if following else 'an'} epoch{'s' if following else ''}: "
            f"{self.plan.guarantees['same-changes' if following else 'epoch']}",
            f"rounds up to {last}, in epoch {epoch}; guarantee of all epochs: {self.plan.guarantee}",
        ]


def _names(plan: Plan, attributes: list[str] | None) -> list[str]:
    """The attributes to show: all, unless some are named."""
    from bruit.engines.batch import clean_name

    wanted = [clean_name(name) for name in attributes or plan.schema]
    for name in wanted:
        if name not in plan.schema:
            near = _checks.suggestion(name, plan.schema)
            raise ParameterError(f"--attribute must name an attribute of the plan.{near}")
    return list(dict.fromkeys(wanted))


def _is_number(plan: Plan, name: str) -> bool:
    return plan.design.gives(name) == "mean"


def _check_kinds(plan: Plan, names: list[str], figure: Path | None, consistent: str | None) -> None:
    """That what is asked for can be had of these attributes."""
    numbers = [name for name in names if _is_number(plan, name)]
    if figure is not None and (len(names) > 1 or numbers):
        raise ParameterError("--figure draws the frequencies of one attribute: name it with --attribute.")
    if consistent is not None and numbers:
        raise ParameterError(f"--consistent is for frequencies, and {numbers[0]!r} is a number: leave it out.")


def _check_groups(plan: Plan, by: list[str] | None, figure: Path | None, consistent: str | None) -> None:
    from bruit.collection import groups

    if not by:
        return
    groups.check_names(tuple(by), plan.public, "--by")
    if figure is not None or consistent is not None:
        raise ParameterError("--by goes without --figure and --consistent: estimate one group from its own reports.")


def _show_groups(
    answers: Answers, by: list[str], names: list[str], options: dict[str, Any], *, rows: int, as_json: bool
) -> None:
    """A table for each attribute, with a row for each group and value."""
    with console.warnings():
        groups = answers.by(*by)
    tables = [
        groups.table(name, options["level"], options["method"], simultaneous=options["simultaneous"]) for name in names
    ]
    _print(tables, rows=rows, as_json=as_json)


def _tables(
    plan: Plan, reports: list[Path], wanted: list[tuple[str, ...]], target: Target, options: dict[str, Any]
) -> list[Table]:
    """The tables that are asked for; by SPL from the reports themselves."""
    for names in wanted:
        plan.method.check_table(plan, names, whole=True)
    from_reports = plan.design.tables_from == "reports"
    if from_reports and len(reports) > 1:
        raise ParameterError("--table of reports by SPL reads one file: name one.")
    source: Any = reports[0] if from_reports else plan.tally(*reports)
    settings = {name: options[name] for name in ("level", "method", "simultaneous")}
    return [plan.table(source, *names, target=target).table(**settings) for names in wanted]


def _print(tables: list[Table], *, rows: int, as_json: bool) -> None:
    if as_json:
        sealed = [table.to_json() for table in tables]
        console.print_json(sealed[0] if len(sealed) == 1 else "[\n" + ",\n".join(sealed) + "\n]")
    else:
        console.show(*tables, rows=rows, hint="--show 0 shows all")


def _document(plan: Plan, tables: list[Table]) -> str:
    """One document for a plan with one question, a list of them for one with several."""
    promised: dict[str, Any] = {"guarantee": plan.guarantee.to_dict()}
    if len(plan.schema) > 1:
        promised["guarantee_of_an_attribute"] = plan.guarantees["attribute"].to_dict()
        promised["plan"] = plan.digest
    sealed = [replace(table, about={**table.about, **promised}).to_json() for table in tables]
    return sealed[0] if len(plan.schema) == 1 else "[\n" + ",\n".join(sealed) + "\n]"


def _with_guarantee(plan: Plan, tables: list[Table], n: int) -> list[Table]:
    """The tables; below the last one what the plan guarantees, and whether n people were too few for it."""
    from bruit.attacks.prospects import promises
    from bruit.collection.uniform_guess import few_people

    own = [[note for note in table.notes if not note.startswith("guarantee")] for table in tables]
    own[-1] = [*own[-1], *few_people(plan, n), *promises(plan)]
    return [replace(table, notes=notes) for table, notes in zip(tables, own, strict=True)]
