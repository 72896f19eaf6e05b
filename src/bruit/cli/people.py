"""`bruit people`: how many respondents a wanted precision takes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bruit.cli import console
from bruit.tables import Column, Table, counted, decimals, interval_of, percent


def people(
    k: Annotated[int, typer.Option(help="How many answers the question has.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that one report may tell.")],
    half_width: Annotated[float, typer.Option(help="The wanted half-width of the interval, as 0.02 for two points.")],
    frequency: Annotated[float, typer.Option(help="The frequency of the answer of interest.")] = 0.1,
    level: Annotated[float, typer.Option(help="How often the interval covers the truth.")] = 0.95,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="Ask the same people again: the most that all reports of an epoch may tell.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="With --epoch-epsilon: how many rounds an epoch has; errors are of their mean.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how many people must answer for an interval of a wanted width, with each mechanism.

    For the population that they come from, in the normal approximation.
    """
    from bruit.oracles import people_needed

    again: dict[str, Any] = {"epoch_epsilon": epoch_epsilon, "rounds": rounds}
    needed = people_needed(k=k, epsilon=epsilon, half_width=half_width, frequency=frequency, level=level, **again)
    table = _table(needed, k=k, epsilon=epsilon, half_width=half_width, frequency=frequency, level=level, **again)
    console.print_json(table.to_json()) if as_json else console.show(table)


def _table(needed: dict[str, int], **settings: Any) -> Table:
    best = min(needed.values())
    columns = [
        Column("mechanism", list(needed), kind="label", write=str),
        Column("people", list(needed.values()), "people needed"),
        Column("ratio", [count / best for count in needed.values()], "× best", write=decimals(2)),
    ]
    title = f"People needed for a {interval_of(settings['level'])} of ± {settings['half_width']:g}"
    note = (
        f"for an answer that {percent(settings['frequency'], 0)} have, among {settings['k']:,}, "
        f"at ε = {settings['epsilon']:g}"
    )
    if settings["rounds"] is not None:
        epoch = f"at ε = {settings['epoch_epsilon']:g} for an epoch"
        note += f", {epoch}, by the mean over {counted(int(settings['rounds']), 'round')} of the same people"
    else:
        settings = {name: value for name, value in settings.items() if value is not None}
    return Table(title, columns, [note], settings, noun="mechanism")
