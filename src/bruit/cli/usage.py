"""Errors about the words of a command line, with what the words mean and only those that are near."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from bruit.cli import installed

#: Options at least so much alike are suggested for one that is misspelt.
_ALIKE = 0.7


class Commands(TyperGroup):
    """All commands, with those of installed packages; errors, also those of the commands, say more."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        own = super().list_commands(ctx)
        return [*own, *sorted(installed.points().keys() - own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, as far as the list of commands needs it."""
        return super().get_command(ctx, cmd_name) or installed.listed(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names, imported if it is that of another package."""
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


class Shown(TyperGroup):
    """A group in which a file alone is most likely one to show."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names."""
        name = args[0]
        if name not in self.commands and (Path(name).suffix or Path(name).exists()):
            shown = shlex.join(["bruit", ctx.info_name, "show", *args])
            ctx.fail(f"No such command {name!r}. Did you mean {shown}?")
        return super().resolve_command(ctx, args)


def _complete(error: Any) -> None:
    """Say of a missing option what it is, and of an unknown one only those that are like it.

    The errors are known by their attributes: their classes stand in another package in older versions of typer.
    """
    if hasattr(error, "param_type") and error.param is not None:
        error.message = error.message or getattr(error.param, "help", None) or ""
    elif hasattr(error, "option_name") and hasattr(error, "possibilities"):
        bare = {name.lstrip("-"): name for name in error.possibilities or ()}
        near = difflib.get_close_matches(error.option_name.lstrip("-"), bare, cutoff=_ALIKE)
        error.possibilities = [bare[name] for name in near]
