"""`bruit survey page`: the respondent's page as a file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.errors import ParameterError
from bruit.tables import counted


def page(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The survey.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes: a .html file.")],
    address: Annotated[
        str,
        typer.Option(help="Where reports are posted to: relative to the page, or https and a host that answers it."),
    ] = "report",
    links: Annotated[bool, typer.Option("--links", help="People come by single-use links.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a page that exists already.")] = False,
) -> None:
    """Write the page that people answer on, one HTML file, and say its hash and its policy."""
    from bruit.survey import Survey, security_policy

    _options.check_file(output, "--output", (".html",))
    if output.exists() and not force:
        raise ParameterError(f"{output} exists: write to another name, or replace it with --force.")
    content = Survey.read(path).page(address=address, links=links)
    documents.write_text(output, content.decode())
    console.say(f"page: {output}, {counted(len(content), 'byte')}", whole=True)
    console.say(f"sha256: {hashlib.sha256(content).hexdigest()}", whole=True)
    console.say(f"Content-Security-Policy: {security_policy(content)}", whole=True)
