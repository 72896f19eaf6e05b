"""`bruit ledger show`: what was spent on what, what remains, and where the results are."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import console
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.privacy import Entry, Ledger


def show(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what was spent on what, and what remains.

    The whole file is checked: one that was changed or damaged is refused.
    """
    ledger = open_ledger(file)
    console.print_json(_document(ledger)) if as_json else _tell(ledger, file)


def result_file(ledger: Ledger, number: int) -> Path:
    """The file in which the result of an entry is kept, which must be there."""
    entries = ledger.entries
    if number >= len(entries):
        raise ParameterError(f"This ledger has no entry {number}: bruit ledger show lists its {len(entries)}.")
    entry = entries[number]
    if _state(ledger, entry) == "lost":
        raise FormatError(
            f"Entry {number} is booked, and its result {entry.result} is not in {ledger.results}: the program was "
            "stopped before it was saved, or the file was moved."
        )
    if entry.result is None or ledger.results is None:
        raise ParameterError(f"Entry {number} was booked without a file for its result: whoever asked has it.")
    return ledger.results / entry.result


def _state(ledger: Ledger, entry: Entry) -> str:
    """The number by which a result is shown again, or what became of it."""
    if entry.result is None or ledger.results is None:
        return ""
    return str(entry.index) if (ledger.results / entry.result).exists() else "lost"


def open_ledger(path: Path, budget: float | None = None, neighbours: Any = None) -> Ledger:
    """The ledger at a path, started there if there is none and a budget is given."""
    from bruit.privacy import Ledger

    if budget is None and not os.path.lexists(path):
        raise FormatError(f"There is no ledger {path}: bruit release starts one with --budget.")
    if budget is not None:
        _checks.positive(**{"--budget": budget})
    return Ledger.open(path, epsilon=budget, neighbours=neighbours)


def _document(ledger: Ledger) -> dict[str, Any]:
    return {
        "budget": {"epsilon": ledger.epsilon, "delta": ledger.delta, "neighbours": ledger.neighbours},
        "spent": ledger.spent.to_dict(),
        "remaining": ledger.remaining._asdict(),
        "results": None if ledger.results is None else str(ledger.results),
        "entries": [{**entry.row(), "lost": _state(ledger, entry) == "lost"} for entry in ledger.entries],
    }


def _tell(ledger: Ledger, file: Path) -> None:
    screen = console.out()
    entries = ledger.entries
    deltas, parts = any(entry.guarantee.delta for entry in entries), any(entry.group for entry in entries)
    heads = ["release", *(["part"] if parts else [])]
    states = [_state(ledger, entry) for entry in entries]
    kept = ["result"] if any(states) else []
    made = console.table(*heads, "booked (UTC)", "ε", *(["δ"] if deltas else []), *kept, texts=len(heads))
    for entry, state in zip(entries, states, strict=True):
        made.add_row(*_cells(entry, parts=parts, deltas=deltas), *([state] if kept else []))
    if entries:
        screen.print(made)
    else:
        screen.print("Nothing was released.")
    spent, left = ledger.spent, ledger.remaining
    screen.print(f"spent: ε = {spent.epsilon!r} of {ledger.epsilon!r}, {left.epsilon!r} remain")
    if ledger.delta:
        screen.print(f"spent: δ = {spent.delta!r} of {ledger.delta!r}, {left.delta!r} remain")
    if parts:
        screen.print("Of releases on disjoint parts, the worst part counts.", style="dim")
    if kept:
        command = shlex.join(["bruit", "result", str(file), next(filter(str.isdigit, states), "NUMBER")])
        screen.print("A result is shown again by its number, and nothing is spent:", style="dim")
        screen.print(f"  {command}", style="dim", soft_wrap=True)
    if "lost" in states:
        why = "the program was stopped before it was saved, or the file was moved"
        screen.print(f"lost: booked, and its file is not there; {why}.", style="dim")
    screen.print(f"neighbours: {ledger.neighbours}", style="dim")


def _cells(entry: Entry, *, parts: bool, deltas: bool) -> list[str]:
    when = (entry.time or "").replace("T", " ")[:16]
    cells = [console.shown(entry.group or entry.label), *([console.shown(entry.part or "")] if parts else []), when]
    return [*cells, f"{entry.guarantee.epsilon:.6g}", *([f"{entry.guarantee.delta:.3g}"] if deltas else [])]
