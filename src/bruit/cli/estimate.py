"""`bruit estimate`: frequencies with intervals, from files of reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks, documents
from bruit.cli import _counting, _options, console
from bruit.cli._reports import plan_beside, read_plan

if TYPE_CHECKING:
    from bruit.estimation import Estimate
    from bruit.privacy import Guarantee


def estimate(
    reports: Annotated[
        list[Path],
        typer.Argument(help="Files of reports made with one plan, folders of Parquet files, or tallies (.json)."),
    ],
    plan: Annotated[
        Path | None, typer.Option(help="The plan, if it is not beside the first reports, as reports.csv.plan.json.")
    ] = None,
    target: Annotated[
        str, typer.Option(help="population: those the people come from. people: those who answered.")
    ] = "population",
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    interval: Annotated[str, typer.Option(help="wilson, clopper-pearson or wald.")] = "wilson",
    simultaneous: Annotated[bool, typer.Option(help="Intervals that cover all together.")] = False,
    consistent: Annotated[
        str | None, typer.Option(help="Add a column that is not negative: norm-sub, clip, norm-cut, base-cut, em …")
    ] = None,
    rows: Annotated[int, typer.Option(help="How many rows to show; 0 for all.")] = 20,
    tally_output: Annotated[Path | None, typer.Option("--tally", help="Also write the tally, as .json.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Also draw the estimates: a .png or .svg file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Estimate frequencies, with intervals, from files of reports.

    Estimates are unbiased: a rare answer may come out below zero. Add --consistent norm-sub for a table to publish.
    """
    from bruit.estimation.support import IntervalMethod, Target

    wanted = _checks.one_of(get_args(Target), **{"--target": target})
    method = _checks.one_of(get_args(IntervalMethod), **{"--interval": interval})
    _options.check_whole(rows=rows)
    _options.check_figure(figure)
    if tally_output is not None:
        _options.check_file(tally_output, "--tally", (".json",))
    asked = read_plan(plan or plan_beside(reports[0]))
    tally = _counting.count(asked, reports)
    if tally_output is not None:
        documents.write_text(tally_output, tally.to_json() + "\n")
    answer = asked.estimate(tally, wanted)[asked.name]
    extra = None if consistent is None else answer.consistent(consistent).frequency  # type: ignore[arg-type]
    ends = answer.interval(level, method, simultaneous=simultaneous)
    if figure is not None:
        _options.save_figure(answer.plot(level=level), figure)
    if as_json:
        console.print_json(_document(answer, asked.guarantee(), level, ends, consistent, extra))
    else:
        _tell(answer, asked.guarantee(), level, ends, consistent, extra, rows)


def _document(
    answer: Estimate, guarantee: Guarantee, level: float, ends: Any, consistent: str | None, extra: Any
) -> str:
    body = {**answer.to_dict(level), "guarantee": guarantee.to_dict()}
    for place, row in enumerate(body["values"]):
        row["lower"], row["upper"] = map(float, ends[place])
        if extra is not None:
            row["consistent"] = float(extra[place])
    body["consistent"] = consistent
    return documents.seal("bruit.estimate/1", body, indent=2)


def _tell(
    answer: Estimate, guarantee: Guarantee, level: float, ends: Any, consistent: str | None, extra: Any, rows: int
) -> None:
    columns = [console.shown(answer.name), "frequency", f"{level:g} interval", *([consistent] if consistent else [])]
    made = console.table(*columns)
    shown = answer.top(rows or len(answer.labels))
    for place in shown:
        cells = [
            console.shown(answer.labels[place]),
            f"{answer.frequency[place]:.4f}",
            f"{ends[place, 0]:.4f} … {ends[place, 1]:.4f}",
        ]
        made.add_row(*cells, *([] if extra is None else [f"{extra[place]:.4f}"]))
    screen = console.out()
    screen.print(made)
    hidden = len(answer.labels) - len(shown)
    if hidden:
        screen.print(f"and {hidden:,} less frequent values (--rows 0 shows all)", style="dim")
    screen.print(f"{answer.n:,} reports, {answer.refused:,} refused · {answer.mechanism}", style="dim")
    screen.print(f"guarantee: {guarantee}", style="dim")
    screen.print(f"intervals for the {answer.target}" + (" · simulated" if answer.simulated else ""), style="dim")
