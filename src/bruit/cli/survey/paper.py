"""`bruit survey paper`: the same survey with coins or dice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import console
from bruit.errors import ParameterError


def paper(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder for the sheet, the form and the plan.")],
    device: Annotated[
        str | None, typer.Option(help="coins, die-4, die-5, die or dice; by default the most exact that ε allows.")
    ] = None,
) -> None:
    """Write a sheet to print with coins or dice, a form to enter the sheets, and the plans that count them.

    Of several questions, up to six, each person draws one by a coin or die and answers that one.
    """
    from bruit.survey import Survey
    from bruit.survey.paper import Paper

    if output.exists():
        raise ParameterError(f"{output} exists: name a new folder.")
    survey = Survey.load(path)
    sheets = Paper(survey, device)
    pages = {f"sheet.{code}.html": sheets.sheet(code) for code in survey.languages}
    pages |= {f"entry.{code}.html": sheets.entry(code) for code in survey.languages}
    output.mkdir()
    for name, content in pages.items():
        documents.write_text(output / name, content.decode())
    several = len(sheets.parts) > 1
    console.say(f"paper: {output}", whole=True)
    for part in sheets.parts:
        name = part.question.name
        plan = output / (f"plan-{name}.json" if several else "plan.json")
        documents.write_text(plan, part.plan.to_json() + "\n")
        console.say(f"  {name}: {part.device.name}, odds {':'.join(map(str, part.device.odds))}", whole=True)
        console.say(f"  next: bruit estimate {name}.csv --plan {plan}", style="dim", whole=True)
    console.say(f"guarantee of a sheet: {sheets.guarantee}")
    if several:
        console.say(f"Each person answers one of {len(sheets.parts)} questions, drawn by chance.")
