"""`bruit limits`: how many rows or groups of a person should count, from a private profile of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import _engine, _kept, _options, console
from bruit.cli.ledger import open_ledger
from bruit.cli.release import _check_idle, _remark
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.releases import LimitsChoice

#: How many bounds are shown, around the best.
_SHOWN = 9


def limits(
    file: Annotated[str, typer.Argument(help="The table: a CSV or Parquet file, or a folder of Parquet files.")],
    person: Annotated[str, typer.Option(metavar="COLUMN", help="The column that says whose row it is.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The ε of the count that is planned.")],
    spend: Annotated[float, typer.Option(help="The ε that the profile of people spends, besides.")] = 0.1,
    delta: Annotated[float, typer.Option(help="The δ of the count: Gaussian noise if it is not 0.")] = 0.0,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION", help="The declared groups of the count: zone=a,b or zone=@FILE."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(help="The largest bound that is considered: all groups, or 1,000 rows, unless said.")
    ] = None,
    missing: Annotated[
        str, typer.Option(metavar="POLICY", help="A row without a person: refuse, or drop it.")
    ] = "refuse",
    neighbours: Annotated[
        str, typer.Option(help="add-remove, or replace if the number of people is public.")
    ] = "add-remove",
    csv: _engine.Csv = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger in which the profile is booked.")] = None,
    budget: _options.Budget = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: anyone who has the seed can remove the noise."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table to this .json file.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Pay for a new profile, though the ledger has this one already.")
    ] = False,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how many rows, or with --by how many groups, of a person should count, and the error to expect of each.

    Few rows lose what people have beyond them, many need more noise. How many rows people have is read with noise: this
    spends ε (--spend), which is booked like a release, and the table is saved beside the ledger. The same command shows
    it again, and so does `bruit result`; --again pays for a new one. The last lines have the options for bruit release.
    """
    from bruit.domains import declare
    from bruit.releases import Count, LimitsGuide, Person

    text = _engine.options(csv)
    _engine.is_spark(engine)
    _options.check_whole(seed=seed)
    if output is not None:
        _options.check_file(output, "--output", (".json",))
        if output.exists():
            raise ParameterError(f"{output} exists, and what it holds may have been paid for: write to another name.")
    groups = declare.questions(by or [])
    unread = next((name for name, domain in groups.items() if domain is None), None)
    if unread is not None:
        raise ParameterError(f"The groups must be declared, as in --by {unread}=a,b or --by {unread}=@FILE.")
    _checks.positive(**{"--spend": spend})
    count = Count(epsilon=epsilon, delta=delta, neighbours=neighbours)  # type: ignore[arg-type]
    policy: Any = _checks.one_of(("refuse", "drop"), **{"--missing": missing})
    guide = LimitsGuide(count, Person(person, rows=1, missing=policy), groups or None, spend, most)
    _check_idle(ledger, None, again=again, is_used=False)
    started = _options.budget(budget, ledger)
    books = None if ledger is None else open_ledger(ledger, guide.guarantee.neighbours, **started)
    once = _kept.keeping(guide, books, file)
    kept = None if once is None or again else once.find()
    raw: Any = None
    if kept is None:
        if once is not None:  # before a large file is read; the ledger has the last word
            once.check(again=again)
        with _engine.opened(engine, csv) as reads, console.progress("profile", reads.unit) as report:
            raw = guide.fold(_options.read(reads.table(file), text, report), seed)

    def draw() -> Any:
        return guide.publish(raw, None, seed) if once is None else kept or once.publish(raw, seed, again=again)

    def show_whole(choice: LimitsChoice) -> None:
        console.print_json(choice.to_json()) if as_json else tell_choice(choice, 0)

    shown = _kept.drawn_once(once, draw, output, lambda choice: choice.to_json().encode() + b"\n", show_whole)
    _remark(books, seed)
    if as_json:
        show_whole(shown.result)
    else:
        tell_choice(shown.result, _SHOWN, shown.remarks, shown.again)
    for path in shown.files:
        console.note(f"result: {_kept.near(path)}")


def tell_choice(choice: LimitsChoice, rows: int, remarks: Sequence[str] = (), again: str = "") -> None:
    """Show the bounds around the best, or all if `rows` is 0, and the options that take the best."""
    table = choice.table(rows or len(choice.errors))
    hint = "the next command shows all, and spends nothing" if again else "all: --json"
    console.show(replace(table, notes=[*table.notes, *remarks]), rows=rows, hint=hint)
    if again and rows < len(choice.errors):
        console.say(f"  {again}", "dim", whole=True)
    if not choice.seen:
        return
    person = choice.person
    if person.groups is None:
        console.say(f"Take --person {shlex.quote(f'{person.column}:rows={person.rows}')}", whole=True)
        return
    limits = f"{person.column}:groups={person.groups},rows_per_group=1"
    console.say(f"Take --person {shlex.quote(limits)}", whole=True)
    console.say(
        "With rows_per_group=1 it is people that are counted in each group. To count rows, raise it; the noise grows "
        "in proportion."
    )
