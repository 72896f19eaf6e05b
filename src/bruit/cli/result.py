"""`bruit result`: show a result again, all of it, for nothing; or refine it, for more ε."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit import _checks, documents
from bruit.cli import _kept, _options, console
from bruit.cli.ledger import open_ledger, result_file
from bruit.cli.limits import tell_choice
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.releases import LimitsChoice, Results


def result(
    file: Annotated[Path, typer.Argument(help="A ledger, or the .json file of a result.")],
    entry: Annotated[
        int | None, typer.Argument(help="Which result of the ledger, by the number that bruit ledger show gives it.")
    ] = None,
    level: Annotated[
        float, typer.Option(help="How often the intervals cover the truth: 0.5, 0.8, 0.9, 0.95 or 0.99.")
    ] = 0.95,
    refine: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Pay for a second draw from the same file, and combine both: counts, histograms, sums, means, "
            "variances and tables. Needs --epsilon.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="What the second draw of --refine costs.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="The δ of the second draw; by default that of the first.")] = None,
    rows: Annotated[int, typer.Option("--show", help="How many rows to show; 0 for all.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write it to this file, and not to the screen: .json, .csv, .parquet or .xlsx. An ! at the end, as in "
            "x.csv!, replaces one that exists.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show a result again. It spends nothing, unless it is refined.

    Results of `bruit release` and `bruit limits` are saved beside their ledger, whole. With --refine, a second draw of
    the same statistic of the same file is booked, and both are combined.
    """
    from bruit.releases import LimitsChoice
    from bruit.releases.kept import document

    _options.check_whole(entry=entry, show=rows)
    _checks.probability(**{"--level": level})
    target, replaces = _options.destination(output)
    if target is not None:
        _kept.check_result_file(target)
        _options.check_free(target, "", replaces=replaces)
    if refine is not None:
        entry = _refined(file, entry, refine, epsilon, delta)
    elif epsilon is not None or delta is not None:
        raise ParameterError(
            "--epsilon and --delta are what a second draw costs: name its table, as in --refine TABLE."
        )
    path = file if entry is None else result_file(open_ledger(file), entry)
    saved = _load(path)
    if target is not None:
        _write(saved, target, level)
    elif isinstance(saved, LimitsChoice):
        console.print_json(saved.to_json()) if as_json else tell_choice(saved, rows)
    elif as_json:
        console.print_json(document(saved, level))
    else:
        again = shlex.join(["bruit", "result", str(file), *([] if entry is None else [str(entry)])])
        _kept.tell(saved, rows, level, again=again)


def _refined(file: Path, entry: int | None, table: Path, epsilon: float | None, delta: float | None) -> int:
    """The entry of the refined result, which is drawn now unless it is there."""
    from bruit.releases.refining import refine_once

    if entry is None:
        raise ParameterError("--refine needs a ledger, and which of its results: bruit result LEDGER 0 --refine TABLE.")
    if epsilon is None:
        raise ParameterError("Say what the second draw costs, as in --epsilon 0.5.")
    ledger = open_ledger(file)
    result_file(ledger, entry)
    kept = refine_once(ledger, entry, table, epsilon, delta=delta)
    if kept.is_new:
        console.note(f"refined: entry {kept.entry}, result: {_kept.near(kept.path)}")
    else:
        console.note(f"refined before, on {kept.date[:16].replace('T', ' ')} UTC: nothing was spent.")
    for amount in ledger.amounts[:1]:
        console.note(f"ledger: {amount}")
    return kept.entry


def _write(saved: Results | LimitsChoice, path: Path, level: float) -> None:
    """The result in a file, whole or not at all."""
    from bruit.releases import LimitsChoice

    if isinstance(saved, LimitsChoice):
        _options.check_file(path, "--output", (".json",))
        content = saved.to_json().encode() + b"\n"
    else:
        content = _kept.file_bytes(saved, path, level)
    with documents.replacing(path) as partial:
        partial.write_bytes(content)
    console.note(f"result: {_kept.near(path)}")


def _load(path: Path) -> Results | LimitsChoice:
    from bruit.privacy.ledger.storage import FORMAT
    from bruit.releases.kept import read_result

    text = path.read_bytes()
    if text.startswith(b'{"format": "%s"' % FORMAT.encode()):
        raise ParameterError(
            f"{path} is a ledger: say which of its results, by the number that bruit ledger show gives."
        )
    try:
        if b"bruit.publication/" in text[:100]:
            from bruit.publications import Published

            return Published.from_json(text).results
        return read_result(text)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
