"""`bruit plan`: what will be asked of each person, and what that guarantees, before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks, documents
from bruit.cli import _options, _schemas, console
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.collection import Plan

#: What is taken for several attributes: the least error with the same ε for a person, in nearly all cases.
DEFAULT = "SMP[ADP]"


def plan(
    schema: Annotated[Path | None, typer.Argument(help="A schema document (.json); or use --attribute.")] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            help='An attribute and its values: "sex=F,M", "town=@towns.txt" with one per line, or numbers "age=17..90" '
            'or "height=1.0..2.2/121", with 121 cells; may be repeated.'
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="SPL[x], SMP[x] or RS+FD[x] with a mechanism for x, or ADP to choose one for each attribute; "
            f"{DEFAULT} if none is named. For one attribute, the mechanism alone."
        ),
    ] = None,
    base: Annotated[
        list[str] | None, typer.Option(help="Another mechanism for one attribute, as in age=square-wave; repeatable.")
    ] = None,
    unit: Annotated[
        str, typer.Option(help="Whom ε speaks of: person (the whole record) or attribute (one of it).")
    ] = "person",
    missing: Annotated[
        str | None, typer.Option(help="A missing value: refuse (if nothing is said), or category (one of its own).")
    ] = None,
    people: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the plan goes: a .json file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a plan that exists already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Plan which attributes are asked for and how, and show what to expect before anybody is asked.

    Shown for each attribute: how many values it has, its mechanism, and the expected error, as the half-width of a 95 %
    interval of a frequency or of a mean, where all values are equally frequent. The plan is what bruit privatize takes.
    """
    from bruit.collection import Plan
    from bruit.collection.design import Unit

    speaks = _checks.one_of(get_args(Unit), **{"--unit": unit})
    declared = _schemas.schema(schema, attribute, missing)
    if epsilon is None:
        raise ParameterError("--epsilon must be given: the most that a person's reports may tell, for example 1.")
    _check_output(output, force=force)
    chosen = method or _default(declared)
    settings: dict[str, Any] = {"bases": _bases(base)} if base else {}
    made = Plan(declared, epsilon, chosen, unit=speaks, **settings)
    expected = _expected(made, _checks.integer(low=1, **{"--people": people}))
    if output is not None:
        documents.write_text(output, made.to_json() + "\n")
    if as_json:
        console.print_json(_document(made, people, expected, output))
    else:
        _tell(made, people, expected, output)


def _default(schema: Any) -> str:
    from bruit.domains import Grid

    if len(schema) > 1:
        return DEFAULT
    (only,) = schema.values()
    return "hybrid" if isinstance(only.domain, Grid) else "GRR"


def _bases(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if not all(name and equals and mechanism for name, equals, mechanism in pairs):
        raise ParameterError('--base must read as in "age=square-wave": an attribute and its mechanism.')
    return {name: mechanism for name, _, mechanism in pairs}


def _check_output(output: Path | None, *, force: bool) -> None:
    if output is None:
        return
    _options.check_file(output, "--output", (".json",))
    if output.exists() and not force:
        raise ParameterError(f"{output} exists: write to another name, or replace it with --force.")


def _expected(plan: Plan, n: int) -> list[dict[str, Any]]:
    """One row per attribute."""
    from bruit.estimation import intervals
    from bruit.numbers import Number

    rows = []
    for name, variance in plan.variance(n).items():
        found = plan.mechanisms[name]
        rows.append(
            {
                "attribute": name,
                "values": plan.schema[name].size,
                "mechanism": found.name,
                "of": "mean" if isinstance(found, Number) else "frequency",
                "half_width": intervals.normal_quantile(0.95) * float(variance.mean()) ** 0.5,
            }
        )
    return rows


def _document(plan: Plan, people: int, expected: list[dict[str, Any]], output: Path | None) -> dict[str, Any]:
    return {
        "plan": None if output is None else str(output),
        "method": plan.method,
        "unit": plan.unit,
        "people": people,
        "attributes": expected,
        "guarantee": plan.guarantee("person").to_dict(),
        "guarantee_of_an_attribute": plan.guarantee("attribute").to_dict(),
        "digest": plan.digest,
    }


def _tell(plan: Plan, people: int, expected: list[dict[str, Any]], output: Path | None) -> None:
    screen = console.out()
    made = console.table("attribute", "mechanism", "estimate of", "values", "± 95 %", texts=3)
    for row in expected:
        texts = [console.shown(row["attribute"]), row["mechanism"], row["of"]]
        made.add_row(*texts, f"{row['values']:,}", f"{row['half_width']:.4f}")
    screen.print(made)
    screen.print(f"{plan.method}, expected with {people:,} people whose values are all equally frequent", style="dim")
    screen.print(f"guarantee: {plan.guarantee('person')}")
    screen.print(f"guarantee: {plan.guarantee('attribute')}")
    if output is not None:
        screen.print(f"plan: {output}")
        screen.print(f"next: bruit privatize FILE --plan {output} -o reports.parquet", style="dim")
