"""`bruit survey handouts`: slips and a poster to print, for a survey by codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.errors import ParameterError


def handouts(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    page: Annotated[Path, typer.Option(help="Its page with codes, as it is passed on.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="A folder for the prints; print! replaces those in it."),
    ],
    address: Annotated[
        str | None,
        typer.Option(
            help="The link to the page, as in https://…; the name of its file by default.", show_default=False
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(help="How many slips; the expected people and some spare ones by default.", show_default=False),
    ] = None,
) -> None:
    """Write slips with boxes for codes, and a poster with the link, its QR code and the hash of the page."""
    from bruit.survey import Survey
    from bruit.survey.handouts import Handouts

    output, replaces = _options.replaced(output)
    if output.exists() and not output.is_dir():
        raise ParameterError(f"--output must name a folder, and {output} is a file.")
    _options.check_free(output, "", replaces=replaces)
    if address is not None and not address.startswith("https://"):
        raise ParameterError("--address must begin with https://, as in https://school.example/class.html.")
    survey = Survey.load(path)
    prints = Handouts(survey, page.read_bytes(), address or page.name)
    pages = {f"slips.{code}.html": prints.slips(code, number) for code in survey.languages}
    pages |= {f"poster.{code}.html": prints.poster(code) for code in survey.languages}
    output.mkdir(exist_ok=True)
    for name, content in pages.items():
        documents.write_text(output / name, content.decode())
    console.say(f"{output} has {', '.join(pages)}. Open them in a browser to print them.")
