"""Commands of installed packages, the studies among them; each package is imported when its command is run.

A package declares a command as an entry point of the group ``bruit.commands``, under the name of the command. It is a
function, which becomes a command, or a Typer app, which becomes a group of commands. The commands of this library keep
their names whatever is installed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

import typer

from bruit.cli import console
from bruit.cli.console import Exit
from bruit.cli.exits import ended

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The group of entry points in which packages declare their commands.
GROUP = "bruit.commands"
#: The commands of the studies, which are a package of their own in the same wheel, as the list of commands has them.
STUDIES = {
    "tour": "Take a first survey on real data, with no network.",
    "study": "Run the experiments of the literature, and judge its claims.",
}
_MISSING = "The studies are not installed with this bruit: reinstall with pip install ."


def elsewhere() -> None:
    """Holds the place of a command in the list of commands; `loaded` gives the command itself."""


@cache
def points() -> dict[str, EntryPoint]:
    """The entry points of commands by name; of two with the same name, that of bruit's own wheel."""
    from importlib import metadata

    declared = metadata.entry_points(group=GROUP)
    return {point.name: point for point in sorted(declared, key=_is_own)}


def _is_own(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == "bruit"


def listed(name: str) -> Any:
    """A command as the list of commands needs it; None where no package declares it. Nothing is imported for it."""
    point = points().get(name)
    if point is None:
        return None
    package = point.dist.name if point.dist is not None else point.module
    return _command(name, elsewhere, f"From the package {package}.")


def loaded(name: str) -> Any:
    """The command itself; where the studies are missing, the program ends with a message that says so."""
    try:
        work = load(name)
    except LookupError:
        console.err().print(f"bruit: {_MISSING}", style="red", soft_wrap=True)
        work = None
    if work is None:
        raise typer.Exit(Exit.EXTRA)
    return _command(name, work)


def load(name: str) -> Any:
    """The function or the Typer app that an entry point names; a LookupError where the studies are missing."""
    point = points().get(name)
    if point is None:
        raise LookupError(name)
    try:
        return point.load()
    except ModuleNotFoundError as error:
        if name not in STUDIES or error.name != point.module.partition(".")[0]:
            raise
    raise LookupError(name)


def _command(name: str, work: Any, short_help: str | None = None) -> Any:
    """A function or a Typer app as a command of a group."""
    host = typer.Typer(add_completion=False, rich_markup_mode=None)
    host.callback()(elsewhere)  # with a callback of its own it is a group, and not its only command
    from bruit.cli import usage

    if isinstance(work, typer.Typer):
        host.add_typer(work, name=name, short_help=short_help)
    else:
        host.command(name, short_help=short_help)(ended(work))
    return cast(Any, typer.main.get_command(usage.in_panels(host))).commands[name]
