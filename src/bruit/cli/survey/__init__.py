"""`bruit survey`: surveys that people answer in their own browser."""

from __future__ import annotations

import typer

from bruit.cli.exits import ended
from bruit.cli.survey import check, new, page, paper

app = typer.Typer(
    help="Surveys that people answer in their own browser, which draws before it sends.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("new")(ended(new.new))
app.command("check")(ended(check.check))
app.command("page")(ended(page.page))
app.command("paper")(ended(paper.paper))
