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
        shown = results(keeper, _store.desk(keeper, name))
        names = write(shown, to, replace=replace)
    finally:
        keeper.disconnect()
    console.note(f"{to} has {', '.join(names)}.")
    if list(shown.rounds) != list(range(1, len(shown.rounds) + 1)):
        return  # files of rounds do not say which they are, and a round with few answers is missing
    tallies = [str(to / f"tally-round-{number}.json") for number in shown.rounds]
    files = ["--over-rounds", *tallies] if shown.survey.has_rounds else [str(to / "tally.json")]
    console.say(shlex.join(["bruit", "estimate", *files, "--plan", str(to / "plan.json")]), "dim", whole=True)
