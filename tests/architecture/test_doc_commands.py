"""Every `bruit …` command of a page is one that the command line knows, with its options and arguments.

A command stands in a fenced block of text or shell, at the beginning of a line, after a prompt or after ``&&``. Words
in capitals (FILE) and dots (…) stand for something else, and are taken as they are.
"""

from __future__ import annotations

import functools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from prose import ROOT, pages
from test_docs import blocks

SHELLS = {"text", "console", "shell", "bash", "sh"}
TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
_PROMPT = re.compile(r"(?:\$ )?(?:\S*/bin/)?(?=bruit )")


def commands(text: str) -> list[tuple[int, str]]:
    """The commands of a page, each with its line and without what is piped into or out of it."""
    lines = []
    for block in blocks(text):
        if block.language in SHELLS:
            body = re.sub(r"[ ]*\\\n\s*", " ", block.body)
            for number, line in enumerate(body.splitlines()):
                parts = [part.strip() for part in _parts(line)]
                prompts = [(part, _PROMPT.match(part)) for part in parts]
                lines += [(block.line + number, part[prompt.end() :]) for part, prompt in prompts if prompt]
    return lines


def _parts(line: str) -> list[str]:
    """The commands of a line, without comments and redirections; what stands in quotes divides nothing."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", lambda quoted: "q" * len(quoted[0]), line)
    bare = re.split(r"(?:^|\s)#", bare)[0]
    marks = [match.span() for match in re.finditer(r"\s(?:&&|[|][|]|[|;&<>])(?=\s|$)", bare)]
    starts = [0, *(end for _, end in marks)]
    ends = [*(start for start, _ in marks), len(bare)]
    return [line[start:end] for start, end in zip(starts, ends, strict=True)]


def problem(command: str) -> str:
    """What is wrong with a command, or nothing."""
    try:
        return _parse(_root(), shlex.split(command)[1:])
    except Exception as error:
        return str(getattr(error, "message", error)) or type(error).__name__


@functools.cache
def _root() -> Any:
    from typer.main import get_command

    from bruit.cli.app import app

    return get_command(app)


def _parse(command: Any, words: list[str], path: str = "bruit") -> str:
    """Parse words by the options of a command, and the rest by those of the command below; say what is missing."""
    context = type(command.make_context(path, [], resilient_parsing=True))(command, info_name=path)
    options, rest, _ = command.make_parser(context).parse_args(list(words))
    if "help" in options:
        return ""
    if hasattr(command, "resolve_command"):
        if rest:
            name, below, others = command.resolve_command(context, rest)
            return _parse(below, others, f"{path} {name}")
        return "" if options else f"{path}: the command is missing"
    missing = [item.name for item in command.params if item.required and not _is_there(options.get(item.name))]
    return f"{path}: {', '.join(missing)} missing" if missing else ""


def _is_there(value: Any) -> bool:
    """Whether the parser found a value; what it did not find is None, empty or a mark."""
    return value not in (None, (), []) and type(value).__name__ != "Sentinel"


def _texts() -> dict[str, str]:
    return {f"docs/{page}": text for page, text in pages().items()} | {
        name: (ROOT / name).read_text(encoding="utf-8") for name in TOP if Path(ROOT / name).exists()
    }


def test_every_command_of_a_page_is_known_with_its_options() -> None:
    texts = {page: text for page, text in _texts().items() if not page.endswith("reference/cli.md")}
    wrong = {
        f"{page}:{line}: {command}": problem(command)
        for page, text in texts.items()
        for line, command in commands(text)
    }
    assert {command: reason for command, reason in wrong.items() if reason} == {}


def test_pages_have_commands() -> None:
    assert sum(len(commands(text)) for text in _texts().values()) > 50


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("bruit privatize answers.csv smokes=no,yes --epsilon 1 -o reports.parquet", ""),
        ("bruit --version", ""),
        ("bruit survey demo --help", ""),
        ("bruit privatize answers.csv smokes=no,yes --epsylon 1", "epsylon"),
        ("bruit privatise answers.csv", "privatise"),
        ("bruit survey serve-all", "serve-all"),
        ("bruit survey page", "missing"),
        ("bruit survey page class.toml -o 'open", "quotation"),
    ],
)
def test_a_command_that_is_not_known_is_caught(command: str, reason: str) -> None:
    assert reason in problem(command) if reason else problem(command) == ""


def test_commands_are_found_wherever_they_stand() -> None:
    page = (
        "```text\n$ env/bin/bruit tour && bruit plan \\\n    smokes=no,yes  # why\nbruit is French\n```\n\n"
        "```python\nbruit.oracle()\n```\n\n```console\n$ cat a | bruit tally - > b\n```\n"
    )
    assert [command for _, command in commands(page)] == [
        "bruit tour",
        "bruit plan smokes=no,yes",
        "bruit is French",
        "bruit tally -",
    ]
