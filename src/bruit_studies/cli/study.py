"""`bruit study`: run the experiments of the documents again, and make one page of what they say."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

import bruit_studies
from bruit import _checks, documents
from bruit.cli import _options, console
from bruit.cli.console import Exit
from bruit.cli.exits import ended
from bruit.errors import ParameterError, StudyError
from bruit.tables import Column, Table, counted, typeset
from bruit_studies import NoData, Study, StudyResults, recorded, runner
from bruit_studies.claim import Claim
from bruit_studies.report import StudyReport
from bruit_studies.runner import FOLDER
from bruit_studies.study import Plot, Size


def list_studies(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the studies, with the question that each answers."""
    known = bruit_studies.all_studies()
    if as_json:
        console.print_json([_facts(study) for study in known])
        return
    columns = [
        Column("name", [study.name for study in known], kind="label", write=str),
        Column("question", [study.question for study in known], kind="text", write=str),
        Column("trials", [len(study.trials("quick")) for study in known]),
        Column("claims", [len(study.claims) for study in known]),
    ]
    note = "bruit study show NAME lists its claims, bruit study run NAME runs it, bruit study report makes the page."
    console.show(Table("", columns, [note]))


def show(
    name: Annotated[str, typer.Argument(help="A claim, as in krr-unbiased, or a study for all its claims, as in krr.")],
    results: Annotated[Path, typer.Option("--results", help="The folder with results.")] = FOLDER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show a claim, or those of a study: what is claimed, where, and the verdict if the study was run."""
    known = {study.name: study for study in bruit_studies.all_studies()}
    claims = {claim.id: study for study in known.values() for claim in study.claims}
    if name not in known and name not in claims:
        near = _checks.suggestion(name, [*claims, *known])
        raise ParameterError(
            f"There is no claim or study {name!r}.{near} bruit study list names the studies, and bruit study show "
            "STUDY their claims."
        )
    study = known[name] if name in known else claims[name]
    page = StudyReport.of([study], results)
    rows = None if study.name in page.results else recorded.read(study.name)
    if rows is not None:
        page = StudyReport([study], {study.name: rows})
    judged = {item.claim.id: item for item in page.judged if rows is None or item.verdict.kind != "not judged"}
    chosen = [claim for claim in study.claims if name in (study.name, claim.id)]
    if as_json:
        known_facts = {item["id"]: item for item in page.to_list() if item["id"] in judged}
        console.print_json([known_facts.get(claim.id) or _claim_facts(study, claim) for claim in chosen])
        return
    for place, claim in enumerate(chosen):
        if place:
            console.out().print()
        verdict = judged[claim.id].verdict if claim.id in judged else None
        console.say(f"{claim.id}: {typeset(claim.statement)}")
        console.say(f"claimed in: {claim.document}, {claim.place}", "dim")
        if verdict is not None:
            console.say(f"{verdict.kind}: {typeset(verdict.sentence)}")
    if rows is not None and any(claim.id in judged for claim in chosen):
        console.say(f"Not run here: verdicts are from recorded results alone ({recorded.about(study.name)}).", "dim")
    if any(claim.id not in judged for claim in chosen):
        what = "Not run here yet." if rows is None else "Of the others nothing is recorded."
        console.say(f"{what} The next command runs it, and then this one says the verdict:", "dim")
        console.say(f"  bruit study run {study.name}", "dim", whole=True)


def _claim_facts(study: Study, claim: Claim) -> dict[str, Any]:
    """What is known of a claim before its study is run."""
    place = {"document": claim.document, "place": claim.place}
    return {"id": claim.id, "study": study.name, "statement": claim.statement, **place}


def run(
    names: Annotated[list[str] | None, typer.Argument(help="Studies to run.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every study.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The full size, which takes long, instead of the quick one.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "--jobs", help="How many processes; all cores by default, 0 for none but this one."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for results.")] = FOLDER,
    restart: Annotated[bool, typer.Option("--restart", help="Throw away earlier results of these studies.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run studies; one that was interrupted goes on where it stopped.

    A run of the full size begins with an estimate of how long it takes.
    """
    chosen = _chosen(names or [], everything)
    _options.check_whole(seed=seed, workers=workers)
    size: Size = "full" if full else "quick"
    verdicts: list[dict[str, Any]] = []
    failed = False
    if full:
        _announce(chosen, seed=seed, workers=workers, out=out, restart=restart)
    for study in chosen:
        try:
            results = _run(study, size, seed=seed, workers=workers, out=out, restart=restart)
        except StudyError as error:
            failed = True
            console.err().print(f"bruit: {console.readable(str(error))}", style="red", soft_wrap=True)
            if os.environ.get("BRUIT_DEBUG") == "1":
                traceback.print_exception(error)
            continue
        verdicts += _verdicts(study, results)
        if not as_json:
            _tell(study, results)
    if as_json:
        console.print_json(verdicts)
    elif not failed:
        console.note(f"results: {out}; bruit study report makes the page")
    if failed:
        raise typer.Exit(Exit.FAILED)


def report(
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies to show; all that were run unless some are named.")
    ] = None,
    results: Annotated[Path, typer.Option("--results", help="The folder with results.")] = FOLDER,
    out: Annotated[
        Path | None,
        typer.Option(help="The page, .html, or the table of claims, .md; report.html beside the results by default."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for every figure, as .svg and .png, with its caption as .txt.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="A folder for a paper: every figure as .svg, .png and .pdf, every table as .tex and .csv."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the claims and verdicts as JSON.")] = False,
) -> None:
    """Make one page of results: the claims with their verdicts, then each study.

    Studies that were not run are named in one line, with the command that runs them.
    """
    if out is not None:
        _options.check_file(out, "--out", (".html", ".md"))
    if not results.is_dir():
        raise ParameterError(f"There are no results in {results}: bruit study run --all makes them.")
    chosen = [bruit_studies.find(name) for name in dict.fromkeys(names or [])] or list(bruit_studies.all_studies())
    page = StudyReport.of(chosen, results)
    if not page.results:
        raise ParameterError(f"There are no results of these studies in {results}: {page.command} makes them.")
    path = out or results / "report.html"
    page.write(path)
    if figures is not None:
        _write_figures(page.studies, page.results, figures)
    if export is not None:
        _write_figures(page.studies, page.results, export, (".svg", ".png", ".pdf"))
        _write_tables(page.studies, page.results, export)
    if as_json:
        console.print_json(page.to_list())
        return
    console.say(page.summary)
    if page.waiting:
        console.say(page.not_run, style="dim", whole=True)  # it ends with a command
    console.note(f"page: {path}")


def deployments(
    name: Annotated[str | None, typer.Argument(help="One of them, as in chrome, for its law and sources.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show who used differential privacy where, and the ε that it really has, computed from the published law."""
    from bruit_studies import deployments as known

    table = known.overview() if name is None else known.find(name).table()
    console.print_json(table.to_json()) if as_json else console.show(table)


def _chosen(names: list[str], everything: bool) -> list[Study]:
    if everything == bool(names):
        raise ParameterError("Name the studies to run, or give --all; bruit study list shows them.")
    return (
        list(bruit_studies.all_studies()) if everything else [bruit_studies.find(name) for name in dict.fromkeys(names)]
    )


def _run(study: Study, size: Size, *, seed: int, workers: int | None, out: Path, restart: bool) -> StudyResults:
    with console.progress(study.name, "trials") as progress:
        return bruit_studies.run(
            study, size=size, seed=seed, workers=workers, folder=out, restart=restart, progress=progress
        )


def _announce(chosen: list[Study], *, seed: int, workers: int | None, out: Path, restart: bool) -> None:
    """About how long the full size takes, by the study, from trials that are timed first."""
    processes = runner.cores() if workers is None else max(workers, 1)
    times = {}
    for study in chosen:
        # What is thrown away is to be made again: count it as not made, in a folder that is not there.
        folder = out / "-" if restart else out
        times[study.name] = runner.seconds_left(study, seed=seed, workers=processes, folder=folder)
        console.note(f"{study.name}: about {_duration(times[study.name])} on {counted(processes, 'process')}")
    if len(times) > 1:
        console.note(f"in all about {_duration(sum(times.values()))}; Ctrl-C stops, and the same command goes on")


def _duration(seconds: float) -> str:
    """A time in words, to two digits.

    >>> [_duration(seconds) for seconds in (0.2, 95, 8000)]
    ['1 second', '1.6 minutes', '2.2 hours']
    """
    if seconds < 60:
        return counted(max(1, round(seconds)), "second")
    return f"{seconds / 60:.2g} minutes" if seconds < 3600 else f"{seconds / 3600:.2g} hours"


def _verdicts(study: Study, results: StudyResults) -> list[dict[str, Any]]:
    return StudyReport([study], {study.name: results}).to_list()


def _tell(study: Study, results: StudyResults) -> None:
    verdicts = [claim.verdict(results) for claim in study.claims]
    rows = [
        (verdict.kind, typeset(f"{claim.statement} {verdict.sentence}"))
        for claim, verdict in zip(study.claims, verdicts, strict=True)
    ]
    console.show(Table.of(f"{study.name}: {study.question}", ("verdict", "evidence"), rows, texts=2))
    for reason, count in results.skipped.items():
        were = "was" if count == 1 else "were"
        console.warn(f"{counted(count, 'trial')} of {study.name} {were} skipped: {reason}")


def _write_tables(chosen: Any, results: Any, folder: Path) -> None:
    for study in chosen:
        if study.table is None or study.name not in results:
            continue
        try:
            table = study.table(results[study.name])
        except NoData:
            continue
        documents.write_text(folder / f"{study.name}.tex", table.to_latex())
        documents.write_text(folder / f"{study.name}.csv", table.to_csv())


def _write_figures(chosen: Any, results: Any, folder: Path, endings: tuple[str, ...] = (".png", ".svg")) -> None:
    from bruit import figures

    folder.mkdir(parents=True, exist_ok=True)
    for study in chosen:
        for plot in study.plots if study.name in results else ():
            path = folder / f"{study.name}-{plot.name}"
            try:
                figure = plot.figure(results[study.name])
            except NoData:
                continue
            figures.save(figure, path, endings=endings)
            documents.write_text(path.with_suffix(".txt"), caption(study, plot, results[study.name], figure))
    console.note(f"figures: {folder}")


def caption(study: Study, plot: Plot, results: StudyResults, figure: Any) -> str:
    """What stands beside an exported figure: its caption, the words that stand for it, and how it was made."""
    from bruit.figures import style

    how = f"{study.name}: {counted(results.trials, 'trial')}, {results.size} size, seed {results.seed}."
    rows = recorded.about(study.name)
    origin = f"{how} Recorded before: {rows}." if rows else how
    return "\n\n".join(typeset(text) for text in (plot.caption, style.description(figure), origin)) + "\n"


def _facts(study: Study) -> dict[str, Any]:
    return {
        "name": study.name,
        "title": study.title,
        "question": study.question,
        "trials": {"quick": len(study.trials("quick")), "full": len(study.trials("full"))},
        "claims": [claim.id for claim in study.claims],
        "figures": [plot.name for plot in study.plots],
    }


app = typer.Typer(
    help="Run the experiments of the literature again, and judge its claims.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("list")(ended(list_studies))
app.command("show", short_help="Show a claim, or those of a study, and the verdict.")(ended(show))
app.command("run", short_help="Run studies; an interrupted one is continued.")(ended(run))
app.command("deployments", short_help="Show who used this where, and its real ε.")(ended(deployments))
app.command("report", short_help="Make one page of results, with the verdict on each claim.")(ended(report))
