"""`bruit survey`: surveys that people answer in their own browser."""

from __future__ import annotations

import typer

from bruit.cli.exits import ended
from bruit.cli.survey import backup, check, close, delete, demo, export, links, new, open, page, paper, results

app = typer.Typer(
    help="Surveys that people answer in their own browser, which draws before it sends.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("new")(ended(new.new))
app.command("check")(ended(check.check))
app.command("page")(ended(page.page))
app.command("paper")(ended(paper.paper))
app.command("demo")(ended(demo.demo))
app.command("open")(ended(open.open_survey))
app.command("links")(ended(links.links))
app.command("results")(ended(results.results))
app.command("export")(ended(export.export))
app.command("close")(ended(close.close))
app.command("delete")(ended(delete.delete))
app.command("backup")(ended(backup.backup))
