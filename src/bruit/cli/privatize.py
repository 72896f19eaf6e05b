"""`bruit privatize`: make each answer in a column private, file to file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks
from bruit.cli import _answers, _options, _reports, console
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.engines import TextOptions


def privatize(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet file, a folder of Parquet files, or - for CSV on standard input.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the reports go: a .parquet or .csv file.")],
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
    plan: Annotated[
        Path | None,
        typer.Option(help="A plan written before, instead of column, values, epsilon, method and missing."),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="The mechanism, by its name; bruit choose lists them. GRR if none is named.")
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make each answer in a column private.

    Every person's answer is randomised on its own, and the reports are written with a small plan beside them
    (reports.parquet.plan.json) that `bruit estimate` needs. The possible answers must be declared: reading them from
    the data would disclose them. Numbers and booleans in Parquet files are compared as texts: 3, 0.5, true.
    """
    from bruit import engines

    text = engines.TextOptions(delimiter=delimiter, encoding=encoding, missing=("", *(missing_text or ())))
    _options.check_whole(seed=seed)
    _reports.check_output(output, file, force=force)
    if plan is not None:
        _refuse_both(
            column=column,
            epsilon=epsilon,
            values=values,
            values_from_data=values_from_data or None,
            method=method,
            missing=missing,
        )
        asked = _reports.read_plan(plan)
    else:
        labels = _labels(file, column, values, from_data=values_from_data, text=text)
        asked = _make_plan(column, labels, epsilon=epsilon, method=method or "GRR", missing=missing or "refuse")
    _reports.check_plan(asked, output, force=force)
    if seed is not None:
        _warn_of_seed(output)
    rows = _randomise(asked, file, output, text, seed)
    result = {
        "reports": str(output),
        "plan": str(_reports.plan_beside(output)),
        "people": rows,
        "column": asked.name,
        "mechanism": asked.oracle.name,
        "guarantee": asked.guarantee().to_dict(),
        "digest": asked.digest,
    }
    console.print_json(result) if as_json else _tell(asked, result)


def _randomise(plan: Plan, file: str, output: Path, text: TextOptions, seed: int | None) -> int:
    """Write the reports and their plan, and return how many reports there are."""
    from bruit import engines
    from bruit.entropy import Entropy

    entropy = Entropy.resolve(seed, "privatize", plan.digest)
    with console.progress("privatize") as report, _reports.publishing(plan, output) as made:
        return engines.map(
            file,
            made,
            lambda batch, block: plan.privatize_batch(_answers.readable(plan, batch), entropy, block),
            columns=[plan.name],
            text=text,
            metadata=_reports.metadata(plan, simulated=seed is not None),
            progress=report,
        )


def _refuse_both(**given: Any) -> None:
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(f"--plan already says what {' and '.join(named)} would: give one or the other.")


def _make_plan(column: str | None, labels: list[str], *, epsilon: float | None, method: str, missing: str) -> Plan:
    from bruit.collection import Plan
    from bruit.domains import Categories, Missing

    name = _options.method_name(method)
    if epsilon is None and name != "Warner":
        raise ParameterError("--epsilon must be given: the most that one report may tell, for example 1.")
    policy = _checks.one_of(get_args(Missing), **{"--missing": missing})
    return Plan({str(column): Categories(labels=tuple(labels), missing=policy)}, epsilon, name)  # type: ignore[arg-type]


def _labels(file: str, column: str | None, values: str | None, *, from_data: bool, text: TextOptions) -> list[str]:
    if column is None:
        raise ParameterError("--column must be given: the column that holds the answers.")
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
    screen = console.out()
    screen.print(f"{result['people']:,} reports written to {result['reports']}")
    screen.print(f"plan: {result['plan']}")
    low, high = plan.guarantee().belief(0.5)
    screen.print(f"guarantee: {plan.guarantee()}")
    screen.print(f"A report moves an even guess about a person to {low:.0%} at least and {high:.0%} at most.")
    screen.print(f"next: bruit estimate {result['reports']}", style="dim")
