"""The command line stays small: so many options a command, help in panels, and old words answered with new ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from sources import SOURCES
from typer.testing import CliRunner

from bruit.cli import installed, renamed, usage
from bruit.cli.app import app

#: The most options that a command has; it is lowered, and never raised. New abilities go to --statistic and to files.
MOST = 26


def commands(root: typer.Typer = app) -> dict[str, Any]:
    """Every command without sub-commands, by the words that start it."""
    return dict(_leaves(typer.main.get_command(root), ()))


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name, inner in command.commands.items():
        loaded = installed.loaded(name) if not path and name in installed.STUDIES else inner
        yield from _leaves(loaded, (*path, name))


def options(command: Any) -> list[Any]:
    """The options of a command, its help left out."""
    return [param for param in command.params if param.param_type_name == "option"]


def faults(name: str, command: Any, most: int = MOST) -> list[str]:
    """What a command has that no command should have."""
    many = len(options(command))
    problems = [f"{name}: {many} options"] if many > most else []
    if not isinstance(command, usage.Command):
        problems.append(f"{name}: no panels")
    for option in options(command):
        if (option.help or "").startswith(("With --", "Without --")):
            problems.append(f"{name}: the help of {option.opts[0]} begins with another option")
        if not option.help:
            problems.append(f"{name}: {option.opts[0]} has no help")
    return problems


def classes(path: Path) -> list[str]:
    """The classes that a module defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_few_options_in_panels(name: str) -> None:
    assert faults(name, COMMANDS[name]) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_every_option_in_one_panel(name: str) -> None:
    shown = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "200"}).output
    lines = shown.splitlines()
    assert "Options:" not in lines
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    panels = ["Arguments:", "What:", *(f"{panel}:" for panel in usage.OPTIONS)]
    assert headings == [panel for panel in panels if panel in headings]
    for option in options(COMMANDS[name]):
        listed = lines[lines.index(headings[0]) :]
        words = [line.split("  ")[1].split() for line in listed if line.startswith("  -")]
        assert sum(any(word.strip(",") == option.opts[0] for word in line) for line in words) == 1, option.opts


def test_bruit_release_is_functions_only() -> None:
    """Its options become library calls; what needs a class belongs to the library."""
    assert classes(SOURCES / "bruit" / "cli" / "release.py") == []


def test_every_command_stands_in_one_panel_of_the_first_page() -> None:
    names = [name for panel in usage.COMMANDS.values() for name in panel]
    assert sorted(names) == sorted({name.split()[0] for name in COMMANDS})
    shown = CliRunner().invoke(app, ["--help"]).output
    assert all(f"\n{panel}:\n" in shown for panel in usage.COMMANDS)


def planted() -> typer.Typer:
    """An app with a command that breaks every rule."""
    app = typer.Typer()

    def command(
        first: Annotated[int, typer.Option(help="With --second: nothing.")] = 0, second: int = 0, third: int = 0
    ) -> None:
        """Nothing."""

    app.command("planted")(command)
    app.command("other")(command)
    return app


def test_the_test_of_commands_sees_what_it_forbids(tmp_path: Path) -> None:
    found = faults("planted", commands(planted())["planted"], 2)
    assert [problem.partition(": ")[2] for problem in found] == [
        "3 options",
        "no panels",
        "the help of --first begins with another option",
        "--second has no help",
        "--third has no help",
    ]
    panelled = commands(usage.in_panels(planted()))["planted"]
    assert "planted: no panels" not in faults("planted", panelled, 2)
    (tmp_path / "module.py").write_text("def f():\n    class Hidden: pass\nclass Open: pass\n")
    assert classes(tmp_path / "module.py") == ["Open", "Hidden"]


# Old words.


def run(*words: str) -> tuple[int, str]:
    shown = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    return shown.exit_code, shown.output


@pytest.mark.parametrize("old", renamed.COMMANDS)
def test_an_old_command_is_answered_with_its_new_name(old: str) -> None:
    assert old not in {name.split()[0] for name in COMMANDS}
    code, output = run(old, "--help")
    assert code == 2
    assert renamed.COMMANDS[old] in output


@pytest.mark.parametrize(("command", "old"), [(name, old) for name, olds in renamed.OPTIONS.items() for old in olds])
def test_an_old_option_is_answered_with_its_new_spelling(command: str, old: str) -> None:
    assert old not in {word for option in options(COMMANDS[command]) for word in option.opts}
    code, output = run(*command.split(), old, "1")
    assert code == 2
    assert renamed.OPTIONS[command][old] in " ".join(output.split())
