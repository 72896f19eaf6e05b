"""`bruit ledger show`: what was spent on what, and what remains."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import console
from bruit.errors import FormatError

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
    console.print_json(_document(ledger)) if as_json else _tell(ledger)


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
        "entries": ledger.report(),
    }


def _tell(ledger: Ledger) -> None:
    screen = console.out()
    entries = ledger.entries
    deltas, parts = any(entry.guarantee.delta for entry in entries), any(entry.group for entry in entries)
    heads = ["release", *(["part"] if parts else [])]
    made = console.table(*heads, "booked (UTC)", "ε", *(["δ"] if deltas else []), texts=len(heads))
    for entry in entries:
        made.add_row(*_cells(entry, parts=parts, deltas=deltas))
    if entries:
        screen.print(made)
    else:
        screen.print("Nothing was released.")
    spent, left = ledger.spent, ledger.remaining
    screen.print(f"spent: ε = {spent.epsilon!r} of {ledger.epsilon!r}, {left.epsilon!r} remain")
    if ledger.delta:
        screen.print(f"spent: δ = {spent.delta!r} of {ledger.delta!r}, {left.delta!r} remain")
    if parts:
        counts = "the two worst parts count" if ledger.neighbours == "replace" else "the worst part counts"
        screen.print(f"Of releases on disjoint parts, {counts}.", style="dim")
    screen.print(f"neighbours: {ledger.neighbours}", style="dim")


def _cells(entry: Entry, *, parts: bool, deltas: bool) -> list[str]:
    when = (entry.time or "").replace("T", " ")[:16]
    cells = [console.shown(entry.group or entry.label), *([console.shown(entry.part or "")] if parts else []), when]
    return [*cells, f"{entry.guarantee.epsilon:.6g}", *([f"{entry.guarantee.delta:.3g}"] if deltas else [])]
