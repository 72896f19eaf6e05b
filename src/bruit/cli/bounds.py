"""`bruit bounds`: how many rows or groups of a person should count, from a private profile of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import _checks, documents
from bruit.cli import _engine, _options, console
from bruit.cli.ledger import open_ledger
from bruit.errors import ParameterError

#: How many bounds are shown, around the best.
_SHOWN = 9


def bounds(
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
    nobody: Annotated[str, typer.Option(metavar="POLICY", help="Rows of nobody: refuse, or drop them.")] = "refuse",
    neighbours: Annotated[
        str, typer.Option(help="add-remove, or replace if the number of people is public.")
    ] = "add-remove",
    csv: _engine.Csv = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger in which the profile is booked.")] = None,
    budget: Annotated[float | None, typer.Option(help="Start the ledger with this ε if there is none.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: whoever knows the number can undo the noise."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table to this .json file.")] = None,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how many rows, or with --by how many groups, of a person should count, and the error to expect of each.

    Few rows lose what people have beyond them, many need more noise. How many rows people have is read with noise: this
    spends ε (--spend), which is booked like a release. The last line has the options for bruit release.
    """
    from bruit.domains import declare
    from bruit.releases import BoundsGuide, Count

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
    guide = BoundsGuide(count, person, groups or None, spend, most, nobody)
    if ledger is None and budget is not None:
        raise ParameterError("--budget needs --ledger, the file in which it is kept.")
    started = {} if budget is None else {"epsilon": budget}
    books = None if ledger is None else open_ledger(ledger, guide.guarantee.neighbours, **started)
    with _engine.opened(engine, csv) as reads, console.progress("profile", reads.unit) as report:
        raw = guide.fold(_options.read(reads.table(file), text, report), seed)
    choice = guide.publish(raw, books, seed)
    if books is None:
        console.note("nothing is booked: name a file with --ledger to keep account of what is spent on these people.")
    if seed is not None:
        console.warn("this result is repeatable by its seed. It is for study, and not private.")
    if output is not None:
        with documents.replacing(output) as partial:
            partial.write_text(choice.table().to_json() + "\n", encoding="utf-8", newline="\n")
    if as_json:
        console.print_json(choice.table().to_json())
        return
    console.show(choice.table(_SHOWN), rows=_SHOWN, hint="all: --json")
    if choice.seen:
        best = f"--groups {choice.best.bound} --rows-per-group 1" if groups else f"--rows {choice.best.bound}"
        console.say(f"Take --person {person} {best}", whole=True)
