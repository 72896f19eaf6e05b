"""`bruit survey`: surveys that people answer in their own browser."""

from __future__ import annotations

import typer

from bruit.cli.exits import ended
from bruit.cli.survey import (
    backup,
    check,
    close,
    collect,
    delete,
    demo,
    export,
    handouts,
    links,
    new,
    open,
    page,
    paper,
    results,
    sheet,
)

app = typer.Typer(
    help="Surveys that people answer in their own browser, which draws before it sends.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("new", short_help="Write a survey to begin with.")(ended(new.new))
app.command("check", short_help="Say what a survey promises, and what its people will learn.")(ended(check.check))
app.command("page", short_help="Write the page that people answer on, one HTML file.")(ended(page.page))
app.command("handouts", short_help="Write slips and a poster to print, for codes.")(ended(handouts.handouts))
app.command("collect", short_help="Count the codes that people handed in.")(ended(collect.collect))
app.command("paper", short_help="Write a sheet to print, with coins or dice.")(ended(paper.paper))
app.command("sheet", short_help="Write what people and an ethics board read beforehand.")(ended(sheet.sheet))
app.command("demo", short_help="Open a filled example on this machine.")(ended(demo.demo))
app.command("open")(ended(open.open_survey))
app.command("links", short_help="Make single-use links, for a survey by invitation.")(ended(links.links))
app.command("results", short_help="Show the estimates of a survey, with intervals.")(ended(results.results))
app.command("export", short_help="Write results as CSV, Parquet and JSON, with the plan.")(ended(export.export))
app.command("close", short_help="Close a survey for good.")(ended(close.close))
app.command("delete", short_help="Delete a survey with all that is kept of it.")(ended(delete.delete))
app.command("backup")(ended(backup.backup))
