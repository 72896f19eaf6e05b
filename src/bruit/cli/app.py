"""The `bruit` command: its sub-commands and its version."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

import bruit
from bruit.cli import (
    attack,
    audit,
    choose,
    compliance,
    continual,
    data,
    difference,
    estimate,
    exits,
    installed,
    ledger,
    limits,
    plan,
    privatize,
    publish,
    regress,
    release,
    result,
    size,
    survey,
    usage,
)
from bruit.cli.exits import ended

app = typer.Typer(
    name="bruit",
    cls=usage.Commands,
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


#: The commands, and what each does in a line of the list of commands, which has room for 62 characters.
_COMMANDS: list[tuple[str, Callable[..., None], str | None]] = [
    ("tour", installed.elsewhere, installed.STUDIES["tour"]),
    ("plan", plan.plan, "Plan which attributes are asked for, and what to expect."),
    ("privatize", privatize.privatize, "Make each answer to a question private, file to file."),
    ("estimate", estimate.estimate, "Estimate frequencies or means, with intervals, from reports."),
    ("release", release.release, "Publish statistics of a file with noise, against a budget."),
    ("publish", publish.publish, "Publish all that a file says, once: tables, page and booking."),
    ("limits", limits.limits, "Say how many rows or groups of a person should count."),
    ("result", result.result, None),
    ("choose", choose.choose, "Rank mechanisms, or methods for several questions, by error."),
    ("size", size.size, "Say how many people must answer, or which ε is reached."),
    ("audit", audit.audit, "Check that a mechanism or a plan keeps the ε it states."),
    ("data", data.data, None),
    ("study", installed.elsewhere, installed.STUDIES["study"]),
]
for _name, _command, _short in _COMMANDS:
    app.command(_name, short_help=_short)(ended(_command))

attacks = typer.Typer(
    cls=attack.Attacks,
    help="Attack your own plan: what reports give away to their reader. A file of reports alone is attacked by "
    "sampled.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
attacks.command("sampled", short_help="Tell the sampled attribute from the reports.")(ended(attack.sampled))
attacks.command("averaging", short_help="Name the answer from many reports of a person.")(ended(attack.averaging))
attacks.command("changes", short_help="Notice that somebody's answer changed within an epoch.")(ended(attack.changes))
app.add_typer(attacks, name="attack", short_help="Attack your own plan: what its reports give away.")

answers = typer.Typer(
    help="Analyse randomised answers: regressions, differences between surveys or groups, and compliance.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
answers.command("regress", short_help="Regress a randomised answer on attributes in clear.")(ended(regress.regress))
answers.command("compliance", short_help="Say how many people send the safe answer in place of theirs.")(
    ended(compliance.compliance)
)
answers.command("difference", short_help="Compare two surveys, two waves, or the groups of one survey.")(
    ended(difference.difference)
)
app.add_typer(answers, name="analyse", short_help="Regressions, differences, and how many people comply.")

days = typer.Typer(
    help="Publish a running total and a daily series, day after day, for the price of one release.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
days.command("start", short_help="Begin a series: book all its days at once.")(ended(continual.start))
days.command("add")(ended(continual.add))
days.command("show", short_help="Show what was published: running totals, or days.")(ended(continual.show))
app.add_typer(days, name="continual", short_help="Publish a running total day after day, for one price.")

books = typer.Typer(
    cls=usage.ShownDefault,
    help="Start a ledger, look into it, and sign how far it is.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
books.command("new", short_help="Start a ledger with a budget of ε and δ, or of ρ.")(ended(ledger.new))
books.command("show")(ended(ledger.show))
books.command("keys")(ended(ledger.keys))
books.command("sign", short_help="Sign how far a ledger is, so that a rollback is seen.")(ended(ledger.sign))
books.command("check", short_help="Check that a ledger still has all that a head has.")(ended(ledger.check))
app.add_typer(books, name="ledger")

app.add_typer(survey.app, name="survey", short_help="Surveys that people answer in their own browser.")
usage.in_panels(app)


def main() -> None:
    """Run the command line; whatever goes wrong ends with one message and a documented exit code."""
    try:
        with exits.stoppable():
            exits.check_arguments(sys.argv[1:])
            app()
    except (Exception, KeyboardInterrupt, exits.Stopped) as error:  # before or after a command
        sys.exit(exits.end(error))
