"""The `bruit` command: its sub-commands and its version."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import bruit
from bruit.cli import (
    attack,
    audit,
    bounds,
    choose,
    compare,
    compliance,
    continual,
    data,
    difference,
    estimate,
    exits,
    ledger,
    people,
    plan,
    privatize,
    publish,
    regress,
    release,
    result,
    study,
    survey,
    tour,
)
from bruit.cli.exits import ended

app = typer.Typer(
    name="bruit",
    help="Ask sensitive questions, keep each answer private, and read estimates you can trust.",
    epilog="Start with: bruit tour",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bruit {bruit.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Ask sensitive questions, keep each answer private, and read estimates you can trust."""


app.command("tour")(ended(tour.tour))
app.command("plan")(ended(plan.plan))
app.command("privatize")(ended(privatize.privatize))
app.command("estimate")(ended(estimate.estimate))
app.command("regress")(ended(regress.regress))
app.command("compliance")(ended(compliance.compliance))
app.command("difference")(ended(difference.difference))
app.command("release")(ended(release.release))
app.command("publish")(ended(publish.publish))
app.command("bounds")(ended(bounds.bounds))
app.command("result")(ended(result.result))
app.command("choose")(ended(choose.choose))
app.command("compare")(ended(compare.compare))
app.command("people")(ended(people.people))
app.command("audit")(ended(audit.audit))
app.command("data")(ended(data.data))

attacks = typer.Typer(
    cls=attack.Attacks,
    help="Attack your own plan: what reports give away to whoever reads them. A file of reports alone is attacked by "
    "sampled.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
attacks.command("sampled")(ended(attack.sampled))
attacks.command("averaging")(ended(attack.averaging))
attacks.command("changes")(ended(attack.changes))
app.add_typer(attacks, name="attack")

days = typer.Typer(
    help="Publish a running total and a daily series, day after day, for the price of one release.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
days.command("start")(ended(continual.start))
days.command("add")(ended(continual.add))
days.command("show")(ended(continual.show))
app.add_typer(days, name="continual")

books = typer.Typer(help="Look into a ledger, and sign how far it is.", no_args_is_help=True, rich_markup_mode=None)
books.command("show")(ended(ledger.show))
books.command("keys")(ended(ledger.keys))
books.command("sign")(ended(ledger.sign))
books.command("check")(ended(ledger.check))
app.add_typer(books, name="ledger")

studies = typer.Typer(
    help="Run the experiments of the literature again, and judge its claims.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
studies.command("list")(ended(study.list_studies))
studies.command("run")(ended(study.run))
studies.command("report")(ended(study.report))
app.add_typer(studies, name="study")
app.add_typer(survey.app, name="survey")


def main() -> None:
    """Run the command line; whatever goes wrong ends with one message and a documented exit code."""
    try:
        with exits.stoppable():
            app()
    except (Exception, KeyboardInterrupt, exits.Stopped) as error:  # before or after a command
        sys.exit(exits.end(error))
