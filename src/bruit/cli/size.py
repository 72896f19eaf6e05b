"""`bruit size`: how many respondents a wanted precision takes, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import _options, _questions, console
from bruit.errors import ParameterError, translated
from bruit.tables import Column, Table, counted, decimals, interval_of, percent

if TYPE_CHECKING:
    from bruit.domains import Schema

#: The chance to see a difference that is planned for unless another is named.
USUAL_POWER = 0.8


def size(
    question: _questions.Questions = None,
    k: Annotated[int | None, typer.Option(help="In place of questions: how many answers one question has.")] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")
    ] = None,
    half_width: Annotated[
        list[str] | None,
        typer.Option(
            help="The wanted half-width of the interval, as 0.02 for two points; with questions also by attribute, as "
            "in age=1.5, repeatable."
        ),
    ] = None,
    people: Annotated[int | None, typer.Option("--people", "-n", help="How many people answer.")] = None,
    difference: Annotated[
        str | None, typer.Option(help="The shares of an answer in two groups that are to be told apart, as in 0.3,0.2.")
    ] = None,
    power: Annotated[
        float | None, typer.Option(help="The chance to see the difference; 0.8 where it is not looked for.")
    ] = None,
    share: Annotated[float, typer.Option(help="Which share of the people is in the first of two groups.")] = 0.5,
    method: Annotated[str | None, typer.Option(help="The method for questions, as for bruit plan.")] = None,
    missing: Annotated[
        str | None, typer.Option(help="A missing value: refuse (default), or category (one of its own).")
    ] = None,
    frequency: Annotated[float, typer.Option(help="The frequency of the answer of interest (with --k).")] = 0.1,
    level: Annotated[float, typer.Option(help="How often the interval covers the truth.")] = 0.95,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="Ask the same people again: the most that all reports of an epoch may tell.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="How many rounds an epoch has (with --epoch-epsilon); errors are of their mean.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how many people must answer, or which ε or width is reached: two of the three are given.

    With questions, for a whole plan: --epsilon 1 --half-width 0.02 gives the people, --people 5000 --half-width 0.02
    the least ε, --people 5000 --epsilon 1 the widths. With --difference 0.3,0.2, for telling two groups apart, by how
    the group is known. With --k, how many people each mechanism needs.

    For the population that they come from, in the normal approximation.
    """
    if (question or difference is not None) and (epoch_epsilon is not None or rounds is not None):
        raise ParameterError("--epoch-epsilon and --rounds go with --k, --epsilon and --half-width.")
    if not question or difference is not None:
        _options.check_idle({"--method": method, "--missing": missing}, "questions, as in smokes=no,yes")
    if difference is not None:
        if question or half_width:
            raise ParameterError("--difference goes with two of --epsilon, --people and --power, and with --k.")
        table = _groups(difference, epsilon, people, power, k, share, level)
    elif question:
        if k is not None:
            raise ParameterError("--k is for no questions in particular: leave it out, or the questions.")
        declared = _questions.schema(question, {"--missing": missing})
        table = _whole(declared, epsilon, people, half_width, method, level)
    else:
        again = {"epoch_epsilon": epoch_epsilon, "rounds": rounds}
        table = _mechanisms(k, epsilon, half_width, frequency, level, again)
    console.print_json(table.to_json()) if as_json else console.show(table)


def _groups(
    difference: str,
    epsilon: float | None,
    people: int | None,
    power: float | None,
    k: int | None,
    share: float,
    level: float,
) -> Table:
    from bruit.collection import compare_groups

    parts = difference.split(",")
    try:
        first, second = (float(part) for part in parts)
    except ValueError:
        first = second = -1.0
    if not 0 < first < 1 or not 0 < second < 1:
        raise ParameterError("--difference must be two shares between 0 and 1, as in 0.3,0.2.")
    wanted = USUAL_POWER if power is None and (epsilon is None or people is None) else power
    known = {"epsilon": epsilon, "n": people, "power": wanted}
    if sum(own is not None for own in known.values()) != 2:
        raise ParameterError("--difference needs two of --epsilon, --people and --power, which is 0.8 if not named.")
    return compare_groups(first, second, answers=k or 2, share=share, level=level, **known).table()  # type: ignore[arg-type]


def _whole(
    schema: Schema,
    epsilon: float | None,
    people: int | None,
    half_width: list[str] | None,
    method: str | None,
    level: float,
) -> Table:
    """A plan, solved for what was not given."""
    from bruit.collection import plan_for
    from bruit.collection.method import DEFAULT

    if sum(own is not None for own in (epsilon, people, half_width or None)) != 2:
        raise ParameterError("Two of --epsilon, --people and --half-width must be given: the third is looked for.")
    return plan_for(
        schema,
        epsilon=epsilon,
        n=people,
        half_width=_widths(half_width),
        method=_options.method(method, several=len(schema) > 1) or DEFAULT,
        level=_checks.probability(**{"--level": level}),
    ).table()


def _widths(texts: list[str] | None) -> Any:
    """One number for all attributes, or numbers by name."""
    if not texts:
        return None
    if any("=" in text for text in texts):
        return _questions.pairs(texts, "--half-width", "age=1.5", float)
    rule = "--half-width must be one number, as in 0.02, or read as in age=1.5."
    with translated(ValueError, lambda _: ParameterError(rule)):
        (number,) = map(float, texts)
    return number


def _mechanisms(
    k: int | None,
    epsilon: float | None,
    half_width: list[str] | None,
    frequency: float,
    level: float,
    again: dict[str, Any],
) -> Table:
    """How many people each mechanism needs."""
    from bruit.oracles import people_needed

    width = _widths(half_width)
    if k is None or epsilon is None or not isinstance(width, float):
        raise ParameterError(
            'Give questions, as in "smokes=no,yes" with two of --epsilon, --people and --half-width; or --difference '
            "0.3,0.2; or --k 2 --epsilon 1 --half-width 0.02."
        )
    settings: dict[str, Any] = {
        "k": k,
        "epsilon": epsilon,
        "half_width": width,
        "frequency": frequency,
        "level": level,
    }
    needed = people_needed(**settings, **again)
    best = min(needed.values())
    columns = [
        Column("mechanism", list(needed), kind="label", write=str),
        Column("people", list(needed.values()), "people needed"),
        Column("ratio", [count / best for count in needed.values()], "× best", write=decimals(2)),
    ]
    title = f"People needed for a {interval_of(level)} of ± {width:g}"
    note = f"for an answer that {percent(frequency, 0)} have, among {k:,}, at ε = {epsilon:g}"
    if again["rounds"] is not None:
        epoch = f"at ε = {again['epoch_epsilon']:g} for an epoch"
        note += f", {epoch}, by the mean over {counted(int(again['rounds']), 'round')} of the same people"
        settings |= again
    return Table(title, columns, [note], settings, noun="mechanism")
