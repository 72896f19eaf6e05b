"""`bruit survey check`: what a survey promises and can find out, before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit.cli import console


def check(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say what a survey promises, what the expected people will tell, and what would be unwise.

    Shown for each question: how many people of 100 send their own answer, and a given other one; how well the result
    will be known (half of the 95 % interval, in percent of all that is possible); and as how many people one forged
    report can count.
    """
    from bruit.survey import Survey

    table = Survey.load(path).check().table()
    console.print_json(table.to_json()) if as_json else console.show(table)
