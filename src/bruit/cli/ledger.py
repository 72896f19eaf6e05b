"""`bruit ledger show`: what was spent on what, what remains, and where the results are."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit.cli import console
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.privacy import Ledger


def show(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what was spent on what, and what remains.

    The whole file is checked: one that was changed or damaged is refused.
    """
    ledger = open_ledger(file)
    table = ledger.table()
    if as_json:
        console.print_json(table.to_json())
        return
    console.show(table)
    numbers = [entry.index for entry in ledger.entries if ledger.is_kept(entry)]
    if numbers:
        command = shlex.join(["bruit", "result", str(file), str(numbers[0])])
        console.say("A result is shown again by its number, and nothing is spent:", "dim")
        console.say(f"  {command}", "dim", whole=True)


def result_file(ledger: Ledger, number: int) -> Path:
    """The file in which the result of an entry is kept, which must be there."""
    entries = ledger.entries
    if number >= len(entries):
        raise ParameterError(f"This ledger has no entry {number}: bruit ledger show lists its {len(entries)}.")
    entry = entries[number]
    if entry.result is None or ledger.results is None:
        raise ParameterError(f"Entry {number} was booked without a file for its result: whoever asked has it.")
    if not ledger.is_kept(entry):
        raise FormatError(
            f"Entry {number} is booked, and its result {entry.result} is not in {ledger.results}: the program was "
            "stopped before it was saved, or the file was moved."
        )
    return ledger.results / entry.result


def open_ledger(path: Path, neighbours: Any = None, **budget: Any) -> Ledger:
    """The ledger at a path, started there if there is none and a budget is given."""
    from bruit.privacy import Ledger

    if not budget and not os.path.lexists(path):
        raise FormatError(f"There is no ledger {path}: bruit release starts one with --budget.")
    return Ledger.open(path, neighbours=neighbours, **budget)
