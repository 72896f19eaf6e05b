"""`bruit estimate`: frequencies with intervals, from files of reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks
from bruit.cli import console
from bruit.cli.privatize import plan_beside, read_plan
from bruit.errors import DesignError, ParameterError

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.estimation import Estimate, Tally


def estimate(
    reports: Annotated[list[Path], typer.Argument(help="Files of reports made with one plan, or tallies (.json).")],
    plan: Annotated[Path | None, typer.Option(help="The plan, if it does not stand beside the reports.")] = None,
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

    wanted = _checks.one_of(get_args(Target), target=target)
    method = _checks.one_of(get_args(IntervalMethod), interval=interval)
    asked = read_plan(plan or plan_beside(reports[0]))
    tally = _tally(asked, reports)
    if tally_output is not None:
        from bruit import documents

        documents.write_text(tally_output, tally.to_json() + "\n")
    answer = asked.estimate(tally, wanted)[asked.name]
    if figure is not None:
        _draw(answer, figure, level)
    extra = None if consistent is None else answer.consistent(consistent).frequency  # type: ignore[arg-type]
    ends = answer.interval(level, method, simultaneous=simultaneous)
    if as_json:
        console.print_json(_document(answer, level, ends, consistent, extra))
    else:
        _tell(answer, level, ends, consistent, extra, rows)


def _tally(plan: Plan, files: list[Path]) -> Tally:
    total = None
    for file in files:
        part = _read_tally(plan, file)
        total = part if total is None else total + part
    if total is None:
        raise ParameterError("Name at least one file of reports.")
    return total


def _read_tally(plan: Plan, file: Path) -> Tally:
    from bruit import engines
    from bruit.estimation import Tally

    if file.suffix == ".json":
        return Tally.from_json(file.read_bytes())
    # Only Parquet keeps what a file says of itself; a CSV of reports is taken on the word of its plan.
    simulated = _check_metadata(plan, engines.metadata_of(file) if file.suffix == ".parquet" else {})
    with console.progress("count") as report:
        tally: Tally = engines.fold(
            file, lambda batch: plan.tally(_numbers(batch, plan.name)), columns=[plan.name], progress=report
        )
    return Tally(design=tally.design, counts=tally.counts, n=tally.n, refused=tally.refused, simulated=simulated)


def _check_metadata(plan: Plan, metadata: dict[str, str]) -> bool:
    """Whether the reports are simulated; an error if they say that they follow another plan."""
    found = metadata.get("bruit.plan", plan.digest)
    if found != plan.digest:
        raise DesignError(
            "These reports were made by another plan: name theirs with --plan.", expected=plan.digest, found=found
        )
    return metadata.get("bruit.simulated") == "true"


def _numbers(batch: dict[str, Any], name: str) -> dict[str, Any]:
    """Reports from CSV are text: one that is no whole number becomes −1, which no person can have sent."""
    import numpy as np

    from bruit.domains.domain import DictionaryColumn

    cells = batch[name]
    if not isinstance(cells, DictionaryColumn):
        return {name: cells}
    read = [int(text) if text.isdecimal() and len(text) < 19 else -1 for text in map(str, cells.entries.tolist())]
    return {name: np.array([*read, -1], np.int64)[cells.positions]}


def _draw(answer: Estimate, path: Path, level: float) -> None:
    from bruit import figures

    figures.save(answer.plot(level=level).figure, path)
    console.note(f"figure: {path}")


def _document(answer: Estimate, level: float, ends: Any, consistent: str | None, extra: Any) -> str:
    from bruit import documents

    body = answer.to_dict(level)
    for place, row in enumerate(body["values"]):
        row["lower"], row["upper"] = map(float, ends[place])
        if extra is not None:
            row["consistent"] = float(extra[place])
    body["consistent"] = consistent
    return documents.seal("bruit.estimate/1", body, indent=2)


def _tell(answer: Estimate, level: float, ends: Any, consistent: str | None, extra: Any, rows: int) -> None:
    columns = [answer.name, "frequency", f"{level:g} interval", *([consistent] if consistent else [])]
    made = console.table(*columns)
    shown = answer.top(rows or len(answer.labels))
    for place in shown:
        cells = [
            str(answer.labels[place]),
            f"{answer.frequency[place]:.4f}",
            f"{ends[place, 0]:.4f} … {ends[place, 1]:.4f}",
        ]
        made.add_row(*cells, *([] if extra is None else [f"{extra[place]:.4f}"]))
    screen = console.out()
    screen.print(made)
    hidden = len(answer.labels) - len(shown)
    if hidden:
        screen.print(f"and {hidden:,} less frequent values (--rows 0 shows all)", style="dim")
    notes = f"{answer.n:,} reports, {answer.refused:,} refused · {answer.mechanism} · {answer.guarantee}"
    screen.print(notes, style="dim", markup=False)
    screen.print(f"intervals for the {answer.target}" + (" · simulated" if answer.simulated else ""), style="dim")
