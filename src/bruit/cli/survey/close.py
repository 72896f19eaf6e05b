"""`bruit survey close`: take no answer any more."""

from __future__ import annotations

from typing import Annotated

import typer

from bruit.cli import console
from bruit.cli.survey import _store
from bruit.errors import ParameterError
from bruit.tables import counted


def close(
    name: _store.Name,
    store: _store.Address = _store.DEFAULT,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show the last answers too, although they are fewer than a step."),
    ] = False,
) -> None:
    """Close a survey for good; a retry of a counted report is still acknowledged.

    Answers that came since the last step stay out of the results unless --all is said: whoever looked before then sees
    what these few people sent, which ε protects and the step does not.
    """
    from bruit.collector.results import results
    from bruit.collector.results_page import held_back
    from bruit.collector.wording import TEXTS

    keeper = _store.opened(store)
    try:
        desk = _store.desk(keeper, name)
        if everything and keeper.totals(name).answered < desk.survey.shown_from:
            raise ParameterError(
                f"--all needs {counted(desk.survey.shown_from, 'answer')}, from which on results are shown."
            )
        keeper.close(name, whole=everything)
        shown = results(keeper, desk)
    finally:
        keeper.disconnect()
    console.say(
        f"{name} is closed with {counted(shown.totals.answered, 'answer')}; {shown.shown:,} are in the results."
    )
    if shown.held_back and shown.rounds:
        console.note(held_back(shown, TEXTS["en"], for_asker=True))
