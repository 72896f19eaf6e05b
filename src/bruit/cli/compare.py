"""`bruit compare`: which method to take for several attributes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from bruit import _checks
from bruit.cli import _schemas, console

if TYPE_CHECKING:
    from bruit.collection import Comparisons


def compare(
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")],
    schema: Annotated[Path | None, typer.Argument(help="A schema document (.json); or use --attribute.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help='An attribute and its values, as for bruit plan: "sex=F,M"; repeatable.')
    ] = None,
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
    declared = _schemas.schema(schema, attribute, None)
    found = rank(declared, epsilon, people, unit=speaks, methods=method or None, published=published)
    if as_json:
        columns = found.columns()
        ranked = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        console.print_json({"epsilon": epsilon, "unit": unit, "n": people, "methods": ranked})
        return
    _tell(found)


def _tell(found: Comparisons) -> None:
    from bruit.estimation import intervals

    z = intervals.normal_quantile(0.95)
    least = min((row.variance for row in found if row.holds), default=found[0].variance)
    made = console.table("method", "± 95 %", "× best", "ε person", "ε attr.", "hides", "guessed")
    for row in found:
        made.add_row(
            row.method if row.holds else f"{row.method} ✗",
            f"{z * row.variance**0.5:.4f}",
            f"{row.variance / least:.2f}",
            f"{row.person:.4f}",
            f"{row.attribute:.4f}",
            "yes" if row.hides else "no",
            f"{row.guessed:.1%}",
        )
    console.out().print(made)
    if not all(row.holds for row in found):
        console.note("✗ does not hold the ε that was asked for.")
    for name, reason in found.left_out.items():
        console.note(f"left out: {name} ({reason})")
