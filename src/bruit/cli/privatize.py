"""`bruit privatize`: make the answers in one or more columns private, file to file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks
from bruit.cli import _answers, _engine, _options, _reports, console
from bruit.errors import ParameterError
from bruit.tables import at_least, at_most, counted

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.engines import TextOptions
    from bruit.entropy import Words

_NO_COLUMN = "--column must be given: the column that holds the answers."
_NO_EPSILON = "--epsilon must be given: the most that one report may tell, for example 1."


def privatize(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet file, a folder of Parquet files, or - for CSV on standard input.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Where the reports go: a .parquet or .csv file; by Spark, a .parquet folder."
        ),
    ],
    column: Annotated[str | None, typer.Option("--column", "-c", help="The column that holds the answers.")] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The most that one report may tell.")] = None,
    values: Annotated[
        str | None,
        typer.Option(
            help='The possible answers, as in "no,yes" (quote one that has a comma), or @FILE with one per line.'
        ),
    ] = None,
    values_from_data: Annotated[
        bool, typer.Option("--values-from-data", help="Read the list of answers from the data, which discloses it.")
    ] = False,
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="LOW HIGH", help="The answers are numbers from LOW to HIGH; another one is an error."),
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(
            help="How many evenly spaced numbers are told apart, with --bounds. One per whole number if the bounds are "
            "written without a point, otherwise what suits the mechanism."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="A plan written before, for one column or several, instead of column, values, bounds, epsilon, method "
            "and missing."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="The mechanism, by its name; bruit choose lists them. For numbers: hybrid, piecewise or duchi for a "
            "mean, square-wave for quantiles, laplace, staircase. The one of least error if none is named."
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="A missing answer: refuse (if nothing is said), drop, or category (one of its own)."),
    ] = None,
    missing_text: Annotated[
        list[str] | None, typer.Option(help="A text that means missing, besides an empty cell; may be repeated.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="What separates the cells of a CSV file.")] = ",",
    encoding: Annotated[str, typer.Option(help="The encoding of a CSV file.")] = "utf-8",
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: whoever knows the number can undo the noise."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace reports that exist already, and their plan.")] = False,
    engine: _engine.Name = "local",
    master: _engine.Master = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make each answer in a column private, or with a plan for several those of several columns.

    Every person's answer is randomised on its own, and the reports are written with a small plan beside them
    (reports.parquet.plan.json) that `bruit estimate` needs. The possible answers must be declared, as a list or for
    numbers as bounds: reading them from the data would disclose them. With a list, numbers and booleans in Parquet
    files are compared as texts: 3, 0.5, true.
    """
    from bruit import engines

    text = engines.TextOptions(delimiter=delimiter, encoding=encoding, missing=("", *(missing_text or ())))
    _options.check_whole(seed=seed)
    _reports.check_output(output, file, force=force, folder=_engine.is_spark(engine, master))
    if values_from_data and engine == "spark":
        raise ParameterError("--values-from-data does not work with --engine spark: declare the answers with --values.")
    if plan is not None:
        _refuse_both(
            column=column,
            epsilon=epsilon,
            values=values,
            values_from_data=values_from_data or None,
            bounds=bounds,
            cells=cells,
            method=method,
            missing=missing,
        )
        asked = _reports.read_plan(plan)
    elif bounds is not None or cells is not None:
        _refuse_list(values=values, values_from_data=values_from_data or None)
        asked = _number_plan(column, bounds, cells, epsilon=epsilon, method=method, missing=missing)
    else:
        labels = _labels(file, column, values, from_data=values_from_data, text=text)
        asked = _make_plan(column, labels, epsilon=epsilon, method=method, missing=missing or "refuse")
    _reports.check_plan(asked, output, force=force)
    if seed is not None:
        _warn_of_seed(output)
    with _engine.opened(engine, master) as reads:
        rows = _randomise(asked, reads.read(file, text), output, text, seed=seed, unit=reads.unit)
    result = {
        "reports": str(output),
        "plan": str(_reports.plan_beside(output)),
        "people": rows,
        **_described(asked),
        "guarantee": asked.guarantee().to_dict(),
        "digest": asked.digest,
    }
    console.print_json(result) if as_json else _tell(asked, result)


def _randomise(plan: Plan, source: Any, output: Path, text: TextOptions, *, seed: int | None, unit: str) -> int:
    """Write the reports and their plan, and return how many reports there are."""
    from bruit import engines
    from bruit.entropy import Words

    with console.progress("privatize", unit) as report, _reports.publishing(plan, output) as made:
        return engines.map(
            source,
            made,
            lambda batch, words: _private(plan, batch, words),
            columns=list(plan.schema),
            text=text,
            metadata=_reports.metadata(plan, simulated=seed is not None),
            progress=report,
            rng=Words.resolve(seed, "privatize", plan.digest),
        )


def _private(plan: Plan, batch: dict[str, Any], words: Words) -> dict[str, Any]:
    """Reports of a batch."""
    return plan.randomize(plan.encode(_answers.readable(plan, batch)), words)


def _described(plan: Plan) -> dict[str, Any]:
    if plan.d == 1:
        return {"column": plan.name, "mechanism": plan.mechanism.name}
    return {
        "columns": list(plan.schema),
        "method": plan.method,
        "guarantee_of_an_attribute": plan.guarantee("attribute").to_dict(),
    }


def _refuse_both(**given: Any) -> None:
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(f"--plan already says what {' and '.join(named)} would: give one or the other.")


def _refuse_list(**given: Any) -> None:
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(
            f"--bounds is for numbers and {named[0]} for a list of answers: give one or the other, as the column is "
            "asked for a mean or for frequencies."
        )


def _number_plan(
    column: str | None,
    bounds: tuple[str, str] | None,
    cells: int | None,
    *,
    epsilon: float | None,
    method: str | None,
    missing: str | None,
) -> Plan:
    from bruit.collection import Plan, methods
    from bruit.collection.bases import FOR_NUMBERS
    from bruit.domains import Schema
    from bruit.numbers import number
    from bruit.numbers.base import MissingNumber

    if column is None:
        raise ParameterError(_NO_COLUMN)
    if bounds is None:
        raise ParameterError("--cells needs --bounds, the least and the greatest number that a person may have.")
    if epsilon is None:
        raise ParameterError(_NO_EPSILON)
    many = 0 if cells is None else _checks.integer(low=2, **{"--cells": cells})
    policy = _checks.one_of(get_args(MissingNumber), **{"--missing": missing or "refuse"})
    name = None if _is_adaptive(method) else _options.number_method_name(str(method))
    # The mechanism knows how many cells suit it.
    domain = number(
        name or FOR_NUMBERS[0], epsilon=epsilon, bounds=_options.bounds(bounds), cells=many, missing=policy
    ).domain
    return Plan(Schema({column: domain}), epsilon, name or methods.ADAPTIVE)


def _make_plan(
    column: str | None, labels: list[str], *, epsilon: float | None, method: str | None, missing: str
) -> Plan:
    from bruit.collection import Plan, methods
    from bruit.domains import Categories, Missing

    name = methods.ADAPTIVE if _is_adaptive(method) else _options.method_name(str(method))
    if epsilon is None and name != "Warner":
        raise ParameterError(_NO_EPSILON)
    policy = _checks.one_of(get_args(Missing), **{"--missing": missing})
    return Plan({str(column): Categories(labels=tuple(labels), missing=policy)}, epsilon, name)  # type: ignore[arg-type]


def _is_adaptive(method: str | None) -> bool:
    """Whether the mechanism of least error is to be taken, as when none is named."""
    from bruit.collection import methods

    return method is None or method.upper() == methods.ADAPTIVE


def _labels(file: str, column: str | None, values: str | None, *, from_data: bool, text: TextOptions) -> list[str]:
    if column is None:
        raise ParameterError(_NO_COLUMN)
    if values is not None and not from_data:
        return _answers.declared(values)
    if values is not None:
        raise ParameterError("Give --values or --values-from-data, not both.")
    if not from_data:
        raise ParameterError(
            "The possible answers must be declared, with --values or --plan. Reading them from the data would disclose "
            "which answers occur, even one that a single person gave; --values-from-data does it all the same."
        )
    return _answers.found(file, column, text)


def _warn_of_seed(output: Path) -> None:
    forgets = " A CSV file cannot say so of itself: say it when you hand it on." if output.suffix == ".csv" else ""
    console.warn(f"these reports are repeatable by their seed. They are for study, and not private.{forgets}")


def _tell(plan: Plan, result: dict[str, Any]) -> None:
    from bruit.domains import Grid

    console.say(f"{counted(result['people'], 'report')} written to {result['reports']}", whole=True)
    console.say(f"mechanism: {plan.mechanism.name}" if plan.d == 1 else f"method: {plan.method}")
    console.say(f"plan: {result['plan']}", whole=True)
    if plan.d == 1 and isinstance(plan.attribute.domain, Grid):
        grid = plan.attribute.domain
        console.say(f"grid: {grid.cells:,} numbers from {grid.low} to {grid.high}, {float(grid.step):g} apart")
    low, high = plan.guarantee().belief(0.5)
    console.say(f"guarantee: {plan.guarantee()}")
    if plan.d > 1:
        console.say(f"guarantee: {plan.guarantee('attribute')}")
    moved = "A report moves" if plan.d == 1 else "Reports move"
    console.say(f"{moved} an even guess about a person to {at_least(low)} at least and {at_most(high)} at most.")
    console.say(f"next: bruit estimate {result['reports']}", style="dim", whole=True)
