"""`bruit survey new`: a file to begin with."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.errors import ParameterError


def new(
    path: Annotated[Path, typer.Argument(metavar="survey.toml", help="The file to write.", show_default=False)],
    full: Annotated[bool, typer.Option("--full", help="Show every kind of question and every setting.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists already.")] = False,
) -> None:
    """Write a survey to begin with: a dozen lines, or one that shows every setting."""
    _options.check_file(path, "The survey", (".toml",))
    if path.exists() and not force:
        raise ParameterError(f"{path} exists: write to another name, or replace it with --force.")
    name = "full.toml" if full else "short.toml"
    documents.write_text(path, resources.files("bruit.survey").joinpath("examples", name).read_text(encoding="utf-8"))
    console.say(f"survey: {path}", whole=True)
    console.say(f"next: bruit survey check {path}", style="dim", whole=True)
