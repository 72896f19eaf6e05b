"""Write docs/reference/cli.md from the commands themselves, so that the page cannot drift.

Run ``python tools/cli_page.py`` after changing a command; a test compares the page with what this
writes. The page is made from the functions behind the commands, which is what ``--help`` shows too.
Not from the output of ``--help``: its frames and colours change with the terminal and with the version
of Typer, and so do Typer's inner classes.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"

HEADER = """\
<!-- Written by tools/cli_page.py from the commands' own help: change them, then run it again. -->

# Command line

For everyone who uses bruit from a terminal: every command and option, as `--help` shows them.

"""
_REQUIRED = (inspect.Parameter.empty, ...)


@dataclass(frozen=True)
class Command:
    """A command or a group of commands, and the words that start it."""

    path: tuple[str, ...]
    help: str
    function: Callable[..., Any] | None
    is_group: bool = False


@dataclass(frozen=True)
class Parameter:
    """An option or an argument, as a person types it."""

    spelling: tuple[str, ...]
    kind: str
    help: str
    default: Any
    is_option: bool
    repeated: bool

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default in _REQUIRED


def page() -> str:
    """The whole page as Markdown."""
    first, *others = _walk(_app(), ("bruit",))
    parts = [HEADER + first.help, _usage(first), _table(first)]
    for command in others:
        parts += [f"## `{' '.join(command.path)}`", command.help, _usage(command), _table(command)]
    parts += ["## Renamed", _renamed(), "## Exit codes", _exit_codes()]
    return "\n\n".join(part for part in parts if part) + "\n"


def commands() -> list[str]:
    """Every command as it is typed, like ``bruit tour``."""
    return [" ".join(command.path) for command in _walk(_app(), ("bruit",))][1:]


def _renamed() -> str:
    from bruit.cli import renamed

    rows = [f"| `bruit {old}` | {_cell(new)} |" for old, new in renamed.COMMANDS.items()]
    for command, options in renamed.OPTIONS.items():
        rows += [f"| `bruit {command} {old}` | {_cell(new)} |" for old, new in options.items()]
    text = "Old commands and options, and what to write now. This version answers an old one with the same words."
    return "\n".join([text, "", "| Old | New |", "|---|---|", *rows])


def _cell(text: str) -> str:
    """A text as a cell of a table."""
    return text.replace("|", "\\|")


def _exit_codes() -> str:
    from bruit.cli.console import MEANINGS

    rows = [f"| {code:d} | {text} |" for code, text in MEANINGS.items()]
    return "\n".join(["| Code | Meaning |", "|---|---|", *rows])


def _app() -> typer.Typer:
    from bruit.cli.app import app

    return app


def _walk(app: typer.Typer, path: tuple[str, ...], text: str = "") -> Iterator[Command]:
    """The app itself, then everything below it in the order of the help, hidden ones left out."""
    callback = app.registered_callback
    function = callback.callback if callback else None
    told = text or _first(callback and callback.help, app.info.help, function and function.__doc__)
    yield Command(path, _prose(told), function, is_group=True)
    for command in app.registered_commands:
        if not _plain(command.hidden) and command.callback:
            name = command.name or command.callback.__name__.lower().replace("_", "-")
            yield from _work((*path, name), command)
    for group in app.registered_groups:
        inner = group.typer_instance
        if inner and not _plain(group.hidden):
            name = _first(group.name, inner.info.name)
            yield from _walk(inner, (*path, name), _first(group.help))


def _work(path: tuple[str, ...], command: Any) -> Iterator[Command]:
    """A registered command; one of the studies is imported first, and may be a group."""
    from bruit.cli import installed

    work = installed.load(path[-1]) if len(path) == 2 and path[-1] in installed.STUDIES else command.callback
    if isinstance(work, typer.Typer):
        yield from _walk(work, path)
    else:
        yield Command(path, _prose(_first(command.help, work.__doc__)), work)


def _plain(value: Any) -> Any:
    """Typer marks a value that nobody gave by wrapping it."""
    return value.value if type(value).__name__ == "DefaultPlaceholder" else value


def _first(*values: Any) -> str:
    return next((str(_plain(value)) for value in values if _plain(value)), "")


def _prose(text: str) -> str:
    """A help text as Markdown, without Rich's markup and Click's marks."""
    clean = inspect.cleandoc(text).replace("\b", "").split("\f")[0]
    return re.sub(r"\[/?(?:bold|dim|italic|cyan|green|red|yellow)\]", "", clean).strip()


def _parameters(function: Callable[..., Any] | None) -> list[Parameter]:
    if function is None:
        return []
    hints = typing.get_type_hints(function, include_extras=True)
    found = [
        _parameter(name, hints[name], given.default)
        for name, given in inspect.signature(function).parameters.items()
        if hints[name] is not typer.Context
    ]
    return [parameter for parameter in found if parameter]


def _parameter(name: str, hint: Any, default: Any) -> Parameter | None:
    declared = [item for item in getattr(hint, "__metadata__", ()) if hasattr(item, "param_decls")]
    if hasattr(default, "param_decls"):  # written as `name: int = typer.Option(...)`
        declared, default = [default], default.default
    info = declared[0] if declared else None
    if info is not None and info.hidden:
        return None
    bare = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    required = default is inspect.Parameter.empty
    is_option = isinstance(info, typer.models.OptionInfo) if info else not required
    kind, repeated = _kind(bare, info)
    spelling = _spelling(name, kind, info) if is_option else (_metavar(info) or name.upper(),)
    shown = "" if info is not None and info.show_default is False and not required else default
    return Parameter(
        spelling=spelling,
        kind=kind,
        help=" ".join(_prose(_first(info and info.help)).split()),
        default=shown,
        is_option=is_option,
        repeated=repeated,
    )


def _metavar(info: Any) -> str:
    return str(info.metavar or "") if info is not None else ""


def _spelling(name: str, kind: str, info: Any) -> tuple[str, ...]:
    """What to type for an option; a flag without a name of its own can also be denied."""
    # Inside Annotated, the first name of typer.Option("--out", "-o") lands where a default would.
    words = (info.default, *(info.param_decls or ())) if info else ()
    given = [word for word in words if isinstance(word, str) and word.startswith("-")]
    if given:
        return tuple(part.strip() for word in given for part in word.split("/"))
    dashed = name.replace("_", "-")
    return (f"--{dashed}", f"--no-{dashed}") if kind == "flag" else (f"--{dashed}",)


def _kind(hint: Any, info: Any) -> tuple[str, bool]:
    """What a value must look like, and whether there may be several."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = [item for item in typing.get_args(hint) if item is not type(None)]
        return _kind(inner[0], info)
    if typing.get_origin(hint) is list:
        return _kind(typing.get_args(hint)[0], info)[0], True
    if hint is bool:
        return "flag", False
    if typing.get_origin(hint) is Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(hint)), False
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return ", ".join(f"`{choice.value}`" for choice in hint), False
    names = {str: "text", int: "whole number", float: "number", Path: "path"}
    return names.get(hint, _metavar(info).lower() or "text") + _range(info), False


def _range(info: Any) -> str:
    low, high = getattr(info, "min", None), getattr(info, "max", None)
    if low is None and high is None:
        return ""
    return f" {'' if low is None else low}..{'' if high is None else high}"


def _usage(command: Command) -> str:
    parameters = _parameters(command.function)
    words = [*command.path]
    words += ["[OPTIONS]"] if any(item.is_option for item in parameters) else []
    for item in parameters:
        if not item.is_option:
            word = item.spelling[0] + ("..." if item.repeated else "")
            words.append(word if item.required else f"[{word}]")
    words += ["COMMAND [ARGS]..."] if command.is_group else []
    return "```text\n" + " ".join(words) + "\n```"


def _table(command: Command) -> str:
    rows = [_row(item) for item in _parameters(command.function)]
    return "\n".join(["| | | |", "|---|---|---|", *rows]) if rows else ""


def _row(item: Parameter) -> str:
    kind = f"{item.kind}, repeatable" if item.repeated and item.is_option else item.kind
    notes = [item.help]
    if item.required:
        notes.append("Required.")
    elif item.kind != "flag" and item.default not in (None, "", (), []):
        notes.append(f"Default: `{getattr(item.default, 'value', item.default)}`.")
    # Two pairs of brackets in a row would be a reference.
    text = re.sub(r"(?<=\] )\[", r"\\[", " ".join(filter(None, notes)))
    cells = [", ".join(f"`{word}`" for word in item.spelling), kind, text]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    """Write the page, or with ``--check`` only say whether it is up to date."""
    text = page()
    if "--check" in sys.argv[1:]:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        sys.exit(None if same else "docs/reference/cli.md is out of date: run python tools/cli_page.py")
    PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
