"""`bruit survey export`: results as files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from bruit.cli import console
from bruit.cli.survey import _store


def export(
    name: _store.Name,
    to: Annotated[Path, typer.Option(help="A folder, which is made.")],
    store: _store.Address = _store.DEFAULT,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files that are there.")] = False,
) -> None:
    """Write results as CSV, Parquet and JSON, and the plan with its tally, as of the last step.

    From plan and tally, bruit estimate gives the same estimates.
    """
    from bruit.collector.export import export as write
    from bruit.collector.results import results

    keeper = _store.opened(store)
    try:
        names = write(results(keeper, _store.desk(keeper, name)), to, replace=replace)
    finally:
        keeper.disconnect()
    console.note(f"{to} has {', '.join(names)}.")
    tally = next(file for file in names if file.startswith("tally"))
    console.say(shlex.join(["bruit", "estimate", str(to / tally), "--plan", str(to / "plan.json")]), "dim", whole=True)
