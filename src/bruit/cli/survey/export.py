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
    """Write results as CSV, Parquet, JSON and pictures (SVG), and the plan with its tally, as of the last step.

    From plan and tally, bruit estimate gives the same estimates. A question with too few reports is in none of these
    files, and its tally says so. Of an open question the reports are written, in place of plan and tally.
    """
    from bruit.collector.export import export as write
    from bruit.collector.results import results

    keeper = _store.opened(store)
    try:
        shown = results(keeper, _store.open_survey(keeper, name))
        files = write(shown, to, replace=replace)
    finally:
        keeper.disconnect()
    console.note(f"{to} has {', '.join(files)}.")
    if shown.survey.open_question is not None:
        console.say(shlex.join(["bruit", "estimate", str(to / "reports.csv")]), "dim", whole=True)
        return
    if list(shown.rounds) != list(range(1, len(shown.rounds) + 1)):
        return  # files of rounds do not say which they are, and a round with few answers is missing
    hidden = {question.name for known in shown.rounds.values() for question in known if question.hidden}
    names = [name for name in shown.survey.plan.schema if name not in hidden]
    if not names:
        return
    tallies = [str(to / f"tally-round-{number}.json") for number in shown.rounds]
    sources = ["--over-rounds", *tallies] if shown.survey.has_rounds else [str(to / "tally.json")]
    only = [word for name in names for word in ("--attribute", name)] if hidden else []
    console.say(shlex.join(["bruit", "estimate", *sources, "--plan", str(to / "plan.json"), *only]), "dim", whole=True)
