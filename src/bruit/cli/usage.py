"""The words of a command line: help in panels, and errors with what the words mean and only those that are near."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from bruit.cli import installed, renamed

#: Options at least so much alike are suggested for one that is misspelt.
_ALIKE = 0.7
#: The panels of `bruit --help`, and their commands. Commands of other packages have a panel of their own.
COMMANDS = {
    "Start": ("tour", "data"),
    "Ask": ("plan", "privatize", "estimate", "survey", "analyse"),
    "Publish": ("release", "publish", "result", "limits", "continual", "ledger"),
    "Check": ("choose", "size", "audit", "attack"),
    "Study": ("study",),
}
#: The panel of an option, by its name; what is in none is what the command is about.
_WHAT = "What"
OPTIONS = {
    "Privacy": (
        "--epsilon", "--delta", "--rho", "--zcdp", "--neighbours", "--person", "--spend", "--unit", "--second-plan",
        "--check-compliance",
    ),
    "Rounds": (
        "--rounds", "--epochs", "--epoch-epsilon", "--follow-changes", "--memory", "--round", "--new-memory",
        "--over-rounds", "--same-people",
    ),
    "Method": ("--method", "--base", "--prior", "--budgets", "--weights"),
    "Groups": ("--by", "--public", "--missing", "--outside"),
    "Intervals": ("--target", "--level", "--interval", "--simultaneous", "--consistent"),
    "Ledger": ("--ledger", "--budget", "--label", "--again", "--dry-run", "-n"),
    "Server": (
        "--host", "--port", "--certificate", "--proxy", "--address", "--insecure-demo", "--per-second", "--per-address",
        "--serve",
    ),
    "Files": (
        "--output", "--tally", "--figure", "--sheet", "--title", "--show", "--json", "--csv", "--engine", "--seed",
        "--store", "--key", "--force", "--help",
    ),
}  # fmt: skip
#: The panel of an option that means something else on one command.
_EXCEPTIONS = {
    ("plan", "--table"): "Method",
    ("survey open", "--public"): _WHAT,
    ("survey open", "--key"): "Server",
}


class Command(TyperCommand):
    """A command whose help has its options in panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, then the panels in the order of `OPTIONS`."""
        write_panels(self.get_params(ctx), ctx, formatter)


class Commands(TyperGroup):
    """All commands, with those of installed packages; errors, also those of the commands, say more."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        own = super().list_commands(ctx)
        return [*own, *sorted(installed.points().keys() - own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, as far as the list of commands needs it."""
        return super().get_command(ctx, cmd_name) or installed.listed(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands in panels; those of other packages come last."""
        names = self.list_commands(ctx)
        own = {name for panel in COMMANDS.values() for name in panel}
        panels = {**COMMANDS, "Other packages": tuple(name for name in names if name not in own)}
        width = max(map(len, names))
        for panel, members in panels.items():
            commands = {name: self.get_command(ctx, name) for name in members}
            rows = [
                (name.ljust(width), command.get_short_help_str(formatter.width - 6 - width))
                for name, command in commands.items()
                if command is not None and not command.hidden
            ]
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands first: they are what a reader looks for."""
        self.format_commands(ctx, formatter)
        rows = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([row for row in rows if row is not None])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names, imported if it is that of another package."""
        if args[0] in renamed.COMMANDS and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"{args[0]!r} has a new name: {renamed.COMMANDS[args[0]]}.")
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and (name in installed.STUDIES or name not in self.commands):
            command = installed.loaded(name)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command; the error about its options is completed on its way."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            _complete(error)
            raise


class ShownDefault(TyperGroup):
    """A group in which a file alone is most likely one to show."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names."""
        name = args[0]
        if name not in self.commands and (Path(name).suffix or Path(name).exists()):
            shown = shlex.join(["bruit", ctx.info_name, "show", *args])
            ctx.fail(f"No such command {name!r}. Did you mean {shown}?")
        return super().resolve_command(ctx, args)


def in_panels(app: typer.Typer) -> typer.Typer:
    """The app, whose commands, and those of its groups, have their options in panels unless they have a class."""
    for command in app.registered_commands:
        if command.cls in (None, TyperCommand):
            command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            in_panels(group.typer_instance)
    return app


def panel_of(option: Any, command: str = "") -> str:
    """The panel in which an option of a command stands."""
    names = {name for name in option.opts if name.startswith("--")} or set(option.opts)
    exceptions = (_EXCEPTIONS.get((command, name)) for name in names)
    usual = (panel for panel, members in OPTIONS.items() if names & set(members))
    return next((panel for panel in (*exceptions, *usual) if panel is not None), _WHAT)


def write_panels(parameters: Iterable[Any], ctx: Any, formatter: Any) -> None:
    """Arguments, and options in panels; a panel that has none is left out."""
    rows: dict[str, list[tuple[str, str]]] = {panel: [] for panel in ("Arguments", _WHAT, *OPTIONS)}
    command = " ".join(ctx.command_path.split()[1:])
    for parameter in parameters:
        row = parameter.get_help_record(ctx)
        if row is not None:
            rows["Arguments" if parameter.param_type_name == "argument" else panel_of(parameter, command)].append(row)
    for panel, records in rows.items():
        if records:
            with formatter.section(panel):
                formatter.write_dl(records)


def _complete(error: Any) -> None:
    """Say of a missing option what it is, of an old one its new name, and of an unknown one those that are like it.

    The errors are known by their attributes: their classes stand in another package in older versions of typer.
    """
    if hasattr(error, "param_type") and error.param is not None:
        error.message = error.message or getattr(error.param, "help", None) or ""
    elif hasattr(error, "option_name") and hasattr(error, "possibilities"):
        path = error.ctx.command_path.split()[1:] if error.ctx is not None else []
        new = renamed.OPTIONS.get(" ".join(path), {}).get(error.option_name)
        if new is not None:
            error.message, error.possibilities = f"No such option: {error.option_name}. {new}", None
            return
        bare = {name.lstrip("-"): name for name in error.possibilities or ()}
        near = difflib.get_close_matches(error.option_name.lstrip("-"), bare, cutoff=_ALIKE)
        error.possibilities = [bare[name] for name in near]
