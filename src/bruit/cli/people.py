"""`bruit people`: how many respondents a wanted precision takes."""

from __future__ import annotations

from typing import Annotated

import typer

from bruit.cli import console


def people(
    k: Annotated[int, typer.Option(help="How many answers the question has.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that one report may tell.")],
    half_width: Annotated[float, typer.Option(help="The wanted half-width of the interval, as 0.02 for two points.")],
    frequency: Annotated[float, typer.Option(help="The frequency of the answer of interest.")] = 0.1,
    level: Annotated[float, typer.Option(help="How often the interval covers the truth.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how many people must answer for an interval of a wanted width, with each mechanism.

    For the population that they come from, in the normal approximation.
    """
    from bruit.oracles import people_needed

    needed = people_needed(k=k, epsilon=epsilon, half_width=half_width, frequency=frequency, level=level)
    if as_json:
        console.print_json(needed)
        return
    best = min(needed.values())
    made = console.table("mechanism", "people needed", "× best")
    for name, count in needed.items():
        made.add_row(name, f"{count:,}", f"{count / best:.2f}")
    console.out().print(made)
