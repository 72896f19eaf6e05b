"""The `bruit` command: its sub-commands, its version, and how errors end it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import bruit
from bruit.cli import audit, choose, data, estimate, people, privatize, tour
from bruit.cli.console import err, exit_code

app = typer.Typer(
    name="bruit",
    help="Ask sensitive questions, keep each answer private, and read estimates you can trust.",
    epilog="Start with: bruit tour",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bruit {bruit.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Ask sensitive questions, keep each answer private, and read estimates you can trust."""


app.command("tour")(tour.tour)
app.command("privatize")(privatize.privatize)
app.command("estimate")(estimate.estimate)
app.command("choose")(choose.choose)
app.command("people")(people.people)
app.command("audit")(audit.audit)
app.command("data")(data.data)


def main() -> None:
    """Run the command line; an expected error prints one message and ends with its documented exit code."""
    try:
        app()
    except (Exception, KeyboardInterrupt) as error:
        code = exit_code(error)
        if code is None:
            raise
        err().print(f"bruit: {_message(error)}", style="red", markup=False, soft_wrap=True)
        sys.exit(code)


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing half-written was left."
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error)
