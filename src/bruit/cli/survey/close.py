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
        bool | None,
        typer.Option(
            "--all/--no-all",
            help="Show the last answers too, although they are fewer than a step, or leave them out for good.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Close a survey for good; a retry of a counted report is still acknowledged.

    After closing there is one page of results. So where answers came since the last step, say now what becomes of them.
    With --all they are shown: comparing with the earlier page tells what these few people sent. ε protects them; the
    step does not. With --no-all they are forgotten. The same command decides for a survey past its closing time.
    """
    from bruit.collector.results import results
    from bruit.collector.results_page import held_back
    from bruit.collector.wording import TEXTS

    keeper = _store.opened(store)
    try:
        open_survey = _store.open_survey(keeper, name)
        is_shown = keeper.totals(name).answered >= open_survey.survey.shown_from
        if everything and not is_shown:
            raise ParameterError(
                f"--all needs {counted(open_survey.survey.shown_from, 'answer')}, from which on results are shown."
            )
        waiting = keeper.waiting(name) if is_shown and everything is None else 0
        if waiting:
            command = f"bruit survey close {name}{_in(store)}"
            raise ParameterError(
                f"{counted(waiting, 'answer')} came since the last step, and after closing the results do not change. "
                f"Nothing was done: say {command} --all to include them, or {command} --no-all to leave them out for "
                "good."
            )
        shown = results(keeper, open_survey)  # what cannot be read is not closed
        keeper.close(name, whole=everything)
        shown = results(keeper, open_survey, shown)
    finally:
        keeper.disconnect()
    console.say(
        f"{name} is closed with {counted(shown.totals.answered, 'answer')}; {shown.shown:,} are in the results."
    )
    if shown.held_back and shown.rounds:
        console.note(held_back(shown, TEXTS["en"], for_asker=True))
    if shown.rounds:
        console.say(f"Next: bruit survey results {name}{_in(store)} -o results.html", style="dim", whole=True)


def _in(store: str) -> str:
    """The option that names a store, unless it is the default."""
    return "" if store == _store.DEFAULT else f" --store {store}"
