"""`bruit release`: publish a statistic of a file with noise, book what it costs, and keep the result.

A result is paid for. It is saved before it is shown, in the folder of results beside the ledger, where `bruit result`
finds it again; so nothing here needs to be run twice.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import _engine, _kept, _options, console, release_options
from bruit.cli.ledger import open_ledger
from bruit.errors import BruitError, BudgetError, DataError, LedgerError, MissingError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.privacy import Ledger
    from bruit.releases import Release, Results

#: How many rows are shown of a result that is saved.
SHOWN_ROWS = 20


def release(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet file, a folder of Parquet files, or - for CSV on standard input.")
    ],
    count: Annotated[bool, typer.Option("--count", help="How many records there are.")] = False,
    histogram: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="How many have each value: sex=F,M, age=17..90, income=0..100/10 (bins), town=@FILE.",
        ),
    ] = None,
    total: Annotated[
        list[str] | None, typer.Option("--sum", metavar="QUESTION", help="The sum of a number, as in age=0..120.")
    ] = None,
    mean: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION", help="The mean: age=0..120; numbers outside count as the nearest bound."),
    ] = None,
    median: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION", help="The median: income=0..1000, age=0..120:1 for whole numbers, or dates."),
    ] = None,
    quantiles: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help='The quartiles: income=0..1000. Others: --statistic "quantiles: income=0..1000 at=0.1,0.9".',
        ),
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help='Any statistic, as "KIND: QUESTION [& QUESTION] [option=value]". Kinds: the ones above, "variance: '
            'age=0..120", "tables: sex=F,M & smokes=no,yes", "bounds: income". Options: at=0.1:0.9:0.1 and '
            "method=joint (quantiles, median), weighted_by=stands_for=0..5 (count, sum, mean), tables=sex,smokes;sex; "
            "within=50 takes the least ε for a 95 % interval of ± 50.",
        ),
    ] = None,
    ask: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read what to publish from a JSON file, in place of these options."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            "-e",
            help="The most that all results may tell about a record, or a person; in equal shares, after within=.",
        ),
    ] = None,
    delta: Annotated[
        float,
        typer.Option(help="0, or a small number such as 1e-6: Gaussian noise, and groups that are not declared."),
    ] = 0.0,
    neighbours: Annotated[
        str, typer.Option(help="add-remove, or replace if the number of records is public.")
    ] = "add-remove",
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN:LIMITS",
            help="Where people have several rows: the column that says whose row it is, and how many rows count at "
            "most, as in user_id:rows=10. By groups: user_id:groups=3,rows_per_group=1.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="One result for each declared group: sex=F,M; zone=a,b,... has one for all others, too. zone=? with "
            "--count and --delta names the groups of many and counts the people, or rows, of each.",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[COLUMN=]POLICY",
            help="A missing value: refuse (default), drop, or category (a value of its own, for histograms "
            "and tables). Of a column alone: age=drop, a group sex=category, a person user_id=drop.",
        ),
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[COLUMN=]POLICY",
            help="A value outside what is declared: clamp (default of numbers and dates), refuse (default of "
            "labels), or other (a value of its own: labels, dates and ranges of a histogram).",
        ),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger in which the release is booked.")] = None,
    budget: _options.Budget = None,
    label: Annotated[str | None, typer.Option(help="What the ledger writes down; public.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Pay for new noise, though the ledger has a result of this release.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the split and the expected errors; read no data, spend nothing."),
    ] = False,
    n: Annotated[
        int | None, typer.Option("-n", help="How many rows are expected, for errors and widths of means.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the result to this file, too: .json, .csv, .parquet or .xlsx. An ! at the end, as in x.csv!, "
            "replaces one that exists.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    csv: _engine.Csv = None,
    engine: _engine.Name = "local",
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: anyone who has the seed can remove the noise."),
    ] = None,
) -> None:
    """Publish statistics of a file with noise: counts, histograms, tables, sums, means, variances and quantiles.

    Options for statistics may be repeated: the file is read once, and all are booked together in the ledger before any
    noise is drawn, or refused if the budget does not allow it; then nothing is spent and nothing is written. The
    results are saved beside the ledger, and `bruit result` shows them again without spending, all rows and at another
    level. Bounds, categories and groups are declared, never read from the data: sex=F,M, age=0..120,
    when=2023-01-01..2023-12-31/month, town=@FILE. A release that the ledger has already, of the same file, is shown as
    it was; --again pays for new noise.
    """
    from bruit.releases.kept import document

    text = _engine.options(csv)
    _engine.is_spark(engine)
    _options.check_whole(seed=seed)
    common = {"histogram": histogram, "sum": total, "mean": mean, "median": median, "quantiles": quantiles}
    statistics = release_options.statistics(common, statistic, count=count)
    said = {"--missing": missing, "--outside": outside}
    whole: Release
    if ask is None:
        whole = release_options.release(
            [item.with_rows(n) for item in statistics],
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            by=by or [],
            person=person,
            said=said,
        )
    else:
        options = {"--epsilon": epsilon is not None, "--by": by, "--person": person, "the statistics": statistics}
        whole = release_options.from_file(ask, {**options, **said})
    _check_idle(ledger, n, again=again, is_used=dry_run or any(item.has_width for item in statistics))
    started = _options.budget(budget, ledger)
    if dry_run:
        _foresee(whole, file, ledger, started, n, again=again, as_json=as_json)
        return
    output = _checked_output(output, file, ledger)
    books = None if ledger is None else open_ledger(ledger, whole.guarantee.neighbours, **started)
    once = _kept.keeping(whole, books, file, label)
    kept = None if once is None or again else once.find()
    raw: Any = None
    if kept is None:
        if once is not None:  # before a large file is read; the ledger has the last word
            once.check(again=again)
            if not _engine.is_spark(engine):
                once.watch(_options.read(file, text).text)
        with (
            translated(MissingError, lambda error: _gaps(error, whole)),
            _engine.opened(engine, csv) as reads,
            console.progress("release", reads.unit) as report,
        ):
            source = _options.read(reads.table(file), text, report)
            if whole.person is None:
                _warn_of_people(_options.read(reads.table(file), text, None))
            raw = whole.fold(source, seed)

    def draw() -> Any:
        if once is None:
            return whole.publish(raw, None, seed, label=label)
        return kept or once.publish(raw, seed, again=again)

    def show_whole(results: Results) -> None:
        console.print_json(document(results)) if as_json else _kept.tell(results, 0)

    shown = _kept.drawn_once(once, draw, output, lambda results: _kept.file_bytes(results, output), show_whole)
    _remark(books, seed)
    if as_json:
        console.print_json(document(shown.result))
    else:
        _kept.tell(shown.result, SHOWN_ROWS if shown.files else 0, again=shown.again, remarks=shown.remarks)
    for path in shown.files:
        console.note(f"result: {_kept.near(path)}")


def _foresee(
    whole: Release,
    file: str,
    ledger: Path | None,
    budget: dict[str, Any],
    rows: int | None,
    *,
    again: bool,
    as_json: bool,
) -> None:
    """What would be published, how exactly, and what would be left of the budget; from what is declared alone.

    What the ledger would refuse ends as the release itself would.
    """
    groups = max(1, len(getattr(whole, "groups", ())))
    table = whole.prospects(None if rows is None else max(1, rows // groups))
    refusal: BruitError | None = None
    if ledger is not None:
        from bruit.privacy import Ledger

        started = ledger.exists() or not budget
        books = open_ledger(ledger) if started else Ledger(neighbours=whole.guarantee.neighbours, **budget)
        once = _kept.keeping(whole, books, file) if started else None
        known = _kept.foreseen(once, again=again) if once is not None else ""
        try:
            if not known:
                books.check(whole.lines())
            table = replace(table, notes=[*table.notes, known or books.foresee(whole.lines())])
        except (BudgetError, LedgerError) as error:
            refusal = error
    if as_json:
        console.print_json(table.to_json())
    else:
        console.show(table)
    if refusal is not None:
        raise refusal


def _check_idle(ledger: Path | None, rows: int | None, *, again: bool, is_used: bool) -> None:
    """An option that would do nothing is a misunderstanding."""
    if again and ledger is None:
        raise ParameterError("--again is about a result that a ledger has: give --ledger, too, or leave it out.")
    if rows is not None:
        _checks.integer(low=1, **{"-n": rows})
        if not is_used:
            raise ParameterError("-n is for --dry-run and for within=: leave it out, the rows of the file count.")


def _warn_of_people(source: Any) -> None:
    """Say so if a file looks as if people had several rows, and no person is named."""
    from bruit.releases.person import repeated_identifier

    name = repeated_identifier(source)
    if name is not None:
        console.warn(
            f"column {name!r} looks like an identifier, and occurs several times: this protects a row, and not a "
            f"person with all their rows. For that, add --person {shlex.quote(name + ':rows=10')}. "
            f"{release_options.HOW_MANY}"
        )


def _gaps(error: Exception, release: Release) -> DataError:
    """A gap that is not provided for, with the option that helps."""
    column = re.match(r"Column '(.*?)': ", str(error))
    name = column[1] if column else ""
    if name in (release.by or ()):
        own = shlex.quote(f"{name}=category")
        rule = f"some records have no value, and so belong to none of the groups. Add --missing {own} to make them one."
    elif release.person is not None and name == release.person.column:
        rule = f"some rows have no person. Add --missing {shlex.quote(f'{name}=drop')} to leave these rows out."
    elif any(name in item.columns and item.kind == "tables" for item in getattr(release, "statistics", {}).values()):
        rule = "some records have no value. Add --missing category to count them as a value of their own."
    else:
        rule = "some records have no value. Add --missing drop to leave these records out."
    return DataError(f"Column {name!r}: {rule}")


def _checked_output(output: Path | None, source: str, ledger: Path | None) -> Path | None:
    """The file for the result, which takes the place of nothing that is needed."""
    path, replaces = _options.destination(output)
    if path is None:
        return None
    _kept.check_result_file(path)
    for other, what in ((Path(source), "data"), (ledger, "ledger")):
        if other is not None and path.resolve() == other.resolve():
            raise ParameterError(f"--output must be another file than the {what}.")
    _options.check_free(path, ", and what it holds was paid for", replaces=replaces)
    return path


def _remark(books: Ledger | None, seed: int | None) -> None:
    if books is None:
        console.note(
            "nothing is booked: to keep account of what is spent on these people, add --ledger my.ledger --budget 2."
        )
    if seed is not None:
        console.warn("this result is repeatable by its seed. It is for study, and not private.")
