"""`bruit compare`: which method to take for several attributes."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from bruit import _checks
from bruit.cli import _questions, console


def compare(
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")],
    question: _questions.Questions = None,
    method: Annotated[list[str] | None, typer.Option(help="Only this method; may be repeated.")] = None,
    unit: Annotated[
        str, typer.Option(help="Whom ε speaks of: person (the whole record) or attribute (one of it).")
    ] = "person",
    people: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    published: Annotated[
        bool,
        typer.Option("--published", help="Add the papers' calibration, which does not hold ε for a person."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Rank the methods for several attributes by their exact error, before anybody is asked.

    Shown for each: the half-width of a 95 % interval of a frequency; its variance as a multiple of the best; the ε of a
    person and of one attribute; whether it hides which attribute is true; and how often the best guess of an attribute
    is right.

    Numbers are compared by the frequencies of their cells. Where only their mean is wanted, SMP with a number mechanism
    is far better than any of these.
    """
    from bruit.collection import compare as rank
    from bruit.collection.design import Unit

    speaks = _checks.one_of(get_args(Unit), **{"--unit": unit})
    _checks.integer(low=1, **{"--people": people})
    declared = _questions.schema(question, None)
    ranked = rank(declared, epsilon, people, unit=speaks, methods=method or None, published=published)
    console.print_json(ranked.table().to_json()) if as_json else console.show(ranked.table())
