"""`bruit release`: publish a statistic of a file with noise, book what it costs, and keep the result.

A result is paid for. It is saved before it is shown, in the folder of results beside the ledger, where `bruit result`
finds it again; so nothing here needs to be run twice.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks, documents
from bruit.cli import _asking, _engine, _options, console
from bruit.cli._asking import STATISTICS, Asked
from bruit.cli.ledger import open_ledger
from bruit.errors import BruitError, BudgetError, ParameterError
from bruit.tables import exact

if TYPE_CHECKING:
    from bruit.privacy import Guarantee, Ledger
    from bruit.releases import Released

#: How many rows are shown of a result that is saved, unless asked otherwise.
SHOWN_ROWS = 20


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
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result to this .json file, too.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a result that exists already.")] = False,
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    rows: Annotated[
        int | None,
        typer.Option(help="How many rows to show of a result that is saved, 20 if nothing is said; 0 for all."),
    ] = None,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Publish a count, histogram, sum, mean, variance or quantiles of a column, with noise.

    The release is booked in the ledger before its noise is drawn, and refused if the budget does not allow it: then
    nothing is spent and nothing is written. The result is saved beside the ledger, and `bruit result` shows it again
    without spending. Bounds, categories and groups must be declared, never read from the data.
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
    _check_rows(rows, saved=output is not None or ledger is not None)
    _engine.is_spark(engine)
    books = _open(ledger, budget, asked.neighbours)
    _remark(books, seed)
    _refuse_early(books, statistic.guarantee)
    with _engine.opened(engine) as reads, console.progress("release", reads.unit) as report:
        raw = _asking.fold(asked, statistic, reads.table(file), text, report)
    title = label or exact(asked.title)[:200]
    place = _Place.of(books, title, output)
    result = _published(lambda ledger: statistic.release(raw, ledger, seed, label=title), place, level, as_json=as_json)
    if as_json:
        console.print_json(result.to_json(level))
    else:
        tell(result, level, SHOWN_ROWS if rows is None and place.files else rows or 0, place.again(), place.remarks())
    for path in place.files:
        console.note(f"result: {_near(path)}")


@dataclass(frozen=True)
class _Place:
    """Where a result goes: to a file of its own beside the ledger, and to the file that was asked for."""

    books: Ledger | None
    kept: Path | None
    output: Path | None

    @classmethod
    def of(cls, books: Ledger | None, title: str, output: Path | None) -> _Place:
        """A name that no other result has, and that a person can read."""
        folder = None if books is None else books.results
        name = re.sub(r"[^a-z0-9]+", "-", title.lower())[:40].strip("-") or "result"
        return cls(books, folder and folder / f"{name}-{secrets.token_hex(4)}.json", output)

    @property
    def files(self) -> list[Path]:
        """The files that hold the result."""
        return [path for path in (self.kept, self.output) if path is not None]

    @property
    def ledger(self) -> Any:
        """What the release is booked in; its entry names the file."""
        return None if self.books is None or self.kept is None else self.books.keeping(self.kept.name)

    @property
    def entry(self) -> int | None:
        """The number of the release in the ledger, once it is booked."""
        entries = () if self.books is None or self.kept is None else self.books.entries
        return next((entry.index for entry in entries if self.kept and entry.result == self.kept.name), None)

    def again(self) -> str:
        """The command that shows the result again, and spends nothing."""
        if self.books is not None and self.books.path is not None:
            return shlex.join(["bruit", "result", str(_near(self.books.path)), str(self.entry)])
        return "" if self.output is None else shlex.join(["bruit", "result", str(self.output)])

    def remarks(self) -> list[str]:
        """What is left of the budget."""
        if self.books is None:
            return []
        left = self.books.remaining.epsilon
        return [f"ledger: ε = {self.books.spent.epsilon!r} of {self.books.epsilon!r} spent, {left!r} remain"]


def _published(draw: Callable[[Any], Released], place: _Place, level: float, *, as_json: bool) -> Released:
    """The result, booked, drawn and saved, beside the ledger first; one that cannot be saved is shown whole."""
    result = None
    try:
        with _folder(place.kept and place.kept.parent), _writing(place.output) as copy:
            with _writing(place.kept) as keep:
                result = draw(place.ledger)
                text = result.to_json(level) + "\n"
                keep(text)
            copy(text)
    except BaseException:
        _salvage(result, place, level, as_json=as_json)
        raise
    return result


def _salvage(result: Released | None, place: _Place, level: float, *, as_json: bool) -> None:
    """What is paid for is shown if it could not be saved; what was paid for nothing is said."""
    if result is not None:
        console.print_json(result.to_json(level)) if as_json else tell(result, level, 0, "", [])
        console.warn("this result is paid for and could not be saved as asked. It is shown whole: keep it.")
        return
    with suppress(BruitError):
        if place.entry is not None:
            console.warn("the spend is booked, and there is no result: bruit ledger show lists it as lost.")


def _near(path: Path) -> Path:
    """A path as a person would write it, from the working folder where it is below that."""
    with suppress(ValueError, OSError):
        return path.relative_to(Path.cwd())
    return path


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


def _check_rows(rows: int | None, *, saved: bool) -> None:
    """What is hidden must be somewhere else."""
    if rows and not saved:
        raise ParameterError(
            "--rows would hide a part of what is paid for, and nothing keeps the whole: name a file with --output, or "
            "a ledger, beside which results are saved. Without them all rows are shown."
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
            requested=asked,
            remaining=left,
            total=total,
        )


@contextmanager
def _folder(path: Path | None) -> Iterator[None]:
    """The folder of results, made if there is none; if nothing comes to stand in it, it does not stay."""
    if path is not None:
        path.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if path is not None:
            with suppress(OSError):
                path.rmdir()  # only an empty one
        raise


@contextmanager
def _writing(path: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes a file, whole or not at all; a folder that cannot be written to is found at once."""
    if path is None:
        yield lambda text: None
        return
    with documents.replacing(path) as partial:
        partial.touch()
        yield lambda text: partial.write_text(text, encoding="utf-8", newline="\n")


def tell(result: Released, level: float, rows: int, again: str, remarks: list[str]) -> None:
    """Show the first rows, or all if `rows` is 0; `again` is the command that shows the others for nothing."""
    table = result.table(level)
    table = replace(table, notes=[*table.notes, *remarks])
    console.show(table, rows=rows, hint="the next command shows all, and spends nothing" if again else "")
    if again and 0 < rows < len(result):
        console.say(f"  {again}", "dim", whole=True)
