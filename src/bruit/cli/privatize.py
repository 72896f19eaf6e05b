"""`bruit privatize`: make each answer in a column private, file to file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit.cli import console
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.engines import TextOptions

#: Above this many distinct values, a column is not a list of categories.
MOST_VALUES_FROM_DATA = 10_000


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
        Path | None, typer.Option(help="A plan written before, instead of column, values and epsilon.")
    ] = None,
    method: Annotated[str, typer.Option(help="The mechanism: GRR or Warner.")] = "GRR",
    missing: Annotated[
        str, typer.Option(help="A missing answer: refuse, drop, or category (one of its own).")
    ] = "refuse",
    missing_text: Annotated[
        list[str] | None, typer.Option(help="A text that means missing, besides an empty cell; may be repeated.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="What separates the cells of a CSV file.")] = ",",
    encoding: Annotated[str, typer.Option(help="The encoding of a CSV file.")] = "utf-8",
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: whoever knows the number can undo the noise."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace reports that exist already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make each answer in a column private.

    Every person's answer is randomised on its own, and the reports are written with a small plan beside them
    (reports.plan.json) that `bruit estimate` needs. The possible answers must be declared: reading them from
    the data would disclose them.
    """
    from bruit import engines
    from bruit.entropy import Entropy

    text = engines.TextOptions(delimiter=delimiter, encoding=encoding, missing=("", *(missing_text or ())))
    _refuse_to_replace(output, force=force)
    if plan is not None:
        _refuse_both(column=column, epsilon=epsilon, values=values)
        asked = read_plan(plan)
    else:
        labels = _labels(file, column, values, from_data=values_from_data, text=text)
        asked = _make_plan(column, labels, epsilon=epsilon, method=method, missing=missing)

    entropy = Entropy.resolve(seed, "privatize", asked.digest)
    if seed is not None:
        console.warn("these reports are repeatable by their seed. They are for study, and not private.")
    beside = plan_beside(output)
    write_plan(asked, beside)
    with console.progress("privatize") as report:
        rows = engines.map(
            file,
            output,
            lambda batch, block: asked.privatize_batch(batch, entropy, block),
            columns=[asked.name],
            text=text,
            metadata=reports_metadata(asked, simulated=seed is not None),
            progress=report,
        )
    result = {
        "reports": str(output),
        "plan": str(beside),
        "people": rows,
        "column": asked.name,
        "mechanism": asked.oracle.name,
        "guarantee": asked.guarantee().to_dict(),
        "digest": asked.digest,
    }
    console.print_json(result) if as_json else _tell(asked, result)


def reports_metadata(plan: Plan, *, simulated: bool) -> dict[str, str]:
    """What a file of reports says of itself."""
    return {"bruit.format": "bruit.reports/1", "bruit.plan": plan.digest, "bruit.simulated": str(simulated).lower()}


def plan_beside(reports: Path) -> Path:
    """Where the plan of a file of reports stands: reports.parquet has reports.plan.json."""
    return reports.with_name(f"{reports.stem}.plan.json")


def read_plan(path: Path) -> Plan:
    """A plan from its file."""
    from bruit.collection import Plan

    try:
        return Plan.from_json(path.read_bytes())
    except FileNotFoundError:
        raise FormatError(f"There is no plan {path}: name one with --plan.") from None


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan, whole or not at all."""
    from bruit import documents

    documents.write_text(path, plan.to_json() + "\n")


def _refuse_to_replace(output: Path, *, force: bool) -> None:
    if output.suffix not in (".parquet", ".csv"):
        raise ParameterError("--output must name a .parquet or .csv file.")
    if output.exists() and not force:
        raise ParameterError(
            f"{output} exists. A second randomisation of the same people tells more about them: "
            "keep the first, or replace it with --force."
        )


def _refuse_both(**given: Any) -> None:
    named = [f"--{name}" for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(f"--plan already says what {' and '.join(named)} would: give one or the other.")


def _make_plan(column: str | None, labels: list[str], *, epsilon: float | None, method: str, missing: str) -> Plan:
    from bruit.collection import Plan
    from bruit.domains import Categories

    if epsilon is None and method.lower() != "warner":
        raise ParameterError("--epsilon must be given: the most that one report may tell, for example 1.")
    domain = Categories(labels=tuple(labels), missing=missing)  # type: ignore[arg-type]
    return Plan({str(column): domain}, epsilon, method)  # type: ignore[arg-type]


def _labels(file: str, column: str | None, values: str | None, *, from_data: bool, text: TextOptions) -> list[str]:
    if column is None:
        raise ParameterError("--column must be given: the column that holds the answers.")
    if values is not None and not from_data:
        return _declared(values)
    if values is not None:
        raise ParameterError("Give --values or --values-from-data, not both.")
    if not from_data:
        raise ParameterError(
            "The possible answers must be declared, with --values or --plan. Reading them from the data would disclose "
            "which answers occur, even one that a single person gave; --values-from-data does it all the same."
        )
    return _found(file, column, text)


def _declared(values: str) -> list[str]:
    """The list after --values, or the lines of a file."""
    if values.startswith("@"):
        lines = Path(values[1:]).read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line]
    return next(csv.reader([values], skipinitialspace=True))


def _found(file: str, column: str, text: TextOptions) -> list[str]:
    from bruit import engines

    if file == "-":
        raise ParameterError("--values-from-data reads the data twice, and standard input can be read once.")
    with console.progress("read the values") as report:
        found: _Distinct = engines.fold(
            file, lambda batch: _Distinct.of(batch[column]), columns=[column], text=text, progress=report
        )
    labels = sorted(found.values)
    console.warn(
        f"the list of {len(labels)} answers was read from the data. That they occur is disclosed, even if one person "
        "alone gave it, and the guarantee does not cover it. Declare them with --values when it matters."
    )
    return labels


class _Distinct:
    """The set of different entries of a column; such sets add."""

    def __init__(self, values: frozenset[str]) -> None:
        if len(values) > MOST_VALUES_FROM_DATA:
            raise ParameterError(
                f"The column has more than {MOST_VALUES_FROM_DATA:,} different entries: it is not a list of categories."
            )
        self.values = values

    @classmethod
    def of(cls, cells: Any) -> _Distinct:
        import numpy as np

        from bruit.domains.domain import DictionaryColumn

        if isinstance(cells, DictionaryColumn):
            used = np.unique(cells.positions[cells.positions >= 0])
            return cls(frozenset(map(str, np.asarray(cells.entries)[used].tolist())))
        present = cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells
        return cls(frozenset(map(str, np.unique(present).tolist())))

    def __add__(self, other: _Distinct) -> _Distinct:
        return _Distinct(self.values | other.values)


def _tell(plan: Plan, result: dict[str, Any]) -> None:
    screen = console.out()
    screen.print(f"{result['people']:,} reports written to {result['reports']}", markup=False)
    screen.print(f"plan: {result['plan']}", markup=False)
    low, high = plan.guarantee().belief(0.5)
    screen.print(f"guarantee: {plan.guarantee()}", markup=False)
    screen.print(f"A report moves an even guess about a person to {low:.0%} at least and {high:.0%} at most.")
    screen.print(f"next: bruit estimate {result['reports']}", markup=False, style="dim")
