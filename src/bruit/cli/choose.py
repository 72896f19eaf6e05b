"""`bruit choose`: which mechanism to take for a question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit.cli import _options, console


def choose(
    k: Annotated[int, typer.Option(help="How many answers the question has.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that one report may tell.")],
    n: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    frequency: Annotated[float | None, typer.Option(help="The frequency of the answer of interest.")] = None,
    criterion: Annotated[
        str | None, typer.Option(help="rare (least Var*, the usual rule), total (all values) or frequency.")
    ] = None,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="Ask the same people again: the most that all reports of an epoch may tell.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="With --epoch-epsilon: how many rounds an epoch has; errors are of their mean.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Also draw Var* against ε: a .png or .svg file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Rank the mechanisms for a question by their exact error, before anybody is asked.

    Shown for each: its error; how many times that of the best; the half-width of a 95 % interval; the bytes of a
    report; about how many steps the collector needs; how often the best guess of a person's answer is right; and by how
    many people's worth a dishonest report can raise an answer. With rounds also what two reports of an
    epoch cost, and how often the best guess from all of them is right.
    """
    from bruit.oracles import choose as rank

    _options.check_figure(figure)
    ranked = rank(k, epsilon, n, frequency, criterion=criterion, epoch_epsilon=epoch_epsilon, rounds=rounds)  # type: ignore[arg-type]
    if figure is not None:
        from bruit import figures

        _options.save_figure(figures.plot_variance(k=k, n=n), figure)
    console.print_json(ranked.table().to_json()) if as_json else console.show(ranked.table())
