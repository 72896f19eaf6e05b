"""`bruit analyse regress`: what a randomised answer has to do with attributes that are known in clear."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from bruit import _checks
from bruit.cli import _engine, _options, _questions, console
from bruit.errors import ParameterError


def regress(
    reports: Annotated[Path, typer.Argument(help="A file of reports, or a folder of Parquet files.")],
    on: Annotated[
        str | None,
        typer.Option(
            help="The CSV or Parquet file of the predictors in clear: one row per report, in the same order. Without "
            "it, the public attributes of the plan."
        ),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option("--column", "-c", help="Only this predictor; may be repeated.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option(help="Which answer of a plan with several attributes is regressed.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            help="Regress the answer on the other attributes of this table, as in sex,smokes: all were randomised, "
            "and asked for together by TAB, or two of them by SPL."
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(help="The level that the others of a predictor are compared with, as in sex=F; repeatable."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The answer that the others are compared with; the first if none is named.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="moments: the target of a regression on clear answers, whether the model is right or not. "
            "likelihood: the least variance if the model is right."
        ),
    ] = "moments",
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    plan: Annotated[
        Path | None, typer.Option(help="The plan, if it is not beside the reports, as reports.csv.plan.json.")
    ] = None,
    csv: _engine.Csv = None,
    rows: Annotated[int, typer.Option("--show", help="How many rows to show; 0 for all.")] = 0,
    figure: Annotated[Path | None, typer.Option(help="Also draw the odds ratios: a .png or .svg file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Regress a randomised answer on attributes in clear, or within a table: log-odds with intervals and tests.

    A column of numbers is one term; any other has a term for each of its levels but a reference. Reports that nobody
    can have sent are left out with their row.

    Regressing the reports themselves would give coefficients that are too small, 3.4 times at ε = 1.
    """
    from bruit.analysis import logistic, table_logistic
    from bruit.analysis.logistic import Method
    from bruit.collection import Plan

    wanted = _checks.one_of(get_args(Method), **{"--method": method})
    _checks.probability(**{"--level": level})
    _options.check_whole(show=rows)
    _options.check_figure(figure)
    known, references = Plan.load(plan or reports), _questions.pairs(reference, "--reference", "sex=F", str)
    if table is None:
        fit = logistic(
            known,
            reports,
            None if on is None else _options.read(on, _engine.options(csv)),
            answer=answer,
            columns=column or None,
            reference=references,
            baseline=baseline,
            method=wanted,
        )
    else:
        names = _within_table(table, answer, on=on, column=column, method=method)
        fit = table_logistic(known.table(reports, *names), answer or names[-1], reference=references, baseline=baseline)
    if figure is not None:
        _options.save_figure(fit.plot(level), figure)
    console.print_json(fit.to_json(level)) if as_json else console.show(fit.table(level), rows=rows)


def _within_table(table: str, answer: str | None, **others: Any) -> tuple[str, ...]:
    """The attributes of --table; the answer is one of them, the last unless it is named."""
    for name, value in others.items():
        if value not in (None, [], "moments"):
            raise ParameterError(f"--{name} does not go with --table, whose other attributes are the predictors.")
    names = _questions.names(table, "--table")
    if answer is not None and answer not in names:
        raise ParameterError(f"--answer must be an attribute of --table.{_checks.suggestion(answer, names)}")
    return names
