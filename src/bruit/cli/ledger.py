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
    from bruit.privacy import Ledger


def show(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what was spent on what, and what remains.

    The whole file is checked: one that was changed or damaged is refused.
    """
    table = open_ledger(file).table()
    console.print_json(table.to_json()) if as_json else console.show(table)


def open_ledger(path: Path, budget: float | None = None, neighbours: Any = None) -> Ledger:
    """The ledger at a path, started there if there is none and a budget is given."""
    from bruit.privacy import Ledger

    if budget is None and not os.path.lexists(path):
        raise FormatError(f"There is no ledger {path}: bruit release starts one with --budget.")
    if budget is not None:
        _checks.positive(**{"--budget": budget})
    return Ledger.open(path, epsilon=budget, neighbours=neighbours)
