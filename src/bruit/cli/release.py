"""`bruit release`: publish a statistic of a file with noise, and book what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks, documents
from bruit.cli import _asking, _engine, _options, console
from bruit.cli._asking import STATISTICS, Asked
from bruit.cli.ledger import open_ledger
from bruit.errors import BudgetError, ParameterError
from bruit.tables import exact

if TYPE_CHECKING:
    from bruit.privacy import Guarantee, Ledger
    from bruit.releases import Released


def release(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet file, a folder of Parquet files, or - for CSV on standard input.")
    ],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The most that the result may tell about a record.")
    ],
    column: Annotated[str | None, typer.Option("--column", "-c", help="The column that it is about.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Release how many records there are.")] = False,
    histogram: Annotated[
        bool, typer.Option("--histogram", help="Release how many records have each of the declared values.")
    ] = False,
    total: Annotated[bool, typer.Option("--sum", help="Release the sum.")] = False,
    mean: Annotated[bool, typer.Option("--mean", help="Release the mean.")] = False,
    variance: Annotated[bool, typer.Option("--variance", help="Release the variance.")] = False,
    quantiles: Annotated[
        str | None, typer.Option(help="Release quantiles: 0.25,0.5,0.75, or 0.1:0.9:0.1 for the nine deciles.")
    ] = None,
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="What numbers can be; those outside count as the nearest bound."),
    ] = None,
    cells: Annotated[
        int | None, typer.Option(help="How many equal cells the bounds are cut into, for a histogram of numbers.")
    ] = None,
    step: Annotated[
        float | None, typer.Option(help="Round numbers to multiples of it: 1 for quantiles of whole numbers.")
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(help='The categories to count, as in "no,yes" (quote one that has a comma), or @FILE.'),
    ] = None,
    by: Annotated[str | None, typer.Option(help="A column of groups: one result for each of them.")] = None,
    groups: Annotated[str | None, typer.Option(help="All the groups, as in north,south, or @FILE.")] = None,
    neighbours: Annotated[
        str, typer.Option(help="add-remove, or replace if the number of records is public.")
    ] = "add-remove",
    method: Annotated[
        str | None,
        typer.Option(help="For quantiles: auto (if none is named), exponential, approximate, joint or histogram."),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="A missing value: refuse (if nothing is said), drop, or category for --histogram."),
    ] = None,
    missing_text: Annotated[
        list[str] | None, typer.Option(help="A text that means missing, besides an empty cell; may be repeated.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="What separates the cells of a CSV file.")] = ",",
    encoding: Annotated[str, typer.Option(help="The encoding of a CSV file.")] = "utf-8",
    ledger: Annotated[Path | None, typer.Option(help="The ledger in which the release is booked.")] = None,
    budget: Annotated[float | None, typer.Option(help="Start the ledger with this ε if there is none.")] = None,
    label: Annotated[str | None, typer.Option(help="What the ledger writes down; public.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: whoever knows the number can undo the noise."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Also write the result: a .json file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a result that exists already.")] = False,
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    rows: Annotated[
        int, typer.Option(help="With --output, how many rows to show; 0 for all. Without it, all are shown.")
    ] = 20,
    engine: _engine.Name = "local",
    master: _engine.Master = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Publish a count, histogram, sum, mean, variance or quantiles of a column, with noise.

    The release is booked in the ledger before its noise is drawn, and refused if the budget does not allow it: then
    nothing is spent and nothing is written. Bounds, categories and groups must be declared, never read from the data.
    """
    from bruit import engines

    flags = {"count": count, "histogram": histogram, "sum": total, "mean": mean, "variance": variance}
    text = engines.TextOptions(delimiter=delimiter, encoding=encoding, missing=("", *(missing_text or ())))
    _options.check_whole(seed=seed, rows=rows)
    _checks.probability(**{"--level": level})
    asked = Asked(
        statistic=_statistic({**flags, "quantiles": quantiles is not None}),
        epsilon=_checks.positive(**{"--epsilon": epsilon}),
        neighbours=_checks.one_of(("add-remove", "replace"), **{"--neighbours": neighbours}),
        column=column,
        quantiles=quantiles,
        bounds=bounds,
        cells=cells,
        step=step,
        values=values,
        method=method,
        missing=missing,
        by=by,
        groups=groups,
    )
    statistic = asked.release()
    _check_output(output, file, ledger, force=force)
    _engine.is_spark(engine, master)
    books = _open(ledger, budget, asked.neighbours)
    _remark(books, seed)
    _refuse_early(books, statistic.guarantee)
    with _engine.opened(engine, master) as reads, console.progress("release", reads.unit) as report:
        raw = _asking.fold(asked, statistic, reads.read(file, text), text, report)
    found = written = None
    try:
        with _writing(output) as write:
            found = statistic.release(raw, books, seed, label=label or exact(asked.title)[:200])
            write(found.to_json(level) + "\n")
        written = output
    finally:
        if found is not None:  # it is paid for: even if it could not be written, it is shown
            console.print_json(found.to_json(level)) if as_json else _tell(found, books, level, rows, written)
    if output is not None:
        console.note(f"result: {output}")


def _statistic(wanted: dict[str, bool]) -> str:
    named = [name for name, given in wanted.items() if given]
    if len(named) != 1:
        raise ParameterError(f"Ask for one of {', '.join(f'--{name}' for name in STATISTICS)}.")
    return named[0]


def _check_output(output: Path | None, source: str, ledger: Path | None, *, force: bool) -> None:
    """That the result may go to `output`, and takes the place of nothing that is needed."""
    if output is None:
        return
    _options.check_file(output, "--output", (".json",))
    for path, what in ((Path(source), "data"), (ledger, "ledger")):
        if path is not None and output.resolve() == path.resolve():
            raise ParameterError(f"--output must be another file than the {what}.")
    if output.exists() and not force:
        raise ParameterError(
            f"{output} exists, and what it holds was paid for: write to another name, or replace it with --force."
        )


def _open(path: Path | None, budget: float | None, neighbours: Any) -> Ledger | None:
    if path is None and budget is not None:
        raise ParameterError("--budget needs --ledger, the file in which it is kept.")
    return None if path is None else open_ledger(path, budget, neighbours)


def _remark(books: Ledger | None, seed: int | None) -> None:
    if books is None:
        console.note("nothing is booked: name a file with --ledger to keep account of what is spent on these people.")
    if seed is not None:
        console.warn("this result is repeatable by its seed. It is for study, and not private.")


def _refuse_early(books: Ledger | None, guarantee: Guarantee) -> None:
    """What the ledger would refuse is refused before a large file is read; the ledger itself has the last word."""
    if books is not None and guarantee.epsilon > books.remaining.epsilon:
        asked, left, total = guarantee.epsilon, books.remaining.epsilon, books.epsilon
        raise BudgetError(
            f"Budget exceeded: this release needs ε={asked!r}, {left!r} remain of {total!r}. Lower --epsilon, or start "
            "another ledger if these are other people.",
            asked=asked,
            remaining=left,
            total=total,
        )


@contextmanager
def _writing(output: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes the result, whole or not at all; a folder that cannot be written to is found at once."""
    if output is None:
        yield lambda text: None
        return
    with documents.replacing(output) as partial:
        partial.touch()
        yield lambda text: partial.write_text(text, encoding="utf-8", newline="\n")


def _tell(found: Released, books: Ledger | None, level: float, rows: int, written: Path | None) -> None:
    """Show the result; rows are left out only where they are in a file, because releasing again would cost again."""
    table = found.table(level)
    if books is not None:
        spent, left = books.spent.epsilon, books.remaining.epsilon
        table = replace(
            table, notes=[*table.notes, f"ledger: ε = {spent!r} of {books.epsilon!r} spent, {left!r} remain"]
        )
    console.show(table, rows=0 if written is None else rows, hint=f"all are in {written}")
