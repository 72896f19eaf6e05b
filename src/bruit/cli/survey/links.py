"""`bruit survey links`: single-use links, on slips with QR codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.cli.survey import _store
from bruit.errors import ParameterError


def links(
    name: _store.Name,
    number: Annotated[int, typer.Option(help="How many links to make.")],
    address: Annotated[str, typer.Option(help="What people type, as in https://survey.example.org.")],
    slips: Annotated[
        Path | None, typer.Option(help="Write slips with QR codes to print and cut: an .html file.")
    ] = None,
    store: _store.Address = _store.DEFAULT,
) -> None:
    """Make single-use links, for a survey that takes answers with such links only.

    The store keeps hashes only: a link that is lost cannot be shown again. Hand them out in any order, and do not note
    who has which.
    """
    from bruit.collector import links as tokens

    if not address.startswith(("https://", "http://")):
        raise ParameterError("--address must begin with https://, as in https://survey.example.org.")
    if slips is not None:
        _options.check_file(slips, "--slips", (".html",))
    keeper = _store.opened(store)
    try:
        open_survey = _store.open_survey(keeper, name)
        issued = [f"{address.rstrip('/')}/s/{name}#{token}" for token in tokens.issue(keeper, name, number)]
    finally:
        keeper.disconnect()
    if slips is None:
        for link in issued:
            console.say(link, whole=True)
    else:
        documents.write_secret(slips, tokens.slips(open_survey.survey, issued).decode())
        console.note(f"{slips} has {len(issued)} links. Print it, then delete it.")
