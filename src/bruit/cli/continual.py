"""`bruit continual`: a running total and a daily series, published day after day for the price of one release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bruit.cli import _engine, _options, console
from bruit.cli.ledger import open_ledger
from bruit.errors import ParameterError

Series = Annotated[Path, typer.Argument(help="The file that keeps the series between days; it holds true counts.")]


def start(
    series: Series,
    steps: Annotated[int, typer.Option(help="How many days there will be at most.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that all days together may tell.")],
    delta: Annotated[float, typer.Option(help="A small number, far below one over the number of people, as 1e-6.")],
    neighbours: Annotated[
        str, typer.Option(help="add-remove, or replace if an event may move to another day.")
    ] = "add-remove",
    rows: Annotated[
        int | None,
        typer.Option(help="Where people have several events: how many of a person there are at most, in all days."),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger in which the series is booked, once.")] = None,
    budget: _options.Budget = None,
    label: Annotated[str | None, typer.Option(help="What the ledger writes down; public.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="A series for study, not private: every day needs the same number."),
    ] = None,
) -> None:
    """Begin a series: book all its days at once, and write the file that keeps it between days.

    If a series was begun and not booked, because the budget was short or the program was stopped, the same command
    books it.
    """
    from bruit.releases import ContinualCount, ContinualSeries

    _options.check_whole(seed=seed)
    design = ContinualCount(
        steps=steps,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,  # type: ignore[arg-type]
        rows=rows,
    )
    started = _options.budget(budget, ledger)
    books: Any = None if ledger is None else open_ledger(ledger, design.guarantee.neighbours, **started)
    if not series.parent.is_dir():
        raise ParameterError(f"The folder {series.parent} does not exist.")
    if series.exists() and books is not None:
        known = ContinualSeries.open(series)
        if known.booked or known.design != design:
            raise ParameterError(f"{series} keeps another series, or one that is booked: take another name.")
        known.book(books)
    else:
        design.start(series, books, seed, label=label)
    last = design.total_error[-1]
    console.say(f"{series}: {steps:,} days. The error of a total is {last:.3g} at most, {design.guarantee}.")
    if books is None:
        console.note("nothing is booked: name a file with --ledger to keep account of what is spent on these people.")
    console.note("it will hold true counts: keep it as you keep the data.")


def add(
    series: Series,
    file: Annotated[str | None, typer.Argument(help="The events of the day, a row each: CSV or Parquet.")] = None,
    count: Annotated[int | None, typer.Option(help="How many events the day has, instead of a file.")] = None,
    day: Annotated[str | None, typer.Option(help="What the day is called, as 2026-05-01; else its number.")] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Add it also if it is before another day, or its file is that of one.")
    ] = False,
    csv: _engine.Csv = None,
    seed: Annotated[int | None, typer.Option(help="The number of a series that was started with one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Add a day and show the running total up to it. It spends nothing: the whole series is booked already.

    A day is added once; what was published of it is shown again by bruit continual show. A day before another one, and
    a file that is byte for byte that of another day, are refused. Standard input and queries are not compared.
    """
    from bruit.releases import ContinualSeries

    _options.check_whole(seed=seed)
    if (file is None) == (count is None):
        raise ParameterError("Give the file of the day's events, or --count with their number: one of the two.")
    kept = ContinualSeries.open(series)
    number = count if count is not None else _rows(str(file), _engine.options(csv))
    named = file if file is not None and (Path(file).is_file() or Path(file).is_dir()) else None  # no stream or query
    if named is not None and kept.design.rows is None:
        _warn_of_people(_options.read(named, _engine.options(csv)))
    result = kept.add(number, day, seed, file=named, anyway=anyway)
    console.print_json(result.to_json()) if as_json else console.show(result.table())


def show(
    series: Series,
    daily: Annotated[bool, typer.Option("--daily", help="Single days, instead of running totals.")] = False,
    last: Annotated[int | None, typer.Option(help="Only the last days.")] = None,
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the result to this .json file.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the series with its band: .png or .svg.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what was published: running totals, or days, with their errors and intervals. It spends nothing."""
    from bruit import _checks
    from bruit.releases import ContinualSeries

    _checks.probability(**{"--level": level})
    _options.check_figure(figure)
    if output is not None:
        _options.check_file(output, "--output", (".json",))
        if output.resolve() == series.resolve():
            raise ParameterError("--output must be another file than the series.")
    kept = ContinualSeries.open(series)
    if not kept.days:
        raise ParameterError("This series has no day yet: bruit continual add brings the first.")
    result = kept.daily(last=last) if daily else kept.totals(last=last)
    if output is not None:
        result.save(output, level=level, force=True)
    if figure is not None:
        from bruit.figures import plot_continual

        _options.save_figure(plot_continual(result, level=level).figure, figure)
    console.print_json(result.to_json(level)) if as_json else console.show(result.table(level), rows=0)


def _rows(file: str, text: dict[str, Any]) -> int:
    """How many rows a file has."""
    from bruit import engines
    from bruit.engines import batch

    return int(engines.fold(_options.read(file, text), batch.rows))


def _warn_of_people(source: Any) -> None:
    """Say so if people seem to have several events, and the series does not say how many."""
    from bruit.releases.person import repeated_identifier

    name = repeated_identifier(source)
    if name is not None:
        console.warn(
            f"column {name!r} looks like an identifier, and occurs several times: this series protects an event, and "
            "not a person with all their events. For that, begin a series with bruit continual start … --rows 10, the "
            "most events that a person has in all days together."
        )
