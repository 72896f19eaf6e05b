"""A mistaken call is answered with the spelling that works.

Each row of the table is a call as people mistype it, what the message must name, and the call that works then. The
message is one that a person at a terminal can follow: it names commands and options that there are, and a Python call
only beside what is typed here.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bruit.cli.app import app

ROOT = Path(__file__).parents[2]


class Mistake(NamedTuple):
    """A call, what its message names, and the call that works."""

    call: str
    names: tuple[str, ...]
    works: str | None = None


MISTAKES = [
    Mistake(
        "release latin.csv --histogram town=Zurich,Bern -e 1",
        ("--csv encoding=latin-1",),
        "release latin.csv --histogram town=Zurich,Bern -e 1 --csv encoding=latin-1 --outside other",
    ),
    Mistake(
        "release people.csv --histogram smok=no,yes --mean age=0..100 -e 1",
        ("'name', 'smokes', 'age'", "Did you mean 'smokes'?"),
        "release people.csv --histogram smokes=no,yes --mean age=0..100 -e 1",
    ),
    Mistake("release people.csv --mean ages=0..100 -e 1", ("Did you mean 'age'?",)),
    Mistake("release people.csv --mean income=0..100 -e 1", ("look at the first line",)),
    Mistake("attack plan.json", ("bruit attack reports.csv --plan plan.json",)),
    Mistake(
        "attack rounds.json", ("bruit attack averaging rounds.json",), "attack averaging rounds.json --seed 1 -n 9"
    ),
    Mistake("attack tally.json", ("bruit attack reports.csv", "bruit privatize")),
    Mistake("attack nowhere.json", ("no file nowhere.json", "bruit attack reports.csv")),
    Mistake(
        "audit GRR --k 4 -e 1",
        ("bruit audit --method GRR --k 4 -e 1",),
        "audit --method GRR --k 4 -e 1 --trials 0",
    ),
    Mistake(
        "audit laplace -e 1",
        ("bruit plan age=0..100 --method laplace -e 1 -o plan.json", "bruit audit plan.json"),
        "plan age=0..100 --method laplace -e 1 -o other.json",
    ),
    Mistake(
        "continual add visits.series --count 3 --day monday --seed 1",
        ("bruit continual show",),
        "continual show visits.series",
    ),
    Mistake("continual add visits.series --count 3", ("--seed",), "continual add visits.series --count 3 --seed 1"),
    Mistake("continual show nowhere.series", ("bruit continual start",)),
    Mistake("plan smokes=no,yes -e 1 --rounds 12", ("-e 1 --epoch-epsilon 2 --rounds 12 --epochs 4",)),
    Mistake("plan smokes=no,yes -e 1 --method GR", ("--method must", "Did you mean 'GRR'?")),
    Mistake("estimate reports.csv --over-rounds", ("--epoch-epsilon 2 --rounds 12",)),
    Mistake("attack averaging plan.json", ("--epoch-epsilon 2 --rounds 12",)),
    Mistake(
        "estimate plan.json",
        ("bruit estimate reports.csv --plan plan.json",),
        "estimate reports.csv --plan plan.json",
    ),
    Mistake(
        "estimate reports.csv --consistent norm_sub",
        ("--consistent must", "Did you mean 'norm-sub'?"),
        "estimate reports.csv --consistent norm-sub",
    ),
    Mistake("choose smokes=no,yes -e 1", ("bruit choose --k 2",), "choose --k 2 -e 1"),
    Mistake(
        "release people.csv --count -e 1 --delta 1e-6 --ledger pure.ledger",
        ("has no δ", "Of ε, 1.0 remain of 1.0", "--budget 1,1e-6"),
        "release people.csv --count -e 1 --ledger pure.ledger",
    ),
    Mistake("study run attak", ("Did you mean 'attack'?",)),
    Mistake("release people.csv --count -e 1 --csv encodng=latin-1", ("Did you mean 'encoding'?",)),
]


@pytest.fixture
def prepared(run: Any, tmp_path: Path) -> Any:
    """The files that the calls name."""
    (tmp_path / "people.csv").write_text("name,smokes,age\nJo,no,31\nAnn,yes,40\n")
    (tmp_path / "latin.csv").write_bytes("town\nZürich\nBern\n".encode("latin-1"))
    run("plan", "smokes=no,yes", "-e", 1, "-o", "plan.json")
    run("plan", "smokes=no,yes", "-e", 1, "--rounds", 4, "--epoch-epsilon", 2, "-o", "rounds.json")
    run("privatize", "people.csv", "--plan", "plan.json", "-o", "reports.csv")
    run("estimate", "reports.csv", "--tally", "tally.json")
    run("continual", "start", "visits.series", "--steps", 5, "-e", 1, "--delta", 1e-6, "--seed", 1)
    run("continual", "add", "visits.series", "--count", 3, "--day", "monday", "--seed", 1)
    from bruit import Ledger

    Ledger.open(tmp_path / "pure.ledger", epsilon=1.0)
    return run


def test_a_mistaken_call_is_answered_with_the_spelling_that_works(prepared: Any) -> None:
    for mistake in MISTAKES:
        message = " ".join(prepared(*mistake.call.split(), code=None).err.split())
        assert all(name in message for name in mistake.names), (mistake.call, message)
        assert not problems(message), (mistake.call, problems(message))
        if mistake.works is not None:
            prepared(*mistake.works.split())


def test_no_name_of_a_column_is_shown_of_a_file_that_may_have_none(prepared: Any, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("Ann,secretly,40\nJo,no,31\n")
    for call in ("release bare.csv --mean income=0..9 -e 1", "privatize bare.csv smokes=no,yes -e 1 -o out.csv"):
        message = prepared(*call.split(), code=None).err
        assert "look at the first line" in " ".join(message.split())
        assert not any(cell in message for cell in ("Ann", "secretly", "40"))


def test_names_of_columns_in_a_message_are_few_short_and_printable(prepared: Any, tmp_path: Path) -> None:
    header = ["age", "\x1b[31mred", "x" * 90, *(f"column{number}" for number in range(60))]
    (tmp_path / "wide.csv").write_text(",".join(header) + "\n" + ",".join(["1"] * len(header)) + "\n")
    message = prepared("release", "wide.csv", "--mean", "age=0..9", "--mean", "ago=0..9", "-e", 1, code=None).err
    assert "\x1b[31mred" not in message
    assert "x" * 60 not in message.replace("\n", "")
    assert "column30" not in message
    assert "more." in " ".join(message.split())


# What a message names exists.


def _commands() -> set[str]:
    spec = importlib.util.spec_from_file_location("cli_page", ROOT / "tools" / "cli_page.py")
    assert spec is not None
    assert spec.loader is not None
    page = sys.modules.setdefault("cli_page", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(page)
    names = {command.removeprefix("bruit ") for command in page.commands()}
    return {name for name in names if not any(other.startswith(f"{name} ") for other in names)}


def _options() -> set[str]:
    import typer

    from bruit.cli import installed

    pending: list[Any] = [typer.main.get_command(app), *map(installed.loaded, installed.STUDIES)]
    options = {"--help", "--version"}
    while pending:
        command = pending.pop()
        pending += getattr(command, "commands", {}).values()
        options |= {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return options


COMMANDS, OPTIONS = _commands(), _options()
GROUPS = {command.split()[0] for command in COMMANDS}
#: Words after the name of the library that are no commands.
VERBS = {"again", "are", "did", "does", "follows", "here", "knows", "made", "never", "reads", "runs", "writes"}


def problems(message: str) -> list[str]:
    """Commands and options that a message names and there are none of, and Python calls without what is typed."""
    wrong = []
    for first, second in re.findall(r"(?<![\w./-])bruit ([a-z]+)(?: ([a-z]+))?", message):
        if first not in GROUPS | VERBS:
            wrong.append(f"bruit {first}")
        elif first in GROUPS and first not in COMMANDS and f"{first} {second}" not in COMMANDS:
            # The attack on reports is also called without its name.
            wrong += [] if first == "attack" else [f"bruit {first} {second}"]
    wrong += [option for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", message) if option not in OPTIONS]
    calls = re.findall(r"\b[a-z_]\w*\((?:…|\.\.\.)?\)", message)
    if calls and not re.search(r"(?<![\w-])--[a-z]|\bbruit [a-z]", message):
        wrong += calls
    return wrong


def _messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are sentences and no docstrings; what is filled in is left out."""
    source = path.read_text(encoding="utf-8")
    if not re.search(r"bruit [a-z]|--[a-z]", source):
        return
    nodes = list(ast.walk(ast.parse(source)))
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    skipped |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield node.lineno, "".join(map(str, parts))


def test_every_command_and_option_that_a_message_names_exists() -> None:
    wrong = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for line, text in _messages(path):
            names = [problem for problem in problems(text) if problem.startswith(("bruit ", "--"))]
            wrong += [f"{path.relative_to(ROOT)}:{line}: {name}" for name in names]
    assert wrong == []


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("The day was added already: see totals().", ["totals()"]),
        ("It is shown by bruit continual show, or by totals() in Python.", []),
        ("Add it with bruit continual ad.", ["bruit continual ad"]),
        ("Make one with bruit realease.", ["bruit realease"]),
        ("State it with --encoding latin-1.", ["--encoding"]),
        ("State it with --csv encoding=latin-1, as bruit writes it.", []),
    ],
)
def test_a_message_that_leads_nowhere_is_caught(message: str, wrong: list[str]) -> None:
    assert problems(message) == wrong
