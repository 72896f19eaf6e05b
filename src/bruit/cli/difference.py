"""`bruit analyse difference`: what one survey, wave or group has more than another, with intervals and tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks
from bruit.cli import _options, console
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.collection import Answers
    from bruit.tables import Table


def difference(
    first: Annotated[Path, typer.Argument(help="Reports, or a tally (.json).")],
    second: Annotated[
        Path | None, typer.Argument(help="Reports or a tally of other people, by the same plan or another one.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Compare the groups of one survey, by an attribute that was sent in clear; may be repeated."),
    ] = None,
    value: Annotated[str | None, typer.Option(help="The answer whose share is compared between groups.")] = None,
    attribute: Annotated[list[str] | None, typer.Option(help="Only this attribute; may be repeated.")] = None,
    plan: Annotated[Path | None, typer.Option(help="The plan of both, if it is not beside the reports.")] = None,
    target: Annotated[
        str, typer.Option(help="population: those the people come from. people: those who answered.")
    ] = "population",
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option(help="Intervals that cover all together, as many as there are differences.")
    ] = True,
    rows: Annotated[int, typer.Option("--show", help="How many rows to show; 0 for all.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare two surveys, two waves, or the groups of one survey: differences with intervals and tests.

    As in bruit analyse difference march.parquet june.parquet, or bruit analyse difference march.parquet --by school.
    The two must be different people.
    """
    from bruit.estimation.support import Target

    _checks.probability(**{"--level": level})
    people = _checks.one_of(get_args(Target), **{"--target": target})
    _options.check_whole(show=rows)
    if (second is None) == (not by):
        raise ParameterError("Name a second survey to compare with, or the groups of one survey with --by.")
    options: dict[str, Any] = {"level": level, "simultaneous": simultaneous}
    tables = (
        _of_groups(_answers(first, plan, people), by or [], attribute, value, options)
        if second is None
        else _of_surveys((first, second), plan, people, attribute, options)
    )
    if as_json:
        sealed = [table.to_json() for table in tables]
        console.print_json(sealed[0] if len(sealed) == 1 else "[\n" + ",\n".join(sealed) + "\n]")
    else:
        console.show(*tables, rows=rows, hint="--show 0 shows all")


def _answers(path: Path, plan: Path | None, target: Any) -> Answers:
    known = _options.plan(plan or path)
    return known.estimate(known.tally(path), target)


def _of_surveys(
    paths: tuple[Path, Path], plan: Path | None, target: Any, attributes: list[str] | None, options: dict[str, Any]
) -> list[Table]:
    from bruit.estimation import Difference

    if paths[0].exists() and paths[1].exists() and paths[0].samefile(paths[1]):
        raise ParameterError("A survey cannot be compared with itself: the two must be different people.")
    here, there = (_answers(path, plan, target) for path in paths)
    shared = [name for name in here if name in there]
    names = _chosen(attributes, shared)
    if not names:
        raise ParameterError("The two surveys have no attribute in common.")
    titles = (paths[0].name, paths[1].name)
    return [Difference(here[name], there[name], titles).table(**options) for name in names]


def _of_groups(
    answers: Answers, by: list[str], attributes: list[str] | None, value: str | None, options: dict[str, Any]
) -> list[Table]:
    with console.warnings():
        groups = answers.by(*by)
    names = _chosen(attributes, list(answers))
    return [groups.differences(name, _label(answers[name], value), **options) for name in names]


def _label(answer: Any, value: str | None) -> Any:
    """The label that is spelt so."""
    known = {str(label): label for label in getattr(answer, "labels", ())}
    if value is None or not known:
        return None
    if value not in known:
        raise ParameterError(f"--value must be an answer that is declared.{_checks.suggestion(value, known)}")
    return known[value]


def _chosen(attributes: list[str] | None, known: list[str]) -> list[str]:
    for name in attributes or ():
        if name not in known:
            raise ParameterError(f"--attribute must name an attribute of the surveys.{_checks.suggestion(name, known)}")
    return list(dict.fromkeys(attributes or known))
