"""`bruit choose`: which mechanism to take for a question, or which method for several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from bruit import _checks
from bruit.cli import _options, _questions, console
from bruit.errors import ParameterError
from bruit.tables import Table


def choose(
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")],
    question: _questions.Questions = None,
    k: Annotated[int | None, typer.Option(help="In place of questions: how many answers one question has.")] = None,
    n: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    frequency: Annotated[
        float | None, typer.Option(help="The frequency of the answer of interest, for one question.")
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(help="For one question: rare (least Var*, the usual rule), total or frequency.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only this method for several questions; may be repeated.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="Whom ε speaks of: person (the whole record, default) or attribute.")
    ] = None,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Methods: add the papers' calibration, which does not hold ε for a person. With --rounds: the papers' "
            "protocols by name (L-OSUE, L-GRR …).",
        ),
    ] = False,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="Ask the same people again: the most that all reports of an epoch may tell.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="How many rounds an epoch has (with --epoch-epsilon); errors are of their mean.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Also draw Var* against ε: a .png or .svg file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Rank the mechanisms for one question, or the methods for several, by their exact error before anybody is asked.

    With --k, mechanisms. Shown for each: its error; how many times that of the best; the half-width of a 95 % interval;
    the bytes of a report; about how many steps the collector needs; how often the best guess of a person's answer is
    right; and by how many people's worth a dishonest report can raise an answer. With rounds also what two reports of
    an epoch cost, and how often the best guess from all of them is right. With rounds and --published, the protocols of
    the literature by name: their variance, what one report and all rounds really tell, and what a person stores.

    With questions, methods. Shown for each: the half-width of a 95 % interval of a frequency; its variance as a
    multiple of the best; the ε of a person and of one attribute; whether it hides which attribute is true; and how
    often the best guess of an attribute is right. Numbers are compared by the frequencies of their cells. Where only
    their mean is wanted, SMP with a number mechanism is far better than any of these.
    """
    mechanisms = {
        "--frequency": frequency, "--criterion": criterion, "--epoch-epsilon": epoch_epsilon, "--rounds": rounds,
        "--figure": figure,
    }  # fmt: skip
    methods = {"--method": method or None, "--unit": unit}
    if (k is None) == (not question):
        raise ParameterError(
            "Say what to rank: mechanisms with --k 10, or methods with several questions, as in sex=F,M smokes=no,yes."
        )
    if k is not None:
        _options.check_idle(methods, "several questions")
    if k is not None and published:
        _options.check_idle(
            {"--frequency": frequency, "--criterion": criterion, "--figure": figure}, "--k without --published"
        )
        table = _protocols(k, epsilon, n, epoch_epsilon, rounds)
    elif k is not None:
        table = _mechanisms(k, epsilon, n, frequency, criterion, epoch_epsilon, rounds, figure)
    else:
        _options.check_idle(mechanisms, "one question, written as --k 10")
        table = _methods(question, epsilon, n, method, unit or "person", published=published)
    console.print_json(table.to_json()) if as_json else console.show(table)


def _mechanisms(
    k: int,
    epsilon: float,
    n: int,
    frequency: float | None,
    criterion: Any,
    epoch_epsilon: float | None,
    rounds: int | None,
    figure: Path | None,
) -> Table:
    from bruit.oracles import choose as rank

    _options.check_figure(figure)
    ranked = rank(k, epsilon, n, frequency, criterion=criterion, epoch_epsilon=epoch_epsilon, rounds=rounds)
    if figure is not None:
        from bruit import figures

        _options.save_figure(figures.plot_variance(k=k, n=n), figure)
    return ranked.table()


def _protocols(k: int, epsilon: float, n: int, epoch_epsilon: float | None, rounds: int | None) -> Table:
    from bruit.oracles import choose_panel

    if epoch_epsilon is None or rounds is None:
        raise ParameterError(
            "--published with --k is for rounds: add --epoch-epsilon 2 --rounds 12, or leave --published out."
        )
    return choose_panel(k, epsilon, n, epoch_epsilon=epoch_epsilon, rounds=rounds).table()


def _methods(
    question: list[str] | None, epsilon: float, people: int, method: list[str] | None, unit: str, *, published: bool
) -> Table:
    from bruit.collection import compare
    from bruit.collection.design import Unit

    speaks = _checks.one_of(get_args(Unit), **{"--unit": unit})
    _checks.integer(low=1, **{"--people": people})
    declared = _questions.schema(question, {})
    return compare(declared, epsilon, people, unit=speaks, methods=method or None, published=published).table()
