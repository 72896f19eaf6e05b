"""`bruit ledger`: what was spent on what, what remains, and signed heads by which a rollback is seen."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import console
from bruit.errors import FormatError, ParameterError
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.privacy import Ledger


def new(
    file: Annotated[Path, typer.Argument(help="The ledger to start.")],
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The ε of the whole budget.")] = None,
    delta: Annotated[float | None, typer.Option(help="The δ of it; 0 by default.")] = None,
    rho: Annotated[
        float | None, typer.Option(help="A budget of ρ (zCDP) in place of an ε: Gaussian noise adds ρ.")
    ] = None,
    zcdp: Annotated[
        bool, typer.Option("--zcdp", help="Keep an ε and a δ in ρ, in which many releases cost less.")
    ] = False,
    neighbours: Annotated[
        str,
        typer.Option(
            help="Whom its releases protect: add-remove or replace (a record), person-add-remove or person-replace "
            "(a person with all rows), value, attribute or person (somebody who answers)."
        ),
    ] = "add-remove",
) -> None:
    """Start a ledger with a budget: an ε, with a δ, or a ρ.

    Releases that name it are booked in it, and refused once it has no more. `bruit release` can start one as well, with
    an ε and a δ.
    """
    from bruit.privacy import Ledger
    from bruit.privacy.guarantee import ADDED

    if os.path.lexists(file):
        raise ParameterError(f"{file} exists: bruit ledger show {shlex.quote(str(file))} shows it.")
    if not file.parent.is_dir():
        raise ParameterError(f"The folder {file.parent} does not exist.")
    whom = _checks.one_of(ADDED, **{"--neighbours": neighbours})
    for name, value in (("--epsilon", epsilon), ("--rho", rho)):
        if value is not None:
            _checks.positive(**{name: value})
    if delta is not None:
        _checks.fraction(**{"--delta": delta})
    if (epsilon is None) == (rho is None):
        raise ParameterError("A budget is an ε, or a ρ in its place: give --epsilon 1, or --rho 0.02.")
    if zcdp and (epsilon is None or not delta):
        raise ParameterError("--zcdp keeps an ε and a δ in ρ: give --epsilon 1 --delta 1e-6, or --rho alone.")
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho, "zcdp": zcdp or None}
    ledger = Ledger.open(file, neighbours=whom, **{name: value for name, value in budget.items() if value is not None})
    console.say(f"{file}: {ledger.promise}", whole=True)


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


def keys(file: Annotated[Path, typer.Argument(help="The private key to make; the public one gets .pub.")]) -> None:
    """Make a pair of keys to sign ledgers with.

    The private key is for the keeper of the ledger. Give the public one to those who check.
    """
    from bruit.privacy import create_keys

    private, public = create_keys(file)
    console.say(f"{private}: the private key. Keep it from others; it is not encrypted.")
    console.say(f"{public}: the public key. Give it to those who check.")


def sign(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    key: Annotated[Path, typer.Option("--key", help="The private key, as bruit ledger keys makes it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The head to write.")],
) -> None:
    """Sign how far a ledger is: a head, by which a rollback is seen later.

    Keep the head out of reach of the ledger's writers: with the ethics board, in a mailbox, on another machine.
    """
    if os.path.lexists(output):
        raise ParameterError(f"{output} exists, and an earlier head is worth keeping: write to another name (-o).")
    signed = open_ledger(file).head.sign(key)
    signed.save(output)
    console.say(f"{output}: {counted(signed.head.entries, 'entry')} of {file.name}, signed. Keep it elsewhere.")


def check(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    head: Annotated[Path, typer.Argument(help="A head that was signed and kept elsewhere.")],
    key: Annotated[Path, typer.Option("--key", help="The public key of the trusted signer.")],
) -> None:
    """Check that a ledger still has all that it had when a head was signed.

    A file that was rolled back, rewritten or used in two copies is refused.
    """
    from bruit.privacy import SignedHead

    signed = SignedHead.load(head)
    since = signed.check(open_ledger(file), key)
    console.say(
        f"All {counted(signed.head.entries, 'entry')} of {signed.time} are there, unchanged, and "
        f"{counted(since, 'entry')} more."
    )


def result_file(ledger: Ledger, number: int) -> Path:
    """The file in which the result of an entry is kept, which must be there."""
    entries = ledger.entries
    if number >= len(entries):
        raise ParameterError(f"This ledger has no entry {number}: bruit ledger show lists its {len(entries)}.")
    entry = entries[number]
    if entry.result is None or ledger.results is None:
        raise ParameterError(f"Entry {number} was booked without a file for its result: only its caller has it.")
    if not ledger.is_kept(entry):
        raise FormatError(
            f"Entry {number} is booked, and its result {entry.result} is not in {ledger.results}: the program was "
            "stopped before it was saved, and the same command draws it; or the file was moved."
        )
    return ledger.results / entry.result


def open_ledger(path: Path, neighbours: Any = None, **budget: Any) -> Ledger:
    """The ledger at a path, started there if there is none and a budget is given."""
    from bruit.privacy import Ledger

    if not budget and not os.path.lexists(path):
        raise FormatError(
            f"There is no ledger {path}: bruit ledger new starts one, and so does bruit release with --budget 2."
        )
    return Ledger.open(path, neighbours=neighbours, **budget)
