"""`bruit survey delete`: forget a survey."""

from __future__ import annotations

from typing import Annotated

import typer

from bruit.cli import console
from bruit.cli.survey import _store
from bruit.errors import ParameterError


def delete(
    name: _store.Name,
    store: _store.Address = _store.DEFAULT,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: there is no way back.")] = False,
) -> None:
    """Delete a survey with its counters, hashes and links, and overwrite what they were.

    Backups that were made, and what a database server or a disk keeps of its own, are not reached.
    """
    keeper = _store.opened(store)
    try:
        _ = _store.stored(keeper, name)  # not opened: also a survey that nothing else reads can be deleted
        if not yes:
            raise ParameterError(f"This deletes {name!r} for good: say bruit survey delete {name} --yes.")
        keeper.delete(name)
    finally:
        keeper.disconnect()
    console.say(f"{name} is deleted. Backups, if there are any, still have it.")
