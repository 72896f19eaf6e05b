"""`bruit analyse compliance`: how many people do not follow, from two groups; or what a survey says if some did not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bruit import _checks
from bruit.cli import _engine, _options, console


def compliance(
    reports: Annotated[
        Path, typer.Argument(help="Reports of the first group: a file, a folder of Parquet files, or a tally (.json).")
    ],
    second: Annotated[
        Path | None, typer.Argument(help="Reports of the second group, which was asked at another ε.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="The first plan, if it is not beside the reports.")] = None,
    second_plan: Annotated[Path | None, typer.Option(help="The second plan, if it is not beside its reports.")] = None,
    safe: Annotated[
        str | None,
        typer.Option(help="The answer that somebody sends who does not follow; the first one if none is named."),
    ] = None,
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say how many people do not follow but send the safe answer, and between what the prevalence then lies.

    That takes two random groups with different laws, which bruit plan makes on demand. Of one group
    alone, what it says if 5, 10 or 20 % did not follow.
    """
    from bruit import analysis
    from bruit.collection import Plan

    _checks.probability(**{"--level": level})
    first = Plan.load(plan or reports)
    other = None if second is None else Plan.load(second_plan or second)
    with _engine.opened(engine) as reads, console.progress("count", reads.unit) as report:
        tally = _options.tally(first, [reports], reads, report)
        others = None if other is None or second is None else _options.tally(other, [second], reads, report)
    tables = [analysis.sensitivity(first, tally, safe=safe, level=level).table()]
    if other is not None and others is not None:
        tables = [analysis.compliance(first, tally, other, others, safe=safe).table(level)]
    console.print_json(tables[0].to_json()) if as_json else console.show(*tables)
