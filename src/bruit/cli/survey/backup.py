"""`bruit survey backup`: a copy of the store while it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.cli.survey import _store
from bruit.errors import ParameterError


def backup(
    to: Annotated[Path, typer.Argument(help="The copy, a .sqlite file that is not there yet.")],
    store: _store.Address = _store.DEFAULT,
) -> None:
    """Copy a store as of one moment, while answers are counted.

    Every answer that was acknowledged before is in the copy, once. A copy keeps what is deleted later from the store.
    """
    _options.check_file(to, "TO", (".sqlite",))
    if to.exists():
        raise ParameterError("TO must be a file that is not there yet, as in backup-2.sqlite.")
    keeper = _store.opened(store)
    try:
        with documents.replacing(to) as partial:
            keeper.backup(partial)
    finally:
        keeper.disconnect()
    console.note(f"{to} is a copy of {store}.")
