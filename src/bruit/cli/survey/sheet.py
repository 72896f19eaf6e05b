"""`bruit survey sheet`: what people and ethics boards read before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import _options, console


def sheet(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    language: Annotated[
        str | None,
        typer.Option(help="A language of the survey, en or fr; the first that it has by default.", show_default=False),
    ] = None,
    channel: Annotated[
        str | None,
        typer.Option(
            help="How answers come back: collector, codes or paper; as the file says by default.", show_default=False
        ),
    ] = None,
    links: Annotated[bool, typer.Option("--links", help="People come by single-use links.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where the sheet goes; beside the survey as survey.sheet.en.html by default."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a sheet that exists, as -o x.html! does.")] = False,
) -> None:
    """Write a sheet for those who are asked and for an ethics board, one HTML file to print.

    It says what is asked, who asks, what is sent in clear, where data go and how long they are kept, the odds, what
    anybody can learn at most, and why nothing can be taken back. Numbers and sentences are those of the page that
    people answer on. The contact and the dates of deletion are lines to fill in.
    """
    from bruit.survey import Survey
    from bruit.survey.sheet import spoken_language

    survey = Survey.load(path)
    spoken = spoken_language(survey, language)
    content = survey.sheet(spoken, channel=channel, links=links)
    named, replaces = _options.destination(output)
    target = named or path.with_suffix(f".sheet.{spoken}.html")
    _options.check_file(target, "--output", (".html",))
    _options.check_free(target, "", replaces=replaces or force)
    documents.write_text(target, content.decode())
    console.say(f"sheet: {target}", whole=True)
